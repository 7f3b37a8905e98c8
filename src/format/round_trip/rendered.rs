//! What a person sees of a Markdown format once it is rendered, beside the values: `*x*` loses its stars, and so on.
//!
//! The text is parsed as GFM and every cell and item is compared with what it should say. Space at either end is not
//! visible and does not count.

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::{Difference, DifferenceKind, Differences};
use crate::cancel::{Cancel, Cancelled};
use crate::format::rows::{RowSet, cell_text};
use crate::json::write;
use crate::json::{Kind, Node};

/// The values that look different, and the sentence about them.
pub(super) fn differences(
    root: Node<'_>,
    text: &str,
    format: &str,
    cancel: &Cancel,
) -> Result<(Differences, Option<String>), Cancelled> {
    let mut found = Differences::default();
    let mut seen = Seen::new(text, cancel);
    let mut expected = 0_u64;
    let mut expect = |wanted: Wanted<'_>, seen: &mut Seen<'_>| -> Result<(), Cancelled> {
        expected += 1;
        let visible = seen.next()?;
        let want = wanted.text();
        if visible.as_deref().is_none_or(|visible| !is_same(visible, &want)) {
            found.add(|| Difference {
                path: wanted.path(root),
                kind: DifferenceKind::String,
                before: Some(short(&want)),
                after: visible.as_deref().map(short),
            });
        }
        Ok(())
    };
    let rows = RowSet::of(root).ok();
    for node in rows.map(RowSet::envelope).unwrap_or_default() {
        expect(Wanted::Item(node, Some(cell_text(Some(node)).into_owned())), &mut seen)?;
    }
    match (format, rows) {
        ("markdown-table", Some(rows)) => {
            if let Ok(columns) = rows.columns(format) {
                for name in &columns.names {
                    expect(Wanted::Column(name), &mut seen)?;
                }
                for record in rows.records() {
                    for (node, name) in columns.row(record).into_iter().zip(&columns.names) {
                        expect(Wanted::Cell(record, node, name), &mut seen)?;
                    }
                }
            }
        }
        (_, Some(rows)) => {
            for record in rows.records() {
                items(record, |wanted| expect(wanted, &mut seen))?;
            }
        }
        (_, None) => items(root, |wanted| expect(wanted, &mut seen))?,
    }
    let surplus = seen.rest()?;
    if surplus > 0 {
        found.add(|| Difference {
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
    Ok((found, note))
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
                let key = node.key().map_or_else(|| (node.ordinal() + 1).to_string(), |key| key.into_owned());
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
                format!("{}/{}", record.pointer_from(root.index()), name.replace('~', "~0").replace('/', "~1"))
            }
        }
    }
}

/// The items of a value's list, in order.
fn items<'a>(root: Node<'a>, mut expect: impl FnMut(Wanted<'a>) -> Result<(), Cancelled>) -> Result<(), Cancelled> {
    for index in root.index() + 1..root.subtree_end() {
        let Some(node) = root.doc().node(index) else { break };
        let value = match node.kind() {
            Kind::Array if node.is_empty() => Some("[]".to_owned()),
            Kind::Object if node.is_empty() => Some("{}".to_owned()),
            Kind::Array | Kind::Object => None,
            Kind::String => node.as_str().map(|text| text.into_owned()),
            Kind::Null | Kind::Bool | Kind::Number => Some(node.raw_text().into_owned()),
        };
        expect(Wanted::Item(node, value))?;
    }
    Ok(())
}

/// The visible texts of cells and items, in order, one at a time.
struct Seen<'a> {
    events: Parser<'a>,
    /// The item whose text is being gathered.
    text: Option<String>,
    cancel: &'a Cancel,
}

impl<'a> Seen<'a> {
    fn new(text: &'a str, cancel: &'a Cancel) -> Self {
        Self { events: Parser::new_ext(text, crate::format::MARKDOWN), text: None, cancel }
    }

    fn next(&mut self) -> Result<Option<String>, Cancelled> {
        self.cancel.check()?;
        for event in self.events.by_ref() {
            match event {
                Event::Start(Tag::Item | Tag::TableCell) => {
                    // An item inside an item: the outer one's own text is complete.
                    if let Some(text) = self.text.replace(String::new()) {
                        return Ok(Some(text));
                    }
                }
                Event::End(TagEnd::Item | TagEnd::TableCell) => {
                    if let Some(text) = self.text.take() {
                        return Ok(Some(text));
                    }
                }
                Event::Text(text) | Event::Code(text) => {
                    if let Some(seen) = &mut self.text {
                        seen.push_str(&text);
                    }
                }
                Event::InlineHtml(html) if html.as_ref() == "<br>" => {
                    if let Some(seen) = &mut self.text {
                        seen.push('\n');
                    }
                }
                Event::SoftBreak | Event::HardBreak => {
                    if let Some(seen) = &mut self.text {
                        seen.push('\n');
                    }
                }
                _ => {}
            }
        }
        Ok(None)
    }

    /// How many are left.
    fn rest(&mut self) -> Result<u64, Cancelled> {
        let mut rest = 0;
        while self.next()?.is_some() {
            rest += 1;
        }
        Ok(rest)
    }
}

/// Equal but for space at either end and the kind of line end.
fn is_same(visible: &str, wanted: &str) -> bool {
    let wanted = if wanted.contains('\r') { wanted.replace("\r\n", "\n").replace('\r', "\n") } else { wanted.to_owned() };
    visible.trim() == wanted.trim()
}

fn short(text: &str) -> String {
    write::string(&match text.char_indices().nth(120) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    })
}
