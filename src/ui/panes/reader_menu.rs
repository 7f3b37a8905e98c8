//! How the texts are read as data: the line that says so, the readers to choose from, a pattern to try; and what the data
//! does not hold of the text.

use std::sync::Arc;

use egui::{
    Align, Color32, Id, Key, Layout, Popup, PopupCloseBehavior, Rect, Response, Role, ScrollArea,
    Sense, Ui, pos2, vec2,
};

use super::PaneCx;
use crate::state::{ExportAction, QueryState, ViewAction};
use crate::ui::theme::{self, ThemeTokens};
use crate::ui::widgets::{self, Button, number_text};
use crate::ui::{Cx, icons};
use loupe_analysis::fixture::export::{ExportChoice, OUTPUT_SCHEMA};
use loupe_analysis::queries::invisible_chars::Shown;
use loupe_analysis::queries::{
    ExtraTextQuery, HostSpan, PatternMatches, PatternQuery, ReadersQuery, StructuredPrice,
    StructuredPriceQuery,
};
use loupe_core::capture::ReadText;
use loupe_core::format::ParsedCapture;
use loupe_core::reader::Pattern;

const LINE: f32 = 24.0;
const EDITOR: f32 = 62.0;
const TWICE: &str = ", sent twice";

/// "12 records, 93%".
fn share_text(records: usize, share: f64) -> String {
    format!(
        "{}, {}%",
        number_text(records as u64, "records"),
        (share * 100.0).floor()
    )
}

/// What the data was read from, with a menu to read it another way, and the pattern that is tried. Nothing where the data is
/// `structuredContent`, or there is no text. Returns what is left.
pub(super) fn reading_ui(
    ui: &mut Ui,
    cx: &Cx<'_>,
    rect: Rect,
    subject: Option<&ParsedCapture>,
) -> Rect {
    let Some(subject) = subject.filter(|subject| subject.response.text_blocks().next().is_some())
    else {
        return rect;
    };
    let words = match &subject.data {
        Some(data) if data.is_structured() && cx.state.view.pattern.is_none() => return rect,
        Some(data) => {
            let is_wrapped = data.text_source().is_some_and(|source| source.is_wrapped);
            format!(
                "{}{}",
                data.origin_text(),
                if is_wrapped { TWICE } else { "" }
            )
        }
        None => "the text is not read as data".to_owned(),
    };
    let rest = source_line(ui, cx, rect, &words);
    match &cx.state.view.pattern {
        Some(pattern) => pattern_ui(ui, cx, rest, pattern),
        None => rest,
    }
}

/// "read from the text (key: value, 96%)", in fewer words where there is less room.
fn source_line(ui: &mut Ui, cx: &Cx<'_>, rect: Rect, words: &str) -> Rect {
    let t = theme::of(ui);
    let line = Rect::from_min_size(rect.min, vec2(rect.width(), LINE));
    let response = widgets::sense(ui, line, "how the text is read", Sense::click());
    widgets::say(
        &response,
        Role::Button,
        format!("Data {words}; read it another way"),
    );
    let fill = if response.hovered() { t.sel } else { t.hover };
    ui.painter().rect_filled(line, 0.0, fill);
    widgets::line_below(ui, line);
    let room = line.width() - 42.0;
    let begin = words.split(" (").next().unwrap_or(words);
    let once = words.strip_suffix(TWICE).unwrap_or(words);
    let fits = |words: &&str| widgets::text_width(ui, *words, theme::small()) <= room;
    let shown = [words, once, begin].into_iter().find(fits).unwrap_or(begin);
    let end = widgets::text_at(
        ui,
        pos2(line.left() + 12.0, line.center().y),
        shown,
        theme::small(),
        t.text,
        room,
    );
    widgets::glyph_at(
        ui,
        pos2(end + 11.0, line.center().y),
        icons::DOWN,
        theme::icon_font(11.0),
        t.weak,
    );
    widgets::focus_ring_inside(ui, &response);
    Popup::menu(&response)
        .width(300.0)
        .show(|ui| readers_ui(ui, cx));
    response.on_hover_text(words);
    rect.with_min_y(line.bottom())
}

/// The readers that find something in the texts, none, and a pattern.
pub fn readers_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = theme::of(ui);
    let Some(capture) = cx.state.capture() else {
        return;
    };
    ui.spacing_mut().item_spacing.y = 0.0;
    let choose = |ui: &mut Ui, label: &str, how: ReadText| {
        if widgets::choose_row(ui, label, None, capture.read_text == how) {
            cx.send(ViewAction::ReadText(how));
        }
    };
    if let Some(readers) = widgets::ready(ui, cx, "Trying every reader", cx.ask(ReadersQuery)) {
        let default = readers
            .default
            .map_or("finds no data", |reader| reader.title);
        choose(ui, &format!("Automatic · {default}"), ReadText::Auto);
        for found in &readers.found {
            let label = format!(
                "{} · {}",
                found.reader.title,
                share_text(found.records, found.share)
            );
            choose(ui, &label, ReadText::By(found.reader));
        }
    }
    widgets::separator(ui);
    choose(ui, "Not as data", ReadText::Never);
    let own = match &capture.read_text {
        ReadText::Pattern(pattern) => Some(pattern.as_str()),
        _ => None,
    };
    if widgets::choose_row(ui, "Pattern…", None, own.is_some()) {
        cx.send(ViewAction::TryPattern(Some(
            own.unwrap_or(r"^(?<name>.+)$").to_owned(),
        )));
    }
    widgets::words(
        ui,
        "Kept for this tool of this server",
        theme::regular(11.5),
        t.weak,
    );
    declare_ui(ui, cx);
}

/// How to declare what was read, and what sending it as `structuredContent` would cost.
fn declare_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let Some(Some(price)) = cx.ready(StructuredPriceQuery(cx.state.settings.encoding())) else {
        return;
    };
    let t = theme::of(ui);
    widgets::separator(ui);
    if widgets::menu_row(ui, "Copy as outputSchema", None, false)
        .on_hover_text(OUTPUT_SCHEMA.about)
        .clicked()
    {
        cx.send(ExportAction::Copy(ExportChoice::OUTPUT_SCHEMA));
        ui.close();
    }
    // A menu's own layout would spread the words over the line.
    ui.with_layout(Layout::top_down(Align::LEFT), |ui| {
        widgets::wrapped(ui, price_text(price), theme::regular(11.5), t.weak);
    });
}

/// "As structuredContent too: +161 tok in the 6 hosts that send both, 118 in the 4 that send it alone."
fn price_text(price: &StructuredPrice) -> String {
    let span = |span: HostSpan, sign: &str| match span.least == span.most {
        true => format!("{sign}{}", widgets::grouped(span.least.unsigned_abs())),
        false => format!(
            "{sign}{} to {sign}{}",
            widgets::grouped(span.least.unsigned_abs()),
            widgets::grouped(span.most.unsigned_abs())
        ),
    };
    let hosts = |count: usize| number_text(count as u64, if count == 1 { "host" } else { "hosts" });
    let mut parts = Vec::new();
    if let Some(both) = price.both {
        parts.push(format!(
            "{} tok in {} that send both",
            span(both, "+"),
            hosts(both.hosts)
        ));
    }
    if let Some(alone) = price.alone {
        parts.push(format!(
            "{} tok in {} that send it alone",
            span(alone, ""),
            hosts(alone.hosts)
        ));
    }
    if price.unchanged > 0 {
        parts.push(format!(
            "no change in {} that send the text",
            hosts(price.unchanged)
        ));
    }
    format!("As structuredContent beside the text: {}", parts.join(", "))
}

/// The pattern that is tried, and what it finds in the texts, which are marked there.
pub(super) fn tried<'a>(cx: &Cx<'a>) -> Option<QueryState<'a, Result<PatternMatches, String>>> {
    let pattern = cx
        .state
        .view
        .pattern
        .as_deref()
        .filter(|pattern| !pattern.is_empty())?;
    Some(cx.ask(PatternQuery(pattern.into())))
}

fn pattern_ui(ui: &mut Ui, cx: &Cx<'_>, rect: Rect, pattern: &str) -> Rect {
    let t = theme::of(ui);
    let bar = Rect::from_min_size(rect.min, vec2(rect.width(), EDITOR));
    ui.painter().rect_filled(bar, 0.0, t.card);
    widgets::line_below(ui, bar);
    let (says, color, can_keep) = match tried(cx) {
        None => (
            "Named groups become members, such as (?<name>.+)".to_owned(),
            t.weak,
            false,
        ),
        Some(QueryState::Working { .. } | QueryState::NeedsConfirmation { .. }) => {
            ("Trying…".to_owned(), t.weak, false)
        }
        Some(QueryState::Failed(problem)) => (problem.what.clone(), t.bad, false),
        // The library draws the place below its first line.
        Some(QueryState::Ready(Err(why))) => (
            why.lines().last().unwrap_or_default().to_owned(),
            t.bad,
            false,
        ),
        Some(QueryState::Ready(Ok(found))) if found.records == 0 => {
            ("No match in the text".to_owned(), t.warn, false)
        }
        Some(QueryState::Ready(Ok(found))) => (
            format!("{} of the text", share_text(found.records, found.share)),
            t.text,
            true,
        ),
    };
    let inner = bar.shrink2(vec2(12.0, 6.0));
    ui.scope_builder(
        widgets::region(ui, "pattern")
            .max_rect(inner)
            .layout(Layout::top_down(Align::Min)),
        |ui| {
            ui.horizontal(|ui| {
                ui.spacing_mut().item_spacing.x = 6.0;
                let mut text = pattern.to_owned();
                let width = (ui.available_width() - 132.0).max(80.0);
                let id = Id::unique("pattern field");
                let field = egui::TextEdit::singleline(&mut text)
                    .id(id)
                    .font(theme::mono(12.5))
                    .desired_width(width - 8.0);
                let edit = ui.add(field).accessible_name("Pattern");
                let is_new = ui.data_mut(|data| data.get_temp::<bool>(id).is_none());
                if is_new {
                    edit.request_focus();
                    widgets::remember(ui, id, true);
                }
                if edit.changed() {
                    cx.send(ViewAction::TryPattern(Some(text)));
                }
                let is_enter = edit.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
                let is_escape = edit.has_focus() && widgets::pressed(ui, Key::Escape);
                let keep = Button::new("Use")
                    .tip("Read this tool's answers so")
                    .primary()
                    .enabled(can_keep)
                    .clicked(ui);
                let end = Button::new("Cancel").clicked(ui) || is_escape;
                if (keep || is_enter)
                    && can_keep
                    && let Ok(pattern) = Pattern::parse(pattern)
                {
                    cx.send(ViewAction::ReadText(ReadText::Pattern(pattern)));
                }
                if keep || is_enter || end {
                    ui.data_mut(|data| data.remove_temp::<bool>(id));
                }
                if end {
                    cx.send(ViewAction::TryPattern(None));
                }
            });
            widgets::truncated(ui, says, theme::small(), color);
        },
    );
    rect.with_min_y(bar.bottom())
}

/// In the footer of the text: how much of it the data does not hold, with a list of it.
pub(super) fn only_here_ui(ui: &mut Ui, cx: &Cx<'_>, pane: &PaneCx, count: usize) {
    if count == 0 {
        return;
    }
    let t = theme::of(ui);
    let extra = cx
        .ready(ExtraTextQuery)
        .map(|extra| extra.tokens.get(cx.state.settings.encoding()));
    let label = extra.map_or_else(
        || "extra text".to_owned(),
        |tokens| format!("{} tok extra", widgets::grouped(tokens)),
    );
    let tip = "Extra text: neither layout, nor a label of the data, nor a fact that was proved or found. Formats of the data drop it.";
    let response = Button::new(&label)
        .icon(icons::MISSING)
        .frameless()
        .tip(tip)
        .height(22.0)
        .show(ui);
    let popup = Popup::menu(&response)
        .width(360.0)
        .close_behavior(PopupCloseBehavior::CloseOnClickOutside);
    popup.show(|ui| {
        let Some(extra) = widgets::ready(ui, cx, "Counting", cx.ask(ExtraTextQuery)) else {
            return;
        };
        ui.set_min_width(360.0);
        let encoding = cx.state.settings.encoding();
        let head = format!(
            "Extra text · {}",
            number_text(extra.tokens.get(encoding), "tokens")
        );
        widgets::words(ui, head, theme::semibold(12.0), t.strong);
        ui.spacing_mut().item_spacing.y = 0.0;
        let rows = extra.rows.len();
        ScrollArea::vertical()
            .max_height(320.0)
            .show_rows(ui, 26.0, rows, |ui, shown| {
                for row in &extra.rows[shown] {
                    let tokens = row.tokens.get(encoding);
                    if extra_row(ui, t, &row.text, row.line, tokens).clicked() {
                        widgets::remember(ui, pane.goto_id(), row.range.start);
                    }
                }
            });
        if extra.more > 0 {
            let more = format!("{} more", widgets::grouped(extra.more as u64));
            widgets::note(ui, more);
        }
    });
}

fn extra_row(ui: &mut Ui, t: &ThemeTokens, text: &str, line: u32, tokens: u64) -> Response {
    let row = widgets::ListRow::new(ui, 26.0);
    let ui = row.ui;
    if row.response.hovered() {
        ui.painter()
            .rect_filled(row.rect, theme::RADIUS_BADGE, t.hover);
    }
    let weak = |x: f32, text: String, color: Color32| row.number(x, text, theme::mono(11.5), color);
    let mut right = weak(row.inset_right(8.0), number_text(tokens, "tok"), t.weak) - 10.0;
    right = weak(
        right,
        format!("Ln {}", widgets::grouped(line.into())),
        t.weak,
    ) - 10.0;
    let shown = Shown::of(text).text;
    row.text(
        row.inset_left(8.0),
        row.rect.left() + (right - row.rect.left() - 8.0).max(20.0) + 8.0,
        shown,
        theme::code(),
        t.text,
    );
    widgets::say(
        &row.response,
        Role::Button,
        format!("{text}, line {line}, {tokens} tokens"),
    );
    row.response
}

/// The pattern's matches in the text of a format, to be marked.
pub(super) fn matches(cx: &Cx<'_>, format: &str) -> Option<Arc<[std::ops::Range<usize>]>> {
    match tried(cx).filter(|_| format == "content")? {
        QueryState::Ready(Ok(found)) => Some(found.places.as_slice().into()),
        _ => None,
    }
}
