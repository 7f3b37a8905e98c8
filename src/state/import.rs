//! What the user brings along to connect: a pasted text, a client's configuration, a source used before. What was
//! understood is shown, and asked for where something is missing, before it becomes the connect form; connecting is
//! another click.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::undo::UndoStep;
use super::{ConnectForm, Dialog, Effect, ImportEffect, ImportEvent, PathPurpose, Screen, State};
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::source::import::{Import, ImportedServer, Pasted, Placeholder, understand};
use loupe_core::source::secret::looks_secret;
use loupe_core::source::{Recent, RecentSource, Source, missing_secrets, server_key};

/// A longer text is a file's business.
const PASTED_BYTES: usize = 256 << 10;
/// Sources that are kept next to the pinned ones.
const RECENT: usize = 12;

/// A client's configuration that lies on this computer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundConfig {
    pub client: String,
    pub path: PathBuf,
}

/// What a text or file was understood as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportGuess {
    /// Such as "a command line", or the file.
    pub what: String,
    /// The file it is from.
    pub path: Option<PathBuf>,
    pub import: Import,
    /// The server that is looked at.
    pub chosen: Option<usize>,
    /// Values for placeholders, by the placeholder as it is written. Never shown.
    pub values: BTreeMap<String, String>,
}

impl ImportGuess {
    pub fn entry(&self) -> Option<&ImportedServer> {
        self.import.servers.get(self.chosen?)
    }

    /// The source, as far as all is known.
    ///
    /// # Errors
    /// What is still missing.
    pub fn source(&self) -> Result<Source, Problem> {
        let entry = self
            .entry()
            .ok_or_else(|| Problem::new(ProblemKind::Usage, "no server is chosen"))?;
        entry.resolve(|placeholder| {
            self.values
                .get(&placeholder.to_string())
                .filter(|value| !value.is_empty())
                .cloned()
        })
    }

    /// Whether what is typed for a placeholder must not be seen.
    pub fn is_secret(&self, placeholder: &Placeholder) -> bool {
        let name = placeholder.name().unwrap_or_default();
        let input = self
            .entry()
            .and_then(|entry| entry.inputs.iter().find(|input| input.id == name));
        input.is_some_and(|input| input.is_secret) || looks_secret(name)
    }
}

/// The import part of the connect screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Importing {
    /// What is in the field to paste into.
    pub text: String,
    /// Why the text is not understood.
    pub problem: Option<Problem>,
    /// The text is a result, which can be opened.
    pub is_answer: bool,
    pub understood: Option<ImportGuess>,
    /// `None`: nobody looked yet.
    pub found: Option<Vec<FoundConfig>>,
    /// Pinned first, then the last used.
    pub recent: Vec<Recent>,
    /// Where the recent ones are kept.
    folder: Option<PathBuf>,
    /// A server of a file was clicked to connect to it, once all that it needs is known.
    connects: bool,
    /// The server of a file whose name is waited for.
    wanted: Option<String>,
    /// The file and server that the form was filled from, and with what.
    origin: Option<(PathBuf, String, Source)>,
}

impl Importing {
    /// The file that is read next is looked at for this server, which is not connected to.
    pub(super) fn read_again(&mut self, server: String) {
        (self.wanted, self.connects) = (Some(server), false);
    }
}

/// What the user does about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportAction {
    SetText(String),
    /// Open the pasted text as a result.
    OpenAnswer,
    /// Look where clients keep their configurations.
    Look,
    Read(PathBuf),
    /// Ask for a file.
    Browse,
    Choose(usize),
    SetValue {
        placeholder: String,
        value: String,
    },
    /// Fill the connect form.
    Use,
    /// Show what records the chosen server, or stops that.
    PrepareWrap,
    /// Write what is shown.
    Wrap,
    Close,
    /// Connect to a source used before.
    ConnectRecent(usize),
    /// Fill the connect form with it.
    UseRecent(usize),
    Pin(usize),
    Forget(usize),
}

impl State {
    pub(super) fn import_event(&mut self, event: ImportEvent, effects: &mut Vec<Effect>) {
        match event {
            ImportEvent::Recent { folder, recent } => self.read_recent(folder, recent),
            ImportEvent::Servers { folder, known } => {
                self.servers_read(folder, known);
                self.begin_watching(effects);
            }
            ImportEvent::ServersKept(kept) => self.trust_kept(&kept),
            ImportEvent::ValuesFound { key, values } => self.values_found(&key, values, effects),
            ImportEvent::Found(found) => self.configs_found(found),
            ImportEvent::Read { path, read } => self.config_read(&path, read, effects),
            ImportEvent::WrapPrepared(prepared) => self.wrap_prepared(prepared),
            ImportEvent::WrapWritten(written) => self.wrap_written(&written, effects),
            ImportEvent::ValuesKnown(values) => {
                self.values_known(values);
                self.connect_wanted(effects);
            }
        }
    }

    pub(super) fn import(&mut self, action: ImportAction, effects: &mut Vec<Effect>) {
        match action {
            ImportAction::SetText(text) => self.paste(text, effects),
            ImportAction::OpenAnswer => {
                if self.importing.is_answer {
                    let text = std::mem::take(&mut self.importing.text);
                    self.importing.is_answer = false;
                    effects.push(Effect::OpenText(text));
                }
            }
            ImportAction::Look => effects.push(Effect::Import(ImportEffect::Look)),
            ImportAction::Read(path) => {
                self.dialog = None;
                (self.importing.wanted, self.importing.connects) = (None, false);
                effects.push(Effect::Import(ImportEffect::ReadConfig(path)));
            }
            ImportAction::Browse => {
                self.dialog = Some(Dialog::Path {
                    purpose: PathPurpose::ImportConfig,
                    text: String::new(),
                });
            }
            ImportAction::Choose(server) => self.choose_server(server, effects),
            ImportAction::SetValue { placeholder, value } => {
                if let Some(understood) = &mut self.importing.understood {
                    understood.values.insert(placeholder, value);
                }
            }
            ImportAction::Use => self.use_import(),
            ImportAction::PrepareWrap => self.prepare_wrap(effects),
            ImportAction::Wrap => self.write_wrap(effects),
            ImportAction::Close => {
                let importing = &mut self.importing;
                importing.understood = None;
                importing.problem = None;
                importing.text.clear();
                importing.is_answer = false;
            }
            ImportAction::ConnectRecent(index) => self.connect_recent(index, effects),
            ImportAction::UseRecent(index) => self.use_recent(index, effects),
            ImportAction::Pin(index) => {
                if let Some(recent) = self.importing.recent.get_mut(index) {
                    recent.is_pinned = !recent.is_pinned;
                    // Pinned ones stand first; among themselves they keep their order.
                    self.importing
                        .recent
                        .sort_by_key(|recent| !recent.is_pinned);
                    self.save_recent(effects);
                }
            }
            ImportAction::Forget(index) => {
                if index < self.importing.recent.len() {
                    let recent = self.importing.recent.remove(index);
                    let mut what = format!("Removed {}", recent.label().0);
                    let mut memory = None;
                    if let RecentSource::Reach(kept) = &recent.source
                        && let Some(key) = server_key(&kept.source(), self.servers.here())
                    {
                        memory = self
                            .forget_server(&key, effects)
                            .map(|memory| (key.clone(), memory));
                        if !missing_secrets(&kept.source()).is_empty() {
                            what.push_str(
                                " and its values in the keychain, which do not come back",
                            );
                            effects.push(Effect::Import(ImportEffect::ForgetValues { key }));
                        }
                    }
                    self.offer_undo(
                        what,
                        UndoStep::Server {
                            at: index,
                            recent: Box::new(recent),
                            memory: memory.map(Box::new),
                        },
                    );
                    self.save_recent(effects);
                }
            }
        }
    }

    fn paste(&mut self, text: String, effects: &mut Vec<Effect>) {
        let importing = &mut self.importing;
        importing.understood = None;
        importing.problem = None;
        importing.is_answer = false;
        (importing.wanted, importing.connects) = (None, false);
        if text.len() > PASTED_BYTES {
            let what = format!("the text is longer than {} KiB", PASTED_BYTES >> 10);
            importing.problem = Some(
                Problem::new(ProblemKind::Usage, what).hint("save it in a file, and open that"),
            );
        } else if !text.trim().is_empty() {
            match understand(&text) {
                Ok(Pasted::Answer) => importing.is_answer = true,
                Ok(Pasted::Servers { what, import }) => {
                    self.understood(what.to_owned(), None, import, effects)
                }
                Err(problem) => importing.problem = Some(problem),
            }
        }
        self.importing.text = text;
    }

    fn understood(
        &mut self,
        what: String,
        path: Option<PathBuf>,
        import: Import,
        effects: &mut Vec<Effect>,
    ) {
        let wanted = self.importing.wanted.take();
        let chosen = match &wanted {
            Some(name) => import.servers.iter().position(|entry| entry.name == *name),
            None => (import.servers.len() == 1).then_some(0),
        };
        // Another server than the one that was clicked is not connected to.
        self.importing.connects &= wanted.is_some() && chosen.is_some();
        if let (Some(name), None) = (&wanted, chosen) {
            self.toast_problem(Problem::new(
                ProblemKind::NotFound,
                format!("the file has no server `{name}` any more"),
            ));
        }
        self.importing.understood = Some(ImportGuess {
            what,
            path,
            import,
            chosen: None,
            values: BTreeMap::new(),
        });
        if let Some(server) = chosen {
            self.choose_server(server, effects);
        }
    }

    fn choose_server(&mut self, server: usize, effects: &mut Vec<Effect>) {
        let Some(understood) = &mut self.importing.understood else {
            return;
        };
        understood.chosen = Some(server);
        let placeholders = understood
            .entry()
            .map(ImportedServer::placeholders)
            .unwrap_or_default();
        if placeholders.is_empty() {
            self.connect_wanted(effects);
        } else {
            effects.push(Effect::Import(ImportEffect::KnownValues {
                placeholders,
                file: understood.path.clone(),
            }));
        }
    }

    /// Values that this computer knows; what was typed stays.
    pub(super) fn values_known(&mut self, values: Vec<(String, String)>) {
        if let Some(understood) = &mut self.importing.understood {
            for (placeholder, value) in values {
                understood.values.entry(placeholder).or_insert(value);
            }
        }
    }

    pub(super) fn configs_found(&mut self, found: Vec<FoundConfig>) {
        let clients: Vec<&str> = found
            .iter()
            .flat_map(|config| config.client.split(", "))
            .collect();
        self.hosts_found(&clients);
        self.importing.found = Some(found);
    }

    pub(super) fn config_read(
        &mut self,
        path: &Path,
        read: Result<Import, Problem>,
        effects: &mut Vec<Effect>,
    ) {
        match read {
            Ok(import) => self.understood(
                path.display().to_string(),
                Some(path.to_owned()),
                import,
                effects,
            ),
            Err(problem) => {
                (self.importing.wanted, self.importing.connects) = (None, false);
                self.toast_problem(problem);
            }
        }
    }

    /// Takes over what is in the field to paste into, where something does; whether the form is what is to be connected.
    pub(super) fn take_pasted(&mut self) -> bool {
        if let Some(problem) = self.importing.problem.clone() {
            self.toast_problem(problem);
            return false;
        }
        if self.importing.is_answer {
            let hint = "open it, or paste what names a server";
            self.toast_problem(
                Problem::new(ProblemKind::Usage, "an answer was pasted, not a server").hint(hint),
            );
            return false;
        }
        self.use_import();
        self.importing.understood.is_none()
    }

    fn use_import(&mut self) {
        let Some(understood) = &self.importing.understood else {
            return;
        };
        match understood.source() {
            Ok(source) => {
                let name = understood
                    .entry()
                    .map(|entry| entry.name.clone())
                    .unwrap_or_default();
                self.importing.origin = understood
                    .path
                    .clone()
                    .map(|path| (path, name, source.clone()));
                self.fill_form(&source);
                self.importing.understood = None;
                self.importing.text.clear();
            }
            Err(problem) => self.toast_problem(problem),
        }
    }

    fn fill_form(&mut self, source: &Source) {
        let sample = self.connect_form.sample.clone();
        self.connect_form = ConnectForm {
            sample,
            ..ConnectForm::new(source)
        };
        self.view.screen = Screen::Connect;
    }

    // Recent sources

    pub(super) fn read_recent(&mut self, folder: PathBuf, recent: Vec<Recent>) {
        self.importing.folder = Some(folder);
        self.importing.recent = recent;
    }

    fn connect_recent(&mut self, index: usize, effects: &mut Vec<Effect>) {
        let Some(recent) = self.importing.recent.get(index) else {
            return;
        };
        match &recent.source {
            RecentSource::Config { .. } => {
                self.use_recent(index, effects);
                self.importing.connects = true;
            }
            RecentSource::Reach(kept) => {
                let source = kept.source();
                self.start_connecting(source, effects);
            }
        }
    }

    /// Connects to the server of a file that was clicked; where something is still missing, the connect screen asks for it.
    fn connect_wanted(&mut self, effects: &mut Vec<Effect>) {
        if !std::mem::take(&mut self.importing.connects) {
            return;
        }
        match self.importing.understood.as_ref().map(ImportGuess::source) {
            Some(Ok(_)) => {
                self.use_import();
                self.connect_from_form(effects);
            }
            Some(Err(_)) => self.view.screen = Screen::Connect,
            None => {}
        }
    }

    fn use_recent(&mut self, index: usize, effects: &mut Vec<Effect>) {
        let Some(recent) = self.importing.recent.get(index) else {
            return;
        };
        match &recent.source {
            RecentSource::Config { file, server } => {
                self.importing.wanted = Some(server.clone());
                self.importing.connects = false;
                effects.push(Effect::Import(ImportEffect::ReadConfig(PathBuf::from(
                    file,
                ))));
            }
            RecentSource::Reach(kept) => {
                let source = kept.source();
                self.fill_form(&source);
            }
        }
    }

    /// Whether something of a source used before is still to be typed; says so.
    pub(super) fn lacks_values(&mut self, source: &Source) -> bool {
        let missing = missing_secrets(source);
        if !missing.is_empty() {
            let what = format!(
                "values were not kept and are still to be typed: {}",
                missing.join(", ")
            );
            self.toast_problem(Problem::new(ProblemKind::Usage, what));
        }
        !missing.is_empty()
    }

    /// The source was reached: it is remembered, without the values of secrets.
    pub(super) fn remember_source(&mut self, source: &Source, effects: &mut Vec<Effect>) {
        if self.importing.folder.is_none() {
            return;
        }
        let from_file = self
            .importing
            .origin
            .as_ref()
            .filter(|(.., filled)| filled == source);
        let Some(kept) = from_file.map_or_else(
            || Recent::new(source, self.servers.here()),
            |(file, server, _)| Some(Recent::of_config(&file.to_string_lossy(), server)),
        ) else {
            return;
        };
        let recent = &mut self.importing.recent;
        let is_pinned = recent
            .iter()
            .any(|known| known.source == kept.source && known.is_pinned);
        if !is_pinned {
            recent.retain(|known| known.source != kept.source);
            let first = recent.iter().filter(|known| known.is_pinned).count();
            recent.insert(first, kept);
            recent.truncate(first + RECENT);
        }
        self.save_recent(effects);
    }

    pub(super) fn save_recent(&self, effects: &mut Vec<Effect>) {
        if let Some(folder) = &self.importing.folder {
            effects.push(Effect::Import(ImportEffect::SaveRecent {
                folder: folder.clone(),
                recent: self.importing.recent.clone(),
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::ConnectAction;
    use crate::state::{Action, Event};
    use crate::state::{Dialog, SessionEffect, ValuesAction};

    fn perform(state: &mut State, action: ImportAction) -> Vec<Effect> {
        let mut effects = Vec::new();
        state.perform(Action::Import(action), &mut effects);
        effects
    }

    fn apply(state: &mut State, event: Event) -> Vec<Effect> {
        let mut effects = Vec::new();
        state.apply(event, &mut effects);
        effects
    }

    #[test]
    fn a_paste_becomes_the_form_once_everything_is_known() {
        let mut state = State::default();
        let text = r#"{"inputs":[{"id":"key","password":true,"type":"promptString"}],"servers":{"a":{"command":"x","env":{"K":"${input:key}"}}}}"#;
        let effects = perform(&mut state, ImportAction::SetText(text.into()));
        let understood = state.importing.understood.as_ref().unwrap();
        let placeholder = &understood.entry().unwrap().placeholders()[0];
        assert!(understood.is_secret(placeholder) && understood.source().is_err());
        assert!(
            matches!(&effects[..], [Effect::Import(ImportEffect::KnownValues { placeholders, file: None })] if placeholders.len() == 1)
        );
        perform(&mut state, ImportAction::Use);
        assert!(
            state.importing.understood.is_some(),
            "it waits for the value"
        );
        perform(
            &mut state,
            ImportAction::SetValue {
                placeholder: placeholder.to_string(),
                value: "s3cret".into(),
            },
        );
        apply(
            &mut state,
            Event::Import(ImportEvent::ValuesKnown(vec![(
                "${input:key}".into(),
                "other".into(),
            )])),
        );
        assert!(
            perform(&mut state, ImportAction::Use).is_empty(),
            "nothing starts"
        );
        assert_eq!(
            state.connect_form.source().unwrap().to_string(),
            "--env K=… -- x"
        );
        assert_eq!(
            state.connect_form.environment,
            [("K".to_owned(), "s3cret".to_owned())]
        );
        assert_eq!(
            (
                state.importing.understood.as_ref(),
                state.importing.text.as_str()
            ),
            (None, "")
        );
    }

    #[test]
    fn answers_nonsense_and_too_much_are_told_apart() {
        let mut state = State::default();
        perform(
            &mut state,
            ImportAction::SetText(r#"{"content":[]}"#.into()),
        );
        assert!(state.importing.is_answer);
        assert!(
            matches!(&perform(&mut state, ImportAction::OpenAnswer)[..], [Effect::OpenText(text)] if text.contains("content"))
        );
        perform(&mut state, ImportAction::SetText("npx 'x".into()));
        assert!(state.importing.problem.is_some());
        perform(
            &mut state,
            ImportAction::SetText("x".repeat(PASTED_BYTES + 1)),
        );
        assert!(
            state
                .importing
                .problem
                .as_ref()
                .unwrap()
                .what
                .contains("256 KiB")
        );
        perform(&mut state, ImportAction::SetText(" ".into()));
        assert_eq!(state.importing.problem, None);
    }

    #[test]
    fn sources_are_remembered_pinned_and_forgotten() {
        let mut state = State::default();
        let http = |url: &str| {
            Source::Http(loupe_core::source::Http {
                url: url.into(),
                ..Default::default()
            })
        };
        let mut effects = Vec::new();
        state.remember_source(&http("https://a"), &mut effects);
        assert!(effects.is_empty(), "no folder is known");
        apply(
            &mut state,
            Event::Import(ImportEvent::Recent {
                folder: "/f".into(),
                recent: Vec::new(),
            }),
        );
        for url in ["https://a", "https://b", "https://a"] {
            state.remember_source(&http(url), &mut effects);
        }
        state.remember_source(&Source::sample(), &mut effects);
        let labels = |state: &State| {
            state
                .importing
                .recent
                .iter()
                .map(|recent| recent.label().0)
                .collect::<Vec<_>>()
        };
        assert_eq!(labels(&state), ["a", "b"]);
        assert!(
            matches!(effects.last(), Some(Effect::Import(ImportEffect::SaveRecent { recent, .. })) if recent.len() == 2)
        );
        perform(&mut state, ImportAction::Pin(1));
        for at in 0..RECENT + 3 {
            state.remember_source(&http(&format!("https://{at}")), &mut effects);
        }
        assert_eq!(
            (labels(&state)[0].as_str(), state.importing.recent.len()),
            ("b", RECENT + 1)
        );
        perform(&mut state, ImportAction::Forget(0));
        assert!(!labels(&state).contains(&"b".to_owned()));
        perform(&mut state, ImportAction::UseRecent(0));
        assert_eq!(
            state.connect_form.source().unwrap().to_string(),
            "--url https://14"
        );
    }

    #[test]
    fn nothing_is_started_before_every_value_that_was_not_kept_is_there() {
        let mut state = State::default();
        let env = vec![
            ("TOKEN".to_owned(), "canary".to_owned()),
            ("MODE".to_owned(), "dev".to_owned()),
        ];
        let source = Source::Command(loupe_core::source::Command {
            program: "x".into(),
            env,
            ..Default::default()
        });
        let used = Recent::new(&source, None).unwrap();
        apply(
            &mut state,
            Event::Import(ImportEvent::Recent {
                folder: "/f".into(),
                recent: vec![used],
            }),
        );
        let connected = |effects: &[Effect]| {
            effects.iter().find_map(|effect| match effect {
                Effect::Session(SessionEffect::Connect { source, .. }) => Some((**source).clone()),
                _ => None,
            })
        };
        let found = |effects: &[Effect], values: &[(&str, &str)]| match effects {
            [Effect::Import(ImportEffect::FindValues { key })] => {
                let values = values
                    .iter()
                    .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                    .collect();
                Event::Import(ImportEvent::ValuesFound {
                    key: key.clone(),
                    values: Ok(values),
                })
            }
            other => panic!("{other:?}"),
        };
        // From the list, and through the form, however often: first the keychain is looked into.
        let looked = perform(&mut state, ImportAction::ConnectRecent(0));
        assert_eq!(
            connected(&apply(&mut state, found(&looked, &[("TOKEN", "canary")]))),
            Some(source.clone())
        );
        perform(&mut state, ImportAction::UseRecent(0));
        for _ in 0..2 {
            let mut effects = Vec::new();
            state.perform(ConnectAction::UseForm, &mut effects);
            assert!(apply(&mut state, found(&effects, &[])).is_empty());
            let Some(Dialog::Values(missing)) = &state.dialog else {
                panic!("asked")
            };
            assert_eq!(missing.names, ["TOKEN"]);
        }
        let mut effects = Vec::new();
        state.perform(ValuesAction::Connect, &mut effects);
        assert!(effects.is_empty(), "nothing was typed");
        state.perform(
            ValuesAction::Type {
                name: "TOKEN".into(),
                value: "typed".into(),
            },
            &mut effects,
        );
        state.perform(ValuesAction::Connect, &mut effects);
        let Some(Source::Command(command)) = connected(&effects) else {
            panic!("{effects:?}")
        };
        assert_eq!(
            command.env,
            [
                ("TOKEN".into(), "typed".into()),
                ("MODE".into(), "dev".into())
            ]
        );
        let update = crate::state::SessionUpdate::Connected(loupe_core::capture::Server::default());
        let session = state.session().id;
        let kept = apply(&mut state, Event::Session { session, update });
        let kept = kept.iter().any(
            |effect| matches!(effect, Effect::Import(ImportEffect::KeepValues { values, .. }) if values["TOKEN"] == "typed"),
        );
        assert!(kept);
    }

    #[test]
    fn a_server_of_a_file_is_one_click_away() {
        let mut state = State::default();
        let recent = vec![Recent::of_config("/p/.mcp.json", "a")];
        apply(
            &mut state,
            Event::Import(ImportEvent::Recent {
                folder: "/f".into(),
                recent,
            }),
        );
        perform(&mut state, ImportAction::ConnectRecent(0));
        let file = r#"{"mcpServers":{"a":{"command":"x","env":{"KEY":"${env:KEY}"}}}}"#;
        let read = loupe_core::source::import::read("/p/.mcp.json", file);
        let effects = apply(
            &mut state,
            Event::Import(ImportEvent::Read {
                path: "/p/.mcp.json".into(),
                read,
            }),
        );
        let [Effect::Import(ImportEffect::KnownValues { placeholders, .. })] = &effects[..] else {
            panic!("{effects:?}")
        };
        let known = ImportEvent::ValuesKnown(vec![(placeholders[0].to_string(), "canary".into())]);
        let effects = apply(&mut state, Event::Import(known));
        let connects = |effects: &[Effect]| {
            effects
                .iter()
                .any(|effect| matches!(effect, Effect::Session(SessionEffect::Connect { .. })))
        };
        assert!(connects(&effects), "{effects:?}");
        // What was pasted meanwhile was not clicked.
        perform(&mut state, ImportAction::ConnectRecent(0));
        assert!(!connects(&perform(
            &mut state,
            ImportAction::SetText("node other.js".into())
        )));
        perform(&mut state, ImportAction::ConnectRecent(0));
        let read = loupe_core::source::import::read(
            "/p/.mcp.json",
            r#"{"mcpServers":{"b":{"command":"y"}}}"#,
        );
        apply(
            &mut state,
            Event::Import(ImportEvent::Read {
                path: "/p/.mcp.json".into(),
                read,
            }),
        );
        assert!(
            !connects(&perform(&mut state, ImportAction::Choose(0))),
            "another server of the file"
        );
    }

    #[test]
    fn a_server_from_a_file_is_remembered_by_its_file() {
        let mut state = State::default();
        apply(
            &mut state,
            Event::Import(ImportEvent::Recent {
                folder: "/f".into(),
                recent: Vec::new(),
            }),
        );
        let import = |text: &str| loupe_core::source::import::read("/p/.mcp.json", text);
        let file =
            r#"{"mcpServers":{"a":{"command":"x","env":{"KEY":"canary"}},"b":{"command":"y"}}}"#;
        apply(
            &mut state,
            Event::Import(ImportEvent::Read {
                path: "/p/.mcp.json".into(),
                read: import(file),
            }),
        );
        assert_eq!(state.importing.understood.as_ref().unwrap().chosen, None);
        perform(&mut state, ImportAction::Choose(0));
        perform(&mut state, ImportAction::Use);
        let source = state.connect_form.source().unwrap();
        let mut effects = Vec::new();
        state.remember_source(&source, &mut effects);
        assert_eq!(
            state.importing.recent,
            [Recent::of_config("/p/.mcp.json", "a")]
        );
        assert!(!format!("{:?}", state.importing.recent).contains("canary"));
        assert!(
            matches!(&perform(&mut state, ImportAction::UseRecent(0))[..], [Effect::Import(ImportEffect::ReadConfig(path))] if path == Path::new("/p/.mcp.json"))
        );
        apply(
            &mut state,
            Event::Import(ImportEvent::Read {
                path: "/p/.mcp.json".into(),
                read: import(file),
            }),
        );
        assert_eq!(state.importing.understood.as_ref().unwrap().chosen, Some(0));
        perform(&mut state, ImportAction::UseRecent(0));
        apply(
            &mut state,
            Event::Import(ImportEvent::Read {
                path: "/p/.mcp.json".into(),
                read: import(r#"{"mcpServers":{}}"#),
            }),
        );
        assert!(
            state
                .toasts
                .last()
                .unwrap()
                .text
                .contains("no server `a` any more")
        );
    }
}
