//! Typed queries over captures or over a server's definitions: one type each, next to what it answers with.
//!
//! The window asks through the engine, which works off the UI thread and caches; the command line runs a query itself.

use std::any::Any;
use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use loupe_core::cancel::{Cancel, Cancelled};
use loupe_core::capture::{Capture, CaptureId, Server, Tool};
use loupe_core::format::{self, Format, ParsedCapture};
use loupe_core::host::{Host, HostId, Hosts};
use loupe_core::problem::{Problem, ProblemKind};

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

    /// Whether it waits for the user's word where what it is about is large, since it takes many seconds then.
    fn is_held(&self) -> bool {
        Self::IS_COUNT
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
}

impl<'a> Ctx<'a> {
    /// About captures.
    pub fn new(subjects: &'a [Arc<ParsedCapture>], hosts: &'a Hosts, cancel: &'a Cancel) -> Self {
        Self {
            subjects,
            definitions: &[],
            hosts,
            cancel,
        }
    }

    /// For `?` between the parts of a query, none of which looks at the flag itself.
    ///
    /// # Errors
    /// [`Cancelled`] if the caller cancelled.
    pub fn check(&self) -> Result<(), Cancelled> {
        self.cancel.check()
    }

    /// The capture, or the first of several.
    ///
    /// # Errors
    /// There is none.
    pub fn subject(&self) -> Result<&'a Arc<ParsedCapture>, Problem> {
        self.subjects
            .first()
            .ok_or_else(|| Problem::new(ProblemKind::Internal, "a query about no capture"))
    }

    /// The listing, or the first of two.
    ///
    /// # Errors
    /// There is none.
    pub fn listing(&self) -> Result<&'a Arc<Definitions>, Problem> {
        self.definitions
            .first()
            .ok_or_else(|| Problem::new(ProblemKind::Internal, "a query about no definitions"))
    }

    /// The host with this id.
    ///
    /// # Errors
    /// It is not known.
    pub fn host(&self, id: HostId) -> Result<&'a Arc<Host>, Problem> {
        self.hosts.get(id.as_str()).ok_or_else(|| {
            Problem::new(ProblemKind::NotFound, "there is no such host").at(id.as_str())
        })
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

/// A capture, parsed by the first query about it while others wait.
type Slot = OnceLock<Arc<ParsedCapture>>;

/// Holds a parsed capture for as long as there are results that were made from it.
#[derive(Clone, Debug)]
pub struct Pin(Arc<Slot>);

impl Pin {
    /// The same for every result that was made from this parsed capture.
    pub fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// About how many bytes it holds.
    pub fn weight(&self) -> usize {
        self.0.get().map_or(0, |subject| subject.footprint())
    }
}

/// Captures that were parsed for a query and serve further ones, as long as a job or a result holds them.
#[derive(Debug, Default)]
pub struct Memo(Mutex<Vec<(Weak<Capture>, Weak<Slot>)>>);

impl Memo {
    fn pin(&self, capture: &Arc<Capture>) -> Pin {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|(_, slot)| slot.strong_count() > 0);
        let found = known
            .iter()
            .find(|(of, _)| of.as_ptr() == Arc::as_ptr(capture));
        Pin(found
            .and_then(|(_, slot)| slot.upgrade())
            .unwrap_or_else(|| {
                let slot = Arc::default();
                known.push((Arc::downgrade(capture), Arc::downgrade(&slot)));
                slot
            }))
    }

    /// The capture, parsed, and what holds it for others.
    pub fn subject(&self, capture: &Arc<Capture>) -> (Arc<ParsedCapture>, Pin) {
        let pin = self.pin(capture);
        (
            Arc::clone(pin.0.get_or_init(|| super::subject(Arc::clone(capture)))),
            pin,
        )
    }
}

/// Nothing of its own: a result made from it has it among its pins.
impl Weigh for ParsedCapture {}

/// The capture's lenient reading and its data.
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
    shown
        .or_else(|| format::by_id(id))
        .ok_or_else(|| Problem::new(ProblemKind::Internal, format!("there is no format `{id}`")))
}

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    #[error("cancelled")]
    Cancelled(#[from] Cancelled),
    /// To be shown where the result would stand.
    #[error("{0}")]
    Problem(#[from] Problem),
}

impl From<Stop> for Problem {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Cancelled(_) => Self::interrupted(),
            Stop::Problem(problem) => problem,
        }
    }
}

/// What a query key is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// One capture, or several where they are compared.
    Captures(Vec<CaptureId>),
    /// A listing of definitions, or two where they are compared, by numbers that are never given twice.
    Definitions(Vec<u64>),
}

/// What a [`Target`] names.
#[derive(Clone, Debug, PartialEq)]
pub enum QueryInput {
    Captures(Vec<Arc<Capture>>),
    Definitions(Vec<Arc<Definitions>>),
}

/// A query of any type and what it is about: the key under which its result is cached.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct QueryKey {
    pub target: Target,
    pub query: AnyQuery,
}

impl QueryKey {
    /// About captures.
    pub fn new<Q: Query>(captures: &[CaptureId], query: Q) -> Self {
        Self {
            target: Target::Captures(captures.to_vec()),
            query: AnyQuery::new(query),
        }
    }

    /// About listings of definitions.
    pub fn of_definitions<Q: Query>(listings: &[u64], query: Q) -> Self {
        Self {
            target: Target::Definitions(listings.to_vec()),
            query: AnyQuery::new(query),
        }
    }

    /// The captures it is about.
    pub fn captures(&self) -> &[CaptureId] {
        match &self.target {
            Target::Captures(captures) => captures,
            Target::Definitions(_) => &[],
        }
    }
}

/// A query of any type, with what [`Query`] says of how and when it is run.
#[derive(Clone)]
pub struct AnyQuery {
    query: Arc<dyn Erased>,
    pub is_count: bool,
    pub is_passing: bool,
    pub is_held: bool,
    pub within: Option<Duration>,
}

impl AnyQuery {
    fn new<Q: Query>(query: Q) -> Self {
        Self {
            is_count: Q::IS_COUNT,
            is_passing: Q::IS_PASSING,
            is_held: query.is_held(),
            within: Q::WITHIN,
            query: Arc::new(query),
        }
    }

    /// The query, where it is of this type.
    pub fn downcast<Q: Query>(&self) -> Option<&Q> {
        self.query.as_any().downcast_ref()
    }

    /// Runs the query over what it is about.
    ///
    /// # Errors
    /// [`Cancelled`]; within, a problem to show.
    pub fn run(
        &self,
        about: &QueryInput,
        hosts: &Hosts,
        memo: &Memo,
        cancel: &Cancel,
    ) -> Result<Result<QueryResult, Problem>, Cancelled> {
        let ((subjects, pins), definitions): ((Vec<_>, Vec<_>), _) = match about {
            QueryInput::Captures(captures) => (
                captures.iter().map(|capture| memo.subject(capture)).unzip(),
                &[][..],
            ),
            QueryInput::Definitions(definitions) => (Default::default(), definitions.as_slice()),
        };
        let answer = self.query.get(&Ctx {
            subjects: &subjects,
            definitions,
            hosts,
            cancel,
        })?;
        Ok(answer.map(|result| QueryResult {
            pins: pins.into(),
            ..result
        }))
    }
}

impl Debug for AnyQuery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.query.fmt(f)
    }
}

impl PartialEq for AnyQuery {
    fn eq(&self, other: &Self) -> bool {
        self.query.is_equal(other.query.as_any())
    }
}

impl Eq for AnyQuery {}

impl Hash for AnyQuery {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.query.hash_into(state);
    }
}

/// The result of a query of any type.
#[derive(Clone)]
pub struct QueryResult {
    out: Arc<dyn Any + Send + Sync>,
    weight: usize,
    pins: Arc<[Pin]>,
}

impl QueryResult {
    /// As a query gives it.
    pub fn new<T: Weigh + Send + Sync + 'static>(out: T) -> Self {
        Self {
            weight: out.weight(),
            out: Arc::new(out),
            pins: Arc::default(),
        }
    }

    /// The result of a query of type `Q`; `None` where it answers another.
    pub fn of<Q: Query>(&self) -> Option<&Q::Out> {
        self.out.downcast_ref()
    }

    /// About how many bytes it holds, its pins apart.
    pub fn weight(&self) -> usize {
        self.weight
    }

    /// The captures that it was made from, parsed; other results hold the same ones.
    pub fn pins(&self) -> &[Pin] {
        &self.pins
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

    fn get(&self, cx: &Ctx<'_>) -> Result<Result<QueryResult, Problem>, Cancelled> {
        Ok(cx.get(self)?.map(QueryResult::new))
    }
}
