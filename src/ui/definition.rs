//! The definition of a tool as a model reads it, part by part, with what findings say of it.

use std::sync::Arc;

use bytes::Bytes;
use egui::{Id, Label, Ui};

use super::theme;
use super::{Cx, code, icons, once, widgets};
use crate::state::Action;
use crate::state::media::MediaAction;
use crate::ui::marks;
use loupe_analysis::finding::{LocationPart, Severity};
use loupe_core::capture::Tool;
use loupe_core::token::Tokens;

pub fn definition_ui(ui: &mut Ui, cx: &Cx<'_>, name: &str, height: f32) {
    widgets::title(ui, cx, name);
    let shown;
    let listed = cx
        .state
        .session()
        .tools
        .iter()
        .find(|listed| listed.tool.name == name);
    let (tool, tokens): (&Tool, _) = match (listed, cx.state.capture()) {
        (Some(listed), _) => (&listed.tool, listed.tokens),
        (None, Some(capture)) if capture.tool.name == name => {
            shown = Arc::clone(capture);
            (&shown.tool, None)
        }
        _ => {
            widgets::paragraph(ui, "The server no longer lists this tool");
            return;
        }
    };
    definition_parts(ui, cx, tool, tokens, height);
}

/// What a model reads of a tool, part by part, and what it costs.
pub fn definition_parts(
    ui: &mut Ui,
    cx: &Cx<'_>,
    tool: &Tool,
    tokens: Option<Tokens>,
    height: f32,
) {
    let t = theme::of(ui);
    let found = found_in(cx, &tool.name);
    let mut cost = vec![widgets::number_text(tool.raw.len() as u64, "bytes")];
    if let Some(tokens) = tokens {
        let encoding = cx.state.settings.encoding();
        cost.insert(
            0,
            format!(
                "{} tok ({})",
                widgets::grouped(tokens.get(encoding)),
                encoding.name()
            ),
        );
    }
    widgets::note(
        ui,
        format!(
            "The definition as the server lists it · {}",
            cost.join(" · ")
        ),
    );
    for fault in &tool.faults {
        widgets::words(ui, fault, theme::small(), t.warn);
    }
    widgets::scroll_within("definition", height).show(ui, |ui| {
        part(ui, &found, "name", &tool.name);
        if let Some(title) = &tool.title {
            part(ui, &found, "title", title);
        }
        match &tool.description {
            Some(description) if description.len() > code::MAX_LABEL => {
                widgets::words(ui, "description", theme::mono(12.0), t.weak);
                let lines = once::per_text(ui, Id::unique("long description"), &tool.raw, || {
                    Arc::new(code::fold_lines(
                        description.lines().map(str::to_owned).collect(),
                    ))
                });
                code::code_ui(ui, "description", &lines, 320.0);
            }
            Some(description) => part(ui, &found, "description", description),
            None => part(ui, &found, "description", "none"),
        }
        if let Some(uri) = &tool.ui_resource {
            app_ui(ui, cx, uri);
        }
        for (label, schema) in [
            ("inputSchema", &tool.input_schema),
            ("outputSchema", &tool.output_schema),
        ] {
            let Some(schema) = schema else { continue };
            widgets::words(ui, label, theme::mono(12.0), t.weak);
            let lines = code::lines_of(ui, label, schema);
            let marks = schema_marks(ui, &found, label, schema);
            code::marked_code_ui(ui, label, &lines, &marks, 320.0);
        }
    });
    widgets::at_right(ui, theme::BUTTON, |ui| {
        if widgets::Button::new("Copy definition")
            .icon(icons::COPY)
            .tip("The exact bytes of the server's list")
            .clicked(ui)
        {
            cx.send(Action::Copy(
                String::from_utf8_lossy(&tool.raw).into_owned(),
            ));
        }
    });
}

/// The page of an MCP App: its address, and a button that reads its source like any resource's.
fn app_ui(ui: &mut Ui, cx: &Cx<'_>, uri: &str) {
    part(ui, &[], "page of an MCP App, never executed here", uri);
    let can_read = cx.state.session().connection.is_connected() && cx.state.running.is_none();
    let tip = if can_read {
        "Reads it from the server; it opens as text"
    } else {
        "Needs a connected server and no running call"
    };
    if widgets::Button::new("Read source")
        .icon(icons::CODE)
        .tip(tip)
        .enabled(can_read)
        .small()
        .clicked(ui)
    {
        cx.send(MediaAction::Read(uri.to_owned()));
    }
}

fn part(ui: &mut Ui, found: &[DefinitionFinding<'_>], label: &str, text: &str) {
    let t = theme::of(ui);
    widgets::words(ui, label, theme::mono(12.0), t.weak);
    let ground = ui.painter().add(egui::Shape::Noop);
    let response = ui.add(
        Label::new(widgets::styled(text, theme::base(), t.text))
            .wrap()
            .selectable(true),
    );
    let own: Vec<_> = found
        .iter()
        .filter(|found| found.path.strip_prefix('/') == Some(label))
        .collect();
    if let Some(gravest) = own.iter().map(|found| found.severity).min() {
        ui.painter()
            .set(ground, marks::mark_shape(t, response.rect, gravest));
        let message: Vec<_> = own.iter().map(|found| found.message).collect();
        response.on_hover_text(message.join("\n"));
    }
}

/// A finding about a place in a definition.
struct DefinitionFinding<'a> {
    severity: Severity,
    message: &'a str,
    path: &'a str,
}

/// What findings mark in the definition of this tool.
fn found_in<'a>(cx: &Cx<'a>, tool: &str) -> Vec<DefinitionFinding<'a>> {
    let findings = marks::visible_marks(cx)
        .into_iter()
        .flat_map(|marked| marked.findings());
    let places = findings
        .filter(|finding| finding.subject == tool)
        .flat_map(|finding| {
            let own = finding
                .places
                .iter()
                .filter(|place| place.part == LocationPart::Definition);
            own.map(|place| DefinitionFinding {
                severity: finding.severity,
                message: &finding.message,
                path: &place.path,
            })
        });
    places.collect()
}

/// The lines of a schema that findings are about.
fn schema_marks(
    ui: &Ui,
    found: &[DefinitionFinding<'_>],
    label: &str,
    schema: &Bytes,
) -> code::LineMarks {
    let mut marks = code::LineMarks::new();
    let own: Vec<_> = found
        .iter()
        .filter_map(|found| Some((found, found.path.strip_prefix('/')?.strip_prefix(label)?)))
        .filter(|(_, path)| path.is_empty() || path.starts_with('/'))
        .collect();
    if own.is_empty() {
        return marks;
    }
    let laid_out = code::lines_of_nodes(ui, label, schema);
    let (doc, lines) = &*laid_out;
    for (found, path) in own {
        let node = doc.root().and_then(|root| root.at(path));
        let Some(line) = node.and_then(|node| lines.get(node.index())) else {
            continue;
        };
        let (severity, message) = marks
            .entry(*line)
            .or_insert((found.severity, String::new()));
        *severity = found.severity.min(*severity);
        *message = if message.is_empty() {
            found.message.to_owned()
        } else {
            format!("{message}\n{}", found.message)
        };
    }
    marks
}
