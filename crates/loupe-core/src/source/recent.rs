//! A source that was used before, as it may be kept: plain variables and headers are in it, and nothing that looks like
//! a secret. What is left out has a name, and comes from the keychain or is asked for.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::secret::{is_secret_name, map_named, map_secrets};
use super::{Command, Http, Login, Protocol, Source, Transport};
use crate::digest::sha256;

/// What stands where a secret was.
pub const LEFT_OUT: &str = "…";

/// One source that was used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recent {
    #[serde(default, rename = "pinned")]
    pub is_pinned: bool,
    pub source: RecentSource,
}

/// How it is found again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RecentSource {
    /// A server of a client's configuration, read again each time.
    Config {
        file: String,
        server: String,
    },
    Reach(RecentReach),
}

/// A command or an address; instead of each secret stands [`LEFT_OUT`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RecentReach {
    Command {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        program: String,
        args: Vec<String>,
        env: Vec<RecentValue>,
        cwd: Option<String>,
        #[serde(default)]
        clean: bool,
        #[serde(default)]
        protocol: Option<String>,
    },
    Url {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        url: String,
        headers: Vec<RecentValue>,
        login: bool,
        client_id: Option<String>,
        /// Whether the client has a secret.
        #[serde(default)]
        client_secret: bool,
        #[serde(default)]
        protocol: Option<String>,
        #[serde(default)]
        transport: Option<String>,
        #[serde(default)]
        cacert: Option<String>,
    },
}

/// A variable or a header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RecentValue {
    /// The value is a secret: its name alone.
    Secret(String),
    Plain(String, String),
}

impl RecentValue {
    fn of(pairs: &[(String, String)]) -> Vec<Self> {
        let kept = |(name, value): &(String, String)| match value.as_str() {
            LEFT_OUT => Self::Secret(name.clone()),
            _ => Self::Plain(name.clone(), value.clone()),
        };
        pairs.iter().map(kept).collect()
    }

    fn pairs(kept: &[Self]) -> Vec<(String, String)> {
        let pair = |kept: &Self| match kept {
            Self::Secret(name) => (name.clone(), LEFT_OUT.to_owned()),
            Self::Plain(name, value) => (name.clone(), value.clone()),
        };
        kept.iter().map(pair).collect()
    }
}

impl Recent {
    /// `None` for the sample and for captures, which need no finding. A command without a folder of its own is started in
    /// `here`, wherever Loupe runs the next time.
    pub fn new(source: &Source, here: Option<&Path>) -> Option<Self> {
        Self::masked(source, here, &mut |_, _| Some(LEFT_OUT.to_owned()))
    }

    fn masked(
        source: &Source,
        here: Option<&Path>,
        put: &mut dyn FnMut(&str, &str) -> Option<String>,
    ) -> Option<Self> {
        let protocol = match source.protocol() {
            Protocol::Auto => None,
            pinned => Some(pinned.to_string()),
        };
        let path = |path: &Path| path.to_string_lossy().into_owned();
        let kept = match map_secrets(source, put) {
            Source::Sample(_) | Source::Fixture(_) => return None,
            Source::Command(command) => RecentReach::Command {
                env: RecentValue::of(&command.env),
                name: command.name,
                program: command.program,
                args: command.args,
                cwd: folder_of(command.cwd.as_deref(), here).as_deref().map(path),
                clean: command.is_clean,
                protocol,
            },
            Source::Http(http) => RecentReach::Url {
                headers: RecentValue::of(&http.headers),
                name: http.name,
                url: http.url,
                login: http.login.is_some(),
                client_id: http
                    .login
                    .as_ref()
                    .and_then(|login| login.client_id.clone()),
                client_secret: http
                    .login
                    .is_some_and(|login| login.client_secret.is_some()),
                protocol,
                transport: (http.transport != Transport::Auto)
                    .then(|| http.transport.word().to_owned()),
                cacert: http.cacert.as_deref().map(path),
            },
        };
        Some(Self {
            is_pinned: false,
            source: RecentSource::Reach(kept),
        })
    }

    pub fn of_config(file: &str, server: &str) -> Self {
        Self {
            is_pinned: false,
            source: RecentSource::Config {
                file: file.to_owned(),
                server: server.to_owned(),
            },
        }
    }

    /// For people: what it is, and where.
    pub fn label(&self) -> (String, String) {
        match &self.source {
            RecentSource::Config { file, server } => (server.clone(), file.clone()),
            RecentSource::Reach(kept) => {
                let source = kept.source();
                (source.label(), source.to_string())
            }
        }
    }
}

impl RecentReach {
    /// The source, with [`LEFT_OUT`] instead of each secret.
    pub fn source(&self) -> Source {
        // A word that a later version wrote is taken for none.
        let pinned = |word: &Option<String>| {
            word.as_deref()
                .and_then(|word| Protocol::parse(word).ok())
                .unwrap_or_default()
        };
        match self {
            Self::Command {
                name,
                program,
                args,
                env,
                cwd,
                clean,
                protocol,
            } => Source::Command(Command {
                name: name.clone(),
                program: program.clone(),
                args: args.clone(),
                env: RecentValue::pairs(env),
                cwd: cwd.as_ref().map(PathBuf::from),
                is_clean: *clean,
                protocol: pinned(protocol),
            }),
            Self::Url {
                name,
                url,
                headers,
                login,
                client_id,
                client_secret,
                protocol,
                transport,
                cacert,
            } => Source::Http(Http {
                name: name.clone(),
                url: url.clone(),
                headers: RecentValue::pairs(headers),
                login: login.then(|| Login {
                    client_id: client_id.clone(),
                    client_secret: client_secret.then(|| LEFT_OUT.to_owned()),
                    asks: true,
                    ..Login::default()
                }),
                protocol: pinned(protocol),
                transport: transport
                    .as_deref()
                    .and_then(|word| Transport::parse(word).ok())
                    .unwrap_or_default(),
                cacert: cacert.as_ref().map(PathBuf::from),
            }),
        }
    }
}

/// By what a server is known again: the digest of its exact command with its folder and plain variables, or of its
/// address with its plain headers. Secrets, its name and the protocol's revision make no other server of it. `None` for the sample
/// and for captures.
pub fn server_key(source: &Source, here: Option<&Path>) -> Option<String> {
    let recent = Recent::new(
        &source.clone().with_protocol(Protocol::Auto).with_name(None),
        here,
    )?;
    Some(sha256(
        serde_json::to_string(&recent.source).ok()?.as_bytes(),
    ))
}

/// The folder a command is started in; a relative one is below the one that Loupe runs in.
pub fn folder_of(cwd: Option<&Path>, here: Option<&Path>) -> Option<PathBuf> {
    match (cwd, here) {
        (Some(cwd), Some(here)) => Some(here.join(cwd)),
        (cwd, here) => cwd.or(here).map(Path::to_owned),
    }
}

/// The digest of exactly this server, for what the user allows it: as [`server_key`], and with every value that only looks
/// like a key, since a long name of a host does too. What is secret by its name may change without a question.
pub fn exact_server(source: &Source, here: Option<&Path>) -> Option<String> {
    let mut put = |name: &str, value: &str| {
        Some(if is_secret_name(name) {
            LEFT_OUT.to_owned()
        } else {
            sha256(value.as_bytes())
        })
    };
    let recent = Recent::masked(
        &source.clone().with_protocol(Protocol::Auto).with_name(None),
        here,
        &mut put,
    )?;
    Some(sha256(
        serde_json::to_string(&recent.source).ok()?.as_bytes(),
    ))
}

/// What of a source is secret and was left out: by the names that it is asked for.
pub fn missing_secrets(source: &Source) -> Vec<String> {
    let mut names = Vec::new();
    map_named(source, &mut |name, value| {
        if value == LEFT_OUT {
            names.push(name.to_owned());
        }
        None
    });
    names
}

/// The source with what was left out filled in, as far as `values` has it.
pub fn with_secrets(source: &Source, values: &BTreeMap<String, String>) -> Source {
    map_named(source, &mut |name, value| {
        values.get(name).filter(|_| value == LEFT_OUT).cloned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The secrets of a source by their names, but for those that were left out.
    fn secrets(source: &Source) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        map_named(source, &mut |name, value| {
            if value != LEFT_OUT {
                found.insert(name.to_owned(), value.to_owned());
            }
            None
        });
        found
    }

    #[test]
    fn no_secret_is_kept() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let command = Source::Command(Command {
            program: "npx".into(),
            args: words(
                "srv --api-key canary-1 --token=canary-2 --port 1 postgres://me:canary-3@h/db password=canary-4",
            ),
            env: [
                ("A_KEY", "canary-5"),
                ("DB", "mysql://me:canary%20x@h"),
                ("PORT", "80"),
            ]
            .map(|(a, b)| (a.into(), b.into()))
            .into(),
            cwd: None,
            is_clean: false,
            name: None,
            protocol: Protocol::Version("2026-07-28"),
        });
        let http = Source::Http(Http {
            url: "https://me:canary-6@h/mcp?api_key=canary-7&a=1".into(),
            headers: [("X-Key", "canary-8"), ("X-Tenant", "acme")]
                .map(|(a, b)| (a.into(), b.into()))
                .into(),
            login: Some(Login {
                client_secret: Some("canary-9".into()),
                client_id: Some("me".into()),
                ..Login::default()
            }),
            transport: Transport::Sse,
            ..Http::default()
        });
        let kept = [
            Recent::new(&command, None).unwrap(),
            Recent::new(&http, None).unwrap(),
        ];
        let text = serde_json::to_string(&kept).unwrap();
        assert!(!text.contains("canary"), "{text}");
        assert_eq!(serde_json::from_str::<Vec<Recent>>(&text).unwrap(), kept);
        assert_eq!(
            kept[0].label().1,
            "--protocol 2026-07-28 --env A_KEY=… --env DB=… --env PORT=… -- npx srv --api-key … '--token=…' --port 1 postgres://me:…@h/db 'password=…'"
        );
        assert_eq!(
            kept[1].label().1,
            "--url 'https://me:…@h/mcp?api_key=…&a=1' --transport sse --header 'X-Key: …' --header 'X-Tenant: …' --login --client-id me --client-secret …"
        );
        assert_eq!(Recent::new(&Source::sample(), None), None);
        for (recent, source, names) in [
            (
                &kept[0],
                &command,
                vec![
                    "A_KEY",
                    "password of DB",
                    "--api-key",
                    "--token",
                    "password of h",
                    "password",
                ],
            ),
            (
                &kept[1],
                &http,
                vec!["password of h", "api_key of h", "X-Key", "client secret"],
            ),
        ] {
            let RecentSource::Reach(kept) = &recent.source else {
                panic!("reached")
            };
            let again = kept.source();
            assert_eq!(missing_secrets(&again), names);
            assert!(missing_secrets(source).is_empty());
            let whole = with_secrets(&again, &secrets(source));
            assert!(missing_secrets(&whole).is_empty());
            assert_eq!(
                (whole.to_string(), secrets(&whole)),
                (source.to_string(), secrets(source))
            );
        }
    }

    #[test]
    fn two_secrets_of_one_name_are_two() {
        let args = [
            "--api-key",
            "canary-1",
            "https://me:canary-2@h/a",
            "--api-key",
            "canary-3",
            "https://me:canary-4@h/b",
        ];
        let args = args.map(str::to_owned).to_vec();
        let source = Source::Command(Command {
            program: "x".into(),
            args,
            ..Command::default()
        });
        let Some(Recent {
            source: RecentSource::Reach(kept),
            ..
        }) = Recent::new(&source, None)
        else {
            panic!("kept")
        };
        let again = kept.source();
        assert_eq!(
            missing_secrets(&again),
            [
                "--api-key",
                "password of h",
                "--api-key (2)",
                "password of h (2)"
            ]
        );
        assert_eq!(with_secrets(&again, &secrets(&source)), source);
    }

    #[test]
    fn plain_values_come_back_and_older_files_can_be_read() {
        let source = |value: &str| {
            let env = vec![
                ("MODE".to_owned(), value.to_owned()),
                ("ID".to_owned(), "a1b2c3d4e5f6a7b8c9d0".to_owned()),
            ];
            Source::Command(Command {
                program: "x".into(),
                env,
                ..Command::default()
            })
        };
        let Some(Recent {
            source: RecentSource::Reach(kept),
            ..
        }) = Recent::new(&source("dev"), Some(Path::new("/here")))
        else {
            panic!("kept")
        };
        let Source::Command(command) = kept.source() else {
            panic!("a command")
        };
        assert_eq!(
            command.env,
            [
                ("MODE".into(), "dev".into()),
                ("ID".into(), LEFT_OUT.into())
            ]
        );
        assert_eq!(command.cwd.as_deref(), Some(Path::new("/here")));
        let old = r#"{"command":{"program":"x","args":[],"env":["A"],"cwd":null}}"#;
        assert_eq!(
            missing_secrets(&serde_json::from_str::<RecentReach>(old).unwrap().source()),
            ["A"]
        );
        let key = |value, here| server_key(&source(value), Some(Path::new(here))).unwrap();
        assert_eq!(key("dev", "/a"), key("dev", "/a"));
        assert!(key("dev", "/a") != key("prod", "/a") && key("dev", "/a") != key("dev", "/b"));
        let other_protocol = source("dev").with_protocol(Protocol::Version("2025-06-18"));
        assert_eq!(
            server_key(&other_protocol, Some(Path::new("/a"))),
            Some(key("dev", "/a"))
        );
    }

    #[test]
    fn every_secret_that_is_left_out_is_asked_for() {
        let http = |url: &str, login| {
            Source::Http(Http {
                url: url.into(),
                login,
                ..Http::default()
            })
        };
        let login = Login {
            client_secret: Some("canary".into()),
            client_id: Some("me".into()),
            ..Login::default()
        };
        for (source, wanted) in [
            (http("https://h/mcp?sig=canary", None), 1),
            (http("https://me:canary@h/mcp", None), 1),
            (http("https://h/mcp", Some(login)), 1),
        ] {
            let Some(Recent {
                source: RecentSource::Reach(kept),
                ..
            }) = Recent::new(&source, None)
            else {
                panic!("kept")
            };
            assert_eq!(missing_secrets(&kept.source()).len(), wanted, "{source}");
        }
    }
}
