//! Findings are gone through, fixes tried, and a project's settings followed.

use super::painted::{marked, paints};
use super::{Window, called, click, press, until, until_label};
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable;
use loupe_analysis::finding::{
    AnswerFindings, FindingPlace, FindingsQuery, LocationPart, Profile, Severity,
};
use loupe_analysis::queries;
use loupe_core::capture::ParsedResponse;
use loupe_core::host::{Hosts, ViewContext};
use loupe_core::token::{Tokenizer, count, format_count};
use mcp_loupe::state::{
    Action, Dialog, DrawerTab, FindingsAction, PaneView, QueryState, ViewAction,
};
use std::sync::Arc;

/// The findings of the answer, once they are known.
fn known(window: &mut Window) -> Arc<AnswerFindings> {
    let found = |window: &Window| {
        let state = &window.state().state;
        let query = FindingsQuery {
            settings: Arc::clone(&state.view.findings.rules),
            reads: state.read_choice(),
        };
        match state.query_results.get(&state.captures[0].id, query) {
            Some(QueryState::Ready(found)) => Some(Arc::clone(found)),
            _ => None,
        }
    };
    until(window, "the findings are known", |window| {
        found(window).is_some()
    });
    found(window).unwrap_or_else(|| panic!("they were known"))
}

#[test]
fn findings_are_gone_through_by_key() {
    let mut window = called([1_280.0, 800.0], "dual_search_companies");
    known(&mut window);
    press(&mut window, Key::F8, Modifiers::NONE);
    until(&mut window, "the first is selected", |window| {
        window.state().state.view.findings.selected.is_some()
    });
    assert_eq!(window.state().state.view.drawer, DrawerTab::Findings);
    until(&mut window, "they are read", |window| {
        paints(window, "parity/text-not-json") || paints(window, "parity/value-missing-in-text")
    });
    let at = window.state().state.view.findings.selected;
    press(&mut window, Key::F8, Modifiers::NONE);
    until(&mut window, "the next one is selected", |window| {
        window.state().state.view.findings.selected != at
    });
    press(&mut window, Key::F8, Modifiers::SHIFT);
    until(&mut window, "the one before is", |window| {
        window.state().state.view.findings.selected == at
    });
    // A profile's rules come with it, and a severity alone is listed.
    let profile = FindingsAction::ToggleProfile(Profile::parse("dual-content").unwrap());
    window.state_mut().state.perform(profile, &mut Vec::new());
    window.state_mut().state.perform(
        FindingsAction::OnlySeverity(Some(Severity::Error)),
        &mut Vec::new(),
    );
    until(&mut window, "its errors are read", |window| {
        paints(window, "dual-content") && !paints(window, "Warnings")
    });
    let before = window.state().state.toasts.len();
    click(&mut window, "Copy the listed findings as Markdown");
    until(&mut window, "they are copied", |window| {
        window.state().state.toasts.len() > before
    });
}

#[test]
fn a_fix_says_what_it_saves_in_the_large_view() {
    let mut window = called([1_600.0, 1_000.0], "dual_search_companies");
    // Wide as it is, the findings stand beside the ledger.
    until_label(&mut window, "Enlarge the findings");
    click(&mut window, "Enlarge the findings");
    until_label(&mut window, "Make the findings small");
    assert_eq!(window.state().state.view.drawer, DrawerTab::Findings);
    let area = FindingsAction::OnlyArea(Some("shape"));
    window.state_mut().state.perform(area, &mut Vec::new());
    window
        .state_mut()
        .state
        .perform(FindingsAction::Find("emoji".into()), &mut Vec::new());
    until(&mut window, "what it saves is counted", |window| {
        paints(window, "Measured saving") && paints(window, " → ")
    });
    let found = known(&mut window);
    let mut fixes = found
        .findings
        .iter()
        .filter(|found| found.rule.id.contains("emoji"));
    let fixed = fixes.find_map(|found| found.mended.clone());
    let capture = &window.state().state.captures[0];
    let response = ParsedResponse::read(capture.response.clone().unwrap());
    let before = count(&response.content_text().unwrap());
    let saves = before.less(count(fixed.unwrap().parts.text.as_ref().unwrap()));
    let claude = Tokenizer::Claude.from_tokens(saves).map(format_count);
    for line in [
        format!("cl100k_base: Text {} tok less", saves.cl100k_base),
        format!("claude: Text {} tok less", claude.unwrap()),
    ] {
        until(&mut window, &line, |window| paints(window, &line));
    }
    assert!(paints(&window, "measured saving, o200k_base"));
    assert!(paints(&window, &format!("−{} tok", saves.o200k_base)));
    let tokenizer = Tokenizer::named("cl100k_base").unwrap();
    window.state_mut().state.settings.tokenizer = tokenizer;
    let line = format!("o200k_base: Text {} tok less", saves.o200k_base);
    until(&mut window, &line, |window| paints(window, &line));
    assert!(paints(&window, "measured saving, cl100k_base"));
    assert!(paints(&window, &format!("−{} tok", saves.cl100k_base)));
}

#[test]
fn a_low_window_has_the_filters_behind_one_button() {
    let mut window = called([1_280.0, 780.0], "dual_search_companies");
    known(&mut window);
    for action in [
        FindingsAction::Enlarge(true).into(),
        ViewAction::ShowDrawer(DrawerTab::Findings).into(),
    ] {
        let action: Action = action;
        window.state_mut().state.perform(action, &mut Vec::new());
    }
    until_label(&mut window, "Make the findings small");
    assert!(window.query_by_label("Filter findings").is_none());
    click(&mut window, "Filter");
    until_label(&mut window, "Filter findings");
    let area = window.get_by_label_contains("Annotations ");
    area.click();
    until(&mut window, "the area alone is listed", |window| {
        window.state().state.view.findings.area == Some("annotations")
    });
    window.get_by_label_contains("dual-content: ").click();
    until(&mut window, "the style is added", |window| {
        let profile = Profile::parse("dual-content").unwrap();
        let rules = &window.state().state.view.findings.rules;
        rules.profiles.contains(&profile)
    });
}

#[test]
fn fields_of_one_kind_are_one_row_until_it_is_opened() {
    let mut window = called([1_600.0, 1_000.0], "dual_search_companies");
    known(&mut window);
    let show = ViewAction::ShowDrawer(DrawerTab::Findings);
    window.state_mut().state.perform(show, &mut Vec::new());
    until_label(&mut window, "3 fields: isActive, lastModifiedDate, phone, ");
    assert!(!paints(&window, "isActive reformatted in the text"));
    window.get_by_label_contains("3 fields: ").click();
    until(&mut window, "each is listed", |window| {
        paints(window, "isActive reformatted in the text")
    });
    window.get_by_label_contains("3 fields: ").click();
    until(&mut window, "they are one row again", |window| {
        !paints(window, "isActive reformatted in the text")
    });
}

#[test]
fn a_loupe_toml_is_followed() {
    let mut window = called([1_280.0, 800.0], "dual_search_companies");
    let toml =
        "[rules.\"annotations/missing\"]\noff = true\nreason = \"our host does not read them\"\n";
    let show = ViewAction::ShowDrawer(DrawerTab::Findings);
    window.state_mut().state.perform(show, &mut Vec::new());
    window.state_mut().state.perform(
        FindingsAction::OnlyArea(Some("annotations")),
        &mut Vec::new(),
    );
    until(&mut window, "it is found without", |window| {
        paints(window, "annotations/missing")
    });
    let follow = FindingsAction::UseRules {
        file: "/project/loupe.toml".into(),
        text: toml.into(),
    };
    window.state_mut().state.perform(follow, &mut Vec::new());
    until(&mut window, "it is not found", |window| {
        !paints(window, "annotations/missing")
    });
    click(&mut window, "Filter");
    until(&mut window, "it says so", |window| {
        paints(window, "Rules follow /project/loupe.toml")
    });
}

#[test]
fn a_finding_is_marked_in_what_a_host_shows() {
    let mut window = called([1_600.0, 1_000.0], "dual_search_companies");
    let found = known(&mut window);
    let capture = Arc::clone(&window.state().state.captures[0]);
    let text = ParsedResponse::new(&capture)
        .content_text()
        .unwrap_or_default();
    let (hosts, subject, context) = (
        Hosts::built_in(),
        queries::subject(Arc::clone(&capture)),
        ViewContext::new(&capture),
    );
    let host = hosts
        .iter()
        .find(|host| host.view(&subject, &context).text.contains(&text))
        .map(|host| host.id);
    let host = host.unwrap_or_else(|| panic!("no host shows the text"));
    // The first place in one line of the text.
    let places = found
        .places
        .iter()
        .enumerate()
        .flat_map(|(at, places)| places.iter().map(move |place| (at, place)));
    let in_text = places.filter_map(|(at, place)| match place {
        FindingPlace::Text(range) if (2..60).contains(&range.len()) => {
            Some((at, &text[range.clone()]))
        }
        _ => None,
    });
    let (at, words) = in_text
        .clone()
        .find(|(_, words)| !words.contains('\n'))
        .unwrap_or_else(|| panic!("{:?}", found.places));
    let severity = found.findings[at].severity;
    for action in [
        ViewAction::SetPane {
            pane: 0,
            shows: PaneView::Tree,
        },
        ViewAction::SetPane {
            pane: 1,
            shows: PaneView::Host(host),
        },
        ViewAction::ShowDrawer(DrawerTab::Findings),
    ] {
        window.state_mut().state.perform(action, &mut Vec::new());
    }
    window
        .state_mut()
        .state
        .perform(FindingsAction::Select(Some(at)), &mut Vec::new());
    let what = format!("{words:?} is marked in the pane of {host}");
    until(&mut window, &what, |window| {
        marked(window, severity)
            .iter()
            .any(|marked| marked == words)
    });
}

#[test]
fn findings_are_marked_in_the_definition() {
    let mut window = called([1_600.0, 1_000.0], "dual_search_companies");
    let show = ViewAction::ShowDrawer(DrawerTab::Findings);
    window.state_mut().state.perform(show, &mut Vec::new());
    window.state_mut().state.perform(
        FindingsAction::ToggleProfile(Profile::parse("strict").unwrap()),
        &mut Vec::new(),
    );
    let found = known(&mut window);
    let is_of_key = |place: &loupe_analysis::finding::Location| {
        place.part == LocationPart::Definition && place.path.starts_with("/inputSchema/properties/")
    };
    let finding = found
        .findings
        .iter()
        .enumerate()
        .find(|(_, finding)| finding.places.iter().any(is_of_key));
    let (at, finding) =
        finding.unwrap_or_else(|| panic!("none is about an argument: {:?}", found.findings));
    let path = finding
        .places
        .iter()
        .find(|place| is_of_key(place))
        .map(|place| place.path.clone())
        .unwrap_or_default();
    let key = path.split('/').nth(3).unwrap_or_default().to_owned();
    let tool = "dual_search_companies".to_owned();
    window
        .state_mut()
        .state
        .perform(FindingsAction::Select(Some(at)), &mut Vec::new());
    window.state_mut().state.perform(
        Action::ShowDialog(Dialog::Definition { tool }),
        &mut Vec::new(),
    );
    let what = format!("the line of {key} is marked");
    until(&mut window, &what, |window| {
        marked(window, finding.severity)
            .iter()
            .any(|marked| marked.contains(&format!("\"{key}\"")))
    });
    // What is marked is said as well.
    until_label(&mut window, &format!("; {}", finding.message));
}

#[test]
fn what_is_silenced_is_listed_with_its_reason() {
    let mut window = called([1_600.0, 1_000.0], "dual_search_companies");
    let show = ViewAction::ShowDrawer(DrawerTab::Findings);
    window.state_mut().state.perform(show, &mut Vec::new());
    window.state_mut().state.perform(
        FindingsAction::OnlyArea(Some("annotations")),
        &mut Vec::new(),
    );
    until(&mut window, "it is found without", |window| {
        paints(window, "annotations/missing")
    });
    assert!(!paints(&window, "Silenced for this tool"));
    let silence = "[[silence]]\nrule = \"annotations/missing\"\ntool = \"dual_search_companies\"\nreason = \"our host asks anyway\"\n";
    let follow = FindingsAction::UseRules {
        file: "/project/loupe.toml".into(),
        text: silence.into(),
    };
    window.state_mut().state.perform(follow, &mut Vec::new());
    until(&mut window, "it is listed as silenced", |window| {
        paints(window, "Silenced for this tool") && paints(window, "our host asks anyway")
    });
    // It is no finding any more, neither to be read nor by name.
    let name = "annotations/missing is silenced: our host asks anyway";
    assert_eq!(window.query_all_by_label(name).count(), 1);
    assert_eq!(
        window
            .query_all_by_label_contains("annotations/missing")
            .count(),
        1
    );
}
