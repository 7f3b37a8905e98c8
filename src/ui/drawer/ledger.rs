//! The ledger proves the strip: what each format costs against what is sent, and what it keeps, one row each.

mod columns;

use egui::{
    Align, Color32, CursorIcon, Id, Key, Popup, Rect, Response, Role, Sense, Stroke, Ui,
    WidgetInfo, pos2, vec2,
};

use self::columns::{Columns, Widths};
use super::SIDE;
use crate::state::anthropic_count::Counted;
use crate::state::{PaneContent, PaneView, QueryState, SettingsAction, ViewAction};
use crate::ui::exact;
use crate::ui::theme::{self, LEDGER_ROW};
use crate::ui::widgets::{self, Button, Tone};
use crate::ui::{Cx, icons};
use loupe_analysis::queries::invisible_chars::Shown;
use loupe_analysis::queries::{
    self, ExtraTextList, ExtraTextQuery, NeededQuery, RowQuery, ratio_of,
};
use loupe_analysis::summary::{self, CountedRow, HostCost, ModelReads};
use loupe_core::capture::FactCount;
use loupe_core::format::FORMATS;
use loupe_core::format::claim::facts_cell;
use loupe_core::format::ledger::Row;
use loupe_core::format::{ERROR_RESULT, NO_DATA, format_title};
use loupe_core::number::relative_change;
use loupe_core::token::{Count, Tokenizer, format_count};

/// Height of the line above the derived formats.
const DERIVED: f32 = 8.0;
/// Height of the heads of the columns.
const HEAD: f32 = 22.0;
/// With more rows the drawer is as high as people made it.
const FEW_ROWS: usize = 6;
/// Height of what they all drop.
const DROPS: f32 = 24.0;
/// From a swatch to the name after it.
const AFTER_SWATCH: f32 = 16.0;
/// Size of the text of the marks after a format's name, and the room before each.
const MARK: f32 = 10.5;
const MARK_GAP: f32 = 8.0;
/// More stretches of extra text are not named there.
const PIECES: usize = 100;

/// What is known of one format.
enum Known<'a> {
    Row(&'a Row, Count),
    /// It does not apply, for this reason.
    Not(&'a Row),
    Working,
    Failed(String),
    /// Not counted before the user says so, for so many bytes.
    Held(usize),
}

struct Line<'a> {
    format: &'static str,
    known: Known<'a>,
}

/// What is known of every format now.
fn lines<'a>(cx: &Cx<'a>) -> Vec<Line<'a>> {
    FORMATS
        .iter()
        .map(|format| Line {
            format: format.id(),
            known: match cx.ask(RowQuery(format.id())) {
                QueryState::Ready(row) if !row.is_available() => Known::Not(row),
                QueryState::Ready(row) => match cx.count(row) {
                    Some(Ok(count)) => Known::Row(row, count),
                    Some(Err(problem)) => Known::Failed(problem.message()),
                    None => Known::Working,
                },
                QueryState::Failed(problem) => Known::Failed(problem.message()),
                QueryState::Working { .. } => Known::Working,
                QueryState::NeedsConfirmation { bytes } => Known::Held(bytes),
            },
        })
        .collect()
}

/// What the deltas are against: the format chosen, else what is sent, by a host where one is chosen.
#[derive(Clone, Copy)]
enum Baseline<'a> {
    Format(&'static str),
    Host(HostCost<'a>, Count),
}

impl<'a> Baseline<'a> {
    fn of(cx: &Cx<'a>, lines: &[Line<'_>]) -> Self {
        let sent = sent_format(cx, lines);
        let has = |id: &&str| {
            lines
                .iter()
                .any(|line| line.format == *id && matches!(line.known, Known::Row(..)))
        };
        match (
            cx.state
                .settings
                .baseline
                .filter(has)
                .filter(|chosen| *chosen != sent),
            host(cx),
        ) {
            (Some(chosen), _) => Self::Format(chosen),
            (None, Some((host, count))) => Self::Host(host, count),
            (None, None) => Self::Format(sent),
        }
    }

    fn is(self, format: &str) -> bool {
        matches!(self, Self::Format(own) if own == format)
    }

    fn title(self) -> String {
        match self {
            Self::Format(format) => format_title(format).to_owned(),
            Self::Host(host, _) => host.row.host.name.clone(),
        }
    }
}

/// What the host that one views the result as sends, where that is known.
fn host<'a>(cx: &Cx<'a>) -> Option<(HostCost<'a>, Count)> {
    let host = cx.model_reads()?.host()?;
    Some((host, host.count?))
}

/// The format that is the part which one model reads.
fn sent_format(cx: &Cx<'_>, lines: &[Line<'_>]) -> &'static str {
    let rows: Vec<CountedRow<'_>> = lines
        .iter()
        .filter_map(|line| match line.known {
            Known::Row(row, _) => Some(CountedRow {
                row,
                count: None,
                why: None,
            }),
            _ => None,
        })
        .collect();
    let reads = cx
        .model_reads()
        .unwrap_or(ModelReads::Most(&cx.state.hosts));
    summary::part_format(reads.part(&rows).part, &rows).unwrap_or("content")
}

/// The baseline, and what tokens are counted by.
pub fn tools_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = theme::of(ui);
    let lines = lines(cx);
    let baseline = Baseline::of(cx, &lines);
    let sent = sent_format(cx, &lines);
    let name = match baseline {
        Baseline::Format(format) if format == sent => "as sent".to_owned(),
        Baseline::Format(format) => format_title(format).to_owned(),
        Baseline::Host(host, _) => host.name(),
    };
    let button = Button::new(&name)
        .menu()
        .height(theme::ICON_BUTTON)
        .name("Baseline")
        .tip("What the other formats are compared with")
        .show(ui);
    Popup::menu(&button).width(240.0).show(|ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        for line in lines
            .iter()
            .filter(|line| matches!(line.known, Known::Row(..)))
        {
            let hue = t.hue(line.format).color;
            if widgets::choose_row(
                ui,
                format_title(line.format),
                Some(hue),
                baseline.is(line.format),
            ) {
                cx.send(SettingsAction::SetBaseline(line.format));
            }
        }
    });
    widgets::note(ui, "Baseline");
    let columns = widgets::icon_button(ui, icons::ARGUMENTS, "Columns");
    Popup::menu(&columns).width(180.0).show(|ui| {
        if widgets::menu_row(
            ui,
            "Bytes and characters",
            None,
            cx.state.settings.ledger_sizes,
        )
        .clicked()
        {
            cx.send(SettingsAction::ToggleLedgerSizes);
        }
    });
    ui.add_space(8.0);
    let tokenizer = &cx.state.settings.tokenizer;
    let mark = if tokenizer.is_exact() { "" } else { "≈ " };
    let name = widgets::styled(format!("{mark}{}", tokenizer.name()), theme::code(), t.weak);
    if *tokenizer == Tokenizer::Claude {
        exact::offer_ui(
            ui,
            cx,
            lines
                .iter()
                .filter(|line| matches!(line.known, Known::Row(..)))
                .map(|line| line.format),
        );
    }
    ui.add(
        egui::Label::new(name)
            .truncate()
            .show_tooltip_when_elided(false),
    )
    .on_hover_text(tokenizer.how());
    if let Some(money) = money(cx, &lines) {
        widgets::truncated(ui, money, theme::small(), t.weak);
    }
}

/// What the result as sent costs with the model that is wanted.
fn money(cx: &Cx<'_>, lines: &[Line<'_>]) -> Option<String> {
    let model = cx.state.model()?;
    let sent = sent_format(cx, lines);
    let row = lines.iter().find_map(|line| {
        if let Known::Row(row, _) = line.known {
            Some(row).filter(|_| line.format == sent)
        } else {
            None
        }
    })?;
    let Some(tokenizer) = cx.state.tokenizer_of(model) else {
        return Some(format!(
            "{}: open its tokenizer file {} to see its cost",
            model.name, model.tokenizer
        ));
    };
    let count = cx.count_by(row, &tokenizer)?.ok()?;
    // The model counts with its own tokenizer, which may be another than the one chosen.
    let by = if tokenizer == cx.state.settings.tokenizer {
        String::new()
    } else {
        format!(" ({} by {})", format_count(count), tokenizer.name())
    };
    Some(format!(
        "{}{by}: {}",
        model.name,
        queries::Cost::new(count, model).text()
    ))
}

pub fn ledger_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let lines = lines(cx);
    let lines = lines.as_slice();
    let t = theme::of(ui);
    let outer = ui.available_rect_before_wrap();
    // All of the drawer is taken, however many rows fit: its height is the user's.
    ui.allocate_rect(outer, Sense::hover());
    let focus = ui.interact(
        outer,
        Id::unique("ledger"),
        Sense::focusable_noninteractive(),
    );
    widgets::say(&focus, Role::Table, "Token ledger");
    keys(ui, cx, &focus, lines);
    let scale = Scale::of(ui, cx, lines);
    let head = Rect::from_min_size(outer.min, vec2(outer.width(), HEAD));
    head_ui(ui, head, &scale);
    let rest = Rect::from_min_max(head.left_bottom(), outer.max);
    let shown: Vec<&Line<'_>> = lines
        .iter()
        .filter(|line| !matches!(line.known, Known::Not(_) | Known::Held(_)))
        .collect();
    let is_low = ui.content_rect().height() < theme::SHORT;
    let all_id = Id::unique("every format of the ledger");
    let is_all = !is_low || shown.len() <= FEW || widgets::recall(ui, all_id).unwrap_or(false);
    let first: Vec<&Line<'_>> = shown
        .iter()
        .copied()
        .filter(|line| is_all || scale.is_among_few(line.format))
        .collect();
    widgets::part(ui, "rows", rest, |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        widgets::scroll("ledger rows").show(ui, |ui| {
            rows_ui(ui, cx, &first, &scale, &focus);
            if !is_all || (is_low && shown.len() > FEW) {
                more_ui(ui, &shown, &first, all_id, is_all);
            }
            let held = lines.iter().find_map(|line| match line.known {
                Known::Held(bytes) => Some(bytes),
                _ => None,
            });
            if let Some(bytes) = held {
                ui.horizontal(|ui| {
                    ui.add_space(SIDE);
                    widgets::held_ui(ui, cx, bytes);
                });
            }
            absent_ui(ui, lines);
            ui.add_space(4.0);
        });
    });
    if focus.has_focus() {
        widgets::outline(ui, outer.shrink(1.0), 0.0, t.accent);
    }
}

/// How high it is where few formats apply, so that nothing stands below them; `None` until all are known.
pub fn small_height(cx: &Cx<'_>) -> Option<f32> {
    let lines = lines(cx);
    let is_known = |line: &Line<'_>| matches!(line.known, Known::Row(..) | Known::Not(_));
    if !lines.iter().all(is_known) {
        return None;
    }
    let absent = absent(&lines).len();
    let rows = lines.iter().filter(|line| is_row(line)).count() + usize::from(host(cx).is_some());
    let height = HEAD + (rows + absent) as f32 * LEDGER_ROW + 12.0;
    (rows <= FEW_ROWS).then_some(height)
}

fn is_row(line: &Line<'_>) -> bool {
    matches!(line.known, Known::Row(..))
}

/// The host that one views the result as, and the formats, with a line above those that are derived.
fn rows_ui(ui: &mut Ui, cx: &Cx<'_>, shown: &[&Line<'_>], scale: &Scale<'_>, focus: &Response) {
    if let Some((host, count)) = host(cx) {
        host_ui(ui, cx, host, count, scale);
    }
    let derived = shown.iter().position(|line| !is_as_sent(line.format));
    for (at, line) in shown.iter().enumerate() {
        if derived == Some(at) {
            divider_ui(ui, cx, shown);
        }
        row_ui(ui, cx, line, scale, focus);
    }
}

/// "Show all 15 · 10 more: 288 to 998 tok".
fn more_ui(ui: &mut Ui, shown: &[&Line<'_>], first: &[&Line<'_>], all_id: Id, is_all: bool) {
    let rest = shown
        .iter()
        .filter(|line| !first.iter().any(|own| own.format == line.format));
    let counts: Vec<u64> = rest
        .filter_map(|line| {
            if let Known::Row(_, count) = line.known {
                Some(count.high())
            } else {
                None
            }
        })
        .collect();
    ui.horizontal(|ui| {
        ui.add_space(SIDE - 4.0);
        let label = if is_all {
            "Show fewer".to_owned()
        } else {
            format!("Show all {}", shown.len())
        };
        if Button::new(&label)
            .icon(if is_all { icons::UP } else { icons::RIGHT })
            .small()
            .frameless()
            .clicked(ui)
        {
            widgets::remember(ui, all_id, !is_all);
        }
        if let (Some(least), Some(most)) = (counts.iter().min(), counts.iter().max()) {
            let words = format!(
                "{} more: {} to {}",
                counts.len(),
                widgets::grouped(*least),
                widgets::number_text(*most, "tok")
            );
            widgets::note(ui, words);
        }
    });
}

/// The formats that do not apply, by the reason.
fn absent<'l>(lines: &'l [Line<'_>]) -> Vec<(&'l str, Vec<&'static str>)> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in lines {
        let Known::Not(row) = line.known else {
            continue;
        };
        let why = row.why.as_deref().unwrap_or("it does not apply");
        // The strip says it, or the card.
        if matches!(why, NO_DATA | ERROR_RESULT) {
            continue;
        }
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, formats)) => formats.push(format_title(line.format)),
            None => reasons.push((why, vec![format_title(line.format)])),
        }
    }
    reasons
}

/// The formats that do not apply, those of one reason in one line.
fn absent_ui(ui: &mut Ui, lines: &[Line<'_>]) {
    for (why, formats) in absent(lines) {
        // Titles have commas of their own.
        let titles = formats.join(" · ");
        note_ui(ui, &format!("{titles}: {why}"));
    }
}

/// Between what was sent and what is written from the data: what all of the latter drop, said once. Else a line.
fn divider_ui(ui: &mut Ui, cx: &Cx<'_>, lines: &[&Line<'_>]) {
    let omitted = lines.iter().find_map(|line| match line.known {
        Known::Row(row, _) if !is_as_sent(row.format) => row.omitted,
        _ => None,
    });
    let Some(omitted) = omitted else {
        let (place, _) = widgets::full_width(ui, DERIVED, Sense::hover());
        let y = place.center().y.round() + 0.5;
        widgets::hline(ui, place.left() + SIDE..=place.right() - SIDE, y);
        return;
    };
    let t = theme::of(ui);
    let row = widgets::ListRow::to_read(ui, DROPS);
    let ui = row.ui;
    for y in [row.rect.top() + 0.5, row.rect.bottom() - 0.5] {
        widgets::hline(ui, row.inset_left(SIDE)..=row.inset_right(SIDE), y);
    }
    row.icon(row.inset_left(SIDE + 4.0), icons::MISSING, 13.0, t.weak);
    let words = format!(
        "Every format of the data {}",
        omitted.words(&cx.state.settings.tokenizer)
    );
    let left = row.inset_left(SIDE + 20.0);
    let end = row.text(left, row.inset_right(SIDE), &words, theme::small(), t.text) + 10.0;
    let pieces = cx
        .ready(ExtraTextQuery)
        .map_or_else(String::new, |extra| pieces(extra));
    if row.inset_right(SIDE) - end > 60.0 {
        row.text(
            end,
            row.inset_right(SIDE),
            &pieces,
            theme::mono(11.5),
            t.weak,
        );
    }
    let spoken = format!("{words}: {pieces}");
    row.say(Role::Label, &spoken);
    row.response.on_hover_text(spoken);
}

/// `Status ×5 · Dead ×2 · Prospect`, in the order of the text.
fn pieces(extra: &ExtraTextList) -> String {
    let mut counted: Vec<(&str, usize)> = Vec::new();
    for row in extra.rows.iter().take(PIECES) {
        match counted.iter_mut().find(|(text, _)| *text == &*row.text) {
            Some((_, count)) => *count += 1,
            None => counted.push((&row.text, 1)),
        }
    }
    let words: Vec<String> = counted
        .iter()
        .map(|(text, count)| match count {
            1 => Shown::of(text).text.to_string(),
            _ => format!("{} ×{count}", Shown::of(text).text),
        })
        .collect();
    words.join(" · ")
}

/// A line below the rows.
fn note_ui(ui: &mut Ui, words: &str) {
    let t = theme::of(ui);
    let (rect, response) = widgets::full_width(ui, LEDGER_ROW, Sense::hover());
    let at = pos2(rect.left() + SIDE, rect.center().y);
    widgets::text_at(
        ui,
        at,
        words,
        theme::small(),
        t.weak,
        rect.width() - 2.0 * SIDE,
    );
    widgets::say(&response, Role::Label, words);
    response.on_hover_text(words);
}

fn head_ui(ui: &Ui, rect: Rect, scale: &Scale<'_>) {
    let t = theme::of(ui);
    let columns = Columns::of(rect, &scale.widths);
    let y = rect.center().y;
    let font = || theme::regular(11.5);
    widgets::text_at(ui, pos2(columns.name, y), "Format", font(), t.weak, 200.0);
    let right = |x: f32, text: &str| {
        widgets::text_right(ui, pos2(x, y), text, font(), t.weak);
    };
    right(columns.tokens, "Tokens");
    let is_sent = matches!(scale.baseline, Baseline::Host(..)) || scale.baseline.is(scale.sent);
    right(
        columns.change,
        if is_sent { "vs sent" } else { "vs baseline" },
    );
    right(columns.facts, "Facts");
    for (x, text) in [
        (columns.counted, "Exact"),
        (columns.bytes, "Bytes"),
        (columns.chars, "Chars"),
    ] {
        if let Some(x) = x {
            right(x, text);
        }
    }
    if let Some(x) = columns.round_trip {
        widgets::text_at(ui, pos2(x, y), "Round trip", font(), t.weak, 120.0);
    }
}

/// What a row is measured against.
struct Scale<'a> {
    most: u64,
    base: Option<Count>,
    baseline: Baseline<'a>,
    /// The format that one model reads, and the cheapest with the same data.
    sent: &'static str,
    winner: Option<Winner>,
    widths: Widths,
    /// Whether the provider counted any of the rows.
    has_counted: bool,
}

impl<'a> Scale<'a> {
    fn of(ui: &Ui, cx: &Cx<'a>, lines: &[Line<'_>]) -> Self {
        let counts = || {
            lines.iter().filter_map(|line| match line.known {
                Known::Row(row, count) => Some((row, count)),
                _ => None,
            })
        };
        let baseline = Baseline::of(cx, lines);
        let base = match baseline {
            Baseline::Host(_, count) => Some(count),
            Baseline::Format(format) => counts()
                .find(|(row, _)| row.format == format)
                .map(|(_, count)| count),
        };
        let has_exact = |capture| cx.state.has_exact_counts(capture);
        let has_counted = cx.state.settings.tokenizer == Tokenizer::Claude
            && cx.state.view.capture.as_ref().is_some_and(has_exact);
        let all = counts()
            .map(|(_, count)| count)
            .chain(host(cx).map(|(_, count)| count))
            .map(Count::high);
        let (has_sizes, digit) = (
            cx.state.settings.ledger_sizes,
            widgets::text_width(ui, "0", theme::code()),
        );
        let (sent, winner) = (sent_format(cx, lines), winner(cx, lines));
        let name_width =
            |(row, _): (&Row, Count)| name_width(ui, row.format, sent, winner.as_ref());
        let name = counts().map(name_width).fold(0.0, f32::max);
        Self {
            most: all.max().unwrap_or(0),
            base,
            baseline,
            widths: Widths::new(counts(), base, has_counted, has_sizes, digit).with_name(name),
            sent,
            winner,
            has_counted,
        }
    }

    /// Which share of the longest bar a count has.
    fn share(&self, count: Count) -> f32 {
        if self.most == 0 {
            0.0
        } else {
            count.high() as f32 / self.most as f32
        }
    }

    /// The bar of a count, from the lowest it can be to the highest, with the tick of the baseline.
    fn bar_ui(&self, row: &widgets::ListRow<'_>, column: Rect, count: Count, color: Color32) {
        let t = theme::of(row.ui);
        let bar = row.place(column.left()..=column.right(), 8.0);
        if bar.width() <= 24.0 {
            return;
        }
        let end = |count: Count| bar.left() + bar.width() * self.share(count);
        widgets::bar(row.ui, bar, self.share(count), color);
        if !count.is_exact() {
            let range = end(Count::Exact(count.low()))..=end(count);
            let stroke = Stroke::new(2.0, t.panel);
            row.ui.painter().hline(range, row.y, stroke);
        }
        if let Some(base) = self.base {
            let tick = Rect::from_center_size(pos2(end(base).round(), row.y), vec2(1.5, 12.0));
            row.ui.painter().rect_filled(tick, 0.0, t.strong);
        }
    }

    fn count_ui(&self, row: &widgets::ListRow<'_>, columns: &Columns, count: Count) {
        let ink = theme::of(row.ui).strong;
        row.number(
            columns.tokens,
            format_count(count),
            theme::mono_semibold(12.0),
            ink,
        );
    }

    /// How a count stands against the baseline.
    fn change_text(&self, count: Count, is_baseline: bool) -> String {
        match self.base {
            _ if is_baseline => "baseline".to_owned(),
            Some(base) => delta(count, base),
            None => "–".to_owned(),
        }
    }

    /// Whether it is one of the rows of a low window.
    fn is_among_few(&self, format: &str) -> bool {
        matches!(format, "content" | "structured" | "json")
            || self.sent == format
            || self.baseline.is(format)
            || self
                .winner
                .as_ref()
                .is_some_and(|winner| winner.format == format)
    }
}

/// So many rows are in a low window, with the line below them.
const FEW: usize = 6;

/// What a host sends, above the formats: a click shows its text.
fn host_ui(ui: &mut Ui, cx: &Cx<'_>, host: HostCost<'_>, count: Count, scale: &Scale<'_>) {
    let t = theme::of(ui);
    let row = widgets::ListRow::new(ui, LEDGER_ROW);
    let columns = Columns::of(row.rect, &scale.widths);
    let is_baseline = matches!(scale.baseline, Baseline::Host(..));
    if is_baseline {
        row.fill(t.hover);
    }
    row.ground(false);
    let name = host.name();
    row.icon(columns.name + 4.0, icons::HOSTS, 12.0, t.strong);
    let end = columns.bar.left() - 8.0;
    row.text(
        columns.name + AFTER_SWATCH,
        end,
        &name,
        theme::medium(13.0),
        t.strong,
    );
    scale.bar_ui(&row, columns.bar, count, t.text);
    scale.count_ui(&row, &columns, count);
    let changed = scale.change_text(count, is_baseline);
    row.number(columns.change, &changed, theme::code(), t.weak);
    size_at(&row, columns.bytes, host.row.bytes);
    let dropped = host.row.dropped;
    let (facts, is_lost) = match host.row.facts {
        Some(facts) if facts.missing > 0 => (missing_text(facts), true),
        _ if !dropped.is_none() => (format!("drops {}", dropped.text()), false),
        Some(_) => ("all".to_owned(), false),
        None => ("–".to_owned(), false),
    };
    facts_at(&row, columns.facts, facts, is_lost);
    if let Some(x) = columns.round_trip {
        row.text(
            x,
            row.inset_right(SIDE),
            "not tested",
            theme::small(),
            t.weak,
        );
    }
    let spoken = format!(
        "{name}, {} tokens, {changed}, {}, {}",
        format_count(count),
        host.row.shown_text(),
        host.row.happens()
    );
    row.say(Role::Row, spoken);
    let response = row.response.on_hover_text(host.row.dropped_text());
    if response.clicked() {
        cx.send(ViewAction::SetPane {
            pane: 1,
            shows: PaneView::Host(host.row.host.id),
        });
    }
}

/// The row of a format while it is painted.
struct FormatRow<'a> {
    row: widgets::ListRow<'a>,
    columns: Columns,
    format: &'static str,
    scale: &'a Scale<'a>,
    winner: Option<&'a Winner>,
    color: Color32,
    is_baseline: bool,
    is_peeked: bool,
}

fn row_ui(ui: &mut Ui, cx: &Cx<'_>, line: &Line<'_>, scale: &Scale<'_>, focus: &Response) {
    let painted = FormatRow::new(ui, cx, line.format, scale);
    let why = match &line.known {
        Known::Row(row, count) => return painted.known_ui(cx, row, *count, focus),
        Known::Not(row) => row.why.as_deref().unwrap_or_default(),
        Known::Failed(why) => why,
        Known::Working => "counting…",
        Known::Held(_) => "not counted",
    };
    painted.unknown_ui(why);
}

impl<'a> FormatRow<'a> {
    /// Its room and its ground.
    fn new(ui: &'a mut Ui, cx: &Cx<'_>, format: &'static str, scale: &'a Scale<'a>) -> Self {
        let t = theme::of(ui);
        let row = widgets::ListRow::with_salt(ui, LEDGER_ROW, ("ledger row", format));
        let of = |winner: &&Winner| winner.format == format;
        let winner = scale.winner.as_ref().filter(of);
        let is_proved = winner.is_some_and(|winner| winner.is_proved);
        let is_baseline = scale.baseline.is(format);
        let is_peeked = cx.state.view.peek == Some(format);
        if is_peeked {
            row.fill(t.accent_bg);
            widgets::edge(row.ui, row.rect, t.accent);
        } else if is_proved {
            row.fill(t.ok_bg);
        } else if row.response.hovered() || is_baseline {
            row.fill(t.hover);
        }
        Self {
            columns: Columns::of(row.rect, &scale.widths),
            row,
            format,
            scale,
            winner,
            color: match (is_proved, is_as_sent(format)) {
                (true, _) => t.ok,
                (false, true) => t.hue(format).color,
                (false, false) => t.faint,
            },
            is_baseline,
            is_peeked,
        }
    }

    /// The name, and why there are no numbers.
    fn unknown_ui(&self, why: &str) {
        let (row, columns) = (&self.row, &self.columns);
        let t = theme::of(row.ui);
        let title = format_title(self.format);
        let square = row.place(columns.name..=columns.name + 8.0, 8.0);
        let stroke = Stroke::new(1.0, self.color);
        row.ui
            .painter()
            .rect_stroke(square, theme::RADIUS_BAR, stroke, egui::StrokeKind::Inside);
        let bar = columns.bar.left();
        row.text(
            columns.name + AFTER_SWATCH,
            bar - 8.0,
            title,
            theme::base(),
            t.weak,
        );
        row.text(bar, row.inset_right(SIDE), why, theme::small(), t.weak);
        row.response
            .widget_info(|| WidgetInfo::labeled(Role::Row, false, format!("{title}, {why}")));
    }

    fn known_ui(self, cx: &Cx<'_>, known: &Row, count: Count, focus: &Response) {
        let lost = lost_needed(cx, self.format);
        let is_open = self.row.response.hovered() || (self.is_peeked && focus.has_focus());
        self.name_ui(lost.is_some(), is_open);
        self.scale
            .bar_ui(&self.row, self.columns.bar, count, self.color);
        self.numbers_ui(cx, known, count);
        self.trip_ui(known);
        let spoken = self.spoken(cx, known, count, lost.as_deref());
        widgets::say_selected(&self.row.response, Role::Row, self.is_peeked, spoken);
        if self.row.response.clicked() {
            focus.request_focus();
            cx.send(ViewAction::SetPane {
                pane: 1,
                shows: PaneView::Text(self.format),
            });
        }
        let response = self.row.response.on_hover_cursor(CursorIcon::PointingHand);
        let words: Vec<String> = lost.into_iter().chain(trip_text(known)).collect();
        if !words.is_empty() {
            response.on_hover_text(words.join("\n"));
        }
    }

    /// The name, struck through where the format loses a field that the model needs, and its badges.
    fn name_ui(&self, is_out: bool, is_open: bool) {
        let (row, columns) = (&self.row, &self.columns);
        let t = theme::of(row.ui);
        row.swatch(columns.name, self.color);
        let ink = match is_as_sent(self.format) {
            true => t.strong,
            false => t.text,
        };
        let (x, bar) = (columns.name + AFTER_SWATCH, columns.bar.left());
        let title = format_title(self.format);
        let mut end = row.text(x, bar - MARK_GAP, title, name_font(self.format), ink);
        if is_out {
            let stroke = Stroke::new(1.0, t.warn);
            row.ui.painter().hline(x..=end, row.y.round() + 0.5, stroke);
        }
        let marks = marks(self.format, self.scale.sent, self.winner);
        for (words, tone) in marks.chain(is_open.then_some(("Open", Tone::Plain))) {
            let at = pos2(end + MARK_GAP, row.y);
            if at.x + widgets::chip_width(row.ui, words, MARK) + MARK_GAP <= bar {
                end = widgets::chip(row.ui, at, Align::Min, words, tone, MARK).right();
            }
        }
    }

    fn numbers_ui(&self, cx: &Cx<'_>, known: &Row, count: Count) {
        let (row, columns, scale) = (&self.row, &self.columns, self.scale);
        let t = theme::of(row.ui);
        scale.count_ui(row, columns, count);
        if let Some(x) = columns.counted {
            let exactly = self
                .exactly(cx)
                .map(|exactly| widgets::grouped(exactly.tokens));
            let text = exactly.unwrap_or_else(|| "–".into());
            row.number(x, text, theme::code(), t.strong);
        }
        let color = match () {
            () if self.is_baseline => t.weak,
            () if self.winner.is_some_and(|winner| winner.is_proved) => t.ok,
            () => t.text,
        };
        let changed = scale.change_text(count, self.is_baseline);
        row.number(columns.change, changed, theme::code(), color);
        size_at(row, columns.bytes, known.bytes);
        size_at(row, columns.chars, known.chars);
        let is_lost = known.facts.is_some_and(|facts| facts.missing > 0);
        facts_at(row, columns.facts, facts_text(known), is_lost);
    }

    /// What the provider counted.
    fn exactly<'c>(&self, cx: &Cx<'c>) -> Option<&'c Counted> {
        exact::exact_count(cx, self.format).filter(|_| self.scale.has_counted)
    }

    fn trip_ui(&self, known: &Row) {
        let Some(mut x) = self.columns.round_trip else {
            return;
        };
        let row = &self.row;
        let t = theme::of(row.ui);
        let (word, color) = match &known.round_trip {
            Some(trip) if trip.fidelity.is_lossless() => (trip.words(), t.weak),
            Some(trip) => (trip.words(), t.warn),
            None => ("not tested".to_owned(), t.weak),
        };
        if color == t.warn {
            row.icon(x + 6.0, icons::DIFFERS, 12.0, color);
            x += 16.0;
        }
        row.text(x, row.inset_right(SIDE), word, theme::small(), color);
    }

    fn spoken(&self, cx: &Cx<'_>, known: &Row, count: Count, lost: Option<&str>) -> String {
        let mut words = format!(
            "{}, {} tokens",
            format_title(self.format),
            format_count(count)
        );
        let mut add = |more: &str| words.extend([", ", more]);
        if let Some(exactly) = self.exactly(cx) {
            add(&exact::words(exactly));
        }
        if self.is_baseline {
            add("baseline");
        } else if ratio_of(Some(count), self.scale.base).is_some() {
            let changed = self.scale.change_text(count, false);
            add(&format!(
                "{changed} against {}",
                self.scale.baseline.title()
            ));
        }
        if let Some(winner) = self.winner {
            add(&winner.badge);
        }
        add(&widgets::number_text(known.bytes, "bytes"));
        if let Some(facts) = known.facts {
            let kept = widgets::grouped(facts.total - facts.missing);
            add(&format!(
                "{kept} of {} facts",
                widgets::grouped(facts.total)
            ));
        }
        if let Some(omitted) = known.omitted {
            add(&omitted.words(&cx.state.settings.tokenizer));
        }
        lost.into_iter().for_each(add);
        words
    }
}

/// What is said of a round trip on hover.
fn trip_text(row: &Row) -> Option<String> {
    match &row.round_trip {
        Some(trip) => trip
            .summary()
            .map(|summary| format!("Round trip {}: {summary}", trip.fidelity.name())),
        None if row.format == "wire" => {
            Some("Not tested: the message holds the answer itself; it is not read back".to_owned())
        }
        None => Some(
            "Not tested: this text does not hold the data in a form that can be read back"
                .to_owned(),
        ),
    }
}

/// A size in its column, where there is one.
fn size_at(row: &widgets::ListRow<'_>, right: Option<f32>, size: u64) {
    if let Some(x) = right {
        row.number(
            x,
            widgets::grouped(size),
            theme::code(),
            theme::of(row.ui).weak,
        );
    }
}

/// What is missing of the facts, or left out of the text.
fn facts_at(row: &widgets::ListRow<'_>, right: f32, text: String, is_lost: bool) {
    let t = theme::of(row.ui);
    let color = if is_lost { t.warn } else { t.weak };
    let left = row.number(right, text, theme::code(), color);
    if is_lost {
        row.icon(left - 10.0, icons::MISSING, 12.0, color);
    }
}

fn is_as_sent(id: &str) -> bool {
    FORMATS
        .iter()
        .any(|format| format.id() == id && format.is_as_sent())
}

/// What a format loses of the fields that the model needs; `None` where it keeps them, or all are needed.
fn lost_needed(cx: &Cx<'_>, format: &'static str) -> Option<String> {
    let capture = cx.state.capture()?;
    let needed = cx
        .state
        .needed_fields(&capture.server.name, &capture.tool.name)?;
    let fields: Vec<String> = needed.iter().cloned().collect();
    let Some(Some(found)) = cx.ready(NeededQuery {
        format,
        fields: fields.into(),
    }) else {
        return None;
    };
    (!found.lost.is_empty()).then(|| found.sentence(format_title(format)))
}

/// "proved", "−5 of 53", "53 found"; of no fact nothing is proved.
pub(super) fn facts_text(row: &Row) -> String {
    match row.facts.filter(|facts| facts.total > 0) {
        Some(facts) if facts.missing > 0 => missing_text(facts),
        Some(facts) if facts.is_proved() => "proved".to_owned(),
        Some(facts) => facts_cell(facts),
        None => "–".to_owned(),
    }
}

/// "−5 of 53".
fn missing_text(facts: FactCount) -> String {
    format!(
        "−{} of {}",
        widgets::grouped(facts.missing),
        widgets::grouped(facts.total)
    )
}

/// "−43%", "+11%", "×12", "−1 tok", "±0".
pub(super) fn delta(count: Count, base: Count) -> String {
    relative_change(base.high(), count.high(), "tok").unwrap_or_else(|| "±0".to_owned())
}

/// The cheapest format with the same data.
struct Winner {
    format: &'static str,
    badge: String,
    /// Whether it is shown in green.
    is_proved: bool,
}

/// What is said after the name of a format.
fn marks<'m>(
    format: &str,
    sent: &str,
    winner: Option<&'m Winner>,
) -> impl Iterator<Item = (&'m str, Tone)> + use<'m> {
    let is_read = format == sent;
    let badge = winner.map(|winner| match winner.is_proved {
        true => (winner.badge.as_str(), Tone::Ok),
        false => (winner.badge.as_str(), Tone::Plain),
    });
    let read = is_read.then_some(("model reads", Tone::Plain));
    read.into_iter().chain(badge)
}

fn name_font(format: &str) -> egui::FontId {
    match is_as_sent(format) {
        true => theme::medium(13.0),
        false => theme::base(),
    }
}

/// What the name of a format takes with its marks.
fn name_width(ui: &Ui, format: &'static str, sent: &str, winner: Option<&Winner>) -> f32 {
    let own = winner.filter(|winner| winner.format == format);
    let marks = marks(format, sent, own);
    let marks = marks.map(|(words, _)| MARK_GAP + widgets::chip_width(ui, words, MARK));
    let title = widgets::text_width(ui, format_title(format), name_font(format));
    AFTER_SWATCH + title + marks.sum::<f32>() + MARK_GAP
}

/// The winner, by the same computation as the strip.
fn winner(cx: &Cx<'_>, lines: &[Line<'_>]) -> Option<Winner> {
    let rows: Vec<CountedRow<'_>> = lines
        .iter()
        .filter_map(|line| match line.known {
            Known::Row(row, count) => Some(CountedRow {
                row,
                count: Some(count),
                why: None,
            }),
            Known::Not(row) => Some(CountedRow {
                row,
                count: None,
                why: None,
            }),
            Known::Working | Known::Failed(_) | Known::Held(_) => None,
        })
        .collect();
    let strip = summary::strip(&rows, cx.model_reads()?, &cx.state.settings.tokenizer)?;
    let winner = strip.winner()?;
    Some(Winner {
        format: winner.format,
        badge: winner.badge.clone()?,
        is_proved: winner.is_proved(),
    })
}

/// Up and Down flip the middle pane through the formats; Enter keeps what is shown, Shift Enter
/// puts it next to what was shown (Esc restores, in `commands`).
fn keys(ui: &Ui, cx: &Cx<'_>, focus: &Response, lines: &[Line<'_>]) {
    if !focus.has_focus() {
        return;
    }
    // Esc ends the peek first; the next one lets the focus go.
    let escape = cx.state.view.peek.is_some();
    ui.memory_mut(|memory| {
        memory.set_focus_lock_filter(
            focus.id,
            egui::EventFilter {
                vertical_arrows: true,
                escape,
                ..Default::default()
            },
        )
    });
    let pressed = |key| widgets::pressed(ui, key);
    let formats: Vec<_> = lines
        .iter()
        .filter(|line| matches!(line.known, Known::Row(..)))
        .map(|line| line.format)
        .collect();
    let shown = match cx.state.view.shows(1).content() {
        PaneContent::Format(format) => format,
        PaneContent::Data => "structured",
        PaneContent::Host(_) => "",
    };
    let at = formats.iter().position(|&format| format == shown);
    if pressed(Key::ArrowDown)
        && let Some(&next) = formats.get(at.map_or(0, |at| at + 1))
    {
        cx.send(ViewAction::Peek(Some(next)));
    }
    if pressed(Key::ArrowUp)
        && let Some(&previous) = at.and_then(|at| formats.get(at.checked_sub(1)?))
    {
        cx.send(ViewAction::Peek(Some(previous)));
    }
    if cx.state.view.peek.is_some() {
        if ui.input_mut(|input| input.consume_key(egui::Modifiers::SHIFT, Key::Enter)) {
            cx.send(ViewAction::KeepPeekBeside);
        } else if pressed(Key::Enter) {
            cx.send(ViewAction::KeepPeek);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_no_fact_nothing_is_proved() {
        let row = |facts| Row {
            facts,
            ..Row::default()
        };
        assert_eq!(facts_text(&row(Some(FactCount::default()))), "–");
        let one = FactCount {
            total: 1,
            proved: 1,
            ..FactCount::default()
        };
        assert_eq!(facts_text(&row(Some(one))), "proved");
    }
}
