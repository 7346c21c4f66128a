//! Random secrets, and hashes of secrets that are kept.

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use argon2::{Algorithm, Argon2, Params, Version};

/// Salt of the hash of a random secret. Random secrets need none of their own.
const RANDOM_SALT: &[u8] = b"shoal panel secret";
/// Letters of the setup code: none that is easily confused with another.
const CODE_LETTERS: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

/// The operating system gave no randomness, or a hash could not be computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the machine can make no secrets at present")]
pub(crate) struct NoSecret;

/// The hash of a secret.
pub(crate) type SecretHash = [u8; 32];

/// Returns random bytes.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], NoSecret> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| NoSecret)?;
    Ok(bytes)
}

/// Returns a random secret of 256 bits as text.
pub(crate) fn random_text() -> Result<String, NoSecret> {
    Ok(hex(&random::<32>()?))
}

/// Returns a setup code such as `K7QM-2XHB`: 40 random bits.
pub(crate) fn random_code() -> Result<String, NoSecret> {
    let letters = random::<8>()?.map(|byte| {
        let letter = CODE_LETTERS.get(usize::from(byte % 32));
        char::from(letter.copied().unwrap_or(b'A'))
    });
    let (left, right) = letters.split_at(4);
    Ok(left.iter().chain(&['-']).chain(right).collect())
}

/// Returns the text of bytes in hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Returns the bytes of hexadecimal digits; `None` if the text has another length or other characters.
pub(crate) fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    if text.len() != 2 * N || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * index..2 * index + 2)?, 16).ok()?;
    }
    Some(bytes)
}

/// Whether two texts are equal. The time does not depend on the place of the first difference.
pub(crate) fn is_equal(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let difference = a.iter().zip(b).fold(0, |sum, (a, b)| sum | (a ^ b));
    a.len() == b.len() && difference == 0
}

fn hash(argon2: &Argon2<'_>, secret: &str, salt: &[u8]) -> Result<SecretHash, NoSecret> {
    let mut hash = [0; 32];
    let hashed = argon2.hash_password_into(secret.as_bytes(), salt, &mut hash);
    hashed.map_err(|_| NoSecret)?;
    Ok(hash)
}

/// Returns the hash of a random secret, such as a session or a token. Takes some microseconds.
pub(crate) fn hash_of_random(secret: &str) -> Result<SecretHash, NoSecret> {
    // The lowest cost: 256 random bits cannot be guessed, so this hash only has to be one-way.
    let params = Params::new(Params::MIN_M_COST, 1, 1, None).map_err(|_| NoSecret)?;
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    hash(&argon2, secret, RANDOM_SALT)
}

/// Returns the hash of a PIN. All PINs of a site have the same salt, so that one hash finds the user. Takes some 30 ms.
pub(crate) fn hash_of_pin(pin: &str, salt: &[u8]) -> Result<SecretHash, NoSecret> {
    hash(&Argon2::default(), pin, salt)
}

/// Returns the hash of a password as a PHC string, which names its salt and cost. The cost is the crate's default, which OWASP
/// recommends. Takes some 30 ms.
pub(crate) fn hash_of_password(password: &str) -> Result<String, NoSecret> {
    let hash = Argon2::default().hash_password(password.as_bytes());
    hash.map(|hash| hash.to_string()).map_err(|_| NoSecret)
}

/// Whether a password belongs to a stored hash. Without a hash (an unknown user), takes the same time and returns false.
pub(crate) fn is_password(password: &str, stored: Option<&str>) -> Result<bool, NoSecret> {
    let Some(hash) = stored.and_then(|stored| PasswordHash::new(stored).ok()) else {
        hash_of_password(password)?;
        return Ok(false);
    };
    let verified = Argon2::default().verify_password(password.as_bytes(), &hash);
    Ok(verified.is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_checked_against_their_hash() {
        let stored = hash_of_password("correct horse").unwrap();
        assert!(
            stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"),
            "{stored}"
        );
        assert_eq!(is_password("correct horse", Some(&stored)), Ok(true));
        assert_eq!(is_password("correct horsf", Some(&stored)), Ok(false));
        let without_hash = stored.rsplit_once('$').map(|(salted, _)| salted);
        let other_kind = stored.replacen("argon2id", "scrypt", 1);
        for stored in [
            None,
            Some(""),
            Some("plain"),
            without_hash,
            Some(&other_kind),
        ] {
            assert_eq!(
                is_password("correct horse", stored),
                Ok(false),
                "{stored:?}"
            );
        }
        assert_ne!(stored, hash_of_password("correct horse").unwrap());
    }

    #[test]
    fn codes_have_no_confusing_letters_and_never_repeat() {
        let codes: Vec<String> = (0..100).map(|_| random_code().unwrap()).collect();
        for code in &codes {
            assert_eq!((code.len(), code.find('-')), (9, Some(4)), "{code}");
            assert!(!code.contains(['0', 'O', '1', 'I']), "{code}");
        }
        let distinct: std::collections::BTreeSet<_> = codes.iter().collect();
        assert_eq!(distinct.len(), codes.len());
    }

    #[test]
    fn hexadecimal_digits_are_read_back() {
        assert_eq!(from_hex(&hex(&[0, 9, 255])), Some([0, 9, 255]));
        for text in ["", "0", "0g0000", "000", "+1+1+1"] {
            assert_eq!(from_hex::<3>(text), None, "{text}");
        }
        assert!(is_equal("ab", "ab") && !is_equal("ab", "ac") && !is_equal("ab", "abc"));
    }
}
