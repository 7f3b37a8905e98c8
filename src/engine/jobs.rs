//! The pool that runs queries: a few threads, what was asked about last first, of that what is looked at before what is
//! counted, cancellable one by one.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::queue::Queue;
use super::work::caught;
use crate::state::Event;
use loupe_analysis::queries::{Memo, QueryInput, QueryKey};
use loupe_core::cancel::Cancel;
use loupe_core::host::Hosts;
use loupe_core::token;

/// The frame that shows an answer, and asks what it needs next to it, comes within this time, also where the processors draw.
const NEXT_FRAME: Duration = Duration::from_millis(250);
/// Counting so many bytes of responses takes longer than that.
const LARGE_BYTES: usize = 1 << 20;

struct Job {
    about: QueryInput,
    query_key: QueryKey,
    cancel: Cancel,
    asked: Instant,
}

impl Job {
    fn new(about: QueryInput, query_key: QueryKey, cancel: Cancel) -> Self {
        Self {
            about,
            query_key,
            cancel,
            asked: Instant::now(),
        }
    }

    fn is_large(&self) -> bool {
        let QueryInput::Captures(captures) = &self.about else {
            return false;
        };
        let sizes = captures
            .iter()
            .filter_map(|capture| capture.response.as_ref())
            .map(|response| response.len());
        sizes.sum::<usize>() > LARGE_BYTES
    }
}

#[derive(Default)]
struct Waiting {
    jobs: VecDeque<Job>,
    cancels: HashMap<QueryKey, Cancel>,
    /// When the last answer was given that a pane shows.
    answered: Option<Instant>,
    stopped: bool,
}

struct Shared {
    waiting: Mutex<Waiting>,
    more: Condvar,
    queue: Arc<Queue>,
    hosts: Mutex<Arc<Hosts>>,
    memo: Memo,
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
        let hosts = Mutex::new(Hosts::built_in());
        let shared = Shared {
            waiting: Mutex::default(),
            more: Condvar::new(),
            queue,
            hosts,
            memo: Memo::default(),
        };
        let shared = Arc::new(shared);
        let threads = thread::available_parallelism().map_or(1, |cores| cores.get().min(4));
        for number in 0..threads {
            let shared = Arc::clone(&shared);
            let warm_up = number == 0;
            thread::Builder::new()
                .name(format!("loupe-job-{number}"))
                .spawn(move || work(&shared, warm_up))?;
        }
        Ok(Self { shared })
    }

    pub(super) fn answer(&self, about: QueryInput, query_key: QueryKey) {
        let cancel = query_key
            .query
            .within
            .map_or_else(Cancel::new, |within| Cancel::until(Instant::now() + within));
        let mut waiting = self.shared.waiting();
        waiting.cancels.insert(query_key.clone(), cancel.clone());
        waiting.jobs.push_back(Job::new(about, query_key, cancel));
        drop(waiting);
        self.shared.more.notify_one();
    }

    /// The hosts that queries are about.
    pub(super) fn hosts(&self) -> Arc<Hosts> {
        self.shared.hosts()
    }

    pub(super) fn use_hosts(&self, hosts: Arc<Hosts>) {
        *self
            .shared
            .hosts
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = hosts;
    }

    pub(super) fn forget(&self, query_key: &QueryKey) {
        if let Some(cancel) = self.shared.waiting().cancels.remove(query_key) {
            cancel.cancel();
        }
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

/// The next job: those about what was asked about last come first, in the order asked, and of those what counts last. A long
/// count waits for what is asked in the same frame, and in the frame after an answer: the rows of a text are asked for once
/// the text is there.
fn next(shared: &Shared) -> Option<Job> {
    let mut waiting = shared.waiting();
    loop {
        if waiting.stopped {
            return None;
        }
        let newest = waiting.jobs.back().map(|job| job.query_key.target.clone());
        let first = |may_count: bool| {
            let is_next = |job: &Job| {
                newest.as_ref() == Some(&job.query_key.target)
                    && (may_count || !job.query_key.query.is_count)
            };
            waiting.jobs.iter().position(is_next)
        };
        let position = first(false).or_else(|| first(true));
        let Some(job) = position.and_then(|position| waiting.jobs.get(position)) else {
            waiting = shared
                .more
                .wait(waiting)
                .unwrap_or_else(PoisonError::into_inner);
            continue;
        };
        let is_long = job.query_key.query.is_count && job.is_large();
        let since = waiting.answered.max(Some(job.asked)).filter(|_| is_long);
        let left = since.and_then(|at| NEXT_FRAME.checked_sub(at.elapsed()));
        if let Some(left) = left {
            waiting = shared
                .more
                .wait_timeout(waiting, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
            continue;
        }
        return position.and_then(|position| waiting.jobs.remove(position));
    }
}

fn work(shared: &Shared, warm_up: bool) {
    // The tables that the first count would wait for; a pane does not, where there is another thread.
    if warm_up && let Err(problem) = caught(token::warm_up) {
        shared.queue.push(Event::Problem(problem));
    }
    while let Some(job) = next(shared) {
        let (about, query_key) = (job.about.clone(), job.query_key.clone());
        // The thread is for every job: one that panics must not take it along.
        if let Err(problem) = caught(|| run(shared, job)) {
            shared.queue.push(Event::Answered {
                about,
                query_key,
                answer: Err(problem),
            });
        }
    }
}

fn run(
    shared: &Shared,
    Job {
        about,
        query_key,
        cancel,
        ..
    }: Job,
) {
    if cancel.is_cancelled() {
        return;
    }
    let Ok(answer) = query_key
        .query
        .run(&about, &shared.hosts(), &shared.memo, &cancel)
    else {
        return;
    };
    // The same may have been asked again meanwhile, with a flag of its own.
    if cancel.is_cancelled() {
        return;
    }
    let mut waiting = shared.waiting();
    waiting.cancels.remove(&query_key);
    if !query_key.query.is_count {
        waiting.answered = Some(Instant::now());
    }
    drop(waiting);
    shared.queue.push(Event::Answered {
        about,
        query_key,
        answer,
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use loupe_analysis::queries::{HostsQuery, RowQuery, TextQuery, TextRowsQuery, TreeQuery};
    use loupe_core::capture::{Capture, CaptureId, Server};

    fn shared() -> Shared {
        let queue = Arc::new(Queue::new(Arc::new(|| {})));
        let hosts = Mutex::new(Hosts::built_in());
        Shared {
            waiting: Mutex::default(),
            more: Condvar::new(),
            queue,
            hosts,
            memo: Memo::default(),
        }
    }

    fn ask(shared: &Shared, about: &QueryInput, query_key: &QueryKey, asked: Instant) {
        let job = Job::new(about.clone(), query_key.clone(), Cancel::new());
        shared.waiting().jobs.push_back(Job { asked, ..job });
        shared.more.notify_one();
    }

    #[test]
    fn a_long_count_waits_for_what_is_looked_at() {
        let (shared, id) = (shared(), [CaptureId("a".into())]);
        let text = "x".repeat(LARGE_BYTES);
        let response = format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#
        );
        let large = Capture {
            response: Some(response.into()),
            ..Capture::empty(id[0].clone(), Server::default())
        };
        let about = QueryInput::Captures(vec![Arc::new(large)]);
        let (text, rows) = (
            QueryKey::new(&id, TextQuery("content")),
            QueryKey::new(
                &id,
                TextRowsQuery {
                    format: "content",
                    columns: 80,
                },
            ),
        );
        let count = QueryKey::new(&id, RowQuery("json"));
        // However slow this machine is.
        let (now, later) = (Instant::now(), Instant::now() + Duration::from_secs(600));
        let taken_beside = |query_key: &QueryKey| {
            thread::scope(|scope| {
                let taken = scope.spawn(|| next(&shared));
                thread::sleep(NEXT_FRAME / 4);
                ask(&shared, &about, query_key, now);
                taken.join().unwrap()
            })
        };
        ask(&shared, &about, &count, later);
        let job = taken_beside(&text)
            .filter(|job| job.query_key == text)
            .expect("what is asked in the same frame");
        run(&shared, job);
        assert!(shared.waiting().answered.is_some());
        shared.waiting().answered = Some(later);
        shared
            .waiting()
            .jobs
            .iter_mut()
            .for_each(|job| job.asked = now);
        assert_eq!(
            taken_beside(&rows).map(|job| job.query_key),
            Some(rows),
            "and in the frame after an answer"
        );
        shared.waiting().answered = None;
        assert_eq!(next(&shared).map(|job| job.query_key), Some(count));
    }

    #[test]
    fn the_newest_capture_and_what_is_looked_at_come_first() {
        let shared = shared();
        let id = |name: &str| [CaptureId(name.into())];
        let asked = [
            QueryKey::new(&id("old"), TreeQuery),
            QueryKey::new(&id("new"), RowQuery("json")),
            QueryKey::new(&id("new"), HostsQuery),
            QueryKey::new(&id("new"), TextQuery("content")),
            QueryKey::new(&id("new"), TreeQuery),
        ];
        for query_key in &asked {
            ask(
                &shared,
                &QueryInput::Captures(Vec::new()),
                query_key,
                Instant::now(),
            );
        }
        for expected in [3, 4, 1, 2, 0] {
            assert_eq!(
                next(&shared).map(|job| job.query_key).as_ref(),
                Some(&asked[expected])
            );
        }
    }
}
