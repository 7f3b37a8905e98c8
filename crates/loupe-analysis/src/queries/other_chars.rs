//! The characters of a text beyond ASCII, of which a font may lack some.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::queries::query::{Ctx, Query, Stop};

/// Characters, each with how often it is there.
pub type CharCounts = Arc<[(char, u64)]>;

/// Each of a format's characters beyond ASCII, with how often it is there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OtherCharsQuery(pub &'static str);

impl Query for OtherCharsQuery {
    type Out = CharCounts;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        Ok(count(&cx.text(self.0)?))
    }
}

fn count(text: &str) -> CharCounts {
    let mut counts = BTreeMap::new();
    if !text.is_ascii() {
        for char in text.chars().filter(|char| !char.is_ascii()) {
            *counts.entry(char).or_default() += 1;
        }
    }
    counts.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_beyond_ascii_are_counted() {
        assert_eq!(*count("a\u{e01}é\u{e01}b"), [('é', 1), ('\u{e01}', 2)]);
        assert!(count("plain").is_empty());
    }
}
