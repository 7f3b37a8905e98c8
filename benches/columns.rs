//! Frames of a comparison of eight columns with 5,000 records each while it is scrolled, beside the same window at rest.
//!
//! Prints how many frames took more than 16 ms in each, since "no more than when idle" is the promise. Six columns are
//! answers, every other one data and the others Markdown; two are written by Loupe.

#[cfg(feature = "gui")]
mod common;
#[cfg(feature = "gui")]
#[path = "common/window.rs"]
mod window;

#[cfg(not(feature = "gui"))]
fn main() {}

#[cfg(feature = "gui")]
fn main() -> Result<(), loupe_core::problem::Problem> {
    scrolled::run()
}

#[cfg(feature = "gui")]
mod scrolled {
    use std::time::Instant;

    use bytes::Bytes;
    use egui::{Event as Input, Modifiers, MouseWheelUnit, TouchPhase, pos2, vec2};
    use loupe_core::capture::{Capture, Server, Tool};
    use loupe_core::json::write;
    use loupe_core::problem::Problem;
    use loupe_core::source::{Command, Source};
    use mcp_loupe::state::{
        Action, CallAction, CompareAction, ConnectAction, Event, SessionId, SessionUpdate,
    };

    use super::common;
    use super::window::{self, AT_LEAST, Window, report};

    const RECORDS: usize = 5_000;
    const TOOL: &[u8] = br#"{"name":"generated","inputSchema":{"type":"object","properties":{"format":{"enum":["a","b","c","d","e","f"]}}},"annotations":{"readOnlyHint":true}}"#;

    fn capture(tool: &Tool, call: u64, arguments: Bytes, records: usize) -> Capture {
        let text = if call % 2 == 1 {
            common::data(records)
        } else {
            common::markdown(records)
        };
        let text = write::string(&text);
        let message = format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{{"type":"text","text":{text}}}]}}}}"#
        );
        window::capture(
            format!("call {call}"),
            tool.clone(),
            arguments,
            b"{}",
            message,
        )
    }

    /// A turn of the wheel over the columns; a page down and, at the end, back.
    fn turn(frame: usize) -> Vec<Input> {
        let delta = if frame % AT_LEAST < AT_LEAST / 2 {
            -600.0
        } else {
            600.0
        };
        vec![
            Input::PointerMoved(pos2(900.0, 500.0)),
            Input::MouseWheel {
                unit: MouseWheelUnit::Point,
                delta: vec2(0.0, delta),
                phase: TouchPhase::Move,
                source: egui::MouseWheelSource::Wheel,
                modifiers: Modifiers::NONE,
            },
        ]
    }

    pub fn run() -> Result<(), Problem> {
        let records = window::size(RECORDS);
        let mut window = Window::open(Some((capture, records)))?;
        window.perform(ConnectAction::Connect(Box::new(Source::Command(Command {
            program: "generated".into(),
            ..Command::default()
        }))));
        window.apply(Event::Session {
            session: SessionId(1),
            update: SessionUpdate::Connected(Server::default()),
        });
        window.apply(Event::Session {
            session: SessionId(1),
            update: SessionUpdate::Tools {
                tools: vec![Tool::read(Bytes::from_static(TOOL))],
                note: None,
            },
        });
        window.perform(CallAction::SelectTool("generated".into()));
        window.perform(Action::Compare(CompareAction::Start {
            vary: "format".into(),
            written: "a,b,c,d,e,f".into(),
        }));
        let began = Instant::now();
        let working = window.frames(|_| Vec::new());
        println!(
            "8 columns of {records} records laid out after {:.1} s",
            began.elapsed().as_secs_f64()
        );
        report("while it is worked on", &working);
        report("at rest", &window.frames(|_| Vec::new()));
        report("scrolled", &window.frames(turn));
        Ok(())
    }
}
