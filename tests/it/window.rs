//! A window over the sample server without engine, threads or clock: state in, picture out.

use loupe_analysis::queries;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use egui::{Event as Input, FullOutput, Modifiers, PointerButton, Pos2, Rect, Shape, Theme, vec2};
use image::RgbaImage;
use loupe_analysis::queries::Memo;
use loupe_core::cancel::Cancel;
use loupe_core::capture::{Capture, CaptureId, Outcome, ParsedResponse, Server, Timings, Tool};
use loupe_core::host::Hosts;
use loupe_core::json::{Doc, Node};
use loupe_core::source::{SampleSpec, Source};
use loupe_core::token;
use loupe_core::token::claude::Request;
use loupe_sample::Backend;
use loupe_sample::sample::Sample;
use mcp_loupe::shot::Shot;
use mcp_loupe::state::anthropic_count::{Counted, ExactEffect, ExactEvent, KeyPlace, Prepared};
use mcp_loupe::state::{
    Action, CallAction, CallUpdate, ConnectAction, Effect, Event, SessionEffect, SessionUpdate,
    State,
};
use time::OffsetDateTime;

/// Passes enough for questions to be asked, answered and painted.
const PASSES: usize = 12;

pub struct Window {
    pub state: State,
    sample: Sample,
    memo: Memo,
    calls: u32,
}

impl Window {
    /// Connected to a sample set.
    pub fn sample(spec: &str) -> Self {
        let spec = SampleSpec::parse(spec).unwrap();
        let mut window = Self {
            state: State::default(),
            sample: Sample::new(&spec).unwrap(),
            memo: Memo::default(),
            calls: 0,
        };
        window.send(ConnectAction::Connect(Box::new(Source::Sample(spec))));
        window
    }

    /// Called with these arguments.
    pub fn calling(spec: &str, tool: &str, arguments: &str) -> Self {
        let mut window = Self::sample(spec);
        window.send(CallAction::SelectTool(tool.into()));
        window.send(CallAction::SetArgumentsText(arguments.into()));
        window.send(CallAction::Call { send_anyway: true });
        window
    }

    /// From here on the server is another one, as if its author had changed it.
    pub fn use_sample(&mut self, spec: &str) {
        self.sample = Sample::new(&SampleSpec::parse(spec).unwrap()).unwrap();
    }

    /// An answer of any shape, as if a server had sent it.
    pub fn showing(response: &str) -> Self {
        let mut window = Self::sample("all");
        window.open(response);
        window
    }

    /// One more such answer.
    pub fn open(&mut self, response: &str) {
        let capture = self.capture(
            Tool::unlisted("a_tool"),
            "{}",
            Bytes::copy_from_slice(response.as_bytes()),
        );
        self.apply(Event::Opened(vec![Arc::new(capture)]));
    }

    pub fn send(&mut self, action: impl Into<Action>) {
        let mut effects = Vec::new();
        self.state.perform(action, &mut effects);
        self.carry_out(effects);
    }

    /// What a person did, with a server that has not answered yet.
    pub fn send_without_answer(&mut self, action: impl Into<Action>) {
        self.state.perform(action, &mut Vec::new());
    }

    pub fn apply(&mut self, event: Event) {
        let mut effects = Vec::new();
        self.state.apply(event, &mut effects);
        self.carry_out(effects);
    }

    fn request(&self, method: &str, params: &str) -> Bytes {
        let message =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
        self.sample
            .handle(message.as_bytes())
            .pop()
            .unwrap_or_default()
    }

    fn carry_out(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Session(SessionEffect::Connect { session, .. }) => {
                    self.apply(Event::Session {
                        session,
                        update: SessionUpdate::Connected(server()),
                    });
                    let answer = Doc::parse(self.request("tools/list", "{}"));
                    let tools = answer
                        .at("/result/tools")
                        .unwrap()
                        .children()
                        .map(Node::raw_bytes)
                        .map(Tool::read)
                        .collect();
                    self.apply(Event::Session {
                        session,
                        update: SessionUpdate::Tools { tools, note: None },
                    });
                }
                Effect::Session(SessionEffect::Call {
                    call,
                    tool,
                    arguments,
                    ..
                }) => {
                    let arguments = String::from_utf8(arguments.to_vec()).unwrap();
                    let params = format!(r#"{{"name":"{}","arguments":{arguments}}}"#, tool.name);
                    let response = self.request("tools/call", &params);
                    let capture = self.capture((*tool).clone(), &arguments, response);
                    self.apply(Event::Call {
                        call,
                        update: CallUpdate::Captured(Arc::new(capture)),
                    });
                }
                Effect::Answer { about, query_key } => {
                    let answer = query_key
                        .query
                        .run(&about, &Hosts::built_in(), &self.memo, &Cancel::new())
                        .unwrap();
                    self.apply(Event::Answered {
                        about,
                        query_key,
                        answer,
                    });
                }
                Effect::CheckSchema(check) => self.apply(check.run()),
                Effect::Exact(effect) => self.exact(effect),
                _ => {}
            }
        }
    }

    /// A provider that counts a third more than `o200k_base`, and no key known.
    fn exact(&mut self, effect: ExactEffect) {
        let event = match effect {
            ExactEffect::Prepare {
                run,
                capture,
                format,
                address,
                model,
            } => {
                let text = queries::text_of(&queries::subject(capture), format).unwrap();
                let request = Request::new(&address, &model, &text);
                ExactEvent::Prepared {
                    run,
                    prepared: Ok(Prepared::new(text.clone(), text, &request)),
                }
            }
            ExactEffect::Count {
                run,
                request,
                digest,
                ..
            } => {
                let tokens = token::count(&digest).o200k_base * 4 / 3;
                let counted = Counted {
                    tokens,
                    model: request.model,
                    day: "2026-01-31".into(),
                };
                ExactEvent::Counted {
                    run,
                    digest,
                    counted: Ok(counted),
                }
            }
            ExactEffect::LookForKey => ExactEvent::Key(KeyPlace::Nowhere(None)),
            ExactEffect::Stop | ExactEffect::ForgetKey => return,
        };
        self.apply(Event::Exact(event));
    }

    fn capture(&mut self, tool: Tool, arguments: &str, response: Bytes) -> Capture {
        self.calls += 1;
        let request = format!(
            r#"{{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{{"name":"{}"}}}}"#,
            self.calls, tool.name
        );
        let outcome = if response.is_empty() {
            Outcome::Timeout
        } else {
            ParsedResponse::read(response.clone()).outcome()
        };
        Capture {
            tool,
            arguments: Bytes::copy_from_slice(arguments.as_bytes()),
            started_at: OffsetDateTime::UNIX_EPOCH + Duration::from_secs(1_761_920_000),
            timings: Timings {
                send: Duration::from_millis(1),
                server: Duration::from_millis(2),
                receive: Duration::from_millis(1),
            },
            outcome,
            request: Bytes::from(request),
            response: (!response.is_empty()).then_some(response),
            ..Capture::empty(
                CaptureId(format!("capture-{}", self.calls).into()),
                server(),
            )
        }
    }

    /// The picture, once everything asked for is answered.
    pub fn picture(&mut self, size: [u32; 2], theme: Theme) -> RgbaImage {
        self.settled(size, theme).picture()
    }

    /// What is read in that picture, a line for each row of text.
    pub fn painted(&mut self, size: [u32; 2], theme: Theme) -> String {
        let shot = self.settled(size, theme);
        painted(
            shot.output().unwrap(),
            Rect::from_min_size(Pos2::ZERO, vec2(size[0] as f32, size[1] as f32)),
        )
    }

    /// The same after a click on the middle of this text.
    pub fn painted_after_click(&mut self, size: [u32; 2], theme: Theme, text: &str) -> String {
        let shot = self.clicked(size, theme, text);
        painted(
            shot.output().unwrap(),
            Rect::from_min_size(Pos2::ZERO, vec2(size[0] as f32, size[1] as f32)),
        )
    }

    pub fn clicked(&mut self, size: [u32; 2], theme: Theme, text: &str) -> Shot {
        let mut shot = self.settled(size, theme);
        let pos = place_of(shot.output().unwrap(), text)
            .unwrap_or_else(|| panic!("{text:?} is not in the window"));
        let button = |pressed| Input::PointerButton {
            pos,
            button: PointerButton::Primary,
            pressed,
            modifiers: Modifiers::NONE,
        };
        for event in [Input::PointerMoved(pos), button(true), button(false)] {
            for action in shot.frame_with(&self.state, vec![event]) {
                self.send(action);
            }
        }
        self.settle(&mut shot);
        shot
    }

    fn settled(&mut self, size: [u32; 2], theme: Theme) -> Shot {
        let mut shot = Shot::new(size, theme, 1.0);
        self.settle(&mut shot);
        shot
    }

    fn settle(&mut self, shot: &mut Shot) {
        let mut quiet = 0;
        for _ in 0..PASSES {
            let actions = shot.frame(&self.state);
            quiet = if actions.is_empty() { quiet + 1 } else { 0 };
            // A layout that follows an answer settles within two passes.
            if quiet > 2 {
                break;
            }
            for action in actions {
                self.send(action);
            }
        }
    }
}

/// The middle of this text, where it is painted.
fn place_of(output: &FullOutput, text: &str) -> Option<Pos2> {
    fn find(shape: &Shape, text: &str) -> Option<Pos2> {
        match shape {
            Shape::Text(shown) => shown.galley.text().contains(text).then(|| {
                let before = shown
                    .galley
                    .text()
                    .split(text)
                    .next()
                    .unwrap_or_default()
                    .chars()
                    .count();
                let at = |index| {
                    shown
                        .galley
                        .pos_from_cursor(egui::text::CCursor::new(index))
                        .center()
                };
                shown.pos
                    + ((at(before).to_vec2() + at(before + text.chars().count()).to_vec2()) / 2.0)
            }),
            Shape::Vec(shapes) => shapes.iter().find_map(|shape| find(shape, text)),
            _ => None,
        }
    }
    output
        .shapes
        .iter()
        .find_map(|shape| find(&shape.shape, text))
}

/// What is painted, letter by letter as far as nothing clips it, a line for each row of text.
pub fn painted(output: &FullOutput, screen: Rect) -> String {
    fn rows(shape: &Shape, clip: Rect, out: &mut Vec<String>) {
        match shape {
            Shape::Text(text) => out.extend(text.galley.rows.iter().map(|row| {
                let left = text.pos + row.pos.to_vec2();
                let inside = |at: Pos2, width: f32| {
                    clip.contains(at) && clip.contains(at + vec2(width, 0.0))
                };
                let glyphs = row.row.glyphs.iter();
                glyphs
                    .filter(|glyph| inside(left + glyph.pos.to_vec2(), glyph.advance_width))
                    .map(|glyph| glyph.chr)
                    .collect()
            })),
            Shape::Vec(shapes) => shapes.iter().for_each(|shape| rows(shape, clip, out)),
            _ => {}
        }
    }
    let mut out = Vec::new();
    for shape in &output.shapes {
        rows(&shape.shape, shape.clip_rect.intersect(screen), &mut out);
    }
    out.join("\n")
}

fn server() -> Server {
    Server {
        given_name: None,
        name: "loupe-sample".into(),
        version: "0.1.0".into(),
        protocol_version: "2025-11-25".into(),
        transport: "in-process".into(),
        instructions: None,
        source: "--sample".into(),
        capabilities: None,
    }
}
