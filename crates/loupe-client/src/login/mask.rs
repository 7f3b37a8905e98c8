//! What of a login may be shown: names stay, values of secrets become `…`, and every secret that passed is known from then
//! on, so that no other text repeats it, here or wherever the session writes.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use url::Url;

use loupe_core::number::number_of;
use loupe_core::redact::SecretList;

/// What stands for a secret.
const MASK: &str = "…";
/// The most of one document that is shown.
const SHOWN_CHARS: usize = 600;
/// Shorter ones would mask words that are no secrets.
const SECRET_CHARS: usize = 6;

/// Whether a parameter or member of this name holds a secret.
pub(super) fn is_secret(name: &str) -> bool {
    matches!(
        name,
        "code"
            | "code_verifier"
            | "state"
            | "assertion"
            | "client_assertion"
            | "subject_token"
            | "password"
            | "access_token"
            | "refresh_token"
            | "id_token"
    ) || name.ends_with("_secret")
        || name.ends_with("access_token")
}

/// The secrets of one login, on the session's list.
#[derive(Default)]
pub(super) struct Secrets(SecretList);

impl Secrets {
    pub(super) fn of(known: SecretList) -> Self {
        Self(known)
    }

    pub(super) fn remember(&self, value: &str) {
        if value.chars().count() >= SECRET_CHARS {
            self.0.add("login", "secret", value);
        }
    }

    /// A header of credentials: all of it, what follows the scheme (`Basic`, `Bearer`), and the parts that Basic is made of.
    pub(super) fn remember_header(&self, value: &str) {
        self.remember(value);
        let Some((scheme, credentials)) = value.split_once(' ') else {
            return;
        };
        if scheme.eq_ignore_ascii_case("basic")
            && let Ok(pair) = STANDARD.decode(credentials.trim())
            && let Some((_, secret)) = String::from_utf8_lossy(&pair).split_once(':')
        {
            // There it stands as in a form.
            for (text, _) in url::form_urlencoded::parse(secret.as_bytes()) {
                self.remember(&text);
            }
        }
    }

    /// The text without any secret that passed.
    pub(super) fn scrub(&self, text: &str) -> String {
        self.0.scrub(text, MASK)
    }

    /// A form, `name=value` with blanks between; remembers its secrets.
    pub(super) fn form(&self, body: &[u8]) -> String {
        let shown = url::form_urlencoded::parse(body).map(|(name, value)| {
            if is_secret(&name) {
                self.remember(&value);
                format!("{name}={MASK}")
            } else {
                format!("{name}={value}")
            }
        });
        let shown = shown.collect::<Vec<_>>().join(" ");
        // First, since half a secret is not known for one.
        shorten(&self.scrub(&shown))
    }

    /// A JSON document on one line; anything else by its size. Remembers its secrets.
    pub(super) fn document(&self, body: &[u8]) -> String {
        let Ok(mut value) = serde_json::from_slice::<Value>(body) else {
            return if body.is_empty() {
                "empty".into()
            } else {
                format!("not JSON, {}", number_of(body.len() as u64, "bytes"))
            };
        };
        let mut open = vec![&mut value];
        while let Some(value) = open.pop() {
            match value {
                Value::Object(members) => {
                    for (name, value) in members {
                        if !is_secret(name) {
                            open.push(value);
                        } else if !value.is_null() {
                            if let Some(text) = value.as_str() {
                                self.remember(text);
                            }
                            *value = MASK.into();
                        }
                    }
                }
                Value::Array(elements) => open.extend(elements),
                _ => {}
            }
        }
        shorten(&self.scrub(&value.to_string()))
    }

    /// An address, the values of secret parameters masked.
    pub(super) fn address(&self, url: &str) -> String {
        let Ok(mut parsed) = Url::parse(url) else {
            return self.scrub(url);
        };
        if parsed.query().is_some() {
            let pairs: Vec<_> = parsed
                .query_pairs()
                .map(|(name, value)| {
                    if is_secret(&name) {
                        format!("{name}={MASK}")
                    } else {
                        format!("{name}={value}")
                    }
                })
                .collect();
            parsed.set_query(None);
            return self.scrub(&format!("{parsed}?{}", pairs.join("&")));
        }
        self.scrub(parsed.as_str())
    }
}

fn shorten(text: &str) -> String {
    let clean: String = text
        .chars()
        .map(|char| if char.is_control() { ' ' } else { char })
        .collect();
    match clean.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &clean[..end]),
        None => clean,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_at_any_depth_and_before_anything_is_cut() {
        let secrets = Secrets::default();
        assert_eq!(
            secrets
                .document(br#"{"data":[{"access_token":"canary-1","scope":"a"}],"code":{"x":1}}"#),
            r#"{"data":[{"access_token":"…","scope":"a"}],"code":"…"}"#
        );
        assert_eq!(secrets.scrub("canary-1"), MASK);
        // The secret stands across the place where the text is cut.
        secrets.remember("canary-long-secret");
        let note = format!(
            "{{\"note\":\"{}canary-long-secret\"}}",
            "x".repeat(SHOWN_CHARS - 15)
        );
        assert!(!secrets.document(note.as_bytes()).contains("canary"));
        assert!(
            !secrets
                .form(format!("note={}canary-long-secret", "x".repeat(SHOWN_CHARS - 11)).as_bytes())
                .contains("canary")
        );
    }

    #[test]
    fn the_parts_of_a_header_are_secret_too() {
        let secrets = Secrets::default();
        secrets.remember_header("Bearer canary-token");
        secrets.remember_header(&format!("Basic {}", STANDARD.encode("me:canary%2Dsecret")));
        for text in [
            "canary-token",
            &STANDARD.encode("me:canary%2Dsecret"),
            "canary%2Dsecret",
            "canary-secret",
        ] {
            assert_eq!(secrets.scrub(text), MASK, "{text}");
        }
        assert_eq!(secrets.scrub("Bearer me"), "Bearer me");
    }

    #[test]
    fn secrets_are_masked_wherever_they_come_back() {
        let secrets = Secrets::default();
        assert_eq!(
            secrets.form(b"grant_type=authorization_code&code=abc-123-xyz&client_id=me&code_verifier=vvvvvvvv"),
            "grant_type=authorization_code code=… client_id=me code_verifier=…"
        );
        assert_eq!(
            secrets.document(br#"{"access_token":"canary-1","token_type":"Bearer","refresh_token":"canary-2","scope":"a b"}"#),
            r#"{"access_token":"…","token_type":"Bearer","refresh_token":"…","scope":"a b"}"#
        );
        assert_eq!(
            secrets.scrub("invalid_grant: abc-123-xyz, canary-2"),
            "invalid_grant: …, …"
        );
        assert_eq!(
            secrets.document(br#"{"token_endpoint":"https://a/token"}"#),
            r#"{"token_endpoint":"https://a/token"}"#
        );
        assert_eq!(secrets.document(b"<html>"), "not JSON, 6 bytes");
        assert_eq!(
            secrets.address("http://h/cb?code=q&state=r&iss=https%3A%2F%2Fa"),
            "http://h/cb?code=…&state=…&iss=https://a"
        );
    }
}
