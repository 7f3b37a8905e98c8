//! How the texts reach the model: as one, or each for itself; what is there when nothing is left; what an error adds.

use bytes::Bytes;

use super::parts::{Pieces, Raw, around, parted, texts};
use super::rules::{Delivery, Trim};
use super::run::Run;
use super::source_map::{SourceMapped, TextOrigin};
use super::template::{Template, Var};
use super::write;
use crate::json::{Doc, Kind};

/// The parts as they are delivered.
pub(super) struct Delivered {
    pub parts: Vec<Raw>,
    /// How many texts there were before they were joined.
    pub texts: usize,
    pub not_computable: Option<String>,
}

/// The `join` that makes several texts a JSON array.
const JSON_ARRAY: &str = "@json-array";

pub(super) fn deliver(run: &Run<'_>, pieces: Pieces) -> Delivered {
    let texts = texts(&pieces.parts).count() + usize::from(pieces.structured.is_some());
    match run.host.delivery {
        Delivery::Parts => Delivered {
            parts: as_parts(run, pieces.parts),
            texts,
            not_computable: None,
        },
        Delivery::String => match as_string(run, pieces) {
            Ok(parts) => Delivered {
                parts,
                texts,
                not_computable: None,
            },
            Err(why) => Delivered {
                parts: Vec::new(),
                texts,
                not_computable: Some(why),
            },
        },
    }
}

fn fill_template(run: &Run<'_>, template: &Template, media: usize) -> SourceMapped {
    SourceMapped::host(&template.fill(|var| {
        if var == Var::Media {
            media.to_string()
        } else {
            run.value(var)
        }
    }))
}

fn as_parts(run: &Run<'_>, mut parts: Vec<Raw>) -> Vec<Raw> {
    let host = run.host;
    let is_empty = parts
        .iter()
        .all(|part| matches!(part, Raw::Text(text) if text.is_empty()));
    if is_empty {
        let of_error = host.error.empty.as_ref().filter(|_| run.is_error);
        if let Some(empty) = of_error.or(host.empty.as_ref().filter(|_| !host.keep_empty)) {
            parts = vec![Raw::Text(fill_template(run, empty, 0))];
        }
    }
    let mut before = Vec::new();
    if let Some(header) = &host.header {
        let mut header = fill_template(run, header, 0);
        let is_structured = |part: &Raw| {
            let Raw::Text(text) = part else { return false };
            text.spans()
                .first()
                .is_some_and(|span| span.origin == TextOrigin::Structured)
        };
        if host.header_joins_structured
            && parts.first().is_some_and(is_structured)
            && let Raw::Text(text) = parts.remove(0)
        {
            header.push_host("\n");
            header.append(&text);
        }
        before.push(Raw::Text(header));
    }
    if let Some(prefix) = host.error.prefix_part.as_ref().filter(|_| run.is_error) {
        before.push(Raw::Text(fill_template(run, prefix, 0)));
    }
    before.append(&mut parts);
    before
}

fn as_string(run: &Run<'_>, pieces: Pieces) -> Result<Vec<Raw>, String> {
    let host = run.host;
    let (texts, media) = parted(pieces.parts);
    let join = host
        .error
        .join
        .as_ref()
        .filter(|_| run.is_error)
        .unwrap_or(&host.join);
    let mut body = one_text(run, texts, join);
    if host.trim == Some(Trim::Blank) && body.text().trim().is_empty() {
        body = SourceMapped::default();
    }
    if let Some(mut structured) = pieces.structured {
        if host.structured_first {
            std::mem::swap(&mut body, &mut structured);
        }
        let is_joined =
            host.trim != Some(Trim::Blank) || !(body.is_empty() || structured.is_empty());
        if is_joined {
            body.push_host(&host.structured_join);
        }
        body.append(&structured);
    }
    if body.is_empty() {
        if run.is_error
            && media.is_empty()
            && let Some(note) = &host.error.computable_note
        {
            return Err(note.clone());
        }
        let of_error = host.error.empty.as_ref().filter(|_| run.is_error);
        let with_media = host.empty_with_media.as_ref().filter(|_| !media.is_empty());
        if let Some(empty) = of_error.or(with_media).or(host.empty.as_ref()) {
            body = fill_template(run, empty, media.len());
        }
    }
    if let Some(template) = host.error.template.as_ref().filter(|_| run.is_error) {
        body = if template.has(Var::ResultJson) {
            let value = |var| {
                if var == Var::Body {
                    body.text().to_owned()
                } else {
                    run.value(var)
                }
            };
            around(template, Var::ResultJson, &run.write_result(), value)
        } else {
            around(template, Var::Body, &body, |var| run.value(var))
        };
    }
    if let Some(wrap) = &host.wrap {
        body = around(wrap, Var::Body, &body, |var| run.value(var));
    }
    let mut parts = vec![Raw::Text(body)];
    parts.extend(media);
    Ok(parts)
}

/// The texts as one. Of several in a JSON array, those that are JSON stand as values where the host reads them as such.
fn one_text(run: &Run<'_>, texts: Vec<SourceMapped>, join: &str) -> SourceMapped {
    let host = run.host;
    let reparsed: Vec<Option<SourceMapped>> = texts
        .iter()
        .map(|text| {
            if host.reparse_json_text {
                reparse(run, text)
            } else {
                None
            }
        })
        .collect();
    if join != JSON_ARRAY || texts.len() < 2 {
        let mut texts: Vec<SourceMapped> = texts
            .into_iter()
            .zip(reparsed)
            .map(|(text, again)| again.unwrap_or(text))
            .collect();
        if texts.len() == 1 {
            return texts.swap_remove(0);
        }
        return SourceMapped::join(&texts, if join == JSON_ARRAY { "" } else { join });
    }
    let items: Vec<SourceMapped> = texts
        .iter()
        .zip(reparsed)
        .map(|(text, again)| {
            again.unwrap_or_else(|| {
                let origin = text
                    .spans()
                    .first()
                    .map_or(super::TextOrigin::Host, |span| span.origin);
                SourceMapped::new(&write::string(text.text(), host.json), origin, None)
            })
        })
        .collect();
    let mut array = SourceMapped::host("[");
    array.append(&SourceMapped::join(&items, ","));
    array.push_host("]");
    array
}

/// A text that is JSON and begins like an object or array, written anew.
fn reparse(run: &Run<'_>, text: &SourceMapped) -> Option<SourceMapped> {
    if !text.text().starts_with(['{', '[']) {
        return None;
    }
    let doc = Doc::parse(Bytes::copy_from_slice(text.text().as_bytes()));
    let root = doc
        .root()
        .filter(|root| doc.is_json() && matches!(root.kind(), Kind::Array | Kind::Object))?;
    let origin = text
        .spans()
        .first()
        .map_or(super::TextOrigin::Host, |span| span.origin);
    run.rewritten(root, origin)
}
