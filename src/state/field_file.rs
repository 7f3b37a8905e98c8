//! A field of the form that takes what is in a file.

use std::path::PathBuf;

use super::undo::UndoStep;
use super::{Dialog, Effect, PathPurpose, SessionId, State};
use loupe_core::number::grouped;

/// The field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldFile {
    /// The server whose form it is in.
    pub session: SessionId,
    pub tool: String,
    /// Its place, as a JSON Pointer, and as people write it.
    pub pointer: String,
    pub path: String,
    /// Whether the schema asks for base64.
    pub is_base64: bool,
}

/// What was in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldText {
    /// The name of the file.
    pub name: String,
    /// In bytes.
    pub size: u64,
    pub text: String,
    pub is_base64: bool,
}

impl State {
    /// Reads a file for a field; without a path it is asked for.
    pub(super) fn fill_field(
        &mut self,
        field: FieldFile,
        path: Option<PathBuf>,
        effects: &mut Vec<Effect>,
    ) {
        match path {
            Some(path) => effects.push(Effect::ReadField { field, path }),
            None => {
                self.filling = Some(field);
                self.dialog = Some(Dialog::Path {
                    purpose: PathPurpose::FillField,
                    text: String::new(),
                });
            }
        }
    }

    pub(super) fn field_read(&mut self, field: FieldFile, read: FieldText) {
        let Some(session) = self.sessions.get_mut(field.session) else {
            return;
        };
        let Some(form) = session.forms.get_mut(&field.tool) else {
            return;
        };
        let before = form.text.to_string();
        if !form.fill(&field.pointer, read.text) {
            return self.toast(&format!(
                "{} is no longer in the form of {}",
                field.path, field.tool
            ));
        }
        let size = grouped(read.size);
        let how = match (read.is_base64, field.is_base64) {
            (false, _) => "as text",
            (true, true) => "as base64",
            (true, false) => "as base64, since they are not UTF-8",
        };
        let what = format!(
            "Filled {} with the {size} bytes of {} {how}",
            field.path, read.name
        );
        self.offer_undo(
            what,
            UndoStep::Form {
                session: field.session,
                tool: field.tool,
                text: before,
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::{Action, CallAction, Event, Form, ListedTool};
    use loupe_core::capture::Tool;

    const SCHEMA: &str = r#"{"type":"object","properties":{"files":{"type":"array","items":{"type":"object","properties":{
        "name":{"type":"string"},"body":{"oneOf":[{"type":"object","properties":{"data":{"type":"string","contentEncoding":"base64"}}}]}}}},
        "of":{"type":"object","additionalProperties":{"type":"string","format":"byte"}}}}"#;

    fn with_form(text: &str) -> State {
        let tool = Tool::read(format!(r#"{{"name":"send","inputSchema":{SCHEMA}}}"#).into());
        let mut form = Form::new(tool.input_schema.as_ref());
        form.set_text(text);
        let mut state = State::default();
        state.session_mut().selected_tool = Some("send".into());
        state.session_mut().forms.insert("send".into(), form);
        state.session_mut().tools.push(ListedTool {
            tool: tool.into(),
            tokens: None,
        });
        state
    }

    fn field(pointer: &str) -> FieldFile {
        FieldFile {
            session: SessionId::default(),
            tool: "send".into(),
            pointer: pointer.into(),
            path: "here".into(),
            is_base64: false,
        }
    }

    fn read(state: &mut State, pointer: &str, is_base64: bool) {
        let read = FieldText {
            name: "a.bin".into(),
            size: 1_234,
            text: "QQ==".into(),
            is_base64,
        };
        state.apply(
            Event::FieldRead {
                field: field(pointer),
                read,
            },
            &mut Vec::new(),
        );
    }

    #[test]
    fn what_is_in_the_file_is_in_the_form_at_its_place_and_can_be_taken_back() {
        let before =
            r#"{"files":[{"name":"x"},{"name":"y","body":{"data":"old"}}],"of":{"a/b":"old"}}"#;
        let mut state = with_form(before);
        for (pointer, after) in [
            (
                "/files/1/body/data",
                r#"{"files":[{"name":"x"},{"name":"y","body":{"data":"QQ=="}}],"of":{"a/b":"old"}}"#,
            ),
            (
                "/of/a~1b",
                r#"{"files":[{"name":"x"},{"name":"y","body":{"data":"old"}}],"of":{"a/b":"QQ=="}}"#,
            ),
        ] {
            read(&mut state, pointer, true);
            assert_eq!(
                state.form().map(|form| form.text.to_string()).as_deref(),
                Some(after)
            );
            let message =
                "Filled here with the 1,234 bytes of a.bin as base64, since they are not UTF-8";
            assert_eq!(
                state.undo.as_ref().map(|undo| undo.what.as_str()),
                Some(message)
            );
            state.perform(Action::Undo, &mut Vec::new());
            assert_eq!(
                state.form().map(|form| form.text.to_string()).as_deref(),
                Some(before)
            );
        }
        read(&mut state, "/files/7/name", false);
        assert_eq!(
            state.toasts.last().map(|toast| toast.text.as_str()),
            Some("here is no longer in the form of send")
        );
    }

    #[test]
    fn without_a_path_it_is_asked_for() {
        let mut state = with_form("{}");
        let mut effects = Vec::new();
        state.perform(
            CallAction::FillField {
                field: field("/of/x"),
                path: None,
            },
            &mut effects,
        );
        state.check_schemas(&mut effects);
        assert!(
            effects.is_empty()
                && matches!(
                    state.dialog,
                    Some(Dialog::Path {
                        purpose: PathPurpose::FillField,
                        ..
                    })
                )
        );
        state.perform(
            Action::TakePath {
                purpose: PathPurpose::FillField,
                text: "/a.bin".into(),
            },
            &mut effects,
        );
        assert_eq!(
            effects,
            [Effect::ReadField {
                field: field("/of/x"),
                path: "/a.bin".into()
            }]
        );
    }

    #[test]
    fn base64_is_what_the_schema_says() {
        let form = with_form("{}").session_mut().forms.remove("send").unwrap();
        let all: Vec<_> = form
            .schemas
            .iter()
            .filter(|schema| schema.kind.is_base64())
            .collect();
        assert_eq!(all.len(), 2);
    }
}
