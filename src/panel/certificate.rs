//! The certificate of the encrypted panel: the one that the site names, or one that Shoal makes itself.

use std::net::IpAddr;
use std::path::Path;

use axum_server::tls_rustls::RustlsConfig;
use rcgen::{CertifiedKey, generate_simple_self_signed};

use super::params::PanelParams;
use crate::files::{read_file, write_private};

/// Name of the own certificate in the state folder.
const CERTIFICATE_FILE: &str = "panel-certificate.pem";
/// Name of its private key.
const KEY_FILE: &str = "panel-key.pem";
/// Largest file that is read, in bytes.
const PEM_BYTES_MAX: u64 = 1 << 20;

/// Certificate and private key as PEM.
type Pem = (Vec<u8>, Vec<u8>);

/// Returns the settings of the encryption. `site` is the folder of the site file, `state` the state folder.
///
/// # Errors
/// When the named files cannot be used, or no certificate can be made.
pub(super) async fn encryption(
    params: &PanelParams,
    (site, state): (&Path, Option<&Path>),
    names: Vec<String>,
) -> Result<RustlsConfig, String> {
    let (certificate, key) = match (&params.certificate, &params.key) {
        (Some(certificate), Some(key)) => (read(&site.join(certificate))?, read(&site.join(key))?),
        _ => own_certificate(state, names)?,
    };
    let config = RustlsConfig::from_pem(certificate, key).await;
    let config =
        config.map_err(|error| format!("the certificate or its key is damaged: {error}"))?;
    let mut settings = (*config.get_inner()).clone();
    // HTTP/2 gives a client many streams in one connection. The panel does not need it.
    settings.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(RustlsConfig::from_config(settings.into()))
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    read_file(path, PEM_BYTES_MAX, "a certificate or a key")
        .map_err(|problem| format!("{}: {problem}", path.display()))
}

/// Returns the certificate in the state folder. Makes one at the first start.
fn own_certificate(state: Option<&Path>, names: Vec<String>) -> Result<Pem, String> {
    let files = state.map(|state| (state.join(CERTIFICATE_FILE), state.join(KEY_FILE)));
    if let Some((certificate, key)) = &files
        && certificate.exists()
        && key.exists()
    {
        return Ok((read(certificate)?, read(key)?));
    }
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(names)
        .map_err(|error| format!("no certificate can be made: {error}"))?;
    let made = (
        cert.pem().into_bytes(),
        signing_key.serialize_pem().into_bytes(),
    );
    if let Some((certificate, key)) = &files {
        let written =
            write_private(key, &made.1).and_then(|()| write_private(certificate, &made.0));
        written.map_err(|error| {
            let file = certificate.display();
            format!("{file}: the certificate cannot be saved: {error}")
        })?;
    }
    Ok(made)
}

/// Returns the names for an own certificate.
pub(super) fn certificate_names(machine: Option<&str>, address: Option<IpAddr>) -> Vec<String> {
    let mut names = vec![
        "localhost".to_owned(),
        "127.0.0.1".to_owned(),
        "::1".to_owned(),
    ];
    if let Some(machine) = machine {
        names.push(machine.to_owned());
        names.push(format!("{machine}.local"));
    }
    names.extend(address.map(|address| address.to_string()));
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_certificate_is_made_once() {
        let folder = tempfile::tempdir().unwrap();
        let names = certificate_names(Some("pool"), Some(IpAddr::from([192, 168, 1, 9])));
        let first = own_certificate(Some(folder.path()), names.clone()).unwrap();
        let second = own_certificate(Some(folder.path()), names.clone()).unwrap();
        assert_eq!(first, second);
        assert_ne!(own_certificate(None, names).unwrap(), first);
    }
}
