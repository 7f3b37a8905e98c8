//! The payload as a tree: types, counts, tokens of each subtree, marks against the text.
//!
//! Visible nodes are a flat list, rebuilt only when something opens or closes; only the rows in sight are painted.

use std::collections::BTreeSet;
use std::sync::Arc;

use egui::mutex::Mutex;
use egui::{
    Align, Id, Key, Layout, Pos2, Rect, RichText, Role, ScrollArea, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2,
};

use super::PaneCx;
use crate::capture::{Origin, Record};
use crate::json::{Doc, Kind, Node};
use crate::report::special::Shown;
use crate::report::{Answer, Mark, Question, TreeView, is_struck, key_of, path_of};
use crate::state::{Action, Asked, TokensAction};
use crate::ui::theme::{self, TREE_ROW, Tokens};
use crate::ui::top_bar::menu_item;
use crate::ui::widgets::{self, Tone};
use crate::ui::{Cx, icons};

/// No more rows than this: beyond it positions on the screen are no longer exact, and nobody scrolls so far.
const MAX_ROWS: usize = 400_000;
const INDENT: f32 = 16.0;
/// Longest value that is laid out; the text pane shows it whole.
const MAX_VALUE: usize = 400;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TreeRow {
    node: usize,
    depth: usize,
    is_open: bool,
}

/// What the pane keeps between frames.
struct Flat {
    view: Arc<TreeView>,
    toggled: BTreeSet<usize>,
    record: Option<usize>,
    rows: Vec<TreeRow>,
    is_cut: bool,
    shown_record: Option<usize>,
    shown_cursor: Option<usize>,
}

fn flat_id(pane: &PaneCx) -> Id {
    Id::unique(("tree rows", pane.index))
}

fn known(ui: &Ui, pane: &PaneCx) -> Option<Arc<Mutex<Flat>>> {
    ui.data(|data| data.get_temp(flat_id(pane)))
}

pub fn tree_ui(ui: &mut Ui, cx: &Cx<'_>, pane: &PaneCx) {
    let view = match cx.ask(Question::Tree) {
        Asked::Ready(Answer::Tree(Some(view))) => view,
        Asked::Ready(_) => {
            widgets::empty_ui(ui, "No structuredContent in this response, and no JSON in its text.", None);
            return;
        }
        Asked::Failed(problem) => return super::failed_ui(ui, problem),
        Asked::Working { since } => return super::working_ui(ui, since, cx),
    };
    let same = known(ui, pane).filter(|known| Arc::ptr_eq(&known.lock().view, view));
    let shared = same.unwrap_or_else(|| {
        let shared = Arc::new(Mutex::new(Flat::new(view)));
        ui.data_mut(|data| data.insert_temp(flat_id(pane), Arc::clone(&shared)));
        shared
    });
    let mut flat = shared.lock();
    flat.update(&cx.state.view.toggled, cx.state.view.record);
    flat.show(ui, cx, pane);
}

impl Flat {
    fn new(view: &Arc<TreeView>) -> Self {
        let mut flat = Self {
            view: Arc::clone(view),
            toggled: BTreeSet::new(),
            record: None,
            rows: Vec::new(),
            is_cut: false,
            shown_record: None,
            shown_cursor: None,
        };
        flat.rebuild();
        flat
    }

    fn update(&mut self, toggled: &BTreeSet<usize>, record: Option<usize>) {
        if self.toggled != *toggled || self.record != record {
            self.toggled.clone_from(toggled);
            self.record = record;
            self.rebuild();
        }
    }

    fn rebuild(&mut self) {
        let view = Arc::clone(&self.view);
        let root = view.payload.root();
        self.rows.clear();
        self.is_cut = false;
        if !root.is_container() {
            self.rows.push(TreeRow { node: root.index(), depth: 0, is_open: false });
            return;
        }
        // A stack of iterators, since depth is data.
        let mut stack = vec![root.children()];
        while let Some(children) = stack.last_mut() {
            let Some(node) = children.next() else {
                stack.pop();
                continue;
            };
            if self.rows.len() >= MAX_ROWS {
                self.is_cut = true;
                return;
            }
            let depth = stack.len() - 1;
            let is_open = self.is_open(node, depth);
            self.rows.push(TreeRow { node: node.index(), depth, is_open });
            if is_open {
                stack.push(node.children());
            }
        }
    }

    /// Members of the root are open, their elements closed; what was toggled by hand is the other way round. The record
    /// that is selected is open, with what is above it.
    fn is_open(&self, node: Node<'_>, depth: usize) -> bool {
        if node.is_empty() {
            return false;
        }
        if self.record.is_some_and(|record| (node.index()..node.subtree_end()).contains(&record)) {
            return true;
        }
        let is_default = depth == 0 && node.raw_key().is_some() && node.len() <= 10_000;
        is_default != self.toggled.contains(&node.index())
    }

    fn show(&mut self, ui: &mut Ui, cx: &Cx<'_>, pane: &PaneCx) {
        let view = Arc::clone(&self.view);
        let records = records(cx, &view);
        let mut area = ScrollArea::vertical().id_salt(("tree", pane.index)).auto_shrink(false);
        if let Some(offset) = self.target(ui, cx, pane) {
            area = area.vertical_scroll_offset(offset);
        }
        let outer = ui.available_rect_before_wrap();
        let focus = ui.interact(outer, Id::unique(("tree", pane.index)), Sense::focusable_noninteractive());
        focus.widget_info(|| {
            WidgetInfo::labeled(Role::Tree, true, format!("Payload, {}", widgets::number_text(self.view.values, "values")))
        });
        self.keys(ui, cx, &focus, records);
        let count = self.rows.len() + usize::from(self.is_cut);
        let output = area.show_viewport(ui, |ui, viewport| {
            let origin = ui.min_rect().min;
            ui.allocate_rect(Rect::from_min_size(origin, vec2(viewport.width(), count as f32 * TREE_ROW + 16.0)), Sense::hover());
            let first = ((viewport.min.y - 6.0) / TREE_ROW).max(0.0) as usize;
            let top = (origin.y + viewport.min.y).round()
                + (6.0 + first as f64 * f64::from(TREE_ROW) - f64::from(viewport.min.y)) as f32;
            for at in first..(first + (viewport.height() / TREE_ROW) as usize + 3).min(count) {
                let rect = Rect::from_min_size(
                    pos2(origin.x, (top + (at - first) as f32 * TREE_ROW).round()),
                    vec2(viewport.width(), TREE_ROW),
                );
                match self.rows.get(at) {
                    Some(row) => self.row_ui(ui, cx, *row, rect, records, &focus),
                    None => {
                        widgets::text_at(
                            ui,
                            rect.left_center() + vec2(16.0, 0.0),
                            "More values are not shown here; the Text pane has them all",
                            theme::small(),
                            Tokens::of(ui).warn,
                            rect.width() - 32.0,
                        );
                    }
                }
            }
        });
        pane.remember(ui, output.state.clamped_offset().y, output.inner_rect.height());
        widgets::focus_ring_inside(ui, &focus);
    }

    fn target(&mut self, ui: &Ui, cx: &Cx<'_>, pane: &PaneCx) -> Option<f32> {
        let (record, cursor) = (cx.state.view.record, cx.state.view.tree_cursor);
        let mut wanted = None;
        // The first frame does not know its height yet.
        if pane.visible(ui).1 <= 0.0 {
            return None;
        }
        if self.shown_cursor != cursor {
            self.shown_cursor = cursor;
            wanted = cursor;
        }
        if self.shown_record != record {
            self.shown_record = record;
            wanted = wanted.or(record);
        }
        let at = self.row_of(wanted?)? as f32 * TREE_ROW;
        let (top, height) = pane.visible(ui);
        (at < top || at + TREE_ROW * 2.0 > top + height).then(|| (at - height * 0.3).max(0.0))
    }

    /// The row of a node, in the order of the document.
    fn row_of(&self, node: usize) -> Option<usize> {
        self.rows.binary_search_by_key(&node, |row| row.node).ok()
    }

    fn keys(&self, ui: &Ui, cx: &Cx<'_>, focus: &egui::Response, records: &[Record]) {
        if !focus.has_focus() {
            return;
        }
        ui.memory_mut(|memory| {
            memory.set_focus_lock_filter(
                focus.id,
                egui::EventFilter { vertical_arrows: true, horizontal_arrows: true, ..Default::default() },
            );
        });
        let at = cx.state.view.tree_cursor.and_then(|node| self.row_of(node));
        let pressed = |key| ui.input_mut(|input| input.consume_key(egui::Modifiers::NONE, key));
        let go = |row: Option<usize>| {
            if let Some(row) = row.and_then(|row| self.rows.get(row)) {
                cx.send(Action::SetTreeCursor(row.node));
                if let Some(record) = record_of(&self.view.payload.doc, records, row.node)
                    && cx.state.view.record != Some(record)
                {
                    cx.send(Action::SelectRecord(Some(record)));
                }
            }
        };
        if pressed(Key::ArrowDown) {
            go(Some(at.map_or(0, |at| at + 1)));
        }
        if pressed(Key::ArrowUp) {
            go(Some(at.map_or(0, |at| at.saturating_sub(1))));
        }
        if pressed(Key::Home) {
            go(Some(0));
        }
        if pressed(Key::End) {
            go(self.rows.len().checked_sub(1));
        }
        let Some((at, row)) = at.and_then(|at| Some((at, self.rows.get(at)?))) else { return };
        let is_container = self.view.payload.doc.node(row.node).is_some_and(|node| !node.is_empty());
        if pressed(Key::ArrowRight) && is_container {
            if row.is_open { go(Some(at + 1)) } else { cx.send(Action::ToggleNode(row.node)) }
        }
        if pressed(Key::ArrowLeft) {
            if row.is_open {
                self.toggle(cx, row.node);
            } else {
                go(self.rows[..at].iter().rposition(|above| above.depth < row.depth));
            }
        }
        if (pressed(Key::Delete) || pressed(Key::Backspace))
            && let Some(node) = self.view.payload.doc.node(row.node)
        {
            cx.send(Action::Tokens(TokensAction::ToggleKey(path_of(node, self.view.payload.root))));
        }
        if pressed(Key::Enter) && is_container {
            self.toggle(cx, row.node);
        }
    }

    /// Opens or closes. What is only open because the selected record is in it closes by letting the record go.
    fn toggle(&self, cx: &Cx<'_>, node: usize) {
        let holds_record = self.record.is_some_and(|record| {
            self.view.payload.doc.node(node).is_some_and(|node| (node.index()..node.subtree_end()).contains(&record))
        });
        if holds_record && Some(node) == self.record {
            cx.send(Action::SelectRecord(None));
            if self.toggled.contains(&node) {
                cx.send(Action::ToggleNode(node));
            }
        } else {
            if holds_record {
                cx.send(Action::SelectRecord(None));
            }
            cx.send(Action::ToggleNode(node));
        }
    }

    fn row_ui(&self, ui: &Ui, cx: &Cx<'_>, row: TreeRow, rect: Rect, records: &[Record], focus: &egui::Response) {
        let t = Tokens::of(ui);
        let Some(node) = self.view.payload.doc.node(row.node) else { return };
        // Rows are not tab stops: the tree is one, and arrows move in it.
        let response = ui.interact(rect, ui.scope_id().with(("node", row.node)), Sense::CLICK);
        let is_record = self.record == Some(row.node);
        let is_inside = self
            .record
            .and_then(|record| self.view.payload.doc.node(record))
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
        if is_record {
            ui.painter().rect_filled(Rect::from_min_size(rect.min, vec2(2.0, rect.height())), 0.0, t.accent);
        }
        if is_cursor && focus.has_focus() {
            ui.painter().rect_stroke(rect, 0.0, Stroke::new(1.0, t.accent), StrokeKind::Inside);
        }
        for level in 1..=row.depth {
            let x = (rect.left() + 4.0 + level as f32 * INDENT).round() + 0.5;
            ui.painter().vline(x, rect.y_range(), Stroke::new(1.0, if is_record || is_inside { t.accent_line } else { t.line }));
        }
        let weak = if is_record { t.text } else { t.weak };
        let tokens = self.view.tokens_of(row.node);
        let right = widgets::text_right(
            ui,
            rect.right_center() - vec2(14.0, 0.0),
            widgets::grouped(tokens.into()),
            theme::mono(11.5),
            weak,
        ) - 10.0;
        let y = rect.center().y;
        let mut x = rect.left() + 12.0 + row.depth as f32 * INDENT;
        let has_caret = node.is_container() && !node.is_empty();
        if has_caret {
            let glyph = if row.is_open { icons::DOWN } else { icons::RIGHT };
            widgets::glyph_at(ui, pos2(x + 6.0, y), glyph, theme::icon_font(12.0), weak);
        }
        x += 16.0;
        let caret_end = x;
        // Marks come first when room is short, since the value is elided and they are not.
        let marks = self.marks(row);
        let marks_width: f32 = marks.iter().map(|(_, text, _)| mark_width(ui, text) + 6.0).sum();
        let room = |x: f32| (right - marks_width - x).max(24.0);
        let key = node
            .key()
            .map_or_else(|| (!is_root(node, &self.view)).then(|| node.ordinal().to_string()), |key| Some(Shown::of(&key).text));
        if let Some(key) = &key {
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
            let word = format!("{} · {}", node.kind().name(), widgets::grouped(node.len() as u64));
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
        let struck = &cx.state.view.what_if;
        let is_struck = !struck.is_empty() && is_struck(&path_of(node, self.view.payload.root), struck);
        if is_struck {
            ui.painter().hline(caret_end..=x, y.round() + 0.5, Stroke::new(1.0, t.warn));
        }
        x += 8.0;
        for (icon, text, tone) in &marks {
            x = paint_mark(ui, pos2(x, y), icon, text, *tone) + 6.0;
        }
        response.widget_info(|| {
            let mut name = spoken(node, key.as_deref(), tokens, &marks, row);
            if is_struck {
                name.push_str(", struck out");
            }
            WidgetInfo::selected(Role::TreeItem, true, is_record, name)
        });
        if response.clicked() {
            focus.request_focus();
            let is_caret = has_caret && response.interact_pointer_pos().is_some_and(|pos: Pos2| pos.x < caret_end);
            if is_caret || (response.double_clicked() && has_caret) {
                self.toggle(cx, row.node);
            } else {
                cx.send(Action::SetTreeCursor(row.node));
                if let Some(record) = record_of(&self.view.payload.doc, records, row.node) {
                    cx.send(Action::SelectRecord(Some(record)));
                }
            }
        }
        if node.index() != self.view.payload.root {
            response.context_menu(|ui| {
                ui.set_width(280.0);
                ui.spacing_mut().item_spacing.y = 0.0;
                let path = path_of(node, self.view.payload.root);
                let name = key_of(&path);
                let label =
                    if struck.contains(&path) { format!("Keep {name} again") } else { format!("What if without {name}?") };
                if menu_item(ui, icons::CUT, &label, "Del", true).clicked() {
                    cx.send(Action::Tokens(TokensAction::ToggleKey(path)));
                    ui.close();
                }
                if !struck.is_empty() && menu_item(ui, icons::UNDO, "Reset what if", "", true).clicked() {
                    cx.send(Action::Tokens(TokensAction::ResetWhatIf));
                    ui.close();
                }
            });
        }
        if let Some(Mark::Differs(text)) = self.view.marks.get(&row.node) {
            response.on_hover_text(format!("The text has {}", Shown::of(text).text));
        }
    }

    fn marks(&self, row: TreeRow) -> Vec<(&'static str, String, Tone)> {
        match self.view.marks.get(&row.node) {
            Some(Mark::NotInText) => return vec![(icons::MISSING, "not in text".into(), Tone::Warn)],
            Some(Mark::Differs(text)) => {
                return vec![(icons::DIFFERS, format!("text has {}", tail(&Shown::of(text).text)), Tone::Bad)];
            }
            None => {}
        }
        let (missing, differs) = self.view.marks_inside.get(&row.node).copied().unwrap_or_default();
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

/// The records to link: those of the tree, or where the payload was read from the text itself, those of the text.
fn records<'a>(cx: &Cx<'a>, view: &'a TreeView) -> &'a [Record] {
    if view.payload.origin == Origin::Structured {
        return &view.matched.records;
    }
    match cx.ready(Question::Text("content")) {
        Some(Answer::Text(text)) => &text.matched.records,
        _ => &[],
    }
}

/// The record a node belongs to; records are in document order and do not overlap.
fn record_of(doc: &Doc, records: &[Record], node: usize) -> Option<usize> {
    let record = records[..records.partition_point(|record| record.node <= node)].last()?.node;
    (node < doc.node(record)?.subtree_end()).then_some(record)
}

fn is_root(node: Node<'_>, view: &TreeView) -> bool {
    node.index() == view.payload.root
}

fn elide(text: &str) -> String {
    match text.char_indices().nth(MAX_VALUE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A value on one line: a scalar as it was received, a container by its first values.
fn value(node: Node<'_>) -> String {
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
    if count <= 14 { text.to_owned() } else { format!("…{}", text.chars().skip(count - 8).collect::<String>()) }
}

fn mark_width(ui: &Ui, text: &str) -> f32 {
    ui.painter().layout_no_wrap(text.to_owned(), theme::medium(10.5), egui::Color32::PLACEHOLDER).size().x + 25.0
}

fn paint_mark(ui: &Ui, left: Pos2, icon: &str, text: &str, tone: Tone) -> f32 {
    let t = Tokens::of(ui);
    let (color, fill, line) = tone.colors(t);
    let rect = Rect::from_min_size(
        pos2(left.x.round(), (left.y - theme::MARK / 2.0).round()),
        vec2(mark_width(ui, text).round(), theme::MARK),
    );
    ui.painter().rect(rect, theme::RADIUS_BADGE, fill, Stroke::new(1.0, line), StrokeKind::Inside);
    widgets::glyph_at(ui, pos2(rect.left() + 11.0, rect.center().y), icon, theme::icon_font(11.0), color);
    widgets::text_at(ui, pos2(rect.left() + 19.0, rect.center().y), text, theme::medium(10.5), color, f32::INFINITY);
    rect.right()
}

/// What a screen reader says of a row.
fn spoken(node: Node<'_>, key: Option<&str>, tokens: u32, marks: &[(&str, String, Tone)], row: TreeRow) -> String {
    let mut name = format!("{}{}", key.map_or_else(String::new, |key| format!("{key}, ")), node.kind().name());
    if node.is_container() {
        name.push_str(&format!(" of {}", widgets::grouped(node.len() as u64)));
    } else {
        let text = node.as_str().map_or_else(|| node.raw_text().into_owned(), std::borrow::Cow::into_owned);
        name.push_str(&format!(" {}", elide(&text)));
    }
    name.push_str(&format!(", {}", widgets::number_text(tokens.into(), "tokens")));
    for (icon, text, _) in marks {
        let inside = match (*icon == icons::MISSING, text.chars().all(|char| char.is_ascii_digit() || char == ',')) {
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

/// `items[2]`, from the payload's root.
fn path(node: Node<'_>, root: usize) -> String {
    let mut path = String::new();
    for step in node.pointer_from(root).split('/').skip(1) {
        let is_position = step.bytes().all(|byte| byte.is_ascii_digit());
        match (is_position, path.is_empty()) {
            (true, _) => path.push_str(&format!("[{step}]")),
            (false, true) => path.push_str(step),
            (false, false) => path.push_str(&format!(".{step}")),
        }
    }
    path
}

pub fn footer_ui(ui: &mut Ui, cx: &Cx<'_>, _pane: &PaneCx) {
    let Some(Answer::Tree(Some(view))) = cx.ready(Question::Tree) else { return };
    let t = Tokens::of(ui);
    let small = |text: String, color| RichText::new(text).font(theme::regular(11.5)).color(color);
    ui.label(small(widgets::number_text(view.values, "values"), t.weak));
    let (missing, differs) = view.marks_inside.get(&view.payload.root).copied().unwrap_or_default();
    if missing > 0 {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 4.0;
            ui.label(icons::icon(icons::MISSING, 12.0, t.warn));
            ui.label(small(format!("{} not in text", widgets::grouped(missing.into())), t.warn));
        });
    }
    if differs > 0 {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 4.0;
            ui.label(icons::icon(icons::DIFFERS, 12.0, t.bad));
            ui.label(small(
                if differs == 1 { "1 differs".into() } else { format!("{} differ", widgets::grouped(differs.into())) },
                t.bad,
            ));
        });
    }
    if let Some(node) = cx.state.view.record.and_then(|record| view.payload.doc.node(record)) {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.spacing_mut().item_spacing.x = 4.0;
            ui.label(small(format!("{} linked", path(node, view.payload.root)), t.weak));
            ui.label(icons::icon(icons::LINKED, 12.0, t.weak));
        });
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::capture::Payload;

    fn flat(json: &'static str) -> Flat {
        let payload = Payload::of_doc(Doc::parse(Bytes::from_static(json.as_bytes()))).unwrap();
        let tokens = vec![1; payload.root().subtree_end()];
        Flat::new(&Arc::new(TreeView {
            payload: Arc::new(payload),
            tokens,
            marks: Default::default(),
            marks_inside: Default::default(),
            matched: Default::default(),
            values: 0,
        }))
    }

    fn keys(flat: &Flat) -> Vec<String> {
        flat.rows
            .iter()
            .map(|row| {
                let node = flat.view.payload.doc.node(row.node).unwrap();
                format!(
                    "{}{}",
                    " ".repeat(row.depth),
                    node.key().map_or_else(|| node.ordinal().to_string(), |key| key.into_owned())
                )
            })
            .collect()
    }

    #[test]
    fn members_of_the_root_are_open_and_records_closed() {
        let mut flat = flat(r#"{"items":[{"id":1},{"id":2}],"total":2}"#);
        assert_eq!(keys(&flat), ["items", " 0", " 1", "total"]);
        let second = flat.rows[2].node;
        flat.update(&BTreeSet::from([second]), None);
        assert_eq!(keys(&flat), ["items", " 0", " 1", "  id", "total"]);
        flat.update(&BTreeSet::from([1]), None);
        assert_eq!(keys(&flat), ["items", "total"]);
        // The selected record opens what is above it.
        flat.update(&BTreeSet::from([1]), Some(second));
        assert_eq!(keys(&flat), ["items", " 0", " 1", "  id", "total"]);
    }

    #[test]
    fn values_are_previews() {
        let doc = Doc::parse(Bytes::from_static(br#"{"a":[1,"x",{}],"b":{},"c":"\u001b"}"#));
        let texts: Vec<_> = doc.root().unwrap().children().map(value).collect();
        assert_eq!(texts, [r#"[ 1, "x", … ]"#, "{}", r#""\u001b""#]);
        assert_eq!(path(doc.at("/a/2").unwrap(), 0), "a[2]");
    }

    #[test]
    fn a_node_belongs_to_the_record_it_is_in() {
        let doc = Doc::parse(Bytes::from_static(br#"{"items":[{"id":1},{"id":2}],"total":2}"#));
        let records: Vec<_> = [2, 4].map(|node| Record { node, places: vec![] }).to_vec();
        assert_eq!(
            [1, 2, 3, 4, 5, 6].map(|node| record_of(&doc, &records, node)),
            [None, Some(2), Some(2), Some(4), Some(4), None]
        );
    }
}
