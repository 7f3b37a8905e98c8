//! What differs between two values or two texts. Pure, without recursion, and bounded: what is too much to keep is
//! counted.
//!
//! [`tree`] compares two JSON values by path, [`lines`] two texts by line and word, [`key`] finds the field that tells
//! the records of a list apart, [`digest`] finds equal values among many, [`pattern`] names a place in every record at once.

pub mod key;
pub mod lines;
pub mod pattern;
mod same;
pub mod tree;

pub use same::digest;

#[cfg(test)]
mod tests;
