//! The values that were given to a server, or came of a login or of an answer. They are looked for in everything that is
//! written.

use std::ffi::OsString;

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE_NO_PAD};

use super::find::Wanted;
use super::shapes::{Sense, Shapes};
use super::view;
use crate::source::{Source, address_secrets, is_key};

/// Shorter values are in too many other places to be looked for.
const LEAST: usize = 4;
/// Of what looks like a secret in the arguments of a command, which may be a number of something.
const LEAST_FOUND: usize = 6;
/// Of what nobody gave to the server on purpose.
const LEAST_INHERITED: usize = 8;
/// Less of it in another form is in other places by chance.
const LEAST_IN_FORMS: usize = 6;
/// Variables that are no passwords, whatever their names.
const FOLDERS: &[&str] = &["PWD", "OLDPWD"];

/// What was given and is not to be written, with what it is called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Secrets {
    /// As they are in a text whose escapes are undone.
    values: Vec<(String, String)>,
    /// The same in capitals, in small letters and in hexadecimal, where it is not short.
    other_forms: Vec<(String, String)>,
    /// The middles of them in Base64 and Base32, wherever in it they begin.
    middles: Vec<(String, String)>,
}

impl Secrets {
    /// What is secret in a source: see [`Secrets::add_source`].
    pub fn of(source: &Source) -> Self {
        let mut secrets = Self::default();
        secrets.add_source(source);
        secrets
    }

    /// Adds the values of a source's variables and headers, the password and keys of its address, the secrets of its login,
    /// and what looks like a secret in the arguments of its command.
    pub fn add_source(&mut self, source: &Source) {
        match source {
            Source::Command(command) => {
                command
                    .env
                    .iter()
                    .for_each(|(name, value)| self.add("env", name, value));
                let line = format!("{} {}", command.program, command.args.join(" "));
                for (range, shape) in Shapes::known().find(&line) {
                    if !shape.offered && range.len() >= LEAST_FOUND {
                        self.add("argument", &shape.id, &line[range]);
                    }
                }
            }
            Source::Http(http) => {
                http.headers
                    .iter()
                    .for_each(|(name, value)| self.add("header", name, value));
                self.add_address(&http.url);
                if let Some(login) = &http.login {
                    for (name, secret) in [
                        ("client_secret", &login.client_secret),
                        ("idp_client_secret", &login.idp_client_secret),
                    ] {
                        secret
                            .iter()
                            .for_each(|secret| self.add("login", name, secret));
                    }
                }
            }
            Source::Sample(_) | Source::Fixture(_) => {}
        }
    }

    /// Adds the password and the keys of an address.
    fn add_address(&mut self, address: &str) {
        let Ok(url) = url::Url::parse(address) else {
            return;
        };
        if let Some(password) = url.password() {
            let (user, password) = (
                view::percent_decoded(url.username()),
                view::percent_decoded(password),
            );
            self.add("url", "password", &password);
            self.add("url", "password", &format!("{user}:{password}"));
        }
        let shapes = Shapes::known();
        for (name, value) in
            address_secrets(address, |name| shapes.is_secret_name(name) || is_key(name))
        {
            // A word under `key` may be no key, and is in too many other places.
            if shapes.is_secret_name(&name) || Sense::Keys.takes_text(&value) {
                self.add("url", &name, &value);
            }
        }
    }

    /// Adds the variables of this process whose name says that they are secret: a server inherits them.
    pub fn add_inherited(&mut self, variables: impl Iterator<Item = (OsString, OsString)>) {
        for (name, value) in variables {
            // What is no UTF-8 cannot be in a message either.
            if let (Ok(name), Ok(value)) = (name.into_string(), value.into_string())
                && value.len() >= LEAST_INHERITED
                && Shapes::known().sense(&name).takes_text(&value)
            {
                self.add("env", &name, &value);
            }
        }
    }

    /// Adds a value, and the other forms in which it may come back.
    pub fn add(&mut self, from: &str, name: &str, value: &str) {
        if from == "env" && FOLDERS.contains(&name) {
            return;
        }
        let safe: String = name
            .chars()
            .map(|char| {
                if char.is_ascii_alphanumeric() || "_.-".contains(char) {
                    char
                } else {
                    '_'
                }
            })
            .collect();
        let kind = format!("{from}-{safe}");
        let value = value.trim();
        let mut forms = vec![value.to_owned()];
        // `Bearer SECRET`, and `Basic` of a name and a password.
        if let Some((scheme, rest)) = value.split_once(' ')
            && matches!(
                scheme.to_ascii_lowercase().as_str(),
                "bearer" | "basic" | "token" | "apikey" | "digest"
            )
        {
            forms.push(rest.trim().to_owned());
            if let Some(pair) = BASE64_STANDARD
                .decode(rest.trim())
                .ok()
                .and_then(|pair| String::from_utf8(pair).ok())
            {
                forms.extend(
                    pair.split_once(':')
                        .map(|(_, password)| password.to_owned()),
                );
                forms.push(pair);
            }
        }
        forms.retain(|form| {
            let is_common = matches!(
                form.to_ascii_lowercase().as_str(),
                "true" | "false" | "null" | "none" | "info" | "debug"
            );
            form.chars().count() >= LEAST && !is_common
        });
        for form in forms {
            put(&mut self.values, &form, &kind);
            if form.contains(' ') {
                // As a form is sent.
                put(&mut self.values, &form.replace(' ', "+"), &kind);
            }
            if form.len() >= LEAST_IN_FORMS {
                middles(form.as_bytes())
                    .iter()
                    .for_each(|middle| put(&mut self.middles, middle, &kind));
                other_forms(&form)
                    .iter()
                    .filter(|other| **other != form)
                    .for_each(|other| put(&mut self.other_forms, other, &kind));
            } else {
                // Alone only.
                put(
                    &mut self.values,
                    &BASE64_STANDARD_NO_PAD.encode(&form),
                    &kind,
                );
            }
        }
    }

    pub fn values(&self) -> &[(String, String)] {
        &self.values
    }

    pub(super) fn len(&self) -> usize {
        self.values.len() + self.other_forms.len() + self.middles.len()
    }

    /// What to look for.
    pub(super) fn wanted(&self) -> impl Iterator<Item = Wanted> {
        let whole = self
            .values
            .iter()
            .chain(&self.other_forms)
            .map(|pair| (pair, false));
        whole
            .chain(self.middles.iter().map(|pair| (pair, true)))
            .map(|((text, kind), is_middle)| Wanted {
                text: text.clone(),
                kind: kind.clone(),
                is_middle,
            })
    }
}

fn put(list: &mut Vec<(String, String)>, form: &str, kind: &str) {
    if !list.iter().any(|(known, _)| known == form) {
        list.push((form.to_owned(), kind.to_owned()));
    }
}

/// A value in capitals, in small letters, and as hexadecimal digits of either.
fn other_forms(value: &str) -> [String; 4] {
    let hex: String = value.bytes().map(|byte| format!("{byte:02x}")).collect();
    [
        value.to_uppercase(),
        value.to_lowercase(),
        hex.to_uppercase(),
        hex,
    ]
}

/// What of a value's Base64 and Base32 does not depend on what stands before and after it, for each place where it may
/// begin.
fn middles(value: &[u8]) -> Vec<String> {
    let mut middles = Vec::new();
    // Base64 makes 4 digits of 3 bytes, Base32 8 digits of 5.
    for (before, bits) in (0..3)
        .map(|before| (before, 6))
        .chain((0..5).map(|before| (before, 5)))
    {
        let whole = [&[0; 4][..before], value].concat();
        let sure = (before * 8).div_ceil(bits)..whole.len() * 8 / bits;
        let encoded = match bits {
            6 => [
                BASE64_STANDARD_NO_PAD.encode(&whole),
                BASE64_URL_SAFE_NO_PAD.encode(&whole),
            ],
            _ => [base32(&whole), base32(&whole).to_ascii_lowercase()],
        };
        middles.extend(
            encoded
                .iter()
                .filter_map(|encoded| encoded.get(sure.clone()).map(str::to_owned)),
        );
    }
    middles
}

/// RFC 4648.
const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// The whole digits of bytes in Base32, without padding.
fn base32(bytes: &[u8]) -> String {
    let bit = |at: usize| bytes[at / 8] >> (7 - at % 8) & 1;
    let digit = |at: usize| (0..5).fold(0, |digit, next| digit << 1 | bit(at * 5 + next));
    (0..bytes.len() * 8 / 5)
        .map(|at| char::from(BASE32[usize::from(digit(at))]))
        .collect()
}
