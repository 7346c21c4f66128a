//! Explains why a text is no value: quotation marks, decimal commas, units, and what other languages write.
//!
//! In: the text after the equals sign, and the name before it. Out: a message. Must not: know the other lines.

use toml::de::DeTable;

use crate::config::schema::unit_of_field;
use crate::config::shown::shown;

/// Explains why a text is no value; `None` if it is one, or the reason is not known.
pub(super) fn value_mistake(key: &str, value: &str) -> Option<String> {
    if is_value(value) {
        return None;
    }
    let quoted = shown(value);
    let text = value.trim_matches(|c: char| is_quote(c) || c == '"' || c == '\'');
    if value.starts_with(is_quote) || value.ends_with(is_quote) {
        let text = shown(text);
        return Some(format!(
            "{quoted} has typographic quotation marks; write \"{text}\""
        ));
    }
    if let Some(rest) = value
        .strip_prefix(is_dash)
        .filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    {
        return Some(format!(
            "{quoted} begins with a typographic dash (U+{:04X}); write a minus sign: -{}",
            u32::from(value.chars().next()?),
            shown(rest)
        ));
    }
    let plain: String = value.chars().map(plain_width).collect();
    if plain != value {
        return Some(format!(
            "{quoted} has full-width characters; write {}",
            shown(&plain)
        ));
    }
    // A valid value, followed by something else.
    for (mark, what) in [
        ("//", "a comment begins with \"#\""),
        ("/*", "a comment begins with \"#\""),
        ("--", "a comment begins with \"#\""),
        (";", "remove the semicolon"),
        (",", "remove the comma"),
    ] {
        if let Some((before, rest)) = value.rsplit_once(mark)
            && (is_value(before.trim()) || unit_mistake(key, before.trim()).is_some())
            && (mark.len() > 1 || rest.trim().is_empty())
        {
            return Some(format!(
                "\"{}\" after the value is not allowed; {what}",
                shown(value[before.len()..].trim())
            ));
        }
    }
    if outside_quotes(value, &['=']).next().is_some() {
        return Some("each value stands on a line of its own".into());
    }
    string_mistake(value)
        .or_else(|| word_mistake(value))
        .or_else(|| number_mistake(key, value))
        .or_else(|| {
            let is_text =
                !value.starts_with(['"', '\'', '[', '{', '(']) && !value.contains(['"', '\\']);
            is_text.then(|| match key.ends_with("password") {
                true => "a text stands in quotation marks".to_owned(),
                false => format!("a text stands in quotation marks: \"{quoted}\""),
            })
        })
}

/// Explains a text whose quotation marks or backslashes are wrong.
fn string_mistake(value: &str) -> Option<String> {
    let mark = value.chars().next().filter(|c| ['"', '\''].contains(c));
    let Some(mark) = mark else {
        let is_quoted = value.ends_with(['"', '\''])
            && !value.starts_with(['[', '{'])
            && !value.starts_with(|c: char| c.is_ascii_digit());
        return is_quoted.then(|| "the opening quotation mark is missing".into());
    };
    let inner = &value[1..];
    if value.starts_with("\"\"\"") || value.starts_with("'''") {
        return Some(format!(
            "the text is not closed: {} is missing at its end",
            &value[..3]
        ));
    }
    let Some(end) = inner.rfind(mark) else {
        return Some("the closing quotation mark is missing".into());
    };
    let (inner, rest) = (&inner[..end], inner[end + 1..].trim());
    if mark == '"' && inner.contains('\\') && rest.is_empty() {
        let (single, slashes) = (shown(inner), shown(&inner.replace('\\', "/")));
        return Some(format!(
            "a backslash begins an escape; write single quotation marks: '{single}', or slashes: \"{slashes}\""
        ));
    }
    if rest.is_empty() {
        return Some(match mark {
            '"' => format!(
                "the text contains a quotation mark; write '{}'",
                shown(inner)
            ),
            _ => format!(
                "the text contains an apostrophe; write \"{}\"",
                shown(inner)
            ),
        });
    }
    Some(format!(
        "\"{}\" after the value is not allowed",
        shown(rest)
    ))
}

/// Explains a word that other languages have as a value.
fn word_mistake(value: &str) -> Option<String> {
    let lower = value.to_lowercase();
    match lower.as_str() {
        "true" | "false" => Some(format!("write {lower} in lower case")),
        "yes" | "on" | "ja" | "an" => Some(format!(
            "{value} is no value; write true, or \"{value}\" for a text"
        )),
        "no" | "off" | "nein" | "aus" => Some(format!(
            "{value} is no value; write false, or \"{value}\" for a text"
        )),
        "null" | "none" | "nil" => Some("an empty value does not exist; remove the line".into()),
        _ if value.starts_with('(') => Some("a list stands in brackets: [ … ]".into()),
        _ => None,
    }
}

/// Explains a number with a decimal comma, separators, zeros or a unit.
fn number_mistake(key: &str, value: &str) -> Option<String> {
    let is_number = value.starts_with(|c: char| c.is_ascii_digit() || "+-.,".contains(c));
    if !is_number {
        return None;
    }
    if let Some((whole, fraction)) = value.split_once(',')
        && is_digits(fraction)
    {
        return Some(decimal_point(whole, fraction));
    }
    let joined = value.replace([' ', '\'', '_'], "");
    let joined = joined.trim_start_matches('+');
    let (sign, digits) = match joined.strip_prefix('-') {
        Some(digits) => ("-", digits.trim_start_matches(['-', '+'])),
        None => ("", joined.trim_start_matches(['-', '+'])),
    };
    let digits = match digits.trim_start_matches('0') {
        "" => "0".to_owned(),
        rest if rest.starts_with('.') => format!("0{rest}"),
        rest => rest.to_owned(),
    };
    let digits = if digits.ends_with('.') {
        format!("{digits}0")
    } else {
        digits
    };
    if digits.chars().all(|c| c.is_ascii_digit() || c == '.') && is_value(&digits) {
        return Some(format!(
            "{} is no number; write {sign}{digits}",
            shown(value)
        ));
    }
    unit_mistake(key, value)
}

/// Explains a number with a unit behind it.
fn unit_mistake(key: &str, value: &str) -> Option<String> {
    let end = value.find(|c: char| !c.is_ascii_digit() && !"+-.,_eE".contains(c))?;
    let (number, unit) = (value[..end].trim(), value[end..].trim());
    let number = number.replace(',', ".");
    let is_unit = unit.chars().count() <= 12
        && !unit
            .contains(|c: char| c.is_ascii_digit() && c != '2' && c != '3' || "\"':".contains(c));
    if !is_unit || !is_value(&number) || unit.is_empty() {
        return None;
    }
    Some(match unit_of_field(key) {
        Some(wanted) if wanted == unit => {
            format!("a number has no unit, the name {key} contains it; write {number}")
        }
        Some(wanted) => format!(
            "a number has no unit; write the number in {wanted} without \"{}\"",
            shown(unit)
        ),
        None => format!("a number has no unit; write {number}, or put a text in quotation marks"),
    })
}

pub(super) fn decimal_point(whole: &str, fraction: &str) -> String {
    let whole = whole.replace(['.', ' ', '\''], "");
    format!(
        "a number has a decimal point, not a comma; write {}.{fraction}",
        shown(&whole)
    )
}

/// Returns the places of some characters outside of quotation marks.
pub(super) fn outside_quotes<'t>(
    text: &'t str,
    wanted: &'t [char],
) -> impl Iterator<Item = usize> + 't {
    let mut end: Option<fn(char) -> bool> = None;
    let mut is_escaped = false;
    text.char_indices().filter_map(move |(at, c)| {
        if let Some(is_end) = end {
            if is_end(c) && !is_escaped {
                end = None;
            }
            is_escaped = c == '\\' && !is_escaped && is_end('"');
            return None;
        }
        end = match c {
            '"' => Some(|c| c == '"'),
            '\'' if at == 0 || !text[..at].ends_with(char::is_alphanumeric) => Some(|c| c == '\''),
            c if is_quote(c) => Some(|c| is_quote(c) || c == '"'),
            _ => None,
        };
        wanted.contains(&c).then_some(at)
    })
}

pub(super) fn is_value(text: &str) -> bool {
    !text.is_empty() && DeTable::parse(&format!("a={text}")).is_ok()
}

pub(super) fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a character is a quotation mark that text programs put in the place of `"` or `'`.
pub(super) fn is_quote(c: char) -> bool {
    matches!(
        c,
        '\u{2018}'
            ..='\u{201f}'
                | '\u{ab}'
                | '\u{bb}'
                | '\u{2039}'
                | '\u{203a}'
                | '\u{2033}'
                | '\u{300c}'
                | '\u{300d}'
                | '\u{ff02}'
                | '`'
                | '\u{b4}'
    )
}

fn is_dash(c: char) -> bool {
    matches!(
        c,
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe63}' | '\u{ff0d}'
    )
}

/// Returns the character of usual width for a full-width one.
fn plain_width(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        other => other,
    }
}
