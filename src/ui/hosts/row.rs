//! What the drawer and the full view say of a host in the same way: what its model sees, tokens, facts, limit, evidence.

use egui::{Pos2, Rect, Stroke, StrokeKind, Ui, pos2, vec2};

use crate::analysis::{HostRow, HostsReport};
use crate::host::{Evidence, LimitState};
use crate::number::grouped;
use crate::state::HostsView;
use crate::token::Encoding;
use crate::ui::theme::{self, Hue, ThemeTokens};
use crate::ui::{icons, widgets};

/// Own and pinned hosts before the others, which keep their order.
pub fn first<T>(all: impl IntoIterator<Item = T>, is_first: impl Fn(&T) -> bool) -> Vec<T> {
    let (mut first, others): (Vec<T>, Vec<T>) = all.into_iter().partition(is_first);
    first.extend(others);
    first
}

/// A badge of a hue; returns where it ends.
pub fn hue_badge(ui: &Ui, left: Pos2, text: &str, hue: Hue) -> f32 {
    let galley = ui.painter().layout_no_wrap(text.to_owned(), theme::medium(11.5), hue.color);
    let rect = Rect::from_min_size(pos2(left.x.round(), (left.y - 9.0).round()), vec2((galley.size().x + 10.0).round(), 18.0));
    ui.painter().rect(rect, theme::RADIUS_BADGE, hue.fill, Stroke::new(1.0, hue.line), StrokeKind::Inside);
    ui.painter().galley(pos2(rect.left() + 5.0, (rect.center().y - galley.size().y / 2.0).round()), galley, hue.color);
    rect.right()
}

/// What the model sees, as badges; in words for a screen reader.
pub fn sees_at(ui: &Ui, left: Pos2, row: &HostRow) -> &'static str {
    let t = ThemeTokens::of(ui);
    let mut at = left;
    if row.tokens.is_none() {
        widgets::text_at(ui, left, "not known", theme::small(), t.weak, 120.0);
    }
    if row.shares.has_content {
        at.x = hue_badge(ui, at, "content", t.hue_text) + 6.0;
    }
    if row.shares.has_structured {
        hue_badge(ui, at, "structured", t.hue_structured);
    } else if row.tokens.is_some() && !row.shares.has_content {
        hue_badge(ui, at, "neither", t.hue_wire);
    }
    sees(row)
}

/// The same in words.
pub fn sees(row: &HostRow) -> &'static str {
    match (row.tokens.is_some(), row.shares.has_content, row.shares.has_structured) {
        (false, ..) => "text not known",
        (_, true, true) => "sees content and structured",
        (_, true, false) => "sees content",
        (_, false, true) => "sees structured",
        (_, false, false) => "sees neither part",
    }
}

/// A bar of what the text is made of; what a limit took out is outlined.
pub fn bar_at(ui: &Ui, rect: Rect, row: &HostRow, most: f64, encoding: Encoding) {
    let t = ThemeTokens::of(ui);
    ui.painter().rect_filled(rect, theme::RADIUS_BAR, t.hover);
    let Some(tokens) = row.tokens.filter(|_| most > 0.0) else { return };
    let shown = (row.shares.content + row.shares.structured + row.shares.other).max(1) as f64;
    let each = tokens.get(encoding) as f64 / shown;
    let mut x = rect.left();
    // What is there is seen, however much another host pays.
    let least = |bytes: u64| if bytes == shown as u64 { 3.0 } else { 0.0 };
    let parts = [
        (row.shares.content, t.hue_text.color, true),
        (row.shares.structured, t.hue_structured.color, true),
        (row.shares.other, t.hue_wire.color, true),
        (row.shares.removed, t.warn, false),
    ];
    for (bytes, color, is_filled) in parts {
        let width = ((bytes as f64 * each / most) as f32 * rect.width()).max(least(bytes));
        let part = Rect::from_min_max(pos2(x, rect.top()), pos2((x + width).min(rect.right()), rect.bottom()));
        x = part.right();
        if part.width() < 0.5 {
            continue;
        }
        if is_filled {
            ui.painter().rect_filled(part, theme::RADIUS_BAR, color);
        } else {
            ui.painter().rect(part, theme::RADIUS_BAR, t.warn_bg, Stroke::new(1.0, color), StrokeKind::Inside);
        }
    }
}

/// The most that any host's text would cost, with what its limit took out.
pub fn most(report: &HostsReport, encoding: Encoding) -> f64 {
    let of = |row: &HostRow| {
        let shown = (row.shares.content + row.shares.structured + row.shares.other).max(1) as f64;
        row.tokens.map_or(0.0, |tokens| tokens.get(encoding) as f64 * (1.0 + row.shares.removed as f64 / shown))
    };
    // One text that is cut to nearly nothing must not make all other bars invisible.
    let highest = report.rows.iter().filter_map(|row| row.tokens).map(|tokens| tokens.get(encoding)).max().unwrap_or(0) as f64;
    report.rows.iter().map(of).fold(0.0, f64::max).min(highest * 1.5)
}

/// Facts kept, with the share in words.
pub fn facts_at(ui: &Ui, left: Pos2, row: &HostRow) -> String {
    let t = ThemeTokens::of(ui);
    let Some(facts) = row.facts.filter(|facts| facts.total > 0) else {
        widgets::text_at(ui, left, "–", theme::small(), t.weak, 80.0);
        return String::new();
    };
    let kept = facts.total - facts.missing;
    let (icon, color) = match (facts.missing, row.loses_nothing()) {
        (0, true) => (icons::CHECK, t.ok),
        (0, false) => (icons::CHECK, t.weak),
        _ => (icons::MISSING, t.warn),
    };
    widgets::glyph_at(ui, left + vec2(6.0, 0.0), icon, theme::icon_font(13.0), color);
    let text = format!("{} / {}", grouped(kept), grouped(facts.total));
    widgets::text_at(ui, left + vec2(18.0, 0.0), text, theme::code(), color, 120.0);
    format!(", {} of {} facts kept", grouped(kept), grouped(facts.total))
}

/// The limit in one word or two, and its detail.
pub fn limit_words(row: &HostRow) -> (String, String) {
    let limit = row.limit();
    let max = row.host.limit.iter().filter(|rule| rule.max > 0).map(|rule| short(rule.unit, rule.max)).next();
    let bite = limit.bites.first();
    let detail = match (bite.map(|bite| short(bite.unit, bite.max)).or(max), limit.tokens_max) {
        (_, Some(max)) if bite.is_none() => format!("limit {} tokens", grouped(max)),
        (Some((max, unit)), _) => format!("limit {} {unit}", grouped(max)),
        (None, _) => String::new(),
    };
    let word = match limit.state {
        LimitState::Cut => format!("cut, −{}", widgets::bytes(row.view.removed_bytes())),
        other => other.title().to_owned(),
    };
    (word, detail)
}

/// The limit on one line, or on two where `is_tall`.
pub fn limit_at(ui: &Ui, left: Pos2, row: &HostRow, width: f32, is_tall: bool) -> String {
    let t = ThemeTokens::of(ui);
    let (word, detail) = limit_words(row);
    let is_cut = row.limit().state.is_truncated() == Some(true);
    let color = if is_cut || row.limit().state == LimitState::MayCut { t.warn } else { t.weak };
    let top = if is_tall && !detail.is_empty() { left - vec2(0.0, 8.0) } else { left };
    let mut at = top;
    if is_cut {
        widgets::glyph_at(ui, at + vec2(6.0, 0.0), icons::CUT, theme::icon_font(13.0), color);
        at.x += 16.0;
    }
    let font = if is_cut { theme::medium(12.0) } else { theme::small() };
    let end = widgets::text_at(ui, at, &word, font, color, width);
    if !detail.is_empty() {
        let (at, room) =
            if is_tall { (left + vec2(0.0, 9.0), width) } else { (pos2(end + 8.0, left.y), left.x + width - end - 8.0) };
        if room > 60.0 {
            widgets::text_at(ui, at, &detail, theme::small(), t.weak, room);
        }
    }
    if detail.is_empty() { word } else { format!("{word}, {detail}") }
}

/// How the rules are known: a mark of its own for each kind; returns where it ends.
pub fn evidence_at(ui: &Ui, left: Pos2, evidence: Evidence) -> f32 {
    let t = ThemeTokens::of(ui);
    let (icon, hue) = evidence_mark(t, evidence);
    let galley = ui.painter().layout_no_wrap(evidence.name().to_owned(), theme::medium(11.5), hue.color);
    let rect = Rect::from_min_size(pos2(left.x.round(), (left.y - 9.0).round()), vec2((galley.size().x + 27.0).round(), 18.0));
    ui.painter().rect(rect, theme::RADIUS_BADGE, hue.fill, Stroke::new(1.0, hue.line), StrokeKind::Inside);
    widgets::glyph_at(ui, pos2(rect.left() + 12.0, rect.center().y), icon, theme::icon_font(13.0), hue.color);
    ui.painter().galley(pos2(rect.left() + 22.0, (rect.center().y - galley.size().y / 2.0).round()), galley, hue.color);
    rect.right()
}

fn evidence_mark(t: &ThemeTokens, evidence: Evidence) -> (&'static str, Hue) {
    match evidence {
        Evidence::Observed => (icons::OBSERVED, t.hue_text),
        Evidence::Source => (icons::CODE, t.hue_text),
        Evidence::Documented => (icons::DOCUMENTED, t.hue_both),
        Evidence::Inferred => (icons::INFERRED, t.hue_wire),
    }
}

/// Whether a host stands first: from the user's own file, or pinned.
pub fn is_first(row: &HostRow, view: &HostsView) -> bool {
    row.host.is_own || view.pinned.contains(&row.host.id)
}

/// A limit with its unit, where room is short.
fn short(unit: crate::host::rules::LimitUnit, max: u64) -> (u64, &'static str) {
    let (max, unit) = unit.in_words(max);
    (max, unit.short())
}
