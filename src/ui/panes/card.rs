//! The card of a block: what it is, and for one that is no text what can be done with it. A picture is decoded when
//! somebody asks for it, a link is read when somebody clicks; nothing of either happens by itself.

use std::sync::Arc;

use egui::mutex::Mutex;
use egui::{ColorImage, Frame, Margin, Pos2, Rect, Role, Stroke, TextureHandle, TextureOptions};
use egui::{Ui, UiBuilder, pos2, vec2};

use super::item::SIDE;
use super::picture::{Picture, PictureQuery};
use crate::state::Action;
use crate::state::media::MediaAction;
use crate::ui::theme;
use crate::ui::widgets::{self, Button, Tone};
use crate::ui::{Cx, icons};
use loupe_analysis::queries::invisible_chars::Shown;
use loupe_core::capture::{Block, BlockKind};
use loupe_core::format::ParsedCapture;

/// Raw JSON of an unknown block, and the text of an embedded resource, are shown up to here; the wire has it all.
const RAW_LIMIT: usize = 4_096;
/// Height of a row of controls, until it was drawn once.
pub const CONTROLS: f32 = 40.0;

/// The line above a block.
#[derive(Clone)]
pub struct Header {
    title: String,
    details: String,
    audience: String,
    priority: String,
    icon: &'static str,
}

/// What a block that is no text says of itself, line by line.
pub fn details(block: &Block, subject: &ParsedCapture) -> String {
    let mut lines = Vec::new();
    let mut line = |name: &str, value: Option<String>| {
        lines.extend(value.map(|value| format!("{name}: {value}")))
    };
    let node = subject.response.doc.node(block.node);
    let member = |key: &str| node.and_then(|node| Some(node.get(key)?.as_str()?.into_owned()));
    line("name", block.name.clone());
    line("title", member("title"));
    line("description", member("description"));
    line("uri", block.uri.clone());
    line("mimeType", block.mime_type.clone());
    line(
        "data",
        block.data_bytes.map(|bytes| widgets::bytes(bytes as u64)),
    );
    line(
        "size",
        node.and_then(|node| node.get("size")?.as_i64())
            .and_then(|size| u64::try_from(size).ok())
            .map(widgets::bytes),
    );
    line("text", block.text.as_deref().map(cut));
    if block.kind == BlockKind::Unknown
        && let Some(node) = node
    {
        lines.push(cut(&node.raw_text()));
    }
    Shown::of(&lines.join("\n")).text
}

fn cut(text: &str) -> String {
    let mut shown: String = text.chars().take(RAW_LIMIT).collect();
    if shown.len() < text.len() {
        shown.push_str(&format!(
            "\n… {} more, see On the wire",
            widgets::bytes((text.len() - shown.len()) as u64)
        ));
    }
    shown
}

/// A picture and what it was made into.
type Texture = (Arc<Picture>, TextureHandle);

/// What can be done with a block.
#[derive(Clone)]
pub struct Controls {
    index: usize,
    /// What can be read through the session.
    uri: Option<String>,
    has_data: bool,
    /// Whether it is decoded and shown on a click.
    is_picture: bool,
    /// The texture of the picture, made once.
    texture: Arc<Mutex<Option<Texture>>>,
}

impl Controls {
    /// `None` where there is nothing to do.
    pub fn new(block: &Block) -> Option<Self> {
        let has_data = block.data_bytes.is_some();
        let is_resource = matches!(block.kind, BlockKind::ResourceLink | BlockKind::Resource);
        let uri = block.uri.clone().filter(|_| is_resource);
        (has_data || uri.is_some()).then(|| Self {
            index: block.index,
            uri,
            has_data,
            is_picture: has_data
                && (block.kind == BlockKind::Image
                    || block
                        .mime_type
                        .as_deref()
                        .is_some_and(|mime| mime.starts_with("image/"))),
            texture: Arc::default(),
        })
    }

    /// Paints them and the picture that was asked for, and returns the height.
    pub fn show(&self, ui: &mut Ui, cx: &Cx<'_>, top: Pos2, width: f32) -> f32 {
        let send = |action| cx.send(Action::Media(action));
        let rect = Rect::from_min_size(
            pos2(top.x + SIDE, top.y),
            vec2((width - 2.0 * SIDE).max(80.0), f32::INFINITY),
        );
        let mut child = ui.new_child(widgets::region(ui, ("controls", self.index)).max_rect(rect));
        let is_shown = cx.state.is_media_shown(self.index);
        let place = format!("content[{}]", self.index);
        child.spacing_mut().item_spacing = vec2(8.0, 6.0);
        child.horizontal_wrapped(|ui| {
            if self.is_picture {
                let (words, icon) = if is_shown {
                    ("Hide picture", icons::MISSING)
                } else {
                    ("Show picture", icons::IMAGE)
                };
                let name = format!("{words} {place}");
                if Button::new(words)
                    .icon(icon)
                    .name(&name)
                    .tip("Decodes it here; nothing is fetched")
                    .small()
                    .clicked(ui)
                {
                    send(MediaAction::Show(self.index, !is_shown));
                }
            }
            if self.has_data {
                let name = format!("Save {place}…");
                if Button::new("Save…")
                    .icon(icons::EXPORT)
                    .name(&name)
                    .tip("Writes the decoded bytes")
                    .small()
                    .clicked(ui)
                {
                    send(MediaAction::Save {
                        block: self.index,
                        path: None,
                    });
                }
            }
            if let Some(uri) = &self.uri {
                let why_not = cx.state.unreadable();
                let name = format!("Read {uri}");
                let read = Button::new("Read")
                    .icon(icons::RESOURCE)
                    .name(&name)
                    .enabled(why_not.is_none())
                    .small();
                if read
                    .tip(why_not.unwrap_or("Reads it from the server, as an answer of its own"))
                    .clicked(ui)
                {
                    send(MediaAction::Read(uri.clone()));
                }
                if let Some(why_not) = why_not {
                    widgets::note_wrapped(ui, why_not);
                }
            }
        });
        if self.is_picture && is_shown {
            let picture = widgets::ready(
                &mut child,
                cx,
                "Decoding the picture",
                cx.ask(PictureQuery(self.index)),
            );
            picture
                .into_iter()
                .for_each(|picture| self.picture_ui(&mut child, picture));
        }
        child.min_rect().height() + 14.0
    }

    fn picture_ui(&self, ui: &mut Ui, picture: &Arc<Picture>) {
        let t = theme::of(ui);
        let mut known = self.texture.lock();
        let texture = match &*known {
            Some((of, texture)) if Arc::ptr_eq(of, picture) => texture.clone(),
            _ => {
                let size = picture.shown.map(|side| side as usize);
                let image = ColorImage::from_rgba_unmultiplied(size, &picture.pixels);
                let texture = ui.ctx().load_texture(
                    format!("content[{}]", self.index),
                    image,
                    TextureOptions::LINEAR,
                );
                *known = Some((Arc::clone(picture), texture.clone()));
                texture
            }
        };
        let mut words = format!(
            "{} × {} px",
            widgets::grouped(u64::from(picture.size[0])),
            widgets::grouped(u64::from(picture.size[1]))
        );
        if picture.shown != picture.size {
            words += ", shown smaller";
        }
        if let Some(note) = &picture.note {
            words += &format!(" · {note}");
        }
        let size = vec2(picture.shown[0] as f32, picture.shown[1] as f32);
        let room = (ui.available_width() - 18.0).max(40.0);
        let size = size * (room / size.x).min(1.0);
        let frame = Frame::new()
            .fill(t.card)
            .stroke(Stroke::new(1.0, t.line))
            .corner_radius(theme::RADIUS_CONTROL);
        frame.inner_margin(Margin::same(8)).show(ui, |ui| {
            let response = ui.image((texture.id(), size));
            widgets::say(
                &response,
                Role::Image,
                format!("content[{}], {words}", self.index),
            );
        });
        widgets::note(ui, &words);
    }
}

pub fn header(block: &Block) -> Header {
    let icon = match block.kind {
        BlockKind::Text => icons::ARTICLE,
        BlockKind::Image => icons::IMAGE,
        BlockKind::Audio => icons::AUDIO,
        BlockKind::Resource => icons::RESOURCE,
        BlockKind::ResourceLink => icons::LINKED,
        BlockKind::Unknown => icons::UNKNOWN,
    };
    let size = block
        .text
        .as_ref()
        .map(|text| text.len())
        .or(block.data_bytes);
    Header {
        title: format!("content[{}]", block.index),
        details: if block.type_name.is_empty() {
            "no type".into()
        } else {
            block.type_name.clone()
        } + &size.map_or_else(String::new, |size| {
            format!(" · {}", widgets::bytes(size as u64))
        }),
        audience: if block.audience.is_empty() {
            String::new()
        } else {
            format!("for {}", block.audience.join(", "))
        },
        priority: block
            .priority
            .map_or_else(String::new, |priority| format!("priority {priority}")),
        icon,
    }
}

pub fn header_ui(ui: &mut Ui, header: &Header, top: Pos2, width: f32) -> f32 {
    let t = theme::of(ui);
    let rect = Rect::from_min_size(
        pos2(top.x + SIDE, top.y + 4.0),
        vec2(width - 2.0 * SIDE, 26.0),
    );
    widgets::boxed(ui, rect, theme::RADIUS_CONTROL, t.card, t.line);
    let mut child = ui.new_child(
        UiBuilder::new()
            .max_rect(rect.shrink2(vec2(10.0, 0.0)))
            .layout(egui::Layout::left_to_right(egui::Align::Center)),
    );
    child.spacing_mut().item_spacing.x = 8.0;
    child.label(icons::icon(header.icon, 14.0, t.weak));
    widgets::words(
        &mut child,
        &header.title,
        theme::mono_semibold(12.0),
        t.strong,
    );
    widgets::words(&mut child, &header.details, theme::mono(12.0), t.weak);
    for text in [&header.audience, &header.priority] {
        if !text.is_empty() {
            widgets::badge(&mut child, None, text, Tone::Plain, true);
        }
    }
    38.0
}
