//! What was known of a server at some time: its tools and its findings, so that only what is new counts.

use std::collections::HashMap;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::Finding;
use loupe_core::capture::{Tool, listed_tools};
use loupe_core::problem::{Problem, ProblemKind};

const SCHEMA: &str = "loupe.baseline/1";

/// A saved state.
#[derive(Clone, Debug, Default)]
pub struct Baseline {
    /// `None` where none were listed: of results alone.
    pub tools: Option<Vec<Tool>>,
    /// How often each finding was there, by fingerprint. `None` of a bare list of tools.
    known: Option<HashMap<String, u64>>,
    answers: Vec<KnownAnswer>,
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    tools: Option<Vec<Box<RawValue>>>,
    findings: Vec<Known>,
    #[serde(default)]
    answers: Vec<KnownAnswer>,
}

#[derive(Serialize)]
struct FileOut<'a> {
    schema: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Vec<&'a RawValue>>,
    findings: Vec<Known>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    answers: Vec<KnownAnswer>,
}

/// What a result cost as it was sent, in `o200k_base`.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct KnownAnswer {
    tool: String,
    tokens: u64,
}

/// A finding by what stays the same of it; the rest is for people.
#[derive(Deserialize, Serialize)]
struct Known {
    fingerprint: String,
    rule: String,
    subject: String,
    message: String,
}

impl Baseline {
    /// Reads a saved state, or a list of tools as `tools --json` prints it or `tools/list` answers.
    ///
    /// # Errors
    /// It is neither.
    pub fn parse(bytes: &Bytes, place: &str) -> Result<Self, Problem> {
        let text = String::from_utf8_lossy(bytes);
        if text.contains(SCHEMA) {
            let file: File = serde_json::from_str(&text).map_err(|error| {
                Problem::new(ProblemKind::Usage, format!("not a valid baseline: {error}")).at(place)
            })?;
            let mut known: HashMap<String, u64> = HashMap::new();
            for finding in file.findings {
                *known.entry(finding.fingerprint).or_default() += 1;
            }
            let read = |raw: Box<RawValue>| Tool::read(Bytes::from(raw.get().to_owned()));
            let tools = file
                .tools
                .map(|tools| tools.into_iter().map(read).collect());
            return Ok(Self {
                tools,
                known: Some(known),
                answers: file.answers,
            });
        }
        let tools = listed_tools(bytes).ok_or_else(|| {
            let hint = "`check --baseline FILE --update` writes one; what `tools --json` printed is one of tools";
            Problem::new(ProblemKind::Usage, "neither a baseline nor a list of tools").at(place).hint(hint)
        })?;
        Ok(Self {
            tools: Some(tools),
            known: None,
            answers: Vec::new(),
        })
    }

    /// Which of the findings are new; of several alike those beyond the number that was there.
    pub fn new_ones(&self, findings: &[Finding]) -> Vec<bool> {
        let Some(known) = &self.known else {
            return vec![true; findings.len()];
        };
        let mut left = known.clone();
        let is_new = |finding: &Finding| match left.get_mut(&finding.fingerprint()) {
            Some(count) if *count > 0 => {
                *count -= 1;
                false
            }
            _ => true,
        };
        findings.iter().map(is_new).collect()
    }

    /// What the same calls cost then and what they cost now: of each tool its answers in their order, as many as both have.
    /// `None` where there are none.
    pub fn answers<'a>(&self, now: impl Iterator<Item = (&'a str, u64)>) -> Option<(u64, u64)> {
        let mut left: Vec<&KnownAnswer> = self.answers.iter().collect();
        let mut sums = None;
        for (tool, tokens) in now {
            let Some(at) = left.iter().position(|known| known.tool == tool) else {
                continue;
            };
            let (before, after) = sums.unwrap_or((0, 0));
            sums = Some((before + left.remove(at).tokens, after + tokens));
        }
        sums
    }

    /// The text of a saved state.
    ///
    /// # Errors
    /// A definition is no JSON, so that it cannot be saved.
    pub fn text<'a>(
        tools: Option<impl Iterator<Item = &'a Tool>>,
        findings: &[Finding],
        answers: impl Iterator<Item = (&'a str, u64)>,
    ) -> Result<String, Problem> {
        let raw = |tool: &'a Tool| {
            serde_json::from_slice::<&RawValue>(&tool.raw).map_err(|error| {
                Problem::new(
                    ProblemKind::Malformed,
                    format!("the definition is no JSON: {error}"),
                )
                .at(tool.name.clone())
            })
        };
        let known = |finding: &Finding| Known {
            fingerprint: finding.fingerprint(),
            rule: finding.rule.id.to_owned(),
            subject: finding.subject.clone(),
            message: finding.message.clone(),
        };
        // What changed since the last time is not there the next time.
        let lasting = findings
            .iter()
            .filter(|finding| !finding.rule.id.starts_with("drift/"));
        let tools = tools
            .map(|tools| tools.map(raw).collect::<Result<_, _>>())
            .transpose()?;
        let answers = answers
            .map(|(tool, tokens)| KnownAnswer {
                tool: tool.to_owned(),
                tokens,
            })
            .collect();
        let file = FileOut {
            schema: SCHEMA,
            tools,
            findings: lasting.map(known).collect(),
            answers,
        };
        let text = serde_json::to_string_pretty(&file);
        Ok(text.map_err(|error| Problem::new(ProblemKind::Internal, error.to_string()))? + "\n")
    }
}
