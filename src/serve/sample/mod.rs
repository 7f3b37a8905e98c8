//! The sample server: three real systems re-created with their templates, errors, limits and faults.
//!
//! The faults are the point and are kept exactly; comments call them by that name. Nothing is random and the clock
//! stands still, so two runs are equal byte for byte. State belongs to one `Sample` and goes with it.

mod data;
mod dial;
mod dual;
mod hostile;
mod page;
mod records;
mod schema;
mod strict;
mod text;
mod words;

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use serde_json::{Value, json};

use self::schema::{Args, Field, Violation, schema};
use super::Backend;
use super::rpc::{self, INVALID_PARAMS, Refusal, Service};
use crate::json::Node;
use crate::problem::{Kind, Problem};
use crate::source::SampleSpec;

const DEFAULT_SIZE: usize = 500;
/// Far more than any comparison needs.
const MAX_SIZE: usize = 100_000;

/// The built-in sample server.
pub struct Sample {
    groups: Vec<Box<dyn Group>>,
    /// The full name of every tool, with its group and its place there.
    index: BTreeMap<String, (usize, usize)>,
    definitions: String,
}

impl Sample {
    /// Makes the records of the chosen set.
    ///
    /// # Errors
    /// An unknown set, key or value.
    pub fn new(spec: &SampleSpec) -> Result<Self, Problem> {
        let usage = |what: String| Problem::new(Kind::Usage, what).at("--sample");
        let (mut size, mut hostile) = (DEFAULT_SIZE, false);
        for (key, value) in &spec.keys {
            match (key.as_str(), value.as_str()) {
                ("size", value) => {
                    size = value.parse().ok().filter(|size| *size <= MAX_SIZE).ok_or_else(|| {
                        usage(format!("`size` takes a number, not `{value}`")).hint(format!("give 0 to {MAX_SIZE}"))
                    })?;
                }
                ("data", "plain") => hostile = false,
                ("data", "hostile") => hostile = true,
                ("data", value) => return Err(usage(format!("unknown value of `data` `{value}`")).hint("one of plain, hostile")),
                (key, _) => return Err(usage(format!("unknown sample key `{key}`")).hint("one of data, size")),
            }
        }
        let unique = spec.set == "all";
        let dual = || Set::boxed(&dual::KIT, unique, data::Desk::new(size, hostile));
        let strict = || Set::boxed(&strict::KIT, unique, data::Desk::new(size, hostile));
        let dial = || Set::boxed(&dial::KIT, unique, data::Directory::new(size, hostile));
        let groups = match spec.set.as_str() {
            "all" => vec![dual(), strict(), dial()],
            "autotask-dual" => vec![dual()],
            "autotask-strict" => vec![strict()],
            "dial" => vec![dial()],
            other => {
                return Err(
                    usage(format!("unknown sample set `{other}`")).hint(format!("one of {}", SampleSpec::SETS.join(", ")))
                );
            }
        };
        let mut index = BTreeMap::new();
        let mut definitions = Vec::new();
        for (place, group) in groups.iter().enumerate() {
            for (position, definition) in group.definitions().into_iter().enumerate() {
                if let Some(name) = definition["name"].as_str() {
                    index.insert(name.to_owned(), (place, position));
                }
                definitions.push(definition);
            }
        }
        Ok(Self { groups, index, definitions: Value::Array(definitions).to_string() })
    }
}

impl Backend for Sample {
    fn handle(&self, message: &[u8]) -> Vec<Bytes> {
        rpc::answer(self, message)
    }
}

impl Service for Sample {
    fn name(&self) -> &str {
        "loupe-sample"
    }

    fn version(&self) -> &str {
        env!("CARGO_PKG_VERSION")
    }

    fn instructions(&self) -> &str {
        "Loupe's sample server: re-creates the response formats of real MCP servers, faults included, over made-up records. \
         Each tool's description says which system and variant it is."
    }

    fn tools(&self) -> &str {
        &self.definitions
    }

    fn call(&self, tool: &str, arguments: Option<Node<'_>>) -> Result<String, Refusal> {
        let Some(&(group, position)) = self.index.get(tool) else {
            let known: Vec<_> = self.index.keys().map(String::as_str).collect();
            return Err(Refusal::new(INVALID_PARAMS, format!("Unknown tool: {tool}. Known tools: {}", known.join(", "))));
        };
        Ok(self.groups[group].call(position, arguments).to_string())
    }
}

/// The hints a tool declares. Those left out are not sent.
struct Hints {
    read_only: bool,
    destructive: Option<bool>,
    idempotent: Option<bool>,
    open_world: Option<bool>,
}

/// One tool of a system whose records are `S`.
struct Tool<S: 'static> {
    /// Without the prefix of its set.
    name: &'static str,
    title: Option<&'static str>,
    /// One sentence.
    about: &'static str,
    hints: Option<&'static Hints>,
    fields: &'static [Field],
    run: fn(&mut S, &Call<'_>) -> Value,
}

/// What makes one system: its names, its tools, and how it takes bad arguments.
struct Kit<S: 'static> {
    /// Prefix of the tool names in its own set, and where all sets stand together.
    original: &'static str,
    unique: &'static str,
    /// Second sentence of every description: the system and the variant.
    variant: &'static str,
    /// Whether unknown arguments are refused.
    closed: bool,
    tools: &'static [Tool<S>],
    invalid: fn(&[Violation], &Call<'_>) -> Value,
}

/// One call, checked.
struct Call<'a> {
    args: Args<'a>,
    prefix: &'static str,
    /// The tool's name in its own set, and the arguments as they were sent.
    tool: &'static str,
    raw: &'a [u8],
}

impl Call<'_> {
    /// The full name of a tool of the same set, as a text has to give it.
    fn tool(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }
}

/// A system at work, its kind of records hidden.
trait Group: Send + Sync {
    fn definitions(&self) -> Vec<Value>;
    fn call(&self, position: usize, arguments: Option<Node<'_>>) -> Value;
}

struct Set<S: 'static> {
    kit: &'static Kit<S>,
    prefix: &'static str,
    state: Mutex<S>,
}

impl<S: Send> Set<S> {
    fn boxed(kit: &'static Kit<S>, unique: bool, state: S) -> Box<dyn Group> {
        Box::new(Self { kit, prefix: if unique { kit.unique } else { kit.original }, state: Mutex::new(state) })
    }
}

impl<S: Send> Group for Set<S> {
    fn definitions(&self) -> Vec<Value> {
        let definition = |tool: &Tool<S>| {
            let mut definition = json!({
                "name": format!("{}{}", self.prefix, tool.name),
                "description": format!("{} {}", tool.about, self.kit.variant),
                "inputSchema": schema(tool.fields, self.kit.closed),
            });
            if let Some(hints) = tool.hints {
                let mut annotations = json!({});
                if let Some(title) = tool.title {
                    annotations["title"] = title.into();
                }
                annotations["readOnlyHint"] = hints.read_only.into();
                let others = [
                    ("destructiveHint", hints.destructive),
                    ("idempotentHint", hints.idempotent),
                    ("openWorldHint", hints.open_world),
                ];
                for (name, value) in others {
                    if let Some(value) = value {
                        annotations[name] = value.into();
                    }
                }
                definition["annotations"] = annotations;
            }
            definition
        };
        self.kit.tools.iter().map(definition).collect()
    }

    fn call(&self, position: usize, arguments: Option<Node<'_>>) -> Value {
        let tool = &self.kit.tools[position];
        let raw = arguments.map_or(&b"{}"[..], Node::raw);
        let call = Call { args: Args(arguments), prefix: self.prefix, tool: tool.name, raw };
        let violations = call.args.check(tool.fields, self.kit.closed);
        if !violations.is_empty() {
            return (self.kit.invalid)(&violations, &call);
        }
        (tool.run)(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner), &call)
    }
}

/// A result of one text block.
fn text_result(text: &str, is_error: bool) -> Value {
    json!({"content": [{"type": "text", "text": text}], "isError": is_error})
}

#[cfg(test)]
mod tests;
