//! Every colour of the four themes: dark and light, each also with more contrast.

use egui::{Color32, Context, Theme};

use super::has_more_contrast;

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
    /// Lilac: amber is a warning.
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
    Hue {
        color: rgb(color),
        fill: rgb(fill),
        line: rgb(line),
    }
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
    json_number: rgb(0xd8_b4e8),
    json_bool: rgb(0x7d_b2ff),
    hue_text: hue(0x4f_b6c2, 0x15_272b, 0x2a_5960),
    hue_structured: hue(0xa6_8bf5, 0x22_1e34, 0x4c_4278),
    hue_wire: hue(0x87_92a2, 0x21_2730, 0x34_3d4a),
    hue_both: hue(0x5c_9dff, 0x1a_2a42, 0x2f_5487),
    hue_derived: hue(0x87_92a2, 0x1d_2229, 0x34_3d4a),
};

/// The same for somebody who asks for more contrast: every text 7:1, every border of a control 3:1.
pub static DARK_STRONG: ThemeTokens = ThemeTokens {
    is_dark: true,
    bg: rgb(0x00_0000),
    panel: rgb(0x07_090b),
    card: rgb(0x0d_1013),
    hover: rgb(0x1a_1f26),
    line: rgb(0x49_4f57),
    line2: rgb(0x67_6e77),
    text: rgb(0xd5_dbe4),
    strong: rgb(0xf1_f4f8),
    weak: rgb(0xa3_acb8),
    faint: rgb(0x80_8893),
    accent: rgb(0x76_adff),
    on_accent: rgb(0x0b_1220),
    ok: rgb(0x5c_be8d),
    warn: rgb(0xdb_a445),
    bad: rgb(0xed_9299),
    sel: rgb(0x17_335a),
    accent_bg: rgb(0x10_1c2e),
    accent_line: rgb(0x4f_6f9a),
    ok_bg: rgb(0x0f_1a14),
    ok_line: rgb(0x4c_7661),
    warn_bg: rgb(0x1b_170e),
    warn_line: rgb(0x7d_6b45),
    bad_bg: rgb(0x1d_1214),
    bad_line: rgb(0x8f_6267),
    json_string: rgb(0x9f_d0a8),
    json_number: rgb(0xd8_b4e8),
    json_bool: rgb(0x7d_b2ff),
    hue_text: hue(0x56_b9c4, 0x0e_191c, 0x43_6d73),
    hue_structured: hue(0xb4_9ef7, 0x16_1422, 0x67_5f8c),
    hue_wire: hue(0xa3_acb8, 0x15_191f, 0x61_6872),
    hue_both: hue(0x76_adff, 0x11_1b2b, 0x49_6a96),
    hue_derived: hue(0xa3_acb8, 0x13_161b, 0x5e_6670),
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
    json_number: rgb(0x7a_3a96),
    json_bool: rgb(0x1a_56bd),
    hue_text: hue(0x0b_7480, 0xdf_f1f3, 0x9a_ccd2),
    hue_structured: hue(0x6a_45d0, 0xee_e9fb, 0xc5_b6f0),
    hue_wire: hue(0x5b_6675, 0xec_eef2, 0xc3_c9d3),
    hue_both: hue(0x1a_63d8, 0xe6_effc, 0xa9_c7f3),
    hue_derived: hue(0x5b_6675, 0xf0_f2f5, 0xc9_ced6),
};

pub static LIGHT_STRONG: ThemeTokens = ThemeTokens {
    is_dark: false,
    bg: rgb(0xff_ffff),
    panel: rgb(0xff_ffff),
    card: rgb(0xff_ffff),
    hover: rgb(0xf0_f2f5),
    line: rgb(0xaa_adb2),
    line2: rgb(0x83_878e),
    text: rgb(0x2b_323c),
    strong: rgb(0x11_161d),
    weak: rgb(0x48_505c),
    faint: rgb(0x67_6d77),
    accent: rgb(0x14_4ba5),
    on_accent: rgb(0xff_ffff),
    ok: rgb(0x16_5b39),
    warn: rgb(0x6e_4800),
    bad: rgb(0x95_252e),
    sel: rgb(0xd5_e4fb),
    accent_bg: rgb(0xee_f4fd),
    accent_line: rgb(0x74_88a6),
    ok_bg: rgb(0xed_f7f1),
    ok_line: rgb(0x6f_8e7d),
    warn_bg: rgb(0xfc_f6e7),
    warn_line: rgb(0x9a_8455),
    bad_bg: rgb(0xfc_f0f1),
    bad_line: rgb(0xa7_7c80),
    json_string: rgb(0x18_512a),
    json_number: rgb(0x66_2f80),
    json_bool: rgb(0x17_4ba6),
    hue_text: hue(0x08_5862, 0xea_f6f7, 0x6d_9195),
    hue_structured: hue(0x58_39ac, 0xf4_f1fc, 0x8e_84ae),
    hue_wire: hue(0x48_505c, 0xf3_f4f7, 0x87_8b92),
    hue_both: hue(0x14_4ba5, 0xef_f5fd, 0x77_8cac),
    hue_derived: hue(0x48_505c, 0xf5_f7f8, 0x89_8d92),
};

/// The tokens of the theme in force; takes a `Ui` as well as a `Context`.
pub fn of(ctx: &Context) -> &'static ThemeTokens {
    ThemeTokens::for_theme(ctx.theme(), has_more_contrast(ctx))
}

impl ThemeTokens {
    pub fn for_theme(theme: Theme, has_more_contrast: bool) -> &'static ThemeTokens {
        match (theme, has_more_contrast) {
            (Theme::Dark, false) => &DARK,
            (Theme::Dark, true) => &DARK_STRONG,
            (Theme::Light, false) => &LIGHT,
            (Theme::Light, true) => &LIGHT_STRONG,
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance and contrast ratio of WCAG 2.
    fn contrast(a: Color32, b: Color32) -> f64 {
        let luminance = |color: Color32| {
            let channel = |value: u8| {
                let value = f64::from(value) / 255.0;
                if value <= 0.040_45 {
                    value / 12.92
                } else {
                    ((value + 0.055) / 1.055).powf(2.4)
                }
            };
            0.2126 * channel(color.r()) + 0.7152 * channel(color.g()) + 0.0722 * channel(color.b())
        };
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn every_text_role_can_be_read_on_every_ground() {
        for (t, least) in [
            (&DARK, 4.5),
            (&LIGHT, 4.5),
            (&DARK_STRONG, 7.0),
            (&LIGHT_STRONG, 7.0),
        ] {
            let mut pairs = Vec::new();
            let hues = [
                t.hue_text,
                t.hue_structured,
                t.hue_wire,
                t.hue_both,
                t.hue_derived,
            ];
            for ground in [t.bg, t.panel, t.card, t.hover] {
                pairs.extend(
                    [t.text, t.strong, t.weak, t.accent, t.ok, t.warn, t.bad]
                        .map(|color| (color, ground)),
                );
                pairs.extend(
                    [t.json_string, t.json_number, t.json_bool].map(|color| (color, ground)),
                );
                pairs.extend(hues.map(|hue| (hue.color, ground)));
            }
            pairs.extend([
                (t.ok, t.ok_bg),
                (t.warn, t.warn_bg),
                (t.bad, t.bad_bg),
                (t.accent, t.accent_bg),
                (t.weak, t.accent_bg),
            ]);
            pairs.extend([
                (t.text, t.sel),
                (t.strong, t.sel),
                (t.json_string, t.sel),
                (t.on_accent, t.accent),
            ]);
            pairs.extend(
                [t.json_string, t.json_number, t.json_bool].map(|color| (color, t.accent_bg)),
            );
            pairs.extend(hues.map(|hue| (hue.color, hue.fill)));
            for (color, ground) in pairs {
                let ratio = contrast(color, ground);
                assert!(
                    ratio >= least,
                    "{color:?} on {ground:?} has {ratio:.2} (dark: {})",
                    t.is_dark
                );
            }
        }
    }

    #[test]
    fn with_more_contrast_a_border_of_a_control_stands_out() {
        for t in [&DARK_STRONG, &LIGHT_STRONG] {
            for ground in [t.bg, t.panel, t.card, t.hover] {
                for line in [t.line2, t.accent_line, t.ok_line, t.warn_line, t.bad_line] {
                    let ratio = contrast(line, ground);
                    assert!(
                        ratio >= 3.0,
                        "{line:?} on {ground:?} has {ratio:.2} (dark: {})",
                        t.is_dark
                    );
                }
            }
        }
    }

    #[test]
    fn the_ring_of_the_focus_stands_out_on_every_ground() {
        for t in [&DARK, &LIGHT, &DARK_STRONG, &LIGHT_STRONG] {
            for ground in [t.bg, t.panel, t.card, t.hover] {
                assert!(
                    contrast(t.accent, ground) >= 3.0,
                    "{:?} on {ground:?}",
                    t.accent
                );
            }
        }
    }
}
