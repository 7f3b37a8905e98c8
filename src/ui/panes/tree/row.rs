//! A row of the tree: key, value, what it costs, how it stands against the text, and what can be done with it.

use egui::{Color32, Pos2, Rect, Role, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};

use super::{Flat, TreeRow, is_root, record_of};
use crate::state::ViewAction;
use crate::ui::marks;
use crate::ui::panes::{copy, host};
use crate::ui::theme;
use crate::ui::widgets::{self, Tone};
use crate::ui::{Cx, icons};
use loupe_analysis::finding::Severity;
use loupe_analysis::queries::Mark;
use loupe_analysis::queries::invisible_chars::Shown;
use loupe_core::capture::Record;
use loupe_core::json::{Kind, Node};

const INDENT: f32 = 16.0;
/// Longest value that is laid out; the text pane shows it whole.
const MAX_VALUE: usize = 400;

/// A row while it is painted.
struct NodeRow<'a> {
    flat: &'a Flat,
    row: widgets::ListRow<'a>,
    at: TreeRow,
    node: Node<'a>,
    key: Option<String>,
    marks: Vec<(&'static str, String, Tone)>,
    /// What findings mark.
    marked: Option<marks::Marked<'a>>,
    is_record: bool,
    is_cursor: bool,
    is_missing: bool,
}

impl Flat {
    /// Paints a row; a click selects, the caret opens.
    pub(super) fn row_ui(
        &self,
        ui: &Ui,
        cx: &Cx<'_>,
        at: TreeRow,
        rect: Rect,
        records: &[Record],
        focus: &egui::Response,
    ) {
        let Some(node) = self.view.data.doc.node(at.node) else {
            return;
        };
        // Rows are not tab stops: the tree is one, and arrows move in it.
        let response = widgets::sense(ui, rect, ("node", at.node), Sense::CLICK);
        let row = NodeRow {
            flat: self,
            row: widgets::ListRow::at(ui, rect, response),
            at,
            node,
            key: node.key().map_or_else(
                || (!is_root(node, &self.view)).then(|| node.ordinal().to_string()),
                |key| Some(Shown::of(&key).text),
            ),
            marks: self.marks(at),
            marked: marks::visible_marks(cx),
            is_record: self.record == Some(at.node),
            is_cursor: cx.state.view.tree_cursor == Some(at.node),
            is_missing: host::is_missing(cx, at.node),
        };
        row.ground_ui(focus);
        let right = row.tokens_ui();
        row.value_ui(right);
        row.answer(cx, records, focus);
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

impl NodeRow<'_> {
    fn ground_ui(&self, focus: &egui::Response) {
        let (row, ui) = (&self.row, self.row.ui);
        let t = theme::of(ui);
        let doc = &self.flat.view.data.doc;
        let record = self.flat.record.and_then(|record| doc.node(record));
        let is_inside = record
            .is_some_and(|record| (record.index()..record.subtree_end()).contains(&self.at.node));
        if self.is_record {
            row.fill(t.sel);
        } else if is_inside {
            row.fill(t.accent_bg);
        } else if row.response.hovered() || self.is_cursor {
            row.fill(t.hover);
        }
        if let Some(severity) = self.gravest() {
            ui.painter()
                .rect_filled(marks::edge(row.rect), 0.0, marks::look(t, severity).0);
        }
        if self.is_missing {
            row.fill(t.warn_bg);
            widgets::edge(ui, row.rect, t.warn);
        }
        if self.is_record {
            widgets::edge(ui, row.rect, t.accent);
        }
        if self.is_cursor && focus.has_focus() {
            widgets::outline(ui, row.rect, 0.0, t.accent);
        }
        let line = if is_inside { t.accent_line } else { t.line };
        for level in 1..=self.at.depth {
            let x = row.inset_left(4.0 + level as f32 * INDENT).round() + 0.5;
            ui.painter()
                .vline(x, row.rect.y_range(), Stroke::new(1.0, line));
        }
    }

    /// The most severe finding about it; a closed value tells of what is within.
    fn gravest(&self) -> Option<Severity> {
        let end = match self.at.is_open {
            true => self.at.node + 1,
            false => self.node.subtree_end(),
        };
        let (marked, nodes) = (self.marked?, self.at.node..end);
        let of_nodes = marked.of_nodes(nodes.clone()).into_iter();
        of_nodes.chain(marked.of_keys(nodes)).min()
    }

    fn tokens(&self) -> Result<u32, &'static str> {
        let tokens = self.flat.tokens.as_ref().map_err(|instead| *instead)?;
        Ok(tokens.of(self.at.node))
    }

    fn weak(&self) -> Color32 {
        let t = theme::of(self.row.ui);
        if self.is_record { t.text } else { t.weak }
    }

    /// What it costs, and whether a host shows it; where that begins.
    fn tokens_ui(&self) -> f32 {
        let row = &self.row;
        let tokens = self.tokens().map_or_else(
            |instead| instead.to_owned(),
            |tokens| widgets::grouped(tokens.into()),
        );
        let right = row.number(
            row.inset_right(14.0),
            tokens,
            theme::mono(11.5),
            self.weak(),
        ) - 10.0;
        match self.is_missing {
            true => host::not_shown_at(row.ui, pos2(right, row.y)) - 8.0,
            false => right,
        }
    }

    fn has_caret(&self) -> bool {
        self.node.is_container() && !self.node.is_empty()
    }

    /// Where the caret ends and the key begins.
    fn caret_end(&self) -> f32 {
        self.row.inset_left(28.0 + self.at.depth as f32 * INDENT)
    }

    /// The caret, the key, the value and the marks, which come first when room is short: the value is elided, they are not.
    fn value_ui(&self, right: f32) {
        let (row, weak) = (&self.row, self.weak());
        let t = theme::of(row.ui);
        let mut x = self.caret_end();
        if self.has_caret() {
            let glyph = match self.at.is_open {
                true => icons::DOWN,
                false => icons::RIGHT,
            };
            row.icon(x - 10.0, glyph, 12.0, weak);
        }
        let widths = self
            .marks
            .iter()
            .map(|(_, text, _)| mark_width(row.ui, text) + 6.0);
        let right = right - widths.sum::<f32>();
        let end = |x: f32| right.max(x + 24.0);
        if let Some(key) = &self.key {
            x = self.key_ui(key, x, (end(x) - x) * 0.7);
            x = match self.at.is_open {
                true => x + 7.0,
                false => row.text(x, x + 20.0, ": ", theme::code(), weak),
            };
        }
        if self.at.is_open {
            let count = widgets::grouped(self.node.len() as u64);
            let word = format!("{} · {count}", self.node.kind().name());
            x = row.text(x, end(x), word, theme::regular(11.0), weak);
        } else {
            let color = match self.node.kind() {
                Kind::String => t.json_string,
                Kind::Number => t.json_number,
                Kind::Bool => t.json_bool,
                Kind::Null | Kind::Array | Kind::Object => weak,
            };
            x = row.text(x, end(x), value(self.node), theme::code(), color);
        }
        x += 8.0;
        for (icon, text, tone) in &self.marks {
            x = paint_mark(row.ui, pos2(x, row.y), icon, text, *tone) + 6.0;
        }
    }

    /// The key, with the mark of a finding about it; where it ends.
    fn key_ui(&self, key: &str, x: f32, room: f32) -> f32 {
        let row = &self.row;
        let t = theme::of(row.ui);
        let node = self.at.node;
        let marked = self.marked.and_then(|marks| marks.of_keys(node..node + 1));
        if let Some(severity) = marked {
            let size = row
                .ui
                .painter()
                .layout_no_wrap(elide(key), theme::code(), t.text)
                .size();
            let place = row.place(x..=x + size.x.min(room), size.y);
            row.ui.painter().add(marks::mark_shape(t, place, severity));
        }
        let color = if self.is_record { t.strong } else { t.text };
        row.text(x, x + room, elide(key), theme::code(), color)
    }

    /// What a screen reader says of it, a click on it, its menu.
    fn answer(self, cx: &Cx<'_>, records: &[Record], focus: &egui::Response) {
        let (node, flat) = (self.at.node, self.flat);
        let response = &self.row.response;
        response.widget_info(|| {
            let tokens = self.tokens().ok();
            let mut name = spoken(self.node, self.key.as_deref(), tokens, &self.marks, self.at);
            if self.is_missing {
                name.push_str(", not shown");
            }
            WidgetInfo::selected(Role::TreeItem, true, self.is_record, name)
        });
        if response.clicked() {
            focus.request_focus();
            let pointer = response.interact_pointer_pos();
            let is_caret = pointer.is_some_and(|pos| pos.x < self.caret_end());
            if self.has_caret() && (is_caret || response.double_clicked()) {
                flat.toggle(cx, node);
            } else {
                cx.send(ViewAction::SetTreeCursor(node));
                if let Some(record) = record_of(&flat.view.data.doc, records, node) {
                    cx.send(ViewAction::SelectRecord(Some(record)));
                }
            }
        }
        widgets::context_menu(response, self.is_cursor.then_some(focus), |ui| {
            ui.set_width(300.0);
            copy::menu_ui(ui, cx, self.node, &flat.view.data, flat.pane);
        });
        if let Some(Mark::Differs(text)) = flat.view.marks.get(&node) {
            let tip = format!("The text has {}", Shown::of(text).text);
            self.row.response.on_hover_text(tip);
        }
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
    widgets::text_width(ui, text, theme::medium(10.5)) + 25.0
}

fn paint_mark(ui: &Ui, left: Pos2, icon: &str, text: &str, tone: Tone) -> f32 {
    let t = theme::of(ui);
    let (color, fill, line) = tone.colors(t);
    let rect = Rect::from_min_size(
        pos2(left.x.round(), (left.y - theme::MARK / 2.0).round()),
        vec2(mark_width(ui, text).round(), theme::MARK),
    );
    widgets::boxed(ui, rect, theme::RADIUS_BADGE, fill, line);
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
