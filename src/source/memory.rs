//! What is remembered of a server beside how it is reached: what it may do unasked, what it was called with, what is
//! watched. Kept for its [`super::server_key`].

use std::collections::BTreeMap;

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerMemory {
    /// The server for people, without secrets.
    pub source: String,
    /// Tools that are called without a question, with the digest of the definition that this was said of.
    pub allowed: BTreeMap<String, String>,
    /// The tool that was called last.
    pub tool: Option<String>,
    /// The arguments of each tool.
    pub arguments: BTreeMap<String, ToolArguments>,
    /// Values for `{{name}}` in arguments.
    pub variables: BTreeMap<String, String>,
    pub watch: Option<Watch>,
}

/// Arguments of one tool, as they stood in the form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolArguments {
    /// Those of the last call.
    pub last: Option<String>,
    /// By the name that they were given.
    pub named: BTreeMap<String, String>,
}

/// What of a server's files is watched, to start it again when they change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watch {
    pub is_on: bool,
    /// Folders, files and globs, one a line.
    pub places: String,
    /// A command that is run first; empty is none.
    pub build: String,
}
