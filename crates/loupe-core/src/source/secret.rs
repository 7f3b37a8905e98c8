//! Secrets in how a server is reached: which values are, and what replaces them.

use std::collections::BTreeMap;

use super::redact_url::{decode, with_secrets};
use super::{LEFT_OUT, Source, is_key};

/// Whether a variable, header or member of this name holds a secret as a rule.
pub fn looks_secret(name: &str) -> bool {
    let name = name.to_lowercase();
    [
        "token",
        "key",
        "secret",
        "password",
        "passwd",
        "authorization",
        "credential",
        "cookie",
    ]
    .iter()
    .any(|word| name.contains(word))
}

/// As [`map_secrets`], where each secret has a name of its own: the second of one name is `--key (2)`.
pub(super) fn map_named(
    source: &Source,
    put: &mut dyn FnMut(&str, &str) -> Option<String>,
) -> Source {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    map_secrets(source, &mut |name, value| {
        let count = seen.entry(name.to_owned()).or_default();
        *count += 1;
        if *count == 1 {
            put(name, value)
        } else {
            put(&format!("{name} ({count})"), value)
        }
    })
}

/// The source with what `put` returns instead of each secret, which it gets by name and value; `None` leaves it as it
/// is. What is empty is none.
pub(super) fn map_secrets(
    source: &Source,
    put: &mut dyn FnMut(&str, &str) -> Option<String>,
) -> Source {
    let mut source = source.clone();
    let mut replace = |name: &str, value: &mut String| {
        if let Some(new) = (!value.is_empty()).then(|| put(name, value)).flatten() {
            *value = new;
        }
    };
    let is_plain = |name: &str, value: &str| {
        !is_secret_name(name) && value != LEFT_OUT && !looks_like_a_key(value)
    };
    match &mut source {
        Source::Sample(_) | Source::Fixture(_) => {}
        Source::Command(command) => {
            for (name, value) in &mut command.env {
                if has_login(value) {
                    *value = address(value, Some(name), &mut replace);
                } else if !is_plain(name, value) {
                    replace(name, value);
                }
            }
            arguments(&mut command.args, &mut replace);
        }
        Source::Http(http) => {
            http.url = address(&http.url, None, &mut replace);
            http.headers
                .iter_mut()
                .filter(|(name, value)| !is_plain(name, value))
                .for_each(|(name, value)| replace(name, value));
            if let Some(login) = &mut http.login {
                let secrets = [
                    ("client secret", &mut login.client_secret),
                    ("identity provider's secret", &mut login.idp_client_secret),
                ];
                secrets.into_iter().for_each(|(name, value)| {
                    value.iter_mut().for_each(|value| replace(name, value))
                });
            }
        }
    }
    source
}

pub(super) fn is_secret_name(name: &str) -> bool {
    looks_secret(name) || is_key(name)
}

/// Long and without meaning to people, or a certificate's key.
fn looks_like_a_key(value: &str) -> bool {
    let is_token = |char: char| char.is_ascii_alphanumeric() || "_-+=.~".contains(char);
    let has = |kind: fn(&char) -> bool| value.chars().any(|char| kind(&char));
    let is_mixed = has(char::is_ascii_digit) && has(char::is_ascii_alphabetic);
    value.contains("PRIVATE KEY") || (value.len() >= 20 && is_mixed && value.chars().all(is_token))
}

type Replace<'a> = &'a mut dyn FnMut(&str, &mut String);

/// What follows `--api-key`, the value of `token=…`, secrets in addresses.
fn arguments(args: &mut [String], replace: Replace<'_>) {
    let mut option: Option<String> = None;
    for arg in args {
        let names_one = arg.starts_with('-') && !arg.contains('=') && is_secret_name(arg);
        let before = std::mem::replace(&mut option, names_one.then(|| arg.clone()));
        if let Some(name) = before.filter(|_| !arg.starts_with('-')) {
            replace(&name, arg);
        } else if arg.contains("://") {
            *arg = address(arg, None, replace);
        } else if let Some(at) = arg.find('=').or_else(|| Some(arg.find(": ")? + 1))
            && is_secret_name(&arg[..at])
        {
            let (name, mut value) = (
                arg[..at].trim_end_matches(':').to_owned(),
                arg[at + 1..].to_owned(),
            );
            replace(&name, &mut value);
            arg.replace_range(at + 1.., &value);
        }
    }
}

/// Whether a text is an address with a password or a key in it.
fn has_login(text: &str) -> bool {
    let mut has = false;
    with_secrets(text, is_secret_name, &mut |_, _| {
        has = true;
        None
    });
    has
}

/// An address with its password and the values of parameters that look secret replaced; `of` is the variable that it is
/// the value of.
fn address(text: &str, of: Option<&str>, replace: Replace<'_>) -> String {
    let host = text.split_once("://").map_or("", |(_, rest)| {
        rest.split(['/', '?', '#']).next().unwrap_or_default()
    });
    let place = of.unwrap_or_else(|| host.rsplit('@').next().unwrap_or_default());
    let put = &mut |name: Option<&str>, written: &str| {
        let decoded = decode(written);
        let mut value = decoded.clone();
        replace(
            &format!("{} of {place}", name.unwrap_or("password")),
            &mut value,
        );
        match value.as_str() {
            value if value == decoded => None,
            LEFT_OUT => Some(value),
            _ => Some(encode(&value)),
        }
    };
    with_secrets(text, is_secret_name, put).into_owned()
}

fn encode(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes())
        .collect::<String>()
        .replace('+', "%20")
}
