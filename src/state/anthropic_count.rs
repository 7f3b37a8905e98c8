//! An exact count for Claude by its provider: what would be sent, the user's key, and what was counted in this run.
//!
//! Nothing is sent but by [`ExactAction::Send`], which the dialog offers next to the whole request.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::{Dialog, Effect, QueryState, State};
use loupe_analysis::queries::RowQuery;
use loupe_core::capture::{Capture, CaptureId};
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::token::Tokenizer;
use loupe_core::token::claude::{self, Key, Request};

/// Where the user's key is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum KeyPlace {
    /// Nobody has looked yet.
    #[default]
    Unknown,
    Looking,
    /// There is none; why the keychain cannot be used, where that is so.
    Nowhere(Option<String>),
    Keychain,
    /// For this run only, for this reason.
    ThisRun(String),
}

impl KeyPlace {
    pub fn has_key(&self) -> bool {
        matches!(self, Self::Keychain | Self::ThisRun(_))
    }
}

/// What the provider counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Of one user message that holds the text and nothing else.
    pub tokens: u64,
    pub model: String,
    /// The day, in UTC.
    pub day: String,
}

/// The text to be counted, and the request as it would be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    pub text: Arc<str>,
    /// SHA-256 of the text, in hexadecimal: one text is counted once, whichever answer or format it came from.
    pub digest: String,
    pub head: Vec<String>,
    /// The body, broken into lines to be read; the first is the model's.
    pub body: Vec<String>,
    /// The bytes of the others.
    rest: u64,
}

/// What the dialog is about.
#[derive(Clone, Debug)]
pub struct ExactRequest {
    pub capture: CaptureId,
    pub format: &'static str,
    /// `None` while the text is being written.
    pub prepared: Option<Result<Prepared, Problem>>,
    /// Since when the dialog is open, or the result is waited for.
    pub since: Duration,
    pub is_sent: bool,
    /// Why the last count failed.
    pub problem: Option<Problem>,
}

/// All about exact counts.
#[derive(Clone, Debug)]
pub struct Exact {
    /// Where it is counted: the provider's, but for a stand-in.
    pub address: String,
    /// The model's id; empty until the dialog opens for the first time.
    pub model: String,
    /// What is typed; it leaves the state with the first count.
    pub typed: Key,
    pub key: KeyPlace,
    pub asking: Option<ExactRequest>,
    /// The last count of each text, by its digest.
    counted: HashMap<String, Counted>,
    digests: HashMap<(CaptureId, &'static str), String>,
    /// Counts what was asked, so that a late answer is distinguished.
    run: u64,
}

impl Default for Exact {
    fn default() -> Self {
        Self {
            address: claude::ADDRESS.to_owned(),
            model: String::new(),
            typed: Key::default(),
            key: KeyPlace::default(),
            asking: None,
            counted: HashMap::new(),
            digests: HashMap::new(),
            run: 0,
        }
    }
}

/// What the user does about exact counts.
#[derive(Clone, Debug, PartialEq)]
pub enum ExactAction {
    /// Show what would be sent to count this format of the result shown; `None` takes the result as sent.
    Open(Option<&'static str>),
    Model(String),
    TypeKey(Key),
    Send,
    /// Wait no longer for the provider.
    Stop,
    ForgetKey,
}

/// What is to be done outside.
#[derive(Clone, Debug, PartialEq)]
pub enum ExactEffect {
    /// Write the text and the request.
    Prepare {
        run: u64,
        capture: Arc<Capture>,
        format: &'static str,
        address: String,
        model: String,
    },
    LookForKey,
    /// Send it; an empty key stands for the one that is known.
    Count {
        run: u64,
        request: Request,
        digest: String,
        key: Key,
    },
    Stop,
    ForgetKey,
}

/// What comes of it.
#[derive(Clone, Debug)]
pub enum ExactEvent {
    Prepared {
        run: u64,
        prepared: Result<Prepared, Problem>,
    },
    Key(KeyPlace),
    Counted {
        run: u64,
        digest: String,
        counted: Result<Counted, Problem>,
    },
}

impl Prepared {
    pub fn new(text: String, digest: String, request: &Request) -> Self {
        let (head, body) = request.shown();
        let rest = body.iter().skip(1).map(|line| line.len() as u64).sum();
        Self {
            text: text.into(),
            digest,
            head,
            body,
            rest,
        }
    }

    /// The bytes of the body.
    pub fn bytes(&self) -> u64 {
        self.rest + self.body.first().map_or(0, |line| line.len() as u64)
    }
}

impl State {
    /// What the provider counted for a format of a capture in this run.
    pub fn exact_count(&self, capture: &CaptureId, format: &'static str) -> Option<&Counted> {
        self.anthropic_count.counted.get(
            self.anthropic_count
                .digests
                .get(&(capture.clone(), format))?,
        )
    }

    /// Whether any format of a capture was counted exactly.
    pub fn has_exact_counts(&self, capture: &CaptureId) -> bool {
        self.anthropic_count
            .digests
            .iter()
            .any(|((of, _), digest)| {
                of == capture && self.anthropic_count.counted.contains_key(digest)
            })
    }

    /// Whether the user has to wait for something of this.
    pub(super) fn is_counting_exactly(&self) -> bool {
        let is_busy = |asking: &ExactRequest| asking.is_sent || asking.prepared.is_none();
        self.anthropic_count.asking.as_ref().is_some_and(is_busy)
            || self.anthropic_count.key == KeyPlace::Looking
    }

    /// Whether everything is there that a count needs.
    pub fn can_count_exactly(&self) -> bool {
        let exact = &self.anthropic_count;
        let is_ready = exact
            .asking
            .as_ref()
            .is_some_and(|asking| !asking.is_sent && matches!(asking.prepared, Some(Ok(_))));
        is_ready
            && !exact.model.trim().is_empty()
            && (exact.key.has_key() || !exact.typed.is_empty())
    }

    /// What the server sent of this result: both parts where there are both.
    fn sent_format(&self, capture: &CaptureId) -> &'static str {
        let is_there = |id: &&'static str| matches!(self.query_results.get(capture, RowQuery(id)), Some(QueryState::Ready(row)) if row.is_available());
        ["both", "content", "structured"]
            .into_iter()
            .find(is_there)
            .unwrap_or("content")
    }

    /// The id of the model that money is shown for, where it is one of Claude's, else of the last in the table.
    fn likely_model(&self) -> String {
        let is_claude =
            |model: &&loupe_analysis::queries::Model| model.tokenizer() == Some(Tokenizer::Claude);
        let models = &self.prices.prices.models;
        let chosen = self
            .model()
            .filter(is_claude)
            .or_else(|| models.iter().rfind(is_claude));
        // Their names and ids differ in this alone.
        chosen.map_or_else(String::new, |model| {
            model.name.to_lowercase().replace([' ', '.'], "-")
        })
    }

    pub(super) fn exact(&mut self, action: ExactAction, effects: &mut Vec<Effect>) {
        match action {
            ExactAction::Open(format) => {
                let Some(capture) = self.capture().cloned() else {
                    self.toast_problem(
                        Problem::new(ProblemKind::NotFound, "there is no answer to count")
                            .hint("call a tool first"),
                    );
                    return;
                };
                self.stop_counting(effects);
                let format = format.unwrap_or_else(|| self.sent_format(&capture.id));
                if self.anthropic_count.model.is_empty() {
                    self.anthropic_count.model = self.likely_model();
                }
                self.anthropic_count.run += 1;
                self.anthropic_count.asking = Some(ExactRequest {
                    capture: capture.id.clone(),
                    format,
                    prepared: None,
                    since: self.now,
                    is_sent: false,
                    problem: None,
                });
                self.dialog = Some(Dialog::ExactCount);
                let (run, address, model) = (
                    self.anthropic_count.run,
                    self.anthropic_count.address.clone(),
                    self.anthropic_count.model.clone(),
                );
                effects.push(Effect::Exact(ExactEffect::Prepare {
                    run,
                    capture,
                    format,
                    address,
                    model,
                }));
                if !self.anthropic_count.key.has_key()
                    && self.anthropic_count.key != KeyPlace::Looking
                {
                    self.anthropic_count.key = KeyPlace::Looking;
                    effects.push(Effect::Exact(ExactEffect::LookForKey));
                }
            }
            ExactAction::Model(model) => {
                if let Some(ExactRequest {
                    prepared: Some(Ok(prepared)),
                    ..
                }) = &mut self.anthropic_count.asking
                    && let Some(first) = prepared.body.first_mut()
                {
                    *first = Request::shown_opening(&model);
                }
                self.anthropic_count.model = model;
            }
            ExactAction::TypeKey(key) => self.anthropic_count.typed = key,
            ExactAction::Send if self.can_count_exactly() => {
                let exact = &mut self.anthropic_count;
                let Some(asking) = &mut exact.asking else {
                    return;
                };
                let Some(Ok(prepared)) = &asking.prepared else {
                    return;
                };
                // As it is shown: white space around an id is part of no id, and is not sent.
                exact.model = exact.model.trim().to_owned();
                let request = Request::new(&exact.address, &exact.model, &prepared.text);
                asking.is_sent = true;
                asking.since = self.now;
                asking.problem = None;
                exact.run += 1;
                let key = std::mem::take(&mut exact.typed);
                let digest = prepared.digest.clone();
                effects.push(Effect::Exact(ExactEffect::Count {
                    run: exact.run,
                    request,
                    digest,
                    key,
                }));
            }
            ExactAction::Send => {}
            ExactAction::Stop => self.stop_counting(effects),
            ExactAction::ForgetKey => {
                self.anthropic_count.typed = Key::default();
                self.anthropic_count.key = KeyPlace::Nowhere(None);
                effects.push(Effect::Exact(ExactEffect::ForgetKey));
            }
        }
    }

    fn stop_counting(&mut self, effects: &mut Vec<Effect>) {
        if let Some(asking) = self
            .anthropic_count
            .asking
            .as_mut()
            .filter(|asking| asking.is_sent)
        {
            asking.is_sent = false;
            // What comes late is nobody's.
            self.anthropic_count.run += 1;
            effects.push(Effect::Exact(ExactEffect::Stop));
        }
    }

    pub(super) fn exact_event(&mut self, event: ExactEvent) {
        let exact = &mut self.anthropic_count;
        match event {
            ExactEvent::Prepared { run, mut prepared } if run == exact.run => {
                let Some(asking) = &mut exact.asking else {
                    return;
                };
                if let Ok(prepared) = &mut prepared {
                    // The model may have been edited meanwhile.
                    if let Some(first) = prepared.body.first_mut() {
                        *first = Request::shown_opening(&exact.model);
                    }
                    exact.digests.insert(
                        (asking.capture.clone(), asking.format),
                        prepared.digest.clone(),
                    );
                }
                asking.prepared = Some(prepared);
            }
            ExactEvent::Key(place) => exact.key = place,
            ExactEvent::Counted {
                run,
                digest,
                counted,
            } if run == exact.run => {
                let is_seen = matches!(self.dialog, Some(Dialog::ExactCount));
                let Some(asking) = &mut exact.asking else {
                    return;
                };
                asking.is_sent = false;
                match counted {
                    Ok(counted) => {
                        let words = format!(
                            "Counted by Anthropic for {}: {} tokens",
                            counted.model, counted.tokens
                        );
                        exact.counted.insert(digest, counted);
                        if !is_seen {
                            self.toast(&words);
                        }
                    }
                    Err(problem) => {
                        asking.problem = Some(problem.clone());
                        if !is_seen {
                            self.toast_problem(problem);
                        }
                    }
                }
            }
            ExactEvent::Prepared { .. } | ExactEvent::Counted { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::{Action, Event};

    /// The dialog over a text of this result and format.
    fn open(state: &mut State, capture: &str, text: &str) {
        let exact = &mut state.anthropic_count;
        exact.run += 1;
        exact.asking = Some(ExactRequest {
            capture: CaptureId(Arc::from(capture)),
            format: "json",
            prepared: None,
            since: Duration::ZERO,
            is_sent: false,
            problem: None,
        });
        let request = Request::new(&exact.address, "other", text);
        let prepared = Ok(Prepared::new(
            text.into(),
            format!("digest of {text}"),
            &request,
        ));
        let run = exact.run;
        state.apply(
            Event::Exact(ExactEvent::Prepared { run, prepared }),
            &mut Vec::new(),
        );
    }

    fn act(state: &mut State, action: ExactAction) -> Vec<Effect> {
        let mut effects = Vec::new();
        state.perform(Action::Exact(action), &mut effects);
        effects
    }

    fn counted(state: &mut State, run: u64, text: &str, tokens: u64) {
        let counted = Ok(Counted {
            tokens,
            model: "m".into(),
            day: "2026-01-31".into(),
        });
        let digest = format!("digest of {text}");
        state.apply(
            Event::Exact(ExactEvent::Counted {
                run,
                digest,
                counted,
            }),
            &mut Vec::new(),
        );
    }

    #[test]
    fn nothing_is_sent_without_a_text_a_model_a_key_and_a_click() {
        let mut state = State::default();
        assert!(
            act(&mut state, ExactAction::Open(None)).is_empty() && state.dialog.is_none(),
            "no answer is shown"
        );
        state.toasts.clear();
        assert_eq!(state.likely_model(), "claude-haiku-4-5");
        open(&mut state, "1", "text");
        assert!(
            act(&mut state, ExactAction::Send).is_empty(),
            "no model, no key"
        );
        act(&mut state, ExactAction::Model("m".into()));
        assert!(act(&mut state, ExactAction::Send).is_empty(), "no key");
        act(&mut state, ExactAction::TypeKey(Key::new("k")));
        let shown = state
            .anthropic_count
            .asking
            .as_ref()
            .and_then(|asking| asking.prepared.clone())
            .unwrap()
            .unwrap();
        let effects = act(&mut state, ExactAction::Send);
        let [Effect::Exact(ExactEffect::Count { request, key, .. })] = &effects[..] else {
            panic!("{effects:?}")
        };
        assert_eq!((request.body(), key.reveal()), (shown.body.concat(), "k"));
        assert_eq!(shown.bytes(), request.body().len() as u64);
        assert!(state.anthropic_count.typed.is_empty() && state.is_waiting());
        assert!(
            act(&mut state, ExactAction::Send).is_empty(),
            "one at a time"
        );
    }

    #[test]
    fn a_count_belongs_to_the_text_and_late_ones_to_nobody() {
        let mut state = State::default();
        let known = |state: &State, capture: &str| {
            state
                .exact_count(&CaptureId(Arc::from(capture)), "json")
                .map(|counted| counted.tokens)
        };
        state.anthropic_count.key = KeyPlace::Keychain;
        state.anthropic_count.model = "m".into();
        open(&mut state, "1", "text");
        act(&mut state, ExactAction::Send);
        let run = state.anthropic_count.run;
        assert_eq!(
            act(&mut state, ExactAction::Stop),
            [Effect::Exact(ExactEffect::Stop)]
        );
        counted(&mut state, run, "text", 7);
        assert_eq!(known(&state, "1"), None, "stopped");
        act(&mut state, ExactAction::Send);
        let run = state.anthropic_count.run;
        counted(&mut state, run, "text", 7);
        assert_eq!(known(&state, "1"), Some(7));
        assert_eq!(state.toasts.len(), 1, "the dialog was closed meanwhile");
        // The same text of another result is counted already, another text is not.
        open(&mut state, "2", "text");
        open(&mut state, "3", "another");
        assert_eq!((known(&state, "2"), known(&state, "3")), (Some(7), None));
        assert_eq!(
            act(&mut state, ExactAction::ForgetKey),
            [Effect::Exact(ExactEffect::ForgetKey)]
        );
        assert!(!state.can_count_exactly());
    }
}
