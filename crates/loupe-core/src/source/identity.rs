//! How a client names itself to a server.

/// How a client names itself to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The program whose identity it is, for people.
    pub host: String,
    pub name: String,
    pub version: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub website_url: Option<String>,
    /// The `capabilities` object, as JSON.
    pub capabilities: String,
    /// How it finds out what a server speaks; `None` is as Loupe does.
    pub greeting: Option<Greeting>,
}

/// How a client begins with a server where no person chose a revision of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Greeting {
    /// The revision that it proposes in a handshake.
    pub proposes: &'static str,
    /// Whether it asks `server/discover` first.
    pub discovers: bool,
}

impl Identity {
    /// How Loupe names itself, with these capabilities.
    pub fn own(capabilities: String) -> Self {
        Self {
            host: "Loupe".into(),
            name: "loupe".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            title: None,
            description: None,
            website_url: None,
            capabilities,
            greeting: None,
        }
    }

    /// What is said to a server: `client loupe 0.1.0, capabilities {}`, and the revision that a host proposes.
    pub fn says(&self) -> String {
        let proposed = self
            .greeting
            .map(|greeting| format!(", protocol {}", greeting.proposes))
            .unwrap_or_default();
        format!(
            "client {} {}, capabilities {}{proposed}",
            self.name, self.version, self.capabilities
        )
    }

    /// The `clientInfo` object, as JSON.
    pub fn info(&self) -> String {
        let members = [
            ("name", Some(&self.name)),
            ("title", self.title.as_ref()),
            ("version", Some(&self.version)),
            ("description", self.description.as_ref()),
            ("websiteUrl", self.website_url.as_ref()),
        ];
        let sent =
            |(name, value): (&str, Option<&String>)| Some((name.to_owned(), value?.clone().into()));
        serde_json::Value::Object(members.into_iter().filter_map(sent).collect()).to_string()
    }

    /// What a capture says of it.
    pub fn note(&self) -> String {
        let found_out = if self.greeting.is_none() {
            "; what the server speaks was found out as Loupe does"
        } else {
            ""
        };
        format!("called as {}: {}{found_out}", self.host, self.says())
    }
}
