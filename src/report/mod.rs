//! Questions asked of a capture, and their answers. Pure, cancellable, never slower than the question needs.
//!
//! The window asks through the engine and caches; the command line calls [`answer`] itself: one core for both.
//! Uses `format`, `capture`, `token`, `json`, `problem`, `cancel`.

pub mod arguments;
mod columns;
mod counted;
pub mod json;
mod money;
mod pull_request;
mod rendered;
mod saving;
mod server_cost;
mod text;
mod token_map;
mod tree;
mod verdict;
mod what_if;

use std::sync::Arc;

pub use columns::{Column, Columns};
pub use counted::{CountError, count_row, counted, ratio_of};
pub use money::{Cost, Model, Prices};
pub use pull_request::verdict_markdown;
pub use rendered::{Card, Cell, MdBlock, MdKind, RenderedView, Table};
pub use saving::{Reason, Saving, Step};
pub use server_cost::{Cut, Part, ServerCost, ToolCost};
pub use text::{DisplayLine, TextView, display_lines, format_bytes};
pub use token_map::{Shares, TokenMap};
pub use tree::{Mark, TreeView};
pub use verdict::{Verdict, VerdictPart, grouped, verdict};
pub use what_if::{LostField, NeededFields, fields, needed_fields, without};

use crate::cancel::{Cancel, Cancelled};
use crate::capture::Capture;
use crate::format::ledger::Row;
use crate::format::{self, Subject};
use crate::problem::{Kind, Problem};
use crate::token::Encoding;

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
    /// Where the payload's tokens go, in one of the encodings that are always counted.
    TokenMap(Encoding),
    /// Where the difference between two formats comes from, by format id: from, to.
    Saving(&'static str, &'static str, Encoding),
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
    /// `None` where the answer has no payload.
    TokenMap(Option<Arc<TokenMap>>),
    /// `None` where the answer has no payload.
    Saving(Option<Arc<Saving>>),
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
        Question::TokenMap(encoding) => Answer::TokenMap(match &subject.payload {
            Some(payload) => Some(Arc::new(TokenMap::of(payload.root(), encoding, cancel)?)),
            None => None,
        }),
        Question::Saving(from, to, encoding) => match Saving::of(subject, from, to, encoding, cancel) {
            Ok(saving) => Answer::Saving(saving.map(Arc::new)),
            Err(CountError::Cancelled(cancelled)) => return Err(cancelled),
            Err(CountError::Problem(problem)) => return Ok(Err(problem)),
        },
    }))
}

/// A capture made ready for questions: parses once, off the UI thread.
pub fn subject(capture: Arc<Capture>) -> Arc<Subject> {
    Arc::new(Subject::of(capture))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::{CaptureId, Outcome, Server, Timings, Tool};
    use bytes::Bytes;

    /// An answer with this `result`.
    pub(super) fn subject_of(result: &str) -> Subject {
        Subject::of(Arc::new(Capture {
            id: CaptureId("1".into()),
            server: Server::default(),
            tool: Tool::unlisted("t"),
            arguments: Bytes::from_static(b"{}"),
            started_at: time::OffsetDateTime::UNIX_EPOCH,
            timings: Timings::default(),
            outcome: Outcome::Result,
            request: Bytes::new(),
            response: Some(Bytes::from(format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#))),
            messages: Vec::new(),
            http: None,
            problem: None,
            notes: Vec::new(),
        }))
    }

    #[test]
    fn the_token_map_is_the_row_json() {
        let subject = Arc::new(subject_of(r#"{"structuredContent":[{"a":1},{"a":22}]}"#));
        let ask = |question| answer(&subject, question, &Cancel::new()).unwrap().unwrap();
        let (Answer::Row(row), Answer::TokenMap(Some(map)), Answer::Saving(Some(saving))) = (
            ask(Question::Row("json")),
            ask(Question::TokenMap(Encoding::Cl100kBase)),
            ask(Question::Saving("json-pretty", "json", Encoding::Cl100kBase)),
        ) else {
            panic!("another answer than asked for");
        };
        assert_eq!(map.total.total(), row.tokens.cl100k_base);
        assert_eq!(saving.to, row.tokens.cl100k_base);
    }
}
