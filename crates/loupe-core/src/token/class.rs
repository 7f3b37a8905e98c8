//! What splitting tells characters apart by; each has one of these.

pub const LOWER: u8 = 1;
/// Capitals, those of titles included.
pub const UPPER: u8 = 2;
/// Letters that are neither.
pub const LETTER: u8 = 4;
/// What combines with the character before.
pub const MARK: u8 = 8;
pub const NUMBER: u8 = 16;
/// White space but for the next.
pub const BLANK: u8 = 32;
/// CR and LF.
pub const NEWLINE: u8 = 64;
pub const OTHER: u8 = 128;
