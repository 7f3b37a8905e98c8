//! A pattern that the user wrote: named groups, every match a record.

use regex::Regex;

use super::build::{Builder, Cell, Value};
use super::{Certainty, Found, Reader, TextBlock};

static PATTERN: Reader = Reader::new("pattern", "Pattern", Certainty::Layout, |_| None);

/// A pattern with named groups, such as `(?<kind>\w+) (?<name>.+)`. Lines are matched one by one: `^` and `$` are theirs.
#[derive(Clone, Debug)]
pub struct Pattern {
    regex: Regex,
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Pattern {}

impl Pattern {
    /// # Errors
    /// Why it is no pattern that gives records, in a sentence fragment.
    pub fn parse(text: &str) -> Result<Self, String> {
        let regex = regex::RegexBuilder::new(text)
            .multi_line(true)
            .size_limit(1 << 20)
            .build();
        let regex = regex.map_err(|error| error.to_string())?;
        if regex.capture_names().flatten().next().is_none() {
            return Err("it names no group: `(?<name>…)` is a member of each record".to_owned());
        }
        Ok(Self { regex })
    }

    pub fn as_str(&self) -> &str {
        self.regex.as_str()
    }

    /// The records of the first block with a match.
    pub fn read(&self, blocks: &[TextBlock<'_>]) -> Option<Found> {
        let mut data = blocks.iter().find_map(|block| {
            let builder = Builder::new(block);
            let mut records = Vec::new();
            for found in self.regex.captures_iter(block.text) {
                let whole = found.get(0)?;
                if whole.is_empty() {
                    continue;
                }
                let named = self.regex.capture_names().flatten().filter_map(|name| {
                    let group = found.name(name)?;
                    Some((
                        name.into(),
                        Value::Cell(Cell::new(group.as_str(), group.range())),
                    ))
                });
                records.push(Value::Record(named.collect()));
            }
            builder.records(&Vec::new(), records, true)
        })?;
        data.account(blocks);
        let share = data.share(blocks);
        Some(Found {
            reader: &PATTERN,
            data,
            share,
        })
    }
}
