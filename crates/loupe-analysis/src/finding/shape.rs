//! How the data is laid out, and what that costs.

mod data;
mod text;

use super::profile::Profile::{Cost, HostCompat, MarkdownSafety, Spec};
use super::rule::Severity::{Cost as Costs, Error, Info, Warning};
use super::rule::{Rule, RuleCheck};

pub use data::changed;
pub(crate) use text::is_emoji;

/// Of rules that no specification and no host asks for.
pub(crate) const STYLE: &str = "a style: no specification asks for it";

pub(crate) static RULES: &[Rule] = &[
    Rule::new("shape/pretty-json", &[(Cost, Costs)], RuleCheck::Answer(data::pretty_json))
        .explanation("JSON with line ends and indents, which no model needs.")
        .fix("Write it without white space.")
        .source("measured: 21–44 % of pretty JSON"),
    Rule::new("shape/repeated-keys", &[(Cost, Costs)], RuleCheck::Answer(data::repeated_keys))
        .explanation("A list of like records repeats every key in each of them.")
        .fix("Columns and rows, or a table, where the reader can take it.")
        .source("measured: 27–39 % on flat lists")
        .limit(5, "records"),
    Rule::new("shape/format-not-cheapest", &[(Cost, Info)], RuleCheck::Answer(data::not_cheapest))
        .explanation("Another format says the same in fewer tokens. Silent under 5 %.")
        .fix("Consider it; the ledger has all of them.")
        .source("the ledger, formats whose round trip is lossless")
        .limit(5, "percent"),
    Rule::new("shape/nested-in-table", &[(Cost, Warning)], RuleCheck::Answer(data::nested_in_table))
        .explanation("Deep records in a format for flat ones cost more than compact JSON.")
        .fix("JSON for what is nested.")
        .source("measured: TOON +10 % on a nested feed"),
    Rule::new("shape/json-first", &[], RuleCheck::Answer(data::json_first))
        .explanation("A tool that reads answers with neither JSON as text nor `structuredContent`.")
        .fix("JSON first; Markdown on request.")
        .source("clients that parse the text, such as those that read JSON text again (hosts)"),
    Rule::new("shape/json-in-fence", &[(HostCompat, Warning)], RuleCheck::Answer(data::json_in_fence))
        .explanation("The data is JSON in a fence only: the text as a whole parses as nothing.")
        .fix("Bare JSON, or `structuredContent`.")
        .source("clients that parse the text, such as those that read JSON text again (hosts)"),
    Rule::new("shape/raw-json-text", &[], RuleCheck::Answer(data::raw_json))
        .explanation("The text is JSON, where blocks or lines of text were to be sent.")
        .fix("`Field: Value` lines; the ledger shows what they cost.")
        .source(STYLE),
    Rule::new("shape/no-code-block", &[], RuleCheck::Answer(text::no_code_block))
        .explanation("Records as `Field: Value` lines without a fence around each.")
        .fix("A fence for each record, an empty line between.")
        .source(STYLE),
    Rule::new("shape/invented-value", &[(HostCompat, Error)], RuleCheck::Answer(text::invented))
        .explanation("The text shows a value for what the data does not have: a missing salary as `$0.00`.")
        .fix("`N/A`, or leave the line out.")
        .source("models, which take it for a value")
        .heuristic(),
    Rule::new("shape/absence-mark-mixed", &[(Spec, Info)], RuleCheck::Answer(text::absence))
        .explanation("What is missing is marked in several ways, or by what a program prints by mistake (`undefined`, `[object Object]`, `NaN`).")
        .fix("One mark throughout.")
        .source("models, which cannot know that the marks mean one thing"),
    Rule::new("shape/summary-last", &[], RuleCheck::Answer(data::summary_last))
        .explanation("The totals stand after the lists: what is cut off is the end, and models weigh the beginning.")
        .fix("The summary first.")
        .source("hosts that cut the end (hosts)"),
    Rule::new("shape/empty-section", &[(Cost, Costs)], RuleCheck::Answer(data::empty_section))
        .explanation("Empty lists and objects say nothing that their absence does not. Fields that the `outputSchema` requires are exempt.")
        .fix("Leave them out.")
        .source("measured on the answer itself"),
    Rule::new("shape/emoji-heading", &[(Cost, Costs)], RuleCheck::Answer(text::emoji_heading))
        .explanation("Emoji in headings cost one to three tokens each.")
        .fix("Plain headings.")
        .source("measured: one to three tokens each"),
    Rule::new("shape/emoji-only-status", &[(HostCompat, Warning)], RuleCheck::Answer(text::emoji_only))
        .explanation("A status by an emoji alone: a person who does not see colours and a model that does not know the code cannot tell.")
        .fix("A word beside it: `🔴 Critical`.")
        .source("WCAG 2.2, 1.4.1 Use of Color"),
    Rule::new("shape/no-status-icon", &[], RuleCheck::Answer(text::no_icon))
        .explanation("A status without its icon.")
        .fix("`✅ Active`.")
        .source(STYLE),
    Rule::new("shape/verbose-metrics", &[], RuleCheck::Answer(text::verbose_metrics))
        .explanation("Metrics on a line each.")
        .fix("One line: `👍 14  ♻️ 7`.")
        .source("measured: `14 likes` costs 2 tokens, `👍 14` 3"),
    Rule::new("shape/iso-time", &[], RuleCheck::Answer(text::iso_time))
        .explanation("A time in ISO form where people read it.")
        .fix("`1h ago`.")
        .source(STYLE),
    Rule::new("shape/relative-time-only", &[(HostCompat, Warning)], RuleCheck::Answer(text::relative_only))
        .explanation("“2 hours ago” with no date in the text or the data: wrong as soon as the answer is read again.")
        .fix("The time itself beside it, or in the data.")
        .source("transcripts that hosts keep")
        .heuristic(),
    Rule::new("shape/time-no-zone", &[(HostCompat, Warning)], RuleCheck::Answer(text::no_zone))
        .explanation("The data has a time in UTC, the text a time of day without its zone.")
        .fix("Name the zone.")
        .source("RFC 3339, section 4.4")
        .heuristic(),
    Rule::new("shape/epoch", &[(HostCompat, Info)], RuleCheck::Answer(data::epoch))
        .explanation("A time as a bare number of seconds or milliseconds, which models convert badly.")
        .fix("ISO 8601.")
        .source("models, which do not calculate reliably")
        .heuristic(),
    Rule::new("shape/heading-levels", &[], RuleCheck::Answer(text::heading_levels))
        .explanation("No heading of the first level, or one that skips a level.")
        .fix("H1 the result, H2 each item, H3 and H4 replies.")
        .source(STYLE),
    Rule::new("shape/heading-overhead", &[(Cost, Costs)], RuleCheck::Answer(text::heading_overhead))
        .explanation("A large share of the tokens are marks: headings, rules, bold.")
        .fix("Fewer of them.")
        .source("measured on the answer itself")
        .limit(15, "percent"),
    Rule::new("shape/opaque-ids", &[(Cost, Costs)], RuleCheck::Answer(data::opaque))
        .explanation("UUIDs, DIDs, CIDs and hashes take a large share of the tokens, and no tool has an argument of their name. It may take them by another one.")
        .fix("Leave them out, or return them on request.")
        .source("measured on the answer itself")
        .limit(15, "percent")
        .heuristic(),
    Rule::new("shape/terminal-codes", &[(Cost, Costs)], RuleCheck::Answer(text::terminal_codes))
        .explanation("The text has colours and other codes of a terminal, which say nothing to a model.")
        .fix("Switch colours off, as by `NO_COLOR=1`, or take the codes out.")
        .source("ECMA-48, control sequences"),
    Rule::new("shape/line-end-spaces", &[(Cost, Costs)], RuleCheck::Answer(text::line_end_spaces))
        .explanation("Lines end in spaces, as those of columns that are padded to a width. A few spaces are one token with the line end; many are one more for each line. Code in fences and line breaks of Markdown stay as they are.")
        .fix("Cut the spaces at the end of each line, such as by `rstrip` or `trim_end`.")
        .source("measured: 19 % of a listing that is 80 columns wide")
        .limit(5, "tokens at least"),
    Rule::new("shape/escaped-unicode", &[(Cost, Costs)], RuleCheck::Answer(data::escaped_unicode))
        .explanation("`\\uNNNN` for characters that can stand as they are.")
        .fix("Write UTF-8 (in Python `ensure_ascii=False`).")
        .source("measured: +17 % on posts"),
    Rule::new("shape/json-in-json", &[(Cost, Warning)], RuleCheck::Answer(data::json_in_json))
        .explanation("A text of the data is JSON itself, so that every quote is escaped.")
        .fix("The value in its place.")
        .source("measured: escapes are tokens of their own"),
    Rule::new("shape/data-uri", &[(Cost, Warning)], RuleCheck::Answer(data::data_uri))
        .explanation("A value is a picture or another file as a `data:` address: a model reads it as text, and sees nothing.")
        .fix("A block of type `image` or `audio`, or a `resource_link`; the data names it.")
        .source("MCP specification, tools, image content")
        .limit(100, "tokens at least"),
    Rule::new("shape/result-in-result", &[(HostCompat, Warning)], RuleCheck::Answer(data::result_in_result))
        .explanation("The data is a whole result of a tool, with its `content`: a wrapper answered what another server had answered.")
        .fix("Pass the inner result on as the result.")
        .source("MCP specification, CallToolResult"),
    Rule::new("shape/inconsistent-values", &[(Spec, Info)], RuleCheck::Answer(text::inconsistent))
        .explanation("Values that contradict each other: `50% (0/2 steps)`.")
        .fix("Work one out from the other.")
        .source("models, which believe one of the two")
        .heuristic(),
    Rule::new("shape/dual-overhead", &[], RuleCheck::Answer(data::dual_overhead))
        .explanation("What the text adds to `structuredContent`, for hosts that show both.")
        .fix("Weigh it against hosts that show the text alone.")
        .source("measured: +29 % to +117 % on the sample server"),
    Rule::new("shape/field-format-drift", &[], RuleCheck::Answer(text::format_drift))
        .explanation("The records of one answer are not written alike: a field has another label, stands elsewhere, or is left out where another record marks it as missing.")
        .fix("The same labels in the same order in every record, and one mark for what is missing.")
        .source("readers by label, which miss the other spelling")
        .heuristic(),
    Rule::new("shape/details-block", &[(MarkdownSafety, Warning)], RuleCheck::Answer(text::details))
        .explanation("A string stands within `<details>`, where HTML and Markdown mix.")
        .fix("Data that is the server's own alone goes in there.")
        .source("CommonMark 0.31, HTML blocks"),
];

/// Answers above this are not written anew by single rules.
const REWRITE_BYTES: usize = 1 << 20;

/// `companyType` as `company type`.
fn label(key: &str) -> String {
    super::tool::words(key).join(" ")
}
