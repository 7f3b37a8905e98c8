//! Text with words from right to left, in the order in which it is read. egui shapes each word; here the words of every
//! line are put in their places, and characters are found there.

use std::ops::Range;
use std::sync::Arc;

use egui::epaint::text::{Glyph, PlacedRow, Row};
use egui::text::{ByteIndex, CharIndex, Galley, LayoutJob, LayoutSection, TextFormat};
use egui::{Color32, Mesh, Rect, Stroke, Ui, Vec2, pos2, vec2};
use unicode_bidi::{BidiClass, BidiInfo, Level, bidi_class};
use unicode_segmentation::UnicodeSegmentation;

use super::coverage;

/// Which way a text is read as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// From left to right, and so are the cells of a table's row and the strings of JSON in it.
    Line,
    /// The same, and each section by itself.
    Parts,
    /// As its first letter is.
    Prose,
}

/// Whether a character is from a script that is written from right to left.
fn is_rtl(char: char) -> bool {
    matches!(u32::from(char), 0x590..=0x8ff | 0xfb1d..=0xfdff | 0xfe70..=0xfefe | 0x1_0800..=0x1_0fff | 0x1_e800..=0x1_efff)
}

pub fn has_rtl(text: &str) -> bool {
    !text.is_ascii() && text.chars().any(is_rtl)
}

/// Lays a text out; each line of it has its words in the order of reading.
pub fn layout(ui: &Ui, mut job: LayoutJob, order: Order) -> Arc<Galley> {
    coverage::set_apart(ui, &mut job);
    if !has_rtl(&job.text) {
        return ui.painter().layout_job(job);
    }
    let pieces = cut(&mut job, order);
    let mut galley = Arc::unwrap_or_clone(ui.painter().layout_job(job));
    let text = galley.job.text.clone();
    arrange(&mut galley, &text, &pieces);
    Arc::new(galley)
}

/// A stretch that is moved as a whole.
#[derive(Debug)]
struct Piece {
    range: Range<usize>,
    level: Level,
    /// Letters from right to left: the shaper turns them around.
    is_word: bool,
    /// The ground and lines of its format.
    look: TextFormat,
}

/// Makes a section of every piece: one is shaped as one run. What is painted around letters is taken out of their formats.
fn cut(job: &mut LayoutJob, order: Order) -> Vec<Piece> {
    let levels = levels(job, order);
    let mut pieces: Vec<Piece> = Vec::new();
    let mut sections: Vec<LayoutSection> = Vec::new();
    let mut mirrored = String::with_capacity(job.text.len());
    for section in &job.sections {
        let range = section.byte_range.start.0..section.byte_range.end.0;
        let mut can_grow = false;
        for (nth, (at, grapheme)) in job.text[range.clone()].grapheme_indices(true).enumerate() {
            let at = range.start + at;
            let level = levels[at];
            let first = grapheme.chars().next().unwrap_or_default();
            let is_word =
                level.is_rtl() && matches!(bidi_class(first), BidiClass::R | BidiClass::AL);
            // Signs between words change places one by one, and the shaper must not turn digits around.
            let is_alone = !is_word && (level.is_rtl() || is_rtl(first));
            if level.is_rtl() {
                mirrored.extend(grapheme.chars().map(mirror));
            } else {
                mirrored.push_str(grapheme);
            }
            let end = at + grapheme.len();
            match (pieces.last_mut(), sections.last_mut()) {
                (Some(piece), Some(last))
                    if can_grow
                        && !is_alone
                        && (piece.is_word, piece.level) == (is_word, level) =>
                {
                    piece.range.end = end;
                    last.byte_range.end = ByteIndex(end);
                }
                _ => {
                    pieces.push(Piece {
                        range: at..end,
                        level,
                        is_word,
                        look: section.format.clone(),
                    });
                    sections.push(LayoutSection {
                        leading_space: if nth == 0 { section.leading_space } else { 0.0 },
                        byte_range: ByteIndex(at)..ByteIndex(end),
                        format: TextFormat {
                            background: Color32::TRANSPARENT,
                            underline: Stroke::NONE,
                            strikethrough: Stroke::NONE,
                            ..section.format.clone()
                        },
                    });
                }
            }
            can_grow = !is_alone;
        }
    }
    job.text = mirrored;
    job.sections = sections;
    pieces
}

/// The level of each byte: odd ones are read from right to left.
fn levels(job: &LayoutJob, order: Order) -> Vec<Level> {
    let mut levels = Vec::with_capacity(job.text.len());
    let mut add = |text: &str, base: Option<Level>| {
        levels.extend(BidiInfo::new(text, base).levels);
    };
    let mut add_line = |text: &str| {
        let bytes = text.as_bytes();
        let mut start = 0;
        for at in 0..bytes.len() {
            let is_string_end = bytes[at] == b'"' && matches!(bytes.get(at + 1), Some(b',' | b':'));
            if is_string_end || bytes[at] == b'|' {
                add(&text[start..=at], Some(Level::ltr()));
                start = at + 1;
            }
        }
        add(&text[start..], Some(Level::ltr()));
    };
    match order {
        Order::Line => add_line(&job.text),
        Order::Parts => {
            for section in &job.sections {
                add_line(&job.text[section.byte_range.start.0..section.byte_range.end.0]);
            }
        }
        Order::Prose => add(&job.text, None),
    }
    levels
}

/// The other one of a pair of brackets, which opens to the other side among words from right to left.
fn mirror(char: char) -> char {
    match char {
        '(' => ')',
        ')' => '(',
        '[' => ']',
        ']' => '[',
        '{' => '}',
        '}' => '{',
        '<' => '>',
        '>' => '<',
        '«' => '»',
        '»' => '«',
        _ => char,
    }
}

/// What of a piece is in one row.
struct Unit<'a> {
    piece: &'a Piece,
    glyphs: Range<usize>,
    /// Its characters, where all of the piece is here.
    text: Option<&'a str>,
}

fn arrange(galley: &mut Galley, text: &str, pieces: &[Piece]) {
    let firsts: Vec<Option<Glyph>> = galley
        .rows
        .iter()
        .skip(1)
        .map(|row| row.glyphs.first().copied())
        .collect();
    let mut rest = pieces.iter().peekable();
    let mut piece = rest.next();
    // How many characters of the piece are in rows above or before.
    let mut taken = 0;
    for (at, placed) in galley.rows.iter_mut().enumerate() {
        let row = Arc::make_mut(&mut placed.row);
        let mut units = Vec::new();
        let mut start = 0;
        while let Some(now) = piece {
            let of_piece = &text[now.range.clone()];
            let count = of_piece.chars().count();
            let left = &row.glyphs[start..];
            let mut here = left.len().min(count - taken);
            let mut is_whole = here == count - taken;
            if now.is_word {
                // Its glyphs are turned around, and after them come letters without ink, as many as egui missed in the
                // other direction: the word ends where something else begins.
                let is_of_it = |glyph: &Glyph| of_piece.contains(glyph.chr);
                here = left.iter().take_while(|glyph| is_of_it(glyph)).count();
                if rest.peek().is_some_and(|next| next.is_word) {
                    let inked = left[..here]
                        .iter()
                        .take_while(|glyph| has_ink(glyph))
                        .count();
                    let bare = left[inked..here].iter().take_while(|glyph| !has_ink(glyph));
                    here = inked + bare.count();
                }
                let goes_on = start + here == row.glyphs.len()
                    && !placed.ends_with_newline
                    && firsts
                        .get(at)
                        .is_some_and(|first| first.is_some_and(|first| is_of_it(&first)));
                is_whole = !goes_on;
            }
            if here > 0 {
                units.push(Unit {
                    piece: now,
                    glyphs: start..start + here,
                    text: Some(of_piece).filter(|_| taken == 0 && is_whole),
                });
            }
            start += here;
            taken += here;
            if !is_whole {
                break;
            }
            (piece, taken) = (rest.next(), 0);
        }
        // The line feed has no glyph.
        if placed.ends_with_newline {
            taken += 1;
            if piece.is_some_and(|now| text[now.range.clone()].chars().count() == taken) {
                (piece, taken) = (rest.next(), 0);
            }
        }
        // What stands for the end of a text that is cut off.
        if let Some(last) = units.last_mut().filter(|_| start < row.glyphs.len()) {
            last.glyphs.end = row.glyphs.len();
        }
        reorder(row, &units, galley.pixels_per_point);
    }
    galley.num_vertices = galley
        .rows
        .iter()
        .map(|row| row.visuals.mesh.vertices.len())
        .sum();
    galley.num_indices = galley
        .rows
        .iter()
        .map(|row| row.visuals.mesh.indices.len())
        .sum();
    galley.mesh_bounds = galley
        .rows
        .iter()
        .map(|row| row.visuals.mesh_bounds.translate(row.pos.to_vec2()))
        .fold(Rect::NOTHING, Rect::union);
}

/// Moves the units of a row to their places, and puts the glyphs in the order of the text, one for each character.
fn reorder(row: &mut Row, units: &[Unit<'_>], pixels_per_point: f32) {
    let width = (row.size.x * pixels_per_point).round() / pixels_per_point;
    let starts: Vec<f32> = units
        .iter()
        .map(|unit| left_edge(&row.glyphs[unit.glyphs.clone()]))
        .collect();
    let levels: Vec<Level> = units.iter().map(|unit| unit.piece.level).collect();
    // Blanks at the end of a line stay there.
    let is_blank = |unit: &Unit<'_>| {
        let glyphs = &row.glyphs[unit.glyphs.clone()];
        glyphs.iter().all(|glyph| glyph.chr.is_whitespace())
    };
    let end = units
        .iter()
        .rposition(|unit| !is_blank(unit))
        .map_or(0, |last| last + 1);
    let mut visual = BidiInfo::reorder_visual(&levels[..end]);
    visual.extend(end..units.len());
    let (mut below, mut above) = (Mesh::default(), Mesh::default());
    let mut x = starts.first().copied().unwrap_or_default();
    for at in visual {
        let end = starts.get(at + 1).copied().unwrap_or(width);
        let glyphs = &mut row.glyphs[units[at].glyphs.clone()];
        for glyph in &mut *glyphs {
            glyph.pos.x += x - starts[at];
            if !glyph.uv_rect.is_nothing() {
                let first = glyph.first_vertex as usize;
                for vertex in &mut row.visuals.mesh.vertices[first..first + 4] {
                    vertex.pos.x += x - starts[at];
                }
            }
        }
        let next = x + end - starts[at];
        if let Some(glyph) = glyphs.first() {
            let rect = glyph.logical_rect();
            let place = Rect::from_x_y_ranges(x..=next, rect.y_range());
            let look = &units[at].piece.look;
            if look.background != Color32::TRANSPARENT {
                below.add_colored_rect(place.expand2(vec2(0.0, look.expand_bg)), look.background);
            }
            for (line, y) in [
                (look.underline, rect.bottom()),
                (look.strikethrough, rect.center().y),
            ] {
                if line != Stroke::NONE {
                    let y = (y - line.width / 2.0).round();
                    let place = Rect::from_min_max(pos2(x, y), pos2(next, y + line.width));
                    above.add_colored_rect(place, line.color);
                }
            }
        }
        x = next;
    }
    let vertices = below.vertices.len();
    row.visuals.glyph_index_start = below.indices.len();
    row.visuals.glyph_vertex_range = vertices..vertices + row.visuals.mesh.vertices.len();
    below.append_ref(&row.visuals.mesh);
    below.append_ref(&above);
    row.visuals.mesh_bounds = below.calc_bounds();
    row.visuals.mesh = below;
    for glyph in &mut row.glyphs {
        glyph.first_vertex += vertices as u32;
    }
    row.glyphs = units
        .iter()
        .flat_map(|unit| {
            let glyphs = &row.glyphs[unit.glyphs.clone()];
            if unit.piece.is_word {
                letters(glyphs, unit.text)
            } else {
                glyphs.to_vec()
            }
        })
        .collect();
}

fn has_ink(glyph: &Glyph) -> bool {
    glyph.advance_width > 0.0 || !glyph.uv_rect.is_nothing()
}

/// Where the first glyph with room of its own begins.
fn left_edge(glyphs: &[Glyph]) -> f32 {
    let wide = glyphs.iter().find(|glyph| glyph.advance_width > 0.0);
    wide.or(glyphs.first()).map_or(0.0, |glyph| glyph.pos.x)
}

/// The letters of a word whose glyphs are turned around: each has the place of its glyph, and what is joined to the letter
/// before it has no room of its own.
fn letters(glyphs: &[Glyph], text: Option<&str>) -> Vec<Glyph> {
    let Some(text) = text else {
        return glyphs
            .iter()
            .rev()
            .filter(|glyph| has_ink(glyph))
            .copied()
            .collect();
    };
    let mut wide = glyphs
        .iter()
        .rev()
        .filter(|glyph| glyph.advance_width > 0.0)
        .peekable();
    let mut last = glyphs.last().copied();
    let mut letters = Vec::with_capacity(glyphs.len());
    for (at, char) in text.char_indices() {
        while wide
            .next_if(|glyph| !text[at..].contains(glyph.chr))
            .is_some()
        {}
        let own = wide.next_if(|glyph| glyph.chr == char).copied();
        let Some(mut letter) = own.or(last) else {
            break;
        };
        letter.chr = char;
        if own.is_none() {
            letter.advance_width = 0.0;
        }
        last = Some(letter);
        letters.push(letter);
    }
    letters
}

/// The rows of a galley, each with the place of its first character in the text.
fn rows(galley: &Galley) -> impl Iterator<Item = (usize, &PlacedRow)> {
    galley.rows.iter().scan(0, |chars, row| {
        let first = *chars;
        *chars += row.char_count_including_newline().0;
        Some((first, row))
    })
}

/// Where characters are: a place for each stretch that is together, whole letters with what belongs to them. A place
/// between two characters has no width.
pub fn places(galley: &Galley, chars: &Range<usize>) -> Vec<Rect> {
    let mut places: Vec<Rect> = Vec::new();
    for (first, row) in rows(galley) {
        let y = row.rect().y_range();
        let all = first..first + row.glyphs.len();
        if chars.is_empty() && (all.start..=all.end).contains(&chars.start) {
            let x = row.pos.x + row.x_offset(CharIndex(chars.start - first));
            return vec![Rect::from_x_y_ranges(x..=x, y)];
        }
        let (mut start, mut end) = (chars.start.max(all.start), chars.end.min(all.end));
        if start >= end {
            continue;
        }
        let has_room = |at: &usize| row.glyphs[at - first].advance_width > 0.0;
        while start > all.start && !has_room(&start) {
            start -= 1;
        }
        while end < all.end && !has_room(&end) {
            end += 1;
        }
        let before = places.len();
        for at in (start..end).filter(has_room) {
            let glyph = &row.glyphs[at - first];
            // Glyphs are on whole pixels, and their widths are not: one goes up to the next.
            let next = (at + 1..all.end).find(has_room);
            let next = next.map_or(row.size.x, |at| row.glyphs[at - first].pos.x);
            let is_next = (next - glyph.max_x()).abs() < 1.0;
            let right = if is_next { next } else { glyph.max_x() };
            let place = Rect::from_x_y_ranges(row.pos.x + glyph.pos.x..=row.pos.x + right, y);
            match places[before..].last_mut() {
                Some(last) if last.expand(1.0).intersects(place) => *last = last.union(place),
                _ => places.push(place),
            }
        }
    }
    places
}

/// The character that is painted at a place of a galley, where there is one.
pub fn char_at(galley: &Galley, place: Vec2) -> Option<usize> {
    let (first, row) = rows(galley).find(|(_, row)| row.rect().y_range().contains(place.y))?;
    let x = place.x - row.pos.x;
    let before = row.glyphs.iter().enumerate();
    let before = before.filter(|(_, glyph)| glyph.advance_width > 0.0 && glyph.pos.x <= x);
    let (at, glyph) = before.max_by(|(_, a), (_, b)| a.pos.x.total_cmp(&b.pos.x))?;
    // Glyphs are on whole pixels, and their widths are not.
    (x < glyph.max_x() + 0.5).then_some(first + at)
}

/// Before which character of a line a place is.
pub fn cursor_at(galley: &Galley, place: Vec2) -> usize {
    let cursor = galley.cursor_from_pos(place).index.0;
    if !has_rtl(&galley.job.text) {
        return cursor;
    }
    let Some((first, row)) = rows(galley).find(|(_, row)| row.rect().y_range().contains(place.y))
    else {
        return cursor;
    };
    let x = place.x - row.pos.x;
    let Some(at) = char_at(galley, place) else {
        return if x <= 0.0 {
            first
        } else {
            first + row.glyphs.len()
        };
    };
    let (glyph, after) = (&row.glyphs[at - first], &row.glyphs[at - first + 1..]);
    // What comes after a letter from right to left is at its left.
    if (x > glyph.pos.x + glyph.advance_width / 2.0) == is_rtl(glyph.chr) {
        return at;
    }
    at + 1
        + after
            .iter()
            .take_while(|glyph| glyph.advance_width == 0.0)
            .count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::theme;

    const ARABIC: &str = "\u{645}\u{631}\u{62d}\u{628}\u{627}";
    const WORLD: &str = "\u{639}\u{627}\u{644}\u{645}";
    const HEBREW: &str = "\u{5e9}\u{5dc}\u{5d5}\u{5dd}";

    fn laid_out<T>(text: &str, width: f32, order: Order, check: impl Fn(&Galley) -> T) -> T {
        let ctx = egui::Context::default();
        theme::install_for_picture(&ctx);
        let mut checked = None;
        let mut output = ctx.run_ui(egui::RawInput::default(), |ui| {
            let format = TextFormat::simple(theme::code(), theme::of(ui).text);
            let mut job = LayoutJob::single_section(text.to_owned(), format);
            job.wrap.max_width = width;
            let galley = layout(ui, job, order);
            let count: usize = rows(&galley)
                .map(|(_, row)| row.char_count_including_newline().0)
                .sum();
            assert_eq!(count, text.chars().count(), "one glyph for each character");
            checked = Some(check(&galley));
        });
        output.textures_delta.clear();
        checked.unwrap()
    }

    /// The characters of each row from left to right.
    fn read_lines(text: &str, width: f32, order: Order) -> Vec<String> {
        laid_out(text, width, order, |galley| {
            let of_row = |(_, row): (usize, &PlacedRow)| {
                let mut glyphs: Vec<_> = row
                    .glyphs
                    .iter()
                    .filter(|glyph| glyph.advance_width > 0.0)
                    .collect();
                glyphs.sort_by(|a, b| a.pos.x.total_cmp(&b.pos.x));
                glyphs.iter().map(|glyph| glyph.chr).collect()
            };
            rows(galley).map(of_row).collect()
        })
    }

    fn reversed(text: &str) -> String {
        text.chars().rev().collect()
    }

    #[test]
    fn words_stand_from_right_to_left_and_numbers_as_they_are() {
        let text = format!("a {HEBREW} {WORLD}, 123 ({HEBREW}) {ARABIC} b 1 (2)");
        let expected = format!(
            "a {} ({}) 123 ,{} {} b 1 (2)",
            reversed(ARABIC),
            reversed(HEBREW),
            reversed(WORLD),
            reversed(HEBREW)
        );
        assert_eq!(read_lines(&text, f32::INFINITY, Order::Line), [expected]);
    }

    #[test]
    fn prose_begins_where_its_first_letter_does() {
        let text = format!("{HEBREW} (1) abc");
        let hebrew = reversed(HEBREW);
        for (order, expected) in [
            (Order::Prose, format!("abc (1) {hebrew}")),
            (Order::Line, format!("(1) {hebrew} abc")),
        ] {
            assert_eq!(read_lines(&text, f32::INFINITY, order), [expected]);
        }
    }

    #[test]
    fn cells_and_strings_keep_their_order() {
        for (between, around) in [(" | ", "| "), ("\", \"", "[\""), ("\": \"", "{\"")] {
            let text = format!("{around}{HEBREW}{between}{WORLD}{between}5-0");
            let expected = format!(
                "{around}{}{between}{}{between}5-0",
                reversed(HEBREW),
                reversed(WORLD)
            );
            assert_eq!(read_lines(&text, f32::INFINITY, Order::Line), [expected]);
        }
    }

    #[test]
    fn a_long_text_is_broken_in_the_order_of_reading() {
        let lines = read_lines(&format!("{HEBREW} {WORLD}"), 70.0, Order::Prose);
        assert_eq!(lines.len(), 2);
        assert!(lines[0].contains(&reversed(HEBREW)), "{lines:?}");
        assert!(lines[1].contains(&reversed(WORLD)), "{lines:?}");
        let lines = read_lines(&format!("{HEBREW}\n\n{WORLD}"), f32::INFINITY, Order::Prose);
        assert_eq!(lines, [reversed(HEBREW), String::new(), reversed(WORLD)]);
    }

    /// What a click finds is where the character is marked, and whole letters are marked.
    #[test]
    fn every_character_is_found_where_it_is_marked() {
        // A letter with a vowel sign, and two letters that are joined to one glyph.
        let text =
            format!("x {HEBREW} 12 \u{644}\u{627} \u{628}\u{64e}\u{628} e\u{301} \u{e01}\u{e34} y");
        laid_out(&text, f32::INFINITY, Order::Line, |galley| {
            for at in 0..text.chars().count() {
                let places = places(galley, &(at..at + 1));
                assert_eq!(places.len(), 1, "{at}");
                let middle = places[0].center().to_vec2();
                let found = char_at(galley, middle).unwrap();
                assert_eq!(super::places(galley, &(found..found + 1)), places, "{at}");
                let ends = [places[0].left() + 0.6, places[0].right() - 0.6]
                    .map(|x| cursor_at(galley, vec2(x, middle.y)));
                assert!(ends.contains(&found), "{at}: {ends:?}");
            }
            // A word is one place; with what is read before it, two.
            assert_eq!(places(galley, &(2..6)).len(), 1);
            assert_eq!(places(galley, &(0..4)).len(), 2);
        });
    }
}
