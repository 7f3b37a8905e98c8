//! A text that is the beginning of the data's own JSON, in any layout, as a limit leaves it: it decodes to what stands before
//! the cut, and what follows is not in it.

use std::ops::Range;

use bytes::Bytes;

use super::exact::{inside, is_same_value};
use super::leaves::leaves;
use super::span::whole_lines;
use super::{Fact, FactMatches, FactState, Record, row_set};
use crate::json::{Doc, FaultKind, Kind, Node};

/// The beginning of data in a text.
pub(super) struct Beginning {
    /// The text; its nodes are the first ones of the data.
    doc: Doc,
    /// The number or string that may have gone on behind the cut.
    open: Option<usize>,
}

impl Beginning {
    pub(super) fn find(root: Node<'_>, text: &str) -> Option<Self> {
        let bracket = match root.kind() {
            Kind::Object => '{',
            Kind::Array => '[',
            _ => return None,
        };
        if root.is_empty() || !text.trim_start().starts_with(bracket) {
            return None;
        }
        let doc = Doc::parse(Bytes::copy_from_slice(text.as_bytes()));
        let faults = doc.faults().iter();
        if !faults
            .map(|fault| &fault.kind)
            .any(|kind| *kind == FaultKind::UnexpectedEnd)
        {
            return None;
        }
        if doc.len() > root.subtree_end() - root.index() {
            return None;
        }
        let last = doc.node(doc.len().checked_sub(1)?)?;
        let open = is_open(last, text).then_some(last.index());
        let closed = closed_at_the_end(last, text);
        let is_ours = |at: usize| {
            let (Some(own), Some(other)) = (root.doc().node(root.index() + at), doc.node(at))
            else {
                return false;
            };
            let has_place = at == 0
                || own.parent().map(|parent| parent.index() - root.index())
                    == other.parent().map(Node::index)
                    && own.ordinal() == other.ordinal()
                    && (own.raw_key() == other.raw_key() || own.key() == other.key());
            has_place
                && own.kind() == other.kind()
                && match own.kind() {
                    Kind::Object | Kind::Array => {
                        let is_closed = || closed.binary_search_by(|own| at.cmp(own)).is_ok();
                        own.len() == other.len() || !is_closed()
                    }
                    _ if open == Some(at) => own.raw().starts_with(other.raw()),
                    _ => is_same_value(own, other),
                }
        };
        (0..doc.len()).all(is_ours).then_some(Self { doc, open })
    }

    /// What stands before the cut is proved, what follows missing.
    pub(super) fn matches(&self, root: Node<'_>, text: &str) -> FactMatches {
        let mut matched = FactMatches {
            accounted: self.doc.root().into_iter().map(Node::range).collect(),
            ..FactMatches::default()
        };
        for leaf in leaves(root) {
            let (state, place) = self.leaf(leaf, root).unzip();
            let state = state.unwrap_or(FactState::Missing);
            matched
                .facts
                .push(Fact::new(leaf.index(), state, place.as_ref()));
            matched.count.add(state);
        }
        for record in row_set(root) {
            let own = self.doc.node(record.index() - root.index());
            let places: Vec<Range<usize>> = own.into_iter().map(Node::range).collect();
            matched.records.push(Record {
                node: record.index(),
                places: whole_lines(text, &places),
            });
        }
        matched
    }

    /// What it says of a leaf, and where; `None` of one that is not wholly before the cut.
    pub(super) fn leaf(&self, leaf: Node<'_>, root: Node<'_>) -> Option<(FactState, Range<usize>)> {
        let own = self.doc.node(leaf.index() - root.index())?;
        let place = own.range();
        if self.open != Some(own.index()) {
            return Some((FactState::Proved, inside(own.kind(), place)));
        }
        if own.raw() == leaf.raw() {
            return Some((FactState::Found, place));
        }
        // Its last quote alone is behind the cut.
        let is_whole = leaf.raw().strip_suffix(b"\"") == Some(own.raw());
        is_whole.then_some((FactState::Found, place.start + 1..place.end))
    }
}

/// Whether the last value of a text may have gone on.
fn is_open(last: Node<'_>, text: &str) -> bool {
    match last.kind() {
        Kind::Number => last.range().end == text.len(),
        Kind::String => match last.raw() {
            [b'"', inside @ .., b'"'] => {
                let escapes = inside.iter().rev().take_while(|byte| **byte == b'\\');
                escapes.count() % 2 == 1
            }
            _ => true,
        },
        _ => false,
    }
}

/// The arrays and objects that are closed behind the last value, innermost first.
fn closed_at_the_end(last: Node<'_>, text: &str) -> Vec<usize> {
    let (innermost, from) = match last.is_container() {
        true => (Some(last), last.range().start + 1),
        false => (last.parent(), last.range().end),
    };
    let signs = text.bytes().skip(from);
    let brackets = signs
        .take_while(|sign| !matches!(sign, b',' | b'"'))
        .filter(|sign| matches!(sign, b']' | b'}'));
    std::iter::successors(innermost, |node| node.parent())
        .map(Node::index)
        .take(brackets.count())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::{FactCount, ResultData, locate_facts};

    const DATA: &str = r#"{"page":1,"items":[{"id":101,"name":"Ann \"A\"","tags":[]},{"id":102,"name":"Bob","tags":["x",12]}],"next":101}"#;

    fn count(text: &str) -> Option<FactCount> {
        let doc = Doc::parse(Bytes::from_static(DATA.as_bytes()));
        let root = doc.root().unwrap();
        Some(Beginning::find(root, text)?.matches(root, text).count)
    }

    #[test]
    fn what_stands_before_the_cut_is_proved_and_nothing_else() {
        let value: serde_json::Value = serde_json::from_str(DATA).unwrap();
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        for text in [DATA, &pretty] {
            let mut before = 0;
            for end in 1..text.trim_end().len() {
                let count = count(&text[..end]).unwrap_or_else(|| panic!("{}", &text[..end]));
                assert_eq!(count.total, 8);
                assert!(count.proved + count.found + 1 >= before, "{}", &text[..end]);
                assert!(count.found <= 1, "{}", &text[..end]);
                before = count.proved + count.found;
            }
            assert_eq!(before, 8, "all but the bracket at the end");
        }
        let whole_name = r#"{"page":1,"items":[{"id":101,"name":"Ann \"A\""#;
        assert_eq!(count(whole_name).map(|count| count.found), Some(1));
        let bob = &DATA[..DATA.find("Bob").unwrap() + 3];
        assert_eq!(
            count(bob).map(|count| (count.proved, count.found)),
            Some((4, 1))
        );
        let kept = |text: &str| count(text).map(|count| (count.proved, count.found));
        assert_eq!(
            kept(r#"{"page":1"#),
            Some((0, 1)),
            "1 may be the beginning of 12"
        );
        assert_eq!(kept(r#"{"page":1,"items":[{"id":10"#), Some((1, 0)));
        assert_eq!(
            kept(r#"{"page":1,"items":[{"id":101,"name":"Ann \""#),
            Some((2, 0))
        );
        assert_eq!(
            kept(r#"{"page":1,"items":[{"id":101,"name":"Ann \"A\"""#),
            Some((3, 0))
        );
    }

    #[test]
    fn what_is_no_beginning_of_the_data_is_searched() {
        for text in [
            DATA,
            "",
            "{}",
            r#"["page""#,
            r#"{"page":2,"items":[{"id":101"#,
            r#"{"page":1,"items":[{"id":101}"#,
            r#"{"page":1,"items":[{"id":101,"name":"Ann \"A\"","tags":[]}]"#,
            r#"{"page":1,"items":[],"next":10"#,
            r#"{"page":1,"items":[{"id":101,"title":"Ann"#,
            r#"{"page":1,"items":[{"id":101,"name":"Anna"#,
            r#"{"page":1, … 200 bytes left out … "next":101}"#,
            r#"{"page":1,"items":[],"next":101,"more":[1,2,3,4,5,6,7,8,9,10,11,12"#,
        ] {
            assert!(count(text).is_none(), "{text}");
        }
    }

    #[test]
    fn a_value_that_comes_again_behind_the_cut_is_not_taken_for_the_first() {
        let doc = Doc::parse(Bytes::from_static(DATA.as_bytes()));
        let data = ResultData::of_doc(doc).unwrap();
        let matched = locate_facts(&data, &DATA[..DATA.find(r#""name":"Bob""#).unwrap()]);
        assert_eq!((matched.count.proved, matched.count.missing), (4, 4));
        assert_eq!(matched.records.len(), 2);
    }

    #[test]
    fn a_text_that_says_more_than_the_data_is_no_beginning() {
        let message = r#"{"structuredContent":{"a":1},"isError":false}"#;
        let doc = Doc::parse(Bytes::from_static(message.as_bytes()));
        let root = doc.root().unwrap().get("structuredContent").unwrap();
        assert!(Beginning::find(root, r#"{"a":1,"b":2"#).is_none());
        assert!(Beginning::find(root, r#"{"a":1"#).is_some());
    }

    #[test]
    fn a_cut_in_an_escape_is_a_cut() {
        let data = r#"{"page":1,"n":"caf\u00e9","next":1}"#;
        let doc = Doc::parse(Bytes::from_static(data.as_bytes()));
        let root = doc.root().unwrap();
        for end in ["caf", r"caf\", r"caf\u", r"caf\u00"] {
            let text = &data[..data.find(end).unwrap() + end.len()];
            let found = Beginning::find(root, text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(found.matches(root, text).count.proved, 1, "{text}");
        }
    }
}
