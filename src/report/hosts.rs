//! What each host's model is shown for an answer: text, tokens, facts, limits, definition, and who sees the same.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::columns::Columns;
use super::host_told;
use super::text::{DisplayLine, display_lines};
use super::verdict::{Verdict, VerdictPart, grouped, number_of};
use crate::cancel::{Cancel, Cancelled};
use crate::capture::{Block, BlockKind, FactCount, FactState, Matched, Payload, match_facts};
use crate::format::Subject;
use crate::host::definition::Definition;
use crate::host::{Evidence, Host, HostId, Hosts, LimitOutcome, LimitState, Origin, Part, Span, View, ViewContext, What};
use crate::problem::Problem;
use crate::token::{Encoding, Tokens};

/// Hosts whose limit a verdict tells in full, those that lose most; of the others it has the names.
const LIMITS_TOLD: usize = 2;

/// What one host makes of an answer.
#[derive(Clone, Debug)]
pub struct HostRow {
    pub host: Arc<Host>,
    /// The text with its origins; its limit is judged by the counted tokens too.
    pub view: Arc<View>,
    /// Bytes of the text in UTF-8, the parts joined by one LF.
    pub bytes: u64,
    /// The sum over the parts; `None` where no text can be computed. Media are not in it.
    pub tokens: Option<Tokens>,
    /// `None` where there is no payload or no text.
    pub facts: Option<FactCount>,
    /// The fields that are not wholly kept, by path; shared by hosts with the same text.
    pub lost: Arc<Vec<LostField>>,
    /// `None` where the definition of the tool is not known.
    pub definition: Option<Definition>,
    /// The tokens of [`Definition::text`].
    pub definition_tokens: Option<Tokens>,
    pub shares: HostShares,
    pub media: MediaBytes,
    /// Whether the answer is its data and nothing else, so that a text with every fact of it has lost nothing.
    pub is_data_alone: bool,
}

/// Images and audio of an answer, in bytes of the decoded data: no tokenizer of text counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MediaBytes {
    /// Passed on to the model.
    pub shown: u64,
    /// Passed on as the base64 text that they came in, which its tokens are counted with.
    pub as_text: u64,
    /// Not passed on, or only as words about them.
    pub dropped: u64,
}

impl MediaBytes {
    /// So much of base64 does not stand in a text by chance.
    const TELLING: usize = 64;

    fn of(view: &View, subject: &Subject) -> Self {
        let passed: HashSet<usize> = view
            .parts
            .iter()
            .filter_map(|part| match part {
                Part::Media { block, .. } => Some(*block),
                Part::Text(_) => None,
            })
            .collect();
        let mut media = Self::default();
        let is_medium = |block: &&Block| {
            let mime = block.mime_type.as_deref().unwrap_or_default();
            matches!(block.kind, BlockKind::Image | BlockKind::Audio)
                || (block.kind == BlockKind::Resource && (mime.starts_with("image/") || mime.starts_with("audio/")))
        };
        for block in subject.reading.blocks.iter().filter(is_medium) {
            let bytes = block.data_bytes.unwrap_or(0) as u64;
            let node = subject.reading.doc.node(block.node);
            let data = node.and_then(|node| node.get("data").or_else(|| node.get("resource")?.get("blob")));
            let begins = data.map_or(&b""[..], |data| data.raw()).trim_ascii_start();
            let begins = begins.strip_prefix(b"\"").unwrap_or(begins);
            let begins = &begins[..begins.len().saturating_sub(1).min(Self::TELLING)];
            if passed.contains(&block.index) {
                media.shown += bytes;
            } else if !begins.is_empty() && memchr::memmem::find(view.text.as_bytes(), begins).is_some() {
                media.as_text += bytes;
            } else {
                media.dropped += bytes;
            }
        }
        media
    }
}

/// What a host's text is made of, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostShares {
    pub content: u64,
    pub structured: u64,
    /// Added by the host, or around both parts.
    pub other: u64,
    /// Taken out by a limit.
    pub removed: u64,
    /// Whether the text before any limit has something of the content blocks, of `structuredContent`.
    pub has_content: bool,
    pub has_structured: bool,
}

impl HostShares {
    fn of(view: &View) -> Self {
        let mut shares = Self::default();
        for span in &view.spans {
            let bytes = span.range.len() as u64;
            match span.origin {
                Origin::Block(_) => shares.content += bytes,
                Origin::Structured => shares.structured += bytes,
                Origin::Envelope | Origin::Host => shares.other += bytes,
            }
        }
        for span in &view.full_spans {
            shares.has_content |= matches!(span.origin, Origin::Block(_));
            shares.has_structured |= span.origin == Origin::Structured;
        }
        shares.removed = view.removed_bytes();
        shares
    }
}

impl HostRow {
    pub fn limit(&self) -> &LimitOutcome {
        &self.view.limit
    }

    /// The limit in words: `cut at 8,000 characters (UTF-16), 1,234 bytes left out`.
    pub fn limit_text(&self) -> String {
        limit_text(&self.view)
    }

    /// Images and audio in words; `None` where the answer has none, or no text can be computed.
    pub fn media_text(&self) -> Option<String> {
        let ways = [
            (self.media.shown, "passed on beside the text"),
            (self.media.as_text, "in the text as base64"),
            (self.media.dropped, "not passed on"),
        ];
        let some: Vec<String> = ways
            .iter()
            .filter(|(bytes, _)| *bytes > 0)
            .map(|(bytes, how)| format!("{} {how}", number_of(*bytes, "bytes")))
            .collect();
        (self.view.is_computable() && !some.is_empty()).then(|| format!("Images and audio: {}.", some.join(", ")))
    }

    /// What the model is not shown, a line for each thing: which part, and why.
    pub fn dropped_lines(&self) -> Vec<String> {
        let what = |what: What| match what {
            What::Block(block) => format!("content[{block}]"),
            What::Structured => "structuredContent".to_owned(),
            What::IsError => "isError".to_owned(),
        };
        let mut lines: Vec<String> =
            self.view.dropped.iter().map(|dropped| format!("{} is dropped: {}.", what(dropped.what), dropped.why)).collect();
        if self.limit().state.is_truncated() == Some(true) {
            lines.push(format!("The text is {}.", self.limit_text()));
        }
        lines
    }

    /// The same as one sentence: what this host makes of the answer.
    pub fn dropped_text(&self) -> String {
        let name = &self.host.name;
        match (&self.view.not_computable, self.dropped_lines().as_slice()) {
            (Some(why), _) => format!("{name}: the text cannot be computed: {why}."),
            (None, []) => format!("{name} shows its model everything of this answer."),
            (None, lines) => format!("{name}: {}", lines.join(" ")),
        }
    }

    /// Whether the model is shown every fact of the data, and every text that may say more.
    pub fn loses_nothing(&self) -> bool {
        self.facts.is_some_and(|facts| facts.missing == 0 && facts.total > 0)
            && self.limit().state.is_truncated() != Some(true)
            && (self.is_data_alone || self.view.dropped.is_empty())
    }

    fn missing(&self) -> u64 {
        self.facts.map_or(0, |facts| facts.missing)
    }
}

/// A limit in words.
pub fn limit_text(view: &View) -> String {
    let limit = &view.limit;
    let over_tokens = limit.tokens_max.filter(|_| limit.state != LimitState::Fits).map(|max| {
        let what = if limit.tokens_keep_nothing { "an error or a notice may stand in its place" } else { "may be cut" };
        format!("{what} at {} of the provider's tokens", grouped(max))
    });
    let Some(bite) = limit.bites.first() else { return over_tokens.unwrap_or_else(|| limit.state.title().to_owned()) };
    let cut = format!(
        "{} at {} {}, {} left out",
        limit.state.title(),
        grouped(bite.max),
        bite.unit.title(),
        number_of(view.removed_bytes(), "bytes")
    );
    match over_tokens {
        Some(over) => format!("{cut}; {over}"),
        None => cut,
    }
}

/// A field of the payload, over all records, that a text does not wholly keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostField {
    /// A JSON Pointer with `*` for every position in an array: `/items/*/city`.
    pub path: String,
    pub total: u64,
    pub reworded: u64,
    pub missing: u64,
}

/// Hosts that are shown the same parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostGroup {
    /// Positions in [`HostsReport::rows`], as they are shown.
    pub rows: Vec<usize>,
    /// Whether there is a text; the others share the reason why there is none.
    pub is_computable: bool,
}

/// What every host makes of an answer.
#[derive(Clone, Debug, Default)]
pub struct HostsReport {
    /// One for each host, in their order: reports of several answers, and [`super::DeliveryCell`]s, stand side by side.
    pub rows: Vec<HostRow>,
    /// Positions in `rows` as they are shown: a user's own hosts first; then by facts lost, then by tokens
    /// (`o200k_base`); last those without a text.
    pub order: Vec<usize>,
    /// In the order in which their first hosts are shown.
    pub groups: Vec<HostGroup>,
    /// What is wrong with a file of hosts.
    pub problems: Vec<Problem>,
}

impl HostsReport {
    /// About how many bytes it holds.
    pub(super) fn weight(&self) -> usize {
        let of = |row: &HostRow| {
            let view = &row.view;
            let full = if view.limit.bites.is_empty() { 0 } else { view.full.len() };
            let spans = (view.spans.len() + view.full_spans.len()) * size_of::<Span>();
            let definition = row.definition.as_ref().map_or(0, |definition| definition.text.len());
            view.text.len() + full + spans + definition
        };
        let lost: HashMap<*const Vec<LostField>, usize> =
            self.rows.iter().map(|row| (Arc::as_ptr(&row.lost), row.lost.len())).collect();
        self.rows.iter().map(of).sum::<usize>() + lost.values().sum::<usize>() * size_of::<LostField>()
    }
}

impl HostsReport {
    /// Runs an answer through every host.
    ///
    /// # Errors
    /// [`Cancelled`] when the asker looked away.
    pub fn of(subject: &Subject, hosts: &Hosts, cancel: &Cancel) -> Result<Self, Cancelled> {
        let tool = &subject.capture.tool;
        let mut views = host_told::views(subject, hosts, cancel)?;
        let told = host_told::tell(subject, &mut views, true, cancel)?;
        let server = ViewContext::of(&subject.capture).server;
        let mut rows = Vec::with_capacity(hosts.len());
        for ((host, view), told) in hosts.iter().zip(views).zip(told) {
            let definition = (!tool.raw.is_empty()).then(|| host.definition(tool, &server));
            let count = |definition: &Definition| subject.known.counts(definition.text.as_bytes(), cancel);
            let definition_tokens = definition.as_ref().map(count).transpose()?.map(|counts| counts.tokens);
            rows.push(HostRow {
                host: Arc::clone(host),
                shares: HostShares::of(&view),
                media: MediaBytes::of(&view, subject),
                bytes: view.text.len() as u64,
                view: Arc::new(view),
                tokens: told.as_ref().map(|told| told.tokens),
                facts: told.as_ref().and_then(|told| told.facts),
                lost: told.map_or_else(Arc::default, |told| told.lost),
                definition,
                definition_tokens,
                is_data_alone: subject.is_data_alone(),
            });
        }
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by_key(|at| {
            let row: &HostRow = &rows[*at];
            (!row.host.is_own, row.tokens.is_none(), row.missing(), row.tokens.map_or(0, |tokens| tokens.o200k_base))
        });
        let groups = group(&rows, &order);
        Ok(Self { rows, order, groups, problems: hosts.problems.clone() })
    }

    /// The rows as they are shown.
    pub fn sorted(&self) -> impl Iterator<Item = &HostRow> {
        self.order.iter().filter_map(|at| self.rows.get(*at))
    }

    /// The row of a host.
    pub fn row(&self, id: HostId) -> Option<&HostRow> {
        self.rows.iter().find(|row| row.host.id == id)
    }

    /// Different texts, those that cannot be computed left out.
    pub fn views(&self) -> usize {
        self.groups.iter().filter(|group| group.is_computable).count()
    }

    /// Hosts that certainly cut.
    pub fn cut(&self) -> usize {
        self.rows.iter().filter(|row| row.limit().state.is_truncated() == Some(true)).count()
    }

    /// Who sees what, who cuts, and who pays least without losing anything.
    pub fn verdict(&self, encoding: Encoding) -> Verdict {
        let mut verdict = Verdict::default();
        let shown: Vec<&HostRow> = self.sorted().filter(|row| row.tokens.is_some()).collect();
        let unknown = self.rows.len() - shown.len();
        verdict.plain(format!(
            "{}, {}.",
            number_of(self.rows.len() as u64, "hosts"),
            number_of(self.views() as u64, "different views")
        ));
        if unknown > 0 {
            verdict.plain(format!(" {unknown} cannot be computed."));
        }
        verdict.plain(sees(&shown));
        let mut reached: Vec<&HostRow> = [LimitState::Error, LimitState::Replaced, LimitState::Cut]
            .into_iter()
            .flat_map(|state| shown.iter().copied().filter(move |row| row.limit().state == state))
            .collect();
        reached.sort_by_key(|row| std::cmp::Reverse(row.missing()));
        let (told, named) = reached.split_at(reached.len().min(LIMITS_TOLD));
        for row in told {
            verdict.plain(format!(" {}: ", row.host.name));
            let kept = row.facts.map_or_else(String::new, |facts| {
                format!(", {} of {} facts left", grouped(facts.total - facts.missing), grouped(facts.total))
            });
            verdict.parts.push(VerdictPart::Bad(format!("{}{kept}", row.limit_text())));
            verdict.plain(".");
        }
        if !named.is_empty() {
            let names: Vec<&str> = named.iter().map(|row| row.host.name.as_str()).collect();
            verdict.plain(" ");
            verdict.parts.push(VerdictPart::Bad(format!("Their limit is reached too: {}", names.join(", "))));
            verdict.plain(".");
        }
        for (keeps_nothing, what) in [(false, "May be cut"), (true, "An error or a notice may stand in its place")] {
            let is_it =
                |row: &&&HostRow| row.limit().state == LimitState::MayCut && row.limit().tokens_keep_nothing == keeps_nothing;
            let may: Vec<&str> = shown.iter().filter(is_it).map(|row| row.host.name.as_str()).collect();
            if !may.is_empty() {
                verdict.plain(format!(" {what}: {}.", may.join(", ")));
            }
        }
        self.cheapest(&mut verdict, &shown, encoding);
        verdict
    }

    /// The host that pays least of those that lose nothing. One that cuts, or may, is never named for it.
    fn cheapest(&self, verdict: &mut Verdict, shown: &[&HostRow], encoding: Encoding) {
        let tokens = |row: &HostRow| row.tokens.map_or(u64::MAX, |tokens| tokens.get(encoding));
        if shown.iter().all(|row| row.facts.is_none()) {
            return;
        }
        let whole =
            shown.iter().filter(|row| row.loses_nothing() && matches!(row.limit().state, LimitState::None | LimitState::Fits));
        match whole.min_by_key(|row| tokens(row)) {
            Some(row) => {
                let as_few =
                    shown.iter().filter(|other| other.loses_nothing() && tokens(other) == tokens(row)).count() as u64 - 1;
                let others = if as_few > 0 { format!(" and {}", number_of(as_few, "others")) } else { String::new() };
                verdict.plain(format!(" Fewest tokens with nothing lost: {}{others}, ", row.host.name));
                verdict.parts.push(VerdictPart::Good(format!("{} ({})", grouped(tokens(row)), encoding.name())));
                verdict.plain(".");
            }
            None => match shown.iter().filter(|row| row.facts.is_some()).min_by_key(|row| row.missing()) {
                Some(row) if row.missing() > 0 => {
                    verdict.plain(" ");
                    verdict.parts.push(VerdictPart::Bad(format!(
                        "Every host loses facts, {} the fewest: {}",
                        row.host.name,
                        grouped(row.missing())
                    )));
                    verdict.plain(".");
                }
                _ => {}
            },
        }
    }
}

/// How many show what, where the answer has both parts.
fn sees(shown: &[&HostRow]) -> String {
    let has = |row: &HostRow, wanted: fn(Origin) -> bool| row.view.full_spans.iter().any(|span| wanted(span.origin));
    let mut counts = [0_usize; 4];
    for row in shown {
        let text = has(row, |origin| matches!(origin, Origin::Block(_)));
        let structured = has(row, |origin| origin == Origin::Structured);
        let place = match (text, structured) {
            (true, false) => 0,
            (false, true) => 1,
            (true, true) => 2,
            (false, false) => 3,
        };
        counts[place] += 1;
    }
    let words = ["the content blocks alone", "structuredContent alone", "both", "neither"];
    let named: Vec<String> = counts
        .iter()
        .zip(words)
        .filter(|(count, _)| **count > 0)
        .map(|(count, what)| format!("{count} {} {what}", if *count == 1 { "sees" } else { "see" }))
        .collect();
    if named.is_empty() { String::new() } else { format!(" {}.", named.join(", ")) }
}

fn group(rows: &[HostRow], order: &[usize]) -> Vec<HostGroup> {
    let texts = host_told::classes(rows.iter().map(|row| &*row.view.text));
    let mut places: HashMap<(Option<&str>, usize, &[Part]), usize> = HashMap::new();
    let mut groups: Vec<HostGroup> = Vec::new();
    for &position in order {
        let view = &rows[position].view;
        let key = (view.not_computable.as_deref(), texts[position], view.parts.as_slice());
        let place = *places.entry(key).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.rows.push(position),
            None => groups.push(HostGroup { rows: vec![position], is_computable: view.is_computable() }),
        }
    }
    groups
}

/// The fields that a text does not wholly keep, in the order of their first facts.
pub(super) fn lost_fields(payload: &Payload, matched: &Matched, columns: &Columns) -> Vec<LostField> {
    let mut places = vec![None; columns.columns.len()];
    let mut fields: Vec<LostField> = Vec::new();
    for fact in &matched.facts {
        let Some(&column) = columns.of_node.get(fact.node - payload.root) else { continue };
        let place = *places[column].get_or_insert_with(|| {
            fields.push(LostField { path: columns.path(column), total: 0, reworded: 0, missing: 0 });
            fields.len() - 1
        });
        let field = &mut fields[place];
        field.total += 1;
        match fact.state {
            FactState::Kept => {}
            FactState::Reworded => field.reworded += 1,
            FactState::Missing | FactState::Differs(_) => field.missing += 1,
        }
    }
    fields.retain(|field| field.missing + field.reworded > 0);
    fields
}

/// One host's text, ready to be painted.
#[derive(Clone, Debug)]
pub struct HostText {
    pub host: Arc<Host>,
    pub view: Arc<View>,
    /// Of `view.text`.
    pub lines: Vec<DisplayLine>,
    /// Of `view.full`, the text before any limit; empty where nothing is cut.
    pub full_lines: Vec<DisplayLine>,
    /// Facts and records of the payload in `view.text`; empty without a payload.
    pub matched: Matched,
}

impl HostText {
    /// About how many bytes it holds.
    pub(super) fn weight(&self) -> usize {
        2 * (self.view.text.len() + self.view.full.len()) + self.matched.facts.len() * 64
    }

    pub(super) fn of(subject: &Subject, host: &Arc<Host>, cancel: &Cancel) -> Result<Self, Cancelled> {
        let mut view = host.view(subject, &ViewContext::of(&subject.capture), cancel)?;
        host_told::judge(&mut view, &subject.known, cancel)?;
        let matched = match &subject.payload {
            Some(payload) if view.is_computable() => match_facts(payload, &view.text, cancel)?,
            _ => Matched::default(),
        };
        let full_lines = if view.limit.bites.is_empty() { Vec::new() } else { display_lines(&view.full) };
        Ok(Self { host: Arc::clone(host), lines: display_lines(&view.text), full_lines, matched, view: Arc::new(view) })
    }
}

/// A sentence on how far a host's rules can be relied on.
pub fn evidence_text(host: &Host) -> String {
    let how = match host.evidence {
        Evidence::Observed => "observed: the program was run and what its model would receive was read back",
        Evidence::Source => "source: read in its source, not confirmed by running it",
        Evidence::Documented => "documented: as its maker's documentation says",
        Evidence::Inferred => "inferred: from reports of users, may be wrong",
    };
    format!("{how}; {} {}, checked {}", host.name, host.version, host.checked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::tests::subject;
    use crate::token;

    fn report(result: &str) -> HostsReport {
        HostsReport::of(&subject(result), &Hosts::built_in(), &Cancel::new()).unwrap()
    }

    #[test]
    fn hosts_that_see_the_same_are_one_group() {
        let report = report(
            r#"{"content":[{"type":"text","text":"Ada, 36"}],"structuredContent":{"name":"Ada","age":36,"city":"London"}}"#,
        );
        assert_eq!(report.rows.len(), 28);
        let grouped: usize = report.groups.iter().map(|group| group.rows.len()).sum();
        assert_eq!(grouped, 28);
        for group in &report.groups {
            let texts: Vec<_> = group.rows.iter().map(|row| report.rows[*row].view.listing()).collect();
            assert!(texts.windows(2).all(|pair| pair[0] == pair[1]));
        }
        let row = |id: &str| report.rows.iter().find(|row| row.host.id.as_str() == id).unwrap();
        assert_eq!(row("codex").facts.unwrap().missing, 0);
        assert_eq!(row("zed").facts, Some(FactCount { total: 3, kept: 2, reworded: 0, missing: 1 }));
        assert_eq!(*row("zed").lost, [LostField { path: "/city".into(), total: 1, reworded: 0, missing: 1 }]);
        let places: Vec<u64> = report.sorted().filter(|row| row.tokens.is_some()).map(|row| row.missing()).collect();
        assert!(places.is_sorted(), "{places:?}");
        let verdict = report.verdict(Encoding::O200kBase).text();
        assert!(verdict.starts_with("28 hosts, "), "{verdict}");
        assert!(verdict.contains(" Fewest tokens with nothing lost: "), "{verdict}");
    }

    /// Reports of several answers stand side by side by position.
    #[test]
    fn rows_stand_in_the_order_of_the_hosts_whatever_the_answer() {
        let hosts: Vec<HostId> = Hosts::built_in().iter().map(|host| host.id).collect();
        for result in [
            r#"{"content":[{"type":"text","text":"Ada"}],"structuredContent":{"name":"Ada","age":36}}"#,
            r#"{"content":[{"type":"text","text":"{\"a\":1}"}]}"#,
            r#"{"content":[],"isError":true}"#,
        ] {
            let report = report(result);
            assert!(report.rows.iter().map(|row| row.host.id).eq(hosts.iter().copied()));
            assert_eq!(report.sorted().count(), hosts.len());
        }
    }

    #[test]
    fn a_host_that_cuts_is_never_praised() {
        let items: Vec<_> = (0..900).map(|id| serde_json::json!({"id": 10_000 + id, "name": format!("name {id}")})).collect();
        let value = serde_json::json!({ "items": items });
        let result = serde_json::json!({"content": [{"type": "text", "text": value.to_string()}], "structuredContent": value});
        let report = report(&result.to_string());
        let cline = report.rows.iter().find(|row| row.host.id.as_str() == "cline").unwrap();
        assert_eq!(cline.limit().state, LimitState::Cut);
        assert!(cline.missing() > 0);
        let verdict = report.verdict(Encoding::O200kBase);
        let praised = verdict.text().split("nothing lost: ").nth(1).unwrap().to_owned();
        assert!(!praised.starts_with("Cline"), "{praised}");
        let told = verdict.text();
        assert!(told.contains(" GitHub Copilot CLI: cut at 20,480 bytes, ") && told.contains(" too: Cline."), "{told}");
    }

    #[test]
    fn a_picture_is_shown_written_out_or_dropped() {
        let data = "iVBORw0KGgoAAAANSUhEUgAAABQAAAAUCAYAAACNiR0NAAAAKElEQVQ4jWNgYGD4Twzu6FhFFGYYNXDUwGFpIAk2E4dHDRw1cDgaCAASFOffhEIO3gAAAABJRU5ErkJggg==";
        let report = report(&format!(
            r#"{{"content":[{{"type":"text","text":"A square"}},{{"type":"image","mimeType":"image/png","data":"{data}"}}]}}"#
        ));
        let media = |id: &str| report.rows.iter().find(|row| row.host.id.as_str() == id).unwrap().media;
        let bytes = (data.len() / 4 * 3 - 2) as u64;
        assert_eq!(media("opencode"), MediaBytes { shown: bytes, ..MediaBytes::default() });
        assert_eq!(media("cline"), MediaBytes { as_text: bytes, ..MediaBytes::default() });
        assert_eq!(media("zed"), MediaBytes { dropped: bytes, ..MediaBytes::default() });
    }

    #[test]
    fn the_numbers_are_those_of_the_text() {
        let subject = subject(r#"{"content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]}"#);
        let report = HostsReport::of(&subject, &Hosts::built_in(), &Cancel::new()).unwrap();
        for row in report.rows.iter().filter(|row| row.view.is_computable()) {
            let sum: u64 = row.view.texts().map(|text| token::count(text, &Cancel::new()).unwrap().o200k_base).sum();
            assert_eq!(row.tokens.unwrap().o200k_base, sum);
            assert_eq!(row.bytes, row.view.text.len() as u64);
        }
        assert!(
            HostsReport::of(&subject, &Hosts::built_in(), &{
                let cancel = Cancel::new();
                cancel.cancel();
                cancel
            })
            .is_err()
        );
    }
}
