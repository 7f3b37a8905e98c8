//! The one list of what a session knows to be secret, and the one function that takes it out of what is written.
//!
//! Its copies are one list: what a login or an answer brings is known everywhere from then on. A capture that is written
//! goes through [`super::redact()`], which has this list and looks for more; what is written while it passes (a
//! transcript, a line of a log, the words of a failure) goes through here, with what is known by then.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::find::Finder;
use super::mask::{self, Masker};
use super::shapes::Shapes;
use super::{RedactOptions, Secrets};
use crate::cancel::Cancel;
use crate::capture::Message;
use crate::json::{decode_string, write};
use crate::problem::Problem;
use crate::source::Source;

/// See the module.
#[derive(Clone, Default)]
pub struct SecretList(Arc<Mutex<List>>);

#[derive(Default)]
struct List {
    secrets: Secrets,
    /// Made when it is needed; gone when something is added.
    finder: Option<Arc<Finder>>,
}

impl fmt::Debug for SecretList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretList(…)")
    }
}

impl SecretList {
    fn list(&self) -> MutexGuard<'_, List> {
        // Every change of it is one step.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Secrets)) {
        let mut list = self.list();
        let before = list.secrets.len();
        change(&mut list.secrets);
        if list.secrets.len() != before {
            list.finder = None;
        }
    }

    /// Adds a value; `from` and `name` say what it is called where it is hidden.
    pub fn add(&self, from: &str, name: &str, value: &str) {
        self.change(|secrets| secrets.add(from, name, value));
    }

    /// As [`Secrets::add_source`].
    pub fn add_source(&self, source: &Source) {
        self.change(|secrets| secrets.add_source(source));
    }

    /// As [`Secrets::add_inherited`].
    pub fn add_inherited(&self, variables: impl Iterator<Item = (OsString, OsString)>) {
        self.change(|secrets| secrets.add_inherited(variables));
    }

    /// Adds what is under a secret name in the arguments of a call.
    pub fn add_arguments(&self, arguments: &str) {
        let found = mask::named_secrets(arguments);
        self.change(|secrets| {
            found
                .iter()
                .for_each(|(name, value)| secrets.add("argument", name, value))
        });
    }

    pub fn is_empty(&self) -> bool {
        self.list().secrets.len() == 0
    }

    /// What is known by now.
    pub fn secrets(&self) -> Secrets {
        self.list().secrets.clone()
    }

    fn finder(&self) -> Option<Arc<Finder>> {
        let mut list = self.list();
        if list.finder.is_none() {
            list.finder = Finder::new(list.secrets.wanted()).ok().map(Arc::new);
        }
        list.finder.clone()
    }

    /// The text without what is known, `put` in its place.
    pub fn scrub(&self, text: &str, put: &str) -> String {
        // What cannot be searched for cannot be shown either.
        let Some(finder) = self.finder() else {
            return put.to_owned();
        };
        mask::replace(
            text,
            finder.find(text).into_iter().map(|(range, _)| (range, put)),
        )
        .into_owned()
    }

    /// The words of a failure or of a server's log without what is known, and without what has the shape of a key.
    pub fn words<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let known = self.page(text);
        let keys = Shapes::known()
            .find(&known)
            .into_iter()
            .filter(|(_, shape)| !shape.offered);
        let keys: Vec<_> = keys
            .map(|(range, shape)| (range, mask::mark(&shape.id)))
            .collect();
        if keys.is_empty() {
            known
        } else {
            Cow::Owned(mask::replace(&known, keys).into_owned())
        }
    }

    /// A page for people without what is known, but for numbers of few digits: those are mostly what Loupe counted.
    pub fn page<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.without(text, |finder| {
            let found = finder
                .find(text)
                .into_iter()
                .filter(|(range, _)| !is_count(&text[range.clone()]));
            found
                .map(|(range, kind)| (range, mask::mark(kind)))
                .collect()
        })
    }

    /// Whole lines of a JSON document without what is known: in its strings, and numbers that are a known value.
    pub fn json<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.without(text, |finder| {
            let (mut found, mut done) = (Vec::new(), 0);
            for string in strings(text) {
                found.extend(known_numbers(finder, text, done..string.start));
                done = string.end;
                found.extend(
                    in_string(finder, &text[string.clone()]).map(|inside| (string, inside)),
                );
            }
            found.extend(known_numbers(finder, text, done..text.len()));
            found
        })
    }

    fn without<'t>(
        &self,
        text: &'t str,
        find: impl FnOnce(&Finder) -> Vec<(Range<usize>, String)>,
    ) -> Cow<'t, str> {
        if self.is_empty() {
            return Cow::Borrowed(text);
        }
        let Some(finder) = self.finder() else {
            return Cow::Owned(mask::mark("all"));
        };
        mask::replace(text, find(&finder))
    }

    /// The message without what is known; byte for byte the same where nothing of it is.
    pub fn message(&self, message: &Message) -> Message {
        let (options, cancel) = (RedactOptions::default(), Cancel::new());
        let masked = match self.finder() {
            Some(finder) => Masker::of_known(&options, &cancel, finder).message(&message.bytes),
            None => mask::mark("all").into(),
        };
        Message {
            bytes: masked,
            ..message.clone()
        }
    }

    /// The failure in [`SecretList::words`].
    pub fn problem(&self, mut problem: Problem) -> Problem {
        let Problem {
            what,
            place,
            hint,
            cause,
            ..
        } = &mut problem;
        let cause = cause.iter_mut().flat_map(|cause| {
            let paste = cause.paste.as_mut().map(|paste| &mut paste.text);
            [Some(&mut cause.sentence), paste].into_iter().flatten()
        });
        for text in [what, place].into_iter().chain(hint).chain(cause) {
            if let Cow::Owned(masked) = self.words(text) {
                *text = masked;
            }
        }
        problem
    }
}

/// Digits of which fewer are a count rather than a key.
const LEAST_DIGITS: usize = 6;

fn is_count(text: &str) -> bool {
    text.len() < LEAST_DIGITS && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The insides of the strings of JSON.
fn strings(text: &str) -> Vec<Range<usize>> {
    let (mut found, mut at, mut open) = (Vec::new(), 0, None);
    while let Some(next) =
        memchr::memchr2(b'"', b'\\', &text.as_bytes()[at..]).map(|next| at + next)
    {
        at = next + 1;
        match open {
            // An escape is two bytes or more; the second is never where a string ends.
            Some(_) if text.as_bytes()[next] == b'\\' => at += 1,
            Some(start) => {
                found.push(start..next);
                open = None;
            }
            None => open = Some(at),
        }
        at = at.min(text.len());
    }
    found.extend(open.map(|start| start..text.len()));
    found
}

/// The inside of a string of JSON without what is known; `None` where nothing of it is.
fn in_string(finder: &Finder, raw: &str) -> Option<String> {
    let decoded = if raw.contains('\\') {
        decode_string(raw.as_bytes())
    } else {
        Cow::Borrowed(raw)
    };
    let hits = finder
        .find(&decoded)
        .into_iter()
        .filter(|(range, _)| !is_count(&decoded[range.clone()]));
    let hits: Vec<_> = hits
        .map(|(range, kind)| (range, mask::mark(kind)))
        .collect();
    if hits.is_empty() {
        return None;
    }
    let quoted = write::string(&mask::replace(&decoded, hits));
    Some(quoted[1..quoted.len() - 1].to_owned())
}

/// The numbers in a part of JSON between two strings that are a known value, with what replaces them.
fn known_numbers<'a>(
    finder: &'a Finder,
    text: &'a str,
    part: Range<usize>,
) -> impl Iterator<Item = (Range<usize>, String)> + 'a {
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    let mut at = part.start;
    std::iter::from_fn(move || {
        let bytes = &text.as_bytes()[..part.end];
        at += bytes.get(at..)?.iter().position(|byte| is_digit(*byte))?;
        let start = at;
        at += bytes[at..]
            .iter()
            .take_while(|byte| is_digit(**byte))
            .count();
        Some(start..at)
    })
    .filter(move |range| {
        !is_count(&text[range.clone()]) && finder.whole(&text[range.clone()]).is_some()
    })
    .map(|range| (range, "0".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_stay_json_and_counts_stay() {
        let known = SecretList::default();
        for (name, value) in [
            ("A", "name"),
            ("PORT", "8080"),
            ("PIN", "4815162342"),
            ("Q", r#"a"b\c-12345678"#),
        ] {
            known.add("env", name, value);
        }
        let text = r#"{"a":"x \name name","n":8080,"m":4815162342,"k":-4815162342.5,"q":"a\"b\\c-12345678!","t":"8080 of 4815162342"}"#;
        let shown = known.json(text);
        assert_eq!(
            shown,
            r#"{"a":"x \name [hidden:env-A]","n":8080,"m":0,"k":-4815162342.5,"q":"[hidden:env-Q]!","t":"8080 of [hidden:env-PIN]"}"#
        );
        assert!(serde_json::from_str::<serde_json::Value>(&shown).is_ok());
        assert_eq!(
            known.page("8080 tokens, name"),
            "8080 tokens, [hidden:env-A]"
        );
        assert!(matches!(
            SecretList::default().page("x"),
            Cow::Borrowed("x")
        ));
    }

    #[test]
    fn words_have_no_key_of_a_redirect() {
        let words = "connect to https://h/a?X-Amz-Signature=0f1e2d3c4b5a69788796&X-Amz-Date=1#access_token=x7Kq2mVb9TzR4";
        assert_eq!(
            SecretList::default().words(words),
            "connect to https://h/a?X-Amz-Signature=[hidden:named-in-url]&X-Amz-Date=1#access_token=[hidden:named-in-url]"
        );
    }

    #[test]
    fn secret_arguments_are_known() {
        let known = SecretList::default();
        known.add_arguments(r#"{"user":"ann-of-cleves","password":"correct horse 9","deep":{"api_key":["alpha-1234"]}}"#);
        assert_eq!(
            known.page("ann-of-cleves correct horse 9 alpha-1234"),
            "ann-of-cleves [hidden:argument-password] [hidden:argument-member]"
        );
    }
}
