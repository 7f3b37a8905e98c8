//! A text of which a limit left parts: where the whole holds the data, or the text that it was read from, each fact has its
//! place there, and is in what is left if its place is.

use std::ops::Range;

use super::beginning::Beginning;
use super::exact::{Exact, copies};
use super::leaves::leaves;
use super::proof::{Decoded, Proof};
use super::span::{rest_of, whole_lines};
use super::{Fact, FactMatches, FactState, Record, row_set};
use crate::capture::ResultData;
use crate::json::Node;

/// A part of a text that a limit left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptPart {
    /// Bytes of the text before the limit.
    pub whole: Range<usize>,
    /// Where it begins in what is left.
    pub at: usize,
}

/// The facts of the data in `text`, what a limit left of `whole`: `kept`, in order. `None` where `whole` does not hold the data
/// word for word, or there are other words with it, so that facts have to be searched for.
pub(super) fn locate(
    data: &ResultData,
    text: &str,
    whole: &str,
    kept: &[KeptPart],
) -> Option<FactMatches> {
    let root = data.root();
    let places = Places::of(data, whole)?;
    // Other words, such as Markdown next to JSON, may tell the facts once more.
    let others = kept
        .iter()
        .flat_map(|part| rest_of(std::slice::from_ref(&part.whole), &places.copies));
    if others
        .into_iter()
        .any(|other| whole[other].contains(char::is_alphanumeric))
    {
        return None;
    }
    let said = Said::of(data, text, kept);
    let mut matched = FactMatches::default();
    for leaf in leaves(root) {
        let is_here = |place: &Range<usize>| {
            left_of(kept, place).is_some_and(|left| left.len() == place.len())
        };
        let place = places
            .of_node(leaf)
            .find(is_here)
            .and_then(|place| left_of(kept, &place));
        let (state, place) = match (said.of_leaf(leaf, root), place) {
            (Some((state, own)), place) => (state, own.or(place)),
            (None, Some(place)) => (FactState::Found, Some(place)),
            (None, None) => (FactState::Missing, None),
        };
        matched
            .facts
            .push(Fact::new(leaf.index(), state, place.as_ref()));
        matched.count.add(state);
    }
    for record in row_set(root) {
        let places: Vec<Range<usize>> = places
            .of_node(record)
            .filter_map(|place| left_of(kept, &place))
            .collect();
        matched.records.push(Record {
            node: record.index(),
            places: whole_lines(text, &places),
        });
    }
    Some(matched)
}

/// What is left of a stretch of the whole, in the first part that has some of it.
fn left_of(kept: &[KeptPart], place: &Range<usize>) -> Option<Range<usize>> {
    let part = kept.get(kept.partition_point(|part| part.whole.end <= place.start))?;
    let start = place.start.max(part.whole.start);
    let end = place.end.min(part.whole.end);
    let at = |offset: usize| part.at + offset - part.whole.start;
    (start < end).then(|| at(start)..at(end))
}

/// What the text that is left proves by itself.
enum Said {
    /// Its first part is the beginning of the data.
    Beginning(Beginning),
    Decoded(Proof),
    Nothing,
}

impl Said {
    fn of(data: &ResultData, text: &str, kept: &[KeptPart]) -> Self {
        let first = kept.first().filter(|part| part.at == 0);
        let first = first.and_then(|part| text.get(..part.whole.len()));
        match first.and_then(|first| Beginning::find(data.root(), first)) {
            Some(beginning) => Self::Beginning(beginning),
            None => {
                Proof::new(data.root(), data.key_words(), text).map_or(Self::Nothing, Self::Decoded)
            }
        }
    }

    fn of_leaf(&self, leaf: Node<'_>, root: Node<'_>) -> Option<(FactState, Option<Range<usize>>)> {
        match self {
            Self::Beginning(beginning) => {
                let (state, place) = beginning.leaf(leaf, root)?;
                (state == FactState::Proved).then_some((state, Some(place)))
            }
            Self::Decoded(proof) => match proof.leaf(leaf.index() - root.index())? {
                (Decoded::Equal, place) => Some((FactState::Proved, place)),
                _ => None,
            },
            Self::Nothing => None,
        }
    }
}

/// Where the nodes of the data stand in the whole text.
struct Places<'a> {
    first: FirstPlaces<'a>,
    /// What is in the whole, once or more, in order.
    copies: Vec<Range<usize>>,
}

enum FirstPlaces<'a> {
    /// The data itself is there, with the tape index of its root.
    Exact(Exact, usize),
    /// The text that the data was read from is there: its block, and where it begins.
    Source(&'a ResultData, [(usize, usize); 1]),
}

impl<'a> Places<'a> {
    fn of(data: &'a ResultData, whole: &str) -> Option<Self> {
        let root = data.root();
        let exact = Exact::find(root, whole).filter(|exact| !exact.is_in_comment(whole));
        if let Some(exact) = exact {
            return Some(Self {
                copies: exact.at.clone(),
                first: FirstPlaces::Exact(exact, root.index()),
            });
        }
        let source = data.text_source()?;
        let ([text], Some(segment)) = (&source.texts[..], source.data.segments.first()) else {
            return None;
        };
        let start = copies(whole, text).next()?;
        Some(Self {
            copies: std::iter::once(start..start + text.len()).collect(),
            first: FirstPlaces::Source(data, [(segment.block(), start)]),
        })
    }

    fn of_node(&self, node: Node<'_>) -> impl Iterator<Item = Range<usize>> {
        let first = match &self.first {
            FirstPlaces::Exact(exact, root) => exact.place(node, node.index() - root),
            FirstPlaces::Source(data, starts) => data.place_in(starts, node),
        };
        let from = self.copies.first().map_or(0, |copy| copy.start);
        let moved = move |first: Range<usize>| {
            let copies = self.copies.iter();
            copies.map(move |copy| first.start - from + copy.start..first.end - from + copy.start)
        };
        first.into_iter().flat_map(moved)
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::json::Doc;

    const DATA: &str =
        r#"{"items":[{"id":101,"name":"Ann"},{"id":102,"name":"Bob"},{"id":103,"name":"Ann"}]}"#;

    fn data() -> ResultData {
        ResultData::of_doc(Doc::parse(Bytes::from_static(DATA.as_bytes()))).unwrap()
    }

    /// What is left of a text of which a stretch was taken out.
    fn cut(whole: &str, out: Range<usize>, notice: &str) -> (String, [KeptPart; 2]) {
        let text = format!("{}{notice}{}", &whole[..out.start], &whole[out.end..]);
        let parts = [
            KeptPart {
                whole: 0..out.start,
                at: 0,
            },
            KeptPart {
                whole: out.end..whole.len(),
                at: out.start + notice.len(),
            },
        ];
        (text, parts)
    }

    fn states(matched: &FactMatches) -> Vec<FactState> {
        matched.facts.iter().map(Fact::state).collect()
    }

    #[test]
    fn facts_are_in_what_is_left_where_their_places_are() {
        use FactState::{Found, Missing, Proved};
        let whole = format!("{DATA}\n");
        let from = DATA.find("\"Ann").unwrap();
        let to = DATA.rfind("103").unwrap();
        let (text, kept) = cut(&whole, from..to, " … 60 bytes left out … ");
        let matched = locate(&data(), &text, &whole, &kept).unwrap();
        // The name of the first record is not the third's, which comes behind the cut.
        assert_eq!(
            states(&matched),
            [Proved, Missing, Missing, Missing, Found, Found]
        );
        assert_eq!((matched.count.proved, matched.count.found), (1, 2));
        let places: Vec<&str> = matched
            .facts
            .iter()
            .filter_map(|fact| Some(&text[fact.place()?]))
            .collect();
        assert_eq!(places, ["101", "103", "Ann"]);
        assert_eq!(matched.records.len(), 3);
        assert!(matched.records[1].places.is_empty());
    }

    #[test]
    fn a_value_that_is_cut_is_not_there_and_a_second_copy_counts() {
        use FactState::{Found, Missing, Proved};
        let from = DATA.find("02").unwrap();
        let (text, kept) = cut(DATA, from..DATA.len(), "");
        let matched = locate(&data(), &text, DATA, &kept[..1]).unwrap();
        assert_eq!(
            states(&matched),
            [Proved, Proved, Missing, Missing, Missing, Missing]
        );
        let whole = format!("{DATA}\n\n{DATA}");
        let (text, kept) = cut(&whole, 5..DATA.len() + 2, "");
        let matched = locate(&data(), &text, &whole, &kept).unwrap();
        assert_eq!(states(&matched), [Found; 6]);
    }

    #[test]
    fn what_was_read_from_a_text_has_its_places_there() {
        use FactState::{Missing, Proved};
        let own = "id: 101\nname: Ann\n\nid: 102\nname: Bob\n\nid: 103\nname: Ann\n";
        let result = format!(
            r#"{{"content":[{{"type":"text","text":{}}}]}}"#,
            crate::json::write::string(own)
        );
        let parsed = crate::format::ParsedCapture::from_result(&result);
        let data = parsed.compared_data().unwrap();
        let whole = format!("> {own}");
        let end = whole.find("\nid: 103").unwrap();
        let (text, kept) = cut(&whole, end..whole.len(), "");
        let matched = locate(data, &text, &whole, &kept[..1]).unwrap();
        assert_eq!(
            states(&matched),
            [Proved, Proved, Proved, Proved, Missing, Missing]
        );
        let other = format!("Ann and Bob\n{own}");
        let (text, kept) = cut(&other, 30..other.len(), "");
        assert!(locate(data, &text, &other, &kept[..1]).is_none());
    }
}
