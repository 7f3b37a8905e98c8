//! Where the data's records are in a text, so that selecting one in a pane marks it in the others.

use std::ops::Range;

use loupe_core::capture::FactMatches;

/// Places do not overlap much: looking back so many finds one that reaches into a range.
const LOOK_BACK: usize = 8;

/// Where records are in a text, for linking.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// Range and record, by start.
    places: Vec<(Range<usize>, usize)>,
    records: usize,
}

impl Links {
    pub(super) fn new(matched: &FactMatches) -> Self {
        let mut places: Vec<_> = matched
            .records
            .iter()
            .flat_map(|record| {
                record
                    .places
                    .iter()
                    .map(|place| (place.clone(), record.node))
            })
            .collect();
        places.sort_by_key(|(place, _)| place.start);
        let records = matched
            .records
            .iter()
            .filter(|record| !record.places.is_empty())
            .count();
        Self { places, records }
    }

    /// The record that is in this range, the one that begins first.
    pub fn at(&self, range: &Range<usize>) -> Option<usize> {
        let end = self
            .places
            .partition_point(|(place, _)| place.start < range.end.max(range.start + 1));
        self.places[end.saturating_sub(LOOK_BACK)..end]
            .iter()
            .find(|(place, _)| place.end > range.start)
            .map(|&(_, record)| record)
    }

    /// The places of one record that reach into a range, for painting it.
    pub fn of_record(
        &self,
        record: usize,
        range: &Range<usize>,
    ) -> impl Iterator<Item = &Range<usize>> {
        let end = self
            .places
            .partition_point(|(place, _)| place.start < range.end.max(range.start + 1));
        let start = range.start;
        self.places[end.saturating_sub(LOOK_BACK)..end]
            .iter()
            .filter(move |(place, node)| *node == record && place.end > start)
            .map(|(place, _)| place)
    }

    /// How many records stand somewhere in the text.
    pub fn records(&self) -> usize {
        self.records
    }

    /// Where a record begins first.
    pub fn first(&self, record: usize) -> Option<usize> {
        self.places
            .iter()
            .find(|(_, node)| *node == record)
            .map(|(place, _)| place.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loupe_core::capture::Record;

    #[test]
    fn places_are_found_by_range() {
        let record = |node, places: &[Range<usize>]| Record {
            node,
            places: places.to_vec(),
        };
        let matched = FactMatches {
            records: vec![
                record(5, &[0..10, 40..50]),
                record(9, std::slice::from_ref(&(10..20))),
            ],
            ..FactMatches::default()
        };
        let links = Links::new(&matched);
        assert_eq!(links.at(&(2..4)), Some(5));
        assert_eq!(links.at(&(12..12)), Some(9));
        assert_eq!(links.at(&(25..30)), None);
        assert_eq!(links.at(&(45..60)), Some(5));
        assert_eq!(links.first(9), Some(10));
    }
}
