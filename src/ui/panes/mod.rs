//! The three panes: their frame, how they share the room, and the list of what a pane can show.

mod card;
pub mod colour;
mod copy;
mod data_table;
mod find;
mod finding_nav;
mod format_problems;
mod frame;
mod glyph;
mod header;
mod hex;
mod host;
mod inline;
pub mod item;
pub mod markdown;
mod picture;
mod reader_menu;
pub mod rendered;
mod select;
mod strip;
pub mod table;
mod text;
mod title;
mod tree;
mod variant;

use egui::{Id, Ui};

use self::header::Chooser;
use self::title::Title;
use super::theme::ThemeTokens;
use super::{Cx, widgets};
use crate::state::{Action, PaneContent, PaneView, QueryState};
use loupe_core::format::ParsedCapture;
use loupe_core::problem::{Problem, ProblemKind};

pub use finding_nav::show_places;
pub use frame::panes_ui;
pub use host::{host_alone_ui, legend_ui as host_legend_ui, next_cut, show_in_host};
pub use reader_menu::readers_ui;

/// What tells the panes apart, whatever they show.
pub const PLACES: [&str; 3] = ["first", "second", "third"];

/// What a body gets besides `Ui` and state: which pane it is, and of which format.
pub struct PaneCx {
    pub index: usize,
    /// The format's id; `structured` of the data, `host` of a host's text.
    pub format: &'static str,
    /// Whether keys are this pane's.
    pub is_focused: bool,
}

impl PaneCx {
    fn new(cx: &Cx<'_>, index: usize) -> Self {
        let format = match cx.state.view.shows(index).content() {
            PaneContent::Format(format) => format,
            PaneContent::Data => "structured",
            PaneContent::Host(_) => "host",
        };
        Self {
            index,
            format,
            is_focused: cx.state.view.focus == index,
        }
    }

    fn id(&self) -> Id {
        Id::unique(("pane scroll", self.index))
    }

    /// Offset and height of the visible part in the last frame, to tell whether a place must be scrolled to.
    fn visible(&self, ui: &Ui) -> (f32, f32) {
        widgets::recall(ui, self.id()).unwrap_or((0.0, 0.0))
    }

    /// Where to find an offset that is to be scrolled to.
    fn goto_id(&self) -> Id {
        goto_id(self.index)
    }

    fn remember(&self, ui: &Ui, offset: f32, height: f32) {
        widgets::remember(ui, self.id(), (offset, height));
    }
}

fn goto_id(pane: usize) -> Id {
    Id::unique(("text goto", pane))
}

/// Scrolls a pane that shows a text to this offset of it.
pub fn go_to(ui: &Ui, pane: usize, offset: usize) {
    widgets::remember(ui, goto_id(pane), offset);
}

/// What copying a pane gives, made when it is asked for.
pub type CopyAction<'a> = Box<dyn FnOnce() -> Action + 'a>;

/// One kind of pane.
pub struct Pane {
    pub title: fn(&Cx<'_>, PaneView, Option<&ParsedCapture>, &ThemeTokens) -> Title,
    /// What of this kind can be chosen.
    pub choices: fn(&mut Ui, &Cx<'_>, &Chooser<'_>),
    /// What can be chosen of how it is made, while it is shown.
    pub options: Option<fn(&mut Ui, &Cx<'_>, &Chooser<'_>)>,
    /// What is copied; `None` until it is there.
    pub copy: for<'a> fn(&Cx<'a>, PaneView) -> Option<CopyAction<'a>>,
    pub body: fn(&mut Ui, &Cx<'_>, &PaneCx),
    pub footer: fn(&mut Ui, &Cx<'_>, &PaneCx),
}

/// Every kind of pane, in the order of the menu under a title; hosts, which have a part of their own there, last.
pub static PANES: &[&Pane] = &[
    &tree::PANE,
    &data_table::PANE,
    &rendered::PANE,
    &text::PANE,
    &hex::PANE,
    &host::PANE,
];

/// The kind of pane that shows this.
fn kind(view: PaneView) -> &'static Pane {
    match view {
        PaneView::Tree => &tree::PANE,
        PaneView::Table => &data_table::PANE,
        PaneView::Rendered(_) => &rendered::PANE,
        PaneView::Text(_) => &text::PANE,
        PaneView::Hex(_) => &hex::PANE,
        PaneView::Host(_) => &host::PANE,
    }
}

/// What copying gives of what is shown.
pub fn copy_action<'a>(cx: &Cx<'a>, view: PaneView) -> Option<CopyAction<'a>> {
    (kind(view).copy)(cx, view)
}

/// What a pane shows, if it is there; else why it is not.
fn ready<'a, T>(ui: &mut Ui, cx: &Cx<'_>, asked: QueryState<'a, T>) -> Option<&'a T> {
    if let QueryState::Failed(problem) = asked {
        failed_ui(ui, problem);
        return None;
    }
    if let QueryState::Ready(out) = asked {
        return Some(out);
    }
    ui.add_space(12.0);
    ui.horizontal(|ui| {
        ui.add_space(16.0);
        widgets::ready(ui, cx, "Reading the answer", asked)
    })
    .inner
}

/// A format that does not exist for this result is an empty state with its reason; anything else is a problem.
fn failed_ui(ui: &mut Ui, problem: &Problem) {
    if problem.kind == ProblemKind::Usage {
        widgets::empty_ui(ui, &sentence(&problem.what), None);
        return;
    }
    widgets::padded(ui, 12, |ui| widgets::problem_ui(ui, problem));
}

/// A fragment as a sentence of its own.
fn sentence(fragment: &str) -> String {
    let mut chars = fragment.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(chars).chain(['.']).collect()
    })
}
