//! The look, once: colours, fonts, text styles and sizes.
//!
//! Everything painted takes its colour from [`ThemeTokens`], its font from the functions below and its size from the constants
//! here, so that a change is made in one place. A test recomputes the contrast of every text role.

use std::sync::Arc;

use egui::style::{HandleShape, ScrollStyle, Selection, WidgetVisuals};
use egui::{
    Color32, Context, CornerRadius, FontData, FontDefinitions, FontFamily, FontId, Margin, Shadow, Stroke, Style, TextStyle,
    Theme, Visuals, vec2,
};

/// Every colour of one theme, by role.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThemeTokens {
    pub is_dark: bool,
    /// Window and call bar.
    pub bg: Color32,
    /// Sidebar, panes, drawer, bars.
    pub panel: Color32,
    /// Cards, chips, band headers.
    pub card: Color32,
    /// Hover, a selected neutral row, the track of a bar.
    pub hover: Color32,
    /// Separators.
    pub line: Color32,
    /// Borders of controls.
    pub line2: Color32,
    pub text: Color32,
    /// Titles and current numbers.
    pub strong: Color32,
    /// All secondary text.
    pub weak: Color32,
    /// Never text: table pipes and disabled glyphs.
    pub faint: Color32,
    pub accent: Color32,
    pub on_accent: Color32,
    pub ok: Color32,
    pub warn: Color32,
    pub bad: Color32,
    /// The strong selection: a linked node, selected text.
    pub sel: Color32,
    /// The light selection: a linked place, a selected list row.
    pub accent_bg: Color32,
    pub accent_line: Color32,
    pub ok_bg: Color32,
    pub ok_line: Color32,
    pub warn_bg: Color32,
    pub warn_line: Color32,
    pub bad_bg: Color32,
    pub bad_line: Color32,
    pub json_string: Color32,
    pub json_number: Color32,
    pub json_bool: Color32,
    pub hue_text: Hue,
    pub hue_structured: Hue,
    pub hue_wire: Hue,
    pub hue_both: Hue,
    pub hue_derived: Hue,
}

/// The colour of a format, with the fill and border of its badge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hue {
    pub color: Color32,
    pub fill: Color32,
    pub line: Color32,
}

const fn rgb(hex: u32) -> Color32 {
    let [_, r, g, b] = hex.to_be_bytes();
    Color32::from_rgb(r, g, b)
}

const fn hue(color: u32, fill: u32, line: u32) -> Hue {
    Hue { color: rgb(color), fill: rgb(fill), line: rgb(line) }
}

pub static DARK: ThemeTokens = ThemeTokens {
    is_dark: true,
    bg: rgb(0x0f_1216),
    panel: rgb(0x14_181d),
    card: rgb(0x1a_1f26),
    hover: rgb(0x21_2730),
    line: rgb(0x26_2d37),
    line2: rgb(0x34_3d4a),
    text: rgb(0xd5_dbe4),
    strong: rgb(0xf1_f4f8),
    weak: rgb(0x87_92a2),
    faint: rgb(0x5c_6675),
    accent: rgb(0x5c_9dff),
    on_accent: rgb(0x0b_1220),
    ok: rgb(0x4c_b782),
    warn: rgb(0xdb_a445),
    bad: rgb(0xe5_656f),
    sel: rgb(0x24_426b),
    accent_bg: rgb(0x1a_2a42),
    accent_line: rgb(0x2f_5487),
    ok_bg: rgb(0x17_281f),
    ok_line: rgb(0x2b_5c44),
    warn_bg: rgb(0x2a_2315),
    warn_line: rgb(0x66_5024),
    bad_bg: rgb(0x2d_1b1f),
    bad_line: rgb(0x6e_343b),
    json_string: rgb(0x9f_d0a8),
    json_number: rgb(0xe0_b071),
    json_bool: rgb(0x7d_b2ff),
    hue_text: hue(0x4f_b6c2, 0x15_272b, 0x2a_5960),
    hue_structured: hue(0xa6_8bf5, 0x22_1e34, 0x4c_4278),
    hue_wire: hue(0x87_92a2, 0x21_2730, 0x34_3d4a),
    hue_both: hue(0x5c_9dff, 0x1a_2a42, 0x2f_5487),
    hue_derived: hue(0x87_92a2, 0x1d_2229, 0x34_3d4a),
};

pub static LIGHT: ThemeTokens = ThemeTokens {
    is_dark: false,
    bg: rgb(0xf4_f5f7),
    panel: rgb(0xfb_fbfc),
    card: rgb(0xff_ffff),
    hover: rgb(0xec_eef2),
    line: rgb(0xdd_e1e7),
    line2: rgb(0xc3_c9d3),
    text: rgb(0x2b_323c),
    strong: rgb(0x11_161d),
    weak: rgb(0x5b_6675),
    faint: rgb(0x98_a2b0),
    accent: rgb(0x1a_63d8),
    on_accent: rgb(0xff_ffff),
    ok: rgb(0x1d_7a4c),
    warn: rgb(0x8c_5c00),
    bad: rgb(0xc4_303c),
    sel: rgb(0xc9_dcf9),
    accent_bg: rgb(0xe6_effc),
    accent_line: rgb(0xa9_c7f3),
    ok_bg: rgb(0xe4_f3ea),
    ok_line: rgb(0xa6_d3ba),
    warn_bg: rgb(0xfb_f1da),
    warn_line: rgb(0xe0_c17c),
    bad_bg: rgb(0xfb_e8e9),
    bad_line: rgb(0xe9_adb2),
    json_string: rgb(0x1f_6836),
    json_number: rgb(0x8a_5200),
    json_bool: rgb(0x1a_56bd),
    hue_text: hue(0x0b_7480, 0xdf_f1f3, 0x9a_ccd2),
    hue_structured: hue(0x6a_45d0, 0xee_e9fb, 0xc5_b6f0),
    hue_wire: hue(0x5b_6675, 0xec_eef2, 0xc3_c9d3),
    hue_both: hue(0x1a_63d8, 0xe6_effc, 0xa9_c7f3),
    hue_derived: hue(0x5b_6675, 0xf0_f2f5, 0xc9_ced6),
};

impl ThemeTokens {
    /// The tokens of the theme in force; takes a `Ui` as well as a `Context`.
    pub fn of(ctx: &Context) -> &'static ThemeTokens {
        Self::for_theme(ctx.theme())
    }

    pub fn for_theme(theme: Theme) -> &'static ThemeTokens {
        match theme {
            Theme::Dark => &DARK,
            Theme::Light => &LIGHT,
        }
    }

    /// The colour of a format, by its id.
    pub fn hue(&self, format: &str) -> Hue {
        match format {
            "content" => self.hue_text,
            "structured" => self.hue_structured,
            "wire" => self.hue_wire,
            "both" => self.hue_both,
            _ => self.hue_derived,
        }
    }
}

/// Space between controls.
pub const GAP: f32 = 8.0;
/// Space between groups, and the padding of a screen.
pub const GROUP: f32 = 16.0;
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
/// Below this height the drawer is its verdict line only.
pub const SHORT: f32 = 820.0;

const SEMIBOLD: &str = "semibold";
const MEDIUM_WEIGHT: &str = "medium";
const MONO_SEMIBOLD: &str = "mono-semibold";
const ICONS: &str = "icons";
const ICONS_FILL: &str = "icons-fill";

fn named(name: &'static str) -> FontFamily {
    FontFamily::Name(name.into())
}

/// Inter 400.
pub fn regular(size: f32) -> FontId {
    FontId::new(size, FontFamily::Proportional)
}

/// Inter 500.
pub fn medium(size: f32) -> FontId {
    FontId::new(size, named(MEDIUM_WEIGHT))
}

/// Inter 600.
pub fn semibold(size: f32) -> FontId {
    FontId::new(size, named(SEMIBOLD))
}

/// JetBrains Mono 400: every number in a column, a header or a diff, so that digits align.
pub fn mono(size: f32) -> FontId {
    FontId::new(size, FontFamily::Monospace)
}

/// JetBrains Mono 600.
pub fn mono_semibold(size: f32) -> FontId {
    FontId::new(size, named(MONO_SEMIBOLD))
}

/// Phosphor regular.
pub fn icon_font(size: f32) -> FontId {
    FontId::new(size, named(ICONS))
}

/// Phosphor fill.
pub fn icon_fill_font(size: f32) -> FontId {
    FontId::new(size, named(ICONS_FILL))
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
    ("inter", include_bytes!("../../assets/fonts/Inter-Regular.ttf")),
    ("inter-medium", include_bytes!("../../assets/fonts/Inter-Medium.ttf")),
    ("inter-semibold", include_bytes!("../../assets/fonts/Inter-SemiBold.ttf")),
    ("jetbrains-mono", include_bytes!("../../assets/fonts/JetBrainsMono-Regular.ttf")),
    ("jetbrains-mono-semibold", include_bytes!("../../assets/fonts/JetBrainsMono-SemiBold.ttf")),
    ("phosphor", include_bytes!("../../assets/fonts/Phosphor-Regular.ttf")),
    ("phosphor-fill", include_bytes!("../../assets/fonts/Phosphor-Fill.ttf")),
    ("emoji", include_bytes!("../../assets/fonts/NotoColorEmoji-Chosen.ttf")),
];

/// Scripts of the sample server that Inter lacks, for pictures, which must look the same on every machine.
const SCRIPTS: &[(&str, &[u8])] = &[
    ("cjk", include_bytes!("../../assets/fonts/NotoSansCJK-Sample.ttf")),
    ("arabic", include_bytes!("../../assets/fonts/NotoSansArabic-Sample.ttf")),
];

/// The fonts with their fallbacks: our colour emoji come before egui's monochrome ones.
pub fn fonts() -> FontDefinitions {
    let mut fonts = FontDefinitions::default();
    let fallback = fonts.families.get(&FontFamily::Proportional).cloned().unwrap_or_default();
    for &(name, bytes) in FILES {
        fonts.font_data.insert(name.into(), Arc::new(FontData::from_static(bytes)));
    }
    let mut family = |family: FontFamily, first: &[&str]| {
        let chain = first.iter().map(|&name| name.to_owned()).chain(fallback.iter().cloned()).collect();
        fonts.families.insert(family, chain);
    };
    family(FontFamily::Proportional, &["inter", "emoji", "jetbrains-mono"]);
    family(named(MEDIUM_WEIGHT), &["inter-medium", "emoji", "jetbrains-mono"]);
    family(named(SEMIBOLD), &["inter-semibold", "emoji", "jetbrains-mono-semibold"]);
    family(FontFamily::Monospace, &["jetbrains-mono", "emoji", "inter"]);
    family(named(MONO_SEMIBOLD), &["jetbrains-mono-semibold", "emoji", "inter-semibold"]);
    family(named(ICONS), &["phosphor"]);
    family(named(ICONS_FILL), &["phosphor-fill"]);
    fonts
}

/// Sets fonts and both themes of a window. Call once, before the first frame.
pub fn install(ctx: &Context) {
    install_with(ctx, fonts());
}

/// The same for a picture, with the scripts of the sample server. In a window they would stand beside the system's own
/// letters within one word.
pub fn install_for_picture(ctx: &Context) {
    let mut fonts = fonts();
    for &(name, bytes) in SCRIPTS {
        fonts.font_data.insert(name.into(), Arc::new(FontData::from_static(bytes)));
    }
    for chain in fonts.families.values_mut() {
        chain.extend(SCRIPTS.iter().map(|&(name, _)| name.to_owned()));
    }
    install_with(ctx, fonts);
}

fn install_with(ctx: &Context, fonts: FontDefinitions) {
    ctx.set_fonts(fonts);
    for theme in [Theme::Dark, Theme::Light] {
        ctx.style_mut_of(theme, |style| apply(style, ThemeTokens::for_theme(theme)));
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
    let mut visuals = if t.is_dark { Visuals::dark() } else { Visuals::light() };
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
    visuals.selection = Selection { bg_fill: t.sel, stroke: Stroke::new(1.0, t.accent) };
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
    let shadow =
        Shadow { offset: [0, 4], blur: 12, spread: 0, color: Color32::from_black_alpha(if t.is_dark { 102 } else { 36 }) };
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

    /// Relative luminance and contrast ratio of WCAG 2.
    fn contrast(a: Color32, b: Color32) -> f64 {
        let luminance = |color: Color32| {
            let channel = |value: u8| {
                let value = f64::from(value) / 255.0;
                if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
            };
            0.2126 * channel(color.r()) + 0.7152 * channel(color.g()) + 0.0722 * channel(color.b())
        };
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn every_text_role_can_be_read_on_every_ground() {
        for t in [&DARK, &LIGHT] {
            let mut pairs = Vec::new();
            let hues = [t.hue_text, t.hue_structured, t.hue_wire, t.hue_both, t.hue_derived];
            for ground in [t.bg, t.panel, t.card, t.hover] {
                pairs.extend([t.text, t.strong, t.weak, t.accent, t.ok, t.warn, t.bad].map(|color| (color, ground)));
                pairs.extend([t.json_string, t.json_number, t.json_bool].map(|color| (color, ground)));
                pairs.extend(hues.map(|hue| (hue.color, ground)));
            }
            pairs.extend([
                (t.ok, t.ok_bg),
                (t.warn, t.warn_bg),
                (t.bad, t.bad_bg),
                (t.accent, t.accent_bg),
                (t.weak, t.accent_bg),
            ]);
            pairs.extend([(t.text, t.sel), (t.strong, t.sel), (t.json_string, t.sel), (t.on_accent, t.accent)]);
            pairs.extend([t.json_string, t.json_number, t.json_bool].map(|color| (color, t.accent_bg)));
            pairs.extend(hues.map(|hue| (hue.color, hue.fill)));
            for (color, ground) in pairs {
                let ratio = contrast(color, ground);
                assert!(ratio >= 4.5, "{color:?} on {ground:?} has {ratio:.2} (dark: {})", t.is_dark);
            }
        }
    }

    #[test]
    fn no_glyph_of_ours_is_missing() {
        let ctx = Context::default();
        install(&ctx);
        let mut output = ctx.run_ui(egui::RawInput::default(), |ui| {
            ui.fonts_mut(|fonts| {
                // The last two are drawn by egui_commonmark on its copy button.
                for text in ["Loupe 0 % × − … · ✓ → ≈", "Größe Żółć Ελληνικά Кириллица", "🟢🟡🔴⚪✅❌⚠", "🗐✔"]
                {
                    for font in [regular(13.0), medium(13.0), semibold(13.0), mono(12.0), mono_semibold(12.0)] {
                        assert!(fonts.has_glyphs(&font, text), "{font:?} lacks some of {text}");
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
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/serve/sample");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let texts: Vec<String> = files.filter(|path| path.is_file()).map(|path| std::fs::read_to_string(path).unwrap()).collect();
        let letters: String = texts.concat().chars().filter(|letter| letter.is_alphabetic()).collect();
        let mut output = ctx.run_ui(egui::RawInput::default(), |ui| {
            ui.fonts_mut(|fonts| {
                for font in [regular(13.0), mono(12.0)] {
                    let missing: String =
                        letters.chars().filter(|letter| !fonts.has_glyphs(&font, letter.encode_utf8(&mut [0; 4]))).collect();
                    assert_eq!(missing, "", "{font:?} lacks them");
                }
            });
        });
        output.textures_delta.clear();
    }
}
