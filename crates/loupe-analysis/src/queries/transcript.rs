//! What a host gave its model for each call of a recorded session, by the transcript that it keeps itself, against what
//! Loupe's rule for that host says.
//!
//! Calls and entries of the transcript are paired by tool and arguments, in order. Texts are compared byte for byte; only
//! what the host alone knows (a path, a time) and what the record hides (`[hidden:…]`) may be anything.

mod change;
mod pattern;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use time::OffsetDateTime;

use super::SessionCalls;
use change::change;
use loupe_core::cancel::{Cancel, Cancelled};
use loupe_core::capture::{Capture, Outcome};
use loupe_core::format::ParsedCapture;
use loupe_core::host::rules::LimitUnit;
use loupe_core::host::{HOLE, Host, HostView, Hosts, Part, TextOrigin, ViewContext};
use loupe_core::json::{Doc, Kind, Node};
use loupe_core::redact::{RedactOptions, redact_document};
use pattern::{HIDDEN, common, follow, is_word, pieces};

/// One part of what a model was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GivenPart {
    Text(String),
    /// A medium, by its type: `image/png`.
    Media(String),
}

/// A tool call in a host's transcript.
#[derive(Clone, Debug, Default)]
pub struct GivenCall {
    /// The tool as the host names it: `mcp__github__search`.
    pub name: String,
    /// JSON, as the transcript has it.
    pub arguments: Bytes,
    pub parts: Vec<GivenPart>,
    /// Whether the host flagged an error to its model outside the text; `None` where the transcript does not say.
    pub is_error: Option<bool>,
    pub at: Option<OffsetDateTime>,
    /// The limit that the host applied, in tokens of four bytes, where the transcript names it.
    pub limit: Option<u64>,
    /// The host cuts once more before its model reads the text, so that the notice in it is another one.
    pub is_cut_again: bool,
}

impl GivenCall {
    /// The parts, the error flag before them, as a page shows them: a medium is `@media TYPE`.
    fn listing(&self) -> String {
        let part = |part: &GivenPart| match part {
            GivenPart::Text(text) => text.clone(),
            GivenPart::Media(mime) => media_line(mime),
        };
        let parts: Vec<String> = self.parts.iter().map(part).collect();
        parts.join("\n")
    }
}

fn media_line(mime: &str) -> String {
    format!("@media {mime}")
}

/// Both texts where they differ, secrets hidden.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPair {
    /// By Loupe's rule; a path or time is as the transcript has it, up to the first difference.
    pub rule: String,
    /// By the transcript.
    pub given: String,
    /// Where the first difference is, in bytes of each.
    pub at: [usize; 2],
}

/// Bytes shown before and after the first difference.
const AROUND: [usize; 2] = [40, 80];

impl TextPair {
    fn new(rule: String, given: String, at: [usize; 2]) -> Self {
        Self { rule, given, at }
    }

    /// Both texts around the first difference.
    pub fn around(&self) -> [String; 2] {
        [(&self.rule, self.at[0]), (&self.given, self.at[1])].map(|(text, at)| {
            let start = text.floor_char_boundary(at.saturating_sub(AROUND[0]));
            let end = text.floor_char_boundary(at.saturating_add(AROUND[1]));
            let before = if start > 0 { "…" } else { "" };
            let after = if end < text.len() { "…" } else { "" };
            format!("{before}{}{after}", &text[start..end])
        })
    }
}

/// What became of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TranscriptOutcome {
    Same,
    Differs(TextPair),
    NotInTranscript,
    /// Loupe cannot compute what the host gives: why.
    RuleUnknown(String),
}

impl TranscriptOutcome {
    /// The word in reports.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Differs(_) => "differs",
            Self::NotInTranscript => "not-in-transcript",
            Self::RuleUnknown(_) => "rule-unknown",
        }
    }

    /// The words for people.
    pub fn title(&self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Differs(_) => "differs",
            Self::NotInTranscript => "not in the transcript",
            Self::RuleUnknown(_) => "rule unknown",
        }
    }
}

/// One call of the session.
#[derive(Clone, Debug)]
pub struct TranscriptCall {
    /// From 1.
    pub number: usize,
    pub tool: String,
    /// The tool as the host names it; `None` without an entry in the transcript.
    pub given_name: Option<String>,
    pub outcome: TranscriptOutcome,
}

/// A session against its host's transcript.
#[derive(Clone, Debug)]
pub struct TranscriptReport {
    /// The host whose rule was held against it; `None` where there is none for this client.
    pub host: Option<Arc<Host>>,
    pub calls: Vec<TranscriptCall>,
    /// A hosts file with a rule that gives every text, where the rules' words can say it and some differ.
    pub change: Option<HostRuleChange>,
}

/// Another rule that explains what a transcript has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostRuleChange {
    /// What is changed: `select = "content"`.
    pub keys: Vec<String>,
    /// A whole hosts file, to be kept as one's own.
    pub toml: String,
}

impl TranscriptReport {
    fn count(&self, outcome: &str) -> usize {
        let calls = self.calls.iter();
        calls.filter(|call| call.outcome.name() == outcome).count()
    }

    pub fn same(&self) -> usize {
        self.count("same")
    }

    pub fn differing(&self) -> usize {
        self.count("differs")
    }

    pub fn missing(&self) -> usize {
        self.count("not-in-transcript")
    }

    pub fn unknown(&self) -> usize {
        self.count("rule-unknown")
    }

    /// Whether every call was found and compared, and is the same.
    pub fn is_confirmed(&self) -> bool {
        !self.calls.is_empty() && self.same() == self.calls.len()
    }

    /// What to keep as evidence; `None` where a call is not confirmed. `versions` are those that the transcript names.
    pub fn confirmed<'v>(
        &self,
        versions: impl IntoIterator<Item = &'v String>,
        client_version: &str,
        today: &str,
    ) -> Option<Confirmed> {
        let host = self.host.as_ref().filter(|_| self.is_confirmed())?;
        // A client's version is the host's where it was so before.
        let is_own = host
            .client
            .as_ref()
            .is_some_and(|client| client.version == host.version);
        let client_version =
            (is_own && !client_version.is_empty()).then(|| client_version.to_owned());
        let mut versions = versions.into_iter();
        let version = match (versions.next(), versions.next()) {
            (Some(version), None) => Some(version.clone()),
            (None, _) => client_version,
            // One session of several versions confirms none of them.
            (Some(_), Some(_)) => return None,
        };
        Some(Confirmed {
            host: host.id.to_string(),
            version,
            date: today.to_owned(),
            calls: self.calls.len(),
        })
    }

    /// The result in a line: `confirmed 14 of 14`.
    pub fn summary(&self) -> String {
        let all = self.calls.len();
        let head = match (self.is_confirmed(), self.same()) {
            (true, same) => format!("confirmed {same} of {all}"),
            (false, same) => format!("same {same} of {all}"),
        };
        let rest = [
            (self.differing(), "differ"),
            (self.missing(), "not in the transcript"),
            (self.unknown(), "rule unknown"),
        ];
        rest.iter()
            .filter(|(count, _)| *count > 0)
            .fold(head, |head, (count, what)| {
                format!("{head}, {count} {what}")
            })
    }
}

/// A host's rule that held for every call of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confirmed {
    /// The host's id.
    pub host: String,
    /// The host's version; `None` where neither its transcripts nor its client tell.
    pub version: Option<String>,
    /// `YYYY-MM-DD`.
    pub date: String,
    pub calls: usize,
}

impl Confirmed {
    /// In words: `confirmed 14 of 14, 29 Nov 2026, version 2.1.330`.
    pub fn words(&self) -> String {
        let version = match &self.version {
            Some(version) => format!("version {version}"),
            None => "version unknown".to_owned(),
        };
        format!(
            "confirmed {0} of {0}, {1}, {version}",
            self.calls,
            day(&self.date).unwrap_or_else(|| self.date.clone())
        )
    }
}

/// A date for people: `29 Nov 2026`.
fn day(date: &str) -> Option<String> {
    let (year, rest) = date.split_once('-')?;
    let (month, day) = rest.split_once('-')?;
    let month = time::Month::try_from(month.parse::<u8>().ok()?).ok()?;
    let name = month.to_string();
    Some(format!(
        "{} {} {year}",
        day.parse::<u8>().ok()?,
        name.get(..3)?
    ))
}

/// What is compared.
pub struct TranscriptInput<'a> {
    pub session: &'a SessionCalls,
    /// The session's name, which usually is the server's in the host's configuration.
    pub name: &'a str,
    /// The calls of the transcript, in their order.
    pub given: &'a [GivenCall],
    pub hosts: &'a Hosts,
    /// `YYYY-MM-DD`, for an entry that is offered.
    pub today: &'a str,
}

/// Compares each call of a session with the transcript of its host. The one function that decides.
///
/// # Errors
/// [`Cancelled`] if the caller cancelled.
pub fn compare_transcript(
    input: &TranscriptInput<'_>,
    cancel: &Cancel,
) -> Result<TranscriptReport, Cancelled> {
    let host = super::bill::host_of(input.hosts, &input.session.client);
    let mut used = vec![false; input.given.len()];
    let names: Vec<String> = input.given.iter().map(|given| plain(&given.name)).collect();
    let mut calls = Vec::new();
    let mut pairs = Vec::new();
    for (at, capture) in input.session.captures.iter().enumerate() {
        cancel.check()?;
        let partners = || partners(capture, input.given, &names, &used);
        let judge = |at: usize| {
            let pair = Pair::new(capture, &input.given[at], input.name);
            let outcome = match &host {
                Some(host) => pair.judge(host),
                None => TranscriptOutcome::RuleUnknown("no rules for this host".to_owned()),
            };
            (at, pair, outcome)
        };
        // A host may refuse a call before it reaches the server, and its model make it again: then the transcript has more.
        let first = partners().next().map(&judge);
        let is_same = |(.., outcome): &(usize, Pair<'_>, TranscriptOutcome)| {
            *outcome == TranscriptOutcome::Same
        };
        let later = || {
            let others: Vec<usize> = partners().skip(1).collect();
            let rest = &input.session.captures[at + 1..];
            let wanted = rest.iter().filter(|other| is_same_call(capture, other));
            let more = others.len().saturating_sub(wanted.count());
            let mut others = others.into_iter().take(more);
            others.find_map(|at| Some(judge(at)).filter(is_same))
        };
        let chosen = match first {
            Some(first) if is_same(&first) => Some(first),
            Some(first) => later().or(Some(first)),
            None => None,
        };
        let (found, outcome) = match chosen {
            None => (None, TranscriptOutcome::NotInTranscript),
            Some((at, pair, outcome)) => {
                used[at] = true;
                pairs.push(pair);
                (Some(at), outcome)
            }
        };
        calls.push(TranscriptCall {
            number: at + 1,
            tool: capture.tool.name.clone(),
            given_name: found.map(|at| input.given[at].name.clone()),
            outcome,
        });
    }
    let mut report = TranscriptReport {
        host,
        calls,
        change: None,
    };
    if report.differing() > 0
        && let Some(host) = report.host.clone()
    {
        report.change = change(&host, &pairs, input.today, cancel)?;
    }
    Ok(report)
}

fn is_same_call(one: &Capture, other: &Capture) -> bool {
    one.tool.name == other.tool.name && one.arguments == other.arguments
}

/// The entries that no call has yet with this tool and these arguments, in order.
fn partners<'a>(
    capture: &'a Capture,
    given: &'a [GivenCall],
    names: &'a [String],
    used: &'a [bool],
) -> impl Iterator<Item = usize> + 'a {
    let arguments = Doc::parse(object(&capture.arguments));
    let tool = plain(&capture.tool.name);
    let is_partner = move |at: &usize| {
        !used[*at]
            && (names[*at].ends_with(&tool) || given[*at].name.contains("..."))
            && server_of(&given[*at].name, &capture.tool.name).is_some()
            && has_same_arguments(&arguments, &Doc::parse(object(&given[*at].arguments)))
    };
    (0..given.len()).filter(is_partner)
}

/// No arguments are an empty object.
fn object(arguments: &Bytes) -> Bytes {
    match arguments.trim_ascii() {
        b"" | b"null" => Bytes::from_static(b"{}"),
        _ => arguments.clone(),
    }
}

/// The name with every sign that hosts replace as `_`.
fn plain(name: &str) -> String {
    name.chars()
        .map(|char| if is_word(char) { char } else { '_' })
        .collect()
}

/// The server in a host's name of a tool: `github` of `mcp__github__search`, nothing of `search`; `None` where it is
/// another tool's. A name that the host shortened in its middle (`…`, `...`) counts by its end.
fn server_of(given: &str, tool: &str) -> Option<String> {
    let (whole, wanted) = (plain(given), plain(tool));
    if whole == wanted {
        return Some(String::new());
    }
    if let Some((_, end)) = given.split_once("...")
        && !end.is_empty()
        && wanted.ends_with(&plain(end))
    {
        return Some(String::new());
    }
    let before = whole.strip_suffix(&wanted)?.strip_suffix('_')?;
    let server = before.trim_end_matches('_');
    let server = server
        .strip_prefix("mcp__")
        .or_else(|| server.strip_prefix("mcp_"))
        .unwrap_or(server);
    Some(server.to_owned())
}

/// Levels of arguments that are compared.
const DEEPEST: usize = 64;

/// Members that hosts add to a tool's arguments for themselves.
const OWN_MEMBERS: &[&str] = &["wait_for_previous"];

fn has_same_arguments(recorded: &Doc, given: &Doc) -> bool {
    match (recorded.root(), given.root()) {
        (Some(recorded), Some(given)) => is_same_value(recorded, given, DEEPEST),
        _ => false,
    }
}

/// Whether a recorded value is the given one: members in any order, numbers by value, what is hidden as anything.
fn is_same_value(recorded: Node<'_>, given: Node<'_>, levels: usize) -> bool {
    if levels == 0 {
        return false;
    }
    match (recorded.kind(), given.kind()) {
        (Kind::Object, Kind::Object) => {
            let own = |node: &Node<'_>| {
                levels == DEEPEST
                    && node
                        .key()
                        .is_some_and(|key| OWN_MEMBERS.contains(&key.as_ref()))
            };
            let (here, there) = (recorded.children().count(), given.children().count());
            let added = given
                .children()
                .filter(|node| {
                    own(node) && node.key().is_some_and(|key| recorded.get(&key).is_none())
                })
                .count();
            here == there - added
                && recorded.children().all(|member| {
                    member
                        .key()
                        .and_then(|key| given.get(&key))
                        .is_some_and(|other| is_same_value(member, other, levels - 1))
                })
        }
        (Kind::Array, Kind::Array) => {
            recorded.children().count() == given.children().count()
                && recorded
                    .children()
                    .zip(given.children())
                    .all(|(one, other)| is_same_value(one, other, levels - 1))
        }
        (Kind::String, _) if recorded.raw_text().contains(HIDDEN) => {
            let one = recorded.as_str().unwrap_or_default();
            let other = given
                .as_str()
                .unwrap_or_else(|| given.raw_text())
                .into_owned();
            follow(&pieces(&one), &other).is_ok()
        }
        (Kind::String, Kind::String) => recorded.as_str() == given.as_str(),
        (Kind::Number, Kind::Number) => {
            recorded.raw() == given.raw() || recorded.as_f64() == given.as_f64()
        }
        (one, other) => one == other && recorded.raw() == given.raw(),
    }
}

/// A call and its entry in the transcript.
struct Pair<'a> {
    subject: ParsedCapture,
    given: &'a GivenCall,
    server: String,
    is_answered: bool,
}

impl<'a> Pair<'a> {
    fn new(capture: &Arc<Capture>, given: &'a GivenCall, name: &str) -> Self {
        let server = server_of(&given.name, &capture.tool.name).unwrap_or_default();
        // The host's own name of the server, which its name of the tool holds with signs replaced.
        let server = if server.is_empty() || plain(name) == server {
            name.to_owned()
        } else {
            server
        };
        Self {
            subject: ParsedCapture::new(Arc::clone(capture)),
            given,
            server,
            is_answered: matches!(capture.outcome, Outcome::Result | Outcome::ToolError),
        }
    }

    fn judge(&self, host: &Host) -> TranscriptOutcome {
        if !self.is_answered {
            return TranscriptOutcome::RuleUnknown("the call has no result".to_owned());
        }
        let adjusted;
        let host = match self.given.limit {
            Some(max)
                if host
                    .limit
                    .iter()
                    .any(|limit| limit.unit == LimitUnit::Tokens4) =>
            {
                adjusted = with_limit(host, max);
                &adjusted
            }
            _ => host,
        };
        let view_with = |wall| {
            let mut context = ViewContext::new(&self.subject.capture).with_holes(wall);
            if !self.server.is_empty() {
                context.server = self.server.as_str().into();
            }
            host.view(&self.subject, &context)
        };
        let mut view = view_with(None);
        // Where it is cut, the length of the time counts.
        if view.limit.state.is_truncated() == Some(true)
            && view.text.contains(HOLE)
            && let Some(wall) = self.given.parts.first().and_then(time_of)
        {
            view = view_with(Some(wall));
        }
        if let Some(why) = &view.not_computable {
            return TranscriptOutcome::RuleUnknown(why.clone());
        }
        let is_hidden = view.full.contains(HIDDEN);
        if is_hidden && view.limit.state.is_truncated() == Some(true) {
            return TranscriptOutcome::RuleUnknown(
                "a secret that the record hides moves the place of the cut".to_owned(),
            );
        }
        let rule = rule_parts(&view, self.given.is_cut_again);
        match differs(&rule, view.flags_error, self.given) {
            None => TranscriptOutcome::Same,
            // Numbers under secret names are 0 in a record.
            Some(_) if is_same_hidden(&rule, view.flags_error, self.given) => {
                TranscriptOutcome::Same
            }
            // What only the provider can count may have been too much.
            Some(_) if self.is_replaced(host, &view) => TranscriptOutcome::Same,
            Some(pair) => TranscriptOutcome::Differs(hidden_pair(pair)),
        }
    }

    /// Whether a limit in the provider's tokens explains the given text: its notice stands there instead.
    fn is_replaced(&self, host: &Host, view: &HostView) -> bool {
        if view.limit.tokens_max.is_none() {
            return false;
        }
        let [GivenPart::Text(given)] = self.given.parts.as_slice() else {
            return false;
        };
        let limits = host.limit.iter();
        limits
            .filter(|limit| limit.unit == LimitUnit::Tokens)
            .any(|limit| {
                let lines = view.full.split('\n').count();
                let notice = limit.notice.fill(|_| HOLE.to_string());
                // A text of one line is said without its lines.
                let single = notice.replace(&format!(" across {HOLE} lines"), "");
                let notices = if lines == 1 {
                    [&single, &notice]
                } else {
                    [&notice, &single]
                };
                notices
                    .iter()
                    .any(|notice| follow(&pieces(&open_ends(notice)), given).is_ok())
            })
    }
}

/// The first time in seconds in a text.
fn time_of(part: &GivenPart) -> Option<Duration> {
    match part {
        GivenPart::Text(text) => loupe_core::host::probe::time_in(text),
        GivenPart::Media(_) => None,
    }
}

/// The host with another limit where it counts tokens of four bytes.
fn with_limit(host: &Host, max: u64) -> Host {
    let mut host = host.clone();
    for limit in &mut host.limit {
        if limit.unit == LimitUnit::Tokens4 {
            limit.max = max;
        }
    }
    host
}

/// A notice with a hole where more text follows than the rule writes: `…(what)`, or `…` at its end.
fn open_ends(notice: &str) -> String {
    let mut out = String::new();
    let mut rest = notice;
    while let Some(at) = rest.find("…(") {
        let Some(end) = rest[at..].find(')') else {
            break;
        };
        out.push_str(&rest[..at]);
        out.push(HOLE);
        rest = &rest[at + end + 1..];
    }
    out.push_str(rest);
    if let Some(before) = out.trim_end().strip_suffix('…') {
        return format!("{before}{HOLE}");
    }
    out
}

/// What the rule gives, with holes.
#[derive(Debug, PartialEq, Eq)]
enum RulePart {
    Text(String),
    Media(String),
}

fn rule_parts(view: &HostView, is_cut_again: bool) -> Vec<RulePart> {
    let is_cut = view.limit.state.is_truncated() == Some(true);
    let part = |part: &Part| match part {
        Part::Media { mime, .. } => RulePart::Media(mime.clone()),
        Part::Text(range) if is_cut => {
            let spans = view.spans.iter().filter(|span| {
                let at = span.range();
                range.start <= at.start && at.end <= range.end
            });
            let mut text = String::new();
            let mut end = range.start;
            for span in spans {
                let at = span.range();
                text.push_str(&view.text[end..at.start]);
                let words = &view.text[at.clone()];
                let is_notice = span.origin == TextOrigin::Host && words.contains('…');
                if is_notice && is_cut_again {
                    text.push(HOLE);
                } else if is_notice {
                    text.push_str(&open_ends(words));
                } else {
                    text.push_str(words);
                }
                end = at.end;
            }
            text.push_str(&view.text[end..range.end]);
            RulePart::Text(text)
        }
        Part::Text(range) => RulePart::Text(view.text[range.clone()].to_owned()),
    };
    view.parts.iter().map(part).collect()
}

/// Both texts where they differ. A transcript with one text holds the rule's texts with a line end between two.
fn differs(rule: &[RulePart], flags_error: bool, given: &GivenCall) -> Option<TextPair> {
    let rule_text = |parts: &[RulePart]| {
        let part = |part: &RulePart| match part {
            RulePart::Text(text) => text.clone(),
            RulePart::Media(mime) => media_line(mime),
        };
        parts.iter().map(part).collect::<Vec<_>>().join("\n")
    };
    if given
        .is_error
        .is_some_and(|is_error| is_error != flags_error)
    {
        let flagged = |flag: bool, text: String| {
            if flag {
                format!("@error\n{text}")
            } else {
                text
            }
        };
        let pair = [
            flagged(flags_error, rule_text(rule)),
            flagged(!flags_error, given.listing()),
        ];
        let [rule, given] = pair;
        return Some(TextPair::new(rule, given, [0, 0]));
    }
    let is_one = matches!(given.parts.as_slice(), [GivenPart::Text(_)])
        && rule.iter().all(|part| matches!(part, RulePart::Text(_)));
    let is_same = if is_one {
        follow(&pieces(&rule_text(rule)), &given.listing()).is_ok()
    } else {
        // A model reads nothing of an empty text.
        let rule = rule
            .iter()
            .filter(|part| !matches!(part, RulePart::Text(text) if text.is_empty()));
        let given = given
            .parts
            .iter()
            .filter(|part| !matches!(part, GivenPart::Text(text) if text.is_empty()));
        rule.clone().count() == given.clone().count()
            && rule.zip(given).all(|pair| match pair {
                (RulePart::Text(rule), GivenPart::Text(given)) => {
                    follow(&pieces(rule), given).is_ok()
                }
                (RulePart::Media(rule), GivenPart::Media(given)) => rule == given,
                _ => false,
            })
    };
    if is_same {
        return None;
    }
    let (rule, given) = (rule_text(rule), given.listing());
    let parts = pieces(&rule);
    let (piece, same, at) = match follow(&parts, &given) {
        Err(place) => place,
        // The parts differ, their texts do not.
        Ok(()) => (0, 0, 0),
    };
    // What may be anything is shown as the transcript has it.
    let mut shown = given[..at - same].to_owned();
    let mut start = shown.len();
    for (position, text) in parts.iter().enumerate().skip(piece) {
        if position > piece {
            shown.push('…');
        } else {
            start += same;
        }
        shown.push_str(text);
    }
    Some(TextPair::new(shown, given, [start, at]))
}

fn hide(text: &str) -> String {
    let hidden = redact_document(
        &Bytes::copy_from_slice(text.as_bytes()),
        &RedactOptions::default(),
    );
    match hidden {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(Cancelled) => "[hidden:text]".to_owned(),
    }
}

/// The pair without what looks secret in the transcript; the first difference is found anew.
fn hidden_pair(pair: TextPair) -> TextPair {
    let (rule, given) = (hide(&pair.rule), hide(&pair.given));
    if rule == pair.rule && given == pair.given {
        return pair;
    }
    let same = common(&rule, &given);
    TextPair::new(rule, given, [same, same])
}

fn is_same_hidden(rule: &[RulePart], flags_error: bool, given: &GivenCall) -> bool {
    let mut hidden = given.clone();
    for part in &mut hidden.parts {
        if let GivenPart::Text(text) = part {
            *text = hide(text);
        }
    }
    hidden.parts != given.parts && differs(rule, flags_error, &hidden).is_none()
}

#[cfg(test)]
mod tests;
