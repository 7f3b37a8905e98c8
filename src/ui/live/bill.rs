//! The bill of a session: what its definitions, arguments and results cost, what of it was for nothing, and the results in
//! every format and host.

use egui::{Sense, Ui};

use crate::state::{Action, LiveAction, OpenSession};
use crate::ui::theme;
use crate::ui::widgets;
use crate::ui::{Cx, icons};
use loupe_analysis::contract;
use loupe_analysis::queries::SessionBill;
use loupe_core::format::format_title;
use loupe_core::number::{grouped, number_of};
use loupe_core::token::Encoding;

const ROW: f32 = 24.0;
const SIDE: f32 = 14.0;
const LABEL: f32 = 138.0;

pub(super) fn bill_ui(ui: &mut Ui, cx: &Cx<'_>, session: &OpenSession) {
    let t = theme::of(ui);
    ui.painter().rect_filled(ui.max_rect(), 0.0, t.panel);
    ui.spacing_mut().item_spacing.y = 0.0;
    let Some(bill) = session.bill.as_deref() else {
        return;
    };
    let encoding = cx.state.settings.encoding();
    let (head, _) = widgets::full_width(ui, 28.0, Sense::hover());
    widgets::line_below(ui, head);
    widgets::line_part(ui, "bill head", head.shrink2(egui::vec2(SIDE, 0.0)), |ui| {
        widgets::words(ui, "Bill of this session", theme::semibold(13.0), t.strong);
        widgets::from_right(ui, |ui| {
            let copy = widgets::icon_button(ui, icons::COPY, "Copy the bill as Markdown");
            if copy.clicked() {
                cx.send(Action::Copy(contract::bill_markdown(bill, encoding)));
            }
            widgets::words(ui, encoding.name(), theme::mono(12.0), t.weak);
        });
    });
    widgets::scroll("bill").show(ui, |ui| {
        ui.add_space(6.0);
        costs_ui(ui, bill, encoding);
        rule_ui(ui);
        waste_ui(ui, cx, session, bill, encoding);
        rule_ui(ui);
        formats_ui(ui, bill, encoding);
        hosts_ui(ui, bill, encoding);
        ui.add_space(10.0);
    });
}

fn rule_ui(ui: &mut Ui) {
    let (rect, _) = widgets::full_width(ui, 13.0, Sense::hover());
    widgets::hline(ui, rect.x_range().shrink(SIDE), rect.center().y);
}

fn costs_ui(ui: &mut Ui, bill: &SessionBill, encoding: Encoding) {
    let t = theme::of(ui);
    let definitions = bill.definitions;
    let count = |tokens: loupe_core::token::Tokens| tokens.get(encoding);
    let own = definitions.passed_on.unwrap_or(definitions.listed);
    let rows = [
        (
            "Definitions as listed",
            Some(count(definitions.listed)),
            t.hue_structured.color,
        ),
        (
            "as passed on",
            definitions.passed_on.map(count),
            t.hue_structured.color,
        ),
        (
            "at the start",
            definitions.at_start.map(count),
            t.hue_structured.color,
        ),
        (
            "of them, instructions",
            Some(count(bill.instructions)),
            t.hue_structured.color,
        ),
        ("Arguments", Some(count(bill.arguments)), t.accent),
        ("Results", Some(count(bill.results)), t.accent),
    ];
    let most = [definitions.listed, own, bill.arguments, bill.results]
        .map(count)
        .into_iter()
        .max()
        .unwrap_or(1)
        .max(1);
    for (name, tokens, color) in rows {
        let row = widgets::ListRow::to_read(ui, ROW);
        let number = tokens.map_or_else(|| "not known".to_owned(), grouped);
        row.say(egui::Role::Label, format!("{name}: {number} tokens"));
        let is_part = name.starts_with(char::is_lowercase);
        let left = row.inset_left(SIDE + if is_part { 12.0 } else { 0.0 });
        let ink = if is_part { t.weak } else { t.text };
        row.text(
            left,
            row.inset_left(SIDE + LABEL + 14.0),
            name,
            theme::base(),
            ink,
        );
        let end = row.number(row.inset_right(SIDE), number, theme::mono(12.5), t.strong);
        let left = row.inset_left(SIDE + LABEL + 18.0);
        let right = row.inset_right(SIDE + 84.0).min(end - 8.0);
        if let (Some(tokens), true) = (tokens, right - left > 20.0) {
            let place = super::column(row.rect, left, right - left, 6.0);
            widgets::bar(row.ui, place, tokens as f32 / most as f32, color);
        }
    }
}

/// A line with an icon, what it is about, and a number.
fn line_ui(ui: &mut Ui, icon: &str, name: &str, detail: &str, number: &str) {
    let row = widgets::ListRow::to_read(ui, ROW);
    row.say(egui::Role::Label, format!("{name}: {detail} {number}"));
    paint_line(&row, icon, (name, detail), number);
}

fn paint_line(row: &widgets::ListRow<'_>, icon: &str, (name, detail): (&str, &str), number: &str) {
    let t = theme::of(row.ui);
    row.icon(row.inset_left(SIDE + 7.0), icon, 14.0, t.weak);
    let left = row.inset_left(SIDE + 22.0);
    let end = row.number(row.inset_right(SIDE), number, theme::mono(12.5), t.strong) - 8.0;
    let next = row.text(left, end, name, theme::base(), t.text) + 8.0;
    row.text(next, end, detail, theme::small(), t.weak);
}

fn waste_ui(
    ui: &mut Ui,
    cx: &Cx<'_>,
    session: &OpenSession,
    bill: &SessionBill,
    encoding: Encoding,
) {
    let never: u64 = bill
        .never_called
        .iter()
        .map(|tool| tool.tokens.get(encoding))
        .sum();
    let tools = format!(
        "{} of {}",
        grouped(bill.never_called.len() as u64),
        number_of(session.read.tools as u64, "tools")
    );
    line_ui(ui, icons::TOOLS, "Never called", &tools, &grouped(never));
    if let twice @ 1.. = bill.sent_twice.get(encoding) {
        let twice = grouped(twice);
        line_ui(ui, icons::COPY, "Sent twice", "as text and as data", &twice);
    }
    if let Some(largest) = bill.largest.first() {
        let tokens = grouped(largest.tokens.get(encoding));
        let row = widgets::ListRow::keyed(ui, ROW, "largest");
        row.say(
            egui::Role::Button,
            format!("Largest: {} {tokens}", largest.tool),
        );
        row.ground(false);
        paint_line(&row, icons::ARROW_UP, ("Largest", &largest.tool), &tokens);
        if row.clicked() {
            cx.send(LiveAction::Select(largest.number - 1));
        }
    }
    if bill.cut > 0 {
        let cut = number_of(bill.cut as u64, "results");
        line_ui(ui, icons::CUT, "Cut by the host", "", &cut);
    }
    if bill.failed > 0 {
        let failed = number_of(bill.failed as u64, "calls");
        line_ui(ui, icons::ERROR, "Without a result", "", &failed);
    }
}

fn part_ui(ui: &mut Ui, name: &str) {
    let t = theme::of(ui);
    let row = widgets::ListRow::to_read(ui, ROW);
    row.say(egui::Role::Heading, name);
    row.text(
        row.inset_left(SIDE),
        row.inset_right(SIDE),
        name,
        theme::semibold(12.5),
        t.strong,
    );
}

fn share_ui(ui: &mut Ui, name: &str, detail: &str, tokens: u64) {
    let t = theme::of(ui);
    let row = widgets::ListRow::to_read(ui, 22.0);
    let number = grouped(tokens);
    row.say(
        egui::Role::Label,
        format!("{name}: {number} tokens {detail}"),
    );
    let end = row.number(row.inset_right(SIDE), number, theme::mono(12.0), t.text) - 8.0;
    let next = row.text(row.inset_left(SIDE), end, name, theme::base(), t.text) + 8.0;
    row.text(next, end, detail, theme::small(), t.weak);
}

fn formats_ui(ui: &mut Ui, bill: &SessionBill, encoding: Encoding) {
    part_ui(ui, "All results in each format");
    let mut formats: Vec<_> = bill
        .formats
        .iter()
        .filter(|total| total.results > 0)
        .collect();
    formats.sort_by_key(|total| total.tokens.get(encoding));
    for total in formats {
        let detail = match total.results == bill.calls {
            true => String::new(),
            false => format!(
                "{} of {}",
                grouped(total.results as u64),
                grouped(bill.calls as u64)
            ),
        };
        share_ui(
            ui,
            format_title(total.format),
            &detail,
            total.tokens.get(encoding),
        );
    }
}

fn hosts_ui(ui: &mut Ui, bill: &SessionBill, encoding: Encoding) {
    ui.add_space(6.0);
    part_ui(ui, "All results in each host");
    for total in bill.ranked_hosts(encoding) {
        let known = (total.results < bill.calls).then(|| {
            let (known, all) = (total.results as u64, bill.calls as u64);
            format!("{} of {} known", grouped(known), grouped(all))
        });
        let lost = (total.not_whole > 0)
            .then(|| format!("{} not shown whole", grouped(total.not_whole as u64)));
        let detail: Vec<_> = known.into_iter().chain(lost).collect();
        let detail = detail.join(", ");
        share_ui(ui, &total.host.name, &detail, total.tokens.get(encoding));
    }
}
