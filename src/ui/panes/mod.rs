//! The three panes: their frame, how they share the room, and the list of what a pane can show.

pub mod colour;
mod find;
mod frame;
mod glyph;
mod host;
mod inline;
mod markdown;
pub mod rendered;
pub mod rtl;
mod text;
mod tree;

use std::time::Duration;

use egui::{Align, Id, Layout, Ui};

use super::{Cx, widgets};
use crate::format;
use crate::problem::{Kind, Problem};
use crate::state::PaneView;

pub use frame::{menu_row, panes_ui};
pub use host::{host_text_ui, legend_ui as host_legend_ui, next_cut};

/// What a body gets besides `Ui` and state: which pane it is, and of which format.
pub struct PaneCx {
    pub index: usize,
    /// The format's id; `structured` in the tree.
    pub format: &'static str,
    /// Whether keys are this pane's.
    pub is_focused: bool,
}

impl PaneCx {
    fn id(&self) -> Id {
        Id::unique(("pane scroll", self.index))
    }

    /// Offset and height of the visible part in the last frame, to tell whether a place must be scrolled to.
    fn visible(&self, ui: &Ui) -> (f32, f32) {
        ui.data(|data| data.get_temp(self.id())).unwrap_or((0.0, 0.0))
    }

    fn remember(&self, ui: &Ui, offset: f32, height: f32) {
        ui.data_mut(|data| data.insert_temp(self.id(), (offset, height)));
    }
}

/// One kind of pane.
pub struct Pane {
    /// Whether this kind shows that view; the format it is of.
    pub of: fn(PaneView) -> Option<&'static str>,
    pub body: fn(&mut Ui, &Cx<'_>, &PaneCx),
    pub footer: fn(&mut Ui, &Cx<'_>, &PaneCx),
}

/// Every kind of pane.
pub static PANES: &[Pane] = &[
    Pane {
        of: |view| if let PaneView::Rendered(format) = view { Some(format) } else { None },
        body: rendered::rendered_ui,
        footer: rendered_footer,
    },
    Pane {
        of: |view| if let PaneView::Text(format) = view { Some(format) } else { None },
        body: text::text_ui,
        footer: text::footer_ui,
    },
    Pane {
        of: |view| if view == PaneView::Tree { Some("structured") } else { None },
        body: tree::tree_ui,
        footer: tree::footer_ui,
    },
    Pane {
        of: |view| if matches!(view, PaneView::Host(_)) { Some("host") } else { None },
        body: host::pane_ui,
        footer: host::footer_ui,
    },
];

/// The name of a format, everywhere.
pub fn format_title(id: &'static str) -> &'static str {
    format::by_id(id).map_or(id, format::Format::title)
}

fn rendered_footer(ui: &mut Ui, cx: &Cx<'_>, pane: &PaneCx) {
    use crate::report::{Answer, Question};
    use crate::ui::theme::{self, Tokens};

    let Some(Answer::Rendered(view)) = cx.ready(Question::Rendered(pane.format)) else { return };
    let t = Tokens::of(ui);
    let what = match (pane.format, view.cards.as_slice()) {
        ("content", [card]) => card.block.map_or_else(String::new, |block| format!("content[{block}] · text")),
        ("content", cards) => widgets::number_text(cards.len() as u64, "text blocks"),
        _ => "written by Loupe from the payload".to_owned(),
    };
    ui.label(egui::RichText::new(what).font(theme::small()).color(t.weak));
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        ui.label(egui::RichText::new(rendered::summary(view)).font(theme::small()).color(t.weak));
    });
}

fn working_ui(ui: &mut Ui, since: Duration, cx: &Cx<'_>) {
    ui.add_space(12.0);
    ui.horizontal(|ui| {
        ui.add_space(16.0);
        widgets::waiting(ui, "Reading the answer", since, cx);
    });
}

/// A format that does not exist for this answer is an empty state with its reason; anything else is a problem.
fn failed_ui(ui: &mut Ui, problem: &Problem) {
    if problem.kind == Kind::Usage {
        widgets::empty_ui(ui, &sentence(&problem.what), None);
        return;
    }
    egui::Frame::new().inner_margin(12).show(ui, |ui| widgets::problem_ui(ui, problem));
}

/// A fragment as a sentence of its own.
fn sentence(fragment: &str) -> String {
    let mut chars = fragment.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).chain(['.']).collect())
}
