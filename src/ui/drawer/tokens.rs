//! Where the tokens of the data go: by key over all records, and where a saving comes from.

mod saving;

use std::sync::Arc;

use egui::{Color32, Rect, Role, Sense, Ui, pos2, vec2};

use super::SIDE;
use crate::state::{QueryState, TokensAction, TokensPart};
use crate::ui::Cx;
use crate::ui::theme::{self, ThemeTokens};
use crate::ui::widgets;
use loupe_analysis::queries::{Shares, TokenMap, TokenMapQuery};
use loupe_core::number::share;

/// From this width on both parts stand side by side; below one is chosen.
const BOTH: f32 = 720.0;
const ROW: f32 = 20.0;
const PARTS: [(TokensPart, &str); 2] = [
    (TokensPart::ByKey, "By key"),
    (TokensPart::Saving, "Saving"),
];

/// The colour of each share, in the order of [`Shares::named`].
fn colors(t: &ThemeTokens) -> [Color32; 5] {
    [
        t.hue_structured.color,
        t.accent,
        t.warn,
        t.hue_text.color,
        t.weak,
    ]
}

/// The map, once it is there.
fn map<'a>(cx: &Cx<'a>) -> QueryState<'a, Option<Arc<TokenMap>>> {
    cx.ask(TokenMapQuery(cx.state.settings.encoding()))
}

/// A column for people: `items[].city`; the whole data is `the data`.
fn column_name(map: &TokenMap, column: usize) -> String {
    let path = map.columns.path(column);
    let mut name = String::new();
    for part in path.split('/').skip(1) {
        match part {
            "*" => name.push_str("[]"),
            key => {
                if !name.is_empty() {
                    name.push('.');
                }
                name.push_str(&key.replace("~1", "/").replace("~2", "*").replace("~0", "~"));
            }
        }
    }
    if name.is_empty() {
        "the data".to_owned()
    } else {
        name
    }
}

pub fn tools_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = theme::of(ui);
    let encoding = cx.state.settings.encoding();
    let chosen = &cx.state.settings.tokenizer;
    let why = if chosen.encoding().is_some() {
        "The tokens are those of JSON, compact".to_owned()
    } else {
        format!(
            "Only the built-in encodings tell single tokens apart, so {} counts here, not {}",
            encoding.name(),
            chosen.name()
        )
    };
    widgets::words(ui, encoding.name(), theme::code(), t.weak).on_hover_text(why);
    if ui.content_rect().width() < BOTH + theme::SIDEBAR {
        let at = PARTS
            .iter()
            .position(|(part, _)| *part == cx.state.view.tokens.part)
            .unwrap_or(0);
        if let Some(clicked) = widgets::segmented(ui, "Show", &PARTS.map(|(_, name)| name), at) {
            cx.send(TokensAction::Part(PARTS[clicked].0));
        }
    }
}

/// The computed sentence: what the tokens are spent on.
pub fn summary_ui(ui: &mut Ui, cx: &Cx<'_>, rect: Rect) {
    let t = theme::of(ui);
    widgets::line_part(ui, "map summary", rect, |ui| {
        let asked = map(cx);
        if let QueryState::Failed(problem) = asked {
            widgets::truncated(ui, problem.message(), theme::base(), t.bad);
            return;
        }
        let Some(map) = widgets::ready(ui, cx, "Sorting tokens", asked) else {
            return;
        };
        let Some(map) = map else {
            widgets::words(
                ui,
                "No data in this answer, so nothing to break down.",
                theme::base(),
                t.weak,
            );
            return;
        };
        let total = map.total.total();
        let mut words = format!(
            "{} in JSON, compact ({}):",
            widgets::number_text(total, "tokens"),
            map.encoding.name()
        );
        for (position, (name, tokens)) in map.total.named().into_iter().enumerate() {
            let comma = if position == 0 { "" } else { "," };
            words.push_str(&format!(
                "{comma} {name} {} ({})",
                widgets::grouped(tokens),
                share(tokens, total)
            ));
        }
        words.push('.');
        widgets::wrapped(ui, &words, theme::base(), t.text).on_hover_text(&words);
    });
}

pub fn tokens_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let outer = ui.available_rect_before_wrap();
    // All of the drawer is taken, whatever is in it: its height is the user's.
    ui.allocate_rect(outer, Sense::hover());
    let QueryState::Ready(Some(map)) = map(cx) else {
        return;
    };
    let part = |ui: &mut Ui, at: usize, rect: Rect| {
        widgets::part(
            ui,
            ("tokens part", at),
            rect.shrink2(vec2(SIDE, 0.0)),
            |ui| {
                ui.set_clip_rect(rect.intersect(ui.clip_rect()));
                match PARTS[at].0 {
                    TokensPart::ByKey => by_key_ui(ui, map),
                    TokensPart::Saving => saving::saving_ui(ui, cx),
                }
            },
        );
    };
    if ui.content_rect().width() < BOTH + theme::SIDEBAR {
        let at = PARTS
            .iter()
            .position(|(part, _)| *part == cx.state.view.tokens.part)
            .unwrap_or(0);
        part(ui, at, outer);
        return;
    }
    let (keys, saving) = outer.split_left_right_at_x((outer.left() + outer.width() * 0.6).round());
    part(ui, 0, keys);
    widgets::vline(ui, keys.right() - 0.5, outer.y_range());
    part(ui, 1, saving);
}

/// A heading of a part; returns what is left below.
pub(super) fn part_head(ui: &mut Ui, text: &str) {
    let t = theme::of(ui);
    let row = widgets::ListRow::to_read(ui, 24.0);
    row.say(Role::Heading, text);
    row.text(
        row.rect.left(),
        row.rect.right(),
        text,
        theme::semibold(12.0),
        t.strong,
    );
}

/// A bar of the five shares, scaled so that `most` fills the room.
fn shares_bar(ui: &Ui, rect: Rect, shares: Shares, most: u64) {
    let t = theme::of(ui);
    let mut left = rect.left();
    for ((_, tokens), color) in shares.named().into_iter().zip(colors(t)) {
        let width = if most == 0 {
            0.0
        } else {
            rect.width() * (tokens as f32 / most as f32)
        };
        if width > 0.0 {
            ui.painter().rect_filled(
                Rect::from_x_y_ranges(left..=left + width, rect.y_range()),
                0.0,
                color,
            );
        }
        left += width;
    }
}

fn by_key_ui(ui: &mut Ui, map: &TokenMap) {
    let t = theme::of(ui);
    ui.spacing_mut().item_spacing.y = 0.0;
    part_head(ui, "By key, over all records");
    let legend = ui
        .available_rect_before_wrap()
        .with_max_y(ui.cursor().top() + 20.0);
    let mut x = legend.left();
    for ((name, _), color) in map.total.named().into_iter().zip(colors(t)) {
        let square = Rect::from_center_size(pos2(x + 4.0, legend.center().y), vec2(8.0, 8.0));
        if x + 70.0 > legend.right() {
            break;
        }
        ui.painter().rect_filled(square, theme::RADIUS_BAR, color);
        x = widgets::text_at(
            ui,
            pos2(x + 13.0, legend.center().y),
            name,
            theme::regular(11.5),
            t.weak,
            legend.right() - x - 13.0,
        ) + 12.0;
    }
    ui.add_space(20.0);
    let total = map.total.total();
    let most = map
        .by_cost
        .first()
        .map_or(0, |&column| map.own[column].total());
    let height = widgets::whole_rows(ui.available_height(), ROW);
    widgets::scroll("by key")
        .max_height(height)
        .min_scrolled_height(height)
        .show_rows(ui, ROW, map.by_cost.len(), |ui, range| {
            for &column in &map.by_cost[range] {
                key_row_ui(ui, map, column, (most, total));
            }
        });
}

fn key_row_ui(ui: &mut Ui, map: &TokenMap, column: usize, (most, total): (u64, u64)) {
    let t = theme::of(ui);
    let row = widgets::ListRow::to_read(ui, ROW);
    let ui = row.ui;
    let shares = map.own[column];
    let leaf = map.columns.columns[column].has_leaves;
    let mut name = column_name(map, column);
    if !leaf {
        name.push_str(" · brackets");
    }
    let tokens = shares.total();
    let parts: Vec<String> = shares
        .named()
        .into_iter()
        .filter(|(_, tokens)| *tokens > 0)
        .map(|(name, tokens)| format!("{name} {}", widgets::grouped(tokens)))
        .collect();
    let spoken = format!(
        "{name}, {} ({} of JSON, compact): {}",
        widgets::number_text(tokens, "tokens"),
        share(tokens, total),
        parts.join(", ")
    );
    row.say(Role::Row, &spoken);
    row.ground(false);
    let name_width = (row.rect.width() * 0.42).min(220.0);
    let shown = shorten(ui, &name, name_width - 8.0);
    row.text(
        row.rect.left(),
        row.inset_left(name_width) - 8.0,
        shown,
        theme::code(),
        if leaf { t.text } else { t.weak },
    );
    let bar = Rect::from_x_y_ranges(
        row.inset_left(name_width)..=(row.inset_right(104.0)).max(row.inset_left(name_width)),
        row.y - 4.0..=row.y + 4.0,
    );
    shares_bar(ui, bar, shares, most);
    row.number(
        row.inset_right(46.0),
        widgets::grouped(tokens),
        theme::mono_semibold(12.0),
        t.strong,
    );
    row.number(
        row.inset_right(12.0),
        share(tokens, total),
        theme::code(),
        t.weak,
    );
    row.response.on_hover_text(spoken);
}

/// Names that share a beginning lose the beginning, not the end.
fn shorten(ui: &Ui, name: &str, width: f32) -> String {
    let advance = widgets::text_width(ui, "0", theme::code()).max(1.0);
    let fits = ((width / advance) as usize).max(4);
    let count = name.chars().count();
    if count <= fits {
        name.to_owned()
    } else {
        format!(
            "…{}",
            name.chars().skip(count + 1 - fits).collect::<String>()
        )
    }
}
