//! What the host's own transcript says of a session: the button that compares, what came of it, and both texts.

use egui::{Popup, Ui};

use crate::state::{Action, OpenSession, TranscriptAction, TranscriptPlace, TranscriptState};
use crate::ui::theme;
use crate::ui::widgets::{self, Button, Tone};
use crate::ui::{Cx, icons};
use loupe_analysis::queries::TranscriptOutcome;
use loupe_core::json::write::string;

/// Calls that are shown with both texts.
const SHOWN: usize = 50;

/// At the right of the head.
pub(super) fn button_ui(ui: &mut Ui, cx: &Cx<'_>, session: &OpenSession) {
    let Some(place) = &session.read.transcripts else {
        return;
    };
    match &session.transcript {
        TranscriptState::NotRead => {
            let tip = format!(
                "Compares what {} gave its model, by the transcript that it keeps on this computer, with Loupe’s rule",
                place.name
            );
            let button = Button::new("Check with transcript")
                .icon(icons::DOCUMENTED)
                .tip(&tip);
            if button.clicked(ui) {
                cx.send(TranscriptAction::Compare);
            }
        }
        TranscriptState::Reading { since } => {
            widgets::waiting(ui, "Reading transcripts", *since, cx);
        }
        TranscriptState::Failed(problem) => {
            let button = Button::new("Transcript not read")
                .icon(icons::WARNING)
                .tip(&problem.what);
            if button.clicked(ui) {
                cx.send(TranscriptAction::Compare);
            }
        }
        TranscriptState::Compared(_) => compared_ui(ui, cx, session, place),
    }
}

fn compared_ui(ui: &mut Ui, cx: &Cx<'_>, session: &OpenSession, place: &TranscriptPlace) {
    let TranscriptState::Compared(compared) = &session.transcript else {
        return;
    };
    let report = &compared.report;
    let (tone, icon) = match (report.is_confirmed(), report.differing()) {
        (true, _) => (Tone::Ok, icons::OBSERVED),
        (false, 0) => (Tone::Plain, icons::INFO),
        (false, _) => (Tone::Warn, icons::DIFFERS),
    };
    let words = match report.is_confirmed() {
        true => format!("rule {} by the transcript", report.summary()),
        false => format!("transcript: {}", report.summary()),
    };
    let response = Button::new(&words).icon(icon).menu().show(ui);
    let t = theme::of(ui);
    let (color, ..) = tone.colors(t);
    ui.painter().rect_stroke(
        response.rect,
        theme::RADIUS_CONTROL,
        egui::Stroke::new(1.0, color),
        egui::StrokeKind::Inside,
    );
    Popup::menu(&response).width(320.0).show(|ui| {
        let files = loupe_core::number::number_of(compared.files as u64, "transcripts");
        let folder = place.folder.display();
        widgets::note_wrapped(ui, format!("{files} of this time in {folder}"));
        if let Some(confirmed) = &compared.confirmed {
            widgets::note_wrapped(ui, format!("Kept as evidence: {}", confirmed.words()));
        }
        if !compared.unknown_versions.is_empty() {
            let versions = compared.unknown_versions.join(", ");
            let words = format!(
                "Transcripts of version {versions} were not read before: what they hold may mean something else"
            );
            widgets::wrapped(ui, words, theme::small(), t.warn);
        }
        ui.separator();
        let has_differences = report.differing() > 0;
        if widgets::choose_item(ui, icons::DIFF, "Show the differences…", "", has_differences) {
            cx.send(TranscriptAction::ShowDifferences);
        }
        if widgets::choose_item(ui, icons::REFRESH, "Compare again", "", true) {
            cx.send(TranscriptAction::Compare);
        }
    });
}

/// What is asked before a host's transcripts are read for the first time.
pub fn allow_ui(ui: &mut Ui, cx: &Cx<'_>, place: &TranscriptPlace) {
    widgets::title(ui, cx, &format!("Read transcripts of {}?", place.name));
    widgets::paragraph(
        ui,
        &format!(
            "{} keeps what it gives its model. Loupe reads the transcripts of the session’s time and compares them with \
             its rule. Nothing of them is kept or leaves this computer; only that the rule was confirmed is remembered.",
            place.name
        ),
    );
    let t = theme::of(ui);
    let folder = place.folder.display().to_string();
    widgets::wrapped(ui, folder, theme::mono(12.5), t.strong);
    widgets::note_wrapped(ui, "This is asked once for each host");
    widgets::at_right(ui, theme::BUTTON, |ui| {
        let read = Button::new("Read them")
            .icon(icons::DOCUMENTED)
            .name("Read the transcripts")
            .primary();
        if read.clicked(ui) {
            cx.send(TranscriptAction::Allow);
        }
        widgets::cancel(ui, cx);
    });
}

/// Both texts of each call that differs, around the first difference, and a rule that would give them.
pub fn differences_ui(ui: &mut Ui, cx: &Cx<'_>, height: f32) {
    widgets::title(ui, cx, "The rule and the transcript");
    let Some(TranscriptState::Compared(compared)) =
        cx.state.live.session.as_ref().map(|open| &open.transcript)
    else {
        return;
    };
    let t = theme::of(ui);
    widgets::scroll_within("transcript differences", height - 60.0).show(ui, |ui| {
        let calls = compared.report.calls.iter();
        let differing = calls.filter_map(|call| match &call.outcome {
            TranscriptOutcome::Differs(pair) => Some((call, pair)),
            _ => None,
        });
        for (call, pair) in differing.take(SHOWN) {
            let head = format!(
                "Call {}, {}: first difference at byte {}",
                call.number,
                call.tool,
                widgets::grouped(pair.at[1] as u64)
            );
            ui.add_space(6.0);
            widgets::wrapped(ui, head, theme::semibold(13.0), t.strong);
            let [rule, given] = pair.around();
            for (name, text) in [("Loupe’s rule", rule), ("Transcript", given)] {
                widgets::words(ui, name, theme::small(), t.weak);
                widgets::wrapped(ui, string(&text), theme::mono(12.0), t.text);
            }
        }
        if let Some(change) = &compared.report.change {
            ui.add_space(10.0);
            let words = format!("A rule that gives every text: {}", change.keys.join(", "));
            widgets::wrapped(ui, words, theme::semibold(13.0), t.strong);
            widgets::note_wrapped(ui, "As an entry for your own hosts.toml");
            if widgets::button(ui, "Copy the entry").clicked() {
                cx.send(Action::Copy(change.toml.clone()));
            }
        } else {
            ui.add_space(10.0);
            widgets::note_wrapped(
                ui,
                "No other part, spelling or limit in the rules’ words gives every text, so no entry is offered",
            );
        }
    });
}
