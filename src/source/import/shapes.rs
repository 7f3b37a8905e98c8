//! The shapes of the clients' files. A file is known by what it holds; its path settles what the shapes leave open.

mod registry;

use serde_json::{Map, Value};

use super::{Import, ImportedServer, Input, Reach, RemoteKind};

/// The servers of a file, or nothing where it lists none.
pub fn read(path: &str, root: &Value) -> Option<Import> {
    let is_gemini = path.contains(".gemini");
    let mut reader = Reader { inputs: inputs(root), is_gemini, import: Import::default() };
    let mut known = false;
    let lists = [
        root.get("mcpServers"),
        root.get("servers"),
        root.get("context_servers"),
        root.get("mcp_servers"),
        root.get("mcp.servers"),
        root.pointer("/mcp/servers"),
    ];
    for list in lists.into_iter().flatten().filter_map(Value::as_object) {
        known = true;
        reader.list(list, "");
    }
    for (project, settings) in root.get("projects").and_then(Value::as_object).into_iter().flatten() {
        if let Some(list) = settings.get("mcpServers").and_then(Value::as_object) {
            known = true;
            reader.list(list, project);
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
    value.and_then(Value::as_array).into_iter().flatten().map(written).collect()
}

pub(super) fn written(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn pairs(value: Option<&Value>) -> Vec<(String, String)> {
    value.and_then(Value::as_object).into_iter().flatten().map(|(name, value)| (name.clone(), written(value))).collect()
}

fn inputs(root: &Value) -> Vec<Input> {
    let input = |input: &Value| {
        let input = input.as_object()?;
        let options = input.get("options").and_then(Value::as_array).into_iter().flatten();
        Some(Input {
            id: text(input, "id")?,
            about: text(input, "description").unwrap_or_default(),
            is_secret: input.get("password") == Some(&Value::Bool(true)),
            default: text(input, "default"),
            options: options.map(|option| option.get("value").map_or_else(|| written(option), written)).collect(),
        })
    };
    let listed = root.get("inputs").or_else(|| root.pointer("/mcp/inputs"));
    listed.and_then(Value::as_array).into_iter().flatten().filter_map(input).collect()
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

pub(super) struct Reader {
    pub inputs: Vec<Input>,
    is_gemini: bool,
    pub import: Import,
}

impl Reader {
    /// `scope` tells servers of the same name apart: the project they are for.
    fn list(&mut self, list: &Map<String, Value>, scope: &str) {
        for (name, value) in list {
            let name = if scope.is_empty() { name.clone() } else { self.free(name, scope) };
            match value.as_object().ok_or_else(|| "not an object".to_owned()).and_then(|entry| self.entry(entry)) {
                Ok((reach, notes)) => {
                    let entry = value.as_object();
                    let is = |key: &str, flag: bool| entry.and_then(|entry| entry.get(key)) == Some(&Value::Bool(flag));
                    self.add(&name, reach, is("disabled", true) || is("enabled", false), notes);
                }
                Err(why) => self.import.notes.push(format!("`{name}` is left out: {why}")),
            }
        }
    }

    /// A name that no other server has: with the scope behind it where it is taken.
    fn free(&self, name: &str, scope: &str) -> String {
        let taken = |name: &str| self.import.servers.iter().any(|entry| entry.name == name);
        let mut free = name.to_owned();
        let mut again = 1;
        while taken(&free) {
            free = if again == 1 { format!("{name} ({scope})") } else { format!("{name} ({scope} {again})") };
            again += 1;
        }
        free
    }

    pub(super) fn add(&mut self, name: &str, reach: Reach, disabled: bool, notes: Vec<String>) {
        let name = self.free(name, "again");
        let mut entry =
            ImportedServer { name, reach, disabled, inputs: Vec::new(), notes, bare_dollars: self.is_gemini, given: Vec::new() };
        let used = entry.placeholders();
        let is_used = |input: &&Input| {
            used.iter().any(|placeholder| matches!(placeholder, super::Placeholder::Input(id) if *id == input.id))
        };
        entry.inputs = self.inputs.iter().filter(is_used).cloned().collect();
        self.import.servers.push(entry);
    }

    fn entry(&self, entry: &Map<String, Value>) -> Result<(Reach, Vec<String>), String> {
        if text(entry, "source").as_deref() == Some("extension") {
            return Err("an extension of the client starts it".into());
        }
        let unused = |name: &&String| !QUIET.contains(&name.as_str());
        let mut notes: Vec<_> = entry.keys().filter(unused).map(|name| format!("`{name}` is not used")).collect();
        if let Some(helper) = notes.iter_mut().find(|note| note.starts_with("`headersHelper`")) {
            *helper = "`headersHelper` is not run: add its headers by hand".into();
        }
        let remote = [("serverUrl", false), ("httpUrl", true), ("url", false)];
        if let Some((url, says_http)) = remote.iter().find_map(|(key, http)| Some((text(entry, key)?, *http))) {
            let kind = match text(entry, "type").as_deref() {
                Some("sse") => RemoteKind::Sse,
                Some("http" | "streamable-http" | "streamableHttp" | "streamable_http") => RemoteKind::StreamableHttp,
                _ if says_http => RemoteKind::StreamableHttp,
                // Gemini's older rule: a plain `url` is for server-sent events.
                _ if self.is_gemini => RemoteKind::Sse,
                _ => RemoteKind::Unsaid,
            };
            return Ok((Reach::Remote { url, headers: headers(entry), kind }, notes));
        }
        // Zed once kept program, arguments and variables together under `command`.
        let nested = entry.get("command").and_then(Value::as_object);
        let program = nested.map_or_else(|| text(entry, "command"), |nested| text(nested, "path"));
        let program = program.filter(|program| !program.is_empty()).ok_or("it has neither a command nor a URL")?;
        let from = nested.unwrap_or(entry);
        let mut env = pairs(from.get("env"));
        env.extend(texts(entry.get("env_vars")).into_iter().map(|name| {
            let placeholder = format!("${{{name}}}");
            (name, placeholder)
        }));
        Ok((Reach::Command { program, args: texts(from.get("args")), env, cwd: text(entry, "cwd") }, notes))
    }

    /// Gemini lists elsewhere which servers may run.
    fn switch_off(&mut self, root: &Value) {
        let excluded = texts(root.pointer("/mcp/excluded"));
        let allowed = root.pointer("/mcp/allowed").map(|list| texts(Some(list)));
        for entry in &mut self.import.servers {
            let is_allowed = allowed.as_ref().is_none_or(|allowed| allowed.contains(&entry.name));
            entry.disabled |= excluded.contains(&entry.name) || !is_allowed;
        }
    }
}

fn headers(entry: &Map<String, Value>) -> Vec<(String, String)> {
    let mut headers = pairs(entry.get("headers"));
    headers.extend(pairs(entry.get("http_headers")));
    headers.extend(pairs(entry.get("env_http_headers")).into_iter().map(|(name, variable)| (name, format!("${{{variable}}}"))));
    if let Some(variable) = text(entry, "bearer_token_env_var") {
        headers.push(("Authorization".into(), format!("Bearer ${{{variable}}}")));
    }
    headers
}
