//! The answer in at most three cells: what is sent now, the plain choice, and the cheapest way to say the same. The strip
//! of the window, the sentence of the command line and *Copy verdict* are all made from it.

use super::{CountedRow, change, title, unit};
use crate::analysis::{HostRow, counted, ratio_of};
use crate::format::FORMATS;
use crate::format::ledger::{LeftOut, Row};
use crate::number::{grouped, number_of};
use crate::token::{Count, Tokenizer};

/// What a way of saying it costs and loses.
#[derive(Clone, Debug, PartialEq)]
pub struct StripCell {
    /// The id of the format that it opens.
    pub format: &'static str,
    /// Of a comparison, the column that it is; `None` where there is none yet.
    pub column: Option<usize>,
    /// "Sent now", or the format's title.
    pub name: String,
    /// "text + structuredContent", "plain choice", "same data".
    pub role: String,
    pub count: Count,
    /// The tokens of the text beside the data, which would have to be said as well.
    pub prose: Option<Count>,
    /// Against what is sent, the text beside the data included: "−57%". `None` of what is sent, and where something is left
    /// out: no saving is computed over it.
    pub change: Option<String>,
    pub loss: Option<Loss>,
    /// "cheapest", "cheapest, with YAML", "within 5% of the cheapest"; "cheapest without loss" where a cheaper text has every
    /// fact and does not read back to the same data.
    pub badge: Option<String>,
    /// Counted before the last change: the new number is on its way.
    pub is_old: bool,
}

impl StripCell {
    /// "TOON, same data: 279 tokens, −69%, no fact lost, cheapest".
    pub fn text(&self) -> String {
        let mut text = format!("{}, {}: {} {}", self.name, self.role, counted(self.count), unit(self.count));
        let prose = self.prose.map(|prose| format!("+ {} of prose", counted(prose)));
        let loss = self.loss.as_ref().map(|loss| loss.text.clone());
        let old = self.is_old.then(|| "being counted again".to_owned());
        for part in [prose, self.change.clone(), loss, self.badge.clone(), old].into_iter().flatten() {
            text.push_str(", ");
            text.push_str(&part);
        }
        text
    }

    /// Whether it is the cheapest that loses nothing.
    pub fn is_winner(&self) -> bool {
        self.badge.is_some()
    }
}

/// What is lost, or that nothing is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    pub is_kept: bool,
    pub text: String,
    /// The same where there is little room.
    pub short: String,
    /// What a sentence adds in brackets: what is left out, or what that costs.
    pub detail: String,
}

impl Loss {
    pub(super) fn kept(text: &str) -> Self {
        Self { is_kept: true, text: text.to_owned(), short: text.to_owned(), detail: String::new() }
    }

    pub(super) fn lost(text: String, short: String) -> Self {
        Self { is_kept: false, text, short, detail: String::new() }
    }
}

/// What a host sends its model of an answer, in place of what the server sent.
#[derive(Clone, Copy, Debug)]
pub struct SentAs<'a> {
    pub row: &'a HostRow,
    /// `None` where no text can be computed.
    pub count: Option<Count>,
}

impl<'a> SentAs<'a> {
    /// By a tokenizer that counts always.
    pub fn of(row: &'a HostRow, tokenizer: &Tokenizer) -> Self {
        Self { row, count: row.tokens.and_then(|tokens| tokenizer.from_tokens(tokens)) }
    }

    /// "As Claude Code sends it".
    pub fn name(&self) -> String {
        format!("As {} sends it", self.row.host.name)
    }

    /// What the host loses of the answer; `None` where nothing is known to be lost.
    fn loss(&self) -> Option<Loss> {
        let detail = self.row.happens();
        if self.count.is_none() {
            let short = "not known".to_owned();
            return Some(Loss { detail, ..Loss::lost(format!("what {} sends is not known", self.row.host.name), short) });
        }
        if self.row.loses_nothing() {
            return None;
        }
        let Some(facts) = self.row.facts.filter(|facts| facts.missing > 0) else {
            return Some(Loss::lost(detail.clone(), detail));
        };
        let of = format!("misses {} of {}", grouped(facts.missing), grouped(facts.total));
        Some(Loss { detail, ..Loss::lost(format!("{of} facts"), of) })
    }
}

/// What a row leaves out of what is sent; what a host drops is not sent.
pub fn left_out(row: &Row, sent_as: Option<SentAs<'_>>) -> Option<LeftOut> {
    let of_host = sent_as.map(|host| host.row.left_out).unwrap_or_default();
    row.left_out.filter(|out| out.statements > of_host.statements || out.others > of_host.blocks)
}

/// The cells, left to right; the first is what is sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Strip {
    pub cells: Vec<StripCell>,
    /// The name of the host that sends it so.
    pub sent_by: Option<String>,
    /// Why there are no more: "No data in this text".
    pub note: Option<String>,
}

impl Strip {
    /// "Same data as TOON: 279 tokens, 69% less than sent, no fact lost."; of a comparison what it is less than.
    pub fn headline(&self) -> Option<String> {
        let winner = self.winner().filter(|winner| winner.change.is_some())?;
        let change = winner.change.as_deref().unwrap_or_default();
        let first = match (&self.sent_by, self.cells.first().filter(|first| first.column.is_some())) {
            (Some(host), _) => format!("{host} sends"),
            (None, base) => base.map_or_else(|| "sent".to_owned(), |base| base.name.clone()),
        };
        let less = change.strip_prefix('−').map_or_else(|| change.to_owned(), |less| format!("{less} less than {first}"));
        let name = if winner.name == WITHOUT_COPY { "the text alone" } else { &winner.name };
        let loss = winner.loss.as_ref().map_or(NO_FACT_LOST, |loss| &loss.text);
        let same = if loss == NO_FACT_LOST { "Same data as " } else { "" };
        Some(format!("{same}{name}: {} {}, {less}, {loss}.", counted(winner.count), unit(winner.count)))
    }

    pub fn winner(&self) -> Option<&StripCell> {
        self.cells.iter().find(|cell| cell.is_winner())
    }
}

pub(super) const NO_FACT_LOST: &str = "no fact lost";
const CHEAPEST: &str = "cheapest";
pub(super) const WITHOUT_LOSS: &str = "cheapest without loss";
const WITHOUT_COPY: &str = "Without the copy";
/// Below this share of what is sent a format is worth naming.
const WORTH_IT: u64 = 95;

/// One of the formats that could win.
#[derive(Clone, Copy)]
pub(super) struct Candidate<'a> {
    pub row: CountedRow<'a>,
    /// With the text beside the data, which is said in any format.
    whole: Count,
    prose: Option<Count>,
    /// Of what is sent.
    left_out: Option<LeftOut>,
}

impl<'a> Candidate<'a> {
    pub fn of(row: CountedRow<'a>, sent_as: Option<SentAs<'_>>, tokenizer: &Tokenizer) -> Option<Self> {
        let count = row.count?;
        let prose = row.with_prose(tokenizer).map(|(_, prose)| prose);
        let whole = prose.map_or(count, |prose| count.plus(prose));
        Some(Self { row, whole, prose, left_out: left_out(row.row, sent_as) })
    }

    pub fn tokens(&self) -> u64 {
        self.whole.high()
    }

    /// Whether all that the answer says comes back from it.
    pub fn is_lossless(&self) -> bool {
        let row = self.row.row;
        let is_whole_text = row.format == "content" && row.left_out.is_none();
        (self.left_out.is_none() && row.comes_back()) || (is_whole_text && row.facts.is_none_or(|facts| facts.missing == 0))
    }

    /// Whether every fact is in it, and it does not read back to the same data.
    fn has_facts_alone(&self) -> bool {
        !self.is_lossless() && self.left_out.is_none() && self.row.row.facts.is_some_and(|facts| facts.missing == 0)
    }

    /// Whether it is that text: JSON in columns and rows is compact JSON where no list becomes a table.
    fn is_same_text(&self, other: &Self) -> bool {
        let [own, other] = [self, other].map(|candidate| candidate.row.row);
        let are_json = [own, other].iter().all(|row| matches!(row.format, "json" | "json-table"));
        own.format == other.format || (are_json && own.bytes == other.bytes)
    }

    /// Whether it saves enough against so many tokens to be named.
    pub fn is_less(&self, tokens: u64) -> bool {
        self.tokens().saturating_mul(100) <= tokens.saturating_mul(WORTH_IT)
    }

    pub fn cell(&self, tokenizer: &Tokenizer, sent: &CountedRow<'_>, role: &str) -> StripCell {
        let is_whole = self.left_out.is_none();
        let change = ratio_of(Some(self.whole), sent.count)
            .filter(|_| is_whole)
            .and_then(|ratio| change(self.tokens(), sent.tokens(), ratio).or_else(|| Some("±0".to_owned())));
        StripCell {
            format: self.row.row.format,
            column: None,
            name: title(self.row.row).to_owned(),
            role: if is_whole { role } else { "the data alone" }.to_owned(),
            count: self.row.count.unwrap_or(Count::Exact(0)),
            prose: self.prose,
            change,
            loss: Some(self.loss(tokenizer)),
            badge: None,
            is_old: false,
        }
    }

    fn loss(&self, tokenizer: &Tokenizer) -> Loss {
        let row = self.row.row;
        if let Some(left_out) = self.left_out {
            let (tokens, short) = match left_out.statements {
                0 => (None, number_of(left_out.others, "blocks")),
                statements => (tokenizer.from_tokens(left_out.tokens), grouped(statements)),
            };
            let detail = tokens.map_or_else(String::new, |count| format!("{} {}", counted(count), unit(count)));
            return Loss { detail, ..Loss::lost(left_out.words(), format!("leaves out {short}")) };
        }
        if let Some(facts) = row.facts.filter(|facts| facts.missing > 0) {
            let of = format!("misses {} of {}", grouped(facts.missing), grouped(facts.total));
            return Loss::lost(format!("{of} facts"), of);
        }
        match &row.round_trip {
            Some(trip) if !trip.verdict.is_lossless() => {
                let words = trip.words();
                Loss::lost(words.clone(), words)
            }
            _ => Loss::kept(NO_FACT_LOST),
        }
    }
}

/// What is sent, in the first cell.
fn sent_cell(sent: &CountedRow<'_>, sent_as: Option<SentAs<'_>>, content: &Row, is_twin: bool) -> Option<StripCell> {
    let cell = StripCell {
        format: sent.row.format,
        column: None,
        name: "Sent now".to_owned(),
        role: match sent.row.format {
            "both" if is_twin => "text, sent twice",
            "both" => "text + structuredContent",
            "content" => "text",
            _ => "structuredContent",
        }
        .to_owned(),
        count: sent.count?,
        prose: None,
        change: None,
        loss: None,
        badge: None,
        is_old: false,
    };
    if let Some(host) = sent_as {
        let (name, role) =
            if host.count.is_some() { (host.name(), host.row.does()) } else { (cell.name.clone(), cell.role.clone()) };
        return Some(StripCell { name, role, loss: host.loss(), ..cell });
    }
    let facts = content.facts.filter(|facts| sent.row.format == "both" && facts.missing > 0);
    let loss = match (facts, &sent.row.uncounted) {
        (Some(facts), _) => {
            let of = format!("text misses {} of {}", grouped(facts.missing), grouped(facts.total));
            Some(Loss::lost(format!("the {of} facts"), of))
        }
        (None, _) if is_twin => Some(Loss::lost("the same text twice".to_owned(), "sent twice".to_owned())),
        (None, Some(uncounted)) => Some(Loss::lost(format!("not counted: {uncounted}"), format!("+ {uncounted}"))),
        (None, None) => None,
    };
    Some(StripCell { loss, ..cell })
}

/// The strip of the rows that are there; `None` until those it needs are. The third cell and the winner wait for every row,
/// since a cheaper one may follow. All is against what the server sends, or what a host sends of it.
pub fn strip(rows: &[CountedRow<'_>], sent_as: Option<SentAs<'_>>, tokenizer: &Tokenizer) -> Option<Strip> {
    // A row that applies and is not counted yet has not come.
    let rows: Vec<_> = rows.iter().copied().filter(|row| row.count.is_some() || !row.row.is_available()).collect();
    let row = |id: &str| rows.iter().copied().find(|row| row.row.format == id);
    // All four must have come, since each decides what is said.
    let (both, content, structured, json) = (row("both")?, row("content")?, row("structured")?, row("json")?);
    let Some(sent) = [both, content, structured].into_iter().find(|row| row.row.is_available()) else {
        let note = Some("No text and no structuredContent: nothing to count".to_owned());
        return Some(Strip { cells: Vec::new(), sent_by: None, note });
    };
    let is_twin = structured.row.is_twin;
    let host = sent_as.filter(|host| host.count.is_some());
    let sent_by = host.map(|host| host.row.host.name.clone());
    let sent = CountedRow { count: host.map_or(sent.count, |host| host.count), ..sent };
    let mut first = sent_cell(&sent, sent_as, content.row, is_twin)?;
    let Some(json) = Candidate::of(json, host, tokenizer).filter(|json| json.row.row.is_available()) else {
        let note = if content.row.is_available() { "No data in this text" } else { "No data in this answer" };
        let mut cells = vec![first];
        // A text that is sent twice can be sent once, whatever it says.
        if is_twin && host.is_none() {
            let once = Candidate::of(content, host, tokenizer)?.cell(tokenizer, &sent, "the text once");
            cells.push(StripCell { name: WITHOUT_COPY.to_owned(), loss: Some(Loss::kept("the same text")), ..once });
        }
        return Some(Strip { cells, sent_by, note: Some(note.to_owned()) });
    };
    let plain = if is_twin { Candidate::of(content, host, tokenizer)? } else { json };
    let sent_bytes = host.map_or(sent.row.bytes, |host| host.row.bytes);
    let is_plain_already =
        (host.is_some() || sent.row.format == "content") && (sent.tokens(), sent_bytes) == (plain.tokens(), plain.row.row.bytes);
    if is_plain_already {
        first.role.push_str(if is_twin { ", the text once" } else { ", already compact JSON" });
    }
    let keeps_all = host.is_none_or(|host| host.row.loses_nothing());
    let mut cells = vec![first];
    if !is_plain_already {
        let mut cell = plain.cell(tokenizer, &sent, "plain choice");
        if is_twin {
            (cell.name, cell.role) = (WITHOUT_COPY.to_owned(), "the text once".to_owned());
        }
        cells.push(cell);
    }
    let has_all = FORMATS.iter().all(|format| rows.iter().any(|row| row.row.format == format.id()));
    let is_derived = |row: &CountedRow<'_>| FORMATS.iter().any(|format| format.id() == row.row.format && !format.is_as_sent());
    let derived: Vec<_> =
        rows.iter().filter(|row| is_derived(row)).filter_map(|row| Candidate::of(*row, host, tokenizer)).collect();
    let third = if has_all { cheapest(&derived, plain, &sent) } else { None };
    if let Some(third) = third {
        let role = if third.is_lossless() { "same data" } else { "loses least" };
        cells.push(third.cell(tokenizer, &sent, role));
    } else if is_twin {
        cells.push(json.cell(tokenizer, &sent, "read from the text"));
    }
    let candidates = [Some(plain), third];
    let winner =
        candidates.into_iter().flatten().filter(|_| has_all).filter(Candidate::is_lossless).min_by_key(Candidate::tokens);
    // Two estimates whose ranges overlap do not tell which is less.
    let is_known =
        |winner: &Candidate<'_>| tokenizer.is_exact() || sent.count.is_some_and(|sent| winner.whole.high() < sent.low());
    match winner.filter(|winner| winner.is_less(sent.tokens())) {
        Some(winner) if is_known(&winner) => {
            let is_least = derived.iter().filter(|other| other.is_lossless()).all(|other| other.tokens() >= winner.tokens());
            let as_cheap =
                |other: &&Candidate<'_>| other.is_lossless() && other.tokens() == winner.tokens() && !other.is_same_text(&winner);
            let others: Vec<&str> = derived.iter().filter(as_cheap).map(|other| title(other.row.row)).collect();
            let word = cheapest_word(&derived, winner.tokens());
            let badge = if is_least { cheapest_with(word, &others) } else { format!("within 5% of the {word}") };
            let at = cells.iter().rposition(|cell| cell.format == winner.row.row.format);
            at.map(|at| &mut cells[at]).into_iter().for_each(|cell| cell.badge = Some(badge.clone()));
        }
        // What is sent says all that it says.
        None if winner.is_some() && keeps_all && tokenizer.is_exact() => {
            let is_least = derived.iter().filter(|other| other.is_lossless()).all(|other| other.tokens() >= sent.tokens());
            let words = if is_least { "nothing is cheaper without loss" } else { "nothing saves 5% without loss" };
            cells[0].loss.get_or_insert_with(|| Loss::kept(words));
            cells[0].badge = is_least.then(|| cheapest_word(&derived, sent.tokens()).to_owned());
        }
        _ => {}
    }
    if host.is_some_and(|host| host.row.has_facts() && host.row.loses_nothing()) {
        cells[0].loss.get_or_insert_with(|| Loss::kept(NO_FACT_LOST));
    }
    Some(Strip { cells, sent_by, note: None })
}

/// What the winner of so many tokens is called: a cheaper text may have every fact in it and not read back to the same data.
pub(super) fn cheapest_word(derived: &[Candidate<'_>], tokens: u64) -> &'static str {
    if derived.iter().any(|other| other.has_facts_alone() && other.tokens() < tokens) { WITHOUT_LOSS } else { CHEAPEST }
}

/// The badge of the winner, with those that cost as much.
pub(super) fn cheapest_with(word: &str, others: &[&str]) -> String {
    match others {
        [] => word.to_owned(),
        [other] => format!("{word}, with {other}"),
        _ => format!("{word}, with {}", number_of(others.len() as u64, "others")),
    }
}

/// The cheapest that loses nothing, where it is worth naming beside the plain choice; where every one loses something, the
/// cheapest of those that lose least and are cheaper than what is sent.
pub(super) fn cheapest<'a>(derived: &[Candidate<'a>], plain: Candidate<'a>, sent: &CountedRow<'_>) -> Option<Candidate<'a>> {
    let is_other = |other: &&Candidate<'a>| other.row.row.format != plain.row.row.format && other.is_less(plain.tokens());
    let lossless = derived.iter().filter(|other| other.is_lossless());
    if lossless.clone().next().is_some() {
        return lossless.min_by_key(|other| other.tokens()).filter(is_other).copied();
    }
    let least = derived.iter().filter(|other| other.row.row.comes_back()).filter(|other| other.tokens() < sent.tokens());
    least.min_by_key(|other| other.tokens()).filter(is_other).copied()
}
