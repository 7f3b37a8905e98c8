//! What the whole server costs before its first call: every tool definition by part, and what cutting would save.

use std::hash::{Hash as _, Hasher as _};

use egui::{Label, Margin, Rect, Role, Sense, Ui, WidgetInfo, pos2, vec2};

use super::theme;
use super::{Cx, icons, once, widgets};
use crate::state::{Action, ConnectAction, Dialog, QueryState, ServerColumn, TokensAction};
use loupe_analysis::queries::{Cost, DefinitionPart, ServerCost, ServerCostQuery, ToolCost};
use loupe_core::number::share;
use loupe_core::token::Count;

const ROW: f32 = 26.0;
const SIDE: f32 = 16.0;
/// Width of a column of numbers.
const NUMBER: f32 = 96.0;

pub fn server_cost_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = theme::of(ui);
    let encoding = cx.state.settings.encoding();
    let rest = widgets::mode_head(ui, cx, "Your tool list", |ui| {
        let name = format!("counted with {} (exact)", encoding.name());
        widgets::truncated(ui, name, theme::small(), t.weak);
    });
    widgets::part(ui, "server", rest, |ui| {
        if cx.state.session().tools.is_empty() {
            if widgets::empty_ui(
                ui,
                "No server is connected, or it lists no tools, so nothing is spent before a call.",
                Some("Use my server…"),
            ) {
                cx.send(ConnectAction::Show);
            }
            return;
        }
        let asked = cx.ask_server(ServerCostQuery(cx.state.settings.encoding()));
        if let QueryState::Ready(cost) = asked {
            return cost_ui(ui, cx, cost);
        }
        ui.add_space(16.0);
        ui.horizontal(|ui| {
            ui.add_space(SIDE);
            widgets::ready(ui, cx, "Counting definitions", asked);
        });
    });
}

/// What replaces tokens: while they are counted, and where that failed.
pub fn describe_pending(cx: &Cx<'_>, meanwhile: &str, failed: &str) -> String {
    if cx.state.session().is_uncounted {
        failed
    } else {
        meanwhile
    }
    .to_owned()
}

fn cost_ui(ui: &mut Ui, cx: &Cx<'_>, cost: &ServerCost) {
    ui.spacing_mut().item_spacing.y = 0.0;
    widgets::padded(
        ui,
        Margin {
            left: 16,
            right: 16,
            top: 12,
            bottom: 8,
        },
        |ui| {
            ui.set_width(ui.available_width());
            ui.spacing_mut().item_spacing.y = 6.0;
            sentence_ui(ui, cx, cost);
            cuts_ui(ui, cost);
        },
    );
    table_ui(ui, cx, cost);
}

fn sentence_ui(ui: &mut Ui, cx: &Cx<'_>, cost: &ServerCost) {
    let t = theme::of(ui);
    let number = |tokens: u64| {
        widgets::styled(
            widgets::number_text(tokens, "tokens"),
            theme::mono_semibold(13.0),
            t.strong,
        )
    };
    let plain = |text: String| widgets::styled(text, theme::base(), t.text);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(4.0, 4.0);
        ui.label(number(cost.before_first_call()));
        let tools = cost.tools.len();
        let noun = if tools == 1 {
            "definition"
        } else {
            "definitions"
        };
        ui.label(plain(format!(
            "before the first call: {} {noun} {}, {}.",
            widgets::grouped(tools as u64),
            widgets::grouped(cost.definitions()),
            if cost.instructions == 0 {
                "no server instructions".to_owned()
            } else {
                format!(
                    "server instructions {}",
                    widgets::grouped(cost.instructions)
                )
            },
        )));
        widgets::words(
            ui,
            "Hosts add words of their own around each definition. These are not counted.",
            theme::base(),
            t.weak,
        );
    });
    let Some(model) = cx.state.model() else {
        return;
    };
    let sum = cost.before_first_call();
    // Definitions are counted in the built-in encodings; for Claude that gives its estimate.
    let count = match cx.state.tokenizer_of(model) {
        Some(tokenizer) if tokenizer.encoding() == Some(cost.encoding) => Some(Count::Exact(sum)),
        Some(tokenizer)
            if !tokenizer.is_exact() && cost.encoding == loupe_core::token::Encoding::O200kBase =>
        {
            Some(Count::claude(sum))
        }
        _ => None,
    };
    let words = match count {
        Some(count) => format!("{}: {}", model.name, Cost::new(count, model).text()),
        None => format!(
            "{}: choose its tokenizer {} to see the cost",
            model.name, model.tokenizer
        ),
    };
    ui.add(Label::new(plain(words)).wrap());
}

/// What cutting would save, against all definitions.
fn cuts_ui(ui: &mut Ui, cost: &ServerCost) {
    let cuts: Vec<_> = cost.cuts.iter().filter(|cut| cut.saves > 0).collect();
    if cuts.is_empty() {
        widgets::note(
            ui,
            "Nothing to cut: no output schemas, no annotations, no long descriptions",
        );
        return;
    }
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(8.0, 4.0);
        widgets::note(ui, "Cutting would save");
        for cut in cuts {
            let share = share(cut.saves, cost.definitions());
            let tools = if cut.tools == 1 {
                "1 tool".to_owned()
            } else {
                format!("{} tools", widgets::grouped(cut.tools as u64))
            };
            let words = format!(
                "−{} (−{share} against all definitions) {}, {tools}",
                widgets::grouped(cut.saves),
                cut.what
            );
            widgets::badge(ui, Some(icons::CUT), &words, widgets::Tone::Plain, false);
        }
    });
}

/// The columns of numbers, the total last; narrow windows keep those that cost most.
fn parts(width: f32) -> Vec<DefinitionPart> {
    let wanted = [
        DefinitionPart::Description,
        DefinitionPart::InputSchema,
        DefinitionPart::OutputSchema,
        DefinitionPart::Annotations,
        DefinitionPart::Name,
        DefinitionPart::Title,
        DefinitionPart::Rest,
    ];
    let fits = (((width - 2.0 * SIDE - 200.0) / NUMBER) as usize).saturating_sub(1);
    let kept = &wanted[..fits.min(wanted.len())];
    DefinitionPart::ALL
        .iter()
        .copied()
        .filter(|part| kept.contains(part))
        .collect()
}

fn key(tool: &ToolCost, column: ServerColumn) -> u64 {
    match column {
        ServerColumn::Part(part) => tool.part(part),
        ServerColumn::Total => tool.tokens,
        ServerColumn::Listed | ServerColumn::Name => 0,
    }
}

/// The order of the rows: numbers from the dearest down, names from A to Z.
fn order(cost: &ServerCost, sort: ServerColumn, is_reversed: bool) -> Vec<usize> {
    let mut order: Vec<usize> = (0..cost.tools.len()).collect();
    match sort {
        ServerColumn::Listed => {}
        ServerColumn::Name => {
            order.sort_by(|&left, &right| cost.tools[left].name.cmp(&cost.tools[right].name))
        }
        column => order.sort_by_key(|&at| std::cmp::Reverse(key(&cost.tools[at], column))),
    }
    if is_reversed {
        order.reverse();
    }
    order
}

fn table_ui(ui: &mut Ui, cx: &Cx<'_>, cost: &ServerCost) {
    let view = &cx.state.server_view;
    let width = ui.available_width();
    let parts = parts(width);
    head_ui(ui, cx, &parts);
    // Sorted once for each result and order, not in every frame.
    let mut identity = std::hash::DefaultHasher::new();
    (
        std::ptr::from_ref(cost) as usize,
        cost.tools.len(),
        cost.definitions(),
        cost.encoding,
    )
        .hash(&mut identity);
    (view.sort, view.is_reversed).hash(&mut identity);
    let rows = once::per_key(
        ui,
        egui::Id::unique("server order"),
        identity.finish(),
        || std::sync::Arc::new(order(cost, view.sort, view.is_reversed)),
    );
    let most = cost.tools.iter().map(|tool| tool.tokens).max().unwrap_or(0);
    let all = cost.definitions();
    widgets::scroll("server tools").show_rows(ui, ROW, rows.len(), |ui, range| {
        for place in range {
            if let Some(tool) = rows.get(place).and_then(|&at| cost.tools.get(at)) {
                row_ui(
                    ui,
                    cx,
                    tool,
                    &parts,
                    Scale {
                        place: place + 1,
                        of: rows.len(),
                        most,
                        all,
                    },
                );
            }
        }
    });
    widgets::hline(ui, ui.max_rect().x_range(), ui.max_rect().top());
}

fn head_ui(ui: &mut Ui, cx: &Cx<'_>, parts: &[DefinitionPart]) {
    let t = theme::of(ui);
    let row = widgets::ListRow::to_read(ui, 26.0);
    let ui = row.ui;
    ui.painter().rect_filled(row.rect, 0.0, t.panel);
    widgets::line_below(ui, row.rect);
    let view = &cx.state.server_view;
    let cell = |place: Rect, title: &str, column: ServerColumn, is_number: bool| {
        let response = widgets::sense(ui, place, ("sort", title), Sense::click());
        let is_sorted = view.sort == column;
        let (order, arrow) = match (is_sorted, is_number != view.is_reversed) {
            (false, _) => ("not sorted by", ""),
            (true, true) => ("sorted, largest first", icons::ARROW_DOWN),
            (true, false) => ("sorted, smallest first", icons::ARROW_UP),
        };
        let spoken = format!("Sort by {title}, {order}");
        widgets::say_selected(&response, Role::ColumnHeader, is_sorted, spoken);
        let color = if is_sorted || response.hovered() {
            t.strong
        } else {
            t.weak
        };
        let font = theme::regular(11.5);
        let beside = if is_number {
            row.number(place.right(), title, font, color) - 8.0
        } else {
            row.text(place.left(), place.right(), title, font, color) + 8.0
        };
        row.icon(beside, arrow, 11.0, t.accent);
        widgets::focus_ring_inside(ui, &response);
        if response.clicked() {
            cx.send(TokensAction::Sort(column));
        }
        response.on_hover_text("Click to sort; click again to reverse");
    };
    let span = |x| Rect::from_x_y_ranges(x, row.rect.y_range());
    let mut right = row.inset_right(SIDE);
    cell(
        span(right - NUMBER..=right),
        "Tokens",
        ServerColumn::Total,
        true,
    );
    right -= NUMBER;
    for &part in parts.iter().rev() {
        let place = span(right - NUMBER + 4.0..=right);
        cell(place, part.title(), ServerColumn::Part(part), true);
        right -= NUMBER;
    }
    let left = row.inset_left(SIDE);
    cell(span(left..=left + 28.0), "#", ServerColumn::Listed, false);
    let name = span(left + 36.0..=right - 8.0);
    cell(name, "Tool", ServerColumn::Name, false);
}

/// Where a row stands and what it is measured against.
#[derive(Clone, Copy)]
struct Scale {
    place: usize,
    of: usize,
    most: u64,
    all: u64,
}

fn row_ui(ui: &mut Ui, cx: &Cx<'_>, tool: &ToolCost, parts: &[DefinitionPart], scale: Scale) {
    let t = theme::of(ui);
    let row = widgets::ListRow::new(ui, ROW);
    let ui = row.ui;
    let share = share(tool.tokens, scale.all);
    row.response.widget_info(|| {
        let parts: Vec<String> = DefinitionPart::ALL
            .iter()
            .filter(|&&part| tool.part(part) > 0)
            .map(|&part| format!("{} {}", part.title(), widgets::grouped(tool.part(part))))
            .collect();
        let name = format!(
            "{}, {}, {share} of all definitions: {}, {} of {}",
            tool.name,
            widgets::number_text(tool.tokens, "tokens"),
            parts.join(", "),
            widgets::grouped(scale.place as u64),
            widgets::grouped(scale.of as u64)
        );
        WidgetInfo::labeled(Role::Row, true, name)
    });
    row.ground(false);
    let mut right = row.inset_right(SIDE);
    widgets::text_right(
        ui,
        pos2(right, row.y - 2.0),
        widgets::grouped(tool.tokens),
        theme::mono_semibold(12.0),
        t.strong,
    );
    let bar = Rect::from_x_y_ranges(right - NUMBER + 16.0..=right, row.y + 7.0..=row.y + 10.0);
    widgets::bar(
        ui,
        bar,
        if scale.most == 0 {
            0.0
        } else {
            tool.tokens as f32 / scale.most as f32
        },
        t.accent,
    );
    right -= NUMBER;
    for &part in parts.iter().rev() {
        let tokens = tool.part(part);
        let (text, color) = if tokens == 0 {
            ("–".to_owned(), t.faint)
        } else {
            (widgets::grouped(tokens), t.text)
        };
        row.number(right, text, theme::code(), color);
        right -= NUMBER;
    }
    let left = row.inset_left(SIDE);
    row.text(
        left,
        left + 34.0,
        widgets::grouped(scale.place as u64),
        theme::code(),
        t.weak,
    );
    let name = if tool.name.is_empty() {
        "(no name)"
    } else {
        &tool.name
    };
    row.text(left + 36.0, right - 8.0, name, theme::code(), t.strong);
    if row.response.clicked() {
        cx.send(Action::ShowDialog(Dialog::Definition {
            tool: tool.name.clone(),
        }));
    }
    row.response
        .on_hover_cursor(egui::CursorIcon::PointingHand)
        .on_hover_text("The whole definition as the server lists it");
}
