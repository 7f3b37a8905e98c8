//! `check --as badge`: one line as an SVG, for a README.

use super::check::CheckOutcome;
use loupe_core::number::{grouped, number_of};

/// Advance of a character of the badge's font at its size, in pixels, by and large; the text is fitted to it.
const CHAR: f64 = 6.4;
const PAD: f64 = 8.0;

/// What `results` results cost together, and the most that any of them loses: `most` facts in `losing` of `hosts` hosts.
/// Without results what the definitions cost.
pub fn badge(
    outcome: &CheckOutcome,
    results: usize,
    hosts: usize,
    losing: usize,
    most: u64,
) -> String {
    let (label, message) = if results == 0 {
        let tokens: u64 = outcome
            .tools
            .iter()
            .map(|tool| tool.listed.o200k_base)
            .sum();
        ("definitions", format!("{} tok", grouped(tokens)))
    } else {
        let tokens: u64 = outcome
            .results
            .iter()
            .map(|answer| answer.tokens.o200k_base)
            .sum();
        let facts = match (hosts, losing) {
            (0, _) => String::new(),
            (_, 0) => format!(" · 0 facts missing in {}", number_of(hosts as u64, "hosts")),
            _ => format!(
                " · {} missing in {losing} of {}",
                number_of(most, "facts"),
                number_of(hosts as u64, "hosts")
            ),
        };
        (
            if results == 1 { "result" } else { "results" },
            format!("{} tok{facts}", grouped(tokens)),
        )
    };
    let color = if outcome.passed() && losing == 0 {
        "#2e7d4f"
    } else {
        "#9a6b00"
    };
    svg(label, &message, color)
}

/// A label and what is said of it, side by side.
fn svg(label: &str, message: &str, color: &str) -> String {
    let width = |text: &str| (text.chars().count() as f64 * CHAR + 2.0 * PAD).round();
    let (left, right) = (width(label), width(message));
    let (label, message) = (
        quick_xml::escape::escape(label),
        quick_xml::escape::escape(message),
    );
    let all = left + right;
    let (label_x, said_x, label_w, said_w) = (
        left / 2.0,
        left + right / 2.0,
        left - 2.0 * PAD,
        right - 2.0 * PAD,
    );
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{all}" height="20" role="img" aria-label="{label}: {message}">
<title>{label}: {message}</title>
<rect width="{left}" height="20" fill="#444"/><rect x="{left}" width="{right}" height="20" fill="{color}"/>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">
<text x="{label_x}" y="14" textLength="{label_w}">{label}</text><text x="{said_x}" y="14" textLength="{said_w}">{message}</text>
</g>
</svg>
"##
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_says_is_escaped() {
        let svg = svg("a<b", "1 & \"2\"", "#000");
        assert!(
            svg.contains("a&lt;b") && svg.contains("1 &amp; &quot;2&quot;") && !svg.contains("a<b"),
            "{svg}"
        );
    }
}
