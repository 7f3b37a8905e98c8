//! The two texts of a diff: of a format or of what a host's model is shown, JSON laid out so that lines can be compared.

use crate::queries::difference::{TextDifference, compare_texts};
use loupe_core::cancel::{Cancel, Cancelled};
use loupe_core::diff::lines::LineOptions;
use loupe_core::format::format_bytes;
use loupe_core::format::{self, ParsedCapture};
use loupe_core::host::{HostId, Hosts, ViewContext};
use loupe_core::json::write::{push_raw, push_scalar, push_string};
use loupe_core::json::{Doc, Kind, Node};
use loupe_core::problem::{Problem, ProblemKind};

/// Texts of no more lines than this are shown whole; of longer ones what stands around the differences.
const WHOLE: usize = 20_000;

/// A text of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextOf {
    /// By format id.
    Format(&'static str),
    /// What this host's model is shown.
    Host(HostId),
}

/// The texts compared.
pub(super) struct Texts {
    pub text: Result<TextDifference, Problem>,
    pub is_laid_out: bool,
}

/// The text, or why there is none.
fn text(of: TextOf, subject: &ParsedCapture, hosts: &Hosts) -> Result<String, Problem> {
    match of {
        TextOf::Format(id) => match format::by_id(id) {
            Some(format) => format_bytes(format, subject)
                .map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
            None => Err(Problem::new(
                ProblemKind::Internal,
                format!("there is no format `{id}`"),
            )),
        },
        TextOf::Host(id) => match hosts.get(id.as_str()) {
            Some(host) => {
                let view = host.view(subject, &ViewContext::new(&subject.capture));
                match &view.not_computable {
                    None => Ok(view.text.to_string()),
                    Some(why) => Err(Problem::new(
                        ProblemKind::Usage,
                        format!("the text of {} cannot be computed: {why}", host.name),
                    )),
                }
            }
            None => {
                Err(Problem::new(ProblemKind::NotFound, "there is no such host").at(id.as_str()))
            }
        },
    }
}

/// Compares the texts asked for; those that are JSON are laid out with their keys in order before.
pub(super) fn texts(
    a: &ParsedCapture,
    b: &ParsedCapture,
    (of_a, of_b): (TextOf, TextOf),
    hosts: &Hosts,
    cancel: &Cancel,
) -> Result<Texts, Cancelled> {
    let (old, new) = match (text(of_a, a, hosts), text(of_b, b, hosts)) {
        (Ok(old), Ok(new)) => (old, new),
        (Err(problem), _) | (_, Err(problem)) => {
            return Ok(Texts {
                text: Err(problem),
                is_laid_out: false,
            });
        }
    };
    let laid_out = |text: &str| -> Result<Option<String>, Cancelled> {
        let doc = Doc::parse(text.to_owned().into());
        match doc.root() {
            Some(root) if doc.is_json() && root.is_container() => lay_out(root, cancel).map(Some),
            _ => Ok(None),
        }
    };
    let (old, new, is_laid_out) = match (laid_out(&old)?, laid_out(&new)?) {
        (Some(old), Some(new)) => (old, new, true),
        _ => (old, new, false),
    };
    let mut options = LineOptions {
        deadline: cancel.deadline(),
        ..LineOptions::default()
    };
    if old.lines().count() + new.lines().count() <= WHOLE {
        options.context = WHOLE;
    }
    Ok(Texts {
        text: Ok(compare_texts(old.into(), new.into(), &options)),
        is_laid_out,
    })
}

/// JSON with one member a line and its keys in order; scalars as they were spelled.
fn lay_out(root: Node<'_>, cancel: &Cancel) -> Result<String, Cancelled> {
    enum Step<'a> {
        Node(Node<'a>, usize, bool),
        Close(char, usize, bool),
    }
    let mut out = String::new();
    let indent =
        |out: &mut String, depth: usize| (0..depth.min(64)).for_each(|_| out.push_str("  "));
    let mut steps = vec![Step::Node(root, 0, false)];
    let mut count = 0_usize;
    while let Some(step) = steps.pop() {
        count += 1;
        if count.is_multiple_of(1_024) {
            cancel.check()?;
        }
        match step {
            Step::Close(bracket, depth, has_comma) => {
                indent(&mut out, depth);
                out.push(bracket);
                out.push_str(if has_comma { ",\n" } else { "\n" });
            }
            Step::Node(node, depth, has_comma) => {
                indent(&mut out, depth);
                if depth > 0
                    && let Some(key) = node.raw_key()
                {
                    match key
                        .strip_prefix(b"\"")
                        .and_then(|key| key.strip_suffix(b"\""))
                    {
                        Some(inside) => push_raw(&mut out, inside),
                        None => push_string(&mut out, &node.key().unwrap_or_default()),
                    }
                    out.push_str(": ");
                }
                let (open, close) = if node.kind() == Kind::Object {
                    ('{', '}')
                } else {
                    ('[', ']')
                };
                if !node.is_container() {
                    push_scalar(&mut out, node);
                } else if node.is_empty() {
                    out.push(open);
                    out.push(close);
                } else {
                    out.push(open);
                    out.push('\n');
                    let mut children: Vec<Node<'_>> = node.children().collect();
                    if node.kind() == Kind::Object {
                        children.sort_by_cached_key(|child| {
                            child.key().map(std::borrow::Cow::into_owned)
                        });
                    }
                    steps.push(Step::Close(close, depth, has_comma));
                    let last = children.len().saturating_sub(1);
                    steps.extend(
                        children
                            .into_iter()
                            .enumerate()
                            .rev()
                            .map(|(at, child)| Step::Node(child, depth + 1, at < last)),
                    );
                    continue;
                }
                out.push_str(if has_comma { ",\n" } else { "\n" });
            }
        }
    }
    while out.ends_with('\n') {
        out.pop();
    }
    Ok(out)
}
