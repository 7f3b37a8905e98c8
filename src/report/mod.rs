//! Questions asked of a capture, and their answers. Pure, cancellable, never slower than the question needs.
//!
//! The window asks through the engine and caches; the command line calls [`answer`] itself: one core for both.
//! Uses `host`, `format`, `capture`, `token`, `json`, `problem`, `cancel`.

pub mod arguments;
mod deliveries;
mod hosts;
pub mod json;
mod pull_request;
mod rendered;
mod text;
mod tree;
mod verdict;

use std::sync::Arc;

pub use deliveries::{Deliveries, DeliveryCell, DeliveryKind, DeliveryRow};
pub use hosts::{HostGroup, HostRow, HostText, HostsReport, LostField, evidence_text, limit_text, lost_fields};
pub use pull_request::verdict_markdown;
pub use rendered::{Card, Cell, MdBlock, MdKind, RenderedView, Table};
pub use text::{DisplayLine, TextView, display_lines, format_bytes};
pub use tree::{Mark, TreeView};
pub use verdict::{Verdict, VerdictPart, grouped, verdict};

use crate::cancel::{Cancel, Cancelled};
use crate::capture::Capture;
use crate::format::ledger::Row;
use crate::format::{self, Subject};
use crate::host::{HostId, Hosts};
use crate::problem::{Kind, Problem};

/// What can be asked of one capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Question {
    /// The lenient reading and the payload.
    Subject,
    /// One ledger row, by format id.
    Row(&'static str),
    /// The exact text of a format with its display lines, links and faults, by format id.
    Text(&'static str),
    /// The text of a format parsed as Markdown, by format id.
    Rendered(&'static str),
    /// The payload as a tree with tokens and marks.
    Tree,
    /// What every host's model is shown.
    Hosts,
    /// The exact text that one host's model is shown, with its display lines.
    HostText(HostId),
    /// Six ways of delivering the payload, through every host.
    Deliveries,
}

/// The answer to the [`Question`] of the same name. Cheap to clone.
#[derive(Clone, Debug)]
pub enum Answer {
    Subject(Arc<Subject>),
    Row(Arc<Row>),
    Text(Arc<TextView>),
    Rendered(Arc<RenderedView>),
    /// `None` where the answer has no payload.
    Tree(Option<Arc<TreeView>>),
    Hosts(Arc<HostsReport>),
    HostText(Arc<HostText>),
    /// `None` where the answer has no payload.
    Deliveries(Option<Arc<Deliveries>>),
}

/// Answers a question; `hosts` are those that questions about hosts are about.
///
/// # Errors
/// [`Cancelled`], or a problem to show in the pane that asked.
pub fn answer(
    subject: &Arc<Subject>,
    question: Question,
    hosts: &Hosts,
    cancel: &Cancel,
) -> Result<Result<Answer, Problem>, Cancelled> {
    let format =
        |id: &'static str| format::by_id(id).ok_or_else(|| Problem::new(Kind::Internal, format!("there is no format `{id}`")));
    Ok(Ok(match question {
        Question::Subject => Answer::Subject(Arc::clone(subject)),
        Question::Row(id) => match format(id) {
            Ok(format) => Answer::Row(Arc::new(Row::measure(format, subject, cancel)?)),
            Err(problem) => return Ok(Err(problem)),
        },
        Question::Text(id) => match format(id) {
            Ok(format) => match TextView::of(format, subject, cancel)? {
                Ok(view) => Answer::Text(Arc::new(view)),
                Err(problem) => return Ok(Err(problem)),
            },
            Err(problem) => return Ok(Err(problem)),
        },
        Question::Rendered(id) => match format(id) {
            Ok(format) => match RenderedView::of(format, subject, cancel)? {
                Ok(view) => Answer::Rendered(Arc::new(view)),
                Err(problem) => return Ok(Err(problem)),
            },
            Err(problem) => return Ok(Err(problem)),
        },
        Question::Tree => Answer::Tree(TreeView::of(subject, cancel)?.map(Arc::new)),
        Question::Hosts => Answer::Hosts(Arc::new(HostsReport::of(subject, hosts, cancel)?)),
        Question::HostText(id) => match hosts.get(id.as_str()) {
            Some(host) => Answer::HostText(Arc::new(HostText::of(subject, host, cancel)?)),
            None => return Ok(Err(Problem::new(Kind::NotFound, "there is no such host").at(id.as_str()))),
        },
        Question::Deliveries => Answer::Deliveries(Deliveries::of(subject, hosts, cancel)?.map(Arc::new)),
    }))
}

/// A capture made ready for questions: parses once, off the UI thread.
pub fn subject(capture: Arc<Capture>) -> Arc<Subject> {
    Arc::new(Subject::of(capture))
}
