//! The result in at most three cells: what one model reads, the plain choice, and the cheapest format with the same data.
//! The strip of the window, the sentence of the command line and *Copy summary* are all made from it.

use super::{CountedRow, change, title, unit};
use crate::queries::{HostRow, HostsReport, Repair};
use loupe_core::capture::FactCount;
use loupe_core::format::claim::{Claim, OmittedText, claim_words, missing_words};
use loupe_core::format::ledger::Row;
use loupe_core::format::{ERROR_RESULT, FORMATS};
use loupe_core::host::{Hosts, MostRead, ReadChoice, ResultPart, ResultShape};
use loupe_core::number::{grouped, number_of};
use loupe_core::token::{Count, Tokenizer, format_count};

/// One way of saying it, with its cost and what may be claimed of it.
#[derive(Clone, Debug, PartialEq)]
pub struct StripCell {
    /// The id of the format that it opens.
    pub format: &'static str,
    /// Of a comparison, the column that it is; `None` where there is none yet.
    pub column: Option<usize>,
    /// "Text", "As Codex sends it", or the format's title.
    pub name: String,
    /// "what 17 of 28 hosts show", "plain choice", "same data".
    pub role: String,
    pub count: Count,
    /// Against the first cell: "−57%". `None` of the first cell itself.
    pub change: Option<String>,
    pub claim: Claim,
    pub loss: Option<Loss>,
    /// Bytes of extra text that it drops.
    pub omitted: u64,
    /// Of the first cell, what the other part costs besides: "sent twice: +58 tok in the 4 hosts that show both".
    pub note: Option<String>,
    /// "cheapest, proved", "cheapest", "tied", "after one fix".
    pub badge: Option<String>,
    /// Whether it is of the data with what the text says besides, which the server does not send yet.
    pub is_repair: bool,
}

impl StripCell {
    /// "TOON, same data: 279 tokens, −69%, same data, proved, cheapest, proved".
    pub fn text(&self) -> String {
        let mut text = format!(
            "{}, {}: {} {}",
            self.name,
            self.role,
            format_count(self.count),
            unit(self.count)
        );
        let loss = self.loss.as_ref().map(|loss| loss.text.clone());
        for part in [
            self.change.clone(),
            loss,
            self.note.clone(),
            self.badge.clone(),
        ]
        .into_iter()
        .flatten()
        {
            text.push_str(", ");
            text.push_str(&part);
        }
        text
    }

    /// Its tokens as people read them.
    pub fn count_text(&self) -> String {
        format_count(self.count)
    }

    /// Whether it is the cheapest with all facts proved.
    pub fn is_winner(&self) -> bool {
        self.badge.is_some() && !self.is_repair
    }

    /// Whether that is proved, with nothing dropped: the only thing that is shown in green.
    pub fn is_proved(&self) -> bool {
        self.is_winner() && self.claim == Claim::Proved
    }
}

/// How a statement about a text is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimTone {
    /// Green: a proof.
    Good,
    /// All facts are there, not all of them proved, or extra text is dropped.
    Neutral,
    /// Nothing about facts.
    Note,
    /// Amber: facts are missing.
    Warn,
}

/// What a cell keeps or loses, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    pub tone: ClaimTone,
    pub text: String,
    /// The same where there is little room.
    pub short: String,
    /// What a sentence adds in brackets.
    pub detail: String,
}

impl Loss {
    pub(super) fn new(tone: ClaimTone, text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            tone,
            short: text.clone(),
            text,
            detail: String::new(),
        }
    }

    /// Whether it says that a text is proved.
    pub fn is_proof(&self) -> bool {
        self.tone == ClaimTone::Good
    }

    /// Whether it says that something is missing.
    pub fn is_loss(&self) -> bool {
        self.tone == ClaimTone::Warn
    }

    pub(super) fn with_short(self, short: impl Into<String>) -> Self {
        Self {
            short: short.into(),
            ..self
        }
    }

    /// The claim of a text in words; `None` where nothing can be compared.
    pub(super) fn of_claim(
        facts: Option<FactCount>,
        omitted: Option<OmittedText>,
        tokenizer: &Tokenizer,
    ) -> Self {
        let claim = Claim::of(facts, omitted);
        let tone = match claim {
            Claim::Proved => ClaimTone::Good,
            Claim::Missing => ClaimTone::Warn,
            Claim::ProvedWithExtra | Claim::Found => ClaimTone::Neutral,
            Claim::None => ClaimTone::Note,
        };
        let words = Self::new(tone, claim_words(facts, omitted, tokenizer));
        match (claim, facts, omitted) {
            (Claim::Missing, Some(facts), _) => {
                words.with_short(format!("−{} facts", grouped(facts.missing)))
            }
            (Claim::ProvedWithExtra, _, Some(omitted)) => {
                words.with_short(omitted.words(tokenizer))
            }
            (Claim::Proved, ..) => words.with_short("proved"),
            (Claim::Found, ..) => words.with_short("all found"),
            _ => words,
        }
    }
}

/// What a host sends its model of a result, instead of what the server sent.
#[derive(Clone, Copy, Debug)]
pub struct HostCost<'a> {
    pub row: &'a HostRow,
    /// `None` where no text can be computed.
    pub count: Option<Count>,
}

impl<'a> HostCost<'a> {
    /// By a tokenizer that counts always.
    pub fn new(row: &'a HostRow, tokenizer: &Tokenizer) -> Self {
        Self {
            row,
            count: row.tokens.and_then(|tokens| tokenizer.from_tokens(tokens)),
        }
    }

    /// "As Claude Code sends it".
    pub fn name(&self) -> String {
        format!("As {} sends it", self.row.host.name)
    }

    /// What the host loses of the result; `None` where nothing is known to be lost.
    fn loss(&self) -> Option<Loss> {
        let detail = self.row.happens();
        if self.count.is_none() {
            let loss = Loss::new(
                ClaimTone::Warn,
                format!("what {} sends is not known", self.row.host.name),
            )
            .with_short("not known");
            return Some(Loss { detail, ..loss });
        }
        if self.row.loses_nothing() {
            return None;
        }
        match self.row.facts.filter(|facts| facts.missing > 0) {
            Some(facts) => {
                let loss = Loss::new(ClaimTone::Warn, missing_words(facts))
                    .with_short(format!("−{} facts", grouped(facts.missing)));
                Some(Loss { detail, ..loss })
            }
            None => Some(Loss::new(ClaimTone::Warn, detail)),
        }
    }

    /// Whether its limit cuts a text of this size too.
    fn cuts(&self, row: &Row) -> bool {
        self.row
            .view
            .limit
            .bites
            .first()
            .is_some_and(|bite| bite.unit.size(row.bytes, row.chars, row.utf16) > Some(bite.max))
    }
}

/// What one model reads of a result, as it was chosen.
#[derive(Clone, Copy, Debug)]
pub enum ModelReads<'a> {
    /// The part that most of these hosts show.
    Most(&'a Hosts),
    Part(ResultPart, &'a Hosts),
    Host(HostCost<'a>),
}

impl<'a> ModelReads<'a> {
    /// By a choice; `report` has the chosen host where it is one.
    pub fn new(
        choice: ReadChoice,
        hosts: &'a Hosts,
        report: Option<&'a HostsReport>,
        tokenizer: &Tokenizer,
    ) -> Self {
        match choice {
            ReadChoice::Most => Self::Most(hosts),
            ReadChoice::Part(part) => Self::Part(part, hosts),
            ReadChoice::Host(id) => {
                let row = report.and_then(|report| report.row(id));
                row.map_or(Self::Most(hosts), |row| {
                    Self::Host(HostCost::new(row, tokenizer))
                })
            }
        }
    }

    /// The host whose text is read, where it can be computed.
    pub fn host(self) -> Option<HostCost<'a>> {
        match self {
            Self::Host(host) => Some(host).filter(|host| host.count.is_some()),
            Self::Most(_) | Self::Part(..) => None,
        }
    }

    /// As on the command line; `None` where nothing was chosen.
    pub fn name(self) -> Option<&'a str> {
        match self {
            Self::Most(_) => None,
            Self::Part(part, _) => Some(part.name()),
            Self::Host(host) => Some(host.row.host.id.as_str()),
        }
    }

    /// Which part of a result with these rows is read, by how many of the known hosts. A host's own choice is not a part.
    pub fn part(self, rows: &[CountedRow<'_>]) -> MostRead {
        let has = |id: &str| {
            rows.iter()
                .any(|row| row.row.format == id && row.row.is_available())
        };
        let is_twin = rows
            .iter()
            .any(|row| row.row.format == "structured" && row.row.is_twin);
        let is_error = rows
            .iter()
            .any(|row| row.row.why.as_deref() == Some(ERROR_RESULT));
        let shape = ResultShape {
            has_text: has("content"),
            has_structured: has("structured"),
            is_twin,
            is_error,
        };
        match self {
            Self::Most(hosts) => hosts.most_read(shape),
            Self::Part(part, hosts) => hosts.read_by(shape, part),
            Self::Host(_) => MostRead {
                part: ResultPart::Both,
                hosts: 1,
                of: 1,
                both: 0,
            },
        }
    }
}

/// The format that is that part of what was sent; the part that there is where it was not sent.
pub fn part_format(part: ResultPart, rows: &[CountedRow<'_>]) -> Option<&'static str> {
    let has = |id: &&str| {
        rows.iter()
            .any(|row| row.row.format == *id && row.row.is_available())
    };
    part.formats()
        .iter()
        .chain(ResultPart::Both.formats())
        .copied()
        .find(has)
}

/// The cells, left to right; the first is what one model reads.
#[derive(Clone, Debug, PartialEq)]
pub struct Strip {
    pub cells: Vec<StripCell>,
    /// The name of the host that sends it so.
    pub sent_by: Option<String>,
    /// Why there are no more, and what would have to change.
    pub note: Option<String>,
}

impl Strip {
    /// Only a sentence.
    pub(super) fn note(words: String) -> Self {
        Self {
            cells: Vec::new(),
            sent_by: None,
            note: Some(words),
        }
    }

    /// "TOON: 279 tokens, 69% less than the text, same data, proved."; of a comparison less than its baseline.
    pub fn headline(&self) -> Option<String> {
        let (at, winner) = self
            .cells
            .iter()
            .enumerate()
            .find(|(_, cell)| cell.is_winner())?;
        let change = winner.change.as_deref().filter(|_| at > 0)?;
        let first = match (&self.sent_by, self.cells.first()?) {
            (Some(host), _) => format!("{host} sends"),
            (None, first) if first.column.is_some() => first.name.clone(),
            (None, first) if first.format == "content" => "the text".to_owned(),
            (None, first) if first.format == "both" => "both parts".to_owned(),
            (None, _) => "structuredContent".to_owned(),
        };
        let less = change.strip_prefix('−').map_or_else(
            || change.to_owned(),
            |less| format!("{less} less than {first}"),
        );
        let loss = winner
            .loss
            .as_ref()
            .map_or_else(String::new, |loss| format!(", {}", loss.text));
        Some(format!(
            "{}: {} {}, {less}{loss}.",
            winner.name,
            format_count(winner.count),
            unit(winner.count)
        ))
    }

    pub fn winner(&self) -> Option<&StripCell> {
        self.cells.iter().find(|cell| cell.is_winner())
    }

    /// The cell of the cheapest format once the data says what the text says besides.
    pub fn repair(&self) -> Option<&StripCell> {
        self.cells.iter().find(|cell| cell.is_repair)
    }

    /// Adds that cell, where the cheapest format drops extra text, and with the repair one is cheaper than what is read and
    /// drops less of it.
    pub fn with_repair(
        mut self,
        repair: Option<&Repair>,
        reads: ModelReads<'_>,
        tokenizer: &Tokenizer,
    ) -> Self {
        let Some((repair, winner, sent)) = repair
            .zip(self.winner())
            .filter(|(_, winner)| winner.claim == Claim::ProvedWithExtra)
            .zip(self.cells.first())
            .map(|((repair, winner), sent)| (repair, winner, sent.count))
        else {
            return self;
        };
        let candidates = repair.rows.iter().filter_map(|row| {
            let count = tokenizer
                .from_tokens(row.tokens)
                .filter(|_| row.is_available());
            let row = CountedRow {
                row,
                count,
                why: None,
            };
            Candidate::new(row, true, reads.host())
        });
        if let Some(best) = cheapest(candidates)
            && best.tokens() < sent.high()
            && !is_tied(best.tokens(), sent.high())
        {
            let mut cell = best.cell(tokenizer, Some(sent), &format!("+ {}", repair.names()));
            if cell.omitted < winner.omitted {
                cell.is_repair = true;
                cell.badge = Some(REPAIR.to_owned());
                self.cells.push(cell);
            }
        }
        self
    }
}

/// The cheapest with all facts proved and nothing dropped; with something dropped; within a hundredth or two of another.
const CHEAPEST_PROVED: &str = "cheapest, proved";
const CHEAPEST: &str = "cheapest";
const TIED: &str = "tied";
/// Of what is cheapest once the data says more.
const REPAIR: &str = "after one fix";
/// Within this share of each other two are tied, in percent.
const TIE: u64 = 2;

/// Whether two counts are so near that neither is named the cheaper.
pub(super) fn is_tied(a: u64, b: u64) -> bool {
    a.abs_diff(b).saturating_mul(100) <= a.max(b).saturating_mul(TIE)
}

/// What the cheapest of candidates whose facts are all proved is called.
pub(super) fn badge(claim: Claim) -> &'static str {
    if claim == Claim::Proved {
        CHEAPEST_PROVED
    } else {
        CHEAPEST
    }
}

/// One of the formats that could win.
#[derive(Clone, Copy)]
pub(super) struct Candidate<'a> {
    pub row: CountedRow<'a>,
    count: Count,
    /// Of what the model reads.
    omitted: Option<OmittedText>,
    /// Whether the host cuts it as well.
    is_cut: bool,
}

impl<'a> Candidate<'a> {
    pub fn new(row: CountedRow<'a>, omits: bool, host: Option<HostCost<'_>>) -> Option<Self> {
        let omitted = row.row.omitted.filter(|_| omits);
        Some(Self {
            row,
            count: row.count?,
            omitted,
            is_cut: host.is_some_and(|host| host.cuts(row.row)),
        })
    }

    pub fn tokens(&self) -> u64 {
        self.count.high()
    }

    pub fn claim(&self) -> Claim {
        if self.is_cut {
            Claim::Missing
        } else {
            Claim::of(self.row.row.facts, self.omitted)
        }
    }

    /// Whether every fact is proved.
    pub fn is_same_data(&self) -> bool {
        self.claim().is_same_data()
    }

    pub fn cell(&self, tokenizer: &Tokenizer, sent: Option<Count>, role: &str) -> StripCell {
        let change = sent.map(|sent| change(sent.high(), self.tokens()));
        let loss = match self.is_cut {
            true => Loss::new(ClaimTone::Warn, "cut by this host too").with_short("cut too"),
            false => Loss::of_claim(self.row.row.facts, self.omitted, tokenizer),
        };
        StripCell {
            format: self.row.row.format,
            column: None,
            name: title(self.row.row).to_owned(),
            role: role.to_owned(),
            count: self.count,
            change,
            claim: self.claim(),
            loss: Some(loss),
            omitted: self.omitted.map_or(0, |omitted| omitted.bytes),
            note: None,
            badge: None,
            is_repair: false,
        }
    }
}

/// What one model reads, in the first cell.
fn first_cell(
    sent: &CountedRow<'_>,
    read: MostRead,
    reads: ModelReads<'_>,
    rows: &[CountedRow<'_>],
    tokenizer: &Tokenizer,
) -> Option<StripCell> {
    let row = sent.row;
    let name = match row.format {
        "both" => "Both",
        "content" => "Text",
        _ => "structuredContent",
    };
    let role = match read.of {
        _ if read.hosts == 0 => "as sent".to_owned(),
        of => format!(
            "what {} of {} show",
            grouped(read.hosts as u64),
            number_of(of as u64, "hosts")
        ),
    };
    let claim = Claim::of(row.facts, None).with_extra(row.has_extra);
    let cell = StripCell {
        format: row.format,
        column: None,
        name: name.to_owned(),
        role,
        count: sent.count?,
        change: None,
        claim,
        loss: None,
        omitted: 0,
        note: None,
        badge: None,
        is_repair: false,
    };
    if let ModelReads::Host(host) = reads {
        let (name, role) = if host.count.is_some() {
            (host.name(), host.row.does())
        } else {
            (cell.name.clone(), cell.role.clone())
        };
        let claim = Claim::of(host.row.facts, None);
        return Some(StripCell {
            name,
            role,
            loss: host.loss(),
            claim,
            ..cell
        });
    }
    // Of `structuredContent` alone, what only the text says is not read.
    let omitted = row.omitted.filter(|_| {
        rows.iter()
            .any(|row| row.row.format == "content" && row.row.is_available())
    });
    let loss = match (row.facts.filter(|facts| facts.missing > 0), &row.uncounted) {
        (Some(facts), _) => Some(
            Loss::new(ClaimTone::Warn, missing_words(facts))
                .with_short(format!("−{} facts", grouped(facts.missing))),
        ),
        (None, Some(uncounted)) => Some(Loss::new(ClaimTone::Note, format!("+ {uncounted}"))),
        (None, None) => omitted.map(|omitted| Loss::new(ClaimTone::Note, omitted.words(tokenizer))),
    };
    Some(StripCell { loss, ..cell })
}

/// The strip of the rows that are there; `None` until those it needs are. The third cell and the winner wait for every row,
/// since a cheaper one may follow. All is against what one model reads.
pub fn strip(
    rows: &[CountedRow<'_>],
    reads: ModelReads<'_>,
    tokenizer: &Tokenizer,
) -> Option<Strip> {
    // A row that applies and is not counted yet has not come.
    let rows: Vec<_> = rows
        .iter()
        .copied()
        .filter(|row| row.count.is_some() || !row.row.is_available())
        .collect();
    let row = |id: &str| rows.iter().copied().find(|row| row.row.format == id);
    // All four must have come, since each decides what is said.
    let (both, content, structured, json) = (
        row("both")?,
        row("content")?,
        row("structured")?,
        row("json")?,
    );
    let read = reads.part(&rows);
    let Some(sent) = part_format(read.part, &rows).and_then(row) else {
        let words = match &content.row.uncounted {
            Some(other) => format!(
                "No text and no structuredContent, but {other}: what each host shows of it is under Hosts"
            ),
            None => "No text and no structuredContent: nothing to count".to_owned(),
        };
        return Some(Strip::note(words));
    };
    let host = reads.host();
    let sent_by = host.map(|host| host.row.host.name.clone());
    let sent = CountedRow {
        count: host.map_or(sent.count, |host| host.count),
        ..sent
    };
    let mut first = first_cell(&sent, read, reads, &rows, tokenizer)?;
    let twice = both
        .count
        .zip(sent.count)
        .filter(|_| host.is_none() && sent.row.format != "both" && read.both > 0);
    first.note = twice.map(|(both, one)| {
        let (more, hosts) = (
            grouped(both.high().saturating_sub(one.high())),
            number_of(read.both as u64, "hosts"),
        );
        match structured.row.is_twin {
            true if tokenizer.is_exact() => {
                format!("sent twice: +{more} tok in the {hosts} that show both")
            }
            _ => format!("both: {} tok in {hosts}", format_count(both)),
        }
    });
    let strip = Strip {
        cells: vec![first],
        sent_by,
        note: None,
    };
    // A host that shows no text drops its extra text whatever the format.
    let omits = match host {
        Some(host) => host.row.shares.has_content,
        None => sent.row.format != "structured",
    };
    let Some(json) = Candidate::new(json, omits, host).filter(|json| json.row.row.is_available())
    else {
        let note = match json.row.why.as_deref() {
            Some(ERROR_RESULT) => "An error result",
            _ if content.row.is_available() => {
                "No data to compare: send fields in structuredContent"
            }
            _ => "No data to compare",
        };
        return Some(Strip {
            note: Some(note.to_owned()),
            ..strip
        });
    };
    Some(with_formats(
        strip,
        &rows,
        (sent, json),
        (omits, host),
        tokenizer,
    ))
}

/// Adds the plain choice, the cheapest format and the winner.
fn with_formats<'a>(
    mut strip: Strip,
    rows: &[CountedRow<'a>],
    (sent, json): (CountedRow<'a>, Candidate<'a>),
    (omits, host): (bool, Option<HostCost<'_>>),
    tokenizer: &Tokenizer,
) -> Strip {
    let sent_bytes = host.map_or(sent.row.bytes, |host| host.row.bytes);
    let is_json_already = (sent.tokens(), sent_bytes) == (json.tokens(), json.row.row.bytes);
    if is_json_already {
        strip.cells[0].role.push_str(", already compact JSON");
    } else {
        strip
            .cells
            .push(json.cell(tokenizer, sent.count, "plain choice"));
    }
    if !FORMATS
        .iter()
        .all(|format| rows.iter().any(|row| row.row.format == format.id()))
    {
        return strip;
    }
    let is_derived = |row: &&CountedRow<'_>| {
        FORMATS
            .iter()
            .any(|format| format.id() == row.row.format && !format.is_as_sent())
    };
    let derived = rows
        .iter()
        .filter(is_derived)
        .filter_map(|row| Candidate::new(*row, omits, host));
    let Some(least) = cheapest(derived) else {
        return strip;
    };
    let facts = sent.row.facts.unwrap_or_default().total;
    // Two estimates whose ranges overlap do not tell which is less.
    let is_known = tokenizer.is_exact()
        || sent
            .count
            .is_some_and(|sent| least.count.high() < sent.low());
    if least.tokens() >= sent.tokens() {
        if tokenizer.is_exact() {
            let all = if facts == 1 {
                "the fact".to_owned()
            } else {
                format!("all {} facts", grouped(facts))
            };
            let words = format!("nothing is cheaper with {all}");
            match &mut strip.cells[0].loss {
                Some(loss) => loss.text = format!("{} · {words}", loss.text),
                loss => {
                    *loss = Some(Loss::new(ClaimTone::Note, words).with_short("nothing cheaper"))
                }
            }
        }
        return strip;
    }
    // The plain choice wins a tie.
    let winner = if json.is_same_data() && is_tied(json.tokens(), least.tokens()) {
        json
    } else {
        least
    };
    let at = match strip
        .cells
        .iter()
        .position(|cell| cell.format == winner.row.row.format && cell.change.is_some())
    {
        Some(at) => at,
        None => {
            strip
                .cells
                .push(winner.cell(tokenizer, sent.count, "same data"));
            strip.cells.len() - 1
        }
    };
    if is_known {
        let is_tie = is_tied(winner.tokens(), sent.tokens()) || winner.tokens() > least.tokens();
        strip.cells[at].badge = Some(if is_tie { TIED } else { badge(winner.claim()) }.to_owned());
    }
    strip
}

/// The candidate with the fewest tokens among those whose facts are all proved; of equal ones the one that drops less, then
/// the first.
pub(super) fn cheapest<'a>(
    candidates: impl Iterator<Item = Candidate<'a>>,
) -> Option<Candidate<'a>> {
    candidates
        .filter(Candidate::is_same_data)
        .min_by_key(|candidate| (candidate.tokens(), candidate.claim()))
}
