//! The bytes of a format, for those who want to see each.

use bytes::Bytes;

use crate::queries::query::{Ctx, Query, Stop, Weigh, format_of};
use loupe_core::format::format_bytes;

/// The exact bytes of a format, by its id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BytesQuery(pub &'static str);

impl Query for BytesQuery {
    type Out = Bytes;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        Ok(format_bytes(format_of(self.0)?, cx.subject()?)?.into())
    }
}

impl Weigh for Bytes {
    fn weight(&self) -> usize {
        self.len()
    }
}
