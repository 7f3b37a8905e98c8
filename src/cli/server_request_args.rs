//! What the server asks, answered from the command line: by what was said beforehand, and by nothing else.
//!
//! Declared is what was given. Without an option nothing is: nobody sits here to be asked, and a server that is told so
//! can do without, where one that was promised an answer would wait for it or fail. What it asks all the same is refused
//! and said. Addresses are printed, never opened.

use std::path::Path;
use std::sync::Arc;

use super::args::AnswerArgs;
use super::output;
use loupe_analysis::queries::arguments;
use loupe_client::{Answer, ClientCapabilities};
use loupe_core::json::{Doc, Kind as JsonKind};
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::server_request::{Reply, RequestKind, Root, ServerRequest, form};

/// What stands as the model of an answer that no model gave.
const MODEL: &str = "none (canned answer)";

enum Elicit {
    /// A JSON object; what it leaves out is taken from the form's defaults.
    Content(String),
    Decline,
    Cancel,
}

/// What is declared and answered.
///
/// # Errors
/// An answer that is none, a folder that is none.
pub fn answering(args: &AnswerArgs, quiet: bool) -> Result<ClientCapabilities, Problem> {
    let elicit = args.elicit.as_deref().map(elicit).transpose()?;
    let sampling = args.sampling_reply.clone();
    let roots = args
        .root
        .iter()
        .map(|folder| root(folder))
        .collect::<Result<Vec<_>, _>>()?;
    let (has_elicit, has_sampling) = (elicit.is_some(), sampling.is_some());
    let asker = move |ask: ServerRequest, answer: Answer| {
        let reply = match &ask.wants {
            RequestKind::Form { .. } | RequestKind::Url { .. } => elicit
                .as_ref()
                .map_or(Reply::Cancel, |elicit| elicited(&ask, elicit, quiet)),
            RequestKind::Sampling(_) => match &sampling {
                Some(text) => Reply::Message {
                    text: text.clone(),
                    model: MODEL.into(),
                },
                None => Reply::Refuse("Loupe was not given an answer".into()),
            },
            // Answered from what was declared before anybody is asked.
            RequestKind::Roots => Reply::Cancel,
        };
        let message = ask.message();
        let words = if message.is_empty() {
            String::new()
        } else {
            format!(": {message}")
        };
        output::note(
            quiet,
            &format!("the server {}{words}; {}", ask.title(), reply.word()),
        );
        answer.give(reply);
    };
    Ok(ClientCapabilities {
        elicitation: has_elicit,
        sampling: has_sampling,
        roots: Some(roots).filter(|roots| !roots.is_empty()),
        asker: Some(Arc::new(asker)),
    })
}

fn elicit(text: &str) -> Result<Elicit, Problem> {
    match text {
        "decline" => Ok(Elicit::Decline),
        "cancel" => Ok(Elicit::Cancel),
        _ => {
            let doc = Doc::parse(bytes::Bytes::copy_from_slice(text.as_bytes()));
            if doc.is_json()
                && doc
                    .root()
                    .is_some_and(|root| root.kind() == JsonKind::Object)
            {
                return Ok(Elicit::Content(text.to_owned()));
            }
            Err(Problem::new(
                ProblemKind::Usage,
                "an answer is a JSON object, `decline` or `cancel`",
            )
            .at("--elicit")
            .hint("`--elicit '{}'` takes the defaults of the server's form"))
        }
    }
}

fn elicited(ask: &ServerRequest, elicit: &Elicit, quiet: bool) -> Reply {
    let given = match elicit {
        Elicit::Decline => return Reply::Decline,
        Elicit::Cancel => return Reply::Cancel,
        Elicit::Content(given) => given,
    };
    match &ask.wants {
        RequestKind::Url { url, host, .. } => match host {
            Some(host) => {
                output::note(
                    quiet,
                    &format!("open this address of {host} yourself: {url}"),
                );
                Reply::Accept(None)
            }
            None => {
                output::note(quiet, &format!("not an http or https address: {url}"));
                Reply::Decline
            }
        },
        RequestKind::Form { schema, fields, .. } => {
            let secrets = ask.secrets();
            if !secrets.is_empty() {
                output::note(
                    quiet,
                    &format!(
                        "the server asks for what looks like a secret: {}",
                        secrets.join(", ")
                    ),
                );
            }
            let content = form::content(fields, given);
            match arguments::check(Some(schema), &content) {
                Ok(checked) if checked == Default::default() => Reply::Accept(Some(content)),
                Ok(checked) => {
                    let words: Vec<_> = checked
                        .objections()
                        .iter()
                        .map(|(at, what)| format!("{what} ({at})"))
                        .collect();
                    output::warning(
                        &Problem::new(
                            ProblemKind::Arguments,
                            format!(
                                "the answer does not fit the server's form: {}",
                                words.join("; ")
                            ),
                        )
                        .at("--elicit")
                        .hint("it was cancelled, not accepted"),
                    );
                    Reply::Cancel
                }
                Err((why, ..)) => {
                    output::warning(
                        &Problem::new(
                            ProblemKind::Arguments,
                            format!("the form cannot be filled in: {why}"),
                        )
                        .at("--elicit"),
                    );
                    Reply::Cancel
                }
            }
        }
        RequestKind::Sampling(_) | RequestKind::Roots => Reply::Cancel,
    }
}

/// A folder as servers are told of it.
fn root(folder: &Path) -> Result<Root, Problem> {
    let place = folder.display().to_string();
    let full = std::fs::canonicalize(folder).map_err(|error| {
        Problem::new(
            ProblemKind::Io,
            format!("the folder cannot be used: {error}"),
        )
        .at(place.clone())
    })?;
    if !full.is_dir() {
        return Err(Problem::new(ProblemKind::Usage, "not a folder").at(place));
    }
    let uri = url::Url::from_file_path(&full)
        .map_err(|()| Problem::new(ProblemKind::Usage, "no file address").at(place.clone()))?;
    let name = full
        .file_name()
        .map_or(place, |name| name.to_string_lossy().into_owned());
    Ok(Root {
        uri: uri.into(),
        name,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_given_is_declared() {
        let declared = |args: AnswerArgs| answering(&args, true).unwrap().capabilities();
        assert_eq!(declared(AnswerArgs::default()), "{}");
        assert_eq!(
            declared(AnswerArgs {
                elicit: Some("decline".into()),
                ..AnswerArgs::default()
            }),
            r#"{"elicitation":{"form":{},"url":{}}}"#
        );
        assert_eq!(
            declared(AnswerArgs {
                sampling_reply: Some("hi".into()),
                ..AnswerArgs::default()
            }),
            r#"{"sampling":{}}"#
        );
        let root = AnswerArgs {
            root: vec![std::env::temp_dir()],
            ..AnswerArgs::default()
        };
        assert_eq!(declared(root), r#"{"roots":{"listChanged":true}}"#);
        for bad in ["yes", "[]", "{", ""] {
            assert!(
                answering(
                    &AnswerArgs {
                        elicit: Some(bad.into()),
                        ..AnswerArgs::default()
                    },
                    true
                )
                .is_err(),
                "{bad}"
            );
        }
    }
}
