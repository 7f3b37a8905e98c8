//! An exact count by Claude's provider: one request, sent with the user's key.

use std::time::Duration;

use reqwest::header::{HeaderValue, RETRY_AFTER};

use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::token::claude::{self, Key, Request};

/// The name of the key in the keychain.
pub const KEY_ENTRY: &str = "anthropic-api-key";
/// How long the provider may take over one count.
pub const LIMIT: Duration = Duration::from_secs(60);
/// More of an answer is not read: it holds one number or one sentence.
const ANSWER_BYTES: usize = 64 << 10;

/// Sends a request with a key and reads what is answered.
///
/// # Errors
/// The provider cannot be reached in time, or refuses; what is said never holds the key.
pub async fn count(request: &Request, key: &Key, limit: Duration) -> Result<u64, Problem> {
    let place = request.address.clone();
    let fail = |error: reqwest::Error| {
        let (kind, what) = match error.is_timeout() {
            true => (
                ProblemKind::Timeout,
                format!("no answer within {} s", limit.as_secs()),
            ),
            false => (
                ProblemKind::Connect,
                format!("Anthropic could not be reached: {}", innermost(&error)),
            ),
        };
        Problem::new(kind, what)
            .at(place.clone())
            .hint("look at the network and its proxy, then count again; the estimate stays")
    };
    let mut secret = HeaderValue::from_str(key.reveal()).map_err(|_| {
        Problem::new(
            ProblemKind::Auth,
            "the key holds characters that no key has",
        )
        .hint("type the key again")
    })?;
    secret.set_sensitive(true);
    // The key goes to this address and to no other.
    let mut client = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .timeout(limit);
    if request.address.starts_with("http://") {
        // A stand-in on this computer, which no proxy reaches.
        client = client.no_proxy();
    }
    let client = client.build().map_err(fail)?;
    let mut post = client
        .post(&request.address)
        .header(claude::KEY_HEADER, secret)
        .body(request.body());
    for (name, value) in request.headers() {
        post = post.header(name, value);
    }
    let mut response = post.send().await.map_err(fail)?;
    let status = response.status().as_u16();
    let retry_after = response
        .headers()
        .get(RETRY_AFTER)
        .and_then(|value| value.to_str().ok())
        .map(str::to_owned);
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(fail)? {
        body.extend_from_slice(&chunk);
        if body.len() > ANSWER_BYTES {
            break;
        }
    }
    let mut body = String::from_utf8_lossy(&body).into_owned();
    if !key.is_empty() {
        body = body.replace(key.reveal(), "…");
    }
    claude::read(status, retry_after.as_deref(), &body, &request.model)
        .map_err(|problem| problem.at(place.clone()))
}

fn innermost(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        text = source.to_string();
        next = source.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(30);

    /// A stand-in for the provider: answers one request with `reply` as it is; gives back what it was sent.
    async fn stand_in(reply: &'static str) -> (String, tokio::task::JoinHandle<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!(
            "http://{}/v1/messages/count_tokens",
            listener.local_addr().unwrap()
        );
        let seen = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut seen = String::new();
            while !seen.ends_with("]}") {
                let mut chunk = [0; 4096];
                let length = stream.read(&mut chunk).await.unwrap();
                seen.push_str(&String::from_utf8_lossy(&chunk[..length]));
            }
            stream.write_all(reply.as_bytes()).await.unwrap();
            seen
        });
        (address, seen)
    }

    #[tokio::test]
    async fn what_is_sent_is_what_was_shown_and_the_key() {
        let (address, seen) =
            stand_in("HTTP/1.1 200 OK\r\nContent-Length: 21\r\n\r\n{\"input_tokens\":2095}").await;
        let request = Request::new(&address, "claude-haiku-4-5", "one\ntwo");
        assert_eq!(
            count(&request, &Key::new("sk-1"), PATIENCE).await,
            Ok(2_095)
        );
        let seen = seen.await.unwrap();
        let (head, body) = seen.split_once("\r\n\r\n").unwrap();
        assert_eq!(body, request.shown().1.concat());
        let mut sent: Vec<String> = head.lines().skip(1).map(str::to_owned).collect();
        sent.retain(|line| !line.starts_with("host: ") && !line.starts_with("content-length: "));
        sent.sort();
        let mut shown: Vec<String> = request.shown().0.split_off(1);
        shown
            .iter_mut()
            .filter(|line| line.starts_with("x-api-key"))
            .for_each(|line| *line = "x-api-key: sk-1".into());
        shown.sort();
        assert_eq!(sent, shown);
        assert!(head.starts_with("POST /v1/messages/count_tokens HTTP/1.1"));
    }

    #[tokio::test]
    async fn refusals_hold_no_key_and_redirects_are_not_followed() {
        let body = r#"{"error":{"message":"key sk-1 is wrong"}}"#;
        let reply = format!(
            "HTTP/1.1 401 Unauthorized\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let (address, _) = stand_in(reply.leak()).await;
        let problem = count(
            &Request::new(&address, "m", "t"),
            &Key::new("sk-1"),
            PATIENCE,
        )
        .await
        .unwrap_err();
        assert_eq!(
            (problem.kind, problem.what.as_str()),
            (
                ProblemKind::Auth,
                "Anthropic does not take this key (HTTP 401: key … is wrong)"
            )
        );
        let (address, _) = stand_in(
            "HTTP/1.1 307 Go\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
        )
        .await;
        let problem = count(
            &Request::new(&address, "m", "t"),
            &Key::new("sk-1"),
            PATIENCE,
        )
        .await
        .unwrap_err();
        assert_eq!(problem.what, "Anthropic refused to count this (HTTP 307)");
    }

    #[tokio::test]
    async fn an_absent_provider_is_said() {
        let free = TcpListener::bind("127.0.0.1:0")
            .await
            .unwrap()
            .local_addr()
            .unwrap();
        let request = Request::new(&format!("http://{free}/"), "m", "t");
        let problem = count(&request, &Key::new("sk-1"), PATIENCE)
            .await
            .unwrap_err();
        assert_eq!(problem.kind, ProblemKind::Connect);
        assert!(
            problem.what.starts_with("Anthropic could not be reached: ") && problem.hint.is_some()
        );
        assert_eq!(
            count(&request, &Key::new("a\nb"), PATIENCE)
                .await
                .unwrap_err()
                .kind,
            ProblemKind::Auth
        );
    }
}
