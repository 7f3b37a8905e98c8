//! What an image costs, by the rules that vendors publish. No image is counted exactly: a host may scale it first.

/// Tokens of an image of this size, the least and the most of the rules known.
///
/// - Claude: width × height / 750, after scaling to a long edge of 1,568 and at most 1,600 tokens
///   (<https://docs.claude.com/en/docs/build-with-claude/vision>).
/// - GPT-4o: 85 at low detail; at high detail 85 and 170 for each tile of 512, after scaling to fit 2,048 and then a
///   short edge of 768 (<https://platform.openai.com/docs/guides/images-vision>).
pub fn image_tokens(width: u32, height: u32) -> (u64, u64) {
    let rules = [
        claude(width, height),
        GPT_4O_LOW,
        gpt_4o_high(width, height),
    ];
    let least = rules.into_iter().min().unwrap_or(GPT_4O_LOW);
    (least, rules.into_iter().max().unwrap_or(GPT_4O_LOW))
}

const GPT_4O_LOW: u64 = 85;

fn claude(width: u32, height: u32) -> u64 {
    let (width, height) = scaled(
        (width, height),
        1_568.0 / f64::from(width.max(height).max(1)),
    );
    ((width * height / 750.0).ceil() as u64).min(1_600)
}

fn gpt_4o_high(width: u32, height: u32) -> u64 {
    let (width, height) = scaled(
        (width, height),
        2_048.0 / f64::from(width.max(height).max(1)),
    );
    let short = (768.0 / width.min(height).max(1.0)).min(1.0);
    let tiles = (width * short / 512.0).ceil() * (height * short / 512.0).ceil();
    GPT_4O_LOW + 170 * tiles as u64
}

/// Made smaller by this factor, never larger.
fn scaled((width, height): (u32, u32), factor: f64) -> (f64, f64) {
    let factor = factor.min(1.0);
    (f64::from(width) * factor, f64::from(height) * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_cost_what_the_published_rules_say() {
        // The examples of the two pages.
        assert_eq!(claude(200, 200), 54);
        assert_eq!(claude(1_000, 1_000), 1_334);
        assert_eq!(gpt_4o_high(1_024, 1_024), 765);
        assert_eq!(gpt_4o_high(2_048, 4_096), 1_105);
        assert_eq!(image_tokens(1_200, 630), (85, 1_105));
        // Claude counts a small one as less than the least of GPT-4o.
        assert_eq!(image_tokens(16, 16), (1, 255));
        assert_eq!(claude(8_000, 8_000), 1_600);
        assert_eq!(image_tokens(0, 0), (0, 85));
    }
}
