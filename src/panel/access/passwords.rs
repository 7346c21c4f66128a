//! Which passwords and PINs are refused because they are guessed first.
//!
//! Instead of a long list, the rules look for what such secrets are made of: known words with digits behind them, rows of keys,
//! and repetitions.

use super::names::account_key;

/// Shortest and longest password, in characters. Long passwords are better than complicated ones.
const PASSWORD_CHARS: std::ops::RangeInclusive<usize> = 10..=200;
/// Number of digits of a PIN.
const PIN_DIGITS: std::ops::RangeInclusive<usize> = 4..=8;
/// Smallest number of different characters of a password.
const DISTINCT_MIN: usize = 5;
/// Shortest rest of a password that is not made of known words, in letters.
const OWN_LETTERS_MIN: usize = 4;
/// Longest run along a row of keys that counts for nothing, in characters.
const RUN_MIN: usize = 4;
/// Rows of keys and of the alphabet, along which lazy passwords run.
const ROWS: [&str; 9] = [
    "01234567890",
    "abcdefghijklmnopqrstuvwxyz",
    "qwertyuiop",
    "qwertzuiop",
    "azertyuiop",
    "asdfghjkl",
    "zxcvbnm",
    "yxcvbnm",
    "1qaz2wsx3edc4rfv",
];
/// Words of which common passwords are made, longer ones before their beginnings.
const WORDS: [&str; 49] = [
    "administrator",
    "passwort",
    "password",
    "passwd",
    "willkommen",
    "welcome",
    "bienvenue",
    "shoal",
    "museum",
    "museo",
    "musee",
    "admin",
    "operator",
    "operate",
    "technik",
    "technician",
    "default",
    "changeme",
    "letmein",
    "iloveyou",
    "sommer",
    "summer",
    "winter",
    "herbst",
    "fruhling",
    "spring",
    "autumn",
    "monday",
    "montag",
    "january",
    "januar",
    "dragon",
    "monkey",
    "princess",
    "sunshine",
    "football",
    "baseball",
    "superman",
    "batman",
    "starwars",
    "master",
    "hello",
    "hallo",
    "secret",
    "geheim",
    "access",
    "login",
    "test",
    "user",
];

/// Checks a new password of a user.
///
/// # Errors
/// What is wrong with it, and what is better.
pub(crate) fn check_password(password: &str, user: &str) -> Result<(), String> {
    if !PASSWORD_CHARS.contains(&password.chars().count()) {
        let (shortest, longest) = (PASSWORD_CHARS.start(), PASSWORD_CHARS.end());
        return Err(format!(
            "a password has {shortest} to {longest} characters; three or four words are easy to remember"
        ));
    }
    if is_common(password, user) {
        return Err(
            "this password is one of those that are guessed first; three or four words that do not belong together are better"
                .to_owned(),
        );
    }
    Ok(())
}

/// Whether a text has a length that a password or a PIN can have. Longer ones go no further.
pub(crate) fn is_bounded_secret(text: &str) -> bool {
    text.len() <= 4 * PASSWORD_CHARS.end()
}

fn is_common(password: &str, user: &str) -> bool {
    let lower: String = password
        .trim()
        .chars()
        .flat_map(char::to_lowercase)
        .collect();
    let mut distinct: Vec<char> = lower.chars().filter(|c| !c.is_whitespace()).collect();
    let length = distinct.len();
    distinct.sort_unstable();
    distinct.dedup();
    let characters: Vec<char> = lower.chars().collect();
    if distinct.len() < DISTINCT_MIN
        || length < *PASSWORD_CHARS.start() - 2
        || is_repetition(&characters)
    {
        return true;
    }
    let mut rest = lower;
    for row in ROWS {
        let reversed: String = row.chars().rev().collect();
        for row in [row, &reversed] {
            remove_runs(&mut rest, row);
        }
    }
    let user = account_key(user);
    let is_name = |name: &&str| name.chars().count() >= 3;
    let own = std::iter::once(user.as_str()).filter(is_name);
    let words: Vec<&str> = own.chain(WORDS).collect();
    let plain: String = rest.chars().map(plain_letter).collect();
    let mut left = plain;
    for word in words {
        let kept = left.replace(word, "\u{0}");
        left = kept;
    }
    // Digits and signs behind a word add little: museum2026! is one of the first guesses.
    let letters = left.chars().filter(|c| c.is_alphabetic()).count();
    letters < OWN_LETTERS_MIN
}

/// Removes every run of the text along a row.
fn remove_runs(text: &mut String, row: &str) {
    for length in (RUN_MIN..=row.len()).rev() {
        for start in 0..=row.len() - length {
            if let Some(run) = row.get(start..start + length)
                && text.contains(run)
            {
                *text = text.replace(run, "\u{0}");
            }
        }
    }
}

/// Returns the letter that a sign stands for in words such as `p@ssw0rd`.
fn plain_letter(c: char) -> char {
    match c {
        '@' | '4' | 'ä' => 'a',
        '0' | 'ö' => 'o',
        '1' | '!' | '|' => 'i',
        '3' => 'e',
        '$' | '5' => 's',
        '7' => 't',
        'ü' => 'u',
        'é' | 'è' => 'e',
        c => c,
    }
}

fn is_repetition(characters: &[char]) -> bool {
    (1..=characters.len() / 2).any(|part| {
        characters.len().is_multiple_of(part)
            && characters
                .chunks(part)
                .all(|chunk| characters.starts_with(chunk))
    })
}

/// Checks a new PIN.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn check_pin(pin: &str) -> Result<(), String> {
    let is_digits = pin.bytes().all(|byte| byte.is_ascii_digit());
    if !is_digits || !PIN_DIGITS.contains(&pin.len()) {
        return Err("a PIN has 4 to 8 digits".to_owned());
    }
    let digits: Vec<char> = pin.chars().collect();
    let step = |by: u32| {
        let value = |c: &char| c.to_digit(10).unwrap_or(0);
        digits.windows(2).all(|pair| match pair {
            [a, b] => value(b) == (value(a) + by) % 10,
            _ => true,
        })
    };
    let mut distinct = digits.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let is_year = pin.len() == 4 && (pin.starts_with("19") || pin.starts_with("20"));
    // 2580 is the middle column of the keys.
    let is_trivial = distinct.len() < 3
        || step(1)
        || step(9)
        || is_repetition(&digits)
        || is_year
        || matches!(pin, "2580" | "0852");
    if is_trivial {
        return Err(
            "this PIN is one of those that are guessed first; choose another one".to_owned(),
        );
    }
    Ok(())
}

/// Whether a text can be the PIN of a user, so that it is worth a hash.
pub(crate) fn is_pin(text: &str) -> bool {
    PIN_DIGITS.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_that_are_guessed_first_are_refused() {
        for password in [
            "1234567890",
            "          ",
            "shoalshoal",
            "verawinter",
            "Passwort123",
            "P@ssw0rd2026!",
            "museum2026!",
            "qwertzuiop",
            "qwertyuiop1",
            "aaaaaaaaaa",
            "abababababab",
            "abcdefghij",
            "9876543210",
            "1qaz2wsx3edc",
            "adminadmin",
            "vera123456",
            "Willkommen1!",
            "1212121212",
            "Sommer2026!!",
            "a b a b a b a b",
            "testtest12",
            "1234567890123",
            "passwordpassword",
        ] {
            assert!(check_password(password, "vera").is_err(), "{password}");
        }
        for password in [
            "four easy words",
            "another password",
            "correct horse battery",
            "fische im teich",
            "tr0ub4dor&3xyz",
            "8305471629",
            "a wrong password",
            "Kaulquappe 17",
            "鯉がたくさん泳ぐ大きな池",
        ] {
            assert_eq!(check_password(password, "vera"), Ok(()), "{password}");
        }
    }

    #[test]
    fn pins_that_are_guessed_first_are_refused() {
        for pin in [
            "0000", "1234", "4321", "1111", "7890", "0987", "1212", "123123", "2580", "1984",
            "2026", "12345678", "47474747", "3456",
        ] {
            assert!(check_pin(pin).is_err(), "{pin}");
        }
        for pin in ["4711", "8642", "3141", "90210", "271828"] {
            assert_eq!(check_pin(pin), Ok(()), "{pin}");
        }
        for pin in ["", "123", "12a4", "123456789", "１２３４"] {
            assert!(check_pin(pin).is_err(), "{pin}");
        }
    }
}
