//! Whether a text holds what somebody typed, in any case. Ten thousand names are looked through in each frame, so none is
//! copied for it.

/// `typed` is in small letters.
pub fn holds(text: &str, typed: &str) -> bool {
    if !text.is_ascii() || !typed.is_ascii() {
        return text.to_lowercase().contains(typed);
    }
    let (text, typed) = (text.as_bytes(), typed.as_bytes());
    let Some(first) = typed.first() else {
        return true;
    };
    let is_there =
        |window: &[u8]| window[0].eq_ignore_ascii_case(first) && window.eq_ignore_ascii_case(typed);
    text.windows(typed.len()).any(is_there)
}

/// Whether it begins so; `typed` is in small letters.
pub fn begins(text: &str, typed: &str) -> bool {
    if !text.is_ascii() || !typed.is_ascii() {
        return text.to_lowercase().starts_with(typed);
    }
    text.get(..typed.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(typed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_makes_no_difference_in_any_script() {
        for (text, typed, is_there, is_first) in [
            ("Search_User", "search", true, true),
            ("dual_Search", "search", true, false),
            ("sear", "search", false, false),
            ("", "", true, true),
            ("any", "", true, true),
            ("Größe ÄNDERN", "ändern", true, false),
            ("ÄNDERN", "änd", true, true),
            ("plain", "ä", false, false),
        ] {
            assert_eq!(
                (holds(text, typed), begins(text, typed)),
                (is_there, is_first),
                "{text} {typed}"
            );
        }
    }
}
