//! The authority of a hall: it signs the keys of the nodes and the list of members.
//!
//! Certificates carry no dates that matter: no machine of a hall needs a right clock, and a hall must not stop on the day on which a
//! certificate ends. The signed list of members closes the door instead.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, PKCS_ECDSA_P256_SHA256, PublicKeyData, SerialNumber,
    SignatureAlgorithm, SigningKey as _, date_time_ymd,
};
use ring::signature::{ECDSA_P256_SHA256_ASN1, UnparsedPublicKey};
use serde::{Deserialize, Serialize};

use super::key_error::KeyError;
use super::members::{MemberList, check_name, common_name};

/// Length of a public key: an uncompressed point of P-256.
const PUBLIC_KEY_BYTES: usize = 65;

/// The authority with its private key.
pub(super) struct Authority {
    params: CertificateParams,
    key: KeyPair,
    saved: SavedAuthority,
}

/// The file of the authority.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SavedAuthority {
    hall: String,
    certificate: String,
    key: String,
}

/// What every node knows of the authority.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PublicAuthority {
    /// Its certificate, as PEM.
    pub(super) certificate: String,
    /// Its public key in base64.
    public_key: String,
}

/// A list of members as the authority signed it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SignedList {
    list: String,
    signature: String,
}

/// Public key of a node, whose private key the authority never sees.
struct NodePublicKey(Vec<u8>);

impl PublicKeyData for NodePublicKey {
    fn der_bytes(&self) -> &[u8] {
        &self.0
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        &PKCS_ECDSA_P256_SHA256
    }
}

impl Authority {
    /// Makes the authority of a new hall.
    pub(super) fn create(hall: &str) -> Result<Self, KeyError> {
        check_name(hall)?;
        let key = KeyPair::generate().map_err(|error| KeyError::crypto(&error))?;
        let params = authority_params(hall)?;
        let certificate = params
            .self_signed(&key)
            .map_err(|error| KeyError::crypto(&error))?;
        let saved = SavedAuthority {
            hall: hall.to_owned(),
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        };
        Ok(Self { params, key, saved })
    }

    /// Returns the authority of a file.
    pub(super) fn restore(saved: SavedAuthority) -> Result<Self, KeyError> {
        let key = KeyPair::from_pem(&saved.key).map_err(|error| KeyError::crypto(&error))?;
        let params = authority_params(&saved.hall)?;
        Ok(Self { params, key, saved })
    }

    /// What the file of the authority contains.
    pub(super) fn saved(&self) -> &SavedAuthority {
        &self.saved
    }

    /// Name of the hall.
    pub(super) fn hall(&self) -> &str {
        &self.saved.hall
    }

    /// What every node knows of the authority.
    pub(super) fn public(&self) -> PublicAuthority {
        PublicAuthority {
            certificate: self.saved.certificate.clone(),
            public_key: STANDARD.encode(self.key.public_key_raw()),
        }
    }

    /// Signs the public key of a node. Returns its certificate as PEM.
    pub(super) fn sign_node(
        &self,
        name: &str,
        serial: u64,
        public_key: &[u8],
    ) -> Result<String, KeyError> {
        if public_key.len() != PUBLIC_KEY_BYTES || public_key.first() != Some(&4) {
            return Err(KeyError::crypto(&"the node sent no public key"));
        }
        let mut params = endless_params(&common_name(name, serial))?;
        params.serial_number = Some(SerialNumber::from(serial));
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![
            ExtendedKeyUsagePurpose::ServerAuth,
            ExtendedKeyUsagePurpose::ClientAuth,
        ];
        let issuer = Issuer::from_params(&self.params, &self.key);
        let key = NodePublicKey(public_key.to_vec());
        let certificate = params.signed_by(&key, &issuer);
        Ok(certificate.map_err(|error| KeyError::crypto(&error))?.pem())
    }

    /// Signs a list of members.
    pub(super) fn sign_list(&self, list: &MemberList) -> Result<SignedList, KeyError> {
        let list = serde_json::to_string(list).map_err(|error| KeyError::crypto(&error))?;
        let signature = self.key.sign(list.as_bytes());
        let signature = signature.map_err(|error| KeyError::crypto(&error))?;
        Ok(SignedList {
            list,
            signature: STANDARD.encode(signature),
        })
    }
}

impl PublicAuthority {
    /// Returns the list if this authority signed it.
    pub(super) fn verify(&self, signed: &SignedList) -> Result<MemberList, KeyError> {
        let decode = |text: &str| STANDARD.decode(text).map_err(|_| KeyError::Signature);
        let (key, signature) = (decode(&self.public_key)?, decode(&signed.signature)?);
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, key)
            .verify(signed.list.as_bytes(), &signature)
            .map_err(|_| KeyError::Signature)?;
        serde_json::from_str(&signed.list).map_err(|_| KeyError::Signature)
    }
}

fn authority_params(hall: &str) -> Result<CertificateParams, KeyError> {
    let mut params = endless_params(&format!("Shoal hall {hall}"))?;
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    Ok(params)
}

/// Parameters of a certificate that is valid at every date a machine may believe in.
fn endless_params(common_name: &str) -> Result<CertificateParams, KeyError> {
    let params = CertificateParams::new(Vec::<String>::new());
    let mut params = params.map_err(|error| KeyError::crypto(&error))?;
    params.distinguished_name = DistinguishedName::new();
    params
        .distinguished_name
        .push(DnType::CommonName, common_name);
    params.not_before = date_time_ymd(1970, 1, 1);
    // RFC 5280, §4.1.2.5: a certificate without a well-defined end.
    params.not_after = date_time_ymd(9999, 12, 31);
    Ok(params)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_accepted_only_unchanged_and_from_the_own_authority() {
        let authority = Authority::create("hall").unwrap();
        let mut list = MemberList::new("hall");
        list.add("left", 0).unwrap();
        let signed = authority.sign_list(&list).unwrap();
        assert_eq!(authority.public().verify(&signed).unwrap(), list);
        // The same authority after a restart.
        let restored = Authority::restore(authority.saved().clone()).unwrap();
        assert_eq!(restored.public(), authority.public());
        assert_eq!(restored.public().verify(&signed).unwrap(), list);
        let mut changed = signed.clone();
        changed.list = changed.list.replace("left", "rift");
        assert!(authority.public().verify(&changed).is_err());
        let other = Authority::create("hall").unwrap();
        assert!(other.public().verify(&signed).is_err());
    }

    #[test]
    fn only_a_public_key_is_signed() {
        let authority = Authority::create("hall").unwrap();
        let key = KeyPair::generate().unwrap();
        let pem = authority.sign_node("left", 1, key.public_key_raw());
        assert!(pem.unwrap().starts_with("-----BEGIN CERTIFICATE-----"));
        for wrong in [&b""[..], &[0; 65], &key.serialize_der()] {
            assert!(authority.sign_node("left", 1, wrong).is_err());
        }
        assert!(matches!(Authority::create("a b"), Err(KeyError::Name(_))));
    }
}
