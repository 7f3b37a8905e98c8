//! At no size of the window and of the text is a control cut or covered.

use super::{WHOLE, Window, click, on_sample, press, until, until_label};
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable;
use loupe_core::problem::{Problem, ProblemKind};
use mcp_loupe::state::{Action, CompareTab, HostsAction, ViewAction};

/// Whatever the size of the window, every control is in it, and none stands on another.
#[test]
fn no_control_is_cut_or_covered_at_any_size() {
    let mut window = on_sample();
    press(&mut window, Key::Enter, Modifiers::COMMAND);
    until_label(&mut window, "Text, what ");
    let mut wrong = Vec::new();
    check_controls(&mut window, "answer", &mut wrong);
    let problem = |what: &str| {
        mcp_loupe::state::Event::Problem(
            Problem::new(ProblemKind::Io, what)
                .at("/folder/of/a/file.json")
                .hint("choose another folder"),
        )
    };
    for what in [
        "cannot write the file: permission denied",
        "cannot read the file: it is gone",
    ] {
        window
            .state_mut()
            .state
            .apply(problem(what), &mut Vec::new());
    }
    check_controls(&mut window, "answer with a problem", &mut wrong);
    until_label(&mut window, "and 1 other");
    // F6 leads to it, and Enter closes it.
    let is_there = |window: &Window| window.query_by_label("Close the message").is_some();
    for _ in 0..2 {
        for _ in 0..9 {
            press(&mut window, Key::F6, Modifiers::NONE);
            if window.get_by_label("Close the message").is_focused() {
                break;
            }
        }
        press(&mut window, Key::Enter, Modifiers::NONE);
    }
    assert!(!is_there(&window), "both are closed");
    press(&mut window, Key::Num5, Modifiers::COMMAND);
    check_controls(&mut window, "hosts of the answer", &mut wrong);
    press(&mut window, Key::Num6, Modifiers::COMMAND);
    check_controls(&mut window, "tokens of the answer", &mut wrong);
    window.set_size(egui::vec2(1_280.0, 800.0));
    window.step();
    press(&mut window, Key::Num4, Modifiers::COMMAND);
    click(&mut window, "Compare json / markdown · 1 more call");
    until_label(&mut window, "json text, baseline: ");
    check_controls(&mut window, "comparison", &mut wrong);
    // The record below the matrix leads to its texts.
    window.set_size(egui::vec2(1_280.0, 800.0));
    window.step();
    window.get_by_label_contains("Arguments: response_format json / markdown");
    let row = window.query_all_by_label_contains("1, ").find(|row| {
        egui_kittest::kittest::NodeT::accesskit_node(row).role() == egui::accesskit::Role::Button
    });
    row.unwrap_or_else(|| panic!("no record")).click();
    until(&mut window, "its texts are shown", |window| {
        window
            .state()
            .state
            .comparisons
            .current
            .as_ref()
            .is_some_and(|compare| compare.tab == Some(CompareTab::Records))
    });
    check_controls(&mut window, "comparison by record", &mut wrong);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The same of an answer of text alone, of one in which nothing is data, and of the hosts of both.
#[test]
fn no_control_of_a_text_is_cut_or_covered_at_any_size() {
    let mut wrong = Vec::new();
    for file in ["file-info", "page-converted"] {
        let mut window = on_sample();
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/data/text")
            .join(file)
            .join("answer.json");
        let ctx = window.ctx.clone();
        window
            .state_mut()
            .perform(&ctx, vec![Action::OpenPath(Some(path))]);
        until_label(&mut window, "Text, what ");
        check_controls(&mut window, file, &mut wrong);
        window
            .state_mut()
            .perform(&ctx, vec![Action::Hosts(HostsAction::Show(None))]);
        until_label(&mut window, "Hosts by outcome");
        check_controls(&mut window, &format!("hosts of {file}"), &mut wrong);
        let host = window.state().state.hosts.iter().next().map(|host| host.id);
        window.state_mut().perform(
            &ctx,
            vec![
                Action::Hosts(HostsAction::ViewAs(host)),
                ViewAction::ShowAnswer.into(),
            ],
        );
        until_label(&mut window, "As Claude Code sends it, ");
        check_controls(
            &mut window,
            &format!("{file} as a host sends it"),
            &mut wrong,
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Notes the controls that leave the window or stand on others, at 42 sizes, and larger and smaller at four of them.
fn check_controls(window: &mut Window, screen: &str, wrong: &mut Vec<String>) {
    use egui::accesskit::Role;
    use egui_kittest::kittest::NodeT as _;

    let widths = [
        640, 700, 760, 860, 960, 1_100, 1_150, 1_200, 1_280, 1_366, 1_440, 1_600, 1_920, 2_560,
    ];
    let sizes = widths
        .into_iter()
        .flat_map(|width| [520, 800, 1_000].map(|height| (width, height, 1.0)));
    for (width, height, zoom) in sizes.chain([
        (1_600, 1_000, 0.8),
        (1_024, 640, 1.25),
        (853, 533, 1.5),
        (640, 520, 2.0),
    ]) {
        let size = egui::vec2(width as f32, height as f32);
        window.ctx.set_zoom_factor(zoom);
        window.step();
        window.set_size(size);
        (0..4).for_each(|_| window.step());
        assert_eq!(window.ctx.content_rect().size(), size, "{screen} at {zoom}");
        let inside = egui::Rect::from_min_size(egui::Pos2::ZERO, size).expand(1.0);
        let of = |role| window.query_all_by_role(role).collect::<Vec<_>>();
        let controls = [Role::Button, Role::TextInput, Role::Tab, Role::RadioButton]
            .into_iter()
            .flat_map(of);
        let placed: Vec<(String, egui::Rect)> = controls
            .map(|node| {
                (
                    node.accesskit_node().label().unwrap_or_default(),
                    node.rect(),
                )
            })
            .filter(|(_, rect)| rect.area() > 0.0)
            .collect();
        // The line below a capture ends in its time, which may go.
        let cut = elided(window).into_iter().filter(|text| {
            !text.ends_with(" ms") && WHOLE.iter().any(|words| text.contains(words))
        });
        wrong.extend(cut.map(|text| format!("{screen} {width}x{height}: {text:?} is cut")));
        assert!(
            placed.len() > 10,
            "{screen} {width}x{height} has {} controls",
            placed.len()
        );
        for (at, (name, rect)) in placed.iter().enumerate() {
            // Lists scroll up and down, columns of a comparison across.
            if !screen.starts_with("comparison")
                && (rect.left() < inside.left() || rect.right() > inside.right())
            {
                wrong.push(format!(
                    "{screen} {width}x{height}: {name:?} {rect:?} leaves the window"
                ));
            }
            for (other, place) in &placed[at + 1..] {
                let both = rect.intersect(*place);
                // What holds a control is no other control beside it.
                let is_within = rect.contains_rect(*place) || place.contains_rect(*rect);
                if both.width() > 2.0 && both.height() > 2.0 && !is_within {
                    wrong.push(format!("{screen} {width}x{height}: {name:?} {rect:?} and {other:?} {place:?} overlap"));
                }
            }
        }
    }
    window.ctx.set_zoom_factor(1.0);
}

/// Texts that are painted shortened.
fn elided(window: &Window) -> Vec<String> {
    fn gather(shape: &egui::Shape, found: &mut Vec<String>) {
        match shape {
            egui::Shape::Vec(shapes) => shapes.iter().for_each(|shape| gather(shape, found)),
            egui::Shape::Text(text) if text.galley.elided => {
                found.push(text.galley.text().to_owned())
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    window
        .output()
        .shapes
        .iter()
        .for_each(|clipped| gather(&clipped.shape, &mut found));
    found
}
