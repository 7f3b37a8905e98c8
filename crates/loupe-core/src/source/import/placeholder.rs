//! Placeholders in configuration values: `${VAR}`, `${VAR:-default}`, `${env:VAR}`, `${input:id}`, `${workspaceFolder}`,
//! `${userHome}`, `${pathSeparator}`, and for some clients `$VAR`. Any other dollar sign is one.

use std::fmt;

/// What stands for a value that the file does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placeholder {
    /// A variable of the environment.
    Variable {
        name: String,
        default: Option<String>,
    },
    /// Something that the file's `inputs` describe.
    Input(String),
    /// The folder of the project that the file belongs to.
    WorkspaceFolder,
    UserHome,
    PathSeparator,
}

impl Placeholder {
    /// The variable's name or the input's id; the others have none.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Variable { name, .. } | Self::Input(name) => Some(name),
            _ => None,
        }
    }
}

impl fmt::Display for Placeholder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable { name, .. } => write!(f, "${{{name}}}"),
            Self::Input(id) => write!(f, "${{input:{id}}}"),
            Self::WorkspaceFolder => f.write_str("${workspaceFolder}"),
            Self::UserHome => f.write_str("${userHome}"),
            Self::PathSeparator => f.write_str("${pathSeparator}"),
        }
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_')
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// What stands between the braces; `None` leaves the text as it is.
fn known(inside: &str) -> Option<Placeholder> {
    let variable = |name: &str, default: Option<&str>| {
        is_name(name).then(|| Placeholder::Variable {
            name: name.to_owned(),
            default: default.map(str::to_owned),
        })
    };
    match inside {
        "workspaceFolder" => Some(Placeholder::WorkspaceFolder),
        "userHome" => Some(Placeholder::UserHome),
        "pathSeparator" | "/" => Some(Placeholder::PathSeparator),
        _ => match (
            inside.strip_prefix("env:"),
            inside.strip_prefix("input:"),
            inside.split_once(":-"),
        ) {
            (Some(name), ..) => variable(name, None),
            (_, Some(id), _) => Some(Placeholder::Input(id.to_owned())),
            (_, _, Some((name, default))) => variable(name, Some(default)),
            _ => variable(inside, None),
        },
    }
}

/// Literal text, or a placeholder.
enum Part<'a> {
    Text(&'a str),
    Hole(Placeholder),
}

fn parts(text: &str, bare_dollars: bool) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        parts.push(Part::Text(&rest[..at]));
        let after = &rest[at + 1..];
        let braced = after
            .strip_prefix('{')
            .and_then(|inside| inside.split_once('}'));
        let bare = after.len()
            - after
                .trim_start_matches(|char: char| char.is_ascii_alphanumeric() || char == '_')
                .len();
        match braced.and_then(|(inside, after)| Some((known(inside)?, after))) {
            Some((placeholder, after)) => {
                parts.push(Part::Hole(placeholder));
                rest = after;
            }
            None if bare_dollars && is_name(&after[..bare]) => {
                parts.push(Part::Hole(Placeholder::Variable {
                    name: after[..bare].to_owned(),
                    default: None,
                }));
                rest = &after[bare..];
            }
            None => {
                parts.push(Part::Text("$"));
                rest = after;
            }
        }
    }
    parts.push(Part::Text(rest));
    parts
}

/// Every placeholder of a text, in order.
pub fn all(text: &str, bare_dollars: bool) -> Vec<Placeholder> {
    let placeholder = |part| match part {
        Part::Hole(placeholder) => Some(placeholder),
        Part::Text(_) => None,
    };
    parts(text, bare_dollars)
        .into_iter()
        .filter_map(placeholder)
        .collect()
}

/// The text with its placeholders filled.
pub fn fill(text: &str, bare_dollars: bool, value: impl Fn(&Placeholder) -> String) -> String {
    let part = |part| match part {
        Part::Text(text) => text.to_owned(),
        Part::Hole(placeholder) => value(&placeholder),
    };
    parts(text, bare_dollars).into_iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_found_and_filled() {
        let cases = [
            ("a ${X} b", false, "a <${X}> b"),
            (
                "${env:X_1}${input:my-key}",
                false,
                "<${X_1}><${input:my-key}>",
            ),
            (
                "${X:-a b}/${workspaceFolder}",
                false,
                "<${X}>/<${workspaceFolder}>",
            ),
            ("$X $HOME/x", false, "$X $HOME/x"),
            ("$X-$ $HOME/x", true, "<${X}>-$ <${HOME}>/x"),
            ("pa$$word $$", false, "pa$$word $$"),
            (
                "${not a name} ${open ${1}",
                false,
                "${not a name} ${open ${1}",
            ),
            ("", false, ""),
        ];
        for (text, bare, expected) in cases {
            assert_eq!(
                fill(text, bare, |placeholder| format!("<{placeholder}>")),
                expected,
                "{text}"
            );
        }
        assert_eq!(
            all("${X:-d}", false),
            [Placeholder::Variable {
                name: "X".into(),
                default: Some("d".into())
            }]
        );
    }
}
