//! Data of the benches: records as a server would send them, and the yardstick.

#![allow(dead_code, reason = "each bench is its own crate and uses a part")]

use std::fmt::Write;

/// The yardstick: every byte looked at once.
pub fn plain_pass(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |sum, byte| {
        sum.wrapping_mul(31).wrapping_add(u64::from(*byte))
    })
}

/// `{"items":[…],"totalCount":N}` with ten flat fields a record.
pub fn data(records: usize) -> String {
    let mut out = String::from("{\"items\":[");
    for number in 0..records {
        let comma = if number > 0 { "," } else { "" };
        write!(
            out,
            "{comma}{{\"id\":{},\"companyName\":\"Company {number} Ltd\",\"isActive\":{},\"companyType\":1,\"phone\":\"(555) {:03}-{:04}\",\
             \"address1\":\"{number} Main St\",\"city\":\"Boston\",\"state\":\"MA\",\"postalCode\":\"02108\",\
             \"lastModifiedDate\":\"2025-01-15T14:30:00Z\"}}",
            10_000 + number,
            number % 2 == 0,
            number / 10_000,
            number % 10_000
        )
        .expect("writing to a string");
    }
    write!(out, "],\"totalCount\":{records}}}").expect("writing to a string");
    out
}

/// The same records as headings and tables.
pub fn markdown(records: usize) -> String {
    let mut out =
        format!("## Company Search Results\n\n**Results**: {records} companies found\n\n---\n\n");
    for number in 0..records {
        write!(
            out,
            "### Company {number} Ltd (ID: {})\n\n| Field | Value |\n|-------|-------|\n| **Status** | {} |\n| **Type** | Customer |\n\
             | **Phone** | (555) {:03}-{:04} |\n| **Address** | {number} Main St, Boston, MA 02108 |\n\
             | **Last Modified** | Jan 15, 2025 at 2:30 PM |\n\n---\n\n",
            10_000 + number,
            if number % 2 == 0 { "✅ Active" } else { "❌ Inactive" },
            number / 10_000,
            number % 10_000
        )
        .expect("writing to a string");
    }
    out
}

/// Writes the piece with this number.
pub type Piece = fn(usize) -> String;

/// Pieces one after the other, up to so many bytes.
pub fn repeated(piece: Piece, bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 3_000);
    for at in 0.. {
        text.push_str(&piece(at));
        if text.len() >= bytes {
            break;
        }
    }
    text
}
