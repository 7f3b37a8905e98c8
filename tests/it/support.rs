//! The window without a window: state and engine driven as the app drives them.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mcp_loupe::engine::Engine;
use mcp_loupe::state::{Action, AppEffect, Effect, State};

/// No test waits longer for anything.
pub const LIMIT: Duration = Duration::from_secs(60);

pub struct Driver {
    pub state: State,
    pub engine: Engine,
    /// Effects that are the app's own: copies, links, quit.
    pub app_effects: Vec<Effect>,
    woken: Receiver<()>,
    began: Instant,
}

impl Driver {
    pub fn new() -> Self {
        let (wake, woken) = channel();
        let wake = Mutex::new(wake);
        let wake = Arc::new(move || {
            // The receiver is gone when the test is over.
            wake.lock().unwrap().send(()).ok();
        });
        let guard = Some(PathBuf::from(env!("CARGO_BIN_EXE_mcp-loupe")));
        let engine = Engine::with_guard(wake, guard).unwrap();
        Self {
            state: State::default(),
            engine,
            app_effects: Vec::new(),
            woken,
            began: Instant::now(),
        }
    }

    fn execute(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::App(AppEffect::CopyText(_))
                | Effect::App(AppEffect::OpenUrl(_))
                | Effect::App(AppEffect::Quit) => self.app_effects.push(effect),
                effect => self.engine.execute(effect),
            }
        }
    }

    pub fn perform(&mut self, action: impl Into<Action>) {
        let mut effects = Vec::new();
        self.state.tick(self.began.elapsed());
        self.state.perform(action, &mut effects);
        self.execute(effects);
        let is_checked = |state: &State| {
            state.sessions.iter().all(|session| {
                session
                    .forms
                    .values()
                    .all(mcp_loupe::state::Form::is_checked)
            })
        };
        if self.state.running.is_none() && !is_checked(&self.state) {
            self.until("the arguments are checked", is_checked);
        }
    }

    /// Takes in what has happened.
    pub fn drain(&mut self) {
        while let Some(event) = self.engine.try_event() {
            let mut effects = Vec::new();
            self.state.tick(self.began.elapsed());
            self.state.apply(event, &mut effects);
            self.execute(effects);
        }
    }

    /// Takes in events until the state is as wanted.
    #[track_caller]
    pub fn until(&mut self, what: &str, wanted: impl Fn(&State) -> bool) {
        let end = Instant::now() + LIMIT;
        loop {
            self.drain();
            if wanted(&self.state) {
                return;
            }
            let left = end.saturating_duration_since(Instant::now());
            let woken = self.woken.recv_timeout(left);
            assert!(
                woken.is_ok(),
                "waited too long until {what}; connection {:?}, running {:?}, toasts {:?}",
                self.state.session().connection,
                self.state.running,
                self.state.toasts
            );
        }
    }
}
