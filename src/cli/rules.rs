//! `rules`: what is looked for, and everything about one rule.

use std::fmt::Write as _;

use super::command;
use super::output::{self, columns};
use super::{Done, suggest};
use loupe_analysis::finding::code_fix::code_fixes;
use loupe_analysis::finding::{AREAS, Area, Example, Rule, examples, rules};
use loupe_core::problem::{Problem, ProblemKind};

pub fn run(args: &command::RulesArgs) -> Done {
    let Some(name) = &args.name else {
        let mut rows = vec![
            ["RULE", "SEVERITY", "WHAT IT NOTICES"]
                .map(str::to_owned)
                .to_vec(),
        ];
        rows.extend(rules().map(|rule| {
            vec![
                rule.id.to_owned(),
                gravest(rule),
                first_sentence(rule.explanation).to_owned(),
            ]
        }));
        output::page(&columns(&rows, &[]))?;
        return Ok(0);
    };
    for area in AREAS {
        if let Some(rule) = area.rules.iter().find(|rule| rule.id == name) {
            output::page(&detail(area, rule)?)?;
            return Ok(0);
        }
    }
    let known = suggest::hint(name, rules().map(|rule| rule.id));
    let hint = known.unwrap_or_else(|| "`mcp-loupe rules` lists them".to_owned());
    Err(Problem::new(ProblemKind::NotFound, format!("there is no rule `{name}`")).hint(hint))
}

/// The most severe of the profiles that always count; where none has the rule, that of the others with their first name.
fn gravest(rule: &Rule) -> String {
    // Those that always count come first.
    let first = rule
        .levels()
        .min_by_key(|(profile, severity)| (profile.is_style(), *severity));
    first.map_or_else(String::new, |(profile, severity)| {
        match profile.is_style() {
            false => severity.name().to_owned(),
            true => format!("{} ({})", severity.name(), profile.name()),
        }
    })
}

/// Up to the first stop or colon that does not be in code.
fn first_sentence(text: &str) -> &str {
    let is_end = |(at, _): &(usize, &str)| text[..*at].matches('`').count().is_multiple_of(2);
    let end = text
        .match_indices(". ")
        .chain(text.match_indices(": "))
        .filter(is_end)
        .map(|(at, _)| at)
        .min();
    text[..end.unwrap_or(text.len())].trim_end_matches('.')
}

fn detail(area: &Area, rule: &Rule) -> Result<String, Problem> {
    let mut page = format!(
        "{} · {}\n\n{}\n\nFix: {}\n",
        rule.id,
        rule.confidence(),
        rule.explanation,
        rule.fix
    );
    for (profile, severity) in rule.levels() {
        writeln!(page, "{}: {}", profile.name(), severity.name()).ok();
    }
    if let Some((limit, unit)) = rule.limit {
        writeln!(page, "Limit: {limit} {unit}; another one in loupe.toml").ok();
    }
    writeln!(page, "Source: {}", rule.source).ok();
    for fix in code_fixes(rule.id) {
        writeln!(page, "\n{}: {}", fix.sdk.title(), fix.note).ok();
        for line in fix.change() {
            writeln!(page, "  {} {}", line.mark(), line.text()).ok();
        }
    }
    let examples = examples(area).map_err(|why| Problem::new(ProblemKind::Internal, why))?;
    for example in examples.iter().filter(|example| example.rule == rule.id) {
        page.push_str(&show_example(example));
    }
    Ok(page)
}

fn show_example(example: &Example) -> String {
    let mut shown = String::new();
    let given = [
        ("tool", &example.tool),
        ("arguments", &example.arguments),
        ("before", &example.before),
    ];
    for (name, text) in given
        .into_iter()
        .filter_map(|(name, text)| Some((name, text.as_ref()?)))
    {
        writeln!(shown, "\n{name}:\n  {text}").ok();
    }
    writeln!(
        shown,
        "\nFires:\n  {}\n\nSilent:\n  {}",
        example.fires, example.silent
    )
    .ok();
    shown
}
