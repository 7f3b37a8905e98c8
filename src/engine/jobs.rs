//! The pool that answers questions: a few threads, the newest capture first, cancellable one by one.

use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::queue::Queue;
use crate::cancel::Cancel;
use crate::capture::{Capture, Server, Tool};
use crate::diff::tree::TreeOptions;
use crate::format::Subject;
use crate::host::Hosts;
use crate::problem::{Kind, Problem};
use crate::report::difference::ToolsDifference;
use crate::report::{self, Inquiry, Question, ServerCost};
use crate::state::Event;
use crate::token::{self, Encoding};

/// Parsed captures that are kept ready for further questions.
const SUBJECTS: usize = 6;
/// The shortest way between two texts is looked for no longer than this, waiting included.
const COMPARE_WITHIN: Duration = Duration::from_secs(5);

enum Job {
    Answer {
        captures: Vec<Arc<Capture>>,
        inquiry: Inquiry,
        cancel: Cancel,
    },
    CountTools {
        session: u64,
        tools: Vec<Bytes>,
    },
    CountServer {
        session: u64,
        server: Box<Server>,
        tools: Vec<Arc<Tool>>,
        encoding: Encoding,
    },
    CompareTools {
        session: u64,
        before: Vec<Arc<Tool>>,
        now: Vec<Arc<Tool>>,
    },
    /// Builds the tokenizer tables before the first question needs them.
    WarmUp,
}

#[derive(Default)]
struct Waiting {
    jobs: VecDeque<Job>,
    cancels: HashMap<Inquiry, Cancel>,
    subjects: VecDeque<Arc<Subject>>,
    stopped: bool,
}

struct Shared {
    waiting: Mutex<Waiting>,
    more: Condvar,
    queue: Arc<Queue>,
    hosts: Mutex<Arc<Hosts>>,
}

impl Shared {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hosts(&self) -> Arc<Hosts> {
        Arc::clone(&self.hosts.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

pub(super) struct Jobs {
    shared: Arc<Shared>,
}

impl Jobs {
    pub(super) fn new(queue: Arc<Queue>) -> std::io::Result<Self> {
        let shared =
            Arc::new(Shared { waiting: Mutex::default(), more: Condvar::new(), queue, hosts: Mutex::new(Hosts::built_in()) });
        let threads = thread::available_parallelism().map_or(1, |cores| cores.get().saturating_sub(1)).clamp(1, 4);
        for number in 0..threads {
            let shared = Arc::clone(&shared);
            thread::Builder::new().name(format!("loupe-job-{number}")).spawn(move || work(&shared))?;
        }
        let jobs = Self { shared };
        jobs.push(Job::WarmUp);
        Ok(jobs)
    }

    fn push(&self, job: Job) {
        self.shared.waiting().jobs.push_back(job);
        self.shared.more.notify_one();
    }

    pub(super) fn answer(&self, captures: Vec<Arc<Capture>>, inquiry: Inquiry) {
        let cancel = match inquiry.question {
            Question::Difference(_) => Cancel::until(Instant::now() + COMPARE_WITHIN),
            _ => Cancel::new(),
        };
        self.shared.waiting().cancels.insert(inquiry.clone(), cancel.clone());
        self.push(Job::Answer { captures, inquiry, cancel });
    }

    pub(super) fn use_hosts(&self, hosts: Arc<Hosts>) {
        *self.shared.hosts.lock().unwrap_or_else(PoisonError::into_inner) = hosts;
    }

    pub(super) fn forget(&self, inquiry: &Inquiry) {
        if let Some(cancel) = self.shared.waiting().cancels.remove(inquiry) {
            cancel.cancel();
        }
    }

    pub(super) fn count_tools(&self, session: u64, tools: Vec<Bytes>) {
        self.push(Job::CountTools { session, tools });
    }

    pub(super) fn count_server(&self, session: u64, server: Box<Server>, tools: Vec<Arc<Tool>>, encoding: Encoding) {
        self.push(Job::CountServer { session, server, tools, encoding });
    }

    pub(super) fn compare_tools(&self, session: u64, before: Vec<Arc<Tool>>, now: Vec<Arc<Tool>>) {
        self.push(Job::CompareTools { session, before, now });
    }

    pub(super) fn stop(&self) {
        let mut waiting = self.shared.waiting();
        waiting.stopped = true;
        waiting.jobs.clear();
        waiting.cancels.values().for_each(Cancel::cancel);
        drop(waiting);
        self.shared.more.notify_all();
    }
}

/// The next job: of the answers, those of the newest capture asked about come first, in the order asked.
fn next(shared: &Shared) -> Option<Job> {
    let mut waiting = shared.waiting();
    loop {
        if waiting.stopped {
            return None;
        }
        let newest = waiting.jobs.iter().rev().find_map(|job| match job {
            Job::Answer { inquiry, .. } => Some(inquiry.captures.clone()),
            _ => None,
        });
        let is_of = |job: &Job, newest: &_| matches!(job, Job::Answer { inquiry, .. } if inquiry.captures == *newest);
        let position = newest.and_then(|newest| waiting.jobs.iter().position(|job| is_of(job, &newest)));
        if let Some(job) = waiting.jobs.remove(position.unwrap_or(0)) {
            return Some(job);
        }
        waiting = shared.more.wait(waiting).unwrap_or_else(PoisonError::into_inner);
    }
}

fn subject(shared: &Shared, capture: &Arc<Capture>) -> Arc<Subject> {
    let known = shared.waiting().subjects.iter().find(|subject| Arc::ptr_eq(&subject.capture, capture)).cloned();
    known.unwrap_or_else(|| {
        let subject = report::subject(Arc::clone(capture));
        let mut waiting = shared.waiting();
        waiting.subjects.push_back(Arc::clone(&subject));
        if waiting.subjects.len() > SUBJECTS {
            waiting.subjects.pop_front();
        }
        subject
    })
}

fn work(shared: &Shared) {
    while let Some(job) = next(shared) {
        match job {
            Job::WarmUp => token::warm_up(),
            Job::CountTools { session, tools } => {
                let cancel = Cancel::new();
                let tokens: Result<Vec<_>, _> =
                    tools.iter().map(|raw| token::count(&String::from_utf8_lossy(raw), &cancel)).collect();
                if let Ok(tokens) = tokens {
                    shared.queue.push(Event::ToolTokens { session, tokens });
                }
            }
            Job::CountServer { session, server, tools, encoding } => {
                let tools: Vec<Tool> = tools.iter().map(|tool| Tool::clone(tool)).collect();
                if let Ok(cost) = ServerCost::of(&server, &tools, encoding, &Cancel::new()) {
                    shared.queue.push(Event::ServerCost { session, cost: Arc::new(cost) });
                }
            }
            Job::CompareTools { session, before, now } => {
                let tools = |list: &[Arc<Tool>]| list.iter().map(|tool| (**tool).clone()).collect::<Vec<_>>();
                let found = ToolsDifference::of(&tools(&before), &tools(&now), &TreeOptions::default(), &Cancel::new());
                if let Ok(found) = found {
                    shared.queue.push(Event::ToolsCompared { session, found: Arc::new(found) });
                }
            }
            Job::Answer { captures, inquiry, cancel } => {
                if cancel.is_cancelled() {
                    continue;
                }
                // A panic is one failed answer, not a dead window.
                let answer = catch_unwind(AssertUnwindSafe(|| {
                    let subjects: Vec<_> = captures.iter().map(|capture| subject(shared, capture)).collect();
                    report::answer(&subjects, &inquiry.question, &shared.hosts(), &cancel)
                }));
                let answer = match answer {
                    Ok(Ok(answer)) => answer,
                    Ok(Err(_cancelled)) => continue,
                    Err(_) => Err(Problem::new(Kind::Internal, format!("{:?} could not be computed", inquiry.question))
                        .hint("export the raw result and report it; the other views still work")),
                };
                // The same question may have been asked again meanwhile, with a flag of its own.
                if cancel.is_cancelled() {
                    continue;
                }
                shared.waiting().cancels.remove(&inquiry);
                shared.queue.push(Event::Answered { inquiry, answer });
            }
        }
    }
}
