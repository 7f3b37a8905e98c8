//! An exact count for Claude, made by its provider: the request as it leaves, and what an answer to it says.
//!
//! Nothing is sent here. What the user is shown before they agree is the very text that is sent after.

use std::fmt;

use serde_json::Value;

use crate::problem::{Problem, ProblemKind};

/// Where Anthropic counts. The form of request and answer:
/// <https://platform.claude.com/docs/en/api/messages-count-tokens>.
pub const ADDRESS: &str = "https://api.anthropic.com/v1/messages/count_tokens";
/// The version of that interface.
const VERSION: &str = "2023-06-01";
/// The header of the key.
pub const KEY_HEADER: &str = "x-api-key";
/// What is shown in the place of the key.
const HIDDEN: &str = "your key, not shown";
/// Characters of the body in one shown line.
const SHOWN_LINE: usize = 96;
/// Characters of the provider's own words that are repeated.
const SAID: usize = 300;

/// The user's key. It has no text of its own in logs or on the screen.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    pub fn new(text: &str) -> Self {
        Self(text.trim().to_owned())
    }

    /// The key itself: for the header and the keychain alone.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_empty() { "Key()" } else { "Key(…)" })
    }
}

/// One count, as it is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub address: String,
    /// The id of the model in the provider's interface, such as `claude-haiku-4-5`.
    pub model: String,
    /// The member `messages` with what closes the body: one user message that holds the text.
    messages: String,
}

impl Request {
    pub fn new(address: &str, model: &str, text: &str) -> Self {
        // As few escapes as JSON allows, so that the body is read easily.
        let messages = format!(
            r#""messages":[{{"role":"user","content":{}}}]}}"#,
            Value::from(text)
        );
        Self {
            address: address.to_owned(),
            model: model.to_owned(),
            messages,
        }
    }

    fn opening(&self) -> String {
        format!(r#"{{"model":{},"#, Value::from(self.model.as_str()))
    }

    /// The body, byte for byte.
    pub fn body(&self) -> String {
        format!("{}{}", self.opening(), self.messages)
    }

    /// Every header but that of the key, those of the connection itself (`host`, `content-length`) left out.
    pub fn headers(&self) -> [(&'static str, &'static str); 4] {
        [
            ("anthropic-version", VERSION),
            ("content-type", "application/json"),
            ("accept", "*/*"),
            ("user-agent", concat!("loupe/", env!("CARGO_PKG_VERSION"))),
        ]
    }

    /// The request in lines, as it is shown: what is before the body with an empty line after it, then the body, which is one
    /// line on the way and is broken here to be read.
    pub fn shown(&self) -> (Vec<String>, Vec<String>) {
        let mut head = vec![
            format!("POST {}", self.address),
            format!("{KEY_HEADER}: {HIDDEN}"),
        ];
        head.extend(
            self.headers()
                .map(|(name, value)| format!("{name}: {value}")),
        );
        let mut body = vec![self.opening(), String::new()];
        let mut length = 0;
        for char in self.messages.chars() {
            if length == SHOWN_LINE {
                body.push(String::new());
                length = 0;
            }
            if let Some(line) = body.last_mut() {
                line.push(char);
            }
            length += 1;
        }
        (head, body)
    }

    /// The first line of [`Request::shown`]'s body, which alone depends on the model.
    pub fn shown_opening(model: &str) -> String {
        format!(r#"{{"model":{},"#, Value::from(model))
    }
}

/// The tokens that an answer states.
///
/// # Errors
/// What the provider refused and why, with what to do about it.
pub fn read(
    status: u16,
    retry_after: Option<&str>,
    body: &str,
    model: &str,
) -> Result<u64, Problem> {
    let answer: Value = serde_json::from_str(body).unwrap_or_default();
    if status == 200 {
        return answer["input_tokens"].as_u64().ok_or_else(|| {
            Problem::new(
                ProblemKind::Malformed,
                "the answer states no `input_tokens`",
            )
            .hint("count again; the estimate stays")
        });
    }
    let message: String = answer["error"]["message"]
        .as_str()
        .unwrap_or_default()
        .chars()
        .take(SAID)
        .collect();
    let message = if message.is_empty() {
        format!("HTTP {status}")
    } else {
        format!("HTTP {status}: {message}")
    };
    let problem = |kind, what: &str| Problem::new(kind, format!("{what} ({message})"));
    Err(match status {
        401 => problem(ProblemKind::Auth, "Anthropic does not take this key")
            .hint("type a key of yours that is valid for its API"),
        403 => problem(ProblemKind::HttpStatus, "this key may not count")
            .hint("use a key of a workspace that may use this model"),
        404 => problem(
            ProblemKind::NotFound,
            &format!("Anthropic knows no model `{model}`"),
        )
        .hint("type the model's id in its API, such as claude-haiku-4-5"),
        413 => problem(
            ProblemKind::HttpStatus,
            "the text is too long for Anthropic to count",
        )
        .hint("count a shorter answer"),
        429 => problem(
            ProblemKind::HttpStatus,
            "too many counts with this key for now",
        )
        .hint(match retry_after {
            Some(seconds) if seconds.parse::<u64>().is_ok() => {
                format!("count again in {seconds} s")
            }
            _ => "count again in a minute".to_owned(),
        }),
        500.. => problem(ProblemKind::HttpStatus, "Anthropic cannot count just now")
            .hint("count again later"),
        _ => problem(ProblemKind::HttpStatus, "Anthropic refused to count this")
            .hint("look at the model and the text"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_what_is_sent() {
        let text = "a \"quoted\" line\n\u{1f600} ".repeat(40);
        let request = Request::new(ADDRESS, "claude-haiku-4-5", &text);
        let (head, lines) = request.shown();
        assert_eq!(lines.concat(), request.body());
        assert_eq!(lines[0], Request::shown_opening("claude-haiku-4-5"));
        assert!(lines.iter().all(|line| line.chars().count() <= SHOWN_LINE));
        let body: Value = serde_json::from_str(&request.body()).unwrap();
        assert_eq!(
            body,
            serde_json::json!({"model": "claude-haiku-4-5", "messages": [{"role": "user", "content": text}]})
        );
        assert_eq!(
            head[..3],
            [
                "POST https://api.anthropic.com/v1/messages/count_tokens",
                "x-api-key: your key, not shown",
                "anthropic-version: 2023-06-01"
            ]
        );
    }

    #[test]
    fn a_key_is_in_no_debug_text() {
        assert_eq!(
            format!("{:?} {:?}", Key::new(" sk-ant-1 "), Key::default()),
            "Key(…) Key()"
        );
        assert_eq!(Key::new(" sk-ant-1\n").reveal(), "sk-ant-1");
    }

    #[test]
    fn answers_are_read_and_refusals_say_what_to_do() {
        let of = |status, retry, body: &str| {
            read(status, retry, body, "claude-x").map_err(|problem| {
                format!("{} | {}", problem.what, problem.hint.unwrap_or_default())
            })
        };
        assert_eq!(of(200, None, r#"{"input_tokens":2095}"#), Ok(2_095));
        let refused = |kind: &str, message: &str| {
            format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"{message}"}}}}"#)
        };
        for (status, retry, body, wanted) in [
            (
                200,
                None,
                "<html>".to_owned(),
                "the answer states no `input_tokens` | count again; the estimate stays",
            ),
            (
                401,
                None,
                refused("authentication_error", "invalid x-api-key"),
                "Anthropic does not take this key (HTTP 401: invalid x-api-key) | type a key of yours that is valid for its API",
            ),
            (
                404,
                None,
                refused("not_found_error", "model: claude-x"),
                "Anthropic knows no model `claude-x` (HTTP 404: model: claude-x) | type the model's id in its API, such as claude-haiku-4-5",
            ),
            (
                429,
                Some("17"),
                refused("rate_limit_error", "slow down"),
                "too many counts with this key for now (HTTP 429: slow down) | count again in 17 s",
            ),
            (
                429,
                Some("soon"),
                String::new(),
                "too many counts with this key for now (HTTP 429) | count again in a minute",
            ),
            (
                529,
                None,
                refused("overloaded_error", "Overloaded"),
                "Anthropic cannot count just now (HTTP 529: Overloaded) | count again later",
            ),
            (
                400,
                None,
                refused(
                    "invalid_request_error",
                    "messages: text content blocks must be non-empty",
                ),
                "Anthropic refused to count this (HTTP 400: messages: text content blocks must be non-empty) | look at the model and the text",
            ),
        ] {
            assert_eq!(of(status, retry, &body), Err(wanted.to_owned()));
        }
        let long = refused("x", &"y".repeat(5_000));
        assert!(read(400, None, &long, "m").unwrap_err().what.len() < 400);
    }
}
