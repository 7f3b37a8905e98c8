//! What the user sees of a Markdown format once it is rendered, next to the values: `*x*` loses its stars, and so on.
//!
//! The text is parsed as GFM and every cell and item is compared with what it should say. Space at either end is not
//! visible and does not count.

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::{DifferenceKind, Differences, ValueChange};
use crate::format::rows::{RowSet, cell_text};
use crate::json::write;
use crate::json::{Kind, Node};

/// The values that look different, and the sentence about them.
pub(super) fn differences(
    root: Node<'_>,
    text: &str,
    format: &str,
) -> (Differences, Option<String>) {
    let mut found = Differences::default();
    let mut seen = Seen::new(text);
    let mut expected = 0_u64;
    let mut expect = |wanted: Wanted<'_>, seen: &mut Seen<'_>| {
        expected += 1;
        let visible = seen.next();
        let want = wanted.text();
        if visible
            .as_deref()
            .is_none_or(|visible| !is_same(visible, &want))
        {
            found.add(|| ValueChange {
                path: wanted.path(root),
                kind: DifferenceKind::String,
                before: Some(short(&want)),
                after: visible.as_deref().map(short),
            });
        }
    };
    let rows = RowSet::new(root).ok();
    for node in rows.map(RowSet::envelope).unwrap_or_default() {
        expect(
            Wanted::Item(node, Some(cell_text(Some(node)).into_owned())),
            &mut seen,
        );
    }
    match (format, rows) {
        ("markdown-table", Some(rows)) => {
            if let Ok(columns) = rows.columns(format) {
                for name in &columns.names {
                    expect(Wanted::Column(name), &mut seen);
                }
                for record in rows.records() {
                    for (node, name) in columns.row(record).into_iter().zip(&columns.names) {
                        expect(Wanted::Cell(record, node, name), &mut seen);
                    }
                }
            }
        }
        (_, Some(rows)) => {
            for record in rows.records() {
                items(record, |wanted| expect(wanted, &mut seen));
            }
        }
        (_, None) => items(root, |wanted| expect(wanted, &mut seen)),
    }
    let surplus = seen.rest();
    if surplus > 0 {
        found.add(|| ValueChange {
            path: String::new(),
            kind: DifferenceKind::Extra,
            before: Some(format!("{expected} cells and items")),
            after: Some(format!("{surplus} more")),
        });
    }
    let note = (found.count > 0).then(|| match found.count {
        1 => "1 value looks different once rendered".to_owned(),
        count => format!("{count} values look different once rendered"),
    });
    (found, note)
}

/// A cell or item as it should look.
enum Wanted<'a> {
    Item(Node<'a>, Option<String>),
    Column(&'a str),
    Cell(Node<'a>, Option<Node<'a>>, &'a str),
}

impl Wanted<'_> {
    fn text(&self) -> String {
        match self {
            Self::Item(node, value) => {
                let key = node
                    .key()
                    .map_or_else(|| (node.ordinal() + 1).to_string(), |key| key.into_owned());
                match value {
                    Some(value) => format!("{key}: {value}"),
                    None => format!("{key}:"),
                }
            }
            Self::Column(name) => (*name).to_owned(),
            Self::Cell(_, node, _) => cell_text(*node).into_owned(),
        }
    }

    fn path(&self, root: Node<'_>) -> String {
        match self {
            Self::Item(node, _) => node.pointer_from(root.index()),
            Self::Column(_) => String::new(),
            Self::Cell(_, Some(node), _) => node.pointer_from(root.index()),
            Self::Cell(record, None, name) => {
                format!(
                    "{}/{}",
                    record.pointer_from(root.index()),
                    name.replace('~', "~0").replace('/', "~1")
                )
            }
        }
    }
}

/// The items of a value's list, in order.
fn items<'a>(root: Node<'a>, mut expect: impl FnMut(Wanted<'a>)) {
    for index in root.index() + 1..root.subtree_end() {
        let Some(node) = root.doc().node(index) else {
            break;
        };
        let value = match node.kind() {
            Kind::Array if node.is_empty() => Some("[]".to_owned()),
            Kind::Object if node.is_empty() => Some("{}".to_owned()),
            Kind::Array | Kind::Object => None,
            Kind::String => node.as_str().map(|text| text.into_owned()),
            Kind::Null | Kind::Bool | Kind::Number => Some(node.raw_text().into_owned()),
        };
        expect(Wanted::Item(node, value));
    }
}

/// A text is parsed in pieces of about this size. The parser finds all blocks of
/// a text before it gives out the first.
const PIECE_BYTES: usize = 64 << 10;

/// The visible texts of cells and items, in order, one at a time.
struct Seen<'a> {
    rest: &'a str,
    piece: usize,
    /// The head of the table and the rule below it, which each piece of its rows needs, and its number of cells.
    head: Option<(&'a str, usize)>,
    /// What is left of the last piece.
    ready: std::vec::IntoIter<String>,
}

impl<'a> Seen<'a> {
    fn new(text: &'a str) -> Self {
        Self::in_pieces(text, PIECE_BYTES)
    }

    fn in_pieces(text: &'a str, piece: usize) -> Self {
        Self {
            rest: text,
            piece,
            head: None,
            ready: Vec::new().into_iter(),
        }
    }

    fn next(&mut self) -> Option<String> {
        loop {
            if let Some(text) = self.ready.next() {
                return Some(text);
            }
            if self.rest.is_empty() {
                return None;
            }
            let indent = indentation(self.rest.as_bytes());
            let (now, later) = self.rest.split_at(self.cut(indent));
            self.rest = later;
            self.ready = match self.head {
                Some((head, cells)) => {
                    let mut texts = visible(&format!("{head}{now}")).into_iter();
                    texts.by_ref().take(cells).for_each(drop);
                    texts
                }
                // Items of an inner list are a list of their own once they are at the margin.
                None if indent > 0 => visible(
                    &now.split_inclusive('\n')
                        .map(|line| line.get(indent..).unwrap_or(line))
                        .collect::<String>(),
                )
                .into_iter(),
                None => visible(now).into_iter(),
            };
            if self.head.is_none() && later.starts_with('|') {
                let table = if now.starts_with('|') {
                    0
                } else {
                    now.find("\n|").map_or(now.len(), |at| at + 1)
                };
                let head = now[table..]
                    .match_indices('\n')
                    .nth(1)
                    .map_or(now.len(), |(at, _)| table + at + 1);
                self.head = Some((&now[table..head], visible(&now[table..head]).len()));
            }
        }
    }

    /// Where the first piece ends: before a row (not the first, which needs its head), a heading or an item; in any case
    /// before an item that is indented less than what the piece begins with.
    fn cut(&self, indent: usize) -> usize {
        let bytes = self.rest.as_bytes();
        let mut from = if indent > 0 {
            0
        } else {
            self.piece.min(bytes.len())
        };
        while let Some(end) = memchr::memchr(b'\n', &bytes[from..]) {
            from += end + 1;
            let line = &bytes[from..];
            let inner = indentation(line);
            let is_begin = match line.get(inner) {
                Some(b'|') => {
                    self.head.is_some()
                        || self.rest[..from]
                            .lines()
                            .filter(|line| line.starts_with('|'))
                            .nth(1)
                            .is_some()
                }
                Some(b'-') => line[inner..].starts_with(b"- **"),
                Some(b'#') => line.starts_with(b"### "),
                // The empty line before a heading.
                Some(b'\n') => indent > 0,
                _ => false,
            };
            if is_begin && (from >= self.piece || inner < indent) {
                return from;
            }
        }
        bytes.len()
    }

    /// How many are left.
    fn rest(&mut self) -> u64 {
        let mut rest = 0;
        while self.next().is_some() {
            rest += 1;
        }
        rest
    }
}

/// Spaces at the beginning of a line.
fn indentation(line: &[u8]) -> usize {
    line.iter().take_while(|byte| **byte == b' ').count()
}

/// The visible texts of the cells and items of a text.
fn visible(text: &str) -> Vec<String> {
    let mut texts = Vec::new();
    // The item whose text is being gathered.
    let mut open: Option<String> = None;
    for event in Parser::new_ext(text, crate::format::MARKDOWN) {
        let piece: &str = match &event {
            Event::Start(Tag::Item | Tag::TableCell) => {
                // An item inside an item: the outer one's own text is complete.
                texts.extend(open.replace(String::new()));
                continue;
            }
            Event::End(TagEnd::Item | TagEnd::TableCell) => {
                texts.extend(open.take());
                continue;
            }
            Event::Text(text) | Event::Code(text) => text,
            Event::InlineHtml(html) if html.as_ref() == "<br>" => "\n",
            Event::SoftBreak | Event::HardBreak => "\n",
            _ => continue,
        };
        if let Some(seen) = &mut open {
            seen.push_str(piece);
        }
    }
    texts
}

/// Equal but for space at either end and the kind of line end.
fn is_same(visible: &str, wanted: &str) -> bool {
    match wanted.contains('\r') {
        true => visible.trim() == wanted.replace("\r\n", "\n").replace('\r', "\n").trim(),
        false => visible.trim() == wanted.trim(),
    }
}

fn short(text: &str) -> String {
    write::string(&match text.char_indices().nth(120) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::format::tests::{of_data, table, value, write};

    fn seen(text: &str, piece: usize) -> Vec<String> {
        let mut seen = Seen::in_pieces(text, piece);
        std::iter::from_fn(|| seen.next()).collect()
    }

    #[test]
    fn rows_and_items_are_seen_in_pieces() {
        let data = r#"{"total":3,"items":[{"a":"*x*","b":"|"},{"a":"y\n","b":null},{"a":{"c":[1]},"b":"z"}],"more":true}"#;
        for id in ["markdown-table", "markdown-list"] {
            let text = write(id, &of_data(data)).unwrap();
            assert_eq!(seen(&text, 1), seen(&text, 10_000), "{text}");
        }
        let text = write("markdown-table", &of_data(data)).unwrap();
        assert_eq!(
            seen(&text, 1),
            [
                "total: 3",
                "more: true",
                "a",
                "b",
                "x",
                "|",
                "y\n",
                "",
                r#"{"c":[1]}"#,
                "z"
            ]
        );
        let deep =
            r#"{"a":{"b":[{"c":"*x*","d":[1,[2,{"e":null}]]},"y"],"f":{"g":{}}},"h":[[["z"]]]}"#;
        let text = write("markdown-list", &of_data(deep)).unwrap();
        for piece in [1, 20, 50, 90] {
            assert_eq!(seen(&text, piece), visible(&text), "in {piece}: {text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_seen_in_pieces_is_the_whole(
            data in prop_oneof![value(), table(), table().prop_map(|rows| format!(r#"{{"n":[1],"items":{rows},"m":"x"}}"#))],
        ) {
            for id in ["markdown-table", "markdown-list"] {
                let Ok(text) = write(id, &of_data(&data)) else { continue };
                let whole = visible(&text);
                for piece in [1, 30] {
                    prop_assert_eq!(&seen(&text, piece), &whole, "{}", text);
                }
            }
        }
    }
}
