//! The JSON contract: what `--json` prints. Described for people in `docs/cli.md`.
//!
//! These are its own types, in the order in which they are printed; inner types are never serialised. What a
//! server sent is in the document byte for byte: numbers keep their spelling, objects their order.

mod badge;
mod bill;
mod check;
mod comparison;
mod comparison_table;
mod data;
mod diff;
mod doctor;
mod findings;
mod hosts;
mod lists;
mod losses;
mod probe;
mod pull_request;
pub mod reproduce;
mod table;
mod tokens;
mod transcript;

use std::collections::BTreeMap;
use std::io;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::queries::{HostsReport, RowCount, ratio_of};
use loupe_core::cancel::Cancel;
use loupe_core::capture::{
    self, Block, BlockKind, Capture, Direction, FactCount, Hint, Message, Server, Tool,
};
use loupe_core::digest::sha256;
use loupe_core::format::ledger::{Row, default_baseline};
use loupe_core::format::round_trip::{Fidelity, RoundTrip, SHOWN};
use loupe_core::format::{FORMATS, ParsedCapture};
use loupe_core::json::{Doc, Node};
use loupe_core::number::milliseconds;
use loupe_core::problem::Problem;
use loupe_core::token::Tokenizer;

use crate::finding::Finding;
use crate::summary::{CountedRow, ModelReads, part_format};
use data::{DataJson, ExtraTextJson};
use findings::FindingJson;
use loupe_core::host::ResultPart;
use tokens::{FileJson, SizeJson, TokensJson};

pub use badge::badge;
pub use bill::{bill, bill_markdown};
pub use check::{
    BaselineCost, CheckBudget, CheckOutcome, CheckedFinding, DefinitionCost, ResultCost, check,
    check_github, check_markdown, finding_sentence, sarif,
};
pub use comparison::comparison;
pub use diff::{diff, diff_tools};
pub use doctor::doctor;
pub use lists::{prompts, resources};
pub use losses::{exact_loss, losses, losses_markdown, losses_table};

pub use comparison_table::{ComparisonFile, comparison_table};
pub use hosts::{host, hosts_list};
pub use probe::probe;
pub use pull_request::{hosts_markdown, summary_markdown};
pub(crate) use table::ledger_table;
pub use table::{TableKind, counted_table};
pub use transcript::{TranscriptRead, transcript};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// How the ledger of a report is read.
#[derive(Clone, Debug, Default)]
pub struct LedgerOptions {
    pub tokenizer: Tokenizer,
    /// `None` is the default of the contract: `json`, else `content`.
    pub baseline: Option<&'static str>,
    pub exact: Option<ExactCounts>,
}

/// What Claude's provider counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExactCounts {
    pub model: String,
    /// The day, in UTC.
    pub day: String,
    /// By format.
    pub tokens: Vec<(&'static str, u64)>,
}

impl LedgerOptions {
    /// The baseline that applies to these rows.
    pub fn baseline(&self, rows: &[Row]) -> &'static str {
        self.baseline
            .unwrap_or_else(|| default_baseline(&rows.iter().collect::<Vec<_>>()))
    }
}

/// What was worked out of a capture for its report. What was not looked for is `None`.
#[derive(Clone, Copy, Debug)]
pub struct ReportParts<'a> {
    pub rows: &'a [Row],
    pub counts: &'a [RowCount],
    /// What one model reads of it.
    pub reads: ModelReads<'a>,
    pub hosts: Option<&'a HostsReport>,
    pub findings: Option<&'a [Finding]>,
    /// Why the call failed.
    pub failure: Option<&'a Problem>,
    /// What is said where the caller cancelled.
    pub interrupted: Option<&'a Problem>,
}

/// Writes `loupe.report/1`: one capture, as `call --json` and `show --json` print it. Of a large answer it is many times
/// as large, and held by nobody.
///
/// Where the caller cancelled, the counts that are not known are `null`.
///
/// # Errors
/// Those of `out`.
pub fn write_report<'a>(
    mut out: impl io::Write,
    subject: &'a ParsedCapture,
    measured: &ReportParts<'a>,
    options: &'a LedgerOptions,
    cancel: &'a Cancel,
) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut out, &report(subject, measured, options, cancel))?;
    out.write_all(b"\n")
}

fn report<'a>(
    subject: &'a ParsedCapture,
    measured: &ReportParts<'a>,
    options: &'a LedgerOptions,
    cancel: &'a Cancel,
) -> ReportJson<'a> {
    let ReportParts {
        rows,
        counts,
        reads,
        hosts,
        findings,
        failure,
        interrupted,
    } = *measured;
    let baseline = options.baseline(rows);
    let tokenizer = &options.tokenizer;
    let base = rows
        .iter()
        .zip(counts)
        .find(|(row, _)| row.format == baseline)
        .and_then(|(_, count)| count.count);
    let row = |(row, count): (&Row, &RowCount)| {
        RowJson::of(row, subject, tokenizer, count, ratio_of(count.count, base))
    };
    let ledger = LedgerJson {
        tokenizer: tokenizer.name().to_owned(),
        tokenizer_file: tokenizer.file().map(FileJson::new),
        baseline,
        rows: rows.iter().zip(counts).map(row).collect(),
        exact: options.exact.as_ref().map(|exact| ExactJson {
            model: exact.model.clone(),
            day: exact.day.clone(),
            tokens: exact.tokens.iter().copied().collect(),
        }),
    };
    ReportJson {
        loupe: VERSION,
        schema: "loupe.report/1",
        capture: CaptureJson::new(subject, tokenizer, cancel),
        sent: SentJson::new(reads, rows, tokenizer),
        ledger,
        hosts: hosts.map(hosts::rows),
        findings: findings.map(|findings| {
            let finding = |finding| FindingJson::new(finding, tokenizer);
            findings.iter().map(finding).collect()
        }),
        error: LastError {
            failure,
            interrupted,
            cancel,
        },
    }
}

/// `loupe.error/1`: a failure before anything was captured.
pub fn error(problem: &Problem) -> String {
    print(&ErrorDocument {
        loupe: VERSION,
        schema: "loupe.error/1",
        error: ErrorJson::new(problem),
    })
}

/// `loupe.tools/1`: a server's tools, as `tools --json` prints them.
pub fn tools(server: &Server, tools: &[Tool], tokenizer: &Tokenizer) -> String {
    let mut total = SizeJson::new(b"", tokenizer);
    let mut listed = Vec::with_capacity(tools.len());
    for tool in tools {
        let definition = SizeJson::new(&tool.raw, tokenizer);
        total = total.plus(&definition);
        listed.push(ListedToolJson {
            name: &tool.name,
            title: tool.title.as_deref(),
            description: tool.description.as_deref(),
            annotations: AnnotationsJson::new(tool),
            input_schema: tool.input_schema.as_deref().and_then(raw),
            output_schema: tool.output_schema.as_deref().and_then(raw),
            definition,
            raw: raw(&tool.raw),
            faults: &tool.faults,
        });
    }
    print(&ToolsDocument {
        loupe: VERSION,
        schema: "loupe.tools/1",
        server: ServerJson::new(server),
        tools: listed,
        total,
    })
}

/// `loupe.formats/1`: every format that is built.
pub fn formats() -> String {
    let formats = FORMATS.iter().map(|format| FormatJson {
        id: format.id(),
        title: format.title(),
        as_sent: format.is_as_sent(),
    });
    print(&FormatsDocument {
        loupe: VERSION,
        schema: "loupe.formats/1",
        formats: formats.collect(),
    })
}

/// `loupe.export/1`: what was exported, and where to; a folder has no size.
pub fn exported(kind: &str, out: &str, bytes: Option<u64>) -> String {
    print(
        &serde_json::json!({ "loupe": VERSION, "schema": "loupe.export/1", "kind": kind, "out": out, "bytes": bytes }),
    )
}

/// One line of a transcript and of `messages.jsonl`, without its line end.
pub fn message_line(message: &Message) -> String {
    let text = std::str::from_utf8(&message.bytes).ok();
    let line = MessageJson {
        at_ms: milliseconds(message.at),
        dir: message.direction.name(),
        text,
        base64: text
            .is_none()
            .then(|| BASE64_STANDARD.encode(&message.bytes)),
    };
    serde_json::to_string(&line).unwrap_or_default()
}

/// A document as it is printed.
pub fn print(document: &impl Serialize) -> String {
    // Only a map with keys that are no strings, or a failing writer, could be refused; there is neither.
    let mut text = serde_json::to_string_pretty(document).unwrap_or_default();
    text.push('\n');
    text
}

/// Bytes that can be in a JSON document as they are; `None` otherwise.
fn raw(bytes: &[u8]) -> Option<&RawValue> {
    serde_json::from_slice(bytes).ok()
}

fn non_empty(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

#[derive(Serialize)]
struct MessageJson<'a> {
    #[serde(rename = "atMs")]
    at_ms: f64,
    dir: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
}

#[derive(Serialize)]
struct ErrorJson<'a> {
    kind: &'static str,
    message: String,
    hint: Option<&'a str>,
}

impl<'a> ErrorJson<'a> {
    fn new(problem: &'a Problem) -> Self {
        Self {
            kind: problem.kind.name(),
            message: problem.message(),
            hint: problem.hint.as_deref(),
        }
    }
}

#[derive(Serialize)]
struct ErrorDocument<'a> {
    loupe: &'static str,
    schema: &'static str,
    error: ErrorJson<'a>,
}

#[derive(Serialize)]
struct FormatsDocument {
    loupe: &'static str,
    schema: &'static str,
    formats: Vec<FormatJson>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FormatJson {
    id: &'static str,
    title: &'static str,
    as_sent: bool,
}

#[derive(Serialize)]
struct ToolsDocument<'a> {
    loupe: &'static str,
    schema: &'static str,
    server: ServerJson<'a>,
    tools: Vec<ListedToolJson<'a>>,
    total: SizeJson,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListedToolJson<'a> {
    name: &'a str,
    title: Option<&'a str>,
    description: Option<&'a str>,
    annotations: AnnotationsJson,
    input_schema: Option<&'a RawValue>,
    output_schema: Option<&'a RawValue>,
    definition: SizeJson,
    raw: Option<&'a RawValue>,
    faults: &'a [String],
}

#[derive(Serialize)]
struct ReportJson<'a> {
    loupe: &'static str,
    schema: &'static str,
    capture: CaptureJson<'a>,
    sent: Option<SentJson<'a>>,
    ledger: LedgerJson,
    hosts: Option<Vec<hosts::RowJson<'a>>>,
    /// `null` where nothing was looked for; `[]` says that there are none.
    findings: Option<Vec<FindingJson<'a>>>,
    #[serde(skip_serializing_if = "LastError::is_none")]
    error: LastError<'a>,
}

/// What one model reads of the result: the unit of comparison.
#[derive(Serialize)]
struct SentJson<'a> {
    /// `text`, `data`, `both`, or the id of a host.
    r#as: &'a str,
    /// How many known hosts show it so, of how many.
    hosts: usize,
    of: usize,
    tokens: TokensJson,
}

impl<'a> SentJson<'a> {
    fn new(reads: ModelReads<'a>, rows: &[Row], tokenizer: &Tokenizer) -> Option<Self> {
        let counted: Vec<_> = rows
            .iter()
            .map(|row| CountedRow {
                row,
                count: None,
                why: None,
            })
            .collect();
        let read = reads.part(&counted);
        if let ModelReads::Host(host) = reads {
            let tokens = TokensJson::counted(host.row.tokens?, tokenizer, host.count);
            return Some(Self {
                r#as: host.row.host.id.as_str(),
                hosts: read.hosts,
                of: read.of,
                tokens,
            });
        }
        let format = part_format(read.part, &counted)?;
        let row = rows.iter().find(|row| row.format == format)?;
        let part = match format {
            "content" => ResultPart::Text,
            "structured" => ResultPart::Data,
            _ => ResultPart::Both,
        };
        let tokens = TokensJson::counted(row.tokens, tokenizer, tokenizer.from_tokens(row.tokens));
        Some(Self {
            r#as: part.name(),
            hosts: read.hosts,
            of: read.of,
            tokens,
        })
    }
}

/// What went wrong, asked when all before it is written.
struct LastError<'a> {
    failure: Option<&'a Problem>,
    interrupted: Option<&'a Problem>,
    cancel: &'a Cancel,
}

impl LastError<'_> {
    fn problem(&self) -> Option<&Problem> {
        self.failure
            .or_else(|| self.interrupted.filter(|_| self.cancel.is_cancelled()))
    }

    fn is_none(&self) -> bool {
        self.problem().is_none()
    }
}

impl Serialize for LastError<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.problem().map(ErrorJson::new).serialize(serializer)
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CaptureJson<'a> {
    id: String,
    server: ServerJson<'a>,
    tool: Option<ToolJson<'a>>,
    arguments: Option<&'a RawValue>,
    started_at: Option<String>,
    elapsed_ms: Option<f64>,
    outcome: &'static str,
    wire: Option<WireJson>,
    result: Option<&'a RawValue>,
    raw: Option<Base64Json>,
    rpc_error: Option<RpcErrorJson<'a>>,
    blocks: BlocksJson<'a>,
    data: DataJson,
    notifications: Vec<NotificationJson>,
}

impl<'a> CaptureJson<'a> {
    fn new(subject: &'a ParsedCapture, tokenizer: &'a Tokenizer, cancel: &'a Cancel) -> Self {
        let capture: &Capture = &subject.capture;
        let reading = &subject.response;
        // A message that is not JSON as a whole cannot be in the document, not even in part.
        let whole = reading.doc.is_json();
        let result = reading
            .result()
            .filter(|_| whole)
            .and_then(|node| raw(node.raw()));
        let unreadable = !whole || (result.is_none() && reading.result().is_some());
        let has_time = capture.started_at != OffsetDateTime::UNIX_EPOCH;
        Self {
            id: capture.name.to_string(),
            server: ServerJson::new(&capture.server),
            tool: ToolJson::of(&capture.tool, tokenizer, cancel),
            arguments: raw(&capture.arguments),
            started_at: capture
                .started_at
                .format(&Rfc3339)
                .ok()
                .filter(|_| has_time),
            elapsed_ms: has_time.then(|| milliseconds(capture.timings.total())),
            outcome: capture.outcome.name(),
            wire: capture
                .response
                .as_ref()
                .filter(|_| capture.has_wire())
                .map(|response| WireJson {
                    bytes: response.len(),
                    sha256: sha256(response),
                }),
            result,
            raw: capture
                .response
                .as_ref()
                .filter(|_| unreadable)
                .map(|response| Base64Json {
                    base64: BASE64_STANDARD.encode(response),
                }),
            rpc_error: reading.rpc_error.as_ref().map(RpcErrorJson::new),
            blocks: BlocksJson {
                subject,
                tokenizer,
                cancel,
            },
            data: DataJson::new(subject),
            notifications: capture
                .messages
                .iter()
                .filter_map(NotificationJson::new)
                .collect(),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ServerJson<'a> {
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    given_name: Option<&'a str>,
    version: Option<&'a str>,
    protocol_version: Option<&'a str>,
    transport: &'a str,
}

impl<'a> ServerJson<'a> {
    fn new(server: &'a Server) -> Self {
        Self {
            name: non_empty(&server.name),
            given_name: server.given_name.as_deref(),
            version: non_empty(&server.version),
            protocol_version: non_empty(&server.protocol_version),
            transport: &server.transport,
        }
    }
}

#[derive(Serialize)]
struct ToolJson<'a> {
    name: &'a str,
    title: Option<&'a str>,
    annotations: AnnotationsJson,
    definition: Option<SizeJson>,
}

impl<'a> ToolJson<'a> {
    fn of(tool: &'a Tool, tokenizer: &Tokenizer, cancel: &Cancel) -> Option<Self> {
        if tool.name.is_empty() && tool.raw.is_empty() {
            return None;
        }
        let definition = (!tool.raw.is_empty() && !cancel.is_cancelled())
            .then(|| SizeJson::new(&tool.raw, tokenizer));
        Some(Self {
            name: &tool.name,
            title: tool.title.as_deref(),
            annotations: AnnotationsJson::new(tool),
            definition,
        })
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AnnotationsJson {
    read_only_hint: HintJson,
    destructive_hint: HintJson,
    idempotent_hint: HintJson,
    open_world_hint: HintJson,
}

#[derive(Serialize)]
struct HintJson {
    value: bool,
    declared: bool,
}

impl AnnotationsJson {
    fn new(tool: &Tool) -> Self {
        let hint = |hint: Hint| HintJson {
            value: hint.value,
            declared: hint.declared,
        };
        let capture::Annotations {
            read_only,
            destructive,
            idempotent,
            open_world,
        } = tool.annotations;
        Self {
            read_only_hint: hint(read_only),
            destructive_hint: hint(destructive),
            idempotent_hint: hint(idempotent),
            open_world_hint: hint(open_world),
        }
    }
}

#[derive(Serialize)]
struct WireJson {
    bytes: usize,
    sha256: String,
}

#[derive(Serialize)]
struct Base64Json {
    base64: String,
}

#[derive(Serialize)]
struct RpcErrorJson<'a> {
    code: Option<&'a RawValue>,
    message: &'a str,
    data: Option<&'a RawValue>,
}

impl<'a> RpcErrorJson<'a> {
    fn new(error: &'a capture::RpcError) -> Self {
        Self {
            code: raw(error.code.as_bytes()),
            message: &error.message,
            data: error.data.as_deref().and_then(raw),
        }
    }
}

/// Each block is written when its turn comes: as values they would take many times the room of the result.
struct BlocksJson<'a> {
    subject: &'a ParsedCapture,
    tokenizer: &'a Tokenizer,
    cancel: &'a Cancel,
}

impl Serialize for BlocksJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self {
            subject,
            tokenizer,
            cancel,
        } = self;
        let counted = |text: &str| {
            (!cancel.is_cancelled()).then(|| TokensJson::of_known(text, &subject.cache, tokenizer))
        };
        let reading = &subject.response;
        serializer.collect_seq(
            reading
                .blocks
                .iter()
                .map(|block| BlockJson::of(block, &reading.doc, counted)),
        )
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BlockJson<'a> {
    index: usize,
    #[serde(rename = "type")]
    type_name: Option<&'a str>,
    known: bool,
    /// Of the text, or of the decoded data; of the block as sent where it has neither.
    bytes: u64,
    /// `null` for media: what they cost depends on the model, and is not guessed.
    tokens: Option<TokensJson>,
    mime_type: Option<&'a str>,
    audience: Option<&'a [String]>,
    priority: Option<f64>,
    faults: &'a [String],
}

impl<'a> BlockJson<'a> {
    fn of(block: &'a Block, doc: &Doc, counted: impl Fn(&str) -> Option<TokensJson>) -> Self {
        let as_sent = doc.node(block.node).map(Node::raw).unwrap_or_default();
        let (bytes, tokens) = match (&block.text, block.data_bytes, block.kind) {
            (Some(text), ..) => (text.len() as u64, counted(text)),
            (None, Some(data), _) => (data as u64, None),
            (None, None, BlockKind::Image | BlockKind::Audio) => (as_sent.len() as u64, None),
            (None, None, _) => (
                as_sent.len() as u64,
                counted(&String::from_utf8_lossy(as_sent)),
            ),
        };
        Self {
            index: block.index,
            type_name: non_empty(&block.type_name),
            known: block.is_known(),
            bytes,
            tokens,
            mime_type: block.mime_type.as_deref(),
            audience: (!block.audience.is_empty()).then_some(block.audience.as_slice()),
            priority: block.priority,
            faults: &block.faults,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NotificationJson {
    method: String,
    at_ms: f64,
}

impl NotificationJson {
    fn new(message: &Message) -> Option<Self> {
        if message.direction != Direction::In {
            return None;
        }
        let doc = Doc::parse(message.bytes.clone());
        let root = doc.root()?;
        // With an id it is a request of the server, not a notification.
        if root.get("id").is_some() {
            return None;
        }
        Some(Self {
            method: root.get("method")?.as_str()?.into_owned(),
            at_ms: milliseconds(message.at),
        })
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LedgerJson {
    tokenizer: String,
    /// `null` unless the tokenizer is a file.
    tokenizer_file: Option<FileJson>,
    baseline: &'static str,
    rows: Vec<RowJson>,
    /// `null` unless Claude's provider was asked.
    exact: Option<ExactJson>,
}

#[derive(Serialize)]
struct ExactJson {
    model: String,
    day: String,
    tokens: BTreeMap<&'static str, u64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RowJson {
    format: &'static str,
    available: bool,
    bytes: Option<u64>,
    chars: Option<u64>,
    utf16: Option<u64>,
    tokens: Option<TokensJson>,
    ratio: Option<f64>,
    /// `null` where the question does not arise, as are the next two.
    round_trip: Option<&'static str>,
    lossless: Option<bool>,
    losses: Option<Vec<LossJson>>,
    facts: Option<FactsJson>,
    /// What may be claimed of it against the data.
    claim: Option<&'static str>,
    /// What the sent text holds that this row drops; `null` where there is no data, or the row has the text.
    extra_text: Option<ExtraTextJson>,
    why: Option<String>,
}

#[derive(Serialize)]
struct LossJson {
    path: String,
    kind: &'static str,
    before: Option<String>,
    after: Option<String>,
}

impl LossJson {
    /// Values that differ first, then what only changed its order or spelling.
    fn of(trip: &RoundTrip) -> Vec<Self> {
        let all = trip.differences.first.iter().chain(&trip.changes.first);
        all.take(SHOWN)
            .map(|found| Self {
                path: found.path.clone(),
                kind: found.kind.name(),
                before: found.before.clone(),
                after: found.after.clone(),
            })
            .collect()
    }
}

#[derive(Serialize)]
struct FactsJson {
    total: u64,
    proved: u64,
    found: u64,
    missing: u64,
    /// Part of `missing`.
    differs: u64,
}

impl From<FactCount> for FactsJson {
    fn from(
        FactCount {
            total,
            proved,
            found,
            missing,
            differs,
        }: FactCount,
    ) -> Self {
        Self {
            total,
            proved,
            found,
            missing,
            differs,
        }
    }
}

impl RowJson {
    fn of(
        row: &Row,
        subject: &ParsedCapture,
        tokenizer: &Tokenizer,
        count: &RowCount,
        ratio: Option<f64>,
    ) -> Self {
        let available = row.is_available();
        let given = |number: u64| available.then_some(number);
        let trip = row.round_trip.as_ref().filter(|_| available);
        Self {
            format: row.format,
            available,
            bytes: given(row.bytes),
            chars: given(row.chars),
            utf16: given(row.utf16),
            tokens: available.then(|| TokensJson::counted(row.tokens, tokenizer, count.count)),
            ratio: ratio.filter(|_| available),
            round_trip: trip.map(|trip| trip.fidelity.name()),
            lossless: trip.map(|trip| trip.fidelity.is_lossless()),
            losses: trip
                .filter(|trip| trip.fidelity != Fidelity::Undecodable)
                .map(LossJson::of),
            facts: row.facts.filter(|_| available).map(FactsJson::from),
            claim: available.then(|| row.claim().name()),
            extra_text: row
                .facts
                .filter(|_| available && !matches!(row.format, "content" | "both" | "wire"))
                .map(|_| ExtraTextJson::of_row(row, subject)),
            why: row
                .why
                .clone()
                .or_else(|| count.why.clone())
                .or_else(|| trip?.summary()),
        }
    }
}
