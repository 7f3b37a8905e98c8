//! Logging in for the conformance runner: its authorization server redirects at once, so the code is fetched rather than
//! asked of a person. Loupe's own redirect address gets it, as it would from a browser.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use loupe_client::login::Step;
use loupe_client::{self, SessionEvent};
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::source::{Grant, Http, Login, Source};
use serde_json::Value;

use super::visit::Visit;
use super::{LIMIT, Play, act};

/// The client metadata document that the runner knows.
const DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";

/// How a scenario logs in, from its name and its context. Keys and tokens are put into files of the folder, since that
/// is where a client takes them from.
fn login(scenario: &str, context: &Value, folder: &Path) -> Result<Login, Problem> {
    let member = |name: &str| context.get(name).and_then(Value::as_str).map(str::to_owned);
    let file = |name: &str| -> Result<Option<PathBuf>, Problem> {
        let Some(text) = member(name) else {
            return Ok(None);
        };
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|error| {
            Problem::new(ProblemKind::Io, format!("cannot be written: {error}"))
                .at(path.display().to_string())
        })?;
        Ok(Some(path))
    };
    let grant = match scenario {
        "auth/wif-jwt-bearer" => Grant::Workload,
        "auth/enterprise-managed-authorization" => Grant::Enterprise,
        other if other.starts_with("auth/client-credentials") => Grant::ClientCredentials,
        _ => Grant::Browser,
    };
    Ok(Login {
        grant,
        client_id: member("client_id").or_else(|| Some(DOCUMENT.to_owned())),
        client_secret: member("client_secret"),
        client_key: file("private_key_pem")?,
        assertion: file(if grant == Grant::Workload {
            "valid_jwt"
        } else {
            "idp_id_token"
        })?,
        idp: member("idp_issuer"),
        idp_client_id: member("idp_client_id"),
        asks: true,
        ..Login::default()
    })
}

/// Stands in for a person with a browser.
struct Person {
    browser: Visit,
    /// The authorization server that they were asked about.
    asked: Mutex<Option<String>>,
}

impl Person {
    /// Goes where a person would be sent, and says yes to the runner's authorization server.
    fn step(&self, step: Step) {
        match step {
            Step::Line(line) => eprintln!("{line}"),
            Step::Open { url, .. } => self.browser.go(url),
            Step::Choose(servers) => *self.asked() = servers.into_iter().next(),
            Step::Back | Step::Over { .. } => {}
        }
    }

    fn asked(&self) -> MutexGuard<'_, Option<String>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Plays a scenario: logs in where the server asks for it, lists the tools and calls them. Begins anew at each
/// authorization server that somebody has to say yes to.
pub async fn run(play: &Play) -> Result<(), Problem> {
    let folder = tempfile::tempdir().map_err(|error| {
        Problem::new(
            ProblemKind::Io,
            format!("no folder for the credentials of the scenario: {error}"),
        )
    })?;
    let mut login = login(&play.scenario, &play.context, folder.path())?;
    let person = Arc::new(Person {
        browser: Visit::new(),
        asked: Mutex::default(),
    });
    loop {
        let source = Source::Http(Http {
            login: Some(login.clone()),
            ..play.http.clone()
        });
        let done = once(play, &source, &person).await;
        match person.asked().take() {
            Some(server) if login.server.as_ref() != Some(&server) => login.server = Some(server),
            _ => return done,
        }
    }
}

async fn once(play: &Play, source: &Source, person: &Arc<Person>) -> Result<(), Problem> {
    let person = Arc::clone(person);
    let on_event: loupe_client::OnSessionEvent = Arc::new(move |event| match event {
        SessionEvent::Login(step) => person.step(step),
        SessionEvent::Phase(phase) => eprintln!("{phase}"),
        _ => {}
    });
    let options = loupe_client::Options {
        connect_limit: LIMIT,
        ..loupe_client::Options::default()
    };
    let session = loupe_client::connect(source, options, on_event).await?;
    let tools = session.list_tools(LIMIT).await?.tools;
    let done = act(&session, play, &tools).await;
    session.close().await;
    done
}
