//! An address as it may be shown: without its password and the values of parameters that look secret.

use std::borrow::Cow;

use super::LEFT_OUT;

/// Ends of the names of parameters that hold a key, and last words of such names.
const ENDS: &[&str] =
    &["token", "secret", "password", "passwd", "passphrase", "apikey", "accesskey", "credential", "credentials", "signature"];
const LAST: &[&str] = &["key", "sig", "auth", "authorization", "pass", "pwd"];

/// Whether a parameter of an address holds a key, by its name.
pub fn is_key(name: &str) -> bool {
    let name = name.to_lowercase();
    let last = name.rsplit(['_', '-', '.']).next().unwrap_or_default();
    let joined = name.replace(['_', '-', '.'], "");
    LAST.contains(&last) || ENDS.iter().any(|end| joined.ends_with(end))
}

/// The address with `…` for its password and for the value of each parameter that looks secret; all else as it was typed.
pub fn shown(address: &str) -> Cow<'_, str> {
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

/// The address with what `put` returns in place of its password and of the value of each parameter whose name
/// `is_secret`; all else as it was typed. `put` gets the parameter's name, `None` for the password, and the value as it
/// stands, which is percent-encoded; `None` leaves that as it is.
pub(super) fn with_secrets<'a>(
    address: &'a str,
    is_secret: impl Fn(&str) -> bool,
    put: &mut dyn FnMut(Option<&str>, &str) -> Option<String>,
) -> Cow<'a, str> {
    let Some((scheme, rest)) = address.split_once("://") else { return Cow::Borrowed(address) };
    let (authority, tail) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let (tail, fragment) = tail.split_once('#').map_or((tail, None), |(tail, fragment)| (tail, Some(fragment)));
    let (before, query) = tail.split_once('?').map_or((tail, None), |(before, query)| (before, Some(query)));
    let mut out = format!("{scheme}://");
    let login = authority.rsplit_once('@').and_then(|(user, host)| Some((user.split_once(':')?, host)));
    match login.and_then(|((user, password), host)| Some((user, put(None, password)?, host))) {
        Some((user, password, host)) => out.push_str(&format!("{user}:{password}@{host}")),
        None => out.push_str(authority),
    }
    out.push_str(before);
    for (mark, part) in [('?', query), ('#', fragment)].into_iter().filter_map(|(mark, part)| Some((mark, part?))) {
        let pairs = part.split('&').map(|pair| {
            let secret = pair.split_once('=').filter(|(name, value)| !value.is_empty() && is_secret(name));
            let put = secret.and_then(|(name, value)| Some(format!("{name}={}", put(Some(name), value)?)));
            put.map_or(Cow::Borrowed(pair), Cow::Owned)
        });
        out.push(mark);
        out.push_str(&pairs.collect::<Vec<_>>().join("&"));
    }
    if out == address { Cow::Borrowed(address) } else { Cow::Owned(out) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_and_keys_do_not_show() {
        assert!(["api-key", "X-Amz-Signature", "accessToken", "client.secret", "KEY"].into_iter().all(is_key));
        for (address, expected) in [
            ("https://me:canary-1@h:8080/mcp?a=1&api_key=canary-2&b#f=1", "https://me:…@h:8080/mcp?a=1&api_key=…&b#f=1"),
            ("ws://:canary@h", "ws://:…@h"),
            ("https://h?sig=canary&auth=canary&token=", "https://h?sig=…&auth=…&token="),
            ("https://a@b:canary@h/x@y:z", "https://a@b:…@h/x@y:z"),
            ("https://h/back#access_token=canary&state=1", "https://h/back#access_token=…&state=1"),
            ("https://h/?a=1#/route?token=canary", "https://h/?a=1#/route?token=…"),
        ] {
            assert_eq!(shown(address), expected);
        }
        assert_eq!(without_values("https://h/a?X-Amz-Date=1&flag#id=canary"), "https://h/a?X-Amz-Date=…&flag#id=…");
        assert_eq!((without_values("/a?x=canary"), without_values("/a")), ("/a?…".to_owned(), "/a".to_owned()));
        for plain in
            ["https://me@h/mcp?page=2&design=x", "localhost:1", "http://[::1]:80/a:b@c", "https://h/?q=a=b&keyword=x&tokens=5"]
        {
            assert_eq!(shown(plain), plain);
        }
    }
}
