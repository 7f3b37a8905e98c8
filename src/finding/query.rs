//! The findings about one answer, for whoever asks for results of queries.

use std::sync::Arc;

use super::{CheckedAnswer, CheckedServer, Checker, Finding, RuleSettings};
use crate::analysis::{Ctx, Query, Stop};

/// What the rules find in an answer and in its tool's definition, the gravest first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FindingsQuery(pub Arc<RuleSettings>);

impl Query for FindingsQuery {
    type Out = Arc<[Finding]>;
    const IS_COUNT: bool = true;

    fn is_about_hosts(&self) -> bool {
        true
    }

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        let subject = cx.subject()?;
        let tool = Arc::new(subject.capture.tool.clone());
        let tools = if tool.raw.is_empty() { Vec::new() } else { vec![tool] };
        let server = CheckedServer { server: None, tools: &tools, ..CheckedServer::default() };
        let checker = Checker { settings: &self.0, hosts: cx.hosts };
        let mut found = checker.answer(&CheckedAnswer::of(subject, server, cx.hosts));
        cx.check()?;
        found.extend(checker.server(&server));
        found.sort_by_key(|finding| finding.severity);
        Ok(found.into())
    }
}
