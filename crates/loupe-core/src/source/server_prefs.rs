//! What is remembered of a server next to how it is reached: what it may do unasked, what it was called with, what is
//! watched. Kept for its [`super::server_key`].

use std::collections::BTreeMap;

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
        texts.chain(watch).collect()
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
        let (text, watch) = match value {
            Some(MemoryValue::Text(text)) => (Some(text), None),
            Some(MemoryValue::Watch(watch)) => (None, Some(watch)),
            None => (None, None),
        };
        let put = |all: &mut BTreeMap<String, String>, key, text: Option<String>| match text {
            Some(text) => drop(all.insert(key, text)),
            None => drop(all.remove(&key)),
        };
        match field {
            MemoryField::Source => self.source = text.unwrap_or_default(),
            MemoryField::Tool => self.tool = text,
            MemoryField::Watch => self.watch = watch,
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
            assert_eq!(changes.len(), 7);
            let mut there = before;
            changes
                .into_iter()
                .for_each(|((_, field), value)| there.set(field, value));
            assert_eq!(there, after);
        }
        assert!(full("x").changes("key", &full("x")).is_empty());
    }
}
