//! Frames of the window while a 20 MB answer is parsed, counted and laid out, beside the same window at rest.
//!
//! Headless: layout and tessellation without a graphics card, which is the part of a frame that is Loupe's. Prints how
//! many frames took more than 16 ms in each, since "no more than when idle" is the promise.

#[cfg(feature = "gui")]
mod common;

#[cfg(not(feature = "gui"))]
fn main() {}

#[cfg(feature = "gui")]
fn main() -> Result<(), mcp_loupe::problem::Problem> {
    window::run()
}

#[cfg(feature = "gui")]
mod window {
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use bytes::Bytes;
    use mcp_loupe::capture::{Capture, CaptureId, Outcome, Server, Timings, Tool};
    use mcp_loupe::engine::Engine;
    use mcp_loupe::problem::Problem;
    use mcp_loupe::shot::Shot;
    use mcp_loupe::state::{Action, Effect, Event, State};
    use time::OffsetDateTime;

    use super::common;

    const FRAME: Duration = Duration::from_millis(16);
    const AT_LEAST: usize = 200;
    /// Records of the generator that make about 20 MB, text and structured part together.
    const RECORDS: usize = 38_000;

    struct Window {
        state: State,
        engine: Engine,
        shot: Shot,
        began: Instant,
    }

    impl Window {
        fn execute(&self, effects: Vec<Effect>) {
            effects.into_iter().for_each(|effect| self.engine.execute(effect));
        }

        /// What `App` does in one frame; the time it took.
        fn frame(&mut self) -> Duration {
            let start = Instant::now();
            self.state.tick(self.began.elapsed());
            let mut effects = Vec::new();
            while let Some(event) = self.engine.try_event() {
                self.state.apply(event, &mut effects);
            }
            for action in self.shot.frame(&self.state) {
                self.state.perform(action, &mut effects);
            }
            self.execute(effects);
            start.elapsed()
        }

        fn open(&mut self, capture: Capture) {
            let mut effects = Vec::new();
            self.state.apply(Event::Opened(Arc::new(capture)), &mut effects);
            self.state.perform(Action::SetTheme(mcp_loupe::settings::Theme::Dark), &mut effects);
            self.execute(effects);
        }

        /// Frames until nothing is asked any more, and at least so many.
        fn frames(&mut self) -> Vec<Duration> {
            let mut frames = Vec::new();
            while frames.len() < AT_LEAST || self.state.answers.working() > 0 {
                frames.push(self.frame());
                // As a display of 60 frames a second would.
                std::thread::sleep(FRAME.saturating_sub(frames.last().copied().unwrap_or_default()));
            }
            frames
        }
    }

    fn capture(records: usize) -> Capture {
        let data = common::payload(records);
        let text = mcp_loupe::json::write::string(&common::markdown(records));
        let message = format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{{"type":"text","text":{text}}}],"structuredContent":{data}}}}}"#
        );
        Capture {
            id: CaptureId(Arc::from(format!("{records} records"))),
            server: Server::default(),
            tool: Tool::unlisted("generated"),
            arguments: Bytes::from_static(b"{}"),
            started_at: OffsetDateTime::UNIX_EPOCH,
            timings: Timings::default(),
            outcome: Outcome::Result,
            request: Bytes::new(),
            response: Some(Bytes::from(message)),
            messages: Vec::new(),
            http: None,
            problem: None,
            notes: Vec::new(),
        }
    }

    fn report(what: &str, mut frames: Vec<Duration>) {
        frames.sort();
        let late = frames.iter().filter(|frame| **frame > FRAME).count();
        let at = |share: f64| frames[((frames.len() - 1) as f64 * share) as usize];
        println!(
            "{what}: {} frames, {late} over 16 ms; median {:?}, 99th {:?}, longest {:?}",
            frames.len(),
            at(0.5),
            at(0.99),
            at(1.0)
        );
    }

    pub fn run() -> Result<(), Problem> {
        let engine = Engine::new(Arc::new(|| {}))?;
        let shot = Shot::new([1_600, 1_000], egui::Theme::Dark, 1.0);
        let mut window = Window { state: State::default(), engine, shot, began: Instant::now() };
        window.open(capture(5));
        window.frames();
        report("idle, 5 records", window.frames());
        // `cargo bench --bench frame -- 4000` for another size.
        let records = std::env::args().filter_map(|argument| argument.parse().ok()).next_back().unwrap_or(RECORDS);
        let large = capture(records);
        println!("large answer: {:.1} MB", large.wire_len() as f64 / 1e6);
        window.open(large);
        report("while it is worked on", window.frames());
        report("when it is shown", window.frames());
        Ok(())
    }
}
