//! Puts values back where arguments were hidden, so that a fixture's call can be made again.

use bytes::Bytes;

use super::Secrets;
use crate::capture::Capture;
use crate::json::Doc;
use crate::json::write::string;

/// How what was hidden begins.
const OPEN: &str = "[hidden:";

/// The numbers that were hidden, by pointer. They are there as 0, so that readers of numbers go on reading.
fn hidden_numbers(written: &Capture) -> Vec<String> {
    let doc = Doc::parse(written.arguments.clone());
    let redactions = written
        .carried
        .redactions
        .iter()
        .filter(|redaction| redaction.part == "arguments");
    let paths = redactions.map(|redaction| redaction.path.clone());
    paths
        .filter(|path| doc.at(path).is_some_and(|node| node.as_number().is_some()))
        .collect()
}

impl Secrets {
    /// The arguments of a written capture with what was hidden put back: a variable or header that is given again by its
    /// name, anything else by its pointer. What is still hidden is listed by pointer; a call of it must not be made.
    pub fn fill(&self, written: &Capture, given: &[(String, String)]) -> (Bytes, Vec<String>) {
        let (arguments, mut left) = self.put(&written.arguments, given);
        let numbers = hidden_numbers(written);
        left.extend(
            numbers
                .into_iter()
                .filter(|path| !given.iter().any(|(given, _)| given == path)),
        );
        (arguments, left)
    }

    fn put(&self, arguments: &Bytes, given: &[(String, String)]) -> (Bytes, Vec<String>) {
        let doc = Doc::parse(arguments.clone());
        let (mut out, mut done, mut left) = (Vec::with_capacity(arguments.len()), 0, Vec::new());
        for node in (0..doc.len()).filter_map(|index| doc.node(index)) {
            let pointer = || node.pointer();
            let given_here = || {
                given
                    .iter()
                    .find(|(path, _)| *path == pointer())
                    .map(|(_, value)| value.clone())
            };
            let value = match node.as_str() {
                Some(text) if text.contains(OPEN) => match given_here() {
                    Some(value) => string(&value),
                    None => {
                        let text = self.put_back(&text);
                        if text.contains(OPEN) {
                            left.push(pointer());
                        }
                        string(&text)
                    }
                },
                // A number that was hidden is there as 0: only the user knows.
                None if node.as_number().is_some() && !given.is_empty() => match given_here() {
                    Some(value)
                        if Doc::parse(Bytes::copy_from_slice(value.as_bytes())).is_json() =>
                    {
                        value
                    }
                    Some(value) => string(&value),
                    None => continue,
                },
                _ => continue,
            };
            out.extend_from_slice(&arguments[done..node.range().start]);
            out.extend_from_slice(value.as_bytes());
            done = node.range().end;
        }
        out.extend_from_slice(&arguments[done..]);
        (Bytes::from(out), left)
    }

    fn put_back(&self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(OPEN) {
            let Some(end) = rest[at..].find(']').map(|end| at + end) else {
                break;
            };
            let kind = &rest[at + OPEN.len()..end];
            out.push_str(&rest[..at]);
            // The first of several forms is the value as it was given.
            match self.values().iter().find(|(_, known)| known == kind) {
                Some((value, _)) => out.push_str(value),
                None => out.push_str(&rest[at..=end]),
            }
            rest = &rest[end + 1..];
        }
        out + rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::{CaptureId, Redaction, Server};

    fn written(arguments: &'static [u8], numbers: &[&str]) -> Capture {
        let mut capture = Capture::empty(CaptureId("1".into()), Server::default());
        capture.arguments = Bytes::from_static(arguments);
        let redaction = |path: &&str| Redaction {
            part: "arguments".into(),
            path: (*path).to_owned(),
            kind: "member".into(),
            count: 1,
        };
        capture.carried.redactions = numbers.iter().map(redaction).collect();
        capture
    }

    #[test]
    fn what_was_hidden_is_put_back() {
        let mut secrets = Secrets::default();
        secrets.add("env", "KEY", "s3cret");
        let written = written(
            br#"{"a":"x [hidden:env-KEY]", "password":"[hidden:member]","n":1e3,"pin":0}"#,
            &["/pin"],
        );
        let (filled, left) = secrets.fill(&written, &[("/pin".into(), "42".into())]);
        assert_eq!(
            filled,
            br#"{"a":"x s3cret", "password":"[hidden:member]","n":1e3,"pin":42}"#.as_slice()
        );
        assert_eq!(left, ["/password"]);
        let (filled, left) = secrets.fill(&written, &[("/password".into(), "q\"".into())]);
        assert_eq!(
            filled,
            br#"{"a":"x s3cret", "password":"q\"","n":1e3,"pin":0}"#.as_slice()
        );
        assert_eq!(left, ["/pin"]);
    }
}
