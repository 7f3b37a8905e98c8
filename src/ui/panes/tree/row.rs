//! A row of the tree: key, value, what it costs, how it stands against the text, and what can be done with it.

use egui::{Pos2, Rect, Role, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2};

use super::{Flat, TreeRow, is_root, record_of};
use crate::state::ViewAction;
use crate::ui::marks;
use crate::ui::panes::copy;
use crate::ui::theme::{self, ThemeTokens};
use crate::ui::widgets::{self, Tone};
use crate::ui::{Cx, icons};
use loupe_analysis::queries::Mark;
use loupe_analysis::queries::invisible_chars::Shown;
use loupe_core::capture::Record;
use loupe_core::json::{Kind, Node};

const INDENT: f32 = 16.0;
/// Longest value that is laid out; the text pane shows it whole.
const MAX_VALUE: usize = 400;

impl Flat {
    /// Paints a row; a click selects, the caret opens.
    pub(super) fn row_ui(
        &self,
        ui: &Ui,
        cx: &Cx<'_>,
        row: TreeRow,
        rect: Rect,
        records: &[Record],
        focus: &egui::Response,
    ) {
        let t = ThemeTokens::of(ui);
        let Some(node) = self.view.data.doc.node(row.node) else {
            return;
        };
        // Rows are not tab stops: the tree is one, and arrows move in it.
        let response = ui.interact(rect, ui.scope_id().with(("node", row.node)), Sense::CLICK);
        let is_record = self.record == Some(row.node);
        let is_inside = self
            .record
            .and_then(|record| self.view.data.doc.node(record))
            .is_some_and(|record| (record.index()..record.subtree_end()).contains(&row.node));
        let is_cursor = cx.state.view.tree_cursor == Some(row.node);
        let fill = if is_record {
            Some(t.sel)
        } else if is_inside {
            Some(t.accent_bg)
        } else if response.hovered() || is_cursor {
            Some(t.hover)
        } else {
            None
        };
        if let Some(fill) = fill {
            ui.painter().rect_filled(rect, 0.0, fill);
        }
        // A closed value tells of what is within.
        let nodes = row.node..if row.is_open {
            row.node + 1
        } else {
            node.subtree_end()
        };
        let marked = marks::visible_marks(cx);
        let gravest = |marks: marks::Marked<'_>| {
            marks
                .of_nodes(nodes.clone())
                .into_iter()
                .chain(marks.of_keys(nodes.clone()))
                .min()
        };
        if let Some(severity) = marked.and_then(gravest) {
            ui.painter()
                .rect_filled(marks::edge(rect), 0.0, marks::look(t, severity).0);
        }
        let is_missing = crate::ui::panes::host::is_missing(cx, row.node);
        if is_missing {
            ui.painter().rect_filled(rect, 0.0, t.warn_bg);
            widgets::edge(ui, rect, t.warn);
        }
        if is_record {
            widgets::edge(ui, rect, t.accent);
        }
        if is_cursor && focus.has_focus() {
            ui.painter()
                .rect_stroke(rect, 0.0, Stroke::new(1.0, t.accent), StrokeKind::Inside);
        }
        for level in 1..=row.depth {
            let x = (rect.left() + 4.0 + level as f32 * INDENT).round() + 0.5;
            ui.painter().vline(
                x,
                rect.y_range(),
                Stroke::new(
                    1.0,
                    if is_record || is_inside {
                        t.accent_line
                    } else {
                        t.line
                    },
                ),
            );
        }
        let weak = if is_record { t.text } else { t.weak };
        let tokens = self.tokens.as_ref().map(|tokens| tokens.of(row.node));
        let right = widgets::text_right(
            ui,
            rect.right_center() - vec2(14.0, 0.0),
            tokens.map_or_else(
                |instead| (*instead).to_owned(),
                |tokens| widgets::grouped(tokens.into()),
            ),
            theme::mono(11.5),
            weak,
        ) - 10.0;
        let right = if is_missing {
            crate::ui::panes::host::not_shown_at(ui, pos2(right, rect.center().y)) - 8.0
        } else {
            right
        };
        let y = rect.center().y;
        let mut x = rect.left() + 12.0 + row.depth as f32 * INDENT;
        let has_caret = node.is_container() && !node.is_empty();
        if has_caret {
            let glyph = if row.is_open {
                icons::DOWN
            } else {
                icons::RIGHT
            };
            widgets::glyph_at(ui, pos2(x + 6.0, y), glyph, theme::icon_font(12.0), weak);
        }
        x += 16.0;
        let caret_end = x;
        // Marks come first when room is short, since the value is elided and they are not.
        let marks = self.marks(row);
        let marks_width: f32 = marks
            .iter()
            .map(|(_, text, _)| mark_width(ui, text) + 6.0)
            .sum();
        let room = |x: f32| (right - marks_width - x).max(24.0);
        let key = node.key().map_or_else(
            || (!is_root(node, &self.view)).then(|| node.ordinal().to_string()),
            |key| Some(Shown::of(&key).text),
        );
        if let Some(key) = &key {
            if let Some(severity) = marked.and_then(|marks| marks.of_keys(row.node..row.node + 1)) {
                let size = ui
                    .painter()
                    .layout_no_wrap(elide(key), theme::code(), t.text)
                    .size();
                let place = Rect::from_min_size(
                    pos2(x, y - size.y / 2.0),
                    vec2(size.x.min(room(x) * 0.7), size.y),
                );
                ui.painter().add(marks::mark_shape(t, place, severity));
            }
            x = widgets::text_at(
                ui,
                pos2(x, y),
                elide(key),
                theme::code(),
                if is_record { t.strong } else { t.text },
                room(x) * 0.7,
            );
            if !row.is_open {
                x = widgets::text_at(ui, pos2(x, y), ": ", theme::code(), weak, 20.0);
            } else {
                x += 7.0;
            }
        }
        if row.is_open {
            let word = format!(
                "{} · {}",
                node.kind().name(),
                widgets::grouped(node.len() as u64)
            );
            x = widgets::text_at(ui, pos2(x, y), word, theme::regular(11.0), weak, room(x));
        } else {
            let color = match node.kind() {
                Kind::String => t.json_string,
                Kind::Number => t.json_number,
                Kind::Bool => t.json_bool,
                Kind::Null | Kind::Array | Kind::Object => weak,
            };
            x = widgets::text_at(ui, pos2(x, y), value(node), theme::code(), color, room(x));
        }
        x += 8.0;
        for (icon, text, tone) in &marks {
            x = paint_mark(ui, pos2(x, y), icon, text, *tone) + 6.0;
        }
        response.widget_info(|| {
            let mut name = spoken(node, key.as_deref(), tokens.ok(), &marks, row);
            if is_missing {
                name.push_str(", not shown");
            }
            WidgetInfo::selected(Role::TreeItem, true, is_record, name)
        });
        if response.clicked() {
            focus.request_focus();
            let is_caret = has_caret
                && response
                    .interact_pointer_pos()
                    .is_some_and(|pos: Pos2| pos.x < caret_end);
            if is_caret || (response.double_clicked() && has_caret) {
                self.toggle(cx, row.node);
            } else {
                cx.send(ViewAction::SetTreeCursor(row.node));
                if let Some(record) = record_of(&self.view.data.doc, records, row.node) {
                    cx.send(ViewAction::SelectRecord(Some(record)));
                }
            }
        }
        widgets::context_menu(&response, is_cursor.then_some(focus), |ui| {
            ui.set_width(300.0);
            copy::menu_ui(ui, cx, node, &self.view.data, self.pane);
        });
        if let Some(Mark::Differs(text)) = self.view.marks.get(&row.node) {
            response.on_hover_text(format!("The text has {}", Shown::of(text).text));
        }
    }

    fn marks(&self, row: TreeRow) -> Vec<(&'static str, String, Tone)> {
        match self.view.marks.get(&row.node) {
            Some(Mark::NotInText) => {
                return vec![(icons::MISSING, "not in text".into(), Tone::Warn)];
            }
            Some(Mark::Differs(text)) => {
                return vec![(
                    icons::DIFFERS,
                    format!("text has {}", tail(&Shown::of(text).text)),
                    Tone::Bad,
                )];
            }
            None => {}
        }
        let (missing, differs) = self
            .view
            .marks_inside
            .get(&row.node)
            .copied()
            .unwrap_or_default();
        // An open record shows its marks below; an open list says how many there are in all.
        let is_shown = !row.is_open || row.depth == 0;
        let mut marks = Vec::new();
        if missing > 0 && is_shown {
            marks.push((icons::MISSING, widgets::grouped(missing.into()), Tone::Warn));
        }
        if differs > 0 && is_shown {
            marks.push((icons::DIFFERS, widgets::grouped(differs.into()), Tone::Bad));
        }
        marks
    }
}

fn elide(text: &str) -> String {
    match text.char_indices().nth(MAX_VALUE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A value on one line: a scalar as it was received, a container by its first values.
pub fn value(node: Node<'_>) -> String {
    let scalar = |node: Node<'_>| {
        let raw = node.raw();
        let text = String::from_utf8_lossy(&raw[..raw.len().min(MAX_VALUE * 4)]);
        Shown::of(&elide(&text)).text
    };
    let (open, close) = match node.kind() {
        Kind::Array => ("[", "]"),
        Kind::Object => ("{", "}"),
        _ => return scalar(node),
    };
    if node.is_empty() {
        return format!("{open}{close}");
    }
    let mut parts: Vec<String> = node
        .children()
        .take(2)
        .map(|child| match child.kind() {
            Kind::Array => "[…]".into(),
            Kind::Object => "{…}".into(),
            _ => scalar(child),
        })
        .collect();
    if node.len() > 2 {
        parts.push("…".into());
    }
    format!("{open} {} {close}", parts.join(", "))
}

/// The end of what the text says: that is where values that nearly agree differ.
fn tail(text: &str) -> String {
    let count = text.chars().count();
    if count <= 14 {
        text.to_owned()
    } else {
        format!("…{}", text.chars().skip(count - 8).collect::<String>())
    }
}

fn mark_width(ui: &Ui, text: &str) -> f32 {
    ui.painter()
        .layout_no_wrap(
            text.to_owned(),
            theme::medium(10.5),
            egui::Color32::PLACEHOLDER,
        )
        .size()
        .x
        + 25.0
}

fn paint_mark(ui: &Ui, left: Pos2, icon: &str, text: &str, tone: Tone) -> f32 {
    let t = ThemeTokens::of(ui);
    let (color, fill, line) = tone.colors(t);
    let rect = Rect::from_min_size(
        pos2(left.x.round(), (left.y - theme::MARK / 2.0).round()),
        vec2(mark_width(ui, text).round(), theme::MARK),
    );
    ui.painter().rect(
        rect,
        theme::RADIUS_BADGE,
        fill,
        Stroke::new(1.0, line),
        StrokeKind::Inside,
    );
    widgets::glyph_at(
        ui,
        pos2(rect.left() + 11.0, rect.center().y),
        icon,
        theme::icon_font(11.0),
        color,
    );
    widgets::text_at(
        ui,
        pos2(rect.left() + 19.0, rect.center().y),
        text,
        theme::medium(10.5),
        color,
        f32::INFINITY,
    );
    rect.right()
}

/// What a screen reader says of a row.
fn spoken(
    node: Node<'_>,
    key: Option<&str>,
    tokens: Option<u32>,
    marks: &[(&str, String, Tone)],
    row: TreeRow,
) -> String {
    let mut name = format!(
        "{}{}",
        key.map_or_else(String::new, |key| format!("{key}, ")),
        node.kind().name()
    );
    if node.is_container() {
        name.push_str(&format!(" of {}", widgets::grouped(node.len() as u64)));
    } else {
        let text = node.as_str().map_or_else(
            || node.raw_text().into_owned(),
            std::borrow::Cow::into_owned,
        );
        name.push_str(&format!(" {}", elide(&text)));
    }
    if let Some(tokens) = tokens {
        name.push_str(&format!(
            ", {}",
            widgets::number_text(tokens.into(), "tokens")
        ));
    }
    for (icon, text, _) in marks {
        let inside = match (
            *icon == icons::MISSING,
            text.chars()
                .all(|char| char.is_ascii_digit() || char == ','),
        ) {
            (true, true) => format!("{text} not in text"),
            (false, true) => format!("{text} differ"),
            _ => text.clone(),
        };
        name.push_str(&format!(", {inside}"));
    }
    name.push_str(&format!(", level {}", row.depth + 1));
    if node.is_container() && !node.is_empty() {
        name.push_str(if row.is_open { ", open" } else { ", closed" });
    }
    name
}
