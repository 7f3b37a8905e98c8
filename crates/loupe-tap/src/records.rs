//! Which record a message of HTTP belongs to: each session of MCP has its own, so that the ids of two hosts never mix.
//!
//! A session is known by its `Mcp-Session-Id`, or by the address that HTTP+SSE gave it. Everything else (revision
//! 2026-07-28, servers without sessions) is in one record, until a later `initialize` begins another.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use loupe_core::redact::SecretList;
use time::OffsetDateTime;

use super::recorder::{RecordPlace, Recorder, SessionStart};

/// Records that are written at a time. The one that was not used for the longest time ends first.
const OPEN: usize = 32;

type Complain = Arc<dyn Fn(&str) + Send + Sync>;

/// The records of one proxy.
pub struct Records {
    place: Option<RecordPlace>,
    start: SessionStart,
    known: SecretList,
    complain: Complain,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    /// By what names the session; the one used last is at the end.
    sessions: Vec<(String, Arc<Recorder>)>,
    /// The record of messages that name no session.
    loose: Option<Loose>,
    /// The one record of everything, where messages go to a file.
    file: Option<Arc<Recorder>>,
    /// Records that are being completed.
    finishing: Vec<JoinHandle<()>>,
}

struct Loose {
    recorder: Arc<Recorder>,
    /// Nothing succeeded in it so far: a session that begins now takes it over, with the refused requests in it.
    is_free: bool,
}

impl Records {
    /// Records into `place`; `None` records nothing. `start` is what every session has, `complain` as of
    /// [`Recorder::start`].
    pub fn new(
        place: Option<RecordPlace>,
        start: SessionStart,
        known: SecretList,
        complain: impl Fn(&str) + Send + Sync + 'static,
    ) -> Self {
        Self {
            place,
            start,
            known,
            complain: Arc::new(complain),
            open: Mutex::default(),
        }
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds what no record may show. Records that are open already do not know it.
    pub(crate) fn hide(&self, name: &str, value: &str) {
        self.known.add("header", name, value);
    }

    /// Whether a session of this name is recorded.
    pub(crate) fn has(&self, session: &str) -> bool {
        self.open().sessions.iter().any(|(name, _)| name == session)
    }

    /// The record of a session, of what begins one, or of what has none; `None` where nothing is recorded.
    pub(crate) fn find(&self, session: Option<&str>, is_beginning: bool) -> Option<Arc<Recorder>> {
        let mut open = self.open();
        if let Some(session) = session {
            let at = open.sessions.iter().position(|(name, _)| name == session);
            let recorder = match at {
                Some(at) => open.sessions.remove(at).1,
                None => self.start(&mut open)?,
            };
            self.add(&mut open, session, Arc::clone(&recorder));
            return Some(recorder);
        }
        if is_beginning {
            return match open.loose.take() {
                Some(loose) if loose.is_free => Some(loose.recorder),
                other => {
                    open.loose = other;
                    self.start(&mut open)
                }
            };
        }
        if open.loose.is_none() {
            let recorder = self.start(&mut open)?;
            open.loose = Some(Loose {
                recorder,
                is_free: true,
            });
        }
        open.loose.as_ref().map(|loose| Arc::clone(&loose.recorder))
    }

    fn start(&self, open: &mut Open) -> Option<Arc<Recorder>> {
        if let Some(file) = &open.file {
            return Some(Arc::clone(file));
        }
        let place = self.place.clone()?;
        let is_file = matches!(place, RecordPlace::File(_));
        let start = SessionStart {
            started: OffsetDateTime::now_utc(),
            ..self.start.clone()
        };
        let complain = Arc::clone(&self.complain);
        let recorder = Recorder::start(place, start, self.known.clone(), move |why| complain(why));
        let recorder = Arc::new(recorder);
        if is_file {
            open.file = Some(Arc::clone(&recorder));
        }
        Some(recorder)
    }

    fn add(&self, open: &mut Open, session: &str, recorder: Arc<Recorder>) {
        open.sessions.push((session.to_owned(), recorder));
        if open.sessions.len() > OPEN {
            let (_, recorder) = open.sessions.remove(0);
            self.finish(open, recorder);
        }
    }

    /// A session that began in `recorder` has got its name; `None`: the server gives it none.
    pub(crate) fn name(&self, session: Option<&str>, recorder: &Arc<Recorder>) {
        let mut open = self.open();
        if let Some(session) = session {
            open.sessions.retain(|(name, _)| name != session);
            return self.add(&mut open, session, Arc::clone(recorder));
        }
        let loose = Loose {
            recorder: Arc::clone(recorder),
            is_free: false,
        };
        if let Some(before) = open.loose.replace(loose) {
            self.finish(&mut open, before.recorder);
        }
    }

    /// No session began in `recorder`: the next attempt goes on there.
    pub(crate) fn refuse(&self, recorder: Arc<Recorder>) {
        let mut open = self.open();
        if open.loose.is_some() {
            return self.finish(&mut open, recorder);
        }
        open.loose = Some(Loose {
            recorder,
            is_free: true,
        });
    }

    /// A request without a session has succeeded.
    pub(crate) fn settle(&self) {
        if let Some(loose) = &mut self.open().loose {
            loose.is_free = false;
        }
    }

    /// A session is over.
    pub(crate) fn end(&self, session: &str) {
        let mut open = self.open();
        if let Some(at) = open.sessions.iter().position(|(name, _)| name == session) {
            let (_, recorder) = open.sessions.remove(at);
            self.finish(&mut open, recorder);
        }
    }

    /// Completes a record, which may take a while, on a thread of its own. The file of everything stays open.
    fn finish(&self, open: &mut Open, recorder: Arc<Recorder>) {
        if open.file.is_some() {
            return;
        }
        open.finishing.retain(|thread| !thread.is_finished());
        let finish = move || recorder.finish(Some(0));
        // Without a thread the record ends when the proxy does, without a last line.
        open.finishing
            .extend(thread::Builder::new().spawn(finish).ok());
    }

    /// Completes all records.
    pub fn finish_all(&self) {
        let open = mem::take(&mut *self.open());
        let loose = open.loose.map(|loose| loose.recorder);
        let sessions = open.sessions.into_iter().map(|(_, recorder)| recorder);
        let all: Vec<_> = match open.file {
            Some(file) => vec![file],
            None => sessions.chain(loose).collect(),
        };
        thread::scope(|scope| {
            for recorder in &all {
                scope.spawn(|| recorder.finish(Some(0)));
            }
        });
        for thread in open.finishing {
            thread.join().ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sessions::list;

    fn records(place: RecordPlace) -> Records {
        let start = SessionStart {
            name: "n".into(),
            source: "--url http://s/mcp".into(),
            started: OffsetDateTime::UNIX_EPOCH,
        };
        Records::new(Some(place), start, SecretList::default(), |why| {
            panic!("{why}")
        })
    }

    #[test]
    fn a_session_takes_over_what_was_refused_before_it() {
        let folder = tempfile::tempdir().unwrap();
        let records = records(RecordPlace::Sessions(folder.path().to_owned()));
        let probe = records.find(None, false).unwrap();
        let first = records.find(None, true).unwrap();
        assert!(Arc::ptr_eq(&probe, &first));
        records.refuse(first);
        let again = records.find(None, true).unwrap();
        assert!(Arc::ptr_eq(&probe, &again));
        records.name(Some("a"), &again);
        assert!(Arc::ptr_eq(
            &again,
            &records.find(Some("a"), false).unwrap()
        ));
        // Another host at the same time.
        let other = records.find(None, true).unwrap();
        assert!(!Arc::ptr_eq(&again, &other));
        records.name(None, &other);
        assert!(Arc::ptr_eq(&other, &records.find(None, false).unwrap()));
        records.end("a");
        assert!(!records.has("a"));
        records.finish_all();
        let ended: Vec<_> = list(folder.path()).iter().map(|info| info.ended).collect();
        assert_eq!(ended, [Some(0), Some(0)]);
    }

    #[test]
    fn few_records_are_open_and_a_file_is_one() {
        let folder = tempfile::tempdir().unwrap();
        let sessions = records(RecordPlace::Sessions(folder.path().to_owned()));
        (0..=OPEN).for_each(|number| drop(sessions.find(Some(&number.to_string()), false)));
        assert!(!sessions.has("0") && sessions.has("1"));
        sessions.finish_all();
        assert_eq!(list(folder.path()).len(), OPEN + 1);
        let file = folder.path().join("log");
        let log = records(RecordPlace::File(file.clone()));
        let (one, other) = (log.find(Some("a"), false), log.find(None, true));
        assert!(Arc::ptr_eq(&one.unwrap(), &other.unwrap()));
        log.end("a");
        log.finish_all();
        assert_eq!(std::fs::read_to_string(file).unwrap().lines().count(), 1);
    }
}
