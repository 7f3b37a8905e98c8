//! Every format can be left while it is written, read back, proved and measured: the flag is looked at all along, and who
//! finds it set goes no further. By the number of looks, never by the clock.

use bytes::Bytes;

use super::{Gather, of_payload, subject};
use crate::cancel::{Cancel, Cancelled};
use crate::format::ledger::Row;
use crate::format::round_trip::{self, DecodeError};
use crate::format::{FORMATS, Format, Sink, Subject, WriteError};
use crate::json::write::string;

/// No more bytes than these are worked on between two looks, but for what a crate does in one step.
const A_LOOK: usize = 128 << 10;

/// As the ledger's sink does: every piece is a look.
struct Watching<'a>(Gather, &'a Cancel);

impl Sink for Watching<'_> {
    fn push(&mut self, bytes: &[u8]) -> Result<(), Cancelled> {
        self.1.check()?;
        self.0.push(bytes)
    }
}

/// Records of every kind of value, about 300 KB of them, in an envelope.
fn large() -> Subject {
    let record = |at: usize| {
        format!(
            r#"{{"id":{at},"name":"Company {at} | *x*","zip":"0{at}","tags":["a","b"],"on":{},"note":null,"at":{{"x":1.5}}}}"#,
            at.is_multiple_of(2)
        )
    };
    let records: Vec<String> = (0..2_500).map(record).collect();
    let payload = format!(r#"{{"total":2500,"items":[{}],"more":false}}"#, records.join(","));
    let text = string(&payload);
    subject(&format!(r#"{{"content":[{{"type":"text","text":{text}}}],"structuredContent":{payload}}}"#))
}

fn write(format: &dyn Format, subject: &Subject, cancel: &Cancel) -> Result<Vec<u8>, WriteError> {
    let mut sink = Watching(Gather(Vec::new(), 0), cancel);
    format.write(subject, &mut sink, cancel)?;
    Ok(sink.0.0)
}

/// Does the work once to the end, then leaves it at the first look, at the last, and half-way.
#[track_caller]
fn can_be_left(what: &str, bytes: usize, work: impl Fn(&Cancel) -> Result<(), Cancelled>) {
    let whole = Cancel::new();
    work(&whole).unwrap();
    let looks = whole.looks();
    assert!(looks as usize >= bytes / A_LOOK, "{what}: {looks} looks for {bytes} bytes");
    for look in [1, looks / 2, looks] {
        let look = look.max(1);
        let cancel = Cancel::at_look(look);
        assert_eq!(work(&cancel), Err(Cancelled), "{what} at look {look} of {looks}");
        // Whoever passes the news on may look again.
        assert!(cancel.looks() <= look + 8, "{what} went on from look {look} to {}", cancel.looks());
    }
}

#[test]
fn every_format_can_be_left() {
    let subject = large();
    for format in FORMATS {
        let id = format.id();
        let text = write(*format, &subject, &Cancel::new()).unwrap();
        can_be_left(&format!("{id}, written"), text.len(), |cancel| match write(*format, &subject, cancel) {
            Err(WriteError::Cancelled(cancelled)) => Err(cancelled),
            other => other.map(drop).map_err(|error| panic!("{error}")),
        });
        let shown = String::from_utf8_lossy(&text);
        if format.decode(&shown, &Cancel::new()).is_some() {
            can_be_left(&format!("{id}, read"), text.len(), |cancel| match format.decode(&shown, cancel) {
                Some(Err(DecodeError::Cancelled(cancelled))) => Err(cancelled),
                Some(Ok(_)) => Ok(()),
                other => panic!("{other:?}"),
            });
        }
        let bytes = Bytes::from(text.clone());
        if round_trip::prove(*format, &subject, &bytes, &Cancel::new()).unwrap().is_some() {
            can_be_left(&format!("{id}, proved"), text.len(), |cancel| {
                round_trip::prove(*format, &subject, &bytes, cancel).map(drop)
            });
        }
        can_be_left(&format!("{id}, measured"), text.len(), |cancel| {
            let fresh = Subject { known: std::sync::Arc::default(), ..subject.clone() };
            Row::measure(*format, &fresh, cancel).map(drop)
        });
    }
}

/// What has no outermost member, element or record that is small: everything is in one, some levels down.
#[test]
fn what_is_no_list_of_records_can_be_left_too() {
    let list = |item: &dyn Fn(usize) -> String| (0..4_000).map(item).collect::<Vec<_>>().join(",");
    let members = list(&|at| format!(r#""key {at}":["some text",{at},{{"a":null}}]"#));
    for payload in [
        format!("{{{members}}}"),
        format!(r#"{{"a":{{"b":{{{members}}}}}}}"#),
        // Mixed, of one kind, by key, and values alone.
        format!(r#"[[[{},{{}}]]]"#, list(&|at| format!(r#"{{"id":{at},"l":[[{at}],{{"x":"some text"}}]}}"#))),
        format!(r#"{{"a":[{{"b":[{}]}}]}}"#, list(&|at| format!(r#"{{"id":{at},"on":true,"text":"*some* text"}}"#))),
        format!(r#"{{"a":{{"b":{{{}}}}}}}"#, list(&|at| format!(r#""key {at}":{{"id":{at},"text":"some text"}}"#))),
        format!(r#"{{"a":{{"b":[{}]}}}}"#, list(&|at| format!(r#""text, number {at}""#))),
        // Rows and their head are larger than a piece.
        {
            let wide = list(&|at| format!(r#""the column {at}":"value {at}""#));
            format!(r#"[{{{wide}}},{{{wide}}}]"#)
        },
    ] {
        let subject = of_payload(&payload);
        for format in FORMATS.iter().filter(|format| format.applies(&subject).is_ok()) {
            let what = format!("{} of {}", format.id(), &payload[..40]);
            let text = write(*format, &subject, &Cancel::new()).unwrap();
            can_be_left(&what, text.len(), |cancel| {
                let fresh = Subject { known: std::sync::Arc::default(), ..subject.clone() };
                Row::measure(*format, &fresh, cancel).map(drop)
            });
            let bytes = Bytes::from(text);
            if round_trip::prove(*format, &subject, &bytes, &Cancel::new()).unwrap().is_some() {
                can_be_left(&format!("{what}, proved"), bytes.len(), |cancel| {
                    round_trip::prove(*format, &subject, &bytes, cancel).map(drop)
                });
            }
        }
    }
}
