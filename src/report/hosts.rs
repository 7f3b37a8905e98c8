//! What each host's model is shown for an answer: text, tokens, facts, limits, definition, and who sees the same.
//!
//! A text that several hosts show is counted and matched once.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::text::{DisplayLine, display_lines};
use super::verdict::{Verdict, VerdictPart, grouped};
use crate::cancel::{Cancel, Cancelled};
use crate::capture::{FactCount, FactState, Matched, Payload, match_facts};
use crate::format::Subject;
use crate::host::definition::Definition;
use crate::host::{Evidence, Host, HostId, Hosts, LimitOutcome, LimitState, Origin, Part, Span, View, ViewContext, What};
use crate::json::Kind;
use crate::problem::Problem;
use crate::token::{self, Encoding, Tokens};

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
        let kept: usize = view.kept.iter().map(ExactSizeIterator::len).sum();
        if !view.limit.bites.is_empty() {
            shares.removed = (view.full.len() - kept.min(view.full.len())) as u64;
        }
        shares
    }
}

impl HostRow {
    pub fn limit(&self) -> &LimitOutcome {
        &self.view.limit
    }

    /// The limit in words: `cut at 8,000 characters (UTF-16), 1,234 bytes left out`.
    pub fn limit_text(&self) -> String {
        limit_text(&self.view.limit)
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

    fn missing(&self) -> u64 {
        self.facts.map_or(0, |facts| facts.missing)
    }
}

/// A limit in words.
pub fn limit_text(limit: &LimitOutcome) -> String {
    let Some(bite) = limit.bites.first() else { return limit.state.title().to_owned() };
    format!(
        "{} at {} {}, {} bytes left out",
        limit.state.title(),
        grouped(bite.max),
        bite.unit.title(),
        grouped(limit.bites.iter().map(|bite| bite.removed_bytes).sum())
    )
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
    /// Positions in [`HostsReport::rows`], in order.
    pub rows: Vec<usize>,
    /// Whether there is a text; the others share the reason why there is none.
    pub is_computable: bool,
}

/// What every host makes of an answer.
#[derive(Clone, Debug, Default)]
pub struct HostsReport {
    /// A user's own hosts first; then by facts lost, then by tokens (`o200k_base`); last those without a text.
    pub rows: Vec<HostRow>,
    /// In the order of their first rows.
    pub groups: Vec<HostGroup>,
    /// What is wrong with a file of hosts.
    pub problems: Vec<Problem>,
}

impl HostsReport {
    /// About how many bytes it holds; the texts that hosts share are one.
    pub(super) fn weight(&self) -> usize {
        self.groups.iter().filter_map(|group| self.rows.get(*group.rows.first()?)).map(|row| row.view.text.len() * 2).sum()
    }
}

/// The counts of texts that were met already.
#[derive(Default)]
pub(super) struct Counted {
    tokens: HashMap<Arc<str>, Tokens>,
    facts: HashMap<Arc<str>, (FactCount, Arc<Vec<LostField>>)>,
    fields: Fields,
}

impl Counted {
    /// Tokens of a view: the sum over its parts.
    pub fn tokens(&mut self, view: &View, cancel: &Cancel) -> Result<Tokens, Cancelled> {
        let mut sum = Tokens::default();
        for text in view.texts() {
            let tokens = match self.tokens.get(text) {
                Some(known) => *known,
                None => {
                    let tokens = token::count(text, cancel)?;
                    self.tokens.insert(Arc::from(text), tokens);
                    tokens
                }
            };
            sum.o200k_base += tokens.o200k_base;
            sum.cl100k_base += tokens.cl100k_base;
        }
        Ok(sum)
    }

    /// Facts of the payload in what the view shows of the answer: what a host puts before and after it holds none, and
    /// hosts that differ in that alone share the work.
    pub fn facts(
        &mut self,
        payload: &Payload,
        view: &View,
        cancel: &Cancel,
    ) -> Result<(FactCount, Arc<Vec<LostField>>), Cancelled> {
        let text = &view.text[of_answer(view)];
        if let Some((count, lost)) = self.facts.get(text) {
            return Ok((*count, Arc::clone(lost)));
        }
        let matched = match_facts(payload, text, cancel)?;
        let lost = if matched.count.missing + matched.count.reworded == 0 {
            Arc::default()
        } else {
            if !self.fields.is_of(&matched) {
                self.fields = Fields::of(payload, &matched);
            }
            Arc::new(self.fields.lost(&matched))
        };
        self.facts.insert(Arc::from(text), (matched.count, Arc::clone(&lost)));
        Ok((matched.count, lost))
    }
}

/// The text without what the host puts before and after the answer.
fn of_answer(view: &View) -> Range<usize> {
    let is_answer = |span: &&Span| span.origin != Origin::Host;
    let first = view.spans.iter().find(is_answer).map_or(0, |span| span.range.start);
    let last = view.spans.iter().rfind(is_answer).map_or(first, |span| span.range.end);
    first..last
}

impl HostsReport {
    pub(super) fn of(subject: &Subject, hosts: &Hosts, cancel: &Cancel) -> Result<Self, Cancelled> {
        let context = ViewContext::of(&subject.capture);
        let tool = &subject.capture.tool;
        let mut counted = Counted::default();
        let mut rows = Vec::with_capacity(hosts.len());
        for host in hosts.iter() {
            let mut view = host.view(subject, &context, cancel)?;
            let tokens = if view.is_computable() { Some(counted.tokens(&view, cancel)?) } else { None };
            if let Some(tokens) = tokens {
                view.limit.count(highest(tokens));
            }
            let known = match &subject.payload {
                Some(payload) if view.is_computable() => Some(counted.facts(payload, &view, cancel)?),
                _ => None,
            };
            let (facts, lost) = known.map_or((None, Arc::default()), |(count, lost)| (Some(count), lost));
            let definition = (!tool.raw.is_empty()).then(|| host.definition(tool, &context.server));
            let definition_tokens = definition.as_ref().map(|definition| token::count(&definition.text, cancel)).transpose()?;
            rows.push(HostRow {
                host: Arc::clone(host),
                shares: HostShares::of(&view),
                bytes: view.text.len() as u64,
                view: Arc::new(view),
                tokens,
                facts,
                lost,
                definition,
                definition_tokens,
            });
        }
        rows.sort_by_key(|row| {
            (!row.host.is_own, row.tokens.is_none(), row.missing(), row.tokens.map_or(0, |tokens| tokens.o200k_base))
        });
        let groups = group(&rows);
        Ok(Self { rows, groups, problems: hosts.problems.clone() })
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
        let shown: Vec<&HostRow> = self.rows.iter().filter(|row| row.tokens.is_some()).collect();
        let unknown = self.rows.len() - shown.len();
        verdict.plain(format!("{}, {}.", count(self.rows.len(), "host"), count(self.views(), "different view")));
        if unknown > 0 {
            verdict.plain(format!(" {unknown} cannot be computed."));
        }
        verdict.plain(sees(&shown));
        for state in [LimitState::Error, LimitState::Replaced, LimitState::Cut] {
            for row in shown.iter().filter(|row| row.limit().state == state) {
                verdict.plain(format!(" {}: ", row.host.name));
                let kept = row.facts.map_or_else(String::new, |facts| {
                    format!(", {} of {} facts left", grouped(facts.total - facts.missing), grouped(facts.total))
                });
                verdict.parts.push(VerdictPart::Bad(format!("{}{kept}", row.limit_text())));
                verdict.plain(".");
            }
        }
        let may: Vec<&str> =
            shown.iter().filter(|row| row.limit().state == LimitState::MayCut).map(|row| row.host.name.as_str()).collect();
        if !may.is_empty() {
            verdict.plain(format!(" May be cut: {}.", may.join(", ")));
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
        let whole = shown.iter().filter(|row| {
            row.facts.is_some_and(|facts| facts.missing == 0 && facts.total > 0)
                && matches!(row.limit().state, LimitState::None | LimitState::Fits)
        });
        match whole.min_by_key(|row| tokens(row)) {
            Some(row) => {
                verdict.plain(format!(" Fewest tokens with no fact lost: {}, ", row.host.name));
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

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
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
    let named: Vec<String> =
        counts.iter().zip(words).filter(|(count, _)| **count > 0).map(|(count, what)| format!("{count} see {what}")).collect();
    if named.is_empty() { String::new() } else { format!(" {}.", named.join(", ")) }
}

/// The higher of the counts that are known.
fn highest(tokens: Tokens) -> u64 {
    Encoding::ALL.iter().map(|encoding| tokens.get(*encoding)).max().unwrap_or(0)
}

fn group(rows: &[HostRow]) -> Vec<HostGroup> {
    let mut places: HashMap<(Option<&str>, &str, &[Part]), usize> = HashMap::new();
    let mut groups: Vec<HostGroup> = Vec::new();
    for (position, row) in rows.iter().enumerate() {
        let key = (row.view.not_computable.as_deref(), &*row.view.text, row.view.parts.as_slice());
        let place = *places.entry(key).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.rows.push(position),
            None => groups.push(HostGroup { rows: vec![position], is_computable: row.view.is_computable() }),
        }
    }
    groups
}

/// The fields that a text does not wholly keep, in the order of their first facts.
pub fn lost_fields(payload: &Payload, matched: &Matched) -> Vec<LostField> {
    if matched.count.missing + matched.count.reworded == 0 { Vec::new() } else { Fields::of(payload, matched).lost(matched) }
}

/// Which field each fact of a payload belongs to; the same for every text, so it is found once.
#[derive(Default)]
struct Fields {
    paths: Vec<String>,
    /// The node of each fact, and the position of its path.
    facts: Vec<(usize, usize)>,
}

impl Fields {
    fn of(payload: &Payload, matched: &Matched) -> Self {
        let mut fields = Self { paths: vec![String::new()], facts: Vec::with_capacity(matched.facts.len()) };
        let mut containers = HashMap::from([(payload.root, 0)]);
        // By the path around and the step: every position in an array is one step.
        let mut steps: Vec<HashMap<Box<str>, usize>> = vec![HashMap::new()];
        for fact in &matched.facts {
            let mut above = Vec::new();
            let mut at = payload.doc.node(fact.node);
            let mut place = 0;
            while let Some(node) = at {
                if let Some(known) = containers.get(&node.index()) {
                    place = *known;
                    break;
                }
                above.push(node);
                at = node.parent();
            }
            for node in above.into_iter().rev() {
                let key = match node.parent().map(|parent| parent.kind()) {
                    Some(Kind::Array) => "*".into(),
                    _ => node.key().unwrap_or_default(),
                };
                place = match steps[place].get(&*key) {
                    Some(known) => *known,
                    None => {
                        let next = fields.paths.len();
                        fields.paths.push(format!("{}/{}", fields.paths[place], key.replace('~', "~0").replace('/', "~1")));
                        steps[place].insert(Box::from(&*key), next);
                        steps.push(HashMap::new());
                        next
                    }
                };
                if matches!(node.kind(), Kind::Array | Kind::Object) {
                    containers.insert(node.index(), place);
                }
            }
            fields.facts.push((fact.node, place));
        }
        fields
    }

    fn is_of(&self, matched: &Matched) -> bool {
        self.facts.len() == matched.facts.len() && self.facts.iter().zip(&matched.facts).all(|(known, fact)| known.0 == fact.node)
    }

    fn lost(&self, matched: &Matched) -> Vec<LostField> {
        let mut places = vec![None; self.paths.len()];
        let mut fields: Vec<LostField> = Vec::new();
        for (fact, (_, path)) in matched.facts.iter().zip(&self.facts) {
            let place = *places[*path].get_or_insert_with(|| {
                fields.push(LostField { path: self.paths[*path].clone(), total: 0, reworded: 0, missing: 0 });
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
        if view.limit.state == LimitState::MayCut {
            view.limit.count(highest(Counted::default().tokens(&view, cancel)?));
        }
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
        let places: Vec<u64> = report.rows.iter().filter(|row| row.tokens.is_some()).map(|row| row.missing()).collect();
        assert!(places.is_sorted(), "{places:?}");
        let verdict = report.verdict(Encoding::O200kBase).text();
        assert!(verdict.starts_with("28 hosts, "), "{verdict}");
        assert!(verdict.contains(" Fewest tokens with no fact lost: "), "{verdict}");
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
        let praised = verdict.text().split("no fact lost: ").nth(1).unwrap().to_owned();
        assert!(!praised.starts_with("Cline"), "{praised}");
        assert!(verdict.text().contains(" Cline: cut at 8,000 characters (UTF-16), "), "{}", verdict.text());
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
