//! `mcp-loupe tap` put into the entry of a server in a client's configuration, and taken out again.
//!
//! An edit touches the bytes of the entry's values and nothing else. A command moves behind `tap -- `, and back. A remote
//! server becomes a command; what it was stands in a variable of the entry, its header values in variables of their own,
//! so that none is on a command line. Every edit is read again and compared before it counts.

mod tree;

use std::fmt;
use std::ops::Range;

use serde_json::Value;

use self::tree::{Member, Node, NodeKind, parse};
use super::{Import, ImportedServer, ServerAddress, placeholder};
use crate::problem::{Problem, ProblemKind};
use crate::source::Source;
use crate::source::secret::{looks_secret, map_secrets};

/// Holds the members of a remote entry as they were.
const WAS: &str = "LOUPE_UNWRAP";
/// How the variables begin that hold values of headers.
const HEADER: &str = "LOUPE_HEADER_";
const TAP: &str = "tap";
const HEADER_ENV: &str = "--header-env";

/// What is done to an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrapKind {
    Wrap,
    Unwrap,
}

/// A configuration file after an edit.
#[derive(Clone, PartialEq, Eq)]
pub struct WrapEdit {
    /// The file's new text.
    pub text: String,
    /// The servers whose entries changed.
    pub changed: Vec<String>,
    /// Those of them that are at a URL.
    pub remote: Vec<String>,
    /// Why other entries did not, one sentence each.
    pub skipped: Vec<String>,
}

/// Which servers; the text has secrets.
impl fmt::Debug for WrapEdit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "changed {:?}, skipped {:?}", self.changed, self.skipped)
    }
}

/// Replaced ranges of a text; an empty range is an insertion.
type Edits = Vec<(Range<usize>, String)>;

/// Wraps or unwraps the server `name` of a configuration file, or all of them. `program` is the path of Loupe that the
/// entry shall start.
///
/// # Errors
/// The file cannot be read, has no such server, or writes it in a way that is not edited. Of all servers those that
/// cannot be edited are skipped.
pub fn edit(
    kind: WrapKind,
    path: &str,
    text: &str,
    name: Option<&str>,
    program: &str,
) -> Result<WrapEdit, Problem> {
    if [".yaml", ".yml"].iter().any(|end| path.ends_with(end)) {
        let hint = by_hand(program, name.unwrap_or("NAME"));
        return Err(Problem::new(ProblemKind::Usage, "YAML is not edited")
            .at(path)
            .hint(hint));
    }
    let import = super::read(path, text)?;
    let servers: Vec<_> = match name {
        Some(name) => vec![
            import
                .server(Some(name))
                .map_err(|problem| problem.at(path))?,
        ],
        None => import.servers.iter().collect(),
    };
    let mut done = WrapEdit {
        text: text.to_owned(),
        changed: Vec::new(),
        remote: Vec::new(),
        skipped: Vec::new(),
    };
    for server in servers {
        let is_wrapped = is_tap(server, program);
        if is_wrapped == (kind == WrapKind::Wrap) {
            let state = if is_wrapped {
                "wrapped already"
            } else {
                "not wrapped"
            };
            done.skipped.push(format!("`{}` is {state}", server.name));
            continue;
        }
        match edit_one(kind, path, &done.text, server, program) {
            Ok(text) => {
                let is_url =
                    |server: &ImportedServer| matches!(server.reach, ServerAddress::Remote { .. });
                let read = super::read(path, &text)?;
                if is_url(server)
                    || read
                        .servers
                        .iter()
                        .any(|new| new.name == server.name && is_url(new))
                {
                    done.remote.push(server.name.clone());
                }
                done.text = text;
                done.changed.push(server.name.clone());
            }
            Err(why) if name.is_none() => {
                done.skipped
                    .push(format!("`{}` is left: {why}", server.name));
            }
            Err(why) => {
                let problem = Problem::new(ProblemKind::Usage, format!("`{}`: {why}", server.name));
                let hint = match kind {
                    WrapKind::Wrap => by_hand(program, &server.name),
                    WrapKind::Unwrap => "put the entry back by hand; the file as it was before is kept next to it as `.before-loupe`".to_owned(),
                };
                return Err(problem.at(path).hint(hint));
            }
        }
    }
    Ok(done)
}

/// What to write where Loupe does not.
fn by_hand(program: &str, name: &str) -> String {
    format!(
        "by hand: `command` is {}, `args` are \"tap\", \"--name\", {}, \"--\", then the command and its arguments",
        literal(program),
        literal(name)
    )
}

/// The lines that differ, as a unified difference.
pub fn difference(before: &str, after: &str, name: &str) -> String {
    similar::TextDiff::from_lines(before, after)
        .unified_diff()
        .context_radius(3)
        .header(name, name)
        .to_string()
}

/// Names and values in a configuration file that look secret, for hiding them where the file is shown.
pub fn secrets(path: &str, text: &str) -> Vec<(String, String)> {
    /// Members with secret names that hold names of variables.
    const NAMES: &[&str] = &["bearer_token_env_var", "env_http_headers"];
    fn walk(value: &Value, put: &mut dyn FnMut(&str, &str)) {
        match value {
            Value::Object(members) => {
                for (name, value) in members
                    .iter()
                    .filter(|(name, _)| !NAMES.contains(&name.as_str()))
                {
                    if let Some(text) = value.as_str().filter(|_| looks_secret(name)) {
                        put(name, text);
                    }
                    walk(value, put);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| walk(item, put)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    let mut put = |name: &str, value: &str| {
        if value.is_empty() || !placeholder::all(value, true).is_empty() {
            return;
        }
        // As it is, as the file writes it, and as it is written in what an entry was.
        let mut form = value.to_owned();
        for _ in 0..3 {
            found.push((name.to_owned(), form.clone()));
            let quoted = literal(&form);
            form = quoted[1..quoted.len() - 1].to_owned();
        }
    };
    if let Ok(root) = super::root(path, text) {
        walk(&root, &mut put);
    }
    for server in super::read(path, text)
        .map(|import| import.servers)
        .unwrap_or_default()
    {
        // Placeholders stay as they are written.
        if let Ok(mut source) = server.resolve(|placeholder| Some(placeholder.to_string())) {
            if let Source::Command(command) = &mut source {
                let mut is_name = false;
                // What follows names a variable.
                command.args.retain(|arg| {
                    let was_name = std::mem::replace(&mut is_name, arg == HEADER_ENV);
                    !was_name
                });
            }
            map_secrets(&source, &mut |name, value| {
                put(name, value);
                None
            });
        }
    }
    found
}

/// Whether the entry starts `mcp-loupe tap`.
pub fn is_wrapped(server: &ImportedServer) -> bool {
    is_tap(server, "mcp-loupe")
}

/// The same where Loupe may be called something else.
fn is_tap(server: &ImportedServer, program: &str) -> bool {
    let ServerAddress::Command {
        program: command,
        args,
        ..
    } = &server.reach
    else {
        return false;
    };
    let name = command.rsplit(['/', '\\']).next().unwrap_or(command);
    let is_loupe = command == program || matches!(name, "mcp-loupe" | "mcp-loupe.exe");
    is_loupe && args.first().is_some_and(|arg| arg == TAP)
}

/// A text as JSON and as TOML write it.
fn literal(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

fn edit_one(
    kind: WrapKind,
    path: &str,
    text: &str,
    server: &ImportedServer,
    program: &str,
) -> Result<String, String> {
    let Some(key) = server.place.last() else {
        return Err("it is described for others, not set up in a client".to_owned());
    };
    let file = ConfigText::new(path, text)?;
    let entry = file.entry(server)?;
    let new = match (kind, &server.reach) {
        (WrapKind::Wrap, ServerAddress::Command { .. }) => {
            file.wrap_command(entry, key, program)?
        }
        (WrapKind::Wrap, ServerAddress::Remote { .. }) => file.wrap_remote(entry, key, program)?,
        (WrapKind::Unwrap, _) => match entry.get("env").and_then(|env| env.get(WAS)?.text()) {
            Some(was) => file.unwrap_remote(entry, was, server)?,
            None => file.unwrap_command(entry)?,
        },
    };
    check(kind, path, [text, &new], server, program)?;
    Ok(new)
}

/// # Errors
/// The new text is not the old one with this one entry changed as it should be.
fn check(
    kind: WrapKind,
    path: &str,
    [old, new]: [&str; 2],
    server: &ImportedServer,
    program: &str,
) -> Result<(), String> {
    let unsafe_edit = || "it is written in a way that cannot be edited safely".to_owned();
    let rest = |text: &str| {
        let mut root = super::root(path, text).ok()?;
        let (last, above) = server.place.split_last()?;
        let list = above
            .iter()
            .try_fold(&mut root, |at, key| at.get_mut(key.as_str()))?;
        list.as_object_mut()?.shift_remove(last)?;
        Some(root)
    };
    let read = |text: &str| super::read(path, text).ok();
    let others = |import: &Import| {
        let servers = import.servers.iter();
        servers
            .filter(|other| other.place != server.place)
            .cloned()
            .collect::<Vec<_>>()
    };
    let (before, after) = read(old).zip(read(new)).ok_or_else(unsafe_edit)?;
    let now = after.servers.iter().find(|now| now.place == server.place);
    let is_done = now.is_some_and(|now| {
        is_tap(now, program) == (kind == WrapKind::Wrap) && passes_on(kind, server, now)
    });
    let is_rest_same = rest(old).is_some() && rest(old) == rest(new);
    if is_done && is_rest_same && others(&before) == others(&after) {
        Ok(())
    } else {
        Err(unsafe_edit())
    }
}

/// Whether the command line behind `tap` is the one that was there, with the same variables and folder.
fn passes_on(kind: WrapKind, before: &ImportedServer, after: &ImportedServer) -> bool {
    let (plain, wrapped) = match kind {
        WrapKind::Wrap => (before, after),
        WrapKind::Unwrap => (after, before),
    };
    match (&plain.reach, &wrapped.reach) {
        (
            ServerAddress::Command {
                program,
                args,
                env,
                cwd,
            },
            ServerAddress::Command {
                args: tapped,
                env: env_there,
                cwd: cwd_there,
                ..
            },
        ) => {
            let behind = tapped.iter().skip_while(|arg| *arg != "--").skip(1);
            behind.eq([program].into_iter().chain(args)) && (env, cwd) == (env_there, cwd_there)
        }
        (ServerAddress::Remote { url, .. }, ServerAddress::Command { args, .. }) => {
            args.contains(url)
        }
        _ => false,
    }
}

/// A configuration file's text with its tree.
struct ConfigText<'t> {
    path: &'t str,
    text: &'t str,
    is_toml: bool,
    root: Node,
}

impl<'t> ConfigText<'t> {
    fn new(path: &'t str, text: &'t str) -> Result<Self, String> {
        let is_toml = path.ends_with(".toml");
        let root = parse(is_toml, text).ok_or("the file cannot be read")?;
        Ok(Self {
            path,
            text,
            is_toml,
            root,
        })
    }

    fn entry(&self, server: &ImportedServer) -> Result<&Node, String> {
        let found = server
            .place
            .iter()
            .try_fold(&self.root, |at, key| at.get(key));
        found.ok_or_else(|| "its entry was not found".to_owned())
    }

    fn raw(&self, node: &Node) -> &str {
        &self.text[node.span.clone()]
    }

    /// Whether an object stands in braces; those of TOML's headers and dotted keys do not.
    fn is_braced(&self, node: &Node) -> bool {
        self.raw(node).starts_with('{')
    }

    fn apply(&self, mut edits: Edits) -> String {
        edits.sort_by_key(|(range, _)| (range.start, range.end));
        let (mut out, mut at) = (String::new(), 0);
        for (range, new) in edits {
            out += &self.text[at.min(range.start)..range.start];
            out += &new;
            at = range.end;
        }
        out + &self.text[at..]
    }

    /// What stands between the beginning of its line and a key.
    fn before_key(&self, key: &Range<usize>) -> &str {
        let line = self.text[..key.start].rfind('\n').map_or(0, |at| at + 1);
        &self.text[line..key.start]
    }

    /// What separates a new member from the one before it: that one's own place in the file is followed.
    fn separator(&self, object: &Node, after: &Member) -> String {
        let before = self.before_key(&after.key);
        let line_end = if self.text.contains("\r\n") {
            "\r\n"
        } else {
            "\n"
        };
        match (self.is_braced(object), before.trim().is_empty()) {
            (false, _) => format!("{line_end}{before}"),
            (true, true) => format!(",{line_end}{before}"),
            (true, false) => ", ".to_owned(),
        }
    }

    /// A new member behind another one.
    fn member(&self, object: &Node, after: &Member, name: &str, value: &str) -> String {
        format!("{}{}{value}", self.separator(object, after), self.key(name))
    }

    fn key(&self, name: &str) -> String {
        if self.is_toml {
            format!("{name} = ")
        } else {
            format!("\"{name}\": ")
        }
    }

    /// Where a member begins: of a line of TOML with the parts of its key before.
    fn start(&self, object: &Node, member: &Member) -> usize {
        if self.is_braced(object) {
            return member.key.start;
        }
        member.key.start - self.before_key(&member.key).trim_start().len()
    }

    /// The ranges that remove members, with the commas or line ends that only they need.
    fn remove(&self, object: &Node, gone: &[&str]) -> Edits {
        let members = object.members();
        let is_gone = |member: &Member| gone.contains(&member.name.as_str());
        let first_kept = members.iter().position(|member| !is_gone(member));
        let mut edits = Edits::new();
        for (at, member) in members
            .iter()
            .enumerate()
            .filter(|(_, member)| is_gone(member))
        {
            let range = match first_kept {
                Some(kept) if kept > at => {
                    self.start(object, member)..self.start(object, &members[at + 1])
                }
                // Comments between them stay with the line before.
                Some(_) => members[at - 1].node.span.end..member.node.span.end,
                None => member.key.start..member.node.span.end,
            };
            edits.push((range, String::new()));
        }
        edits
    }

    /// The object that holds program and arguments: Zed once kept them together under `command`.
    fn holder<'n>(&self, entry: &'n Node) -> Result<(&'n Node, &'n Member), String> {
        let (holder, key) = match entry.get("command") {
            Some(nested) if !nested.members().is_empty() => (nested, "path"),
            _ => (entry, "command"),
        };
        let command = holder.member(key).ok_or("it has no command")?;
        Ok((holder, command))
    }

    fn wrap_command(&self, entry: &Node, name: &str, program: &str) -> Result<String, String> {
        let (holder, command) = self.holder(entry)?;
        let own = [TAP, "--name", name, "--"].map(literal).join(", ");
        let own = format!("{own}, {}", self.raw(&command.node));
        let end = command.node.span.end;
        let args = match holder.get("args") {
            // The spaces within the brackets say that there were none: `remove` follows them.
            None => (
                end..end,
                self.member(holder, command, "args", &format!("[ {own} ]")),
            ),
            Some(args) => match args.list() {
                Some([first, ..]) => (first.span.start..first.span.start, format!("{own}, ")),
                Some([]) => (args.span.start + 1..args.span.start + 1, own),
                None => (args.span.clone(), format!("[ {own} ]")),
            },
        };
        Ok(self.apply(vec![(command.node.span.clone(), literal(program)), args]))
    }

    fn unwrap_command(&self, entry: &Node) -> Result<String, String> {
        let (holder, command) = self.holder(entry)?;
        let list = holder.get("args").ok_or("it has no arguments")?;
        let args = list.list().unwrap_or_default();
        let dashes = args.iter().position(|arg| arg.text() == Some("--"));
        let inner = dashes.and_then(|at| args.get(at + 1).map(|inner| (at + 1, inner)));
        let (at, inner) = inner.ok_or("no command stands after `--`")?;
        let start = args[0].span.start;
        let mut edits = match args.get(at + 1) {
            Some(next) => vec![(start..next.span.start, String::new())],
            None if start == list.span.start + 1 => vec![(start..inner.span.end, String::new())],
            None => self.remove(holder, &["args"]),
        };
        edits.push((command.node.span.clone(), self.raw(inner).to_owned()));
        Ok(self.apply(edits))
    }

    /// The members of an entry that are rewritten: all, but for tables of TOML with a header of their own.
    fn body(&self, entry: &Node) -> Option<Range<usize>> {
        if self.is_braced(entry) {
            return Some(entry.span.clone());
        }
        let is_line =
            |member: &&Member| member.node.members().is_empty() || self.is_braced(&member.node);
        let mut lines = entry.members().iter().filter(is_line);
        let first = lines.next()?;
        let last = lines.next_back().unwrap_or(first);
        Some(self.start(entry, first)..last.node.span.end)
    }

    fn wrap_remote(&self, entry: &Node, name: &str, program: &str) -> Result<String, String> {
        let url = ["serverUrl", "httpUrl", "url"].iter().find_map(|key| {
            let member = entry.member(key)?;
            member.node.text().map(|_| member)
        });
        let url = url.ok_or("it has no URL")?;
        let body = self.body(entry).ok_or("it has no members")?;
        let mut args = [TAP, "--name", name, "--url"].map(literal).to_vec();
        args.push(self.raw(&url.node).to_owned());
        let (mut env, mut marks) = (Vec::new(), Edits::new());
        let mut passed_on = Vec::new();
        let mut header = |name: &str, from: &str| {
            args.extend([literal(HEADER_ENV), literal(&format!("{name}={from}"))]);
        };
        for list in ["headers", "http_headers"] {
            for member in entry.get(list).map(Node::members).unwrap_or_default() {
                let plain = |char: char| {
                    if char.is_ascii_alphanumeric() {
                        char.to_ascii_uppercase()
                    } else {
                        '_'
                    }
                };
                let mut variable = format!(
                    "{HEADER}{}",
                    member.name.chars().map(plain).collect::<String>()
                );
                while env.iter().any(|(known, _)| *known == variable) {
                    variable.push('_');
                }
                header(&member.name, &variable);
                let mut value = self.raw(&member.node).to_owned();
                if member.node.text().is_some() {
                    marks.push((member.node.span.clone(), format!("<{variable}>")));
                } else {
                    value = literal(&value);
                }
                env.push((variable, value));
            }
        }
        let named = entry
            .get("env_http_headers")
            .map(Node::members)
            .unwrap_or_default();
        for member in named {
            let variable = member.node.text().unwrap_or_default();
            header(&member.name, variable);
            passed_on.push(literal(variable));
        }
        if let Some(variable) = entry.get("bearer_token_env_var").and_then(Node::text) {
            header("Authorization", &format!("Bearer {variable}"));
            passed_on.push(literal(variable));
        }
        let lists = ["headers", "http_headers", "env_http_headers", "env"];
        let has_header = |list: &&str| entry.get(list).is_some_and(|node| !self.is_braced(node));
        if let Some(list) = lists.iter().find(|list| has_header(list)) {
            return Err(format!("its `{list}` stand in a form that is not edited"));
        }

        // What is rewritten, with marks where its secrets were.
        let was = {
            let mut was = self.text[body.clone()].to_owned();
            marks.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
            for (range, mark) in marks {
                was.replace_range(range.start - body.start..range.end - body.start, &mark);
            }
            was
        };
        env.insert(0, (WAS.to_owned(), literal(&was)));
        let pairs: Vec<_> = env
            .iter()
            .map(|(name, value)| format!("{}{value}", self.key(name)))
            .collect();
        let mut edits = self.remove(
            entry,
            &[
                "headers",
                "http_headers",
                "env_http_headers",
                "bearer_token_env_var",
            ],
        );
        let mut new = self.member(entry, url, "args", &format!("[{}]", args.join(", ")));
        match entry.get("env") {
            Some(own) => {
                let comma = if own.members().is_empty() { "" } else { "," };
                let at = own.span.start + 1;
                edits.push((at..at, format!(" {}{comma}", pairs.join(", "))));
            }
            None => new += &self.member(entry, url, "env", &format!("{{ {} }}", pairs.join(", "))),
        }
        if !passed_on.is_empty() {
            new += &self.member(
                entry,
                url,
                "env_vars",
                &format!("[{}]", passed_on.join(", ")),
            );
        }
        let key = if self.is_toml {
            "command"
        } else {
            "\"command\""
        };
        edits.push((url.key.clone(), key.to_owned()));
        edits.push((url.node.span.clone(), format!("{}{new}", literal(program))));
        if let Some(kind) = entry.get("type").filter(|kind| kind.text().is_some()) {
            let word = if self.path.contains(".copilot") {
                "local"
            } else {
                "stdio"
            };
            edits.push((kind.span.clone(), literal(word)));
        }
        Ok(self.apply(edits))
    }

    fn unwrap_remote(
        &self,
        entry: &Node,
        was: &str,
        server: &ImportedServer,
    ) -> Result<String, String> {
        let env = entry.get("env");
        let (mut body, mut rest) = (String::new(), was);
        while let Some((before, (name, after))) = rest
            .split_once(&format!("<{HEADER}"))
            .and_then(|(before, after)| Some((before, after.split_once('>')?)))
        {
            let name = format!("{HEADER}{name}");
            let value = env.and_then(|env| env.get(&name));
            body += before;
            body += self.raw(value.ok_or_else(|| format!("its variable {name} is missing"))?);
            rest = after;
        }
        body += rest;
        let range = self.body(entry).ok_or("it has no members")?;
        let restored = self.apply(vec![(range, body)]);
        let restored = ConfigText::new(self.path, &restored)?;
        restored.carry_over(server, self, entry)
    }

    /// Takes over what else was changed in an entry while it was wrapped.
    fn carry_over(
        &self,
        server: &ImportedServer,
        from: &Self,
        wrapped: &Node,
    ) -> Result<String, String> {
        const OWN: &[&str] = &[
            "command",
            "args",
            "env",
            "env_vars",
            "type",
            "url",
            "serverUrl",
            "httpUrl",
            "headers",
            "http_headers",
            "env_http_headers",
            "bearer_token_env_var",
        ];
        let entry = self.entry(server)?;
        let is_other = |member: &&Member| !OWN.contains(&member.name.as_str());
        let mut edits = Edits::new();
        for now in wrapped.members().iter().filter(is_other) {
            let value = from.raw(&now.node);
            match (entry.get(&now.name), entry.members().last()) {
                (Some(old), _) if self.raw(old) == value => {}
                (Some(old), _)
                    if self.is_braced(old) || !matches!(old.kind, NodeKind::Object(_)) =>
                {
                    edits.push((old.span.clone(), value.to_owned()));
                }
                (None, Some(last)) if self.is_braced(entry) => {
                    let end = last.node.span.end;
                    edits.push((end..end, self.member(entry, last, &now.name, value)));
                }
                _ => return Err(format!("its `{}` was changed since", now.name)),
            }
        }
        let gone: Vec<_> = entry
            .members()
            .iter()
            .filter(is_other)
            .filter(|member| wrapped.get(&member.name).is_none())
            .map(|member| member.name.as_str())
            .collect();
        edits.extend(self.remove(entry, &gone));
        Ok(self.apply(edits))
    }
}
