//! Where logins are kept: the system's keychain, else a file that only its owner may read. Bound to server and issuer.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use rmcp::transport::auth::StoredCredentials;
use serde::{Deserialize, Serialize};

use crate::keychain;

/// The file, in the folder of `--data-dir` or the one for settings.
const FILE: &str = "logins.json";

/// Where logins are kept. Nowhere by default: they end with the session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoginStore {
    /// The system's keychain, first.
    pub keychain: bool,
    /// The folder of the file that stands in for it.
    pub folder: Option<PathBuf>,
}

/// One login, as it is kept.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Record {
    pub server: String,
    pub issuer: Option<String>,
    pub client_id: String,
    pub client_secret: Option<String>,
    /// The port of the address that the client was registered with, where Loupe registered itself.
    pub(crate) registered_port: Option<u16>,
    pub tokens: StoredCredentials,
}

impl Record {
    fn token(&self, name: &str) -> Option<String> {
        let tokens = serde_json::to_value(self.tokens.token_response.as_ref()?).ok()?;
        tokens.get(name)?.as_str().map(str::to_owned)
    }

    pub(super) fn access_token(&self) -> Option<String> {
        self.token("access_token")
    }

    pub(super) fn refresh_token(&self) -> Option<String> {
        self.token("refresh_token")
    }
}

impl LoginStore {
    /// The login of a name, and what to say about it.
    pub(super) async fn load(&self, name: &str) -> (Option<Record>, Option<String>) {
        let mut note = None;
        if self.keychain {
            match keychain::load(name).await {
                Ok(Some(text)) => match serde_json::from_str(&text) {
                    Ok(record) => {
                        return (
                            Some(record),
                            Some("the login kept in the system's keychain is used".into()),
                        );
                    }
                    Err(_) => note = Some(
                        "the login kept in the system's keychain cannot be read; it is left aside"
                            .into(),
                    ),
                },
                Ok(None) => {}
                Err(why) => note = Some(format!("the system's keychain cannot be used: {why}")),
            }
        }
        let Some(path) = self.path() else {
            return (None, note);
        };
        match read(&path) {
            Ok(mut all) => match all.remove(name) {
                Some(record) => (
                    Some(record),
                    Some(format!("the login kept in {} is used", path.display())),
                ),
                None => (None, note),
            },
            Err(why) => (
                None,
                Some(format!("{} cannot be read: {why}", path.display())),
            ),
        }
    }

    /// Keeps a login; says where.
    pub(super) async fn save(&self, name: &str, record: &Record) -> String {
        let mut why_not = String::new();
        if self.keychain {
            match keychain::save(name, serde_json::to_string(record).unwrap_or_default()).await {
                Ok(()) => {
                    self.forget_in_file(name);
                    return "the login is kept in the system's keychain".into();
                }
                Err(why) => {
                    why_not = format!("the system's keychain cannot be used ({why}); ");
                }
            }
        }
        let Some(path) = self.path() else {
            return format!("{why_not}the login is kept until the session ends");
        };
        let written = read(&path).and_then(|mut all| {
            all.insert(name.to_owned(), record.clone());
            write(&path, &all)
        });
        match written {
            Ok(()) => format!(
                "{why_not}the login is kept in {}, which only you can read",
                path.display()
            ),
            Err(why) => format!(
                "{why_not}{} cannot be written ({why}); the login ends with the session",
                path.display()
            ),
        }
    }

    /// Removes a login from everywhere it may be; says from where.
    pub(super) async fn forget(&self, name: &str) -> Result<String, String> {
        let (mut gone, mut unseen) = (Vec::new(), String::new());
        if self.keychain {
            match keychain::load(name).await {
                Ok(Some(_)) => {
                    keychain::forget(name)
                        .await
                        .map_err(|why| format!("the system's keychain did not remove it: {why}"))?;
                    gone.push("the system's keychain".to_owned());
                }
                Ok(None) => {}
                Err(why) => {
                    unseen = format!("; the system's keychain could not be looked into: {why}")
                }
            }
        }
        if let Some(path) = self.path() {
            let shown = path.display();
            let mut all = read(&path).map_err(|why| format!("{shown} cannot be read: {why}"))?;
            if all.remove(name).is_some() {
                write(&path, &all).map_err(|why| format!("{shown} cannot be written: {why}"))?;
                gone.push(shown.to_string());
            }
        }
        Ok(if gone.is_empty() {
            format!("no login is kept for it{unseen}")
        } else {
            format!("the login was removed from {}{unseen}", gone.join(" and "))
        })
    }

    fn forget_in_file(&self, name: &str) {
        if let Some(path) = self.path()
            && let Ok(mut all) = read(&path)
            && all.remove(name).is_some()
        {
            // It is out of date at worst, and then refused by the server.
            write(&path, &all).ok();
        }
    }

    fn path(&self) -> Option<PathBuf> {
        self.folder.as_ref().map(|folder| folder.join(FILE))
    }
}

type All = BTreeMap<String, Record>;

fn read(path: &Path) -> Result<All, String> {
    match std::fs::read_to_string(path) {
        Ok(text) => serde_json::from_str(&text).map_err(|_| "not a file of logins".to_owned()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(All::new()),
        Err(error) => Err(error.to_string()),
    }
}

fn write(path: &Path, all: &All) -> Result<(), String> {
    let write = || -> std::io::Result<()> {
        let folder = path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder)?;
        // Such a file belongs to its owner alone (0600) from its first byte on.
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(serde_json::to_string_pretty(all)?.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(token: &str) -> Record {
        let response = serde_json::from_value(
            serde_json::json!({"access_token": token, "token_type": "bearer"}),
        )
        .unwrap();
        Record {
            server: "http://h/mcp".into(),
            issuer: Some("http://h".into()),
            client_id: "me".into(),
            client_secret: None,
            registered_port: Some(1),
            tokens: StoredCredentials::new("me".into(), Some(response), vec!["a".into()], Some(1)),
        }
    }

    #[tokio::test]
    async fn a_file_keeps_logins_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let keep = LoginStore {
            keychain: false,
            folder: Some(folder.path().join("new")),
        };
        assert!(keep.load("a").await.0.is_none());
        assert!(
            keep.save("a", &record("one"))
                .await
                .contains("which only you can read")
        );
        keep.save("b", &record("two")).await;
        assert_eq!(
            keep.load("a").await.0.unwrap().access_token().unwrap(),
            "one"
        );
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(keep.path().unwrap())
                .unwrap()
                .permissions()
                .mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        assert!(
            keep.forget("a")
                .await
                .unwrap()
                .starts_with("the login was removed from ")
        );
        assert_eq!(
            keep.forget("a").await.as_deref(),
            Ok("no login is kept for it")
        );
        assert!(keep.load("a").await.0.is_none() && keep.load("b").await.0.is_some());
        std::fs::write(keep.path().unwrap(), "?").unwrap();
        let (none, note) = keep.load("b").await;
        assert!(none.is_none() && note.unwrap().contains("not a file of logins"));
        // What cannot be read is not overwritten.
        assert!(
            keep.save("a", &record("one"))
                .await
                .contains("cannot be written")
        );
        assert!(
            keep.forget("b")
                .await
                .unwrap_err()
                .contains("not a file of logins")
        );
        assert_eq!(
            LoginStore::default().save("a", &record("one")).await,
            "the login is kept until the session ends"
        );
    }
}
