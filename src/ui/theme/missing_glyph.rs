//! What stands for a character that no font has: a box with its code point, for nothing that was sent may be blank.

use egui::epaint::text::{
    FontPriority, GlyphBitmap, GlyphRasterizer, GlyphRasterizerRequest, RasterizedGlyph,
};
use egui::{Color32, ColorImage};
use unicode_segmentation::UnicodeSegmentation;

/// The hexadecimal digits, three pixels wide: five rows of three bits, the highest first.
const DIGITS: [u16; 16] = [
    0b111_101_101_101_111,
    0b010_110_010_010_111,
    0b111_001_111_100_111,
    0b111_001_111_001_111,
    0b101_101_111_001_001,
    0b111_100_111_001_111,
    0b111_100_111_101_111,
    0b111_001_001_010_010,
    0b111_101_111_101_111,
    0b111_101_111_001_111,
    0b010_101_111_101_101,
    0b110_101_110_101_110,
    0b011_100_100_100_011,
    0b110_101_101_101_110,
    0b111_100_110_100_111,
    0b111_100_110_100_100,
];
/// Pixels of a digit with the gap after it.
const DIGIT: [usize; 2] = [4, 6];
/// Two rows of digits within a frame, in pixels of a digit.
const HEIGHT: usize = 2 * DIGIT[1] + 3;
/// Between two boxes.
const GAP: usize = 1;
/// Pixels of a picture that egui draws.
const MOST: usize = 1_000;

/// Draws what no font has, and marks that stand on no letter. The fonts are asked first, so no list of scripts is needed.
pub fn boxes() -> [GlyphRasterizer; 2] {
    let alone = |request: &GlyphRasterizerRequest<'_>| {
        let cluster = request.cluster;
        let is_mark = !cluster.is_ascii() && format!("a{cluster}").graphemes(true).count() == 1;
        is_mark.then(|| draw(request))
    };
    // A line feed in a text on one line is a blank; in what a server sent, controls have names.
    let missing = |request: &GlyphRasterizerRequest<'_>| {
        let is_control = request.cluster.chars().all(char::is_control);
        (!is_control).then(|| draw(request))
    };
    [
        GlyphRasterizer::new("code points", missing),
        GlyphRasterizer::new("marks alone", alone).with_priority(FontPriority::Highest),
    ]
}

/// A box for each character of a cluster, which may have any number of marks.
fn draw(request: &GlyphRasterizerRequest<'_>) -> RasterizedGlyph {
    // The digits are readable at the size of exact text, and grow with the pixels of a point.
    let scale = (request.font_size_px / 12.0).round().max(1.0) as usize;
    let points: Vec<String> = request
        .cluster
        .chars()
        .take(MOST / ((3 * DIGIT[0] + 3 + GAP) * scale))
        .map(|char| format!("{:04X}", u32::from(char)))
        .collect();
    let columns = |point: &String| point.len().div_ceil(2);
    let width = |point: &String| columns(point) * DIGIT[0] + 3;
    let all = points.iter().map(|point| width(point) + GAP).sum::<usize>() - GAP;
    let mut image = ColorImage::filled([all * scale, HEIGHT * scale], Color32::TRANSPARENT);
    let mut dot = |x: usize, y: usize, color: Color32| {
        for (right, down) in (0..scale * scale).map(|at| (at % scale, at / scale)) {
            image[(x * scale + right, y * scale + down)] = color;
        }
    };
    let mut left = 0;
    for point in &points {
        let right = left + width(point) - 1;
        let frame = Color32::from_white_alpha(110);
        for x in left..=right {
            dot(x, 0, frame);
            dot(x, HEIGHT - 1, frame);
        }
        for y in 1..HEIGHT - 1 {
            dot(left, y, frame);
            dot(right, y, frame);
        }
        // Five digits leave the first place of the first row empty.
        let empty = 2 * columns(point) - point.len();
        for (at, digit) in point
            .chars()
            .filter_map(|char| char.to_digit(16))
            .enumerate()
        {
            let place = at + empty;
            let x = left + 2 + place % columns(point) * DIGIT[0];
            let y = 2 + place / columns(point) * DIGIT[1];
            for bit in (0..15).filter(|bit| DIGITS[digit as usize] >> (14 - bit) & 1 == 1) {
                dot(x + bit % 3, y + bit / 3, Color32::WHITE);
            }
        }
        left = right + 1 + GAP;
    }
    let size = egui::vec2((all * scale) as f32, (HEIGHT * scale) as f32);
    let side = scale as f32;
    RasterizedGlyph {
        bitmap: GlyphBitmap {
            image,
            // Its middle is the middle of a capital letter.
            offset_px: egui::vec2(side, -(request.font_size_px * 0.36 + size.y / 2.0).round()),
            is_color: false,
        },
        advance_px: size.x + 2.0 * side,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::theme;

    /// Whatever the fonts lack is drawn, with room of its own.
    #[test]
    fn a_character_without_a_font_is_not_blank() {
        let ctx = egui::Context::default();
        theme::install(&ctx);
        let mut output = ctx.run_ui(egui::RawInput::default(), |ui| {
            for font in [theme::code(), theme::base(), theme::semibold(13.0)] {
                for text in ["\u{e01}", "\u{915}", "한", "\u{12000}", "\u{10ffff}"] {
                    let color = Color32::WHITE;
                    let galley = ui
                        .painter()
                        .layout_no_wrap(text.into(), font.clone(), color);
                    let glyph = galley.rows[0].glyphs[0];
                    assert!(!glyph.uv_rect.is_nothing(), "{text:?} is blank");
                    let size = glyph.uv_rect.size;
                    assert!(size.x >= 11.0 && size.y == 15.0, "{text:?} is {size:?}");
                    assert!(glyph.advance_width > size.x);
                }
            }
        });
        output.textures_delta.clear();
    }

    fn picture(cluster: &str, font_size_px: f32) -> ColorImage {
        let request = GlyphRasterizerRequest {
            cluster,
            family: &egui::FontFamily::Monospace,
            font_size_px,
            subpixel_offset_px: 0.0,
        };
        draw(&request).bitmap.image
    }

    #[test]
    fn a_pile_of_marks_is_no_larger_than_what_is_drawn() {
        let pile = "\u{e34}".repeat(9_000);
        for size in [12.0, 24.0, 36.0, 50.0] {
            let width = picture(&pile, size).width();
            assert!((600..=1_024).contains(&width), "{width}");
        }
    }

    #[test]
    fn a_box_holds_the_code_point() {
        let image = picture("\u{e01}\u{e34}", 12.0);
        let rows: Vec<String> = (0..image.height())
            .map(|y| {
                let ink = |x| match image[(x, y)].a() {
                    0 => ' ',
                    255 => '#',
                    _ => '.',
                };
                (0..image.width()).map(ink).collect()
            })
            .collect();
        expect_test::expect![[r#"
            ........... ...........
            .         . .         .
            . ### ### . . ### ### .
            . # # #   . . # # #   .
            . # # ##  . . # # ##  .
            . # # #   . . # # #   .
            . ### ### . . ### ### .
            .         . .         .
            . ###  #  . . ### # # .
            . # # ##  . .   # # # .
            . # #  #  . . ### ### .
            . # #  #  . .   #   # .
            . ### ### . . ###   # .
            .         . .         .
            ........... ...........
        "#]]
        .assert_eq(&(rows.join("\n") + "\n"));
    }
}
