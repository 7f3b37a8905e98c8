//! How to log in to a server that asks for it, as data. Values of secrets never show.

use std::fmt;
use std::path::PathBuf;

use crate::quote::shell;

/// Who logs in where a server asks for it (OAuth).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
pub enum Grant {
    /// The user, in the browser: authorization code with PKCE.
    #[default]
    Browser,
    /// The client itself, with its id and its secret or key: client credentials.
    ClientCredentials,
    /// A workload, with the token that its platform gives it: the JWT-bearer grant.
    Workload,
    /// The user, with an ID token of the organisation's identity provider: enterprise-managed authorization.
    Enterprise,
}

/// A wish to log in where the server asks for it.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Login {
    pub grant: Grant,
    /// A client that is registered with the authorization server; or the https address of a client's metadata document,
    /// used where the authorization server takes such documents. Otherwise Loupe registers itself.
    pub client_id: Option<String>,
    /// A secret.
    pub client_secret: Option<String>,
    /// The file of the client's private key (PEM), instead of a secret.
    pub client_key: Option<PathBuf>,
    /// The file of the token that vouches for a workload or the user.
    pub assertion: Option<PathBuf>,
    /// The issuer of an organisation's identity provider.
    pub idp: Option<String>,
    /// The client that is registered there.
    pub idp_client_id: Option<String>,
    /// A secret: of that client.
    pub idp_client_secret: Option<String>,
    /// The authorization server to use, by its issuer, where a server names several.
    pub server: Option<String>,
    /// Where it names several and none is chosen, nothing is tried: the user chooses first. Otherwise it is the first.
    pub asks: bool,
}

impl Login {
    /// The client id is the address of a document that describes the client.
    pub fn names_document(id: &str) -> bool {
        id.strip_prefix("https://")
            .and_then(|rest| rest.split_once('/'))
            .is_some_and(|(host, path)| !host.is_empty() && !path.is_empty())
    }
}

/// The options that ask for it, the secret left out.
impl fmt::Display for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("--login")?;
        if self.grant != Grant::Browser {
            write!(f, "={}", <&str>::from(self.grant))?;
        }
        let files = [&self.client_key, &self.assertion]
            .map(|path| path.as_ref().map(|path| path.display().to_string()));
        let [key, assertion] = &files;
        for (option, value) in [
            ("client-id", &self.client_id),
            ("client-key", key),
            ("assertion", assertion),
            ("idp", &self.idp),
            ("idp-client-id", &self.idp_client_id),
        ] {
            if let Some(value) = value {
                write!(f, " --{option} {}", shell(value))?;
            }
        }
        for (option, value) in [
            ("client-secret", &self.client_secret),
            ("idp-client-secret", &self.idp_client_secret),
        ] {
            if value.is_some() {
                write!(f, " --{option} …")?;
            }
        }
        if let Some(server) = &self.server {
            write!(f, " --authorization-server {}", shell(server))?;
        }
        Ok(())
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_secret_does_not_show() {
        let login = Login {
            client_id: Some("my app".into()),
            client_secret: Some("s3cret".into()),
            ..Login::default()
        };
        assert_eq!(
            login.to_string(),
            "--login --client-id 'my app' --client-secret …"
        );
        let login = Login {
            grant: Grant::ClientCredentials,
            ..login
        };
        assert_eq!(
            format!("{login:?}"),
            "--login=client-credentials --client-id 'my app' --client-secret …"
        );
        let login = Login {
            grant: Grant::Enterprise,
            assertion: Some("id token".into()),
            idp: Some("https://idp".into()),
            idp_client_secret: Some("s3cret".into()),
            ..Login::default()
        };
        assert_eq!(
            login.to_string(),
            "--login=enterprise --assertion 'id token' --idp https://idp --idp-client-secret …"
        );
        assert!(Login::names_document("https://example.com/client.json"));
        assert!(
            !Login::names_document("https://example.com")
                && !Login::names_document("https://example.com/")
        );
    }
}
