//! Explains the syntax errors of a TOML text by the lines around them, in words of the user: what is written there, and what to
//! write instead.
//!
//! In: the errors of the parser and the text. Out: one message for each faulty line, with its place. Must not: know any
//! parameter.

mod value;

use std::ops::Range;

use super::shown::{name_of_invisible, shown};
use value::{decimal_point, is_digits, is_quote, is_value, outside_quotes, value_mistake};

/// Largest number of faulty lines of a text that are explained; the text is read again for each.
const EXPLAINED_MAX: usize = 30;

/// Longest line that is explained, in bytes. A longer one is not written by hand.
const LINE_BYTES_MAX: usize = 2000;

/// Start of the message about a name without a value.
const NO_VALUE: &str = "the value is missing after";

/// A syntax error: a byte range of the text and a message.
pub(super) type SyntaxError = (Range<usize>, String);

/// Returns the syntax errors of a text, at most one for each line, in the order of the text. Errors that only follow from an
/// earlier one are left out.
pub(super) fn explain(text: &str, errors: &[toml::de::Error]) -> Vec<SyntaxError> {
    let mut found: Vec<(Range<usize>, &str)> = (errors.iter())
        .map(|error| (error.span().unwrap_or(0..0), error.message()))
        .collect();
    found.sort_by_key(|(span, _)| span.start);
    let mut explained: Vec<SyntaxError> = Vec::new();
    let mut line_before = None;
    // Everything before this byte belongs to a mistake that is already explained.
    let mut explained_to = 0;
    for (span, message) in found {
        let line = Line::at(text, span.start);
        if line_before.replace(line.start) == Some(line.start) || span.start < explained_to {
            continue;
        }
        // A value on the line after its name.
        let is_rest = line.assignment().is_none() && line.heading().is_none();
        if is_rest && (explained.last()).is_some_and(|(_, last)| last.starts_with(NO_VALUE)) {
            continue;
        }
        if explained.len() >= EXPLAINED_MAX {
            explained.push((span, invalid(message)));
        } else if message == "duplicate key" {
            let (message, end) = duplicate(text, &line, span.clone());
            explained_to = end;
            explained.push((span, message));
        } else if let Some(open) = unclosed(text, &line, message) {
            let (bracket, kind) = match text.as_bytes().get(open) {
                Some(b'{') => ('}', "table"),
                _ => (']', "list"),
            };
            let message = format!("this {kind} is not closed: \"{bracket}\" is missing at its end");
            explained.push((open..open + 1, message));
            explained_to = end_of_table(text, span.start);
        } else {
            let is_inside = open_bracket(text, line.start).is_some();
            explained.push((span, line.explain(message, is_inside)));
        }
    }
    explained
}

/// Returns the message of the parser about a line that is not explained.
fn invalid(message: &str) -> String {
    let what = message.split(", expected").next().unwrap_or(message);
    format!("this line is not valid TOML ({what})")
}

/// Returns the end of the table that contains a byte: the next heading, or the end of the text.
fn end_of_table(text: &str, byte: usize) -> usize {
    let next = text.get(byte..).and_then(|rest| rest.find("\n["));
    next.map_or(text.len(), |at| byte + at + 1)
}

/// A line of the text.
struct Line<'t> {
    /// Byte offset of the line in the text.
    start: usize,
    /// The line without its end and without a comment.
    text: &'t str,
    /// The whole line.
    whole: &'t str,
}

impl<'t> Line<'t> {
    fn at(text: &'t str, byte: usize) -> Self {
        let byte = byte.min(text.len());
        // The parser reports a missing end of a line at the beginning of the next one.
        let before = text.get(..byte).unwrap_or("");
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        Self::from(text, start)
    }

    fn from(text: &'t str, start: usize) -> Self {
        let whole = text[start..].split('\n').next().unwrap_or("");
        let comment = outside_quotes(whole, &['#']).next();
        let written = comment.map_or(whole, |at| &whole[..at]);
        Self {
            start,
            text: written.trim(),
            whole,
        }
    }

    /// Returns the heading of a table, without brackets and blanks; `None` for another line.
    fn heading(&self) -> Option<String> {
        let inner = self.text.strip_prefix('[')?;
        Some(inner.replace(['[', ']', ' ', '\t', '"', '\''], ""))
    }

    /// Whether the line is the heading of a table: a name in brackets.
    fn is_heading(&self) -> bool {
        let name = self.text.trim_matches(['[', ']', ' ', '\t']);
        self.text.starts_with('[') && self.text.ends_with(']') && is_name(name) && !is_value(name)
    }

    /// Returns the name before the equals sign.
    fn key(&self) -> Option<&'t str> {
        let (at, _) = self.assignment()?;
        Some(self.text[..at].trim().trim_matches(['"', '\'']))
    }

    /// Returns the place of the first equals sign, and the text after it.
    fn assignment(&self) -> Option<(usize, &'t str)> {
        let at = outside_quotes(self.text, &['=']).next()?;
        Some((at, self.text[at + 1..].trim()))
    }

    /// Returns the message about this line. `is_inside`: it is part of a list or table that begins on a line before.
    fn explain(&self, message: &str, is_inside: bool) -> String {
        let mut characters = self.whole.chars().zip(1..);
        let invisible = characters.find_map(|(c, column)| Some((name_of_invisible(c)?, column)));
        if let Some((name, column)) = invisible {
            return format!(
                "column {column} of this line is an invisible character ({name}); remove it"
            );
        }
        let explained = match self.whole.len() <= LINE_BYTES_MAX {
            true if is_inside => self.element_mistake("", self.text),
            true => self.line_mistake().or_else(|| self.value_mistake()),
            false => None,
        };
        explained.unwrap_or_else(|| invalid(message))
    }

    /// Explains a line that is not a name, an equals sign and a value.
    fn line_mistake(&self) -> Option<String> {
        let text = self.text;
        if ["//", "/*", "--", ";"]
            .iter()
            .any(|mark| text.starts_with(mark))
        {
            return Some("a comment begins with \"#\"".into());
        }
        if text.starts_with("- ") {
            return Some("a list stands in brackets on the line of its name: name = [ … ]".into());
        }
        if text.starts_with('{') {
            return Some(
                "this is JSON; write TOML: a heading [name], and below it lines name = value"
                    .into(),
            );
        }
        if text.starts_with('[') {
            return self.heading_mistake();
        }
        let Some((at, value)) = self.assignment() else {
            let parts = text
                .split_once(':')
                .or_else(|| text.split_once(char::is_whitespace));
            return Some(match parts {
                Some((name, value)) if !name.trim().is_empty() => {
                    let (name, value) = (shown(name.trim()), shown(value.trim()));
                    format!("an equals sign is missing; write {name} = {value}")
                }
                _ => "this line has no value; write name = value".into(),
            });
        };
        let name = text[..at].trim();
        let bare = name.trim_end_matches(':').trim();
        if value.starts_with('=') || bare != name {
            let value = value.trim_start_matches('=').trim();
            return Some(format!(
                "write one equals sign: {} = {}",
                shown(bare),
                shown(value)
            ));
        }
        if name.is_empty() {
            return Some("the name before the equals sign is missing".into());
        }
        if name.contains(is_quote) {
            return Some(format!(
                "{} has typographic quotation marks; write {}",
                shown(name),
                shown(name.trim_matches(is_quote))
            ));
        }
        if !name.starts_with(['"', '\'']) && !is_name(name) {
            let hint = match name.contains(char::is_whitespace) {
                true => format!(
                    "a name has no blanks; did you mean {}?",
                    shown(&name.replace([' ', '\t'], "_"))
                ),
                false => format!("such a name stands in quotation marks: \"{}\"", shown(name)),
            };
            return Some(format!("\"{}\" cannot be a name: {hint}", shown(name)));
        }
        if value.is_empty() {
            return Some(format!("{NO_VALUE} {} =", shown(name)));
        }
        None
    }

    fn heading_mistake(&self) -> Option<String> {
        let (open, close) = match self.text.starts_with("[[") || self.text.ends_with("]]") {
            true => ("[[", "]]"),
            false => ("[", "]"),
        };
        if let Some((_, rest)) = self.text.split_once(close)
            && !rest.is_empty()
            && !rest.starts_with(']')
        {
            let rest = shown(rest.trim());
            return Some(format!(
                "only a comment can follow a heading; write \"{rest}\" on the next line"
            ));
        }
        let name = self.text.trim_matches(['[', ']', ' ', '\t']);
        let name = name.split_whitespace().collect::<Vec<_>>().join("_");
        let heading = format!("{open}{name}{close}");
        if name.is_empty() {
            return Some("the name of the table is missing in the heading".into());
        }
        let message = format!("this is no heading of a table; write {}", shown(&heading));
        (heading != self.text).then_some(message)
    }

    /// Explains the first faulty value of the line.
    fn value_mistake(&self) -> Option<String> {
        let (_, value) = self.assignment()?;
        let key = self.key().unwrap_or_default();
        match value.starts_with(['[', '{']) {
            true => self.element_mistake(key, value),
            false => value_mistake(key, value),
        }
    }

    /// Explains the first faulty element of a list or of a table in braces.
    fn element_mistake(&self, key: &str, value: &str) -> Option<String> {
        let ends: Vec<usize> = outside_quotes(value, &[',', '[', ']', '{', '}']).collect();
        let mut before = ("", "");
        let mut start = 0;
        for end in ends.into_iter().chain([value.len()]) {
            let element = value[start..end].trim();
            start = end + 1;
            if element.is_empty() {
                continue;
            }
            let signs: Vec<usize> = outside_quotes(element, &['=', ':', '"', '\'']).collect();
            let count = |sign: &str| {
                signs
                    .iter()
                    .filter(|&&at| element[at..].starts_with(sign))
                    .count()
            };
            if count("=") > 1 || count("\"") > 1 || count("'") > 1 {
                return Some(format!("a comma is missing in \"{}\"", shown(element)));
            }
            let sign = signs.first().map(|&at| {
                (
                    element[..at].trim(),
                    &element[at..=at],
                    element[at + 1..].trim(),
                )
            });
            let (name, value) = match sign {
                Some((name, ":", value)) if self.text.contains('{') => {
                    return Some(format!("write {} = {}", shown(name), shown(value)));
                }
                Some((name, "=", value)) => (name, value),
                _ => ("", element),
            };
            let is_fraction = !before.0.is_empty() && name.is_empty() && is_digits(value);
            if is_fraction && is_digits(before.1.trim_start_matches(['+', '-'])) {
                return Some(decimal_point(before.1, value));
            }
            if let Some(message) = value_mistake(if name.is_empty() { key } else { name }, value) {
                return Some(message);
            }
            before = (name, value);
        }
        None
    }
}

/// Returns the message about a key or table that exists already, and the end of the part of the text that belongs to the mistake.
fn duplicate(text: &str, line: &Line<'_>, key: Range<usize>) -> (String, usize) {
    let before = || {
        let lines = lines(text).take_while(|other| other.start < line.start);
        lines.zip(1..)
    };
    if let Some(name) = line.heading() {
        // The keys of the second table are duplicates, too.
        let end = end_of_table(text, line.start);
        let first = before().find(|(other, _)| {
            other.heading().as_deref() == Some(&name) || (other.key() == Some(&name))
        });
        let message = match first {
            Some((first, at)) if first.text.starts_with("[[") != line.text.starts_with("[[") => {
                format!(
                    "{name} is already {} on line {at}; write the same brackets",
                    first.text
                )
            }
            Some((_, at)) => format!(
                "duplicate table: [{name}] is already on line {at}; move the lines below this heading there, and remove the heading"
            ),
            None => format!("duplicate table: {name} exists already; remove one of them"),
        };
        return (message, end);
    }
    let end = line.start + line.whole.len();
    let key = text.get(key).unwrap_or_default().trim_matches(['"', '\'']);
    let mut first = None;
    for (other, at) in before() {
        if other.heading().is_some() {
            first = None;
        } else if other.key() == Some(key) {
            first = first.or(Some(at));
        }
    }
    let place = first.map_or("in this table".to_owned(), |at| format!("on line {at}"));
    (
        format!(
            "duplicate key: {} is already {place}; remove one of them",
            shown(key)
        ),
        end,
    )
}

/// Returns the place of the bracket of a list or table that an error shows not to be closed; `None` if it is another error.
fn unclosed(text: &str, line: &Line<'_>, message: &str) -> Option<usize> {
    if message.starts_with("unclosed array,") || message.starts_with("unclosed inline table") {
        return open_bracket(text, line.start + 1);
    }
    // A new name or heading ends what is open.
    let is_new = line.is_heading()
        || line
            .assignment()
            .is_some_and(|(at, _)| is_name(&line.text[..at]));
    let may_follow = message.starts_with("missing comma") || message.starts_with("unexpected `=`");
    open_bracket(text, line.start).filter(|_| line.is_heading() || (is_new && may_follow))
}

/// Returns the place of the first bracket that is open after the lines that begin before the byte `end`.
fn open_bracket(text: &str, end: usize) -> Option<usize> {
    let mut open: Vec<usize> = Vec::new();
    for line in lines(text).take_while(|line| line.start < end) {
        let is_list = open.last().is_some_and(|&at| text[at..].starts_with('['));
        let name = line
            .assignment()
            .map(|(at, _)| at)
            .filter(|&at| is_name(&line.text[..at]));
        if line.is_heading() && open.is_empty() {
            continue;
        }
        if is_list && name.is_some() {
            open.clear();
        }
        let offset = line.whole.len() - line.whole.trim_start().len();
        let from = if open.is_empty() {
            name.unwrap_or(line.text.len())
        } else {
            0
        };
        for at in outside_quotes(line.text, &['[', '{', ']', '}']).filter(|&at| at >= from) {
            match line.text.as_bytes().get(at) {
                Some(b'[' | b'{') => open.push(line.start + offset + at),
                _ => drop(open.pop()),
            }
        }
    }
    open.first().copied()
}

fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
    starts.map(|start| Line::from(text, start))
}

/// Whether a text is the name of a value, also one with points.
fn is_name(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_-.\"'".contains(c))
}

#[cfg(test)]
mod tests;
