//! What the two sides of a diff cost, as cards.

use egui::{Color32, Rect, Role, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};

use super::percent;
use super::texts::{hue_of, text_title};
use crate::analysis::{DiffView, TextOf};
use crate::format;
use crate::format::format_title;
use crate::number::signed_from;
use crate::ui::Cx;
use crate::ui::theme::{self, ThemeTokens};
use crate::ui::widgets;

/// What each side costs, format by format.
pub fn costs_ui(ui: &Ui, cx: &Cx<'_>, rect: Rect, view: &DiffView) {
    let t = ThemeTokens::of(ui);
    ui.painter().rect_filled(rect, 0.0, t.panel);
    ui.painter().hline(rect.x_range(), rect.bottom() - 0.5, Stroke::new(1.0, t.line));
    let encoding = cx.state.settings.encoding();
    let is_as_sent = |id: &str| format::by_id(id).is_some_and(format::Format::is_as_sent);
    let (old, new) = cx.state.diff.ask.texts;
    let is_host = |text| matches!(text, TextOf::Host(_));
    let cards: Vec<(String, &'static str, Option<u64>, Option<u64>)> = if old != new || is_host(old) {
        // Two texts are compared with each other, each at its side.
        let pair = |of: TextOf| view.found.tokens.iter().find(|pair| of == TextOf::Format(pair.format));
        let a = view.text_tokens.0.or_else(|| pair(old)?.a);
        let b = view.text_tokens.1.or_else(|| pair(new)?.b);
        let title = format!("{} → {}", text_title(cx, old), text_title(cx, new));
        vec![(title, hue_of(new), a.map(|tokens| tokens.get(encoding)), b.map(|tokens| tokens.get(encoding)))]
    } else {
        // What is sent, and the compact JSON that the tree's numbers are of.
        let is_shown = |id: &'static str| (is_as_sent(id) && id != "wire") || id == "json" || old == TextOf::Format(id);
        let pairs = view.found.tokens.iter().filter(|pair| is_shown(pair.format));
        let tokens = |tokens: Option<crate::token::Tokens>| tokens.map(|tokens| tokens.get(encoding));
        pairs.map(|pair| (format_title(pair.format).to_owned(), pair.format, tokens(pair.a), tokens(pair.b))).collect()
    };
    let shown = cards.len().min(((rect.width() / 240.0) as usize).max(1));
    let width = (rect.width() / shown.max(1) as f32).min(460.0);
    for (at, (title, format, a, b)) in cards.into_iter().take(shown).enumerate() {
        let card = Rect::from_min_size(pos2(rect.left() + at as f32 * width, rect.top()), vec2(width, rect.height()));
        if at > 0 {
            ui.painter().vline(card.left() - 0.5, card.y_range(), Stroke::new(1.0, t.line));
        }
        cost_ui(ui, card.shrink2(vec2(14.0, 8.0)), &title, t.hue(format).color, (a, b), view);
    }
}

fn cost_ui(ui: &Ui, rect: Rect, title: &str, hue: Color32, (a, b): (Option<u64>, Option<u64>), view: &DiffView) {
    let t = ThemeTokens::of(ui);
    let (change, share) = match (a, b) {
        (Some(a), Some(b)) => (format!("{} tok", signed_from(a, b)), percent(a, b).map(|share| format!("{share} vs A"))),
        (Some(_), None) => ("not in B".to_owned(), None),
        _ => ("not in A".to_owned(), None),
    };
    // Fewer tokens are only good where nothing was lost for them.
    let is_good = matches!((a, b), (Some(a), Some(b)) if b < a)
        && view.facts_lost() == 0
        && view.values_changed() == 0
        && view.text.as_ref().is_ok_and(|text| text.found.removed == 0);
    let color = if is_good { t.ok } else { t.strong };
    let response = ui.interact(rect, ui.scope_id().with(("cost", title)), Sense::hover());
    let side = |tokens: Option<u64>| tokens.map_or_else(|| "nothing".to_owned(), |tokens| widgets::number_text(tokens, "tokens"));
    let words = format!(
        "{title}: A {}, B {}, {change}{}",
        side(a),
        side(b),
        share.as_ref().map_or_else(String::new, |share| format!(", {share}"))
    );
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &words));
    response.on_hover_text(words.clone());
    let y = rect.top() + 10.0;
    ui.painter().rect_filled(Rect::from_center_size(pos2(rect.left() + 5.0, y), vec2(9.0, 9.0)), theme::RADIUS_BAR, hue);
    let mut right = rect.right();
    if let Some(share) = share {
        right = widgets::text_right(ui, pos2(right, y), share, theme::code(), t.weak) - 8.0;
    }
    right = widgets::text_right(ui, pos2(right, y), change, theme::mono_semibold(12.0), color) - 8.0;
    widgets::text_at(ui, pos2(rect.left() + 16.0, y), title, theme::label(), t.strong, right - rect.left() - 16.0);
    let most = a.max(b).unwrap_or(0).max(1) as f32;
    for (line, name, tokens, color) in [(0.0, "A", a, t.weak), (1.0, "B", b, hue)] {
        let y = rect.top() + 33.0 + line * 18.0;
        widgets::text_at(ui, pos2(rect.left(), y), name, theme::small(), if name == "B" { t.accent } else { t.weak }, 12.0);
        let number = tokens.map_or_else(|| "–".to_owned(), widgets::grouped);
        widgets::text_right(ui, pos2(rect.right(), y), number, theme::code(), t.text);
        let bar = Rect::from_min_max(pos2(rect.left() + 18.0, y - 2.5), pos2(rect.right() - 58.0, y + 2.5));
        widgets::bar(ui, bar, tokens.unwrap_or(0) as f32 / most, color);
    }
}
