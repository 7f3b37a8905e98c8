//! What an image costs, by the rules that two vendors publish. No image is counted exactly: a host may scale it first.

/// Tokens of an image of this size in Claude and GPT-4o, the least and the most of their rules.
///
/// - Claude: a token for each patch of 28 × 28 pixels, after scaling to the model's limits: a long edge of 1,568 pixels and
///   1,568 tokens, or 2,576 pixels and 4,784 tokens (<https://platform.claude.com/docs/en/build-with-claude/vision>).
/// - GPT-4o: 85 at low detail; at high detail 85 and 170 for each tile of 512, after scaling to fit 2,048 and then a
///   short edge of 768 (<https://platform.openai.com/docs/guides/images-vision>).
pub fn image_tokens(width: u32, height: u32) -> (u64, u64) {
    let rules = [
        claude(width, height, STANDARD),
        claude(width, height, HIGH_RESOLUTION),
        GPT_4O_LOW,
        gpt_4o_high(width, height),
    ];
    let least = rules.into_iter().min().unwrap_or(GPT_4O_LOW);
    (least, rules.into_iter().max().unwrap_or(GPT_4O_LOW))
}

const GPT_4O_LOW: u64 = 85;

/// The longest edge in pixels and the most tokens that a model of Claude takes.
type Limits = (f64, u64);
const STANDARD: Limits = (1_568.0, 1_568);
const HIGH_RESOLUTION: Limits = (2_576.0, 4_784);

fn claude(width: u32, height: u32, (edge, most): Limits) -> u64 {
    let (width, height) = scaled((width, height), edge / f64::from(width.max(height).max(1)));
    let patches = (width / 28.0).ceil() * (height / 28.0).ceil();
    // What is too large is scaled to just below the limit.
    (patches as u64).min(most)
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
        assert_eq!(claude(1_000, 1_000, STANDARD), 36 * 36);
        assert_eq!(claude(4_000, 3_000, STANDARD), 1_568);
        assert_eq!(claude(4_000, 3_000, HIGH_RESOLUTION), 4_784);
        // The examples of the page.
        assert_eq!(gpt_4o_high(1_024, 1_024), 765);
        assert_eq!(gpt_4o_high(2_048, 4_096), 1_105);
        assert_eq!(image_tokens(1_200, 630), (85, 1_105));
        assert_eq!(image_tokens(4_000, 3_000), (85, 4_784));
        // Claude counts a small one as less than the least of GPT-4o.
        assert_eq!(image_tokens(16, 16), (1, 255));
        assert_eq!(image_tokens(0, 0), (0, 85));
    }
}
