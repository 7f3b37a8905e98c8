//! The two texts by line, under each other or side by side, with the words that changed within a line.

use std::ops::Range;
use std::sync::Arc;

use egui::mutex::Mutex;
use egui::{Align, Color32, Id, Layout, Rect, Role, ScrollArea, Sense, Ui, pos2, vec2};

use super::texts::{formats_ui, hue_of};
use super::{Stops, act, inside};
use crate::state::diff::DiffAction;
use crate::ui::rtl::{self, Order};
use crate::ui::theme::{self, TEXT_ROW};
use crate::ui::widgets;
use crate::ui::{Cx, icons};
use loupe_analysis::queries::DiffView;
use loupe_analysis::queries::difference::TextDifference;
use loupe_analysis::queries::invisible_chars::Shown;
use loupe_core::diff::lines::{DiffLine, Side};

/// Bytes of a line that are laid out; more of it does not fit any screen.
const MAX_LINE: usize = 2_000;
const MARK: f32 = 22.0;

/// One row on the screen.
#[derive(Clone, Copy)]
enum Shows {
    /// Lines that are the same and not shown.
    Gap(usize),
    /// Hunk and line; in one column the second is never there.
    Lines(Option<(usize, usize)>, Option<(usize, usize)>),
}

/// What is kept between frames.
struct Flat {
    view: Arc<DiffView>,
    is_split: bool,
    shows: Vec<Shows>,
    /// Rows where something that changed begins.
    blocks: Vec<usize>,
    gone_to: Option<usize>,
    widest: f32,
}

/// How many stretches of changed lines there are.
pub fn blocks(view: &DiffView) -> usize {
    let Ok(text) = &view.text else { return 0 };
    let starts = |lines: &[DiffLine]| {
        (0..lines.len())
            .filter(|&at| {
                lines[at].side != Side::Both && (at == 0 || lines[at - 1].side == Side::Both)
            })
            .count()
    };
    text.found
        .hunks
        .iter()
        .map(|hunk| starts(&hunk.lines))
        .sum()
}

impl Flat {
    fn new(view: &Arc<DiffView>, is_split: bool) -> Self {
        let mut flat = Self {
            view: Arc::clone(view),
            is_split,
            shows: Vec::new(),
            blocks: Vec::new(),
            gone_to: None,
            widest: 0.0,
        };
        let Ok(text) = &view.text else { return flat };
        let mut next = 1;
        for (number, hunk) in text.found.hunks.iter().enumerate() {
            if hunk.a.start > next {
                flat.shows.push(Shows::Gap(hunk.a.start - next));
            }
            next = hunk.a.end;
            let lines = &hunk.lines;
            let mut at = 0;
            while at < lines.len() {
                if lines[at].side == Side::Both {
                    flat.shows.push(Shows::Lines(
                        Some((number, at)),
                        Some((number, at)).filter(|_| is_split),
                    ));
                    at += 1;
                    continue;
                }
                flat.blocks.push(flat.shows.len());
                let end = at
                    + lines[at..]
                        .iter()
                        .take_while(|line| line.side != Side::Both)
                        .count();
                if is_split {
                    let of = |side| {
                        (at..end)
                            .filter(move |&line| lines[line].side == side)
                            .map(move |line| (number, line))
                    };
                    let (mut old, mut new) = (of(Side::A), of(Side::B));
                    loop {
                        let pair = (old.next(), new.next());
                        if pair == (None, None) {
                            break;
                        }
                        flat.shows.push(Shows::Lines(pair.0, pair.1));
                    }
                } else {
                    flat.shows
                        .extend((at..end).map(|line| Shows::Lines(Some((number, line)), None)));
                }
                at = end;
            }
        }
        flat
    }
}

pub fn text_ui(ui: &mut Ui, cx: &Cx<'_>, rect: Rect, view: &Arc<DiffView>) {
    let t = theme::of(ui);
    ui.painter().rect_filled(rect, 0.0, t.panel);
    let header = Rect::from_min_size(rect.min, vec2(rect.width(), theme::HEADER));
    widgets::line_below(ui, header);
    inside(
        ui,
        header.shrink2(vec2(12.0, 0.0)),
        "text head",
        Layout::right_to_left(Align::Center),
        |ui| {
            let is_split = cx.state.diff.is_split;
            if let Some(chosen) =
                widgets::segmented(ui, "Lines", &["Unified", "Split"], usize::from(is_split))
            {
                act(cx, DiffAction::Split(chosen == 1));
            }
            let left = Rect::from_min_max(
                pos2(header.left() + 12.0, header.top()),
                pos2(ui.cursor().right() - 8.0, header.bottom()),
            );
            inside(
                ui,
                left,
                "text title",
                Layout::left_to_right(Align::Center),
                |ui| {
                    ui.spacing_mut().item_spacing.x = 6.0;
                    widgets::swatch(ui, t.hue(hue_of(cx.state.diff.ask.texts.1)).color);
                    widgets::words(ui, "Text", theme::title(), t.strong);
                    if let Ok(text) = &view.text {
                        let count =
                            |sign: &str, count| format!("{sign}{}", widgets::grouped(count));
                        widgets::words(ui, count("+", text.found.added), theme::medium(12.0), t.ok);
                        widgets::words(
                            ui,
                            count("−", text.found.removed),
                            theme::medium(12.0),
                            t.bad,
                        );
                        widgets::note(ui, "lines");
                    }
                    let room = left.right() - ui.cursor().left();
                    formats_ui(ui, cx, room);
                    if view.is_laid_out && room > 420.0 {
                        widgets::note(ui, "JSON, keys sorted")
                    .on_hover_text("Laid out by Loupe so that lines can be compared; the order of keys does not count");
                    }
                },
            );
        },
    );
    let footer = Rect::from_min_max(pos2(rect.left(), rect.bottom() - theme::FOOTER), rect.max);
    widgets::hline(ui, footer.x_range(), footer.top() - 0.5);
    footer_ui(ui, footer, view);
    let body = Rect::from_min_max(
        pos2(rect.left(), header.bottom()),
        pos2(rect.right(), footer.top() - 1.0),
    );
    inside(
        ui,
        body,
        "text body",
        Layout::top_down(Align::Min),
        |ui| match &view.text {
            Ok(text) if text.found.is_empty() => {
                widgets::empty_ui(ui, "The texts are the same.", None);
            }
            Ok(text) => body_ui(ui, cx, view, text),
            Err(problem) => {
                let words = format!(
                    "No text to compare: {}. Choose another format above.",
                    problem.what
                );
                widgets::empty_ui(ui, &words, None);
            }
        },
    );
}

fn footer_ui(ui: &Ui, rect: Rect, view: &DiffView) {
    let t = theme::of(ui);
    let line = widgets::RowLine::new(ui, rect);
    let lost = view.facts_lost();
    let (glyph, color, words) = if view.found.data.is_none() || view.text.is_err() {
        (
            icons::INFO,
            t.weak,
            "Facts are compared only where both answers have data and text".to_owned(),
        )
    } else if lost == 0 {
        (
            icons::INFO,
            t.weak,
            "Each fact of A's data that is in A's text is in B's text".to_owned(),
        )
    } else {
        let names: Vec<&str> = view
            .lost
            .iter()
            .take(6)
            .map(|field| field.name.as_str())
            .collect();
        let more = if view.lost.len() > 6 { ", …" } else { "" };
        let facts = widgets::number_text(lost, "facts");
        (
            icons::WARNING,
            t.warn,
            format!(
                "This change removed {facts} from the text: {}{more}",
                names.join(", ")
            ),
        )
    };
    let response = widgets::sense(ui, rect, "facts lost", Sense::hover());
    widgets::say(&response, Role::Label, &words);
    line.icon(rect.left() + 19.0, glyph, 13.0, color);
    line.text(
        rect.left() + 32.0,
        rect.right() - 12.0,
        words.clone(),
        theme::regular(11.5),
        color,
    );
    response.on_hover_text(words);
}

fn body_ui(ui: &mut Ui, cx: &Cx<'_>, view: &Arc<DiffView>, text: &TextDifference) {
    let id = Id::unique("diff text");
    let is_split = cx.state.diff.is_split;
    let known: Option<Arc<Mutex<Flat>>> = widgets::recall(ui, id);
    let is_same = |known: &Arc<Mutex<Flat>>| {
        let flat = known.lock();
        Arc::ptr_eq(&flat.view, view) && flat.is_split == is_split
    };
    let shared = known.filter(is_same).unwrap_or_else(|| {
        let shared = Arc::new(Mutex::new(Flat::new(view, is_split)));
        widgets::remember(ui, id, Arc::clone(&shared));
        shared
    });
    let mut flat = shared.lock();
    let data = Stops::new(view).data;
    let current = cx
        .state
        .diff
        .current
        .and_then(|at| at.checked_sub(data))
        .and_then(|at| flat.blocks.get(at).copied());
    let mut area = if is_split {
        ScrollArea::vertical()
    } else {
        ScrollArea::both()
    }
    .id_salt("diff text")
    .auto_shrink(false);
    if flat.gone_to != current {
        flat.gone_to = current;
        if let Some(row) = current {
            area = area.vertical_scroll_offset(
                (row as f32 * TEXT_ROW - ui.available_height() * 0.3).max(0.0),
            );
        }
    }
    let digits = text
        .a
        .lines()
        .count()
        .max(text.b.lines().count())
        .max(10)
        .ilog10() as f32
        + 1.0;
    let column = (digits * 7.0 + 12.0).round();
    let count = flat.shows.len();
    area.show_viewport(ui, |ui, viewport| {
        let origin = ui.min_rect().min;
        let size = vec2(
            flat.widest.max(viewport.width()),
            count as f32 * TEXT_ROW + 12.0,
        );
        ui.allocate_rect(Rect::from_min_size(origin, size), Sense::hover());
        let left = origin.x + viewport.min.x;
        for (at, y) in widgets::rows_in_sight(origin, viewport, 6.0, TEXT_ROW, count) {
            let rect = Rect::from_min_size(pos2(left, y), vec2(viewport.width(), TEXT_ROW));
            let place = Place {
                rect,
                text_left: origin.x,
                column,
            };
            match flat.shows[at] {
                Shows::Gap(lines) => gap_ui(ui, rect, lines),
                Shows::Lines(one, other) if is_split => {
                    let middle = rect.center().x.round();
                    let halves = [
                        (one, rect.with_max_x(middle), Side::A),
                        (other, rect.with_min_x(middle), Side::B),
                    ];
                    for (line, half, side) in halves {
                        let place = Place {
                            rect: half,
                            text_left: half.left(),
                            column,
                        };
                        match line.and_then(|line| line_of(text, line)) {
                            Some(line) => {
                                line_ui(ui, text, line, &place, Some(side));
                            }
                            None => {
                                ui.painter().rect_filled(half, 0.0, theme::of(ui).hover);
                            }
                        }
                    }
                    widgets::vline(ui, middle - 0.5, rect.y_range());
                }
                Shows::Lines(one, _) => {
                    if let Some(line) = one.and_then(|line| line_of(text, line)) {
                        let width = line_ui(ui, text, line, &place, None);
                        flat.widest = flat.widest.max(width);
                    }
                }
            }
            if current == Some(at) {
                ui.painter().rect_filled(
                    Rect::from_min_size(rect.min, vec2(3.0, TEXT_ROW)),
                    0.0,
                    theme::of(ui).accent,
                );
            }
        }
    });
}

fn line_of(text: &TextDifference, (hunk, line): (usize, usize)) -> Option<&DiffLine> {
    text.found.hunks.get(hunk)?.lines.get(line)
}

fn gap_ui(ui: &Ui, rect: Rect, lines: usize) {
    let t = theme::of(ui);
    ui.painter().rect_filled(rect, 0.0, t.card);
    let words = format!(
        "⋯ {}",
        widgets::number_text(lines as u64, "unchanged lines")
    );
    widgets::text_at(
        ui,
        rect.left_center() + vec2(16.0, 0.0),
        words,
        theme::regular(11.5),
        t.weak,
        rect.width(),
    );
}

/// Where a line is painted.
struct Place {
    /// What is visible of the row.
    rect: Rect,
    /// Where the row begins, which may be scrolled away.
    text_left: f32,
    column: f32,
}

/// Paints a line and returns how wide it is. `half` is its side where there are two columns.
fn line_ui(
    ui: &Ui,
    text: &TextDifference,
    line: &DiffLine,
    place: &Place,
    half: Option<Side>,
) -> f32 {
    let t = theme::of(ui);
    let (sign, color, fill, strong) = match line.side {
        Side::Both => ("", t.weak, Color32::TRANSPARENT, Color32::TRANSPARENT),
        Side::A => ("−", t.bad, t.bad_bg, t.bad_line),
        Side::B => ("+", t.ok, t.ok_bg, t.ok_line),
    };
    let source = if line.side == Side::B {
        &text.b
    } else {
        &text.a
    };
    let whole = source.get(line.range.clone()).unwrap_or_default();
    let mut end = whole.len().min(MAX_LINE);
    while !whole.is_char_boundary(end) {
        end -= 1;
    }
    let shown = Shown::of(&whole[..end]);
    let rect = place.rect;
    ui.painter().rect_filled(rect, 0.0, fill);
    let y = rect.center().y;
    let mut x = place.text_left;
    let numbers: &[Option<usize>] = match half {
        None => &[line.a, line.b],
        Some(Side::B) => &[line.b],
        Some(_) => &[line.a],
    };
    for number in numbers {
        x += place.column;
        if let Some(number) = number {
            widgets::text_right(
                ui,
                pos2(x, y),
                number.to_string(),
                theme::mono(11.5),
                if line.side == Side::Both {
                    t.weak
                } else {
                    color
                },
            );
        }
    }
    widgets::glyph_at(ui, pos2(x + MARK / 2.0, y), sign, theme::code(), color);
    x += MARK;
    let mut job = egui::text::LayoutJob {
        break_on_newline: false,
        ..Default::default()
    };
    job.wrap.max_width = f32::INFINITY;
    let plain = egui::TextFormat::simple(
        theme::code(),
        if line.side == Side::Both {
            t.weak
        } else {
            t.text
        },
    );
    let marked = egui::TextFormat {
        background: strong,
        color: t.strong,
        ..plain.clone()
    };
    let mut at = 0;
    for word in line.words.iter().map(|word| shown_range(&shown, word, end)) {
        if word.start < at || word.end <= word.start {
            continue;
        }
        job.append(
            shown.text.get(at..word.start).unwrap_or_default(),
            0.0,
            plain.clone(),
        );
        job.append(
            shown.text.get(word.clone()).unwrap_or_default(),
            0.0,
            marked.clone(),
        );
        at = word.end;
    }
    job.append(shown.text.get(at..).unwrap_or_default(), 0.0, plain.clone());
    if end < whole.len() {
        let more = widgets::bytes((whole.len() - end) as u64);
        job.append(
            &format!(" … {more} more"),
            0.0,
            egui::TextFormat::simple(theme::code(), t.warn),
        );
    }
    let galley = rtl::layout(ui, job, Order::Line);
    let width = x - place.text_left + galley.size().x + 16.0;
    let clip = if half.is_some() {
        rect.with_max_x(rect.right() - 4.0)
    } else {
        rect
    };
    ui.painter()
        .with_clip_rect(clip.intersect(ui.clip_rect()))
        .galley(pos2(x, (y - galley.size().y / 2.0).round()), galley, t.text);
    let word = match line.side {
        Side::Both => "line",
        Side::A => "removed line",
        Side::B => "added line",
    };
    let number = if line.side == Side::B { line.b } else { line.a }.unwrap_or(0);
    let response = widgets::sense(
        ui,
        rect,
        (
            "line",
            line.side.name(),
            number,
            half.is_some_and(|half| half == Side::B),
        ),
        Sense::hover(),
    );
    widgets::say(
        &response,
        Role::Label,
        format!("{word} {number}: {}", shown.text),
    );
    width
}

fn shown_range(shown: &Shown, word: &Range<usize>, end: usize) -> Range<usize> {
    shown.to_shown(word.start.min(end))..shown.to_shown(word.end.min(end))
}
