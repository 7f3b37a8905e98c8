//! How tokens are hashed: `build.rs` places them by it, and counting finds them.

/// Bits of a slot that say where the token is; the rest are of its hash.
pub const PLACE_BITS: u32 = 21;

/// No token has more bytes.
pub const LONGEST: usize = 128;

/// What a free slot holds. No token is there.
pub const FREE: u32 = u32::MAX;

/// Up to eight bytes, the first one lowest; zeros after the last.
#[inline(always)]
pub fn eight(bytes: &[u8], at: usize, length: usize) -> u64 {
    let length = length.min(8);
    match bytes[at..].first_chunk() {
        Some(whole) => u64::from_le_bytes(*whole) & (u64::MAX >> (64 - 8 * length)),
        None => bytes[at..at + length]
            .iter()
            .rev()
            .fold(0, |eight, byte| eight << 8 | u64::from(*byte)),
    }
}

/// The hash of the bytes from `at` on, of which there is one at least. Of many it takes the first and the last eight.
#[inline(always)]
pub fn hash(bytes: &[u8], at: usize, length: usize) -> u64 {
    let mix = |hash: u64, eight: u64| {
        let product = u128::from(hash ^ eight) * 0x9e37_79b9_7f4a_7c15;
        product as u64 ^ (product >> 64) as u64
    };
    let hash = mix((length as u64) << 56, eight(bytes, at, length));
    if length <= 8 {
        return hash;
    }
    mix(hash, eight(bytes, at + length - 8, 8))
}

/// The slot that a token is looked for in first.
#[inline(always)]
pub fn slot(hash: u64, slots: usize) -> usize {
    (((hash >> 32) * slots as u64) >> 32) as usize
}

/// What a slot holds above the place.
#[inline(always)]
pub fn tag(hash: u64) -> u32 {
    (hash as u32) << PLACE_BITS
}
