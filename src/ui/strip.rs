//! Strips: cells with what formats or answers cost, and the buttons next to them.

use egui::{
    Align, Id, Layout, Popup, Rect, Response, Role, Sense, Ui, UiBuilder, WidgetInfo, pos2, vec2,
};

use super::theme;
use super::widgets::{self, Button, Tone};
use super::{Cx, drawer_opening, icons};
use crate::state::{Action, DrawerTab, TokensAction, TokensPart};
use loupe_analysis::summary::{ClaimTone, Loss, Strip, StripCell};
use loupe_core::format::FORMATS;
use loupe_core::token::format_count;

/// Its height, and that where the window is low.
const TALL: f32 = 72.0;
const LOW: f32 = 36.0;
/// The room of the buttons.
const BUTTONS: f32 = 276.0;
const BUTTONS_LOW: f32 = 108.0;
/// The way to the menu of who sends it.
const CARET: f32 = 18.0;
/// What the cell of a repair offers.
const FIX: &str = "Show the fix";
const FIX_PAD: f32 = 8.0;
/// A name in a low strip is elided beyond this, where the room is short.
const SHORT_NAME: f32 = 96.0;
/// Where there is one cell with a sentence.
const FEW: f32 = 420.0;

/// How high a strip is in this window.
pub fn height_here(ui: &Ui) -> f32 {
    let is_low =
        ui.content_rect().height() < theme::SHORT || ui.content_rect().width() < theme::NARROW;
    if is_low { LOW } else { TALL }
}

/// Who sends what is in the first cell.
pub struct Sender<'a> {
    /// What the host drops.
    pub words: Option<String>,
    /// The menu in which one chooses him.
    pub choose: &'a dyn Fn(&Response),
}

/// The cells of a strip: which one was clicked, and the room that is left for buttons or a note.
pub fn cells_ui(
    ui: &mut Ui,
    strip: &Strip,
    rect: Rect,
    sender: &Sender<'_>,
    fix: impl Fn(&Response, &StripCell),
) -> (Option<usize>, Rect) {
    let is_low = rect.height() <= LOW;
    let width = ui.content_rect().width();
    let side = match () {
        () if width < theme::NARROW => 44.0,
        () if is_low || rect.width() < 1_100.0 => BUTTONS_LOW,
        () => BUTTONS,
    };
    let room = rect.with_max_x(rect.right() - side);
    let mut cells: Vec<(usize, &StripCell)> = strip.cells.iter().enumerate().collect();
    // The repair stands in the place of the format that it mends.
    if cells.len() > 3 && strip.repair().is_some() {
        cells.remove(2);
    }
    // Where there is little room, the plain choice goes first, unless it is the cheapest.
    let is_full = |cells: &[(usize, &StripCell)]| {
        needs(ui, cells, is_low, true).iter().sum::<f32>() > room.width()
    };
    if (width < theme::WIDE || is_full(&cells)) && cells.len() > 2 && !cells[1].1.is_winner() {
        cells.remove(1);
    }
    if is_full(&cells) && cells.len() > 2 {
        cells.pop();
    }
    let widths = match &strip.note {
        Some(_) => vec![FEW.min(room.width() * (0.74 / cells.len() as f32).min(0.5)); cells.len()],
        None => widths(ui, &cells, room.width(), is_low),
    };
    let mut left = room.left();
    let mut clicked = None;
    for (position, (at, cell)) in cells.iter().enumerate() {
        let right = left + widths[position];
        let place = Rect::from_min_max(
            pos2(left.round(), room.top()),
            pos2(right.round(), room.bottom() - 1.0),
        );
        let sender = Some(sender).filter(|_| *at == 0);
        let response = cell_ui(ui, cell, *at, place, is_low, sender);
        if cell.is_repair {
            fix(&response, cell);
        } else if response.clicked() {
            clicked = Some(*at);
        }
        left = right;
        if position + 1 < cells.len() || strip.note.is_none() {
            widgets::vline(ui, place.right() - 0.5, rect.y_range());
        }
    }
    if let Some(headline) = strip.headline() {
        widgets::sense(ui, rect, "headline", Sense::empty())
            .widget_info(|| WidgetInfo::labeled(Role::Heading, true, &headline));
    }
    (
        clicked,
        Rect::from_min_max(
            pos2(
                if strip.note.is_some() {
                    left
                } else {
                    room.right()
                },
                rect.top(),
            ),
            rect.max,
        ),
    )
}

/// How wide each has to be for its number and what it loses, in short or in full.
fn needs(ui: &Ui, cells: &[(usize, &StripCell)], is_low: bool, is_short: bool) -> Vec<f32> {
    let width = |text: &str, font| widgets::text_width(ui, text, font);
    let need = |(at, cell): &(usize, &StripCell)| {
        let caret = if *at == 0 { CARET } else { 0.0 };
        let words = |loss: &Loss| {
            width(
                if is_short { &loss.short } else { &loss.text },
                theme::small(),
            ) + 18.0
        };
        let mut loss = cell.loss.as_ref().map_or(0.0, words);
        if cell.is_repair && !is_low {
            loss += width(FIX, theme::medium(12.0)) + 2.0 * FIX_PAD + 8.0;
        }
        let number = |size| {
            widgets::number_width(
                ui,
                &format_count(cell.count),
                theme::mono_semibold(size),
                "tok",
            )
        };
        let change = cell
            .change
            .as_ref()
            .map(|change| width(change, theme::mono_semibold(12.0)));
        match is_low {
            true => {
                // A name gives way where everything else is short already.
                let name = width(&shown_name(cell, true), theme::semibold(13.0));
                let name = if is_short && !cell.is_repair {
                    name.min(SHORT_NAME)
                } else {
                    name
                };
                52.0 + caret + name + number(14.0) + change.map_or(0.0, |wide| wide + 6.0) + loss
            }
            false => {
                let mut name = 44.0 + caret + width(&cell.name, theme::semibold(13.0));
                if !is_short {
                    let badge = cell.badge.as_ref();
                    name += 8.0 + width(&cell.role, theme::small());
                    name += badge.map_or(0.0, |badge| 20.0 + width(badge, theme::medium(11.0)));
                }
                name.max(45.0 + number(22.0) + change.map_or(0.0, |wide| wide + 20.0) + loss)
            }
        }
    };
    cells.iter().map(need).collect()
}

/// In a low strip there is no badge that says so.
fn shown_name(cell: &StripCell, is_low: bool) -> std::borrow::Cow<'_, str> {
    match cell.is_repair && is_low {
        true => format!("{} + fix", cell.name).into(),
        false => cell.name.as_str().into(),
    }
}

/// As wide as each other, unless one needs more.
fn widths(ui: &Ui, cells: &[(usize, &StripCell)], room: f32, is_low: bool) -> Vec<f32> {
    let whole = needs(ui, cells, is_low, false);
    let mut needs = needs(ui, cells, is_low, true);
    // What one model reads is said in full first, then what is best; the plain choice last.
    let mut order: Vec<usize> = (0..cells.len()).collect();
    order.sort_by_key(|at| *at != 0 && *at + 1 != cells.len());
    for at in order {
        let more = whole[at] - needs[at];
        if needs.iter().sum::<f32>() + more <= room {
            needs[at] = whole[at];
        }
    }
    let even = room / cells.len().max(1) as f32;
    if needs.iter().all(|need| *need <= even) {
        return vec![even; cells.len()];
    }
    let sum: f32 = needs.iter().sum();
    let spare = (room - sum) / cells.len().max(1) as f32;
    // What is lost of the winner is never cut; the others give what is missing.
    let others = cells
        .iter()
        .filter(|(_, cell)| !cell.is_winner())
        .count()
        .max(1) as f32;
    let share =
        |((_, cell), need): (&(usize, &StripCell), &f32)| match (spare >= 0.0, cell.is_winner()) {
            (true, _) => need + spare,
            (false, true) => *need,
            (false, false) => need + (room - sum) / others,
        };
    cells.iter().zip(&needs).map(share).collect()
}

/// One cell for all that there is to say.
pub fn single_cell_ui(ui: &mut Ui, rect: Rect, content: impl FnOnce(&mut Ui)) {
    let inner = rect.shrink2(vec2(16.0, 0.0));
    widgets::line_part(ui, "strip", inner, |ui| {
        ui.spacing_mut().item_spacing.x = 8.0;
        content(ui);
    });
}

pub fn words(ui: &mut Ui, text: &str, color: egui::Color32) {
    let shown = loupe_analysis::queries::invisible_chars::Shown::of(text).text;
    widgets::truncated(ui, shown, theme::base(), color);
}

/// A swatch, a name and a role; the tokens, the change and the loss. Whether it was clicked.
fn cell_ui(
    ui: &Ui,
    cell: &StripCell,
    at: usize,
    rect: Rect,
    is_low: bool,
    sender: Option<&Sender<'_>>,
) -> Response {
    let t = theme::of(ui);
    let response = widgets::sense(ui, rect, ("strip cell", at), Sense::click());
    let mut spoken = cell.text();
    if cell.is_repair {
        spoken = format!("{spoken}. {FIX}");
    }
    widgets::say(&response, Role::Button, &spoken);
    if response.hovered() {
        ui.painter().rect_filled(rect, 0.0, t.hover);
    }
    if cell.is_winner() || cell.is_repair {
        let edge = if cell.is_proved() { t.ok } else { t.accent };
        ui.painter().rect_filled(
            Rect::from_min_size(rect.min, vec2(rect.width(), 2.0)),
            0.0,
            edge,
        );
    }
    let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
    let is_sent = FORMATS
        .iter()
        .any(|format| format.id() == cell.format && format.is_as_sent());
    let hue = match () {
        () if cell.is_proved() && at > 0 => t.ok,
        () if is_sent => t.hue(cell.format).color,
        () => t.faint,
    };
    let (left, right) = if is_low {
        (rect.left() + 10.0, rect.right() - 6.0)
    } else {
        (rect.left() + 16.0, rect.right() - 12.0)
    };
    let gap = if is_low { 6.0 } else { 8.0 };
    let (first, second) = if is_low {
        (rect.center().y, rect.center().y)
    } else {
        (rect.top() + 20.0, rect.top() + 48.0)
    };
    let square = Rect::from_center_size(pos2(left + 4.0, first), vec2(8.0, 8.0));
    painter.rect_filled(square, theme::RADIUS_BAR, hue);
    let draw = |x: f32, y: f32, text: &str, font: egui::FontId, color| {
        let galley = painter.layout_no_wrap(text.to_owned(), font, color);
        let size = galley.size();
        painter.galley(pos2(x, (y - size.y / 2.0).round()), galley, color);
        x + size.x
    };
    let width = |text: &str, font: egui::FontId| {
        painter
            .layout_no_wrap(text.to_owned(), font, t.text)
            .size()
            .x
    };
    // The name alone is elided: all of it is on hover.
    let shown = shown_name(cell, is_low);
    let name = width(&shown, theme::semibold(13.0));
    let spare = rect.width() - needs(ui, &[(at, cell)], is_low, true)[0];
    let most = if is_low {
        (name.min(SHORT_NAME) + spare).clamp(24.0, name + 1.0)
    } else {
        name + 1.0
    };
    let mut x = widgets::text_at(
        ui,
        pos2(left + 16.0, first),
        &*shown,
        theme::semibold(13.0),
        t.strong,
        most,
    ) + gap;
    if let Some(sender) = sender {
        x = sender_at(ui, sender, pos2(x - gap, first)) + gap;
    }
    if !is_low {
        let badge = cell
            .badge
            .as_deref()
            .map(|badge| badge_at(ui, pos2(right, first), badge, badge_tone(cell)));
        let end = badge.unwrap_or(right) - 8.0;
        widgets::text_whole(
            ui,
            pos2(x, first),
            &cell.role,
            theme::small(),
            t.weak,
            end - x,
        );
        x = left;
    }
    let size = if is_low { 14.0 } else { 22.0 };
    x = widgets::number_at(
        ui,
        pos2(x, second),
        &format_count(cell.count),
        theme::mono_semibold(size),
        t.strong,
        "tok",
    ) + gap;
    if let Some(change) = &cell.change {
        let is_good = cell.is_proved() && change.starts_with('−');
        let color = if is_good { t.ok } else { t.text };
        let font = theme::mono_semibold(12.0);
        x = if is_low {
            draw(x, second, change, font, color)
        } else {
            change_at(ui, pos2(x, second), change, is_good)
        } + gap;
    }
    let mut right = right;
    if cell.is_repair && !is_low {
        right = fix_at(ui, pos2(right, second), response.hovered()) - 8.0;
    }
    if let Some(loss) = &cell.loss {
        x = loss_at(ui, loss, pos2(x, second), right - x) + 12.0;
    }
    if let Some(note) = cell
        .note
        .as_ref()
        .filter(|note| x + width(note, theme::small()) <= right)
    {
        draw(x, second, note, theme::small(), t.weak);
    }
    widgets::focus_ring_inside(ui, &response);
    let words = sender
        .and_then(|sender| sender.words.clone())
        .map_or(spoken.clone(), |drops| format!("{spoken}\n{drops}"));
    response
        .on_hover_cursor(egui::CursorIcon::PointingHand)
        .on_hover_text(words)
}

/// *Show the fix*, which ends there; where it begins.
fn fix_at(ui: &Ui, right: egui::Pos2, is_hovered: bool) -> f32 {
    let t = theme::of(ui);
    let width = widgets::text_width(ui, FIX, theme::medium(12.0)) + 2.0 * FIX_PAD;
    let place = Rect::from_min_size(right - vec2(width, 12.0), vec2(width, 24.0));
    let fill = if is_hovered { t.hover } else { t.card };
    widgets::boxed(ui, place, theme::RADIUS_BADGE, fill, t.line2);
    let inside = pos2(place.left() + FIX_PAD, right.y);
    widgets::text_at(ui, inside, FIX, theme::medium(12.0), t.text, width);
    place.left()
}

/// The way to the menu of senders begins there; where it ends.
fn sender_at(ui: &Ui, sender: &Sender<'_>, left: egui::Pos2) -> f32 {
    let t = theme::of(ui);
    let place = Rect::from_min_size(left + vec2(0.0, -10.0), vec2(CARET, 20.0));
    let response = widgets::sense(ui, place, "sender", Sense::click());
    widgets::say(&response, Role::Button, "Model reads");
    if response.hovered() {
        ui.painter()
            .rect_filled(place, theme::RADIUS_BADGE, t.hover);
    }
    widgets::glyph_at(
        ui,
        place.center(),
        icons::DOWN,
        theme::icon_font(12.0),
        t.weak,
    );
    widgets::focus_ring_inside(ui, &response);
    let response = response.on_hover_text(
        "Choose what one model reads: the text, the data, both, or one host's exact text",
    );
    (sender.choose)(&response);
    place.right()
}

/// What is lost, in as many words as there is room for; the short ones stand whole. Where it ends.
pub fn loss_at(ui: &Ui, loss: &Loss, left: egui::Pos2, room: f32) -> f32 {
    let t = theme::of(ui);
    let (icon, color) = match loss.tone {
        ClaimTone::Good => (Some(icons::CHECK), t.ok),
        ClaimTone::Neutral => (Some(icons::CHECK), t.weak),
        ClaimTone::Note => (None, t.weak),
        ClaimTone::Warn => (Some(icons::MISSING), t.warn),
    };
    let indent = if icon.is_some() { 17.0 } else { 0.0 };
    let text = if loss_width(ui, &loss.text) <= room {
        &loss.text
    } else {
        &loss.short
    };
    if let Some(icon) = icon {
        widgets::glyph_at(
            ui,
            left + vec2(6.0, 0.0),
            icon,
            theme::icon_font(13.0),
            color,
        );
    }
    widgets::text_at(
        ui,
        left + vec2(indent, 0.0),
        text,
        theme::small(),
        color,
        (room - indent).max(20.0),
    )
}

/// The room of such words, with an icon.
pub fn loss_width(ui: &Ui, words: &str) -> f32 {
    widgets::text_width(ui, words, theme::small()) + 18.0
}

/// The change in a box that begins there; where it ends.
pub fn change_at(ui: &Ui, left: egui::Pos2, change: &str, is_good: bool) -> f32 {
    let t = theme::of(ui);
    let (fill, line, color) = if is_good {
        (t.ok_bg, t.ok_line, t.ok)
    } else {
        (t.card, t.line2, t.text)
    };
    let galley = ui
        .painter()
        .layout_no_wrap(change.to_owned(), theme::mono_semibold(12.0), color);
    let place = Rect::from_min_size(left - vec2(0.0, 10.0), vec2(galley.size().x + 12.0, 20.0));
    widgets::boxed(ui, place, theme::RADIUS_BADGE, fill, line);
    widgets::galley_at(ui, pos2(left.x + 6.0, left.y), galley, color);
    place.right()
}

/// Green is a proof.
fn badge_tone(cell: &StripCell) -> Tone {
    match () {
        () if cell.is_repair => Tone::Accent,
        () if cell.is_proved() => Tone::Ok,
        () => Tone::Plain,
    }
}

/// A badge that ends there; where it begins.
fn badge_at(ui: &Ui, right: egui::Pos2, text: &str, tone: Tone) -> f32 {
    widgets::chip(ui, right, Align::Max, text, tone, 11.0).left()
}

/// Shows the steps from the format of the first cell to that of the one asked about.
pub fn steps(ui: &Ui, cx: &Cx<'_>, strip: &Strip) {
    drawer_opening::show_tab(ui, cx, DrawerTab::Tokens)
        .into_iter()
        .for_each(|action| cx.send(action));
    if let Some((from, to)) = strip.cells.first().zip(asked_about(strip)) {
        cx.send(TokensAction::Saving {
            from: from.format,
            to: to.format,
        });
    }
    cx.send(TokensAction::Part(TokensPart::Saving));
}

/// The cell whose difference to the first *Why?* explains: the winner, else the last.
fn asked_about(strip: &Strip) -> Option<&StripCell> {
    let (_, others) = strip.cells.split_first()?;
    others
        .iter()
        .find(|cell| cell.is_winner())
        .or(others.iter().rfind(|cell| !cell.is_repair))
}

/// Why the cheapest is cheaper, where that can be shown, *Copy as picture* and *Copy summary*.
pub fn buttons_ui(ui: &mut Ui, cx: &Cx<'_>, strip: &Strip, rect: Rect, picture: &Action) {
    let best = asked_about(strip).and_then(|cell| Some((&cell.name, cell.change.as_deref()?)));
    // Where the repair has its place in the strip, it is named.
    let long = match best {
        Some((name, change)) if strip.repair().is_some() => format!("Why {name} {change}?"),
        Some((_, change)) => format!("Why {change}?"),
        None => "Why?".to_owned(),
    };
    let tip = "The steps from what the server sends to this format";
    let inner = rect.shrink2(vec2(10.0, 0.0));
    if rect.width() < BUTTONS {
        let place = UiBuilder::new().max_rect(inner).id_salt("strip buttons");
        ui.scope_builder(place.layout(Layout::right_to_left(Align::Center)), |ui| {
            let is_tight = rect.width() < BUTTONS_LOW;
            let (glyph, name) = if is_tight {
                (icons::MORE, "Why, and copy")
            } else {
                (icons::COPY, "Copy as…")
            };
            let response = widgets::icon_button(ui, glyph, name);
            Popup::menu(&response)
                .id(Id::unique("strip menu"))
                .show(|ui| {
                    if is_tight && ui.button(&long).on_hover_text(tip).clicked() {
                        steps(ui, cx, strip);
                    }
                    copy_entries_ui(ui, cx, picture);
                });
            if !is_tight
                && Button::new("Why?")
                    .name(&long)
                    .tip(tip)
                    .small()
                    .frameless()
                    .clicked(ui)
            {
                steps(ui, cx, strip);
            }
        });
    } else {
        let inner = inner.shrink2(vec2(0.0, 7.0));
        ui.scope_builder(
            UiBuilder::new().max_rect(inner).id_salt("strip buttons"),
            |ui| {
                ui.spacing_mut().item_spacing = vec2(8.0, 4.0);
                if Button::new(&long)
                    .icon(icons::UNKNOWN)
                    .tip(tip)
                    .small()
                    .clicked(ui)
                {
                    steps(ui, cx, strip);
                }
                ui.horizontal(|ui| {
                    ui.spacing_mut().item_spacing.x = 0.0;
                    if Button::new(PICTURE)
                        .icon(icons::IMAGE)
                        .small()
                        .frameless()
                        .clicked(ui)
                    {
                        cx.send(picture.clone());
                    }
                    if Button::new(VERDICT)
                        .icon(icons::COPY)
                        .small()
                        .frameless()
                        .clicked(ui)
                    {
                        cx.send(Action::CopySummary);
                    }
                });
            },
        );
    }
}

/// What a menu offers to copy.
pub fn copy_entries_ui(ui: &mut Ui, cx: &Cx<'_>, picture: &Action) {
    if ui.button(VERDICT).clicked() {
        cx.send(Action::CopySummary);
    }
    if ui.button(PICTURE).clicked() {
        cx.send(picture.clone());
    }
}

const VERDICT: &str = "Copy summary";
/// The name of copying a picture, everywhere.
pub const PICTURE: &str = "Copy as picture";

/// Puts what stands from the top of this on in the window into the clipboard, down to the status bar.
pub fn copy_below(ui: &Ui, head: Rect) -> Action {
    let region = head.with_max_y(ui.content_rect().bottom() - theme::STATUS_BAR);
    Action::CopyRegion([region.left(), region.top(), region.right(), region.bottom()])
}
