//! The certificate of the encrypted panel: the one that the site names, or one that Shoal makes itself.
//!
//! An own certificate names the machine and its addresses, is valid for about a year as browsers demand, and is made again before it
//! ends, when the machine gets another name or address, and when its file is damaged. Its fingerprint stands beside the setup code.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use axum_server::tls_rustls::RustlsConfig;
use jiff::{Timestamp, tz::TimeZone};
use rcgen::{
    CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, KeyPair, date_time_ymd,
};
use serde::{Deserialize, Serialize};

use super::params::PanelParams;
use crate::files::{read_file, write_private};

/// Name of the own certificate with its key in the state folder.
const OWN_FILE: &str = "panel-certificate.json";
/// Name to which a damaged file is moved.
const DAMAGED_FILE: &str = "panel-certificate.damaged.json";
/// Largest file that is read, in bytes.
const PEM_BYTES_MAX: u64 = 1 << 20;
/// Time for which an own certificate is valid, in days. Browsers accept up to 398.
const VALID_DAYS: i64 = 397;
/// Time before its end at which it is made again, in days.
const RENEWAL_DAYS: i64 = 30;
/// Largest number of names of an own certificate. Former addresses stay, so that a machine with two addresses in turn keeps it.
const NAMES_MAX: usize = 20;
const DAY_SECS: i64 = 24 * 3600;

/// Where the certificate of the panel comes from.
#[derive(Clone, Debug)]
pub(super) enum CertificateSource {
    /// PEM files that the site names.
    Named {
        /// The certificate.
        certificate: PathBuf,
        /// The private key.
        key: PathBuf,
    },
    /// An own certificate, kept in the state folder; `None` keeps it until the program ends.
    Own(Option<PathBuf>),
}

/// A certificate with its key, as PEM.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Certificate {
    /// Names and addresses in it; empty for a certificate that the site names.
    names: BTreeSet<String>,
    /// First and last second of its validity, in seconds since 1970; 0 for a certificate that the site names.
    valid_unix_secs: [i64; 2],
    /// SHA-256 fingerprint, as browsers show it; empty for a certificate that the site names.
    pub(super) fingerprint: String,
    certificate: String,
    key: String,
}

impl CertificateSource {
    /// Returns the source for a site. `site` is the folder of the site file, `state` the state folder.
    pub(super) fn new(params: &PanelParams, site: &Path, state: Option<&Path>) -> Self {
        match (&params.certificate, &params.key) {
            (Some(certificate), Some(key)) => Self::Named {
                certificate: site.join(certificate),
                key: site.join(key),
            },
            _ => Self::Own(state.map(|state| state.join(OWN_FILE))),
        }
    }

    /// Whether the site names the certificate.
    pub(super) fn is_named(&self) -> bool {
        matches!(self, Self::Named { .. })
    }

    /// Returns the certificate that is to be used now. `names` are the names of the machine.
    ///
    /// # Errors
    /// When the named files cannot be read, or no certificate can be made.
    pub(super) fn current(&self, names: &[String], unix_secs: i64) -> Result<Certificate, String> {
        match self {
            Self::Named { certificate, key } => Ok(Certificate {
                names: BTreeSet::new(),
                valid_unix_secs: [0; 2],
                fingerprint: String::new(),
                certificate: read(certificate)?,
                key: read(key)?,
            }),
            Self::Own(path) => own_certificate(path.as_deref(), names, unix_secs),
        }
    }
}

impl Certificate {
    /// Returns the settings of the encryption.
    ///
    /// # Errors
    /// When the certificate or its key is damaged.
    pub(super) async fn encryption(&self) -> Result<RustlsConfig, String> {
        let (certificate, key) = (self.certificate.clone(), self.key.clone());
        let config = RustlsConfig::from_pem(certificate.into_bytes(), key.into_bytes()).await;
        let config =
            config.map_err(|error| format!("the certificate or its key is damaged: {error}"))?;
        let mut settings = (*config.get_inner()).clone();
        // The only protocol that the panel serves.
        settings.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(RustlsConfig::from_config(settings.into()))
    }

    fn suits(&self, names: &[String], unix_secs: i64) -> bool {
        let [from, until] = self.valid_unix_secs;
        let has_names = names.iter().all(|name| self.names.contains(name));
        has_names && (from..until - RENEWAL_DAYS * DAY_SECS).contains(&unix_secs)
    }
}

fn read(path: &Path) -> Result<String, String> {
    let place = |problem: String| format!("{}: {problem}", path.display());
    let bytes = read_file(path, PEM_BYTES_MAX, "a certificate or a key").map_err(place)?;
    String::from_utf8(bytes).map_err(|_| place("is no PEM file".to_owned()))
}

/// Returns the certificate in the file. Makes one if there is none that suits.
fn own_certificate(
    path: Option<&Path>,
    names: &[String],
    unix_secs: i64,
) -> Result<Certificate, String> {
    let mut wanted: BTreeSet<String> = names.iter().cloned().collect();
    if let Some(path) = path.filter(|path| path.exists()) {
        let kept = read(path).and_then(|text| {
            serde_json::from_str::<Certificate>(&text).map_err(|error| error.to_string())
        });
        match kept {
            Ok(kept) if kept.suits(names, unix_secs) => return Ok(kept),
            Ok(kept) => {
                let room = NAMES_MAX.saturating_sub(wanted.len());
                let former: Vec<String> =
                    kept.names.difference(&wanted).take(room).cloned().collect();
                wanted.extend(former);
            }
            Err(damage) => {
                tracing::warn!("panel: the certificate is damaged and made again: {damage}");
                let _kept_aside = std::fs::rename(path, path.with_file_name(DAMAGED_FILE));
            }
        }
    }
    let made =
        make(wanted, unix_secs).map_err(|error| format!("no certificate can be made: {error}"))?;
    if let Some(path) = path {
        let text = serde_json::to_vec_pretty(&made).map_err(|error| error.to_string())?;
        if let Err(error) = write_private(path, &text) {
            // The panel can be used without the file. After the next start, browsers warn again.
            tracing::warn!("panel: the certificate cannot be saved: {error}");
        }
    }
    Ok(made)
}

fn make(names: BTreeSet<String>, unix_secs: i64) -> Result<Certificate, String> {
    let midnight = |secs: i64| secs - secs.rem_euclid(DAY_SECS);
    let from_secs = midnight(unix_secs - DAY_SECS);
    let until_secs = midnight(unix_secs + (VALID_DAYS - 1) * DAY_SECS);
    let date = |secs: i64| {
        let time = Timestamp::from_second(secs).map_err(|error| error.to_string())?;
        let date = TimeZone::UTC.to_datetime(time).date();
        Ok::<_, String>(date_time_ymd(
            date.year().into(),
            date.month() as u8,
            date.day() as u8,
        ))
    };
    let all: Vec<String> = names.iter().cloned().collect();
    let mut params = CertificateParams::new(all).map_err(|error| error.to_string())?;
    let is_machine = |name: &&String| name.parse::<IpAddr>().is_err() && *name != "localhost";
    let machine = names.iter().find(is_machine);
    let machine = machine.map_or("Shoal", String::as_str);
    params.distinguished_name = DistinguishedName::new();
    params
        .distinguished_name
        .push(DnType::CommonName, format!("Shoal on {machine}"));
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    (params.not_before, params.not_after) = (date(from_secs)?, date(until_secs)?);
    let key = KeyPair::generate().map_err(|error| error.to_string())?;
    let certificate = params
        .self_signed(&key)
        .map_err(|error| error.to_string())?;
    Ok(Certificate {
        names,
        valid_unix_secs: [from_secs, until_secs],
        fingerprint: fingerprint(certificate.der()),
        certificate: certificate.pem(),
        key: key.serialize_pem(),
    })
}

/// Returns the SHA-256 fingerprint in the form that browsers show.
fn fingerprint(der: &[u8]) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, der);
    let mut text = String::new();
    for (index, byte) in digest.as_ref().iter().enumerate() {
        let colon = if index == 0 { "" } else { ":" };
        // Writing to a String cannot fail.
        let _ = write!(text, "{colon}{byte:02X}");
    }
    text
}

/// Returns the names for an own certificate.
pub(super) fn certificate_names(machine: Option<&str>, addresses: &[IpAddr]) -> Vec<String> {
    let mut names = vec![
        "localhost".to_owned(),
        "127.0.0.1".to_owned(),
        "::1".to_owned(),
    ];
    if let Some(machine) = machine {
        names.push(machine.to_owned());
        names.push(format!("{machine}.local"));
    }
    names.extend(addresses.iter().map(ToString::to_string));
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-01-01.
    const NOW: i64 = 1_767_225_600;

    fn names(address: [u8; 4]) -> Vec<String> {
        certificate_names(Some("pool"), &[IpAddr::from(address)])
    }

    #[test]
    fn the_own_certificate_is_renewed_before_its_end_and_with_another_address() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(OWN_FILE);
        let at = |names: &[String], days: i64| {
            own_certificate(Some(&path), names, NOW + days * DAY_SECS).unwrap()
        };
        let home = names([192, 168, 1, 9]);
        let first = at(&home, 0);
        assert_eq!(first, at(&home, 0));
        assert_eq!(first, at(&home, VALID_DAYS - RENEWAL_DAYS - 2));
        let [from, until] = first.valid_unix_secs;
        assert_eq!((until - from) / DAY_SECS, VALID_DAYS);
        assert_eq!(first.fingerprint.len(), 32 * 3 - 1);
        let renewed = at(&home, VALID_DAYS - RENEWAL_DAYS);
        assert_ne!(renewed.fingerprint, first.fingerprint);
        // Another address, and the first one again.
        let moved = at(&names([10, 0, 0, 5]), VALID_DAYS);
        assert_ne!(moved.fingerprint, renewed.fingerprint);
        assert_eq!(moved, at(&home, VALID_DAYS));
        // A clock that was wrong at the first start.
        assert_ne!(moved, at(&home, -10_000));
        assert_ne!(own_certificate(None, &home, NOW).unwrap().key, first.key);
    }

    #[test]
    fn a_damaged_file_of_the_certificate_is_kept_aside_and_replaced() {
        for damage in [&b""[..], &[0; 900], b"{"] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(OWN_FILE);
            std::fs::write(&path, damage).unwrap();
            let made = own_certificate(Some(&path), &names([10, 0, 0, 5]), NOW).unwrap();
            assert_eq!(
                made,
                own_certificate(Some(&path), &names([10, 0, 0, 5]), NOW).unwrap()
            );
            let kept = std::fs::read(folder.path().join(DAMAGED_FILE)).unwrap();
            assert_eq!(kept, damage);
        }
    }
}
