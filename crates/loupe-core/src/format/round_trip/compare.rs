//! What differs between the data and what a format's text gives back. Without recursion: depth is data.
//!
//! Strings are equal by code points, numbers by their exact decimal value, objects whatever their order, lists in
//! order. What only changes spelling or order is kept apart.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

use crate::format::decode::{DecodeError, Decoded};
use crate::format::rows::RowSet;
use crate::json::decimal;
use crate::json::{Children, Kind, Node, write};

/// Differences beyond this are counted, not kept.
pub const SHOWN: usize = 100;
/// Values are shown up to so many characters.
const VALUE_CHARS: usize = 120;

/// What became of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum DifferenceKind {
    /// It has another type.
    Type,
    /// It is not there any more.
    Missing,
    /// One of them is null where the other has no such member.
    MissingNull,
    /// One of them is null where the other is the empty text.
    EmptyNull,
    /// Another number; among changes, the same number in another spelling.
    Number,
    /// Another text.
    String,
    /// The same members in another order.
    Order,
    /// It was not there before.
    Extra,
}

impl DifferenceKind {
    /// The word in the JSON contract.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// One difference between the data and what came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueChange {
    /// RFC 6901 pointer into the data.
    pub path: String,
    pub kind: DifferenceKind,
    /// JSON text, cut where it is long; `None` where there is no value.
    pub before: Option<String>,
    pub after: Option<String>,
}

/// The first [`SHOWN`] differences and how many there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    pub first: Vec<ValueChange>,
    pub count: u64,
}

impl Differences {
    /// Counts one; it is only made if it is kept.
    pub(in crate::format) fn add(&mut self, make: impl FnOnce() -> ValueChange) {
        self.count += 1;
        if self.first.len() < SHOWN {
            self.first.push(make());
        }
    }
}

/// What a comparison found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Values that differ.
    pub values: Differences,
    /// Order and the spelling of numbers.
    pub changes: Differences,
    /// Whether a fact of the data is not among what came back, or is another.
    pub is_fact_lost: bool,
}

/// Compares the data at `root` with what came back.
///
/// # Errors
/// What came back is no JSON.
pub(super) fn compare(root: Node<'_>, decoded: &Decoded) -> Result<Found, DecodeError> {
    let mut differ = Differ {
        root,
        found: Found::default(),
        open: Vec::new(),
    };
    // What comes back byte for byte as it was sent need not be indexed.
    if decoded.json == root.raw() {
        return Ok(differ.found);
    }
    let doc = decoded.doc()?;
    let Some(back) = doc.root() else {
        return Ok(differ.found);
    };
    let nameless = match back.kind() {
        _ if !decoded.is_nameless => None,
        Kind::Array => Some(back),
        _ => back.children().last(),
    };
    match (nameless, RowSet::new(root)) {
        (Some(list), Ok(rows)) if rows.list().index() != root.index() => {
            differ.rows(rows.list(), back, list)
        }
        _ => differ.pair(root, back),
    }
    while let Some(frame) = differ.open.last_mut() {
        match frame.next() {
            (Some(a), Some(b)) => differ.pair(a, b),
            (Some(a), None) => differ.missing(a),
            (None, Some(b)) => {
                let parent = frame.parent;
                differ.extra(parent, b);
            }
            (None, None) => {
                differ.open.pop();
            }
        }
    }
    Ok(differ.found)
}

/// An open container on both sides.
struct Frame<'a> {
    parent: Node<'a>,
    children: Pairs<'a>,
}

enum Pairs<'a> {
    /// By position.
    Lists(Children<'a>, Children<'a>),
    /// By key.
    FactMatches(std::vec::IntoIter<(Node<'a>, Node<'a>)>),
}

impl<'a> Frame<'a> {
    fn next(&mut self) -> (Option<Node<'a>>, Option<Node<'a>>) {
        match &mut self.children {
            Pairs::Lists(a, b) => (a.next(), b.next()),
            Pairs::FactMatches(pairs) => pairs.next().unzip(),
        }
    }
}

struct Differ<'a> {
    root: Node<'a>,
    found: Found,
    open: Vec<Frame<'a>>,
}

impl<'a> Differ<'a> {
    /// An object around a list whose key the text does not tell: the list is compared all the same.
    fn rows(&mut self, list: Node<'a>, back: Node<'a>, nameless: Node<'a>) {
        let (root, path) = (self.root, list.pointer_from(self.root.index()));
        self.found.values.add(|| ValueChange {
            path,
            kind: DifferenceKind::Missing,
            before: Some(format!(
                "the key {}",
                write::string(&list.key().unwrap_or_default())
            )),
            after: None,
        });
        if back.index() == nameless.index() {
            // No envelope: the other members, if any, are gone.
            root.children()
                .filter(|child| child.index() != list.index())
                .for_each(|child| self.missing(child));
        } else {
            let before: Vec<_> = root
                .children()
                .filter(|child| child.index() != list.index())
                .collect();
            let after: Vec<_> = back
                .children()
                .filter(|child| child.index() != nameless.index())
                .collect();
            self.members(root, &before, &after);
        }
        self.pair(list, nameless);
    }

    fn pair(&mut self, a: Node<'a>, b: Node<'a>) {
        match (a.kind(), b.kind()) {
            (Kind::Null, Kind::Null) => {}
            (Kind::Array, Kind::Array) => self.open_lists(a, b),
            (Kind::Object, Kind::Object) => {
                if a.len() == b.len()
                    && a.children()
                        .zip(b.children())
                        .all(|(a, b)| is_same_key(a, b))
                {
                    self.open_lists(a, b);
                } else {
                    self.members(
                        a,
                        &a.children().collect::<Vec<_>>(),
                        &b.children().collect::<Vec<_>>(),
                    );
                }
            }
            (Kind::String, Kind::String) => {
                if !is_same_text(a, b) {
                    self.differs(DifferenceKind::String, a, b);
                }
            }
            (Kind::Number, Kind::Number) if a.raw() == b.raw() => {}
            (Kind::Number, Kind::Number) => {
                let is_same = decimal::is_same(&a.raw_text(), &b.raw_text());
                if is_same {
                    let (root, kind) = (self.root, DifferenceKind::Number);
                    self.found.changes.add(|| difference(root, kind, a, b));
                } else {
                    self.differs(DifferenceKind::Number, a, b);
                }
            }
            (Kind::Bool, Kind::Bool) if a.as_bool() == b.as_bool() => {}
            (Kind::String, Kind::Null) if is_empty(a) => {
                self.differs(DifferenceKind::EmptyNull, a, b)
            }
            (Kind::Null, Kind::String) if is_empty(b) => {
                self.differs(DifferenceKind::EmptyNull, a, b)
            }
            _ => self.differs(DifferenceKind::Type, a, b),
        }
    }

    fn open_lists(&mut self, a: Node<'a>, b: Node<'a>) {
        self.open.push(Frame {
            parent: a,
            children: Pairs::Lists(a.children(), b.children()),
        });
    }

    /// Members by key; of a key that stands twice, the first with the first.
    fn members(&mut self, parent: Node<'a>, before: &[Node<'a>], after: &[Node<'a>]) {
        let mut by_key: HashMap<Cow<'a, [u8]>, VecDeque<usize>> =
            HashMap::with_capacity(after.len());
        for (position, node) in after.iter().enumerate() {
            by_key
                .entry(key_form(*node))
                .or_default()
                .push_back(position);
        }
        let mut is_used = vec![false; after.len()];
        let mut pairs = Vec::with_capacity(before.len());
        let mut last = None;
        let mut is_ordered = true;
        for node in before {
            match by_key
                .get_mut(&key_form(*node))
                .and_then(VecDeque::pop_front)
            {
                Some(position) => {
                    is_used[position] = true;
                    is_ordered &= last.is_none_or(|last| last < position);
                    last = Some(position);
                    pairs.push((*node, after[position]));
                }
                None => self.missing(*node),
            }
        }
        for (node, _) in after.iter().zip(&is_used).filter(|(_, is_used)| !**is_used) {
            self.extra(parent, *node);
        }
        if !is_ordered {
            let root = self.root;
            self.found.changes.add(|| ValueChange {
                path: parent.pointer_from(root.index()),
                kind: DifferenceKind::Order,
                before: Some(keys(before)),
                after: Some(keys(after)),
            });
        }
        self.open.push(Frame {
            parent,
            children: Pairs::FactMatches(pairs.into_iter()),
        });
    }

    fn differs(&mut self, kind: DifferenceKind, a: Node<'a>, b: Node<'a>) {
        let root = self.root;
        // Null and the empty text are no facts.
        self.found.is_fact_lost |= kind != DifferenceKind::EmptyNull && !a.is_null();
        self.found.values.add(|| difference(root, kind, a, b));
    }

    fn missing(&mut self, node: Node<'a>) {
        let root = self.root;
        self.found.is_fact_lost |= !node.is_null();
        self.found.values.add(|| ValueChange {
            path: node.pointer_from(root.index()),
            kind: if node.is_null() {
                DifferenceKind::MissingNull
            } else {
                DifferenceKind::Missing
            },
            before: Some(shown(node)),
            after: None,
        });
    }

    fn extra(&mut self, parent: Node<'a>, node: Node<'a>) {
        let root = self.root;
        self.found.values.add(|| {
            let step = node.key().map_or_else(
                || node.ordinal().to_string(),
                |key| key.replace('~', "~0").replace('/', "~1"),
            );
            ValueChange {
                path: format!("{}/{step}", parent.pointer_from(root.index())),
                kind: if node.is_null() {
                    DifferenceKind::MissingNull
                } else {
                    DifferenceKind::Extra
                },
                before: None,
                after: Some(shown(node)),
            }
        });
    }
}

fn difference(root: Node<'_>, kind: DifferenceKind, a: Node<'_>, b: Node<'_>) -> ValueChange {
    ValueChange {
        path: a.pointer_from(root.index()),
        kind,
        before: Some(shown(a)),
        after: Some(shown(b)),
    }
}

/// A value as JSON text, cut where it is long.
pub(in crate::format) fn shown(node: Node<'_>) -> String {
    // No character takes more than 4 bytes, so the rest is never looked at.
    let raw = node.raw();
    let text = String::from_utf8_lossy(&raw[..raw.len().min(VALUE_CHARS * 4 + 4)]);
    cut(&text)
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(VALUE_CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

fn keys(members: &[Node<'_>]) -> String {
    let mut text = String::new();
    for node in members {
        if text.len() > VALUE_CHARS * 4 {
            break;
        }
        if !text.is_empty() {
            text.push_str(", ");
        }
        write::push_raw(&mut text, node.raw_key().unwrap_or_default());
    }
    cut(&text)
}

fn is_empty(node: Node<'_>) -> bool {
    node.raw().len() <= 2
}

/// A form in which two spellings of the same code points are the same; half a surrogate pair is told from others.
fn string_form(raw: &[u8]) -> Cow<'_, [u8]> {
    if !raw.contains(&b'\\') {
        return Cow::Borrowed(raw);
    }
    let mut text = String::with_capacity(raw.len());
    write::push_raw(&mut text, raw);
    // Without the quotes that were added.
    Cow::Owned(text.as_bytes()[1..text.len() - 1].to_vec())
}

pub(in crate::format) fn key_form(node: Node<'_>) -> Cow<'_, [u8]> {
    string_form(node.raw_key().unwrap_or_default())
}

fn is_same_key(a: Node<'_>, b: Node<'_>) -> bool {
    a.raw_key() == b.raw_key() || key_form(a) == key_form(b)
}

fn is_same_text(a: Node<'_>, b: Node<'_>) -> bool {
    fn inside(node: Node<'_>) -> &[u8] {
        let raw = node.raw();
        let raw = raw.strip_prefix(b"\"").unwrap_or(raw);
        raw.strip_suffix(b"\"").unwrap_or(raw)
    }
    // Bytes that are not UTF-8 stay as they are in this form, hence equal only themselves.
    inside(a) == inside(b) || string_form(inside(a)) == string_form(inside(b))
}
