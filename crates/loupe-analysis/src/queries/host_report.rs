//! What hosts' texts cost and tell. Hosts often show the same: each distinct text is counted once, and matched once
//! whatever a host puts before and after it; texts are independent of each other and spread over the cores.

use std::collections::HashMap;
use std::convert::Infallible;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use crate::queries::columns::Columns;
use loupe_core::cancel::Cancel;
use loupe_core::capture::{
    FactCount, FactMatches, FactState, KeptPart, ResultData, locate_kept_facts,
};
use loupe_core::digest::sha256;
use loupe_core::format::ledger::INTERRUPTED;
use loupe_core::format::{ParsedCapture, TextCache};
use loupe_core::host::{Host, HostView, RenderCache, Span, TextOrigin, ViewContext};
use loupe_core::parallel::parallel_map;
use loupe_core::token::{Encoding, Tokens};

/// Answers below this size are not worth further threads.
const SMALL_BYTES: usize = 64 << 10;

/// A field of the data, over all records, of which a text lacks facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostField {
    /// A JSON Pointer with `*` for every position in an array: `/items/*/city`.
    pub path: String,
    pub total: u64,
    pub missing: u64,
}

/// What one host's text costs and shows.
#[derive(Clone, Debug, Default)]
pub(super) struct ViewMeasure {
    /// The sum over the parts.
    pub tokens: Tokens,
    /// `None` where there is no data.
    pub facts: Option<FactCount>,
    /// The fields that are not wholly kept, where they were asked for.
    pub lost: Arc<Vec<LostField>>,
}

/// The fields that texts do not wholly keep, found once for each text.
pub(super) struct LostFields {
    columns: Option<Columns>,
    /// By the digest of a text.
    known: Mutex<HashMap<String, Found>>,
}

impl LostFields {
    pub(super) fn of(subject: &ParsedCapture) -> Self {
        let columns = subject.compared_data().map(|data| Columns::of(data.root()));
        Self {
            columns,
            known: Mutex::default(),
        }
    }

    fn of_matches(&self, data: &ResultData, matches: &FactMatches) -> Found {
        let lost = match &self.columns {
            Some(columns) if matches.count.missing > 0 => lost_fields(data, matches, columns),
            _ => Vec::new(),
        };
        (Some(matches.count), Arc::new(lost))
    }

    fn of_text(&self, subject: &ParsedCapture, data: &ResultData, text: &str) -> Found {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let key = sha256(text.as_bytes());
        if let Some(found) = known().get(&key) {
            return found.clone();
        }
        let found = self.of_matches(data, &subject.match_facts(data, text));
        known().insert(key, found.clone());
        found
    }
}

fn is_small(subject: &ParsedCapture) -> bool {
    subject
        .capture
        .response
        .as_ref()
        .is_none_or(|response| response.len() < SMALL_BYTES)
}

/// What each host shows of a result, in their order; where the caller has cancelled meanwhile, those that were not
/// reached say so.
pub(super) fn views(
    subject: &ParsedCapture,
    hosts: &[&Arc<Host>],
    written: &RenderCache,
    cancel: &Cancel,
) -> Vec<HostView> {
    let context = ViewContext::new(&subject.capture);
    let Ok(views) = parallel_map(hosts, is_small(subject), |host| {
        Ok::<_, Infallible>(match cancel.is_cancelled() {
            true => HostView::interrupted(host, written),
            false => host.view_among(subject, &context, written),
        })
    });
    views
}

/// The position of a thing among those that are known, of which there are no more than a few for each host.
fn place<T: PartialEq>(known: &mut Vec<T>, thing: T) -> usize {
    known
        .iter()
        .position(|same| *same == thing)
        .unwrap_or_else(|| {
            known.push(thing);
            known.len() - 1
        })
}

/// What several texts measure, each of which is counted once; `None` for one that was not reached.
pub(super) fn counts<'t>(
    texts: impl Iterator<Item = &'t str>,
    known: &TextCache,
    is_small: bool,
    cancel: &Cancel,
) -> Vec<Option<Tokens>> {
    let mut distinct = Vec::new();
    let places: Vec<usize> = texts.map(|text| place(&mut distinct, text)).collect();
    let Ok(counts) = parallel_map(&distinct, is_small, |text| {
        Ok::<_, Infallible>((!cancel.is_cancelled()).then(|| known.counts(text.as_bytes()).tokens))
    });
    places.into_iter().map(|place| counts[place]).collect()
}

/// One text to be looked at.
#[derive(Clone, Copy)]
enum Task<'t> {
    /// Of a view, each part by itself.
    CountParts(&'t HostView),
    Count(&'t str),
    /// What a view shows of the data.
    Match(&'t HostView),
}

impl<'t> Task<'t> {
    fn text(&self) -> &'t str {
        match self {
            Self::CountParts(view) => &view.text,
            Self::Count(text) => text,
            Self::Match(view) => answer_in(view),
        }
    }
}

impl PartialEq for Task<'_> {
    fn eq(&self, other: &Self) -> bool {
        let is_same_task = match (self, other) {
            (Self::CountParts(one), Self::CountParts(other)) => one.parts == other.parts,
            // Facts in what is left of a text depend on the whole.
            (Self::Match(one), Self::Match(other)) => {
                !(is_cut(one) || is_cut(other))
                    || (one.kept == other.kept && one.full == other.full)
            }
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        };
        is_same_task && self.text() == other.text()
    }
}

/// Where the tasks of one view stand among the distinct ones.
struct Places {
    parts: usize,
    /// The text before its limit, where that is to be counted.
    whole: Option<usize>,
    /// What is matched; `None` without data.
    answer: Option<usize>,
}

/// What a text shows of the data.
type Found = (Option<FactCount>, Arc<Vec<LostField>>);

enum Done {
    Counted(Tokens),
    Matched(Found),
}

/// What each view costs and shows of the data of `subject`; `None` where no text can be computed, or was not before the
/// caller cancelled, which the view then says. Limits in the provider's tokens are held against the counts. With
/// `lost` the lost fields are named.
pub(super) fn measure(
    subject: &ParsedCapture,
    views: &mut [HostView],
    lost: Option<&LostFields>,
    cancel: &Cancel,
) -> Vec<Option<ViewMeasure>> {
    let data = subject.compared_data();
    let mut tasks: Vec<Task<'_>> = Vec::new();
    let mut places: Vec<Option<Places>> = Vec::with_capacity(views.len());
    for view in views.iter() {
        places.push(view.is_computable().then(|| {
            let is_judged = view.limit.tokens_max.is_some() && !view.limit.bites.is_empty();
            Places {
                parts: place(&mut tasks, Task::CountParts(view)),
                whole: is_judged.then(|| place(&mut tasks, Task::Count(&view.full))),
                answer: data.map(|_| place(&mut tasks, Task::Match(view))),
            }
        }));
    }
    // The longest first, so that no core is left with it at the end.
    let mut order: Vec<usize> = (0..tasks.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse(tasks[*at].text().len()));
    let known = &subject.cache;
    let Ok(done) = parallel_map(&order, is_small(subject), |at| {
        Ok::<_, Infallible>((!cancel.is_cancelled()).then(|| match (tasks[*at], data) {
            (Task::Match(view), Some(data)) => Done::Matched(find(subject, data, view, lost)),
            (Task::Match(_), None) => Done::Matched(Found::default()),
            (Task::CountParts(view), _) => Done::Counted(known.tokens_of(view.texts())),
            (Task::Count(text), _) => Done::Counted(known.counts(text.as_bytes()).tokens),
        }))
    });
    let mut counts: Vec<Option<Tokens>> = vec![None; tasks.len()];
    let mut found: Vec<Option<Found>> = vec![None; tasks.len()];
    for (at, done) in order.into_iter().zip(done) {
        match done {
            Some(Done::Counted(tokens)) => counts[at] = Some(tokens),
            Some(Done::Matched(measured)) => found[at] = Some(measured),
            None => {}
        }
    }
    let measure_of = |Places {
                          parts,
                          whole,
                          answer,
                      }: Places| {
        let tokens = counts[parts]?;
        let before_limit = whole.map_or(Some(tokens), |whole| counts[whole])?;
        let (facts, lost) =
            answer.map_or_else(|| Some(Found::default()), |answer| found[answer].clone())?;
        Some((
            before_limit,
            ViewMeasure {
                tokens,
                facts,
                lost,
            },
        ))
    };
    let measured: Vec<Option<Option<(Tokens, ViewMeasure)>>> = places
        .into_iter()
        .map(|places| places.map(measure_of))
        .collect();
    let held = |(view, measured): (&mut HostView, Option<Option<(Tokens, ViewMeasure)>>)| {
        match measured? {
            Some((before_limit, measured)) => {
                view.limit.count(highest(before_limit));
                Some(measured)
            }
            None => {
                view.not_computable = Some(INTERRUPTED.to_owned());
                None
            }
        }
    };
    views.iter_mut().zip(measured).map(held).collect()
}

/// Holds the limit of one view in the provider's tokens against what its text measures.
pub(super) fn judge(view: &mut HostView, known: &TextCache) {
    if view.limit.tokens_max.is_none() {
        return;
    }
    let tokens = if view.limit.bites.is_empty() {
        known.tokens_of(view.texts())
    } else {
        known.counts(view.full.as_bytes()).tokens
    };
    view.limit.count(highest(tokens));
}

/// What a view shows of the result: what a host puts before and after it holds no fact, and hosts that differ in that
/// alone share the work.
fn answer_in(view: &HostView) -> &str {
    &view.text[of_answer(view)]
}

fn is_cut(view: &HostView) -> bool {
    !view.limit.bites.is_empty()
}

/// What a view shows of the data, and with `lost` what it does not.
fn find(
    subject: &ParsedCapture,
    data: &ResultData,
    view: &HostView,
    lost: Option<&LostFields>,
) -> Found {
    let text = of_answer(view);
    match (locate_kept(data, view, text.clone()), lost) {
        (Some(matches), Some(lost)) => lost.of_matches(data, &matches),
        (Some(matches), None) => (Some(matches.count), Arc::default()),
        (None, Some(lost)) => lost.of_text(subject, data, &view.text[text]),
        (None, None) => (
            Some(subject.count_facts(data, &view.text[text])),
            Arc::default(),
        ),
    }
}

/// The facts in a part of a view that a limit cut, by their places in the text before it; `None` where they are not known.
pub(super) fn locate_kept(
    data: &ResultData,
    view: &HostView,
    part: Range<usize>,
) -> Option<FactMatches> {
    // A host may cut the JSON of the blocks in place of their text: then no part of the text before the limit is left.
    let is_known = |span: &Span| span.full().is_some() || span.origin == TextOrigin::Host;
    if !is_cut(view) || !view.spans.iter().all(is_known) {
        return None;
    }
    let mut kept: Vec<KeptPart> = Vec::new();
    // What a host puts in holds no fact.
    let of_result = |span: &&Span| span.origin != TextOrigin::Host && span.range().end <= part.end;
    for span in view.spans.iter().filter(of_result) {
        let Some((start, at)) = span.full().zip(span.range().start.checked_sub(part.start)) else {
            continue;
        };
        let end = start + span.range().len();
        match kept.last_mut() {
            Some(last) if last.whole.end == start && last.at + last.whole.len() == at => {
                last.whole.end = end;
            }
            _ => kept.push(KeptPart {
                whole: start..end,
                at,
            }),
        }
    }
    kept.sort_by_key(|part| part.whole.start);
    locate_kept_facts(data, &view.text[part], &view.full, &kept)
}

/// The text without what the host puts before and after the result.
fn of_answer(view: &HostView) -> Range<usize> {
    let is_answer = |span: &&Span| span.origin != TextOrigin::Host;
    let first = view
        .spans
        .iter()
        .find(is_answer)
        .map_or(0, |span| span.range().start);
    let last = view
        .spans
        .iter()
        .rfind(is_answer)
        .map_or(first, |span| span.range().end);
    first..last
}

/// The higher of the counts that are known.
fn highest(tokens: Tokens) -> u64 {
    Encoding::ALL
        .iter()
        .map(|encoding| tokens.get(*encoding))
        .max()
        .unwrap_or(0)
}

/// The fields that a text does not wholly keep, in the order of their first facts.
fn lost_fields(data: &ResultData, matched: &FactMatches, columns: &Columns) -> Vec<LostField> {
    let mut places = vec![None; columns.columns.len()];
    let mut fields: Vec<LostField> = Vec::new();
    for fact in &matched.facts {
        let Some(&column) = columns.of_node.get(fact.node() - data.root) else {
            continue;
        };
        let place = *places[column].get_or_insert_with(|| {
            fields.push(LostField {
                path: columns.path(column),
                total: 0,
                missing: 0,
            });
            fields.len() - 1
        });
        let field = &mut fields[place];
        field.total += 1;
        match fact.state() {
            FactState::Proved | FactState::Found => {}
            FactState::Missing | FactState::Differs => field.missing += 1,
        }
    }
    fields.retain(|field| field.missing > 0);
    fields
}
