//! What outlasts the run: the settings, the hosts that were pinned, what is needed of each tool, the window's size. Which
//! keys they have in the file is said here and nowhere else; `store` reads and writes it.
//!
//! Nothing is kept before `SettingsAction::UseSettings` came, so that tests, pictures and the command line touch no file.

use std::collections::BTreeMap;
use std::path::PathBuf;

use toml::{Table, Value};

use super::undo::UndoStep;
use super::view::{PaneLayout, use_panes};
use super::{
    Effect, ImportEffect, PaneView, ServerColumn, ServerView, SessionEffect, State, TokensEffect,
    View,
};
use loupe_core::capture::ReadText;
use loupe_core::format;
use loupe_core::host::HostId;
use loupe_core::problem::Problem;
use loupe_core::settings::{Changes, PanelSize, Panels, Settings, Theme, TimeLimits};
use loupe_core::source::Limits;
use loupe_core::token::Tokenizer;

/// Where settings are kept, and what is there as far as this copy knows.
#[derive(Debug, Default)]
pub struct SavedSettings {
    /// `None` where nothing is kept.
    folder: Option<PathBuf>,
    values: BTreeMap<Vec<String>, Value>,
    /// The tokenizer file that is used, and the one that is being read.
    pub(super) tokenizer: Option<PathBuf>,
    pub(super) opening: Option<PathBuf>,
    /// The window's size in points.
    window: Option<[f32; 2]>,
    /// Whether the layout is that of narrow windows.
    pub(super) is_narrow: bool,
    /// The layout of windows of the other width.
    other: (Panels, PaneLayout),
}

impl SavedSettings {
    /// The file, where anything is kept.
    pub fn file(&self) -> Option<PathBuf> {
        self.folder
            .as_ref()
            .map(|folder| folder.join("settings.toml"))
    }
}

/// The unit of the history's size in the file.
pub const MEBIBYTE: u64 = 1 << 20;

/// A window that is less wide, in points, has a layout of its own: it has no room for three panes.
const NARROW: f32 = 1_100.0;

/// The sizes of a window that make sense, in points.
const WINDOW: std::ops::RangeInclusive<f32> = 300.0..=20_000.0;

/// The window's size in what was kept.
pub fn window_size(table: &Table) -> Option<[f32; 2]> {
    let side = |name: &str| {
        let value = table.get("window")?.get(name)?;
        // A size in points has no need of more digits.
        let points = value
            .as_float()
            .or_else(|| value.as_integer().map(|points| points as f64))?
            as f32;
        WINDOW.contains(&points).then_some(points)
    };
    Some([side("width")?, side("height")?])
}

/// `[panels]` of what was kept, or `[panels.narrow]`.
fn panels(panels: Option<&Value>) -> Panels {
    let points = |value: &Value| {
        value
            .as_integer()
            .and_then(|points| u16::try_from(points).ok())
            .filter(|points| *points > 0)
    };
    let side = |name: &str| panels?.get(name).and_then(points);
    let shares = || {
        let shares: Vec<u16> = panels?
            .get("panes")?
            .as_array()?
            .iter()
            .filter_map(points)
            .collect();
        shares.try_into().ok()
    };
    Panels {
        sidebar: side("sidebar"),
        captures: side("captures"),
        drawer: side("drawer"),
        panes: shares(),
    }
}

/// `[limits]` of what was kept, and what is wrong with it.
fn limits(table: &Table) -> (Limits, Vec<Problem>) {
    let mut limits = Limits::default();
    let given = table
        .get("limits")
        .and_then(Value::as_table)
        .into_iter()
        .flatten();
    let set = given.filter_map(|(word, value)| {
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        limits
            .set(word, &text)
            .err()
            .map(|problem| problem.at(format!("limits.{word} in settings.toml")))
    });
    let problems = set.collect();
    (limits, problems)
}

/// What the user sets for good.
#[derive(Clone, Debug, PartialEq)]
pub enum SettingsAction {
    /// Where the user's own files are: what is read at the start is read from there.
    UseFolder(PathBuf),
    /// Where settings are kept from here on, and what is there.
    UseSettings {
        folder: PathBuf,
        table: Table,
    },
    /// The window has this size, in points.
    KeepWindow([f32; 2]),
    /// A panel was given this size.
    KeepPanel(PanelSize),
    SetBaseline(&'static str),
    SetWrap(bool),
    ReduceMotion(bool),
    MoreContrast(bool),
    ToggleLedgerSizes,
    SetTheme(Theme),
    /// How large everything is, in percent.
    SetZoom(u16),
    SetWaits(TimeLimits),
    /// A limit of what is kept, by its word, as it is typed.
    SetLimit {
        word: &'static str,
        value: String,
    },
    /// The baseline is what is sent.
    ForgetBaseline,
    ToggleSidebar,
    ToggleDrawer,
    /// Sizes, and what the panes show, as at first.
    ResetLayout,
    /// What completion requests are answered with from here on; `None` asks each time.
    SetSamplingReply(Option<String>),
    /// Which folders servers are told of.
    SetRoots(Option<Vec<PathBuf>>),
}

impl State {
    pub(super) fn change_settings(&mut self, action: SettingsAction, effects: &mut Vec<Effect>) {
        match action {
            SettingsAction::UseFolder(folder) => {
                effects.push(Effect::Session(SessionEffect::KeepLogins(folder.clone())));
                effects.push(Effect::Import(ImportEffect::ReadRecent(folder.clone())));
                effects.push(Effect::Import(ImportEffect::ReadServers(folder.clone())));
                let prices = folder.join("prices.toml");
                self.prices.file = Some(prices.clone());
                effects.push(Effect::Tokens(TokensEffect::Prices(prices)));
            }
            SettingsAction::UseSettings { folder, table } => {
                self.use_settings(folder, &table, effects)
            }
            SettingsAction::KeepWindow(size) => self.keep_window(size),
            SettingsAction::KeepPanel(size) => self.settings.panels.set(size),
            SettingsAction::SetBaseline(format) => self.settings.baseline = Some(format),
            SettingsAction::SetWrap(wrap) => self.settings.wrap = wrap,
            SettingsAction::ReduceMotion(reduces) => self.settings.reduce_motion = reduces,
            SettingsAction::MoreContrast(has_more) => self.settings.more_contrast = has_more,
            SettingsAction::ToggleLedgerSizes => {
                self.settings.ledger_sizes = !self.settings.ledger_sizes
            }
            SettingsAction::SetTheme(theme) => self.settings.theme = theme,
            SettingsAction::SetZoom(zoom) => {
                self.settings.zoom = zoom.clamp(*Settings::ZOOM.start(), *Settings::ZOOM.end())
            }
            SettingsAction::SetWaits(waits) => self.settings.waits = waits,
            SettingsAction::SetLimit { word, value } => match self.limits.set(word, &value) {
                Ok(()) => effects.push(Effect::Session(SessionEffect::UseLimits(self.limits))),
                Err(problem) => self.toast_problem(problem),
            },
            SettingsAction::ForgetBaseline => self.settings.baseline = None,
            SettingsAction::ToggleSidebar => {
                self.settings.sidebar_open = !self.settings.sidebar_open
            }
            SettingsAction::ToggleDrawer => self.settings.drawer_open = !self.settings.drawer_open,
            SettingsAction::ResetLayout => {
                let (panels, (panes, open)) = (self.settings.panels, self.view.reset_panes());
                self.offer_undo(
                    "The layout is as at first".to_owned(),
                    UndoStep::Layout {
                        panels,
                        panes,
                        open,
                    },
                );
                self.settings.panels = Panels::default();
            }
            SettingsAction::SetSamplingReply(reply) => self.sampling_reply = reply,
            SettingsAction::SetRoots(roots) => self.set_roots(roots, effects),
        }
    }

    /// Takes over what was kept, and keeps what changes from here on in this folder. What it does not understand stays
    /// in the file and changes nothing.
    pub(super) fn use_settings(
        &mut self,
        folder: PathBuf,
        table: &Table,
        effects: &mut Vec<Effect>,
    ) {
        let word = |key: &str| table.get(key).and_then(Value::as_str);
        let flag = |key: &str| table.get(key).and_then(Value::as_bool);
        let settings = &mut self.settings;
        if let Some(theme) = word("theme").and_then(Theme::parse) {
            settings.theme = theme;
        }
        if let Some(tokenizer) = word("tokenizer").and_then(Tokenizer::named) {
            settings.tokenizer = tokenizer;
        }
        let limits = limits(table);
        if limits.0 != Limits::default() {
            effects.push(Effect::Session(SessionEffect::UseLimits(limits.0)));
        }
        self.limits = limits.0;
        let number = |table: &Table, key: &str| {
            table
                .get(key)
                .and_then(Value::as_integer)
                .and_then(|number| u32::try_from(number).ok())
        };
        if let Some(zoom) = number(table, "zoom")
            .and_then(|zoom| u16::try_from(zoom).ok())
            .filter(|zoom| Settings::ZOOM.contains(zoom))
        {
            settings.zoom = zoom;
        }
        let waits = table.get("waits").and_then(Value::as_table);
        let wait =
            |key: &str| number(waits?, key).filter(|seconds| TimeLimits::RANGE.contains(seconds));
        settings.waits = TimeLimits {
            connect: wait("connect").unwrap_or(settings.waits.connect),
            call: wait("call").unwrap_or(settings.waits.call),
        };
        settings.baseline = word("baseline")
            .and_then(format::by_id)
            .map(|format| format.id());
        settings.model = word("model").map(str::to_owned);
        settings.wrap = flag("wrap").unwrap_or(settings.wrap);
        settings.reduce_motion = flag("reduce_motion").unwrap_or(settings.reduce_motion);
        settings.more_contrast = flag("more_contrast").unwrap_or(settings.more_contrast);
        settings.ledger_sizes = flag("ledger_sizes").unwrap_or(settings.ledger_sizes);
        settings.sidebar_open = flag("sidebar").unwrap_or(settings.sidebar_open);
        settings.drawer_open = flag("drawer").unwrap_or(settings.drawer_open);
        self.saved_settings.window = window_size(table);
        self.saved_settings.is_narrow = self
            .saved_settings
            .window
            .is_some_and(|[width, _]| width < NARROW);
        let all = table.get("panels");
        settings.panels = panels(all);
        self.saved_settings.other.0 = panels(all.and_then(|all| all.get("narrow")));
        if let Some(history) = table.get("history").and_then(Value::as_table) {
            let number = |key: &str| {
                history
                    .get(key)
                    .and_then(Value::as_integer)
                    .and_then(|number| u32::try_from(number).ok())
            };
            let keep = &mut self.history.keep;
            self.history.is_off = history.get("on").and_then(Value::as_bool) == Some(false);
            keep.days = number("days").unwrap_or(keep.days);
            keep.bytes = number("mebibytes").map_or(keep.bytes, |size| u64::from(size) * MEBIBYTE);
        }
        let texts = |value: &Value| -> Vec<String> {
            value
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect()
        };
        let pinned = table.get("pinned_hosts").map(texts).unwrap_or_default();
        self.view.hosts.pinned = pinned
            .into_iter()
            .filter_map(|id| HostId::try_from(id).ok())
            .collect();
        self.live.allowed = table.get("transcripts").map(texts).unwrap_or_default();
        let servers = table.get("needed").and_then(Value::as_table);
        for (server, tools) in servers.into_iter().flatten() {
            let tools = tools.as_table().into_iter().flatten();
            let fields =
                tools.map(|(tool, fields)| (tool.clone(), texts(fields).into_iter().collect()));
            self.comparisons
                .needed_fields
                .entry(server.clone())
                .or_default()
                .extend(fields);
        }
        let servers = table.get("read_text").and_then(Value::as_table);
        for (server, tools) in servers.into_iter().flatten() {
            for (tool, how) in tools.as_table().into_iter().flatten() {
                if let Some(Ok(how)) = how.as_str().map(ReadText::parse) {
                    self.read_texts.set(server, tool, how);
                }
            }
        }
        if let Some(layout) = table.get("layout").and_then(Value::as_table) {
            self.view.use_layout(
                &layout.get("panes").map(texts).unwrap_or_default(),
                layout.get("drawer").and_then(Value::as_str),
            );
            let narrow = layout.get("narrow").and_then(|narrow| narrow.get("panes"));
            use_panes(
                &mut self.saved_settings.other.1.panes,
                &narrow.map(texts).unwrap_or_default(),
            );
        }
        if self.saved_settings.is_narrow {
            self.swap_layout();
        }
        let sort = table.get("sort").and_then(Value::as_table);
        if let Some(column) =
            sort.and_then(|sort| ServerColumn::named(sort.get("tools")?.as_str()?))
        {
            let is_reversed = sort.and_then(|sort| sort.get("reversed")?.as_bool()) == Some(true);
            self.server_view = ServerView {
                sort: column,
                is_reversed,
            };
        }
        self.saved_settings.folder = Some(folder);
        limits
            .1
            .into_iter()
            .for_each(|problem| self.toast_problem(problem));
        // What is in the file is not written again.
        self.saved_settings.values = self.values();
        if let Some(path) = word("tokenizer_file").map(PathBuf::from) {
            self.saved_settings.opening = Some(path.clone());
            effects.push(Effect::Tokens(TokensEffect::Tokenizer(path)));
        }
    }

    /// Remembers the window's size; one that is no size is left out.
    pub(super) fn keep_window(&mut self, size: [f32; 2]) {
        if size.iter().all(|points| WINDOW.contains(points)) {
            self.saved_settings.window = Some(size.map(f32::round));
            let is_narrow = size[0] < NARROW;
            if std::mem::replace(&mut self.saved_settings.is_narrow, is_narrow) != is_narrow {
                self.swap_layout();
                self.fit_panes();
            }
        }
    }

    fn swap_layout(&mut self) {
        std::mem::swap(&mut self.settings.panels, &mut self.saved_settings.other.0);
        self.view.swap_panes(&mut self.saved_settings.other.1);
    }

    /// Whether the layout is that of narrow windows.
    pub fn has_narrow_layout(&self) -> bool {
        self.saved_settings.is_narrow
    }

    /// Has what changed written, where anything is kept at all.
    pub fn keep(&mut self, effects: &mut Vec<Effect>) {
        let Some(folder) = self.saved_settings.folder.clone() else {
            return;
        };
        let now = self.values();
        let gone = self
            .saved_settings
            .values
            .keys()
            .filter(|keys| !now.contains_key(*keys))
            .map(|keys| (keys.clone(), None));
        let new = now
            .iter()
            .filter(|(keys, value)| self.saved_settings.values.get(*keys) != Some(value));
        let changes: Changes = gone
            .chain(new.map(|(keys, value)| (keys.clone(), Some(value.clone()))))
            .collect();
        if !changes.is_empty() {
            self.saved_settings.values = now;
            effects.push(Effect::KeepSettings { folder, changes });
        }
    }

    /// Everything that is kept, by the path of its keys.
    fn values(&self) -> BTreeMap<Vec<String>, Value> {
        let mut values = BTreeMap::new();
        let mut put = |keys: &[&str], value: Value| {
            values.insert(
                keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>(),
                value,
            );
        };
        let settings = &self.settings;
        put(&["theme"], settings.theme.name().into());
        match (&settings.tokenizer, &self.saved_settings.tokenizer) {
            (Tokenizer::File(_), Some(path)) => {
                put(&["tokenizer_file"], path.display().to_string().into())
            }
            (Tokenizer::File(_), None) => {}
            (tokenizer, _) => put(&["tokenizer"], tokenizer.name().into()),
        }
        if let Some(baseline) = settings.baseline {
            put(&["baseline"], baseline.into());
        }
        if let Some(model) = &settings.model {
            put(&["model"], model.clone().into());
        }
        put(&["wrap"], settings.wrap.into());
        for (name, is_on) in [
            ("reduce_motion", settings.reduce_motion),
            ("more_contrast", settings.more_contrast),
        ] {
            if is_on {
                put(&[name], true.into());
            }
        }
        if settings.ledger_sizes {
            put(&["ledger_sizes"], true.into());
        }
        if settings.zoom != 100 {
            put(&["zoom"], i64::from(settings.zoom).into());
        }
        let waits = TimeLimits::default();
        for (name, seconds, usual) in [
            ("connect", settings.waits.connect, waits.connect),
            ("call", settings.waits.call, waits.call),
        ] {
            if seconds != usual {
                put(&["waits", name], i64::from(seconds).into());
            }
        }
        for ((word, value), (_, usual)) in self
            .limits
            .entries()
            .into_iter()
            .zip(Limits::default().entries())
        {
            if value != usual {
                put(&["limits", word], value.into());
            }
        }
        let (panes, drawer) = self.view.layout();
        let (other, is_narrow) = (&self.saved_settings.other, self.saved_settings.is_narrow);
        let words = |panes: [PaneView; 3]| {
            Value::Array(panes.iter().map(|pane| pane.word().into()).collect())
        };
        let (wide, narrow) = if is_narrow {
            (other.1.panes, panes)
        } else {
            (panes, other.1.panes)
        };
        if (wide, drawer) != View::default().layout() {
            put(&["layout", "panes"], words(wide));
            put(&["layout", "drawer"], drawer.into());
        }
        if narrow != PaneView::FIRST {
            put(&["layout", "narrow", "panes"], words(narrow));
        }
        let usual = ServerView::default();
        if (self.server_view.sort, self.server_view.is_reversed) != (usual.sort, usual.is_reversed)
        {
            put(&["sort", "tools"], self.server_view.sort.name().into());
            put(&["sort", "reversed"], self.server_view.is_reversed.into());
        }
        put(&["sidebar"], settings.sidebar_open.into());
        put(&["drawer"], settings.drawer_open.into());
        put(&["history", "on"], (!self.history.is_off).into());
        put(
            &["history", "days"],
            i64::from(self.history.keep.days).into(),
        );
        put(
            &["history", "mebibytes"],
            i64::try_from(self.history.keep.bytes / MEBIBYTE)
                .unwrap_or(i64::MAX)
                .into(),
        );
        if let Some([width, height]) = self.saved_settings.window {
            put(&["window", "width"], f64::from(width).into());
            put(&["window", "height"], f64::from(height).into());
        }
        for (panels, is_narrow) in [(&settings.panels, is_narrow), (&other.0, !is_narrow)] {
            let mut put = |name: &str, value: Value| match is_narrow {
                true => put(&["panels", "narrow", name], value),
                false => put(&["panels", name], value),
            };
            for (name, points) in [
                ("sidebar", panels.sidebar),
                ("captures", panels.captures),
                ("drawer", panels.drawer),
            ] {
                if let Some(points) = points {
                    put(name, i64::from(points).into());
                }
            }
            if let Some(shares) = panels.panes {
                put(
                    "panes",
                    Value::Array(
                        shares
                            .into_iter()
                            .map(|share| i64::from(share).into())
                            .collect(),
                    ),
                );
            }
        }
        let list = |texts: &mut dyn Iterator<Item = &str>| {
            Value::Array(texts.map(|text| text.into()).collect())
        };
        if !self.view.hosts.pinned.is_empty() {
            put(
                &["pinned_hosts"],
                list(&mut self.view.hosts.pinned.iter().map(|host| host.as_str())),
            );
        }
        if !self.live.allowed.is_empty() {
            put(
                &["transcripts"],
                list(&mut self.live.allowed.iter().map(String::as_str)),
            );
        }
        for (server, tools) in &self.comparisons.needed_fields {
            for (tool, fields) in tools {
                put(
                    &["needed", server, tool],
                    list(&mut fields.iter().map(String::as_str)),
                );
            }
        }
        for (server, tool, how) in self.read_texts.iter() {
            put(&["read_text", server, tool], how.as_str().into());
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::HistoryLimits;
    use crate::state::SessionUpdate;
    use crate::state::{
        Action, CompareAction, ConnectAction, DrawerTab, Event, HistoryAction, HistoryEffect,
        HostsAction, PaneView, ViewAction,
    };
    use loupe_core::capture::{Server, Tool};

    fn kept(state: &mut State) -> Option<Changes> {
        let mut effects = Vec::new();
        state.keep(&mut effects);
        effects.into_iter().find_map(|effect| match effect {
            Effect::KeepSettings { changes, .. } => Some(changes),
            _ => None,
        })
    }

    #[test]
    fn what_was_kept_comes_back_and_only_what_changes_is_written() {
        let file = r#"
            theme = "dark"
            tokenizer = "cl100k_base"
            baseline = "no-such-format"
            wrap = false
            pinned_hosts = ["codex", "zed"]
            future = 7
            window = { width = 1200, height = 800.0 }
            history = { on = false, days = 7, mebibytes = 64 }
            [needed.srv]
            tool = ["/a", "/b"]
        "#;
        let table: Table = file.parse().unwrap();
        assert_eq!(window_size(&table), Some([1200.0, 800.0]));
        let mut state = State::default();
        assert_eq!(kept(&mut state), None);
        state.perform(
            SettingsAction::UseSettings {
                folder: "/nowhere".into(),
                table,
            },
            &mut Vec::new(),
        );
        assert_eq!(
            (state.settings.theme, state.settings.tokenizer.name()),
            (Theme::Dark, "cl100k_base")
        );
        assert_eq!(
            (state.settings.baseline, state.settings.wrap),
            (None, false)
        );
        assert_eq!(state.view.hosts.pinned.len(), 2);
        assert_eq!(kept(&mut state), None);
        assert!(state.history.is_off);
        assert_eq!(
            (state.history.keep.days, state.history.keep.bytes),
            (7, 64 << 20)
        );
        state.perform(
            Action::History(HistoryAction::Use("/nowhere".into())),
            &mut Vec::new(),
        );
        assert!(!state.history.is_on, "what was turned off stays off");
        state.perform(Action::History(HistoryAction::SetOn(true)), &mut Vec::new());
        let limits = HistoryLimits {
            days: 0,
            bytes: 1 << 30,
        };
        let mut effects = Vec::new();
        state.perform(
            Action::History(HistoryAction::SetLimits(limits)),
            &mut effects,
        );
        assert_eq!(
            effects,
            [Effect::History(HistoryEffect::List { keep: limits })]
        );
        let changes = kept(&mut state).unwrap();
        let history = |key: &str| {
            changes
                .get(&vec!["history".to_owned(), key.to_owned()])
                .cloned()
                .flatten()
        };
        assert_eq!(history("on"), Some(true.into()));
        assert_eq!(
            (history("days"), history("mebibytes")),
            (Some(0.into()), Some(1024.into()))
        );
        state.perform(SettingsAction::SetTheme(Theme::Light), &mut Vec::new());
        let changes = kept(&mut state).unwrap();
        assert_eq!(
            changes,
            Changes::from([(vec!["theme".to_owned()], Some("light".into()))])
        );
        for host in state.view.hosts.pinned.clone() {
            state.perform(Action::Hosts(HostsAction::Pin(host)), &mut Vec::new());
        }
        assert_eq!(
            kept(&mut state),
            Some(Changes::from([(vec!["pinned_hosts".to_owned()], None)]))
        );
        state.perform(SettingsAction::KeepWindow([10.0, 10.0]), &mut Vec::new());
        assert_eq!(kept(&mut state), None);
        state.perform(SettingsAction::KeepWindow([900.4, 700.0]), &mut Vec::new());
        assert_eq!(kept(&mut state).unwrap().len(), 2);
    }

    #[test]
    fn needed_fields_are_those_of_one_server() {
        let file = "[needed.one]\nfind = [\"/a\"]\n";
        let mut state = State::default();
        state.perform(
            SettingsAction::UseSettings {
                folder: "/nowhere".into(),
                table: file.parse().unwrap(),
            },
            &mut Vec::new(),
        );
        let connected = |state: &mut State, name: &str| {
            state.perform(
                ConnectAction::Connect(Box::new(loupe_core::source::Source::sample())),
                &mut Vec::new(),
            );
            let server = Server {
                name: name.into(),
                ..Server::default()
            };
            let tool = r#"{"name":"find","inputSchema":{"properties":{"format":{"enum":["json","markdown"]}}},"annotations":{"readOnlyHint":true}}"#;
            let session = state.session().id;
            state.apply(
                Event::Session {
                    session,
                    update: SessionUpdate::Connected(server),
                },
                &mut Vec::new(),
            );
            let tools = vec![Tool::read(tool.into())];
            state.apply(
                Event::Session {
                    session,
                    update: SessionUpdate::Tools { tools, note: None },
                },
                &mut Vec::new(),
            );
            let start = CompareAction::Start {
                vary: "format".into(),
                written: String::new(),
            };
            state.perform(Action::Compare(start), &mut Vec::new());
        };
        connected(&mut state, "one");
        assert!(state.needed_fields("one", "find").is_some());
        connected(&mut state, "two");
        assert_eq!(state.needed_fields("two", "find"), None);
        assert_eq!(kept(&mut state), None);
        state.perform(
            Action::Compare(CompareAction::Need(Some(["/b".to_owned()].into()))),
            &mut Vec::new(),
        );
        let changes = kept(&mut state).unwrap();
        assert_eq!(
            changes.keys().collect::<Vec<_>>(),
            [&["needed", "two", "find"].map(str::to_owned).to_vec()]
        );
        connected(&mut state, "one");
        assert_eq!(
            state.needed_fields("one", "find"),
            Some(&["/a".to_owned()].into())
        );
        assert_eq!(kept(&mut state), None);
    }

    #[test]
    fn sizes_of_panels_come_back() {
        let file = "drawer = true\n[panels]\nsidebar = 300\ndrawer = -4\npanes = [200, 500, 300]\n";
        let mut state = State::default();
        state.perform(
            SettingsAction::UseSettings {
                folder: "/nowhere".into(),
                table: file.parse().unwrap(),
            },
            &mut Vec::new(),
        );
        let wanted = Panels {
            sidebar: Some(300),
            captures: None,
            drawer: None,
            panes: Some([200, 500, 300]),
        };
        assert_eq!((state.settings.panels, kept(&mut state)), (wanted, None));
        state.perform(
            SettingsAction::KeepPanel(PanelSize::Drawer(411)),
            &mut Vec::new(),
        );
        state.perform(
            SettingsAction::KeepPanel(PanelSize::Panes([1, 2, 3])),
            &mut Vec::new(),
        );
        let changes = kept(&mut state).unwrap();
        let of = |name: &str| {
            changes
                .get(&vec!["panels".to_owned(), name.to_owned()])
                .cloned()
                .flatten()
        };
        assert_eq!(
            (of("drawer"), of("panes").map(|shares| shares.to_string())),
            (Some(411.into()), Some("[1, 2, 3]".into()))
        );
        assert_eq!(changes.len(), 2);
        // Two numbers are no three shares.
        assert_eq!(
            panels(Some(&"panes = [1, 2]\n".parse::<Table>().unwrap().into())),
            Panels::default()
        );
    }

    #[test]
    fn a_narrow_window_has_a_layout_of_its_own() {
        let file = r#"
            window = { width = 1600.0, height = 1000.0 }
            [layout]
            panes = ["tree"]
            narrow = { panes = ["table"] }
            [panels]
            sidebar = 300
            narrow = { panes = [1, 2, 3] }
        "#;
        let mut state = State::default();
        state.perform(
            SettingsAction::UseSettings {
                folder: "/nowhere".into(),
                table: file.parse().unwrap(),
            },
            &mut Vec::new(),
        );
        let layout = |state: &State| {
            (
                state.view.panes[0],
                state.view.open,
                state.settings.panels.sidebar,
                state.settings.panels.panes,
            )
        };
        let wide = (PaneView::Tree, [true, false, true], Some(300), None);
        assert_eq!(kept(&mut state), None, "nothing changed");
        state.perform(ViewAction::TogglePane(1), &mut Vec::new());
        assert_eq!(layout(&state), wide);
        state.perform(
            SettingsAction::KeepWindow([1_000.0, 700.0]),
            &mut Vec::new(),
        );
        assert_eq!(
            layout(&state),
            (PaneView::Table, [true; 3], None, Some([1, 2, 3]))
        );
        state.perform(
            SettingsAction::KeepPanel(PanelSize::Sidebar(250)),
            &mut Vec::new(),
        );
        state.perform(
            ViewAction::SetPane {
                pane: 0,
                shows: PaneView::Text("json"),
            },
            &mut Vec::new(),
        );
        let written = kept(&mut state)
            .unwrap()
            .into_iter()
            .map(|(keys, value)| format!("{} {}", keys.join("."), value.unwrap()));
        let written: Vec<String> = written.filter(|line| !line.starts_with("window")).collect();
        let panes = r#"["text:json", "text:content", "tree"]"#;
        assert_eq!(
            written,
            [
                format!("layout.narrow.panes {panes}"),
                "panels.narrow.sidebar 250".to_owned()
            ]
        );
        state.perform(
            SettingsAction::KeepWindow([1_300.0, 700.0]),
            &mut Vec::new(),
        );
        assert_eq!(layout(&state), wide);
        // The next run begins narrow.
        let narrow = file.replace("1600.0", "800.0");
        let mut state = State::default();
        state.perform(
            SettingsAction::UseSettings {
                folder: "/nowhere".into(),
                table: narrow.parse().unwrap(),
            },
            &mut Vec::new(),
        );
        assert_eq!(
            (layout(&state).0, kept(&mut state)),
            (PaneView::Table, None)
        );
    }

    #[test]
    fn sizes_waits_limits_layout_and_sort_come_back() {
        let file = r#"
            zoom = 120
            waits = { connect = 5, call = 0 }
            limits = { pages = 20 }
            layout = { panes = ["text:json", "host:codex", "nonsense"], drawer = "hosts" }
            sort = { tools = "name", reversed = true }
        "#;
        let mut state = State::default();
        let mut effects = Vec::new();
        state.perform(
            SettingsAction::UseSettings {
                folder: "/nowhere".into(),
                table: file.parse().unwrap(),
            },
            &mut effects,
        );
        assert_eq!(
            (
                state.settings.zoom,
                state.settings.waits,
                state.limits.pages
            ),
            (
                120,
                TimeLimits {
                    connect: 5,
                    call: 60
                },
                20
            )
        );
        assert_eq!(
            (state.view.panes[0], state.view.panes[2]),
            (PaneView::Text("json"), PaneView::FIRST[2])
        );
        assert!(matches!(state.view.panes[1], PaneView::Host(host) if host.as_str() == "codex"));
        assert_eq!(
            (state.view.drawer, state.server_view.sort),
            (DrawerTab::Hosts, ServerColumn::Name)
        );
        assert_eq!(kept(&mut state), None, "nothing changed");
        state.perform(
            SettingsAction::SetLimit {
                word: "pages",
                value: "7".into(),
            },
            &mut effects,
        );
        state.perform(
            SettingsAction::SetLimit {
                word: "pages",
                value: "many".into(),
            },
            &mut effects,
        );
        assert!(
            state
                .toasts
                .last()
                .unwrap()
                .text
                .contains("cannot be `many`")
        );
        assert!(matches!(
            effects.last(),
            Some(Effect::Session(SessionEffect::UseLimits(Limits {
                pages: 7,
                ..
            })))
        ));
        state.perform(SettingsAction::SetZoom(100), &mut effects);
        state.perform(
            ViewAction::SetPane {
                pane: 0,
                shows: PaneView::Tree,
            },
            &mut effects,
        );
        let changes = kept(&mut state).unwrap();
        let of = |keys: &[&str]| {
            changes
                .get(&keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>())
                .cloned()
        };
        assert_eq!(
            (of(&["zoom"]), of(&["limits", "pages"])),
            (Some(None), Some(Some("7".into())))
        );
        assert!(
            of(&["layout", "panes"])
                .flatten()
                .unwrap()
                .to_string()
                .contains("\"tree\", \"host:codex\"")
        );
    }

    #[test]
    fn nothing_is_kept_where_nobody_asked_for_it() {
        let mut state = State::default();
        state.perform(SettingsAction::SetTheme(Theme::Dark), &mut Vec::new());
        assert_eq!(kept(&mut state), None);
    }
}
