//! What if the same data were delivered in another way: six deliveries through every host.
//!
//! The results are made up from the data and the text of the result; no server sent them.

use std::sync::Arc;

use bytes::Bytes;
use memchr::memmem;

use crate::queries::host_report;
use crate::queries::query::{Ctx, Query, Stop, Weigh};
use loupe_core::cancel::{Cancel, Cancelled};
use loupe_core::capture::{Capture, FactCount, Outcome};
use loupe_core::format::format_bytes;
use loupe_core::format::{self, ParsedCapture};
use loupe_core::host::{Host, HostView, Hosts, LimitState, RenderCache};
use loupe_core::json::write;
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::token::{Encoding, Tokens};

/// One way of delivering data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlacementKind {
    Text,
    Structured,
    BothJson,
    BothMarkdown,
    JsonInMarkdown,
    Link,
}

impl PlacementKind {
    /// Every delivery with its id and the name for people, in display order.
    pub const ALL: &'static [(PlacementKind, &'static str, &'static str)] = &[
        (PlacementKind::Text, "text", "Text alone"),
        (
            PlacementKind::Structured,
            "structured",
            "structuredContent alone",
        ),
        (
            PlacementKind::BothJson,
            "both-json",
            "Both, the text is the JSON",
        ),
        (
            PlacementKind::BothMarkdown,
            "both-markdown",
            "Both, the text is Markdown",
        ),
        (
            PlacementKind::JsonInMarkdown,
            "json-in-markdown",
            "JSON in a fence in the text",
        ),
        (PlacementKind::Link, "link", "A link and a short text"),
    ];

    /// The name for people.
    pub fn title(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(kind, ..)| *kind == self)
            .map_or("", |(.., title)| title)
    }

    /// The id in reports.
    pub fn id(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(kind, ..)| *kind == self)
            .map_or("", |(_, id, _)| id)
    }
}

/// What one host makes of one delivery.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacementCell {
    /// `None` where the host's text cannot be computed.
    pub tokens: Option<Tokens>,
    pub facts: Option<FactCount>,
    pub limit: LimitState,
    pub why_not: Option<String>,
    /// Whether what the result's own text says beyond the data is shown as well: that text is in it, or says no more.
    /// No delivery has a block that is no text.
    pub has_text: bool,
}

impl PlacementCell {
    /// Whether no fact is missing, and nothing is cut.
    pub fn is_whole(&self) -> bool {
        self.facts.is_some_and(|facts| facts.missing == 0)
            && self.limit.is_truncated() != Some(true)
    }
}

/// One delivery through every host.
#[derive(Clone, Debug)]
pub struct PlacementRow {
    pub kind: PlacementKind,
    /// Where its text comes from, or why there is no such delivery.
    pub note: String,
    /// The result that was made up; `None` where there is no such delivery.
    pub result: Option<Bytes>,
    /// In the order of [`Placements::hosts`]; empty where there is no such delivery.
    pub cells: Vec<PlacementCell>,
}

impl PlacementRow {
    /// Hosts in which no fact is lost, and hosts whose text is known.
    pub fn whole(&self) -> (usize, usize) {
        let known = self.cells.iter().filter(|cell| cell.tokens.is_some());
        (
            known.clone().filter(|cell| cell.is_whole()).count(),
            known.count(),
        )
    }

    /// Whether every host whose text is known shows all that the result says: each fact, and what its own text says next to them.
    pub fn says_all(&self) -> bool {
        let mut known = self
            .cells
            .iter()
            .filter(|cell| cell.tokens.is_some())
            .peekable();
        known.peek().is_some() && known.all(|cell| cell.is_whole() && cell.has_text)
    }

    /// Facts lost, summed over the hosts.
    pub fn missing(&self) -> u64 {
        self.cells
            .iter()
            .filter_map(|cell| cell.facts)
            .map(|facts| facts.missing)
            .sum()
    }

    /// The tokens of the middle host.
    pub fn median(&self, encoding: Encoding) -> Option<u64> {
        let mut tokens: Vec<u64> = self
            .cells
            .iter()
            .filter_map(|cell| cell.tokens)
            .map(|tokens| tokens.get(encoding))
            .collect();
        tokens.sort_unstable();
        tokens.get(tokens.len() / 2).copied()
    }
}

/// Six deliveries of one data through every host.
#[derive(Clone, Debug)]
pub struct Placements {
    pub hosts: Vec<Arc<Host>>,
    pub rows: Vec<PlacementRow>,
}

/// The text of a format; `Err` inside where it does not apply.
fn write_placement(id: &str, subject: &ParsedCapture) -> Result<String, String> {
    let format = format::by_id(id).ok_or_else(|| format!("there is no format `{id}`"))?;
    let bytes = format_bytes(format, subject).map_err(|problem| problem.what)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

impl Placements {
    /// `None` where the result has no data to deliver.
    pub(super) fn new(
        subject: &ParsedCapture,
        hosts: &Hosts,
        cancel: &Cancel,
    ) -> Result<Option<Self>, Cancelled> {
        let Some(data) = subject.compared_data() else {
            return Ok(None);
        };
        // The text once more is not the data.
        let sent = subject
            .response
            .structured()
            .filter(|_| data.is_structured())
            .map(|node| node.raw_text().into_owned());
        let Ok(json) = write_placement("json", subject) else {
            return Ok(None);
        };
        let fenced = write_placement("json-fenced", subject);
        let structured = sent.unwrap_or_else(|| json.clone());
        let own_text = subject.response.content_text();
        // A text that is the data itself says nothing in Markdown.
        let own_markdown = own_text.clone().filter(|text| {
            !data
                .reader()
                .is_some_and(|reader| matches!(reader.id, "json" | "json-blocks"))
                && text.trim() != json
                && !is_json(text)
        });
        let markdown = match own_markdown {
            Some(text) => Ok((text, "the text of this answer")),
            None => write_placement("markdown-table", subject)
                .map(|text| (text, "a table that Loupe writes")),
        };
        let text = match &own_text {
            Some(text) => (text.clone(), "the text of this answer"),
            None => (
                json.clone(),
                "the compact JSON, since the answer has no text",
            ),
        };
        let tool = if subject.capture.tool.name.is_empty() {
            "data"
        } else {
            &subject.capture.tool.name
        };
        let mut rows = Vec::with_capacity(PlacementKind::ALL.len());
        for &(kind, ..) in PlacementKind::ALL {
            let made = match kind {
                PlacementKind::Text => Ok((one_text(&text.0), text.1.to_owned())),
                PlacementKind::Structured => Ok((
                    format!("{{\"content\":[],\"structuredContent\":{structured}}}"),
                    "no block".to_owned(),
                )),
                PlacementKind::BothJson => {
                    Ok((both(&json, &structured), "the compact JSON".to_owned()))
                }
                PlacementKind::BothMarkdown => markdown
                    .clone()
                    .map(|(text, whose)| (both(&text, &structured), whose.to_owned())),
                PlacementKind::JsonInMarkdown => fenced
                    .clone()
                    .map(|text| (one_text(&text), "a heading and the pretty JSON".to_owned())),
                PlacementKind::Link => Ok((
                    link(tool, json.len()),
                    "the data itself is not in the answer".to_owned(),
                )),
            };
            rows.push(match made {
                Err(why) => PlacementRow {
                    kind,
                    note: format!(
                        "{}: {why}",
                        if kind == PlacementKind::BothMarkdown {
                            "no Markdown text"
                        } else {
                            "not written"
                        }
                    ),
                    result: None,
                    cells: Vec::new(),
                },
                Ok((result, note)) => {
                    let cells = cells(subject, &result, hosts, cancel)?;
                    PlacementRow {
                        kind,
                        note,
                        result: Some(Bytes::from(result)),
                        cells,
                    }
                }
            });
        }
        Ok(Some(Self {
            hosts: hosts.iter().cloned().collect(),
            rows,
        }))
    }
}

/// What every host, in its order, would make of a format as the only text of the result.
///
/// # Errors
/// Cancelled, or the format does not apply.
pub(super) fn as_text(
    id: &str,
    subject: &ParsedCapture,
    hosts: &Hosts,
    cancel: &Cancel,
) -> Result<Vec<PlacementCell>, Stop> {
    let text = write_placement(id, subject)
        .map_err(|why| Problem::new(ProblemKind::NotFound, why).at(id))?;
    Ok(cells(subject, &one_text(&text), hosts, cancel)?)
}

/// What every host, in its order, would make of the text of the result, of its data as `structuredContent` alone, and of
/// both.
///
/// # Errors
/// Cancelled, or there is no data.
pub(super) fn as_structured(
    subject: &ParsedCapture,
    hosts: &Hosts,
    cancel: &Cancel,
) -> Result<[Vec<PlacementCell>; 3], Stop> {
    let json =
        write_placement("json", subject).map_err(|why| Problem::new(ProblemKind::NotFound, why))?;
    let text = subject.response.content_text().unwrap_or_default();
    let alone = format!("{{\"content\":[],\"structuredContent\":{json}}}");
    Ok([
        cells(subject, &one_text(&text), hosts, cancel)?,
        cells(subject, &alone, hosts, cancel)?,
        cells(subject, &both(&text, &json), hosts, cancel)?,
    ])
}

fn is_json(text: &str) -> bool {
    loupe_core::json::Doc::parse(Bytes::copy_from_slice(text.as_bytes())).is_json()
}

fn one_text(text: &str) -> String {
    format!(
        "{{\"content\":[{{\"type\":\"text\",\"text\":{}}}]}}",
        write::string(text)
    )
}

fn both(text: &str, structured: &str) -> String {
    format!(
        "{{\"content\":[{{\"type\":\"text\",\"text\":{}}}],\"structuredContent\":{structured}}}",
        write::string(text)
    )
}

fn link(tool: &str, size: usize) -> String {
    let name = write::string(&format!("{tool}.json"));
    let uri = write::string(&format!("data://{tool}.json"));
    let text = write::string("The full data is in the linked resource.");
    format!(
        "{{\"content\":[{{\"type\":\"text\",\"text\":{text}}},{{\"type\":\"resource_link\",\"uri\":{uri},\"name\":{name},\"mimeType\":\"application/json\",\"size\":{size}}}]}}"
    )
}

fn cells(
    subject: &ParsedCapture,
    result: &str,
    hosts: &Hosts,
    cancel: &Cancel,
) -> Result<Vec<PlacementCell>, Cancelled> {
    let response = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{result}}}");
    let capture = Capture {
        response: Some(Bytes::from(response)),
        outcome: Outcome::Result,
        ..(*subject.capture).clone()
    };
    let made = ParsedCapture::new(Arc::new(capture));
    let hosts: Vec<&Arc<Host>> = hosts.iter().collect();
    let mut views = host_report::views(&made, &hosts, &RenderCache::default(), cancel);
    // Against the data of the result, also where the delivery itself has none.
    let measured = host_report::measure(subject, &mut views, None, cancel);
    cancel.check()?;
    let own = subject
        .response
        .content_text()
        .filter(|_| !subject.extra().pieces.is_empty());
    let has_others = subject.extra().blocks > 0;
    let has_text = |view: &HostView| {
        !has_others
            && own
                .as_ref()
                .is_none_or(|own| memmem::find(view.text.as_bytes(), own.as_bytes()).is_some())
    };
    Ok(views
        .into_iter()
        .zip(measured)
        .map(|(view, measured)| PlacementCell {
            has_text: has_text(&view),
            tokens: measured.as_ref().map(|measured| measured.tokens),
            facts: measured.and_then(|measured| measured.facts),
            limit: view.limit.state,
            why_not: view.not_computable,
        })
        .collect())
}

/// Six ways of delivering the data, through every host; `None` where the result has no data.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PlacementsQuery;

impl Query for PlacementsQuery {
    type Out = Option<Arc<Placements>>;
    const IS_COUNT: bool = true;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        Ok(Placements::new(cx.subject()?, cx.hosts, cx.cancel)?.map(Arc::new))
    }
}

/// A format, by its id, as the only text of the result, through every host, in their order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SentAsTextQuery(pub &'static str);

impl Query for SentAsTextQuery {
    type Out = Arc<[PlacementCell]>;
    const IS_COUNT: bool = true;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        Ok(as_text(self.0, cx.subject()?, cx.hosts, cx.cancel)?.into())
    }
}

impl Weigh for Placements {
    fn weight(&self) -> usize {
        let of = |row: &PlacementRow| {
            row.result.as_ref().map_or(0, Bytes::len) + size_of_val(row.cells.as_slice())
        };
        self.rows.iter().map(of).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_deliveries_go_through_every_host() {
        let subject = ParsedCapture::from_result(
            r##"{"content":[{"type":"text","text":"# Users\n\n- Ada (36)"}],"structuredContent":{"users":[{"name":"Ada","age":36,"city":"London"}]}}"##,
        );
        let made = Placements::new(&subject, &Hosts::built_in(), &Cancel::new())
            .unwrap()
            .unwrap();
        assert_eq!(made.rows.len(), 6);
        let cell = |kind, id: &str| {
            let row = made
                .rows
                .iter()
                .find(|row: &&PlacementRow| row.kind == kind)
                .unwrap();
            row.cells[made
                .hosts
                .iter()
                .position(|host| host.id.as_str() == id)
                .unwrap()]
            .clone()
        };
        let missing = |kind, id: &str| cell(kind, id).facts.unwrap().missing;
        // A host that reads the content alone gets nothing of a structuredContent alone, one that prefers it all.
        assert_eq!(
            (
                missing(PlacementKind::Structured, "zed"),
                missing(PlacementKind::Structured, "codex")
            ),
            (3, 0)
        );
        assert_eq!(
            (
                missing(PlacementKind::Text, "zed"),
                missing(PlacementKind::Text, "codex")
            ),
            (1, 1)
        );
        assert_eq!(
            (
                missing(PlacementKind::BothMarkdown, "zed"),
                missing(PlacementKind::BothMarkdown, "codex")
            ),
            (1, 0)
        );
        assert_eq!(
            (
                missing(PlacementKind::BothJson, "zed"),
                missing(PlacementKind::BothJson, "codex")
            ),
            (0, 0)
        );
        assert_eq!(missing(PlacementKind::JsonInMarkdown, "zed"), 0);
        assert_eq!(missing(PlacementKind::Link, "codex"), 3);
        assert_eq!(cell(PlacementKind::Link, "zed").tokens, None);
        let summary = made.summary(Encoding::O200kBase).text();
        let (whole, known) = made.ranked(Encoding::O200kBase)[0].whole();
        let share = format!(
            "{whole} of {known} hosts show every fact of “Both, the text is the JSON”, with a median of "
        );
        assert!(summary.starts_with(&share), "{summary}");
        // Ties are named, with what the cheapest of them costs more.
        assert!(
            summary.contains("; “JSON in a fence in the text” reaches as many for "),
            "{summary}"
        );
        assert!(summary.ends_with(" tokens more"), "{summary}");
    }

    #[test]
    fn a_format_alone_is_what_its_text_makes_of_it() {
        let subject = ParsedCapture::from_result(
            r##"{"content":[],"structuredContent":{"users":[{"name":"Ada","age":36,"city":"London"}]}}"##,
        );
        let hosts = Hosts::built_in();
        let cells = as_text("json", &subject, &hosts, &Cancel::new()).unwrap();
        let zed = cells[hosts
            .iter()
            .position(|host| host.id.as_str() == "zed")
            .unwrap()]
        .clone();
        assert_eq!(
            (cells.len(), zed.facts.map(|facts| facts.missing)),
            (hosts.len(), Some(0))
        );
        let Err(Stop::Problem(problem)) = as_text("content", &subject, &hosts, &Cancel::new())
        else {
            panic!("it applies")
        };
        assert_eq!(problem.kind, ProblemKind::NotFound);
    }

    #[test]
    fn what_cannot_be_delivered_says_why() {
        let made = Placements::new(
            &ParsedCapture::from_result(r#"{"content":[],"structuredContent":{"a":1}}"#),
            &Hosts::built_in(),
            &Cancel::new(),
        );
        let made = made.unwrap().unwrap();
        let markdown = made
            .rows
            .iter()
            .find(|row| row.kind == PlacementKind::BothMarkdown)
            .unwrap();
        assert_eq!(
            (markdown.result.is_none(), markdown.note.as_str()),
            (true, "no Markdown text: no list of records in it")
        );
        let none = Placements::new(
            &ParsedCapture::from_result(r#"{"content":[{"type":"text","text":"hi"}]}"#),
            &Hosts::built_in(),
            &Cancel::new(),
        );
        assert!(none.unwrap().is_none());
    }

    #[test]
    fn no_delivery_says_all_that_lacks_a_block_of_the_answer() {
        let subject = ParsedCapture::from_result(
            r#"{"content":[{"type":"text","text":"{\"a\":1}"},{"type":"image","data":"aGk="}],"structuredContent":{"a":1}}"#,
        );
        let deliveries = Placements::new(&subject, &Hosts::built_in(), &Cancel::new())
            .unwrap()
            .unwrap();
        assert!(deliveries.rows.iter().all(|row| !row.says_all()));
    }
}
