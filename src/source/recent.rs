//! A source that was used before, as it may be kept: no value of a variable, header or anything else that looks like a
//! secret is in it. What is left out is typed again.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::import::looks_secret;
use super::{Command, Http, Login, Protocol, Source, Transport, is_key};

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
    Reach(Kept),
}

/// A command or an address, names of variables and headers only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Kept {
    Command {
        program: String,
        args: Vec<String>,
        env: Vec<String>,
        cwd: Option<String>,
        #[serde(default)]
        clean: bool,
        #[serde(default)]
        protocol: Option<String>,
    },
    Url {
        url: String,
        headers: Vec<String>,
        login: bool,
        client_id: Option<String>,
        #[serde(default)]
        protocol: Option<String>,
        #[serde(default)]
        transport: Option<String>,
        #[serde(default)]
        cacert: Option<String>,
    },
}

impl Recent {
    /// `None` for the sample and for captures, which need no finding.
    pub fn of(source: &Source) -> Option<Self> {
        let names = |pairs: &[(String, String)]| pairs.iter().map(|(name, _)| name.clone()).collect();
        let protocol = match source.protocol() {
            Protocol::Auto => None,
            pinned => Some(pinned.to_string()),
        };
        let kept = match source {
            Source::Sample(_) | Source::Fixture(_) => return None,
            Source::Command(command) => Kept::Command {
                program: command.program.clone(),
                args: without_secrets(&command.args),
                env: names(&command.env),
                cwd: command.cwd.as_ref().map(|cwd| cwd.to_string_lossy().into_owned()),
                clean: command.is_clean,
                protocol,
            },
            Source::Http(http) => Kept::Url {
                url: address(&http.url),
                headers: names(&http.headers),
                login: http.login.is_some(),
                client_id: http.login.as_ref().and_then(|login| login.client_id.clone()),
                protocol,
                transport: (http.transport != Transport::Auto).then(|| http.transport.word().to_owned()),
                cacert: http.cacert.as_ref().map(|file| file.to_string_lossy().into_owned()),
            },
        };
        Some(Self { is_pinned: false, source: RecentSource::Reach(kept) })
    }

    pub fn of_config(file: &str, server: &str) -> Self {
        Self { is_pinned: false, source: RecentSource::Config { file: file.to_owned(), server: server.to_owned() } }
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

impl Kept {
    /// The source, values left empty.
    pub fn source(&self) -> Source {
        let empty = |names: &[String]| names.iter().map(|name| (name.clone(), String::new())).collect();
        // A word that a later version wrote is taken for none.
        let pinned = |word: &Option<String>| word.as_deref().and_then(|word| Protocol::parse(word).ok()).unwrap_or_default();
        match self {
            Self::Command { program, args, env, cwd, clean, protocol } => Source::Command(Command {
                program: program.clone(),
                args: args.clone(),
                env: empty(env),
                cwd: cwd.as_ref().map(PathBuf::from),
                is_clean: *clean,
                protocol: pinned(protocol),
            }),
            Self::Url { url, headers, login, client_id, protocol, transport, cacert } => Source::Http(Http {
                url: url.clone(),
                headers: empty(headers),
                login: login.then(|| Login { client_id: client_id.clone(), asks: true, ..Login::default() }),
                protocol: pinned(protocol),
                transport: transport.as_deref().and_then(|word| Transport::parse(word).ok()).unwrap_or_default(),
                cacert: cacert.as_ref().map(PathBuf::from),
            }),
        }
    }
}

/// What has to be typed again in a source that was filled from a kept one: names of variables, headers and parameters
/// without a value, and arguments in which one is left out.
pub fn left_out(source: &Source) -> Vec<String> {
    let empty = |pairs: &[(String, String)]| -> Vec<String> {
        pairs.iter().filter(|(_, value)| value.is_empty()).map(|(name, _)| name.clone()).collect()
    };
    match source {
        Source::Sample(_) | Source::Fixture(_) => Vec::new(),
        Source::Command(command) => {
            let args = command.args.iter().filter(|arg| arg.contains(LEFT_OUT)).cloned();
            empty(&command.env).into_iter().chain(args).collect()
        }
        Source::Http(http) => {
            let query = url::Url::parse(&http.url).map(|url| url.query_pairs().into_owned().collect::<Vec<_>>());
            let query = query.unwrap_or_default().into_iter().filter(|(name, _)| looks_secret(name)).collect::<Vec<_>>();
            empty(&http.headers).into_iter().chain(empty(&query)).collect()
        }
    }
}

/// Arguments without what follows `--api-key`, without the value of `token=…`, without passwords in addresses.
fn without_secrets(args: &[String]) -> Vec<String> {
    let mut is_value = false;
    let kept = args.iter().map(|arg| {
        if std::mem::replace(&mut is_value, arg.starts_with('-') && !arg.contains('=') && looks_secret(arg))
            && !arg.starts_with('-')
        {
            return LEFT_OUT.to_owned();
        }
        if arg.contains("://") {
            return address(arg);
        }
        match arg.split_once('=').or_else(|| arg.split_once(": ")) {
            Some((name, _)) if looks_secret(name) => format!("{}{LEFT_OUT}", &arg[..=name.len()]),
            _ => arg.clone(),
        }
    });
    kept.collect()
}

/// An address without its password and without values of parameters that look secret.
fn address(text: &str) -> String {
    let Ok(mut url) = url::Url::parse(text) else { return text.to_owned() };
    let is_secret = |name: &str| looks_secret(name) || is_key(name);
    let has_secret = url.query_pairs().any(|(name, _)| is_secret(&name));
    if url.password().is_none() && !has_secret {
        return text.to_owned();
    }
    if url.password().is_some() && url.set_password(None).is_err() {
        return LEFT_OUT.to_owned();
    }
    if has_secret {
        let pairs: Vec<(String, String)> = url
            .query_pairs()
            .map(|(name, value)| (name.to_string(), if is_secret(&name) { String::new() } else { value.to_string() }))
            .collect();
        url.query_pairs_mut().clear().extend_pairs(pairs);
    }
    url.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secret_is_kept() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let command = Source::Command(Command {
            program: "npx".into(),
            args: words("srv --api-key canary-1 --token=canary-2 --port 1 postgres://me:canary-3@h/db password=canary-4"),
            env: vec![("A".into(), "canary-5".into())],
            cwd: None,
            is_clean: false,
            protocol: Protocol::Version("2026-07-28"),
        });
        let http = Source::Http(Http {
            url: "https://me:canary-6@h/mcp?api_key=canary-7&a=1".into(),
            headers: vec![("X".into(), "canary-8".into())],
            login: Some(Login { client_secret: Some("canary-9".into()), client_id: Some("me".into()), ..Login::default() }),
            transport: Transport::Sse,
            ..Http::default()
        });
        let kept = [Recent::of(&command).unwrap(), Recent::of(&http).unwrap()];
        let text = serde_json::to_string(&kept).unwrap();
        assert!(!text.contains("canary"), "{text}");
        assert_eq!(serde_json::from_str::<Vec<Recent>>(&text).unwrap(), kept);
        assert_eq!(
            kept[0].label().1,
            "--protocol 2026-07-28 --env A=… -- npx srv --api-key … '--token=…' --port 1 postgres://me@h/db 'password=…'"
        );
        assert_eq!(
            kept[1].label().1,
            "--url 'https://me@h/mcp?api_key=&a=1' --transport sse --header 'X: …' --login --client-id me"
        );
        assert_eq!(Recent::of(&Source::sample()), None);
        let missing = kept.map(|recent| match recent.source {
            RecentSource::Reach(kept) => left_out(&kept.source()),
            RecentSource::Config { .. } => Vec::new(),
        });
        assert_eq!(missing, [vec!["A", "…", "--token=…", "password=…"], vec!["X", "api_key"]]);
        assert!(left_out(&command).is_empty() && left_out(&http).is_empty());
    }
}
