//! What a character is: its code points and what it costs, told when the pointer rests on an emoji or on something that
//! cannot be seen.

use egui::{Response, RichText};
use unicode_segmentation::UnicodeSegmentation;

use crate::ui::Cx;
use crate::ui::theme;
use crate::ui::widgets;
use loupe_analysis::queries::{CharactersQuery, invisible_chars};

/// Whether a character is worth explaining: a picture, an arrow, or one that has no ink.
fn is_odd(char: char) -> bool {
    invisible_chars::name(char).is_some()
        || matches!(u32::from(char), 0x203c | 0x2049 | 0x2122 | 0x2139 | 0x2190..=0x2bff | 0x3030 | 0x1f000..=0x1faff)
}

/// The character at a byte of `text` as people see it, where it is odd: an emoji with its selectors and joiners.
fn odd_at(text: &str, at: usize) -> Option<&str> {
    // A row is short, and nothing before it changes what it looks like.
    let (_, grapheme) = text
        .grapheme_indices(true)
        .find(|(start, grapheme)| (*start..start + grapheme.len()).contains(&at))?;
    grapheme.chars().any(is_odd).then_some(grapheme)
}

/// `U+26A0 U+FE0F`.
fn code_points(grapheme: &str) -> String {
    let points: Vec<_> = grapheme
        .chars()
        .map(|char| format!("U+{:04X}", u32::from(char)))
        .collect();
    points.join(" ")
}

/// Explains the character at a byte of `text`, which `response` is hovered over.
pub fn tip(cx: &Cx<'_>, response: &Response, text: &str, at: usize) {
    let Some(grapheme) = odd_at(text, at) else {
        return;
    };
    let encoding = cx.state.settings.encoding();
    let tokens = match cx.ready(CharactersQuery(grapheme.into())) {
        Some(tokens) => {
            let count = tokens.get(encoding);
            widgets::number_text(count, "tokens")
        }
        _ => "counting".to_owned(),
    };
    let name = grapheme
        .chars()
        .find_map(invisible_chars::name)
        .filter(|name| !name.starts_with("U+"));
    response.clone().on_hover_ui_at_pointer(|ui| {
        let t = theme::of(ui);
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 8.0;
            match name {
                Some(name) => widgets::words(ui, name, theme::mono_semibold(12.0), t.warn),
                None => ui.label(RichText::new(grapheme).font(theme::regular(16.0))),
            };
            widgets::words(ui, code_points(grapheme), theme::code(), t.strong);
            widgets::note(ui, format!("{tokens} ({})", encoding.name()));
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_emoji_is_one_character_with_all_its_code_points() {
        let text = "a ⚠\u{fe0f} 👩\u{200d}💻 \u{200b}é";
        assert_eq!(odd_at(text, 0), None);
        assert_eq!(
            odd_at(text, 2).map(code_points).as_deref(),
            Some("U+26A0 U+FE0F")
        );
        assert_eq!(
            odd_at(text, 5).map(code_points).as_deref(),
            Some("U+26A0 U+FE0F")
        );
        assert_eq!(
            odd_at(text, 9).map(code_points).as_deref(),
            Some("U+1F469 U+200D U+1F4BB")
        );
        assert_eq!(
            odd_at(text, text.find('\u{200b}').unwrap())
                .map(code_points)
                .as_deref(),
            Some("U+200B")
        );
        assert_eq!(odd_at(text, text.len() - 2), None);
        assert_eq!(odd_at(text, 400), None);
    }
}
