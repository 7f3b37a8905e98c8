//! Values that a server needs and that no file of Loupe's has: from the system's keychain, else asked for by name. Nothing
//! is started or reached before each of them is there.

use std::collections::BTreeMap;

use super::{Dialog, Effect, ImportEffect, State};
use loupe_core::source::{Source, missing_secrets, server_key, with_secrets};

/// What is still missing of a source, and what was typed of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingValues {
    source: Source,
    /// What is asked for, in the order of the source.
    pub names: Vec<String>,
    /// Never shown.
    pub typed: BTreeMap<String, String>,
    /// Whether they go into the system's keychain once the server was reached with them.
    pub keeps: bool,
    /// Why the keychain cannot be used.
    pub no_keychain: Option<String>,
}

impl MissingValues {
    /// For people: the server they are for.
    pub fn server(&self) -> String {
        self.source.label()
    }

    /// Whether each has a value.
    pub fn is_complete(&self) -> bool {
        self.names
            .iter()
            .all(|name| self.typed.get(name).is_some_and(|value| !value.is_empty()))
    }
}

/// Values on their way.
#[derive(Debug, Default)]
pub struct Values {
    /// The source whose values are looked for in the keychain.
    sought: Option<Source>,
}

/// What the user does in the dialog.
#[derive(Clone, Debug, PartialEq)]
pub enum ValuesAction {
    Type { name: String, value: String },
    Keep(bool),
    Connect,
}

impl State {
    pub(super) fn change_values(&mut self, action: ValuesAction, effects: &mut Vec<Effect>) {
        let Some(Dialog::Values(missing)) = &mut self.dialog else {
            return;
        };
        match action {
            ValuesAction::Type { name, value } => drop(missing.typed.insert(name, value)),
            ValuesAction::Keep(keeps) => missing.keeps = keeps,
            ValuesAction::Connect if missing.is_complete() => {
                let MissingValues {
                    source,
                    typed,
                    keeps,
                    ..
                } = (**missing).clone();
                self.dialog = None;
                let source = with_secrets(&source, &typed);
                let key = server_key(&source, self.servers.here()).filter(|_| keeps);
                let before = self.session().id;
                self.start_connecting(source, effects);
                if self.session().id != before {
                    self.session_mut().to_keep = key.map(|key| (key, typed));
                }
            }
            ValuesAction::Connect => {}
        }
    }

    /// Looks for what is left out of a source; it is connected to once all is there.
    pub(super) fn seek_values(&mut self, source: Source, effects: &mut Vec<Effect>) {
        let Some(key) = server_key(&source, self.servers.here()) else {
            return;
        };
        self.toast(&format!(
            "Looking in the system's keychain for values of {}",
            source.label()
        ));
        self.values.sought = Some(source);
        effects.push(Effect::Import(ImportEffect::FindValues { key }));
    }

    /// What the keychain has. The rest is asked for.
    pub(super) fn values_found(
        &mut self,
        key: &str,
        values: Result<BTreeMap<String, String>, String>,
        effects: &mut Vec<Effect>,
    ) {
        let here = self.servers.here();
        let is_it = |source: &mut Source| server_key(source, here).as_deref() == Some(key);
        let Some(source) = self.values.sought.take_if(is_it) else {
            return;
        };
        let no_keychain = values.as_ref().err().cloned();
        let source = with_secrets(&source, &values.unwrap_or_default());
        let names = missing_secrets(&source);
        if names.is_empty() {
            self.start_connecting(source, effects);
        } else {
            let keeps = no_keychain.is_none();
            let missing = MissingValues {
                source,
                names,
                typed: BTreeMap::new(),
                keeps,
                no_keychain,
            };
            self.dialog = Some(Dialog::Values(Box::new(missing)));
        }
    }

    /// Nothing is sought or kept any more: another server is being connected.
    pub(super) fn forget_values(&mut self) {
        self.values = Values::default();
    }
}
