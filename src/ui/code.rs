//! A box of exact lines, as dialogs and the log show JSON and what servers wrote; only the lines in sight are laid out.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use egui::text::LayoutJob;
use egui::{Frame, Id, Margin, Role, ScrollArea, Sense, Stroke, Ui, vec2};

use super::marks;
use super::once;
use super::rtl::{self, Order};
use super::theme;
use super::widgets;
use loupe_analysis::finding::Severity;
use loupe_core::json::Doc;
use loupe_core::json::walk::{WalkEvent, walk};

/// Bytes of a line that are in one row.
const MAX_ROW: usize = 2_000;

/// A longer text is laid out in rows: a label is read whole in every frame.
pub const MAX_LABEL: usize = 16 << 10;

/// A box of exact lines; only those in sight are laid out.
pub fn code_ui(ui: &mut Ui, salt: &str, lines: &[String], height: f32) {
    marked_code_ui(ui, salt, lines, &BTreeMap::new(), height);
}

/// Findings about lines, by position: the most severe severity and what they say.
pub type LineMarks = BTreeMap<usize, (Severity, String)>;

/// The same with lines that findings are about.
pub fn marked_code_ui(ui: &mut Ui, salt: &str, lines: &[String], marks: &LineMarks, height: f32) {
    let t = theme::of(ui);
    Frame::new()
        .fill(t.bg)
        .stroke(Stroke::new(1.0, t.line))
        .corner_radius(theme::RADIUS_CONTROL)
        .inner_margin(Margin::same(10))
        .show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            ScrollArea::both()
                .id_salt(salt)
                .max_height(height)
                .min_scrolled_height(height)
                .auto_shrink([false, true])
                .show_rows(ui, theme::TEXT_ROW, lines.len(), |ui, range| {
                    for (at, line) in lines.iter().enumerate().take(range.end).skip(range.start) {
                        let shown = if line.is_empty() { " " } else { line };
                        let job = LayoutJob::simple(
                            shown.to_owned(),
                            theme::code(),
                            t.text,
                            f32::INFINITY,
                        );
                        let galley = rtl::layout(ui, job, Order::Line);
                        let (rect, response) = ui.allocate_exact_size(
                            vec2(galley.size().x, theme::TEXT_ROW),
                            Sense::hover(),
                        );
                        let mark = marks.get(&at);
                        let message = mark
                            .map(|(_, message)| format!("; {message}"))
                            .unwrap_or_default();
                        widgets::say(&response, Role::Label, format!("{line}{message}"));
                        if let Some((severity, message)) = mark {
                            let place = rect.with_min_x(rect.left() + indent(ui, line));
                            ui.painter().add(marks::mark_shape(t, place, *severity));
                            response.on_hover_text(message);
                        }
                        ui.painter().galley(rect.min, galley, t.text);
                    }
                });
        });
}

/// The width of the blanks that a line begins with.
fn indent(ui: &Ui, line: &str) -> f32 {
    let blanks = &line[..line.len() - line.trim_start().len()];
    widgets::text_width(ui, blanks, theme::code())
}

/// JSON laid out in lines; computed once per text.
pub fn lines_of(ui: &Ui, what: &str, json: &Bytes) -> Arc<Vec<String>> {
    once::per_text(ui, Id::unique(("lines of", what)), json, || {
        let text = String::from_utf8_lossy(json);
        // A text that is not JSON stands as it is: it is shown because someone decides about it.
        let is_json = Doc::parse(json.clone()).is_json();
        Arc::new(fold_lines(if is_json {
            pretty_lines(&text)
        } else {
            text.lines().map(str::to_owned).collect()
        }))
    })
}

/// JSON, and the line that each of its values begins in where [`lines_of`] lays it out, by tape index; computed once per
/// text.
pub fn lines_of_nodes(ui: &Ui, what: &str, json: &Bytes) -> Arc<(Doc, Vec<usize>)> {
    once::per_text(ui, Id::unique(("lines of nodes", what)), json, || {
        let doc = Doc::parse(json.clone());
        let Some(root) = doc.root().filter(|_| doc.is_json()) else {
            return Arc::new((doc, Vec::new()));
        };
        // Long lines are several rows.
        let mut rows = vec![0];
        for line in pretty_lines(&root.raw_text()) {
            let pieces = fold_lines(vec![line]).len();
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

/// The lines as they are, without any layout; computed once per text.
pub fn exact_lines(ui: &Ui, what: &str, text: &Bytes) -> Arc<Vec<String>> {
    once::per_text(ui, Id::unique(("exact lines of", what)), text, || {
        Arc::new(fold_lines(
            String::from_utf8_lossy(text)
                .lines()
                .map(str::to_owned)
                .collect(),
        ))
    })
}

/// Long lines in pieces: a row is laid out whole, and a message can be one line of a million letters.
pub fn fold_lines(lines: Vec<String>) -> Vec<String> {
    let mut out = Vec::with_capacity(lines.len());
    for line in lines {
        let mut rest = line.as_str();
        while rest.len() > MAX_ROW {
            let cut = rest.floor_char_boundary(MAX_ROW);
            out.push(rest[..cut].to_owned());
            rest = &rest[cut..];
        }
        out.push(if rest.len() == line.len() {
            line
        } else {
            rest.to_owned()
        });
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
}
