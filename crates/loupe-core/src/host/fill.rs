//! What a rule's templates are filled with, and values written as the host's language writes JSON.

use bytes::Bytes;

use super::parts::around;
use super::run::Run;
use super::source_map::{SourceMapped, TextOrigin};
use super::template::{Template, TemplatePiece, Var};
use super::view::HOLE;
use super::write::{self, Writer, first};
use crate::capture::Block;
use crate::format::ParsedCapture;
use crate::json::{Doc, Node};

impl<'a> Run<'a> {
    pub fn fill(&self, template: &Template, block: &Block) -> Result<SourceMapped, String> {
        let origin = TextOrigin::block(block.index);
        let mut out = SourceMapped::default();
        for piece in template.pieces() {
            match piece {
                TemplatePiece::Literal(literal) => out.push_host(literal),
                TemplatePiece::Var(Var::Text) => {
                    let text = block.text.as_deref().unwrap_or_default();
                    let text = SourceMapped::new(
                        &text[..text.floor_char_boundary(self.room)],
                        origin,
                        Some(0),
                    );
                    let text = text.replace(&self.host.replace);
                    // Most templates are the text alone.
                    match out.is_empty() {
                        true => out = text,
                        false => out.append(&text),
                    }
                }
                TemplatePiece::Var(Var::Json) => out.append(&self.write_block(block, origin)?),
                TemplatePiece::Var(Var::ResourceJson) => {
                    out.append(&self.write_resource(block, origin)?)
                }
                TemplatePiece::Var(var) => {
                    match block_value(*var, block, self.subject, &self.host.mime_line) {
                        Some(value) => out.push(&value, origin, None),
                        None => out.push_host(&self.value(*var)),
                    }
                }
            }
        }
        Ok(out)
    }

    /// A value that does not belong to a block.
    pub fn value(&self, var: Var) -> String {
        let seconds = self.context.wall.as_secs_f64();
        match var {
            Var::Server => self.context.server.to_string(),
            Var::Tool => self.context.tool.to_string(),
            Var::Path => self.context.path.to_string(),
            Var::WallS | Var::WallS3 if self.context.has_holes => HOLE.to_string(),
            Var::WallS => format!("{seconds:.4}"),
            Var::WallS3 => format!("{seconds:.3}"),
            Var::ToolJson => write::string(&self.context.tool, self.host.json),
            Var::CallJson => {
                let doc = Doc::parse(Bytes::copy_from_slice(&self.context.arguments));
                let arguments = doc.root().and_then(|root| self.plain(root).ok());
                let arguments =
                    arguments.map_or_else(|| "{}".to_owned(), |text| text.text().to_owned());
                format!(
                    "{{\"name\":{},\"args\":{arguments}}}",
                    write::string(&self.context.tool, self.host.json)
                )
            }
            Var::ResultJson => self.write_result().text().to_owned(),
            _ => String::new(),
        }
    }

    fn plain(&self, node: Node<'_>) -> Result<SourceMapped, String> {
        Writer {
            mode: self.host.json,
            room: self.room,
            origin: &|_| None,
            members: None,
        }
        .write(node, TextOrigin::Envelope)
    }

    /// A value written as the host writes JSON; `None` where it cannot.
    pub fn rewritten(&self, node: Node<'_>, origin: TextOrigin) -> Option<SourceMapped> {
        let mut text = self.plain(node).ok()?;
        text.set_origin(origin);
        Some(text)
    }

    fn write_block(&self, block: &Block, origin: TextOrigin) -> Result<SourceMapped, String> {
        let Some(node) = self.subject.response.doc.node(block.node) else {
            return Ok(SourceMapped::default());
        };
        let order = self.host.key_order.get(&block.type_name);
        Writer {
            mode: self.host.json,
            room: self.room,
            origin: &|_| None,
            members: Some(&|member, all| match order {
                Some(keys) if member.index() == block.node => first(all, keys),
                _ => all,
            }),
        }
        .write(node, origin)
    }

    fn write_resource(&self, block: &Block, origin: TextOrigin) -> Result<SourceMapped, String> {
        let node = self
            .subject
            .response
            .doc
            .node(block.node)
            .and_then(|node| node.get("resource"));
        let Some(resource) = node else {
            return Ok(SourceMapped::default());
        };
        Writer {
            mode: self.host.json,
            room: self.room,
            origin: &|_| None,
            members: Some(&|member, mut all| {
                if member.index() == resource.index() {
                    all.retain(|child| child.key().as_deref() != Some("blob"));
                }
                all
            }),
        }
        .write(resource, origin)
    }

    pub(crate) fn write_structured(&self, node: Node<'a>) -> Result<SourceMapped, String> {
        let inner = node
            .get("result")
            .filter(|_| self.host.unwrap_result && node.len() == 1);
        let node = inner.unwrap_or(node);
        let json = match node.as_str() {
            Some(text) if self.host.unwrap_result => {
                SourceMapped::new(&text, TextOrigin::Structured, None)
            }
            _ => Writer {
                mode: self.host.json,
                room: self.room,
                origin: &|_| None,
                members: None,
            }
            .write(node, TextOrigin::Structured)?,
        };
        let json = json.replace(&self.host.structured_replace);
        let Some(wrap) = &self.host.structured_wrap else {
            return Ok(json);
        };
        Ok(around(wrap, Var::Json, &json, |var| self.value(var)))
    }
}

/// A value that belongs to a block; `None` for any other placeholder.
fn block_value(
    var: Var,
    block: &Block,
    subject: &ParsedCapture,
    mime_line: &str,
) -> Option<String> {
    let node = subject.response.doc.node(block.node);
    let member = |name: &str| Some(node?.get(name)?.as_str()?.into_owned());
    let name = || {
        block
            .name
            .clone()
            .or_else(|| member("name"))
            .unwrap_or_default()
    };
    Some(match var {
        Var::Uri => block.uri.clone().unwrap_or_default(),
        Var::Name => name(),
        Var::Title => member("title").unwrap_or_default(),
        Var::TitleOrName => member("title").unwrap_or_else(name),
        Var::Description => member("description").unwrap_or_default(),
        Var::DescriptionParen => member("description")
            .map(|text| format!(" ({text})"))
            .unwrap_or_default(),
        Var::Mime => block.mime_type.clone().unwrap_or_default(),
        Var::MimeOrOctet => block
            .mime_type
            .clone()
            .unwrap_or_else(|| "application/octet-stream".to_owned()),
        Var::Type => block.type_name.clone(),
        Var::Size => block.data_bytes.unwrap_or(0).to_string(),
        Var::ResourceMimeLine => block
            .mime_type
            .as_ref()
            .map(|mime| format!("\n{mime_line}{mime}"))
            .unwrap_or_default(),
        _ => return None,
    })
}
