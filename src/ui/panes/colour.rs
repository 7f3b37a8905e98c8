//! The colours of a row of text: JSON by its parts, Markdown's own marks weak and what they mark strong. No character
//! is changed.

use std::ops::Range;
use std::sync::Arc;

use egui::text::{LayoutJob, TextFormat};
use egui::{Color32, Galley, Ui};

use crate::ui::rtl::{self, Order};
use crate::ui::theme::{self, ThemeTokens};
use loupe_analysis::queries::invisible_chars::Shown;
use loupe_analysis::queries::{TextRow, TextView};
use loupe_core::format::Syntax;

/// Lays a row out in its colours.
pub fn layout(ui: &Ui, shown: &Shown, view: &TextView, row: &TextRow) -> Arc<Galley> {
    rtl::layout(ui, job(theme::of(ui), shown, view, row), Order::Line)
}

fn job(t: &ThemeTokens, shown: &Shown, view: &TextView, row: &TextRow) -> LayoutJob {
    let plain = TextFormat::simple(theme::code(), t.text);
    let mut job = LayoutJob {
        break_on_newline: false,
        ..LayoutJob::default()
    };
    job.wrap.max_width = f32::INFINITY;
    let text = &shown.text;
    if !shown.names.is_empty() {
        let mut end = 0;
        for (name, _) in &shown.names {
            job.append(&text[end..name.start], 0.0, plain.clone());
            job.append(
                &text[name.clone()],
                0.0,
                TextFormat::simple(theme::mono(10.0), t.warn),
            );
            end = name.end;
        }
        job.append(&text[end..], 0.0, plain.clone());
        return job;
    }
    match view.syntax {
        Syntax::Plain => job.append(text, 0.0, plain.clone()),
        Syntax::Markdown => markdown(&mut job, t, text, row.number.is_some()),
        Syntax::Json => json_row(&mut job, t, &view.text, &row.range, row.is_in_string),
    }
    job
}

fn markdown(job: &mut LayoutJob, t: &ThemeTokens, text: &str, is_line_start: bool) {
    let plain = TextFormat::simple(theme::code(), t.text);
    let weak = |color: Color32| TextFormat::simple(theme::code(), color);
    let bold = TextFormat::simple(theme::mono_semibold(12.0), t.strong);
    if is_line_start && text.starts_with('#') {
        let hashes = text.len() - text.trim_start_matches('#').len();
        job.append(&text[..hashes], 0.0, weak(t.weak));
        job.append(&text[hashes..], 0.0, bold);
    } else if is_line_start && text.starts_with('|') {
        for part in text.split_inclusive('|') {
            let cell = part.strip_suffix('|').unwrap_or(part);
            job.append(cell, 0.0, plain.clone());
            job.append(&part[cell.len()..], 0.0, weak(t.faint));
        }
    } else {
        for (position, part) in text.split("**").enumerate() {
            if position > 0 {
                job.append("**", 0.0, weak(t.weak));
            }
            // An odd part stands between two pairs; a pair that is never closed marks nothing.
            let is_closed = position % 2 == 1 && position < text.matches("**").count();
            job.append(part, 0.0, if is_closed { &bold } else { &plain }.clone());
        }
    }
}

/// So far beyond a row is looked for the end of a string, and what follows it.
const AHEAD: usize = 4_096;

/// What a stretch of JSON is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Key,
    String,
    Number,
    /// `true`, `false`, `null`.
    Word,
    Punctuation,
}

/// A row is coloured by itself: it knows whether it begins inside a string. What a string is, a key or a value, is told by
/// what follows it.
pub fn json_row(
    job: &mut LayoutJob,
    t: &ThemeTokens,
    text: &str,
    range: &Range<usize>,
    is_in_string: bool,
) {
    let end = text.floor_char_boundary((range.end + AHEAD).min(text.len()));
    let before = text[..range.start]
        .bytes()
        .rev()
        .take_while(|byte| *byte == b'\\')
        .count();
    let start = Start {
        is_in_string,
        is_escaped: before % 2 == 1,
    };
    for (part_range, part) in json(&text[range.start..end], start, range.len()) {
        let piece = range.start + part_range.start..(range.start + part_range.end).min(range.end);
        let color = match part {
            Part::Key => t.text,
            Part::String => t.json_string,
            Part::Number => t.json_number,
            Part::Word => t.json_bool,
            Part::Punctuation => t.weak,
        };
        job.append(&text[piece], 0.0, TextFormat::simple(theme::code(), color));
    }
}

/// How a stretch of JSON begins.
#[derive(Clone, Copy, Debug, Default)]
struct Start {
    is_in_string: bool,
    /// Whether its first character stands after a backslash in that string.
    is_escaped: bool,
}

/// Cuts JSON, or a stretch of it, into its parts up to the one that reaches `until`, without a gap. What is no JSON is
/// taken for punctuation.
fn json(text: &str, begins: Start, until: usize) -> Vec<(Range<usize>, Part)> {
    let is_in_string = begins.is_in_string;
    let bytes = text.as_bytes();
    let mut parts: Vec<(Range<usize>, Part)> = Vec::new();
    let mut at = 0;
    while at < bytes.len().min(until) {
        let start = at;
        let part = if bytes[at] == b'"' || (at == 0 && is_in_string) {
            let skipped = if at > 0 || !is_in_string {
                1
            } else {
                usize::from(begins.is_escaped)
            };
            at = string_end(bytes, at + skipped);
            let next = bytes[at..].iter().find(|byte| !byte.is_ascii_whitespace());
            if next == Some(&b':') {
                Part::Key
            } else {
                Part::String
            }
        } else if bytes[at] == b'-' || bytes[at].is_ascii_digit() {
            at += run(&bytes[at..], |byte| {
                matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E') || byte.is_ascii_digit()
            });
            Part::Number
        } else if bytes[at].is_ascii_alphabetic() {
            at += run(&bytes[at..], |byte| byte.is_ascii_alphabetic());
            Part::Word
        } else {
            at += run(&bytes[at..], |byte| {
                !matches!(byte, b'"' | b'-') && !byte.is_ascii_alphanumeric()
            });
            Part::Punctuation
        };
        parts.push((start..at, part));
    }
    parts
}

/// Length of the run of bytes at the start that `is` holds for; at least one.
fn run(bytes: &[u8], is: impl Fn(u8) -> bool) -> usize {
    bytes
        .iter()
        .position(|&byte| !is(byte))
        .unwrap_or(bytes.len())
        .max(1)
}

/// After the quote that ends a string, or the end of the text.
fn string_end(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use loupe_analysis::queries::{Ctx, TextQuery, TextRowsQuery};
    use loupe_core::cancel::Cancel;
    use loupe_core::format::ParsedCapture;
    use loupe_core::host::Hosts;

    fn parts(text: &str, is_in_string: bool) -> Vec<(&str, Part)> {
        let start = Start {
            is_in_string,
            is_escaped: false,
        };
        json(text, start, text.len())
            .into_iter()
            .map(|(range, part)| (&text[range], part))
            .collect()
    }

    #[test]
    fn json_is_cut_into_its_parts() {
        use Part::{Key, Number, Punctuation, String, Word};
        assert_eq!(
            parts(r#"{"a\"é": [-1.5e3, "x", null]"#, false),
            [
                ("{", Punctuation),
                (r#""a\"é""#, Key),
                (": [", Punctuation),
                ("-1.5e3", Number),
                (", ", Punctuation),
                (r#""x""#, String),
                (", ", Punctuation),
                ("null", Word),
                ("]", Punctuation)
            ]
        );
        assert_eq!(
            parts(r#"ab","c"#, true),
            [(r#"ab""#, String), (",", Punctuation), (r#""c"#, String)]
        );
        assert_eq!(parts("\"\\", false), [("\"\\", String)]);
        assert_eq!(
            parts(r#"":1"#, true),
            [(r#"""#, Key), (":", Punctuation), ("1", Number)]
        );
    }

    #[test]
    fn a_row_needs_nothing_of_what_stands_before_it() {
        let start = |is_escaped| Start {
            is_in_string: true,
            is_escaped,
        };
        // An escaped quote at the beginning ends no string.
        assert_eq!(json(r#"" b":1"#, start(true), 3), [(0..4, Part::Key)]);
        assert_eq!(json(r#"":1"#, start(false), 3).len(), 3);
        assert_eq!(
            json(r#"12,"a""#, Start::default(), 2),
            [(0..2, Part::Number)]
        );
    }

    /// However a text is cut into rows, each character has the colour that it has in the whole.
    #[test]
    fn a_long_line_has_its_colours_everywhere() {
        let record = |at: usize| {
            format!(
                r#"{{"id":{at},"no\\te \"é\"":"a \"b\", {}:{at}","on":true}}"#,
                "x".repeat(at % 90)
            )
        };
        let data = format!("[{}]", (0..200).map(record).collect::<Vec<_>>().join(","));
        let subjects = [Arc::new(ParsedCapture::from_result(&format!(
            r#"{{"structuredContent":{{"items":{data}}}}}"#
        )))];
        let (hosts, cancel) = (Hosts::built_in(), Cancel::new());
        let cx = Ctx::new(&subjects, &hosts, &cancel);
        let view = cx.get(&TextQuery("json")).unwrap().unwrap();
        let colours = |job: &LayoutJob| -> Vec<Color32> {
            let of = |section: &egui::text::LayoutSection| {
                vec![section.format.color; section.byte_range.end.0 - section.byte_range.start.0]
            };
            job.sections.iter().flat_map(of).collect()
        };
        let t = theme::ThemeTokens::for_theme(egui::Theme::Dark, false);
        let mut whole = LayoutJob::default();
        json_row(&mut whole, t, &view.text, &(0..view.text.len()), false);
        let whole = colours(&whole);
        assert!(view.text.len() > 4 * 2_048 && !view.text.contains('\n'));
        for columns in [0, 16, 37, 61, 80, 200] {
            let rows = cx
                .get(&TextRowsQuery {
                    format: "json",
                    columns,
                })
                .unwrap()
                .unwrap();
            for row in rows.iter() {
                let text = &view.text[row.range.clone()];
                let told = colours(&job(t, &Shown::of(text), &view, row));
                assert!(
                    told == whole[row.range.clone()],
                    "{columns} columns, at {}: {text}",
                    row.range.start
                );
            }
        }
    }

    #[test]
    fn every_byte_of_anything_is_in_one_part() {
        for text in ["", "plain words", "é—", "{]}\u{0}", "\"ünd", "-", "12e"] {
            let joined: String = parts(text, false).iter().map(|(part, _)| *part).collect();
            assert_eq!(joined, text);
        }
    }
}
