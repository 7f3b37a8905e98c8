//! The window: paints a `&State`, sends `Action`s, computes nothing.
//!
//! What a frame needs and is not there it asks for through [`Cx::ask`]; the engine answers later. Colours, sizes and
//! icons come from [`theme`] and [`icons`] alone.

pub mod icons;
pub mod theme;
mod widgets;

mod call_bar;
mod code;
mod commands;
mod compare;
mod composition;
mod connect;
mod coverage;
mod definition;
mod dialogs;
mod diff;
mod drawer;
mod drawer_opening;
mod drops;
mod error_card;
mod exact;
mod export;
mod fix;
mod fixture;
mod history;
mod host_row;
mod hosts;
mod library;
mod live;
mod marks;
mod matching;
mod notices;
mod once;
mod outcome;
mod palette;
mod panes;
mod problems;
mod region;
mod result_strip;
mod rtl;
mod scroll_to_focus;
mod server_cost;
mod server_diff;
mod server_requests;
mod servers;
mod settings;
mod shortcuts;
mod sidebar;
mod sizes;
mod staircase;
mod start;
mod status_bar;
mod strip;
mod tokenizer;
mod tool_page;
mod top_bar;
mod undo;
mod verify;
mod view_as;
mod watch;
mod wire;

pub use composition::Composition;
pub use panes::panes_ui;
pub use widgets::number_at;

#[cfg(test)]
mod palette_tests;
#[cfg(test)]
mod shell_tests;

use std::cell::RefCell;

use crate::state::{Action, QueryState, State};
use loupe_analysis::queries::{
    CountQuery, HostCountQuery, HostsQuery, Query, QueryKey, RowQuery, ToolTokensQuery,
};
use loupe_analysis::summary::{HostCost, ModelReads};
use loupe_core::capture::CaptureId;
use loupe_core::format::FORMATS;
use loupe_core::format::ledger::Row;
use loupe_core::problem::Problem;
use loupe_core::settings::PanelSize;
use loupe_core::token::{Count, Tokenizer};

/// The only thing a painting function gets besides its `Ui`: the state to read, and where to send what the user did.
pub struct Cx<'a> {
    pub state: &'a State,
    actions: RefCell<Vec<Action>>,
    wants: RefCell<Vec<QueryKey>>,
}

impl<'a> Cx<'a> {
    pub fn new(state: &'a State) -> Self {
        Self {
            state,
            actions: RefCell::default(),
            wants: RefCell::default(),
        }
    }

    /// Sends what the user did; it happens after the frame.
    pub fn send(&self, action: impl Into<Action>) {
        self.actions.borrow_mut().push(action.into());
    }

    /// Why nothing can be called now with the arguments as they are; empty where it can.
    pub fn why_no_call(&self) -> &'static str {
        if self.state.running.is_some() {
            "A call is running"
        } else if !self.state.session().connection.is_connected() {
            "Not connected"
        } else if self.state.form().is_some_and(|form| form.syntax.is_some()) {
            "The arguments are not a JSON object"
        } else {
            ""
        }
    }

    /// Asks for something about the capture shown. What is not known yet is worked on after this frame.
    pub fn ask<Q: Query>(&self, query: Q) -> QueryState<'a, Q::Out> {
        match self.state.view.capture.as_ref() {
            Some(id) => self.ask_of(std::slice::from_ref(id), query),
            None => QueryState::Working {
                since: self.state.now,
            },
        }
    }

    /// Asks for something about these captures.
    pub fn ask_of<Q: Query>(&self, captures: &[CaptureId], query: Q) -> QueryState<'a, Q::Out> {
        self.inquire::<Q>(QueryKey::new(captures, query))
    }

    /// Asks for something about the server's definitions.
    pub fn ask_server<Q: Query>(&self, query: Q) -> QueryState<'a, Q::Out> {
        self.inquire::<Q>(self.state.about_server(query))
    }

    /// Asks for the result of a query key whose query is a `Q`.
    pub fn inquire<Q: Query>(&self, query_key: QueryKey) -> QueryState<'a, Q::Out> {
        let asked = self.state.query_state::<Q>(&query_key);
        if matches!(asked, QueryState::Working { .. }) {
            let mut wants = self.wants.borrow_mut();
            if !wants.contains(&query_key) {
                wants.push(query_key);
            }
        }
        asked
    }

    /// The result if it is there already; asks for it otherwise.
    pub fn ready<Q: Query>(&self, query: Q) -> Option<&'a Q::Out> {
        self.ask(query).ready()
    }

    /// How large the result shown is, where formats of it are not counted before the user says so.
    pub fn held(&self) -> Option<usize> {
        FORMATS
            .iter()
            .find_map(|format| match self.ask(RowQuery(format.id())) {
                QueryState::NeedsConfirmation { bytes } => Some(bytes),
                _ => None,
            })
    }

    /// A row's tokens by the tokenizer chosen; asked for where they are not known yet.
    pub fn count(&self, row: &Row) -> Option<Result<Count, &'a Problem>> {
        self.count_by(row, &self.state.settings.tokenizer)
    }

    /// A row's tokens by a tokenizer; asked for where they are not known yet.
    pub fn count_by(&self, row: &Row, tokenizer: &Tokenizer) -> Option<Result<Count, &'a Problem>> {
        let known = self
            .state
            .count_of(self.state.view.capture.as_ref()?, row, tokenizer);
        if known.is_none() && row.is_available() {
            self.ask(CountQuery {
                format: row.format,
                tokenizer: tokenizer.clone(),
            });
        }
        known
    }

    /// What one model reads of the capture shown, as [`State::model_reads`]; asks for it.
    pub fn model_reads(&self) -> Option<ModelReads<'a>> {
        let capture = self.state.view.capture.as_ref()?;
        let tokenizer = &self.state.settings.tokenizer;
        if let Some(host) = self.state.view.hosts.view_as
            && let Some(row) = self.ready(HostsQuery).and_then(|report| report.row(host))
            && HostCost::new(row, tokenizer).count.is_none()
            && row.tokens.is_some()
        {
            self.ask(HostCountQuery {
                host,
                tokenizer: tokenizer.clone(),
            });
        }
        self.state.model_reads(capture)
    }

    /// All actions of the frame, the questions last: what is asked and not answered, so that the rest can be called off.
    pub fn into_actions(self) -> Vec<Action> {
        let mut actions = self.actions.into_inner();
        let wants = self.wants.into_inner();
        if !wants.is_empty() || self.state.query_results.working() > 0 {
            actions.push(Action::Want(wants));
        }
        actions
    }
}

/// Whether there is anything to list at the left: where one connects first, there is not.
fn has_sidebar(cx: &Cx<'_>) -> bool {
    let session = cx.state.session();
    if cx.state.view.screen == crate::state::Screen::Live {
        return true;
    }
    let is_first =
        cx.state.view.screen == crate::state::Screen::Connect && !session.connection.is_connected();
    !is_first || !cx.state.captures.is_empty() || !session.tools.is_empty()
}

/// The whole window: every region in its place. The start and connect screens take the middle; a result has call bar,
/// panes and drawer.
pub fn window(ui: &mut egui::Ui, cx: &Cx<'_>) {
    use egui::{CentralPanel, Frame, Panel};
    if !cx.state.session().tools.is_empty() {
        cx.ask_server(ToolTokensQuery);
    }

    use crate::state::Screen;

    let settings = &cx.state.settings;
    theme::follow(
        ui,
        theme::Needs {
            more_contrast: settings.more_contrast,
            reduce_motion: settings.reduce_motion,
        },
    );
    scroll_to_focus::begin(ui);
    commands::follow_keys(ui, cx);
    export::paste(ui, cx);
    drops::begin(ui);
    sizes::follow(ui, cx);
    let t = theme::of(ui);
    let size = ui.content_rect().size();
    let bar = Frame::new().fill(t.panel);
    Panel::top("top bar")
        .exact_size(theme::TOP_BAR)
        .resizable(false)
        .frame(bar)
        .show(ui, |ui| top_bar::top_bar_ui(ui, cx));
    Panel::bottom("status bar")
        .exact_size(theme::STATUS_BAR)
        .resizable(false)
        .frame(bar)
        .show(ui, |ui| status_bar::status_bar_ui(ui, cx));
    problems::problems_ui(ui, cx);
    undo::undo_ui(ui, cx);
    if size.x < theme::MEDIUM {
        Panel::left("rail")
            .exact_size(theme::RAIL)
            .resizable(false)
            .frame(bar)
            .show(ui, |ui| sidebar::sidebar_ui(ui, cx));
    } else if cx.state.settings.sidebar_open && has_sidebar(cx) {
        let shown = Panel::left("sidebar")
            .default_size(cx.state.settings.panels.sidebar.map_or(
                if size.x < theme::LARGE {
                    theme::SIDEBAR_SMALL
                } else {
                    theme::SIDEBAR
                },
                f32::from,
            ))
            .size_range(240.0..=400.0)
            .resizable(true)
            .frame(bar)
            .show(ui, |ui| match cx.state.view.screen {
                Screen::Live => live::sessions_ui(ui, cx),
                _ => sidebar::sidebar_ui(ui, cx),
            });
        sizes::name_edge(ui, "sidebar");
        sizes::keep(ui, cx, shown.response.rect.width(), PanelSize::Sidebar);
    }
    if cx.state.view.screen.has_call_bar() {
        Panel::top("call bar")
            .resizable(false)
            .frame(Frame::new().fill(t.bg))
            .show(ui, |ui| call_bar::call_bar_ui(ui, cx));
    }
    notices::notices_ui(ui, cx);
    let middle = CentralPanel::default().frame(Frame::new().fill(t.bg));
    match cx.state.view.screen {
        Screen::Tool => middle.show(ui, |ui| tool_page::tool_page_ui(ui, cx)),
        Screen::Start => middle.show(ui, |ui| start::start_ui(ui, cx)),
        Screen::Doctor => middle.show(ui, |ui| connect::doctor::doctor_ui(ui, cx)),
        Screen::Connect => middle.show(ui, |ui| connect::connect_ui(ui, cx)),
        Screen::Hosts => middle.show(ui, |ui| hosts::hosts_ui(ui, cx)),
        Screen::Library => middle.show(ui, |ui| library::library_ui(ui, cx)),
        Screen::Live => middle.show(ui, |ui| live::live_ui(ui, cx)),
        Screen::Wire => middle.show(ui, |ui| wire::wire_ui(ui, cx)),
        Screen::Verify => middle.show(ui, |ui| verify::verify_ui(ui, cx)),
        Screen::Settings => middle.show(ui, |ui| settings::settings_ui(ui, cx)),
        Screen::Server => middle.show(ui, |ui| server_cost::server_cost_ui(ui, cx)),
        Screen::ServerDiff => middle.show(ui, |ui| server_diff::versus_ui(ui, cx)),
        Screen::Diff => middle.show(ui, |ui| diff::diff_ui(ui, cx)),
        Screen::Compare => middle.show(ui, |ui| compare::compare_ui(ui, cx)),
        Screen::Answer => {
            if error_card::is_error(cx) {
                Panel::top("error card")
                    .resizable(false)
                    .frame(Frame::new().fill(t.bg))
                    .show(ui, |ui| error_card::error_card_ui(ui, cx));
            } else if let Some(height) = result_strip::height(ui, cx) {
                Panel::top("answer strip")
                    .exact_size(height)
                    .resizable(false)
                    .frame(bar)
                    .show(ui, |ui| result_strip::answer_strip_ui(ui, cx));
            }
            notices::stderr_ui(ui, cx);
            // Of a call that nothing came of there is nothing to count.
            let has_answer = cx
                .state
                .capture()
                .is_some_and(|capture| capture.response.is_some());
            if has_answer && cx.state.view.maximised.is_none() {
                // A panel each, so that the size dragged to survives collapsing.
                if drawer::is_large(cx) {
                    Panel::bottom("large drawer")
                        .default_size(size.y * drawer::LARGE)
                        .size_range(240.0..=size.y * 0.8)
                        .resizable(true)
                        .frame(bar)
                        .show(ui, |ui| drawer::drawer_ui(ui, cx));
                    sizes::name_edge(ui, "large drawer");
                } else if drawer::is_collapsed(ui, cx) {
                    Panel::bottom("drawer header")
                        .exact_size(drawer::COLLAPSED)
                        .resizable(false)
                        .frame(bar)
                        .show(ui, |ui| drawer::drawer_ui(ui, cx));
                } else if let Some(height) = drawer::small_height(cx) {
                    Panel::bottom("small drawer")
                        .exact_size(height)
                        .resizable(false)
                        .frame(bar)
                        .show(ui, |ui| drawer::drawer_ui(ui, cx));
                } else {
                    let is_low = size.y < theme::SHORT;
                    let height = match cx.state.settings.panels.drawer {
                        Some(points) if !is_low => f32::from(points),
                        _ if is_low => drawer::FEW,
                        _ => drawer::FULL,
                    };
                    let name = if is_low { "low drawer" } else { "drawer" };
                    let shown = Panel::bottom(name)
                        .default_size(height)
                        .size_range(160.0..=size.y * 0.7)
                        .resizable(true)
                        .frame(bar)
                        .show(ui, |ui| drawer::drawer_ui(ui, cx));
                    sizes::name_edge(ui, name);
                    if !is_low {
                        sizes::keep(ui, cx, shown.response.rect.height(), PanelSize::Drawer);
                    }
                }
            }
            middle.show(ui, |ui| panes::panes_ui(ui, cx))
        }
    };
    dialogs::dialogs_ui(ui, cx);
    drops::rest(ui, cx);
    scroll_to_focus::end(ui);
}
