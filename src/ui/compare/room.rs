//! How many records fit below the limit that the sample's originals promise, and the calls that measure it.

use egui::{Align, Layout, Rect, RichText, Role, Ui, WidgetInfo, vec2};

use super::offer;
use crate::analysis::sweep::value_in;
use crate::analysis::{RowQuery, TextQuery};
use crate::number::grouped;
use crate::ui::Cx;
use crate::ui::theme::{self, ThemeTokens};
use crate::ui::widgets;

/// UTF-16 units that the Autotask servers, which the sample re-creates, promise to stay within.
const SEEDS: u64 = 25_000;
pub const HEIGHT: f32 = 32.0;
/// Width from which on the whole sentence and its button stand in one line.
const WHOLE: f32 = 880.0;

/// "At 25,000 characters, the limit of the servers that this sample re-creates, json holds 80 such records", where the answer is the sample's and has records.
fn sentence(cx: &Cx<'_>) -> Option<String> {
    let capture = cx.state.capture()?;
    if !cx.state.session().connection.is_sample() || capture.request.is_empty() {
        return None;
    }
    let text = cx.ready(TextQuery("content"))?;
    let row = cx.ready(RowQuery("content"))?;
    // A notice in place of the records says nothing of how long they are.
    let records = text.links.records() as u64;
    if records == 0 || row.utf16 == 0 {
        return None;
    }
    let arguments = String::from_utf8_lossy(&capture.arguments);
    let format = cx.state.format_choice().and_then(|choice| value_in(&capture.tool, &choice.name, &arguments));
    let name = format.map_or_else(|| "this text".to_owned(), |format| format.trim_matches('"').to_owned());
    let fits = SEEDS * records / row.utf16;
    let unit = if fits == 1 { "record" } else { "records" };
    Some(format!(
        "At {} characters, the limit of the servers that this sample re-creates, {name} holds {} such {unit}",
        grouped(SEEDS),
        grouped(fits)
    ))
}

/// Whether [`room_ui`] has something to say.
pub fn has_room(cx: &Cx<'_>) -> bool {
    sentence(cx).is_some()
}

/// The sentence, and the calls that measure it.
pub fn room_ui(ui: &mut Ui, cx: &Cx<'_>, rect: Rect) {
    let Some(words) = sentence(cx) else { return };
    let t = ThemeTokens::of(ui);
    ui.painter().hline(rect.x_range(), rect.top() + 0.5, egui::Stroke::new(1.0, t.line));
    let inner = rect.shrink2(vec2(16.0, 0.0));
    ui.scope_builder(widgets::region(ui, "room").max_rect(inner).layout(Layout::left_to_right(Align::Center)), |ui| {
        ui.spacing_mut().item_spacing.x = 12.0;
        // Whose limit it is stands in the tip where there is no room.
        let begin = words.find(", the limit").filter(|_| inner.width() < WHOLE);
        let end = words.find("re-creates,").map_or(0, |at| at + "re-creates,".len());
        let shown = begin.map_or_else(|| words.clone(), |begin| format!("{}{}", &words[..begin], &words[end..]));
        let response = ui.label(RichText::new(shown).font(theme::base()).color(t.text));
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &words));
        response.on_hover_text(format!("{words}, if every record is as long as these on average"));
        offer::measure_ui(ui, cx);
    });
}
