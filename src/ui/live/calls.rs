//! The calls of a session, in the order of their answers, each with what it cost and what the host's model was given.

use bytes::Bytes;
use egui::{Id, Sense, Ui};

use super::SIDE;
use crate::state::{LiveAction, LiveCall, OpenSession};
use crate::ui::outcome::outcome_look;
use crate::ui::sidebar::duration;
use crate::ui::theme;
use crate::ui::widgets;
use crate::ui::{Cx, icons};
use loupe_analysis::queries::invisible_chars::Shown;
use loupe_analysis::queries::{HostOutcome, TranscriptOutcome};
use loupe_core::capture::Outcome;
use loupe_core::json::{Doc, Node};
use loupe_core::number::number_of;

const ROW: f32 = 26.0;
const TIME: f32 = 78.0;
const TOKENS: f32 = 92.0;
const TOOK: f32 = 76.0;
/// Arguments that are shown of one call, in bytes; there is no room for more.
const ARGUMENTS_SHOWN: usize = 400;

/// Where the columns are; what there is no room for is `None`.
struct Columns {
    call: (f32, f32),
    arguments: Option<(f32, f32)>,
    bar: Option<(f32, f32)>,
    tokens: f32,
    took: Option<f32>,
    sees: (f32, f32),
}

impl Columns {
    fn new(rect: egui::Rect, has_host: bool) -> Self {
        let width = rect.width();
        let sees = match (has_host, width >= 620.0) {
            (false, _) => 120.0,
            (true, true) => 190.0,
            (true, false) => 150.0,
        };
        let right = rect.right() - SIDE;
        let mut end = right - sees;
        let mut take = |width: f32, is_there: bool| {
            let right = end - 12.0;
            if is_there {
                end -= width;
            }
            is_there.then_some(right)
        };
        let took = take(TOOK, width >= 520.0);
        let tokens = take(TOKENS, true).unwrap_or_default();
        let bar = take(116.0, width >= 760.0).map(|right| (right - 104.0, right));
        let left = rect.left() + SIDE + TIME;
        let (call, arguments) = if width >= 720.0 {
            let split = left + (end - left) * 0.56;
            ((left, split - 10.0), Some((split, end - 12.0)))
        } else {
            ((left, end - 10.0), None)
        };
        Self {
            call,
            arguments,
            bar,
            tokens,
            took,
            sees: (right - sees + 8.0, right),
        }
    }
}

pub(super) fn calls_ui(ui: &mut Ui, cx: &Cx<'_>, session: &OpenSession) {
    ui.spacing_mut().item_spacing.y = 0.0;
    if session.calls.is_empty() {
        let words = match (session.read.is_all, session.info.is_running) {
            (false, _) => "Reading the session",
            (true, true) => "No tool was called yet",
            (true, false) => "No tool was called",
        };
        widgets::empty_ui(ui, words, None);
        return;
    }
    head_ui(ui, session);
    let rows = session.shown_calls();
    if rows == 0 {
        let words = format!("No call holds “{}”", session.filter.trim());
        widgets::empty_ui(ui, &words, None);
        return;
    }
    let encoding = cx.state.settings.encoding();
    let most = session
        .bill
        .as_ref()
        .and_then(|bill| bill.largest.first())
        .map_or(1, |largest| largest.tokens.get(encoding).max(1));
    widgets::scroll("live calls")
        .stick_to_bottom(session.info.is_running)
        .show_rows(ui, ROW, rows, |ui, range| {
            for row in range {
                let call = session
                    .place(row)
                    .and_then(|place| Some((place, session.calls.get(place)?)));
                if let Some((place, call)) = call {
                    call_ui(ui, cx, session, (row, place), call, most);
                }
            }
        });
}

fn head_ui(ui: &mut Ui, session: &OpenSession) {
    let t = theme::of(ui);
    let row = widgets::ListRow::to_read(ui, 28.0);
    widgets::line_below(row.ui, row.rect);
    let columns = Columns::new(row.rect, session.host.is_some());
    let font = theme::medium(12.0);
    let left = row.inset_left(SIDE);
    row.text(left, left + TIME, "Time", font.clone(), t.weak);
    row.text(columns.call.0, columns.call.1, "Call", font.clone(), t.weak);
    if let Some((left, right)) = columns.arguments {
        row.text(left, right, "Arguments", font.clone(), t.weak);
    }
    row.number(columns.tokens, "Tokens", font.clone(), t.weak);
    if let Some(took) = columns.took {
        row.number(took, "Took", font.clone(), t.weak);
    }
    let (sees, tip) = match &session.host {
        Some(host) => (
            "Model sees",
            format!(
                "What {}’s model is given of the result, by Loupe’s rules for it",
                host.name
            ),
        ),
        None => (
            "Result",
            "The rules of this host are not known: tokens are those of the text".to_owned(),
        ),
    };
    row.text(columns.sees.0, columns.sees.1, sees, font, t.weak);
    row.say(
        egui::Role::Row,
        format!("Time, call, arguments, tokens, took, {sees}"),
    );
    row.response.on_hover_text(tip);
}

/// What the last column says of a call, and its colour and icon.
fn sees(
    session: &OpenSession,
    (place, call): (usize, &LiveCall),
    t: &theme::ThemeTokens,
) -> (String, egui::Color32, Option<&'static str>) {
    if let Some(TranscriptOutcome::Differs(_)) = session.compared_call(place) {
        return (
            "differs from the transcript".to_owned(),
            t.warn,
            Some(icons::DIFFERS),
        );
    }
    let outcome = call.capture.outcome;
    if !matches!(outcome, Outcome::Result | Outcome::ToolError) {
        let (icon, color, words) = outcome_look(outcome, t);
        return (words.to_owned(), color, Some(icon));
    }
    let shown = call.cost.as_ref().and_then(|cost| cost.shown.as_ref());
    match shown {
        _ if outcome == Outcome::ToolError => ("tool error".to_owned(), t.bad, Some(icons::ERROR)),
        Some((HostOutcome::All, words)) => (words.clone(), t.weak, None),
        Some((HostOutcome::Unknown, words)) => (words.clone(), t.weak, Some(icons::UNKNOWN)),
        Some((HostOutcome::Cut, words)) => (words.clone(), t.warn, Some(icons::CUT)),
        Some((HostOutcome::Part, words)) => (words.clone(), t.warn, Some(icons::INFO)),
        Some((_, words)) => (words.clone(), t.warn, Some(icons::MISSING)),
        None if call.cost.is_none() => (String::new(), t.weak, None),
        None => ("done".to_owned(), t.weak, None),
    }
}

fn row_id(place: usize) -> Id {
    Id::unique(("live call", place))
}

fn call_ui(
    ui: &mut Ui,
    cx: &Cx<'_>,
    session: &OpenSession,
    (at, place): (usize, usize),
    call: &LiveCall,
    most: u64,
) {
    let t = theme::of(ui);
    let (rect, _) = widgets::full_width(ui, ROW, Sense::hover());
    let response = ui.interact(rect, row_id(place), Sense::click());
    let row = widgets::ListRow::at(ui, rect, response);
    let is_selected = session.selected == Some(place);
    row.ground_edged(is_selected);
    let columns = Columns::new(rect, session.host.is_some());
    let capture = &call.capture;
    let time = cx.state.local_time.clock(capture.started_at);
    let tokens = call
        .cost
        .as_ref()
        .map(|cost| cost.tokens.get(cx.state.settings.encoding()));
    let tokens_text = tokens.map_or_else(|| "…".to_owned(), widgets::grouped);
    let took = duration(capture.timings.total());
    let (words, color, icon) = sees(session, (place, call), t);
    let arguments = short_arguments(&capture.arguments);
    let left = row.inset_left(SIDE);
    row.text(left, left + TIME, &time, theme::mono(12.0), t.weak);
    let name = Shown::of(&capture.tool.name).text;
    widgets::name_at(
        row.ui,
        egui::pos2(columns.call.0, row.y),
        &name,
        theme::mono(12.5),
        t.strong,
        columns.call.1 - columns.call.0,
    );
    if let Some((left, right)) = columns.arguments {
        row.text(left, right, &arguments, theme::mono(12.0), t.weak);
    }
    if let Some((left, right)) = columns.bar {
        let place = super::column(rect, left, right - left, 6.0);
        let part = tokens.map_or(0.0, |tokens| tokens as f32 / most as f32);
        widgets::bar(row.ui, place, part, t.accent);
    }
    row.number(columns.tokens, &tokens_text, theme::mono(12.5), t.text);
    if let Some(right) = columns.took {
        row.number(right, &took, theme::mono(12.0), t.weak);
    }
    let mut left = columns.sees.0;
    if session.compared_call(place) == Some(&TranscriptOutcome::Same) {
        row.icon(columns.sees.1 - 6.0, icons::OBSERVED, 13.0, t.ok);
    }
    if let Some(icon) = icon {
        row.icon(left + 7.0, icon, 13.0, color);
        left += 20.0;
    }
    row.text(left, columns.sees.1 - 18.0, &words, theme::small(), color);
    let spoken = [
        &*time,
        &*name,
        &*arguments,
        &number_of(tokens.unwrap_or_default(), "tokens"),
        &*took,
        &*words,
    ];
    row.say_entry(is_selected, spoken.join(", "));
    let response = row.response;
    if response.clicked() {
        cx.send(LiveAction::Select(place));
        response.request_focus();
    }
    if response.has_focus() {
        let step = widgets::arrow_step(ui, &response, ROW);
        let next = usize::try_from(at as i64 + step).ok();
        if let Some(next) = next
            .and_then(|row| session.place(row))
            .filter(|_| step != 0)
        {
            cx.send(LiveAction::Select(next));
            ui.memory_mut(|memory| memory.request_focus(row_id(next)));
        }
    }
}

/// Arguments on one line: `query "north", limit 5`.
fn short_arguments(arguments: &Bytes) -> String {
    let doc = Doc::parse(arguments.slice(..arguments.len().min(ARGUMENTS_SHOWN)));
    let members = doc.root().into_iter().flat_map(Node::children);
    let words = members.filter_map(|node| Some(format!("{} {}", node.key()?, node.raw_text())));
    let words: Vec<_> = words.collect();
    Shown::of(&words.join(", ")).text
}
