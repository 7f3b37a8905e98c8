//! What those need who do not look, or look otherwise: news said aloud, nothing that moves, more contrast.

use std::collections::{BTreeMap, BTreeSet};

use egui::accesskit::{Live, Node, NodeId};
use egui::epaint::ClippedShape;
use egui::{Color32, Shape};

use super::*;
use crate::state::SettingsAction;

fn stage() -> Stage {
    let mut stage = Stage::new([1_280, 800], egui::Theme::Dark, true).unwrap();
    stage.shot.ctx.enable_accesskit();
    stage.connect(Source::sample()).unwrap();
    stage
}

/// Everything that stands where changes are said aloud, in the last pass.
fn aloud(stage: &mut Stage) -> String {
    stage.shot.settled(&stage.state);
    let output = stage.shot.output().expect("a pass was made");
    let update = output
        .platform_output
        .accesskit_update
        .as_ref()
        .expect("the tree is told");
    let nodes: BTreeMap<NodeId, &Node> =
        update.nodes.iter().map(|(id, node)| (*id, node)).collect();
    let is_live = |node: &Node| matches!(node.live(), Some(Live::Polite | Live::Assertive));
    let mut open: Vec<NodeId> = nodes
        .iter()
        .filter(|(_, node)| is_live(node))
        .map(|(id, _)| *id)
        .collect();
    let (mut seen, mut message) = (BTreeSet::new(), Vec::new());
    while let Some(id) = open.pop() {
        let Some(node) = nodes.get(&id).filter(|_| seen.insert(id)) else {
            continue;
        };
        message.extend(
            node.label()
                .into_iter()
                .chain(node.value())
                .map(str::to_owned),
        );
        open.extend(node.children());
    }
    message.join("\n")
}

#[track_caller]
fn check_aloud(stage: &mut Stage, words: &str) {
    let message = aloud(stage);
    assert!(
        message.contains(words),
        "“{words}” is not said, but:\n{message}"
    );
}

#[test]
fn how_a_call_ended_is_said_aloud() {
    let mut stage = stage();
    check_aloud(&mut stage, "Connected");
    stage
        .call(
            "dual_search_companies",
            r#"{"searchTerm":"north","pageSize":5}"#,
        )
        .unwrap();
    check_aloud(&mut stage, "Done in");
    stage
        .call("strict_search_companies", r#"{"pageSize":9999}"#)
        .unwrap();
    check_aloud(&mut stage, "strict_search_companies failed, isError");
}

#[test]
fn what_went_wrong_and_what_was_copied_is_said_aloud() {
    let mut stage = stage();
    stage
        .call(
            "dual_search_companies",
            r#"{"searchTerm":"north","pageSize":5}"#,
        )
        .unwrap();
    stage.apply(Event::Problem(
        Problem::new(ProblemKind::Io, "the folder cannot be written").hint("choose another"),
    ));
    check_aloud(&mut stage, "the folder cannot be written");
    // Somebody copies: the window has the clipboard.
    stage
        .state
        .perform(Action::Copy("a value".into()), &mut Vec::new());
    check_aloud(&mut stage, "Copied");
    let search = Search {
        text: "north".into(),
        kind: SearchKind::Plain,
    };
    stage.perform(ViewAction::SetSearch(Some(search)));
    stage.settle().unwrap();
    check_aloud(&mut stage, "1 of ");
}

#[test]
fn a_connection_that_fails_or_ends_is_said_aloud() {
    let mut stage = stage();
    let missing = Command {
        program: "no-such-server-at-all".into(),
        ..Command::default()
    };
    stage.perform(ConnectAction::Connect(Box::new(Source::Command(missing))));
    stage
        .until("the connection failed", |state| {
            !matches!(state.session().connection, Connection::Connecting { .. })
        })
        .unwrap();
    let Connection::Failed { problem, .. } = &stage.state.session().connection else {
        panic!("it failed")
    };
    let words = problem.what.clone();
    check_aloud(&mut stage, &words);
}

/// Everything painted but words.
fn without_words(stage: &mut Stage) -> Vec<ClippedShape> {
    stage.shot.settled(&stage.state);
    let shapes = stage.shot.output().map_or(&[][..], |output| &output.shapes);
    shapes
        .iter()
        .filter(|shape| !matches!(shape.shape, Shape::Text(_)))
        .cloned()
        .collect()
}

/// Whether anything but words is elsewhere a moment later, while a call runs.
fn moves(stage: &mut Stage) -> bool {
    let before = without_words(stage);
    // The seconds keep their width.
    let later = stage.state.now + Duration::from_millis(310);
    stage.state.tick(later);
    before != without_words(stage)
}

#[test]
fn with_reduced_motion_nothing_moves_while_a_call_runs() {
    for screen in ["main", "loading"] {
        let stage = Stage::new([1_280, 800], egui::Theme::Dark, true).unwrap();
        let mut stage = staged(stage, screen, None, None, None).unwrap();
        if screen == "main" {
            // The result of before stays in sight, with a bar that slides above it.
            stage.begin_call("strict_search_companies", "{}").unwrap();
        }
        let now = stage.state.now + Duration::from_millis(1_240);
        stage.state.tick(now);
        assert!(
            moves(&mut stage),
            "{screen}: while it is not reduced it does"
        );
        stage.perform(SettingsAction::ReduceMotion(true));
        assert!(!moves(&mut stage), "{screen}");
        let style = stage.shot.ctx.global_style();
        assert_eq!(style.animation_time.to_bits(), 0.0_f32.to_bits());
        assert!(!style.visuals.text_cursor.blink, "the caret stands still");
    }
}

/// Without a graphics card painting takes processors from the counting that is waited for.
#[test]
fn at_most_twelve_frames_a_second_are_painted_while_waiting() {
    for screen in ["main", "loading"] {
        let stage = Stage::new([1_280, 800], egui::Theme::Dark, true).unwrap();
        let mut stage = staged(stage, screen, None, None, None).unwrap();
        if screen == "main" {
            stage.begin_call("strict_search_companies", "{}").unwrap();
        }
        stage.shot.settled(&stage.state);
        let output = stage.shot.output().unwrap();
        let delay = output
            .viewport_output
            .values()
            .map(|viewport| viewport.repaint_delay)
            .min()
            .unwrap();
        assert!(delay >= Duration::from_millis(80), "{screen}: {delay:?}");
        assert!(delay < Duration::from_secs(1), "{screen}: it moves");
    }
}

/// The colours of every word painted.
fn colours_of_words(stage: &mut Stage) -> BTreeSet<[u8; 4]> {
    stage.shot.settled(&stage.state);
    let mut colours = BTreeSet::new();
    for shape in stage.shot.output().map_or(&[][..], |output| &output.shapes) {
        if let Shape::Text(text) = &shape.shape {
            colours.insert(text.fallback_color.to_array());
            for section in &text.galley.job.sections {
                colours.insert(section.format.color.to_array());
            }
        }
    }
    colours.remove(&Color32::PLACEHOLDER.to_array());
    colours
}

#[test]
fn more_contrast_is_painted_at_once_in_both_themes() {
    for theme in [egui::Theme::Dark, egui::Theme::Light] {
        let stage = Stage::new([1_280, 800], theme, true).unwrap();
        let mut stage = staged(stage, "main", None, None, None).unwrap();
        let usual = colours_of_words(&mut stage);
        stage.perform(SettingsAction::MoreContrast(true));
        let more = colours_of_words(&mut stage);
        let tokens = |has_more| *crate::ui::theme::ThemeTokens::for_theme(theme, has_more);
        let (weak, strong) = (tokens(false).weak.to_array(), tokens(true).weak.to_array());
        assert!(usual.contains(&weak) && more.contains(&strong), "{theme:?}");
        assert!(
            !more.contains(&weak),
            "{theme:?}: secondary text keeps no colour of before"
        );
    }
}
