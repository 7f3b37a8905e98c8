//! TLS: what the system trusts and the certificates that the user adds. It is set up here, and not by the HTTP library,
//! because the library does not tell when a handshake begins; its first question, for a session to resume, does.
//!
//! A certificate that `openssl req -x509` makes is an authority that signs itself, which no verifier takes for a server's.
//! Where the user names that very certificate it is trusted for the names and the days that it states.

use std::fmt;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::client::{
    ClientSessionMemoryCache, ClientSessionStore, Resumption, Tls12ClientSessionValue,
    Tls13ClientSessionValue,
};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, NamedGroup, SignatureScheme};
use rustls_platform_verifier::Verifier;

use super::connect_times::ConnectTimes;

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
pub(super) fn config(
    authorities: Vec<CertificateDer<'static>>,
    took: Arc<ConnectTimes>,
) -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let system = Verifier::new_with_extra_roots(authorities.clone(), Arc::clone(&provider))?;
    let verifier = Trust {
        system,
        named: authorities,
    };
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .dangerous() // As rustls calls any verifier that is not its own; this one asks the system.
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config.resumption = Resumption::store(Arc::new(Sessions {
        kept: ClientSessionMemoryCache::new(SESSIONS),
        took,
    }));
    Ok(config)
}

/// What the system says, and what the user named.
#[derive(Debug)]
struct Trust {
    system: Verifier,
    named: Vec<CertificateDer<'static>>,
}

impl ServerCertVerifier for Trust {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let verified = self.system.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        );
        match &verified {
            // Its days were looked at before this was.
            Err(error)
                if is_authority(error) && self.named.iter().any(|named| named == end_entity) =>
            {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            _ => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.system
            .verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.system
            .verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.system.supported_verify_schemes()
    }
}

/// Whether a certificate was refused because it is an authority's, and for nothing that is looked at before.
fn is_authority(error: &rustls::Error) -> bool {
    let rustls::Error::InvalidCertificate(CertificateError::Other(other)) = error else {
        return false;
    };
    matches!(
        other.0.downcast_ref(),
        Some(webpki::Error::CaUsedAsEndEntity)
    )
}

/// Why a handshake was refused on this side, where that is why there is no connection.
pub(super) fn refusal<'a>(
    error: &'a (dyn std::error::Error + 'static),
) -> Option<&'a rustls::Error> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        // What is wrapped there is skipped by `source`.
        let wrapped = error
            .downcast_ref::<std::io::Error>()
            .and_then(std::io::Error::get_ref);
        cause = wrapped
            .map(|wrapped| wrapped as &(dyn std::error::Error + 'static))
            .or_else(|| error.source());
    }
    None
}

/// Why, and what can be done about it, for people.
pub(super) fn words(refused: &rustls::Error) -> (String, &'static str) {
    if let rustls::Error::InvalidMessage(rustls::InvalidMessage::InvalidContentType) = refused {
        return (
            "what answers at this port does not speak TLS".into(),
            "write http:// in the address, or check the port",
        );
    }
    let rustls::Error::InvalidCertificate(why) = refused else {
        return (
            format!("no TLS connection: {refused}"),
            "check the scheme, the port, and the server's TLS settings",
        );
    };
    let certificate = "the server's certificate";
    match why {
        _ if is_authority(refused) => (
            format!("{certificate} signs itself and is not trusted here"),
            "if you trust it, give that very certificate by `--cacert FILE` (PEM)",
        ),
        CertificateError::UnknownIssuer | CertificateError::BadSignature => (
            format!("{certificate} is signed by an authority that is not trusted here"),
            "if you trust it, give the certificate of its authority by `--cacert FILE` (PEM)",
        ),
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => (
            format!("{certificate} has expired"),
            "have it renewed; check this machine's clock",
        ),
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => (
            format!("{certificate} is not valid yet"),
            "check this machine's clock, and the server's",
        ),
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => (
            format!("{certificate} is not for this host name"),
            "use a name that it states, or have one made that states this one (`openssl req -x509 -addext subjectAltName=DNS:NAME …`)",
        ),
        other => (
            format!("{certificate} cannot be trusted: {other}"),
            "have one made that verifiers take",
        ),
    }
}

/// Sessions to resume, and the news that one is asked for.
struct Sessions {
    kept: ClientSessionMemoryCache,
    took: Arc<ConnectTimes>,
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
