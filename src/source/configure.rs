//! A source as an entry in a client's configuration, in the shapes that [`super::import`] reads.

use serde_json::{Map, Value, json};

use super::recent::map_named;
use super::{Source, Transport};

/// A client whose configuration can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfiguredClient {
    pub name: &'static str,
    /// Where its file is, for people, by which it is known when it is read.
    pub file: &'static str,
    /// The member that holds the servers.
    list: &'static str,
    /// What the address of a server is called; `None` where the file takes commands alone.
    url: Option<&'static str>,
    /// The `type` of a command, of Streamable HTTP and of HTTP+SSE; empty says none.
    types: [&'static str; 3],
    takes_folder: bool,
}

const fn client(name: &'static str, file: &'static str, url: Option<&'static str>, types: [&'static str; 3]) -> ConfiguredClient {
    ConfiguredClient { name, file, list: "mcpServers", url, types, takes_folder: false }
}

/// Every client whose configuration is written, by name.
pub static CONFIGURED_CLIENTS: &[ConfiguredClient] = &[
    client("Claude Code", ".mcp.json", Some("url"), ["stdio", "http", "sse"]),
    client("Claude Desktop", "claude_desktop_config.json", None, [""; 3]),
    client("Cline", "cline_mcp_settings.json", Some("url"), ["stdio", "streamableHttp", "sse"]),
    ConfiguredClient { list: "mcp_servers", takes_folder: true, ..client("Codex", ".codex/config.toml", Some("url"), [""; 3]) },
    client("Copilot CLI", ".copilot/mcp-config.json", Some("url"), ["local", "http", "sse"]),
    client("Cursor", ".cursor/mcp.json", Some("url"), [""; 3]),
    ConfiguredClient { takes_folder: true, ..client("Gemini CLI", ".gemini/settings.json", Some("httpUrl"), [""; 3]) },
    client("LM Studio", ".lmstudio/mcp.json", Some("url"), [""; 3]),
    ConfiguredClient {
        list: "servers",
        takes_folder: true,
        ..client("VS Code", ".vscode/mcp.json", Some("url"), ["stdio", "http", "sse"])
    },
    client("Windsurf", ".codeium/windsurf/mcp_config.json", Some("serverUrl"), [""; 3]),
    ConfiguredClient { list: "context_servers", ..client("Zed", ".config/zed/settings.json", Some("url"), [""; 3]) },
];

impl ConfiguredClient {
    /// A file with this one server, with `${NAME}` in place of each secret. `None` where the client cannot reach the server so: the
    /// sample, captures, and addresses where its file takes commands alone.
    pub fn write(&self, name: &str, source: &Source) -> Option<String> {
        let hidden = map_named(source, &mut |name, _| Some(format!("${{{}}}", variable(name))));
        let mut entry = Map::new();
        let is_toml = self.file.ends_with(".toml");
        let mut put = |key: &str, value: Value| drop(entry.insert(key.to_owned(), value));
        let pairs = |pairs: &[(String, String)]| -> Value {
            pairs.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect::<Map<_, _>>().into()
        };
        let [command, http, sse] = self.types;
        match &hidden {
            Source::Command(reach) => {
                if !command.is_empty() {
                    put("type", command.into());
                }
                put("command", reach.program.as_str().into());
                put("args", reach.args.clone().into());
                if let Some(folder) = reach.cwd.as_ref().filter(|_| self.takes_folder) {
                    put("cwd", folder.to_string_lossy().into());
                }
                if !reach.env.is_empty() {
                    put("env", pairs(&reach.env));
                }
            }
            Source::Http(reach) => {
                let is_sse = reach.transport == Transport::Sse;
                let kind = if is_sse { sse } else { http };
                if !kind.is_empty() {
                    put("type", kind.into());
                }
                // Gemini tells the two apart by the name of the address.
                let key = self.url.map(|key| if is_sse && key == "httpUrl" { "url" } else { key })?;
                put(key, reach.url.as_str().into());
                if !reach.headers.is_empty() {
                    put(if is_toml { "http_headers" } else { "headers" }, pairs(&reach.headers));
                }
            }
            Source::Sample(_) | Source::Fixture(_) => return None,
        }
        if self.name == "Copilot CLI" {
            put("tools", json!(["*"]));
        }
        let file = json!({ self.list: { name: entry } });
        if is_toml { toml::to_string(&file).ok() } else { serde_json::to_string_pretty(&file).ok() }
    }
}

/// A secret's name as that of a variable: `--api-key (2)` is `API_KEY_2`.
fn variable(name: &str) -> String {
    let parts = name.split(|char: char| !char.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    parts.map(str::to_ascii_uppercase).collect::<Vec<_>>().join("_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::import::{self, Placeholder};
    use crate::source::{Command, Http};

    /// What a client's file is read as, with each variable's value for it.
    fn read(client: &ConfiguredClient, source: &Source) -> Option<Source> {
        let text = client.write("mine", source)?;
        assert!(!text.contains("canary"), "{text}");
        let import = import::read(client.file, &text).unwrap();
        assert!(import.notes.is_empty() && import.servers[0].notes.is_empty(), "{}: {text}", client.name);
        let value = |hole: &Placeholder| match hole {
            Placeholder::Variable { name, .. } => Some(format!("canary {name}")),
            _ => None,
        };
        Some(import.server(Some("mine")).unwrap().resolve(value).unwrap())
    }

    #[test]
    fn what_is_written_for_a_client_is_read_as_the_same_server() {
        let pairs =
            |pairs: &[(&str, &str)]| pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        for client in CONFIGURED_CLIENTS {
            let args = ["-y", "my \"server\"", "--api-key", "canary API_KEY"].map(str::to_owned).to_vec();
            let command = Command {
                program: "npx".into(),
                args,
                env: pairs(&[("DB_PASSWORD", "canary DB_PASSWORD"), ("MODE", "dev")]),
                cwd: client.takes_folder.then(|| "/srv".into()),
                ..Command::default()
            };
            let command = Source::Command(command);
            assert_eq!(read(client, &command).as_ref(), Some(&command), "{}", client.name);
            for transport in [Transport::Auto, Transport::Sse] {
                let headers = pairs(&[("Authorization", "canary AUTHORIZATION"), ("X-Tenant", "acme")]);
                let http = Source::Http(Http { url: "https://h/mcp".into(), headers, transport, ..Http::default() });
                let read = read(client, &http);
                assert_eq!(read.is_some(), client.url.is_some(), "{}", client.name);
                if let Some(Source::Http(read)) = read {
                    let says_transport = !client.types[2].is_empty() || client.name == "Gemini CLI";
                    let transport = if says_transport { transport } else { Transport::Auto };
                    let Source::Http(http) = http else { panic!("an address") };
                    assert_eq!(read, Http { transport, ..http }, "{}", client.name);
                }
            }
            assert_eq!(client.write("mine", &Source::sample()), None);
        }
    }

    #[test]
    fn a_variable_is_named_after_its_secret() {
        assert_eq!(["--api-key (2)", "X-Key", "password of h:80"].map(variable), ["API_KEY_2", "X_KEY", "PASSWORD_OF_H_80"]);
    }
}
