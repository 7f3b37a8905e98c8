//! `index.jsonl`: what the list of the history shows of each capture, one line each. A cache: see the module above.

use std::fs;
use std::io::{self, BufWriter, Write};

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use super::{History, Readers};
use crate::history::{Entry, Health, HistoryId};
use loupe_core::capture::{Capture, Outcome};

const INDEX: &str = "index.jsonl";
/// What is kept of the arguments for the list and for searching.
const ARGUMENTS: usize = 500;

#[derive(Deserialize, Serialize)]
struct Line {
    id: String,
    at: i64,
    ms: f64,
    server: String,
    source: String,
    tool: String,
    args: String,
    outcome: String,
    wire: u64,
    bytes: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    damaged: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    newer: Option<String>,
}

/// What was read of the index.
pub(super) struct Index {
    /// The last line of each capture.
    pub entries: Vec<Entry>,
    /// Whether there is no index, or a line of it cannot be read.
    pub is_damaged: bool,
}

impl Entry {
    pub(super) fn of(id: &HistoryId, capture: &Capture, bytes: u64) -> Self {
        let arguments = String::from_utf8_lossy(&capture.arguments);
        let end = arguments
            .char_indices()
            .map(|(at, _)| at)
            .find(|at| *at >= ARGUMENTS)
            .unwrap_or(arguments.len());
        Self {
            id: id.clone(),
            started_at: capture.started_at,
            elapsed_ms: loupe_core::number::milliseconds(capture.timings.total()),
            server: capture.server.label().to_owned(),
            source: capture.server.source.clone(),
            tool: capture.tool.name.clone(),
            arguments: arguments[..end].to_owned(),
            outcome: capture.outcome,
            wire_bytes: capture.wire_len() as u64,
            bytes,
            health: Health::Whole,
        }
    }

    pub(super) fn unreadable(
        id: &HistoryId,
        started_at: OffsetDateTime,
        bytes: u64,
        health: Health,
    ) -> Self {
        Self {
            id: id.clone(),
            started_at,
            elapsed_ms: 0.0,
            server: String::new(),
            source: String::new(),
            tool: String::new(),
            arguments: String::new(),
            outcome: Outcome::Malformed,
            wire_bytes: 0,
            bytes,
            health,
        }
    }

    fn line(&self) -> Line {
        Line {
            id: self.id.to_string(),
            // Beyond the year 2262 nanoseconds do not fit; no clock of ours is there.
            at: i64::try_from(self.started_at.unix_timestamp_nanos()).unwrap_or_default(),
            ms: self.elapsed_ms,
            server: self.server.clone(),
            source: self.source.clone(),
            tool: self.tool.clone(),
            args: self.arguments.clone(),
            outcome: self.outcome.name().to_owned(),
            wire: self.wire_bytes,
            bytes: self.bytes,
            damaged: if let Health::Damaged(why) = &self.health {
                Some(why.clone())
            } else {
                None
            },
            newer: if let Health::Newer(schema) = &self.health {
                Some(schema.clone())
            } else {
                None
            },
        }
    }
}

impl Line {
    fn entry(self) -> Option<Entry> {
        Some(Entry {
            id: HistoryId(self.id.into()),
            started_at: OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.at)).ok()?,
            elapsed_ms: self.ms,
            server: self.server,
            source: self.source,
            tool: self.tool,
            arguments: self.args,
            outcome: Outcome::parse(&self.outcome)?,
            wire_bytes: self.wire,
            bytes: self.bytes,
            health: match (self.damaged, self.newer) {
                (Some(why), _) => Health::Damaged(why),
                (None, Some(schema)) => Health::Newer(schema),
                (None, None) => Health::Whole,
            },
        })
    }
}

impl History {
    pub(super) fn read_index(&self) -> Index {
        let Ok(text) = fs::read(self.root.join(INDEX)) else {
            return Index {
                entries: Vec::new(),
                is_damaged: true,
            };
        };
        let mut entries: Vec<Entry> = Vec::new();
        let mut places = std::collections::HashMap::new();
        let mut is_damaged = false;
        for line in text
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
        {
            match serde_json::from_slice::<Line>(line)
                .ok()
                .and_then(Line::entry)
            {
                Some(entry) => match places.entry(entry.id.clone()) {
                    std::collections::hash_map::Entry::Occupied(place) => {
                        let at: &usize = place.get();
                        entries[*at] = entry;
                    }
                    std::collections::hash_map::Entry::Vacant(place) => {
                        place.insert(entries.len());
                        entries.push(entry);
                    }
                },
                None => is_damaged = true,
            }
        }
        // What was damaged may have been fixed, and costs little to look at again.
        entries.retain(|entry| entry.health == Health::Whole);
        Index {
            entries,
            is_damaged,
        }
    }

    /// Adds a line.
    pub(super) fn append(&self, entry: &Entry) -> io::Result<()> {
        let lock = self.lock()?;
        let mut line = serde_json::to_vec(&entry.line())?;
        line.push(b'\n');
        let mut file = Readers::Owner
            .open()
            .create(true)
            .append(true)
            .open(self.root.join(INDEX))?;
        // In one piece: a reader sees the whole line or a part that it leaves out.
        file.write_all(&line)?;
        drop(lock);
        Ok(())
    }

    /// Writes the index anew.
    pub(super) fn write_index(&self, entries: &[Entry]) -> io::Result<()> {
        let lock = self.lock()?;
        let temporary = tempfile::Builder::new()
            .prefix(super::TEMPORARY)
            .tempfile_in(&self.root)?;
        let mut writer = BufWriter::new(temporary);
        for entry in entries.iter().rev() {
            serde_json::to_writer(&mut writer, &entry.line())?;
            writer.write_all(b"\n")?;
        }
        let temporary = writer
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?;
        temporary
            .persist(self.root.join(INDEX))
            .map_err(|error| error.error)?;
        drop(lock);
        Ok(())
    }
}
