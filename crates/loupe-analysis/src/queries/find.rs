//! Finding in a text and in the data: plain, by a regular expression, or by a JSONPath.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::queries::TextQuery;
use crate::queries::host_lines;
use crate::queries::query::{Ctx, Query, Stop};
use loupe_core::cancel::{Cancel, Cancelled};
use loupe_core::capture::ResultData;
use loupe_core::host::HostId;
use loupe_core::json::Node;
use loupe_core::problem::{Problem, ProblemKind};

/// No more places than this are found; nobody steps through more.
pub const FIND_LIMIT: usize = 10_000;

/// Bytes that are searched between two looks at the cancel flag.
const STRETCH: usize = 1 << 20;

/// How what is looked for is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SearchKind {
    /// Without regard to the case of ASCII letters.
    #[default]
    Plain,
    /// As the crate `regex` reads it.
    Regex,
    /// RFC 9535, from the root of the data.
    JsonPath,
}

/// What is looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Search {
    pub text: Arc<str>,
    pub kind: SearchKind,
}

impl Search {
    /// A text as it is.
    pub fn plain(text: &str) -> Self {
        Self {
            text: text.into(),
            kind: SearchKind::Plain,
        }
    }

    fn regex(&self) -> Result<regex::Regex, Problem> {
        regex::Regex::new(&self.text).map_err(|error| {
            let why = error.to_string();
            // The crate draws the expression over several lines; what is wrong is on the last.
            let last = why.lines().last().unwrap_or_default();
            Problem::new(
                ProblemKind::Usage,
                format!(
                    "not a regular expression: {}",
                    last.trim_start_matches("error: ")
                ),
            )
        })
    }

    /// Every place of it in a text, in order, up to [`FIND_LIMIT`].
    fn places(&self, text: &str, cancel: &Cancel) -> Result<Vec<Range<usize>>, Stop> {
        if self.kind == SearchKind::Plain {
            return Ok(find(text, &self.text, cancel)?);
        }
        let pattern = self.regex()?;
        let places = pattern
            .find_iter(text)
            .map(|found| found.range())
            .filter(|range| !range.is_empty());
        Ok(places.take(FIND_LIMIT).collect())
    }

    /// Every value of the data that it names: by its place on the tape, in order, up to [`FIND_LIMIT`].
    fn nodes(&self, data: &ResultData) -> Result<Vec<usize>, Problem> {
        let root = data.root();
        let nodes = (root.index()..root.subtree_end()).filter_map(|at| data.doc.node(at));
        Ok(match self.kind {
            SearchKind::Plain => {
                let needle = self.text.to_ascii_lowercase();
                let holds = |text: &[u8]| {
                    memchr::memmem::find(&text.to_ascii_lowercase(), needle.as_bytes()).is_some()
                };
                let is_found = |node: &Node<'_>| {
                    node.raw_key().is_some_and(holds) || (!node.is_container() && holds(node.raw()))
                };
                nodes
                    .filter(is_found)
                    .take(FIND_LIMIT)
                    .map(Node::index)
                    .collect()
            }
            SearchKind::Regex => {
                let pattern = self.regex()?;
                let is_found = |node: &Node<'_>| {
                    node.key().is_some_and(|key| pattern.is_match(&key))
                        || (!node.is_container()
                            && pattern.is_match(&node.as_str().unwrap_or_else(|| node.raw_text())))
                };
                nodes
                    .filter(is_found)
                    .take(FIND_LIMIT)
                    .map(Node::index)
                    .collect()
            }
            SearchKind::JsonPath => json_path(root, &self.text)?,
        })
    }
}

/// The values that a JSONPath names, by their places on the tape.
fn json_path(root: Node<'_>, path: &str) -> Result<Vec<usize>, Problem> {
    let problem = |what: String| Problem::new(ProblemKind::Usage, what);
    let path = serde_json_path::JsonPath::parse(path).map_err(|error| {
        problem(format!(
            "not a JSONPath, from character {}: {}",
            error.position() + 1,
            error.message()
        ))
    })?;
    let data: serde_json::Value = serde_json::from_slice(root.raw()).map_err(|error| {
        problem(format!(
            "a JSONPath needs whole JSON of at most 127 levels: {error}"
        ))
    })?;
    let mut named: HashMap<*const serde_json::Value, usize> = path
        .query(&data)
        .iter()
        .map(|value| (std::ptr::from_ref(*value), usize::MAX))
        .collect();
    // Both hold the same values in the same order; of a key that stands twice the last counts, so it is met last.
    let mut open = vec![(root, &data)];
    while let Some((node, value)) = open.pop() {
        if let Some(at) = named.get_mut(&std::ptr::from_ref(value)) {
            *at = node.index();
        }
        let pair = |child: Node<'_>| match value {
            serde_json::Value::Object(members) => members.get(&*child.key()?),
            serde_json::Value::Array(items) => items.get(child.ordinal()),
            _ => None,
        };
        let from = open.len();
        open.extend(
            node.children()
                .filter_map(|child| Some((child, pair(child)?))),
        );
        open[from..].reverse();
    }
    let mut found: Vec<usize> = named.into_values().collect();
    found.sort_unstable();
    found.truncate(FIND_LIMIT);
    Ok(found)
}

/// Every place of `needle`, in order, up to [`FIND_LIMIT`].
///
/// # Errors
/// [`Cancelled`] if the caller cancelled.
fn find(text: &str, needle: &str, cancel: &Cancel) -> Result<Vec<Range<usize>>, Cancelled> {
    let mut found = Vec::new();
    let Some(last) = needle.len().checked_sub(1) else {
        return Ok(found);
    };
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

/// Every place of what is looked for in the text of a format, by its id. A JSONPath is found where the values stand that it
/// names, as far as that is known.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FindQuery {
    pub format: &'static str,
    pub search: Search,
}

impl Query for FindQuery {
    type Out = Arc<[Range<usize>]>;
    const IS_PASSING: bool = true;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        if self.search.kind != SearchKind::JsonPath {
            return Ok(self
                .search
                .places(&cx.text(self.format)?, cx.cancel)?
                .into());
        }
        let subject = cx.subject()?;
        let Some(data) = &subject.data else {
            return Ok(Arc::default());
        };
        let nodes = self.search.nodes(data)?;
        let mut places: Vec<Range<usize>> = if self.format == "content" && !data.is_structured() {
            let place = |at: &usize| data.place_in_text(data.doc.node(*at)?, &subject.response);
            nodes.iter().filter_map(place).collect()
        } else {
            let view = cx.get(&TextQuery(self.format))??;
            let is_named = |fact: usize| {
                let last = nodes[..nodes.partition_point(|at| *at <= fact)]
                    .last()
                    .copied();
                last.and_then(|at| data.doc.node(at))
                    .is_some_and(|node| fact < node.subtree_end())
            };
            view.matched
                .facts
                .iter()
                .filter(|fact| is_named(fact.node()))
                .filter_map(|fact| fact.place())
                .collect()
        };
        places.sort_by_key(|place| (place.start, place.end));
        // What stands within another place is marked with it.
        places.dedup_by(|next, before| next.start < before.end);
        places.truncate(FIND_LIMIT);
        Ok(places.into())
    }
}

/// Every value of the data that is found, or is under a key that is: by its place on the tape, as a range of one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FindDataQuery(pub Search);

impl Query for FindDataQuery {
    type Out = Arc<[Range<usize>]>;
    const IS_PASSING: bool = true;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        let subject = cx.subject()?;
        let Some(data) = &subject.data else {
            return Ok(Arc::default());
        };
        Ok(self
            .0
            .nodes(data)?
            .into_iter()
            .map(|at| at..at + 1)
            .collect())
    }
}

/// Every place of a text in the text that one host's model is shown, with what a limit took out or without. A JSONPath is
/// looked for in none.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FindHostQuery {
    pub host: HostId,
    pub with_cuts: bool,
    pub search: Search,
}

impl Query for FindHostQuery {
    type Out = Arc<[Range<usize>]>;
    const IS_PASSING: bool = true;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        if self.search.kind == SearchKind::JsonPath {
            return Ok(Arc::default());
        }
        let text = host_lines::text(cx.subject()?, cx.host(self.host)?, self.with_cuts);
        Ok(self.search.places(&text, cx.cancel)?.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loupe_core::format::ParsedCapture;
    use loupe_core::host::Hosts;

    fn places(text: &str, needle: &str) -> Vec<Range<usize>> {
        find(text, needle, &Cancel::new()).unwrap()
    }

    /// The JSON Pointers of what is found in the data, and the texts found in a format.
    fn found(
        answer: &str,
        kind: SearchKind,
        text: &str,
        format: &'static str,
    ) -> Result<(Vec<String>, Vec<String>), Problem> {
        let subjects = [Arc::new(ParsedCapture::from_result(answer))];
        let (hosts, cancel) = (Hosts::built_in(), Cancel::new());
        let cx = Ctx::new(&subjects, &hosts, &cancel);
        let needle = Search {
            text: text.into(),
            kind,
        };
        let data = cx.get(&FindDataQuery(needle.clone())).unwrap()?;
        let text = cx.text(format).ok().unwrap();
        let places = cx
            .get(&FindQuery {
                format,
                search: needle,
            })
            .unwrap()?;
        let payload = subjects[0].data.as_ref().unwrap();
        let pointer = |place: &Range<usize>| {
            payload
                .doc
                .node(place.start)
                .unwrap()
                .pointer_from(payload.root)
        };
        Ok((
            data.iter().map(pointer).collect(),
            places
                .iter()
                .map(|place| text[place.clone()].to_owned())
                .collect(),
        ))
    }

    const DATA: &str = r#"{"structuredContent":{"items":[{"id":7,"na\u006de":"Acme","price":12.5},{"id":8,"name":"Acorn","price":3,"price":4}],"more":false},
        "content":[{"type":"text","text":"1. Acme (id 7) costs 12.5\n2. Acorn (id 8) costs 4"}]}"#;

    #[test]
    fn a_regular_expression_is_found_in_keys_and_values() {
        let (data, text) = found(DATA, SearchKind::Regex, "^Ac|^mor", "content").unwrap();
        assert_eq!(data, ["/items/0/name", "/items/1/name", "/more"]);
        assert!(text.is_empty(), "{text:?}");
        assert_eq!(
            found(DATA, SearchKind::Regex, r"Ac\w+", "content")
                .unwrap()
                .1,
            ["Acme", "Acorn"]
        );
        assert_eq!(
            found(DATA, SearchKind::Regex, "x*", "content")
                .unwrap()
                .1
                .len(),
            0,
            "an empty place is none"
        );
        let problem = found(DATA, SearchKind::Regex, "a(", "content").unwrap_err();
        assert!(
            problem
                .what
                .starts_with("not a regular expression: unclosed group"),
            "{problem:?}"
        );
    }

    #[test]
    fn a_json_path_is_found_in_the_data_and_where_its_values_stand_in_the_text() {
        let (data, text) = found(DATA, SearchKind::JsonPath, "$.items[*].name", "content").unwrap();
        assert_eq!(data, ["/items/0/name", "/items/1/name"]);
        assert_eq!(text, ["Acme", "Acorn"]);
        let (data, _) = found(
            DATA,
            SearchKind::JsonPath,
            "$.items[?@.price < 5].id",
            "content",
        )
        .unwrap();
        assert_eq!(data, ["/items/1/id"]);
        assert_eq!(
            found(DATA, SearchKind::JsonPath, "$..*", "content")
                .unwrap()
                .0
                .len(),
            10
        );
        assert!(
            found(DATA, SearchKind::JsonPath, "$.items[", "content")
                .unwrap_err()
                .what
                .starts_with("not a JSONPath")
        );
    }

    #[test]
    fn a_json_path_names_values_that_were_read_from_the_text() {
        let answer = r#"{"content":[{"type":"text","text":"[{\"id\": 7, \"tags\": [\"a\", \"b\"]}, {\"id\": 8, \"tags\": []}]"}]}"#;
        let (data, text) = found(answer, SearchKind::JsonPath, "$[0].*", "content").unwrap();
        assert_eq!(data, ["/0/id", "/0/tags"]);
        assert_eq!(text, ["7", r#"["a", "b"]"#]);
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
        assert_eq!(
            places(&text, "needle"),
            [STRETCH - 2..STRETCH + 4, 2 * STRETCH + 8..2 * STRETCH + 14]
        );
        assert_eq!(places(&"ab".repeat(STRETCH), "ab").len(), FIND_LIMIT);
    }
}
