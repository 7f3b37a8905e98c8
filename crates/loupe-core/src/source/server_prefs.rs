//! What is remembered of a server next to how it is reached: what it may do unasked, what it was called with, what is
//! watched. Kept for its [`super::server_key`].

use std::collections::BTreeMap;

use super::Protocol;
use crate::capture::Server;

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerMemory {
    /// The server for people, without secrets.
    pub source: String,
    /// Tools that are called without a question, with the digest of the definition that this was said of.
    pub allowed: BTreeMap<String, String>,
    /// The tool that was called last.
    pub tool: Option<String>,
    /// The arguments of each tool.
    pub arguments: BTreeMap<String, ToolArguments>,
    /// Values for `{{name}}` in arguments.
    pub variables: BTreeMap<String, String>,
    pub watch: Option<Watch>,
    /// The revision that it speaks, where asking for it by `server/discover` makes it complain, and its own version then.
    pub speaks: Option<Speaks>,
}

/// A revision of the protocol that a server was found to speak.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Speaks {
    pub revision: String,
    /// The server's own version; another may speak another revision.
    pub version: String,
}

impl Speaks {
    /// The revision, if Loupe knows it.
    pub fn revision(&self) -> Option<&'static str> {
        Protocol::VERSIONS
            .iter()
            .copied()
            .find(|known| *known == self.revision)
    }

    /// What to remember after connecting to `server`: its revision where it did not know `server/discover`, nothing once it
    /// is another version of the server, else what was remembered before.
    pub fn after(before: Option<&Self>, server: &Server, was_refused: bool) -> Option<Self> {
        match before {
            _ if was_refused => Some(Self {
                revision: server.protocol_version.clone(),
                version: server.version.clone(),
            }),
            Some(before) if before.version == server.version => Some(before.clone()),
            _ => None,
        }
    }
}

/// Arguments of one tool, as they was in the form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolArguments {
    /// Those of the last call.
    pub last: Option<String>,
    /// By the name that they were given.
    pub named: BTreeMap<String, String>,
}

/// What of a server's files is watched, to start it again when they change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watch {
    pub is_on: bool,
    /// Folders, files and globs, one a line.
    pub places: String,
    /// A command that is run first; empty is none.
    pub build: String,
}

/// One thing that is remembered of a server.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MemoryField {
    Source,
    Tool,
    Watch,
    Speaks,
    /// By the tool.
    Allowed(String),
    /// By its name.
    Variable(String),
    /// The arguments of a tool's last call.
    Last(String),
    /// Arguments by their tool and the name that they were given.
    Named(String, String),
}

/// What it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryValue {
    Text(String),
    Watch(Watch),
    Speaks(Speaks),
}

/// What changed, by the server's key; `None` is remembered no longer. Two windows change the same server so without undoing what
/// the other changed.
pub type MemoryChanges = BTreeMap<(String, MemoryField), Option<MemoryValue>>;

impl ServerMemory {
    fn fields(&self) -> BTreeMap<MemoryField, MemoryValue> {
        let text = |(field, text): (MemoryField, &String)| (field, MemoryValue::Text(text.clone()));
        let allowed = self
            .allowed
            .iter()
            .map(|(tool, digest)| (MemoryField::Allowed(tool.clone()), digest));
        let variables = self
            .variables
            .iter()
            .map(|(name, value)| (MemoryField::Variable(name.clone()), value));
        let last = self
            .arguments
            .iter()
            .filter_map(|(tool, of)| Some((MemoryField::Last(tool.clone()), of.last.as_ref()?)));
        let named = self.arguments.iter().flat_map(|(tool, of)| {
            of.named
                .iter()
                .map(|(name, text)| (MemoryField::Named(tool.clone(), name.clone()), text))
        });
        let source = (!self.source.is_empty()).then_some((MemoryField::Source, &self.source));
        let tool = self.tool.iter().map(|tool| (MemoryField::Tool, tool));
        let texts = allowed
            .chain(variables)
            .chain(last)
            .chain(named)
            .chain(source)
            .chain(tool)
            .map(text);
        let watch = self
            .watch
            .iter()
            .map(|watch| (MemoryField::Watch, MemoryValue::Watch(watch.clone())));
        let speaks = self
            .speaks
            .iter()
            .map(|speaks| (MemoryField::Speaks, MemoryValue::Speaks(speaks.clone())));
        texts.chain(watch).chain(speaks).collect()
    }

    /// What became of this in `after`.
    pub fn changes(&self, key: &str, after: &Self) -> MemoryChanges {
        let (before, mut after) = (self.fields(), after.fields());
        let mut changes = MemoryChanges::new();
        for (field, value) in before {
            let now = after.remove(&field);
            if now.as_ref() != Some(&value) {
                changes.insert((key.to_owned(), field), now);
            }
        }
        changes.extend(
            after
                .into_iter()
                .map(|(field, value)| ((key.to_owned(), field), Some(value))),
        );
        changes
    }

    /// Takes a change over.
    pub fn set(&mut self, field: MemoryField, value: Option<MemoryValue>) {
        let (mut text, mut watch, mut speaks) = (None, None, None);
        match value {
            Some(MemoryValue::Text(value)) => text = Some(value),
            Some(MemoryValue::Watch(value)) => watch = Some(value),
            Some(MemoryValue::Speaks(value)) => speaks = Some(value),
            None => {}
        }
        let put = |all: &mut BTreeMap<String, String>, key, text: Option<String>| match text {
            Some(text) => drop(all.insert(key, text)),
            None => drop(all.remove(&key)),
        };
        match field {
            MemoryField::Source => self.source = text.unwrap_or_default(),
            MemoryField::Tool => self.tool = text,
            MemoryField::Watch => self.watch = watch,
            MemoryField::Speaks => self.speaks = speaks,
            MemoryField::Allowed(tool) => put(&mut self.allowed, tool, text),
            MemoryField::Variable(name) => put(&mut self.variables, name, text),
            MemoryField::Last(tool) => self.arguments.entry(tool).or_default().last = text,
            MemoryField::Named(tool, name) => put(
                &mut self.arguments.entry(tool).or_default().named,
                name,
                text,
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_each_field_leads_from_one_to_the_other() {
        let text = |text: &str| BTreeMap::from([("a".to_owned(), text.to_owned())]);
        let full = |of: &str| ServerMemory {
            source: of.into(),
            allowed: text(of),
            tool: Some(of.into()),
            arguments: BTreeMap::from([(
                "a".into(),
                ToolArguments {
                    last: Some(of.into()),
                    named: text(of),
                },
            )]),
            variables: text(of),
            speaks: Some(Speaks {
                revision: of.into(),
                version: "1".into(),
            }),
            watch: Some(Watch {
                is_on: true,
                places: of.into(),
                build: String::new(),
            }),
        };
        let empty = ServerMemory {
            arguments: BTreeMap::from([("a".into(), ToolArguments::default())]),
            ..Default::default()
        };
        for (before, after) in [
            (full("x"), full("y")),
            (full("x"), empty.clone()),
            (empty, full("y")),
        ] {
            let changes = before.changes("key", &after);
            assert_eq!(changes.len(), 8);
            let mut there = before;
            changes
                .into_iter()
                .for_each(|((_, field), value)| there.set(field, value));
            assert_eq!(there, after);
        }
        assert!(full("x").changes("key", &full("x")).is_empty());
    }
}
