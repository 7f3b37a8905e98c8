//! Markdown as a flat list of things to paint, each with its place in the source.
//!
//! One top-level block at a time, since only what is visible is read. Raw HTML stays text and images become their
//! address: nothing a result says is ever loaded or run.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Parser, Tag, TagEnd};

use loupe_analysis::finding::Severity;
use loupe_analysis::queries::invisible_chars;
use loupe_core::format::MARKDOWN;
use loupe_core::source::is_web;

/// How a stretch of text looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    pub is_bold: bool,
    pub is_italic: bool,
    pub is_code: bool,
    pub is_struck: bool,
    pub is_link: bool,
    pub is_weak: bool,
    /// The name of a character that cannot be seen.
    pub is_special: bool,
    /// What a finding says of it.
    pub marked: Option<Severity>,
}

/// Text with looks and links, on its way to a layout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inline {
    pub text: String,
    /// Consecutive: each ends at this byte.
    pub spans: Vec<(usize, Look)>,
    pub links: Vec<(Range<usize>, String)>,
}

impl Inline {
    fn push(&mut self, text: &str, look: Look) {
        if !invisible_chars::any(text) && !text.contains('\t') {
            self.push_plain(text, look);
            return;
        }
        let mut rest = String::new();
        for char in text.chars() {
            // A joiner between emoji belongs to the picture.
            match invisible_chars::name(char).filter(|_| char != '\u{200d}') {
                Some(name) => {
                    self.push_plain(&std::mem::take(&mut rest), look);
                    self.push_plain(
                        &name,
                        Look {
                            is_special: true,
                            ..look
                        },
                    );
                }
                None => rest.push(if char == '\t' { ' ' } else { char }),
            }
        }
        self.push_plain(&rest, look);
    }

    /// Marks a part of the text.
    pub fn mark(&mut self, part: &Range<usize>, severity: Severity) {
        let mut start = 0;
        let mut spans = Vec::with_capacity(self.spans.len() + 2);
        for &(end, look) in &self.spans {
            let marked = Look {
                marked: look.marked.or(Some(severity)),
                ..look
            };
            let cuts = [
                part.start.clamp(start, end),
                part.end.clamp(start, end),
                end,
            ];
            for (to, look) in cuts.into_iter().zip([look, marked, look]) {
                if to > start {
                    spans.push((to, look));
                    start = to;
                }
            }
        }
        self.spans = spans;
    }

    fn push_plain(&mut self, text: &str, look: Look) {
        if text.is_empty() {
            return;
        }
        self.text.push_str(text);
        match self.spans.last_mut() {
            Some((end, last)) if *last == look => *end = self.text.len(),
            _ => self.spans.push((self.text.len(), look)),
        }
    }
}

/// What is painted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItemKind {
    Heading(u8, Inline),
    Paragraph(Inline),
    /// With its marker: a bullet or a number.
    Point(String, Inline),
    /// Fenced again, for the library to paint.
    Code(String),
    /// Raw HTML, or what has no form of its own here.
    Source(String),
    Rule,
}

/// One thing to paint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub kind: ItemKind,
    /// Depth in lists.
    pub indent: usize,
    /// Depth in quotes.
    pub quote: usize,
    /// Range in the block's source.
    pub range: Range<usize>,
}

struct Reader<'a> {
    source: &'a str,
    items: Vec<Item>,
    inline: Inline,
    range: Option<Range<usize>>,
    look: Look,
    /// Numbers of the open lists; `None` for bullets.
    lists: Vec<Option<u64>>,
    marker: Option<String>,
    quote: usize,
    links: Vec<(usize, String)>,
    images: Vec<String>,
    html: String,
}

impl Reader<'_> {
    fn touch(&mut self, range: &Range<usize>) {
        let known = self.range.get_or_insert(range.clone());
        known.end = known.end.max(range.end);
    }

    fn item(&mut self, kind: ItemKind, range: Range<usize>) {
        self.items.push(Item {
            kind,
            indent: self.lists.len(),
            quote: self.quote,
            range,
        });
    }

    /// Ends the text gathered so far as a paragraph or the text of a list point.
    fn flush(&mut self) {
        let range = self.range.take().unwrap_or_default();
        let inline = std::mem::take(&mut self.inline);
        match self.marker.take() {
            Some(marker) => self.item(ItemKind::Point(marker, inline), range),
            None if !inline.text.is_empty() => self.item(ItemKind::Paragraph(inline), range),
            None => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Emphasis => self.look.is_italic = true,
            Tag::Strong => self.look.is_bold = true,
            Tag::Strikethrough => self.look.is_struck = true,
            Tag::Link { dest_url, .. } => {
                self.look.is_link = is_web(&dest_url);
                self.links
                    .push((self.inline.text.len(), dest_url.into_string()));
            }
            Tag::Image { dest_url, .. } => {
                self.inline.push("🖼 ", self.look);
                self.images.push(dest_url.into_string());
            }
            Tag::List(first) => {
                self.flush_before_block();
                self.lists.push(first);
            }
            Tag::Item => {
                self.flush_before_block();
                let depth = self.lists.len();
                self.marker = Some(match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{}.", *number - 1)
                    }
                    _ if depth % 2 == 1 => "•".into(),
                    _ => "◦".into(),
                });
            }
            Tag::BlockQuote(_) => {
                self.flush_before_block();
                self.quote += 1;
            }
            _ => {}
        }
    }

    /// A block begins inside a list point: what stood before it is the point's own text.
    fn flush_before_block(&mut self) {
        if !self.inline.text.is_empty() || self.marker.is_some() {
            self.flush();
        }
    }

    fn end(&mut self, tag: TagEnd, range: Range<usize>) {
        match tag {
            TagEnd::Emphasis => self.look.is_italic = false,
            TagEnd::Strong => self.look.is_bold = false,
            TagEnd::Strikethrough => self.look.is_struck = false,
            TagEnd::Link => {
                self.look.is_link = false;
                if let Some((start, url)) = self.links.pop() {
                    self.inline.links.push((start..self.inline.text.len(), url));
                }
            }
            TagEnd::Image => {
                if let Some(url) = self.images.pop() {
                    self.inline.push(
                        &format!(" — {url}"),
                        Look {
                            is_weak: true,
                            ..self.look
                        },
                    );
                }
            }
            TagEnd::Paragraph => self.flush(),
            TagEnd::Item => self.flush_before_block(),
            TagEnd::Heading(level) => {
                let inline = std::mem::take(&mut self.inline);
                self.range = None;
                self.marker = None;
                self.item(ItemKind::Heading(heading_number(level), inline), range);
            }
            TagEnd::List(_) => {
                self.flush_before_block();
                self.lists.pop();
            }
            TagEnd::BlockQuote(_) => {
                self.flush_before_block();
                self.quote = self.quote.saturating_sub(1);
            }
            TagEnd::HtmlBlock => {
                let html = std::mem::take(&mut self.html);
                self.item(ItemKind::Source(html.trim_end().to_owned()), range);
            }
            _ => {}
        }
    }
}

fn heading_number(level: HeadingLevel) -> u8 {
    level as u8
}

/// Reads one top-level block.
pub fn items(block: &str, definitions: &str) -> Vec<Item> {
    let whole;
    let source = if !definitions.is_empty() && block.contains('[') {
        whole = format!("{block}\n\n{definitions}");
        &whole
    } else {
        block
    };
    let mut reader = Reader {
        source,
        items: Vec::new(),
        inline: Inline::default(),
        range: None,
        look: Look::default(),
        lists: Vec::new(),
        marker: None,
        quote: 0,
        links: Vec::new(),
        images: Vec::new(),
        html: String::new(),
    };
    let mut code: Option<(String, String)> = None;
    let mut table = 0_usize;
    for (event, range) in Parser::new_ext(source, MARKDOWN).into_offset_iter() {
        if let Some((_, text)) = &mut code
            && let Event::Text(part) = &event
        {
            text.push_str(part);
            continue;
        }
        match event {
            // A table inside a list or quote: the painter of tables only knows whole ones.
            Event::Start(Tag::Table(_)) => {
                reader.flush_before_block();
                table += 1;
                let text = reader.source[range.clone()].trim_end().to_owned();
                reader.item(ItemKind::Source(text), range);
            }
            Event::End(TagEnd::Table) => table = table.saturating_sub(1),
            _ if table > 0 => {}
            Event::Start(Tag::CodeBlock(kind)) => {
                reader.flush_before_block();
                let language = match kind {
                    CodeBlockKind::Fenced(language) => language.into_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                code = Some((language, String::new()));
            }
            Event::End(TagEnd::CodeBlock) => {
                if let Some((language, text)) = code.take() {
                    reader.item(ItemKind::Code(fenced(&language, &text)), range);
                }
            }
            Event::Start(tag) => {
                if matches!(tag, Tag::Paragraph | Tag::Item) {
                    reader.flush_before_start(&tag);
                }
                reader.start(tag);
            }
            Event::End(tag) => reader.end(tag, range),
            Event::Text(text) => {
                reader.touch(&range);
                let look = reader.look;
                reader.inline.push(&text, look);
            }
            Event::Code(text) => {
                reader.touch(&range);
                let look = Look {
                    is_code: true,
                    ..reader.look
                };
                reader.inline.push(&text, look);
            }
            Event::InlineHtml(text) => {
                reader.touch(&range);
                let look = Look {
                    is_code: true,
                    is_weak: true,
                    ..reader.look
                };
                reader.inline.push(&text, look);
            }
            Event::Html(text) => reader.html.push_str(&text),
            Event::SoftBreak => reader.inline.push(" ", Look::default()),
            Event::HardBreak => reader.inline.push_plain("\n", Look::default()),
            Event::Rule => reader.item(ItemKind::Rule, range),
            Event::TaskListMarker(is_done) => {
                reader.touch(&range);
                if let Some(marker) = &mut reader.marker {
                    *marker = if is_done { "☑" } else { "☐" }.into();
                }
            }
            Event::FootnoteReference(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                let look = reader.look;
                reader.inline.push(&text, look);
            }
        }
    }
    reader.flush_before_block();
    reader.items
}

impl Reader<'_> {
    /// A second paragraph of a list point is a paragraph of its own.
    fn flush_before_start(&mut self, tag: &Tag<'_>) {
        if matches!(tag, Tag::Paragraph) && !self.inline.text.is_empty() {
            self.flush();
        }
    }
}

/// One cell's inline Markdown.
pub fn inline(source: &str) -> Inline {
    // Where a cell would be a block of its own (`- x`, `# x`), it is plain text in a table.
    let mut found = items(source, "");
    match (found.len(), found.pop().map(|item| item.kind)) {
        (1, Some(ItemKind::Paragraph(inline))) => inline,
        (0, _) => Inline::default(),
        _ => {
            let mut inline = Inline::default();
            inline.push(source, Look::default());
            inline
        }
    }
}

fn fenced(language: &str, text: &str) -> String {
    let longest = text
        .split(|char| char != '`')
        .map(str::len)
        .max()
        .unwrap_or(0)
        .max(2);
    let fence = "`".repeat(longest + 1);
    let language = language
        .split_whitespace()
        .next()
        .unwrap_or("")
        .replace('`', "");
    let text: String = invisible_chars::Shown::of(&text.replace('\t', "    ")).text;
    format!(
        "{fence}{language}\n{}\n{fence}",
        text.strip_suffix('\n').unwrap_or(&text)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<String> {
        items(source, "")
            .iter()
            .map(|item| {
                let text = match &item.kind {
                    ItemKind::Heading(level, inline) => format!("h{level} {}", inline.text),
                    ItemKind::Paragraph(inline) => format!("p {}", inline.text),
                    ItemKind::Point(marker, inline) => format!("{marker} {}", inline.text),
                    ItemKind::Code(code) => format!("code {code}"),
                    ItemKind::Source(text) => format!("source {text}"),
                    ItemKind::Rule => "rule".into(),
                };
                format!(
                    "{}{}{text}",
                    ">".repeat(item.quote),
                    " ".repeat(item.indent)
                )
            })
            .collect()
    }

    #[test]
    fn blocks_become_flat_items() {
        assert_eq!(texts("## A *b*"), ["h2 A b"]);
        assert_eq!(
            texts("- a\n  - b\n\n    c\n- [x] d"),
            [" • a", "  ◦ b", "  p c", " ☑ d"]
        );
        assert_eq!(texts("3. a\n4. b"), [" 3. a", " 4. b"]);
        assert_eq!(texts("> q\n> > r"), [">p q", ">>p r"]);
        assert_eq!(
            texts("<details>x</details>"),
            ["source <details>x</details>"]
        );
        assert_eq!(texts("```json\n{}\n```"), ["code ```json\n{}\n```"]);
        assert_eq!(texts("---"), ["rule"]);
        assert_eq!(texts("a  \nb\nc"), ["p a\nb c"]);
    }

    #[test]
    fn nothing_is_loaded_and_only_web_links_are_links() {
        let found = items(
            "![pic](http://x/y.png) [a](https://ok) [b](javascript:alert)",
            "",
        );
        let ItemKind::Paragraph(inline) = &found[0].kind else {
            panic!("no paragraph")
        };
        assert_eq!(inline.text, "🖼 pic — http://x/y.png a b");
        assert_eq!(inline.links.len(), 2);
        assert!(is_web(&inline.links[0].1) && !is_web(&inline.links[1].1));
    }

    #[test]
    fn references_and_special_characters() {
        let found = items("[t][a]", "\n[a]: http://b");
        let ItemKind::Paragraph(text) = &found[0].kind else {
            panic!("no paragraph")
        };
        assert_eq!(text.links, [(0..1, "http://b".into())]);
        assert_eq!(inline("a\u{202e}b").text, "aU+202Eb");
        assert_eq!(inline("# no heading").text, "# no heading");
    }
}
