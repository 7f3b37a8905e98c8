//! Facts in a text that a host cut: where the text before the cut holds the data, or the text that it was read from, each
//! fact has a place there, and is in what is left if its place is.

use std::ops::Range;

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

/// See [`super::locate_kept_facts`].
pub(super) fn locate(
    data: &ResultData,
    text: &str,
    whole: &str,
    kept: &[KeptPart],
) -> Option<FactMatches> {
    let root = data.root();
    let places = Places::of(data, whole)?;
    // Other words, such as Markdown next to JSON, may tell the facts once more.
    let mut others = kept
        .iter()
        .flat_map(|part| rest_of(std::slice::from_ref(&part.whole), &places.covered));
    if others.any(|other| whole[other].contains(char::is_alphanumeric)) {
        return None;
    }
    let proof = Proof::new(root, data.key_words(), text);
    let mut matched = FactMatches::default();
    for leaf in leaves(root) {
        if !places.is_verbatim(leaf, whole) {
            return None;
        }
        let place = places.of_node(leaf).find_map(|place| {
            let left = pieces_of(kept, &place).next();
            left.filter(|left| left.len() == place.len())
        });
        let decoded = proof
            .as_ref()
            .and_then(|proof| proof.leaf(leaf.index() - root.index()));
        let (state, place) = match (decoded, place) {
            (Some((Decoded::Equal, own)), place) => (FactState::Proved, own.or(place)),
            (_, Some(place)) => (FactState::Found, Some(place)),
            (_, None) => (FactState::Missing, None),
        };
        matched
            .facts
            .push(Fact::new(leaf.index(), state, place.as_ref()));
        matched.count.add(state);
    }
    for record in row_set(root) {
        let places: Vec<Range<usize>> = places
            .of_node(record)
            .flat_map(|place| pieces_of(kept, &place).collect::<Vec<_>>())
            .collect();
        matched.records.push(Record {
            node: record.index(),
            places: whole_lines(text, &places),
        });
    }
    Some(matched)
}

/// What is left of a stretch of the whole, by the parts that have some of it.
fn pieces_of(kept: &[KeptPart], place: &Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let first = kept.partition_point(|part| part.whole.end <= place.start);
    let (from, to) = (place.start, place.end);
    let inside = kept[first..]
        .iter()
        .take_while(move |part| part.whole.start < to);
    inside.map(move |part| {
        let at = |offset: usize| part.at + offset - part.whole.start;
        at(from.max(part.whole.start))..at(to.min(part.whole.end))
    })
}

/// Where the nodes of the data stand in the whole text.
struct Places<'a> {
    of: PlacesOf<'a>,
    /// The parts of the whole that are the data, or that it was read from, in order.
    covered: Vec<Range<usize>>,
}

enum PlacesOf<'a> {
    /// The data itself is there, once or more, with the tape index of its root.
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
                covered: exact.at.clone(),
                of: PlacesOf::Exact(exact, root.index()),
            });
        }
        let source = data.text_source()?;
        let ([text], Some(segment)) = (&source.texts[..], source.data.segments.first()) else {
            return None;
        };
        let start = copies(whole, text).next()?;
        let covered = source.data.covered.iter();
        Some(Self {
            covered: covered
                .map(|(_, range)| start + range.start..start + range.end)
                .collect(),
            of: PlacesOf::Source(data, [(segment.block(), start)]),
        })
    }

    /// Whether the value of a leaf stands at its place as it is, so that it is left if its place is. What a reader decodes may
    /// be escaped, in several pieces, or spelled in another way.
    fn is_verbatim(&self, leaf: Node<'_>, whole: &str) -> bool {
        let PlacesOf::Source(data, starts) = &self.of else {
            return true;
        };
        let text = data
            .place_in(starts, leaf)
            .and_then(|place| whole.get(place));
        text.is_some_and(|text| match leaf.as_str() {
            Some(value) => value == text,
            None => leaf.raw() == text.as_bytes(),
        })
    }

    /// The places of a node, one for each copy of the data.
    fn of_node(&self, node: Node<'_>) -> impl Iterator<Item = Range<usize>> {
        let (first, copies) = match &self.of {
            PlacesOf::Exact(exact, root) => (exact.place(node, node.index() - root), &exact.at[..]),
            PlacesOf::Source(data, starts) => (data.place_in(starts, node), &[][..]),
        };
        let others = first.clone().zip(copies.first()).map(|(first, copy)| {
            let behind = move |other: &Range<usize>| {
                let shift = other.start - copy.start;
                first.start + shift..first.end + shift
            };
            copies[1..].iter().map(behind)
        });
        first.into_iter().chain(others.into_iter().flatten())
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
        use FactState::{Found, Missing};
        let whole = format!("{DATA}\n");
        let from = DATA.find("\"Ann").unwrap();
        let to = DATA.rfind("103").unwrap();
        let (text, kept) = cut(&whole, from..to, " … 60 bytes left out … ");
        let matched = locate(&data(), &text, &whole, &kept).unwrap();
        // The name of the first record is not the third's, which comes behind the cut.
        assert_eq!(
            states(&matched),
            [Found, Missing, Missing, Missing, Found, Found]
        );
        assert_eq!((matched.count.found, matched.count.missing), (3, 3));
        let places: Vec<&str> = matched
            .facts
            .iter()
            .filter_map(|fact| Some(&text[fact.place()?]))
            .collect();
        assert_eq!(places, ["101", "103", "Ann"]);
        let records: Vec<usize> = matched
            .records
            .iter()
            .map(|record| record.places.len())
            .collect();
        assert_eq!(records, [1, 0, 1]);
        // Words that the host puts before it change nothing.
        let behind: Vec<KeptPart> = kept
            .iter()
            .map(|part| KeptPart {
                at: part.at + 9,
                ..part.clone()
            })
            .collect();
        let text = format!("Preview:\n{text}");
        let other = locate(&data(), &text, &whole, &behind).unwrap();
        assert_eq!(states(&other), states(&matched));
        assert_eq!(
            other.facts[0].place().map(|place| &text[place]),
            Some("101")
        );
    }

    #[test]
    fn a_value_that_is_cut_is_not_there_and_a_second_copy_counts() {
        use FactState::{Found, Missing};
        let from = DATA.find("02").unwrap();
        let (text, kept) = cut(DATA, from..DATA.len(), "");
        let matched = locate(&data(), &text, DATA, &kept[..1]).unwrap();
        assert_eq!(
            states(&matched),
            [Found, Found, Missing, Missing, Missing, Missing]
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
        let records = |matched: &FactMatches| -> Vec<usize> {
            matched
                .records
                .iter()
                .map(|record| record.places.len())
                .collect()
        };
        let end = whole.find("\nid: 103").unwrap();
        let (text, kept) = cut(&whole, end..whole.len(), "");
        let matched = locate(data, &text, &whole, &kept[..1]).unwrap();
        assert_eq!(
            states(&matched),
            [Proved, Proved, Proved, Proved, Missing, Missing]
        );
        // Of a record that the cut is in both pieces are its own.
        let from = whole.find(": Bob").unwrap();
        let (text, kept) = cut(&whole, from..whole.find("id: 103").unwrap() - 1, "…");
        let matched = locate(data, &text, &whole, &kept).unwrap();
        assert_eq!(matched.count.missing, 1);
        assert_eq!(records(&matched), [1, 1, 1]);
        let other = format!("Ann and Bob\n{own}");
        let (text, kept) = cut(&other, 30..other.len(), "");
        assert!(locate(data, &text, &other, &kept[..1]).is_none());
    }

    #[test]
    fn what_a_reader_leaves_out_or_reads_in_pieces_is_searched() {
        let told = |text: &str, end: &str| {
            let result = format!(
                r#"{{"content":[{{"type":"text","text":{}}}]}}"#,
                crate::json::write::string(text)
            );
            let parsed = crate::format::ParsedCapture::from_result(&result);
            let end = text.find(end).unwrap();
            let (left, kept) = cut(text, end..text.len(), "");
            locate(parsed.compared_data().unwrap(), &left, text, &kept[..1])
                .map(|found| found.count.told())
        };
        let table = "| id | name |\n|---|---|\n| 101 | Ann |\n| 102 | Bob |\n";
        assert_eq!(told(table, "| 102"), Some(2));
        assert_eq!(
            told(
                &format!("Here are Ann (101) and Bob (102).\n\n{table}"),
                "| id"
            ),
            None
        );
        let xml = "<r><p>Alpha <b>x</b> Omega</p><id>7</id></r>";
        assert_eq!(told(xml, " Omega"), None);
    }
}
