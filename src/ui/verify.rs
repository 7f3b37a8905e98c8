//! A folder of fixtures, called again: which still answer as expected, and what differs, by path.

use egui::{Align2, Margin, Rect, Role, Sense, TextEdit, Ui, UiBuilder, pos2, vec2};

use super::theme;
use super::widgets::{self, Button};
use super::{Cx, icons};
use crate::state::fixture::{FoundFixture, VerifyPart, VerifyRow};
use crate::state::{Action, CallAction, FixtureAction};
use loupe_analysis::fixture::report;

const ROW: f32 = 26.0;

pub fn verify_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let verifying = &cx.state.fixtures.verifying;
    let send = |action| cx.send(Action::Fixture(action));
    let rest = widgets::mode_head(ui, cx, "Verify fixtures", |ui| {
        if verifying.is_running() {
            let button = Button::new("Cancel")
                .icon_fill(icons::STOP)
                .shortcut("Esc")
                .primary();
            if button.enabled(cx.state.running.is_some()).clicked(ui) {
                cx.send(CallAction::Cancel);
            }
            return;
        }
        let has_some = !verifying.fixtures.is_empty();
        let is_connected =
            cx.state.session().connection.is_connected() && cx.state.running.is_none();
        let tip = if is_connected {
            "Each call is made again, one after another"
        } else {
            "Connect to a server first"
        };
        let button = Button::new("Verify against this server")
            .icon_fill(icons::CALL)
            .primary();
        if button
            .enabled(has_some && is_connected)
            .tip(tip)
            .clicked(ui)
        {
            send(FixtureAction::Verify { offline: false });
        }
        let button = Button::new("Check saved answers, no calls")
            .tip("Makes no calls: checks budgets and needed fields only");
        if button.enabled(has_some).clicked(ui) {
            send(FixtureAction::Verify { offline: true });
        }
        let acceptable = verifying.acceptable();
        if acceptable > 0 {
            let words = if acceptable == 1 {
                "Keep the new answer".to_owned()
            } else {
                format!("Keep {acceptable} new answers")
            };
            let tip = "Replaces those of the fixtures. Differences are shown below; expect.toml is not changed";
            if Button::new(&words).icon(icons::CHECK).tip(tip).clicked(ui) {
                send(FixtureAction::Accept(None));
            }
        }
        if Button::new("Open a folder…")
            .icon(icons::OPEN_FILE)
            .clicked(ui)
        {
            send(FixtureAction::Find(None));
        }
    });
    ui.scope_builder(UiBuilder::new().max_rect(rest), |ui| {
        widgets::mode_body(ui, |ui| body_ui(ui, cx));
    });
}

fn body_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = theme::of(ui);
    let verifying = &cx.state.fixtures.verifying;
    let Some(path) = &verifying.path else {
        let words = "Fixtures are saved answers with what is expected of them. Open a folder to repeat the calls and see whether the server still answers the same.";
        if widgets::empty_ui(ui, words, Some("Open a folder of fixtures…")) {
            cx.send(FixtureAction::Find(None));
        }
        return;
    };
    widgets::truncated(ui, path.display().to_string(), theme::code(), t.weak);
    let all = verifying.fixtures.len();
    let totals = verifying.totals();
    let (passed, not_called) = (totals.passed, totals.not_checked);
    let judged = totals.fixtures - not_called;
    let left = all - totals.fixtures;
    let mut words = match (verifying.is_running(), judged) {
        (true, _) => format!("{judged} of {} checked…", count(all)),
        (false, 0) if not_called == 0 => format!("{} to verify", count(all)),
        (false, _) if left > 0 => {
            format!("Stopped: {passed} of {judged} passed, {left} not checked")
        }
        (false, _) => format!("{passed} of {} passed", count(all)),
    };
    if not_called > 0 {
        words += &format!(", {not_called} not called");
    }
    if let Some(server) = verifying.server.as_ref().filter(|_| judged > 0) {
        words += &format!(" · {server}");
    }
    let color = if judged == 0 || passed == judged {
        t.strong
    } else {
        t.bad
    };
    widgets::words(ui, words, theme::semibold(15.0), color);
    if let Some(cost) = totals.cost_line() {
        widgets::truncated(ui, cost, theme::base(), t.text);
    }
    ui.spacing_mut().item_spacing.y = 0.0;
    widgets::scroll("verify").show_rows(ui, ROW, verifying.rows.len(), |ui, range| {
        for row in &verifying.rows[range] {
            let Some(fixture) = verifying.fixtures.get(row.fixture) else {
                continue;
            };
            match row.part {
                VerifyPart::Hidden(at) => hidden_ui(ui, cx, fixture, row.fixture, at),
                VerifyPart::Quiet => quiet_ui(ui, cx, fixture, row.fixture),
                _ => row_ui(ui, cx, fixture, *row),
            }
        }
    });
}

fn count(fixtures: usize) -> String {
    if fixtures == 1 {
        "1 fixture".to_owned()
    } else {
        widgets::number_text(fixtures as u64, "fixtures")
    }
}

/// The field for a value that the fixture hides.
fn hidden_ui(ui: &mut Ui, cx: &Cx<'_>, fixture: &FoundFixture, place: usize, at: usize) {
    let t = theme::of(ui);
    let Some(pointer) = fixture.hidden.get(at) else {
        return;
    };
    let row = widgets::ListRow::to_read(ui, ROW);
    let left = row.inset_left(24.0);
    row.icon(left + 7.0, icons::SECRET, 14.0, t.warn);
    let words = format!("{pointer} is hidden; its value for these calls:");
    let most = row.inset_right(274.0);
    let end = row.text(left + 22.0, most, words, theme::regular(12.0), t.text);
    let mut value = cx.state.filled(place, pointer).to_owned();
    let top = row.rect.top() + 1.0;
    let field = Rect::from_min_size(pos2(end + 10.0, top), vec2(220.0, ROW - 2.0));
    let edit = TextEdit::singleline(&mut value)
        .password(true)
        .font(theme::mono(12.0))
        .margin(Margin::symmetric(6, 3));
    let name = format!("Value of {pointer}, fixture {}", place + 1);
    if ui
        .put(field, edit)
        .on_hover_text("Sent with the call; neither shown nor kept")
        .accessible_name(name)
        .changed()
    {
        cx.send(FixtureAction::Fill {
            fixture: place,
            pointer: pointer.clone(),
            value,
        });
    }
}

/// One line for the checks that failed in nothing, which unfolds them.
fn quiet_ui(ui: &mut Ui, cx: &Cx<'_>, fixture: &FoundFixture, place: usize) {
    let t = theme::of(ui);
    let checks = || fixture.verdict.iter().flat_map(|verdict| &verdict.checks);
    let many = |passed| checks().filter(|check| check.passed == passed).count();
    let mut words = Vec::new();
    for (many, word) in [(many(Some(true)), "passed"), (many(None), "not checked")] {
        if many > 0 {
            words.push(format!("{many} {word}"));
        }
    }
    let words = words.join(", ");
    let (icon, state) = match cx.state.fixtures.verifying.unfolded.contains(&place) {
        true => (icons::DOWN, "unfolded"),
        false => (icons::RIGHT, "folded"),
    };
    let row = widgets::ListRow::keyed(ui, ROW, &format!("quiet checks {place}"));
    row.say(
        Role::Button,
        format!("Checks of fixture {}: {words}, {state}", place + 1),
    );
    row.ground_round(false, theme::RADIUS_CONTROL);
    row.icon(row.inset_left(31.0), icon, 12.0, t.weak);
    let (left, right) = (row.inset_left(46.0), row.inset_right(8.0));
    row.text(left, right, words, theme::regular(12.5), t.weak);
    if row.clicked() {
        cx.send(FixtureAction::ToggleQuiet(place));
    }
}

/// What can be done with the new result of one fixture, at the right end of its row. Returns where it begins.
fn answer_ui(
    ui: &mut Ui,
    cx: &Cx<'_>,
    fixture: &FoundFixture,
    rect: Rect,
    name: &str,
    place: usize,
) -> f32 {
    if fixture.sides.is_none() || cx.state.fixtures.verifying.is_running() {
        return rect.right();
    }
    let mut right = rect.right() - 4.0;
    let mut button = |words: &str, icon: &str, label: &str, width: f32| {
        let at = Rect::from_min_max(
            pos2(right - width, rect.top() + 2.0),
            pos2(right, rect.bottom() - 2.0),
        );
        right = at.left() - 6.0;
        let shown = |ui: &mut Ui| {
            Button::new(words)
                .icon(icon)
                .name(label)
                .tip(label)
                .height(ROW - 4.0)
                .clicked(ui)
        };
        widgets::part(ui, (words, place), at, shown).inner
    };
    if fixture.acceptable().is_some()
        && button(
            "Keep new",
            icons::CHECK,
            &format!("Keep the new answer of {name}"),
            88.0,
        )
    {
        cx.send(FixtureAction::Accept(Some(place)));
    }
    if fixture.differs()
        && button(
            "Difference",
            icons::DIFF,
            &format!("Show what differs in {name}"),
            100.0,
        )
    {
        cx.send(FixtureAction::ShowDifference(place));
    }
    right - 2.0
}

fn row_ui(ui: &mut Ui, cx: &Cx<'_>, fixture: &FoundFixture, row: VerifyRow) {
    let t = theme::of(ui);
    let (rect, response) = widgets::full_width(ui, ROW, Sense::hover());
    let sign = |passed: Option<bool>| match passed {
        Some(true) => (icons::CHECK_CIRCLE, t.ok, "passed"),
        Some(false) => (icons::ERROR, t.bad, "failed"),
        None => (icons::CIRCLE, t.weak, "not checked"),
    };
    let mid = rect.center().y;
    let paint = |ui: &Ui, left: f32, (glyph, color): (&str, egui::Color32)| {
        ui.painter().text(
            pos2(left, mid),
            Align2::LEFT_CENTER,
            glyph,
            theme::icon_fill_font(14.0),
            color,
        );
    };
    let check = match row.part {
        VerifyPart::Check(at) => fixture
            .verdict
            .as_ref()
            .and_then(|verdict| verdict.checks.get(at)),
        _ => None,
    };
    let message = match check {
        Some(check) => {
            let (glyph, color, word) = sign(check.passed);
            let line = report::line(check);
            paint(ui, rect.left() + 24.0, (glyph, color));
            let tone = if check.passed == Some(false) {
                t.strong
            } else {
                t.weak
            };
            widgets::text_at(
                ui,
                pos2(rect.left() + 46.0, mid),
                line.as_str(),
                theme::mono(12.0),
                tone,
                rect.right() - rect.left() - 54.0,
            );
            format!("{word}: {line}")
        }
        None => {
            let name = fixture
                .dir
                .file_name()
                .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            let passed = match (&fixture.verdict, &fixture.read) {
                (Some(verdict), _) => verdict.is_judged().then(|| verdict.passed()),
                (None, Err(_)) => Some(false),
                (None, Ok(_)) => None,
            };
            let (glyph, color, word) = sign(passed);
            let word = match &fixture.verdict {
                None if passed.is_none() => "not judged",
                Some(verdict) if !verdict.is_judged() => "not called",
                Some(verdict) if verdict.is_updated => "the new answer is kept",
                _ => word,
            };
            paint(ui, rect.left() + 2.0, (glyph, color));
            let end = widgets::text_at(
                ui,
                pos2(rect.left() + 24.0, mid),
                name.as_str(),
                theme::mono_semibold(13.0),
                t.strong,
                320.0,
            );
            let rest = match &fixture.read {
                Ok((tool, arguments)) => format!("{word} · {tool} {arguments}"),
                Err(why) => format!("{word} · {why}"),
            };
            let right = answer_ui(ui, cx, fixture, rect, &name, row.fixture);
            widgets::text_at(
                ui,
                pos2(end + 12.0, mid),
                rest.as_str(),
                theme::regular(12.0),
                t.weak,
                right - end - 16.0,
            );
            format!("{name}, {rest}")
        }
    };
    widgets::say(&response, Role::ListItem, &message);
    response.on_hover_text(message);
}
