//! What stands above the window: questions that must be answered first.
//!
//! A dialog shows whole what it asks about. Esc and a click beside it are always the safe answer.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use egui::{Frame, Id, Key, Label, Margin, Modifiers, RichText, Role, ScrollArea, Sense, Stroke, TextEdit, Ui, WidgetInfo, vec2};

use super::theme::{self, ThemeTokens};
use super::{
    Cx, call_bar, commands, connect, definition, diff, drawer, exact, fixture, history, icons, once, palette, server_requests,
    servers, top_bar, watch, widgets,
};
use crate::capture::Tool;
use crate::finding::Severity;
use crate::fixture::export::ExportChoice;
use crate::json::Doc;
use crate::json::walk::{WalkEvent, walk};
use crate::state::{Action, CallAction, CallOwner, Dialog, PathPurpose};

pub fn dialogs_ui(ui: &mut Ui, cx: &Cx<'_>) {
    match (&cx.state.dialog, cx.state.server_requests.open.front()) {
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
        | Dialog::Steps
        | Dialog::ToolsChanged
        | Dialog::History
        | Dialog::Fixture => 760.0,
        _ => 560.0_f32,
    };
    let response = widgets::modal(ui, Id::unique(("dialog", std::mem::discriminant(dialog))), wanted, |ui| {
        let height = (room.y - 120.0).max(120.0);
        match dialog {
            Dialog::ConfirmCall { call } => {
                let lines = lines_of(ui, "confirm", &call.arguments);
                let why = call_bar::why_asked(&call.tool);
                let verb = format!("Call {}", call.tool.name);
                let what = "These arguments are sent:";
                let is_unexpected = matches!(call.owner, CallOwner::Reconnect { .. }) && ui.text_edit_focused();
                confirm_ui(
                    ui,
                    cx,
                    Question { verb: &verb, of: "", why: &why, what, lines: &lines, tool: Some(&call.tool), is_unexpected },
                    height,
                );
            }
            Dialog::ConfirmCompare { compare, calls } => {
                let (why, of) = (call_bar::why_asked(&compare.tool), format!(" of {}", compare.tool.name));
                let what = "One after the other, with these arguments:";
                let verb = format!("Make {}", calls_text(calls.len()));
                let tool = Some(&*compare.tool).filter(|_| !compare.is_of_servers());
                confirm_ui(
                    ui,
                    cx,
                    Question { verb: &verb, of: &of, why: &why, what, lines: calls, tool, is_unexpected: false },
                    height,
                );
            }
            Dialog::ConfirmCollection { run, calls } => {
                let all = calls_text(run.calls.len());
                let why = match calls.len() {
                    1 => format!("1 of {all} uses a tool that is not declared read-only and may change something."),
                    some => format!("{some} of {all} use tools that are not declared read-only and may change something."),
                };
                let what = "These are sent, one after another:";
                let verb = format!("Make {all}");
                confirm_ui(
                    ui,
                    cx,
                    Question { verb: &verb, of: "", why: &why, what, lines: calls, tool: None, is_unexpected: false },
                    height,
                );
            }
            Dialog::Values(missing) => servers::values_ui(ui, cx, missing),
            Dialog::AllowedTools => servers::allowed_ui(ui, cx, height),
            Dialog::Silence(silence) => drawer::findings::silence_ui(ui, cx, silence),
            Dialog::KeepArguments { name } => call_bar::saved::keep_ui(ui, cx, name),
            Dialog::Variables { name, value } => call_bar::saved::variables_ui(ui, cx, name, value, height),
            Dialog::Watch(edited) => watch::dialog_ui(ui, cx, edited),
            Dialog::Definition { tool } => definition::definition_ui(ui, cx, tool, height),
            Dialog::OpenLink { url } => link_ui(ui, cx, url),
            Dialog::ToolsChanged => {
                title(ui, cx, "Tools since the previous connection");
                diff::tools_changed_ui(ui, cx, height);
            }
            Dialog::Shortcuts => shortcuts_ui(ui, cx, height),
            // Painted by `palette`, which is no box in the middle.
            Dialog::Palette { .. } => {}
            Dialog::History => {
                title(ui, cx, "History");
                history::dialog_ui(ui, cx, height);
            }
            Dialog::Fixture => {
                title(ui, cx, "Save as a fixture");
                fixture::dialog_ui(ui, cx, height);
            }
            Dialog::ExactCount => exact::dialog_ui(ui, cx, height),
            Dialog::Stderr => stderr_ui(ui, cx, height),
            Dialog::Steps => steps_ui(ui, cx, height),
            Dialog::Roots { text, is_declared } => server_requests::roots_ui(ui, cx, text, *is_declared),
            Dialog::Path { purpose, text } => path_ui(ui, cx, *purpose, text),
        }
    });
    if response.should_close() {
        cx.send(Action::CloseDialog);
    }
}

pub(super) fn title(ui: &mut Ui, cx: &Cx<'_>, words: &str) {
    let t = ThemeTokens::of(ui);
    ui.horizontal(|ui| {
        ui.label(RichText::new(words).font(theme::semibold(16.0)).color(t.strong));
        top_bar::at_right(ui, theme::ICON_BUTTON, |ui| {
            if widgets::icon_button(ui, icons::CLOSE, "Close").clicked() {
                cx.send(Action::CloseDialog);
            }
        });
    });
}

pub(super) fn paragraph(ui: &mut Ui, words: &str) {
    let t = ThemeTokens::of(ui);
    ui.add(Label::new(RichText::new(words).font(theme::base()).color(t.text)).wrap());
}

/// Bytes of a line that stand in one row.
const MAX_ROW: usize = 2_000;

/// A longer text is laid out in rows: a label is read whole in every frame.
pub(super) const MAX_LABEL: usize = 16 << 10;

/// A box of exact lines; only those in sight are laid out.
pub(super) fn code_ui(ui: &mut Ui, salt: &str, lines: &[String], height: f32) {
    marked_code_ui(ui, salt, lines, &BTreeMap::new(), height);
}

/// Findings about lines, by position: the gravest severity and what they say.
pub(super) type LineMarks = BTreeMap<usize, (Severity, String)>;

/// The same with lines that findings are about.
pub(super) fn marked_code_ui(ui: &mut Ui, salt: &str, lines: &[String], marks: &LineMarks, height: f32) {
    let t = ThemeTokens::of(ui);
    Frame::new()
        .fill(t.bg)
        .stroke(Stroke::new(1.0, t.line))
        .corner_radius(theme::RADIUS_CONTROL)
        .inner_margin(Margin::same(10))
        .show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            ScrollArea::both().id_salt(salt).max_height(height).min_scrolled_height(height).auto_shrink([false, true]).show_rows(
                ui,
                theme::TEXT_ROW,
                lines.len(),
                |ui, range| {
                    for (at, line) in lines.iter().enumerate().take(range.end).skip(range.start) {
                        let shown = if line.is_empty() { " " } else { line };
                        let galley = ui.painter().layout_no_wrap(shown.to_owned(), theme::code(), t.text);
                        let (rect, response) = ui.allocate_exact_size(vec2(galley.size().x, theme::TEXT_ROW), Sense::hover());
                        let mark = marks.get(&at);
                        let said = mark.map(|(_, said)| format!("; {said}")).unwrap_or_default();
                        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, format!("{line}{said}")));
                        if let Some((severity, said)) = mark {
                            let place = rect.with_min_x(rect.left() + indent(ui, line));
                            ui.painter().add(drawer::findings::mark_shape(t, place, *severity));
                            response.on_hover_text(said);
                        }
                        ui.painter().galley(rect.min, galley, t.text);
                    }
                },
            );
        });
}

/// The width of the blanks that a line begins with.
fn indent(ui: &Ui, line: &str) -> f32 {
    let blanks = &line[..line.len() - line.trim_start().len()];
    ui.painter().layout_no_wrap(blanks.to_owned(), theme::code(), ThemeTokens::of(ui).text).size().x
}

/// Gives the keyboard to the answer that Enter is to give, once, when the dialog opens. Neither the keys that make a call
/// nor an Enter that is still held down from before are that Enter.
fn focus_first(ui: &Ui, answer: &egui::Response) {
    let id = Id::unique("dialog has had its focus");
    let pass = ui.ctx().cumulative_pass_nr();
    let last: Option<u64> = ui.data(|data| data.get_temp(id));
    if last.is_none_or(|last| last + 1 < pass) {
        answer.request_focus();
    }
    ui.data_mut(|data| data.insert_temp(id, pass));
}

/// Takes away the Enter that nobody meant for a dialog.
fn leave_out_held_enter(ui: &Ui) {
    ui.input_mut(|input| {
        input.consume_key(Modifiers::COMMAND, Key::Enter);
        input.events.retain(|event| !matches!(event, egui::Event::Key { key: Key::Enter, repeat: true, .. }));
    });
}

/// "1 call", "3 calls".
pub(super) fn calls_text(count: usize) -> String {
    if count == 1 { "1 call".to_owned() } else { widgets::number_text(count as u64, "calls") }
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
    let t = ThemeTokens::of(ui);
    let Question { verb, of, why, what, lines, tool, is_unexpected } = question;
    title(ui, cx, &format!("{verb}{of}?"));
    ui.horizontal_top(|ui| {
        ui.add(Label::new(icons::icon_fill(icons::CONSENT, 16.0, t.warn)));
        paragraph(ui, why);
    });
    ui.label(RichText::new(what).font(theme::small()).color(t.weak));
    code_ui(ui, "confirm", lines, height - 40.0);
    ui.add_space(4.0);
    if let Some(tool) = tool.filter(|tool| !tool.raw.is_empty() && cx.state.servers.can_remember()) {
        servers::allow_ui(ui, cx, tool);
    }
    leave_out_held_enter(ui);
    let is_safe = tool.is_some_and(|tool| !tool.is_declared_destructive()) && !is_unexpected;
    top_bar::at_right(ui, theme::BUTTON, |ui| {
        let send = widgets::Button::new(verb).primary().show(ui);
        let cancel = widgets::button(ui, "Cancel");
        focus_first(ui, if is_safe { &send } else { &cancel });
        if send.clicked() {
            cx.send(CallAction::Confirm);
        } else if cancel.clicked() {
            cx.send(Action::CloseDialog);
        }
    });
}

/// JSON laid out in lines; computed once per text.
pub(super) fn lines_of(ui: &Ui, what: &str, json: &Bytes) -> Arc<Vec<String>> {
    once::per_text(ui, Id::unique(("lines of", what)), json, || {
        let text = String::from_utf8_lossy(json);
        // A text that is not JSON stands as it is: it is shown because someone decides about it.
        let is_json = Doc::parse(json.clone()).is_json();
        Arc::new(folded(if is_json { pretty_lines(&text) } else { text.lines().map(str::to_owned).collect() }))
    })
}

/// JSON, and the line that each of its values begins in where [`lines_of`] lays it out, by tape index; computed once per
/// text.
pub(super) fn lines_of_nodes(ui: &Ui, what: &str, json: &Bytes) -> Arc<(Doc, Vec<usize>)> {
    once::per_text(ui, Id::unique(("lines of nodes", what)), json, || {
        let doc = Doc::parse(json.clone());
        let Some(root) = doc.root().filter(|_| doc.is_json()) else { return Arc::new((doc, Vec::new())) };
        // Long lines are several rows.
        let mut rows = vec![0];
        for line in pretty_lines(&root.raw_text()) {
            let pieces = folded(vec![line]).len();
            rows.push(rows[rows.len() - 1] + pieces);
        }
        let (mut line, mut found) = (0, Vec::with_capacity(doc.len()));
        walk(root, |event| match event {
            WalkEvent::Open(node) | WalkEvent::Scalar(node) => {
                line += usize::from(node.index() != root.index());
                found.push(rows.get(line).copied().unwrap_or(0));
            }
            WalkEvent::Close(node) => line += usize::from(!node.is_empty()),
        });
        Arc::new((doc, found))
    })
}

/// The lines as they stand, without any layout; computed once per text.
pub(super) fn exact_lines(ui: &Ui, what: &str, text: &Bytes) -> Arc<Vec<String>> {
    once::per_text(ui, Id::unique(("exact lines of", what)), text, || {
        Arc::new(folded(String::from_utf8_lossy(text).lines().map(str::to_owned).collect()))
    })
}

/// Long lines in pieces: a row is laid out whole, and a message can be one line of a million letters.
pub(super) fn folded(lines: Vec<String>) -> Vec<String> {
    let mut out = Vec::with_capacity(lines.len());
    for line in lines {
        let mut rest = line.as_str();
        while rest.len() > MAX_ROW {
            let cut = rest.floor_char_boundary(MAX_ROW);
            out.push(rest[..cut].to_owned());
            rest = &rest[cut..];
        }
        out.push(if rest.len() == line.len() { line } else { rest.to_owned() });
    }
    out
}

/// Lays JSON out in lines and changes nothing else: every token keeps its spelling.
fn pretty_lines(json: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut depth = 0_usize;
    let mut chars = json.chars().peekable();
    let indent = |depth: usize| "  ".repeat(depth.min(40));
    while let Some(char) = chars.next() {
        match char {
            '"' => {
                line.push('"');
                while let Some(inner) = chars.next() {
                    line.push(inner);
                    match inner {
                        '\\' => line.extend(chars.next()),
                        '"' => break,
                        _ => {}
                    }
                }
            }
            '{' | '[' => {
                line.push(char);
                while chars.next_if(|next| next.is_ascii_whitespace()).is_some() {}
                let close = if char == '{' { '}' } else { ']' };
                if chars.next_if_eq(&close).is_some() {
                    line.push(close);
                } else {
                    depth += 1;
                    lines.push(std::mem::replace(&mut line, indent(depth)));
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                lines.push(std::mem::replace(&mut line, indent(depth)));
                line.push(char);
            }
            ',' => {
                line.push(',');
                lines.push(std::mem::replace(&mut line, indent(depth)));
            }
            ':' => line.push_str(": "),
            char if char.is_ascii_whitespace() => {}
            char => line.push(char),
        }
    }
    lines.push(line);
    lines
}

fn link_ui(ui: &mut Ui, cx: &Cx<'_>, url: &str) {
    let t = ThemeTokens::of(ui);
    title(ui, cx, "Open this link?");
    ui.horizontal(|ui| {
        ui.label(RichText::new("Host").font(theme::small()).color(t.weak));
        ui.label(RichText::new(host_of(url)).font(theme::mono_semibold(13.0)).color(t.strong));
    });
    Frame::new()
        .fill(t.bg)
        .stroke(Stroke::new(1.0, t.line))
        .corner_radius(theme::RADIUS_CONTROL)
        .inner_margin(Margin::same(10))
        .show(ui, |ui| {
            ScrollArea::vertical().max_height(160.0).auto_shrink([false, true]).show(ui, |ui| {
                ui.add(Label::new(RichText::new(url).font(theme::code()).color(t.text)).wrap().selectable(true));
            });
        });
    ui.label(RichText::new("The link is from the server's answer. It opens in your browser.").font(theme::small()).color(t.weak));
    top_bar::at_right(ui, theme::BUTTON, |ui| {
        if widgets::Button::new("Open").icon(icons::OPEN_LINK).name("Open the link").primary().show(ui).clicked() {
            cx.send(Action::ConfirmLink);
        }
        if widgets::button(ui, "Cancel").clicked() {
            cx.send(Action::CloseDialog);
        }
        if widgets::Button::new("Copy").icon(icons::COPY).name("Copy the link").show(ui).clicked() {
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
    let t = ThemeTokens::of(ui);
    title(ui, cx, "Shortcuts");
    ScrollArea::vertical().max_height(height).min_scrolled_height(height).auto_shrink([false, true]).show(ui, |ui| {
        egui::Grid::new("shortcuts").num_columns(2).min_row_height(16.0).spacing(vec2(24.0, 6.0)).show(ui, |ui| {
            for command in commands::COMMANDS.iter().filter(|command| command.shortcut.is_some()) {
                widgets::key_cap(ui, &command.keys());
                ui.label(RichText::new(command.name).font(theme::base()).color(t.text));
                ui.end_row();
            }
            for (keys, name) in [
                ("Tab", "Next control"),
                ("↑ ↓", "Lists, tree and token cost"),
                ("← →", "Fold and open in the tree"),
                ("Ctrl + − 0", "Larger, smaller, normal size"),
            ] {
                widgets::key_cap(ui, keys);
                ui.label(RichText::new(name).font(theme::base()).color(t.text));
                ui.end_row();
            }
        });
    });
    ui.label(RichText::new("Bare keys work while no text field has the focus").font(theme::small()).color(t.weak));
}

fn stderr_ui(ui: &mut Ui, cx: &Cx<'_>, height: f32) {
    title(ui, cx, "What the server wrote to stderr");
    let lines = cx.state.connection.stderr();
    if lines.is_empty() {
        paragraph(ui, "Nothing so far");
        return;
    }
    let dropped = cx.state.stderr_dropped;
    if dropped > 0 {
        let words = format!(
            "The last {} are kept; the {} before them were dropped",
            widgets::number_text(lines.len() as u64, "lines"),
            widgets::grouped(dropped)
        );
        ui.label(RichText::new(words).font(theme::small()).color(ThemeTokens::of(ui).warn));
    }
    code_ui(ui, "stderr", lines, height);
    top_bar::at_right(ui, theme::BUTTON, |ui| {
        if widgets::Button::new("Copy all").icon(icons::COPY).show(ui).clicked() {
            cx.send(Action::Copy(lines.join("\n")));
        }
    });
}

/// The report of the connection.
fn steps_ui(ui: &mut Ui, cx: &Cx<'_>, height: f32) {
    title(ui, cx, "How it connected");
    let lines = || cx.state.steps.iter().map(crate::capture::Step::line).collect::<Vec<_>>().join("\n");
    egui::ScrollArea::vertical().max_height(height).show(ui, |ui| connect::report::steps_ui(ui, cx));
    top_bar::at_right(ui, theme::BUTTON, |ui| {
        if widgets::Button::new("Copy all").icon(icons::COPY).show(ui).clicked() {
            cx.send(Action::Copy(lines()));
        }
    });
}

fn path_ui(ui: &mut Ui, cx: &Cx<'_>, purpose: PathPurpose, text: &str) {
    let t = ThemeTokens::of(ui);
    let named;
    let (words, explanation, verb) = match purpose {
        PathPurpose::OpenCapture => ("Open a capture", "The path of a capture folder, or of a file that holds an answer", "Open"),
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
        PathPurpose::ImportConfig => {
            ("Import a configuration", "The path of a client's configuration, such as .mcp.json", "Import")
        }
        PathPurpose::ExportAs(kind) if kind == ExportChoice::FOLDER => {
            ("Export the capture", "The path of the folder to make", "Export")
        }
        PathPurpose::SaveLog => ("Save the protocol log", "The path of the file to write: one JSON object a line", "Save"),
        PathPurpose::ExportCompare(_) => {
            ("Export the comparison", "The path of the file to write; an existing file is replaced", "Export")
        }
        PathPurpose::SaveBlock(_) => ("Save the block", "The path of the file to write; an existing file is replaced", "Save"),
        PathPurpose::ExportAs(kind) => {
            named = kind.title();
            (named.as_str(), "The path of the file to write; an existing file is replaced", "Export")
        }
        PathPurpose::OpenTools => (
            "Compare tools with a file",
            "The path of a list (`tools --json`, a tools/list result), of a folder of captures, or of a session's record",
            "Compare",
        ),
        PathPurpose::OpenFixtures => ("Verify fixtures", "The path of a fixture, or of a folder of fixtures", "Open"),
        PathPurpose::OpenCollection => ("Open a collection", "The path of a collection: a TOML file of calls", "Open"),
        PathPurpose::OpenRun => {
            ("Compare with a run", "The path of a run that was saved, or that `run --json` printed", "Compare")
        }
        PathPurpose::SaveRun => ("Save this run", "The path of the JSON file to write; an existing file is replaced", "Save"),
        PathPurpose::SaveCalls => (
            "Save calls as a collection",
            "The path of the TOML file to write; the calls are added at the end of an existing collection",
            "Save",
        ),
    };
    title(ui, cx, words);
    ui.label(RichText::new(explanation).font(theme::small()).color(t.weak));
    let mut edited = text.to_owned();
    let field = TextEdit::singleline(&mut edited)
        .id(Id::unique("path"))
        .font(theme::mono(13.0))
        .desired_width(f32::INFINITY)
        .hint_text(if purpose == PathPurpose::OpenTokenizer { "/path/to/tokenizer.json" } else { "/path/to/capture" })
        .margin(Margin::symmetric(8, 6));
    let response = ui.add(field).accessible_name("Path");
    if response.changed() {
        cx.send(Action::ShowDialog(Dialog::Path { purpose, text: edited.clone() }));
    }
    if !response.has_focus() && !response.lost_focus() && ui.memory(egui::Memory::focused).is_none() {
        response.request_focus();
    }
    let is_entered = response.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
    if let Some(problem) = &cx.state.path_problem {
        widgets::problem_ui(ui, problem);
    }
    top_bar::at_right(ui, theme::BUTTON, |ui| {
        let is_clicked = widgets::Button::new(verb).primary().enabled(!edited.trim().is_empty()).show(ui).clicked();
        if (is_clicked || is_entered) && !edited.trim().is_empty() {
            cx.send(Action::TakePath { purpose, text: edited.trim().to_owned() });
        }
        if widgets::button(ui, "Cancel").clicked() {
            cx.send(Action::CloseDialog);
        }
        if widgets::Button::new("Browse…").icon(icons::OPEN_FILE).tip("The system's own file dialog").show(ui).clicked() {
            cx.send(Action::ChoosePath(purpose));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_laid_out_and_nothing_else_changes() {
        let lines = pretty_lines(r#"{"a":[],"b":{"c":1e3,"d":"x, {\"y\"}: [z]"},"e":[1,2]}"#);
        let expected = [
            "{",
            "  \"a\": [],",
            "  \"b\": {",
            "    \"c\": 1e3,",
            "    \"d\": \"x, {\\\"y\\\"}: [z]\"",
            "  },",
            "  \"e\": [",
            "    1,",
            "    2",
            "  ]",
            "}",
        ];
        assert_eq!(lines, expected);
        assert_eq!(pretty_lines("{ }"), ["{}"]);
    }

    #[test]
    fn the_true_host_is_named() {
        assert_eq!(host_of("https://example.org/a?b"), "example.org");
        assert_eq!(host_of("https://bank.example@evil.example:8080/x"), "evil.example:8080");
        assert_eq!(host_of("https://evil.example\\@bank.example/"), "evil.example");
    }
}
