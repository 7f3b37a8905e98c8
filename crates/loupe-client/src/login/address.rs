//! Where a login may send to: over https, and to loopback and private addresses only where the server itself is there.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

/// How near a host is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Near {
    /// This computer.
    Loopback,
    /// The network it is in.
    Private,
    /// The link, the cloud's own services, what is no host: nothing that a login is for.
    Reserved,
    /// Anywhere. A name is taken for that; https keeps it from being anybody else.
    Public,
}

impl Near {
    fn new(url: &Url) -> Option<Self> {
        Some(match url.host()? {
            Host::Domain(name) => {
                let name = name.trim_end_matches('.').to_ascii_lowercase();
                let is_here = name == "localhost" || name.ends_with(".localhost");
                if is_here {
                    Self::Loopback
                } else {
                    Self::Public
                }
            }
            Host::Ipv4(address) => Self::v4(address),
            Host::Ipv6(address) => Self::v6(address),
        })
    }

    fn v4(address: Ipv4Addr) -> Self {
        let [a, b, ..] = address.octets();
        if address.is_loopback() {
            Self::Loopback
        } else if address.is_private() || a == 100 && (64..128).contains(&b) {
            Self::Private
        } else if a == 0
            || address.is_link_local()
            || address.is_broadcast()
            || address.is_multicast()
        {
            Self::Reserved
        } else {
            Self::Public
        }
    }

    fn v6(address: Ipv6Addr) -> Self {
        if let IpAddr::V4(address) = address.to_canonical() {
            return Self::v4(address);
        }
        if address.is_loopback() {
            Self::Loopback
        } else if address.is_unique_local() {
            Self::Private
        } else if address.is_unspecified()
            || address.is_unicast_link_local()
            || address.is_multicast()
        {
            Self::Reserved
        } else {
            Self::Public
        }
    }
}

/// Whether an address that `server` names, or whoever it named, may be sent to.
pub(super) fn may_send(server: &Url, to: &Url) -> bool {
    let (is_secure, is_clear) = (to.scheme() == "https", to.scheme() == "http");
    // In clear also to the host that is spoken to in clear already.
    if server.host() == to.host() && (is_secure || is_clear && server.scheme() == "http") {
        return true;
    }
    match (Near::new(server), Near::new(to)) {
        (_, Some(Near::Public)) => is_secure,
        (Some(Near::Loopback), Some(Near::Loopback)) => is_secure || is_clear,
        (Some(Near::Private), Some(Near::Private)) => is_secure,
        _ => false,
    }
}

/// Whether an address that the user typed may be sent to: encrypted, or on this computer.
pub(super) fn is_safe(url: &Url) -> bool {
    url.scheme() == "https" || url.scheme() == "http" && Near::new(url) == Some(Near::Loopback)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_addresses_are_for_servers_that_are_there() {
        let (public, here, private) = (
            "https://mcp.example",
            "http://localhost:1/mcp",
            "http://10.0.0.5/mcp",
        );
        for (server, to, may) in [
            (public, "https://auth.example/token", true),
            (public, "http://auth.example/token", false),
            (public, "http://mcp.example/token", false),
            (public, "https://127.0.0.1/token", false),
            (public, "http://localhost/token", false),
            (public, "https://a.localhost./token", false),
            (public, "https://10.0.0.9/token", false),
            (public, "https://169.254.169.254/token", false),
            (public, "https://[::1]/token", false),
            (public, "https://[::ffff:127.0.0.1]/token", false),
            (public, "https://[fd00::1]/token", false),
            (public, "https://2130706433/token", false),
            (public, "file:///etc/passwd", false),
            (public, "javascript:alert(1)", false),
            (here, "http://127.0.0.1:2/token", true),
            (here, "https://[::1]/token", true),
            (here, "https://auth.example/token", true),
            (here, "http://auth.example/token", false),
            (here, "https://10.0.0.9/token", false),
            (private, "http://10.0.0.5:8080/token", true),
            (private, "https://10.0.0.9/token", true),
            (private, "http://10.0.0.9/token", false),
            (private, "http://127.0.0.1/token", false),
            ("http://intra/mcp", "http://intra/token", true),
            ("http://intra/mcp", "http://other/token", false),
        ] {
            assert_eq!(
                may_send(&Url::parse(server).unwrap(), &Url::parse(to).unwrap()),
                may,
                "{server} {to}"
            );
        }
        assert!(
            is_safe(&Url::parse("http://127.0.0.1/idp").unwrap())
                && !is_safe(&Url::parse("http://127.evil.example/").unwrap())
        );
    }
}
