//! `loupe.check/1`, and the same as SARIF, as GitHub's annotations and as Markdown.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Value, json};

use super::findings::FindingJson;
use super::tokens::TokensJson;
use super::{ServerJson, VERSION, print};
use crate::finding::{Contradiction, Finding, ProfileChoice, Severity, ToolSilence, rules};
use loupe_core::capture::{Outcome, Server};
use loupe_core::number::{grouped, signed_from};
use loupe_core::quote::{github_data, github_property, markdown, markdown_code};
use loupe_core::token::{Tokenizer, Tokens};

/// Everything that a check found.
#[derive(Clone, Debug, Default)]
pub struct CheckOutcome {
    pub server: Option<Server>,
    /// The file or folder that stands for the server where a finding has none of its own.
    pub place: String,
    pub findings: Vec<CheckedFinding>,
    pub tools: Vec<DefinitionCost>,
    pub results: Vec<ResultCost>,
    pub budgets: Vec<CheckBudget>,
    /// What says nothing of what was looked at: rule, tool (or resource or prompt), reason.
    pub silenced: Vec<ToolSilence>,
    pub baseline: Option<BaselineCost>,
    /// The same calls of the baseline.
    pub results_before: Option<BaselineCost>,
    /// Whether the baseline is being written: whatever was found is known from then on.
    pub is_update: bool,
    /// From which severity on a new finding says no.
    pub fail_on: Option<Severity>,
}

/// A finding, where it was found, and whether it is new.
#[derive(Clone, Debug)]
pub struct CheckedFinding {
    pub finding: Finding,
    /// The file or folder of the result.
    pub file: Option<String>,
    /// Whether no baseline has it.
    pub is_new: bool,
}

/// What a tool's definition costs: as listed, and the least and the most of what known hosts pass on, in all and at the start.
#[derive(Clone, Debug, Default)]
pub struct DefinitionCost {
    pub name: String,
    pub listed: Tokens,
    pub passed_on: (Tokens, Tokens),
    pub at_start: (Tokens, Tokens),
}

/// What a result costs as it was sent.
#[derive(Clone, Debug)]
pub struct ResultCost {
    pub tool: String,
    pub file: Option<String>,
    pub outcome: Outcome,
    pub tokens: Tokens,
    /// What the profiles that count advise against each other.
    pub contradictions: Vec<Contradiction>,
}

/// A limit that was given, in the tokens that were asked for.
#[derive(Clone, Debug)]
pub struct CheckBudget {
    /// A tool, `total`, a format, or `host:ID`.
    pub of: String,
    /// The tool whose result it is about; `None` of definitions.
    pub result: Option<String>,
    pub most: u64,
    /// `None` where there is nothing to count, which keeps no budget.
    pub tokens: Option<u64>,
}

/// What was there when the baseline was saved, in `o200k_base`.
#[derive(Clone, Debug)]
pub struct BaselineCost {
    pub before: u64,
    pub now: u64,
    /// More than this is too much, in percent.
    pub most: Option<u64>,
}

impl BaselineCost {
    fn passed(&self) -> bool {
        self.most.is_none_or(|most| {
            self.now.saturating_mul(100) <= self.before.saturating_mul(100 + most)
        })
    }
}

impl CheckBudget {
    fn passed(&self) -> bool {
        self.tokens.is_some_and(|tokens| tokens <= self.most)
    }
}

impl CheckOutcome {
    /// Whether this finding makes the check say no.
    pub fn fails(&self, found: &CheckedFinding) -> bool {
        found.is_new
            && !self.is_update
            && self
                .fail_on
                .is_some_and(|least| found.finding.severity <= least)
    }

    pub fn passed(&self) -> bool {
        !self.findings.iter().any(|found| self.fails(found))
            && self.budgets.iter().all(CheckBudget::passed)
            && (self.is_update
                || [&self.baseline, &self.results_before]
                    .into_iter()
                    .flatten()
                    .all(BaselineCost::passed))
    }

    /// "2 errors, 1 warning"; known ones are not in it.
    pub fn counts(&self) -> String {
        let of = |severity: Severity| {
            self.findings
                .iter()
                .filter(|found| found.is_new && found.finding.severity == severity)
                .count()
        };
        let words = [
            ("error", "errors"),
            ("warning", "warnings"),
            ("note", "notes"),
            ("cost", "costs"),
        ];
        let counted = Severity::ALL
            .into_iter()
            .zip(words)
            .map(|(severity, (one, many))| (of(severity), one, many))
            .filter(|(count, ..)| *count > 0);
        let sentence: Vec<_> = counted
            .map(|(count, one, many)| format!("{count} {}", if count == 1 { one } else { many }))
            .collect();
        if sentence.is_empty() {
            "no findings".to_owned()
        } else {
            sentence.join(", ")
        }
    }

    /// What budgets and the baseline say, a line each.
    pub fn limits(&self) -> Vec<String> {
        let word = |passed: bool| if passed { "kept" } else { "OVER" };
        let budget = |budget: &CheckBudget| {
            let result = budget
                .result
                .as_ref()
                .map(|tool| format!(" (result of {tool})"))
                .unwrap_or_default();
            let tokens = budget
                .tokens
                .map_or_else(|| "nothing to count".to_owned(), grouped);
            format!(
                "budget {}{result} {}: {tokens} of {} tokens",
                budget.of,
                word(budget.passed()),
                grouped(budget.most)
            )
        };
        let mut lines: Vec<_> = self.budgets.iter().map(budget).collect();
        for (what, baseline) in [
            ("definitions", &self.baseline),
            ("results", &self.results_before),
        ] {
            let Some(baseline) = baseline else { continue };
            let most = baseline
                .most
                .map(|most| format!(", at most +{most}%: {}", word(baseline.passed())))
                .unwrap_or_default();
            lines.push(format!(
                "{what} {} → {} tokens ({}){most}",
                grouped(baseline.before),
                grouped(baseline.now),
                signed_from(baseline.before, baseline.now)
            ));
        }
        lines
    }

    /// What is silenced, a line each.
    pub fn silenced(&self) -> Vec<String> {
        let line = |ToolSilence { rule, tool, reason }: &ToolSilence| {
            format!("silenced: {rule} for {tool}: {reason}")
        };
        self.silenced.iter().map(line).collect()
    }

    /// What the active profiles advise against each other, a line for each result and question.
    pub fn contradictions(&self) -> Vec<String> {
        let choice = |choice: &ProfileChoice| {
            let names: Vec<_> = choice
                .profiles
                .iter()
                .map(|profile| profile.name())
                .collect();
            format!(
                "{} ({}) {} tokens",
                choice.says,
                names.join(", "),
                grouped(choice.tokens.o200k_base)
            )
        };
        let of_result = |result: &ResultCost| {
            let line = |contradiction: &Contradiction| {
                let choices: Vec<_> = contradiction.choices.iter().map(choice).collect();
                // A result from a file may name no tool.
                let on = if result.tool.is_empty() {
                    String::new()
                } else {
                    format!(" on {}", result.tool)
                };
                format!(
                    "profiles disagree{on}: {} {}",
                    contradiction.question,
                    choices.join(" · ")
                )
            };
            result.contradictions.iter().map(line).collect::<Vec<_>>()
        };
        self.results.iter().flat_map(of_result).collect()
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CheckDocument<'a> {
    loupe: &'static str,
    schema: &'static str,
    passed: bool,
    fail_on: Option<&'static str>,
    server: Option<ServerJson<'a>>,
    findings: Vec<NewFindingJson<'a>>,
    tools: Vec<ToolJson<'a>>,
    budget: Vec<BudgetJson<'a>>,
    silenced: Vec<SilenceJson<'a>>,
    baseline: Option<BaselineJson>,
    results_baseline: Option<BaselineJson>,
}

#[derive(Serialize)]
struct NewFindingJson<'a> {
    #[serde(flatten)]
    finding: FindingJson<'a>,
    file: Option<&'a str>,
    new: bool,
    fingerprint: String,
}

#[derive(Serialize)]
struct ToolJson<'a> {
    name: &'a str,
    definition: Option<DefinitionJson>,
    results: Vec<ResultJson<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DefinitionJson {
    listed: TokensJson,
    passed_on: SpanJson,
    at_start: SpanJson,
}

#[derive(Serialize)]
struct SpanJson {
    least: TokensJson,
    most: TokensJson,
}

#[derive(Serialize)]
struct ResultJson<'a> {
    file: Option<&'a str>,
    outcome: &'static str,
    tokens: TokensJson,
    contradictions: Vec<ContradictionJson>,
}

#[derive(Serialize)]
struct ContradictionJson {
    asks: &'static str,
    choices: Vec<ChoiceJson>,
}

#[derive(Serialize)]
struct ChoiceJson {
    says: &'static str,
    profiles: Vec<&'static str>,
    tokens: TokensJson,
}

impl ContradictionJson {
    fn new(contradiction: &Contradiction) -> Self {
        let choice = |choice: &ProfileChoice| ChoiceJson {
            says: choice.says,
            profiles: choice
                .profiles
                .iter()
                .map(|profile| profile.name())
                .collect(),
            tokens: choice.tokens.into(),
        };
        Self {
            asks: contradiction.question,
            choices: contradiction.choices.iter().map(choice).collect(),
        }
    }
}

#[derive(Serialize)]
struct SilenceJson<'a> {
    rule: &'a str,
    name: &'a str,
    reason: &'a str,
}

#[derive(Serialize)]
struct BudgetJson<'a> {
    of: &'a str,
    result: Option<&'a str>,
    most: u64,
    tokens: Option<u64>,
    passed: bool,
}

#[derive(Serialize)]
struct BaselineJson {
    before: u64,
    now: u64,
    most: Option<u64>,
    passed: bool,
}

/// `loupe.check/1`.
pub fn check(outcome: &CheckOutcome) -> String {
    let baseline = |baseline: &BaselineCost| BaselineJson {
        before: baseline.before,
        now: baseline.now,
        most: baseline.most,
        passed: baseline.passed(),
    };
    let span = |(least, most): (Tokens, Tokens)| SpanJson {
        least: least.into(),
        most: most.into(),
    };
    let mut names: Vec<&str> = outcome
        .tools
        .iter()
        .map(|tool| tool.name.as_str())
        .collect();
    names.extend(
        outcome
            .results
            .iter()
            .map(|result| result.tool.as_str())
            .filter(|name| outcome.tools.iter().all(|tool| tool.name != *name)),
    );
    names.dedup();
    let tool = |name: &&'_ str| ToolJson {
        name: outcome
            .results
            .iter()
            .map(|result| result.tool.as_str())
            .chain(outcome.tools.iter().map(|tool| tool.name.as_str()))
            .find(|other| other == name)
            .unwrap_or_default(),
        definition: outcome
            .tools
            .iter()
            .find(|tool| tool.name == *name)
            .map(|tool| DefinitionJson {
                listed: tool.listed.into(),
                passed_on: span(tool.passed_on),
                at_start: span(tool.at_start),
            }),
        results: outcome
            .results
            .iter()
            .filter(|result| result.tool == *name)
            .map(|result| ResultJson {
                file: result.file.as_deref(),
                outcome: result.outcome.name(),
                tokens: result.tokens.into(),
                contradictions: result
                    .contradictions
                    .iter()
                    .map(ContradictionJson::new)
                    .collect(),
            })
            .collect(),
    };
    print(&CheckDocument {
        loupe: VERSION,
        schema: "loupe.check/1",
        passed: outcome.passed(),
        fail_on: outcome.fail_on.map(Severity::name),
        server: outcome.server.as_ref().map(ServerJson::new),
        findings: outcome
            .findings
            .iter()
            .map(|found| NewFindingJson {
                finding: FindingJson::new(&found.finding, &Tokenizer::default()),
                file: found.file.as_deref(),
                new: found.is_new,
                fingerprint: found.finding.fingerprint(),
            })
            .collect(),
        tools: names.iter().map(tool).collect(),
        budget: outcome
            .budgets
            .iter()
            .map(|budget| BudgetJson {
                of: &budget.of,
                result: budget.result.as_deref(),
                most: budget.most,
                tokens: budget.tokens,
                passed: budget.passed(),
            })
            .collect(),
        silenced: outcome
            .silenced
            .iter()
            .map(|ToolSilence { rule, tool, reason }| SilenceJson {
                rule,
                name: tool,
                reason,
            })
            .collect(),
        baseline: outcome.baseline.as_ref().map(baseline),
        results_baseline: outcome.results_before.as_ref().map(baseline),
    })
}

/// What a finding says, with what it is about, how often, and what its fix saves.
pub fn finding_sentence(finding: &Finding) -> String {
    let mut sentence = finding.message.clone();
    // A name is in backticks: `the` and `a` are words of any sentence.
    if !finding.subject.is_empty() && !sentence.contains(&format!("`{}`", finding.subject)) {
        sentence = format!("{}: {sentence}", finding.subject);
    }
    let count = grouped(finding.count);
    if finding.count > 1
        && !sentence
            .split(|char: char| !char.is_ascii_digit() && char != ',')
            .any(|number| number == count)
    {
        write!(sentence, " ({count} times)").ok();
    }
    if let Some(saves) = finding.saves {
        write!(sentence, "; saves {} tokens", grouped(saves.o200k_base)).ok();
    }
    sentence
}

/// SARIF 2.1.0, as GitHub's code scanning takes it: every result has a file, what it is about is a logical location.
pub fn sarif(outcome: &CheckOutcome) -> String {
    let level = |severity: Severity| match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info | Severity::Cost => "note",
    };
    let used: Vec<_> = rules()
        .filter(|rule| {
            outcome
                .findings
                .iter()
                .any(|found| found.finding.rule.id == rule.id)
        })
        .collect();
    let rule = |rule: &&crate::finding::Rule| {
        json!({
            "id": rule.id,
            "name": rule.id.replace('/', "-"),
            "shortDescription": {"text": rule.explanation},
            "help": {"text": format!("{}\n\nSource: {}", rule.fix, rule.source)},
            "properties": {"precision": if rule.is_heuristic { "medium" } else { "very-high" }},
        })
    };
    let result = |found: &CheckedFinding| {
        let finding = &found.finding;
        let part = finding.places.first().map(|place| place.part.name());
        let name: Vec<_> = [
            Some(finding.subject.clone()).filter(|subject| !subject.is_empty()),
            part,
        ]
        .into_iter()
        .flatten()
        .collect();
        let full = format!("{}{}", name.join("/"), finding.path());
        let logical = if full.is_empty() {
            Value::Array(Vec::new())
        } else {
            json!([{"name": finding.subject, "fullyQualifiedName": full}])
        };
        json!({
            "ruleId": finding.rule.id,
            "ruleIndex": used.iter().position(|rule| rule.id == finding.rule.id),
            "level": level(finding.severity),
            "message": {"text": finding_sentence(finding)},
            "locations": [{
                "physicalLocation": {
                    "artifactLocation": {"uri": uri(found.file.as_deref().unwrap_or(&outcome.place))},
                    "region": {"startLine": 1},
                },
                "logicalLocations": logical,
            }],
            "occurrenceCount": finding.count,
            "baselineState": if found.is_new { "new" } else { "unchanged" },
            "partialFingerprints": {"loupe/v1": finding.fingerprint()},
        })
    };
    print(&json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "mcp-loupe", "version": VERSION, "rules": used.iter().map(rule).collect::<Vec<_>>()}},
            "results": outcome.findings.iter().map(result).collect::<Vec<_>>(),
            "columnKind": "unicodeCodePoints",
        }],
    }))
}

/// A path as a relative reference.
fn uri(path: &str) -> String {
    path.replace('\\', "/")
        .replace('%', "%25")
        .replace(' ', "%20")
}

/// Annotations of a run of GitHub Actions.
pub fn check_github(outcome: &CheckOutcome) -> String {
    let mut out = String::new();
    for found in outcome.findings.iter().filter(|found| found.is_new) {
        let kind = match found.finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info | Severity::Cost => "notice",
        };
        let file = found.file.as_deref().unwrap_or(&outcome.place);
        let (file, title) = (
            github_property(file),
            github_property(found.finding.rule.id),
        );
        writeln!(
            out,
            "::{kind} file={file},title={title}::{}",
            github_data(&finding_sentence(&found.finding))
        )
        .ok();
    }
    out
}

/// A table for a pull request, the most severe first.
pub fn check_markdown(outcome: &CheckOutcome) -> String {
    let word = if outcome.passed() {
        "passed"
    } else {
        "**failed**"
    };
    let mut out = format!("Check {word}: {}\n", outcome.counts());
    for line in outcome
        .limits()
        .into_iter()
        .chain(outcome.contradictions())
        .chain(outcome.silenced())
    {
        writeln!(out, "- {}", markdown(&line)).ok();
    }
    if outcome.findings.iter().any(|found| found.is_new) {
        out.push_str("\n| Severity | Finding | Rule | Fix |\n|---|---|---|---|\n");
    }
    for found in outcome.findings.iter().filter(|found| found.is_new) {
        let finding = &found.finding;
        let cell = |text: String| text.replace('|', "\\|");
        writeln!(
            out,
            "| {} | {} | `{}` | {} |",
            finding.severity.name(),
            cell(markdown_code(&finding_sentence(finding))),
            finding.rule.id,
            cell(finding.rule.fix.to_owned())
        )
        .ok();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::rule;

    #[track_caller]
    fn says(subject: &str, message: &str, count: u64, expected: &str) {
        let rule = rule("schema/untyped-property").unwrap();
        let finding = Finding {
            rule,
            severity: Severity::Warning,
            profiles: Vec::new(),
            message: message.to_owned(),
            subject: subject.to_owned(),
            places: Vec::new(),
            count,
            keys: Vec::new(),
            saves: None,
            mended: None,
        };
        assert_eq!(finding_sentence(&finding), expected);
    }

    #[test]
    fn names_and_counts_are_compared_as_a_whole() {
        for name in ["a", "t", "use", "the"] {
            says(
                name,
                "the argument has no use",
                1,
                &format!("{name}: the argument has no use"),
            );
        }
        says("use", "`use` has no type", 1, "`use` has no type");
        says("t", "20 records", 2, "t: 20 records (2 times)");
        says("t", "2 records", 2, "t: 2 records");
        says(
            "t",
            "1,200 records, 200 of them",
            1_200,
            "t: 1,200 records, 200 of them",
        );
    }
}
