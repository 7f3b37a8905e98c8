//! A recorded session, read as it is written.

use std::fs::File;
use std::io::{self, Read as _};
use std::sync::Arc;

use bytes::Bytes;
use time::OffsetDateTime;

use super::messages::entry;
use super::pair::Pairing;
use super::{MOST_OF_ANSWERS, empty_capture};
use loupe_analysis::queries::Definitions;
use loupe_core::capture::{Capture, CaptureId};
use loupe_core::json::{Doc, Node};
use loupe_core::problem::{Problem, ProblemKind};
use loupe_tap::sessions::{MESSAGES, SessionInfo};

/// So much is read at a time.
const CHUNK: u64 = 4 << 20;

/// Reads a session's messages, and those that are added while it runs.
pub struct SessionReader {
    file: File,
    /// The beginning of a line whose end is not written yet.
    rest: Vec<u8>,
    pairing: Pairing<'static>,
    started: OffsetDateTime,
    /// Bytes that were read.
    read: u64,
    /// Messages both ways.
    pub messages: u64,
    /// Bytes that `tap` could not record.
    pub lost: u64,
}

impl SessionReader {
    /// # Errors
    /// The file of messages cannot be opened.
    pub fn open(session: &SessionInfo) -> Result<Self, Problem> {
        let path = session.folder.join(MESSAGES);
        let failed = |error: io::Error| {
            Problem::new(
                ProblemKind::Io,
                format!("the session cannot be read: {error}"),
            )
            .at(path.display().to_string())
        };
        let (id, source) = (session.id.clone(), session.source.clone());
        let empty = move |number: usize, _: &str| {
            let capture = empty_capture(
                CaptureId(format!("{id}-{number}").into()),
                "tap",
                source.clone(),
            );
            Capture {
                name: format!("{id}-{number}").into(),
                ..capture
            }
        };
        Ok(Self {
            file: File::open(&path).map_err(failed)?,
            rest: Vec::new(),
            pairing: Pairing::new(session.name.clone(), "tap", Box::new(empty)),
            started: session.started,
            read: 0,
            messages: 0,
            lost: 0,
        })
    }

    /// Reads on, a few MiB at a time; whether there was anything.
    ///
    /// # Errors
    /// The file cannot be read, or the session is larger than is taken.
    pub fn read_on(&mut self) -> Result<bool, Problem> {
        let mut chunk = std::mem::take(&mut self.rest);
        let before = chunk.len();
        let read = self.file.by_ref().take(CHUNK).read_to_end(&mut chunk);
        read.map_err(|error| {
            Problem::new(
                ProblemKind::Io,
                format!("the session cannot be read: {error}"),
            )
        })?;
        let added = chunk.len() - before;
        self.read += added as u64;
        if self.read > MOST_OF_ANSWERS {
            let most = MOST_OF_ANSWERS >> 20;
            let what = format!("the session is larger than {most} MiB: its end is not shown");
            return Err(Problem::new(ProblemKind::Io, what));
        }
        let end = memchr::memrchr(b'\n', &chunk[before..]).map_or(0, |at| before + at + 1);
        self.rest = chunk.split_off(end);
        let chunk = Bytes::from(chunk);
        for line in chunk.split(|&byte| byte == b'\n') {
            if !line.is_empty() {
                self.take(&chunk.slice_ref(line));
            }
        }
        Ok(added > 0)
    }

    fn take(&mut self, line: &Bytes) {
        match entry(line) {
            Some(mut entry) => {
                self.messages += 1;
                entry.started_at = entry.at.map(|at| self.started + at);
                self.pairing.take(entry);
            }
            None if line.len() < 200 => {
                let doc = Doc::parse(line.clone());
                let lost = doc.at("/lost").and_then(Node::as_f64);
                self.lost += lost.map_or(0, |lost| lost as u64);
            }
            None => {}
        }
    }

    /// The calls that were answered since this was asked before.
    pub fn take_calls(&mut self) -> Vec<Arc<Capture>> {
        let captures = self.pairing.take_captures();
        captures.into_iter().map(Arc::new).collect()
    }

    /// Nothing more is written: calls that were not answered are calls without a result.
    pub fn end(&mut self) {
        self.pairing.end();
    }

    /// Calls that are not answered yet.
    pub fn open_calls(&self) -> usize {
        self.pairing.open_calls()
    }

    /// How the host named itself; empty before it did.
    pub fn client(&self) -> &str {
        &self.pairing.client
    }

    /// The version that it named.
    pub fn client_version(&self) -> &str {
        &self.pairing.client_version
    }

    /// Grows whenever the server says something of itself or its tools.
    pub fn descriptions(&self) -> usize {
        self.pairing.descriptions
    }

    pub fn definitions(&self) -> Definitions {
        Definitions {
            server: self.pairing.server.clone(),
            tools: self.pairing.tools().into_iter().map(Arc::new).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use loupe_core::capture::Outcome;

    #[test]
    fn a_call_is_there_once_its_line_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let start = r#"{"schema":"loupe.session/1","name":"n","source":"-- s","started":"2026-11-29T10:00:00Z","pid":0}"#;
        std::fs::write(folder.path().join(loupe_tap::sessions::START), start).unwrap();
        let mut file = File::create(folder.path().join(MESSAGES)).unwrap();
        let line = |at: f64, dir: &str, text: &str| {
            let text = serde_json::to_string(text).unwrap();
            format!(r#"{{"atMs":{at},"dir":"{dir}","text":{text}}}"#) + "\n"
        };
        let asked = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"clientInfo":{"name":"claude-code"}}}"#;
        let listed = r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"t","description":"d","inputSchema":{}}]}}"#;
        let call = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"t","arguments":{"q":1}}}"#;
        let answer = r#"{"jsonrpc":"2.0","id":3,"result":{"content":[]}}"#;
        let info = loupe_tap::sessions::read(folder.path()).unwrap();
        let mut reader = SessionReader::open(&info).unwrap();
        assert!(!reader.read_on().unwrap());

        let whole = line(1500.0, "in", answer);
        let (begun, rest) = whole.split_at(30);
        let lines = [
            line(0.0, "out", asked),
            line(
                1.0,
                "out",
                r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
            ),
            line(2.0, "in", listed),
            "no JSON\n".to_owned(),
            line(1000.0, "out", call),
            begun.to_owned(),
        ];
        file.write_all(lines.concat().as_bytes()).unwrap();
        assert!(reader.read_on().unwrap());
        assert_eq!((reader.client(), reader.open_calls()), ("claude-code", 1));
        assert!(reader.take_calls().is_empty());

        file.write_all(rest.as_bytes()).unwrap();
        file.write_all(b"{\"atMs\":1501.0,\"dir\":\"in\",\"lost\":70}\n")
            .unwrap();
        assert!(reader.read_on().unwrap());
        let calls = reader.take_calls();
        let call = &calls[0];
        assert!(!call.tool.raw.is_empty());
        assert_eq!(
            call.started_at,
            info.started + std::time::Duration::from_secs(1)
        );
        assert_eq!(call.timings.total(), std::time::Duration::from_millis(500));
        assert_eq!(
            (reader.open_calls(), reader.messages, reader.lost),
            (0, 5, 70)
        );

        file.write_all(
            line(
                2000.0,
                "out",
                r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"t"}}"#,
            )
            .as_bytes(),
        )
        .unwrap();
        reader.read_on().unwrap();
        reader.end();
        let calls = reader.take_calls();
        assert_eq!(calls[0].outcome, Outcome::Disconnected);
        assert_ne!(calls[0].id, call.id);
    }
}
