//! The digest by which bytes are known on disk.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

/// The SHA-256 of bytes in lower-case hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .fold(String::with_capacity(64), |mut hex, byte| {
            write!(hex, "{byte:02x}").ok();
            hex
        })
}
