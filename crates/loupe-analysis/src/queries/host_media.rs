//! What hosts make of the images and audio of a result: pass them on, write them out as base64, or neither.

use std::collections::HashMap;

use aho_corasick::AhoCorasick;

use loupe_core::capture::{Block, BlockKind};
use loupe_core::format::ParsedCapture;
use loupe_core::host::rules::RuleStep;
use loupe_core::host::{Host, HostView, OmittedPart, Part};

/// Images and audio of a result, in bytes of the decoded data: no tokenizer of text counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MediaBytes {
    /// Passed on to the model.
    pub shown: u64,
    /// Passed on as the base64 text that they came in, which its tokens are counted with.
    pub as_text: u64,
    /// Not passed on, or only as words about them.
    pub dropped: u64,
}

/// What a host's model is given of an image or of audio, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum MediaOutcome {
    Shown,
    /// The base64 that it came in, as text.
    Base64Text,
    /// Words in its place, such as `[Audio saved to <path>]`.
    Placeholder,
    /// An error in its place.
    Error,
    Nothing,
}

impl MediaOutcome {
    pub const ALL: [Self; 5] = [
        Self::Shown,
        Self::Base64Text,
        Self::Placeholder,
        Self::Error,
        Self::Nothing,
    ];

    /// In `--json`.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// How many images and how much audio of a result has each outcome, in the order of [`MediaOutcome::ALL`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MediaCounts {
    pub images: [u64; 5],
    pub audio: [u64; 5],
    /// Those that count among [`super::OtherLosses::blocks`] too.
    pub(crate) dropped_blocks: u64,
}

impl MediaCounts {
    fn add(&mut self, is_image: bool, outcome: MediaOutcome) {
        let counts = if is_image {
            &mut self.images
        } else {
            &mut self.audio
        };
        counts[outcome as usize] += 1;
    }

    pub(crate) fn with_outcome(&self, outcome: MediaOutcome) -> u64 {
        self.images[outcome as usize] + self.audio[outcome as usize]
    }

    /// The worst there is; `None` without images and audio.
    pub fn worst(&self) -> Option<MediaOutcome> {
        MediaOutcome::ALL
            .into_iter()
            .rfind(|outcome| self.with_outcome(*outcome) > 0)
    }

    pub fn total(&self) -> u64 {
        MediaOutcome::ALL
            .into_iter()
            .map(|outcome| self.with_outcome(outcome))
            .sum()
    }

    /// Whether one is not shown as such.
    pub(crate) fn has_loss(&self) -> bool {
        self.worst()
            .is_some_and(|worst| worst != MediaOutcome::Shown)
    }
}

/// One image, or one piece of audio.
struct Medium {
    block: usize,
    is_image: bool,
    bytes: u64,
    /// How its base64 begins, as a position in what [`Media::finder`] looks for.
    begins: Option<usize>,
    kind: BlockKind,
}

impl Medium {
    /// The steps of a host for it.
    fn steps<'h>(&self, host: &'h Host) -> &'h [RuleStep] {
        let rules = &host.block;
        match self.kind {
            BlockKind::Image => &rules.image,
            BlockKind::Audio => &rules.audio,
            _ => rules
                .resource_image
                .as_ref()
                .filter(|_| self.is_image)
                .unwrap_or(&rules.resource_blob),
        }
    }

    /// What the words are that a host gives its model instead.
    fn words_outcome(&self, host: &Host) -> MediaOutcome {
        let mut outcome = MediaOutcome::Nothing;
        for step in self.steps(host) {
            let (RuleStep::Text(template) | RuleStep::First(template)) = step else {
                continue;
            };
            let words = template.source().to_lowercase();
            if words.contains("error") || words.contains("unsupported") {
                return MediaOutcome::Error;
            }
            if !words.is_empty() {
                outcome = MediaOutcome::Placeholder;
            }
        }
        outcome
    }
}

/// The images and audio of a result, and in which texts their base64 stands.
pub(super) struct Media<'s> {
    blocks: Vec<Medium>,
    /// `None` where there are none, and where there are too many to be looked for.
    finder: Option<AhoCorasick>,
    begins: Vec<&'s [u8]>,
    /// What is in the texts that were looked through, by where these are kept.
    known: HashMap<*const u8, Vec<bool>>,
}

impl<'s> Media<'s> {
    /// So much of base64 does not be in a text by chance.
    const TELLING: usize = 64;

    pub(super) fn of(subject: &'s ParsedCapture) -> Self {
        let mut media = Self {
            blocks: Vec::new(),
            finder: None,
            begins: Vec::new(),
            known: HashMap::new(),
        };
        let mut places: HashMap<&[u8], usize> = HashMap::new();
        let is_medium = |block: &&Block| {
            let mime = block.mime_type.as_deref().unwrap_or_default();
            matches!(block.kind, BlockKind::Image | BlockKind::Audio)
                || (block.kind == BlockKind::Resource
                    && (mime.starts_with("image/") || mime.starts_with("audio/")))
        };
        for block in subject.response.blocks.iter().filter(is_medium) {
            let node = subject.response.doc.node(block.node);
            let data = node.and_then(|node| {
                node.get("data")
                    .or_else(|| node.get("resource")?.get("blob"))
            });
            let begins = data.map_or(&b""[..], |data| data.raw()).trim_ascii_start();
            let begins = begins.strip_prefix(b"\"").unwrap_or(begins);
            let begins = &begins[..begins.len().saturating_sub(1).min(Self::TELLING)];
            let place = (!begins.is_empty()).then(|| {
                *places.entry(begins).or_insert_with(|| {
                    media.begins.push(begins);
                    media.begins.len() - 1
                })
            });
            let mime = block.mime_type.as_deref().unwrap_or_default();
            media.blocks.push(Medium {
                block: block.index,
                is_image: block.kind == BlockKind::Image
                    || (block.kind == BlockKind::Resource && mime.starts_with("image/")),
                bytes: block.data_bytes.unwrap_or(0) as u64,
                begins: place,
                kind: block.kind,
            });
        }
        media.finder = AhoCorasick::new(&media.begins)
            .ok()
            .filter(|_| !media.begins.is_empty());
        media
    }

    /// What a host makes of them: in bytes, and how many have which outcome.
    pub(super) fn in_view(&mut self, host: &Host, view: &HostView) -> (MediaBytes, MediaCounts) {
        let Self {
            blocks,
            finder,
            begins,
            known,
        } = self;
        let (mut media, mut counts) = (MediaBytes::default(), MediaCounts::default());
        if !view.is_computable() {
            // A host that answers with an error of its own shows none of them.
            let fails = |medium: &&Medium| medium.steps(host).contains(&RuleStep::Fail);
            blocks
                .iter()
                .filter(fails)
                .for_each(|medium| counts.add(medium.is_image, MediaOutcome::Error));
            media.dropped = blocks.iter().map(|medium| medium.bytes).sum();
            return (media, counts);
        }
        let stands = known.entry(view.text.as_ptr()).or_insert_with(|| {
            let mut stands = vec![false; begins.len()];
            for found in finder
                .iter()
                .flat_map(|finder| finder.find_overlapping_iter(&*view.text))
            {
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
        for medium in blocks.iter() {
            let Medium {
                block,
                is_image,
                bytes,
                begins,
                ..
            } = medium;
            let outcome = if passed.binary_search(block).is_ok() {
                media.shown += *bytes;
                MediaOutcome::Shown
            } else if begins.is_some_and(|begins| stands[begins]) {
                media.as_text += *bytes;
                MediaOutcome::Base64Text
            } else {
                media.dropped += *bytes;
                let is_dropped = view
                    .dropped
                    .iter()
                    .any(|dropped| dropped.what == OmittedPart::Block(medium.block));
                counts.dropped_blocks += u64::from(is_dropped);
                if is_dropped {
                    MediaOutcome::Nothing
                } else {
                    medium.words_outcome(host)
                }
            };
            counts.add(*is_image, outcome);
        }
        (media, counts)
    }
}
