//! XML and tag soup: elements with text are values, elements with elements are objects, elements of one name are a list.

use quick_xml::Reader as XmlReader;
use quick_xml::events::{BytesStart, Event};

use super::build::{Builder, Cell};
use super::{Certainty, Reader, TextBlock, TextData, first_block, json};

pub(super) static XML: Reader =
    Reader { id: "xml", title: "XML", certainty: Certainty::Language, read: |blocks| first_block(blocks, read) };

/// The deepest nesting.
const DEEP: usize = 128;

/// An element, in a list of all of them.
struct Element {
    name: String,
    attributes: Vec<(String, Cell<'static>)>,
    text: Option<Cell<'static>>,
    children: Vec<usize>,
}

pub(super) fn read(block: TextBlock<'_>) -> Option<TextData> {
    let text = block.text.trim();
    let skip = block.text.len() - block.text.trim_start().len();
    if !text.starts_with('<') || !text.ends_with('>') || text.starts_with("<!DOCTYPE html") || text.starts_with("<html") {
        return None;
    }
    let mut reader = XmlReader::from_str(text);
    reader.config_mut().check_end_names = true;
    let mut elements = vec![Element { name: String::new(), attributes: Vec::new(), text: None, children: Vec::new() }];
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
                elements.push(element(&tag, &place)?);
                open.push(at);
            }
            Event::Empty(tag) => {
                let at = elements.len();
                elements[*open.last()?].children.push(at);
                elements.push(element(&tag, &place)?);
            }
            Event::End(_) => {
                open.pop();
                if open.is_empty() {
                    return None;
                }
            }
            Event::Text(part) => add(&mut elements[*open.last()?], &part.decode().ok()?, place),
            Event::CData(part) => add(&mut elements[*open.last()?], &part.decode().ok()?, place),
            Event::GeneralRef(reference) => {
                let name = reference.decode().ok()?;
                let text = match reference.resolve_char_ref().ok()? {
                    Some(char) => char.to_string(),
                    None => quick_xml::escape::resolve_predefined_entity(&name)?.to_owned(),
                };
                add(&mut elements[*open.last()?], &text, place);
            }
            Event::Eof => break,
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
    // What stands beside elements at the outermost is no XML.
    let is_loose = elements[0].text.as_ref().is_some_and(|text| !text.text.trim().is_empty());
    if open.len() != 1 || elements[0].children.is_empty() || is_loose {
        return None;
    }
    let mut builder = Builder::new(&block);
    write(&elements, &mut builder);
    builder.cover(skip..skip + text.len());
    let mut data = builder.done(0)?;
    data.records = json::records(&data.doc);
    data.doc.root().is_some_and(|root| root.is_container()).then_some(data)
}

fn element(tag: &BytesStart<'_>, place: &std::ops::Range<usize>) -> Option<Element> {
    let name = |raw: &[u8]| String::from_utf8_lossy(raw).into_owned();
    let mut attributes = Vec::new();
    for attribute in tag.attributes() {
        let attribute = attribute.ok()?;
        let raw = std::str::from_utf8(&attribute.value).ok()?;
        let value = quick_xml::escape::unescape(raw).ok()?.into_owned();
        attributes.push((name(attribute.key.as_ref()), Cell { text: value.into(), at: place.clone(), is_quoted: false }));
    }
    Some(Element { name: name(tag.name().as_ref()), attributes, text: None, children: Vec::new() })
}

fn add(element: &mut Element, part: &str, place: std::ops::Range<usize>) {
    match &mut element.text {
        Some(text) => {
            text.text.to_mut().push_str(part);
            text.at.end = place.end;
        }
        None => element.text = Some(Cell { text: part.to_owned().into(), at: place, is_quoted: false }),
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
        [only] if !elements[*only].children.is_empty() || !elements[*only].attributes.is_empty() => vec![Step::Element(*only)],
        _ => vec![Step::Element(0)],
    };
    while let Some(step) = steps.pop() {
        match step {
            Step::Key(key) => builder.key(&key),
            Step::Open(bracket) => builder.open(bracket),
            Step::Close(bracket) => builder.close(bracket),
            Step::Leaf(cell) => builder.typed(&cell.text, cell.at),
            Step::Element(at) => {
                let mut todo = content(elements, &elements[at]);
                todo.reverse();
                steps.append(&mut todo);
            }
        }
    }
}

fn content(elements: &[Element], element: &Element) -> Vec<Step> {
    let text = element.text.as_ref().map(|text| {
        let (body, start) = (text.text.trim(), text.text.len() - text.text.trim_start().len());
        Cell {
            text: body.to_owned().into(),
            at: text.at.start + start..text.at.end - (text.text.trim_start().len() - body.len()).min(text.at.len()),
            is_quoted: false,
        }
    });
    let is_nil =
        matches!(&element.attributes[..], [(name, value)] if matches!(name.as_str(), "nil" | "xsi:nil") && value.text == "true");
    if element.children.is_empty() && (element.attributes.is_empty() || (is_nil && text.is_none())) {
        return match text {
            Some(text) => vec![Step::Leaf(text)],
            None => vec![Step::Leaf(Cell { text: "null".into(), at: 0..0, is_quoted: false })],
        };
    }
    let mut names: Vec<(&str, Vec<usize>)> = Vec::new();
    let mut known = std::collections::HashMap::new();
    for child in &element.children {
        let name = elements[*child].name.as_str();
        let at = *known.entry(name).or_insert_with(|| {
            names.push((name, Vec::new()));
            names.len() - 1
        });
        names[at].1.push(*child);
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
    if let Some(text) = text.filter(|text| !text.text.is_empty()) {
        steps.extend([Step::Key("text".to_owned()), Step::Leaf(text)]);
    }
    steps.push(Step::Close('}'));
    steps
}
