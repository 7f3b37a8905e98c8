//! The look, once: colours, fonts, text styles and sizes.
//!
//! Everything painted takes its colour from [`ThemeTokens`], its font from the functions below and its size from the constants
//! here, so that a change is made in one place. A test computes the contrast of every text role.

mod missing_glyph;
mod tokens;

use std::sync::Arc;

use egui::style::{HandleShape, ScrollAnimation, ScrollStyle, Selection, WidgetVisuals};
use egui::{
    Color32, Context, CornerRadius, FontData, FontDefinitions, FontFamily, FontId, Id, Margin,
    Shadow, Stroke, Style, TextStyle, Theme, Visuals, vec2,
};

pub use tokens::{Hue, ThemeTokens, of};

/// Space between controls.
pub const GAP: f32 = 8.0;
/// Padding of a panel.
pub const PAD: f32 = 12.0;

pub const TOP_BAR: f32 = 44.0;
pub const HEADER: f32 = 36.0;
pub const FOOTER: f32 = 26.0;
pub const STATUS_BAR: f32 = 24.0;
pub const BUTTON: f32 = 30.0;
pub const INPUT: f32 = 28.0;
pub const SMALL_BUTTON: f32 = 26.0;
pub const ICON_BUTTON: f32 = 24.0;
pub const TOOL_ROW: f32 = 26.0;
pub const CAPTURE_ROW: f32 = 40.0;
pub const TREE_ROW: f32 = 22.0;
pub const TEXT_ROW: f32 = 18.0;
pub const LEDGER_ROW: f32 = 20.0;
pub const BADGE: f32 = 18.0;
pub const MARK: f32 = 16.0;
pub const SIDEBAR: f32 = 288.0;
/// Its width in a window narrower than [`LARGE`].
pub const SIDEBAR_SMALL: f32 = 256.0;
pub const RAIL: f32 = 48.0;

pub const RADIUS_BAR: CornerRadius = CornerRadius::same(2);
pub const RADIUS_BADGE: CornerRadius = CornerRadius::same(4);
pub const RADIUS_CONTROL: CornerRadius = CornerRadius::same(6);
pub const RADIUS_CARD: CornerRadius = CornerRadius::same(8);

/// From this width on the sidebar has its full width.
pub const LARGE: f32 = 1366.0;
/// Below this width the panes become two with a tab strip.
pub const WIDE: f32 = 1280.0;
/// Below this width the sidebar becomes a rail.
pub const MEDIUM: f32 = 1100.0;
/// Below this width the panes are tabs only.
pub const NARROW: f32 = 700.0;
/// Below this height the drawer is its summary line only.
pub const SHORT: f32 = 820.0;

const SEMIBOLD: &str = "semibold";
const MEDIUM_WEIGHT: &str = "medium";
const MONO_SEMIBOLD: &str = "mono-semibold";
const ICONS: &str = "icons";
const ICONS_FILL: &str = "icons-fill";

fn font_family(name: &'static str) -> FontFamily {
    FontFamily::Name(name.into())
}

/// Inter 400.
pub fn regular(size: f32) -> FontId {
    FontId::new(size, FontFamily::Proportional)
}

/// Inter 500.
pub fn medium(size: f32) -> FontId {
    FontId::new(size, font_family(MEDIUM_WEIGHT))
}

/// Inter 600.
pub fn semibold(size: f32) -> FontId {
    FontId::new(size, font_family(SEMIBOLD))
}

/// JetBrains Mono 400: every number in a column, a header or a diff, so that digits align.
pub fn mono(size: f32) -> FontId {
    FontId::new(size, FontFamily::Monospace)
}

/// JetBrains Mono 600.
pub fn mono_semibold(size: f32) -> FontId {
    FontId::new(size, font_family(MONO_SEMIBOLD))
}

/// Phosphor regular.
pub fn icon_font(size: f32) -> FontId {
    FontId::new(size, font_family(ICONS))
}

/// Phosphor fill.
pub fn icon_fill_font(size: f32) -> FontId {
    FontId::new(size, font_family(ICONS_FILL))
}

/// Page titles.
pub fn page_title() -> FontId {
    semibold(22.0)
}

/// The tool's name above the call bar.
pub fn tool_name() -> FontId {
    mono_semibold(14.0)
}

/// Titles of panes and drawers.
pub fn title() -> FontId {
    semibold(14.0)
}

pub fn base() -> FontId {
    regular(13.0)
}

/// Base text with weight, for labels of buttons and tabs.
pub fn label() -> FontId {
    medium(13.0)
}

/// Secondary text.
pub fn small() -> FontId {
    regular(12.0)
}

/// Exact text, trees, tables of numbers.
pub fn code() -> FontId {
    mono(12.0)
}

const FILES: &[(&str, &[u8])] = &[
    (
        "inter",
        include_bytes!("../../assets/fonts/Inter-Regular.ttf"),
    ),
    (
        "inter-medium",
        include_bytes!("../../assets/fonts/Inter-Medium.ttf"),
    ),
    (
        "inter-semibold",
        include_bytes!("../../assets/fonts/Inter-SemiBold.ttf"),
    ),
    (
        "jetbrains-mono",
        include_bytes!("../../assets/fonts/JetBrainsMono-Regular.ttf"),
    ),
    (
        "jetbrains-mono-semibold",
        include_bytes!("../../assets/fonts/JetBrainsMono-SemiBold.ttf"),
    ),
    (
        "phosphor",
        include_bytes!("../../assets/fonts/Phosphor-Regular.ttf"),
    ),
    (
        "phosphor-fill",
        include_bytes!("../../assets/fonts/Phosphor-Fill.ttf"),
    ),
    (
        "emoji",
        include_bytes!("../../assets/fonts/NotoColorEmoji-Chosen.ttf"),
    ),
];

/// Scripts of the sample server that Inter lacks, for pictures, which must look the same on every machine.
const SCRIPTS: &[(&str, &[u8])] = &[
    (
        "cjk",
        include_bytes!("../../assets/fonts/NotoSansCJK-Sample.ttf"),
    ),
    (
        "arabic",
        include_bytes!("../../assets/fonts/NotoSansArabic-Sample.ttf"),
    ),
];

/// The fonts with their fallbacks: our colour emoji come before egui's monochrome ones.
pub fn fonts() -> FontDefinitions {
    let mut fonts = FontDefinitions::default();
    let fallback = fonts
        .families
        .get(&FontFamily::Proportional)
        .cloned()
        .unwrap_or_default();
    for &(name, bytes) in FILES {
        fonts
            .font_data
            .insert(name.into(), Arc::new(FontData::from_static(bytes)));
    }
    let mut family = |family: FontFamily, first: &[&str]| {
        let chain = first
            .iter()
            .map(|&name| name.to_owned())
            .chain(fallback.iter().cloned())
            .collect();
        fonts.families.insert(family, chain);
    };
    family(
        FontFamily::Proportional,
        &["inter", "emoji", "jetbrains-mono"],
    );
    family(
        font_family(MEDIUM_WEIGHT),
        &["inter-medium", "emoji", "jetbrains-mono"],
    );
    family(
        font_family(SEMIBOLD),
        &["inter-semibold", "emoji", "jetbrains-mono-semibold"],
    );
    family(FontFamily::Monospace, &["jetbrains-mono", "emoji", "inter"]);
    family(
        font_family(MONO_SEMIBOLD),
        &["jetbrains-mono-semibold", "emoji", "inter-semibold"],
    );
    family(font_family(ICONS), &["phosphor"]);
    family(font_family(ICONS_FILL), &["phosphor-fill"]);
    fonts
}

/// Sets fonts and both themes of a window. Call once, before the first frame.
pub fn install(ctx: &Context) {
    install_with(ctx, fonts());
}

/// The same for a picture, with the scripts of the sample server. In a window they would be next to the system's own
/// letters within one word.
pub fn install_for_picture(ctx: &Context) {
    let mut fonts = fonts();
    for &(name, bytes) in SCRIPTS {
        fonts
            .font_data
            .insert(name.into(), Arc::new(FontData::from_static(bytes)));
    }
    for chain in fonts.families.values_mut() {
        chain.extend(SCRIPTS.iter().map(|&(name, _)| name.to_owned()));
    }
    install_with(ctx, fonts);
}

fn install_with(ctx: &Context, fonts: FontDefinitions) {
    ctx.set_fonts(fonts);
    for boxes in missing_glyph::boxes() {
        ctx.add_glyph_rasterizer(boxes);
    }
    restyle(ctx, Needs::default());
}

/// What somebody needs of the look, whatever the theme is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    pub more_contrast: bool,
    pub reduce_motion: bool,
}

fn needs_id() -> Id {
    Id::unique("needs of the look")
}

/// From the next pass on the look is as needed.
pub fn follow(ctx: &Context, needs: Needs) {
    if ctx
        .data(|data| data.get_temp::<Needs>(needs_id()))
        .unwrap_or_default()
        != needs
    {
        ctx.data_mut(|data| data.insert_temp(needs_id(), needs));
        restyle(ctx, needs);
        ctx.request_repaint();
    }
}

fn has_more_contrast(ctx: &Context) -> bool {
    ctx.data(|data| data.get_temp::<Needs>(needs_id()))
        .is_some_and(|needs| needs.more_contrast)
}

fn restyle(ctx: &Context, needs: Needs) {
    for theme in [Theme::Dark, Theme::Light] {
        ctx.style_mut_of(theme, |style| {
            apply(style, ThemeTokens::for_theme(theme, needs.more_contrast));
            style.scroll_animation = if needs.reduce_motion {
                ScrollAnimation::none()
            } else {
                ScrollAnimation::default()
            };
            style.visuals.text_cursor.blink = !needs.reduce_motion;
        });
    }
}

fn apply(style: &mut Style, t: &ThemeTokens) {
    style.text_styles = [
        (TextStyle::Heading, semibold(17.0)),
        (TextStyle::Body, base()),
        (TextStyle::Button, label()),
        (TextStyle::Monospace, code()),
        (TextStyle::Small, small()),
    ]
    .into();
    style.animation_time = 0.0;
    style.spacing.item_spacing = vec2(GAP, 6.0);
    style.spacing.button_padding = vec2(10.0, 5.0);
    style.spacing.interact_size = vec2(24.0, 24.0);
    style.spacing.menu_margin = Margin::same(6);
    style.spacing.window_margin = Margin::same(16);
    style.spacing.icon_width = 16.0;
    style.spacing.icon_spacing = 6.0;
    style.spacing.scroll = ScrollStyle {
        bar_width: 8.0,
        bar_inner_margin: 2.0,
        bar_outer_margin: 2.0,
        floating_width: 5.0,
        floating_allocated_width: 0.0,
        // Of the colour of text, so that it shows on every ground.
        foreground_color: true,
        dormant_handle_opacity: 0.2,
        active_handle_opacity: 0.35,
        ..ScrollStyle::thin()
    };
    style.spacing.scroll.fade.strength = 0.0;
    style.spacing.scroll.dormant_background_opacity = 0.0;
    style.spacing.scroll.active_background_opacity = 0.0;
    style.spacing.scroll.interact_background_opacity = 0.0;
    style.spacing.scroll.interact_handle_opacity = 0.6;
    style.interaction.tooltip_delay = 0.5;
    style.interaction.selectable_labels = false;
    style.url_in_tooltip = true;
    style.visuals = visuals(t);
}

fn visuals(t: &ThemeTokens) -> Visuals {
    let mut visuals = if t.is_dark {
        Visuals::dark()
    } else {
        Visuals::light()
    };
    let widget = |fill, line, text| WidgetVisuals {
        bg_fill: fill,
        weak_bg_fill: fill,
        bg_stroke: Stroke::new(1.0, line),
        corner_radius: RADIUS_CONTROL,
        fg_stroke: Stroke::new(1.0, text),
        expansion: 0.0,
    };
    visuals.widgets.noninteractive = widget(t.panel, t.line, t.text);
    visuals.widgets.inactive = widget(t.card, t.line2, t.text);
    visuals.widgets.hovered = widget(t.hover, t.line2, t.strong);
    visuals.widgets.active = widget(t.hover, t.accent, t.strong);
    visuals.widgets.open = widget(t.hover, t.line2, t.strong);
    visuals.override_text_color = None;
    visuals.weak_text_color = Some(t.weak);
    visuals.selection = Selection {
        bg_fill: t.sel,
        stroke: Stroke::new(1.0, t.accent),
    };
    visuals.hyperlink_color = t.accent;
    visuals.faint_bg_color = t.card;
    visuals.extreme_bg_color = t.bg;
    // A field is darker than its ground in the dark, and lighter in the light.
    visuals.text_edit_bg_color = Some(if t.is_dark { t.bg } else { t.card });
    visuals.code_bg_color = t.card;
    visuals.warn_fg_color = t.warn;
    visuals.error_fg_color = t.bad;
    visuals.window_corner_radius = RADIUS_CARD;
    visuals.menu_corner_radius = RADIUS_CARD;
    visuals.window_fill = t.card;
    visuals.window_stroke = Stroke::new(1.0, t.line2);
    visuals.panel_fill = t.panel;
    let shadow = Shadow {
        offset: [0, 4],
        blur: 12,
        spread: 0,
        color: Color32::from_black_alpha(if t.is_dark { 102 } else { 36 }),
    };
    visuals.popup_shadow = shadow;
    visuals.window_shadow = shadow;
    visuals.handle_shape = HandleShape::Circle;
    visuals.disabled_alpha = 0.6;
    visuals
}

/// A hovered accent: eight per cent towards white.
pub fn lighter(color: Color32) -> Color32 {
    let mix = |channel: u8| channel + ((255 - u16::from(channel)) * 8 / 100) as u8;
    Color32::from_rgb(mix(color.r()), mix(color.g()), mix(color.b()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_glyph_of_ours_is_missing() {
        let ctx = Context::default();
        install(&ctx);
        let mut output = ctx.run_ui(egui::RawInput::default(), |ui| {
            ui.fonts_mut(|fonts| {
                // The last two are drawn by egui_commonmark on its copy button.
                for text in [
                    "Loupe 0 % × − … · ✓ → ≈",
                    "Größe Żółć Ελληνικά Кириллица",
                    "🟢🟡🔴⚪✅❌⚠",
                    "🗐✔",
                ] {
                    for font in [
                        regular(13.0),
                        medium(13.0),
                        semibold(13.0),
                        mono(12.0),
                        mono_semibold(12.0),
                    ] {
                        assert!(
                            fonts.has_glyphs(&font, text),
                            "{font:?} lacks some of {text}"
                        );
                    }
                }
            });
        });
        output.textures_delta.clear();
    }

    #[test]
    fn pictures_have_every_letter_of_the_sample() {
        let ctx = Context::default();
        install_for_picture(&ctx);
        let folder = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/crates/loupe-sample/src/sample"
        );
        let files = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        let texts: Vec<String> = files
            .filter(|path| path.is_file())
            .map(|path| std::fs::read_to_string(path).unwrap())
            .collect();
        let letters: String = texts
            .concat()
            .chars()
            .filter(|letter| letter.is_alphabetic())
            .collect();
        let mut output = ctx.run_ui(egui::RawInput::default(), |ui| {
            ui.fonts_mut(|fonts| {
                for font in [regular(13.0), mono(12.0)] {
                    let missing: String = letters
                        .chars()
                        .filter(|letter| !fonts.has_glyphs(&font, letter.encode_utf8(&mut [0; 4])))
                        .collect();
                    assert_eq!(missing, "", "{font:?} lacks them");
                }
            });
        });
        output.textures_delta.clear();
    }
}
