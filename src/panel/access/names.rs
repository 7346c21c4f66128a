//! Names of users: what is allowed, which names are the same, and which look the same.

/// Longest name of a user, in characters.
pub(super) const NAME_CHARS_MAX: usize = 32;
/// Longest name in a request, in bytes. Leaves room for spaces around the longest name.
const NAME_BYTES_MAX: usize = 6 * NAME_CHARS_MAX;

/// Returns a name of a request, or why it can be the name of no user. A request with a longer name goes no further.
///
/// # Errors
/// When the name is too long.
pub(crate) fn bounded_name(name: &str) -> Result<&str, String> {
    if name.len() > NAME_BYTES_MAX {
        return Err(format!(
            "a user name has at most {NAME_CHARS_MAX} characters"
        ));
    }
    Ok(name.trim())
}

/// Returns the form of a name in which names are compared.
pub(crate) fn account_key(name: &str) -> String {
    let shown = name.trim().chars().take(4 * NAME_CHARS_MAX);
    shown.flat_map(char::to_lowercase).collect()
}

/// Checks the name of a new user.
///
/// # Errors
/// What is wrong with it.
pub(super) fn check_name(name: &str) -> Result<(), String> {
    let is_allowed = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '.' | '_' | '-' | '@');
    let name = name.trim();
    let length = name.chars().count();
    if !(1..=NAME_CHARS_MAX).contains(&length) || !name.chars().all(is_allowed) {
        return Err(format!(
            "a user name has 1 to {NAME_CHARS_MAX} letters, digits, spaces or . _ - @"
        ));
    }
    let is_latin = |c: char| c < '\u{250}';
    let has = |wanted: bool| {
        name.chars()
            .any(|c| c.is_alphabetic() && is_latin(c) == wanted)
    };
    if has(true) && has(false) {
        return Err("a user name has letters of one script only: others look the same".to_owned());
    }
    Ok(())
}

/// Whether two names look the same to a reader, although they are different.
pub(super) fn is_lookalike(a: &str, b: &str) -> bool {
    let seen = |name: &str| -> String {
        let letters = name.trim().chars().flat_map(char::to_lowercase);
        let letters = letters.filter(|c| !matches!(c, ' ' | '.' | '_' | '-') && !is_mark(*c));
        letters.map(looks_like).collect()
    };
    let (seen_a, seen_b) = (seen(a), seen(b));
    seen_a == seen_b && !seen_a.is_empty() && account_key(a) != account_key(b)
}

/// Whether a character only changes the letter before it, such as a combining dot.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

/// Returns the ASCII letter or digit that a lower-case character looks like. Covers the forms of full width, the letters without
/// a dot, and the letters of other scripts that are drawn like Latin ones.
fn looks_like(c: char) -> char {
    const PAIRS: [(&str, char); 17] = [
        ("аαɑ", 'a'),
        ("сϲ", 'c'),
        ("ԁ", 'd'),
        ("еєε", 'e'),
        ("һ", 'h'),
        ("ıіιl1|", 'i'),
        ("јϳ", 'j'),
        ("кκ", 'k'),
        ("мμ", 'm'),
        ("пη", 'n'),
        ("оοσ0", 'o'),
        ("рρ", 'p'),
        ("ѕ", 's'),
        ("тτ", 't'),
        ("υц", 'u'),
        ("хχ", 'x'),
        ("уγ", 'y'),
    ];
    let narrow = match u32::from(c) {
        wide @ 0xff01..=0xff5e => char::from_u32(wide - 0xfee0).unwrap_or(c),
        _ => c,
    };
    let narrow = narrow.to_ascii_lowercase();
    let mut pairs = PAIRS.iter();
    let pair = pairs.find(|(forms, _)| forms.contains(narrow));
    pair.map_or(narrow, |(_, letter)| *letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_like_an_existing_one_are_found() {
        for name in ["admın", "ADMİN", "ａｄｍｉｎ", "adm1n", "ad.min", "Admln"] {
            assert!(is_lookalike("admin", name), "{name}");
        }
        for name in ["admin", " ADMIN ", "administrator", "adam", "Bob"] {
            assert!(!is_lookalike("admin", name), "{name}");
        }
        assert!(
            check_name("аdmin").is_err(),
            "a Cyrillic letter among Latin ones"
        );
        for name in ["Jörg", "Иван", "鯉 2", "anna@museum"] {
            assert_eq!(check_name(name), Ok(()), "{name}");
        }
    }

    #[test]
    fn a_name_with_a_megabyte_of_spaces_is_refused() {
        assert!(bounded_name(&format!("ada{}", " ".repeat(1 << 20))).is_err());
        assert_eq!(bounded_name(" ada "), Ok("ada"));
    }
}
