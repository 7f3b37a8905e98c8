//! Every named screen and every dialog without a mouse and without eyes: what can be clicked is reached by Tab, has a name,
//! is told from its neighbours by it, and shows that it has the keyboard.

use std::collections::{BTreeMap, BTreeSet};

use egui::accesskit::{self, Node, NodeId, Role};
use egui::epaint::ClippedShape;
use egui::{Id, Key, Memory, Modifiers};

use super::*;
use crate::state::fixture::FoundFixture;
use crate::state::{
    AllowedTools, FixtureEvent, HistoryAction, ImportEvent, PathPurpose, PreparedWrap,
    TranscriptPlace,
};
use loupe_core::source::import::wrap::WrapKind;
use loupe_core::source::{Http, LEFT_OUT, Watch, server_key};

/// More controls than any screen has.
const MOST: usize = 600;

/// The nodes of the last pass, with their parents.
fn nodes(stage: &Stage) -> (BTreeMap<NodeId, Node>, BTreeMap<NodeId, NodeId>) {
    let output = stage.shot.output().expect("a pass was made");
    let update = output
        .platform_output
        .accesskit_update
        .clone()
        .expect("the tree is told");
    let parents = update
        .nodes
        .iter()
        .flat_map(|(id, node)| node.children().iter().map(|child| (*child, *id)))
        .collect();
    (update.nodes.into_iter().collect(), parents)
}

/// What the user acts on. A text that is only selected, and a place that a control next to it is clicked by, take no focus.
fn is_control(node: &Node) -> bool {
    let acts = node.supports_action(accesskit::Action::Click)
        || node.supports_action(accesskit::Action::SetValue);
    let is_for_the_mouse = matches!(node.role(), Role::Label | Role::Unknown)
        && !node.supports_action(accesskit::Action::Focus);
    acts && !node.is_disabled()
        && !is_for_the_mouse
        && !matches!(node.role(), Role::ScrollView | Role::ScrollBar)
}

/// Parts of a list, table or tree, which is one stop of Tab; the arrows go from one to the next.
fn is_part(node: &Node) -> bool {
    matches!(
        node.role(),
        Role::TreeItem | Role::Row | Role::ListItem | Role::ListBoxOption
    )
}

/// What is said of a text is its value.
fn name_of(node: &Node) -> &str {
    let value = node.value().filter(|_| node.role() == Role::Label);
    node.label().or(value).map_or("", str::trim)
}

/// What a screen reader says of a control.
fn spoken(node: &Node) -> String {
    let part = |text: Option<&str>| text.unwrap_or_default().trim().to_owned();
    format!(
        "{:?} {:?} {:?}",
        node.role(),
        name_of(node),
        part(node.description())
    )
}

/// How far around a control its ring may be.
const RING: f32 = 4.0;

/// A dialog, and what leads to it.
type Opener = (&'static str, fn(&mut Stage));

/// Every [`Dialog`], in the order of [`place_of`].
const DIALOGS: &[Opener] = &[
    ("ConfirmCall", |stage| {
        quietly(stage, CallAction::Call { send_anyway: true })
    }),
    ("ConfirmCompare", |stage| {
        quietly(
            stage,
            Action::Compare(CompareAction::Start {
                vary: "pageSize".into(),
                written: "5,50".into(),
            }),
        );
    }),
    ("ConfirmFixtures", |stage| {
        let tool = stage.state.tool().unwrap().tool.name.clone();
        let found = FoundFixture {
            dir: "/home/me/fixtures/one".into(),
            read: Ok((tool.clone(), "{}".into())),
            hidden: Vec::new(),
            verdict: None,
            sides: None,
        };
        stage.apply(Event::Fixture(FixtureEvent::Found {
            path: "/home/me/fixtures".into(),
            fixtures: vec![found],
        }));
        quietly(
            stage,
            Action::Fixture(FixtureAction::Verify { offline: false }),
        );
        let calls = Ok(vec![Ok((tool, "{}".into()))]);
        stage.apply(Event::Fixture(FixtureEvent::Prepared { run: 2, calls }));
    }),
    ("Values", |stage| {
        let headers = ["Authorization", "X-Key"].map(|name| (name.to_owned(), LEFT_OUT.to_owned()));
        let source = Source::Http(Http {
            url: "http://127.0.0.1:9/mcp".into(),
            headers: headers.into(),
            ..Http::default()
        });
        let key = server_key(&source, stage.state.servers.here()).unwrap();
        quietly(stage, ConnectAction::Connect(Box::new(source)));
        stage.apply(Event::Import(ImportEvent::ValuesFound {
            key,
            values: Ok(BTreeMap::new()),
        }));
    }),
    ("AllowedTools", |stage| {
        quietly(stage, CallAction::Call { send_anyway: true });
        quietly(stage, CallAction::ConfirmAlways(AllowedTools::All));
        stage.state.running = None;
        show(stage, Dialog::AllowedTools);
    }),
    ("Silence", |stage| {
        let silence = ToolSilence {
            rule: "annotations/missing",
            tool: "search".into(),
            reason: "our host asks".into(),
        };
        show(stage, Dialog::Silence(silence));
    }),
    ("KeepArguments", |stage| {
        quietly(stage, ServersAction::KeepArguments("one".into()));
        quietly(stage, ServersAction::KeepArguments("two".into()));
        show(
            stage,
            Dialog::KeepArguments {
                name: "three".into(),
            },
        );
    }),
    ("Variables", |stage| {
        for name in ["user", "team"] {
            quietly(
                stage,
                ServersAction::SetVariable {
                    name: name.into(),
                    value: Some("1".into()),
                },
            );
        }
        show(
            stage,
            Dialog::Variables {
                name: "new".into(),
                value: "2".into(),
            },
        );
    }),
    ("Watch", |stage| {
        show(
            stage,
            Dialog::Watch(Watch {
                is_on: true,
                places: "src".into(),
                ..Watch::default()
            }),
        )
    }),
    ("Definition", |stage| {
        show(
            stage,
            Dialog::Definition {
                tool: "dual_search_companies".into(),
            },
        )
    }),
    ("OpenLink", |stage| {
        show(
            stage,
            Dialog::OpenLink {
                url: "https://example.org/".into(),
            },
        )
    }),
    ("Shortcuts", |stage| show(stage, Dialog::Shortcuts)),
    ("Palette", |stage| {
        show(
            stage,
            Dialog::Palette {
                text: String::new(),
                chosen: 0,
            },
        )
    }),
    ("History", |stage| {
        let folder = tempfile::tempdir().unwrap();
        stage.perform(Action::History(HistoryAction::Use(
            folder.path().to_owned(),
        )));
        show(stage, Dialog::History);
    }),
    ("Fixture", |stage| {
        stage.open_fixture("/home/me/fixtures").unwrap()
    }),
    ("ToolsChanged", |stage| show(stage, Dialog::ToolsChanged)),
    ("Stderr", |stage| show(stage, Dialog::Stderr)),
    ("ExactCount", |stage| show(stage, Dialog::ExactCount)),
    ("Roots", |stage| {
        show(
            stage,
            Dialog::Roots {
                text: "/home/me".into(),
                is_declared: true,
            },
        )
    }),
    ("Wrap", |stage| {
        let prepared = PreparedWrap {
            kind: WrapKind::Wrap,
            server: "docs".into(),
            path: "/home/me/mcp.json".into(),
            before: String::new(),
            after: String::new(),
            difference: vec!["-{}".into(), "+{ }".into()],
            backup: "/home/me/mcp.json.before-loupe".into(),
            notes: vec!["A note.".into()],
        };
        show(stage, Dialog::Wrap(Box::new(prepared)));
    }),
    ("Path", |stage| {
        show(
            stage,
            Dialog::Path {
                purpose: PathPurpose::OpenCapture,
                text: "/home/me/x.json".into(),
            },
        )
    }),
    ("AllowTranscript", |stage| {
        let place = TranscriptPlace {
            host: "claude-code",
            name: "Claude Code",
            folder: "/home/me/.claude/projects".into(),
        };
        show(stage, Dialog::AllowTranscript(place));
    }),
    ("TranscriptDifferences", |stage| {
        show(stage, Dialog::TranscriptDifferences)
    }),
];

/// Where a dialog is in [`DIALOGS`]: a new one belongs there.
fn place_of(dialog: &Dialog) -> usize {
    match dialog {
        Dialog::ConfirmCall { .. } => 0,
        Dialog::ConfirmCompare { .. } => 1,
        Dialog::ConfirmFixtures { .. } => 2,
        Dialog::Values(_) => 3,
        Dialog::AllowedTools => 4,
        Dialog::Silence(_) => 5,
        Dialog::KeepArguments { .. } => 6,
        Dialog::Variables { .. } => 7,
        Dialog::Watch(_) => 8,
        Dialog::Definition { .. } => 9,
        Dialog::OpenLink { .. } => 10,
        Dialog::Shortcuts => 11,
        Dialog::Palette { .. } => 12,
        Dialog::History => 13,
        Dialog::Fixture => 14,
        Dialog::ToolsChanged => 15,
        Dialog::Stderr => 16,
        Dialog::ExactCount => 17,
        Dialog::Roots { .. } => 18,
        Dialog::Wrap(_) => 19,
        Dialog::Path { .. } => 20,
        Dialog::AllowTranscript(_) => 21,
        Dialog::TranscriptDifferences => 22,
    }
}

/// Changes the state; what follows from it outside is left out: no server is called, nothing is kept.
fn quietly(stage: &mut Stage, action: impl Into<Action>) {
    stage.state.perform(action, &mut Vec::new());
}

fn show(stage: &mut Stage, dialog: Dialog) {
    stage.perform(Action::ShowDialog(dialog));
}

/// The questions of a server, which stand where dialogs do.
const QUESTIONS: &[(&str, &str)] = &[
    (
        "elicitation/create",
        r#"{"message":"Who?","requestedSchema":{"type":"object","required":["name"],"properties":{
        "name":{"type":"string"},"mail":{"type":"string","format":"email"},"day":{"type":"string","format":"date"},
        "age":{"type":"integer","minimum":1},"weight":{"type":"number"},"is_new":{"type":"boolean","default":true},
        "one":{"type":"string","enum":["a","b"]},
        "many":{"type":"array","items":{"type":"string","enum":["a","b"]}}}}}"#,
    ),
    (
        "elicitation/create",
        r#"{"mode":"url","message":"Log in","url":"https://example.org/login","elicitationId":"1"}"#,
    ),
    (
        "sampling/createMessage",
        r#"{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}],"systemPrompt":"Be kind","maxTokens":10}"#,
    ),
    ("roots/list", "{}"),
];

/// What is under the dialogs: a server that things are remembered of, whose tools ask before each call, and a result.
fn stage_of_dialogs() -> Stage {
    let mut stage = Stage::new([1_280, 800], egui::Theme::Dark, true).unwrap();
    stage.shot.ctx.enable_accesskit();
    stage.perform(ServersAction::StartIn("/projects/companies".into()));
    stage.connect(Source::sample()).unwrap();
    stage
        .call(
            "dual_search_companies",
            r#"{"searchTerm":"north","pageSize":5}"#,
        )
        .unwrap();
    let tools = stage
        .state
        .session()
        .tools
        .iter()
        .map(|listed| (*listed.tool).clone())
        .collect();
    let server = Command {
        program: "my-server".into(),
        ..Command::default()
    };
    quietly(
        &mut stage,
        ConnectAction::Connect(Box::new(Source::Command(server))),
    );
    let session = stage.state.session().id;
    for update in [
        SessionUpdate::Connected(Server::default()),
        SessionUpdate::Tools { tools, note: None },
    ] {
        stage
            .state
            .apply(Event::Session { session, update }, &mut Vec::new());
    }
    quietly(
        &mut stage,
        CallAction::SelectTool("dual_search_companies".into()),
    );
    let called = stage.state.captures[0].id.clone();
    quietly(&mut stage, ViewAction::SelectCapture(called));
    assert!(stage.state.can_remember());
    stage
}

/// What is there without the dialog or the question.
fn nodes_under(stage: &mut Stage) -> BTreeSet<NodeId> {
    let dialog = stage.state.dialog.take();
    let asked = std::mem::take(&mut stage.state.session_mut().server_requests.open);
    stage.shot.settled(&stage.state);
    (
        stage.state.dialog,
        stage.state.session_mut().server_requests.open,
    ) = (dialog, asked);
    nodes(stage).0.into_keys().collect()
}

/// Goes through the controls of a screen, or of the dialog above it where `under` is what is below that. Looks at how
/// the focus shows once for each control that sounds the same.
fn faults(
    name: &str,
    stage: &mut Stage,
    under: Option<&BTreeSet<NodeId>>,
    shown: &mut BTreeSet<String>,
) -> Vec<String> {
    stage.shot.settled(&stage.state);
    let mut faults = BTreeSet::new();
    let (all, parents) = nodes(stage);
    let is_judged = |id: &NodeId| under.is_none_or(|under| !under.contains(id));
    let mut seen: BTreeMap<(Option<NodeId>, String), NodeId> = BTreeMap::new();
    for (id, node) in all
        .iter()
        .filter(|(id, node)| is_judged(id) && is_control(node))
    {
        if name_of(node).is_empty() {
            faults.insert(format!(
                "{name}: no name: {:?} at {:?}",
                node.role(),
                node.bounds()
            ));
        } else if !is_part(node)
            && let Some(twin) = seen.insert((parents.get(id).copied(), spoken(node)), *id)
        {
            faults.insert(format!(
                "{name}: two are {} at {:?} and {:?}",
                spoken(node),
                all[&twin].bounds(),
                node.bounds()
            ));
        }
    }
    // Round by Tab until the first comes again.
    let (mut reached, mut first, mut last) = (BTreeSet::new(), None, None);
    for _ in 0..MOST {
        let event = |pressed| egui::Event::Key {
            key: Key::Tab,
            physical_key: None,
            pressed,
            repeat: false,
            modifiers: Modifiers::NONE,
        };
        // What the window would do is not asked: only where the focus goes.
        stage
            .shot
            .frame_with(&stage.state, vec![event(true), event(false)]);
        let Some(focus) = stage.shot.ctx.memory(Memory::focused) else {
            continue;
        };
        if first == Some(focus) {
            break;
        }
        first = first.or(Some(focus));
        reached.insert(focus.accesskit_id());
        let told = all
            .get(&focus.accesskit_id())
            .map(spoken)
            .filter(|told| shown.insert(told.clone()));
        if all
            .get(&focus.accesskit_id())
            .is_some_and(|node| name_of(node).is_empty())
        {
            faults.insert(format!(
                "{name}: Tab stops at what has no name: {:?}",
                all[&focus.accesskit_id()]
            ));
        }
        if let Some((told, last)) = told.zip(last)
            && let Some(fault) = fault_of_focus(stage, focus, last)
        {
            faults.insert(format!("{name}: {fault}: {told}"));
        }
        last = Some(focus);
    }
    if reached.len() < 3 && under.is_none() {
        faults.insert(format!("{name}: Tab goes nowhere"));
    }
    for (_, node) in all.iter().filter(|(id, node)| {
        is_judged(id) && is_control(node) && !is_part(node) && !reached.contains(*id)
    }) {
        faults.insert(format!("{name}: not reached by Tab: {}", spoken(node)));
    }
    let outside = reached
        .iter()
        .filter(|id| !is_judged(id))
        .filter_map(|id| all.get(id));
    faults.extend(
        outside.map(|node| format!("{name}: Tab leads out of the dialog: {}", spoken(node))),
    );
    faults.into_iter().collect()
}

/// What is painted at a place in the last pass.
fn painted(stage: &Stage, place: egui::Rect) -> Vec<ClippedShape> {
    let shapes = stage.shot.output().map_or(&[][..], |output| &output.shapes);
    let is_there = |shape: &&ClippedShape| {
        shape
            .clip_rect
            .intersect(shape.shape.visual_bounding_rect())
            .intersects(place)
    };
    shapes.iter().filter(is_there).cloned().collect()
}

/// Why nobody sees that a control has the keyboard: it looks as it does while another has it.
fn fault_of_focus(stage: &mut Stage, focus: Id, other: Id) -> Option<&'static str> {
    let look = |stage: &mut Stage| {
        // Until what scrolls is where it shall be.
        for _ in 0..4 {
            stage.shot.frame(&stage.state);
        }
        let response = stage.shot.ctx.read_response(focus)?;
        Some((
            response.interact_rect,
            painted(stage, response.interact_rect.expand(RING)),
        ))
    };
    let (place, with) = look(stage)?;
    stage
        .shot
        .ctx
        .memory_mut(|memory| memory.request_focus(other));
    let without = look(stage);
    // The field of the palette keeps the keyboard.
    let is_kept = stage.shot.ctx.memory(|memory| memory.has_focus(focus));
    stage
        .shot
        .ctx
        .memory_mut(|memory| memory.request_focus(focus));
    stage.shot.frame(&stage.state);
    if !place.is_positive() {
        return Some("out of sight with the focus");
    }
    without
        .filter(|(other_place, without)| !is_kept && *other_place == place && *without == with)
        .map(|_| "looks the same with the focus")
}

#[test]
fn every_control_is_reached_by_tab_has_a_name_of_its_own_and_shows_the_focus() {
    let mut shown = BTreeSet::new();
    let mut all = Vec::new();
    for name in SCREENS {
        let stage = Stage::new([1_280, 800], egui::Theme::Dark, true).unwrap();
        stage.shot.ctx.enable_accesskit();
        let mut stage = staged(stage, name, None, None, None)
            .unwrap_or_else(|problem| panic!("{name}: {problem}"));
        let under = stage
            .state
            .dialog
            .is_some()
            .then(|| nodes_under(&mut stage));
        all.extend(faults(name, &mut stage, under.as_ref(), &mut shown));
    }
    assert!(all.is_empty(), "{} faults:\n{}", all.len(), all.join("\n"));
}

#[test]
fn every_dialog_is_gone_through_by_tab() {
    let mut shown = BTreeSet::new();
    let mut all = Vec::new();
    for (at, (name, open)) in DIALOGS.iter().enumerate() {
        let mut stage = stage_of_dialogs();
        open(&mut stage);
        let opened = stage.state.dialog.as_ref().map(place_of);
        assert_eq!(opened, Some(at), "{name} does not open");
        let under = nodes_under(&mut stage);
        all.extend(faults(name, &mut stage, Some(&under), &mut shown));
    }
    for (method, params) in QUESTIONS {
        let mut stage = stage_of_dialogs();
        stage.state.as_if_asked(method, params);
        assert!(
            !stage.state.session().server_requests.open.is_empty(),
            "{method} is asked"
        );
        let under = nodes_under(&mut stage);
        all.extend(faults(method, &mut stage, Some(&under), &mut shown));
    }
    assert!(all.is_empty(), "{} faults:\n{}", all.len(), all.join("\n"));
}
