//! Questions asked of a capture, and their answers. Pure, cancellable, never slower than the question needs.
//!
//! The window asks through the engine and caches; the command line calls [`answer`] itself: one core for both.
//! Uses `format`, `capture`, `token`, `json`, `problem`, `cancel`.

pub mod arguments;
pub mod json;
mod pull_request;
mod rendered;
mod table;
mod text;
mod tree;
mod verdict;

use std::sync::Arc;

pub use pull_request::verdict_markdown;
pub use rendered::{Card, Cell, MdBlock, MdKind, RenderedView, Table};
pub use table::{TableKind, ledger_table};
pub use text::{DisplayLine, TextView, display_lines, format_bytes};
pub use tree::{Mark, TreeView};
pub use verdict::{Verdict, VerdictPart, grouped, verdict};

use crate::cancel::{Cancel, Cancelled};
use crate::capture::Capture;
use crate::format::ledger::Row;
use crate::format::{self, Subject};
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
}

/// Answers a question.
///
/// # Errors
/// [`Cancelled`], or a problem to show in the pane that asked.
pub fn answer(subject: &Arc<Subject>, question: Question, cancel: &Cancel) -> Result<Result<Answer, Problem>, Cancelled> {
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
    }))
}

/// A capture made ready for questions: parses once, off the UI thread.
pub fn subject(capture: Arc<Capture>) -> Arc<Subject> {
    Arc::new(Subject::of(capture))
}
