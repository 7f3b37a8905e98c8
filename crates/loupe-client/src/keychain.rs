//! The system's keychain. It may ask its owner, and so take any time: it runs on a thread of its own, with a limit.

use std::time::Duration;

use tokio::sync::oneshot;

/// The name of Loupe's entries in a keychain.
const SERVICE: &str = "mcp-loupe";
/// How long a keychain may take: it may have to be unlocked by its owner.
const LIMIT: Duration = Duration::from_secs(60);

/// The text of an entry; `None` where there is no such entry.
///
/// # Errors
/// Why the keychain cannot be used, for people.
pub async fn load(entry: &str) -> Result<Option<String>, String> {
    let entry = entry.to_owned();
    aside(move || keyring::Entry::new(SERVICE, &entry)?.get_password()).await
}

/// Keeps a text under an entry. Where that fails an older text of it is taken out, so that it does not come before one
/// that ends up elsewhere.
///
/// # Errors
/// As [`load`].
pub async fn save(entry: &str, text: String) -> Result<(), String> {
    let entry = entry.to_owned();
    let saved = aside(move || {
        let entry = keyring::Entry::new(SERVICE, &entry)?;
        entry.set_password(&text).inspect_err(|_| {
            entry.delete_credential().ok();
        })
    });
    saved.await?.ok_or_else(|| "no entry".to_owned())
}

/// Takes an entry out, where there is one.
///
/// # Errors
/// As [`load`].
pub async fn forget(entry: &str) -> Result<(), String> {
    let entry = entry.to_owned();
    aside(move || keyring::Entry::new(SERVICE, &entry)?.delete_credential())
        .await
        .map(drop)
}

/// Runs a keychain's work on a thread that nobody has to wait for. `None`: there is no such entry.
async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> keyring::Result<T> + Send + 'static,
) -> Result<Option<T>, String> {
    let (done, outcome) = oneshot::channel();
    std::thread::spawn(move || {
        done.send(work()).ok();
    });
    match tokio::time::timeout(LIMIT, outcome).await {
        Ok(Ok(Ok(value))) => Ok(Some(value)),
        Ok(Ok(Err(keyring::Error::NoEntry))) => Ok(None),
        Ok(Ok(Err(keyring::Error::NoDefaultStore))) => Err("there is none".into()),
        Ok(Ok(Err(error))) => Err(error.to_string()),
        Ok(Err(_)) => Err("it failed".into()),
        Err(_) => Err(format!("no answer within {} s", LIMIT.as_secs())),
    }
}
