//! The window without a display, driven as the app drives it and measured frame by frame: layout and tessellation without
//! a graphics card, which is the part of a frame that is Loupe's.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use egui::Event as Input;
use loupe_core::capture::{Capture, CaptureId, Server, Tool};
use loupe_core::problem::Problem;
use mcp_loupe::engine::Engine;
use mcp_loupe::shot::Shot;
use mcp_loupe::state::{Action, CallUpdate, Effect, Event, SessionEffect, State};

/// A display of 60 frames a second has no more time for one.
pub const FRAME: Duration = Duration::from_millis(16);
/// So many frames are measured at least.
pub const AT_LEAST: usize = 200;

/// What a server would answer to a call of this number.
pub type Answers = fn(&Tool, u64, Bytes, usize) -> Capture;

pub struct Window {
    pub state: State,
    engine: Engine,
    shot: Shot,
    began: Instant,
    /// Calls are answered here, with so many records; without it none is made.
    answers: Option<(Answers, usize)>,
}

impl Window {
    /// # Errors
    /// The system refuses threads.
    pub fn open(answers: Option<(Answers, usize)>) -> Result<Self, Problem> {
        let engine = Engine::new(Arc::new(|| {}))?;
        let shot = Shot::new([1_600, 1_000], egui::Theme::Dark, 1.0);
        Ok(Self {
            state: State::default(),
            engine,
            shot,
            began: Instant::now(),
            answers,
        })
    }

    fn execute(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match (effect, self.answers) {
                (
                    Effect::Session(SessionEffect::Call {
                        call,
                        tool,
                        arguments,
                        ..
                    }),
                    Some((answer, records)),
                ) => {
                    let capture = Arc::new(answer(&tool, call, arguments, records));
                    self.apply(Event::Call {
                        call,
                        update: CallUpdate::Captured(capture),
                    });
                }
                (
                    effect @ (Effect::Answer { .. } | Effect::Forget(_) | Effect::CheckSchema(_)),
                    _,
                ) => self.engine.execute(effect),
                // Nothing else is measured here.
                _ => {}
            }
        }
    }

    pub fn perform(&mut self, action: impl Into<Action>) {
        let mut effects = Vec::new();
        self.state.perform(action, &mut effects);
        self.execute(effects);
    }

    pub fn apply(&mut self, event: Event) {
        let mut effects = Vec::new();
        self.state.apply(event, &mut effects);
        self.execute(effects);
    }

    /// What `App` does in one frame; the time it took.
    fn frame(&mut self, input: Vec<Input>) -> Frame {
        let (start, before) = (Instant::now(), on_processor());
        self.state.tick(self.began.elapsed());
        let mut effects = Vec::new();
        while let Some(event) = self.engine.try_event() {
            self.state.apply(event, &mut effects);
        }
        for action in self.shot.frame_with(&self.state, input) {
            self.state.perform(action, &mut effects);
        }
        self.execute(effects);
        let used = on_processor()
            .zip(before)
            .map(|(now, before)| now.saturating_sub(before));
        Frame {
            took: start.elapsed(),
            used,
        }
    }

    /// Frames until nothing is asked any more, and at least [`AT_LEAST`]; before each this happens.
    pub fn frames(&mut self, input: impl Fn(usize) -> Vec<Input>) -> Vec<Frame> {
        let mut frames = Vec::new();
        while frames.len() < AT_LEAST || self.state.query_results.working() > 0 {
            let frame = self.frame(input(frames.len()));
            // As a display of 60 frames a second would.
            std::thread::sleep(FRAME.saturating_sub(frame.took));
            frames.push(frame);
        }
        frames
    }
}

/// A capture with this response.
pub fn capture(
    id: String,
    tool: Tool,
    arguments: Bytes,
    request: &'static [u8],
    response: String,
) -> Capture {
    Capture {
        tool,
        arguments,
        request: Bytes::from_static(request),
        response: Some(Bytes::from(response)),
        ..Capture::empty(CaptureId(Arc::from(id)), Server::default())
    }
}

/// One frame: how long it took, and how much of that this thread had a processor, where the system tells.
pub struct Frame {
    took: Duration,
    used: Option<Duration>,
}

/// How long this thread has had a processor. On a machine that others use too, this is what a frame costs.
fn on_processor() -> Option<Duration> {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    told.split_whitespace()
        .next()?
        .parse()
        .ok()
        .map(Duration::from_nanos)
}

fn parallel_map(mut times: Vec<Duration>) -> String {
    times.sort();
    let late = times.iter().filter(|time| **time > FRAME).count();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    format!(
        "{late} over 16 ms; median {:?}, 99th {:?}, longest {:?}",
        at(0.5),
        at(0.99),
        at(1.0)
    )
}

/// How many frames took longer than a display waits, and how long they were.
pub fn report(what: &str, frames: &[Frame]) {
    println!(
        "{what}: {} frames, {}",
        frames.len(),
        parallel_map(frames.iter().map(|frame| frame.took).collect())
    );
    let used: Vec<_> = frames.iter().filter_map(|frame| frame.used).collect();
    if used.len() == frames.len() {
        println!("  on the processor: {}", parallel_map(used));
    }
}

/// The number on the command line (`cargo bench --bench NAME -- 500`), or this one.
pub fn size(usual: usize) -> usize {
    std::env::args()
        .filter_map(|argument| argument.parse().ok())
        .next_back()
        .unwrap_or(usual)
}
