//! What hosts' texts cost and tell. Hosts often show the same: each distinct text is counted once, and matched once
//! whatever a host puts before and after it; texts are independent of each other and spread over the cores.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::columns::Columns;
use super::hosts::{LostField, lost_fields};
use crate::cancel::{Cancel, Cancelled};
use crate::capture::{FactCount, Matched, Payload};
use crate::format::{Known, Subject};
use crate::host::{Hosts, Origin, View, ViewContext, Written};
use crate::spread::spread;
use crate::token::{Encoding, Tokens};

/// Answers below this size are not worth further threads.
const SMALL_BYTES: usize = 64 << 10;

/// What one host's text costs and tells.
#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    /// The sum over the parts.
    pub tokens: Tokens,
    /// `None` where there is no payload.
    pub facts: Option<FactCount>,
    /// The fields that are not wholly kept, where they were asked for.
    pub lost: Arc<Vec<LostField>>,
}

fn is_small(subject: &Subject) -> bool {
    subject.capture.response.as_ref().is_none_or(|response| response.len() < SMALL_BYTES)
}

/// What each host shows of an answer, in their order.
pub(super) fn views(subject: &Subject, hosts: &Hosts, cancel: &Cancel) -> Result<Vec<View>, Cancelled> {
    let context = ViewContext::of(&subject.capture);
    let hosts: Vec<_> = hosts.iter().collect();
    let written = Written::default();
    spread(&hosts, is_small(subject), |host| host.view_among(subject, &context, &written, cancel))
}

/// Texts, each of which stands once.
#[derive(Default)]
struct Distinct<'t> {
    texts: Vec<&'t str>,
    /// Comparing is cheaper than hashing where few texts are of one length.
    by_length: HashMap<usize, Vec<usize>>,
}

impl<'t> Distinct<'t> {
    /// The position of a text.
    fn add(&mut self, text: &'t str) -> usize {
        let same = self.by_length.entry(text.len()).or_default();
        if let Some(&known) = same.iter().find(|at| self.texts[**at] == text) {
            return known;
        }
        self.texts.push(text);
        same.push(self.texts.len() - 1);
        self.texts.len() - 1
    }
}

/// For each text the position of the first that is the same.
pub(super) fn classes<'t>(texts: impl Iterator<Item = &'t str>) -> Vec<usize> {
    let mut distinct = Distinct::default();
    texts.map(|text| distinct.add(text)).collect()
}

/// One text to be looked at.
#[derive(Clone, Copy)]
enum Task<'t> {
    Count(&'t str),
    Match(&'t str),
}

impl Task<'_> {
    fn size(&self) -> usize {
        let (Self::Count(text) | Self::Match(text)) = self;
        text.len()
    }
}

/// Where the texts of one view stand among the distinct ones.
struct Places {
    parts: Vec<usize>,
    /// The text before its limit, where that is to be counted.
    whole: Option<usize>,
    /// What is matched.
    answer: usize,
}

enum Done {
    Counted(Tokens),
    Matched(Box<Matched>),
}

/// What each view costs and tells of the payload of `subject`; `None` where no text can be computed. Limits in the
/// provider's tokens are held against the counts. With `names_lost` the lost fields are named.
pub(super) fn tell(
    subject: &Subject,
    views: &mut [View],
    names_lost: bool,
    cancel: &Cancel,
) -> Result<Vec<Option<Told>>, Cancelled> {
    let payload = subject.payload.as_ref();
    let mut counted = Distinct::default();
    let mut matched = Distinct::default();
    let mut places: Vec<Option<Places>> = Vec::with_capacity(views.len());
    for view in views.iter() {
        places.push(view.is_computable().then(|| {
            let parts = view.texts().map(|text| counted.add(text)).collect();
            let is_judged = view.limit.tokens_max.is_some() && !view.limit.bites.is_empty();
            let whole = is_judged.then(|| counted.add(&view.full));
            Places { parts, whole, answer: matched.add(answer_in(view)) }
        }));
    }
    let mut tasks: Vec<(usize, Task<'_>)> = counted.texts.iter().map(|text| Task::Count(text)).enumerate().collect();
    if payload.is_some() {
        tasks.extend(matched.texts.iter().map(|text| Task::Match(text)).enumerate());
    }
    // The longest first, so that no core is left with it at the end.
    tasks.sort_by_key(|(_, task)| std::cmp::Reverse(task.size()));
    let done = spread(&tasks, is_small(subject), |(_, task)| match (task, payload) {
        (Task::Match(text), Some(payload)) => look(subject, payload, text, names_lost, cancel),
        (Task::Count(text) | Task::Match(text), _) => Ok(Done::Counted(subject.known.counts(text.as_bytes(), cancel)?.tokens)),
    })?;
    let mut counts = vec![Tokens::default(); counted.texts.len()];
    let mut facts: Vec<(Option<FactCount>, Arc<Vec<LostField>>)> = vec![Default::default(); matched.texts.len()];
    let mut columns = None;
    for ((at, _), done) in tasks.iter().zip(done) {
        match done {
            Done::Counted(tokens) => counts[*at] = tokens,
            Done::Matched(told) => {
                let lost = match payload.filter(|_| names_lost && told.count.kept < told.count.total) {
                    None => Arc::default(),
                    Some(payload) => {
                        let columns = match &mut columns {
                            Some(columns) => columns,
                            none => none.insert(Columns::of(payload.root(), cancel)?),
                        };
                        Arc::new(lost_fields(payload, &told, columns))
                    }
                };
                facts[*at] = (Some(told.count), lost);
            }
        }
    }
    let mut told = Vec::with_capacity(views.len());
    for (view, places) in views.iter_mut().zip(places) {
        told.push(places.map(|Places { parts, whole, answer }| {
            let tokens = parts.iter().fold(Tokens::default(), |sum, part| sum.plus(counts[*part]));
            view.limit.count(highest(whole.map_or(tokens, |whole| counts[whole])));
            let (facts, lost) = &facts[answer];
            Told { tokens, facts: *facts, lost: Arc::clone(lost) }
        }));
    }
    Ok(told)
}

fn look(subject: &Subject, payload: &Payload, text: &str, names_lost: bool, cancel: &Cancel) -> Result<Done, Cancelled> {
    let told = if names_lost {
        subject.known.told(payload, text, cancel)?
    } else {
        Matched { count: subject.known.facts(payload, text, cancel)?, ..Matched::default() }
    };
    Ok(Done::Matched(Box::new(told)))
}

/// Holds the limit of one view in the provider's tokens against what its text measures.
pub(super) fn judge(view: &mut View, known: &Known, cancel: &Cancel) -> Result<(), Cancelled> {
    if view.limit.tokens_max.is_none() {
        return Ok(());
    }
    let tokens = if view.limit.bites.is_empty() {
        let count = |text: &str| known.counts(text.as_bytes(), cancel).map(|counts| counts.tokens);
        view.texts().try_fold(Tokens::default(), |sum, text| Ok(sum.plus(count(text)?)))?
    } else {
        known.counts(view.full.as_bytes(), cancel)?.tokens
    };
    view.limit.count(highest(tokens));
    Ok(())
}

/// What a view shows of the answer: what a host puts before and after it holds no fact, and hosts that differ in that
/// alone share the work.
fn answer_in(view: &View) -> &str {
    &view.text[of_answer(view)]
}

/// The text without what the host puts before and after the answer.
fn of_answer(view: &View) -> Range<usize> {
    let is_answer = |span: &&crate::host::Span| span.origin != Origin::Host;
    let first = view.spans.iter().find(is_answer).map_or(0, |span| span.range.start);
    let last = view.spans.iter().rfind(is_answer).map_or(first, |span| span.range.end);
    first..last
}

/// The higher of the counts that are known.
fn highest(tokens: Tokens) -> u64 {
    Encoding::ALL.iter().map(|encoding| tokens.get(*encoding)).max().unwrap_or(0)
}
