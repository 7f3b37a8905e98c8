//! Questions asked of a capture, and their answers. Pure, cancellable, never slower than the question needs.
//!
//! The window asks through the engine and caches; the command line calls [`answer`] itself: one core for both.
//! Uses `diff`, `format`, `capture`, `token`, `json`, `problem`, `cancel`.

pub mod arguments;
pub mod curve;
pub mod difference;
mod find;
pub mod json;
mod links;
mod pull_request;
mod rendered;
pub mod repeat;
pub mod special;
pub mod sweep;
mod text;
mod tree;
mod verdict;
mod wrap;

use std::ops::Range;
use std::sync::Arc;

pub use find::FIND_LIMIT;
pub use links::Links;
pub use pull_request::verdict_markdown;
pub use rendered::{Card, Cell, MdBlock, MdKind, RenderedView, Table};
pub use text::{DisplayLine, TextView, display_lines, format_bytes};
pub use tree::{Mark, TreeView};
pub use verdict::{Verdict, VerdictPart, grouped, verdict};
pub use wrap::TextRow;

use crate::cancel::{Cancel, Cancelled};
use crate::capture::{Capture, CaptureId};
use crate::format::ledger::Row;
use crate::format::{self, Subject};
use crate::problem::{Kind, Problem};
use crate::token::{self, Tokens};

/// A question and the captures it is asked of: one, or several where they are compared.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Inquiry {
    pub captures: Vec<CaptureId>,
    pub question: Question,
}

impl Inquiry {
    /// About one capture.
    pub fn of(capture: &CaptureId, question: Question) -> Self {
        Self { captures: vec![capture.clone()], question }
    }
}

/// What can be asked of captures; of the first, where a question is about one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
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
    /// The text of a format cut into rows of so many columns.
    Rows { format: &'static str, columns: u16 },
    /// Every place of a text in the text of a format.
    Find { format: &'static str, needle: Arc<str> },
    /// What a part (from, to) of the text of a format costs.
    Part { format: &'static str, from: usize, to: usize },
    /// What a few characters cost by themselves.
    Characters(Arc<str>),
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
    Rows(Arc<[TextRow]>),
    Find(Arc<[Range<usize>]>),
    Part(Tokens),
    Characters(Tokens),
}

impl Question {
    /// Whether the answer soon makes room for others of its kind: it belongs to a width, a search or a selection.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Rows { .. } | Self::Find { .. } | Self::Part { .. } | Self::Characters(_))
    }
}

impl Answer {
    /// About how many bytes it holds, for the cache's budget.
    pub fn weight(&self) -> usize {
        const MATCHED: usize = 64;
        match self {
            Self::Text(view) => view.text.len() + view.lines.len() * 32 + view.matched.facts.len() * MATCHED,
            Self::Rendered(view) => {
                view.cards.iter().map(|card| card.text.len() * 4).sum::<usize>() + view.matched.facts.len() * MATCHED
            }
            Self::Tree(Some(view)) => view.tokens.len() * 4 + view.matched.facts.len() * MATCHED,
            Self::Rows(rows) => size_of_val(&**rows),
            Self::Find(found) => size_of_val(&**found),
            Self::Subject(_) | Self::Row(_) | Self::Tree(None) | Self::Part(_) | Self::Characters(_) => MATCHED,
        }
    }
}

/// Answers a question about captures.
///
/// # Errors
/// [`Cancelled`], or a problem to show in the pane that asked.
pub fn answer(subjects: &[Arc<Subject>], question: &Question, cancel: &Cancel) -> Result<Result<Answer, Problem>, Cancelled> {
    match work(subjects, question, cancel) {
        Ok(answer) => Ok(Ok(answer)),
        Err(Stop::Problem(problem)) => Ok(Err(problem)),
        Err(Stop::Cancelled(cancelled)) => Err(cancelled),
    }
}

/// Why there is no answer.
enum Stop {
    Cancelled(Cancelled),
    Problem(Problem),
}

impl From<Cancelled> for Stop {
    fn from(cancelled: Cancelled) -> Self {
        Self::Cancelled(cancelled)
    }
}

impl From<Problem> for Stop {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

fn work(subjects: &[Arc<Subject>], question: &Question, cancel: &Cancel) -> Result<Answer, Stop> {
    let subject = subjects.first().ok_or_else(|| Problem::new(Kind::Internal, "a question about no capture"))?;
    let format =
        |id: &'static str| format::by_id(id).ok_or_else(|| Problem::new(Kind::Internal, format!("there is no format `{id}`")));
    // What is about a place in a text writes the text anew: keeping it would cost more than writing it.
    let text = |id| -> Result<String, Stop> { Ok(text::shown_text(format(id)?, subject, cancel)??.0) };
    Ok(match question {
        Question::Subject => Answer::Subject(Arc::clone(subject)),
        Question::Row(id) => Answer::Row(Arc::new(Row::measure(format(id)?, subject, cancel)?)),
        Question::Text(id) => Answer::Text(Arc::new(TextView::of(format(id)?, subject, cancel)??)),
        Question::Rendered(id) => Answer::Rendered(Arc::new(RenderedView::of(format(id)?, subject, cancel)??)),
        Question::Tree => Answer::Tree(TreeView::of(subject, cancel)?.map(Arc::new)),
        Question::Rows { format, columns } => {
            let text = text(format)?;
            Answer::Rows(wrap::wrap(&text, &display_lines(&text), usize::from(*columns), cancel)?.into())
        }
        Question::Find { format, needle } => Answer::Find(find::find(&text(format)?, needle, cancel)?.into()),
        Question::Part { format, from, to } => {
            Answer::Part(token::count(text(format)?.get(*from..*to).unwrap_or_default(), cancel)?)
        }
        Question::Characters(characters) => Answer::Characters(token::count(characters, cancel)?),
    })
}

/// A capture made ready for questions: parses once, off the UI thread.
pub fn subject(capture: Arc<Capture>) -> Arc<Subject> {
    Arc::new(Subject::of(capture))
}
