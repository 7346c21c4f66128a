//! The user's text in messages: shortened, without characters that a terminal would act on or that are not visible.
//!
//! In: any text. Out: a text that is safe to print. Must not: decide what a message says.

use std::borrow::Cow;

use crate::runtime::is_hidden;

/// Longest part of the user's text in a message, in characters.
const SHOWN_CHARS_MAX: usize = 60;

/// Returns a part of the user's text for a message: shortened, and with escapes for characters that are not visible.
pub fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((end, _)) => format!("{}…", visible(text.get(..end).unwrap_or(""))),
        None => visible(text).into_owned(),
    }
}

/// Returns a text in which each character that is not visible is an escape: a terminal would act on `\u{1b}`, and a newline in
/// the name of a file would look like another message.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hidden(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// Returns a text of at most about `chars_max` characters: the middle of a longer text is left out, because messages name the
/// place at their beginning and the remedy at their end.
pub(super) fn without_middle(text: String, chars_max: usize) -> String {
    if text.len() <= chars_max {
        return text;
    }
    let boundaries = || text.char_indices().map(|(at, _)| at);
    let Some(head) = boundaries().nth(chars_max * 2 / 3) else {
        return text;
    };
    let Some(tail) = boundaries().rev().nth(chars_max / 3) else {
        return text;
    };
    if tail <= head {
        return text;
    }
    let part = |range: Option<&str>| range.unwrap_or("").to_owned();
    part(text.get(..head)) + " … " + &part(text.get(tail..))
}

/// Returns the name of a character that looks like a space or like nothing; `None` for other characters.
pub(super) fn name_of_invisible(c: char) -> Option<String> {
    let name = match c {
        '\t' | '\n' | '\r' | ' ' => return None,
        '\0' => "NUL",
        '\u{b}' => "vertical tab",
        '\u{c}' => "form feed",
        '\u{1b}' => "escape",
        '\u{a0}' => "non-breaking space",
        '\u{202f}' => "narrow non-breaking space",
        '\u{3000}' => "ideographic space",
        '\u{200b}' => "zero-width space",
        '\u{feff}' => "byte order mark",
        c if c.is_control() => "control character",
        c if c.is_whitespace() => "special space",
        c if is_hidden(c) => "invisible character",
        _ => return None,
    };
    Some(format!("U+{:04X}, {name}", u32::from(c)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_and_invisible_texts_are_shown_safely() {
        assert_eq!(shown("süd 鯉"), "süd 鯉");
        assert_eq!(shown("esc\u{1b}[31m\nx\0"), "esc\\u{1b}[31m\\nx\\u{0}");
        assert_eq!(shown("a\u{202e}b"), "a\\u{202e}b");
        assert_eq!(shown(&"é".repeat(900_000)), "é".repeat(60) + "…");
        assert_eq!(shown(&"é".repeat(60)), "é".repeat(60));
    }

    #[test]
    fn the_middle_of_a_long_message_is_left_out() {
        assert_eq!(without_middle("short".into(), 9), "short");
        let long = format!("begin{}end", "é".repeat(5000));
        let cut = without_middle(long, 90);
        assert!(cut.starts_with("begin") && cut.ends_with("end"), "{cut}");
        assert!(cut.chars().count() < 100, "{cut}");
        for chars_max in 0..12 {
            without_middle("éééééééééé".into(), chars_max);
        }
    }
}
