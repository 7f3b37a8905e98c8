//! The Phosphor glyphs the window uses, by meaning. Every one is in both fonts: regular and fill.
//!
//! They live in font families of their own ([`theme::icon_font`]), never in the families of text: private-use characters
//! in a server's answer must not look like ours. The subset in `assets/fonts` holds exactly these.

use egui::{Color32, RichText};

use super::theme;

/// A glyph with a colour, in the regular style.
pub fn icon(glyph: &str, size: f32, color: Color32) -> RichText {
    RichText::new(glyph)
        .font(theme::icon_font(size))
        .color(color)
}

/// A glyph with a colour, in the fill style.
pub fn icon_fill(glyph: &str, size: f32, color: Color32) -> RichText {
    RichText::new(glyph)
        .font(theme::icon_fill_font(size))
        .color(color)
}

pub const CALL: &str = "\u{e3d0}"; // play
pub const COMPARE: &str = "\u{e546}"; // columns
pub const REFRESH: &str = "\u{e094}"; // arrows-clockwise
pub const COST: &str = "\u{e750}"; // scales
pub const HOSTS: &str = "\u{e762}"; // robot
pub const DIFF: &str = "\u{e27c}"; // git-diff
pub const SWAP: &str = "\u{e83c}"; // swap
pub const EXPORT: &str = "\u{eaf0}"; // export
pub const COPY: &str = "\u{e1ca}"; // copy
pub const MAXIMISE: &str = "\u{e0a6}"; // arrows-out-simple
pub const RESTORE: &str = "\u{e09e}"; // arrows-in-simple
pub const CLOSE: &str = "\u{e4f6}"; // x
pub const LINKED: &str = "\u{e2e2}"; // link
pub const CUT: &str = "\u{eae0}"; // scissors
pub const BEST: &str = "\u{e67e}"; // trophy
pub const BASELINE: &str = "\u{e3e2}"; // push-pin
pub const TOKENIZER: &str = "\u{e2a2}"; // hash
pub const SEARCH: &str = "\u{e30c}"; // magnifying-glass
pub const SUN: &str = "\u{e472}"; // sun
pub const MOON: &str = "\u{e330}"; // moon
pub const SYSTEM: &str = "\u{e32e}"; // monitor
pub const STDIO: &str = "\u{eae8}"; // terminal-window
pub const HTTP: &str = "\u{e288}"; // globe
pub const IMPORT: &str = "\u{e914}"; // file-code
pub const SECRET: &str = "\u{e308}"; // lock-simple
pub const CONSENT: &str = "\u{e412}"; // shield-warning
pub const TOOLS: &str = "\u{e5d4}"; // wrench
pub const PROMPTS: &str = "\u{e17a}"; // chat-text
pub const HISTORY: &str = "\u{e1a0}"; // clock-counter-clockwise
pub const SIDEBAR: &str = "\u{ec24}"; // sidebar-simple
pub const MESSAGES: &str = "\u{e0a0}"; // arrows-left-right
pub const SETTINGS: &str = "\u{e270}"; // gear
pub const SHORTCUTS: &str = "\u{e2d8}"; // keyboard
pub const READ_ONLY: &str = "\u{e220}"; // eye
pub const MISSING: &str = "\u{e224}"; // eye-slash
pub const WRITES: &str = "\u{e3b4}"; // pencil-simple
pub const DESTRUCTIVE: &str = "\u{e7fc}"; // warning-diamond
pub const DIFFERS: &str = "\u{eda6}"; // not-equals
pub const CHECK: &str = "\u{e182}"; // check
pub const CHECK_CIRCLE: &str = "\u{e184}"; // check-circle
pub const ERROR: &str = "\u{e4f8}"; // x-circle
pub const WARNING: &str = "\u{e4e0}"; // warning
pub const INFO: &str = "\u{e2ce}"; // info
pub const DOWN: &str = "\u{e136}"; // caret-down
pub const UP: &str = "\u{e13c}"; // caret-up
pub const RIGHT: &str = "\u{e13a}"; // caret-right
pub const LEFT: &str = "\u{e138}"; // caret-left
pub const UP_DOWN: &str = "\u{e140}"; // caret-up-down
pub const OBSERVED: &str = "\u{e606}"; // seal-check
pub const CODE: &str = "\u{e1bc}"; // code
pub const DOCUMENTED: &str = "\u{e0e6}"; // book-open
pub const INFERRED: &str = "\u{e79e}"; // flask
pub const ADD: &str = "\u{e3d4}"; // plus
pub const REMOVE: &str = "\u{e32a}"; // minus
pub const ARROW_RIGHT: &str = "\u{e06c}"; // arrow-right
pub const ARROW_LEFT: &str = "\u{e058}"; // arrow-left
pub const ARROW_UP: &str = "\u{e08e}"; // arrow-up
pub const ARROW_DOWN: &str = "\u{e03e}"; // arrow-down
pub const OPEN_FILE: &str = "\u{e256}"; // folder-open
pub const PLUG: &str = "\u{e946}"; // plug
pub const DISCONNECT: &str = "\u{eb56}"; // plugs
pub const STOP: &str = "\u{e46e}"; // stop-circle
pub const MORE: &str = "\u{e1fe}"; // dots-three
pub const TRASH: &str = "\u{e4a6}"; // trash
pub const UNKNOWN: &str = "\u{e3e8}"; // question
pub const CIRCLE: &str = "\u{e18a}"; // circle
pub const ARGUMENTS: &str = "\u{e434}"; // sliders-horizontal
pub const FILTER: &str = "\u{e266}"; // funnel
pub const IMAGE: &str = "\u{e2cc}"; // image-square
pub const AUDIO: &str = "\u{e44a}"; // speaker-high
pub const RESOURCE: &str = "\u{e1da}"; // cube
pub const OPEN_LINK: &str = "\u{e5de}"; // arrow-square-out
pub const UNDO: &str = "\u{e08a}"; // arrow-u-up-left
pub const LIST: &str = "\u{e2f2}"; // list-bullets
pub const ROWS: &str = "\u{e5a2}"; // rows
pub const SPARKLE: &str = "\u{e6a2}"; // sparkle
pub const HOSTILE: &str = "\u{e916}"; // skull
pub const BUG: &str = "\u{e5f4}"; // bug
pub const KEY: &str = "\u{e2d6}"; // key
pub const TIMEOUT: &str = "\u{e2b8}"; // hourglass-medium
pub const CANCELLED: &str = "\u{e3de}"; // prohibit
pub const PAUSE: &str = "\u{e39e}"; // pause
pub const FILE: &str = "\u{e23a}"; // file-text
pub const JSON: &str = "\u{e860}"; // brackets-curly
pub const ARTICLE: &str = "\u{e0a8}"; // article
