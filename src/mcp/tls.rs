//! TLS: what the system trusts and the authorities that a person adds. It is set up here, and not by the HTTP library,
//! because the library does not tell when a handshake begins; its first question, for a session to resume, does.

use std::fmt;
use std::sync::Arc;

use rustls::client::{
    ClientSessionMemoryCache, ClientSessionStore, Resumption, Tls12ClientSessionValue, Tls13ClientSessionValue,
};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, NamedGroup};
use rustls_platform_verifier::Verifier;

use super::connector::Took;

/// Servers whose sessions are kept to resume them.
const SESSIONS: usize = 32;

/// The certificates in a PEM text.
///
/// # Errors
/// What in it is none.
pub(super) fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, pem::Error> {
    CertificateDer::pem_slice_iter(pem).collect()
}

/// How connections are secured; `took` is told when a handshake begins.
///
/// # Errors
/// An authority's certificate cannot be used, or the system has none.
pub(super) fn config(authorities: Vec<CertificateDer<'static>>, took: Arc<Took>) -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let verifier = Verifier::new_with_extra_roots(authorities, Arc::clone(&provider))?;
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .dangerous() // As rustls calls any verifier that is not its own; this one asks the system.
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config.resumption = Resumption::store(Arc::new(Sessions { kept: ClientSessionMemoryCache::new(SESSIONS), took }));
    Ok(config)
}

/// Sessions to resume, and the news that one is asked for.
struct Sessions {
    kept: ClientSessionMemoryCache,
    took: Arc<Took>,
}

impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kept.fmt(f)
    }
}

impl ClientSessionStore for Sessions {
    fn set_kx_hint(&self, server: ServerName<'static>, group: NamedGroup) {
        self.kept.set_kx_hint(server, group);
    }

    fn kx_hint(&self, server: &ServerName<'_>) -> Option<NamedGroup> {
        self.kept.kx_hint(server)
    }

    fn set_tls12_session(&self, server: ServerName<'static>, value: Tls12ClientSessionValue) {
        self.kept.set_tls12_session(server, value);
    }

    fn tls12_session(&self, server: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        self.kept.tls12_session(server)
    }

    fn remove_tls12_session(&self, server: &ServerName<'static>) {
        self.kept.remove_tls12_session(server);
    }

    fn insert_tls13_ticket(&self, server: ServerName<'static>, value: Tls13ClientSessionValue) {
        self.kept.insert_tls13_ticket(server, value);
    }

    fn take_tls13_ticket(&self, server: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        self.took.begin_tls();
        self.kept.take_tls13_ticket(server)
    }
}
