//! What is said of the hosts of a whole server: how many do not get all of it, and what most of them lack. The window, the
//! command line and what is copied say it in the same words.

use crate::queries::{HostLosses, LossOutcome, LossesReport, ResultLoss};
use loupe_core::host::Evidence;
use loupe_core::host::losses::{HostLoss, LossEffect, LossKind};
use loupe_core::number::{grouped, number_of};
use loupe_core::token::{Encoding, Tokens};

impl LossOutcome {
    /// The title of its hosts.
    pub fn title(self) -> &'static str {
        match self {
            Self::EveryTool => "Lose every tool",
            Self::Part => "Lose a part",
            Self::Nothing => "Lose nothing known",
            Self::NotKnown => "Not known",
        }
    }

    /// "2 lose every tool", "1 loses a part".
    pub fn count_hosts(self, hosts: usize) -> String {
        let (one, many) = match self {
            Self::EveryTool => ("loses every tool", "lose every tool"),
            Self::Part => ("loses a part", "lose a part"),
            Self::Nothing => ("loses nothing known", "lose nothing known"),
            Self::NotKnown => ("not known", "not known"),
        };
        let words = if hosts == 1 { one } else { many };
        format!("{} {words}", grouped(hosts as u64))
    }
}

/// Where something is lost: a column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossColumn {
    Tools,
    Definitions,
    Results,
}

impl LossColumn {
    pub const ALL: [Self; 3] = [Self::Tools, Self::Definitions, Self::Results];

    pub fn title(self) -> &'static str {
        match self {
            Self::Tools => "Loses tools",
            Self::Definitions => "Loses in definitions",
            Self::Results => "Loses in results",
        }
    }

    /// "tools".
    pub fn short(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Definitions => "definitions",
            Self::Results => "results",
        }
    }
}

/// One line of a cell.
#[derive(Clone, Copy, Debug)]
pub enum LossLine<'a> {
    Definition(&'a HostLoss),
    Result(&'a ResultLoss),
}

impl<'a> LossLine<'a> {
    pub fn text(self) -> &'a str {
        match self {
            Self::Definition(loss) => &loss.text,
            Self::Result(loss) => &loss.text,
        }
    }

    /// Whether the host's rule is not known, so that nothing is said to be lost.
    pub fn is_not_known(self) -> bool {
        match self {
            Self::Definition(loss) => loss.effect == LossEffect::NotKnown,
            Self::Result(loss) => !loss.is_known(),
        }
    }

    /// Whether every tool is lost.
    pub fn is_all(self) -> bool {
        matches!(self, Self::Definition(loss) if loss.effect == LossEffect::EveryTool)
    }
}

impl HostLosses {
    /// What stands in a cell, worst first; nothing where nothing is lost there.
    pub fn lines(&self, column: LossColumn) -> Vec<LossLine<'_>> {
        let definitions = |is_of_tools| {
            let losses = self.losses.iter();
            losses
                .filter(move |loss| loss.kind.is_of_tools() == is_of_tools)
                .map(LossLine::Definition)
                .collect()
        };
        match column {
            LossColumn::Tools => definitions(true),
            LossColumn::Definitions => definitions(false),
            LossColumn::Results => self.results.iter().map(LossLine::Result).collect(),
        }
    }
}

/// One loss, with its tools.
pub fn loss_sentence(loss: &HostLoss, report: &LossesReport) -> String {
    const NAMED: usize = 5;

    let mut names: Vec<&str> = loss
        .tools
        .iter()
        .filter_map(|at| report.tools.get(*at))
        .map(|tool| tool.name.as_str())
        .take(NAMED)
        .collect();
    let more = format!("{} more", grouped((loss.tools.len() - names.len()) as u64));
    if loss.tools.len() > NAMED {
        names.push(&more);
    }
    let which = if names.is_empty() {
        String::new()
    } else {
        format!(" ({})", names.join(", "))
    };
    format!("{}{which}", loss.text)
}

/// The largest of several hosts' costs: `≤` where they differ, and of how many it is not known.
pub fn costs_text(costs: &[Option<Tokens>], encoding: Encoding) -> String {
    let known: Vec<u64> = costs
        .iter()
        .flatten()
        .map(|tokens| tokens.get(encoding))
        .collect();
    let unknown = costs.len() - known.len();
    let text = match (known.iter().min(), known.iter().max()) {
        (Some(least), Some(most)) if least < most => format!("≤ {}", grouped(*most)),
        (Some(_), Some(most)) => grouped(*most),
        _ => return "not known".to_owned(),
    };
    match unknown {
        0 => text,
        some => format!("{text}, {} not known", grouped(some as u64)),
    }
}

/// How a loss is known: "source, 2026-11-28: openai/codex…".
pub fn evidence_of(loss: &HostLoss) -> String {
    let how = match loss.evidence.evidence {
        Evidence::Observed => "observed",
        Evidence::Source => "read in its source",
        Evidence::Documented => "documented by its maker",
        Evidence::Inferred => "reported by users, may be wrong",
    };
    match &loss.evidence.source {
        Some(source) => format!("{how}, {}: {source}", loss.evidence.checked),
        None => format!("{how}, {}", loss.evidence.checked),
    }
}

impl LossesReport {
    /// "20 of 28 hosts do not get all of northbeam-crm".
    pub fn headline(&self) -> String {
        let [all, part, nothing, unknown] = self.outcomes();
        let hosts = number_of(self.hosts.len() as u64, "hosts");
        let server = &self.server;
        match (all + part, nothing, unknown) {
            (0, 0, _) => format!("What hosts get of {server} is not known"),
            (0, 1, _) => format!("1 of {hosts} loses nothing known of {server}"),
            (0, some, _) => format!(
                "{} of {hosts} lose nothing known of {server}",
                grouped(some as u64)
            ),
            (1, ..) => format!("1 of {hosts} does not get all of {server}"),
            (some, ..) => format!(
                "{} of {hosts} do not get all of {server}",
                grouped(some as u64)
            ),
        }
    }

    /// The losses most hosts have, each with how many: "10 read only the first page of tools/list."
    pub fn why(&self) -> String {
        let count = |kind: LossKind, effect: Option<LossEffect>| {
            let hosts = self.hosts.iter().filter(|host| {
                host.losses.iter().any(|loss| {
                    loss.kind == kind
                        && match effect {
                            Some(effect) => loss.effect == effect,
                            None => loss.effect != LossEffect::NotKnown,
                        }
                })
            });
            hosts.count()
        };
        let [every, ..] = self.outcomes();
        let mut said: Vec<(usize, String)> = Vec::new();
        let mut say = |hosts: usize, one: &str, many: &str| {
            if hosts > 0 {
                let words = if hosts == 1 { one } else { many };
                said.push((hosts, format!("{} {words}.", grouped(hosts as u64))));
            }
        };
        say(every, "gets no tool", "get no tool");
        let late = self
            .tools
            .iter()
            .filter(|tool| tool.is_after_first_page)
            .count();
        let shown = grouped((self.tools.len() - late) as u64);
        let all = grouped(self.tools.len() as u64);
        say(
            count(LossKind::Pages, Some(LossEffect::Tools)),
            &format!("reads only the first page of tools/list: {shown} of {all} tools"),
            &format!("read only the first page of tools/list: {shown} of {all} tools"),
        );
        say(
            count(LossKind::Instructions, None),
            "does not pass on all of the instructions",
            "do not pass on all of the instructions",
        );
        say(
            count(LossKind::Description, None),
            "cuts a description",
            "cut a description",
        );
        say(
            count(LossKind::Keywords, None),
            "drops keywords of input schemas",
            "drop keywords of input schemas",
        );
        let losing = self.hosts.iter().filter(|host| {
            let results = host.results.iter();
            results.clone().any(ResultLoss::is_known)
        });
        say(
            losing.count(),
            "does not show all of a result",
            "do not show all of a result",
        );
        said.truncate(3);
        said.into_iter()
            .map(|(_, words)| words)
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// The members that no host with a known rule passes on, where all those leave them out.
    pub fn left_out(&self) -> Vec<&'static str> {
        let is_known = |host: &HostLosses, name: &str| {
            let rules = &host.host.definition;
            match name {
                "title" => rules.title.is_some(),
                "outputSchema" => rules.output_schema.is_some(),
                _ => rules.annotations.is_some(),
            }
        };
        ["title", "outputSchema", "annotations"]
            .into_iter()
            .filter(|name| {
                let hosts = || self.hosts.iter().filter(|host| is_known(host, name));
                hosts().next().is_some() && hosts().all(|host| host.left_out.contains(name))
            })
            .collect()
    }
}
