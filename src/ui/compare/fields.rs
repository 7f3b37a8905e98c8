//! The fields of the data and what each column makes of them; below them one field in every record. Which fields are
//! needed is ticked here, and decides who wins.

use egui::{Id, Key, Pos2, Rect, Role, ScrollArea, Sense, Ui, Vec2, WidgetInfo};
use egui::{pos2, vec2};

use super::{Judged, clip_ui, head, place};
use crate::state::{Compare, CompareAction};
use crate::ui::theme;
use crate::ui::widgets;
use crate::ui::{Cx, icons};
use loupe_analysis::queries::comparison::{Column, ColumnOrigin, FieldCell, readable};
use loupe_analysis::queries::invisible_chars::Shown;
use loupe_analysis::summary::{ClaimTone, describe_held};
use loupe_core::capture::FactState;
use loupe_core::format::claim::facts_cell;
use loupe_core::number::number_of;

const ROW: f32 = 26.0;
const FOOT: f32 = 24.0;
const BAND: f32 = 32.0;
/// Width of the column of fields, and where the window is narrow or very narrow.
const FIELD: f32 = 252.0;
const FIELD_NARROW: f32 = 240.0;
const FIELD_LEAST: f32 = 176.0;
/// The share of the table that the column of fields may take for a long name.
const MOST_FIELD: f32 = 0.6;
/// A column is never narrower; more of them scroll.
const MIN_COLUMN: f32 = 184.0;
/// Where there is less room and all that is in it are ticks.
const TICKS: f32 = 96.0;
/// Of the column of fields.
const SIDE: f32 = 16.0;
/// An icon and the room after it.
const ICON: f32 = 19.0;
const REWORDED: &str = "in other words";

/// Where everything is in this frame.
struct Grid {
    view: Rect,
    /// Where the rows begin, scrolled.
    origin: Pos2,
    field: f32,
    /// Where each column begins after that of fields, and where the last ends.
    lefts: Vec<f32>,
    /// The baseline first.
    order: Vec<usize>,
    /// Whether the baseline stays in sight.
    is_pinned: bool,
    fields: usize,
    records: usize,
}

impl Grid {
    fn pins(&self) -> f32 {
        self.field + if self.is_pinned { self.lefts[1] } else { 0.0 }
    }

    fn size(&self) -> Vec2 {
        let rows = ROW * (self.fields + self.records) as f32 + 2.0 * FOOT + BAND;
        vec2(
            self.field + self.lefts[self.order.len()],
            head::HEIGHT + rows + 12.0,
        )
    }

    /// The cell of a column in a line.
    fn cell(&self, nth: usize, line: Rect) -> Rect {
        let scrolled = self.origin.x + self.field + self.lefts[nth];
        let left = if nth == 0 && self.is_pinned {
            self.view.left() + self.field
        } else {
            scrolled
        };
        Rect::from_min_size(
            pos2(left.round(), line.top()),
            vec2(self.lefts[nth + 1] - self.lefts[nth], line.height()),
        )
    }

    /// A line of the table, over all that is in sight; `None` where it is not.
    fn line(&self, top: f32, height: f32) -> Option<Rect> {
        let y = self.origin.y + head::HEIGHT + top;
        let line = Rect::from_min_size(
            pos2(self.view.left(), y.round()),
            vec2(self.view.width(), height),
        );
        (line.bottom() > self.view.top() && line.top() < self.view.bottom()).then_some(line)
    }

    /// Which of so many rows are in sight, of a list that begins there.
    fn rows(&self, top: f32, count: usize) -> std::ops::Range<usize> {
        let start = self.view.top() - self.origin.y - top;
        let first = (start / ROW).max(0.0) as usize;
        let last = ((start + self.view.height()) / ROW).max(0.0) as usize + 1;
        first.min(count)..last.min(count)
    }

    fn foot(&self) -> f32 {
        self.fields as f32 * ROW
    }

    fn band(&self) -> f32 {
        self.foot() + 2.0 * FOOT
    }
}

pub fn fields_ui(ui: &mut Ui, cx: &Cx<'_>, compare: &Compare, judged: &Judged) {
    let comparison = &judged.page.comparison;
    if comparison.fields.is_empty() {
        let words = "No answer has data to compare. By record shows the texts side by side.";
        if widgets::empty_ui(ui, words, Some("By record")) {
            cx.send(CompareAction::Show(crate::state::CompareTab::Records));
        }
        return;
    }
    let area = ui.available_rect_before_wrap();
    let field = match ui.content_rect().width() {
        wide if wide >= 1_366.0 => FIELD,
        wide if wide >= theme::MEDIUM => FIELD_NARROW,
        _ => FIELD_LEAST,
    }
    .max(judged.field_need.min(area.width() * MOST_FIELD));
    let base = judged.base.unwrap_or(0);
    let order: Vec<usize> = std::iter::once(base)
        .chain((0..comparison.columns.len()).filter(|at| *at != base))
        .collect();
    let lefts = lefts(judged, &order, area.width() - field);
    let chosen = chosen(compare, judged);
    let mut grid = Grid {
        view: area,
        origin: area.min,
        field,
        is_pinned: area.width() >= field + lefts[1] + MIN_COLUMN,
        lefts,
        order,
        fields: comparison.fields.len(),
        records: comparison.fields[chosen].facts.len(),
    };
    let mut scroll = ScrollArea::both()
        .id_salt("compare fields")
        .auto_shrink(false);
    if let Some(offset) =
        is_requested(ui, compare, "field", compare.at.map(|at| at.1)).then_some(chosen as f32 * ROW)
    {
        scroll = scroll.vertical_scroll_offset((offset - area.height() * 0.3).max(0.0));
    }
    if is_requested(ui, compare, "column", compare.column.map(|column| column.1))
        && let Some(nth) = compare
            .column
            .and_then(|(at, _)| grid.order.iter().position(|known| *known == at))
    {
        let right = grid.field + grid.lefts[nth + 1];
        scroll = scroll.horizontal_scroll_offset((right - area.width()).max(0.0));
    }
    scroll.show_viewport(ui, |ui, viewport| {
        grid.origin = ui.min_rect().min;
        grid.view = Rect::from_min_size(grid.origin + viewport.min.to_vec2(), viewport.size());
        ui.allocate_rect(
            Rect::from_min_size(grid.origin, grid.size()),
            Sense::hover(),
        );
        let (heads, body) = grid
            .view
            .split_top_bottom_at_y(grid.view.top() + head::HEIGHT);
        clip_ui(ui, body, "fields", |ui| {
            body_ui(ui, cx, judged, &grid, chosen)
        });
        let t = theme::of(ui);
        clip_ui(ui, heads, "heads", |ui| {
            ui.painter().rect_filled(heads, 0.0, t.panel);
            let pins = grid.view.left() + grid.pins();
            for (clip, of) in [(heads.with_min_x(pins), 1..), (heads.with_max_x(pins), 0..)] {
                clip_ui(
                    ui,
                    clip,
                    if of.start == 0 { "pinned" } else { "others" },
                    |ui| {
                        let pinned = usize::from(grid.is_pinned);
                        let range = if of.start == 0 {
                            0..pinned
                        } else {
                            pinned..grid.order.len()
                        };
                        for nth in range {
                            head::head_ui(
                                ui,
                                cx,
                                compare,
                                judged,
                                grid.order[nth],
                                grid.cell(nth, heads),
                            );
                        }
                    },
                );
            }
            corner_ui(ui, cx, judged, heads.with_max_x(heads.left() + grid.field));
            widgets::line_below(ui, heads);
        });
        clip_ui(ui, grid.view, "lines", |ui| lines_ui(ui, &grid));
    });
    keys(ui, cx, compare, judged, &grid, chosen);
}

/// As wide as each other, unless one needs more.
fn lefts(judged: &Judged, order: &[usize], room: f32) -> Vec<f32> {
    let count = order.len().max(1) as f32;
    let even = room / count;
    let has_words = |at: usize| {
        let changes = |cell: &FieldCell| cell.lost > 0 || cell.reworded > 0;
        judged.base == Some(at) || judged.column(at).cells.iter().any(changes)
    };
    let need = |at: &usize| {
        let is_narrow = even < MIN_COLUMN && !has_words(*at);
        let least = if is_narrow { TICKS } else { MIN_COLUMN };
        judged.needs[*at].max(least)
    };
    let needs: Vec<f32> = order.iter().map(need).collect();
    let is_even = needs.iter().all(|need| *need <= even);
    let spare = (room - needs.iter().sum::<f32>()).max(0.0) / count;
    let mut left = 0.0;
    let mut lefts = vec![left];
    for need in needs {
        left += if is_even { even } else { need + spare };
        lefts.push(left.floor());
    }
    lefts
}

/// How wide the column of fields has to be so that no name in it is cut.
pub fn name_need(ui: &Ui, judged: &Judged) -> f32 {
    let fields = &judged.page.comparison.fields;
    let width =
        |text: Option<String>, font| widgets::text_width(ui, text.unwrap_or_default(), font);
    let longest = judged.names.iter().max_by_key(|name| name.chars().count());
    let name = width(longest.map(|name| Shown::of(name).text), theme::mono(12.0));
    let most = fields.iter().map(|field| field.tokens).max();
    let cost = width(
        most.map(|most| widgets::number_text(most, "tok")),
        theme::mono(11.5),
    );
    let chip = width(
        cheaper(judged).map(|at| only(judged, at)),
        theme::medium(12.0),
    );
    let all = widgets::text_width(ui, "All", theme::medium(12.0));
    (SIDE + 22.0 + name + 8.0 + cost + 13.0).max(SIDE + all + chip + 2.0 * 16.0 + 15.0)
}

/// How wide a column has to be so that no word of what it loses is cut.
pub fn need(ui: &Ui, judged: &Judged, at: usize) -> f32 {
    let column = judged.column(at);
    let lost = (0..column.cells.len())
        .map(|field| outcome_of(judged, field, at))
        .filter(|(words, is_lost)| *is_lost || words == REWORDED)
        .map(|(words, _)| words)
        .max_by_key(|words| words.chars().count());
    let value = lost.as_ref().map(|_| not_in(judged, at));
    let foot = [round_trip(judged, at).0, facts(judged, at).0];
    let words = lost.into_iter().chain(value).chain(foot);
    let widths = words.map(|words| widgets::text_width(ui, words, theme::small()));
    2.0 * head::PAD + ICON + widths.fold(0.0, f32::max)
}

/// The field whose values are shown: the one that was chosen, else the first of which something needed is lost or reworded.
fn chosen(compare: &Compare, judged: &Judged) -> usize {
    let comparison = &judged.page.comparison;
    let known = compare.field.as_ref().and_then(|pattern| {
        comparison
            .fields
            .iter()
            .position(|field| field.pattern == *pattern)
    });
    let lost = || {
        judged
            .page
            .losses
            .iter()
            .map(|loss| loss.field)
            .find(|field| judged.is_needed[*field])
    };
    let is_reworded = |field: &usize| {
        comparison
            .columns
            .iter()
            .any(|column| column.cells[*field].reworded > 0)
    };
    let reworded = || {
        (0..comparison.fields.len())
            .filter(|field| judged.is_needed[*field])
            .find(is_reworded)
    };
    known.or_else(lost).or_else(reworded).unwrap_or(0)
}

/// Whether something was gone to since the last frame, by its number.
fn is_requested(ui: &Ui, compare: &Compare, what: &str, number: Option<u64>) -> bool {
    let id = Id::unique(("compare gone to", what, &compare.tool.name));
    let known: Option<u64> = widgets::recall(ui, id);
    let Some(number) = number.filter(|number| known != Some(*number)) else {
        return false;
    };
    widgets::remember(ui, id, number);
    true
}

/// Bare keys while nothing has the focus: Space ticks the field, Left and Right go over the columns.
fn keys(ui: &Ui, cx: &Cx<'_>, compare: &Compare, judged: &Judged, grid: &Grid, chosen: usize) {
    if ui.memory(egui::Memory::focused).is_some()
        || cx.state.dialog.is_some()
        || egui::Popup::is_any_open(ui)
    {
        return;
    }
    let pressed = |key| widgets::pressed(ui, key);
    if pressed(Key::Space) {
        judged.toggle(cx, chosen);
    }
    let count = grid.order.len();
    let at = compare
        .column
        .and_then(|(at, _)| grid.order.iter().position(|known| *known == at));
    let next = match (pressed(Key::ArrowRight), pressed(Key::ArrowLeft)) {
        (true, _) => at.map_or(0, |at| (at + 1).min(count - 1)),
        (_, true) => at.map_or(0, |at| at.saturating_sub(1)),
        _ => return,
    };
    cx.send(CompareAction::Column(grid.order[next]));
}

/// Lines between the columns, above and below the band.
fn lines_ui(ui: &Ui, grid: &Grid) {
    let band = grid.origin.y + head::HEIGHT + grid.band();
    let bottom = (grid.origin.y + grid.size().y - 12.0).min(grid.view.bottom());
    let pins = grid.view.left() + grid.pins();
    let pinned = usize::from(grid.is_pinned);
    let scrolled = (pinned..grid.order.len())
        .map(|nth| grid.cell(nth, grid.view).left())
        .filter(|x| *x > pins);
    for x in [grid.view.left() + grid.field, pins]
        .into_iter()
        .chain(scrolled)
    {
        for (from, to) in [
            (grid.view.top(), band.min(bottom)),
            ((band + BAND).max(grid.view.top() + head::HEIGHT), bottom),
        ] {
            if from < to {
                widgets::vline(ui, x - 0.5, from..=to);
            }
        }
    }
}

/// How many fields are needed, and what is often needed in one click.
fn corner_ui(ui: &mut Ui, cx: &Cx<'_>, judged: &Judged, rect: Rect) {
    let t = theme::of(ui);
    ui.painter().rect_filled(rect, 0.0, t.panel);
    let fields = &judged.page.comparison.fields;
    let (left, y) = (rect.left() + SIDE, rect.top() + 19.0);
    let end = widgets::text_at(
        ui,
        pos2(left, y),
        "Fields",
        theme::semibold(13.0),
        t.strong,
        80.0,
    );
    let needed = format!(
        "{} of {} needed",
        widgets::grouped(judged.count_needed() as u64),
        widgets::grouped(fields.len() as u64)
    );
    let right = widgets::text_right(
        ui,
        pos2(rect.right() - 12.0, y),
        "Cost",
        theme::small(),
        t.weak,
    );
    widgets::text_whole(
        ui,
        pos2(end + 8.0, y),
        needed,
        theme::small(),
        t.weak,
        right - end - 14.0,
    );
    let is_all = judged.needed.is_none();
    let y = rect.top() + 37.0;
    let (all, end) = chip(ui, pos2(left, y), "All", is_all, rect.right() - 8.0);
    if all {
        judged.need(cx, |_| true);
    }
    if let Some(at) = cheaper(judged) {
        let has = |field: usize| judged.column(at).cells[field].lost == 0;
        let is_chosen = (0..fields.len()).all(|field| judged.is_needed[field] == has(field));
        let label = only(judged, at);
        if chip(
            ui,
            pos2(end + 6.0, y),
            &label,
            is_chosen,
            rect.right() - 8.0,
        )
        .0
        {
            judged.need_what_it_has(cx, at);
        }
    }
}

/// The cheapest answer that loses something.
fn cheaper(judged: &Judged) -> Option<usize> {
    let columns = judged.page.comparison.columns.iter().enumerate();
    let loses = |(_, column): &(usize, &Column)| {
        column.is_offered() && column.is_answer() && column.cells.iter().any(|cell| cell.lost > 0)
    };
    let encoding = judged.page.comparison.encoding;
    let cheapest = columns
        .filter(loses)
        .min_by_key(|(_, column)| column.row.tokens.get(encoding));
    cheapest.map(|(at, _)| at)
}

fn only(judged: &Judged, at: usize) -> String {
    format!("Only what {} has", judged.column(at).value_title())
}

/// A choice that can be on: whether it was clicked, and where it ends.
fn chip(ui: &Ui, at: Pos2, label: &str, is_on: bool, end: f32) -> (bool, f32) {
    let t = theme::of(ui);
    let font = theme::medium(12.0);
    let wide = widgets::text_width(ui, label, font.clone()) + 16.0;
    let rect = Rect::from_min_size(at, vec2(wide.min(end - at.x), 24.0));
    let response = widgets::sense(ui, rect, ("chip", label), Sense::click());
    let (fill, line) = if is_on {
        (t.accent_bg, t.accent_line)
    } else {
        (t.card, t.line2)
    };
    let fill = if response.hovered() && !is_on {
        t.hover
    } else {
        fill
    };
    widgets::boxed(ui, rect, theme::RADIUS_CONTROL, fill, line);
    widgets::text_at(
        ui,
        pos2(rect.left() + 8.0, rect.center().y),
        label,
        font,
        t.text,
        rect.width() - 14.0,
    );
    widgets::say_selected(&response, Role::Button, is_on, label);
    widgets::focus_ring(ui, &response, theme::RADIUS_CONTROL);
    (response.on_hover_text(label).clicked(), rect.right())
}

fn body_ui(ui: &mut Ui, cx: &Cx<'_>, judged: &Judged, grid: &Grid, chosen: usize) {
    for at in grid.rows(head::HEIGHT, grid.fields) {
        if let Some(line) = grid.line(at as f32 * ROW, ROW) {
            field_ui(ui, cx, judged, grid, at, line, at == chosen);
        }
    }
    foot_ui(ui, judged, grid);
    if let Some(line) = grid.line(grid.band(), BAND) {
        band_ui(ui, judged, chosen, line);
    }
    for at in grid.rows(head::HEIGHT + grid.band() + BAND, grid.records) {
        if let Some(line) = grid.line(grid.band() + BAND + at as f32 * ROW, ROW) {
            record_ui(ui, cx, judged, grid, chosen, at, line);
        }
    }
}

/// Paints the cells of a line: those that scroll, then those that stay.
fn cells(ui: &mut Ui, grid: &Grid, line: Rect, cell: impl Fn(&Ui, usize, Rect)) {
    let pins = grid.view.left() + grid.pins();
    let pinned = usize::from(grid.is_pinned);
    let of = |ui: &Ui, range: std::ops::Range<usize>| {
        for nth in range {
            let place = grid.cell(nth, line);
            if ui.is_rect_visible(place) {
                cell(ui, grid.order[nth], place);
            }
        }
    };
    clip_ui(ui, line.with_min_x(pins), "others", |ui| {
        of(ui, pinned..grid.order.len())
    });
    of(ui, 0..pinned);
}

fn field_ui(
    ui: &mut Ui,
    cx: &Cx<'_>,
    judged: &Judged,
    grid: &Grid,
    at: usize,
    line: Rect,
    is_chosen: bool,
) {
    let t = theme::of(ui);
    let field = &judged.page.comparison.fields[at];
    let is_needed = judged.is_needed[at];
    let response = widgets::sense(ui, line, ("field", at), Sense::click());
    if is_chosen || response.hovered() {
        ui.painter()
            .rect_filled(line, 0.0, if is_chosen { t.accent_bg } else { t.hover });
    }
    cells(ui, grid, line, |ui, column, rect| {
        cell_ui(ui, judged, at, column, rect)
    });
    widgets::line_below(ui, line);
    if is_chosen {
        widgets::edge(ui, line, t.accent);
    }
    let name = &judged.names[at];
    let mid = widgets::RowLine::new(ui, line);
    let tick = Rect::from_center_size(pos2(line.left() + SIDE + 7.0, mid.y), vec2(14.0, 14.0));
    if tick_ui(ui, tick, &format!("{name} is needed"), is_needed) {
        judged.toggle(cx, at);
    }
    let tokens = widgets::number_text(field.tokens, "tok");
    let right = mid.number(
        line.left() + grid.field - 12.0,
        tokens,
        theme::mono(11.5),
        t.weak,
    );
    let color = if is_needed { t.strong } else { t.weak };
    let left = tick.right() + 8.0;
    mid.text(
        left,
        right - 8.0,
        Shown::of(name).text,
        theme::mono(12.0),
        color,
    );
    response.widget_info(|| {
        let needed = if is_needed { "needed" } else { "not needed" };
        let mut spoken = format!(
            "{name}, {needed}, {}",
            widgets::number_text(field.tokens, "tokens")
        );
        for column in &grid.order {
            spoken.push_str(&format!(
                "; {}: {}",
                judged.column(*column).title,
                outcome_of(judged, at, *column).0
            ));
        }
        WidgetInfo::selected(Role::Row, true, is_chosen, spoken)
    });
    widgets::focus_ring_inside(ui, &response);
    if response.clicked() {
        if response.has_focus() && ui.input(|input| input.key_pressed(Key::Space)) {
            judged.toggle(cx, at);
        }
        cx.send(CompareAction::Field(field.pattern.clone()));
    }
}

/// A box to tick; whether it was clicked.
fn tick_ui(ui: &Ui, rect: Rect, name: &str, is_ticked: bool) -> bool {
    let t = theme::of(ui);
    let response = widgets::sense(ui, rect.expand(5.0), ("tick", name), Sense::click());
    if is_ticked {
        ui.painter().rect_filled(rect, 3.0, t.accent);
        widgets::glyph_at(
            ui,
            rect.center(),
            icons::CHECK,
            theme::icon_font(11.0),
            t.on_accent,
        );
    } else {
        let line = if response.hovered() { t.weak } else { t.line2 };
        widgets::outline(ui, rect, 3.0, line);
    }
    widgets::say_selected(&response, Role::CheckBox, is_ticked, name);
    widgets::focus_ring(ui, &response, theme::RADIUS_BADGE);
    response.clicked()
}

/// What a column makes of a field: "missing 11 of 11", and whether it loses something by that.
fn outcome_of(judged: &Judged, field: usize, at: usize) -> (String, bool) {
    let (total, cell) = (
        judged.page.comparison.fields[field].total,
        &judged.column(at).cells[field],
    );
    let of = |count: u64| {
        if total == 1 {
            String::new()
        } else {
            format!(
                " {} of {}",
                widgets::grouped(count),
                widgets::grouped(total)
            )
        }
    };
    match () {
        () if !judged.column(at).is_answer() => ("no answer".to_owned(), false),
        () if cell.lost > 0 && cell.differing == cell.lost => {
            (format!("differs{}", of(cell.differing)), true)
        }
        () if cell.lost > 0 => (format!("missing{}", of(cell.lost)), true),
        () if cell.reworded > 0 => (REWORDED.to_owned(), false),
        () => ("kept".to_owned(), false),
    }
}

fn cell_ui(ui: &Ui, judged: &Judged, field: usize, at: usize, rect: Rect) {
    let t = theme::of(ui);
    let column = judged.column(at);
    let cell = &column.cells[field];
    let (words, is_lost) = outcome_of(judged, field, at);
    if is_lost {
        let glyph = if cell.differing == cell.lost {
            icons::DIFFERS
        } else {
            icons::MISSING
        };
        return lost_ui(ui, rect, glyph, &words, judged.is_needed[field]);
    }
    if !column.is_answer() {
        return;
    }
    let (x, y) = (rect.left() + head::PAD, rect.center().y);
    let room = rect.right() - 8.0;
    let end = if cell.reworded > 0 {
        let end = widgets::text_at(ui, pos2(x, y), "Aa", theme::medium(11.0), t.weak, 20.0);
        widgets::text_at(
            ui,
            pos2(end + 6.0, y),
            words,
            theme::small(),
            t.text,
            room - end,
        )
    } else {
        widgets::glyph_at(
            ui,
            pos2(x + 6.0, y),
            icons::CHECK,
            theme::icon_font(12.0),
            t.weak,
        );
        x + 12.0
    };
    if cell.reworded > 0 || judged.base == Some(at) {
        let text = Shown::of(&cell.text).text;
        widgets::text_at(
            ui,
            pos2(end + 7.0, y),
            text,
            theme::mono(11.5),
            t.weak,
            room - end - 7.0,
        );
    }
}

/// A loss: on amber where it counts, weak where the field is not needed.
fn lost_ui(ui: &Ui, rect: Rect, glyph: &str, words: &str, is_needed: bool) {
    let t = theme::of(ui);
    let (x, y) = (rect.left() + head::PAD, rect.center().y);
    if is_needed {
        ui.painter().rect_filled(rect, 0.0, t.warn_bg);
        widgets::glyph_at(ui, pos2(x + 6.0, y), glyph, theme::icon_font(12.0), t.warn);
        widgets::text_at(
            ui,
            pos2(x + ICON, y),
            words,
            theme::small(),
            t.warn,
            rect.right() - x - 25.0,
        );
    } else {
        widgets::text_at(
            ui,
            pos2(x, y),
            words,
            theme::small(),
            t.weak,
            rect.right() - x - 8.0,
        );
    }
}

/// Round trip and facts.
fn foot_ui(ui: &mut Ui, judged: &Judged, grid: &Grid) {
    let t = theme::of(ui);
    for (nth, name) in ["Round trip", "Facts"].into_iter().enumerate() {
        let Some(line) = grid.line(grid.foot() + nth as f32 * FOOT, FOOT) else {
            continue;
        };
        widgets::text_at(
            ui,
            pos2(line.left() + SIDE, line.center().y),
            name,
            theme::small(),
            t.weak,
            grid.field - SIDE,
        );
        cells(ui, grid, line, |ui, at, rect| {
            let (words, is_lost) = if nth == 0 {
                round_trip(judged, at)
            } else {
                facts(judged, at)
            };
            let (mut x, y) = (rect.left() + head::PAD, rect.center().y);
            if is_lost {
                let glyph = if nth == 0 {
                    icons::DIFFERS
                } else {
                    icons::MISSING
                };
                widgets::glyph_at(ui, pos2(x + 6.0, y), glyph, theme::icon_font(12.0), t.warn);
                x += ICON;
            }
            let color = if is_lost { t.warn } else { t.weak };
            widgets::text_at(
                ui,
                pos2(x, y),
                &words,
                theme::small(),
                color,
                rect.right() - x - 6.0,
            );
            widgets::sense(ui, rect, ("foot", nth, at), Sense::hover())
                .on_hover_text(&words)
                .widget_info(|| {
                    WidgetInfo::labeled(
                        Role::Label,
                        true,
                        format!("{name} of {}: {words}", judged.column(at).title),
                    )
                });
        });
    }
}

fn round_trip(judged: &Judged, at: usize) -> (String, bool) {
    let column = judged.column(at);
    let (ColumnOrigin::Call(call) | ColumnOrigin::Derived(call)) = column.origin;
    let is_of_reference = judged.page.comparison.reference == Some(call);
    match &column.row.round_trip {
        // What is read from another result's text is its own data, which may be less.
        Some(trip) if column.is_answer() && !is_of_reference => (trip.words(), false),
        Some(trip) if column.is_answer() => (trip.words(), !trip.fidelity.is_lossless()),
        None if column.is_answer() => ("not tested".to_owned(), false),
        _ => (String::new(), false),
    }
}

fn facts(judged: &Judged, at: usize) -> (String, bool) {
    let (column, loss) = (judged.column(at), &judged.losses[at]);
    match () {
        () if !column.is_answer() => (String::new(), false),
        () if loss.tone == ClaimTone::Warn => (loss.short.clone(), true),
        () if column.absent > 0 => (describe_held(&judged.page.comparison, column), false),
        () if column.cells.iter().any(|cell| cell.lost > 0) => {
            ("all that are needed".to_owned(), false)
        }
        () => (column.facts.map_or_else(String::new, facts_cell), false),
    }
}

/// The field that is shown record by record, what it costs, and how it is reworded.
fn band_ui(ui: &mut Ui, judged: &Judged, chosen: usize, line: Rect) {
    let t = theme::of(ui);
    let comparison = &judged.page.comparison;
    let field = &comparison.fields[chosen];
    ui.painter().rect_filled(line, 0.0, t.card);
    for y in [line.top() + 0.5, line.bottom() - 0.5] {
        widgets::hline(ui, line.x_range(), y);
    }
    let y = line.center().y;
    let name = &judged.names[chosen];
    let mut right = line.right() - SIDE;
    if line.width() > 760.0 {
        for (words, keys) in [("Tick or untick", "Space"), ("Next difference", "F8")] {
            let key = widgets::key_cap_at(ui, pos2(right + 5.0, y), keys, t.text, t.line2);
            right =
                widgets::text_right(ui, pos2(key - 8.0, y), words, theme::small(), t.weak) - 20.0;
        }
    }
    let all = judged.records;
    let where_ = match field.records {
        _ if !field.is_of_record => "beside the records".to_owned(),
        records if records == all => format!("in all {}", number_of(all, "records")),
        records => format!(
            "in {} of {}",
            widgets::grouped(records),
            number_of(all, "records")
        ),
    };
    let mut words = format!(
        "costs {} as compact JSON",
        widgets::number_text(field.tokens, "tok")
    );
    let reworded = comparison
        .columns
        .iter()
        .position(|column| column.cells[chosen].reworded > 0 && column.cells[chosen].lost == 0);
    if let (Some(at), Some(base)) = (reworded, judged.base) {
        let text = |at: usize| judged.column(at).cells[chosen].text.clone();
        words.push_str(&format!(
            " · {} reads “{}” in {}",
            text(base),
            text(at),
            judged.column(at).value_title()
        ));
    }
    let x = widgets::text_at(
        ui,
        pos2(line.left() + SIDE, y),
        Shown::of(name).text,
        theme::mono_semibold(12.0),
        t.strong,
        260.0,
    );
    let x = widgets::text_at(
        ui,
        pos2(x + 8.0, y),
        &where_,
        theme::medium(12.0),
        t.strong,
        right - x - 8.0,
    );
    widgets::text_at(
        ui,
        pos2(x + 8.0, y),
        Shown::of(&words).text,
        theme::small(),
        t.weak,
        right - x - 8.0,
    );
    widgets::sense(ui, line, "band", Sense::hover()).widget_info(|| {
        WidgetInfo::labeled(Role::Heading, true, format!("{name} {where_}, {words}"))
    });
}

/// One value of the field in every column.
fn record_ui(
    ui: &mut Ui,
    cx: &Cx<'_>,
    judged: &Judged,
    grid: &Grid,
    chosen: usize,
    at: usize,
    line: Rect,
) {
    let t = theme::of(ui);
    let comparison = &judged.page.comparison;
    let field = &comparison.fields[chosen];
    let fact = field.facts[at] as usize;
    let record = comparison.facts[fact].record.map(|record| record as usize);
    // What stands before the records may have no section.
    let section = record.and_then(|record| {
        let name = readable(&comparison.records.get(record)?.path);
        [record + 1, record].into_iter().find(|at| {
            judged
                .page
                .sections
                .get(*at)
                .is_some_and(|section| section.name == name)
        })
    });
    let sense = if section.is_some() {
        Sense::click()
    } else {
        Sense::hover()
    };
    let response = widgets::sense(ui, line.intersect(ui.clip_rect()), ("record", at), sense);
    if section.is_some() && response.hovered() {
        ui.painter().rect_filled(line, 0.0, t.hover);
    }
    cells(ui, grid, line, |ui, column, rect| {
        value_ui(ui, judged, chosen, fact, column, rect)
    });
    let y = line.center().y;
    let number = record.map_or(at, |record| record) + 1;
    let left = line.left() + SIDE + 30.0;
    widgets::text_right(
        ui,
        pos2(left - 8.0, y),
        widgets::grouped(number as u64),
        theme::mono(11.5),
        t.weak,
    );
    let title = record
        .and_then(|record| comparison.records.get(record))
        .map_or_else(|| readable(&field.pattern), |record| record.title.clone());
    let room = line.left() + grid.field - 8.0 - left;
    widgets::text_at(
        ui,
        pos2(left, y),
        Shown::of(&title).text,
        theme::base(),
        t.text,
        room,
    );
    response.widget_info(|| {
        let mut spoken = format!("{number}, {title}");
        for column in &grid.order {
            let text = match value(judged, fact, *column) {
                Value::Text(text) => text,
                Value::Lost => "missing".to_owned(),
                Value::Other(text) => format!("says {text}"),
                Value::Absent => "no such record".to_owned(),
                Value::None => "no answer".to_owned(),
            };
            spoken.push_str(&format!("; {}: {text}", judged.column(*column).title));
        }
        WidgetInfo::labeled(
            if section.is_some() {
                Role::Button
            } else {
                Role::Row
            },
            true,
            spoken,
        )
    });
    if let Some(section) = section {
        widgets::focus_ring_inside(ui, &response);
        if response
            .on_hover_cursor(egui::CursorIcon::PointingHand)
            .on_hover_text("Show this record in the texts")
            .clicked()
        {
            place::go(ui, cx, section);
        }
    }
}

/// What a column says of a fact.
enum Value {
    Text(String),
    Lost,
    /// It says something else.
    Other(String),
    /// Its data does not have the record.
    Absent,
    /// There is no result.
    None,
}

/// The longest part of a value that is painted.
const LONGEST: usize = 400;

fn value(judged: &Judged, fact: usize, at: usize) -> Value {
    let column = judged.column(at);
    let Some(found) = column.found.get(fact) else {
        return Value::None;
    };
    let record = judged.page.comparison.facts[fact]
        .record
        .map(|record| record as usize);
    if record.is_some_and(|record| column.lacks.get(record) == Some(&true)) {
        return Value::Absent;
    }
    let text = || {
        let place = found.place()?;
        // With its quotes, where it has any.
        let quoted = place
            .start
            .checked_sub(1)
            .and_then(|start| column.text.get(start..place.end + 1));
        let text = quoted
            .filter(|text| text.starts_with('"') && text.ends_with('"'))
            .or_else(|| column.text.get(place.clone()))?;
        Some(text.chars().take(LONGEST).collect::<String>())
    };
    match found.state() {
        FactState::Missing => Value::Lost,
        FactState::Differs => text().map_or(Value::Lost, Value::Other),
        FactState::Proved | FactState::Found => Value::Text(text().unwrap_or_default()),
    }
}

fn not_in(judged: &Judged, at: usize) -> String {
    format!("not in {}", judged.column(at).value_title())
}

fn value_ui(ui: &Ui, judged: &Judged, field: usize, fact: usize, at: usize, rect: Rect) {
    let t = theme::of(ui);
    let (x, y) = (rect.left() + head::PAD, rect.center().y);
    let room = rect.right() - x - 8.0;
    match value(judged, fact, at) {
        Value::Lost => {
            let words = not_in(judged, at);
            lost_ui(ui, rect, icons::MISSING, &words, judged.is_needed[field]);
        }
        Value::Other(text) => lost_ui(ui, rect, icons::DIFFERS, &text, judged.is_needed[field]),
        Value::Absent => {
            widgets::text_at(
                ui,
                pos2(x, y),
                "no such record",
                theme::small(),
                t.weak,
                room,
            );
        }
        Value::Text(text) if text.is_empty() => {
            widgets::glyph_at(
                ui,
                pos2(x + 6.0, y),
                icons::CHECK,
                theme::icon_font(12.0),
                t.weak,
            );
        }
        Value::Text(text) => {
            widgets::text_at(
                ui,
                pos2(x, y),
                Shown::of(&text).text,
                theme::mono(12.0),
                t.text,
                room,
            );
        }
        Value::None => {}
    }
}
