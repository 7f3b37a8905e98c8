//! What asks for a secret, and how a secret is taken out of what is kept. By words, since nothing else tells: a field that
//! is taken for one wrongly costs a warning, one that is missed costs a password.

use bytes::Bytes;

use crate::json::{Doc, Kind};

/// What replaces a secret.
pub const MASK: &str = "•••";

/// Words of a name or a title that mean a secret.
const NAMES: &[&str] = &[
    "password",
    "passwd",
    "pwd",
    "pass",
    "passphrase",
    "passcode",
    "secret",
    "token",
    "key",
    "apikey",
    "credential",
    "credentials",
    "pin",
    "otp",
    "cvv",
    "cvc",
    "ssn",
    "bearer",
    "auth",
    "authorization",
];
/// Ends of a word that do, where words are run together: `authtoken`, `DBPassword`.
const ENDS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "secret",
    "token",
    "apikey",
    "secretkey",
    "accesskey",
    "privatekey",
];
/// Words of a description that do.
const SAYINGS: &[&str] = &[
    "password",
    "passphrase",
    "passcode",
    "secret",
    "token",
    "api key",
    "apikey",
    "access key",
    "private key",
    "credential",
    "credentials",
    "one time code",
    "security code",
];

/// The words of a text in lower case: `apiKey`, `API_KEY` and `api-key` are two each.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut is_open = false;
    let mut before_was_lower = false;
    for char in text.chars() {
        if !char.is_alphanumeric() {
            (is_open, before_was_lower) = (false, false);
            continue;
        }
        if !is_open || (before_was_lower && char.is_uppercase()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(char.to_lowercase());
        }
        (is_open, before_was_lower) = (true, char.is_lowercase() || char.is_numeric());
    }
    words
}

/// Whether a field asks for a secret.
pub fn is_asked(
    name: &str,
    title: Option<&str>,
    description: Option<&str>,
    format: Option<&str>,
) -> bool {
    let is_secret =
        |word: &str| NAMES.contains(&word) || ENDS.iter().any(|end| word.ends_with(end));
    let named = |text: &str| {
        words(text)
            .iter()
            .any(|word| is_secret(word.trim_end_matches(char::is_numeric)))
    };
    let mentions_one = |text: &str| {
        let line = format!(" {} ", words(text).join(" "));
        SAYINGS.iter().any(|saying| {
            line.contains(&format!(" {saying} ")) || line.contains(&format!(" {saying}s "))
        })
    };
    format == Some("password")
        || named(name)
        || title.is_some_and(named)
        || description.is_some_and(mentions_one)
}

/// The members of these names in an object's text, with their values: of a text what it says, of anything else its JSON.
pub fn values(object: &str, names: &[&str]) -> Vec<(String, String)> {
    let doc = Doc::parse(Bytes::copy_from_slice(object.as_bytes()));
    let members = doc.root().into_iter().flat_map(|root| root.children());
    let secret = members.filter_map(|member| {
        let name = member
            .key()
            .filter(|key| names.contains(&&**key))?
            .into_owned();
        let value = member
            .as_str()
            .map_or_else(|| member.raw_text().into_owned(), |text| text.into_owned());
        Some((name, value))
    });
    secret.collect()
}

/// An object's text with the members of these names masked; `None` where there is nothing to mask.
pub fn mask(object: &str, names: &[&str]) -> Option<String> {
    let doc = Doc::parse(Bytes::copy_from_slice(object.as_bytes()));
    let root = doc.root().filter(|root| root.kind() == Kind::Object)?;
    let mut out = String::with_capacity(object.len());
    let mut from = 0;
    for member in root.children() {
        let is_secret = member.key().is_some_and(|key| names.contains(&&*key));
        if is_secret && !member.is_null() {
            let range = member.range();
            out.push_str(object.get(from..range.start)?);
            out.push_str(&format!("\"{MASK}\""));
            from = range.end;
        }
    }
    if from == 0 {
        return None;
    }
    out.push_str(object.get(from..)?);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_tell_what_is_secret() {
        for name in [
            "password",
            "userPassword",
            "API_KEY",
            "api-key",
            "token2",
            "pin",
            "PIN",
            "clientSecret",
        ] {
            assert!(is_asked(name, None, None, None), "{name}");
        }
        for name in [
            "authtoken",
            "accesstoken",
            "mypassword",
            "mypassword2",
            "DBPassword",
            "SMTPPassword",
            "awssecretkey",
        ] {
            assert!(is_asked(name, None, None, None), "{name}");
        }
        for name in [
            "keyboard",
            "passenger",
            "tokens_used_by",
            "opinion",
            "name",
            "shopping",
            "monkey",
            "secretary",
            "tokenizer",
        ] {
            assert!(!is_asked(name, None, None, None), "{name}");
        }
        assert!(is_asked("p", Some("App password"), None, None));
        assert!(is_asked("p", None, Some("Paste your API key here"), None));
        assert!(is_asked("p", None, Some("One of your tokens"), None));
        assert!(!is_asked(
            "p",
            None,
            Some("The key point of the text"),
            None
        ));
        assert!(is_asked("p", None, None, Some("password")));
    }

    #[test]
    fn masking_changes_nothing_else() {
        assert_eq!(
            mask(r#"{ "a" :1.0, "b":"x" , "b":2}"#, &["b"]).as_deref(),
            Some(r#"{ "a" :1.0, "b":"•••" , "b":"•••"}"#)
        );
        assert_eq!(mask(r#"{"a":1}"#, &["b"]), None);
        assert_eq!(mask("[]", &["b"]), None);
        let given = values(r#"{"a":"x","b":"p\u0041\"","c":4815}"#, &["b", "c"]);
        assert_eq!(
            given,
            [
                ("b".to_owned(), "pA\"".to_owned()),
                ("c".to_owned(), "4815".to_owned())
            ]
        );
    }
}
