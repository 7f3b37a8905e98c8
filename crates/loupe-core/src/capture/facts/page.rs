//! A text as the matcher reads it: its canonical form, the index of its words, and its labelled places. They tell which
//! of several equal values is whose, and what a text says instead of a value.

use std::ops::Range;

use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};

use super::canon::{Canon, is_space};
use super::index::{Index, Needle, is_number};
use super::labels::{Field, Fit, spoken};
use super::span::{Span, is_ornament, trim};
use super::tables::{self, Row};
use super::whole;
use crate::json::Node;
use crate::layout::{lines, range_at};
use crate::parallel::{LONG_BYTES, join};

/// A label and the stretch of text its value may take.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    /// Which label, as an index of the page's names.
    pub(super) name: u32,
    value: Span,
    /// A cell or an element: the value ends where it ends, and a comma next to it parts it from the next.
    pub(super) is_cell: bool,
}

impl Slot {
    fn new(name: u32, value: &Range<usize>, is_cell: bool) -> Self {
        Self {
            name,
            value: Span::of(value),
            is_cell,
        }
    }

    pub(super) fn value(&self) -> Range<usize> {
        self.value.range()
    }

    fn end_at(&mut self, end: usize) {
        self.value = Span::of(&(self.value().start..end));
    }
}

/// A place that may open a part of the text: a heading, a label, the first cell of a row.
#[derive(Clone, Debug)]
pub(super) struct Head {
    pub(super) name: u32,
    pub(super) start: usize,
    /// Where what it opens begins.
    pub(super) body: usize,
    /// Nothing is next to it but what begins a block.
    pub(super) opens: bool,
    pub(super) begins_line: bool,
}

pub(super) struct Page<'t> {
    pub(super) canon: &'t Canon,
    pub(super) index: Index<'t>,
    /// By the start of their values.
    pub(super) slots: Vec<Slot>,
    /// By their starts.
    pub(super) heads: Vec<Head>,
    /// The words of each distinct label, as [`spoken`].
    pub(super) names: Vec<Box<str>>,
    /// Whether each is a key of the data, word for word.
    are_keys: Vec<bool>,
    /// The lines with the labels of columns: no values are there.
    headers: Vec<Range<usize>>,
}

/// The keys of data by their words, joined by spaces.
pub(super) fn keys(root: Node<'_>) -> HashSet<String> {
    let nodes = (root.index() + 1..root.subtree_end()).filter_map(|index| root.doc().node(index));
    let mut seen: HashSet<&[u8]> = HashSet::new();
    let distinct = nodes.filter(|node| node.raw_key().is_some_and(|key| seen.insert(key)));
    distinct
        .filter_map(Node::key)
        .map(|key| spoken(&key))
        .filter(|key| !key.is_empty())
        .collect()
}

impl<'t> Page<'t> {
    pub(super) fn of(canon: &'t Canon, keys: &HashSet<String>) -> Self {
        let (index, labels) = join(
            canon.text.len() < LONG_BYTES,
            || Index::of(&canon.text),
            || Builder::read(canon, keys),
        );
        let Builder {
            slots,
            heads,
            names,
            are_keys,
            headers,
            ..
        } = labels;
        let mut page = Self {
            canon,
            index,
            slots,
            heads,
            names,
            are_keys,
            headers,
        };
        page.slots
            .sort_by_key(|slot| (slot.value().start, std::cmp::Reverse(slot.value().end)));
        page.heads.sort_by_key(|head| head.start);
        page.headers.sort_by_key(|header| header.start);
        page
    }

    pub(super) fn text(&self) -> &'t str {
        &self.canon.text
    }

    /// The slot a place is in.
    pub(super) fn slot_at(&self, at: usize) -> Option<usize> {
        let last = self
            .slots
            .partition_point(|slot| slot.value().start <= at)
            .checked_sub(1)?;
        (at < self.slots[last].value().end).then_some(last)
    }

    /// The slots that begin in a range.
    pub(super) fn slots_in(&self, range: &Range<usize>) -> Range<usize> {
        let at = |offset| {
            self.slots
                .partition_point(|slot| slot.value().start < offset)
        };
        at(range.start)..at(range.end)
    }

    /// The heads that begin in a range.
    pub(super) fn heads_in(&self, range: &Range<usize>) -> &[Head] {
        let at = |offset| self.heads.partition_point(|head| head.start < offset);
        &self.heads[at(range.start)..at(range.end)]
    }

    /// Where a value is in a range as a whole, in order.
    pub(super) fn hits<'s>(
        &'s self,
        needle: &'s Needle,
        within: Range<usize>,
    ) -> impl Iterator<Item = Range<usize>> + 's {
        self.index
            .hits(needle, within)
            .filter(|hit| !self.is_header(hit.start) && (!needle.is_number || self.is_whole(hit)))
    }

    /// A value that is at a place of a slot as a whole.
    pub(super) fn hit_at(&self, at: usize, value: &str, slot: usize) -> Option<Range<usize>> {
        let is_inside = at < self.slots[slot].value().end
            && self
                .slots
                .get(slot + 1)
                .is_none_or(|next| next.value().start > at)
            && !self.is_header(at);
        let hit = self.index.hit_at(at, value).filter(|_| is_inside)?;
        (!is_number(value) || self.is_whole_in(&hit, Some(slot))).then_some(hit)
    }

    /// Whether a place is under the label of another field.
    pub(super) fn is_foreign(&self, at: usize, field: &Field) -> bool {
        let name = self.slot_at(at).map(|slot| self.slots[slot].name as usize);
        name.is_some_and(|name| self.are_keys[name] && field.fit(&self.names[name]) == Fit::None)
    }

    fn is_header(&self, at: usize) -> bool {
        range_at(&self.headers, at).is_some()
    }

    pub(super) fn is_whole(&self, hit: &Range<usize>) -> bool {
        self.is_whole_in(hit, self.slot_at(hit.start))
    }

    fn is_whole_in(&self, hit: &Range<usize>, slot: Option<usize>) -> bool {
        let slot = slot.map(|slot| &self.slots[slot]);
        let cell = slot
            .filter(|slot| slot.is_cell)
            .map(|slot| trim(self.text(), slot.value()));
        whole::is_whole(self.text(), hit, cell.as_ref(), slot.is_some())
    }
}

/// The labelled places of a text, as they are met.
struct Builder<'t, 'k> {
    canon: &'t Canon,
    slots: Vec<Slot>,
    heads: Vec<Head>,
    names: Vec<Box<str>>,
    are_keys: Vec<bool>,
    headers: Vec<Range<usize>>,
    known: HashMap<&'t str, u32>,
    keys: &'k HashSet<String>,
}

impl<'t, 'k> Builder<'t, 'k> {
    fn name(&mut self, label: &Range<usize>) -> u32 {
        let label = &self.canon.text[label.clone()];
        let next = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        *self.known.entry(label).or_insert_with(|| {
            let words = spoken(label);
            self.are_keys.push(self.keys.contains(&words));
            self.names.push(words.into());
            next
        })
    }

    fn is_key(&self, label: &str) -> bool {
        self.keys.contains(&spoken(label))
    }

    fn read(canon: &'t Canon, keys: &'k HashSet<String>) -> Self {
        let mut builder = Self {
            canon,
            slots: Vec::new(),
            heads: Vec::new(),
            names: Vec::new(),
            are_keys: Vec::new(),
            headers: Vec::new(),
            known: HashMap::new(),
            keys,
        };
        builder.read_all();
        builder
    }

    fn read_all(&mut self) {
        let canon = self.canon;
        let text = &canon.text;
        let mut tables = tables::Tables::default();
        // The slot of the item or bold label in the line before, and the first label since a line that had none.
        let mut value: Option<usize> = None;
        let mut first: Option<u32> = None;
        let mut rest = lines(text).peekable();
        while let Some(own) = rest.next() {
            let line = own.range();
            match tables.line(canon, &own, &|label| self.is_key(label)) {
                Some(Row::Header(header)) => self.headers.push(header),
                Some(Row::Cells { head, cells }) => {
                    let name = self.name(&trim(text, head.clone()));
                    self.head(Head {
                        name,
                        start: line.start,
                        body: head.end,
                        opens: false,
                        begins_line: true,
                    });
                    for (label, value) in cells {
                        let name = self.name(&label);
                        self.slots.push(Slot::new(name, &value, true));
                        // JSON in a cell has labels of its own.
                        if text[value.clone()]
                            .trim_start_matches(is_ornament)
                            .starts_with(['{', '['])
                        {
                            self.labels(value);
                        }
                    }
                }
                Some(Row::Opens { label, body }) => {
                    let name = self.name(&label);
                    self.headers.push(label.end..line.end);
                    self.head(Head {
                        name,
                        start: label.start,
                        body,
                        opens: true,
                        begins_line: true,
                    });
                }
                None => {
                    let (slots, heads) = (self.slots.len(), self.heads.len());
                    self.heading(line.clone());
                    self.labels(line.clone());
                    let body = own.body();
                    let is_item = own.item().is_some() || body.starts_with("**");
                    let begins = is_item
                        || body.is_empty()
                        || body.starts_with(['#', '<', '|', '`', '{', '[']);
                    let Some(slot) = self.slots.get(slots) else {
                        // A value goes on in a bare line; what stands before the first label again is a title.
                        let mut is_title = || {
                            let next = rest.peek().map_or("", |next| next.text);
                            let label = next
                                .trim_start_matches(|char| is_ornament(char) || char == '-')
                                .split(':')
                                .next();
                            label
                                .and_then(|label| self.known.get(label))
                                .is_some_and(|next| first.is_none_or(|first| first == *next))
                        };
                        match value.filter(|_| !begins && !is_title()) {
                            Some(value) => {
                                self.slots[value].end_at(line.end);
                                self.heads.truncate(heads);
                            }
                            None => (value, first) = (None, None),
                        }
                        continue;
                    };
                    value = (is_item && !trim(text, slot.value()).is_empty())
                        .then_some(self.slots.len() - 1);
                    first = first.or(Some(slot.name));
                }
            }
        }
        for (label, value) in tables::columns_and_rows(text, &mut self.headers) {
            let name = self.name(&label);
            self.slots.push(Slot::new(name, &value, true));
        }
    }

    fn head(&mut self, head: Head) {
        self.heads.push(head);
    }

    /// A line that is a title, or begins with one before a bracket.
    fn heading(&mut self, line: Range<usize>) {
        let text = &self.canon.text;
        let label = title(text, line.clone());
        // `tags[0]: red` is a label with its value, and opens nothing.
        if text[label.clone()]
            .split_once("]:")
            .is_some_and(|(head, value)| without_index(head).is_some() && !value.trim().is_empty())
        {
            return;
        }
        let bracket = text[label.clone()]
            .find(['(', '[', '{', '<'])
            .map(|len| label.start + len);
        let label = trim(text, label.start..bracket.unwrap_or(label.end));
        if (1..=60).contains(&label.len()) {
            let name = self.name(&label);
            self.head(Head {
                name,
                start: line.start,
                body: bracket.unwrap_or(line.end),
                opens: true,
                begins_line: true,
            });
        }
    }

    /// The labels of a line: before a colon or an equals sign, and elements.
    fn labels(&mut self, line: Range<usize>) {
        let text = &self.canon.text;
        let first = self.slots.len();
        // The last tag of the line, from its `<` to behind its `>`.
        let mut tag = line.start..line.start;
        let mut is_open = false;
        for (offset, sign) in text[line.clone()].match_indices([':', '=', '<', '>']) {
            let at = line.start + offset;
            match sign {
                "<" if text[at..].starts_with("</") => {
                    is_open = false;
                    if let Some(label) = opening(text, &tag)
                        .filter(|_| text[at + 2..].starts_with(tag_name(&text[tag.start + 1..])))
                    {
                        // What looks like labels inside is a part of the value.
                        while self.slots.len() > first
                            && self
                                .slots
                                .last()
                                .is_some_and(|slot| slot.value().start > tag.start)
                        {
                            self.slots.pop();
                        }
                        let name = self.name(&label);
                        self.slots.push(Slot::new(name, &(tag.end..at), true));
                    }
                    tag = at..at;
                }
                "<" => (tag, is_open) = (at..at, true),
                ">" if is_open => {
                    (tag, is_open) = (tag.start..at + 1, false);
                    let closes = || {
                        text[tag.end..line.end]
                            .find('<')
                            .is_some_and(|next| text[tag.end + next..].starts_with("</"))
                    };
                    if let Some(label) = opening(text, &tag).filter(|_| !closes()) {
                        let name = self.name(&label);
                        self.head(Head {
                            name,
                            start: tag.start,
                            body: tag.end,
                            opens: true,
                            begins_line: true,
                        });
                    }
                }
                ">" => {}
                _ => {
                    let Some(label) = self.label_before(line.start, at) else {
                        continue;
                    };
                    if self.slots.len() > first
                        && let Some(last) = self.slots.last_mut()
                        && last.value().end > label.start
                    {
                        last.end_at(label.start.max(last.value().start));
                    }
                    let name = self.name(&label);
                    let value = at + 1..line.end;
                    let beside = text[value.clone()].trim_start_matches(is_ornament);
                    let opens = beside.is_empty() || beside.starts_with(['{', '[', '|', '>']);
                    let begins_line =
                        !text[line.start..label.start].contains(char::is_alphanumeric);
                    self.head(Head {
                        name,
                        start: label.start,
                        body: at + 1,
                        opens,
                        begins_line,
                    });
                    self.slots.push(Slot::new(name, &value, false));
                }
            }
        }
    }

    /// The label that ends at a colon or an equals sign; times, ports and addresses have none.
    fn label_before(&self, from: usize, mark: usize) -> Option<Range<usize>> {
        let text = &self.canon.text;
        let before = text[from..mark].trim_end_matches(is_ornament);
        if let Some(list) = before.strip_suffix(']').and_then(without_index) {
            return self.label_before(from, from + list.len());
        }
        let is_quoted = before.len() < mark - from;
        let follows = text[mark + 1..].chars().next();
        let is_joined = !is_quoted
            && follows.is_some_and(|char| !is_ornament(char) && !matches!(char, '[' | '{'));
        let tail_start = before.floor_char_boundary(before.len().saturating_sub(60));
        let tail = &before[tail_start..];
        let is_part = |char: char| {
            char.is_alphanumeric() || matches!(char, ' ' | '_' | '-' | '/' | '&' | '.')
        };
        let mut label = tail.rsplit(|char| !is_part(char)).next().unwrap_or(tail);
        for parting in [" / ", " - ", ". "] {
            label = label.rsplit(parting).next().unwrap_or(label);
        }
        let body = label.trim_start_matches(|char: char| !char.is_alphabetic());
        let end = from + before.len();
        let is_mid_line = text[from..end - body.len()].contains(char::is_alphanumeric);
        // Amid other words, a label is as long as the longest key.
        let suffixes = std::iter::successors(Some(body), |part| {
            part.split_once(' ').map(|(_, rest)| rest)
        })
        .take(6);
        let key = if is_joined || is_mid_line || text[mark..].starts_with('=') {
            suffixes.clone().find(|part| self.is_key(part))
        } else {
            None
        };
        let is_alone = !is_joined && !text[mark..].starts_with('=');
        let body = key.or(is_alone.then_some(body))?;
        let words = body.split(is_space).filter(|word| !word.is_empty()).count();
        // `pageSize: -1` in a code span tells how to call, not what is.
        let is_code = !text[end..mark].contains('`') && text[from..end - body.len()].ends_with('`');
        (!is_code && (1..=6).contains(&words)).then(|| end - body.len()..end)
    }
}

/// What stands before the index of an item: `tags` of `tags[0`.
fn without_index(text: &str) -> Option<&str> {
    let (list, index) = text.rsplit_once('[')?;
    let is_index = !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit());
    (is_index && list.ends_with(|char: char| char.is_alphanumeric())).then_some(list)
}

/// The name that an opening tag gives its content: its own, or that of its `key`.
fn opening(text: &str, tag: &Range<usize>) -> Option<Range<usize>> {
    let body = text[tag.clone()].strip_prefix('<')?.strip_suffix('>')?;
    let name = tag_name(body);
    if name.is_empty() || body.ends_with('/') {
        return None;
    }
    let start = tag.start + 1;
    if let Some(at) = body.find(" key=\"") {
        let from = at + 6;
        return body[from..]
            .find('"')
            .map(|len| start + from..start + from + len);
    }
    Some(start..start + name.len())
}

fn tag_name(body: &str) -> &str {
    &body[..body
        .find(|char: char| !(char.is_alphanumeric() || "_-.:".contains(char)))
        .unwrap_or(body.len())]
}

/// The title of a line, without its marks.
fn title(text: &str, range: Range<usize>) -> Range<usize> {
    let inner = &text[range.clone()];
    let start = range.start + inner.len()
        - inner
            .trim_start_matches(|char| is_ornament(char) || matches!(char, '#' | '-'))
            .len();
    trim(
        text,
        start
            ..start
                + text[start..range.end]
                    .trim_end_matches(|char| is_ornament(char) || char == ':')
                    .len(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, keys: &[&str]) -> Vec<(String, String)> {
        let canon = Canon::new(text);
        let page = Page::of(&canon, &keys.iter().map(|key| spoken(key)).collect());
        let value = |slot: &Slot| canon.text[trim(&canon.text, slot.value())].to_owned();
        page.slots
            .iter()
            .map(|slot| (page.names[slot.name as usize].to_string(), value(slot)))
            .collect()
    }

    fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter()
            .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()))
            .collect()
    }

    #[test]
    fn labels_are_found() {
        assert_eq!(
            found("- **Last Modified**: Jan 15, 2025 at 2:30 PM", &[]),
            pairs(&[("last modified", "Jan 15, 2025 at 2:30 PM")])
        );
        assert_eq!(found("### Acme (ID: 12)", &[]), pairs(&[("id", "12)")]));
        assert_eq!(found("see https://x.y:80/z at 12:30", &[]), pairs(&[]));
        assert_eq!(
            found("From: BGO / To: OSL", &["from", "to"]),
            pairs(&[("from", "BGO /"), ("to", "OSL")])
        );
        assert_eq!(
            found("host:db port:5432", &["host", "port"]),
            pairs(&[("host", "db"), ("port", "5432")])
        );
        assert_eq!(found("cpu = 4", &["cpu"]), pairs(&[("cpu", "4")]));
        assert_eq!(
            found("<a>\n<b>1: 2</b>\n</a>", &[]),
            pairs(&[("b", "1: 2")])
        );
        assert_eq!(
            found(r#"<entry key="a b">1</entry>"#, &[]),
            pairs(&[("a b", "1")])
        );
        let json = found(r#"{"id":1,"isActive": true}"#, &[]);
        assert_eq!(json[0].0, "id");
        assert_eq!(json[1].0, "is active");
    }

    #[test]
    fn cells_are_labelled_by_their_columns() {
        let wanted = pairs(&[("id", "1"), ("name", "a, b")]);
        assert_eq!(found("| ID | Name |\n|---|---|\n| 1 | a, b |", &[]), wanted);
        assert_eq!(found("id,name\n1,\"a, b\"\n", &["id", "name"]), wanted);
        assert_eq!(found("x[1]{id,name}:\n  1,\"a, b\"", &[]), wanted);
        assert_eq!(found("x[1:]{id,name}:\n  k: 1,\"a, b\"", &[]), wanted);
        assert_eq!(
            found(r#"{"columns":["id","name"],"rows":[[1,"a, b"]]}"#, &[])[2..],
            wanted
        );
        assert_eq!(
            found("| Field | Value |\n|--|--|\n| **Phone** | 555 |", &[]),
            pairs(&[("phone", "555")])
        );
        assert_eq!(
            found("sizes[2]: 1,500", &[]),
            pairs(&[("sizes", "1"), ("sizes", "500")])
        );
    }
}
