//! Typed queries over captures or over a server's definitions: one type each, beside what it answers with.
//!
//! The window asks through the engine, which works off the UI thread and caches; the command line runs a query itself.

use std::any::Any;
use std::collections::{BTreeSet, VecDeque};
use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::cancel::{Cancel, Cancelled};
use crate::capture::{Capture, CaptureId, Server, Tool};
use crate::format::{self, Format, ParsedCapture};
use crate::host::{Host, HostId, Hosts};
use crate::problem::{Problem, ProblemKind};

/// A query: what it is about, and how its result is worked out. Pure. The context looks for cancellation at its own doors, a query
/// of many parts between them ([`Ctx::check`]), and nothing below.
pub trait Query: Clone + Debug + Eq + Hash + Send + Sync + 'static {
    /// Cheap to clone.
    type Out: Weigh + Clone + Debug + Send + Sync + 'static;
    /// Whether it counts, format by format or host by host: what a pane shows takes less time and comes first.
    const IS_COUNT: bool = false;
    /// Whether its result belongs to a width, a search or a selection, and soon makes room for others of its kind.
    const IS_PASSING: bool = false;
    /// After this long a good result is better than the best one.
    const WITHIN: Option<Duration> = None;

    /// Whether the result depends on which hosts are known.
    fn is_about_hosts(&self) -> bool {
        false
    }

    /// # Errors
    /// [`Stop`]: cancelled, or a problem to show where the result would stand.
    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop>;
}

/// About how many bytes a result holds, for the budget of the cache.
pub trait Weigh {
    fn weight(&self) -> usize {
        64
    }
}

impl<T: Weigh + ?Sized> Weigh for Arc<T> {
    fn weight(&self) -> usize {
        (**self).weight()
    }
}

impl<T: Weigh> Weigh for Option<T> {
    fn weight(&self) -> usize {
        self.as_ref().map_or(64, Weigh::weight)
    }
}

impl<T> Weigh for [T] {
    fn weight(&self) -> usize {
        size_of_val(self)
    }
}

/// A server's instructions and its tools, as one listing has them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Definitions {
    pub server: Server,
    pub tools: Vec<Arc<Tool>>,
}

/// What queries are about, and what they need to know.
#[derive(Clone, Copy)]
pub struct Ctx<'a> {
    /// One capture, or several where they are compared; none where the query is about definitions.
    pub subjects: &'a [Arc<ParsedCapture>],
    /// One listing, or two where they are compared; none where the query is about captures.
    pub definitions: &'a [Arc<Definitions>],
    pub hosts: &'a Hosts,
    pub cancel: &'a Cancel,
    /// `None` where one query is all that is asked.
    pub memo: Option<&'a Memo>,
}

impl<'a> Ctx<'a> {
    /// About captures.
    pub fn of(subjects: &'a [Arc<ParsedCapture>], hosts: &'a Hosts, cancel: &'a Cancel) -> Self {
        Self { subjects, definitions: &[], hosts, cancel, memo: None }
    }

    /// For `?` between the parts of a query, none of which looks at the flag itself.
    ///
    /// # Errors
    /// [`Cancelled`] when the asker looked away.
    pub fn check(&self) -> Result<(), Cancelled> {
        self.cancel.check()
    }

    /// The capture, or the first of several.
    ///
    /// # Errors
    /// There is none.
    pub fn subject(&self) -> Result<&'a Arc<ParsedCapture>, Problem> {
        self.subjects.first().ok_or_else(|| Problem::new(ProblemKind::Internal, "a query about no capture"))
    }

    /// The listing, or the first of two.
    ///
    /// # Errors
    /// There is none.
    pub fn listing(&self) -> Result<&'a Arc<Definitions>, Problem> {
        self.definitions.first().ok_or_else(|| Problem::new(ProblemKind::Internal, "a query about no definitions"))
    }

    /// The host with this id.
    ///
    /// # Errors
    /// It is not known.
    pub fn host(&self, id: HostId) -> Result<&'a Arc<Host>, Problem> {
        self.hosts.get(id.as_str()).ok_or_else(|| Problem::new(ProblemKind::NotFound, "there is no such host").at(id.as_str()))
    }

    /// The capture without some keys, as [`super::Columns::path`] writes them.
    ///
    /// # Errors
    /// Cancelled, or there is no capture.
    pub fn without(&self, paths: &Arc<BTreeSet<String>>) -> Result<Arc<ParsedCapture>, Stop> {
        self.check()?;
        let whole = self.subject()?;
        let make = || Ok(Arc::new(super::without(whole, paths)));
        match self.memo {
            Some(memo) => memo.get(Made::OmitKeys(Arc::clone(whole), Arc::clone(paths)), make),
            None => make(),
        }
    }

    /// Runs a query.
    ///
    /// # Errors
    /// [`Cancelled`]; within, a problem to show.
    pub fn get<Q: Query>(&self, query: &Q) -> Result<Result<Q::Out, Problem>, Cancelled> {
        self.check()?;
        match query.run(self) {
            Ok(out) => Ok(Ok(out)),
            Err(Stop::Problem(problem)) => Ok(Err(problem)),
            Err(Stop::Cancelled(cancelled)) => Err(cancelled),
        }
    }
}

/// Captures that were parsed for a query and serve further ones, within a budget of bytes; the newest always stays.
#[derive(Debug, Default)]
pub struct Memo(Mutex<VecDeque<(Made, Arc<ParsedCapture>)>>);

#[derive(Debug)]
enum Made {
    Parsed(Arc<Capture>),
    OmitKeys(Arc<ParsedCapture>, Arc<BTreeSet<String>>),
}

impl Made {
    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Parsed(a), Self::Parsed(b)) => Arc::ptr_eq(a, b),
            (Self::OmitKeys(a, paths), Self::OmitKeys(b, others)) => Arc::ptr_eq(a, b) && paths == others,
            _ => false,
        }
    }
}

impl Memo {
    const BYTES: usize = 256 << 20;

    /// A capture, parsed.
    pub fn subject(&self, capture: &Arc<Capture>) -> Arc<ParsedCapture> {
        let make = || Ok::<_, std::convert::Infallible>(super::subject(Arc::clone(capture)));
        let Ok(subject) = self.get(Made::Parsed(Arc::clone(capture)), make);
        subject
    }

    fn get<E>(&self, key: Made, make: impl FnOnce() -> Result<Arc<ParsedCapture>, E>) -> Result<Arc<ParsedCapture>, E> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = lock().iter().find(|(known, _)| known.is(&key)) {
            return Ok(Arc::clone(known));
        }
        let made = make()?;
        let mut known = lock();
        known.push_front((key, Arc::clone(&made)));
        let mut bytes = 0;
        known.retain(|(_, subject)| {
            let is_newer = bytes == 0;
            bytes += subject.weight();
            is_newer || bytes <= Self::BYTES
        });
        Ok(made)
    }
}

impl Weigh for ParsedCapture {
    fn weight(&self) -> usize {
        let payload = self.payload.as_ref().map_or(0, |payload| payload.doc.len() * 28);
        self.capture.response.as_ref().map_or(0, bytes::Bytes::len) + payload
    }
}

/// The capture's lenient reading and its payload.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ParsedCaptureQuery;

impl Query for ParsedCaptureQuery {
    type Out = Arc<ParsedCapture>;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        let subject = cx.subject()?;
        // The window opens its panes by this.
        subject.renders();
        Ok(Arc::clone(subject))
    }
}

/// The format with this id.
///
/// # Errors
/// There is none.
pub(super) fn format_of(id: &str) -> Result<&'static dyn Format, Problem> {
    let shown: [&'static dyn Format; 1] = [&format::PrettyContent];
    let shown = shown.into_iter().find(|shown| shown.id() == id);
    shown.or_else(|| format::by_id(id)).ok_or_else(|| Problem::new(ProblemKind::Internal, format!("there is no format `{id}`")))
}

/// Why there is no result.
#[derive(Debug)]
pub enum Stop {
    Cancelled(Cancelled),
    Problem(Problem),
}

impl From<Cancelled> for Stop {
    fn from(cancelled: Cancelled) -> Self {
        Self::Cancelled(cancelled)
    }
}

impl From<Problem> for Stop {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

/// What an inquiry is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// One capture, or several where they are compared.
    Captures(Vec<CaptureId>),
    /// A listing of definitions, or two where they are compared, by numbers that are never given twice.
    Definitions(Vec<u64>),
}

/// What a [`Target`] names.
#[derive(Clone, Debug, PartialEq)]
pub enum About {
    Captures(Vec<Arc<Capture>>),
    Definitions(Vec<Arc<Definitions>>),
}

/// A query of any type and what it is about: the key under which its result is cached.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Inquiry {
    pub target: Target,
    pub query: AnyQuery,
}

impl Inquiry {
    /// About captures.
    pub fn of<Q: Query>(captures: &[CaptureId], query: Q) -> Self {
        Self { target: Target::Captures(captures.to_vec()), query: AnyQuery::new(query) }
    }

    /// About listings of definitions.
    pub fn of_definitions<Q: Query>(listings: &[u64], query: Q) -> Self {
        Self { target: Target::Definitions(listings.to_vec()), query: AnyQuery::new(query) }
    }

    /// The captures it is about.
    pub fn captures(&self) -> &[CaptureId] {
        match &self.target {
            Target::Captures(captures) => captures,
            Target::Definitions(_) => &[],
        }
    }
}

/// A query of any type.
#[derive(Clone)]
pub struct AnyQuery(Arc<dyn Erased>);

impl AnyQuery {
    fn new<Q: Query>(query: Q) -> Self {
        Self(Arc::new(query))
    }

    /// The query, where it is of this type.
    pub fn downcast<Q: Query>(&self) -> Option<&Q> {
        self.0.as_any().downcast_ref()
    }

    pub fn is_count(&self) -> bool {
        self.0.is_count()
    }

    pub fn is_passing(&self) -> bool {
        self.0.is_passing()
    }

    pub fn is_about_hosts(&self) -> bool {
        self.0.about_hosts()
    }

    pub fn within(&self) -> Option<Duration> {
        self.0.within()
    }

    /// Runs the query over what it is about.
    ///
    /// # Errors
    /// [`Cancelled`]; within, a problem to show.
    pub fn run(
        &self,
        about: &About,
        hosts: &Hosts,
        memo: &Memo,
        cancel: &Cancel,
    ) -> Result<Result<QueryResult, Problem>, Cancelled> {
        let (subjects, definitions) = match about {
            About::Captures(captures) => (captures.iter().map(|capture| memo.subject(capture)).collect(), &[][..]),
            About::Definitions(definitions) => (Vec::new(), definitions.as_slice()),
        };
        self.0.get(&Ctx { subjects: &subjects, definitions, hosts, cancel, memo: Some(memo) })
    }
}

impl Debug for AnyQuery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl PartialEq for AnyQuery {
    fn eq(&self, other: &Self) -> bool {
        self.0.is_equal(other.0.as_any())
    }
}

impl Eq for AnyQuery {}

impl Hash for AnyQuery {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash_into(state);
    }
}

/// The result of a query of any type.
#[derive(Clone)]
pub struct QueryResult {
    out: Arc<dyn Any + Send + Sync>,
    weight: usize,
}

impl QueryResult {
    /// As a query gives it.
    pub fn new<T: Weigh + Send + Sync + 'static>(out: T) -> Self {
        Self { weight: out.weight(), out: Arc::new(out) }
    }

    /// The result of a query of type `Q`; `None` where it answers another.
    pub fn of<Q: Query>(&self) -> Option<&Q::Out> {
        self.out.downcast_ref()
    }

    /// About how many bytes it holds.
    pub fn weight(&self) -> usize {
        self.weight
    }
}

impl Debug for QueryResult {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "QueryResult({} bytes)", self.weight)
    }
}

/// What of a [`Query`] does not name its type.
trait Erased: Debug + Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn is_equal(&self, other: &dyn Any) -> bool;
    fn hash_into(&self, state: &mut dyn Hasher);
    fn is_count(&self) -> bool;
    fn is_passing(&self) -> bool;
    fn about_hosts(&self) -> bool;
    fn within(&self) -> Option<Duration>;
    fn get(&self, cx: &Ctx<'_>) -> Result<Result<QueryResult, Problem>, Cancelled>;
}

impl<Q: Query> Erased for Q {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn is_equal(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<Q>() == Some(self)
    }

    fn hash_into(&self, mut state: &mut dyn Hasher) {
        self.type_id().hash(&mut state);
        self.hash(&mut state);
    }

    fn is_count(&self) -> bool {
        Q::IS_COUNT
    }

    fn is_passing(&self) -> bool {
        Q::IS_PASSING
    }

    fn about_hosts(&self) -> bool {
        self.is_about_hosts()
    }

    fn within(&self) -> Option<Duration> {
        Q::WITHIN
    }

    fn get(&self, cx: &Ctx<'_>) -> Result<Result<QueryResult, Problem>, Cancelled> {
        Ok(cx.get(self)?.map(QueryResult::new))
    }
}
