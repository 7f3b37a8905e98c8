//! Where a saving comes from: the difference between two formats in steps that add up to it.

use egui::{Popup, Rect, Role, Stroke, Ui};

use super::part_head;
use crate::state::{Action, TokensAction};
use crate::ui::theme;
use crate::ui::widgets::{self, Button};
use crate::ui::{Cx, icons};
use loupe_analysis::queries::{RowQuery, Saving, SavingQuery};
use loupe_core::format::FORMATS;
use loupe_core::format::format_title;
use loupe_core::number::{percent_change, signed};

const ROW: f32 = 24.0;

/// Whether a format applies to this result.
fn applies(cx: &Cx<'_>, id: &'static str) -> bool {
    matches!(cx.ready(RowQuery(id)), Some(row) if row.is_available())
}

/// The two formats: those chosen where they apply, else the text as sent and compact JSON.
fn ends(cx: &Cx<'_>) -> Option<(&'static str, &'static str)> {
    let view = &cx.state.view.tokens;
    let has = |id: Option<&'static str>| id.filter(|id| applies(cx, id));
    let from = has(view.from).or_else(|| {
        ["both", "content", "structured"]
            .into_iter()
            .find(|id| applies(cx, id))
    })?;
    let to = has(view.to).or_else(|| has(Some("json")))?;
    Some((from, to))
}

pub fn saving_ui(ui: &mut Ui, cx: &Cx<'_>) {
    part_head(ui, "Where the saving comes from");
    let Some((from, to)) = ends(cx) else {
        widgets::note(ui, "No two formats of this answer to compare");
        return;
    };
    ui.horizontal(|ui| {
        ui.set_height(theme::ICON_BUTTON);
        ui.spacing_mut().item_spacing.x = 6.0;
        chooser_ui(ui, cx, "From", from, |from| TokensAction::Saving {
            from,
            to,
        });
        ui.label(icons::icon(icons::ARROW_RIGHT, 14.0, theme::of(ui).weak));
        chooser_ui(ui, cx, "To", to, |to| TokensAction::Saving { from, to });
        if widgets::icon_button(ui, icons::SWAP, "Swap A and B").clicked() {
            cx.send(TokensAction::Saving { from: to, to: from });
        }
    });
    ui.add_space(4.0);
    let asked = cx.ask(SavingQuery {
        from,
        to,
        encoding: cx.state.settings.encoding(),
    });
    if let Some(Some(saving)) = widgets::ready(ui, cx, "Measuring steps", asked) {
        steps_ui(ui, saving, from, to);
    }
}

fn chooser_ui(
    ui: &mut Ui,
    cx: &Cx<'_>,
    name: &str,
    chosen: &'static str,
    then: impl Fn(&'static str) -> TokensAction,
) {
    let t = theme::of(ui);
    let spoken = format!("{name}: {}", format_title(chosen));
    let button = Button::new(format_title(chosen))
        .menu()
        .height(theme::ICON_BUTTON)
        .name(&spoken)
        .show(ui);
    Popup::menu(&button).width(240.0).show(|ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        for format in FORMATS.iter().filter(|format| applies(cx, format.id())) {
            if widgets::choose_row(
                ui,
                format.title(),
                Some(t.hue(format.id()).color),
                format.id() == chosen,
            ) {
                cx.send(Action::Tokens(then(format.id())));
            }
        }
    });
}

/// From the one to the other as a staircase: each bar begins where the one before ended.
fn steps_ui(ui: &mut Ui, saving: &Saving, from: &'static str, to: &'static str) {
    let t = theme::of(ui);
    // The highest the stairs come to, so that all of them have room.
    let mut level = i64::try_from(saving.from).unwrap_or(i64::MAX);
    let mut highest = level.max(i64::try_from(saving.to).unwrap_or(i64::MAX));
    for step in &saving.steps {
        level = level.saturating_add(step.tokens);
        highest = highest.max(level);
    }
    ui.spacing_mut().item_spacing.y = 0.0;
    widgets::scroll("saving").show(ui, |ui| {
        let whole = |ui: &mut Ui, format: &'static str, tokens: u64| {
            let end = i64::try_from(tokens).unwrap_or(i64::MAX);
            row_ui(
                ui,
                format_title(format),
                widgets::grouped(tokens),
                (0, end, highest),
                t.hue(format).color,
                true,
            );
        };
        whole(ui, from, saving.from);
        let mut level = i64::try_from(saving.from).unwrap_or(i64::MAX);
        for step in &saving.steps {
            let next = level.saturating_add(step.tokens);
            // Amber is for what is missing; what costs less or more is neither good nor bad.
            let color = if step.is_loss() { t.warn } else { t.weak };
            row_ui(
                ui,
                step.title(),
                signed(step.tokens),
                (level, next, highest),
                color,
                false,
            );
            level = next;
        }
        whole(ui, to, saving.to);
        let difference = i64::try_from(saving.to).unwrap_or(i64::MAX)
            - i64::try_from(saving.from).unwrap_or(i64::MAX);
        let share = percent_change(saving.from, saving.to)
            .map_or_else(String::new, |share| format!(", {share}"));
        let words = if difference == 0 {
            format!("No difference ({})", saving.encoding.name())
        } else {
            format!(
                "{} tokens{share} against {} ({})",
                signed(difference),
                format_title(from),
                saving.encoding.name()
            )
        };
        ui.add_space(4.0);
        widgets::wrapped(ui, words, theme::small(), t.text);
    });
}

fn row_ui(
    ui: &mut Ui,
    name: &str,
    tokens: String,
    (from, to, highest): (i64, i64, i64),
    color: egui::Color32,
    is_whole: bool,
) {
    let t = theme::of(ui);
    let row = widgets::ListRow::to_read(ui, ROW);
    let ui = row.ui;
    row.say(Role::Row, format!("{name}, {tokens} tokens"));
    let names = (row.rect.width() * 0.5).min(210.0);
    let font = if is_whole {
        theme::medium(12.5)
    } else {
        theme::regular(12.5)
    };
    row.text(
        row.rect.left(),
        row.inset_left(names) - 8.0,
        name,
        font,
        if is_whole { t.strong } else { t.text },
    );
    let right = row.inset_right(64.0);
    let left = row.inset_left(names);
    if right > left + 8.0 && highest > 0 {
        let x = |tokens: i64| left + (right - left) * (tokens.max(0) as f32 / highest as f32);
        let bar = Rect::from_x_y_ranges(
            x(from.min(to))..=x(from.max(to)).max(x(from.min(to)) + 2.0),
            row.y - 4.0..=row.y + 4.0,
        );
        ui.painter().rect_filled(bar, theme::RADIUS_BAR, color);
        ui.painter().vline(
            x(to).round(),
            row.y..=row.rect.bottom() + ROW / 2.0 - 4.0,
            Stroke::new(1.0, t.line2),
        );
    }
    row.number(
        row.inset_right(2.0),
        tokens,
        theme::mono_semibold(12.0),
        if is_whole { t.strong } else { color },
    );
}
