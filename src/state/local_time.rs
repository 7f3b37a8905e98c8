//! The time of day where the window is.
//!
//! The zone belongs to the system and changes with the date, so whoever owns the state says how to turn a time into
//! the local one; unless it does (tests, pictures), times are UTC.

use time::OffsetDateTime;

/// How a time is shown here.
#[derive(Clone, Copy, Debug)]
pub struct LocalTime(pub fn(OffsetDateTime) -> OffsetDateTime);

impl Default for LocalTime {
    fn default() -> Self {
        Self(|at| at)
    }
}

impl LocalTime {
    /// Hours, minutes and seconds, such as `09:41:07`.
    pub fn clock(self, at: OffsetDateTime) -> String {
        let at = (self.0)(at);
        format!("{:02}:{:02}:{:02}", at.hour(), at.minute(), at.second())
    }
}

#[cfg(test)]
mod tests {
    use time::macros::{datetime, offset};

    use super::LocalTime;

    #[test]
    fn a_time_is_shown_where_the_window_is() {
        let at = datetime!(2026-11-22 23:59:58 UTC);
        assert_eq!(LocalTime::default().clock(at), "23:59:58");
        assert_eq!(
            LocalTime(|at| at.to_offset(offset!(+5:30))).clock(at),
            "05:29:58"
        );
    }
}
