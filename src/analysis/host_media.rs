//! What hosts make of the images and audio of an answer: pass them on, write them out as base64, or neither.

use std::collections::HashMap;

use aho_corasick::AhoCorasick;

use crate::capture::{Block, BlockKind};
use crate::format::ParsedCapture;
use crate::host::{HostView, Part};

/// Images and audio of an answer, in bytes of the decoded data: no tokenizer of text counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MediaBytes {
    /// Passed on to the model.
    pub shown: u64,
    /// Passed on as the base64 text that they came in, which its tokens are counted with.
    pub as_text: u64,
    /// Not passed on, or only as words about them.
    pub dropped: u64,
}

/// The images and audio of an answer, and in which texts their base64 stands.
pub(super) struct Media<'s> {
    /// For each its block, its bytes and how its base64 begins, as a position in what `finder` looks for.
    blocks: Vec<(usize, u64, Option<usize>)>,
    /// `None` where there are none, and where there are too many to be looked for.
    finder: Option<AhoCorasick>,
    begins: Vec<&'s [u8]>,
    /// What stands in the texts that were looked through, by where these are kept.
    known: HashMap<*const u8, Vec<bool>>,
}

impl<'s> Media<'s> {
    /// So much of base64 does not stand in a text by chance.
    const TELLING: usize = 64;

    pub(super) fn of(subject: &'s ParsedCapture) -> Self {
        let mut media = Self { blocks: Vec::new(), finder: None, begins: Vec::new(), known: HashMap::new() };
        let mut places: HashMap<&[u8], usize> = HashMap::new();
        let is_medium = |block: &&Block| {
            let mime = block.mime_type.as_deref().unwrap_or_default();
            matches!(block.kind, BlockKind::Image | BlockKind::Audio)
                || (block.kind == BlockKind::Resource && (mime.starts_with("image/") || mime.starts_with("audio/")))
        };
        for block in subject.reading.blocks.iter().filter(is_medium) {
            let node = subject.reading.doc.node(block.node);
            let data = node.and_then(|node| node.get("data").or_else(|| node.get("resource")?.get("blob")));
            let begins = data.map_or(&b""[..], |data| data.raw()).trim_ascii_start();
            let begins = begins.strip_prefix(b"\"").unwrap_or(begins);
            let begins = &begins[..begins.len().saturating_sub(1).min(Self::TELLING)];
            let place = (!begins.is_empty()).then(|| {
                *places.entry(begins).or_insert_with(|| {
                    media.begins.push(begins);
                    media.begins.len() - 1
                })
            });
            media.blocks.push((block.index, block.data_bytes.unwrap_or(0) as u64, place));
        }
        media.finder = AhoCorasick::new(&media.begins).ok().filter(|_| !media.begins.is_empty());
        media
    }

    /// What a host makes of them.
    pub(super) fn in_view(&mut self, view: &HostView) -> MediaBytes {
        let Self { blocks, finder, begins, known } = self;
        let mut media = MediaBytes::default();
        let stands = known.entry(view.text.as_ptr()).or_insert_with(|| {
            let mut stands = vec![false; begins.len()];
            for found in finder.iter().flat_map(|finder| finder.find_overlapping_iter(&*view.text)) {
                stands[found.pattern().as_usize()] = true;
            }
            stands
        });
        // Both are in the order of the blocks, but for what a host moves to the front.
        let mut passed: Vec<usize> = view
            .parts
            .iter()
            .filter_map(|part| match part {
                Part::Media { block, .. } => Some(*block),
                Part::Text(_) => None,
            })
            .collect();
        passed.sort_unstable();
        for (block, bytes, begins) in blocks {
            if passed.binary_search(block).is_ok() {
                media.shown += *bytes;
            } else if begins.is_some_and(|begins| stands[begins]) {
                media.as_text += *bytes;
            } else {
                media.dropped += *bytes;
            }
        }
        media
    }
}
