//! The payloads as one tree: what was added, removed, changed or moved.

use std::collections::BTreeSet;
use std::sync::Arc;

use egui::mutex::Mutex;
use egui::{Align, Color32, Id, Layout, Rect, Role, Sense, Stroke, Ui, pos2, vec2};

use super::{Stops, act, inside};
use crate::state::diff::DiffAction;
use crate::ui::rtl::{self, Order};
use crate::ui::theme::{self, TREE_ROW};
use crate::ui::widgets;
use crate::ui::{Cx, icons};
use loupe_analysis::queries::difference::ValueDifference;
use loupe_analysis::queries::invisible_chars::Shown;
use loupe_analysis::queries::{DiffRow, DiffView};
use loupe_core::diff::tree::Op;
use loupe_core::json::{Kind, Node};

const INDENT: f32 = 16.0;
/// Room for the mark at the left.
const MARKS: f32 = 30.0;
/// Containers with more differences than this begin closed, below the first two levels.
const OPEN_UP_TO: usize = 40;
const MAX_VALUE: usize = 160;

#[derive(Clone, Copy)]
enum Shows {
    /// Of [`DiffView::rows`], and whether it is open.
    Row(usize, bool),
    /// So many that are the same, folded.
    Same {
        depth: usize,
        count: usize,
        is_list: bool,
    },
}

/// What is kept between frames.
struct Flat {
    view: Arc<DiffView>,
    toggled: BTreeSet<usize>,
    shows_all: bool,
    /// The row of the difference that was gone to.
    current: Option<usize>,
    shows: Vec<Shows>,
    gone_to: Option<usize>,
}

impl Flat {
    fn rebuild(&mut self) {
        let rows = &self.view.rows;
        self.shows.clear();
        // What is open: where it ends, its depth, how many are the same in it, whether it is a list.
        let mut open: Vec<(usize, usize, usize, bool)> = Vec::new();
        let mut at = 0;
        loop {
            while let Some((_, depth, count, is_list)) = open.pop_if(|(end, ..)| *end <= at) {
                if count > 0 {
                    self.shows.push(Shows::Same {
                        depth,
                        count,
                        is_list,
                    });
                }
            }
            let Some(row) = rows.get(at) else { break };
            if row.changes == 0 && !self.shows_all {
                if let Some(last) = open.last_mut() {
                    last.2 += 1;
                }
                at = row.end.max(at + 1);
                continue;
            }
            let has_inside = row.end > at + 1;
            let is_open = has_inside && self.is_open(at, row);
            self.shows.push(Shows::Row(at, is_open));
            if is_open {
                let is_list = self
                    .view
                    .found
                    .data
                    .as_ref()
                    .and_then(|data| data.b.node(row.b?))
                    .is_some_and(|node| node.kind() == Kind::Array);
                open.push((row.end, row.depth + 1, 0, is_list));
                at += 1;
            } else {
                at = row.end.max(at + 1);
            }
        }
    }

    fn is_open(&self, at: usize, row: &DiffRow) -> bool {
        if self
            .current
            .is_some_and(|current| (at + 1..row.end).contains(&current))
        {
            return true;
        }
        let is_default = row.depth < 2 || row.changes <= OPEN_UP_TO;
        is_default != self.toggled.contains(&at)
    }
}

/// The row of a difference, by its number.
fn row_of(view: &DiffView, number: usize) -> Option<usize> {
    view.rows
        .iter()
        .enumerate()
        .filter(|(_, row)| row.op.is_some())
        .nth(number)
        .map(|(at, _)| at)
}

pub fn tree_ui(ui: &mut Ui, cx: &Cx<'_>, rect: Rect, view: &Arc<DiffView>) {
    let t = theme::of(ui);
    let Some(data) = &view.found.data else {
        return;
    };
    ui.painter().rect_filled(rect, 0.0, t.panel);
    let header = Rect::from_min_size(rect.min, vec2(rect.width(), theme::HEADER));
    widgets::line_below(ui, header);
    inside(
        ui,
        header.shrink2(vec2(12.0, 0.0)),
        "tree head",
        Layout::right_to_left(Align::Center),
        |ui| {
            let all = cx.state.diff.shows_all;
            if let Some(chosen) =
                widgets::segmented(ui, "Data", &["Changes", "All"], usize::from(all))
            {
                act(cx, DiffAction::ShowAll(chosen == 1));
            }
            let left = Rect::from_min_max(
                pos2(header.left() + 12.0, header.top()),
                pos2(ui.cursor().right() - 8.0, header.bottom()),
            );
            inside(
                ui,
                left,
                "tree title",
                Layout::left_to_right(Align::Center),
                |ui| {
                    widgets::swatch(ui, t.hue_structured.color);
                    widgets::words(ui, "Data", theme::title(), t.strong);
                    counts_ui(ui, data);
                },
            );
        },
    );
    let body = rect.with_min_y(header.bottom());
    inside(ui, body, "tree body", Layout::top_down(Align::Min), |ui| {
        body_ui(ui, cx, view, data)
    });
}

fn counts_ui(ui: &mut Ui, data: &ValueDifference) {
    let t = theme::of(ui);
    let counts = data.found.counts;
    let parts = [
        (counts.added, "added", icons::ADD, t.ok),
        (counts.removed, "removed", icons::REMOVE, t.bad),
        (counts.changed, "changed", icons::WRITES, t.warn),
        (counts.moved, "moved", icons::UP_DOWN, t.accent),
    ];
    ui.spacing_mut().item_spacing.x = 4.0;
    for (count, word, glyph, color) in parts.into_iter().filter(|(count, ..)| *count > 0) {
        ui.add_space(6.0);
        ui.label(icons::icon(glyph, 12.0, color));
        widgets::words(ui, widgets::number_text(count, word), theme::small(), color);
    }
}

fn body_ui(ui: &mut Ui, cx: &Cx<'_>, view: &Arc<DiffView>, data: &ValueDifference) {
    let id = Id::unique("diff tree");
    let known: Option<Arc<Mutex<Flat>>> = widgets::recall(ui, id);
    let diff = &cx.state.diff;
    let data_stops = Stops::new(view).data;
    let current = diff
        .current
        .filter(|at| *at < data_stops)
        .and_then(|at| row_of(view, at));
    let shared = known
        .filter(|known| Arc::ptr_eq(&known.lock().view, view))
        .unwrap_or_else(|| {
            let mut flat = Flat {
                view: Arc::clone(view),
                toggled: diff.toggled.clone(),
                shows_all: diff.shows_all,
                current,
                shows: Vec::new(),
                gone_to: None,
            };
            flat.rebuild();
            let shared = Arc::new(Mutex::new(flat));
            widgets::remember(ui, id, Arc::clone(&shared));
            shared
        });
    let mut flat = shared.lock();
    if flat.toggled != diff.toggled || flat.shows_all != diff.shows_all || flat.current != current {
        flat.toggled.clone_from(&diff.toggled);
        flat.shows_all = diff.shows_all;
        flat.current = current;
        flat.rebuild();
    }
    let mut area = widgets::scroll("diff tree");
    if flat.gone_to != current {
        flat.gone_to = current;
        let place = flat
            .shows
            .iter()
            .position(|shows| matches!(shows, Shows::Row(at, _) if Some(*at) == current));
        if let Some(place) = place {
            area = area.vertical_scroll_offset(
                (place as f32 * TREE_ROW - ui.available_height() * 0.3).max(0.0),
            );
        }
    }
    let frame = ui.interact(
        ui.available_rect_before_wrap(),
        Id::unique("diff tree region"),
        Sense::hover(),
    );
    let total = data.found.counts.total();
    widgets::say(
        &frame,
        Role::Tree,
        format!("Data, {}", widgets::number_text(total, "differences")),
    );
    ui.spacing_mut().item_spacing.y = 0.0;
    area.show_rows(ui, TREE_ROW, flat.shows.len(), |ui, range| {
        for shows in &flat.shows[range] {
            let (rect, _) = widgets::full_width(ui, TREE_ROW, Sense::hover());
            match *shows {
                Shows::Row(at, is_open) => row_ui(ui, cx, view, data, at, is_open, rect),
                Shows::Same {
                    depth,
                    count,
                    is_list,
                } => {
                    guides(ui, rect, depth);
                    let unit = match (is_list, count) {
                        (true, 1) => "unchanged element",
                        (true, _) => "unchanged elements",
                        (false, 1) => "unchanged key",
                        (false, _) => "unchanged keys",
                    };
                    let words = widgets::number_text(count as u64, unit);
                    let x = rect.left() + MARKS + depth as f32 * INDENT + 16.0;
                    let salt = ("same", rect.top() as i32);
                    let response = widgets::sense(ui, rect, salt, Sense::hover());
                    widgets::say(&response, Role::Label, &words);
                    let weak = theme::of(ui).weak;
                    widgets::RowLine::new(ui, rect).text(x, x + 200.0, words, theme::small(), weak);
                }
            }
        }
    });
}

fn guides(ui: &Ui, rect: Rect, depth: usize) {
    for level in 1..depth.min(40) {
        let x = (rect.left() + MARKS + 6.0 + level as f32 * INDENT).round() + 0.5;
        widgets::vline(ui, x, rect.y_range());
    }
}

fn row_ui(
    ui: &mut Ui,
    cx: &Cx<'_>,
    view: &DiffView,
    data: &ValueDifference,
    at: usize,
    is_open: bool,
    rect: Rect,
) {
    let t = theme::of(ui);
    let Some(row) = view.rows.get(at).copied() else {
        return;
    };
    let (a, b) = (
        row.a.and_then(|node| data.a.node(node)),
        row.b.and_then(|node| data.b.node(node)),
    );
    let Some(node) = b.or(a) else { return };
    let has_inside = row.end > at + 1;
    let (glyph, color, fill) = match row.op {
        Some(Op::Add) => (icons::ADD, t.ok, t.ok_bg),
        Some(Op::Remove) => (icons::REMOVE, t.bad, t.bad_bg),
        Some(Op::Change) => (icons::WRITES, t.warn, t.warn_bg),
        Some(Op::Move) => (icons::UP_DOWN, t.accent, t.accent_bg),
        None => ("", t.weak, Color32::TRANSPARENT),
    };
    let response = widgets::sense(ui, rect, ("diff row", at), Sense::click());
    ui.painter().rect_filled(
        rect,
        0.0,
        if has_inside && response.hovered() {
            t.hover
        } else {
            fill
        },
    );
    let data_stops = Stops::new(view).data;
    let current = cx
        .state
        .diff
        .current
        .filter(|number| *number < data_stops)
        .and_then(|number| row_of(view, number));
    if current == Some(at) {
        ui.painter().rect_filled(
            Rect::from_min_size(rect.min, vec2(3.0, rect.height())),
            0.0,
            t.accent,
        );
    }
    let line = widgets::RowLine::new(ui, rect);
    line.icon(rect.left() + 17.0, glyph, 13.0, color);
    guides(ui, rect, row.depth);
    let right = rect.right() - 14.0;
    let mut x = rect.left() + MARKS + row.depth as f32 * INDENT;
    if has_inside {
        let caret = if is_open { icons::DOWN } else { icons::RIGHT };
        line.icon(x + 6.0, caret, 12.0, t.weak);
    }
    x += 16.0;
    let mut job = egui::text::LayoutJob {
        break_on_newline: false,
        ..Default::default()
    };
    let format = |color: Color32| egui::TextFormat::simple(theme::code(), color);
    let name = match (row.depth, node.key()) {
        (0, _) => "All the data".to_owned(),
        (_, Some(key)) => Shown::of(&clip(&key)).text,
        _ => node.ordinal().to_string(),
    };
    job.append(
        &name,
        0.0,
        format(if row.depth == 0 { t.weak } else { t.strong }),
    );
    let is_leaf = !has_inside;
    if row.depth > 0 || is_leaf {
        job.append(": ", 0.0, format(t.weak));
    }
    let color_of = |node: Node<'_>| match node.kind() {
        Kind::String => t.json_string,
        Kind::Number => t.json_number,
        Kind::Bool | Kind::Null => t.json_bool,
        _ => t.weak,
    };
    match (row.op, a, b) {
        (Some(Op::Change), Some(a), Some(b)) => {
            let struck = egui::TextFormat {
                strikethrough: Stroke::new(1.0, t.bad),
                ..egui::TextFormat::simple(theme::code(), t.weak)
            };
            job.append(&value(a), 0.0, struck.clone());
            job.append("  →  ", 0.0, format(t.weak));
            job.append(&value(b), 0.0, format(color_of(b)));
        }
        (Some(Op::Move), Some(a), Some(_)) => {
            job.append(&value(node), 0.0, format(t.weak));
            job.append(&format!("  from {}", a.ordinal()), 0.0, format(t.accent));
        }
        _ if row.depth == 0 && has_inside => {}
        _ => job.append(&value(node), 0.0, format(color_of(node))),
    }
    if has_inside && !is_open {
        let inside = row.changes - usize::from(row.op.is_some());
        let words = widgets::number_text(inside as u64, "changes");
        job.append(&format!("   {words}"), 0.0, format(t.warn));
    }
    job.wrap = egui::text::TextWrapping::truncate_at_width((right - x).max(24.0));
    let spoken = format!("{} {}", row.op.map_or("", op_word), job.text);
    let galley = rtl::layout(ui, job, Order::Parts);
    let height = galley.size().y;
    ui.painter()
        .galley(pos2(x, (line.y - height / 2.0).round()), galley, t.text);
    widgets::say(&response, Role::TreeItem, spoken.trim());
    widgets::focus_ring_inside(ui, &response);
    if has_inside && response.clicked() {
        act(cx, DiffAction::Toggle(at));
    }
}

fn op_word(op: Op) -> &'static str {
    match op {
        Op::Add => "added",
        Op::Remove => "removed",
        Op::Change => "changed",
        Op::Move => "moved",
    }
}

fn clip(text: &str) -> String {
    match text.char_indices().nth(MAX_VALUE) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// A scalar as it was spelled; of a container what tells it from others.
fn value(node: Node<'_>) -> String {
    if !node.is_container() {
        let raw = node.raw();
        // A huge string is not decoded to show its first words.
        let mut end = raw.len().min(MAX_VALUE * 4);
        while end < raw.len() && end > 0 && (raw[end] & 0xc0) == 0x80 {
            end -= 1;
        }
        return Shown::of(&clip(&String::from_utf8_lossy(&raw[..end]))).text;
    }
    let (open, close) = if node.kind() == Kind::Object {
        ("{", "}")
    } else {
        ("[", "]")
    };
    if node.is_empty() {
        return format!("{open}{close}");
    }
    let shown: Vec<String> = node
        .children()
        .take(8)
        .filter(|child| !child.is_container() && !child.is_null())
        .take(2)
        .map(value)
        .collect();
    if shown.is_empty() || node.kind() == Kind::Array {
        return format!("{open} {} {close}", widgets::grouped(node.len() as u64));
    }
    format!("{open} {} {close}", shown.join(", "))
}
