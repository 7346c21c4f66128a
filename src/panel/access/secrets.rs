//! Random secrets, and hashes of secrets that are kept.

use argon2::{Algorithm, Argon2, Params, Version};

/// Memory of a password hash in KiB, number of passes and of lanes. These are the values that OWASP recommends for Argon2id.
const PASSWORD_COST: (u32, u32, u32) = (19 * 1024, 2, 1);
/// Cost of the hash of a random secret. 256 random bits cannot be guessed, so this hash only has to be one-way.
const RANDOM_COST: (u32, u32, u32) = (8, 1, 1);
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

fn argon2id(
    secret: &[u8],
    salt: &[u8],
    (memory_kib, passes, lanes): (u32, u32, u32),
) -> Result<SecretHash, NoSecret> {
    let mut hash = [0; 32];
    let params = Params::new(memory_kib, passes, lanes, Some(hash.len())).map_err(|_| NoSecret)?;
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into(secret, salt, &mut hash)
        .map_err(|_| NoSecret)?;
    Ok(hash)
}

/// Returns the hash of a random secret, such as a session or a token. Takes some microseconds.
pub(crate) fn hash_of_random(secret: &str) -> Result<SecretHash, NoSecret> {
    argon2id(secret.as_bytes(), RANDOM_SALT, RANDOM_COST)
}

/// Returns the hash of a PIN. All PINs of a site have the same salt, so that one hash finds the user. Takes some 30 ms.
pub(crate) fn hash_of_pin(pin: &str, salt: &[u8]) -> Result<SecretHash, NoSecret> {
    argon2id(pin.as_bytes(), salt, PASSWORD_COST)
}

/// Returns the hash of a password as text, with its salt and cost. Takes some 30 ms.
pub(crate) fn hash_of_password(password: &str) -> Result<String, NoSecret> {
    let salt = random::<16>()?;
    let hash = argon2id(password.as_bytes(), &salt, PASSWORD_COST)?;
    let (memory_kib, passes, lanes) = PASSWORD_COST;
    Ok(format!(
        "argon2id:{memory_kib}:{passes}:{lanes}:{}:{}",
        hex(&salt),
        hex(&hash)
    ))
}

/// Whether a password belongs to a stored hash. Without a hash (an unknown user), takes the same time and returns false.
pub(crate) fn is_password(password: &str, stored: Option<&str>) -> Result<bool, NoSecret> {
    let parsed = stored.and_then(parse_stored);
    let (cost, salt, wanted) = parsed.unwrap_or((PASSWORD_COST, [0; 16], [0; 32]));
    let hash = argon2id(password.as_bytes(), &salt, cost)?;
    Ok(parsed.is_some() && is_equal(&hex(&hash), &hex(&wanted)))
}

type StoredHash = ((u32, u32, u32), [u8; 16], SecretHash);

fn parse_stored(stored: &str) -> Option<StoredHash> {
    let mut parts = stored.split(':');
    if parts.next() != Some("argon2id") {
        return None;
    }
    let mut number = || parts.next()?.parse::<u32>().ok();
    let cost = (number()?, number()?, number()?);
    let salt = from_hex(parts.next()?)?;
    let hash = from_hex(parts.next()?)?;
    parts.next().is_none().then_some((cost, salt, hash))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_checked_against_their_hash() {
        let stored = hash_of_password("correct horse").unwrap();
        assert!(!stored.contains("correct"));
        assert_eq!(is_password("correct horse", Some(&stored)), Ok(true));
        assert_eq!(is_password("correct horsf", Some(&stored)), Ok(false));
        for stored in [None, Some(""), Some("argon2id:1:1:1::"), Some("plain")] {
            assert_eq!(is_password("", stored), Ok(false));
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
