//! What it would cost to send data that was read from a text as `structuredContent` next to that text.

use crate::queries::placements;
use crate::queries::query::{Ctx, Query, Stop, Weigh};
use loupe_core::token::Encoding;

/// The least and the most that hosts of one kind would be sent, and how many hosts there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostSpan {
    pub hosts: usize,
    pub least: i64,
    pub most: i64,
}

impl HostSpan {
    fn new(values: &[i64]) -> Option<Self> {
        Some(Self {
            hosts: values.len(),
            least: *values.iter().min()?,
            most: *values.iter().max()?,
        })
    }
}

/// How the hosts would take it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StructuredPrice {
    /// Tokens more, in hosts that show their model both.
    pub both: Option<HostSpan>,
    /// Tokens in all, in hosts that show their model the data alone.
    pub alone: Option<HostSpan>,
    /// Hosts that go on showing the text alone.
    pub unchanged: usize,
}

/// The price in tokens of an encoding; `None` where the data was not read from a text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StructuredPriceQuery(pub Encoding);

impl Query for StructuredPriceQuery {
    type Out = Option<StructuredPrice>;
    const IS_COUNT: bool = true;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        let subject = cx.subject()?;
        if subject
            .data
            .as_ref()
            .is_none_or(|data| data.is_structured())
        {
            return Ok(None);
        }
        let [text, alone, both] = placements::as_structured(subject, cx.hosts, cx.cancel)?;
        let (mut more, mut whole, mut unchanged) = (Vec::new(), Vec::new(), 0);
        for ((text, alone), both) in text.iter().zip(&alone).zip(&both) {
            let tokens = |cell: &placements::PlacementCell| {
                cell.tokens.map(|tokens| tokens.get(self.0) as i64)
            };
            let (Some(now), Some(then)) = (tokens(text), tokens(both)) else {
                continue;
            };
            match tokens(alone) {
                _ if now == then => unchanged += 1,
                Some(alone) if alone == then => whole.push(then),
                _ => more.push(then - now),
            }
        }
        Ok(Some(StructuredPrice {
            both: HostSpan::new(&more),
            alone: HostSpan::new(&whole),
            unchanged,
        }))
    }
}

impl Weigh for Option<StructuredPrice> {}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use loupe_core::cancel::Cancel;
    use loupe_core::format::ParsedCapture;
    use loupe_core::host::Hosts;

    #[test]
    fn hosts_that_send_both_pay_for_both() {
        let subject = Arc::new(ParsedCapture::from_result(
            r#"{"content":[{"type":"text","text":"name: Ada\nage: 36\ncity: London"}]}"#,
        ));
        let (hosts, cancel, subjects) = (Hosts::built_in(), Cancel::new(), [subject]);
        let cx = Ctx::new(&subjects, &hosts, &cancel);
        let price = cx
            .get(&StructuredPriceQuery(Encoding::O200kBase))
            .unwrap()
            .unwrap()
            .unwrap();
        let (both, alone) = (price.both.unwrap(), price.alone.unwrap());
        assert!(both.least > 0 && alone.least > 0, "{price:?}");
        assert!(price.unchanged > 0, "{price:?}");
    }
}
