//! Causes that HTTP shows: no connection, a status, a redirect, a page where a message belongs.

use std::error::Error as _;
use std::io;

use url::Url;

use super::Known;
use crate::error::{Error, connect_words, innermost};
use loupe_core::problem::PastePlace;
use loupe_core::source::{is_this_machine, redact_url};

/// No connection, and TLS is not why.
pub(super) fn no_connection(url: &str, source: &reqwest::Error) -> Known {
    let words = connect_words(source);
    let text = innermost(source);
    let known = |step, sentence: String, fix: &str| Known::new(step, sentence, fix);
    if [
        "lookup address",
        "Name or service not known",
        "nodename nor servname",
    ]
    .iter()
    .any(|word| text.contains(word))
    {
        return known(
            "name-resolved",
            "the host name has no address".into(),
            "check the spelling of the host; behind a VPN or a proxy, check that it is on",
        );
    }
    let mut cause = source.source();
    while let Some(inner) = cause {
        let text = inner.to_string();
        if text.contains("tunnel") || text.contains("proxy") {
            return known(
                "connected",
                format!("the proxy made no connection: {text}"),
                "check HTTP_PROXY and HTTPS_PROXY; NO_PROXY names the hosts to reach without it",
            );
        }
        let kind = inner.downcast_ref::<io::Error>().map(io::Error::kind);
        if kind == Some(io::ErrorKind::ConnectionRefused) {
            if let Some(proxy) = proxy_for(url) {
                return known(
                    "connected",
                    format!(
                        "connection refused, and {proxy} names a proxy: it or the server does not listen"
                    ),
                    "check that the proxy runs; NO_PROXY names the hosts to reach without it",
                );
            }
            return known(
                "connected",
                "nothing listens at this host and port: connection refused".into(),
                "start the server, then connect again; check host and port",
            );
        }
        cause = inner.source();
    }
    known(
        "connected",
        words,
        "start the server, then connect again; check host and port",
    )
}

/// The variable that names a proxy for this address, where one may be used.
fn proxy_for(url: &str) -> Option<&'static str> {
    let names: &[&str] = match url.starts_with("https:") {
        true => &["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"],
        false => &["http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"],
    };
    if is_this_machine(&Url::parse(url).ok()?) {
        return None;
    }
    let is_set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    names.iter().copied().find(is_set)
}

/// A part of a page of an error, the cause it shows, and what to do.
const PAGES: &[(&str, &str, &str)] = &[
    (
        "HTTP request to an HTTPS",
        "this port wants https",
        "write https:// in the address",
    ),
    (
        "HTTP request was sent to HTTPS",
        "this port wants https",
        "write https:// in the address",
    ),
    (
        "nvalid Host",
        "the server refuses the host name of the address",
        "use the name it expects (`localhost` or 127.0.0.1 where it runs here), or allow this one in its settings",
    ),
    (
        "Access is only allowed at",
        "the server refuses the host name of the address",
        "use the name it expects, which its answer has, or allow this one in its settings",
    ),
    (
        "nvalid Origin",
        "the server refuses the request's origin",
        "allow requests without `Origin` in its settings; Loupe sends none",
    ),
    (
        "ot Acceptable",
        "the server wants other `Accept` types than Loupe sends",
        "tell whoever runs it: a client has to accept application/json and text/event-stream",
    ),
    (
        "session ID",
        "the server wants a session before it has given one",
        "restart the server: it may hold sessions of before; check that nothing in front of it drops `Mcp-Session-Id`",
    ),
    (
        "not initialized",
        "the server wants a session before it has given one",
        "restart the server: it may hold sessions of before; check that nothing in front of it drops `Mcp-Session-Id`",
    ),
];

/// The cause that the page of an error shows.
pub(super) fn page(text: &str) -> Option<Known> {
    let (_, sentence, fix) = PAGES.iter().find(|(part, ..)| text.contains(part))?;
    Some(Known::new("http-status", *sentence, *fix).leading())
}

/// An HTTP status that is no success.
pub(super) fn status(error: &Error, url: &str, status: &str, text: &str) -> Known {
    let code = status.get(..3).unwrap_or_default();
    if let Some(known) = page(text) {
        return known;
    }
    let known = |sentence: &str, fix: &str| Known::new("http-status", sentence, fix);
    match code {
        "404" | "405" if url.trim_end_matches('/').ends_with("/mcp") => known(
            &error.to_string(),
            "check the path, or try the transport of 2024 (`--transport sse`, often at /sse)",
        ),
        "404" | "405" => {
            let known = known(
                &format!("{}: no MCP endpoint at this path", error_head(status)),
                "check the path: the MCP endpoint is often at /mcp",
            );
            match Url::parse(url) {
                Ok(mut other) => {
                    other.set_path("/mcp");
                    known.paste(
                        PastePlace::Terminal,
                        format!("mcp-loupe doctor --url {}", redact_url(other.as_str())),
                    )
                }
                Err(_) => known,
            }
        }
        "407" => known(
            "the proxy wants a login",
            "write its user and password into HTTPS_PROXY (`http://user:password@host:port`)",
        ),
        "415" => known(
            "the server does not take application/json",
            "check that this address is the MCP endpoint",
        ),
        "421" => known(&error.to_string(), "use the host name the server expects"),
        "429" => known(&error.to_string(), "wait, then try again"),
        "502" | "503" | "504" => known(
            &format!(
                "{}: what is in front of the server does not reach it",
                error_head(status)
            ),
            "start the server behind the proxy; look at the proxy's log and the server's log",
        ),
        code if code.starts_with('5') => known(&error.to_string(), "look at the server's log"),
        _ => known(&error.to_string(), "check the address and the headers"),
    }
}

fn error_head(status: &str) -> String {
    format!("HTTP {status}")
}

/// A redirect that is not followed.
pub(super) fn redirect(error: &Error, url: &str, status: &str, location: &str) -> Known {
    let known = |fix: String| Known::new("http-status", error.to_string(), fix);
    if is_circle(url, status, location) {
        return known(
            "it redirects in a loop: check the settings of the server, or of the proxy in front of it"
                .into(),
        );
    }
    if is_downgrade(url, location) {
        return known(downgrade_hint(url, location));
    }
    let shown = redact_url(location);
    known(format!(
        "if you trust it, connect to {shown}; headers are not sent on by themselves"
    ))
    .paste(
        PastePlace::Terminal,
        format!("mcp-loupe doctor --url {shown}"),
    )
}

/// A web page in the place of a message.
pub(super) fn page_for_people(error: &Error) -> Option<Known> {
    let text = error.to_string().to_lowercase();
    let is_page = ["<!doctype html", "<html"]
        .iter()
        .any(|head| text.contains(head));
    is_page.then(|| {
        Known::new(
            "content",
            "a web page came where an MCP message belongs",
            "check the path: the MCP endpoint is often at /mcp; behind a login page, log in (`--login`)",
        )
        .leading()
    })
}

/// Whether following a redirect leads nowhere: it names the address that was asked, or is one of those that are followed
/// a few times.
fn is_circle(url: &str, status: &str, location: &str) -> bool {
    let (Ok(from), Ok(to)) = (Url::parse(url), Url::parse(location)) else {
        return false;
    };
    from == to
        || (from.origin() == to.origin()
            && ["307", "308"].iter().any(|code| status.starts_with(code)))
}

/// Whether following a redirect would give up encryption.
pub(crate) fn is_downgrade(url: &str, location: &str) -> bool {
    url.starts_with("https:") && !location.starts_with("https:")
}

/// What to do about such a redirect: the same place by https, never in clear.
fn downgrade_hint(url: &str, location: &str) -> String {
    const CAUSE: &str = "a proxy in front of the server likely ends TLS and does not tell it (`X-Forwarded-Proto: https`)";
    let (Ok(mut from), Ok(to)) = (Url::parse(url), Url::parse(location)) else {
        return CAUSE.into();
    };
    if to.scheme() != "http" || from.host() != to.host() || from.path() == to.path() {
        return format!(
            "{CAUSE}: tell whoever runs it; in clear everybody on the way could read the credentials"
        );
    }
    from.set_path(to.path());
    format!("connect to {from}; {CAUSE}")
}
