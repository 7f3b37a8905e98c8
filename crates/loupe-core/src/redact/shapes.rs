//! What secrets look like: the names and patterns of `secrets.toml`, compiled once.

use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::{Regex, RegexBuilder};
use serde::Deserialize;

use crate::json::decode_string;

/// A key of the size of a certificate has to fit.
const SIZE_LIMIT: usize = 64 << 20;
/// No shape is found in less: `a@b.co`.
const SHORTEST: usize = 6;
/// Of what is under a name that tells only with its value.
const SHORTEST_PASSWORD: usize = 3;
const SHORTEST_PASSWORD_NUMBER: usize = 6;
/// A number under `pass` is mostly how many did.
const LONGEST_COUNT: usize = 3;
const SHORTEST_CODE: usize = 4;
const LONGEST_CODE: usize = 12;
const SHORTEST_KEY: usize = 8;
const LONGEST_WORD: usize = 20;

#[derive(Deserialize)]
struct File {
    names: Names,
    shape: Vec<Shape>,
}

#[derive(Default, Deserialize)]
pub(super) struct Names {
    is: Vec<String>,
    ends: Vec<String>,
    never: Vec<String>,
    flat: Vec<String>,
    passwords: Vec<String>,
    codes: Vec<String>,
    keys: Vec<String>,
    about: Vec<String>,
    statuses: Vec<String>,
}

/// What a name says of the value under it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sense {
    Plain,
    /// Secret, and so is what is nested in it.
    Secret,
    /// Secret, but an object there is taken member by member.
    Flat,
    /// A word that often means something else: secret where the value is no status, count or folder.
    Password,
    /// Secret where the value is a code of digits, and not one or two of them.
    Code,
    /// A list or map of keys, or else a count: told by the look of each.
    Keys,
}

/// One kind of secret that is known by its looks.
#[derive(Deserialize)]
pub(super) struct Shape {
    pub id: String,
    pattern: String,
    starts: Vec<String>,
    /// Least entropy in bits per character.
    #[serde(default)]
    entropy: f64,
    /// Words of prose have none.
    #[serde(default)]
    needs_digit: bool,
    /// Hidden only where it is asked for.
    #[serde(default)]
    pub offered: bool,
    /// For the test: what the tail is in, and the tail, whose beginning is secret. Apart, so that this file holds no
    /// key for scanners to find.
    #[cfg(test)]
    pub example: String,
    #[cfg(test)]
    pub tail: String,
    #[serde(skip)]
    compiled: OnceLock<Option<Regex>>,
}

pub(super) struct Shapes {
    names: Names,
    pub shapes: Vec<Shape>,
    /// The starts of all shapes at once.
    starts: Option<AhoCorasick>,
    /// The shape of each start, by index.
    of_start: Vec<usize>,
}

static SHAPES: LazyLock<Shapes> = LazyLock::new(read_shapes);

fn read_shapes() -> Shapes {
    // The file is part of the program; a test reads it.
    let read: File = toml::from_str(include_str!("secrets.toml")).unwrap_or_else(|_| File {
        names: Names::default(),
        shape: Vec::new(),
    });
    let starts = AhoCorasick::builder()
        .kind(Some(AhoCorasickKind::DFA))
        .build(read.shape.iter().flat_map(|shape| &shape.starts));
    let of_start = read
        .shape
        .iter()
        .enumerate()
        .flat_map(|(at, shape)| shape.starts.iter().map(move |_| at))
        .collect();
    Shapes {
        names: read.names,
        starts: starts.ok(),
        of_start,
        shapes: read.shape,
    }
}

impl Shapes {
    pub(super) fn known() -> &'static Self {
        &SHAPES
    }

    /// Whether what is under this name is secret, whatever it is.
    pub(super) fn is_secret_name(&self, name: &str) -> bool {
        matches!(self.sense(name), Sense::Secret | Sense::Flat)
    }

    /// What a name says of the value under it.
    pub(super) fn sense(&self, name: &str) -> Sense {
        let (plain, names) = (plain(name), &self.names);
        if names.flat.contains(&plain) {
            return Sense::Flat;
        }
        if names.is.contains(&plain) {
            return Sense::Secret;
        }
        if names.never.iter().any(|end| plain.ends_with(end.as_str())) {
            return Sense::Plain;
        }
        if names.ends.iter().any(|end| plain.ends_with(end.as_str())) {
            return Sense::Secret;
        }
        let word = last_word(name);
        match () {
            () if names.passwords.contains(&word) => Sense::Password,
            () if names.codes.contains(&word) => Sense::Code,
            () if names.keys.contains(&word) => Sense::Keys,
            () => Sense::Plain,
        }
    }

    /// Whether a member of this name says something about a secret that it is next to, and is none itself.
    pub(super) fn is_about(&self, name: &str) -> bool {
        self.names.about.contains(&plain(name))
    }

    /// The values of members with a secret name in a text that is nearly JSON (broken, cut short, or with more values than
    /// are indexed), as byte ranges, and whether each is the inside of a string rather than a number.
    pub(super) fn named_values(&self, text: &str) -> Vec<(std::ops::Range<usize>, bool)> {
        let members = MEMBER.iter().flat_map(|member| member.captures_iter(text));
        let named = members.filter_map(|member| {
            let sense = self.sense(&decode_string(member.get(1)?.as_str().as_bytes()));
            let (value, is_text) = match (member.get(2), member.get(3)) {
                (Some(text), _) => (text, true),
                (None, number) => (number?, false),
            };
            let is_secret = match is_text {
                true => sense.takes_text(&decode_string(value.as_str().as_bytes())),
                false => sense.takes_number(value.as_str()),
            };
            is_secret.then(|| (value.range(), is_text))
        });
        named.collect()
    }

    /// Every secret in a text, as byte ranges with what they are taken for. Ranges may overlap.
    pub(super) fn find(&'static self, text: &str) -> Vec<(std::ops::Range<usize>, &'static Shape)> {
        let mut found = Vec::new();
        let Some(starts) = self.starts.as_ref().filter(|_| text.len() >= SHORTEST) else {
            return found;
        };
        let mut has_start = vec![false; self.shapes.len()];
        starts
            .find_overlapping_iter(text)
            .for_each(|start| has_start[self.of_start[start.pattern().as_usize()]] = true);
        for (shape, has_start) in self.shapes.iter().zip(has_start) {
            if !has_start {
                continue;
            }
            // Most have a start and are none; groups are looked for in the others alone.
            let Some(regex) = shape.regex().filter(|regex| regex.is_match(text)) else {
                continue;
            };
            for captures in regex.captures_iter(text) {
                let Some(secret) = captures.get(1).or_else(|| captures.get(0)) else {
                    continue;
                };
                if shape.takes(secret.as_str()) {
                    found.push((secret.range(), shape));
                }
            }
        }
        found
    }
}

/// A name in lower case, without what stands between its words.
fn plain(name: &str) -> String {
    name.chars()
        .filter(|char| !matches!(char, '_' | '-' | '.' | ' '))
        .flat_map(char::to_lowercase)
        .collect()
}

/// The last word of a name in lower case, digits after it left out: `pass` of `DB_PASS`, `smtpPass`, `DBPass2`.
fn last_word(name: &str) -> String {
    let name = name.trim_end_matches(|char: char| char.is_ascii_digit());
    let mut start = name.len();
    let mut after: Option<char> = None;
    let mut before = name.char_indices().rev().peekable();
    while let Some((at, char)) = before.next() {
        if !char.is_alphanumeric() {
            break;
        }
        start = at;
        let begins = |before: char| !before.is_uppercase() || after.is_some_and(char::is_lowercase);
        if char.is_uppercase() && before.peek().is_some_and(|(_, before)| begins(*before)) {
            break;
        }
        after = Some(char);
    }
    name[start..].to_lowercase()
}

impl Sense {
    /// Whether a text under a name of this sense is secret.
    pub(super) fn takes_text(self, text: &str) -> bool {
        let trimmed = text.trim();
        let (length, is_one_word) = (
            trimmed.chars().count(),
            !trimmed.contains(char::is_whitespace),
        );
        let has = |is: fn(&char) -> bool| trimmed.chars().any(|char| is(&char));
        let is_digits = !trimmed.is_empty() && trimmed.bytes().all(|byte| byte.is_ascii_digit());
        match self {
            Sense::Plain => false,
            Sense::Secret | Sense::Flat => !text.is_empty(),
            Sense::Password => {
                length >= SHORTEST_PASSWORD && !is_status(trimmed) && !is_folder(trimmed)
            }
            Sense::Code => {
                is_digits && (SHORTEST_CODE..=LONGEST_CODE).contains(&length)
                    || length >= SHORTEST_KEY && is_one_word && has(char::is_ascii_digit)
            }
            Sense::Keys => {
                length >= SHORTEST_KEY
                    && is_one_word
                    && has(char::is_ascii_alphabetic)
                    && !is_word(trimmed)
            }
        }
    }

    /// Whether a number under a name of this sense is secret.
    pub(super) fn takes_number(self, number: &str) -> bool {
        match self {
            Sense::Secret | Sense::Flat => true,
            Sense::Code => {
                (SHORTEST_CODE..=LONGEST_CODE).contains(&number.len())
                    && number.bytes().all(|byte| byte.is_ascii_digit())
            }
            Sense::Password => number.len() >= SHORTEST_PASSWORD_NUMBER,
            Sense::Plain | Sense::Keys => false,
        }
    }
}

/// What a check came to, or a count of such: `failed`, `3/12`, `75 %`.
fn is_status(text: &str) -> bool {
    let word = text.to_lowercase();
    let is_count = text
        .chars()
        .all(|char| char.is_ascii_digit() || " /%".contains(char));
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    SHAPES.names.statuses.contains(&word) || is_count && (!is_number || text.len() <= LONGEST_COUNT)
}

/// A folder: what `pwd` is in a shell.
fn is_folder(text: &str) -> bool {
    let drive = text
        .as_bytes()
        .get(1..3)
        .is_some_and(|after| after == b":\\" || after == b":/");
    text.starts_with(['/', '~']) || drive
}

/// A word of a language, as tokenizers have them, with the sign for the blank before it.
fn is_word(text: &str) -> bool {
    let text = text.trim_start_matches(['Ġ', '▁', '#', ' ']);
    let (first, rest) = text.split_at(text.chars().next().map_or(0, char::len_utf8));
    first.chars().all(char::is_alphabetic)
        && rest.chars().all(char::is_lowercase)
        && text.chars().count() <= LONGEST_WORD
}

/// A member of a JSON object, as it is in a text that cannot be read as JSON; the last may be cut off.
static MEMBER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?s)"((?:[^"\\]|\\.)*)"\s*:\s*(?:"((?:[^"\\]|\\.)*)|(-?[0-9][0-9.eE+-]*))"#).ok()
});

impl Shape {
    fn regex(&self) -> Option<&Regex> {
        self.compiled
            .get_or_init(|| {
                RegexBuilder::new(&self.pattern)
                    .size_limit(SIZE_LIMIT)
                    .build()
                    .ok()
            })
            .as_ref()
    }

    fn takes(&self, secret: &str) -> bool {
        entropy(secret) >= self.entropy
            && !is_placeholder(secret)
            && (!self.needs_digit || secret.bytes().any(|byte| byte.is_ascii_digit()))
    }
}

/// What replaces a secret already, or in documentation.
pub(super) fn is_placeholder(text: &str) -> bool {
    let inside = |open: &str, close: &str| text.starts_with(open) && text.ends_with(close);
    let is_variable = text.strip_prefix('$').is_some_and(|name| {
        name.chars()
            .all(|char| char.is_ascii_uppercase() || char == '_')
    });
    text.contains("[hidden:")
        || text
            .chars()
            .all(|char| matches!(char, '*' | '.' | 'x' | 'X' | '…'))
        || is_variable
        || inside("${", "}")
        || inside("{{", "}}")
        || inside("<", ">")
        || inside("%", "%")
}

/// Bits per character.
fn entropy(text: &str) -> f64 {
    let mut counts = [0_u32; 256];
    text.bytes().for_each(|byte| counts[usize::from(byte)] += 1);
    let all = text.len() as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / all)
        .map(|share| -share * share.log2())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_finds_its_example() {
        let shapes = Shapes::known();
        assert!(shapes.shapes.len() > 30);
        for shape in &shapes.shapes {
            assert!(shape.regex().is_some(), "{}", shape.id);
            let text = format!("see {}{} there", shape.example, shape.tail);
            let found = shapes.find(&text);
            assert!(
                found.iter().any(|(range, known)| known.id == shape.id
                    && text[range.clone()].contains(&shape.tail[..3])),
                "{}: {text}",
                shape.id
            );
        }
    }

    #[test]
    fn a_text_without_a_start_compiles_no_pattern() {
        let shapes: &'static Shapes = Box::leak(Box::new(read_shapes()));
        assert!(shapes.find("nothing to hide here").is_empty());
        let compiled = || {
            shapes
                .shapes
                .iter()
                .filter(|shape| shape.compiled.get().is_some())
                .count()
        };
        assert_eq!(compiled(), 0);
        let github = shapes
            .shapes
            .iter()
            .find(|shape| shape.starts.iter().any(|start| start == "ghp_"))
            .unwrap();
        assert!(
            !shapes
                .find(&format!("{}{}", github.example, github.tail))
                .is_empty()
        );
        assert!(
            github.compiled.get().is_some() && compiled() < shapes.shapes.len() / 2,
            "{} compiled",
            compiled()
        );
    }

    #[test]
    fn names_tell_secrets() {
        let shapes = Shapes::known();
        for name in [
            "password",
            "DB_PASSWORD",
            "apiKey",
            "api_key",
            "X-Api-Key",
            "accessToken",
            "client_secret",
            "Authorization",
            "token",
        ] {
            assert!(shapes.is_secret_name(name), "{name}");
        }
        for name in [
            "tokens",
            "nextPageToken",
            "max_tokens",
            "progressToken",
            "key",
            "id",
            "author",
            "tokenizer",
            "secretary",
        ] {
            assert!(!shapes.is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn broken_json_has_members_still() {
        let named = |text: &str| {
            let found = Shapes::known().named_values(text);
            found
                .into_iter()
                .map(|(range, is_text)| format!("{}{is_text}", &text[range]))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            named(r#"{"a":1,"password" : "x\"y","n":{"pass\u0077ord":12.5},"token":"cut of"#),
            [r#"x\"ytrue"#, "12.5false", "cut oftrue"]
        );
        assert!(named(r#"{"password":"","tokens":5,"password":null"#).is_empty());
    }

    #[test]
    fn prose_is_no_secret() {
        for text in [
            "The token: required, a string",
            "Password = the user's password",
            "tokens: 12345678",
            "secret: ${API_SECRET}",
            "sk-learn and sk-ates",
            "commit 3f2a9c7d1b8e4f605a6c7d8e9f0a1b2c3d4e5f60",
            "id 6f1c2a9e-0d5b-4b7e-9a3c-2f8d1e7b5a40",
            "a=b&c=d?page=2",
            "12:30 - 13:45",
            "| Token | Value |",
        ] {
            let found: Vec<_> = Shapes::known()
                .find(text)
                .into_iter()
                .filter(|(_, shape)| !shape.offered)
                .map(|(range, shape)| (&text[range], &shape.id))
                .collect();
            assert!(found.is_empty(), "{text}: {found:?}");
        }
    }
}
