//! An address as it may be shown: without its password, the values of parameters that look secret, in its query and in its
//! fragment, and the parts of its path that look like keys.

use std::borrow::Cow;

use super::LEFT_OUT;

/// Ends of the names of parameters that hold a key, and last words of such names.
const ENDS: &[&str] = &[
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "apikey",
    "accesskey",
    "credential",
    "credentials",
    "signature",
];
const LAST: &[&str] = &["key", "sig", "auth", "authorization", "pass", "pwd"];

/// Whether a parameter of an address holds a key, by its name.
pub(crate) fn is_key(name: &str) -> bool {
    let name = name.to_lowercase();
    let last = name.rsplit(['_', '-', '.']).next().unwrap_or_default();
    let joined = name.replace(['_', '-', '.'], "");
    LAST.contains(&last) || ENDS.iter().any(|end| joined.ends_with(end))
}

/// The address with `…` for its password and for the value of each parameter that looks secret; all else as it was typed.
pub fn redact_url(address: &str) -> Cow<'_, str> {
    with_secrets(address, is_key, &mut |_, _| Some(LEFT_OUT.to_owned()))
}

/// The address with `…` for its password and for every value in its query and its fragment.
pub fn without_values(address: &str) -> String {
    match address.find(['?', '#']) {
        // Relative to another.
        Some(end) if !address.contains("://") => format!("{}?{LEFT_OUT}", &address[..end]),
        _ => with_secrets(address, |_| true, &mut |_, _| Some(LEFT_OUT.to_owned())).into_owned(),
    }
}

/// What of an address is a secret (of its parameters those whose name `is_secret`): what it is called, and the value with
/// its percent-encoding undone.
pub(crate) fn address_secrets(
    address: &str,
    is_secret: impl Fn(&str) -> bool,
) -> Vec<(String, String)> {
    let mut found = Vec::new();
    with_secrets(address, is_secret, &mut |name, value| {
        found.push((name.unwrap_or("password").to_owned(), decode(value)));
        None
    });
    found
}

/// A value with its percent-encoding undone.
pub(super) fn decode(text: &str) -> String {
    let pair = format!("v={}", text.replace('+', "%2B"));
    url::form_urlencoded::parse(pair.as_bytes())
        .next()
        .map(|(_, value)| value.into_owned())
        .unwrap_or_default()
}

/// Gives what replaces a secret: it gets what the secret is called, `None` for the password, and the value as it
/// stands, which is percent-encoded; `None` leaves that as it is.
type Put<'a> = &'a mut dyn FnMut(Option<&str>, &str) -> Option<String>;

/// The address with what `put` returns instead of its password, of the value of each parameter whose name `is_secret`,
/// and of what looks like a key in its path or as its user; all else as it was typed.
pub(super) fn with_secrets<'a>(
    address: &'a str,
    is_secret: impl Fn(&str) -> bool,
    put: Put<'_>,
) -> Cow<'a, str> {
    let Some((scheme, rest)) = address.split_once("://") else {
        return Cow::Borrowed(address);
    };
    let (rest, fragment) = rest
        .split_once('#')
        .map_or((rest, None), |(rest, fragment)| (rest, Some(fragment)));
    let (rest, query) = rest
        .split_once('?')
        .map_or((rest, None), |(rest, query)| (rest, Some(query)));
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let mut out = format!("{scheme}://{}", of_authority(authority, put));
    let segments = path
        .split('/')
        .map(|segment| with_key(segment, "path", put));
    out.push_str(&segments.collect::<Vec<_>>().join("/"));
    for (sign, part) in [('?', query), ('#', fragment)] {
        let Some(part) = part else { continue };
        out.push(sign);
        // In a fragment there may be a path first, and a query of its own.
        let (before, pairs) = part.split_at(part.rfind('?').map_or(0, |at| at + 1));
        out.push_str(before);
        let pairs = pairs.split('&').map(|pair| {
            let secret = pair
                .split_once('=')
                .filter(|(name, value)| !value.is_empty() && is_secret(name));
            let put = secret
                .and_then(|(name, value)| Some(format!("{name}={}", put(Some(name), value)?)));
            put.map_or(Cow::Borrowed(pair), Cow::Owned)
        });
        out.push_str(&pairs.collect::<Vec<_>>().join("&"));
    }
    if out == address {
        Cow::Borrowed(address)
    } else {
        Cow::Owned(out)
    }
}

/// `user:password@host`
fn of_authority(authority: &str, put: Put<'_>) -> String {
    let Some((login, host)) = authority.rsplit_once('@') else {
        return authority.to_owned();
    };
    let (user, password) = login
        .split_once(':')
        .map_or((login, None), |(user, password)| (user, Some(password)));
    let user = with_key(user, "user", put);
    match password {
        Some(password) => format!(
            "{user}:{}@{host}",
            put(None, password).unwrap_or_else(|| password.to_owned())
        ),
        None => format!("{user}@{host}"),
    }
}

fn with_key<'a>(part: &'a str, name: &str, put: Put<'_>) -> Cow<'a, str> {
    let replaced = is_random(part).then(|| put(Some(name), part)).flatten();
    replaced.map_or(Cow::Borrowed(part), Cow::Owned)
}

/// Letters and digits in a row of which a key has at least so many, and changes from one to the other: words with a
/// number, dates and UUIDs have fewer.
const LEAST_IN_A_ROW: usize = 16;
const LEAST_CHANGES: usize = 4;

/// Whether a part of an address looks like a key rather than a name.
fn is_random(part: &str) -> bool {
    part.split(|char: char| !char.is_ascii_alphanumeric())
        .any(|row| {
            let changes = row
                .as_bytes()
                .windows(2)
                .filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit());
            row.len() >= LEAST_IN_A_ROW && changes.count() >= LEAST_CHANGES
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_and_keys_do_not_show() {
        assert!(
            [
                "api-key",
                "X-Amz-Signature",
                "accessToken",
                "client.secret",
                "KEY"
            ]
            .into_iter()
            .all(is_key)
        );
        for (address, expected) in [
            (
                "https://me:canary-1@h:8080/mcp?a=1&api_key=canary-2&b#f=1",
                "https://me:…@h:8080/mcp?a=1&api_key=…&b#f=1",
            ),
            ("ws://:canary@h", "ws://:…@h"),
            (
                "https://h?sig=canary&auth=canary&token=",
                "https://h?sig=…&auth=…&token=",
            ),
            ("https://a@b:canary@h/x@y:z", "https://a@b:…@h/x@y:z"),
            (
                "https://h/cb#access_token=canary&state=s",
                "https://h/cb#access_token=…&state=s",
            ),
            (
                "https://h/?a=1#/cb?token=canary",
                "https://h/?a=1#/cb?token=…",
            ),
            (
                "https://h/a?u=http://x?token=canary",
                "https://h/a?u=http://x?token=…",
            ),
            (
                "https://h/api/s/x7Kq2mVb9TzR4wLp8NcY/mcp",
                "https://h/api/s/…/mcp",
            ),
            ("https://x7kq2mvb9tzr4wlp8ncy@h/", "https://…@h/"),
            (
                "https://x7kq2mvb9tzr4wlp8ncy:x-oauth-basic@h/",
                "https://…:…@h/",
            ),
        ] {
            assert_eq!(redact_url(address), expected);
        }
        assert_eq!(
            without_values("https://h/a?X-Amz-Date=1&flag#id=canary"),
            "https://h/a?X-Amz-Date=…&flag#id=…"
        );
        assert_eq!(
            (without_values("/a?x=canary"), without_values("/a")),
            ("/a?…".to_owned(), "/a".to_owned())
        );
        for plain in [
            "https://me@h/mcp?page=2&design=x",
            "localhost:1",
            "http://[::1]:80/a:b@c",
            "https://h/?q=a=b&keyword=x&tokens=5",
            "https://h/6f1c2a9e-0d5b-4b7e-9a3c-2f8d1e7b5a40/mcp#part-2",
            "https://h/my-company-2026-production-v2/release20260131",
        ] {
            assert_eq!(redact_url(plain), plain);
        }
    }
}
