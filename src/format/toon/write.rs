//! Writing: which lines there are is decided here (TOON 4.4, sections 8 to 10), so that a payload of any shape goes out line
//! by line and can be left between two values. When a text needs quotes, and how a number is spelled, the crate says.

use std::borrow::Cow;
use std::collections::HashMap;

use toon_format::utils::string::{is_valid_unquoted_key, needs_quoting, quote_string};

use crate::cancel::{Cancel, Cancelled, Steps};
use crate::format::WriteError;
use crate::format::out::Pieces;
use crate::json::{Kind, Node};

/// Writes a payload that passed [`check_all`](crate::format::value::check_all).
pub(super) fn write(root: Node<'_>, out: &mut Pieces<'_>, cancel: &Cancel) -> Result<(), WriteError> {
    let mut writer = Writer { out, steps: cancel.steps(), is_begun: false };
    match root.kind() {
        Kind::Array => writer.after_key("", root, 1, Position::Root),
        Kind::Object => match keyed_fields(root, &mut writer.steps)? {
            Some(fields) => {
                writer.head(root.len(), Some(&fields), true)?;
                writer.rows(root, &fields, 1)
            }
            None => writer.members(root.children(), 0),
        },
        // A byte-order mark at the beginning of a text would be lost.
        Kind::String if root.as_str().is_some_and(|text| text.starts_with('\u{feff}')) => {
            Ok(writer.out.push(&quote_string(&root.as_str().unwrap_or_default()))?)
        }
        _ => writer.scalar(root),
    }
}

/// One field of a table: a column, or a group of them.
struct Field<'a> {
    name: Cow<'a, str>,
    group: Option<Vec<Field<'a>>>,
}

/// Where a list stands: a table needs a key or the beginning of the text before its head.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    Root,
    Member,
    Item,
}

struct Writer<'w, 'p, 'c> {
    out: &'w mut Pieces<'p>,
    steps: Steps<'c>,
    is_begun: bool,
}

impl Writer<'_, '_, '_> {
    fn begin_line(&mut self, depth: usize) -> Result<(), Cancelled> {
        if self.is_begun {
            self.out.push("\n")?;
        }
        self.is_begun = true;
        (0..depth).try_for_each(|_| self.out.push("  "))
    }

    fn members<'a>(&mut self, members: impl Iterator<Item = Node<'a>>, depth: usize) -> Result<(), WriteError> {
        for member in members {
            self.begin_line(depth)?;
            self.after_key(&key_of(member), member, depth + 1, Position::Member)?;
        }
        Ok(())
    }

    /// What stands in the line of a key (none for items and the root), and below it at `depth`.
    fn after_key(&mut self, key: &str, node: Node<'_>, depth: usize, position: Position) -> Result<(), WriteError> {
        self.steps.step()?;
        // The root has no line before it.
        self.is_begun = true;
        self.out.push(key)?;
        match node.kind() {
            Kind::Array => return self.list(node, depth, position),
            Kind::Object => {
                if let Some(fields) = keyed_fields(node, &mut self.steps)? {
                    self.head(node.len(), Some(&fields), true)?;
                    return self.rows(node, &fields, depth);
                }
                self.out.push(":")?;
                return self.members(node.children(), depth);
            }
            _ => {}
        }
        self.out.push(": ")?;
        self.scalar(node)
    }

    fn list(&mut self, list: Node<'_>, depth: usize, position: Position) -> Result<(), WriteError> {
        if list.is_empty() {
            let empty = match position {
                Position::Root => "[]",
                Position::Member => ": []",
                Position::Item => "[0]:",
            };
            return Ok(self.out.push(empty)?);
        }
        let (mut is_flat, mut is_records) = (true, position != Position::Item);
        for child in list.children() {
            self.steps.step()?;
            is_flat &= !child.is_container();
            is_records &= child.kind() == Kind::Object;
        }
        if is_flat {
            self.head(list.len(), None, false)?;
            return self.cells(list.children(), " ");
        }
        if is_records && let Some(fields) = fields(&list.children().collect::<Vec<_>>(), &mut self.steps)? {
            self.head(list.len(), Some(&fields), false)?;
            return self.rows(list, &fields, depth);
        }
        self.head(list.len(), None, false)?;
        list.children().try_for_each(|item| self.item(item, depth))
    }

    fn item(&mut self, item: Node<'_>, depth: usize) -> Result<(), WriteError> {
        self.steps.step()?;
        self.begin_line(depth)?;
        self.out.push("-")?;
        if item.kind() == Kind::Object && item.is_empty() {
            return Ok(());
        }
        self.out.push(" ")?;
        match item.kind() {
            Kind::Array => self.after_key("", item, depth + 1, Position::Item),
            Kind::Object => {
                let mut members = item.children();
                if let Some(first) = members.next() {
                    self.after_key(&key_of(first), first, depth + 2, Position::Member)?;
                }
                self.members(members, depth + 1)
            }
            _ => self.scalar(item),
        }
    }

    /// The number of values, in a table the fields, and the colon; an object of records says so.
    fn head(&mut self, count: usize, fields: Option<&[Field<'_>]>, is_keyed: bool) -> Result<(), Cancelled> {
        self.is_begun = true;
        self.out.push(&format!("[{count}{}]", if is_keyed { ":" } else { "" }))?;
        if let Some(fields) = fields {
            self.fields(fields)?;
        }
        self.out.push(":")
    }

    fn fields(&mut self, fields: &[Field<'_>]) -> Result<(), Cancelled> {
        let mut before = "{";
        for field in fields {
            self.steps.step()?;
            self.out.push(before)?;
            self.out.push(&spelled_key(&field.name))?;
            if let Some(group) = &field.group {
                self.fields(group)?;
            }
            before = ",";
        }
        self.out.push("}")
    }

    /// The records of a list, or of an object with the keys before them.
    fn rows(&mut self, records: Node<'_>, fields: &[Field<'_>], depth: usize) -> Result<(), WriteError> {
        let mut cells = Vec::new();
        for record in records.children() {
            self.begin_line(depth)?;
            let mut before = "";
            if records.kind() == Kind::Object {
                self.out.push(&key_of(record))?;
                before = ": ";
            }
            cells.clear();
            row(record, fields, &mut cells);
            self.cells(cells.iter().copied(), before)?;
        }
        Ok(())
    }

    fn cells<'a>(&mut self, cells: impl Iterator<Item = Node<'a>>, mut before: &str) -> Result<(), WriteError> {
        for cell in cells {
            self.steps.step()?;
            self.out.push(before)?;
            self.scalar(cell)?;
            before = ",";
        }
        Ok(())
    }

    fn scalar(&mut self, node: Node<'_>) -> Result<(), WriteError> {
        match node.kind() {
            Kind::String => {
                let text = node.as_str().unwrap_or_default();
                let quoted = needs_quoting(&text, ',').then(|| quote_string(&text));
                self.out.push(quoted.as_deref().unwrap_or(&text))?;
            }
            // Only an integer that is in no need of another spelling is taken as it stands.
            Kind::Number if node.as_i64().is_none_or(|number| node.raw() != number.to_string().as_bytes()) => {
                let number = crate::format::value::number(node, "TOON")?;
                let text = toon_format::encode_default(&number).map_err(|error| WriteError::Refused(error.to_string()))?;
                self.out.push(&text)?;
            }
            _ => self.out.push_bytes(node.raw())?,
        }
        Ok(())
    }
}

fn key_of(member: Node<'_>) -> String {
    spelled_key(&member.key().unwrap_or_default())
}

fn spelled_key(key: &str) -> String {
    if is_valid_unquoted_key(key) { key.to_owned() } else { quote_string(key) }
}

/// The fields of an object whose members are records of one kind.
fn keyed_fields<'a>(object: Node<'a>, steps: &mut Steps<'_>) -> Result<Option<Vec<Field<'a>>>, Cancelled> {
    let is_record = |member: Node<'_>| member.kind() == Kind::Object && !member.is_empty();
    if object.len() < 2 {
        return Ok(None);
    }
    for member in object.children() {
        steps.step()?;
        if !is_record(member) {
            return Ok(None);
        }
    }
    fields(&object.children().collect::<Vec<_>>(), steps)
}

/// The fields that all of these objects have, in the order of the first; `None` where they have others, or one holds more
/// than a value in some of them.
fn fields<'a>(objects: &[Node<'a>], steps: &mut Steps<'_>) -> Result<Option<Vec<Field<'a>>>, Cancelled> {
    let Some(first) = objects.first().filter(|first| !first.is_empty()) else { return Ok(None) };
    let names: Vec<Cow<'a, str>> = first.children().map(|member| member.key().unwrap_or_default()).collect();
    // Of each field, the objects in it: all of its values are objects, or none is.
    let mut inner: Vec<Vec<Node<'a>>> = vec![Vec::new(); names.len()];
    for (position, object) in objects.iter().enumerate() {
        let Some(members) = in_order(*object, names.len(), |at| &names[at]) else { return Ok(None) };
        for (member, inner) in members.into_iter().zip(&mut inner) {
            steps.step()?;
            let is_object = member.kind() == Kind::Object && !member.is_empty();
            if member.is_container() && !is_object || inner.len() != if is_object { position } else { 0 } {
                return Ok(None);
            }
            if is_object {
                inner.push(member);
            }
        }
    }
    let mut all = Vec::with_capacity(names.len());
    for (name, inner) in names.into_iter().zip(inner) {
        let group = if inner.is_empty() {
            None
        } else {
            let Some(group) = fields(&inner, steps)? else { return Ok(None) };
            Some(group)
        };
        all.push(Field { name, group });
    }
    Ok(Some(all))
}

/// The values of one row.
fn row<'a>(record: Node<'a>, fields: &[Field<'_>], cells: &mut Vec<Node<'a>>) {
    let members = in_order(record, fields.len(), |at| &fields[at].name).unwrap_or_default();
    for (member, field) in members.into_iter().zip(fields) {
        match &field.group {
            Some(group) => row(member, group, cells),
            None => cells.push(member),
        }
    }
}

/// The members of an object in the order of these names; `None` where it has others.
fn in_order<'a, 'n>(object: Node<'a>, count: usize, name: impl Fn(usize) -> &'n str) -> Option<Vec<Node<'a>>> {
    if object.kind() != Kind::Object || object.len() != count {
        return None;
    }
    let members: Vec<Node<'a>> = object.children().collect();
    if members.iter().enumerate().all(|(at, member)| member.key().is_some_and(|key| key == name(at))) {
        return Some(members);
    }
    let by_key: HashMap<Cow<'a, str>, Node<'a>> =
        members.into_iter().map(|member| (member.key().unwrap_or_default(), member)).collect();
    (0..count).map(|at| by_key.get(name(at)).copied()).collect()
}
