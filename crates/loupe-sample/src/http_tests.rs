//! The endpoint over a real loopback socket, by requests written out as text.

use std::net::Ipv4Addr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;

/// Answers each message with itself as often as its number of `+`, so that every shape of body can be had.
struct Plus;

impl Backend for Plus {
    fn handle(&self, message: &[u8]) -> Vec<Bytes> {
        let count = message.iter().filter(|byte| **byte == b'+').count();
        vec![Bytes::copy_from_slice(message); count]
    }
}

async fn start() -> HttpServer {
    http(Arc::new(Plus), (Ipv4Addr::LOCALHOST, 0).into())
        .await
        .unwrap()
}

/// Sends one request and returns the status line, the headers in lower case, and the body.
async fn ask(
    server: &HttpServer,
    method: &str,
    path: &str,
    headers: &str,
    body: &str,
) -> (String, String, String) {
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\nConnection: close\r\n{headers}\r\n{body}",
        server.addr,
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let (status, headers) = head.split_once("\r\n").unwrap();
    (
        status["HTTP/1.1 ".len()..].to_owned(),
        headers.to_lowercase(),
        body.to_owned(),
    )
}

const INITIALIZE: &str = r#"{"id":1,"method":"initialize","x":"+"}"#;

#[tokio::test]
async fn one_answer_is_json_none_is_202_many_are_events() {
    let server = start().await;
    let (status, headers, body) = ask(&server, "POST", "/mcp", "", "{\"é\":\"+\"}").await;
    assert_eq!(
        (status.as_str(), body.as_str()),
        ("200 OK", "{\"é\":\"+\"}")
    );
    assert!(
        headers.contains("content-type: application/json"),
        "{headers}"
    );
    let (status, _, body) = ask(&server, "POST", "/mcp", "", "{}").await;
    assert_eq!((status.as_str(), body.as_str()), ("202 Accepted", ""));
    let (status, headers, body) = ask(&server, "POST", "/mcp", "", "\"++\"").await;
    assert_eq!(
        (status.as_str(), body.as_str()),
        (
            "200 OK",
            "event: message\ndata: \"++\"\n\nevent: message\ndata: \"++\"\n\n"
        )
    );
    assert!(
        headers.contains("content-type: text/event-stream"),
        "{headers}"
    );
}

#[tokio::test]
async fn initialize_opens_a_session_and_delete_ends_it() {
    let server = start().await;
    let (status, headers, _) = ask(&server, "POST", "/mcp", "", INITIALIZE).await;
    assert_eq!(status, "200 OK");
    assert!(
        headers.contains("mcp-session-id: loupe-sample-1"),
        "{headers}"
    );
    let named = "Mcp-Session-Id: loupe-sample-1\r\nMCP-Protocol-Version: 2025-06-18\r\n";
    assert_eq!(
        ask(&server, "POST", "/mcp", named, "\"+\"").await.0,
        "200 OK"
    );
    assert_eq!(ask(&server, "DELETE", "/mcp", named, "").await.0, "200 OK");
    assert_eq!(
        ask(&server, "POST", "/mcp", named, "\"+\"").await.0,
        "404 Not Found"
    );
    assert_eq!(
        ask(&server, "DELETE", "/mcp", named, "").await.0,
        "404 Not Found"
    );
    let (_, headers, _) = ask(&server, "POST", "/mcp", "", INITIALIZE).await;
    assert!(
        headers.contains("mcp-session-id: loupe-sample-2"),
        "{headers}"
    );
}

#[tokio::test]
async fn what_is_not_offered_is_refused() {
    let server = start().await;
    let (status, headers, _) =
        ask(&server, "GET", "/mcp", "Accept: text/event-stream\r\n", "").await;
    assert_eq!(status, "405 Method Not Allowed");
    assert!(headers.contains("allow: post, delete"), "{headers}");
    assert_eq!(
        ask(&server, "PUT", "/mcp", "", "").await.0,
        "405 Method Not Allowed"
    );
    assert_eq!(
        ask(&server, "POST", "/", "", "\"+\"").await.0,
        "404 Not Found"
    );
    assert_eq!(
        ask(
            &server,
            "POST",
            "/mcp",
            "MCP-Protocol-Version: 1999-01-01\r\n",
            "\"+\""
        )
        .await
        .0,
        "400 Bad Request"
    );
}

#[tokio::test]
async fn without_a_handshake_headers_and_body_agree() {
    let server = start().await;
    let body = r#"{"id":1,"method":"tools/call","params":{"name":"é+","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
    let headers = |version: &str, method: &str, name: &str| {
        format!("MCP-Protocol-Version: {version}\r\nMcp-Method: {method}\r\nMcp-Name: {name}\r\n")
    };
    let name = "=?base64?w6kr?=";
    assert_eq!(
        ask(
            &server,
            "POST",
            "/mcp",
            &headers("2026-07-28", "tools/call", name),
            body
        )
        .await
        .0,
        "200 OK"
    );
    for wrong in [
        headers("2025-11-25", "tools/call", name),
        headers("2026-07-28", "tools/list", name),
        headers("2026-07-28", "tools/call", "other"),
        "MCP-Protocol-Version: 2026-07-28\r\n".to_owned(),
    ] {
        let (status, _, answer) = ask(&server, "POST", "/mcp", &wrong, body).await;
        assert_eq!(status, "400 Bad Request", "{wrong}");
        assert!(
            answer.contains("\"id\":1") && answer.contains("-32020"),
            "{answer}"
        );
    }
}

#[tokio::test]
async fn only_pages_of_this_computer_may_ask() {
    let server = start().await;
    for origin in [
        "https://evil.example",
        "null",
        "http://127.0.0.1.evil.example",
        "http://localhost.evil.example:80",
    ] {
        let header = format!("Origin: {origin}\r\n");
        assert_eq!(
            ask(&server, "POST", "/mcp", &header, "\"+\"").await.0,
            "403 Forbidden",
            "{origin}"
        );
    }
    for origin in [
        "http://localhost:6274",
        "http://127.0.0.1",
        "http://[::1]:8080",
    ] {
        let header = format!("Origin: {origin}\r\n");
        assert_eq!(
            ask(&server, "POST", "/mcp", &header, "\"+\"").await.0,
            "200 OK",
            "{origin}"
        );
    }
}

#[tokio::test]
async fn dropping_it_closes_what_is_open() {
    let server = start().await;
    let mut idle = TcpStream::connect(server.addr).await.unwrap();
    // A first answer proves that the connection was accepted.
    idle.write_all(b"GET /mcp HTTP/1.1\r\nHost: x\r\n\r\n")
        .await
        .unwrap();
    assert_ne!(idle.read(&mut [0; 4096]).await.unwrap(), 0);
    let addr = server.addr;
    drop(server);
    let mut rest = Vec::new();
    idle.read_to_end(&mut rest).await.ok();
    assert!(TcpStream::connect(addr).await.is_err());
}
