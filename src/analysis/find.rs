//! Finding in a text, without regard to the case of ASCII letters.

use crate::analysis::host_lines;
use crate::analysis::query::{Ctx, Query, Stop};
use crate::host::HostId;
use crate::json::Node;
use std::ops::Range;
use std::sync::Arc;

use crate::cancel::{Cancel, Cancelled};

/// No more places than this are found; nobody steps through more.
pub const FIND_LIMIT: usize = 10_000;

/// Bytes that are searched between two looks at the cancel flag.
const STRETCH: usize = 1 << 20;

/// Every place of `needle`, in order, up to [`FIND_LIMIT`].
///
/// # Errors
/// [`Cancelled`] when the asker looked away.
pub fn find(text: &str, needle: &str, cancel: &Cancel) -> Result<Vec<Range<usize>>, Cancelled> {
    let mut found = Vec::new();
    let Some(last) = needle.len().checked_sub(1) else { return Ok(found) };
    let needle = needle.to_ascii_lowercase();
    let mut from = 0;
    while from < text.len() && found.len() < FIND_LIMIT {
        cancel.check()?;
        // Stretches overlap by what a place may reach over their end.
        let end = (from + STRETCH).min(text.len());
        let reach = (end + last).min(text.len());
        let stretch = text.as_bytes()[from..reach].to_ascii_lowercase();
        let mut at = 0;
        while let Some(place) = memchr::memmem::find(&stretch[at..], needle.as_bytes()) {
            let start = from + at + place;
            found.push(start..start + needle.len());
            at += place + needle.len();
            if found.len() == FIND_LIMIT {
                break;
            }
        }
        from = end.max(from + at);
    }
    Ok(found)
}

/// Every place of a text in the text of a format, by its id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FindQuery {
    pub format: &'static str,
    pub needle: Arc<str>,
}

impl Query for FindQuery {
    type Out = Arc<[Range<usize>]>;
    const IS_PASSING: bool = true;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        Ok(find(&cx.text(self.format)?, &self.needle, cx.cancel)?.into())
    }
}

/// Every value of the data that stands under a key with a text, or says it itself: by its place on the tape, as a range of one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FindDataQuery(pub Arc<str>);

impl Query for FindDataQuery {
    type Out = Arc<[Range<usize>]>;
    const IS_PASSING: bool = true;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        let subject = cx.subject()?;
        let Some(payload) = &subject.payload else { return Ok(Arc::default()) };
        let needle = self.0.to_ascii_lowercase();
        let holds = |text: &[u8]| memchr::memmem::find(&text.to_ascii_lowercase(), needle.as_bytes()).is_some();
        let root = payload.root();
        let nodes = (root.index()..root.subtree_end()).filter_map(|at| payload.doc.node(at));
        let is_found = |node: &Node<'_>| node.raw_key().is_some_and(holds) || (!node.is_container() && holds(node.raw()));
        Ok(nodes.filter(is_found).take(FIND_LIMIT).map(|node| node.index()..node.index() + 1).collect())
    }
}

/// Every place of a text in the text that one host's model is shown, with what a limit took out or without.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FindHostQuery {
    pub host: HostId,
    pub with_cuts: bool,
    pub needle: Arc<str>,
}

impl Query for FindHostQuery {
    type Out = Arc<[Range<usize>]>;
    const IS_PASSING: bool = true;

    fn is_about_hosts(&self) -> bool {
        true
    }

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        let text = host_lines::text(cx.subject()?, cx.host(self.host)?, self.with_cuts);
        Ok(find(&text, &self.needle, cx.cancel)?.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(text: &str, needle: &str) -> Vec<Range<usize>> {
        find(text, needle, &Cancel::new()).unwrap()
    }

    #[test]
    fn finding_ignores_ascii_case() {
        assert_eq!(places("North, NORTH", "north"), [0..5, 7..12]);
        assert_eq!(places("aaaa", "AA"), [0..2, 2..4]);
        assert!(places("x", "").is_empty() && places("", "x").is_empty());
    }

    #[test]
    fn places_across_the_stretches_are_found_once() {
        let mut text = "x".repeat(STRETCH - 2);
        text.push_str("needle and");
        text.push_str(&"y".repeat(STRETCH));
        text.push_str("needle");
        assert_eq!(places(&text, "needle"), [STRETCH - 2..STRETCH + 4, 2 * STRETCH + 8..2 * STRETCH + 14]);
        assert_eq!(places(&"ab".repeat(STRETCH), "ab").len(), FIND_LIMIT);
    }
}
