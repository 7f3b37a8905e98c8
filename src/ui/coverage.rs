//! What the fonts lack of a text: how much, and what has to be laid out apart so that it is seen.

use std::sync::Arc;

use egui::text::{ByteIndex, LayoutJob};
use egui::{Id, Ui};
use unicode_segmentation::UnicodeSegmentation;

use super::theme;
use loupe_analysis::queries::{CharCounts, invisible_chars};

/// How many of these characters no font has. Those that have a name are shown by it.
pub fn count_missing(ui: &Ui, pane: usize, characters: &CharCounts) -> u64 {
    let id = Id::unique(("characters without a font", pane));
    let known: Option<(CharCounts, u64)> = ui.data(|data| data.get_temp(id));
    if let Some((_, count)) = known.filter(|(of, _)| Arc::ptr_eq(of, characters)) {
        return count;
    }
    let count = ui.fonts_mut(|fonts| {
        let missing = characters
            .iter()
            .filter(|(char, _)| is_drawn(*char) && !fonts.has_glyph(&theme::code(), *char));
        missing.map(|(_, count)| count).sum()
    });
    ui.data_mut(|data| data.insert_temp(id, (Arc::clone(characters), count)));
    count
}

/// Whether a character is drawn by itself: a variation selector is a wish about the one before it.
fn is_drawn(char: char) -> bool {
    invisible_chars::name(char).is_none() && !('\u{fe00}'..='\u{fe0f}').contains(&char)
}

/// Makes a section of each mark that no font has on a letter that one has: egui would draw the letter alone.
pub fn set_apart(ui: &Ui, job: &mut LayoutJob) {
    if job.text.is_ascii() {
        return;
    }
    let mut sections = Vec::with_capacity(job.sections.len());
    ui.fonts_mut(|fonts| {
        for mut section in job.sections.drain(..) {
            let start = section.byte_range.start.0;
            for (at, cluster) in job.text[start..section.byte_range.end.0].grapheme_indices(true) {
                let mut has = |char| fonts.has_glyph(&section.format.font_id, char);
                let mut chars = cluster.char_indices();
                if chars
                    .next()
                    .is_none_or(|(_, base)| chars.as_str().is_empty() || !has(base))
                {
                    continue;
                }
                if let Some((mark, _)) = chars.find(|(_, char)| is_drawn(*char) && !has(*char)) {
                    let mut rest = section.clone();
                    section.byte_range.end = ByteIndex(start + at + mark);
                    (rest.byte_range.start, rest.leading_space) = (section.byte_range.end, 0.0);
                    sections.push(section);
                    section = rest;
                }
            }
            sections.push(section);
        }
    });
    job.sections = sections;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_font_has_is_counted() {
        let ctx = egui::Context::default();
        theme::install(&ctx);
        let mut output = ctx.run_ui(egui::RawInput::default(), |ui| {
            let of = |characters: &[(char, u64)]| count_missing(ui, 0, &characters.into());
            assert_eq!(
                of(&[
                    ('é', 3),
                    ('\u{e01}', 2),
                    ('\u{200b}', 5),
                    ('한', 1),
                    ('🟢', 1)
                ]),
                3
            );
            assert_eq!(of(&[('\u{fe0f}', 2)]), 0);
        });
        output.textures_delta.clear();
    }

    /// The letter is there, and the mark is not.
    #[test]
    fn a_mark_without_a_font_is_not_blank() {
        let ctx = egui::Context::default();
        theme::install(&ctx);
        let mut output = ctx.run_ui(egui::RawInput::default(), |ui| {
            for text in ["\"\u{e35}\"", "a\u{93f}", "\u{e35}", "\u{301}"] {
                let mut job = LayoutJob::simple(
                    text.into(),
                    theme::code(),
                    theme::of(ui).text,
                    f32::INFINITY,
                );
                set_apart(ui, &mut job);
                let galley = ui.painter().layout_job(job);
                let glyphs = &galley.rows[0].glyphs;
                assert_eq!(glyphs.len(), text.chars().count());
                assert!(
                    glyphs.iter().all(|glyph| !glyph.uv_rect.is_nothing()),
                    "{text:?}"
                );
            }
        });
        output.textures_delta.clear();
    }
}
