//! A result as rules look at it: its parts, and what is worked out of it once.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::rounding::RoundedNumbers;
use super::{CheckedServer, CheckedTool, Location, LocationPart};
use crate::queries::{self, Columns, HostsReport, Parts};
use loupe_core::capture::facts::record_lists;
use loupe_core::capture::{Fact, FactCount, FactMatches, Outcome, ResultData, Tool};
use loupe_core::format::{ExtraText, MARKDOWN, ParsedCapture};
use loupe_core::host::{Hosts, LimitState, ReadChoice, ResultPart, ViewContext};
use loupe_core::json::{Doc, Kind, Node};
use loupe_core::token::{self, Tokens};

/// Markdown beyond this is not looked at: rendering stops there too.
pub(crate) const MARKDOWN_BYTES: usize = 2 << 20;

/// Members that say whether there is more.
pub const MORE: [&str; 5] = [
    "hasMore",
    "has_more",
    "truncated",
    "hasNextPage",
    "isTruncated",
];

/// The fields that the facts of a result are of.
pub(crate) struct FactFields {
    /// The pointer to each, `*` for positions in lists.
    pub paths: Vec<String>,
    /// Its position in `paths`, by that of the fact.
    pub(crate) of_fact: Vec<u32>,
}

/// A result with what rules need of it.
pub struct CheckedResult<'a> {
    pub subject: &'a Arc<ParsedCapture>,
    pub server: CheckedServer<'a>,
    pub hosts: &'a Hosts,
    /// What one model reads, which savings are computed against.
    reads: ReadChoice,
    /// What the hosts make of it, where that is known already.
    report: Option<&'a HostsReport>,
    /// The texts of all text blocks in order, one LF between two.
    pub text: Cow<'a, str>,
    /// The blocks with their ranges in `text`.
    blocks: Vec<(usize, Range<usize>)>,
    markdown: OnceLock<Vec<(Event<'static>, Range<usize>)>>,
    /// Where the blocks begin in `text`, by their positions.
    starts: OnceLock<Vec<(usize, usize)>>,
    strings: OnceLock<Vec<(Node<'a>, Range<usize>)>>,
    arguments: Doc,
    matched: OnceLock<Arc<FactMatches>>,
    fact_fields: OnceLock<FactFields>,
    rounded: OnceLock<RoundedNumbers>,
    shadowed: OnceLock<Option<u64>>,
    lower: OnceLock<String>,
    unseen: OnceLock<Vec<(usize, char)>>,
    json: OnceLock<Option<Arc<Doc>>>,
    parts: OnceLock<Parts>,
    read_part: OnceLock<ResultPart>,
    sent: OnceLock<Tokens>,
    arguments_of_tools: OnceLock<Vec<(&'a str, Vec<String>)>>,
}

impl<'a> CheckedResult<'a> {
    pub fn new(
        subject: &'a Arc<ParsedCapture>,
        server: CheckedServer<'a>,
        hosts: &'a Hosts,
    ) -> Self {
        let mut blocks = Vec::new();
        let mut text = Cow::Borrowed("");
        for block in subject.response.text_blocks() {
            let own = block.text.as_deref().unwrap_or_default();
            if blocks.is_empty() {
                text = Cow::Borrowed(own);
            } else {
                text.to_mut().push('\n');
                text.to_mut().push_str(own);
            }
            blocks.push((block.index, text.len() - own.len()..text.len()));
        }
        Self {
            subject,
            server,
            hosts,
            reads: ReadChoice::Most,
            report: None,
            text,
            blocks,
            markdown: OnceLock::new(),
            starts: OnceLock::new(),
            strings: OnceLock::new(),
            arguments: Doc::parse(subject.capture.arguments.clone()),
            matched: OnceLock::new(),
            fact_fields: OnceLock::new(),
            rounded: OnceLock::new(),
            shadowed: OnceLock::new(),
            lower: OnceLock::new(),
            unseen: OnceLock::new(),
            json: OnceLock::new(),
            parts: OnceLock::new(),
            read_part: OnceLock::new(),
            sent: OnceLock::new(),
            arguments_of_tools: OnceLock::new(),
        }
    }

    /// The same with another choice of what one model reads.
    pub fn with_reads(self, reads: ReadChoice) -> Self {
        Self { reads, ..self }
    }

    /// The same with what the hosts make of it, where they have been run through already.
    pub(crate) fn with_report(self, report: Option<&'a HostsReport>) -> Self {
        Self { report, ..self }
    }

    /// Whether the call gave a result, and no error.
    pub fn is_success(&self) -> bool {
        self.subject.capture.outcome == Outcome::Result && self.result().is_some()
    }

    pub fn result(&self) -> Option<Node<'a>> {
        self.subject.response.result()
    }

    pub fn structured(&self) -> Option<Node<'a>> {
        self.subject.response.structured()
    }

    /// The data, where it is `structuredContent`.
    pub(crate) fn structured_data(&self) -> Option<&'a ResultData> {
        self.subject
            .data
            .as_ref()
            .filter(|data| data.is_structured())
    }

    /// The data, where what it says of numbers and lists is exact: `structuredContent`, or JSON in the text.
    pub(crate) fn exact_data(&self) -> Option<&'a ResultData> {
        let data = self.subject.data.as_ref()?;
        data.text_source()
            .is_none_or(|source| source.data.is_verbatim())
            .then_some(data)
    }

    /// The records of the data, where it has exactly one list of them.
    pub fn records(&self) -> Option<Node<'a>> {
        match record_lists(self.exact_data()?.root())[..] {
            [list] => Some(list),
            _ => None,
        }
    }

    /// The member that says whether there is more, and what it says; yes, where several disagree.
    pub(crate) fn says_more(&self) -> Option<(Node<'a>, bool)> {
        let stated = near(self.exact_data()?.root())
            .take(1_000)
            .filter(|node| node.key().is_some_and(|key| MORE.contains(&&*key)))
            .filter_map(|node| Some((node, node.as_bool()?)));
        stated.max_by_key(|(node, more)| (*more, std::cmp::Reverse(node.index())))
    }

    /// The facts of the data in the text; only how many are missing where there is no text.
    pub fn fact_matches(&self) -> &FactMatches {
        self.matched.get_or_init(|| match &self.subject.data {
            Some(data) if self.text.trim().is_empty() => {
                let total = FactCount::all_proved(data).total;
                Arc::new(FactMatches {
                    count: FactCount {
                        total,
                        missing: total,
                        ..Default::default()
                    },
                    ..Default::default()
                })
            }
            _ => self.subject.facts_in_text(),
        })
    }

    /// The fields of those facts.
    pub(crate) fn fact_fields(&self) -> &FactFields {
        self.fact_fields.get_or_init(|| {
            let mut fields = FactFields {
                paths: Vec::new(),
                of_fact: Vec::new(),
            };
            let Some(data) = &self.subject.data else {
                return fields;
            };
            let root = data.root();
            let columns = Columns::of(root);
            let (mut of_column, mut of_path): (HashMap<usize, u32>, HashMap<String, u32>) =
                Default::default();
            for fact in &self.fact_matches().facts {
                let field = *of_column
                    .entry(columns.of_node[fact.node() - root.index()])
                    .or_insert_with(|| {
                        let pointer = data
                            .doc
                            .node(fact.node())
                            .map(|node| node.pointer_from(root.index()));
                        // Two keys of digits alone are one field.
                        *of_path
                            .entry(wild(&pointer.unwrap_or_default()))
                            .or_insert_with_key(|path| {
                                fields.paths.push(path.clone());
                                u32::try_from(fields.paths.len() - 1).unwrap_or(u32::MAX)
                            })
                    });
                fields.of_fact.push(field);
            }
            fields
        })
    }

    /// The numbers of the text that stand for no other value and say how far they are rounded.
    pub(crate) fn rounded_numbers(&self) -> &RoundedNumbers {
        self.rounded.get_or_init(|| {
            let text = self.markdown_text();
            let shown = self
                .fact_matches()
                .facts
                .iter()
                .filter(|fact| !fact.state().is_missing());
            let mut taken: Vec<_> = shown
                .filter_map(Fact::place)
                .filter(|place| place.start < text.len())
                .collect();
            taken.sort_by_key(|place| place.start);
            RoundedNumbers::new(text, &taken)
        })
    }

    /// What the texts say that the data does not hold.
    pub fn extra(&self) -> &'a ExtraText {
        self.subject.extra()
    }

    /// The share of the text that the data accounts for, in percent of its bytes, where it is below a limit: that of the
    /// rule about it, whoever asks. `None` of short texts too.
    pub(crate) fn shadowed(&self, limit: u64) -> Option<u64> {
        /// A text with less extra text than this is a sentence.
        const LEAST_BYTES: u64 = 120;
        *self.shadowed.get_or_init(|| {
            self.structured_data()?;
            let (extra, all) = (self.extra().bytes, self.text.trim().len() as u64);
            let share = all.saturating_sub(extra) * 100 / all.max(1);
            (extra >= LEAST_BYTES && share < limit).then_some(share)
        })
    }

    /// The text in small letters.
    pub(crate) fn lower_text(&self) -> &str {
        self.lower.get_or_init(|| self.text.to_lowercase())
    }

    /// The characters of the text that nobody sees: control characters but for tabs and line ends, marks of direction, joiners,
    /// tags and U+FFFD, each with its place.
    pub(crate) fn unseen_characters(&self) -> &[(usize, char)] {
        self.unseen.get_or_init(|| {
            self.text
                .char_indices()
                .filter(|(_, char)| is_unseen(*char))
                .collect()
        })
    }

    /// The text as JSON, where it is that as a whole.
    pub fn json_text(&self) -> Option<&Doc> {
        let parse = || {
            let is_bracketed = self.text.trim().starts_with(['{', '[']) && self.blocks.len() == 1;
            let read = self
                .subject
                .data
                .as_ref()
                .filter(|data| data.reader().is_some_and(|reader| reader.id == "json"));
            match read {
                _ if !is_bracketed => None,
                Some(data) => Some(Arc::clone(&data.doc)),
                None => Some(Arc::new(Doc::parse(self.text.clone().into_owned().into())))
                    .filter(|doc| doc.is_json()),
            }
        };
        self.json.get_or_init(parse).as_deref()
    }

    /// The hosts that have a limit, in their order, with what it means for this result.
    pub fn limits(&self) -> Vec<(&'a str, LimitState)> {
        if let Some(report) = self.report {
            let limited = report.rows.iter().filter(|row| !row.host.limit.is_empty());
            return limited
                .map(|row| (&*row.host.name, row.limit().state))
                .collect();
        }
        let context = ViewContext::new(&self.subject.capture);
        let limited = self.hosts.iter().filter(|host| !host.limit.is_empty());
        limited
            .map(|host| (&*host.name, host.limit_state(self.subject, &context)))
            .collect()
    }

    /// The argument with this name.
    pub fn argument(&self, name: &str) -> Option<Node<'_>> {
        self.arguments.root()?.get(name)
    }

    /// The number that the call asked for, of arguments that say how many.
    pub(crate) fn asked_for(&self) -> Option<(Cow<'_, str>, u64)> {
        let root = self.arguments.root()?;
        root.children().find_map(|child| {
            let name = child.key().filter(|name| is_limit_name(name))?;
            Some((name, u64::try_from(child.as_i64()?).ok()?))
        })
    }

    /// Whether the call asked for a page that may not be the first.
    pub(crate) fn asks_for_page(&self) -> bool {
        let keys = self
            .arguments
            .root()
            .into_iter()
            .flat_map(Node::children)
            .filter_map(Node::key);
        keys.into_iter()
            .any(|key| is_page_name(&key) && !is_limit_name(&key))
    }

    /// The text of a format, where it applies.
    pub fn format_text(&self, id: &str) -> Option<String> {
        queries::text_of(self.subject, id).ok()
    }

    /// Both parts of the result.
    pub fn parts(&self) -> &Parts {
        self.parts.get_or_init(|| Parts {
            text: self.format_text("content"),
            structured: self.format_text("structured"),
        })
    }

    /// The parts with other data, JSON, wherever the data stands as JSON: `structuredContent`, and a text that is JSON.
    pub(crate) fn parts_with(&self, data: &str) -> Parts {
        let parts = self.parts().clone();
        let with = |is_data: bool, part: Option<String>| {
            part.map(|part| if is_data { data.to_owned() } else { part })
        };
        Parts {
            text: with(self.json_text().is_some(), parts.text),
            structured: with(self.structured_data().is_some(), parts.structured),
        }
    }

    /// Tokens of what is sent: both parts, or the one there is.
    pub fn token_counts(&self) -> Tokens {
        *self
            .sent
            .get_or_init(|| self.subject.cache.counts_of(&self.parts().pieces()).tokens)
    }

    /// The part of the result that one model reads.
    pub fn read_part(&self) -> ResultPart {
        *self
            .read_part
            .get_or_init(|| self.hosts.part_read(self.reads, self.subject))
    }

    /// Tokens that one model reads less of the parts `after` than of those `before`.
    pub fn saved(&self, before: &Parts, after: &Parts) -> Tokens {
        let part = self.read_part();
        self.subject
            .cache
            .saved(&before.read(part), &after.read(part))
    }

    /// What each tool of the server takes.
    pub(crate) fn arguments_of_tools(&self) -> &[(&'a str, Vec<String>)] {
        self.arguments_of_tools.get_or_init(|| {
            let names = |tool: &'a Arc<Tool>| {
                let checked = CheckedTool::new(tool);
                let keys = checked
                    .arguments()
                    .into_iter()
                    .filter_map(|node| Some(node.key()?.into_owned()))
                    .collect();
                (tool.name.as_str(), keys)
            };
            self.server.tools.iter().map(names).collect()
        })
    }

    /// Tokens of a text, counted once per answer.
    pub fn count(&self, text: &str) -> Tokens {
        self.subject.cache.counts_of(&[text]).tokens
    }

    /// A place in the texts.
    pub fn text_at(&self, range: Range<usize>) -> Location {
        let at = self
            .blocks
            .partition_point(|(_, own)| own.start <= range.start)
            .saturating_sub(1);
        let (block, own) = self.blocks.get(at).cloned().unwrap_or((0, 0..0));
        let within = |offset: usize| offset.clamp(own.start, own.end) - own.start;
        Location {
            part: LocationPart::Text(block),
            path: String::new(),
            range: Some(within(range.start)..within(range.end)),
        }
    }

    /// A place in the data: in `structuredContent`, or in the text that it was read from.
    pub(crate) fn data_at(&self, node: Node<'_>) -> Location {
        let Some(data) = self
            .subject
            .data
            .as_ref()
            .filter(|data| !data.is_structured())
        else {
            let root = self.structured().map_or(0, Node::index);
            return Location {
                part: LocationPart::Structured,
                path: node.pointer_from(root),
                range: None,
            };
        };
        let place = data.place_in(self.starts(), node);
        Location {
            path: node.pointer(),
            ..self.text_at(place.unwrap_or(0..0))
        }
    }

    fn starts(&self) -> &[(usize, usize)] {
        self.starts
            .get_or_init(|| ResultData::starts(&self.subject.response))
    }

    /// The text as far as Markdown is looked at.
    pub(crate) fn markdown_text(&self) -> &str {
        &self.text[..self.text.floor_char_boundary(MARKDOWN_BYTES)]
    }

    /// The structure of the text as Markdown, each event with its place; none where it is JSON. Texts are given within
    /// headings and links alone.
    pub fn markdown(&self) -> &[(Event<'static>, Range<usize>)] {
        self.markdown.get_or_init(|| {
            let text = if self.json_text().is_some() {
                ""
            } else {
                self.markdown_text()
            };
            let mut open = 0;
            let mut events = Vec::new();
            for (event, range) in Parser::new_ext(text, MARKDOWN).into_offset_iter() {
                match &event {
                    Event::Start(Tag::Heading { .. } | Tag::Link { .. }) => open += 1,
                    Event::End(TagEnd::Heading(_) | TagEnd::Link) => open -= 1,
                    Event::Text(_) if open > 0 => {}
                    Event::Text(_)
                    | Event::SoftBreak
                    | Event::HardBreak
                    | Event::Start(Tag::Paragraph) => continue,
                    Event::End(end)
                        if !matches!(
                            end,
                            TagEnd::Table | TagEnd::TableHead | TagEnd::TableCell
                        ) =>
                    {
                        continue;
                    }
                    _ => {}
                }
                events.push((event.into_static(), range));
            }
            events.shrink_to_fit();
            events
        })
    }

    /// The leaves of the data that are texts, each with its place in the text.
    pub(crate) fn strings_in_text(&self) -> &[(Node<'a>, Range<usize>)] {
        self.strings.get_or_init(|| {
            let Some(data) = &self.subject.data else {
                return Vec::new();
            };
            if !data.is_structured() {
                // What was read from the text is known to be there, and where.
                let starts = self.starts();
                let strings = leaves(data.root()).filter(|leaf| leaf.kind() == Kind::String);
                return strings
                    .filter_map(|leaf| {
                        Some((leaf, unquoted(&self.text, data.place_in(starts, leaf)?)))
                    })
                    .collect();
            }
            let kept = self
                .fact_matches()
                .facts
                .iter()
                .filter(|fact| !fact.state().is_missing());
            kept.filter_map(|fact| Some((data.doc.node(fact.node())?, fact.place()?)))
                .filter(|(node, _)| node.kind() == Kind::String)
                .collect()
        })
    }

    /// Whether the tool says or sounds as if it only reads.
    pub fn is_read(&self) -> bool {
        let tool = &self.subject.capture.tool;
        tool.is_declared_read_only() || super::tool::reads_by_name(&tool.name)
    }
}

fn is_unseen(char: char) -> bool {
    match char {
        '\t' | '\n' | '\r' => false,
        '\u{ad}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2069}' => true,
        '\u{feff}' | char::REPLACEMENT_CHARACTER | '\u{e0000}'..='\u{e007f}' => true,
        _ => char.is_control(),
    }
}

/// A place without the quotation marks at its ends.
fn unquoted(text: &str, place: Range<usize>) -> Range<usize> {
    match text.as_bytes()[place.clone()] {
        [b'"', .., b'"'] => place.start + 1..place.end - 1,
        _ => place,
    }
}

/// Tokens of a text that stands for itself.
pub fn tokens(text: &str) -> Tokens {
    token::count(text)
}

/// A pointer with `*` for every position in a list.
pub(crate) fn wild(pointer: &str) -> String {
    let step = |step: &str| {
        if !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit()) {
            "*".to_owned()
        } else {
            step.to_owned()
        }
    };
    pointer.split('/').map(step).collect::<Vec<_>>().join("/")
}

/// The leaves of a value.
pub fn leaves(root: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    (root.index()..root.subtree_end())
        .filter_map(move |at| root.doc().node(at))
        .filter(|node| !node.is_container())
}

/// Every node of a value.
pub fn nodes(root: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    (root.index()..root.subtree_end()).filter_map(move |at| root.doc().node(at))
}

/// The members of a value at its top, then those of its objects: where answers tell of themselves.
pub fn near(root: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    root.children().chain(
        root.children()
            .filter(|child| child.kind() == Kind::Object)
            .flat_map(Node::children),
    )
}

/// Whether a name says how many.
pub(crate) fn is_limit_name(name: &str) -> bool {
    let plain: String = name
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|char| char.to_ascii_lowercase())
        .collect();
    matches!(
        &*plain,
        "limit"
            | "pagesize"
            | "perpage"
            | "count"
            | "maxresults"
            | "maxitems"
            | "top"
            | "topk"
            | "first"
            | "take"
            | "numresults"
    )
}

/// Whether a name leads to further records: `nextCursor`, `page_token`, and not `startDate` or `details`.
pub(crate) fn is_page_name(name: &str) -> bool {
    let words = super::tool::words(name);
    let is_word = |word: &String| {
        matches!(
            &**word,
            "cursor" | "offset" | "page" | "skip" | "after" | "before" | "head" | "tail" | "range"
        )
    };
    is_limit_name(name)
        || words.iter().any(is_word)
        || matches!(
            &*words.concat(),
            "start" | "startindex" | "startat" | "startrow"
        )
}

/// A text cut for a message.
pub fn clip(text: &str) -> String {
    const MOST: usize = 60;
    let mut line = String::new();
    let mut room = MOST;
    for (at, word) in text.split_whitespace().enumerate() {
        let spaced = [if at == 0 { "" } else { " " }, word];
        for char in spaced.into_iter().flat_map(str::chars) {
            if room == 0 {
                return line + "…";
            }
            line.push(char);
            room -= 1;
        }
    }
    line
}

/// The leaves of a document; none where it could not be read.
pub(crate) fn leaves_of(doc: &Doc) -> impl Iterator<Item = Node<'_>> {
    doc.root().into_iter().flat_map(leaves)
}
