//! What a session cost the model of a host: definitions, instructions, arguments, results; what was sent twice, never
//! called, largest; and the same results in every format and every host.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Definitions, DefinitionsCost, HostOutcome, HostsReport, LossesReport, ReportDetail};
use loupe_core::cancel::{Cancel, Cancelled};
use loupe_core::capture::{Capture, Outcome, Tool};
use loupe_core::format::claim::Claim;
use loupe_core::format::ledger::Row;
use loupe_core::format::{FORMATS, ParsedCapture, by_id};
use loupe_core::host::{Host, Hosts};
use loupe_core::token::{self, Encoding, Tokens};

/// What a session is made of.
#[derive(Clone, Debug, Default)]
pub struct SessionCalls {
    pub definitions: Definitions,
    /// The calls, in their order.
    pub captures: Vec<Arc<Capture>>,
    /// How the host named itself; empty where that is not known.
    pub client: String,
    /// The version that it named.
    pub client_version: String,
}

/// What a session cost.
#[derive(Clone, Debug)]
pub struct SessionBill {
    pub calls: usize,
    /// Calls without a result: errors of the protocol, and those that were not answered.
    pub failed: usize,
    /// The host, where its rules are known.
    pub host: Option<Arc<Host>>,
    /// Definitions and `instructions` together: as listed, as passed on, at the start of the session.
    pub definitions: DefinitionsCost,
    pub instructions: Tokens,
    pub arguments: Tokens,
    /// What one model reads of the results: in the host, else the text, or the data of a result without text.
    pub results: Tokens,
    /// Results whose tokens in the host are not known; they are counted as their text.
    pub not_known: usize,
    /// Results of which the host cuts something off.
    pub cut: usize,
    /// Of what was sent, the smaller part of results that have the same data as text and as `structuredContent`.
    pub sent_twice: Tokens,
    pub never_called: Vec<UncalledTool>,
    /// The results with most tokens.
    pub largest: Vec<LargeResult>,
    pub formats: Vec<FormatTotal>,
    pub hosts: Vec<HostTotal>,
    /// Names of the tools that were called.
    called: BTreeSet<String>,
}

/// What one call cost.
#[derive(Clone, Debug)]
pub struct CallCost {
    /// What one model reads of the result.
    pub tokens: Tokens,
    /// What the host's model is shown of it, in words; `None` where the host is not known.
    pub shown: Option<(HostOutcome, String)>,
}

/// A tool and what its definition costs.
#[derive(Clone, Debug)]
pub struct UncalledTool {
    pub tool: Arc<Tool>,
    pub tokens: Tokens,
}

/// A result among the largest.
#[derive(Clone, Debug)]
pub struct LargeResult {
    /// The number of the call, from 1.
    pub number: usize,
    pub tool: String,
    pub tokens: Tokens,
}

/// All results in one format.
#[derive(Clone, Copy, Debug)]
pub struct FormatTotal {
    pub format: &'static str,
    pub tokens: Tokens,
    /// Results that lose nothing in this format; the others are counted as they are read.
    pub results: usize,
}

/// All results in one host.
#[derive(Clone, Debug)]
pub struct HostTotal {
    pub host: Arc<Host>,
    pub tokens: Tokens,
    /// Results whose text in this host is known; the others are not in the sum.
    pub results: usize,
    /// Of these, results that its model is not shown whole: the sum is of what is left of them.
    pub not_whole: usize,
}

/// Results that are listed as the largest.
const LARGEST: usize = 10;

impl SessionBill {
    /// # Errors
    /// [`Cancelled`] if the caller cancelled.
    pub fn new(session: &SessionCalls, hosts: &Hosts, cancel: &Cancel) -> Result<Self, Cancelled> {
        let mut bill = Self::without_calls(&session.definitions, &session.client, hosts, cancel)?;
        for capture in &session.captures {
            bill.add(capture, hosts, cancel)?;
        }
        Ok(bill)
    }

    /// The bill of a session before its first call.
    ///
    /// # Errors
    /// [`Cancelled`] if the caller cancelled.
    pub fn without_calls(
        definitions: &Definitions,
        client: &str,
        hosts: &Hosts,
        cancel: &Cancel,
    ) -> Result<Self, Cancelled> {
        let mut bill = Self {
            calls: 0,
            failed: 0,
            host: host_of(hosts, client),
            definitions: DefinitionsCost::default(),
            instructions: Tokens::default(),
            arguments: Tokens::default(),
            results: Tokens::default(),
            not_known: 0,
            cut: 0,
            sent_twice: Tokens::default(),
            never_called: Vec::new(),
            largest: Vec::new(),
            formats: derived()
                .map(|format| FormatTotal {
                    format,
                    tokens: Tokens::default(),
                    results: 0,
                })
                .collect(),
            hosts: hosts
                .iter()
                .map(|host| HostTotal {
                    host: Arc::clone(host),
                    tokens: Tokens::default(),
                    results: 0,
                    not_whole: 0,
                })
                .collect(),
            called: BTreeSet::new(),
        };
        bill.use_definitions(definitions, hosts, cancel)?;
        Ok(bill)
    }

    /// Counts these definitions from here on, which the server listed anew.
    ///
    /// # Errors
    /// [`Cancelled`] if the caller cancelled.
    pub fn use_definitions(
        &mut self,
        definitions: &Definitions,
        hosts: &Hosts,
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        let losses = LossesReport::new(definitions, hosts, cancel)?;
        let own = self
            .host
            .as_ref()
            .and_then(|host| losses.hosts.iter().find(|row| row.host.id == host.id));
        let listed = losses.hosts.first().map(|row| row.cost.listed);
        self.definitions = own.map_or(
            DefinitionsCost {
                listed: listed.unwrap_or_default(),
                ..DefinitionsCost::default()
            },
            |row| row.cost,
        );
        self.instructions = token::count(losses.instructions.as_deref().unwrap_or_default());
        let never = definitions
            .tools
            .iter()
            .filter(|tool| !self.called.contains(&tool.name))
            .map(|tool| UncalledTool {
                tool: Arc::clone(tool),
                tokens: token::count(&String::from_utf8_lossy(&tool.raw)),
            });
        self.never_called = never.collect();
        self.never_called
            .sort_by_key(|cost| std::cmp::Reverse(cost.tokens.o200k_base));
        Ok(())
    }

    /// Adds the next call, and says what it cost.
    ///
    /// # Errors
    /// [`Cancelled`] if the caller cancelled; the bill is of no use any more.
    pub fn add(
        &mut self,
        capture: &Arc<Capture>,
        hosts: &Hosts,
        cancel: &Cancel,
    ) -> Result<CallCost, Cancelled> {
        let subject = ParsedCapture::new(Arc::clone(capture));
        let report = HostsReport::so_far(&subject, hosts, ReportDetail::Figures, cancel);
        cancel.check()?;
        self.calls += 1;
        if self.called.insert(capture.tool.name.clone()) {
            self.never_called
                .retain(|cost| cost.tool.name != capture.tool.name);
        }
        self.arguments = self
            .arguments
            .plus(token::count(&String::from_utf8_lossy(&capture.arguments)));
        if !matches!(capture.outcome, Outcome::Result | Outcome::ToolError) {
            self.failed += 1;
        }
        let row = |id: &str| {
            by_id(id)
                .map(|format| Row::measure(format, &subject))
                .filter(Row::is_available)
        };
        let (content, structured) = (row("content"), row("structured"));
        let as_sent = content
            .as_ref()
            .or(structured.as_ref())
            .map(|row| row.tokens)
            .unwrap_or_default();
        if let (Some(content), Some(structured)) = (&content, &structured) {
            let is_same = structured.is_twin
                || matches!(content.claim(), Claim::Proved | Claim::ProvedWithExtra);
            if is_same {
                let smaller = [content, structured]
                    .into_iter()
                    .min_by_key(|row| row.tokens.o200k_base);
                self.sent_twice = self
                    .sent_twice
                    .plus(smaller.map(|row| row.tokens).unwrap_or_default());
            }
        }
        let own_row = self.host.as_ref().and_then(|host| report.row(host.id));
        let own = own_row.and_then(|row| row.tokens);
        self.cut += usize::from(own_row.is_some_and(|row| row.outcome == HostOutcome::Cut));
        self.not_known += usize::from(self.host.is_some() && own.is_none());
        let read = own.unwrap_or(as_sent);
        self.results = self.results.plus(read);
        self.add_to_largest(capture, read);
        for total in &mut self.hosts {
            if let Some(row) = report.row(total.host.id)
                && let Some(tokens) = row.tokens
            {
                total.tokens = total.tokens.plus(tokens);
                total.results += 1;
                total.not_whole += usize::from(row.outcome != HostOutcome::All);
            }
        }
        for total in &mut self.formats {
            cancel.check()?;
            match row(total.format).filter(Row::loses_nothing) {
                Some(row) => {
                    total.tokens = total.tokens.plus(row.tokens);
                    total.results += 1;
                }
                None => total.tokens = total.tokens.plus(read),
            }
        }
        Ok(CallCost {
            tokens: read,
            shown: own_row.map(|row| (row.outcome, row.sees())),
        })
    }

    fn add_to_largest(&mut self, capture: &Capture, tokens: Tokens) {
        let at = self
            .largest
            .partition_point(|other| other.tokens.o200k_base >= tokens.o200k_base);
        if at < LARGEST {
            self.largest.truncate(LARGEST - 1);
            let result = LargeResult {
                number: self.calls,
                tool: capture.tool.name.clone(),
                tokens,
            };
            self.largest.insert(at, result);
        }
    }

    /// The format in which all results have fewest tokens, if those are fewer than what is read now. Where the host cuts
    /// results, or is not known to show all of one, its sum compares with nothing.
    pub fn cheapest(&self, encoding: Encoding) -> Option<&FormatTotal> {
        if self.cut > 0 || self.not_known > 0 {
            return None;
        }
        let cheapest = self
            .formats
            .iter()
            .filter(|total| total.results > 0)
            .min_by_key(|total| total.tokens.get(encoding))?;
        (cheapest.tokens.get(encoding) < self.results.get(encoding)).then_some(cheapest)
    }

    /// The hosts that results are known of: first where most are known, then where most are shown whole, then by tokens. A
    /// sum of what is left of results is no better than one of whole results.
    pub fn ranked_hosts(&self, encoding: Encoding) -> Vec<&HostTotal> {
        let mut hosts: Vec<_> = self
            .hosts
            .iter()
            .filter(|total| total.results > 0)
            .collect();
        hosts.sort_by_key(|total| {
            let known = std::cmp::Reverse(total.results);
            (known, total.not_whole, total.tokens.get(encoding))
        });
        hosts
    }

    /// What one model reads in all, at least and at most: a host that loads definitions on demand reads those it needs,
    /// besides what is there at the start.
    pub fn total(&self) -> [Tokens; 2] {
        let most = self
            .definitions
            .passed_on
            .unwrap_or(self.definitions.listed);
        let least = self.definitions.at_start.unwrap_or(most);
        [least, most].map(|definitions| definitions.plus(self.arguments).plus(self.results))
    }
}

/// The host whose client names itself so.
pub fn host_of(hosts: &Hosts, client: &str) -> Option<Arc<Host>> {
    let is_so = |host: &&Arc<Host>| {
        let rules = host.client.as_ref();
        rules.is_some_and(|rules| !client.is_empty() && is_name(&rules.name, client))
    };
    hosts.iter().find(is_so).cloned()
}

/// Whether a client's name is that of the rules, which may hold the server's name: `qwen-cli-mcp-client-{server}`.
fn is_name(rule: &str, client: &str) -> bool {
    match rule.split_once("{server}") {
        // A name that is the server's alone is no host's.
        Some(("", "")) | None => rule == client,
        Some((before, after)) => client
            .strip_prefix(before)
            .and_then(|rest| rest.strip_suffix(after))
            .is_some_and(|server| !server.is_empty()),
    }
}

fn derived() -> impl Iterator<Item = &'static str> {
    FORMATS
        .iter()
        .map(|format| format.id())
        .filter(|id| !["content", "structured", "both", "wire"].contains(id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use loupe_core::capture::{CaptureId, Server};

    fn call(tool: &str, result: &str) -> Arc<Capture> {
        let mut capture = Capture::empty(CaptureId(tool.into()), Server::default());
        capture.tool = Tool::unlisted(tool);
        capture.arguments = Bytes::from_static(b"{\"q\":1}");
        capture.outcome = Outcome::Result;
        capture.response = Some(format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#).into());
        Arc::new(capture)
    }

    #[test]
    fn a_bill_adds_up_and_names_what_is_never_called() {
        let data =
            r#"{"records":[{"id":1,"city":"Bonn"},{"id":2,"city":"Rome"},{"id":3,"city":"Oslo"}]}"#;
        let twice = format!(
            r#"{{"content":[{{"type":"text","text":{}}}],"structuredContent":{data}}}"#,
            serde_json::to_string(data).unwrap()
        );
        let tools = ["list", "never"].map(|name| {
            Arc::new(Tool::read(
                format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#).into(),
            ))
        });
        let session = SessionCalls {
            definitions: Definitions {
                server: Server::default(),
                tools: tools.to_vec(),
            },
            captures: vec![
                call("list", &twice),
                call("list", r#"{"content":[{"type":"text","text":"done"}]}"#),
            ],
            client: "claude-code".into(),
            client_version: String::new(),
        };
        let bill = SessionBill::new(&session, &Hosts::built_in(), &Cancel::new()).unwrap();
        assert_eq!((bill.calls, bill.failed), (2, 0));
        assert_eq!(
            bill.host.as_ref().map(|host| &*host.name),
            Some("Claude Code")
        );
        assert_eq!(
            bill.never_called
                .iter()
                .map(|cost| &*cost.tool.name)
                .collect::<Vec<_>>(),
            ["never"]
        );
        let data = token::count(data);
        assert_eq!(bill.sent_twice, data);
        assert_eq!(bill.largest[0].number, 1);
        let table = bill
            .formats
            .iter()
            .find(|total| total.format == "json-table")
            .unwrap();
        assert!(
            table.results == 1 && table.tokens.o200k_base < data.o200k_base + 2,
            "{table:?}"
        );
        let rest = bill.arguments.plus(bill.results);
        let all = [bill.definitions.at_start, bill.definitions.passed_on];
        assert_eq!(
            all.map(|definitions| definitions.unwrap().plus(rest)),
            bill.total()
        );
    }
}
