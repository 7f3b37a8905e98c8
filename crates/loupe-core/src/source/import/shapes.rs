//! The shapes of the clients' files. A file is known by what it holds; its path settles what the shapes leave open.

mod registry;

use serde_json::{Map, Value};

use super::{Import, ImportedServer, Input, RemoteKind, ServerAddress};

/// The servers of a file, or nothing where it lists none. `text` is the file's, for the lines of what cannot be read.
pub fn read(path: &str, root: &Value, text: &str) -> Option<Import> {
    let is_gemini = path.contains(".gemini");
    let mut reader = Reader {
        inputs: inputs(root),
        is_gemini,
        text,
        import: Import::default(),
    };
    let mut known = false;
    let lists: [&[&str]; 6] = [
        &["mcpServers"],
        &["servers"],
        &["context_servers"],
        &["mcp_servers"],
        &["mcp.servers"],
        &["mcp", "servers"],
    ];
    for place in lists {
        let list = place.iter().try_fold(root, |at, key| at.get(key));
        if let Some(list) = list.and_then(Value::as_object) {
            known = true;
            reader.list(list, place, "");
        }
    }
    for (project, settings) in root
        .get("projects")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        if let Some(list) = settings.get("mcpServers").and_then(Value::as_object) {
            known = true;
            reader.list(list, &["projects", project, "mcpServers"], project);
        }
    }
    if root.get("packages").is_some() || root.get("remotes").is_some() {
        known = true;
        registry::read(&mut reader, root);
    }
    reader.switch_off(root);
    known.then_some(reader.import)
}

pub(super) fn text(object: &Map<String, Value>, key: &str) -> Option<String> {
    object.get(key)?.as_str().map(str::to_owned)
}

/// Strings of a list; other values as they are written.
pub(super) fn texts(value: Option<&Value>) -> Vec<String> {
    value
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .map(written)
        .collect()
}

pub(super) fn written(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

fn pairs(value: Option<&Value>) -> Vec<(String, String)> {
    value
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|(name, value)| (name.clone(), written(value)))
        .collect()
}

fn inputs(root: &Value) -> Vec<Input> {
    let input = |input: &Value| {
        let input = input.as_object()?;
        let options = input
            .get("options")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        Some(Input {
            id: text(input, "id")?,
            about: text(input, "description").unwrap_or_default(),
            is_secret: input.get("password") == Some(&Value::Bool(true)),
            default: text(input, "default"),
            options: options
                .map(|option| option.get("value").map_or_else(|| written(option), written))
                .collect(),
        })
    };
    let listed = root.get("inputs").or_else(|| root.pointer("/mcp/inputs"));
    listed
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(input)
        .collect()
}

/// Members that say nothing about how a server is reached, or are read elsewhere.
const QUIET: &[&str] = &[
    "type",
    "command",
    "args",
    "env",
    "cwd",
    "url",
    "serverUrl",
    "httpUrl",
    "headers",
    "disabled",
    "enabled",
    "source",
    "name",
    "description",
    "env_vars",
    "bearer_token_env_var",
    "http_headers",
    "env_http_headers",
    "timeout",
    "trust",
    "includeTools",
    "excludeTools",
    "autoApprove",
    "alwaysAllow",
    "disabledTools",
    "enabled_tools",
    "disabled_tools",
    "startup_timeout_sec",
    "tool_timeout_sec",
    "tools",
    "gallery",
    "version",
    "required",
];

/// The line of the last of these keys, each looked for behind the one before it; names of TOML's tables stand bare too.
fn line_of(text: &str, keys: [&str; 2]) -> Option<usize> {
    let mut at = 0;
    for key in keys.iter().filter(|key| !key.is_empty()) {
        let quoted = format!("\"{key}\"");
        let is_key = |end: usize| text[end..].trim_start().starts_with([':', '=', ']', '.']);
        let begins = |at: usize| text[..at].ends_with(['\n', '.', '[', ' ', '\t']);
        let in_json = text[at..]
            .match_indices(&quoted)
            .map(|(found, _)| (at + found, quoted.len()));
        let in_toml = text[at..]
            .match_indices(*key)
            .map(|(found, _)| (at + found, key.len()));
        let found = in_json
            .chain(in_toml.filter(|(found, _)| begins(*found)))
            .find(|(found, length)| is_key(found + length))?;
        at = found.0 + found.1;
    }
    Some(text[..at].matches('\n').count() + 1)
}

/// What a member holds, for people.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Why an entry cannot be read: the member that it is about, empty of the entry as a whole.
type Refused = (&'static str, String);

/// Members that say how a server is reached, and what each has to hold.
const FORMS: &[(&str, &[&str])] = &[
    ("command", &["a text", "an object"]),
    ("args", &["a list"]),
    ("env", &["an object"]),
    ("cwd", &["a text"]),
    ("url", &["a text"]),
    ("serverUrl", &["a text"]),
    ("httpUrl", &["a text"]),
    ("headers", &["an object"]),
    ("http_headers", &["an object"]),
    ("env_http_headers", &["an object"]),
    ("bearer_token_env_var", &["a text"]),
    ("transport", &["a text"]),
];

/// # Errors
/// The first member that holds something else than it has to, or that would be taken for a secret and is none.
fn check(entry: &Map<String, Value>) -> Result<(), Refused> {
    if entry.contains_key("bearer_token") {
        return Err((
            "bearer_token",
            "it is read by no client any more; name a variable in `bearer_token_env_var`"
                .to_owned(),
        ));
    }
    for (name, forms) in FORMS {
        let Some(value) = entry.get(*name).filter(|value| !value.is_null()) else {
            continue;
        };
        let found = kind(value);
        if !forms.contains(&found) {
            let more = if *name == "transport" {
                "; `command` or `url` stand in the entry itself"
            } else {
                ""
            };
            return Err((name, format!("it is {found}, not {}{more}", forms[0])));
        }
    }
    Ok(())
}

pub(super) struct Reader<'t> {
    pub inputs: Vec<Input>,
    is_gemini: bool,
    text: &'t str,
    pub import: Import,
}

impl Reader<'_> {
    /// `place` are the keys that lead to the list. `scope` tells servers of the same name apart: the project they are for.
    fn list(&mut self, list: &Map<String, Value>, place: &[&str], scope: &str) {
        for (key, value) in list {
            let name = key;
            let name = if scope.is_empty() {
                name.clone()
            } else {
                self.free(name, scope)
            };
            let not_an_entry = || ("", format!("it is {}, not an object", kind(value)));
            match value
                .as_object()
                .ok_or_else(not_an_entry)
                .and_then(|entry| self.entry(entry))
            {
                Ok((reach, notes)) => {
                    let entry = value.as_object();
                    let is = |key: &str, flag: bool| {
                        entry.and_then(|entry| entry.get(key)) == Some(&Value::Bool(flag))
                    };
                    self.add(
                        &name,
                        reach,
                        is("disabled", true) || is("enabled", false),
                        notes,
                    );
                    if let Some(added) = self.import.servers.last_mut() {
                        added.own = pairs(value.get("env"));
                        added.place = place
                            .iter()
                            .chain([&key.as_str()])
                            .map(|key| (*key).to_owned())
                            .collect();
                    }
                }
                Err((member, why)) => {
                    let line = line_of(self.text, [key, member])
                        .map(|line| format!(" (line {line})"))
                        .unwrap_or_default();
                    let member = if member.is_empty() {
                        String::new()
                    } else {
                        format!("`{member}`: ")
                    };
                    self.import
                        .notes
                        .push(format!("`{name}` is left out{line}: {member}{why}"));
                }
            }
        }
    }

    /// A name that no other server has: with the scope behind it where it is taken.
    fn free(&self, name: &str, scope: &str) -> String {
        let taken = |name: &str| self.import.servers.iter().any(|entry| entry.name == name);
        let mut free = name.to_owned();
        let mut again = 1;
        while taken(&free) {
            free = if again == 1 {
                format!("{name} ({scope})")
            } else {
                format!("{name} ({scope} {again})")
            };
            again += 1;
        }
        free
    }

    pub(super) fn add(
        &mut self,
        name: &str,
        reach: ServerAddress,
        disabled: bool,
        notes: Vec<String>,
    ) {
        let name = self.free(name, "again");
        let mut entry = ImportedServer {
            name,
            reach,
            disabled,
            inputs: Vec::new(),
            notes,
            bare_dollars: self.is_gemini,
            given: Vec::new(),
            own: Vec::new(),
            place: Vec::new(),
        };
        let used = entry.placeholders();
        let is_used = |input: &&Input| {
            used.iter().any(|placeholder| matches!(placeholder, super::Placeholder::Input(id) if *id == input.id))
        };
        entry.inputs = self.inputs.iter().filter(is_used).cloned().collect();
        self.import.servers.push(entry);
    }

    fn entry(&self, entry: &Map<String, Value>) -> Result<(ServerAddress, Vec<String>), Refused> {
        if text(entry, "source").as_deref() == Some("extension") {
            return Err(("", "an extension of the client starts it".into()));
        }
        check(entry)?;
        let unused = |name: &&String| !QUIET.contains(&name.as_str());
        let mut notes: Vec<_> = entry
            .keys()
            .filter(unused)
            .map(|name| format!("`{name}` is not used"))
            .collect();
        if let Some(helper) = notes
            .iter_mut()
            .find(|note| note.starts_with("`headersHelper`"))
        {
            *helper = "`headersHelper` is not run: add its headers by hand".into();
        }
        let remote = [("serverUrl", false), ("httpUrl", true), ("url", false)];
        if let Some((url, says_http)) = remote
            .iter()
            .find_map(|(key, http)| Some((text(entry, key)?, *http)))
        {
            let kind = match text(entry, "type").as_deref() {
                Some("sse") => RemoteKind::Sse,
                Some("http" | "streamable-http" | "streamableHttp" | "streamable_http") => {
                    RemoteKind::StreamableHttp
                }
                _ if says_http => RemoteKind::StreamableHttp,
                // Gemini's older rule: a plain `url` is for server-sent events.
                _ if self.is_gemini => RemoteKind::Sse,
                _ => RemoteKind::Unsaid,
            };
            return Ok((
                ServerAddress::Remote {
                    url,
                    headers: headers(entry),
                    kind,
                },
                notes,
            ));
        }
        // Zed once kept program, arguments and variables together under `command`.
        let nested = entry.get("command").and_then(Value::as_object);
        let program = nested.map_or_else(|| text(entry, "command"), |nested| text(nested, "path"));
        let program = program
            .filter(|program| !program.is_empty())
            .ok_or_else(|| ("", "it has neither a command nor a URL".to_owned()))?;
        let from = nested.unwrap_or(entry);
        let mut env = pairs(from.get("env"));
        env.extend(texts(entry.get("env_vars")).into_iter().map(|name| {
            let placeholder = format!("${{{name}}}");
            (name, placeholder)
        }));
        Ok((
            ServerAddress::Command {
                program,
                args: texts(from.get("args")),
                env,
                cwd: text(entry, "cwd"),
            },
            notes,
        ))
    }

    /// Gemini lists elsewhere which servers may run.
    fn switch_off(&mut self, root: &Value) {
        let excluded = texts(root.pointer("/mcp/excluded"));
        let allowed = root.pointer("/mcp/allowed").map(|list| texts(Some(list)));
        for entry in &mut self.import.servers {
            let is_allowed = allowed
                .as_ref()
                .is_none_or(|allowed| allowed.contains(&entry.name));
            entry.disabled |= excluded.contains(&entry.name) || !is_allowed;
        }
    }
}

fn headers(entry: &Map<String, Value>) -> Vec<(String, String)> {
    let mut headers = pairs(entry.get("headers"));
    headers.extend(pairs(entry.get("http_headers")));
    headers.extend(
        pairs(entry.get("env_http_headers"))
            .into_iter()
            .map(|(name, variable)| (name, format!("${{{variable}}}"))),
    );
    if let Some(variable) = text(entry, "bearer_token_env_var") {
        headers.push(("Authorization".into(), format!("Bearer ${{{variable}}}")));
    }
    headers
}
