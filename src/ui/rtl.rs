//! Text written from right to left, kept from turning around what is next to it.

use egui::text::{LayoutJob, TextFormat};

/// Whether a character is written from right to left.
fn is_rtl(char: char) -> bool {
    matches!(u32::from(char), 0x590..=0x8ff | 0xfb1d..=0xfdff | 0xfe70..=0xfefe | 0x1_0800..=0x1_0fff | 0x1_e800..=0x1_efff)
}

pub fn has_rtl(text: &str) -> bool {
    !text.is_ascii() && text.chars().any(is_rtl)
}

/// Appends text so that what is written from right to left turns around alone: a section is shaped as one run, and one
/// such name would reverse all of it, digits included.
pub fn append(job: &mut LayoutJob, text: &str, format: &TextFormat) {
    if !has_rtl(text) {
        job.append(text, 0.0, format.clone());
        return;
    }
    // Sections of equal format are merged again; a difference nobody can see keeps them apart.
    let apart = TextFormat {
        extra_letter_spacing: format.extra_letter_spacing + 0.001,
        ..format.clone()
    };
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let rtl = is_rtl(first);
        let end = rest.find(|char| is_rtl(char) != rtl).unwrap_or(rest.len());
        job.append(
            &rest[..end],
            0.0,
            if rtl { apart.clone() } else { format.clone() },
        );
        rest = &rest[end..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_from_right_to_left_is_a_section_of_its_own() {
        let mut job = LayoutJob::default();
        append(
            &mut job,
            "| 1 | \u{645}\u{643} | 555-0194 |",
            &TextFormat::default(),
        );
        assert_eq!(job.sections.len(), 3);
        assert!(job.text.ends_with("| 555-0194 |"));
    }
}
