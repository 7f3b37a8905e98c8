//! A sample server behind TLS, with certificates of authorities that nobody knows.

use std::sync::Arc;

use loupe_core::source::SampleSpec;
use loupe_sample::{self, sample::Sample};

/// A certificate that an authority of this test's own signed for 127.0.0.1, and that authority as PEM.
pub fn certified() -> (Arc<tokio_rustls::rustls::ServerConfig>, String) {
    use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let (authority_key, key) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
    let pem = authority.self_signed(&authority_key).unwrap().pem();
    let issuer = Issuer::new(authority, authority_key);
    let leaf = CertificateParams::new(vec!["127.0.0.1".into()])
        .unwrap()
        .signed_by(&key, &issuer)
        .unwrap();
    (secured(&leaf, &key), pem)
}

/// A certificate as `openssl req -x509` makes it, an authority that signs itself, and itself as PEM.
pub fn self_signed(name: &str, days: i64) -> (Arc<tokio_rustls::rustls::ServerConfig>, String) {
    use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};
    let mut params = CertificateParams::new(vec![name.into()]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let now = time::OffsetDateTime::now_utc();
    (params.not_before, params.not_after) = (
        now - time::Duration::days(30),
        now + time::Duration::days(days),
    );
    let key = KeyPair::generate().unwrap();
    let certificate = params.self_signed(&key).unwrap();
    (secured(&certificate, &key), certificate.pem())
}

fn secured(
    certificate: &rcgen::Certificate,
    key: &rcgen::KeyPair,
) -> Arc<tokio_rustls::rustls::ServerConfig> {
    let key =
        tokio_rustls::rustls::pki_types::PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = tokio_rustls::rustls::ServerConfig::builder_with_provider(Arc::new(
        tokio_rustls::rustls::crypto::aws_lc_rs::default_provider(),
    ));
    let config = config
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth();
    Arc::new(
        config
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap(),
    )
}

/// The sample server behind TLS; its address.
pub async fn behind_tls(config: Arc<tokio_rustls::rustls::ServerConfig>) -> String {
    let sample = Arc::new(Sample::new(&SampleSpec::default()).unwrap());
    let serving = loupe_sample::http(sample, ([127, 0, 0, 1], 0).into())
        .await
        .unwrap();
    let behind = serving.url().split('/').nth(2).unwrap().to_owned();
    let _serving = tokio::spawn(serving.run());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}/mcp", listener.local_addr().unwrap());
    let acceptor = tokio_rustls::TlsAcceptor::from(config);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, behind) = (acceptor.clone(), behind.clone());
            tokio::spawn(async move {
                // One that is refused ends here.
                let Ok(mut inside) = acceptor.accept(stream).await else {
                    return;
                };
                let mut plain = tokio::net::TcpStream::connect(&behind).await.unwrap();
                tokio::io::copy_bidirectional(&mut inside, &mut plain)
                    .await
                    .ok();
            });
        }
    });
    url
}
