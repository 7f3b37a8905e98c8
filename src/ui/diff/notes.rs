//! What must be known before a diff is read: calls that ended differently, what was left out, what is too much to show.

use egui::{Rect, Role, Sense, Stroke, Ui, WidgetInfo, pos2};

use crate::analysis::DiffView;
use crate::ui::icons;
use crate::ui::theme::{self, ThemeTokens};
use crate::ui::widgets;

/// What must be known before reading on.
pub fn notes(view: &DiffView) -> Vec<(widgets::Tone, String)> {
    use widgets::Tone;
    let found = &view.found;
    let mut notes = Vec::new();
    if found.outcomes.0 != found.outcomes.1 {
        notes.push((
            Tone::Bad,
            format!("The calls ended differently: A {}, B {}", found.outcomes.0.name(), found.outcomes.1.name()),
        ));
    }
    for reason in &found.left_out {
        notes.push((Tone::Warn, capitalised(reason)));
    }
    if let Some(rest) = found.rest.as_ref().filter(|rest| !rest.found.is_empty()) {
        let count = rest.found.counts.total();
        let places = widgets::number_text(count, "places");
        let first = rest.changes().next().map(|change| rest.paths(&change));
        let first = first.and_then(|(a, b)| b.or(a)).map_or_else(String::new, |path| format!(", first {path}"));
        notes.push((Tone::Warn, format!("The rest of the result differs in {places}{first}")));
    }
    if let Some(definition) = found.definition.as_ref().filter(|definition| !definition.found.is_empty()) {
        let count = definition.found.counts.total();
        let places = widgets::number_text(count, "places");
        notes.push((Tone::Accent, format!("The tool's definition differs in {places}")));
    }
    if let Some(payload) = &found.payload
        && payload.found.more() > 0
    {
        notes.push((
            Tone::Warn,
            format!(
                "Too many differences to show: the first {} of {} are in the tree",
                widgets::grouped(payload.found.changes.len() as u64),
                widgets::grouped(payload.found.counts.total())
            ),
        ));
    } else if view.is_cut {
        notes.push((Tone::Warn, "Too many values to show: the tree ends early".to_owned()));
    }
    if let Ok(text) = &view.text
        && text.found.more > 0
    {
        notes.push((Tone::Warn, format!("{} more than are shown", widgets::number_text(text.found.more, "changed lines"))));
    }
    if view.is_late {
        notes.push((
            Tone::Warn,
            "Comparing took too long: the lines are correct, but more may be marked than necessary".to_owned(),
        ));
    }
    notes.truncate(4);
    notes
}

fn capitalised(words: &str) -> String {
    let mut chars = words.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// A note, on one line.
pub fn note_ui(ui: &Ui, rect: Rect, tone: widgets::Tone, words: &str) {
    let t = ThemeTokens::of(ui);
    let (color, fill, line) = tone.colors(t);
    ui.painter().rect_filled(rect, 0.0, fill);
    ui.painter().hline(rect.x_range(), rect.bottom() - 0.5, Stroke::new(1.0, line));
    let icon = if tone == widgets::Tone::Accent { icons::INFO } else { icons::WARNING };
    widgets::glyph_at(ui, pos2(rect.left() + 22.0, rect.center().y), icon, theme::icon_font(14.0), color);
    let shown = crate::analysis::special::Shown::of(words).text;
    widgets::text_at(ui, pos2(rect.left() + 38.0, rect.center().y), shown, theme::small(), t.text, rect.width() - 50.0);
    let response = ui.interact(rect, ui.scope_id().with(("note", words)), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, words));
    response.on_hover_text(words);
}
