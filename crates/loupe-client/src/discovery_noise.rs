//! What an older SDK prints when it does not know `server/discover`: a hundred lines of a validator. They stay in the log
//! and the transcript; they are not shown as they come.

/// Sorts lines of stderr while a connection is made.
#[derive(Debug, Default)]
pub(super) struct DiscoveryNoise {
    is_within: bool,
    /// Lines that were left out.
    pub lines: u64,
}

impl DiscoveryNoise {
    /// Whether this line belongs to the complaint about `server/discover`.
    pub(super) fn takes(&mut self, line: &str) -> bool {
        let begins = line.contains("Failed to validate request")
            || line.contains("server/discover")
            || line.contains("validation errors for ClientRequest")
            || line.contains("validation error for ClientRequest");
        self.is_within = begins || (self.is_within && goes_on(line));
        self.lines += u64::from(self.is_within);
        self.is_within
    }
}

/// Indented lines, and the paths of fields: `InitializeRequest.params.protocolVersion`.
fn goes_on(line: &str) -> bool {
    let is_path = line.contains('.')
        && line.chars().all(|letter| {
            letter.is_alphanumeric() || matches!(letter, '.' | '_' | '`' | '[' | ']' | ',')
        });
    line.starts_with([' ', '\t']) && !names_level(line) || is_path || line.trim().is_empty()
}

/// An entry of a log that leaves the time out where it is that of the entry before.
fn names_level(line: &str) -> bool {
    ["INFO", "WARNING", "ERROR", "DEBUG"]
        .iter()
        .any(|level| line.trim_start().starts_with(level))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_complaint_of_an_older_sdk_goes_and_all_else_stays() {
        let mut noise = DiscoveryNoise::default();
        let lines = [
            ("warnings.warn(", false),
            (
                "[11/29/26 19:40:46] WARNING  Failed to validate request: 24       session.py:363",
                true,
            ),
            (
                "                             validation errors for ClientRequest",
                true,
            ),
            ("                               [type=literal_error,", true),
            (
                "                    INFO     Processing request of type            server.py:674",
                false,
            ),
            ("                             ListToolsRequest", false),
            (
                "Failed to validate request: 24 validation errors for ClientRequest",
                true,
            ),
            ("InitializeRequest.params.protocolVersion", true),
            ("  Field required [type=missing, input_value={}]", true),
            ("Server started", false),
            ("  on stdio", false),
        ];
        for (line, is_taken) in lines {
            assert_eq!(noise.takes(line), is_taken, "{line}");
        }
        assert_eq!(noise.lines, 6);
    }
}
