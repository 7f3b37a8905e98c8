//! A stand-in for a browser, for authorization servers that redirect at once.

use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(20);

/// Follows one redirect to Loupe's own address, and no other.
pub struct Visit(reqwest::Client);

impl Visit {
    pub fn new() -> Self {
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .timeout(LIMIT);
        Self(client.build().expect("the system's HTTP client"))
    }

    /// Fetches the address and then where it redirects to, in the background. What goes wrong shows in that nobody comes
    /// back.
    pub fn go(&self, url: String) {
        let client = self.0.clone();
        tokio::spawn(async move {
            let Ok(answer) = client.get(url).send().await else {
                return;
            };
            let location = answer
                .headers()
                .get(http::header::LOCATION)
                .and_then(|location| location.to_str().ok());
            if let Some(location) =
                location.filter(|location| location.starts_with("http://127.0.0.1:"))
            {
                client.get(location).send().await.ok();
            }
        });
    }
}
