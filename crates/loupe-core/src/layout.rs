//! How a text is laid out: its lines with their places, and what a line is by its marks: a rule, a heading, an item, a row of
//! a table, an end of a fence. Readers, facts, extra text and findings all ask here.

use std::ops::Range;

/// A line with its place in the text, without its end.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    pub text: &'a str,
    pub at: usize,
    /// Bytes of the white space that it begins with.
    pub indent: usize,
}

/// The marks that open or close a fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fence<'a> {
    /// A backtick or a tilde.
    pub mark: char,
    /// How many of them.
    pub marks: usize,
    /// What stands behind them, such as a language; nothing where they close.
    pub info: &'a str,
}

/// The lines of a text.
pub fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        Line::new(line.trim_end_matches(['\n', '\r']), start)
    })
}

/// The lines of a text that are not blank.
pub fn filled_lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    lines(text).filter(|line| !line.is_blank())
}

/// Where the line begins that a place is in.
pub fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |end| end + 1)
}

/// Where the line ends that a place is in.
pub fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |end| at + end)
}

/// Where the lines of a text begin, for who asks of many places.
pub struct LineStarts(Vec<usize>);

impl LineStarts {
    pub fn of(text: &str) -> Self {
        let ends = memchr::memchr_iter(b'\n', text.as_bytes());
        Self(std::iter::once(0).chain(ends.map(|end| end + 1)).collect())
    }

    /// Where the line begins that a place is in.
    pub fn before(&self, at: usize) -> usize {
        let next = self.0.partition_point(|start| *start <= at);
        self.0[next.saturating_sub(1)]
    }
}

/// The rest of the line that begins at a place or holds it.
pub fn line_from(text: &str, at: usize) -> Line<'_> {
    let line = &text[at..line_end(text, at)];
    Line::new(line.strip_suffix('\r').unwrap_or(line), at)
}

impl<'a> Line<'a> {
    pub fn new(text: &'a str, at: usize) -> Self {
        Self {
            text,
            at,
            indent: text.len() - text.trim_start().len(),
        }
    }

    pub fn range(&self) -> Range<usize> {
        self.at..self.at + self.text.len()
    }

    /// The place of a part of the line.
    pub fn place_of(&self, part: &str) -> Range<usize> {
        let start = (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        self.at + start..self.at + start + part.len()
    }

    pub fn is_blank(&self) -> bool {
        self.indent == self.text.len()
    }

    /// The line without white space at either end.
    pub fn body(&self) -> &'a str {
        self.text[self.indent..].trim_end()
    }

    /// The mark of a line of dashes, equal signs or stars; below a head of columns also with spaces between them.
    pub fn rule(&self) -> Option<char> {
        let body = self.body();
        let mark = body.chars().next()?;
        (matches!(mark, '-' | '=' | '*' | '_' | '─' | '═')
            && body.len() >= 3
            && body.chars().all(|char| char == mark || char == ' '))
        .then_some(mark)
    }

    /// How many `#` it begins with.
    pub fn rank(&self) -> usize {
        let marks = self.text[self.indent..].bytes();
        marks.take_while(|byte| *byte == b'#').count()
    }

    /// The text of a heading, without its marks.
    pub fn heading(&self) -> Option<&'a str> {
        let rank = self.rank();
        let text = self.body().get(rank..)?.strip_prefix(' ')?.trim();
        ((1..=6).contains(&rank) && !text.is_empty())
            .then(|| strip_marks(text.trim_end_matches('#').trim_end()))
    }

    /// The text of a line that is a heading, or bold as a whole and no label.
    pub fn title(&self) -> Option<&'a str> {
        let bold = || {
            let inner = self.body().strip_prefix("**")?.strip_suffix("**")?;
            (!inner.is_empty() && !inner.contains("**") && !inner.ends_with(':')).then_some(inner)
        };
        self.heading().or_else(bold)
    }

    /// What follows the mark of a list item.
    pub fn item(&self) -> Option<&'a str> {
        let body = &self.text[self.indent..];
        let rest = match body.strip_prefix(['-', '*', '+', '•', '–', '▪', '◦', '·']) {
            Some(rest) => rest,
            None => &body[ordinal(body)?.len() + 1..],
        };
        rest.starts_with([' ', '\t']).then(|| rest.trim_start())
    }

    /// The marks of a fence. Of code within a line, as in "```a```", they are none.
    pub fn fence(&self) -> Option<Fence<'a>> {
        let body = self.body();
        let mark = body
            .chars()
            .next()
            .filter(|char| matches!(char, '`' | '~'))?;
        let info = body.trim_start_matches(mark);
        let marks = body.len() - info.len();
        (marks >= 3 && (mark == '~' || !info.contains('`'))).then(|| Fence {
            mark,
            marks,
            info: info.trim_start(),
        })
    }

    /// Whether it is a branch of a drawn tree: `├── a.json`, `|-- a.json`.
    pub fn is_branch(&self) -> bool {
        const BRANCHES: [&str; 8] = ["├─", "└─", "├╴", "└╴", "|-- ", "`-- ", "+-- ", "\\-- "];
        let body = &self.text[self.indent..];
        if !matches!(body.bytes().next(), Some(0xe2 | b'|' | b'`' | b'+' | b'\\')) {
            return false;
        }
        let branch = body.trim_start_matches([' ', '\t', '\u{a0}', '│', '┃', '|']);
        BRANCHES
            .iter()
            .any(|mark| body.starts_with(mark) || branch.starts_with(mark))
    }

    /// Whether it parts the head of a table from its rows: `|---|:-:|`.
    pub fn is_table_rule(&self) -> bool {
        let is_mark = |byte| matches!(byte, b'|' | b'-' | b':' | b' ' | b'\t');
        let body = self.body();
        body.bytes().all(is_mark) && body.contains('|') && body.contains('-')
    }

    /// The cells of a row, between bars that no backslash stands before.
    pub fn cells(&self) -> impl Iterator<Item = &'a str> {
        let is_escaped = |at: usize| {
            let before = self.text[..at - self.at].bytes().rev();
            before.take_while(|byte| *byte == b'\\').count() % 2 == 1
        };
        self.cells_between(move |at| !is_escaped(at))
    }

    /// The cells of a row, between the bars at places that part cells.
    pub fn cells_between(&self, parts: impl Fn(usize) -> bool) -> impl Iterator<Item = &'a str> {
        let (body, base) = (self.body(), self.at + self.indent);
        let mut start = usize::from(body.starts_with('|'));
        std::iter::from_fn(move || {
            let rest = body.get(start..).filter(|rest| !rest.is_empty())?;
            let end = memchr::memchr_iter(b'|', rest.as_bytes())
                .map(|bar| start + bar)
                .find(|bar| parts(base + bar))
                .unwrap_or(body.len());
            let cell = &body[start..end];
            start = end + 1;
            Some(cell)
        })
    }
}

/// The digits of the number that an ordered item begins with: `12` of `12. Oslo`.
pub fn ordinal(item: &str) -> Option<&str> {
    let digits = &item[..item.bytes().take_while(u8::is_ascii_digit).count()];
    let rest = item[digits.len()..].strip_prefix(['.', ')'])?;
    ((1..=9).contains(&digits.len()) && rest.starts_with([' ', '\t'])).then_some(digits)
}

/// A value without the emphasis or code marks around the whole of it.
pub fn strip_marks(text: &str) -> &str {
    for mark in ["**", "__", "`"] {
        if let Some(inner) = text
            .strip_prefix(mark)
            .and_then(|rest| rest.strip_suffix(mark))
            && !inner.is_empty()
            && !inner.contains(mark)
        {
            return inner;
        }
    }
    text
}

/// Whether the first head of a table says that names of fields stand below it.
pub fn is_name_head(head: &str) -> bool {
    const NAMES: [&str; 12] = [
        "",
        "attribute",
        "field",
        "header",
        "key",
        "metric",
        "name",
        "option",
        "parameter",
        "property",
        "setting",
        "variable",
    ];
    NAMES.contains(&head.to_lowercase().as_str())
}

/// Whether the second head of a table says that values stand below it.
pub fn is_value_head(head: &str) -> bool {
    head.is_empty() || head.eq_ignore_ascii_case("value")
}

/// The first comment of HTML or XML from a place on.
pub fn comment_from(text: &str, at: usize) -> Option<Range<usize>> {
    const CLOSE: &str = "-->";
    let start = at + text[at..].find("<!--")?;
    let close = text[start..].find(CLOSE);
    Some(start..close.map_or(text.len(), |close| start + close + CLOSE.len()))
}

/// The comments of HTML and XML.
pub fn comments(text: &str) -> impl Iterator<Item = Range<usize>> {
    std::iter::successors(comment_from(text, 0), |last| comment_from(text, last.end))
}

/// The one of ranges in order that holds a place.
pub fn range_at(ranges: &[Range<usize>], at: usize) -> Option<&Range<usize>> {
    let behind = ranges.partition_point(|range| range.start <= at);
    ranges[..behind].last().filter(|range| at < range.end)
}

/// The longest run of backticks.
pub fn longest_backticks(text: &str) -> usize {
    let (mut longest, mut run, mut end) = (0, 0, 0);
    for at in memchr::memchr_iter(b'`', text.as_bytes()) {
        run = if at == end { run + 1 } else { 1 };
        end = at + 1;
        longest = longest.max(run);
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Line<'_> {
        Line::new(text, 0)
    }

    #[test]
    fn lines_have_their_places() {
        let text = "a\r\n\n  b\n";
        let found: Vec<_> = lines(text)
            .map(|line| (line.range(), line.indent))
            .collect();
        assert_eq!(found, [(0..1, 0), (3..3, 0), (4..7, 2)]);
        assert_eq!(line_from(text, 0).text, "a");
        assert_eq!([line_start(text, 6), line_end(text, 5)], [4, 7]);
    }

    #[test]
    fn a_line_is_told_by_its_marks() {
        for (text, mark) in [("---", '-'), (" * * *", '*'), ("=== ===", '='), ("─", '─')] {
            assert_eq!(line(text).rule(), Some(mark), "{text}");
        }
        for text in ["--", "- a", "|---|", ""] {
            assert_eq!(line(text).rule(), None, "{text}");
        }
        assert_eq!(line("## **A** ##").heading(), Some("A"));
        assert_eq!([line("#12 a").heading(), line("#").heading()], [None, None]);
        assert_eq!(line("#12 a").rank(), 1);
        assert_eq!(
            [line("**A**").title(), line("**A:**").title()],
            [Some("A"), None]
        );
        for text in ["- a", "  * a", "12. a", "3)\ta", "• a"] {
            assert_eq!(line(text).item(), Some("a"), "{text}");
        }
        for text in ["-a", "1.5 GB", "1234567890. a", "a"] {
            assert_eq!(line(text).item(), None, "{text}");
        }
        let fence = line("  ````json").fence().unwrap();
        assert_eq!((fence.mark, fence.marks, fence.info), ('`', 4, "json"));
        assert_eq!([line("``").fence(), line("```a```").fence()], [None, None]);
    }

    #[test]
    fn bars_part_cells_but_for_escaped_ones() {
        let cells = |text| line(text).cells().collect::<Vec<_>>();
        assert_eq!(cells(r"| a \| b | c |"), [r" a \| b ", " c "]);
        assert_eq!(cells("a|b"), ["a", "b"]);
        assert_eq!(cells("|| b |  "), ["", " b "]);
        assert_eq!(cells(r"|a\\|b\|"), [r"a\\", r"b\|"]);
        assert!(line("|:-:|---|").is_table_rule() && line("--|--").is_table_rule());
        assert!(!line("---").is_table_rule() && !line("| - | a |").is_table_rule());
    }

    #[test]
    fn comments_are_found() {
        let text = "a <!-- b --> c <!-- d";
        assert_eq!(comments(text).collect::<Vec<_>>(), [2..12, 15..21]);
    }
}
