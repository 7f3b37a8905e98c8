//! Questions asked of a capture, and their answers. Pure, cancellable, never slower than the question needs.
//!
//! The window asks through the engine and caches; the command line calls [`answer`] itself: one core for both.
//! Uses `diff`, `host`, `format`, `capture`, `token`, `json`, `problem`, `cancel`.

pub mod arguments;
mod breakage;
mod columns;
mod counted;
pub mod curve;
mod deliveries;
mod diff_texts;
pub mod diff_view;
pub mod difference;
mod find;
mod host_cuts;
mod host_media;
mod host_shown;
mod host_told;
mod host_verdict;
mod hosts;
pub mod json;
mod links;
mod money;
#[cfg(feature = "gui")]
mod picture;
mod pull_request;
mod rendered;
pub mod reproduce;
mod saving;
mod server_cost;
#[cfg(feature = "gui")]
mod sound;
pub mod special;
pub mod sweep;
mod table;
mod text;
mod token_map;
mod tree;
mod verdict;
mod what_if;
mod wrap;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

pub use breakage::breakage;
pub use columns::{Column, Columns};
pub use counted::{CountError, RowCount, count_row, count_rows, counted, ratio_of};
pub use deliveries::{Deliveries, DeliveryCell, DeliveryKind, DeliveryRow};
pub use diff_texts::TextOf;
pub use diff_view::{DiffAsk, DiffRow, DiffView};
pub use find::FIND_LIMIT;
pub use host_cuts::HostCuts;
pub use host_media::MediaBytes;
pub use host_shown::{HostMark, HostRows};
pub use hosts::{HostGroup, HostRow, HostShares, HostText, HostsReport, LostField, evidence_text, limit_text};
pub use links::Links;
pub use money::{Cost, Model, Prices};
#[cfg(feature = "gui")]
pub use picture::Picture;
pub use pull_request::verdict_markdown;
pub use rendered::{Card, Cell, MdBlock, MdKind, RenderedView, Table};
pub use saving::{Reason, Saving, Step};
pub use server_cost::{Cut, Part, ServerCost, ToolCost};
#[cfg(feature = "gui")]
pub use sound::Sound;
pub use table::{TableKind, counted_table, ledger_table};
pub use text::{DisplayLine, TextView, display_lines, format_bytes};
pub use token_map::{Shares, TokenMap};
pub use tree::{Mark, TreeView};
pub use verdict::{
    CountedRow, Verdict, VerdictPart, grouped, number_of, signed, signed_from, verdict, verdict_counted, verdict_short,
};
pub use what_if::{FieldLoss, NeededFields, fields, is_struck, key_of, needed_fields, path_of, without};
pub use wrap::TextRow;

use crate::cancel::{Cancel, Cancelled};
use crate::capture::{Capture, CaptureId};
use crate::format::ledger::Row;
use crate::format::{self, Subject};
use crate::host::{Host, HostId, Hosts};
use crate::problem::{Kind, Problem};
use crate::token::{self, Count, Encoding, Tokenizer, Tokens};

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
    /// The picture at this position in `content`, decoded.
    #[cfg(feature = "gui")]
    Picture(usize),
    /// The sound at this position in `content`, decoded.
    #[cfg(feature = "gui")]
    Sound(usize),
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
    /// A format's tokens by a tokenizer that is not always counted.
    Count { format: &'static str, tokenizer: Tokenizer },
    /// What the answer would be to a question if these keys (as [`Columns::path`] writes them) were left out.
    Without(Arc<BTreeSet<String>>, Box<Question>),
    /// Where the payload's tokens go, in one of the encodings that are always counted.
    TokenMap(Encoding),
    /// Where the difference between two formats comes from, by format id: from, to.
    Saving(&'static str, &'static str, Encoding),
    /// What every host's model is shown.
    Hosts,
    /// The exact text that one host's model is shown, with its display lines.
    HostText(HostId),
    /// That text in rows of so many columns, with what a limit took out or without.
    HostRows { host: HostId, columns: u16, with_cuts: bool },
    /// Which places of the answer one host's model does not see.
    HostCuts(HostId),
    /// Every place of a text in the text that one host's model is shown, with what a limit took out or without.
    FindHost { host: HostId, with_cuts: bool, needle: Arc<str> },
    /// Six ways of delivering the payload, through every host.
    Deliveries,
    /// A format as the only text of the answer, through every host; by format id.
    SentAsText(&'static str),
    /// What differs between the first capture and the second.
    Difference(DiffAsk),
    /// The calls of a sweep side by side.
    Sweep(sweep::SweepAsk),
    /// The rows of such a page whose columns are so many characters wide.
    SweepRows { page: sweep::ThisPage, columns: u16 },
    /// The same as Markdown is read; the columns with these titles stay exact.
    SweepRendered { page: sweep::ThisPage, columns: u16, exact: Arc<BTreeSet<String>> },
    /// Which of these fields a format loses, by format id.
    Needed { format: &'static str, fields: Arc<[String]> },
}

/// The answer to the [`Question`] of the same name. Cheap to clone.
#[derive(Clone, Debug)]
pub enum Answer {
    Subject(Arc<Subject>),
    Row(Arc<Row>),
    Text(Arc<TextView>),
    Rendered(Arc<RenderedView>),
    #[cfg(feature = "gui")]
    Picture(Arc<Picture>),
    #[cfg(feature = "gui")]
    Sound(Arc<Sound>),
    /// `None` where the answer has no payload.
    Tree(Option<Arc<TreeView>>),
    Rows(Arc<[TextRow]>),
    Find(Arc<[Range<usize>]>),
    Part(Tokens),
    Characters(Tokens),
    Count(Count),
    /// `None` where the answer has no payload.
    TokenMap(Option<Arc<TokenMap>>),
    /// `None` where the answer has no payload.
    Saving(Option<Arc<Saving>>),
    Hosts(Arc<HostsReport>),
    HostText(Arc<HostText>),
    HostRows(Arc<HostRows>),
    HostCuts(Arc<HostCuts>),
    /// `None` where the answer has no payload.
    Deliveries(Option<Arc<Deliveries>>),
    /// In the order of the hosts.
    SentAsText(Arc<[DeliveryCell]>),
    Difference(Arc<DiffView>),
    Sweep(Arc<sweep::SweepPage>),
    SweepRows(Arc<sweep::SweepRows>),
    SweepRendered(Arc<sweep::SweepRendered>),
    /// `None` where the answer has no payload.
    Needed(Option<Arc<NeededFields>>),
}

impl Question {
    /// Whether it counts an answer, format by format or host by host. What a pane shows takes less time and comes first.
    pub fn is_count(&self) -> bool {
        matches!(
            self,
            Question::Row(_)
                | Question::Count { .. }
                | Question::TokenMap(_)
                | Question::Saving(..)
                | Question::Hosts
                | Question::Deliveries
                | Question::SentAsText(_)
                | Question::Needed { .. }
                | Question::Without(..)
        )
    }

    /// Whether the answer soon makes room for others of its kind: it belongs to a width, a search or a selection.
    pub fn is_passing(&self) -> bool {
        matches!(
            self,
            Self::Without(..)
                | Self::Rows { .. }
                | Self::HostRows { .. }
                | Self::SweepRows { .. }
                | Self::SweepRendered { .. }
                | Self::Find { .. }
                | Self::FindHost { .. }
                | Self::Part { .. }
                | Self::Characters(_)
        )
    }
}

impl Question {
    /// Whether the answer depends on which hosts are known.
    pub fn is_about_hosts(&self) -> bool {
        match self {
            Self::Without(_, question) => question.is_about_hosts(),
            Self::Difference(ask) => [ask.texts.0, ask.texts.1].iter().any(|text| matches!(text, TextOf::Host(_))),
            Self::Hosts
            | Self::HostText(_)
            | Self::HostRows { .. }
            | Self::HostCuts(_)
            | Self::FindHost { .. }
            | Self::SentAsText(_)
            | Self::Deliveries => true,
            _ => false,
        }
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
            #[cfg(feature = "gui")]
            Self::Picture(picture) => picture.pixels.len(),
            #[cfg(feature = "gui")]
            Self::Sound(sound) => size_of_val(&*sound.loudness),
            Self::Tree(Some(view)) => view.tokens.len() * 4 + view.matched.facts.len() * MATCHED,
            Self::Rows(rows) => size_of_val(&**rows),
            Self::Find(found) => size_of_val(&**found),
            Self::TokenMap(Some(map)) => map.weight(),
            Self::Hosts(report) => report.weight(),
            Self::Deliveries(Some(deliveries)) => deliveries.weight(),
            Self::HostText(text) => text.weight(),
            Self::SentAsText(cells) => size_of_val(&**cells),
            Self::Difference(view) => view.weight(),
            Self::HostRows(rows) => rows.weight(),
            Self::HostCuts(cuts) => cuts.weight(),
            Self::Sweep(page) => page.weight(),
            Self::SweepRows(rows) => rows.weight(),
            Self::SweepRendered(laid) => laid.weight(),
            Self::Subject(_)
            | Self::Row(_)
            | Self::Tree(None)
            | Self::TokenMap(None)
            | Self::Saving(_)
            | Self::Deliveries(None)
            | Self::Needed(_)
            | Self::Part(_)
            | Self::Count(_)
            | Self::Characters(_) => MATCHED,
        }
    }
}

/// Answers a question about captures; `hosts` are those that questions about hosts are about.
///
/// # Errors
/// [`Cancelled`], or a problem to show in the pane that asked.
pub fn answer(
    subjects: &[Arc<Subject>],
    question: &Question,
    hosts: &Hosts,
    cancel: &Cancel,
) -> Result<Result<Answer, Problem>, Cancelled> {
    match work(subjects, question, hosts, cancel) {
        Ok(answer) => Ok(Ok(answer)),
        Err(Stop::Problem(problem)) => Ok(Err(problem)),
        Err(Stop::Cancelled(cancelled)) => Err(cancelled),
    }
}

/// The whole text of a format, to be passed on.
///
/// # Errors
/// [`Cancelled`], or why there is no such text.
pub fn text_of(subject: &Subject, id: &str, cancel: &Cancel) -> Result<Result<String, Problem>, Cancelled> {
    let Some(format) = format::by_id(id) else {
        return Ok(Err(Problem::new(Kind::Internal, format!("there is no format `{id}`"))));
    };
    Ok(text::shown_text(format, subject, cancel)?.and_then(|(text, is_whole)| match is_whole {
        true => Ok(text),
        false => Err(Problem::new(Kind::Malformed, "the text holds bytes that are no UTF-8, so it cannot be passed on as it is")),
    }))
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

impl From<CountError> for Stop {
    fn from(error: CountError) -> Self {
        match error {
            CountError::Cancelled(cancelled) => Self::Cancelled(cancelled),
            CountError::Problem(problem) => Self::Problem(problem),
        }
    }
}

impl From<Problem> for Stop {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

fn work(subjects: &[Arc<Subject>], question: &Question, hosts: &Hosts, cancel: &Cancel) -> Result<Answer, Stop> {
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
        #[cfg(feature = "gui")]
        Question::Sound(index) => Answer::Sound(Arc::new(sound::Sound::of(subject, *index, cancel)?)),
        #[cfg(feature = "gui")]
        Question::Picture(index) => Answer::Picture(Arc::new(picture::Picture::of(subject, *index)?)),
        Question::Count { format: id, tokenizer } => Answer::Count(tokenizer.count(&text(id)?, cancel)??),
        Question::Without(paths, question) => {
            let changed = Arc::new(without(subject, paths, cancel)?);
            return work(&[changed], question, hosts, cancel);
        }
        Question::Tree => Answer::Tree(TreeView::of(subject, cancel)?.map(Arc::new)),
        Question::TokenMap(encoding) => Answer::TokenMap(match &subject.payload {
            Some(payload) => Some(Arc::new(TokenMap::of(payload.root(), *encoding, cancel)?)),
            None => None,
        }),
        Question::Saving(from, to, encoding) => Answer::Saving(Saving::of(subject, from, to, *encoding, cancel)?.map(Arc::new)),
        Question::Hosts => Answer::Hosts(Arc::new(HostsReport::of(subject, hosts, cancel)?)),
        Question::HostText(id) => Answer::HostText(Arc::new(HostText::of(subject, known(hosts, *id)?, cancel)?)),
        Question::HostRows { host, columns, with_cuts } => {
            let host = known(hosts, *host)?;
            Answer::HostRows(Arc::new(HostRows::of(subject, host, usize::from(*columns), *with_cuts, cancel)?))
        }
        Question::HostCuts(id) => Answer::HostCuts(Arc::new(HostCuts::of(subject, known(hosts, *id)?, cancel)?)),
        Question::FindHost { host, with_cuts, needle } => {
            let text = host_shown::text(subject, known(hosts, *host)?, *with_cuts, cancel)?;
            Answer::Find(find::find(&text, needle, cancel)?.into())
        }
        Question::Deliveries => Answer::Deliveries(Deliveries::of(subject, hosts, cancel)?.map(Arc::new)),
        Question::SentAsText(id) => Answer::SentAsText(deliveries::as_text(id, subject, hosts, cancel)??.into()),
        Question::Difference(ask) => {
            let other = subjects.get(1).unwrap_or(subject);
            Answer::Difference(Arc::new(DiffView::of(subject, other, ask, hosts, cancel)?))
        }
        Question::Sweep(ask) => Answer::Sweep(Arc::new(sweep::SweepPage::of(subjects, ask, cancel)?)),
        Question::SweepRows { page, columns } => Answer::SweepRows(Arc::new(sweep::SweepRows::of(&page.0, *columns, cancel)?)),
        Question::SweepRendered { page, columns, exact } => {
            Answer::SweepRendered(Arc::new(sweep::SweepRendered::of(&page.0, *columns, exact, cancel)?))
        }
        Question::Needed { format: id, fields } => {
            let fields = fields.iter().cloned().collect();
            Answer::Needed(needed_fields(subject, format(id)?, &fields, cancel)?.map(Arc::new))
        }
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

/// The host with this id.
fn known(hosts: &Hosts, id: HostId) -> Result<&Arc<Host>, Problem> {
    hosts.get(id.as_str()).ok_or_else(|| Problem::new(Kind::NotFound, "there is no such host").at(id.as_str()))
}

/// A capture made ready for questions: parses once, off the UI thread.
pub fn subject(capture: Arc<Capture>) -> Arc<Subject> {
    Arc::new(Subject::of(capture))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::{CaptureId, Server, Tool};
    use bytes::Bytes;

    /// An answer with this `result`.
    pub(super) fn subject_of(result: &str) -> Subject {
        Subject::of(Arc::new(Capture {
            tool: Tool::unlisted("t"),
            arguments: Bytes::from_static(b"{}"),
            response: Some(Bytes::from(format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#))),
            ..Capture::empty(CaptureId("1".into()), Server::default())
        }))
    }

    #[test]
    fn the_token_map_is_the_row_json() {
        let subject = Arc::new(subject_of(r#"{"structuredContent":[{"a":1},{"a":22}]}"#));
        let ask =
            |question| answer(std::slice::from_ref(&subject), &question, &Hosts::built_in(), &Cancel::new()).unwrap().unwrap();
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
