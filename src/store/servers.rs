//! What is remembered of servers, in the user's settings folder: `servers.json`, which only its owner can read.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::kept_file::KeptFile;
use loupe_core::problem::Problem;
use loupe_core::source::{MemoryChanges, ServerMemory, Speaks, ToolArguments, Watch};

const SCHEMA: &str = "loupe.servers/1";
const FILE: KeptFile<ServersFile> = KeptFile {
    name: "servers.json",
    lock: ".servers.lock",
    what: "what is remembered of servers",
    schema: SCHEMA,
    schema_of: |file| &file.schema,
    empty: || ServersFile {
        schema: SCHEMA.to_owned(),
        servers: Map::new(),
    },
};

#[derive(Serialize, Deserialize)]
struct ServersFile {
    schema: String,
    /// By key; entries that this version cannot read stay as they are.
    servers: Map<String, Value>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct ServerEntry {
    source: String,
    /// Tool and SHA-256 of its definition.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    allowed: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    arguments: BTreeMap<String, ArgumentsEntry>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    variables: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    watch: Option<WatchEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    speaks: Option<SpeaksEntry>,
}

#[derive(Serialize, Deserialize)]
struct SpeaksEntry {
    revision: String,
    version: String,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct ArgumentsEntry {
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    named: BTreeMap<String, String>,
}

#[derive(Serialize, Deserialize)]
struct WatchEntry {
    on: bool,
    places: String,
    #[serde(default)]
    build: String,
}

impl From<ServerEntry> for ServerMemory {
    fn from(entry: ServerEntry) -> Self {
        let arguments = |(tool, entry): (String, ArgumentsEntry)| {
            (
                tool,
                ToolArguments {
                    last: entry.last,
                    named: entry.named,
                },
            )
        };
        let watch = |entry: WatchEntry| Watch {
            is_on: entry.on,
            places: entry.places,
            build: entry.build,
        };
        Self {
            source: entry.source,
            allowed: entry.allowed,
            tool: entry.tool,
            arguments: entry.arguments.into_iter().map(arguments).collect(),
            variables: entry.variables,
            watch: entry.watch.map(watch),
            speaks: entry.speaks.map(|entry| Speaks {
                revision: entry.revision,
                version: entry.version,
            }),
        }
    }
}

impl From<ServerMemory> for ServerEntry {
    fn from(memory: ServerMemory) -> Self {
        let arguments = |(tool, of): (String, ToolArguments)| {
            (
                tool,
                ArgumentsEntry {
                    last: of.last,
                    named: of.named,
                },
            )
        };
        let watch = |watch: Watch| WatchEntry {
            on: watch.is_on,
            places: watch.places,
            build: watch.build,
        };
        Self {
            source: memory.source,
            allowed: memory.allowed,
            tool: memory.tool,
            arguments: memory.arguments.into_iter().map(arguments).collect(),
            variables: memory.variables,
            watch: memory.watch.map(watch),
            speaks: memory.speaks.map(|speaks| SpeaksEntry {
                revision: speaks.revision,
                version: speaks.version,
            }),
        }
    }
}

/// What is remembered of each server, by its key; nothing where there is no file. An entry that cannot be read is left
/// out, so that its tools are asked about again.
///
/// # Errors
/// The file is there and cannot be read, or is of a newer kind.
pub fn read_servers(folder: &Path) -> Result<BTreeMap<String, ServerMemory>, Problem> {
    let file = FILE.read(folder)?;
    let entry = |(key, value)| {
        Some((
            key,
            ServerMemory::from(serde_json::from_value::<ServerEntry>(value).ok()?),
        ))
    };
    Ok(file.servers.into_iter().filter_map(entry).collect())
}

/// Writes what changed of some servers; the rest stays as it is in the file now. What is remembered of these servers then.
///
/// # Errors
/// Why nothing was written.
pub fn change_servers(
    folder: &Path,
    changes: MemoryChanges,
) -> Result<BTreeMap<String, ServerMemory>, Problem> {
    FILE.change(folder, |file| {
        let mut changed: BTreeMap<String, ServerMemory> = BTreeMap::new();
        for ((key, field), value) in changes {
            let of_file = || {
                file.servers
                    .get(&key)
                    .and_then(|entry| serde_json::from_value::<ServerEntry>(entry.clone()).ok())
            };
            let there = || of_file().map_or_else(ServerMemory::default, ServerMemory::from);
            changed
                .entry(key.clone())
                .or_insert_with(there)
                .set(field, value);
        }
        for (key, memory) in &changed {
            if *memory == ServerMemory::default() {
                file.servers.remove(key);
                continue;
            }
            let entry = serde_json::to_value(ServerEntry::from(memory.clone()))?;
            file.servers.insert(key.clone(), entry);
        }
        Ok(changed)
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn each_window_changes_its_own_servers() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("new");
        assert_eq!(read_servers(&folder).unwrap(), BTreeMap::new());
        let memory = ServerMemory {
            source: "-- x".into(),
            allowed: BTreeMap::from([("write".into(), "00ff".into())]),
            tool: Some("write".into()),
            arguments: BTreeMap::from([(
                "write".into(),
                ToolArguments {
                    last: Some("{}".into()),
                    named: BTreeMap::from([("empty".into(), "{}".into())]),
                },
            )]),
            variables: BTreeMap::from([("city".into(), "Bonn".into())]),
            watch: Some(Watch {
                is_on: true,
                places: "/src/**/*.py".into(),
                build: "make".into(),
            }),
            speaks: Some(Speaks {
                revision: "2025-06-18".into(),
                version: "1.19.0".into(),
            }),
        };
        let new = ServerMemory::default();
        change_servers(&folder, new.changes("a", &memory)).unwrap();
        let other = ServerMemory {
            source: "-- y".into(),
            ..ServerMemory::default()
        };
        change_servers(&folder, new.changes("b", &other)).unwrap();
        let all = BTreeMap::from([("a".into(), memory.clone()), ("b".into(), other.clone())]);
        assert_eq!(read_servers(&folder).unwrap(), all);
        // What is forgotten leaves nothing.
        change_servers(&folder, other.changes("b", &new)).unwrap();
        assert_eq!(
            read_servers(&folder)
                .unwrap()
                .into_keys()
                .collect::<Vec<_>>(),
            ["a"]
        );
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(
                fs::metadata(folder.join(FILE.name))
                    .unwrap()
                    .permissions()
                    .mode()
                    & 0o077,
                0
            );
        }
        // What a later version wrote is not destroyed.
        fs::write(
            folder.join(FILE.name),
            r#"{"schema":"loupe.servers/1","servers":{"c":7}}"#,
        )
        .unwrap();
        change_servers(&folder, new.changes("a", &memory)).unwrap();
        assert_eq!(
            read_servers(&folder)
                .unwrap()
                .into_keys()
                .collect::<Vec<_>>(),
            ["a"]
        );
        assert!(
            fs::read_to_string(folder.join(FILE.name))
                .unwrap()
                .contains("\"c\": 7")
        );
        fs::write(folder.join(FILE.name), "{").unwrap();
        assert!(
            read_servers(&folder).is_err()
                && change_servers(&folder, MemoryChanges::new()).is_err()
        );
    }

    /// Both read the file when they were opened; one withdraws a trust, the other calls a tool.
    #[test]
    fn two_windows_on_one_server_undo_nothing_of_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let allowed = |tools: &[&str]| {
            tools
                .iter()
                .map(|tool| ((*tool).to_owned(), "00ff".to_owned()))
                .collect()
        };
        let read = ServerMemory {
            allowed: allowed(&["write", "send"]),
            ..ServerMemory::default()
        };
        change_servers(folder.path(), ServerMemory::default().changes("a", &read)).unwrap();
        let withdrawn = ServerMemory {
            allowed: allowed(&["send"]),
            ..read.clone()
        };
        change_servers(folder.path(), read.changes("a", &withdrawn)).unwrap();
        let called = ServerMemory {
            tool: Some("send".into()),
            ..read.clone()
        };
        let told = change_servers(folder.path(), read.changes("a", &called)).unwrap();
        assert_eq!(read_servers(folder.path()).unwrap(), told);
        assert_eq!(
            told["a"],
            ServerMemory {
                tool: Some("send".into()),
                ..withdrawn
            }
        );
    }
}
