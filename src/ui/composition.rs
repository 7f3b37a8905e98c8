//! Input methods: while a word is composed, as in Japanese and Korean, the keyboard is the input method's.

use egui::{Context, Event, ImeEvent, Plugin, RawInput};

/// Lets go of the keys of a composition before anything looks at them: they are no shortcut, send nothing and move
/// nothing.
#[derive(Default)]
pub struct Composition {
    is_going_on: bool,
}

impl Plugin for Composition {
    fn debug_name(&self) -> &'static str {
        "composition"
    }

    fn input_hook(&mut self, ctx: &Context, input: &mut RawInput) {
        // Where no field has the focus nothing is composed.
        let mut was_going_on = self.is_going_on && ctx.text_edit_focused();
        self.is_going_on = was_going_on;
        input.events.retain(|event| {
            match event {
                Event::Ime(ImeEvent::Preedit { text, .. }) => {
                    self.is_going_on = !text.is_empty();
                    was_going_on |= self.is_going_on;
                }
                Event::Ime(ImeEvent::Commit(_)) => self.is_going_on = false,
                // The key that ends a composition may come after what it wrote.
                Event::Key { pressed: true, .. } => return !was_going_on,
                _ => {}
            }
            true
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::Bytes;
    use egui::accesskit::Role;
    use egui::{Key, Modifiers};
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable;

    use super::*;
    use crate::state::{
        Action, Dialog, Form, ImportAction, ListedTool, Screen, State, Value, ViewAction,
    };
    use crate::ui::{Cx, theme, window};
    use loupe_analysis::queries::Search;
    use loupe_core::capture::{Capture, CaptureId, Server, Tool};

    /// A window whose state changes by what is done in it.
    struct Live {
        state: State,
        sent: Vec<Action>,
    }

    impl eframe::App for Live {
        fn ui(&mut self, ui: &mut egui::Ui, _frame: &mut eframe::Frame) {
            let cx = Cx::new(&self.state);
            window(ui, &cx);
            for action in cx.into_actions() {
                if !matches!(action, Action::Want(_)) {
                    self.sent.push(action.clone());
                    self.state.perform(action, &mut Vec::new());
                }
            }
        }
    }

    fn open(state: State) -> Harness<'static, Live> {
        let mut harness = Harness::builder()
            .with_size([1_280.0, 800.0])
            .build_eframe(|cc| {
                theme::install(&cc.egui_ctx);
                cc.egui_ctx.add_plugin(Composition::default());
                Live {
                    state,
                    sent: Vec::new(),
                }
            });
        harness.run_ok();
        harness
    }

    fn preedit(text: &str) -> Event {
        Event::Ime(ImeEvent::Preedit {
            text: text.into(),
            active_range_chars: None,
        })
    }

    fn key(key: Key) -> Event {
        Event::Key {
            key,
            physical_key: None,
            pressed: true,
            repeat: false,
            modifiers: Modifiers::NONE,
        }
    }

    /// Composes a word in the field that has the focus, with keys that mean something else elsewhere, and returns what was
    /// sent. The key that ends it comes in the same frame, as some systems send it.
    fn compose(harness: &mut Harness<'_, Live>) -> Vec<Action> {
        harness.state_mut().sent.clear();
        #[expect(deprecated, reason = "some systems still send it")]
        harness.event(Event::Ime(ImeEvent::Enabled));
        for step in ["に", "にほん"] {
            harness.event(preedit(step));
            harness.run_ok();
            for meant in [
                Key::Enter,
                Key::Escape,
                Key::ArrowDown,
                Key::V,
                Key::W,
                Key::F8,
                Key::Tab,
            ] {
                harness.event(key(meant));
                harness.run_ok();
            }
        }
        let commit = Event::Ime(ImeEvent::Commit("日本".into()));
        harness.input_mut().events.extend([commit, key(Key::Enter)]);
        harness.run_ok();
        std::mem::take(&mut harness.state_mut().sent)
    }

    /// What is composed is sent as it grows, and nothing else is.
    #[track_caller]
    fn check(harness: &mut Harness<'_, Live>, typed: impl Fn(&str) -> Action) {
        let sent = compose(harness);
        let all = ["に", "にほん", "日本"].map(typed);
        assert_eq!(sent, all);
    }

    fn state() -> State {
        let mut state = State::default();
        let schema = Bytes::from(
            r#"{"type":"object","properties":{"term":{"type":"string"},"note":{"type":"string"}}}"#,
        );
        let tool = format!(
            r#"{{"name":"find","inputSchema":{}}}"#,
            String::from_utf8_lossy(&schema)
        );
        state.session_mut().tools = vec![ListedTool {
            tool: Arc::new(Tool::read(Bytes::from(tool))),
            tokens: None,
        }];
        state.session_mut().selected_tool = Some("find".into());
        let form = Form::new(Some(&schema));
        state.session_mut().forms.insert("find".into(), form);
        let response =
            r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"x"}]}}"#;
        let capture = Capture {
            response: Some(Bytes::from(response)),
            ..Capture::empty(CaptureId("one".into()), Server::default())
        };
        state.view.capture = Some(capture.id.clone());
        state.captures.push(Arc::new(capture));
        state.view.screen = Screen::Answer;
        state
    }

    #[test]
    fn a_word_is_composed_in_the_palette() {
        let mut state = state();
        let palette = |text: &str| Dialog::Palette {
            text: text.into(),
            chosen: 0,
        };
        state.dialog = Some(palette(""));
        let mut harness = open(state);
        check(&mut harness, |text| Action::ShowDialog(palette(text)));
        // Afterwards the keys mean what they do.
        harness.event(key(Key::Escape));
        harness.run_ok();
        assert_eq!(harness.state().state.dialog, None);
    }

    #[test]
    fn a_word_is_composed_in_a_field_of_a_call() {
        let mut state = state();
        state.view.capture = None;
        let mut harness = open(state);
        harness
            .get_by_role_and_label(Role::TextInput, "term")
            .focus();
        harness.run_ok();
        check(&mut harness, |text| {
            let value = Value::Text(text.into());
            crate::state::CallAction::SetField { field: 0, value }.into()
        });
    }

    #[test]
    fn a_word_is_composed_where_something_is_looked_for() {
        let mut state = state();
        let search = |text: &str| {
            Some(Search {
                text: text.into(),
                ..Search::default()
            })
        };
        state.view.search = search("");
        let mut harness = open(state);
        check(&mut harness, |text| {
            ViewAction::SetSearch(search(text)).into()
        });
    }

    #[test]
    fn a_word_is_composed_where_a_server_is_named() {
        let mut state = state();
        state.view.screen = Screen::Connect;
        let mut harness = open(state);
        let field = "Paste anything that names a server";
        harness.get_by_label(field).focus();
        harness.run_ok();
        check(&mut harness, |text| {
            ImportAction::SetText(text.into()).into()
        });
    }
}
