//! Pictures of parts: one pane of a capture, and a chart. Painted as the window paints them.

use std::sync::Arc;

use egui::text::{LayoutJob, TextFormat, TextWrapping};
use egui::{
    Align2, CentralPanel, Color32, Context, FontId, Frame, Pos2, RawInput, Rect, Stroke,
    StrokeKind, Theme, Vec2, pos2, vec2,
};
use egui_system_font_provider::SystemFontProvider;
use image::RgbaImage;

use super::Raster;
use super::screens::Stage;
use crate::state::{Event, PaneView, ViewAction};
use crate::ui::theme::{self};
use crate::ui::{self, icons};
use loupe_analysis::fixture::export::Drawing;
use loupe_analysis::fixture::export::card::Card;
use loupe_analysis::fixture::export::chart::{Bars, ChartTone, LEGEND, layout};
use loupe_core::capture::Capture;
use loupe_core::number::grouped;
use loupe_core::problem::Problem;
use loupe_core::settings;

fn theme_of(theme: settings::Theme) -> Theme {
    if theme == settings::Theme::Light {
        Theme::Light
    } else {
        Theme::Dark
    }
}

/// One pane of a capture, as large as `size` in points.
///
/// # Errors
/// Where the engine cannot be started, or a result takes too long.
pub fn pane(
    capture: Arc<Capture>,
    shows: PaneView,
    theme: settings::Theme,
    size: (u32, u32),
) -> Result<RgbaImage, Problem> {
    let mut stage = Stage::new([size.0, size.1], theme_of(theme), false)?;
    stage.shot.paint = |ui, cx| {
        let t = theme::of(ui);
        CentralPanel::default()
            .frame(Frame::new().fill(t.bg))
            .show(ui, |ui| ui::panes_ui(ui, cx));
    };
    stage.apply(Event::Opened(vec![capture]));
    stage.perform(ViewAction::SetPane { pane: 1, shows });
    stage.perform(ViewAction::ToggleMaximised(1));
    stage.settle()?;
    Ok(stage.shot.settled(&stage.state))
}

/// A drawing as a picture: bars with twice as many pixels as points, a card in the size that such pictures are shared in.
pub fn draw(drawing: &Drawing, theme: settings::Theme) -> RgbaImage {
    match drawing {
        Drawing::Bars(bars) => paint(
            vec2(bars.width() as f32, bars.height() as f32),
            2.0,
            theme,
            |ui| bars_ui(ui, bars),
        ),
        Drawing::Card(card) => paint(CARD / CARD_SCALE, CARD_SCALE, theme, |ui| card_ui(ui, card)),
    }
}

/// Paints once the fonts are loaded, which the first pass does.
fn paint(
    size: Vec2,
    scale: f32,
    theme: settings::Theme,
    paint: impl Fn(&mut egui::Ui),
) -> RgbaImage {
    let ctx = Context::default();
    theme::install_for_picture(&ctx);
    ctx.add_font_provider(Arc::new(SystemFontProvider::new()));
    ctx.set_theme(theme_of(theme));
    let mut raster = Raster::default();
    let mut picture = RgbaImage::new(1, 1);
    for _ in 0..2 {
        let mut input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, size)),
            ..RawInput::default()
        };
        if let Some(viewport) = input.viewports.get_mut(&egui::ViewportId::ROOT) {
            viewport.native_pixels_per_point = Some(scale);
        }
        let mut output = ctx.run_ui(input, |ui| paint(ui));
        raster.apply(&mut output.textures_delta);
        picture = raster.paint(&ctx, &output);
    }
    picture
}

/// Pixels of a card, and how many make a point.
const CARD: Vec2 = vec2(1_200.0, 630.0);
const CARD_SCALE: f32 = 1.5;

fn card_ui(ui: &mut egui::Ui, card: &Card) {
    const MARGIN: f32 = 43.0;
    let t = theme::of(ui);
    let rect = ui.content_rect();
    let painter = ui.painter();
    painter.rect_filled(rect, 0.0, t.bg);
    let (left, right) = (rect.left() + MARGIN, rect.right() - MARGIN);
    let line = |at: Pos2, text: &str, font: FontId, color, room: f32| {
        let mut job = LayoutJob::single_section(text.to_owned(), TextFormat::simple(font, color));
        job.wrap = TextWrapping::truncate_at_width(room.max(8.0));
        let galley = painter.layout_job(job);
        let place = Rect::from_min_size(pos2(at.x, at.y - galley.size().y / 2.0), galley.size());
        painter.galley(place.min, galley, color);
        place.right()
    };
    let about = painter.layout_no_wrap(card.about.clone(), theme::regular(13.5), t.weak);
    let end = line(
        pos2(left, 47.0),
        &card.tool,
        theme::mono_semibold(13.5),
        t.strong,
        right - left - about.size().x - 12.0,
    );
    painter.galley(pos2(end + 10.0, 47.0 - about.size().y / 2.0), about, t.weak);
    line(
        pos2(left, 80.0),
        &card.headline,
        theme::semibold(27.0),
        t.strong,
        right - left,
    );
    let most = card
        .cells
        .iter()
        .map(|cell| cell.count.high())
        .max()
        .unwrap_or(1)
        .max(1);
    for (at, cell) in card.cells.iter().enumerate() {
        let y = 133.0 + at as f32 * 58.5;
        let end = line(
            pos2(left, y),
            &cell.name,
            theme::semibold(15.0),
            t.strong,
            220.0,
        );
        line(
            pos2(end + 8.0, y),
            &cell.role,
            theme::regular(12.5),
            t.weak,
            200.0,
        );
        let text_right = |x: f32, text: &str, font: FontId, color| {
            let galley = painter.layout_no_wrap(text.to_owned(), font, color);
            let left = x - galley.size().x;
            painter.galley(pos2(left, y - galley.size().y / 2.0), galley, color);
            left
        };
        let mut x = text_right(right, "tok", theme::mono(12.0), t.weak) - 8.0;
        x = text_right(x, &cell.count_text(), theme::mono_semibold(20.0), t.strong)
            .min(right - 112.0);
        let good = cell.is_proved() && at > 0;
        if let Some(change) = &cell.change {
            let (color, fill, stroke) = if good {
                (t.ok, t.ok_bg, t.ok_line)
            } else {
                (t.text, t.card, t.line2)
            };
            let galley = painter.layout_no_wrap(change.clone(), theme::semibold(12.0), color);
            let place = Rect::from_min_max(
                pos2(x - galley.size().x - 14.0, y - 10.0),
                pos2(x, y + 10.0),
            );
            painter.rect(
                place,
                theme::RADIUS_BADGE,
                fill,
                Stroke::new(1.0, stroke),
                StrokeKind::Inside,
            );
            painter.galley(
                pos2(place.left() + 7.0, y - galley.size().y / 2.0),
                galley,
                color,
            );
            x = place.left() - 10.0;
        }
        if let Some(loss) = &cell.loss {
            let color = if loss.is_proof() { t.ok } else { t.weak };
            let (icon, color) = if loss.is_loss() {
                (icons::MISSING, t.warn)
            } else {
                (icons::CHECK, color)
            };
            x = text_right(x, &loss.text, theme::regular(12.5), color) - 4.0;
            text_right(x, icon, theme::icon_font(13.0), color);
        }
        let track = Rect::from_min_max(pos2(left, y + 16.0), pos2(right, y + 29.0));
        painter.rect_filled(track, theme::RADIUS_BAR, t.hover);
        let length = (cell.count.high() as f64 / most as f64) as f32 * track.width();
        let color = if good {
            t.ok
        } else if at == 0 {
            t.accent
        } else {
            t.faint
        };
        painter.rect_filled(
            track.with_max_x(track.left() + length),
            theme::RADIUS_BAR,
            color,
        );
    }
    if let Some(command) = &card.command {
        let place = Rect::from_min_max(pos2(left, 335.0), pos2(right, 364.0));
        painter.rect(
            place,
            theme::RADIUS_CONTROL,
            t.panel,
            Stroke::new(1.0, t.line),
            StrokeKind::Inside,
        );
        line(
            pos2(left + 11.0, place.center().y),
            command,
            theme::mono(11.0),
            t.text,
            place.width() - 22.0,
        );
    }
    line(
        pos2(left, 385.0),
        "Loupe",
        theme::semibold(12.0),
        t.strong,
        100.0,
    );
    let mut x = right;
    for text in card.footer.iter().rev() {
        let galley = painter.layout_no_wrap(text.clone(), theme::regular(12.0), t.weak);
        x -= galley.size().x;
        painter.galley(pos2(x, 385.0 - galley.size().y / 2.0), galley, t.weak);
        x -= 16.0;
    }
}

fn bars_ui(ui: &mut egui::Ui, bars: &Bars) {
    use layout::{BAR, HEAD, LINE, MARGIN, ROW};
    let bars_at = bars.bars_at();
    let t = theme::of(ui);
    let painter = ui.painter();
    painter.rect_filled(ui.content_rect(), 0.0, t.bg);
    let colour = |tone: ChartTone| -> Color32 {
        match tone {
            ChartTone::Sent => t.accent,
            ChartTone::Lossless => t.ok,
            ChartTone::DataAlone => t.weak,
            ChartTone::Lossy => t.warn,
        }
    };
    let text = |at: Pos2, text: &str, font: egui::FontId, colour: Color32| {
        painter.text(at, Align2::LEFT_CENTER, text, font, colour)
    };
    text(
        pos2(MARGIN, MARGIN + 8.0),
        &bars.title,
        theme::title(),
        t.strong,
    );
    text(
        pos2(MARGIN, MARGIN + 32.0),
        &bars.subtitle,
        theme::small(),
        t.weak,
    );
    for (at, bar) in bars.bars.iter().enumerate() {
        let y = HEAD + at as f32 * ROW;
        let middle = y + BAR / 2.0;
        let length = bars.length(bar).max(1.0);
        text(pos2(MARGIN, middle), &bar.label, theme::base(), t.strong);
        painter.rect_filled(
            Rect::from_min_size(pos2(bars_at, y), vec2(length, BAR)),
            2.0,
            colour(bar.tone),
        );
        let number = text(
            pos2(bars_at + length + 8.0, middle),
            &grouped(bar.value),
            theme::base(),
            t.strong,
        );
        text(
            pos2(number.right() + 10.0, middle),
            &bar.note,
            theme::small(),
            t.weak,
        );
    }
    let below = HEAD + bars.bars.len() as f32 * ROW + MARGIN / 2.0;
    let mut x = MARGIN;
    for (tone, meaning) in LEGEND
        .iter()
        .filter(|(tone, _)| bars.bars.iter().any(|bar| bar.tone == *tone))
    {
        painter.rect_filled(
            Rect::from_min_size(pos2(x, below - 5.0), vec2(10.0, 10.0)),
            2.0,
            colour(*tone),
        );
        x = text(pos2(x + 16.0, below), meaning, theme::small(), t.weak).right() + 24.0;
    }
    for (at, line) in bars.left_out.iter().enumerate() {
        text(
            pos2(MARGIN, below + (at + 1) as f32 * LINE),
            line,
            theme::small(),
            t.weak,
        );
    }
}
