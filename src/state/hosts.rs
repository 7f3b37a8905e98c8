//! What is looked at of the hosts: the one chosen, what of it is shown, the host that one views the result as.

use std::ops::Deref;
use std::sync::Arc;

use super::{Connection, Effect, PaneView, Screen, SessionEffect, State};
use loupe_core::host::{Host, HostId, Hosts, ResultPart};

/// The hosts that are known: those that come with Loupe, until the user's own file was read.
#[derive(Clone, Debug)]
pub struct KnownHosts(Arc<Hosts>);

impl Default for KnownHosts {
    fn default() -> Self {
        Self(Hosts::built_in())
    }
}

impl Deref for KnownHosts {
    type Target = Hosts;

    fn deref(&self) -> &Hosts {
        &self.0
    }
}

/// What is shown of a host.
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

/// What the screen of hosts is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HostsTab {
    /// The result at hand.
    #[default]
    Result,
    /// Ways of delivering its data.
    Placements,
    /// All that the server lists.
    Server,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostsView {
    pub selected: Option<HostId>,
    /// Where there is no room for both, the host replaces the lanes.
    pub is_open: bool,
    pub detail: HostDetail,
    /// Whether what a limit took out is in the text, weak, or is folded.
    pub shows_removed: bool,
    /// Whether all of what is kept is there, or its middle is folded where it is long.
    pub shows_kept: bool,
    pub tab: HostsTab,
    /// What this host drops is weak in every pane; `None` shows the result as sent.
    pub view_as: Option<HostId>,
    /// The part of a result that one model reads; `None` takes what most hosts show. A host that is viewed as comes first.
    pub reads: Option<ResultPart>,
    /// Hosts that stand first, for this run.
    pub pinned: Vec<HostId>,
    /// Hosts whose configuration was found on this computer.
    pub found: Vec<HostId>,
}

/// What the user did about hosts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HostsAction {
    /// The screen of hosts, with a host opened.
    Show(Option<HostId>),
    /// Moves to a host.
    Select(HostId),
    /// The chosen host in place of the lanes, where there is room for one of them.
    OpenDetail,
    /// Back from the host to the lanes, where there is room for one of them.
    ShowLanes,
    Detail(HostDetail),
    ShowRemoved(bool),
    ShowKept,
    Tab(HostsTab),
    /// The host's text in the middle pane.
    Open(HostId),
    ViewAs(Option<HostId>),
    /// Chooses the part that one model reads; `None` takes what most hosts show.
    Read(Option<ResultPart>),
    /// Puts a host first, or lets it go again.
    Pin(HostId),
    /// From now on calls are made as this host makes them; `None` as Loupe. What is connected is connected anew.
    CallAs(Option<HostId>),
}

impl State {
    /// Takes in which hosts there are. One that is gone is not called as any more.
    pub(super) fn use_hosts(&mut self, hosts: Arc<Hosts>, effects: &mut Vec<Effect>) {
        self.hosts = KnownHosts(hosts);
        if self.call_as.is_some() {
            let client = self.call_as().cloned();
            if client.is_none() {
                self.call_as = None;
            }
            effects.push(Effect::Session(SessionEffect::UseClient(client)));
        }
    }

    /// Takes in whose configurations were found on this computer: "Codex" is that of OpenAI Codex CLI.
    pub(super) fn hosts_found(&mut self, clients: &[&str]) {
        let is_found = |host: &&Arc<Host>| clients.iter().any(|client| host.name.contains(client));
        self.view.hosts.found = self
            .hosts
            .iter()
            .filter(is_found)
            .map(|host| host.id)
            .collect();
    }

    /// The host that calls are made as, where they are not made as Loupe.
    pub fn call_as(&self) -> Option<&Arc<Host>> {
        self.hosts
            .get(self.call_as?.as_str())
            .filter(|host| host.client.is_some())
    }

    fn set_call_as(&mut self, host: Option<HostId>, effects: &mut Vec<Effect>) {
        let chosen = host
            .and_then(|id| self.hosts.get(id.as_str()))
            .filter(|host| host.client.is_some())
            .cloned();
        let id = chosen.as_ref().map(|host| host.id);
        if id == self.call_as || self.running.is_some() {
            return;
        }
        self.call_as = id;
        effects.push(Effect::Session(SessionEffect::UseClient(chosen)));
        // A client names itself once, when it connects.
        if matches!(
            self.session().connection,
            Connection::Connecting { .. } | Connection::Connected { .. }
        ) {
            self.reconnect(effects);
        }
    }

    pub(super) fn perform_hosts(&mut self, action: HostsAction, effects: &mut Vec<Effect>) {
        let hosts = &mut self.view.hosts;
        match action {
            HostsAction::CallAs(host) => self.set_call_as(host, effects),
            HostsAction::Show(host) => {
                hosts.selected = host.or(hosts.selected);
                hosts.is_open = host.is_some();
                hosts.tab = HostsTab::Result;
                self.view.screen = Screen::Hosts;
            }
            HostsAction::Select(host) => {
                hosts.shows_kept &= hosts.selected == Some(host);
                hosts.selected = Some(host);
            }
            HostsAction::OpenDetail => hosts.is_open = true,
            HostsAction::ShowLanes => hosts.is_open = false,
            HostsAction::Detail(detail) => hosts.detail = detail,
            HostsAction::ShowRemoved(shows) => hosts.shows_removed = shows,
            HostsAction::ShowKept => hosts.shows_kept = true,
            HostsAction::Tab(tab) => {
                hosts.tab = tab;
                hosts.is_open = false;
                self.view.screen = Screen::Hosts;
            }
            HostsAction::Open(host) => {
                hosts.selected = Some(host);
                self.view.screen = Screen::Answer;
                self.view.set_pane(1, PaneView::Host(host));
            }
            HostsAction::ViewAs(host) => hosts.view_as = host,
            HostsAction::Read(part) => (hosts.view_as, hosts.reads) = (None, part),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::{Action, Event};

    #[test]
    fn only_a_host_whose_client_is_known_is_called_as() {
        let mut state = State::default();
        let mut effects = Vec::new();
        let id = |state: &State, name: &str| state.hosts.get(name).map(|host| host.id);
        let cursor = id(&state, "cursor");
        state.perform(Action::Hosts(HostsAction::CallAs(cursor)), &mut effects);
        assert!(state.call_as().is_none() && effects.is_empty());
        let own = r#"schema = "loupe.hosts/1"
[[host]]
id = "own"
name = "Own"
kind = "cli"
version = "1"
checked = "2026-01-31"
evidence = "observed"
select = "content"
json = "js-compact"
delivery = "parts"
[host.client]
name = "x"
version = "1"
capabilities = "{}"
source = "y"
"#;
        state.apply(
            Event::UseHosts(Arc::new(Hosts::built_in().with_file(own, "own"))),
            &mut effects,
        );
        let own = state
            .hosts
            .iter()
            .find(|host| host.is_own)
            .map(|host| host.id);
        state.perform(Action::Hosts(HostsAction::CallAs(own)), &mut effects);
        assert_eq!(state.call_as().map(|host| host.id), own);
        assert!(
            matches!(effects.as_slice(), [Effect::Session(SessionEffect::UseClient(Some(host)))] if Some(host.id) == own)
        );
        // A host that is gone from the file is not called as any more.
        effects.clear();
        state.apply(Event::UseHosts(Hosts::built_in()), &mut effects);
        assert!(
            state.call_as().is_none()
                && effects == [Effect::Session(SessionEffect::UseClient(None))]
        );
    }
}
