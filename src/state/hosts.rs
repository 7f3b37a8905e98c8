//! What is looked at of the hosts: the one chosen, order and filter of the table, the host that one views the answer as.

use super::{PaneView, Screen, State};
use crate::host::HostId;

/// Which hosts the table shows, by what their models see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HostFilter {
    #[default]
    All,
    Structured,
    Content,
    Both,
}

impl HostFilter {
    pub const ALL: &'static [HostFilter] = &[Self::All, Self::Structured, Self::Content, Self::Both];

    pub fn title(self) -> &'static str {
        match self {
            Self::All => "All",
            Self::Structured => "Structured",
            Self::Content => "Content",
            Self::Both => "Both",
        }
    }
}

/// What the table is sorted by; own and pinned hosts stay first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HostSort {
    /// Facts lost, then tokens.
    #[default]
    Lost,
    Name,
    Tokens,
}

/// What stands beside the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HostDetail {
    #[default]
    Text,
    Lost,
    Definition,
}

impl HostDetail {
    pub const ALL: &'static [HostDetail] = &[Self::Text, Self::Lost, Self::Definition];

    pub fn title(self) -> &'static str {
        match self {
            Self::Text => "Exact text",
            Self::Lost => "Lost facts",
            Self::Definition => "Tool definition",
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostsView {
    pub selected: Option<HostId>,
    /// The second host, beside the selected one.
    pub beside: Option<HostId>,
    pub filter: HostFilter,
    pub sort: HostSort,
    pub is_reversed: bool,
    pub detail: HostDetail,
    /// Whether the text is shown without what was taken out.
    pub hides_cuts: bool,
    /// The table of deliveries in place of that of hosts.
    pub shows_deliveries: bool,
    /// What this host drops is weak in every pane; `None` shows the answer as sent.
    pub view_as: Option<HostId>,
    /// Hosts that stand first, for this run.
    pub pinned: Vec<HostId>,
}

/// What a person did about hosts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HostsAction {
    /// The full view, with a host chosen.
    Show(Option<HostId>),
    Select(HostId),
    Beside(Option<HostId>),
    Filter(HostFilter),
    /// The same again turns the order round.
    Sort(HostSort),
    Detail(HostDetail),
    HideCuts(bool),
    ShowDeliveries(bool),
    /// The host's text in the middle pane.
    Open(HostId),
    ViewAs(Option<HostId>),
    /// Puts a host first, or lets it go again.
    Pin(HostId),
}

impl State {
    pub(super) fn perform_hosts(&mut self, action: HostsAction) {
        let hosts = &mut self.view.hosts;
        match action {
            HostsAction::Show(host) => {
                hosts.selected = host.or(hosts.selected);
                self.view.screen = Screen::Hosts;
            }
            HostsAction::Select(host) => {
                hosts.selected = Some(host);
                if hosts.beside == Some(host) {
                    hosts.beside = None;
                }
            }
            HostsAction::Beside(host) => hosts.beside = host.filter(|host| hosts.selected != Some(*host)),
            HostsAction::Filter(filter) => hosts.filter = filter,
            HostsAction::Sort(sort) => {
                hosts.is_reversed = hosts.sort == sort && !hosts.is_reversed;
                hosts.sort = sort;
            }
            HostsAction::Detail(detail) => hosts.detail = detail,
            HostsAction::HideCuts(hides) => hosts.hides_cuts = hides,
            HostsAction::ShowDeliveries(shows) => hosts.shows_deliveries = shows,
            HostsAction::Open(host) => {
                hosts.selected = Some(host);
                self.view.screen = Screen::Answer;
                self.view.set_pane(1, PaneView::Host(host));
            }
            HostsAction::ViewAs(host) => hosts.view_as = host,
            HostsAction::Pin(host) => {
                let pinned = &mut hosts.pinned;
                match pinned.iter().position(|known| *known == host) {
                    Some(at) => drop(pinned.remove(at)),
                    None => pinned.push(host),
                }
            }
        }
    }
}
