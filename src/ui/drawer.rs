//! The drawer under the panes: one tab for each thing that is said about the whole result.

pub mod findings;
mod hosts;
mod ledger;
mod tokens;

use egui::{Align, Id, Layout, Rect, Role, Ui, WidgetInfo, vec2};

use super::region::{Region, region};
use super::theme;
use super::{Cx, icons, widgets};
use crate::state::{Action, DrawerTab, FindingsAction, SettingsAction, ViewAction};
use crate::ui::drawer_opening;

/// Height of the drawer when it is only its header.
pub const COLLAPSED: f32 = theme::HEADER;
/// Height that shows every format.
pub const FULL: f32 = 368.0;
/// Height that shows the rows of a low window.
pub const FEW: f32 = 200.0;
/// Two rows of findings stand in the least.
const LEAST: f32 = 140.0;
const SUMMARY: f32 = 44.0;
/// Share of the window's height that the large view of findings takes.
pub const LARGE: f32 = 0.55;
const SIDE: f32 = 16.0;
/// From this width on the findings are next to the ledger.
const BESIDE: f32 = 1_180.0;
/// Their width there.
const FINDINGS: f32 = 432.0;
/// Width from which on there is room for the names of the tabs next to their tools; below, their short names.
const WHOLE_TABS: f32 = 860.0;
/// Below this width only the tab that is shown has a name, the others their icons.
const SHORT_TABS: f32 = 700.0;

/// One tab.
struct Tab {
    id: DrawerTab,
    title: &'static str,
    /// One word, where there is little room.
    short: &'static str,
    icon: &'static str,
    /// What stands behind the title, once it is known.
    count: fn(&Cx<'_>) -> Option<String>,
    /// Controls at the right end of the header, from the right.
    tools: fn(&mut Ui, &Cx<'_>),
    /// A sentence above the body; the strip above the panes says what the result costs.
    summary: Option<fn(&mut Ui, &Cx<'_>, Rect)>,
    body: fn(&mut Ui, &Cx<'_>),
}

/// Every tab, in order.
static TABS: &[Tab] = &[
    Tab {
        id: DrawerTab::Cost,
        title: "Token cost",
        short: "Cost",
        icon: icons::COST,
        count: |_| None,
        tools: ledger::tools_ui,
        summary: None,
        body: ledger::ledger_ui,
    },
    Tab {
        id: DrawerTab::Hosts,
        title: "Hosts",
        short: "Hosts",
        icon: icons::HOSTS,
        count: hosts::count,
        tools: hosts::tools_ui,
        summary: Some(hosts::summary_ui),
        body: hosts::hosts_ui,
    },
    Tab {
        id: DrawerTab::Tokens,
        title: "Where tokens go",
        short: "Tokens",
        icon: icons::ROWS,
        count: |_| None,
        tools: tokens::tools_ui,
        summary: Some(tokens::summary_ui),
        body: tokens::tokens_ui,
    },
    Tab {
        id: DrawerTab::Findings,
        title: "Findings",
        short: "Findings",
        icon: icons::LIST,
        count: findings::count,
        tools: findings::tools_ui,
        summary: None,
        body: findings::findings_ui,
    },
];

/// Whether the drawer is only its header now; `window` gives it that height.
pub fn is_collapsed(ui: &Ui, cx: &Cx<'_>) -> bool {
    !cx.state.settings.drawer_open
        || (drawer_opening::waits_for_hand(ui, cx) && !drawer_opening::is_opened_by_hand(ui, cx))
}

/// How high it is below a small result, as high as its rows; `None` where it is as high as people made it.
pub fn small_height(cx: &Cx<'_>) -> Option<f32> {
    let rows = (cx.state.view.drawer == DrawerTab::Cost).then(|| ledger::small_height(cx));
    rows.flatten().map(|rows| (theme::HEADER + rows).max(LEAST))
}

/// Opens the drawer or closes it, as it is seen; what has to change for that in the settings.
pub fn toggle(ui: &Ui, cx: &Cx<'_>) -> Option<Action> {
    let is_collapsed = is_collapsed(ui, cx);
    let waits = drawer_opening::waits_for_hand(ui, cx);
    if waits {
        drawer_opening::open_by_hand(ui, cx, is_collapsed);
    }
    (!waits || (is_collapsed && !cx.state.settings.drawer_open))
        .then_some(SettingsAction::ToggleDrawer.into())
}

/// Whether findings have most of the window.
pub fn is_large(cx: &Cx<'_>) -> bool {
    cx.state.view.findings.is_large
        && cx.state.view.drawer == DrawerTab::Findings
        && cx.state.settings.drawer_open
}

fn beside_id() -> Id {
    Id::unique("findings beside the ledger")
}

/// Whether the findings are next to the ledger, as the last frame had it.
pub fn has_findings_beside(ui: &Ui) -> bool {
    widgets::recall(ui, beside_id()).unwrap_or(false)
}

pub fn drawer_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let rect = ui.max_rect();
    let is_collapsed = is_collapsed(ui, cx) && !is_large(cx);
    let Some(tab) = TABS.iter().find(|tab| tab.id == cx.state.view.drawer) else {
        return;
    };
    let is_beside = !is_collapsed && tab.id == DrawerTab::Cost && rect.width() >= BESIDE;
    widgets::remember(ui, beside_id(), is_beside);
    let whole = rect;
    let rect = if is_beside {
        rect.with_max_x(rect.right() - FINDINGS)
    } else {
        rect
    };
    let header = Rect::from_min_size(rect.min, vec2(rect.width(), theme::HEADER));
    header_ui(ui, cx, header, tab, is_collapsed, is_beside);
    if is_collapsed {
        return;
    }
    if is_beside {
        let beside = whole.with_min_x(rect.right());
        widgets::vline(ui, beside.left() + 0.5, beside.y_range());
        widgets::hline(ui, beside.x_range(), header.bottom() - 0.5);
        beside_ui(ui, cx, beside);
    }
    widgets::hline(ui, rect.x_range(), header.bottom() - 0.5);
    let mut rest = rect.with_min_y(header.bottom());
    if let Some(summary_ui) = tab.summary {
        let summary = Rect::from_min_size(header.left_bottom(), vec2(rect.width(), SUMMARY));
        summary_ui(ui, cx, summary.shrink2(vec2(SIDE, 0.0)));
        rest.min.y = summary.bottom();
    }
    widgets::part(ui, ("drawer body", tab.title), rest, |ui| {
        (tab.body)(ui, cx)
    });
}

/// The findings next to the ledger: their counts, and the way to the large view.
fn beside_ui(ui: &mut Ui, cx: &Cx<'_>, rect: Rect) {
    let header = Rect::from_min_size(rect.min, vec2(rect.width(), theme::HEADER));
    let inner = widgets::region(ui, "findings beside").max_rect(header.shrink2(vec2(SIDE, 0.0)));
    ui.scope_builder(inner.layout(Layout::left_to_right(Align::Center)), |ui| {
        let count = findings::total(cx).map(|total| total.to_string());
        if widgets::tab(
            ui,
            Some(icons::LIST),
            "Findings",
            count.as_deref(),
            false,
            theme::HEADER,
        )
        .clicked()
        {
            cx.send(ViewAction::ShowDrawer(DrawerTab::Findings));
        }
        widgets::from_right(ui, |ui| {
            ui.spacing_mut().item_spacing.x = 4.0;
            hide_ui(ui, cx);
            enlarge_ui(ui, cx);
            findings::tools_ui(ui, cx);
        });
    });
    let body = widgets::region(ui, "findings beside, body").max_rect(
        rect.with_min_y(header.bottom())
            .with_min_x(rect.left() + 1.0),
    );
    ui.scope_builder(body, |ui| findings::findings_ui(ui, cx));
}

fn hide_ui(ui: &mut Ui, cx: &Cx<'_>) {
    if widgets::icon_button(ui, icons::DOWN, "Hide the drawer").clicked() {
        toggle(ui, cx)
            .into_iter()
            .for_each(|action| cx.send(action));
    }
}

/// To the large view of findings and back.
fn enlarge_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let is_large = is_large(cx);
    let (icon, name) = if is_large {
        (icons::RESTORE, "Make the findings small")
    } else {
        (icons::MAXIMISE, "Enlarge the findings")
    };
    if widgets::icon_button(ui, icon, name).clicked() {
        cx.send(FindingsAction::Enlarge(!is_large));
        cx.send(ViewAction::ShowDrawer(DrawerTab::Findings));
    }
}

fn header_ui(
    ui: &mut Ui,
    cx: &Cx<'_>,
    rect: Rect,
    shown: &Tab,
    is_collapsed: bool,
    is_beside: bool,
) {
    widgets::line_part(ui, "drawer header", rect.shrink2(vec2(SIDE, 0.0)), |ui| {
        ui.spacing_mut().item_spacing.x = if is_collapsed { 16.0 } else { 20.0 };
        let mut is_toggled = false;
        for tab in TABS
            .iter()
            .filter(|tab| !is_beside || tab.id != DrawerTab::Findings)
        {
            let is_shown = tab.id == shown.id;
            let count = (tab.count)(cx);
            let is_open = is_shown && !is_collapsed;
            let response = if rect.width() < WHOLE_TABS {
                let short = if is_shown || rect.width() >= SHORT_TABS {
                    tab.short
                } else {
                    ""
                };
                let response =
                    widgets::tab(ui, Some(tab.icon), short, None, is_open, theme::HEADER);
                let name = count.map_or_else(
                    || tab.title.to_owned(),
                    |count| format!("{} {count}", tab.title),
                );
                response.widget_info(|| {
                    WidgetInfo::selected(Role::Tab, ui.is_enabled(), is_open, &name)
                });
                response.on_hover_text(name)
            } else {
                widgets::tab(
                    ui,
                    Some(tab.icon),
                    tab.title,
                    count.as_deref(),
                    is_open,
                    theme::HEADER,
                )
            };
            if is_shown {
                region(ui, Region::Drawer, ui.max_rect(), &response);
            }
            if response.clicked() {
                // The tab that is open closes the drawer; another one turns to it.
                is_toggled |= is_shown || is_collapsed;
                cx.send(ViewAction::ShowDrawer(tab.id));
            }
        }
        widgets::from_right(ui, |ui| {
            ui.spacing_mut().item_spacing.x = 8.0;
            let (icon, name) = if is_collapsed {
                (icons::UP, "Show the drawer")
            } else {
                (icons::DOWN, "Hide the drawer")
            };
            // Beside them the findings have it.
            is_toggled |= !is_beside && widgets::icon_button(ui, icon, name).clicked();
            if !is_collapsed {
                if shown.id == DrawerTab::Findings {
                    enlarge_ui(ui, cx);
                }
                (shown.tools)(ui, cx);
            }
        });
        if is_toggled {
            toggle(ui, cx)
                .into_iter()
                .for_each(|action| cx.send(action));
        }
    });
}
