//! What the program prints: messages for the user on standard error, and texts on standard output.
//!
//! Names and titles in files can contain anything. So that nobody who may write one can act on the terminal of another person, every
//! character that a terminal acts on, or that changes the direction of a text, is printed as an escape. In JSON, the escape stands
//! for the same character. Must not: print a text in another way.

use std::io::{self, StdoutLock, Write};

use super::message_queue::MessageWriter;

/// Prints a message to standard error. Does not fail if the terminal is closed.
pub fn print_message(text: &str) {
    // One write, so that the line is whole.
    let line = format!("{text}\n");
    let _ = VisibleText(MessageWriter).write(line.as_bytes());
}

/// Returns standard output for texts.
pub fn text_output() -> VisibleText<StdoutLock<'static>> {
    VisibleText(io::stdout().lock())
}

/// Whether a character is not visible: controls, marks that change the direction of a text, and characters without width.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// Writes texts with escapes for characters that are not visible, apart from line feeds and tabs.
#[derive(Debug)]
pub struct VisibleText<W>(W);

impl<W: Write> Write for VisibleText<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        let is_escaped = |c: char| is_hidden(c) && !matches!(c, '\n' | '\t');
        if !text.contains(is_escaped) {
            self.0.write_all(text.as_bytes())?;
            return Ok(bytes.len());
        }
        let mut shown = String::with_capacity(text.len());
        for c in text.chars() {
            if is_escaped(c) {
                // All of these characters have at most four hexadecimal digits.
                shown.push_str(&format!("\\u{:04x}", u32::from(c)));
            } else {
                shown.push(c);
            }
        }
        self.0.write_all(shown.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fixed bug: the name of a date in the opening hours changed the title and the colours of the technician's terminal.
    #[test]
    fn no_text_acts_on_the_terminal() {
        let shown = |text: &str| {
            let mut out = VisibleText(Vec::new());
            write!(out, "{text}").unwrap();
            String::from_utf8(out.0).unwrap()
        };
        assert_eq!(
            shown("a\u{1b}]0;x\u{7}\u{9b}31m\r\nb\tc"),
            "a\\u001b]0;x\\u0007\\u009b31m\\u000d\nb\tc"
        );
        assert_eq!(shown("a\u{202e}b\u{200b}"), "a\\u202eb\\u200b");
        assert_eq!(shown("süd 鯉 🐟"), "süd 鯉 🐟");
        let json = serde_json::json!({"name": "a\u{9b}31m\u{202e}"});
        let read: serde_json::Value = serde_json::from_str(&shown(&json.to_string())).unwrap();
        assert_eq!(read, json);
    }
}
