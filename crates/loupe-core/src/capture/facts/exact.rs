//! A text that holds the data itself, byte for byte or as JSON of another layout: then every fact is kept, and its
//! place is known without search.

use std::ops::Range;

use bytes::Bytes;
use memchr::memmem;

use super::span::Span;
use crate::json::{Doc, Kind, Node};

/// The data inside a text.
pub(super) struct Exact {
    /// Where it stands; more than once where a result carries it twice.
    pub(super) at: Vec<Range<usize>>,
    /// Each node's place in the first of them, by tape index minus the root's.
    places: Vec<Span>,
}

/// Places where JSON may begin that are tried in a text.
const MAX_STARTS: usize = 16;
/// A text that repeats its data more often than this says nothing new.
const MAX_COPIES: usize = 4;

impl Exact {
    pub(super) fn find(root: Node<'_>, text: &str) -> Option<Self> {
        // A bare `1` or `{}` may stand anywhere by chance.
        let found = if root.is_empty() {
            None
        } else {
            Self::verbatim(root, text)
        };
        found
            .or_else(|| reformatted(root, text, Self::of))
            .or_else(|| embedded(root, text, Self::of))
    }

    /// Whether the data is in the text; cheaper than to find every node's place.
    pub(super) fn is_in(root: Node<'_>, text: &str) -> bool {
        let is_verbatim = !root.is_empty()
            && std::str::from_utf8(root.raw()).is_ok_and(|raw| contains(text, raw));
        is_verbatim || is_written(root, text)
    }

    /// Whether its first copy is in a comment of HTML.
    pub(super) fn is_in_comment(&self, text: &str) -> bool {
        let before = self.at.first().map_or("", |first| &text[..first.start]);
        before
            .rfind("<!--")
            .is_some_and(|open| !before[open..].contains("-->"))
    }

    /// At a node of JSON whose bytes begin at an offset of the text.
    fn of(root: Node<'_>, start: usize) -> Self {
        let from = root.range().start;
        let place =
            |node: Node<'_>| node.range().start - from + start..node.range().end - from + start;
        let nodes = (root.index()..root.subtree_end()).filter_map(|index| root.doc().node(index));
        Self {
            at: vec![place(root)],
            places: nodes.map(|node| Span::of(&place(node))).collect(),
        }
    }

    /// Whether the data stands written out inside a string of JSON, as on the wire. Where its parts stand is for others
    /// to find: they are escaped.
    pub(super) fn is_in_a_string(root: Node<'_>, text: &str) -> bool {
        any_string(root, text, root.subtree_end() - root.index(), |inner| {
            is_written(root, inner)
        })
    }

    /// Whether the text that the data was read from is in another, as it is or inside a string of JSON.
    pub(super) fn holds(root: Node<'_>, text: &str, source: &str) -> bool {
        let holds = |text: &str| contains(text, source);
        holds(text) || any_string(root, text, source.len(), holds)
    }

    fn verbatim(root: Node<'_>, text: &str) -> Option<Self> {
        let raw = std::str::from_utf8(root.raw()).ok()?;
        let at: Vec<_> = copies(text, raw)
            .take(MAX_COPIES)
            .map(|start| start..start + raw.len())
            .collect();
        let first = at.first()?.start;
        Some(Self {
            at,
            ..Self::of(root, first)
        })
    }

    /// A node's place: of a string its inside.
    pub(super) fn place(&self, node: Node<'_>, offset: usize) -> Option<Range<usize>> {
        let range = self.places.get(offset)?.range();
        Some(if node.kind() == Kind::String && range.len() >= 2 {
            range.start + 1..range.end - 1
        } else {
            range
        })
    }

    /// A container's places in every copy.
    pub(super) fn copies(&self, offset: usize) -> Vec<Range<usize>> {
        let (Some(first), Some(place)) = (self.at.first(), self.places.get(offset)) else {
            return Vec::new();
        };
        let place = place.range();
        self.at
            .iter()
            .map(|copy| {
                place.start - first.start + copy.start..place.end - first.start + copy.start
            })
            .collect()
    }

    /// The longer of the stretches before the first copy and after the last.
    pub(super) fn outside(&self, text: &str) -> Range<usize> {
        let before = 0..self.at.first().map_or(0, |copy| copy.start);
        let after = self.at.last().map_or(0, |copy| copy.end)..text.len();
        if before.len() >= after.len() {
            before
        } else {
            after
        }
    }
}

/// Where a text holds another, none within the one before. A part of megabytes is looked for by its beginning: to make it
/// ready for a search takes as long as to read it several times.
pub(super) fn copies<'t>(text: &'t str, part: &'t str) -> impl Iterator<Item = usize> + 't {
    const BEGINNING: usize = 256;
    /// More beginnings without the rest are those of a text that repeats itself, where each would be compared anew.
    const MAX_BEGINNINGS: usize = 64;
    let beginning = &part.as_bytes()[..part.len().min(BEGINNING)];
    let (mut at, mut tried) = (0, 0);
    std::iter::from_fn(move || {
        while text.len().checked_sub(at)? >= part.len() {
            let rest = &text.as_bytes()[at..];
            let found = if tried < MAX_BEGINNINGS {
                memmem::find(rest, beginning)?
            } else {
                memmem::find(rest, part.as_bytes())?
            };
            tried += 1;
            let start = at + found;
            if text.as_bytes()[start..].starts_with(part.as_bytes()) {
                at = start + part.len();
                return Some(start);
            }
            at = start + 1;
        }
        None
    })
}

fn contains(text: &str, part: &str) -> bool {
    copies(text, part).next().is_some()
}

/// Whether the data is the text, as JSON of any layout, or is in it.
fn is_written(root: Node<'_>, text: &str) -> bool {
    let found = |_: Node<'_>, _: usize| ();
    reformatted(root, text, found)
        .or_else(|| embedded(root, text, found))
        .is_some()
}

/// The data as JSON of another layout.
fn reformatted<T>(root: Node<'_>, text: &str, take: impl Fn(Node<'_>, usize) -> T) -> Option<T> {
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
    let node = doc
        .root()
        .filter(|node| doc.is_json() && is_same_subtree(root, *node))?;
    Some(take(node, node.range().start))
}

/// The data as JSON of another layout with something around it: a fence, a heading, a host's words.
fn embedded<T>(root: Node<'_>, text: &str, take: impl Fn(Node<'_>, usize) -> T) -> Option<T> {
    each_json(root, text, |doc, start| {
        let mut nodes = (0..doc.len()).filter_map(|index| doc.node(index));
        let node = nodes.find(|node| is_same_subtree(root, *node))?;
        Some(take(node, start + node.range().start))
    })
}

/// Whether a string longer than `least` in the JSON of a text is one that is looked for.
fn any_string(root: Node<'_>, text: &str, least: usize, is_it: impl Fn(&str) -> bool) -> bool {
    each_json(root, text, |doc, _| {
        (0..doc.len())
            .filter_map(|index| doc.node(index))
            .filter(|node| node.kind() == Kind::String && node.raw().len() > least)
            .filter_map(Node::as_str)
            .any(|inner| is_it(&inner))
            .then_some(())
    })
    .is_some()
}

/// Takes the JSON values that a text holds, one after the other with their offsets, until `take` finds what it looks for.
fn each_json<T>(
    root: Node<'_>,
    text: &str,
    mut take: impl FnMut(&Doc, usize) -> Option<T>,
) -> Option<T> {
    if !root.is_container() || root.is_empty() {
        return None;
    }
    let mut from = 0;
    for _ in 0..MAX_STARTS {
        let start = from + text[from..].find(['{', '['])?;
        let end = start + json_end(&text.as_bytes()[start..])?;
        from = end;
        // A value this short cannot hold it, and prose is full of brackets.
        if end - start >= root.subtree_end() - root.index() {
            let doc = Doc::parse(Bytes::copy_from_slice(&text.as_bytes()[start..end]));
            if !doc.is_json() {
                from = start + 1;
            } else if let Some(found) = take(&doc, start) {
                return Some(found);
            }
        }
    }
    None
}

/// Whether two subtrees are the same value in the same order.
fn is_same_subtree(ours: Node<'_>, theirs: Node<'_>) -> bool {
    let nodes = ours.subtree_end() - ours.index();
    theirs.subtree_end() - theirs.index() == nodes
        && (0..nodes).all(|offset| {
            let a = ours.doc().node(ours.index() + offset);
            let b = theirs.doc().node(theirs.index() + offset);
            a.zip(b).is_some_and(|(a, b)| is_same(a, b, offset == 0))
        })
}

/// The length of the JSON value that begins here, by its brackets alone; `None` where it does not end.
fn json_end(bytes: &[u8]) -> Option<usize> {
    let (mut depth, mut is_string, mut is_escaped) = (0_usize, false, false);
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_string => is_escaped = true,
            b'"' => is_string = !is_string,
            b'{' | b'[' if !is_string => depth += 1,
            b'}' | b']' if !is_string => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

fn is_same(a: Node<'_>, b: Node<'_>, is_root: bool) -> bool {
    a.kind() == b.kind()
        && (is_root || a.raw_key() == b.raw_key() || a.key() == b.key())
        && match a.kind() {
            Kind::Null => true,
            Kind::Bool | Kind::Number => a.raw() == b.raw(),
            Kind::String => a.raw() == b.raw() || a.as_str() == b.as_str(),
            Kind::Array | Kind::Object => a.len() == b.len(),
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAYLOAD: &str = r#"{"items":[{"id":101,"n":"hello\nworld","c":"Denver"},{"id":102,"n":"yellow","c":"Boston"}]}"#;

    fn found(text: &str) -> Option<Vec<String>> {
        let doc = Doc::parse(Bytes::from_static(PAYLOAD.as_bytes()));
        let root = doc.root().unwrap();
        let exact = Exact::find(root, text)?;
        let leaves = (0..doc.len())
            .filter_map(|index| doc.node(index))
            .filter(|node| !node.is_container());
        Some(
            leaves
                .map(|node| text[exact.place(node, node.index()).unwrap()].to_owned())
                .collect(),
        )
    }

    #[test]
    fn json_is_found_inside_other_words() {
        let pretty = serde_json::to_string_pretty(
            &serde_json::from_str::<serde_json::Value>(PAYLOAD).unwrap(),
        )
        .unwrap();
        let leaves = ["101", r"hello\nworld", "Denver", "102", "yellow", "Boston"];
        for text in [
            format!("# Result\n\n```json\n{pretty}\n```\n"),
            format!("Wall time: 0.5 s [ok]\nOutput:\n{pretty}\n"),
            format!(r#"{{"jsonrpc":"2.0","result":{{"structuredContent":{pretty}}}}}"#),
        ] {
            assert_eq!(found(&text).unwrap(), leaves, "{text}");
        }
        let wire = format!(
            r#"{{"content":[{{"type":"text","text":{}}}]}}"#,
            serde_json::to_string(&pretty).unwrap()
        );
        let doc = Doc::parse(Bytes::from_static(PAYLOAD.as_bytes()));
        assert!(found(&wire).is_none() && Exact::is_in_a_string(doc.root().unwrap(), &wire));
    }

    #[test]
    fn other_values_and_broken_json_are_not_taken_for_it() {
        for text in [
            "{ [ ( {{{",
            "a [x](y) {1}",
            &PAYLOAD.replace("Denver", "Dallas"),
            &PAYLOAD[..PAYLOAD.len() - 1],
        ] {
            assert!(found(&format!("See: {text}")).is_none(), "{text}");
        }
    }
}
