//! What is worked out from captures and definitions. Pure, cancellable, never slower than the query needs.
//!
//! The window asks through the engine and caches; the command line runs a [`Query`] itself: one core for both.

pub mod arguments;
mod bill;
mod columns;
pub mod comparison;
mod data_table;
mod diff_texts;
pub mod diff_view;
pub mod difference;
mod exact_bytes;
mod extra_text;
mod failure;
mod find;
mod fixed_result;
mod host_cuts;
mod host_lines;
mod host_media;
mod host_report;
mod hosts;
pub mod invisible_chars;
mod links;
mod losses;
mod money;
mod needed;
mod other_chars;
mod placements;
mod query;
mod readers;
mod rendered;
mod repair;
mod saving;
pub mod schema;
mod schema_cost;
mod server_cost;
mod structured_price;
mod text;
mod token_bounds;
mod token_counts;
mod token_map;
mod transcript;
mod tree;
mod wrap;

use std::sync::Arc;

pub use bill::{
    CallCost, FormatTotal, HostTotal, LargeResult, SessionBill, SessionCalls, UncalledTool, host_of,
};
pub use columns::Columns;
pub use data_table::{
    DataTable, DataTableQuery, TableColumn, TableOrderQuery, TableText, TableTokensQuery,
    is_list_of_objects,
};
pub use diff_texts::TextOf;
pub use diff_view::{DiffQuery, DiffRow, DiffView};
pub use exact_bytes::BytesQuery;
pub use extra_text::{ExtraTextList, ExtraTextQuery, ExtraTextRow};
pub use failure::failure;
pub use find::{FIND_LIMIT, FindDataQuery, FindHostQuery, FindQuery, Search, SearchKind};
pub use fixed_result::{FixedResult, Parts, WithFix};
pub use host_cuts::{HostCuts, HostCutsQuery};
pub(crate) use host_lines::HostPlaces;
pub use host_lines::{HostLine, HostMark, HostRemoved, HostRemovedQuery, HostRows, HostRowsQuery};
pub use host_media::MediaBytes;
pub(crate) use host_media::MediaOutcome;
pub use host_report::LostField;
pub use hosts::{
    HostLane, HostOutcome, HostRow, HostShares, HostText, HostTextQuery, HostsQuery, HostsReport,
    OtherLosses, ReportDetail, evidence_text, limit_text,
};
pub use links::Links;
pub use losses::{DefinitionsCost, HostLosses, LossOutcome, LossesQuery, LossesReport, ResultLoss};
pub use money::{Cost, Model, Prices};
pub(crate) use needed::needed_fields;
pub use needed::{NeededFields, NeededQuery, fields};
pub use other_chars::{CharCounts, OtherCharsQuery};
pub use placements::{
    PlacementCell, PlacementKind, PlacementRow, Placements, PlacementsQuery, SentAsTextQuery,
};
pub use query::{
    AnyQuery, Ctx, Definitions, Memo, ParsedCaptureQuery, Pin, Query, QueryInput, QueryKey,
    QueryResult, Stop, Target, Weigh,
};
pub use readers::{PatternMatches, PatternQuery, ReaderShare, ReaderShares, ReadersQuery};
pub use rendered::{Card, Cell, MdBlock, MdKind, RenderedQuery, RenderedView, Table};
pub use repair::{AddedMember, Repair, RepairQuery};
pub use saving::{Reason, Saving, SavingQuery, SavingStep};
pub use server_cost::{
    Cut, DefinitionPart, ServerCost, ServerCostQuery, ToolCost, ToolTokensQuery,
};
pub use structured_price::{HostSpan, StructuredPrice, StructuredPriceQuery};
pub use text::{DisplayLine, TextQuery, TextView};
pub use token_bounds::TokenStartsQuery;
pub use token_counts::{
    CharactersQuery, CountQuery, HostCountQuery, PartQuery, RowCount, RowQuery, count_row,
    count_rows, ratio_of,
};
pub use token_map::{Shares, TokenMap, TokenMapQuery};
pub use transcript::{
    Confirmed, GivenCall, GivenPart, HostRuleChange, TextPair, TranscriptCall, TranscriptInput,
    TranscriptOutcome, TranscriptReport, compare_transcript,
};
pub use tree::{Mark, TreeQuery, TreeTokens, TreeTokensQuery, TreeView};
pub use wrap::{TextRow, TextRowsQuery};

use loupe_core::capture::Capture;
use loupe_core::format::ParsedCapture;
use loupe_core::problem::{Problem, ProblemKind};

/// The whole text of a format, to be passed on.
///
/// # Errors
/// Why there is no such text.
pub fn text_of(subject: &ParsedCapture, id: &str) -> Result<String, Problem> {
    let bytes = loupe_core::format::format_bytes(query::format_of(id)?, subject)?;
    String::from_utf8(bytes).map_err(|_| {
        Problem::new(
            ProblemKind::Malformed,
            "the text is not valid UTF-8, so it cannot be passed on unchanged",
        )
    })
}

/// A capture made ready for queries: parses once, off the UI thread.
pub fn subject(capture: Arc<Capture>) -> Arc<ParsedCapture> {
    Arc::new(ParsedCapture::new(capture))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use bytes::Bytes;
    use loupe_core::cancel::Cancel;
    use loupe_core::capture::{CaptureId, Server, Tool};
    use loupe_core::host::Hosts;
    use loupe_core::token::Encoding;

    /// A result with this `result`.
    pub(crate) fn subject_of(result: &str) -> ParsedCapture {
        ParsedCapture::new(Arc::new(Capture {
            tool: Tool::unlisted("t"),
            arguments: Bytes::from_static(b"{}"),
            response: Some(Bytes::from(format!(
                r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#
            ))),
            ..Capture::empty(CaptureId("1".into()), Server::default())
        }))
    }

    #[test]
    fn the_token_map_is_the_row_json() {
        let subject = Arc::new(subject_of(r#"{"structuredContent":[{"a":1},{"a":22}]}"#));
        let (hosts, cancel) = (Hosts::built_in(), Cancel::new());
        let subjects = [subject];
        let cx = Ctx::new(&subjects, &hosts, &cancel);
        let row = cx.get(&RowQuery("json")).unwrap().unwrap();
        let map = cx
            .get(&TokenMapQuery(Encoding::Cl100kBase))
            .unwrap()
            .unwrap()
            .unwrap();
        let saving = SavingQuery {
            from: "json-pretty",
            to: "json",
            encoding: Encoding::Cl100kBase,
        };
        let saving = cx.get(&saving).unwrap().unwrap().unwrap();
        assert_eq!(map.total.total(), row.tokens.cl100k_base);
        assert_eq!(saving.to, row.tokens.cl100k_base);
    }
}
