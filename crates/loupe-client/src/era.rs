//! How requests are written in the era that was negotiated: up to 2025-11-25 the handshake said who asks, since
//! 2026-07-28 each request says it itself, in `params._meta`. What the user typed stays as it is in either.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use loupe_core::json::{Doc, write};
use loupe_core::source::Identity;

const PREFIX: &str = "io.modelcontextprotocol/";

/// The era of a session.
#[derive(Clone, Debug, Default)]
pub(super) struct Era {
    /// What each request says of itself: members of a JSON object. `None` where a handshake was made.
    members: Option<String>,
    /// From which level on the server shall log; what each request says of it.
    log_level: Arc<Mutex<Option<String>>>,
}

impl Era {
    /// The era without a handshake.
    pub(super) fn stateless(version: &str, who: &Identity) -> Self {
        let (version, info, capabilities) = (write::string(version), who.info(), &who.capabilities);
        Self {
            members: Some(format!(
                r#""{PREFIX}protocolVersion":{version},"{PREFIX}clientInfo":{info},"{PREFIX}clientCapabilities":{capabilities}"#
            )),
            log_level: Arc::default(),
        }
    }

    pub(super) fn is_stateless(&self) -> bool {
        self.members.is_some()
    }

    /// From here on each request asks for log messages of this level and above.
    pub(super) fn set_log_level(&self, level: &str) {
        *self
            .log_level
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(level.to_owned());
    }

    /// The `_meta` of a request; `None` where there is nothing to say.
    pub(super) fn meta(&self, progress: Option<i64>) -> Option<String> {
        let token = progress.map(|token| format!(r#""progressToken":{token}"#));
        let level = self
            .log_level
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let level = level.as_ref().filter(|_| self.is_stateless());
        let level = level.map(|level| format!(r#""{PREFIX}logLevel":{}"#, write::string(level)));
        let members: Vec<&str> = token
            .iter()
            .chain(&self.members)
            .chain(&level)
            .map(String::as_str)
            .collect();
        (!members.is_empty()).then(|| format!("{{{}}}", members.join(",")))
    }

    /// A whole request. `params` is a JSON object, of which every byte is kept; `extra` are members to add, with a comma
    /// before each.
    pub(super) fn request(
        &self,
        id: &str,
        method: &str,
        params: &[u8],
        extra: &str,
        progress: Option<i64>,
    ) -> Bytes {
        let mut message = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":{},"params":"#,
            write::string(method)
        )
        .into_bytes();
        let end = params.trim_ascii_end();
        // Whoever wrote a `_meta` meant it: two of them would be neither's.
        let has_one = || {
            Doc::parse(Bytes::copy_from_slice(params))
                .root()
                .is_some_and(|root| root.get("_meta").is_some())
        };
        let meta = self
            .meta(progress)
            .filter(|_| !has_one())
            .map(|meta| format!(r#","_meta":{meta}"#))
            .unwrap_or_default();
        let added = format!("{extra}{meta}");
        match end.strip_suffix(b"}") {
            Some(open) if !added.is_empty() => {
                message.extend_from_slice(open);
                // A comma only where something stands before it.
                let is_first = open.trim_ascii() == b"{";
                message.extend_from_slice(
                    added
                        .strip_prefix(',')
                        .filter(|_| is_first)
                        .unwrap_or(&added)
                        .as_bytes(),
                );
                message.push(b'}');
            }
            _ => message.extend_from_slice(params),
        }
        message.push(b'}');
        message.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_is_kept_in_either_era() {
        let loupe = Identity {
            version: "1".into(),
            ..Identity::own("{}".into())
        };
        let era = Era::stateless("2026-07-28", &loupe);
        let text = |era: &Era, params: &str, progress| {
            String::from_utf8(
                era.request("7", "tools/call", params.as_bytes(), "", progress)
                    .to_vec(),
            )
            .unwrap()
        };
        let head = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":"#;
        assert_eq!(
            text(&Era::default(), r#"{ "n": 1e3}"#, None),
            format!(r#"{head}{{ "n": 1e3}}}}"#)
        );
        assert_eq!(
            text(&Era::default(), r#"{"n":1e3}"#, Some(7)),
            format!(r#"{head}{{"n":1e3,"_meta":{{"progressToken":7}}}}}}"#)
        );
        let modern = text(&era, "{ }", Some(7));
        assert!(modern.starts_with(&format!(
            r#"{head}{{ "_meta":{{"progressToken":7,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{{"name":"loupe","version":"1"}},"#
        )));
        assert!(
            serde_json::from_str::<serde_json::Value>(&modern).is_ok(),
            "{modern}"
        );
        assert!(!text(&era, r#"{"_meta":{}}"#, None).contains("protocolVersion"));
    }
}
