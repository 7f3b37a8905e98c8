//! A list of objects in the data as a table: what each column costs, sorted, in any order, without what is of no interest. Only
//! the cells in sight are laid out.

use egui::{
    Id, Key, Modifiers, Popup, Rect, Response, Role, ScrollArea, Sense, Stroke, Ui, WidgetInfo,
};
use egui::{pos2, vec2};

use super::header::Chooser;
use super::title::Title;
use super::{CopyAction, Pane, PaneCx, copy, find};
use crate::state::{Action, PaneView, TableAction, ViewAction};
use crate::ui::marks;
use crate::ui::theme::{self, ThemeTokens};
use crate::ui::widgets::{self, Button};
use crate::ui::{Cx, icons};
use loupe_analysis::queries::invisible_chars::Shown;
use loupe_analysis::queries::{
    DataTable, DataTableQuery, ParsedCaptureQuery, TableColumn, TableOrderQuery, TableText,
    TableTokensQuery,
};
use loupe_core::capture::ResultData;
use loupe_core::format::{ParsedCapture, TableForm, cell_text};
use loupe_core::json::{Kind, Node};

const HEAD: f32 = 40.0;
const ROW: f32 = 24.0;
const CELL: f32 = 10.0;
/// Records whose keys are looked at for marks.
const MARKED_ROWS: usize = 50;
/// Rows that a column is described by.
const LOOKED_AT: usize = 10_000;
const MIN_COLUMN: f32 = 76.0;
const MAX_COLUMN: f32 = 320.0;
/// Longest value that is laid out; the tree and the text have it whole.
const MAX_VALUE: usize = 200;

fn query(cx: &Cx<'_>) -> DataTableQuery {
    DataTableQuery {
        list: cx.state.view.table.list.clone(),
    }
}

/// The positions of all columns, in their order.
fn ordered(cx: &Cx<'_>, table: &DataTable) -> Vec<usize> {
    let view = &cx.state.view.table;
    let moved = view.order.iter().filter_map(|key| table.column(key));
    let rest = (0..table.columns.len()).filter(|at| !view.order.contains(&table.columns[*at].key));
    moved.chain(rest).collect()
}

/// The positions of the columns that are shown, in their order.
fn columns(cx: &Cx<'_>, table: &DataTable) -> Vec<usize> {
    let is_shown = |at: &usize| !cx.state.view.table.hidden.contains(&table.columns[*at].key);
    ordered(cx, table).into_iter().filter(is_shown).collect()
}

pub static PANE: Pane = Pane {
    title,
    choices,
    options: None,
    copy,
    body: table_ui,
    footer: footer_ui,
};

fn title(_: &Cx<'_>, _: PaneView, _: Option<&ParsedCapture>, t: &ThemeTokens) -> Title {
    Title {
        row: None,
        ..Title::new("Table", "of the data", "structured", t)
    }
}

fn choices(ui: &mut Ui, _: &Cx<'_>, chooser: &Chooser<'_>) {
    chooser.offer(ui, PaneView::Table, "Data as a table");
}

/// As CSV.
fn copy<'a>(cx: &Cx<'a>, _: PaneView) -> Option<CopyAction<'a>> {
    let action = copy_table(cx, TableForm::Csv)?;
    Some(Box::new(|| action))
}

/// The table as it is shown, to be copied.
fn copy_table(cx: &Cx<'_>, form: TableForm) -> Option<Action> {
    let table = cx.ready(query(cx))?;
    let keys = columns(cx, table)
        .into_iter()
        .map(|at| table.columns[at].key.clone())
        .collect();
    let view = &cx.state.view.table;
    let text = TableText {
        list: Some(table.list.as_str().into()),
        columns: Some(keys),
        sort: view.sort.clone(),
        form,
    };
    Some(TableAction::Copy(text).into())
}

/// The name of a list: its JSON Pointer.
fn list_name(list: &str) -> &str {
    if list.is_empty() { "the data" } else { list }
}

/// What one frame shows.
struct Grid<'a> {
    table: &'a DataTable,
    data: &'a ResultData,
    /// Positions of rows in their order; `None` is as they came.
    order: Option<&'a [u32]>,
    columns: Vec<usize>,
    widths: Vec<f32>,
    tokens: Option<&'a [u64]>,
}

impl Grid<'_> {
    /// The row at a position on the screen.
    fn row(&self, at: usize) -> Option<usize> {
        if at >= self.table.rows.len() {
            return None;
        }
        self.order
            .map_or(Some(at), |order| order.get(at).map(|row| *row as usize))
    }

    /// Where a node stands: the row's position on the screen, and the column's.
    fn place(&self, node: usize) -> Option<(usize, usize)> {
        let row = self
            .table
            .rows
            .partition_point(|item| *item as usize <= node)
            .checked_sub(1)?;
        let item = self.data.doc.node(self.table.rows[row] as usize)?;
        if node >= item.subtree_end() {
            return None;
        }
        let holds = |column: &usize| {
            let cell = self
                .table
                .cell(row, *column)
                .and_then(|at| self.data.doc.node(at));
            cell.is_some_and(|cell| (cell.index()..cell.subtree_end()).contains(&node))
        };
        let at = self.order.map_or(Some(row), |order| {
            order.iter().position(|other| *other as usize == row)
        })?;
        Some((at, self.columns.iter().position(holds).unwrap_or(0)))
    }

    /// The value at a place on the screen; the item where it has no such key.
    fn node(&self, at: usize, column: usize) -> Option<Node<'_>> {
        let row = self.row(at)?;
        let cell = self
            .columns
            .get(column)
            .and_then(|column| self.table.cell(row, *column));
        self.data
            .doc
            .node(cell.unwrap_or(self.table.rows[row] as usize))
    }
}

fn table_ui(ui: &mut Ui, cx: &Cx<'_>, pane: &PaneCx) {
    let Some(table) = super::ready(ui, cx, cx.ask(query(cx))) else {
        return;
    };
    let Some(data) = cx
        .ready(ParsedCaptureQuery)
        .and_then(|subject| subject.data.as_ref())
    else {
        return;
    };
    let view = &cx.state.view.table;
    let columns = columns(cx, table);
    if columns.is_empty() {
        if widgets::empty_ui(ui, "All columns are hidden.", Some("Show all columns")) {
            cx.send(TableAction::ShowAll);
        }
        return;
    }
    let ordered = view
        .sort
        .clone()
        .filter(|(key, _)| table.column(key).is_some());
    let order = ordered.and_then(|sort| {
        cx.ready(TableOrderQuery {
            list: view.list.clone(),
            sort,
        })
    });
    let tokens = cx.ready(TableTokensQuery {
        list: view.list.clone(),
        encoding: cx.state.settings.encoding(),
    });
    let width = |column: &TableColumn| {
        let chars = column.longest.max(column.key.chars().count() + 2);
        (chars as f32 * 7.3 + 2.0 * CELL)
            .clamp(MIN_COLUMN, MAX_COLUMN)
            .round()
    };
    let widths = columns
        .iter()
        .map(|at| width(&table.columns[*at]))
        .collect();
    let grid = Grid {
        table,
        data,
        order: order.map(|order| &**order),
        columns,
        widths,
        tokens: tokens.map(|tokens| &**tokens),
    };
    grid.show(ui, cx, pane);
}

impl Grid<'_> {
    fn show(&self, ui: &mut Ui, cx: &Cx<'_>, pane: &PaneCx) {
        let t = theme::of(ui);
        let outer = ui.available_rect_before_wrap();
        let focus = ui.interact(
            outer,
            Id::unique(("table", pane.index)),
            Sense::focusable_noninteractive(),
        );
        let (rows, shown) = (self.table.rows.len(), self.columns.len());
        focus.widget_info(|| {
            let rows = widgets::number_text(rows as u64, "rows");
            let columns = widgets::number_text(shown as u64, "columns");
            WidgetInfo::labeled(
                Role::Table,
                true,
                format!("{}, {rows}, {columns}", list_name(&self.table.list)),
            )
        });
        self.keys(ui, cx, &focus, pane);
        let gutter = (rows.max(10).ilog10() as f32 + 1.0) * 7.3 + 2.0 * CELL;
        let mut area = ScrollArea::both()
            .id_salt(("table", pane.index))
            .auto_shrink(false);
        let goto: Option<usize> = ui.data_mut(|data| data.remove_temp(pane.goto_id()));
        let cursor = cx.state.view.tree_cursor.and_then(|node| self.place(node));
        let shown_id = Id::unique(("table cursor", pane.index));
        let moved = widgets::recall(ui, shown_id) != Some(cursor);
        widgets::remember(ui, shown_id, cursor);
        let target = goto
            .and_then(|node| self.place(node))
            .or(cursor.filter(|_| moved));
        if let Some((at, column)) = target.filter(|_| pane.visible(ui).1 > 0.0) {
            let (top, height) = pane.visible(ui);
            let y = at as f32 * ROW;
            if y < top || y + HEAD + 2.0 * ROW > top + height {
                area = area.vertical_scroll_offset((y - height * 0.3).max(0.0));
            }
            let x: f32 = gutter + self.widths[..column].iter().sum::<f32>();
            let left_id = shown_id.with("left");
            let left: f32 = widgets::recall(ui, left_id).unwrap_or(0.0);
            if x < left + gutter || x + self.widths[column] > left + outer.width() {
                area = area.horizontal_scroll_offset((x - outer.width() * 0.4).max(0.0));
            }
        }
        let found = find::places(cx, pane);
        let current = find::current(ui, cx, pane).map(|place| place.start);
        let output = area.show_viewport(ui, |ui, viewport| {
            let origin = ui.min_rect().min;
            let size = vec2(
                gutter + self.widths.iter().sum::<f32>() + 16.0,
                HEAD + rows as f32 * ROW + 16.0,
            );
            ui.allocate_rect(Rect::from_min_size(origin, size), Sense::hover());
            let head = (origin.y + viewport.min.y).round();
            let clip = ui.clip_rect();
            ui.set_clip_rect(clip.with_min_y(clip.top().max(head + HEAD)));
            let first = (viewport.min.y / ROW).max(0.0) as usize;
            let top =
                head + HEAD + (first as f64 * f64::from(ROW) - f64::from(viewport.min.y)) as f32;
            for at in
                first..(first + ((viewport.height() - HEAD) / ROW).max(0.0) as usize + 2).min(rows)
            {
                let y = (top + (at - first) as f32 * ROW).round();
                let line = Rect::from_min_size(
                    pos2(origin.x + viewport.min.x, y),
                    vec2(viewport.width(), ROW),
                );
                self.row_ui(
                    ui,
                    cx,
                    pane,
                    &Line {
                        at,
                        rect: line,
                        left: origin.x + gutter,
                        found,
                        current,
                        cursor,
                    },
                    &focus,
                );
            }
            ui.set_clip_rect(clip);
            let bar = Rect::from_min_size(
                pos2(origin.x + viewport.min.x, head),
                vec2(viewport.width(), HEAD),
            );
            ui.painter().rect_filled(bar, 0.0, t.card);
            widgets::line_below(ui, bar);
            let mut x = origin.x + gutter;
            for (position, width) in self.widths.iter().enumerate() {
                let rect = Rect::from_min_size(pos2(x, head), vec2(*width, HEAD));
                x += width;
                if rect.intersects(bar) {
                    self.head_ui(ui, cx, position, rect);
                }
            }
        });
        widgets::remember(ui, shown_id.with("left"), output.state.clamped_offset().x);
        pane.remember(
            ui,
            output.state.clamped_offset().y,
            output.inner_rect.height(),
        );
        widgets::focus_ring_inside(ui, &focus);
    }

    fn row_ui(&self, ui: &mut Ui, cx: &Cx<'_>, pane: &PaneCx, line: &Line<'_>, focus: &Response) {
        let t = theme::of(ui);
        let Some(row) = self.row(line.at) else { return };
        let item = self.table.rows[row] as usize;
        let response = widgets::sense(ui, line.rect, ("row", item), Sense::CLICK);
        let is_record = cx.state.view.record == Some(item);
        if is_record {
            ui.painter().rect_filled(line.rect, 0.0, t.accent_bg);
            ui.painter().rect_filled(
                Rect::from_min_size(line.rect.min, vec2(2.0, ROW)),
                0.0,
                t.accent,
            );
        } else if response.hovered() {
            ui.painter().rect_filled(line.rect, 0.0, t.hover);
        }
        widgets::line_below(ui, line.rect);
        let y = line.rect.center().y;
        widgets::text_right(
            ui,
            pos2(line.left - CELL, y),
            widgets::grouped(row as u64),
            theme::mono(11.0),
            t.weak,
        );
        let pointer = response.interact_pointer_pos().or(response.hover_pos());
        let mut under = None;
        let marked = marks::visible_marks(cx);
        if let Some(severity) = marked.and_then(|marks| marks.of_nodes(item..item + 1)) {
            ui.painter()
                .rect_filled(marks::edge(line.rect), 0.0, marks::look(t, severity).0);
        }
        let mut spoken = format!("row {}", widgets::grouped(row as u64));
        let mut x = line.left;
        for (position, (column, width)) in self.columns.iter().zip(&self.widths).enumerate() {
            let cell = Rect::from_min_size(pos2(x, line.rect.top()), vec2(*width, ROW));
            x += width;
            if pointer.is_some_and(|pos| cell.x_range().contains(pos.x)) {
                under = Some(position);
            }
            if !cell.intersects(line.rect) {
                continue;
            }
            let node = self
                .table
                .cell(row, *column)
                .and_then(|at| self.data.doc.node(at));
            if line.cursor == Some((line.at, position)) {
                let stroke = Stroke::new(1.0, if focus.has_focus() { t.accent } else { t.line2 });
                ui.painter()
                    .rect_stroke(cell.shrink(0.5), 0.0, stroke, egui::StrokeKind::Inside);
            }
            let Some(node) = node else { continue };
            let inside = node.index()..node.subtree_end();
            let from = line
                .found
                .partition_point(|place| place.start < inside.start);
            if line
                .found
                .get(from)
                .is_some_and(|place| place.start < inside.end)
            {
                let is_current = line.current.is_some_and(|at| inside.contains(&at));
                let (fill, stroke) = find::colors(t, is_current);
                ui.painter().rect(
                    cell.shrink2(vec2(3.0, 2.0)),
                    theme::RADIUS_BAR,
                    fill,
                    stroke,
                    egui::StrokeKind::Inside,
                );
            }
            let severity = marked.and_then(|marks| marks.of_nodes(inside.clone()));
            if let Some((fill, below)) = severity.map(|severity| marks::mark_colors(t, severity)) {
                ui.painter()
                    .rect_filled(cell.shrink2(vec2(3.0, 2.0)), theme::RADIUS_BAR, fill);
                ui.painter().hline(
                    cell.shrink(3.0).x_range(),
                    cell.bottom() - 2.5,
                    Stroke::new(1.0, below),
                );
            }
            let text = show_value(node);
            spoken.push_str(&format!(", {} {text}", self.table.columns[*column].key));
            let color = match node.kind() {
                Kind::Number => t.json_number,
                Kind::Bool => t.json_bool,
                Kind::String => t.text,
                Kind::Null | Kind::Array | Kind::Object => t.weak,
            };
            if self.table.columns[*column].is_number {
                widgets::text_right(ui, pos2(cell.right() - CELL, y), text, theme::code(), color);
            } else {
                widgets::text_at(
                    ui,
                    pos2(cell.left() + CELL, y),
                    text,
                    theme::code(),
                    color,
                    width - 2.0 * CELL,
                );
            }
        }
        widgets::say_selected(&response, Role::Row, is_record, &spoken);
        let node = self.node(line.at, under.unwrap_or(0));
        if response.clicked()
            && let Some(node) = node
        {
            focus.request_focus();
            cx.send(ViewAction::SetTreeCursor(node.index()));
            cx.send(ViewAction::SelectRecord(Some(item)));
        }
        if response.secondary_clicked()
            && let Some(node) = node
        {
            cx.send(ViewAction::SetTreeCursor(node.index()));
        }
        let menu_id = response.id.with("of");
        let cursor = line
            .cursor
            .filter(|(at, _)| *at == line.at)
            .map(|(_, column)| column);
        let by_key = cursor.filter(|_| ui.input(|input| input.key_pressed(egui::Key::F10)));
        if let Some(column) =
            by_key.or_else(|| response.secondary_clicked().then_some(under.unwrap_or(0)))
        {
            widgets::remember(ui, menu_id, column);
        }
        widgets::context_menu(&response, cursor.is_some().then_some(focus), |ui| {
            ui.set_width(280.0);
            let column: usize = widgets::recall(ui, menu_id).unwrap_or(0);
            if let Some(node) = self.node(line.at, column) {
                copy::menu_ui(ui, cx, node, self.data, pane.index);
            }
        });
    }

    /// The head of a column: its key, what it costs, and how it is sorted. A click sorts, a drag moves it.
    fn head_ui(&self, ui: &mut Ui, cx: &Cx<'_>, position: usize, rect: Rect) {
        let t = theme::of(ui);
        let at = self.columns[position];
        let column = &self.table.columns[at];
        let response = widgets::sense(ui, rect, ("head", &column.key), Sense::click_and_drag());
        let sorted = cx
            .state
            .view
            .table
            .sort
            .as_ref()
            .filter(|(key, _)| **key == *column.key)
            .map(|(_, down)| *down);
        let tokens = self
            .tokens
            .map(|tokens| widgets::number_text(tokens[at], "tok"));
        let lack = self.table.rows.len() as u64 - column.cells;
        response.widget_info(|| {
            let sorted = match sorted {
                None => "not sorted",
                Some(false) => "sorted, the least first",
                Some(true) => "sorted, the greatest first",
            };
            let tokens = self.tokens.map_or_else(String::new, |tokens| {
                format!(", {}", widgets::number_text(tokens[at], "tokens"))
            });
            WidgetInfo::labeled(
                Role::ColumnHeader,
                true,
                format!("{}{tokens}, {sorted}", column.key),
            )
        });
        if response.hovered() || response.dragged() {
            ui.painter().rect_filled(rect, 0.0, t.hover);
        }
        // A key that is marked in some record is marked here, where it stands once.
        let has_key = |marks: marks::Marked<'_>| {
            let cells = (0..self.table.rows.len())
                .take(MARKED_ROWS)
                .filter_map(|row| self.table.cell(row, at));
            cells.filter_map(|cell| marks.of_keys(cell..cell + 1)).min()
        };
        if let Some(severity) = marks::visible_marks(cx).and_then(has_key) {
            let (fill, below) = marks::mark_colors(t, severity);
            ui.painter().rect_filled(rect, 0.0, fill);
            ui.painter()
                .hline(rect.x_range(), rect.bottom() - 1.0, Stroke::new(1.0, below));
        }
        widgets::vline(ui, rect.right() - 0.5, rect.y_range());
        let (left, right) = (rect.left() + CELL, rect.right() - CELL);
        let room = rect.width() - 2.0 * CELL;
        let end = widgets::text_at(
            ui,
            pos2(left, rect.top() + 13.0),
            Shown::of(&column.key).text,
            theme::mono_semibold(12.0),
            t.strong,
            room - if sorted.is_some() { 14.0 } else { 0.0 },
        );
        if let Some(is_descending) = sorted {
            let glyph = if is_descending {
                icons::ARROW_DOWN
            } else {
                icons::ARROW_UP
            };
            widgets::glyph_at(
                ui,
                pos2(end + 8.0, rect.top() + 13.0),
                glyph,
                theme::icon_font(11.0),
                t.accent,
            );
        }
        let cost = tokens.clone().unwrap_or_else(|| "…".to_owned());
        widgets::text_at(
            ui,
            pos2(left, rect.top() + 29.0),
            cost,
            theme::regular(11.0),
            t.weak,
            right - left,
        );
        widgets::focus_ring_inside(ui, &response);
        self.moving(ui, cx, position, rect, &response);
        let step = |keys: Modifiers, key: Key| {
            response.has_focus() && ui.input_mut(|input| input.consume_key(keys, key))
        };
        if response.has_focus() {
            widgets::keep_arrows(ui, &response, false, true);
        }
        let (to_left, to_right) = (
            step(Modifiers::SHIFT, Key::ArrowLeft),
            step(Modifiers::SHIFT, Key::ArrowRight),
        );
        if to_left || to_right {
            self.put(
                cx,
                position,
                if to_left {
                    position.saturating_sub(1)
                } else {
                    position + 2
                },
            );
        }
        if step(Modifiers::NONE, Key::Delete) {
            cx.send(TableAction::Hide(column.key.clone()));
        }
        if response.clicked() {
            cx.send(TableAction::Sort(column.key.as_str().into()));
        }
        widgets::context_menu(&response, Some(&response), |ui| {
            ui.set_width(240.0);
            let about = self.about(position);
            widgets::note_wrapped(ui, about);
            ui.separator();
            let mut act = |icon, name: &str, keys: &str, is_on: bool, act: &dyn Fn()| {
                if widgets::choose_item(ui, icon, name, keys, is_on) {
                    act();
                }
            };
            act(
                icons::UP_DOWN,
                "Sort: least, greatest, not",
                "Enter",
                true,
                &|| {
                    cx.send(TableAction::Sort(column.key.as_str().into()));
                },
            );
            act(
                icons::ARROW_LEFT,
                "Move left",
                "Shift Left",
                position > 0,
                &|| self.put(cx, position, position - 1),
            );
            let is_last = position + 1 == self.columns.len();
            act(
                icons::ARROW_RIGHT,
                "Move right",
                "Shift Right",
                !is_last,
                &|| self.put(cx, position, position + 2),
            );
            act(icons::MISSING, "Hide", "Del", true, &|| {
                cx.send(TableAction::Hide(column.key.clone()))
            });
            act(icons::COPY, "Copy this column as CSV", "", true, &|| {
                let view = &cx.state.view.table;
                cx.send(TableAction::Copy(TableText {
                    list: Some(self.table.list.as_str().into()),
                    columns: Some(vec![column.key.clone()]),
                    sort: view.sort.clone(),
                    form: TableForm::Csv,
                }));
            });
        });
        let share = match lack {
            0 => "in every row".to_owned(),
            lack => format!("missing in {}", widgets::number_text(lack, "rows")),
        };
        let tokens = tokens.unwrap_or_else(|| "counting".to_owned());
        response.on_hover_text(format!(
            "{} · {tokens} in the compact JSON, keys included · {share}",
            column.key
        ));
    }

    /// "3 distinct · 1 null · longest 24 characters · 88 tok": of a column with at most so many rows.
    fn about(&self, position: usize) -> String {
        let at = self.columns[position];
        let mut distinct = std::collections::HashSet::new();
        let (mut nulls, mut longest) = (0, 0);
        for row in 0..self.table.rows.len().min(LOOKED_AT) {
            let cell = self.table.cell(row, at);
            let Some(node) = cell.and_then(|cell| self.data.doc.node(cell)) else {
                continue;
            };
            nulls += u64::from(node.is_null());
            longest = longest.max(cell_text(Some(node)).chars().count());
            distinct.insert(node.raw());
        }
        let mut parts = vec![
            format!("{} distinct", widgets::grouped(distinct.len() as u64)),
            format!("{} null", widgets::grouped(nulls)),
            format!(
                "longest {}",
                widgets::number_text(longest as u64, "characters")
            ),
        ];
        if let Some(tokens) = self.tokens {
            parts.push(widgets::number_text(tokens[at], "tok"));
        }
        if self.table.rows.len() > LOOKED_AT {
            let looked = widgets::number_text(LOOKED_AT as u64, "rows");
            parts.push(format!("in the first {looked}"));
        }
        parts.join(" · ")
    }

    /// Follows a column that is dragged, and puts it where it is let go.
    fn moving(&self, ui: &Ui, cx: &Cx<'_>, position: usize, rect: Rect, response: &Response) {
        let Some(pos) = response
            .interact_pointer_pos()
            .filter(|_| response.dragged() || response.drag_stopped())
        else {
            return;
        };
        let mut edge = rect.left() - self.widths[..position].iter().sum::<f32>();
        let mut to = 0;
        for width in &self.widths {
            if pos.x < edge + width / 2.0 {
                break;
            }
            edge += width;
            to += 1;
        }
        ui.painter()
            .vline(edge, rect.y_range(), Stroke::new(2.0, theme::of(ui).accent));
        if response.drag_stopped() && to != position && to != position + 1 {
            self.put(cx, position, to);
        }
    }

    /// Puts the column at a position before the one at another; those that are hidden stay where they are.
    fn put(&self, cx: &Cx<'_>, position: usize, before: usize) {
        let moved = self.columns[position];
        let mut order = ordered(cx, self.table);
        order.retain(|at| *at != moved);
        let target = self
            .columns
            .get(before)
            .and_then(|target| order.iter().position(|at| at == target));
        order.insert(target.unwrap_or(order.len()), moved);
        cx.send(TableAction::Order(
            order
                .into_iter()
                .map(|at| self.table.columns[at].key.clone())
                .collect(),
        ));
    }

    fn keys(&self, ui: &Ui, cx: &Cx<'_>, focus: &Response, pane: &PaneCx) {
        if !focus.has_focus() {
            return;
        }
        widgets::keep_arrows(ui, focus, true, true);
        let place = cx.state.view.tree_cursor.and_then(|node| self.place(node));
        if let Some(node) = place.and_then(|(at, column)| self.node(at, column)) {
            copy::keys(ui, cx, node, self.data, pane.index);
        }
        let pressed = |key| widgets::pressed(ui, key);
        let last = (self.table.rows.len() - 1, self.columns.len() - 1);
        let (at, column) = place.unwrap_or((0, 0));
        let to = if pressed(Key::ArrowDown) {
            ((at + usize::from(place.is_some())).min(last.0), column)
        } else if pressed(Key::ArrowUp) {
            (at.saturating_sub(1), column)
        } else if pressed(Key::ArrowRight) {
            (at, (column + 1).min(last.1))
        } else if pressed(Key::ArrowLeft) {
            (at, column.saturating_sub(1))
        } else if pressed(Key::Home) {
            (0, column)
        } else if pressed(Key::End) {
            (last.0, column)
        } else {
            return;
        };
        // An empty cell has no value to be on: the next one in that direction has.
        let node = self.row(to.0).and_then(|row| {
            let cell = |column: usize| self.table.cell(row, self.columns[column]);
            let onward = (to.1..self.columns.len()).find_map(cell);
            let back = (0..=to.1).rev().find_map(cell);
            if to.1 < column {
                back.or(onward)
            } else {
                onward.or(back)
            }
            .or(Some(self.table.rows[row] as usize))
        });
        if let Some(node) = node {
            cx.send(ViewAction::SetTreeCursor(node));
            cx.send(ViewAction::SelectRecord(
                self.row(to.0).map(|row| self.table.rows[row] as usize),
            ));
        }
    }
}

/// A row on its way to the painter.
struct Line<'a> {
    at: usize,
    rect: Rect,
    /// Where the first column begins.
    left: f32,
    found: &'a [std::ops::Range<usize>],
    current: Option<usize>,
    cursor: Option<(usize, usize)>,
}

/// A value on one line.
fn show_value(node: Node<'_>) -> String {
    match node.kind() {
        Kind::Null => "null".to_owned(),
        Kind::Array | Kind::Object => super::tree::value(node),
        _ => {
            let text = cell_text(Some(node));
            let end = text
                .char_indices()
                .nth(MAX_VALUE)
                .map_or(text.len(), |(end, _)| end);
            Shown::of(&text[..end]).text.replace('\n', "⏎")
        }
    }
}

fn footer_ui(ui: &mut Ui, cx: &Cx<'_>, pane: &PaneCx) {
    let Some(table) = cx.ready(query(cx)) else {
        return;
    };
    let t = theme::of(ui);
    let small = |text: String| widgets::styled(text, theme::regular(11.5), t.weak);
    let name = list_name(&table.list);
    if table.lists.len() > 1 {
        let button = Button::new(name)
            .menu()
            .name("Choose the list that is shown")
            .frameless()
            .height(22.0)
            .show(ui);
        Popup::menu(&button).width(300.0).show(|ui| {
            ScrollArea::vertical().max_height(400.0).show(ui, |ui| {
                ui.spacing_mut().item_spacing.y = 0.0;
                for (list, len) in &table.lists {
                    let label = format!(
                        "{} · {}",
                        list_name(list),
                        widgets::number_text(*len as u64, "rows")
                    );
                    if widgets::choose_row(ui, &label, None, *list == table.list) {
                        cx.send(TableAction::Show {
                            pane: pane.index,
                            list: list.as_str().into(),
                        });
                    }
                }
            });
        });
    } else {
        ui.label(small(name.to_owned()));
    }
    ui.label(small(widgets::number_text(table.rows.len() as u64, "rows")));
    let hidden = table
        .columns
        .iter()
        .filter(|column| cx.state.view.table.hidden.contains(&column.key))
        .count();
    if hidden > 0 {
        let name = format!("{} hidden", widgets::number_text(hidden as u64, "columns"));
        if Button::new(&name)
            .key("hidden")
            .tip("Show all columns")
            .frameless()
            .height(22.0)
            .clicked(ui)
        {
            cx.send(TableAction::ShowAll);
        }
    }
    widgets::from_right(ui, |ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        for (form, name) in [(TableForm::Markdown, "Markdown"), (TableForm::Csv, "CSV")] {
            let tip = format!("Copy the table as {name}, as it is sorted, without hidden columns");
            if Button::new(name)
                .icon(icons::COPY)
                .name(&format!("Copy the table as {name}"))
                .tip(&tip)
                .frameless()
                .height(22.0)
                .clicked(ui)
                && let Some(action) = copy_table(cx, form)
            {
                cx.send(action);
            }
        }
    });
}
