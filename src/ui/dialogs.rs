//! What is above the window: questions that must be answered first.
//!
//! A dialog shows whole what it asks about. Esc and a click next to it are always the safe answer.
use egui::text::{CCursor, CCursorRange};
use egui::{
    Frame, Id, Key, Label, Margin, Modifiers, Response, ScrollArea, Stroke, TextEdit, Ui, vec2,
};

use super::theme;
use super::{
    Cx, call_bar, code, commands, connect, definition, diff, drawer, exact, fixture, history,
    icons, live, palette, server_requests, servers, watch, widgets,
};
use crate::state::{
    Action, CallAction, CallOwner, Dialog, FixtureAction, PathPurpose, PreparedCall, PreparedVerify,
};
use loupe_analysis::fixture::export::ExportChoice;
use loupe_core::capture::Tool;

pub fn dialogs_ui(ui: &mut Ui, cx: &Cx<'_>) {
    match (
        &cx.state.dialog,
        cx.state.session().server_requests.open.front(),
    ) {
        (Some(Dialog::Palette { text, chosen }), _) => palette::palette_ui(ui, cx, text, *chosen),
        (Some(dialog), _) => dialog_ui(ui, cx, dialog),
        (None, Some(open)) => server_requests::ask_ui(ui, cx, open),
        (None, None) => connect::login::dialog_ui(ui, cx),
    }
}

fn dialog_ui(ui: &Ui, cx: &Cx<'_>, dialog: &Dialog) {
    let room = widgets::modal_room(ui);
    let wanted = match dialog {
        Dialog::Definition { .. }
        | Dialog::ExactCount
        | Dialog::Stderr
        | Dialog::ToolsChanged
        | Dialog::History
        | Dialog::Fixture
        | Dialog::TranscriptDifferences
        | Dialog::Wrap(_) => 760.0,
        _ => 560.0_f32,
    };
    let response = widgets::modal(
        ui,
        Id::unique(("dialog", std::mem::discriminant(dialog))),
        wanted,
        |ui| {
            let height = (room.y - 120.0).max(120.0);
            match dialog {
                Dialog::ConfirmCall { call } => confirm_call_ui(ui, cx, call, height),
                Dialog::ConfirmCompare { compare, calls } => {
                    let question = Question {
                        verb: &format!("Make {}", calls_text(calls.len())),
                        of: &format!(" of {}", compare.tool.name),
                        why: &call_bar::why_asked(&compare.tool),
                        what: "One after the other, with these arguments:",
                        lines: calls,
                        tool: Some(&*compare.tool).filter(|_| !compare.is_of_servers()),
                        is_unexpected: false,
                    };
                    confirm_ui(ui, cx, question, height);
                }
                Dialog::ConfirmFixtures { run, calls } => {
                    confirm_fixtures_ui(ui, cx, run, calls, height);
                }
                Dialog::Wrap(prepared) => connect::wrap::dialog_ui(ui, cx, prepared, height),
                Dialog::AllowTranscript(place) => live::allow_ui(ui, cx, place),
                Dialog::TranscriptDifferences => live::differences_ui(ui, cx, height),
                Dialog::Values(missing) => servers::values_ui(ui, cx, missing),
                Dialog::AllowedTools => servers::allowed_ui(ui, cx, height),
                Dialog::Silence(silence) => drawer::findings::silence_ui(ui, cx, silence),
                Dialog::KeepArguments { name } => call_bar::saved::keep_ui(ui, cx, name),
                Dialog::Variables { name, value } => {
                    call_bar::saved::variables_ui(ui, cx, name, value, height)
                }
                Dialog::Watch(edited) => watch::dialog_ui(ui, cx, edited),
                Dialog::Definition { tool } => definition::definition_ui(ui, cx, tool, height),
                Dialog::OpenLink { url } => link_ui(ui, cx, url),
                Dialog::ToolsChanged => {
                    widgets::title(ui, cx, "Tools since the previous connection");
                    diff::tools_changed_ui(ui, cx, height);
                }
                Dialog::Shortcuts => shortcuts_ui(ui, cx, height),
                // Painted by `palette`, which is no box in the middle.
                Dialog::Palette { .. } => {}
                Dialog::History => {
                    widgets::title(ui, cx, "History");
                    history::dialog_ui(ui, cx, height);
                }
                Dialog::Fixture => {
                    widgets::title(ui, cx, &fixture::title(cx));
                    fixture::dialog_ui(ui, cx, height);
                }
                Dialog::ExactCount => exact::dialog_ui(ui, cx, height),
                Dialog::Stderr => stderr_ui(ui, cx, height),
                Dialog::Roots { text, is_declared } => {
                    server_requests::roots_ui(ui, cx, text, *is_declared)
                }
                Dialog::Path { purpose, text } => path_ui(ui, cx, *purpose, text),
            }
        },
    );
    if response.should_close() {
        cx.send(Action::CloseDialog);
    }
}

fn confirm_call_ui(ui: &mut Ui, cx: &Cx<'_>, call: &PreparedCall, height: f32) {
    let question = Question {
        verb: &format!("Call {}", call.tool.name),
        of: "",
        why: &call_bar::why_asked(&call.tool),
        what: "These arguments are sent:",
        lines: &code::lines_of(ui, "confirm", &call.arguments),
        tool: Some(&call.tool),
        is_unexpected: matches!(call.owner, CallOwner::Reconnect { .. }) && ui.text_edit_focused(),
    };
    confirm_ui(ui, cx, question, height);
}

fn confirm_fixtures_ui(
    ui: &mut Ui,
    cx: &Cx<'_>,
    run: &PreparedVerify,
    calls: &[String],
    height: f32,
) {
    let all = calls_text(run.calls());
    let why = match calls.len() {
        1 => format!(
            "1 of {all} uses a tool that is not declared read-only and may change something."
        ),
        some => format!(
            "{some} of {all} use tools that are not declared read-only and may change something."
        ),
    };
    let question = Question {
        verb: &format!("Make {all}"),
        of: "",
        why: &why,
        what: "These are sent, one after another:",
        lines: calls,
        tool: None,
        is_unexpected: false,
    };
    if calls.len() < run.calls() {
        skip_writing_ui(ui, cx, run.calls() - calls.len());
    }
    confirm_ui(ui, cx, question, height - theme::BUTTON);
}

/// Takes away the Enter that nobody meant for a dialog.
fn leave_out_held_enter(ui: &Ui) {
    ui.input_mut(|input| {
        input.consume_key(Modifiers::COMMAND, Key::Enter);
        input.events.retain(|event| {
            !matches!(
                event,
                egui::Event::Key {
                    key: Key::Enter,
                    repeat: true,
                    ..
                }
            )
        });
    });
}

/// "1 call", "3 calls".
fn calls_text(count: usize) -> String {
    if count == 1 {
        "1 call".to_owned()
    } else {
        widgets::number_text(count as u64, "calls")
    }
}

/// What is asked before calls that may change something.
#[derive(Clone, Copy)]
struct Question<'a> {
    /// What the button does; asked with `of` behind it.
    verb: &'a str,
    of: &'a str,
    why: &'a str,
    /// What the list is, and the list.
    what: &'a str,
    lines: &'a [String],
    /// The one tool that is called, where it is one.
    tool: Option<&'a Tool>,
    /// Nobody has just asked for it, so an Enter may be meant for something else.
    is_unexpected: bool,
}

fn confirm_ui(ui: &mut Ui, cx: &Cx<'_>, question: Question<'_>, height: f32) {
    let t = theme::of(ui);
    let Question {
        verb,
        of,
        why,
        what,
        lines,
        tool,
        is_unexpected,
    } = question;
    widgets::title(ui, cx, &format!("{verb}{of}?"));
    ui.horizontal_top(|ui| {
        ui.add(Label::new(icons::icon_fill(icons::CONSENT, 16.0, t.warn)));
        widgets::paragraph(ui, why);
    });
    widgets::note(ui, what);
    code::code_ui(ui, "confirm", lines, height - 40.0);
    ui.add_space(4.0);
    if let Some(tool) = tool.filter(|tool| !tool.raw.is_empty() && cx.state.can_remember()) {
        servers::allow_ui(ui, cx, tool);
    }
    leave_out_held_enter(ui);
    let is_safe = tool.is_some_and(|tool| !tool.is_declared_destructive()) && !is_unexpected;
    widgets::at_right(ui, theme::BUTTON, |ui| {
        let send = widgets::Button::new(verb).primary().show(ui);
        let cancel = widgets::button(ui, "Cancel");
        widgets::focus_first(ui, if is_safe { send.id } else { cancel.id });
        if send.clicked() {
            cx.send(CallAction::Confirm);
        } else if cancel.clicked() {
            cx.send(Action::CloseDialog);
        }
    });
}

/// Offers to make only the calls that change nothing.
fn skip_writing_ui(ui: &mut Ui, cx: &Cx<'_>, left: usize) {
    let words = format!("Skip them: make {}", calls_text(left));
    if widgets::Button::new(&words)
        .tip("Fixtures of other tools are reported as not called")
        .clicked(ui)
    {
        cx.send(FixtureAction::SkipWriting);
    }
}

fn link_ui(ui: &mut Ui, cx: &Cx<'_>, url: &str) {
    let t = theme::of(ui);
    widgets::title(ui, cx, "Open this link?");
    ui.horizontal(|ui| {
        widgets::note(ui, "Host");
        widgets::words(ui, host_of(url), theme::mono_semibold(13.0), t.strong);
    });
    Frame::new()
        .fill(t.bg)
        .stroke(Stroke::new(1.0, t.line))
        .corner_radius(theme::RADIUS_CONTROL)
        .inner_margin(Margin::same(10))
        .show(ui, |ui| {
            ScrollArea::vertical()
                .max_height(160.0)
                .auto_shrink([false, true])
                .show(ui, |ui| {
                    ui.add(
                        Label::new(widgets::styled(url, theme::code(), t.text))
                            .wrap()
                            .selectable(true),
                    );
                });
        });
    widgets::note(
        ui,
        "The link is from the server's answer. It opens in your browser.",
    );
    widgets::at_right(ui, theme::BUTTON, |ui| {
        if widgets::Button::new("Open")
            .icon(icons::OPEN_LINK)
            .name("Open the link")
            .primary()
            .clicked(ui)
        {
            cx.send(Action::ConfirmLink);
        }
        widgets::cancel(ui, cx);
        if widgets::Button::new("Copy")
            .icon(icons::COPY)
            .name("Copy the link")
            .clicked(ui)
        {
            cx.send(Action::Copy(url.to_owned()));
        }
    });
}

/// The host of an address, without the user names that some addresses hide the true host behind.
fn host_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or(rest);
    authority.rsplit('@').next().unwrap_or(authority)
}

fn shortcuts_ui(ui: &mut Ui, cx: &Cx<'_>, height: f32) {
    let t = theme::of(ui);
    widgets::title(ui, cx, "Shortcuts");
    ScrollArea::vertical()
        .max_height(height)
        .min_scrolled_height(height)
        .auto_shrink([false, true])
        .show(ui, |ui| {
            egui::Grid::new("shortcuts")
                .num_columns(2)
                .min_row_height(16.0)
                .spacing(vec2(24.0, 6.0))
                .show(ui, |ui| {
                    for command in commands::COMMANDS
                        .iter()
                        .filter(|command| command.shortcut.is_some())
                    {
                        widgets::key_cap(ui, &command.keys());
                        widgets::words(ui, command.name, theme::base(), t.text);
                        ui.end_row();
                    }
                    for (keys, name) in [
                        ("Tab", "Next control"),
                        ("↑ ↓", "Lists, tree and token cost"),
                        ("← →", "Fold and open in the tree"),
                        ("Shift F10", "Menu of a value, a row, a column or a capture"),
                        ("Ctrl + − 0", "Larger, smaller, normal size"),
                    ] {
                        widgets::key_cap(ui, keys);
                        widgets::words(ui, name, theme::base(), t.text);
                        ui.end_row();
                    }
                });
        });
    widgets::note(ui, "Bare keys work while no text field has the focus");
}

fn stderr_ui(ui: &mut Ui, cx: &Cx<'_>, height: f32) {
    widgets::title(ui, cx, "What the server wrote to stderr");
    let lines = cx.state.session().connection.stderr();
    if lines.is_empty() {
        widgets::paragraph(ui, "Nothing so far");
        return;
    }
    let dropped = cx.state.session().stderr_dropped;
    if dropped > 0 {
        let words = format!(
            "The last {} are kept; the {} before them were dropped",
            widgets::number_text(lines.len() as u64, "lines"),
            widgets::grouped(dropped)
        );
        ui.label(widgets::styled(words, theme::small(), theme::of(ui).warn));
    }
    code::code_ui(ui, "stderr", lines, height);
    copy_all_ui(ui, cx, || lines.join("\n"));
}

fn copy_all_ui(ui: &mut Ui, cx: &Cx<'_>, text: impl FnOnce() -> String) {
    widgets::at_right(ui, theme::BUTTON, |ui| {
        let button = widgets::Button::new("Copy all").icon(icons::COPY);
        if button.clicked(ui) {
            cx.send(Action::Copy(text()));
        }
    });
}

/// What a dialog that asks for a path says: its title, what the path leads to, and the word of its button.
fn path_words(purpose: PathPurpose) -> (String, &'static str, &'static str) {
    const WRITTEN: &str = "The path of the file to write; an existing file is replaced";
    let (title, what, verb) = match purpose {
        PathPurpose::OpenCapture => ("Open a capture", "Capture folder or result file", "Open"),
        PathPurpose::OpenTokenizer => (
            "Open a tokenizer file",
            "The path of a tokenizer.json, SentencePiece, tiktoken or tekken file; it is read here and sent nowhere",
            "Open",
        ),
        PathPurpose::FillField => (
            "Fill a field from a file",
            "The path of a file of at most 1 MiB; its bytes are taken as text, or as base64 where the schema says so or they are not UTF-8",
            "Fill",
        ),
        PathPurpose::ImportConfig => (
            "Import a configuration",
            "The path of a client's configuration, such as .mcp.json",
            "Import",
        ),
        PathPurpose::ExportAs(kind) if kind == ExportChoice::FOLDER => (
            "Export the capture",
            "The path of the folder to make",
            "Export",
        ),
        PathPurpose::SaveLog => (
            "Save the protocol log",
            "The path of the file to write: one JSON object a line",
            "Save",
        ),
        PathPurpose::ExportCompare(_) => ("Export the comparison", WRITTEN, "Export"),
        PathPurpose::SaveBlock(_) => ("Save the block", WRITTEN, "Save"),
        PathPurpose::ExportAs(kind) => return (kind.title(), WRITTEN, "Export"),
        PathPurpose::OpenTools => (
            "Compare tools with a file",
            "The path of a list (`tools --json`, a tools/list result), of a folder of captures, or of a session's record",
            "Compare",
        ),
        PathPurpose::OpenFixtures => (
            "Verify fixtures",
            "The path of a fixture, or of a folder of fixtures",
            "Open",
        ),
    };
    (title.to_owned(), what, verb)
}

fn path_ui(ui: &mut Ui, cx: &Cx<'_>, purpose: PathPurpose, text: &str) {
    let (title, what, verb) = path_words(purpose);
    widgets::title(ui, cx, &title);
    widgets::note(ui, what);
    let mut edited = text.to_owned();
    let response = path_field_ui(ui, cx, purpose, &mut edited);
    if response.changed() {
        cx.send(Action::ShowDialog(Dialog::Path {
            purpose,
            text: edited.clone(),
        }));
    }
    let is_entered = response.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
    if let Some(problem) = &cx.state.path_problem {
        widgets::problem_ui(ui, problem);
    }
    let text = edited.trim();
    widgets::at_right(ui, theme::BUTTON, |ui| {
        let button = widgets::Button::new(verb).primary();
        let is_clicked = button.enabled(!text.is_empty()).clicked(ui);
        if (is_clicked || is_entered) && !text.is_empty() {
            cx.send(Action::TakePath {
                purpose,
                text: text.to_owned(),
            });
        }
        widgets::cancel(ui, cx);
        let browse = widgets::Button::new("Browse…").icon(icons::OPEN_FILE);
        let browse = browse.tip("The system's own file dialog");
        if browse.clicked(ui) {
            cx.send(Action::ChoosePath(purpose));
        }
    });
}

/// The field of a path. What is offered in it is replaced by what is typed.
fn path_field_ui(ui: &mut Ui, cx: &Cx<'_>, purpose: PathPurpose, edited: &mut String) -> Response {
    let hint = match purpose {
        PathPurpose::OpenTokenizer => "/path/to/tokenizer.json",
        _ => "/path/to/capture",
    };
    let field = TextEdit::singleline(edited)
        .id(Id::unique("path"))
        .font(theme::mono(13.0))
        .desired_width(f32::INFINITY)
        .hint_text(hint)
        .margin(Margin::symmetric(8, 6));
    let response = ui.add(field).accessible_name("Path");
    widgets::focus_first(ui, response.id);
    if let Some(problem) = &cx.state.path_problem {
        widgets::focus_opened(ui, problem.message(), response.id);
    }
    if response.gained_focus()
        && !response.is_pointer_button_down_on()
        && let Some(mut state) = TextEdit::load_state(ui, response.id)
    {
        let whole = CCursorRange::two(CCursor::new(0), CCursor::new(edited.chars().count()));
        state.cursor.set_char_range(Some(whole));
        state.store(ui, response.id);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_true_host_is_named() {
        assert_eq!(host_of("https://example.org/a?b"), "example.org");
        assert_eq!(
            host_of("https://bank.example@evil.example:8080/x"),
            "evil.example:8080"
        );
        assert_eq!(
            host_of("https://evil.example\\@bank.example/"),
            "evil.example"
        );
    }
}
