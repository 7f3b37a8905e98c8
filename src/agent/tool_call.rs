//! One call of a tool: its arguments, its page, what it may still take.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;

use super::{Agent, Stop, visible};
use loupe_analysis::queries::{Ctx, Query};
use loupe_core::cancel::{Cancel, Cancelled};
use loupe_core::format::ParsedCapture;
use loupe_core::host::{Hosts, ReadChoice, ResultPart};
use loupe_core::json::Node;
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::suggest;

/// Entries of a page where nothing is said.
pub const LIMIT: usize = 20;
/// The most that may be asked for.
pub const MOST: usize = 100;

pub struct AgentCall<'a> {
    pub agent: &'a Agent,
    given: Option<Node<'a>>,
    pub stop: &'a Stop,
    pub until: Instant,
}

/// The bytes of a page's entries as JSON, above which no further one is taken. Hosts that show the text and the structured
/// part show them twice, and one cuts what it shows at 8,000 characters.
const PAGE_BYTES: usize = 2_500;

/// The entries of a page, as JSON.
pub struct Entries {
    pub range: Range<usize>,
    pub entries: Vec<Box<RawValue>>,
    pub info: PageJson,
}

/// How many entries there are, and how the next ones are asked for.
#[derive(JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PageJson {
    /// Entries in all.
    in_all: usize,
    /// Leads to the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl Entries {
    pub fn in_all(&self) -> usize {
        self.info.in_all
    }
}

impl<'a> AgentCall<'a> {
    pub fn new(agent: &'a Agent, given: Option<Node<'a>>, stop: &'a Stop) -> Self {
        Self {
            agent,
            given,
            stop,
            until: Instant::now() + agent.options.limit,
        }
    }

    fn argument(&self, name: &str) -> Option<Node<'a>> {
        self.given?.get(name)
    }

    pub fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.argument(name)?.as_str()
    }

    /// The texts of a list.
    pub fn texts(&self, name: &str) -> Vec<Cow<'a, str>> {
        self.argument(name)
            .into_iter()
            .flat_map(Node::children)
            .filter_map(Node::as_str)
            .collect()
    }

    pub fn number(&self, name: &str) -> Option<usize> {
        self.argument(name)?
            .as_i64()
            .and_then(|number| usize::try_from(number).ok())
    }

    /// The arguments for another tool, exactly as written.
    pub fn arguments(&self) -> String {
        self.argument("arguments")
            .map_or_else(|| "{}".to_owned(), |node| node.raw_text().into_owned())
    }

    /// The page of a list with this many entries; always with one, if there is any.
    ///
    /// # Errors
    /// A cursor that no result gave.
    pub fn page<T: Serialize>(
        &self,
        in_all: usize,
        entry: impl Fn(usize) -> T,
    ) -> Result<Entries, Problem> {
        let start = match self.text("cursor") {
            None => 0,
            Some(cursor) => cursor.parse().ok().filter(|at| *at < in_all.max(1)).ok_or_else(|| {
                Problem::new(ProblemKind::Arguments, "no result gave this `cursor`")
                    .at(cursor.chars().take(40).collect::<String>())
                    .hint("give the `nextCursor` of the result before; without `cursor` the first page comes")
            })?,
        };
        let most = in_all.min(start + self.number("limit").unwrap_or(LIMIT).min(MOST));
        let (mut entries, mut bytes) = (Vec::new(), 0);
        for at in start..most {
            let json = visible::json(to_json(&entry(at))?);
            bytes += json.len();
            if bytes > PAGE_BYTES && !entries.is_empty() {
                break;
            }
            entries.push(RawValue::from_string(json).map_err(|error| unwritten(&error))?);
        }
        let range = start..start + entries.len();
        let next_cursor = (range.end < in_all).then(|| range.end.to_string());
        Ok(Entries {
            range,
            entries,
            info: PageJson {
                in_all,
                next_cursor,
            },
        })
    }

    /// The result that an argument names.
    ///
    /// # Errors
    /// There is none, or it may not be opened.
    pub fn subject(&self, name: &str) -> Result<Arc<ParsedCapture>, Problem> {
        let named = self.text(name).unwrap_or_default();
        self.agent.subject(&named, self.number("nth"))
    }

    /// What one model reads, by the argument `sentAs`.
    ///
    /// # Errors
    /// It is neither a part nor a known host.
    pub fn reads(&self) -> Result<ReadChoice, Problem> {
        let Some(word) = self.text("sentAs") else {
            return Ok(ReadChoice::Most);
        };
        ReadChoice::parse(&word, self.hosts()).ok_or_else(|| {
            let known = self
                .hosts()
                .iter()
                .map(|host| host.id.as_str())
                .chain(ResultPart::ALL.map(ResultPart::name));
            let hint = suggest::hint(&word, known)
                .unwrap_or_else(|| "text, data, both, or an id that `hosts` lists".to_owned());
            Problem::new(
                ProblemKind::Arguments,
                "neither a part of the result nor a known host",
            )
            .at(&*word)
            .hint(hint)
        })
    }

    /// The hosts that are known.
    pub(super) fn hosts(&self) -> &Hosts {
        &self.agent.options.hosts
    }

    /// Runs a query about one result.
    ///
    /// # Errors
    /// Its problem, or that it was cancelled.
    pub fn get<Q: Query>(
        &self,
        subject: &Arc<ParsedCapture>,
        query: &Q,
    ) -> Result<Q::Out, Problem> {
        let hosts = &self.agent.options.hosts;
        self.finish_counting(
            Ctx::new(std::slice::from_ref(subject), hosts, &self.stop.jobs).get(query),
        )?
    }

    /// What was counted, unless somebody stopped it.
    ///
    /// # Errors
    /// Why it was stopped.
    pub fn finish_counting<T>(&self, done: Result<T, Cancelled>) -> Result<T, Problem> {
        done.map_err(|_| self.stopped())
    }

    pub fn jobs(&self) -> &Cancel {
        &self.stop.jobs
    }

    /// How long the result may still take.
    pub fn time_left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }

    /// Why what was under way is not done.
    pub fn stopped(&self) -> Problem {
        if self.time_left() > Duration::ZERO {
            return Problem::new(ProblemKind::Cancelled, "cancelled");
        }
        let seconds = self.agent.options.limit.as_secs();
        Problem::new(ProblemKind::Timeout, format!("not done within {seconds} s"))
            .hint("ask for less at once, or configure Loupe with `--timeout SECONDS`")
    }

    /// The failure with a hint that an agent can follow: others speak of options of the command line.
    pub fn why(&self, problem: Problem) -> Problem {
        let hint = match problem.kind {
            ProblemKind::Timeout => {
                return Problem {
                    hint: self.stopped_hint(),
                    ..problem
                };
            }
            _ if problem
                .hint
                .as_ref()
                .is_none_or(|hint| hint.contains("`--") && !hint.contains("configure Loupe")) =>
            {
                match problem.kind {
                    ProblemKind::Spawn
                    | ProblemKind::Connect
                    | ProblemKind::Handshake
                    | ProblemKind::Disconnected => {
                        "start the server by itself and read its output; over stdio its stdout is for MCP messages alone"
                    }
                    ProblemKind::Auth => {
                        "log in first, in a terminal: `mcp-loupe tools --login --url URL`"
                    }
                    ProblemKind::RpcError => {
                        "fix how the server responds to this request, or call it with other arguments"
                    }
                    ProblemKind::Consent => {
                        "call the tool with arguments for which the server requests no input; nobody can give it here"
                    }
                    _ => {
                        return Problem {
                            hint: None,
                            ..problem
                        };
                    }
                }
            }
            _ => return problem,
        };
        problem.hint(hint)
    }

    fn stopped_hint(&self) -> Option<String> {
        let seconds = self.agent.options.limit.as_secs();
        Some(format!(
            "a call may take {seconds} s in all; ask for less at once, or configure Loupe with `--timeout SECONDS`"
        ))
    }
}

/// A result as JSON.
///
/// # Errors
/// It cannot be written.
pub fn to_json(result: &impl Serialize) -> Result<String, Problem> {
    serde_json::to_string(result).map_err(|error| unwritten(&error))
}

fn unwritten(error: &serde_json::Error) -> Problem {
    Problem::new(
        ProblemKind::Internal,
        format!("cannot write the result: {error}"),
    )
}
