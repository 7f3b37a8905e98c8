//! JSON as clients write it: comments and trailing commas become spaces, so that places in error messages stay right.

/// The text without comments and trailing commas, of the same length in bytes.
pub fn strip(text: &str) -> String {
    let mut bytes = text.trim_start_matches('\u{feff}').as_bytes().to_vec();
    let mut at = 0;
    // Where a comma stands that nothing but blanks and comments has followed yet.
    let mut comma = None;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                comma = None;
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                while at < bytes.len() && bytes[at] != b'\n' {
                    bytes[at] = b' ';
                    at += 1;
                }
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                let end = bytes[at + 2..]
                    .windows(2)
                    .position(|pair| pair == b"*/")
                    .map_or(bytes.len(), |end| at + end + 4);
                bytes[at..end]
                    .iter_mut()
                    .filter(|byte| **byte != b'\n')
                    .for_each(|byte| *byte = b' ');
                at = end;
                continue;
            }
            b',' => comma = Some(at),
            b'}' | b']' => {
                if let Some(comma) = comma.take() {
                    bytes[comma] = b' ';
                }
            }
            byte if byte.is_ascii_whitespace() => {}
            _ => comma = None,
        }
        at += 1;
    }
    // Only whole ASCII characters and whole comments were replaced.
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::strip;

    #[test]
    fn comments_and_trailing_commas_go() {
        let cases = [
            ("{\"a\":1,}", "{\"a\":1 }"),
            ("[1, // one\n 2, /* é */ ]", "[1,       \n 2           ]"),
            (
                r#"{"a//b":"c/*d*/,}","e":"\"//"}"#,
                r#"{"a//b":"c/*d*/,}","e":"\"//"}"#,
            ),
            ("{} // end", "{}       "),
            ("{} /* open", "{}        "),
            ("\u{feff}{}", "{}"),
            ("[1,,]", "[1, ]"),
            ("\"open \\", "\"open \\"),
        ];
        for (text, expected) in cases {
            assert_eq!(
                strip(text).replace("  ", " "),
                expected.replace("  ", " "),
                "{text}"
            );
        }
    }
}
