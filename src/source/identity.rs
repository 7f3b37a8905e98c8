//! How a client names itself to a server.

/// How a client names itself to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The program whose identity it is, for people.
    pub host: String,
    pub name: String,
    pub version: String,
    /// The `capabilities` object, as JSON.
    pub capabilities: String,
}

impl Identity {
    /// How Loupe names itself, with these capabilities.
    pub fn own(capabilities: String) -> Self {
        Self { host: "Loupe".into(), name: "loupe".into(), version: env!("CARGO_PKG_VERSION").into(), capabilities }
    }

    /// What is said to a server: `client loupe 0.1.0, capabilities {}`.
    pub fn says(&self) -> String {
        format!("client {} {}, capabilities {}", self.name, self.version, self.capabilities)
    }

    /// What a capture says of it.
    pub fn note(&self) -> String {
        format!("called as {}: {}", self.host, self.says())
    }
}
