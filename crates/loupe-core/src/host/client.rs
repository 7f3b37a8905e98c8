//! How a host names itself to a server: `[host.client]` of a hosts file.

use serde::Deserialize;

use crate::source::{Greeting, Identity, Protocol};

/// How a host names itself to a server.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientRules {
    pub name: String,
    pub version: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub website_url: Option<String>,
    /// The `capabilities` object of `initialize`.
    pub capabilities: JsonObject,
    /// What it proposes in `initialize`.
    pub protocol: Option<Handshake>,
    /// Whether it asks `server/discover` first.
    #[serde(default)]
    pub discover: bool,
    /// Where that was seen.
    pub source: String,
}

/// A revision of the protocol that has a handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handshake(pub &'static str);

// Written out, since the derived one would borrow the text for ever.
impl<'de> Deserialize<'de> for Handshake {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let shaking = || {
            Protocol::VERSIONS
                .iter()
                .copied()
                .filter(|version| !Protocol::is_stateless(version))
        };
        shaking()
            .find(|version| *version == text)
            .map(Self)
            .ok_or_else(|| {
                let known = shaking().collect::<Vec<_>>().join(", ");
                serde::de::Error::custom(format!(
                    "`{text}` is not a revision of the protocol with a handshake: {known}"
                ))
            })
    }
}

/// A JSON object, checked when it is read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct JsonObject(pub String);

impl TryFrom<String> for JsonObject {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&text) {
            // On one line, as messages are.
            Ok(object) => Ok(Self(serde_json::Value::Object(object).to_string())),
            Err(error) => Err(format!("not a JSON object: {error}")),
        }
    }
}

impl ClientRules {
    /// The same as what is said to a server; `host` is its name for people.
    pub fn identity(&self, host: &str) -> Identity {
        Identity {
            host: host.to_owned(),
            name: self.name.clone(),
            version: self.version.clone(),
            title: self.title.clone(),
            description: self.description.clone(),
            website_url: self.website_url.clone(),
            capabilities: self.capabilities.0.clone(),
            greeting: self.protocol.map(|Handshake(proposes)| Greeting {
                proposes,
                discovers: self.discover,
            }),
        }
    }
}
