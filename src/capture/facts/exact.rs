//! A text that holds the payload itself, byte for byte or as JSON of another layout: then every fact is kept, and its
//! place is known without search.

use std::ops::Range;

use bytes::Bytes;

use crate::json::{Doc, Kind, Node};

/// The payload inside a text.
pub(super) struct Exact {
    /// Where it stands; more than once where an answer carries it twice.
    pub(super) at: Vec<Range<usize>>,
    /// Each node's place in the first of them, by tape index minus the root's.
    places: Vec<Range<usize>>,
}

/// A text that repeats its payload more often than this says nothing new.
const MAX_COPIES: usize = 4;

impl Exact {
    pub(super) fn find(root: Node<'_>, text: &str) -> Option<Self> {
        // A bare `1` or `{}` may stand anywhere by chance.
        let found = if root.is_empty() { None } else { Self::verbatim(root, text) };
        found.or_else(|| Self::reformatted(root, text))
    }

    fn verbatim(root: Node<'_>, text: &str) -> Option<Self> {
        let raw = std::str::from_utf8(root.raw()).ok()?;
        let at: Vec<_> = text.match_indices(raw).take(MAX_COPIES).map(|(start, _)| start..start + raw.len()).collect();
        let first = at.first()?.start;
        let from = root.range().start;
        let nodes = (root.index()..root.subtree_end()).filter_map(|index| root.doc().node(index));
        let places = nodes.map(|node| node.range().start - from + first..node.range().end - from + first).collect();
        Some(Self { at, places })
    }

    fn reformatted(root: Node<'_>, text: &str) -> Option<Self> {
        // Cheap to see for most texts, and spares them the parse.
        let closes = match root.kind() {
            Kind::Object => text.trim_start().starts_with('{') && text.trim_end().ends_with('}'),
            Kind::Array => text.trim_start().starts_with('[') && text.trim_end().ends_with(']'),
            _ => true,
        };
        if !closes {
            return None;
        }
        let doc = Doc::parse(Bytes::copy_from_slice(text.as_bytes()));
        let nodes = root.subtree_end() - root.index();
        if !doc.is_json() || doc.len() != nodes {
            return None;
        }
        let mut places = Vec::with_capacity(nodes);
        for offset in 0..nodes {
            let (ours, theirs) = (root.doc().node(root.index() + offset)?, doc.node(offset)?);
            if !is_same(ours, theirs, offset == 0) {
                return None;
            }
            places.push(theirs.range());
        }
        Some(Self { at: vec![doc.root()?.range()], places })
    }

    /// A node's place: of a string its inside.
    pub(super) fn place(&self, node: Node<'_>, offset: usize) -> Option<Range<usize>> {
        let range = self.places.get(offset)?.clone();
        Some(if node.kind() == Kind::String && range.len() >= 2 { range.start + 1..range.end - 1 } else { range })
    }

    /// A container's places in every copy.
    pub(super) fn copies(&self, offset: usize) -> Vec<Range<usize>> {
        let (Some(first), Some(place)) = (self.at.first(), self.places.get(offset)) else { return Vec::new() };
        self.at.iter().map(|copy| place.start - first.start + copy.start..place.end - first.start + copy.start).collect()
    }

    /// The longer of the stretches before the first copy and after the last.
    pub(super) fn outside(&self, text: &str) -> Range<usize> {
        let before = 0..self.at.first().map_or(0, |copy| copy.start);
        let after = self.at.last().map_or(0, |copy| copy.end)..text.len();
        if before.len() >= after.len() { before } else { after }
    }
}

fn is_same(a: Node<'_>, b: Node<'_>, is_root: bool) -> bool {
    a.kind() == b.kind()
        && (is_root || a.key() == b.key())
        && match a.kind() {
            Kind::Null => true,
            Kind::Bool | Kind::Number => a.raw() == b.raw(),
            Kind::String => a.as_str() == b.as_str(),
            Kind::Array | Kind::Object => a.len() == b.len(),
        }
}
