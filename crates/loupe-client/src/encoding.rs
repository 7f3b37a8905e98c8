//! How answers may be encoded for their way, and how they are read: by their first bytes, since proxies encode twice,
//! without saying so, or say so of what is plain.

use std::fmt;
use std::io;
use std::sync::{Arc, OnceLock};

use async_compression::tokio::bufread::GzipDecoder;
use bytes::Bytes;
use futures::stream::{self, BoxStream, StreamExt, TryStreamExt};
use http::header;
use reqwest::ResponseBuilderExt;
use tokio_util::io::{ReaderStream, StreamReader};

/// How a body may be encoded. Of nothing else is known what it says.
pub(super) const ENCODING: &str = "gzip";
/// How a gzip member begins.
const MAGIC: &[u8] = b"\x1f\x8b";
/// As often is a body undone: twice where a proxy encodes what is encoded already.
const LAYERS: usize = 3;
/// What is decoded at once.
const CHUNK: usize = 64 << 10;
/// Bytes that are shown of what cannot be read.
const SHOWN: usize = 16;

type Chunks = BoxStream<'static, io::Result<Bytes>>;

/// A body that cannot be decoded: what was announced, what came, and who may have done that.
#[derive(Clone, Debug)]
pub(super) struct EncodingFault(String);

impl fmt::Display for EncodingFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for EncodingFault {}

impl EncodingFault {
    /// The one that broke a body off, if it was one.
    pub(super) fn of(error: &reqwest::Error) -> Option<&Self> {
        let mut cause = std::error::Error::source(error);
        while let Some(inner) = cause {
            let carried = inner
                .downcast_ref::<io::Error>()
                .and_then(io::Error::get_ref);
            if let Some(fault) = carried.and_then(|carried| carried.downcast_ref::<Self>()) {
                return Some(fault);
            }
            cause = inner.source();
        }
        None
    }
}

/// What differs between the encoding that was announced and the one that came; known once the body has begun.
#[derive(Clone, Debug, Default)]
pub(super) struct EncodingNote(Arc<OnceLock<String>>);

impl EncodingNote {
    pub(super) fn new(response: &reqwest::Response) -> Self {
        response
            .extensions()
            .get::<Self>()
            .cloned()
            .unwrap_or_default()
    }

    pub(super) fn text(&self) -> Option<&str> {
        self.0.get().map(String::as_str)
    }
}

/// The answer as it was before it was encoded for its way.
///
/// # Errors
/// What came instead, where that is in an encoding that is not known here; a page about a failure has its place taken by
/// words that name it.
pub(super) async fn decoded(
    mut response: reqwest::Response,
) -> Result<reqwest::Response, EncodingFault> {
    if response.content_length() == Some(0) {
        return Ok(response);
    }
    let named = response.headers().get_all(header::CONTENT_ENCODING).iter();
    let named = named
        .map(|name| {
            String::from_utf8_lossy(name.as_bytes())
                .trim()
                .to_lowercase()
        })
        .collect::<Vec<_>>()
        .join(", ");
    let announced: Vec<&str> = named
        .split(',')
        .map(str::trim)
        .filter(|name| !matches!(*name, "" | "identity"))
        .collect();
    let status = response.status();
    let mut head = http::response::Builder::new()
        .status(status)
        .url(response.url().clone());
    for (name, value) in response.headers() {
        if !matches!(*name, header::CONTENT_ENCODING | header::CONTENT_LENGTH) {
            head = head.header(name, value);
        }
    }
    let note = EncodingNote::default();
    let is_known = announced
        .iter()
        .all(|name| matches!(*name, ENCODING | "x-gzip"));
    let body = if is_known {
        let body = response.bytes_stream().map_err(io::Error::other).boxed();
        reqwest::Body::wrap_stream(undone(body, announced.len(), note.clone()))
    } else {
        let first = response.chunk().await.ok().flatten().unwrap_or_default();
        if is_plain(&first) {
            note.0.set(differing(&format!("`{named}`"), "plain")).ok();
            let rest = response.bytes_stream().map_err(io::Error::other);
            reqwest::Body::wrap_stream(stream::iter([Ok(first)]).chain(rest))
        } else if status.is_success() {
            return Err(EncodingFault(format!(
                "the answer (HTTP {status}) is encoded as `{named}`, which was not asked for; {ENCODING} is read; {}",
                began(&first)
            )));
        } else {
            format!("a page that is encoded as `{named}`, which was not asked for").into()
        }
    };
    let head = head.extension(note).body(body);
    head.map(reqwest::Response::from)
        .map_err(|error| EncodingFault(error.to_string()))
}

/// Whether bytes that are said to be encoded begin like a message or like events.
fn is_plain(first: &[u8]) -> bool {
    let first = first.trim_ascii_start();
    [
        &b"{\""[..],
        b"{}",
        b"[{",
        b"[]",
        b"{ ",
        b"{\n",
        b"data:",
        b"event:",
        b"id:",
    ]
    .iter()
    .any(|head| first.starts_with(head))
}

fn began(first: &[u8]) -> String {
    let bytes: Vec<String> = first
        .iter()
        .take(SHOWN)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!(
        "it begins with the bytes {}; a proxy between here and the server likely encodes it",
        bytes.join(" ")
    )
}

fn differing(announced: &str, came: &str) -> String {
    format!(
        "the answer was announced as {announced} and came {came}; a proxy between here and the server may have changed it"
    )
}

/// `0`, `1` or more layers of gzip, for people.
fn layers(count: usize, none: &str) -> String {
    match count {
        0 => none.into(),
        1 => "gzip".into(),
        more => format!("gzip in {more} layers"),
    }
}

/// The body without its layers of gzip, as many as there are; `announced` is how many there should be.
fn undone(body: Chunks, announced: usize, note: EncodingNote) -> Chunks {
    let begin = async move {
        let (mut body, mut count) = (body, 0);
        loop {
            let first = beginning(&mut body).await?;
            let is_last = count == LAYERS || !first.starts_with(MAGIC);
            let shown = first.slice(..first.len().min(SHOWN));
            let whole = stream::iter((!first.is_empty()).then_some(Ok(first)))
                .chain(body)
                .boxed();
            if is_last {
                if count != announced && !shown.is_empty() {
                    note.0
                        .set(differing(
                            &layers(announced, "not encoded"),
                            &format!("as {}", layers(count, "plain text")),
                        ))
                        .ok();
                }
                return Ok::<Chunks, io::Error>(whole);
            }
            count += 1;
            let mut decoder = GzipDecoder::new(StreamReader::new(whole));
            decoder.multiple_members(true);
            let failed = move |error: io::Error| faulty(error, &shown);
            body = ReaderStream::with_capacity(decoder, CHUNK)
                .map_err(failed)
                .boxed();
        }
    };
    stream::once(begin).try_flatten().boxed()
}

/// The first bytes, enough to tell what they are.
async fn beginning(body: &mut Chunks) -> io::Result<Bytes> {
    let mut first = Bytes::new();
    while first.len() < MAGIC.len() {
        match body.try_next().await? {
            Some(chunk) if first.is_empty() => first = chunk,
            Some(chunk) => first = [first, chunk].concat().into(),
            None => break,
        }
    }
    Ok(first)
}

/// Why a layer cannot be read: what the connection did stays as it is.
fn faulty(error: io::Error, first: &[u8]) -> io::Error {
    let is_of_connection = error
        .get_ref()
        .is_some_and(|inner| inner.is::<reqwest::Error>() || inner.is::<EncodingFault>());
    if is_of_connection || error.kind() == io::ErrorKind::UnexpectedEof {
        return error;
    }
    io::Error::other(EncodingFault(format!(
        "the answer begins like gzip and is not ({error}); {}",
        began(first)
    )))
}
