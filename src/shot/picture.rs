//! Pictures of parts: one pane of a capture, and a chart. Painted as the window paints them.

use std::sync::Arc;

use egui::{Align2, CentralPanel, Color32, Context, Frame, Pos2, RawInput, Rect, Theme, pos2, vec2};
use egui_system_font_provider::SystemFontProvider;
use image::RgbaImage;

use super::Raster;
use super::screens::Stage;
use crate::capture::Capture;
use crate::fixture::export::chart::{Bars, ChartTone, LEGEND, layout};
use crate::number::grouped;
use crate::problem::Problem;
use crate::settings;
use crate::state::{Event, PaneView, ViewAction};
use crate::ui;
use crate::ui::theme::{self, ThemeTokens};

fn theme_of(theme: settings::Theme) -> Theme {
    if theme == settings::Theme::Light { Theme::Light } else { Theme::Dark }
}

/// One pane of a capture, as large as `size` in points.
///
/// # Errors
/// Where the engine cannot be started, or an answer takes too long.
pub fn pane(capture: Arc<Capture>, shows: PaneView, theme: settings::Theme, size: (u32, u32)) -> Result<RgbaImage, Problem> {
    let mut stage = Stage::new([size.0, size.1], theme_of(theme), false)?;
    stage.shot.paint = |ui, cx| {
        let t = ThemeTokens::of(ui);
        CentralPanel::default().frame(Frame::new().fill(t.bg)).show(ui, |ui| ui::panes_ui(ui, cx));
    };
    stage.apply(Event::Opened(vec![capture]));
    stage.perform(ViewAction::SetPane { pane: 1, shows });
    stage.perform(ViewAction::ToggleMaximised(1));
    stage.settle()?;
    Ok(stage.shot.settled(&stage.state))
}

/// Bars as a picture, twice as many pixels as points.
pub fn chart(bars: &Bars, theme: settings::Theme) -> RgbaImage {
    let ctx = Context::default();
    theme::install_for_picture(&ctx);
    ctx.add_font_provider(Arc::new(SystemFontProvider::new()));
    ctx.set_theme(theme_of(theme));
    let mut raster = Raster::default();
    let mut picture = RgbaImage::new(1, 1);
    let size = vec2(bars.width() as f32, bars.height() as f32);
    // The first pass loads the fonts.
    for _ in 0..2 {
        let mut input = RawInput { screen_rect: Some(Rect::from_min_size(Pos2::ZERO, size)), ..RawInput::default() };
        if let Some(viewport) = input.viewports.get_mut(&egui::ViewportId::ROOT) {
            viewport.native_pixels_per_point = Some(2.0);
        }
        let mut output = ctx.run_ui(input, |ui| bars_ui(ui, bars));
        raster.apply(&mut output.textures_delta);
        picture = raster.paint(&ctx, &output);
    }
    picture
}

fn bars_ui(ui: &mut egui::Ui, bars: &Bars) {
    use layout::{BAR, HEAD, LINE, MARGIN, ROW};
    let bars_at = bars.bars_at();
    let t = ThemeTokens::of(ui);
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
    let text =
        |at: Pos2, text: &str, font: egui::FontId, colour: Color32| painter.text(at, Align2::LEFT_CENTER, text, font, colour);
    text(pos2(MARGIN, MARGIN + 8.0), &bars.title, theme::title(), t.strong);
    text(pos2(MARGIN, MARGIN + 32.0), &bars.subtitle, theme::small(), t.weak);
    for (at, bar) in bars.bars.iter().enumerate() {
        let y = HEAD + at as f32 * ROW;
        let middle = y + BAR / 2.0;
        let length = bars.length(bar).max(1.0);
        text(pos2(MARGIN, middle), &bar.label, theme::base(), t.strong);
        painter.rect_filled(Rect::from_min_size(pos2(bars_at, y), vec2(length, BAR)), 2.0, colour(bar.tone));
        let number = text(pos2(bars_at + length + 8.0, middle), &grouped(bar.value), theme::base(), t.strong);
        text(pos2(number.right() + 10.0, middle), &bar.note, theme::small(), t.weak);
    }
    let below = HEAD + bars.bars.len() as f32 * ROW + MARGIN / 2.0;
    let mut x = MARGIN;
    for (tone, meaning) in LEGEND.iter().filter(|(tone, _)| bars.bars.iter().any(|bar| bar.tone == *tone)) {
        painter.rect_filled(Rect::from_min_size(pos2(x, below - 5.0), vec2(10.0, 10.0)), 2.0, colour(*tone));
        x = text(pos2(x + 16.0, below), meaning, theme::small(), t.weak).right() + 24.0;
    }
    for (at, line) in bars.left_out.iter().enumerate() {
        text(pos2(MARGIN, below + (at + 1) as f32 * LINE), line, theme::small(), t.weak);
    }
}
