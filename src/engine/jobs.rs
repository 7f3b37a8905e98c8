//! The pool that answers questions: a few threads, the newest capture first, of each what is looked at before what is counted,
//! cancellable one by one.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::queue::Queue;
use super::work::caught;
use crate::cancel::{Cancel, Cancelled};
use crate::capture::{Capture, Server, Tool};
use crate::diff::tree::TreeOptions;
use crate::format::Subject;
use crate::host::Hosts;
use crate::problem::Problem;
use crate::report::difference::ToolsDifference;
use crate::report::{self, Inquiry, Question, ServerCost};
use crate::state::Event;
use crate::token::{self, Encoding};

/// Parsed captures that are kept ready for further questions.
const SUBJECTS: usize = 6;
/// Captures without some keys that are kept ready: the same is asked of one for every format.
const WITHOUT: usize = 2;
/// The shortest way between two texts is looked for no longer than this, waiting included.
const COMPARE_WITHIN: Duration = Duration::from_secs(5);

enum Job {
    Answer {
        captures: Vec<Arc<Capture>>,
        inquiry: Inquiry,
        cancel: Cancel,
    },
    CountTools {
        list: u64,
        tools: Vec<Bytes>,
        cancel: Cancel,
    },
    CountServer {
        list: u64,
        server: Box<Server>,
        tools: Vec<Arc<Tool>>,
        encoding: Encoding,
        cancel: Cancel,
    },
    CompareTools {
        session: u64,
        run: u64,
        before: Vec<Arc<Tool>>,
        now: Vec<Arc<Tool>>,
        cancel: Cancel,
    },
    /// Builds the tokenizer tables before the first question needs them.
    WarmUp,
}

/// A capture without some keys.
struct Changed {
    of: Arc<Subject>,
    paths: Arc<BTreeSet<String>>,
    subject: Arc<Subject>,
}

#[derive(Default)]
struct Waiting {
    jobs: VecDeque<Job>,
    cancels: HashMap<Inquiry, Cancel>,
    subjects: VecDeque<Arc<Subject>>,
    without: VecDeque<Changed>,
    /// Of the work on definitions: the session it is for, and its flag.
    definitions: (u64, Cancel),
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

    /// The hosts that questions are about.
    pub(super) fn hosts(&self) -> Arc<Hosts> {
        self.shared.hosts()
    }

    pub(super) fn use_hosts(&self, hosts: Arc<Hosts>) {
        *self.shared.hosts.lock().unwrap_or_else(PoisonError::into_inner) = hosts;
    }

    pub(super) fn forget(&self, inquiry: &Inquiry) {
        if let Some(cancel) = self.shared.waiting().cancels.remove(inquiry) {
            cancel.cancel();
        }
    }

    /// The flag of work on the definitions of a session; with a new session, nobody waits for those of the one before.
    fn definitions(&self, session: u64) -> Cancel {
        let mut waiting = self.shared.waiting();
        if waiting.definitions.0 != session {
            waiting.definitions.1.cancel();
            waiting.definitions = (session, Cancel::new());
        }
        waiting.definitions.1.clone()
    }

    /// Nobody waits for work on the definitions of this session any more.
    pub(super) fn forget_definitions(&self, session: u64) {
        let waiting = self.shared.waiting();
        if waiting.definitions.0 == session {
            waiting.definitions.1.cancel();
        }
    }

    pub(super) fn count_tools(&self, session: u64, list: u64, tools: Vec<Bytes>) {
        let cancel = self.definitions(session);
        self.push(Job::CountTools { list, tools, cancel });
    }

    pub(super) fn count_server(&self, session: u64, list: u64, server: Box<Server>, tools: Vec<Arc<Tool>>, encoding: Encoding) {
        let cancel = self.definitions(session);
        self.push(Job::CountServer { list, server, tools, encoding, cancel });
    }

    pub(super) fn compare_tools(&self, session: u64, run: u64, before: Vec<Arc<Tool>>, now: Vec<Arc<Tool>>) {
        let cancel = self.definitions(session);
        self.push(Job::CompareTools { session, run, before, now, cancel });
    }

    pub(super) fn stop(&self) {
        let mut waiting = self.shared.waiting();
        waiting.stopped = true;
        waiting.jobs.clear();
        waiting.cancels.values().for_each(Cancel::cancel);
        waiting.definitions.1.cancel();
        drop(waiting);
        self.shared.more.notify_all();
    }
}

/// The next job: of the answers, those of the newest capture asked about come first, in the order asked, and of those what counts last.
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
        let position = newest.and_then(|newest| {
            let first = |may_count: bool| {
                waiting.jobs.iter().position(|job| {
                    matches!(job, Job::Answer { inquiry, .. }
                        if inquiry.captures == newest && (may_count || !inquiry.question.is_count()))
                })
            };
            first(false).or_else(|| first(true))
        });
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

/// A capture without some keys, filtered once for all that is asked of it.
fn without(
    shared: &Shared,
    whole: &Arc<Subject>,
    paths: &Arc<BTreeSet<String>>,
    cancel: &Cancel,
) -> Result<Arc<Subject>, Cancelled> {
    let is_it = |known: &&Changed| Arc::ptr_eq(&known.of, whole) && known.paths == *paths;
    let known = shared.waiting().without.iter().find(is_it).map(|known| Arc::clone(&known.subject));
    if let Some(known) = known {
        return Ok(known);
    }
    let subject = Arc::new(report::without(whole, paths, cancel)?);
    let mut waiting = shared.waiting();
    waiting.without.push_back(Changed { of: Arc::clone(whole), paths: Arc::clone(paths), subject: Arc::clone(&subject) });
    if waiting.without.len() > WITHOUT {
        waiting.without.pop_front();
    }
    Ok(subject)
}

impl Job {
    /// What is told where it panics: its failed answer.
    fn failed(&self) -> impl FnOnce(Problem) -> Event + use<> {
        enum Of {
            Inquiry(Inquiry),
            ToolTokens(u64),
            ServerCost(u64),
            ToolsCompared(u64, u64),
            Nothing,
        }
        let of = match self {
            Self::Answer { inquiry, .. } => Of::Inquiry(inquiry.clone()),
            Self::CountTools { list, .. } => Of::ToolTokens(*list),
            Self::CountServer { list, .. } => Of::ServerCost(*list),
            Self::CompareTools { session, run, .. } => Of::ToolsCompared(*session, *run),
            Self::WarmUp => Of::Nothing,
        };
        move |problem| match of {
            Of::Inquiry(inquiry) => Event::Answered { inquiry, answer: Err(problem) },
            Of::ToolTokens(list) => Event::ToolTokens { list, tokens: Err(problem) },
            Of::ServerCost(list) => Event::ServerCost { list, cost: Err(problem) },
            Of::ToolsCompared(session, run) => Event::ToolsCompared { session, run, found: Err(problem) },
            Of::Nothing => Event::Problem(problem),
        }
    }
}

fn work(shared: &Shared) {
    while let Some(job) = next(shared) {
        let failed = job.failed();
        // The thread is for every job: one that panics must not take it along.
        if let Err(problem) = caught(|| run(shared, job)) {
            shared.queue.push(failed(problem));
        }
    }
}

fn run(shared: &Shared, job: Job) {
    match job {
        Job::WarmUp => token::warm_up(),
        Job::CountTools { list, tools, cancel } => {
            let tokens: Result<Vec<_>, _> =
                tools.iter().map(|raw| token::count(&String::from_utf8_lossy(raw), &cancel)).collect();
            if let Ok(tokens) = tokens {
                shared.queue.push(Event::ToolTokens { list, tokens: Ok(tokens) });
            }
        }
        Job::CountServer { list, server, tools, encoding, cancel } => {
            let tools: Vec<Tool> = tools.iter().map(|tool| Tool::clone(tool)).collect();
            if let Ok(cost) = ServerCost::of(&server, &tools, encoding, &cancel) {
                shared.queue.push(Event::ServerCost { list, cost: Ok(Arc::new(cost)) });
            }
        }
        Job::CompareTools { session, run, before, now, cancel } => {
            let tools = |list: &[Arc<Tool>]| list.iter().map(|tool| (**tool).clone()).collect::<Vec<_>>();
            let found = ToolsDifference::of(&tools(&before), &tools(&now), &TreeOptions::default(), &cancel);
            if let Ok(found) = found {
                shared.queue.push(Event::ToolsCompared { session, run, found: Ok(Arc::new(found)) });
            }
        }
        Job::Answer { captures, inquiry, cancel } => {
            if cancel.is_cancelled() {
                return;
            }
            let subjects: Vec<_> = captures.iter().map(|capture| subject(shared, capture)).collect();
            let answer = match (&inquiry.question, subjects.as_slice()) {
                (Question::Without(paths, question), [whole]) => without(shared, whole, paths, &cancel)
                    .and_then(|changed| report::answer(&[changed], question, &shared.hosts(), &cancel)),
                (question, subjects) => report::answer(subjects, question, &shared.hosts(), &cancel),
            };
            let Ok(answer) = answer else { return };
            // The same question may have been asked again meanwhile, with a flag of its own.
            if cancel.is_cancelled() {
                return;
            }
            shared.waiting().cancels.remove(&inquiry);
            shared.queue.push(Event::Answered { inquiry, answer });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::CaptureId;

    #[test]
    fn the_newest_capture_and_what_is_looked_at_come_first() {
        let queue = Arc::new(Queue::new(Arc::new(|| {})));
        let hosts = Mutex::new(Hosts::built_in());
        let shared = Shared { waiting: Mutex::default(), more: Condvar::new(), queue, hosts };
        let asked = [
            ("old", Question::Tree),
            ("new", Question::Row("json")),
            ("new", Question::Hosts),
            ("new", Question::Text("content")),
            ("new", Question::Tree),
        ];
        for (id, question) in &asked {
            let inquiry = Inquiry::of(&CaptureId((*id).into()), question.clone());
            shared.waiting().jobs.push_back(Job::Answer { captures: Vec::new(), inquiry, cancel: Cancel::new() });
        }
        for expected in [3, 4, 1, 2, 0] {
            let Some(Job::Answer { inquiry, .. }) = next(&shared) else { panic!("no job") };
            assert_eq!((&*inquiry.captures[0].0, &inquiry.question), (asked[expected].0, &asked[expected].1));
        }
    }
}
