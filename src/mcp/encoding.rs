//! How answers may be encoded for their way, and how they are read.

use async_compression::tokio::bufread::GzipDecoder;
use futures::TryStreamExt;
use http::header;
use reqwest::ResponseBuilderExt;
use tokio_util::io::{ReaderStream, StreamReader};

/// How a body may be encoded. Of nothing else is known what it says.
pub(super) const ENCODING: &str = "gzip";

/// The answer as it was before it was encoded for its way.
///
/// # Errors
/// The name of an encoding that is not known here, in an answer that counts; a page about a failure has its place taken by
/// words that name it.
pub(super) fn decoded(response: reqwest::Response) -> Result<reqwest::Response, String> {
    let named = response.headers().get(header::CONTENT_ENCODING);
    let named = named.map(|name| String::from_utf8_lossy(name.as_bytes()).trim().to_lowercase()).unwrap_or_default();
    let is_known = matches!(&*named, ENCODING | "x-gzip");
    if matches!(&*named, "" | "identity") || response.content_length() == Some(0) {
        return Ok(response);
    }
    if !is_known && response.status().is_success() {
        return Err(named);
    }
    let mut head = http::response::Builder::new().status(response.status()).url(response.url().clone());
    for (name, value) in response.headers() {
        if !matches!(*name, header::CONTENT_ENCODING | header::CONTENT_LENGTH) {
            head = head.header(name, value);
        }
    }
    let body = if is_known {
        let mut decoder = GzipDecoder::new(StreamReader::new(response.bytes_stream().map_err(std::io::Error::other)));
        decoder.multiple_members(true);
        reqwest::Body::wrap_stream(ReaderStream::new(decoder))
    } else {
        format!("a page that is encoded as `{named}`, which was not asked for").into()
    };
    head.body(body).map(reqwest::Response::from).map_err(|error| error.to_string())
}
