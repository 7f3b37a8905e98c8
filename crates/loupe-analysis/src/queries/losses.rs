//! Which host loses what of a server: of its list of tools, of their definitions, of results; and what the definitions cost
//! in each host.

use std::convert::Infallible;
use std::sync::Arc;

use crate::queries::query::{Ctx, Query, Stop, Weigh};
use crate::queries::{Definitions, HostOutcome, HostsReport};
use loupe_core::cancel::{Cancel, Cancelled};
use loupe_core::capture::Tool;
use loupe_core::host::losses::{HostLoss, ListedServer, LossEffect, LossKind};
use loupe_core::host::rules::Pages;
use loupe_core::host::{Host, Hosts};
use loupe_core::number::grouped;
use loupe_core::parallel::parallel_map;
use loupe_core::token::{self, Tokens};

/// Fewer tools are not worth further threads.
const FEW_TOOLS: usize = 16;

/// What a server's definitions cost in one host, `instructions` included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DefinitionsCost {
    /// As the server sends what this host lists.
    pub listed: Tokens,
    /// As the model gets them; `None` where a rule that matters is not known.
    pub passed_on: Option<Tokens>,
    /// Of these, what is in the prompt before anything is asked.
    pub at_start: Option<Tokens>,
}

/// A result that is not shown whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultLoss {
    pub tool: String,
    pub outcome: HostOutcome,
    /// "cut at 8,000 characters".
    pub text: String,
}

impl ResultLoss {
    /// Whether something is known to be lost; else what the host shows is not known.
    pub fn is_known(&self) -> bool {
        self.outcome != HostOutcome::Unknown
    }
}

/// How much a host loses, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum LossOutcome {
    EveryTool,
    Part,
    Nothing,
    /// Nothing that is known, and rules that matter are not.
    NotKnown,
}

impl LossOutcome {
    pub const ALL: [Self; 4] = [Self::EveryTool, Self::Part, Self::Nothing, Self::NotKnown];

    /// The word in reports.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// One host.
#[derive(Clone, Debug)]
pub struct HostLosses {
    pub host: Arc<Host>,
    /// Of the list and the definitions, worst first.
    pub losses: Vec<HostLoss>,
    /// Of results, where there are any.
    pub results: Vec<ResultLoss>,
    pub cost: DefinitionsCost,
    /// Members that definitions have and no model of this host gets: `title`, `outputSchema`, `annotations`.
    pub left_out: Vec<&'static str>,
    /// Tools for an app alone that this host hides from its model, as their server asks for.
    pub hidden: usize,
}

impl HostLosses {
    pub fn outcome(&self) -> LossOutcome {
        let has = |effect| self.losses.iter().any(|loss| loss.effect == effect);
        match () {
            () if has(LossEffect::EveryTool) => LossOutcome::EveryTool,
            () if has(LossEffect::Tools) || has(LossEffect::Changed) => LossOutcome::Part,
            () if self.results.iter().any(ResultLoss::is_known) => LossOutcome::Part,
            () if has(LossEffect::NotKnown) || !self.results.is_empty() => LossOutcome::NotKnown,
            () => LossOutcome::Nothing,
        }
    }

    /// How many tools do not arrive.
    pub fn lost_tools(&self, all: usize) -> usize {
        let mut lost = vec![false; all];
        for loss in &self.losses {
            match loss.effect {
                LossEffect::EveryTool => return all,
                LossEffect::Tools => loss.tools.iter().for_each(|at| lost[*at] = true),
                LossEffect::Changed | LossEffect::NotKnown => {}
            }
        }
        lost.into_iter().filter(|lost| *lost).count()
    }

    /// Whether it is the same for people: what is lost, in the same words.
    fn is_like(&self, other: &Self) -> bool {
        self.outcome() == other.outcome()
            && self.losses.len() == other.losses.len()
            && self.losses.iter().zip(&other.losses).all(|(own, their)| {
                (own.effect, &own.text, &own.tools) == (their.effect, &their.text, &their.tools)
            })
            && self.results == other.results
    }
}

/// Every host.
#[derive(Clone, Debug, Default)]
pub struct LossesReport {
    /// The server with its version, for people.
    pub server: String,
    /// The name that a host's configuration gives it: its own.
    pub server_name: String,
    pub tools: Vec<Arc<Tool>>,
    pub instructions: Option<String>,
    /// Of results that were looked at.
    pub results: usize,
    /// In the order of the hosts.
    pub hosts: Vec<HostLosses>,
}

impl LossesReport {
    /// # Errors
    /// [`Cancelled`] if the caller cancelled.
    pub fn new(
        definitions: &Definitions,
        hosts: &Hosts,
        cancel: &Cancel,
    ) -> Result<Self, Cancelled> {
        let Definitions { server, tools } = definitions;
        // As for the views of results: a server without a name is called so.
        let name = match server.label() {
            "" => "server",
            name => name,
        };
        let listing = ListedServer {
            server: name,
            tools,
            instructions: server.instructions.as_deref(),
        };
        let all: Vec<&Arc<Host>> = hosts.iter().collect();
        let counts = parallel_map(tools, tools.len() < FEW_TOOLS, |tool| {
            cancel.check()?;
            Ok::<_, Cancelled>(ToolCounts::new(tool, listing.server, &all))
        })?;
        let Ok(losses) = parallel_map(&all, tools.len() < FEW_TOOLS, |host| {
            Ok::<_, Infallible>(host.losses(&listing))
        });
        cancel.check()?;
        let instructions = Instructions::new(listing.instructions, &all);
        let hosts = all
            .into_iter()
            .zip(losses)
            .enumerate()
            .map(|(at, (host, losses))| {
                let cost = cost(at, host, &losses, tools, &counts, &instructions);
                HostLosses {
                    left_out: left_out(host, tools),
                    hidden: if host.definition.visibility == Some(true) {
                        tools.iter().filter(|tool| tool.is_for_app_alone).count()
                    } else {
                        0
                    },
                    host: Arc::clone(host),
                    losses,
                    results: Vec::new(),
                    cost,
                }
            });
        Ok(Self {
            server: match server.name.is_empty() && server.given_name.is_none() {
                true => "these definitions".to_owned(),
                false => server.heading(),
            },
            server_name: name.to_owned(),
            instructions: server.instructions.clone(),
            tools: tools.clone(),
            results: 0,
            hosts: hosts.collect(),
        })
    }

    /// The same with what hosts make of a result of one of the tools.
    #[must_use]
    pub fn with_result(mut self, tool: &str, report: &HostsReport) -> Self {
        self.results += 1;
        for (host, row) in self.hosts.iter_mut().zip(&report.rows) {
            if row.outcome == HostOutcome::All && !row.hides_error() {
                continue;
            }
            let mut text = match row.outcome {
                HostOutcome::Facts | HostOutcome::Nothing if row.missing() > 0 => format!(
                    "{} of {} facts missing",
                    grouped(row.missing()),
                    grouped(row.shown().1)
                ),
                HostOutcome::All => "isError not passed on".to_owned(),
                _ => row.happens(),
            };
            if row.outcome == HostOutcome::Unknown {
                text = format!("not known: {text}");
            }
            let outcome = match row.outcome {
                HostOutcome::All => HostOutcome::Part,
                outcome => outcome,
            };
            let loss = ResultLoss {
                tool: tool.to_owned(),
                outcome,
                text,
            };
            if !host.results.contains(&loss) {
                host.results.push(loss);
            }
        }
        self
    }

    /// Hosts that lose the same, worst first, as positions in `hosts`.
    pub fn lanes(&self) -> Vec<Vec<usize>> {
        let mut lanes: Vec<Vec<usize>> = Vec::new();
        for (at, host) in self.hosts.iter().enumerate() {
            match lanes
                .iter_mut()
                .find(|lane| self.hosts[lane[0]].is_like(host))
            {
                Some(lane) => lane.push(at),
                None => lanes.push(vec![at]),
            }
        }
        lanes.sort_by_key(|lane| {
            let host = &self.hosts[lane[0]];
            let lost = host.lost_tools(self.tools.len());
            let known = host
                .losses
                .iter()
                .filter(|loss| loss.effect != LossEffect::NotKnown);
            let things = known.count() + host.results.len();
            (host.outcome(), std::cmp::Reverse((lost, things)), lane[0])
        });
        lanes
    }

    /// How many hosts there are of each [`LossOutcome::ALL`].
    pub fn outcomes(&self) -> [usize; 4] {
        LossOutcome::ALL.map(|outcome| {
            let hosts = self.hosts.iter();
            hosts.filter(|host| host.outcome() == outcome).count()
        })
    }
}

/// One definition in every host.
struct ToolCounts {
    listed: Tokens,
    /// The definition as the model gets it, and whether all of it is known.
    passed_on: Vec<(Tokens, bool)>,
    /// The name alone, by which a model finds it later.
    names: Vec<Tokens>,
}

impl ToolCounts {
    fn new(tool: &Tool, server: &str, hosts: &[&Arc<Host>]) -> Self {
        let mut known: Vec<(String, Tokens)> = Vec::new();
        let mut count = |text: String| {
            if let Some((_, tokens)) = known.iter().find(|(own, _)| *own == text) {
                return *tokens;
            }
            let tokens = token::count(&text);
            known.push((text, tokens));
            tokens
        };
        let mut counts = Self {
            listed: count(String::from_utf8_lossy(&tool.raw).into_owned()),
            passed_on: Vec::with_capacity(hosts.len()),
            names: Vec::with_capacity(hosts.len()),
        };
        for host in hosts {
            let (definition, text) = host.definition(tool, server);
            let is_known = definition.is_known();
            counts
                .names
                .push(count(definition.name.unwrap_or_default()));
            counts.passed_on.push((count(text), is_known));
        }
        counts
    }
}

/// `instructions` as sent, and as each host's model gets them.
struct Instructions {
    listed: Tokens,
    /// `None` where it is not known.
    passed_on: Vec<Option<Tokens>>,
}

impl Instructions {
    fn new(sent: Option<&str>, hosts: &[&Arc<Host>]) -> Self {
        let Some(sent) = sent else {
            return Self {
                listed: Tokens::default(),
                passed_on: vec![Some(Tokens::default()); hosts.len()],
            };
        };
        let listed = token::count(sent);
        let count = |host: &&Arc<Host>| {
            let shown = host.instructions(sent)?;
            Some(match shown.text {
                Some(text) if text.len() == sent.len() => listed,
                Some(text) => token::count(&text),
                None => Tokens::default(),
            })
        };
        Self {
            listed,
            passed_on: hosts.iter().map(count).collect(),
        }
    }
}

fn cost(
    at: usize,
    host: &Host,
    losses: &[HostLoss],
    tools: &[Arc<Tool>],
    counts: &[ToolCounts],
    instructions: &Instructions,
) -> DefinitionsCost {
    let rules = &host.definition;
    let is_listed =
        |at: &usize| !(tools[*at].is_after_first_page && rules.pages == Some(Pages::First));
    let listed = (0..tools.len())
        .filter(is_listed)
        .fold(instructions.listed, |sum, at| sum.plus(counts[at].listed));
    let mut cost = DefinitionsCost {
        listed,
        ..DefinitionsCost::default()
    };
    let mut lost = vec![false; tools.len()];
    for loss in losses {
        match (loss.effect, loss.kind) {
            // The instructions come by another way than a list that cannot be read.
            (
                LossEffect::EveryTool,
                LossKind::InputReference | LossKind::OutputReference | LossKind::BooleanSchema,
            ) => {
                cost.passed_on = instructions.passed_on[at];
                cost.at_start = cost.passed_on;
                return cost;
            }
            (LossEffect::EveryTool, _) => {
                cost.passed_on = Some(Tokens::default());
                cost.at_start = cost.passed_on;
                return cost;
            }
            (LossEffect::Tools, _) => loss.tools.iter().for_each(|at| lost[*at] = true),
            _ => {}
        }
    }
    let is_hidden = |tool: &Tool| tool.is_for_app_alone && rules.visibility == Some(true);
    let arrives: Vec<usize> = (0..tools.len())
        .filter(|at| !lost[*at] && !is_hidden(&tools[*at]))
        .collect();
    let is_open = losses
        .iter()
        .any(|loss| loss.effect == LossEffect::NotKnown && loss.kind.is_of_tools());
    let Some(said) = instructions.passed_on[at].filter(|_| !is_open) else {
        return cost;
    };
    let mut passed_on = Some(said);
    let mut names = said;
    for tool in &arrives {
        let (tokens, is_known) = counts[*tool].passed_on[at];
        passed_on = passed_on.filter(|_| is_known).map(|sum| sum.plus(tokens));
        names = names.plus(counts[*tool].names[at]);
    }
    cost.passed_on = passed_on;
    cost.at_start = match rules.loading.as_deref() {
        Some("direct") => passed_on,
        // By its name the model finds a tool later.
        Some("deferred") => rules.name.is_some().then_some(names),
        _ => None,
    };
    cost
}

/// Members of definitions that are there and no model of this host gets.
fn left_out(host: &Host, tools: &[Arc<Tool>]) -> Vec<&'static str> {
    let rules = &host.definition;
    let has = |is_one: fn(&Tool) -> bool| tools.iter().any(|tool| is_one(tool));
    let mut out = Vec::new();
    if rules.title == Some(false) && has(|tool| tool.title.is_some()) {
        out.push("title");
    }
    if rules.output_schema == Some(false) && has(|tool| tool.output_schema.is_some()) {
        out.push("outputSchema");
    }
    if rules.annotations == Some(false) && has(|tool| tool.annotations.is_declared()) {
        out.push("annotations");
    }
    out
}

/// Which host loses what of the definitions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LossesQuery;

impl Query for LossesQuery {
    type Out = Arc<LossesReport>;
    const IS_COUNT: bool = true;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        Ok(Arc::new(LossesReport::new(
            cx.listing()?,
            cx.hosts,
            cx.cancel,
        )?))
    }
}

impl Weigh for LossesReport {
    fn weight(&self) -> usize {
        self.hosts
            .iter()
            .flat_map(|host| &host.losses)
            .map(|loss| size_of_val(loss) + loss.text.len() + loss.tools.len() * size_of::<usize>())
            .sum()
    }
}
