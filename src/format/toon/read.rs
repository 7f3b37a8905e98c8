//! Reading: a long text is taken apart where a member, item, row or value begins, and the crate reads the pieces. What is
//! longer than a piece is taken apart itself, down to a single value.

use serde_json::Value;

use crate::cancel::{Cancel, Cancelled};
use crate::format::round_trip::{Builder, DecodeError, Decoded};
use crate::format::value::{decoded, spelled};
use crate::json::Kind;

/// Reads a text in pieces of about this size; between two of them the asker may look away.
pub(super) fn read(text: &str, piece: usize, cancel: &Cancel) -> Result<Decoded, DecodeError> {
    if text.len() <= piece {
        return decoded(&parse(text)?, cancel);
    }
    let mut reader = Reader { builder: Builder::new(cancel), piece, cancel };
    let (line, below) = text.split_once('\n').unwrap_or((text, ""));
    match Head::of(line) {
        Some(head) if head.name.is_empty() => reader.value("", &head, below, 2)?,
        Some(_) => {
            reader.builder.open("", Kind::Object)?;
            reader.members(None, text, 0)?;
        }
        None => return decoded(&parse(text)?, cancel),
    }
    reader.builder.finish()
}

pub(super) fn parse(text: &str) -> Result<Value, DecodeError> {
    toon_format::decode_default(text).map_err(|error| DecodeError::Unreadable(error.to_string()))
}

fn unlike(what: &str) -> DecodeError {
    DecodeError::Unreadable(format!("{what} is not what it has to be"))
}

/// A line with a key, or with the head of a list: `name: value`, `name[2]: a,b`, `name[2]{a,b}:`, `[2:]{a}:`.
struct Head<'t> {
    /// As it stands, quotes included; empty where there is none.
    name: &'t str,
    /// Between the brackets.
    count: Option<&'t str>,
    /// The fields in their braces, or nothing.
    fields: &'t str,
    /// What follows the colon, and the space behind it.
    value: &'t str,
}

impl<'t> Head<'t> {
    fn of(line: &'t str) -> Option<Self> {
        let at = unquoted(line, |byte| matches!(byte, b'[' | b':'))?;
        let (name, rest) = line.split_at(at);
        let (count, rest) = match rest.strip_prefix('[') {
            Some(rest) => rest.split_once(']').map(|(count, rest)| (Some(count), rest))?,
            None => (None, rest),
        };
        let colon = unquoted(rest, |byte| byte == b':')?;
        let (fields, value) = rest.split_at(colon);
        Some(Self { name, count, fields, value: value[1..].trim_start_matches(' ') })
    }

    fn key(&self) -> Result<String, DecodeError> {
        key_of(self.name)
    }
}

/// The fields of a table, in the order in which its values stand.
#[derive(Debug, PartialEq, Eq)]
enum Field {
    Cell(String),
    /// A group of fields begins.
    Open(String),
    Close,
}

impl Field {
    /// Reads `{a,b{c,d}}`.
    fn all(fields: &str) -> Result<Vec<Self>, DecodeError> {
        let mut all = Vec::new();
        let mut rest = fields.strip_prefix('{').ok_or_else(|| unlike("the fields of a table"))?;
        let mut depth = 1;
        while depth > 0 {
            let end = unquoted(rest, |byte| matches!(byte, b',' | b'{' | b'}')).ok_or_else(|| unlike("the fields of a table"))?;
            let (name, after) = rest.split_at(end);
            let name = (!name.is_empty()).then(|| key_of(name)).transpose()?;
            match (name, after.as_bytes()[0]) {
                (Some(name), b'{') => {
                    all.push(Self::Open(name));
                    depth += 1;
                }
                (name, mark) => {
                    all.extend(name.map(Self::Cell));
                    if mark == b'}' {
                        depth -= 1;
                        all.extend((depth > 0).then_some(Self::Close));
                    }
                }
            }
            rest = &after[1..];
        }
        if rest.is_empty() { Ok(all) } else { Err(unlike("the fields of a table")) }
    }
}

/// A key as it stands, quotes included, as text.
fn key_of(name: &str) -> Result<String, DecodeError> {
    if !name.starts_with('"') {
        return Ok(name.to_owned());
    }
    let Value::Object(named) = parse(&format!("{name}: 0"))? else { return Err(unlike("a key")) };
    named.keys().next().cloned().ok_or_else(|| unlike("a key"))
}

/// Where the first such byte stands outside of quotes.
fn unquoted(text: &str, is_it: impl Fn(u8) -> bool) -> Option<usize> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    text.bytes().position(|byte| {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_quoted,
            b'"' => is_quoted = !is_quoted,
            _ => return !is_quoted && is_it(byte),
        }
        false
    })
}

/// Where the lines end that are indented at least so far.
fn lines_below(text: &str, indent: usize, cancel: &Cancel) -> Result<usize, Cancelled> {
    let mut steps = cancel.steps();
    let mut at = 0;
    while at < text.len() {
        steps.step()?;
        let line = &text.as_bytes()[at..];
        if line.len() < indent || line[..indent].iter().any(|byte| *byte != b' ') {
            break;
        }
        at += memchr::memchr(b'\n', line).map_or(line.len(), |end| end + 1);
    }
    Ok(at)
}

/// A line that is indented so far and no further.
fn dedented(line: &str, indent: usize) -> Result<&str, DecodeError> {
    let is_like = line.len() - line.trim_start_matches(' ').len() == indent;
    if is_like { Ok(&line[indent..]) } else { Err(unlike("an indentation")) }
}

/// Adds lines without so much of their indentation.
fn push_dedented(batch: &mut String, lines: &str, indent: usize) {
    for line in lines.split_inclusive('\n') {
        batch.push_str(line.get(indent..).unwrap_or_default());
    }
}

/// Takes the first line and what is indented below it, at `indent` and deeper, off a text.
fn take<'t>(text: &mut &'t str, indent: usize, cancel: &Cancel) -> Result<(&'t str, &'t str), Cancelled> {
    let (line, rest) = text.split_once('\n').unwrap_or((text, ""));
    let (below, rest) = rest.split_at(lines_below(rest, indent, cancel)?);
    *text = rest;
    Ok((line, below))
}

struct Reader<'c> {
    builder: Builder<'c>,
    piece: usize,
    cancel: &'c Cancel,
}

impl Reader<'_> {
    /// The members of an open object, indented so far. The first may stand in the line of an item, whose hyphen is not in it.
    fn members(&mut self, first: Option<&str>, text: &str, indent: usize) -> Result<(), DecodeError> {
        let mut rest = text;
        let mut first = first;
        let mut batch = String::new();
        while first.is_some() || !rest.is_empty() {
            let (line, below) = match first.take() {
                Some(line) => {
                    let (below, later) = rest.split_at(lines_below(rest, indent + 2, self.cancel)?);
                    rest = later;
                    (line, below)
                }
                None => {
                    let (line, below) = take(&mut rest, indent + 2, self.cancel)?;
                    (dedented(line, indent)?, below)
                }
            };
            if line.len() + below.len() <= self.piece {
                batch.push_str(line);
                batch.push('\n');
                push_dedented(&mut batch, below, indent);
            }
            let is_large = line.len() + below.len() > self.piece;
            if !batch.is_empty() && (is_large || batch.len() > self.piece || rest.is_empty()) {
                self.cancel.check()?;
                let Value::Object(members) = parse(&std::mem::take(&mut batch))? else { return Err(unlike("a member")) };
                for (key, value) in &members {
                    self.builder.json(key, &spelled(value)?)?;
                }
            }
            if is_large {
                let head = Head::of(line).filter(|head| !head.name.is_empty()).ok_or_else(|| unlike("a member"))?;
                self.value(&head.key()?, &head, below, indent + 2)?;
            }
        }
        Ok(())
    }

    /// What a head announces, with the lines below it, which are indented so far.
    fn value(&mut self, key: &str, head: &Head<'_>, below: &str, indent: usize) -> Result<(), DecodeError> {
        self.cancel.check()?;
        let Some(count) = head.count else {
            if below.is_empty() {
                return self.scalar(key, head.value);
            }
            self.builder.open(key, Kind::Object)?;
            self.members(None, below, indent)?;
            self.builder.close();
            return Ok(());
        };
        let is_keyed = count.ends_with(':');
        let count: usize = count.trim_end_matches(':').parse().map_err(|_| unlike("the length of a list"))?;
        self.builder.open(key, if is_keyed { Kind::Object } else { Kind::Array })?;
        let found = if below.is_empty() {
            self.inline(head.value)?
        } else if head.fields.is_empty() {
            self.items(below, indent)?
        } else {
            self.rows(head.fields, is_keyed, below, indent)?
        };
        self.builder.close();
        if found == count { Ok(()) } else { Err(DecodeError::Unreadable(format!("a list of {count} has {found}"))) }
    }

    /// One value. At the beginning of a text, a byte-order mark would be none of it.
    fn scalar(&mut self, key: &str, text: &str) -> Result<(), DecodeError> {
        let Value::Object(member) = parse(&format!("x: {text}"))? else { return Err(unlike("a value")) };
        let value = member.values().next().ok_or_else(|| unlike("a value"))?;
        self.builder.json(key, &spelled(value)?)
    }

    /// The values of an open list that stand in one line.
    fn inline(&mut self, values: &str) -> Result<usize, DecodeError> {
        let mut found = 0;
        self.cells(values, |builder, value| {
            found += 1;
            builder.json("", &spelled(value)?)
        })?;
        Ok(found)
    }

    /// Values in one line, as many as make a piece at a time.
    fn cells(
        &mut self,
        values: &str,
        mut take: impl FnMut(&mut Builder<'_>, &Value) -> Result<(), DecodeError>,
    ) -> Result<(), DecodeError> {
        let mut rest = values;
        while !rest.is_empty() {
            let (mut end, mut count) = (0, 0);
            while end < rest.len() && end <= self.piece {
                end += unquoted(&rest[end..], |byte| byte == b',').map_or(rest.len() - end, |at| at + 1);
                count += 1;
            }
            let (now, later) = rest.split_at(end);
            rest = later;
            self.cancel.check()?;
            let now = now.strip_suffix(',').filter(|_| !later.is_empty()).unwrap_or(now);
            let Value::Array(values) = parse(&format!("[{count}]: {now}"))? else { return Err(unlike("a row")) };
            values.iter().try_for_each(|value| take(&mut self.builder, value))?;
        }
        Ok(())
    }

    /// A row that is no piece of a text any more: cell by cell.
    fn wide_row(&mut self, fields: &[Field], is_keyed: bool, line: &str) -> Result<(), DecodeError> {
        let (key, cells) = if is_keyed {
            let head = Head::of(line).ok_or_else(|| unlike("a row"))?;
            (head.key()?, head.value)
        } else {
            (String::new(), line)
        };
        self.builder.open(&key, Kind::Object)?;
        let mut fields = fields.iter();
        self.cells(cells, |builder, value| {
            for field in fields.by_ref() {
                match field {
                    Field::Open(key) => builder.open(key, Kind::Object)?,
                    Field::Close => builder.close(),
                    Field::Cell(key) => return builder.json(key, &spelled(value)?),
                }
            }
            Err(unlike("the number of values in a row"))
        })?;
        for field in fields {
            match field {
                Field::Close => self.builder.close(),
                _ => return Err(unlike("the number of values in a row")),
            }
        }
        self.builder.close();
        Ok(())
    }

    /// The rows of a table, each in a line, below a head with their own number.
    fn rows(&mut self, fields: &str, is_keyed: bool, below: &str, indent: usize) -> Result<usize, DecodeError> {
        let colon = if is_keyed { ":" } else { "" };
        let (mut rest, mut found) = (below, 0);
        let mut batch = String::new();
        let mut count = 0;
        // A head that is larger than a piece is read once, and its rows value by value.
        let wide = if fields.len() > self.piece { Some(Field::all(fields)?) } else { None };
        while !rest.is_empty() {
            let line = dedented(take(&mut rest, usize::MAX, self.cancel)?.0, indent)?;
            if let Some(wide) = &wide {
                self.wide_row(wide, is_keyed, line)?;
                found += 1;
                continue;
            }
            batch.push_str("\n  ");
            batch.push_str(line);
            count += 1;
            if batch.len() > self.piece || rest.is_empty() {
                found += self.push(&format!("[{count}{colon}]{fields}:{batch}"))?;
                batch.clear();
                count = 0;
            }
        }
        Ok(found)
    }

    /// The items of an open list.
    fn items(&mut self, below: &str, indent: usize) -> Result<usize, DecodeError> {
        let (mut rest, mut found) = (below, 0);
        let mut batch = String::new();
        let mut count = 0;
        while !rest.is_empty() {
            let (line, below) = take(&mut rest, indent + 2, self.cancel)?;
            let is_large = line.len() + below.len() > self.piece;
            if !is_large {
                batch.push('\n');
                push_dedented(&mut batch, line, indent - 2);
                if !below.is_empty() {
                    batch.push('\n');
                    push_dedented(&mut batch, below.trim_end_matches('\n'), indent - 2);
                }
                count += 1;
            }
            if count > 0 && (is_large || batch.len() > self.piece || rest.is_empty()) {
                found += self.push(&format!("[{count}]:{batch}"))?;
                batch.clear();
                count = 0;
            }
            if is_large {
                let item = dedented(line, indent)?.strip_prefix('-').ok_or_else(|| unlike("an item"))?;
                let item = item.strip_prefix(' ').unwrap_or(item);
                match Head::of(item) {
                    None if item.is_empty() => self.builder.json("", "{}")?,
                    Some(head) if head.name.is_empty() => self.value("", &head, below, indent + 2)?,
                    Some(_) => {
                        self.builder.open("", Kind::Object)?;
                        self.members(Some(item), below, indent + 2)?;
                        self.builder.close();
                    }
                    None => self.scalar("", item)?,
                }
                found += 1;
            }
        }
        Ok(found)
    }

    /// Adds what a list or an object of records holds to the one that is open, and tells how many there were.
    fn push(&mut self, text: &str) -> Result<usize, DecodeError> {
        self.cancel.check()?;
        match parse(text)? {
            Value::Array(values) => {
                for value in &values {
                    self.builder.json("", &spelled(value)?)?;
                }
                Ok(values.len())
            }
            Value::Object(members) => {
                for (key, value) in &members {
                    self.builder.json(key, &spelled(value)?)?;
                }
                Ok(members.len())
            }
            _ => Err(unlike("a list")),
        }
    }
}
