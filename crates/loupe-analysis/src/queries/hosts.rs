//! What each host's model is shown for a result: text, tokens, facts, limits, definition, and who sees the same.

use std::collections::HashMap;
use std::sync::Arc;

use crate::queries::host_media::{Media, MediaBytes, MediaCounts, MediaOutcome};
use crate::queries::host_report::{self, LostField, LostFields};
use crate::queries::query::{Ctx, Query, Stop, Weigh};
use crate::queries::text::{DisplayLine, display_lines};
use loupe_core::cancel::{Cancel, Cancelled};
use loupe_core::capture::{Block, BlockKind, FactCount, FactMatches, is_wrapped, locate_facts};
use loupe_core::digest::sha256;
use loupe_core::format::ledger::INTERRUPTED;
use loupe_core::format::{ExtraPiece, ParsedCapture};
use loupe_core::host::definition::Definition;
use loupe_core::host::{
    Evidence, Host, HostId, HostView, Hosts, LimitOutcome, LimitState, OmittedPart, Part,
    RenderCache, TextOrigin, ViewContext,
};
use loupe_core::number::{grouped, number_of};
use loupe_core::problem::Problem;
use loupe_core::token::Tokens;

/// Definitions below this size are not worth further threads.
const SMALL_BYTES: usize = 64 << 10;

/// About how many bytes of results the hosts make texts of at a time, where nobody keeps them.
const AT_A_TIME: usize = 16 << 20;

/// How much a report keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReportDetail {
    /// Figures alone.
    Figures,
    /// And who sees the same, and which fields are not wholly kept.
    Fields,
    /// And the texts, which of a large result are many times its size.
    Texts,
}

/// What one host makes of a result.
#[derive(Clone, Debug)]
pub struct HostRow {
    pub host: Arc<Host>,
    /// The text with its origins; its limit is judged by the counted tokens too.
    pub view: Arc<HostView>,
    /// Bytes of the text in UTF-8, the parts joined by one LF.
    pub bytes: u64,
    /// The sum over the parts; `None` where no text can be computed. Media are not in it.
    pub tokens: Option<Tokens>,
    /// `None` where there is no data or no text.
    pub facts: Option<FactCount>,
    /// The fields that are not wholly kept, by path; shared by hosts with the same text.
    pub lost: Arc<Vec<LostField>>,
    /// `None` where the definition of the tool is not known.
    pub definition: Option<Definition>,
    /// What it costs: name, description and input schema as this host's rule leaves them.
    pub definition_tokens: Option<Tokens>,
    pub shares: HostShares,
    pub media: MediaBytes,
    pub(crate) media_counts: MediaCounts,
    pub dropped: OtherLosses,
    pub outcome: HostOutcome,
    /// Rows of one report with the same number show the same text in the same parts.
    shown_text: usize,
}

/// What is not shown of a result next to its facts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OtherLosses {
    /// Of extra text.
    pub extra: Tokens,
    /// Blocks that are no text; of a result without data, texts too.
    pub blocks: u64,
}

impl OtherLosses {
    pub fn is_none(self) -> bool {
        self == Self::default()
    }
}

/// What becomes of a result in a host, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HostOutcome {
    /// No fact of the data; of a result without data, no text of it.
    Nothing,
    /// Its limit is reached.
    Cut,
    /// Facts are missing.
    Facts,
    /// Every fact, but not all that the result says next to its data, or not every image as one.
    Part,
    All,
    /// No text can be computed.
    Unknown,
}

impl HostOutcome {
    pub const ALL: [HostOutcome; 6] = [
        Self::Nothing,
        Self::Cut,
        Self::Facts,
        Self::Part,
        Self::All,
        Self::Unknown,
    ];

    /// The title of its hosts.
    pub fn title(self) -> &'static str {
        match self {
            Self::Nothing => "Show nothing",
            Self::Cut => "Cut",
            Self::Facts => "Lose facts",
            Self::Part => "Drop a part",
            Self::All => "Show all",
            Self::Unknown => "Not known",
        }
    }

    /// `shows_error`: whether the result is an error whose whole text is shown.
    fn new(row: &HostRow, answer_bytes: u64, shows_error: bool) -> Self {
        let media = &row.media_counts;
        let shows_nothing = match row.facts.filter(|facts| facts.total > 0) {
            Some(facts) => facts.missing == facts.total,
            None => {
                let has_something = answer_bytes > 0 || media.worst().is_some();
                let shows_text = row.shares.content + row.shares.structured > 0;
                has_something
                    && !shows_text
                    && media.with_outcome(MediaOutcome::Nothing) == media.total()
            }
        };
        match () {
            () if !row.view.is_computable() => Self::Unknown,
            () if shows_nothing && !shows_error => Self::Nothing,
            () if row.limit().state.is_truncated() == Some(true) => Self::Cut,
            () if row.missing() > 0 => Self::Facts,
            () if !row.dropped.is_none() || media.has_loss() => Self::Part,
            () => Self::All,
        }
    }
}

/// What of a result is said next to its data, and where.
struct ExtraContent<'s> {
    blocks: &'s [Block],
    /// Where each text block begins in the text content, and the extra text.
    starts: Vec<(usize, usize)>,
    extra: &'s [ExtraPiece],
    /// Whether `structuredContent` is the text once more, so that one of them is all.
    is_twin: bool,
    has_data: bool,
    is_error: bool,
}

impl<'s> ExtraContent<'s> {
    fn new(subject: &'s ParsedCapture) -> Self {
        let mut starts = Vec::new();
        let mut at = 0;
        for block in subject.response.text_blocks() {
            starts.push((at, block.index));
            at += block.text.as_ref().map_or(0, |text| text.len()) + 1;
        }
        Self {
            blocks: &subject.response.blocks,
            starts,
            extra: &subject.extra().pieces,
            is_twin: is_wrapped(&subject.response),
            has_data: subject.compared_data().is_some(),
            is_error: subject.response.is_error == Some(true),
        }
    }

    /// Whether the result is an error, and a host shows the whole text of it.
    fn is_error_shown(&self, host: &Host, view: &HostView) -> bool {
        let mut texts = self
            .blocks
            .iter()
            .filter_map(|block| block.text.as_deref())
            .filter(|text| !text.is_empty())
            .peekable();
        self.is_error && texts.peek().is_some() && texts.all(|text| host.has_text(view, text))
    }

    /// How much of it a host does not show.
    fn count_dropped(
        &self,
        view: &HostView,
        shares: &HostShares,
        shows_error: bool,
    ) -> OtherLosses {
        let is_dropped = |block: usize| {
            view.dropped
                .iter()
                .any(|dropped| dropped.what == OmittedPart::Block(block))
        };
        let is_text = |block: &Block| block.kind == BlockKind::Text && block.text.is_some();
        let is_shown_twice = self.is_twin && shares.has_structured;
        let counts =
            |block: &&Block| !is_text(block) || !(self.has_data || is_shown_twice || shows_error);
        let blocks = self
            .blocks
            .iter()
            .filter(counts)
            .filter(|block| is_dropped(block.index))
            .count() as u64;
        let block_of = |at: &usize| {
            self.starts
                .partition_point(|(start, _)| start <= at)
                .checked_sub(1)
        };
        let is_lost = |piece: &&ExtraPiece| {
            block_of(&piece.range.start).is_some_and(|block| is_dropped(self.starts[block].1))
                && !is_shown_twice
                && !shows_error
        };
        let extra = self
            .extra
            .iter()
            .filter(is_lost)
            .fold(Tokens::default(), |sum, piece| sum.plus(piece.tokens));
        OtherLosses { extra, blocks }
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
    fn new(view: &HostView) -> Self {
        let mut shares = Self::default();
        for span in view.spans.iter() {
            let bytes = span.range().len() as u64;
            match span.origin {
                TextOrigin::Block(_) => shares.content += bytes,
                TextOrigin::Structured => shares.structured += bytes,
                TextOrigin::Envelope | TextOrigin::Host => shares.other += bytes,
            }
        }
        for span in view.full_spans.iter() {
            shares.has_content |= matches!(span.origin, TextOrigin::Block(_));
            shares.has_structured |= span.origin == TextOrigin::Structured;
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

    /// Whether the result is an error, and the host does not tell its model so.
    pub(crate) fn hides_error(&self) -> bool {
        self.view
            .dropped
            .iter()
            .any(|dropped| dropped.what == OmittedPart::IsError)
    }

    /// What the model is not shown, a line for each thing: which part, and why.
    pub fn dropped_lines(&self) -> Vec<String> {
        let what = |what: OmittedPart| match what {
            OmittedPart::Block(block) => format!("content[{block}]"),
            OmittedPart::Structured => "structuredContent".to_owned(),
            OmittedPart::IsError => "isError".to_owned(),
        };
        let mut lines: Vec<String> = self
            .view
            .dropped
            .iter()
            .map(|dropped| format!("{} is dropped: {}.", what(dropped.what), dropped.why))
            .collect();
        if self.limit().state.is_truncated() == Some(true) {
            lines.push(format!("The text is {}.", self.limit_text()));
        }
        lines
    }

    /// The same as one sentence: what this host makes of the result.
    pub fn dropped_text(&self) -> String {
        let name = &self.host.name;
        match (&self.view.not_computable, self.dropped_lines().as_slice()) {
            (Some(why), _) => format!("{name}: the text cannot be computed: {why}."),
            (None, []) => format!("{name} shows its model everything of this answer."),
            (None, lines) => format!("{name}: {}", lines.join(" ")),
        }
    }

    /// Whether the model is shown all that the result says.
    pub fn loses_nothing(&self) -> bool {
        self.outcome == HostOutcome::All
    }

    /// What is shown of how much: facts, or bytes of the text before any limit where the result has no facts.
    pub fn shown(&self) -> (u64, u64) {
        match self.facts.filter(|facts| facts.total > 0) {
            Some(facts) => (facts.total - facts.missing, facts.total),
            None => {
                let shown = self.shares.content + self.shares.structured;
                (shown, shown + self.shares.removed)
            }
        }
    }

    pub fn missing(&self) -> u64 {
        self.facts.map_or(0, |facts| facts.missing)
    }
}

/// A limit in words.
pub fn limit_text(view: &HostView) -> String {
    let limit = &view.limit;
    let over_tokens = limit
        .tokens_max
        .filter(|_| limit.state != LimitState::Fits)
        .map(|max| {
            let what = if limit.tokens_keep_nothing {
                "an error or a notice may take its place"
            } else {
                "may be cut"
            };
            format!("{what} at {} of the provider's tokens", grouped(max))
        });
    let Some(bite) = limit.bites.first() else {
        return over_tokens.unwrap_or_else(|| limit.state.title().to_owned());
    };
    let (max, unit) = bite.unit.in_words(bite.max);
    let cut = format!(
        "{} at {} {}, {} left out",
        limit.state.title(),
        grouped(max),
        unit.title(),
        number_of(view.removed_bytes(), "bytes")
    );
    match over_tokens {
        Some(over) => format!("{cut}; {over}"),
        None => cut,
    }
}

/// Hosts that show their models the same, with the same outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostLane {
    /// Positions in [`HostsReport::rows`], as they are shown.
    pub rows: Vec<usize>,
    /// Those of [`HostOutcome::Unknown`] share the reason why there is no text.
    pub outcome: HostOutcome,
}

/// What every host makes of a result.
#[derive(Clone, Debug, Default)]
pub struct HostsReport {
    /// One for each host, in their order: reports of several results, and [`super::PlacementCell`]s, stand side by side.
    pub rows: Vec<HostRow>,
    /// Positions in `rows` as they are shown: a user's own hosts first; then by facts lost, then by tokens
    /// (`o200k_base`); last those without a text.
    pub order: Vec<usize>,
    /// By outcome, worst first; then by what is shown, then by tokens.
    pub lanes: Vec<HostLane>,
    /// What is wrong with a file of hosts.
    pub problems: Vec<Problem>,
    by_name: Vec<usize>,
}

impl HostsReport {
    /// Runs a result through every host.
    ///
    /// # Errors
    /// [`Cancelled`] if the caller cancelled.
    pub fn new(subject: &ParsedCapture, hosts: &Hosts, cancel: &Cancel) -> Result<Self, Cancelled> {
        let report = Self::so_far(subject, hosts, ReportDetail::Texts, cancel);
        cancel.check()?;
        Ok(report)
    }

    /// The same for somebody who takes what there is when the caller cancels: a host that was not reached says so.
    ///
    /// Where the texts are not kept, there are few at a time.
    pub fn so_far(
        subject: &ParsedCapture,
        hosts: &Hosts,
        detail: ReportDetail,
        cancel: &Cancel,
    ) -> Self {
        let tool = &subject.capture.tool;
        let written = RenderCache::default();
        let server = ViewContext::new(&subject.capture).server;
        let mut definitions = Vec::with_capacity(hosts.len());
        let mut texts = Vec::with_capacity(hosts.len());
        for host in hosts.iter().filter(|_| !tool.raw.is_empty()) {
            let (mut definition, text) = host.definition(tool, &server);
            definition.description = definition
                .description
                .map(|description| written.text(&description));
            definitions.push(Some(definition));
            texts.push(written.text(&text));
        }
        let mut definition_tokens = host_report::counts(
            texts.iter().map(|text| &**text),
            &subject.cache,
            tool.raw.len() < SMALL_BYTES,
            cancel,
        );
        definitions.resize(hosts.len(), None);
        definition_tokens.resize(hosts.len(), None);
        let mut media = Media::of(subject);
        let beside = ExtraContent::new(subject);
        let answer_bytes = beside
            .blocks
            .iter()
            .map(|block| block.text.as_ref().map_or(0, |text| text.len()) as u64)
            .sum();
        let mut rows = Vec::with_capacity(hosts.len());
        let mut definitions = definitions.into_iter().zip(definition_tokens);
        let all: Vec<&Arc<Host>> = hosts.iter().collect();
        let at_a_time = match detail {
            ReportDetail::Texts => all.len(),
            _ => AT_A_TIME / subject.capture.wire_len().max(1),
        };
        let mut shown_texts = ShownTexts::default();
        let lost = (detail >= ReportDetail::Fields).then(|| LostFields::of(subject));
        for some in all.chunks(at_a_time.max(1)) {
            let mut views = host_report::views(subject, some, &RenderCache::default(), cancel);
            let measured = host_report::measure(subject, &mut views, lost.as_ref(), cancel);
            shown_texts.begin();
            for (((host, mut view), measured), (definition, definition_tokens)) in some
                .iter()
                .zip(views)
                .zip(measured)
                .zip(definitions.by_ref())
            {
                let shares = HostShares::new(&view);
                let shows_error = beside.is_error_shown(host, &view);
                let (bytes, left_out) = (
                    view.text.len() as u64,
                    beside.count_dropped(&view, &shares, shows_error),
                );
                let (media, media_counts) = media.in_view(host, &view);
                let shown_text = match detail {
                    ReportDetail::Figures => 0,
                    _ => shown_texts.number_of(&view, some.len() < all.len()),
                };
                if detail < ReportDetail::Texts {
                    view.forget_texts();
                }
                let mut row = HostRow {
                    host: Arc::clone(host),
                    dropped: left_out,
                    shares,
                    media,
                    media_counts,
                    bytes,
                    view: Arc::new(view),
                    tokens: measured.as_ref().map(|measured| measured.tokens),
                    facts: measured.as_ref().and_then(|measured| measured.facts),
                    lost: measured.map_or_else(Arc::default, |measured| measured.lost),
                    definition,
                    definition_tokens,
                    outcome: HostOutcome::Unknown,
                    shown_text,
                };
                row.outcome = HostOutcome::new(&row, answer_bytes, shows_error);
                rows.push(row);
            }
        }
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by_key(|at| {
            let row: &HostRow = &rows[*at];
            (
                !row.host.is_own,
                row.tokens.is_none(),
                row.missing(),
                row.tokens.map_or(0, |tokens| tokens.o200k_base),
            )
        });
        let lanes = match detail {
            ReportDetail::Figures => Vec::new(),
            _ => lanes(&rows, &order),
        };
        let mut by_name = order.clone();
        by_name.sort_by_cached_key(|at| rows[*at].host.name.to_lowercase());
        Self {
            rows,
            order,
            lanes,
            problems: hosts.problems.clone(),
            by_name,
        }
    }

    /// Whether a host was not reached before the caller cancelled.
    pub fn is_interrupted(&self) -> bool {
        self.rows
            .iter()
            .any(|row| row.view.not_computable.as_deref() == Some(INTERRUPTED))
    }

    /// The rows as they are shown.
    pub fn sorted(&self) -> impl DoubleEndedIterator<Item = &HostRow> {
        self.order.iter().filter_map(|at| self.rows.get(*at))
    }

    /// The same by the hosts' names.
    pub fn by_name(&self) -> impl DoubleEndedIterator<Item = &HostRow> {
        self.by_name.iter().filter_map(|at| self.rows.get(*at))
    }

    /// The row of a host.
    pub fn row(&self, id: HostId) -> Option<&HostRow> {
        self.rows.iter().find(|row| row.host.id == id)
    }

    /// How many hosts have each outcome, in the order of [`HostOutcome::ALL`].
    pub fn outcomes(&self) -> [usize; 6] {
        HostOutcome::ALL.map(|outcome| {
            self.rows
                .iter()
                .filter(|row| row.outcome == outcome)
                .count()
        })
    }

    /// The hosts of a lane, as they are shown.
    pub fn hosts_of<'a>(&'a self, lane: &'a HostLane) -> impl Iterator<Item = &'a HostRow> + Clone {
        lane.rows.iter().filter_map(|at| self.rows.get(*at))
    }
}

/// Tells what hosts show apart, also where it is not kept.
#[derive(Default)]
struct ShownTexts {
    /// By the digest of a text and its parts.
    known: HashMap<String, usize>,
    /// Those of the views at hand, of which equal texts are one, and equal parts.
    at_hand: HashMap<(*const u8, *const Part), usize>,
    count: usize,
}

impl ShownTexts {
    /// For views that share nothing with those before.
    fn begin(&mut self) {
        self.at_hand.clear();
    }

    /// The number of what a view shows. `has_others`: it is looked for among views that are not at hand.
    fn number_of(&mut self, view: &HostView, has_others: bool) -> usize {
        let place = (view.text.as_ptr(), view.parts.as_ptr());
        *self.at_hand.entry(place).or_insert_with(|| {
            let mut next = || {
                self.count += 1;
                self.count
            };
            if !has_others {
                return next();
            }
            let parts = format!("{} {:?}", sha256(view.text.as_bytes()), view.parts);
            *self.known.entry(parts).or_insert_with(next)
        })
    }
}

fn lanes(rows: &[HostRow], order: &[usize]) -> Vec<HostLane> {
    let mut places: HashMap<(HostOutcome, Option<&str>, usize), usize> = HashMap::new();
    let mut lanes: Vec<HostLane> = Vec::new();
    for &position in order {
        let row = &rows[position];
        let why = row.view.not_computable.as_deref();
        let (outcome, key) = (row.outcome, (row.outcome, why, row.shown_text));
        let place = *places.entry(key).or_insert(lanes.len());
        match lanes.get_mut(place) {
            Some(lane) => lane.rows.push(position),
            None => lanes.push(HostLane {
                rows: vec![position],
                outcome,
            }),
        }
    }
    lanes.sort_by_key(|lane| {
        let first = lane.rows.first().and_then(|at| rows.get(*at));
        let tokens = first
            .and_then(|row| row.tokens)
            .map_or(0, |tokens| tokens.o200k_base);
        (lane.outcome, first.map_or(0, |row| row.shown().0), tokens)
    });
    lanes
}

/// One host's text, ready to be painted.
#[derive(Clone, Debug)]
pub struct HostText {
    pub host: Arc<Host>,
    pub view: Arc<HostView>,
    /// Of `view.text`.
    pub lines: Vec<DisplayLine>,
    /// Facts and records of the data in `view.text`; empty without data.
    pub matched: FactMatches,
}

impl HostText {
    pub(super) fn new(subject: &ParsedCapture, host: &Arc<Host>) -> Self {
        let mut view = host.view(subject, &ViewContext::new(&subject.capture));
        host_report::judge(&mut view, &subject.cache);
        let matched = match subject.compared_data() {
            Some(data) if view.is_computable() => {
                host_report::locate_kept(data, &view, 0..view.text.len())
                    .unwrap_or_else(|| locate_facts(data, &view.text))
            }
            _ => FactMatches::default(),
        };
        Self {
            host: Arc::clone(host),
            lines: display_lines(&view.text),
            matched,
            view: Arc::new(view),
        }
    }
}

/// A sentence on how far a host's rules can be relied on.
pub fn evidence_text(host: &Host) -> String {
    let how = match host.evidence {
        Evidence::Observed => {
            "observed: the program was run and what its model would receive was read back"
        }
        Evidence::Source => "source: read in its source, not confirmed by running it",
        Evidence::Documented => "documented: as its maker's documentation says",
        Evidence::Inferred => "inferred: from reports of users, may be wrong",
    };
    format!(
        "{how}; {} {}, checked {}",
        host.name, host.version, host.checked
    )
}

/// What every host's model is shown.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HostsQuery;

impl Query for HostsQuery {
    type Out = Arc<HostsReport>;
    const IS_COUNT: bool = true;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        Ok(Arc::new(HostsReport::new(
            cx.subject()?,
            cx.hosts,
            cx.cancel,
        )?))
    }
}

/// The exact text that one host's model is shown, with its display lines.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HostTextQuery(pub HostId);

impl Query for HostTextQuery {
    type Out = Arc<HostText>;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        Ok(Arc::new(HostText::new(cx.subject()?, cx.host(self.0)?)))
    }
}

impl Weigh for HostsReport {
    fn weight(&self) -> usize {
        // What several rows share counts once.
        let mut held: HashMap<*const u8, usize> = HashMap::new();
        for row in &self.rows {
            let view = &row.view;
            for text in [&view.text, &view.full].into_iter().chain(
                row.definition
                    .as_ref()
                    .and_then(|definition| definition.description.as_ref()),
            ) {
                held.insert(text.as_ptr(), text.len());
            }
            for spans in [&view.spans, &view.full_spans] {
                held.insert(spans.as_ptr().cast(), size_of_val(&**spans));
            }
            held.insert(view.parts.as_ptr().cast(), size_of_val(&*view.parts));
            held.insert(
                row.lost.as_ptr().cast(),
                row.lost.len() * size_of::<LostField>(),
            );
        }
        held.values().sum()
    }
}

impl Weigh for HostText {
    fn weight(&self) -> usize {
        2 * (self.view.text.len() + self.view.full.len()) + self.matched.weight()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loupe_core::token::{self, Encoding};

    fn report(result: &str) -> HostsReport {
        HostsReport::new(
            &ParsedCapture::from_result(result),
            &Hosts::built_in(),
            &Cancel::new(),
        )
        .unwrap()
    }

    #[test]
    fn hosts_that_see_the_same_are_one_lane() {
        let report = report(
            r#"{"content":[{"type":"text","text":"Ada, 36"}],"structuredContent":{"name":"Ada","age":36,"city":"London"}}"#,
        );
        assert_eq!(report.rows.len(), 41);
        let hosts: usize = report.lanes.iter().map(|lane| lane.rows.len()).sum();
        assert_eq!(hosts, 41);
        for lane in &report.lanes {
            let texts: Vec<_> = report
                .hosts_of(lane)
                .map(|row| row.view.listing())
                .collect();
            assert!(texts.windows(2).all(|pair| pair[0] == pair[1]));
        }
        assert!(
            report.lanes.is_sorted_by_key(|lane| lane.outcome),
            "the worst stand first"
        );
        let row = |id: &str| {
            report
                .rows
                .iter()
                .find(|row| row.host.id.as_str() == id)
                .unwrap()
        };
        assert_eq!(row("codex").facts.unwrap().missing, 0);
        assert_eq!(
            row("zed").facts,
            Some(FactCount {
                total: 3,
                found: 2,
                missing: 1,
                ..FactCount::default()
            })
        );
        assert_eq!(
            *row("zed").lost,
            [LostField {
                path: "/city".into(),
                total: 1,
                missing: 1
            }]
        );
        let places: Vec<u64> = report
            .sorted()
            .filter(|row| row.tokens.is_some())
            .map(|row| row.missing())
            .collect();
        assert!(places.is_sorted(), "{places:?}");
        let summary = report.summary(Encoding::O200kBase).text();
        let headline = "22 of 41 hosts lose facts of it. They read the text alone, which misses 1 of 3 facts. Of 41 hosts: 22 lose facts, ";
        assert!(summary.starts_with(headline), "{summary}");
        assert!(summary.contains(" Fewest tokens of these: "), "{summary}");
    }

    #[test]
    fn a_fact_is_told_where_its_value_is_in_what_a_cut_left() {
        let records = 0..4_000;
        let json: Vec<String> = records
            .clone()
            .map(|at| format!(r#"{{"id":"a{at}z","name":"b{at}z","open":"c{at}z"}}"#))
            .collect();
        let json = format!("[{}]", json.join(","));
        let lines: Vec<String> = records
            .map(|at| format!("id: a{at}z\nname: b{at}z\nopen: c{at}z\n"))
            .collect();
        for text in [json, lines.join("\n")] {
            let text = loupe_core::json::write::string(&text);
            let report = report(&format!(
                r#"{{"content":[{{"type":"text","text":{text}}}]}}"#
            ));
            let mut cut = 0;
            for row in report.rows.iter().filter(|row| row.view.is_computable()) {
                let words = row.view.text.split(|char: char| !char.is_alphanumeric());
                let values: std::collections::HashSet<&str> =
                    words.filter(|word| word.ends_with('z')).collect();
                let whole = |word: &&&str| word.starts_with(['a', 'b', 'c']) && word.len() > 2;
                let values = values.iter().filter(whole).count() as u64;
                let told = row.facts.unwrap().told();
                // A value that is cut may end as others begin.
                assert!(
                    told.abs_diff(values) <= 1,
                    "{}: {told} {values}",
                    row.host.id.as_str()
                );
                cut += u64::from(row.limit().state.is_truncated() == Some(true) && told > 0);
            }
            assert!(cut >= 5, "{cut} hosts cut it and show some of it");
        }
    }

    /// A host that may cut the result is neither named for what it saves nor counted among those that are.
    #[test]
    fn only_hosts_with_a_known_limit_have_fewest_tokens() {
        let report = report(r#"{"content":[{"type":"text","text":"Ada, 36"}]}"#);
        let is_safe =
            |row: &&HostRow| matches!(row.limit().state, LimitState::None | LimitState::Fits);
        let tokens = |row: &HostRow| row.tokens.map(|tokens| tokens.get(Encoding::O200kBase));
        let whole = || {
            report
                .rows
                .iter()
                .filter(|row| row.outcome == HostOutcome::All)
        };
        let least = whole().filter(is_safe).filter_map(tokens).min();
        let safe = whole()
            .filter(is_safe)
            .filter(|row| tokens(row) == least)
            .count();
        assert!(
            whole().filter(|row| tokens(row) == least).count() > safe,
            "some have no known limit"
        );
        let summary = report.summary(Encoding::O200kBase).text();
        assert!(
            summary.contains(&format!(" and {} others, ", safe - 1)),
            "{safe} in {summary}"
        );
    }

    /// Reports of several results stand side by side by position.
    #[test]
    fn rows_stand_in_the_order_of_the_hosts_whatever_the_answer() {
        let hosts: Vec<HostId> = Hosts::built_in().iter().map(|host| host.id).collect();
        for result in [
            r#"{"content":[{"type":"text","text":"Ada"}],"structuredContent":{"name":"Ada","age":36}}"#,
            r#"{"content":[{"type":"text","text":"{\"a\":1}"}]}"#,
            r#"{"content":[],"isError":true}"#,
        ] {
            let report = report(result);
            assert!(
                report
                    .rows
                    .iter()
                    .map(|row| row.host.id)
                    .eq(hosts.iter().copied())
            );
            assert_eq!(report.sorted().count(), hosts.len());
        }
    }

    #[test]
    fn what_hosts_show_alike_is_kept_once() {
        let blocks: Vec<_> = (0..40)
            .map(|at| format!(r#"{{"type":"text","text":"block {at}"}}"#))
            .collect();
        let report = report(&format!(
            r#"{{"content":[{}],"structuredContent":{{"a":1}}}}"#,
            blocks.join(",")
        ));
        let mut shared = 0;
        for (at, row) in report.rows.iter().enumerate() {
            for other in &report.rows[..at] {
                let (one, two) = (&row.view, &other.view);
                assert_eq!(one.text == two.text, Arc::ptr_eq(&one.text, &two.text));
                assert_eq!(
                    one.full_spans == two.full_spans,
                    Arc::ptr_eq(&one.full_spans, &two.full_spans)
                );
                assert_eq!(one.parts == two.parts, Arc::ptr_eq(&one.parts, &two.parts));
                assert_eq!(
                    one.dropped == two.dropped,
                    Arc::ptr_eq(&one.dropped, &two.dropped)
                );
                shared += usize::from(Arc::ptr_eq(&one.text, &two.text));
            }
        }
        assert!(shared > 20, "{shared}");
    }

    #[test]
    fn who_looks_away_takes_what_there_is() {
        let cancel = Cancel::new();
        cancel.cancel();
        let report = HostsReport::so_far(
            &ParsedCapture::from_result(r#"{"content":[{"type":"text","text":"Ada, 36"}]}"#),
            &Hosts::built_in(),
            ReportDetail::Texts,
            &cancel,
        );
        assert!(report.is_interrupted());
        assert!(
            report
                .rows
                .iter()
                .all(|row| (row.tokens, row.facts) == (None, None) && !row.view.is_computable())
        );
    }

    #[test]
    fn a_host_that_cuts_is_never_praised() {
        let items: Vec<_> = (0..900)
            .map(|id| serde_json::json!({"id": 10_000 + id, "name": format!("name {id}")}))
            .collect();
        let value = serde_json::json!({ "items": items });
        let result = serde_json::json!({"content": [{"type": "text", "text": value.to_string()}], "structuredContent": value});
        let report = report(&result.to_string());
        let cline = report
            .rows
            .iter()
            .find(|row| row.host.id.as_str() == "cline")
            .unwrap();
        assert_eq!(cline.limit().state, LimitState::Cut);
        assert!(cline.missing() > 0);
        let summary = report.summary(Encoding::O200kBase);
        let praised = summary
            .text()
            .split("of these: ")
            .nth(1)
            .unwrap()
            .to_owned();
        assert!(!praised.starts_with("Cline"), "{praised}");
        let told = summary.text();
        assert!(
            told.contains(" The least is left in GitHub Copilot CLI, cut over 20,480 bytes: "),
            "{told}"
        );
    }

    #[test]
    fn what_the_text_says_beside_the_data_is_part_of_the_answer() {
        let report = report(
            r#"{"content":[{"type":"text","text":"Ada is 36. She was seen on 2026-11-02."}],"structuredContent":{"name":"Ada","age":36}}"#,
        );
        let row = |id: &str| {
            report
                .rows
                .iter()
                .find(|row| row.host.id.as_str() == id)
                .unwrap()
        };
        assert_eq!(
            (row("zed").outcome, row("codex").outcome),
            (HostOutcome::All, HostOutcome::Part)
        );
        assert_eq!(row("codex").happens(), "drops 12 tok of extra text");
        assert!(!row("codex").loses_nothing());
    }

    #[test]
    fn the_headline_says_the_worst() {
        let headline = |result: &str| report(result).headline(Encoding::O200kBase).text;
        let text = |text: &str| format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#);
        let of = |text: &str, data: &str| {
            format!(
                r#"{{"content":[{{"type":"text","text":"{text}"}}],"structuredContent":{data}}}"#
            )
        };
        assert_eq!(
            headline(&of("Done.", r#"{"age":36}"#)),
            "22 of 41 hosts show their model none of this data"
        );
        assert_eq!(
            headline(&of("36", r#"{"age":36}"#)),
            "All known hosts show everything"
        );
        assert_eq!(
            headline(&text("All is well.")),
            "All known hosts show everything"
        );
        // The text once more is one text, whichever of the two a host shows.
        assert_eq!(
            headline(&of("All is well.", r#"{"content":"All is well."}"#)),
            "All known hosts show everything"
        );
        let long = text(&"It was said again, and nobody wrote it down. ".repeat(700));
        assert!(
            headline(&long).ends_with(" of 41 hosts cut this answer"),
            "{}",
            headline(&long)
        );
    }

    #[test]
    fn a_picture_is_shown_written_out_or_dropped() {
        let data = "iVBORw0KGgoAAAANSUhEUgAAABQAAAAUCAYAAACNiR0NAAAAKElEQVQ4jWNgYGD4Twzu6FhFFGYYNXDUwGFpIAk2E4dHDRw1cDgaCAASFOffhEIO3gAAAABJRU5ErkJggg==";
        let report = report(&format!(
            r#"{{"content":[{{"type":"text","text":"A square"}},{{"type":"image","mimeType":"image/png","data":"{data}"}}]}}"#
        ));
        let media = |id: &str| {
            report
                .rows
                .iter()
                .find(|row| row.host.id.as_str() == id)
                .unwrap()
                .media
        };
        let bytes = (data.len() / 4 * 3 - 2) as u64;
        assert_eq!(
            media("opencode"),
            MediaBytes {
                shown: bytes,
                ..MediaBytes::default()
            }
        );
        assert_eq!(
            media("cline"),
            MediaBytes {
                as_text: bytes,
                ..MediaBytes::default()
            }
        );
        assert_eq!(
            media("zed"),
            MediaBytes {
                dropped: bytes,
                ..MediaBytes::default()
            }
        );
    }

    /// Errors are judged by the exact text: a host that shows all of it leaves nothing out, whatever it does with `isError`.
    #[test]
    fn a_host_that_shows_the_whole_error_leaves_nothing_out() {
        let text = "The company \"Acme\" was not found.\nAsk for another one.";
        let block = serde_json::json!({"type": "text", "text": text});
        let errors = [
            serde_json::json!({"content": [block], "isError": true}),
            serde_json::json!({"content": [block], "isError": true, "structuredContent": {"code": 404_551, "field": "companyName"}}),
        ];
        let escaped = serde_json::to_string(text).unwrap();
        for error in errors {
            let report = report(&error.to_string());
            let mut shown = 0;
            for row in report.rows.iter().filter(|row| row.view.is_computable()) {
                let is_whole = row.view.text.contains(text)
                    || row.view.text.contains(escaped.trim_matches('"'));
                let has_facts = ["404551", "companyName"]
                    .iter()
                    .all(|fact| row.view.text.contains(fact));
                shown += usize::from(is_whole);
                let id = row.host.id.as_str();
                let outcome = match is_whole {
                    true => HostOutcome::All,
                    false if has_facts => HostOutcome::Part,
                    false => HostOutcome::Nothing,
                };
                assert_eq!(
                    (row.outcome, row.facts),
                    (outcome, None),
                    "{id}: {}",
                    row.view.text
                );
                assert_eq!(
                    row.happens().contains("isError not passed on"),
                    is_whole && row.outcome == HostOutcome::All && row.hides_error()
                );
            }
            assert!(shown > 15, "{shown}");
            let row = |id: &str| {
                report
                    .rows
                    .iter()
                    .find(|row| row.host.id.as_str() == id)
                    .unwrap()
            };
            let gemini = row("gemini-cli");
            assert!(
                gemini.outcome == HostOutcome::All && gemini.view.dropped.is_empty(),
                "{:?}",
                gemini.view.dropped
            );
            assert!(
                gemini.shares.content > text.len() as u64,
                "{:?}",
                gemini.shares
            );
            assert_eq!(
                gemini.shares.has_structured,
                error.get("structuredContent").is_some()
            );
            assert!(row("cline").outcome == HostOutcome::All && !row("cline").hides_error());
            assert!(row("claude-code").view.flags_error && !row("claude-code").hides_error());
        }
    }

    #[test]
    fn images_and_audio_are_shown_or_base64_or_replaced_or_lost() {
        let data = "QUJD".repeat(40);
        let of = |kind: &str, mime: &str| {
            report(&format!(
                r#"{{"content":[{{"type":"text","text":"A square"}},{{"type":"{kind}","mimeType":"{mime}","data":"{data}"}}]}}"#
            ))
        };
        let images = of("image", "image/png");
        let row = |report: &HostsReport, id: &str| {
            report
                .rows
                .iter()
                .find(|row| row.host.id.as_str() == id)
                .unwrap()
                .clone()
        };
        for (id, outcome, words, result) in [
            (
                "claude-code",
                MediaOutcome::Shown,
                "1 image shown",
                HostOutcome::All,
            ),
            (
                "cline",
                MediaOutcome::Base64Text,
                "1 image as base64 text",
                HostOutcome::Part,
            ),
            (
                "continue-cli",
                MediaOutcome::Base64Text,
                "1 image as base64 text",
                HostOutcome::Part,
            ),
            (
                "continue-ide",
                MediaOutcome::Error,
                "1 image replaced by an error",
                HostOutcome::Part,
            ),
            (
                "zed",
                MediaOutcome::Nothing,
                "1 image not shown",
                HostOutcome::Part,
            ),
        ] {
            let row = row(&images, id);
            assert_eq!(
                (row.media_counts.worst(), row.outcome),
                (Some(outcome), result),
                "{id}"
            );
            assert_eq!(row.media_text().as_deref(), Some(words), "{id}");
            assert_eq!(
                row.happens() == words,
                outcome != MediaOutcome::Shown,
                "{id}: {}",
                row.happens()
            );
        }
        for row in &images.rows {
            let is_shown = row.media_counts.with_outcome(MediaOutcome::Shown) == 1;
            assert!(
                row.outcome != HostOutcome::All || is_shown,
                "{}",
                row.host.id
            );
            assert_eq!(
                row.media_counts.total(),
                u64::from(row.view.is_computable()),
                "{}",
                row.host.id
            );
        }
        let audio = of("audio", "audio/wav");
        assert_eq!(
            row(&audio, "langchain-mcp-adapters")
                .media_text()
                .as_deref(),
            Some("1 audio clip replaced by an error")
        );
        assert_eq!(
            row(&audio, "gemini-cli").media_text().as_deref(),
            Some("1 audio clip replaced by a placeholder")
        );
        assert_eq!(
            row(&audio, "librechat").media_text().as_deref(),
            Some("1 audio clip as base64 text")
        );
        assert_eq!(
            row(&audio, "goose-openai").media_text().as_deref(),
            Some("1 audio clip not shown")
        );
        let alone = report(&format!(
            r#"{{"content":[{{"type":"image","mimeType":"image/png","data":"{data}"}}]}}"#
        ));
        assert_eq!(
            (
                row(&alone, "zed").outcome,
                row(&alone, "claude-code").outcome
            ),
            (HostOutcome::Nothing, HostOutcome::All)
        );
    }

    #[test]
    fn the_numbers_are_those_of_the_text() {
        let subject = ParsedCapture::from_result(
            r#"{"content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]}"#,
        );
        let report = HostsReport::new(&subject, &Hosts::built_in(), &Cancel::new()).unwrap();
        for row in report.rows.iter().filter(|row| row.view.is_computable()) {
            let sum: u64 = row
                .view
                .texts()
                .map(|text| token::count(text).o200k_base)
                .sum();
            assert_eq!(row.tokens.unwrap().o200k_base, sum);
            assert_eq!(row.bytes, row.view.text.len() as u64);
        }
        assert!(
            HostsReport::new(&subject, &Hosts::built_in(), &{
                let cancel = Cancel::new();
                cancel.cancel();
                cancel
            })
            .is_err()
        );
    }
}
