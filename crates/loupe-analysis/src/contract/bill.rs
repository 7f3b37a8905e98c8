//! `loupe.bill/1`: what a session cost.

use std::fmt::Write;

use serde::Serialize;

use crate::contract::tokens::TokensJson;
use crate::contract::{VERSION, print};
use crate::queries::{FormatTotal, SessionBill};
use loupe_core::format::format_title;
use loupe_core::number::{grouped, number_of};
use loupe_core::token::{Encoding, Tokens};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BillDocument<'a> {
    loupe: &'static str,
    schema: &'static str,
    calls: usize,
    failed: usize,
    /// `null` where the host is not known.
    host: Option<&'a str>,
    /// What one model reads in all.
    total: TotalJson,
    definitions: DefinitionsJson,
    instructions: TokensJson,
    arguments: TokensJson,
    results: TokensJson,
    /// Results whose text in the host is not known, counted as their text.
    not_known: usize,
    /// Results of which the host cuts something off.
    cut: usize,
    sent_twice: TokensJson,
    never_called: Vec<ToolJson<'a>>,
    largest: Vec<LargeJson<'a>>,
    formats: Vec<FormatJson>,
    hosts: Vec<HostJson<'a>>,
}

/// They differ where definitions are loaded on demand.
#[derive(Serialize)]
struct TotalJson {
    least: TokensJson,
    most: TokensJson,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DefinitionsJson {
    listed: TokensJson,
    passed_on: Option<TokensJson>,
    at_start: Option<TokensJson>,
}

#[derive(Serialize)]
struct ToolJson<'a> {
    tool: &'a str,
    tokens: TokensJson,
}

#[derive(Serialize)]
struct LargeJson<'a> {
    call: usize,
    tool: &'a str,
    tokens: TokensJson,
}

#[derive(Serialize)]
struct FormatJson {
    format: &'static str,
    results: usize,
    tokens: TokensJson,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HostJson<'a> {
    id: &'static str,
    name: &'a str,
    results: usize,
    /// Results that its model is not shown whole.
    not_whole: usize,
    tokens: TokensJson,
}

/// The document of a bill.
pub fn bill(bill: &SessionBill) -> String {
    let tokens = TokensJson::from;
    let [least, most] = bill.total();
    print(&BillDocument {
        loupe: VERSION,
        schema: "loupe.bill/1",
        calls: bill.calls,
        failed: bill.failed,
        host: bill.host.as_ref().map(|host| host.id.as_str()),
        total: TotalJson {
            least: tokens(least),
            most: tokens(most),
        },
        definitions: DefinitionsJson {
            listed: tokens(bill.definitions.listed),
            passed_on: bill.definitions.passed_on.map(tokens),
            at_start: bill.definitions.at_start.map(tokens),
        },
        instructions: tokens(bill.instructions),
        arguments: tokens(bill.arguments),
        results: tokens(bill.results),
        not_known: bill.not_known,
        cut: bill.cut,
        sent_twice: tokens(bill.sent_twice),
        never_called: bill
            .never_called
            .iter()
            .map(|cost| ToolJson {
                tool: &cost.tool.name,
                tokens: tokens(cost.tokens),
            })
            .collect(),
        largest: bill
            .largest
            .iter()
            .map(|result| LargeJson {
                call: result.number,
                tool: &result.tool,
                tokens: tokens(result.tokens),
            })
            .collect(),
        formats: bill
            .formats
            .iter()
            .map(|total| FormatJson {
                format: total.format,
                results: total.results,
                tokens: tokens(total.tokens),
            })
            .collect(),
        hosts: bill
            .hosts
            .iter()
            .map(|total| HostJson {
                id: total.host.id.as_str(),
                name: &total.host.name,
                results: total.results,
                not_whole: total.not_whole,
                tokens: tokens(total.tokens),
            })
            .collect(),
    })
}

/// The bill as a Markdown page.
pub fn bill_markdown(bill: &SessionBill, encoding: Encoding) -> String {
    let count = |tokens: Tokens| grouped(tokens.get(encoding));
    let maybe = |tokens: Option<Tokens>| tokens.map_or("not known".to_owned(), count);
    let total = match bill.total().map(|tokens| tokens.get(encoding)) {
        [least, most] if least == most => grouped(most),
        [least, most] => format!("{} to {}", grouped(least), grouped(most)),
    };
    let mut page = format!(
        "{} tokens ({}) in {}{}\n\n| part | tokens |\n|---|--:|\n",
        total,
        encoding.name(),
        number_of(bill.calls as u64, "calls"),
        match &bill.host {
            Some(host) => format!(", as {} passes them on", host.name),
            None => String::new(),
        }
    );
    let mut row = |name: &str, tokens: String| {
        // Writing into a String cannot fail.
        writeln!(page, "| {name} | {tokens} |").ok();
    };
    row(
        "definitions and instructions, as listed",
        count(bill.definitions.listed),
    );
    row("as passed on", maybe(bill.definitions.passed_on));
    row("at session start", maybe(bill.definitions.at_start));
    row("of these, instructions", count(bill.instructions));
    row("arguments", count(bill.arguments));
    row("results", count(bill.results));
    row("sent twice, as text and as data", count(bill.sent_twice));
    let never: u64 = bill
        .never_called
        .iter()
        .map(|cost| cost.tokens.get(encoding))
        .sum();
    let names: Vec<&str> = bill
        .never_called
        .iter()
        .map(|cost| &*cost.tool.name)
        .collect();
    row(
        &format!("{} never called", number_of(names.len() as u64, "tools")),
        grouped(never),
    );
    if !names.is_empty() {
        writeln!(page, "\nNever called: {}", names.join(", ")).ok();
    }
    if !bill.largest.is_empty() {
        page.push_str("\n| largest results | call | tokens | share |\n|---|--:|--:|--:|\n");
        let results = bill.results.get(encoding).max(1);
        for result in &bill.largest {
            let tokens = result.tokens.get(encoding);
            writeln!(
                page,
                "| {} | {} | {} | {} % |",
                result.tool,
                result.number,
                grouped(tokens),
                tokens * 100 / results
            )
            .ok();
        }
    }
    let mut formats: Vec<&FormatTotal> = bill
        .formats
        .iter()
        .filter(|total| total.results > 0)
        .collect();
    formats.sort_by_key(|total| total.tokens.get(encoding));
    if !formats.is_empty() {
        page.push_str("\n| the results as | tokens | results that lose nothing |\n|---|--:|--:|\n");
        for total in formats {
            writeln!(
                page,
                "| {} | {} | {} of {} |",
                format_title(total.format),
                count(total.tokens),
                total.results,
                bill.calls
            )
            .ok();
        }
    }
    let hosts = bill.ranked_hosts(encoding);
    if !hosts.is_empty() {
        page.push_str(
            "\n| the results in | tokens | results that are known | not shown whole |\n|---|--:|--:|--:|\n",
        );
        for total in hosts {
            writeln!(
                page,
                "| {} | {} | {} of {} | {} |",
                total.host.name,
                count(total.tokens),
                total.results,
                bill.calls,
                total.not_whole
            )
            .ok();
        }
    }
    page
}
