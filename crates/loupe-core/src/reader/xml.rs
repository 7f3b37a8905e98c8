//! XML and tag soup: elements with text are values, elements with elements are objects, elements of one name are a list.

use std::ops::Range;

use quick_xml::Reader as XmlReader;
use quick_xml::events::{BytesStart, Event};

use super::build::{Builder, Cell};
use super::{Certainty, Reader, TextBlock, TextData};

pub(super) static XML: Reader = Reader::new("xml", "XML", Certainty::Language, read);

/// Names of elements that are markup, and of those that hold the elements of a list.
const LAYOUT: [&str; 19] = [
    "table", "thead", "tbody", "tfoot", "tr", "th", "td", "ul", "ol", "li", "dl", "dt", "dd",
    "root", "item", "row", "record", "entry", "element",
];
/// The deepest nesting.
const DEEP: usize = 128;

/// An element, in a list of all of them.
#[derive(Default)]
struct Element {
    name: String,
    attributes: Vec<(String, Cell<'static>)>,
    text: String,
    /// Where the text stands, without the blanks around it: in parts, where elements or comments are within it.
    text_places: Vec<Range<usize>>,
    children: Vec<usize>,
}

pub(super) fn read(block: TextBlock<'_>) -> Option<TextData> {
    let text = block.text.trim();
    let skip = block.text.len() - block.text.trim_start().len();
    if !text.starts_with('<')
        || !text.ends_with('>')
        || text.starts_with("<!DOCTYPE html")
        || text.starts_with("<html")
    {
        return None;
    }
    let mut reader = XmlReader::from_str(text);
    reader.config_mut().check_end_names = true;
    let mut elements = vec![Element::default()];
    let mut builder = Builder::new(&block);
    let mut open = vec![0];
    loop {
        let start = usize::try_from(reader.buffer_position()).ok()?;
        let event = reader.read_event().ok()?;
        let end = usize::try_from(reader.buffer_position()).ok()?;
        let place = skip + start..skip + end;
        match event {
            Event::Start(tag) | Event::Empty(tag) if open.len() > DEEP => {
                drop(tag);
                return None;
            }
            Event::Start(tag) => {
                let at = elements.len();
                elements[*open.last()?].children.push(at);
                elements.push(element(
                    &tag,
                    block.text,
                    (&place, open.len() == 1),
                    &mut builder,
                )?);
                open.push(at);
            }
            Event::Empty(tag) => {
                let at = elements.len();
                elements[*open.last()?].children.push(at);
                elements.push(element(
                    &tag,
                    block.text,
                    (&place, open.len() == 1),
                    &mut builder,
                )?);
            }
            Event::End(_) => {
                builder.mark_layout(place);
                open.pop();
                if open.is_empty() {
                    return None;
                }
            }
            Event::Text(part) => {
                elements[*open.last()?].add_text(&part.decode().ok()?, block.text, place)
            }
            Event::CData(part) => {
                elements[*open.last()?].add_text(&part.decode().ok()?, block.text, place)
            }
            Event::GeneralRef(reference) => {
                let name = reference.decode().ok()?;
                let text = match reference.resolve_char_ref().ok()? {
                    Some(char) => char.to_string(),
                    None => quick_xml::escape::resolve_predefined_entity(&name)?.to_owned(),
                };
                elements[*open.last()?].add_text(&text, block.text, place);
            }
            Event::Eof => break,
            Event::Decl(_) => builder.mark_layout(place),
            Event::DocType(_) if !block.text[place.clone()].contains('[') => {
                builder.mark_layout(place)
            }
            Event::Comment(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
    // What is next to elements at the outermost is no XML.
    if open.len() != 1 || elements[0].children.is_empty() || elements[0].has_text() {
        return None;
    }
    write(&elements, &mut builder);
    builder.done()
}

/// An element by the tag that opens it: its names are labels, and values what its attributes have.
fn element(
    tag: &BytesStart<'_>,
    text: &str,
    (at, is_outermost): (&Range<usize>, bool),
    builder: &mut Builder,
) -> Option<Element> {
    let name = |raw: &[u8]| String::from_utf8_lossy(raw).into_owned();
    let source = &text[at.clone()];
    let tag_name = name(tag.name().as_ref());
    // Before a value it would be a sign of its own, as in `>5`.
    builder.mark_layout(at.end - 1..at.end);
    let mut from = source.find(tag_name.as_str())? + tag_name.len();
    let name_at = at.start + from - tag_name.len()..at.start + from;
    // Around all stands no key: the format `xml` writes `<result>` there.
    if LAYOUT.contains(&tag_name.as_str()) || (is_outermost && tag_name == "result") {
        builder.mark_layout(name_at);
    } else {
        builder.label(name_at);
    }
    let mut attributes = Vec::new();
    for attribute in tag.attributes() {
        let attribute = attribute.ok()?;
        let raw = std::str::from_utf8(&attribute.value).ok()?;
        let value = quick_xml::escape::unescape(raw).ok()?.into_owned();
        let key = name(attribute.key.as_ref());
        // Names and values stand one after another, values in quotes.
        from += source[from..].find(key.as_str())?;
        builder.label(at.start + from..at.start + from + key.len());
        from += key.len();
        from += source[from..].find(['"', '\''])? + 1;
        let place = at.start + from..at.start + from + raw.len();
        from += raw.len() + 1;
        attributes.push((key, Cell::new(value, place)));
    }
    Some(Element {
        name: tag_name,
        attributes,
        ..Element::default()
    })
}

impl Element {
    fn has_text(&self) -> bool {
        !self.text_places.is_empty()
    }

    /// Adds a part of its text, which is at `place` of the source.
    fn add_text(&mut self, part: &str, source: &str, place: Range<usize>) {
        let raw = &source[place.clone()];
        let start = place.end - raw.trim_start().len();
        let place = start..start + raw.trim().len();
        if part.trim().is_empty() || place.is_empty() {
            if self.has_text() {
                self.text.push_str(part);
            }
            return;
        }
        self.text.push_str(part);
        match self
            .text_places
            .last_mut()
            .filter(|last| source[last.end..place.start].trim().is_empty())
        {
            Some(last) => last.end = place.end,
            None => self.text_places.push(place),
        }
    }
}

enum Step {
    Element(usize),
    Key(String),
    Open(char),
    Close(char),
    Leaf(Cell<'static>),
}

/// Writes the outermost element's content; several outermost elements as an object of them.
fn write(elements: &[Element], builder: &mut Builder) {
    let root = &elements[0];
    let mut steps = match &root.children[..] {
        [only]
            if !elements[*only].children.is_empty() || !elements[*only].attributes.is_empty() =>
        {
            vec![Step::Element(*only)]
        }
        _ => vec![Step::Element(0)],
    };
    while let Some(step) = steps.pop() {
        match step {
            Step::Key(key) => builder.key(&key),
            Step::Open(bracket) => builder.open(bracket),
            Step::Close(bracket) => builder.close(bracket),
            Step::Leaf(cell) => builder.typed(&cell.text, cell.at),
            Step::Element(at) => {
                let element = &elements[at];
                element
                    .text_places
                    .iter()
                    .skip(1)
                    .for_each(|part| builder.continue_value(part.clone()));
                let mut todo = content(elements, element);
                todo.reverse();
                steps.append(&mut todo);
            }
        }
    }
}

/// The children that are data. A heading between tables names one of them, which lists of each would not say.
fn data_children(elements: &[Element], element: &Element) -> impl Iterator<Item = usize> {
    let is_table = |child: &&usize| elements[**child].name.eq_ignore_ascii_case("table");
    let has_tables = element.children.iter().filter(is_table).nth(1).is_some();
    let is_heading = move |child: &usize| {
        has_tables && matches!(elements[*child].name.as_bytes(), [b'h' | b'H', b'1'..=b'6'])
    };
    element
        .children
        .iter()
        .copied()
        .filter(move |child| !is_heading(child))
}

fn content(elements: &[Element], element: &Element) -> Vec<Step> {
    let text = element
        .text_places
        .first()
        .map(|place| Cell::new(element.text.trim().to_owned(), place.clone()));
    let is_nil = matches!(&element.attributes[..], [(name, value)] if matches!(name.as_str(), "nil" | "xsi:nil") && value.text == "true");
    if element.children.is_empty() && (element.attributes.is_empty() || (is_nil && text.is_none()))
    {
        return match text {
            Some(text) => vec![Step::Leaf(text)],
            None => vec![Step::Leaf(Cell::new("null", 0..0))],
        };
    }
    let mut names: Vec<(&str, Vec<usize>)> = Vec::new();
    let mut known = std::collections::HashMap::new();
    for child in data_children(elements, element) {
        let name = elements[child].name.as_str();
        let at = *known.entry(name).or_insert_with(|| {
            names.push((name, Vec::new()));
            names.len() - 1
        });
        names[at].1.push(child);
    }
    // Nothing but elements of one name: a list.
    if let [(name, children)] = &names[..]
        && element.attributes.is_empty()
        && (children.len() > 1 || matches!(*name, "item" | "entry" | "record" | "row"))
    {
        let mut steps = vec![Step::Open('[')];
        steps.extend(children.iter().map(|child| Step::Element(*child)));
        steps.push(Step::Close(']'));
        return steps;
    }
    let mut steps = vec![Step::Open('{')];
    for (name, cell) in &element.attributes {
        steps.extend([Step::Key(name.clone()), Step::Leaf(cell.clone())]);
    }
    for (name, children) in &names {
        steps.push(Step::Key((*name).to_owned()));
        match &children[..] {
            [only] => steps.push(Step::Element(*only)),
            several => {
                steps.push(Step::Open('['));
                steps.extend(several.iter().map(|child| Step::Element(*child)));
                steps.push(Step::Close(']'));
            }
        }
    }
    if let Some(text) = text {
        steps.extend([Step::Key("text".to_owned()), Step::Leaf(text)]);
    }
    steps.push(Step::Close('}'));
    steps
}
