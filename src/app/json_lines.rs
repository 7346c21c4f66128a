//! Reads and writes files of JSON lines: one JSON object per line.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use anyhow::Context;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::stoppable_input::StoppableInput;
use crate::files::create_stream;
use crate::runtime::StopFlag;

/// Byte order mark, which some editors write at the beginning of a text.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Writes JSON lines to a file or to standard output.
pub(super) struct JsonLinesWriter {
    path: PathBuf,
    out: Box<dyn Write + Send>,
}

impl JsonLinesWriter {
    /// Creates the file. If the path is `-` or `/dev/stdout`, writes to standard output instead.
    ///
    /// # Errors
    /// When the file cannot be created.
    pub(super) fn create(path: &Path) -> anyhow::Result<Self> {
        let out: Box<dyn Write + Send> = if is_standard_output(path) {
            Box::new(BufWriter::new(std::io::stdout()))
        } else {
            let file = create_stream(path).with_context(|| cannot_be_written(path))?;
            Box::new(BufWriter::new(file))
        };
        Ok(Self {
            path: path.to_owned(),
            out,
        })
    }

    /// Writes one line.
    ///
    /// # Errors
    /// When the file cannot be written, for example because the disk is full or the pipe is closed.
    pub(super) fn write(&mut self, line: &impl Serialize) -> anyhow::Result<()> {
        serde_json::to_writer(&mut self.out, line)
            .map_err(anyhow::Error::from)
            .and_then(|()| self.out.write_all(b"\n").map_err(anyhow::Error::from))
            .with_context(|| cannot_be_written(&self.path))
    }

    /// Writes buffered lines and closes the file.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub(super) fn finish(mut self) -> anyhow::Result<()> {
        self.out
            .flush()
            .with_context(|| cannot_be_written(&self.path))
    }
}

fn cannot_be_written(path: &Path) -> String {
    format!("{}: cannot be written", path.display())
}

/// Whether a path on the command line is `-`, which means standard input or output.
pub(super) fn is_standard_stream(path: &Path) -> bool {
    path == Path::new("-")
}

/// Whether an output path on the command line means standard output. The files of the system that mean standard output must not
/// be opened, because that would cut off a file to which the output is redirected.
pub(super) fn is_standard_output(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]
        .iter()
        .any(|name| path == Path::new(name))
}

/// The reason why no line can be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum LineError {
    /// The line is too long. The next call continues after it.
    #[error("{place}: the line is longer than {max_bytes} bytes")]
    TooLong {
        /// File and line.
        place: String,
        /// Longest line.
        max_bytes: u64,
    },
    /// The input cannot be read.
    #[error("{place}: cannot be read")]
    Read {
        /// File and line.
        place: String,
        /// Error of the operating system.
        #[source]
        cause: std::io::Error,
    },
}

/// Reads JSON lines. Only one line is in memory at a time, so a file may contain a recording of a whole day.
pub(super) struct JsonLinesReader<R = Box<dyn Read + Send>> {
    name: String,
    input: BufReader<R>,
    max_line_bytes: u64,
    /// The current line, or its first part if the input ended before the end of the line.
    text: Vec<u8>,
    /// Number of the current line, counted from 1.
    number: u64,
    /// Whether `text` is the first part of a line.
    is_partial: bool,
    /// Whether the rest of the current line is skipped, because the line is too long.
    skips: bool,
    /// Flag that ends the input; `None` if only its end does.
    stop: Option<StopFlag>,
}

impl JsonLinesReader {
    /// Opens a file, or standard input if the path is `-`. Lines of `max_line_bytes` bytes or more are an error. If `stop` is
    /// set while the reader waits for a program that writes its input, the input ends.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub(super) fn open_until(
        path: &Path,
        max_line_bytes: u64,
        stop: &StopFlag,
    ) -> anyhow::Result<Self> {
        let is_file = std::fs::metadata(path).is_ok_and(|found| found.is_file());
        if is_file && !is_standard_stream(path) {
            return Self::open(path, max_line_bytes);
        }
        let open = path.to_owned();
        let input = StoppableInput::start(stop, move || -> std::io::Result<Box<dyn Read>> {
            Ok(if is_standard_stream(&open) {
                Box::new(std::io::stdin())
            } else {
                Box::new(File::open(&open)?)
            })
        })?;
        let name = if is_standard_stream(path) {
            "standard input".to_owned()
        } else {
            path.display().to_string()
        };
        Ok(Self {
            stop: Some(StopFlag::clone(stop)),
            ..Self::new(&name, Box::new(input), max_line_bytes)
        })
    }

    /// Opens a file, or standard input if the path is `-`. Lines of `max_line_bytes` bytes or more are an error.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub(super) fn open(path: &Path, max_line_bytes: u64) -> anyhow::Result<Self> {
        if is_standard_stream(path) {
            let input = Box::new(std::io::stdin());
            return Ok(Self::new("standard input", input, max_line_bytes));
        }
        let name = path.display().to_string();
        let file = File::open(path).with_context(|| format!("{name}: cannot be read"))?;
        Ok(Self::new(&name, Box::new(file), max_line_bytes))
    }
}

impl<R: Read> JsonLinesReader<R> {
    /// Reads from `input`, which is called `name` in messages.
    pub(super) fn new(name: &str, input: R, max_line_bytes: u64) -> Self {
        Self {
            name: name.to_owned(),
            input: BufReader::new(input),
            max_line_bytes,
            text: Vec::new(),
            number: 0,
            is_partial: false,
            skips: false,
            stop: None,
        }
    }

    /// Returns the name of the file and the number of the current line, for messages.
    pub(super) fn place(&self) -> String {
        format!("{}:{}", self.name, self.number)
    }

    /// Returns where the lines come from.
    pub(super) fn input(&self) -> &R {
        self.input.get_ref()
    }

    /// Reads the next line that is not empty. Returns `None` at the end of the input.
    ///
    /// The last line of a file may have no line feed. With `accepts_partial`, such a line is returned. Otherwise the line is
    /// kept, and a later call completes it when the file has grown.
    ///
    /// # Errors
    /// When the input cannot be read, or a line is too long. The call after [`LineError::TooLong`] returns the line after it.
    pub(super) fn next_text(&mut self, accepts_partial: bool) -> Result<Option<&[u8]>, LineError> {
        if self.skips && !self.skip_line()? {
            return Ok(None);
        }
        loop {
            if !self.is_partial {
                self.text.clear();
                self.number += 1;
            }
            let room = self.max_line_bytes.saturating_sub(self.text.len() as u64);
            let read = (&mut self.input)
                .take(room)
                .read_until(b'\n', &mut self.text);
            read.map_err(|cause| self.unreadable(cause))?;
            let is_complete = self.text.last() == Some(&b'\n');
            if !is_complete && self.text.len() as u64 >= self.max_line_bytes {
                self.skips = true;
                self.is_partial = false;
                return Err(LineError::TooLong {
                    place: self.place(),
                    max_bytes: self.max_line_bytes,
                });
            }
            // If the stop flag ended the input, the line is not complete.
            let is_stopped = (self.stop.as_ref()).is_some_and(|stop| stop.load(Ordering::Relaxed));
            let accepts_partial = accepts_partial && !is_stopped;
            if !is_complete && (self.text.is_empty() || !accepts_partial) {
                // The input ends here. If it ends in the middle of a line, the next call continues this line.
                self.is_partial = true;
                return Ok(None);
            }
            self.is_partial = false;
            if self.number == 1 && self.text.starts_with(BYTE_ORDER_MARK) {
                self.text.drain(..BYTE_ORDER_MARK.len());
            }
            if !self.text.trim_ascii().is_empty() {
                return Ok(Some(self.text.trim_ascii()));
            }
        }
    }

    /// Skips the rest of the current line. Returns false if the input ends before the line does.
    fn skip_line(&mut self) -> Result<bool, LineError> {
        loop {
            let (length, is_end) = match self.input.fill_buf() {
                Ok([]) => return Ok(false),
                Ok(bytes) => match bytes.iter().position(|b| *b == b'\n') {
                    Some(end) => (end + 1, true),
                    None => (bytes.len(), false),
                },
                Err(cause) if cause.kind() == ErrorKind::Interrupted => continue,
                Err(cause) => return Err(self.unreadable(cause)),
            };
            self.input.consume(length);
            if is_end {
                self.skips = false;
                return Ok(true);
            }
        }
    }

    fn unreadable(&self, cause: std::io::Error) -> LineError {
        LineError::Read {
            place: self.place(),
            cause,
        }
    }

    /// Reads and parses the next line that is not empty. Returns `None` at the end of the input. `line_kind` is the name of
    /// such a line in messages.
    ///
    /// # Errors
    /// When the input cannot be read, or a line is too long or not of this kind.
    pub(super) fn next<T: DeserializeOwned>(
        &mut self,
        line_kind: &str,
    ) -> anyhow::Result<Option<T>> {
        let Some(text) = self.next_text(true)? else {
            return Ok(None);
        };
        let parsed = serde_json::from_slice(text);
        let line =
            parsed.with_context(|| format!("{}: this line is no {line_kind}", self.place()))?;
        Ok(Some(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(text: &'static str) -> JsonLinesReader {
        JsonLinesReader::new("a.jsonl", Box::new(text.as_bytes()), 64)
    }

    #[test]
    fn empty_lines_are_skipped_and_the_last_line_feed_may_be_missing() {
        let mut lines = reader("\n1\n  \n2");
        assert_eq!(lines.next::<u32>("number").unwrap(), Some(1));
        assert_eq!(lines.place(), "a.jsonl:2");
        assert_eq!(lines.next::<u32>("number").unwrap(), Some(2));
        assert_eq!(lines.next::<u32>("number").unwrap(), None);
        assert_eq!(lines.next::<u32>("number").unwrap(), None);
    }

    /// A fixed bug: a file that an editor saved with a byte order mark was refused without naming the mark.
    #[test]
    fn a_byte_order_mark_at_the_beginning_is_skipped() {
        let mut lines = reader("\u{feff}1\n2\n");
        assert_eq!(lines.next::<u32>("number").unwrap(), Some(1));
        assert_eq!(lines.next::<u32>("number").unwrap(), Some(2));
        let mut lines = reader("\u{feff}\n1\n\u{feff}2\n");
        assert_eq!(lines.next::<u32>("number").unwrap(), Some(1));
        assert!(
            lines.next::<u32>("number").is_err(),
            "a mark inside of the file"
        );
    }

    #[test]
    fn errors_name_file_and_line() {
        let mut lines = reader("1\nx\n");
        lines.next::<u32>("number").unwrap();
        let error = format!("{:#}", lines.next::<u32>("number").unwrap_err());
        assert!(
            error.starts_with("a.jsonl:2: this line is no number"),
            "{error}"
        );
        let mut long = reader(" ".repeat(70).leak());
        let error = long.next_text(true).unwrap_err().to_string();
        assert!(error.contains("a.jsonl:1"), "{error}");
        assert!(error.contains("longer than 64 bytes"), "{error}");
    }

    #[test]
    fn reading_continues_after_a_line_that_is_too_long() {
        for length in [63, 64, 65, 128, 20_000] {
            let text = format!("1\n{}\n3\n{}", "2".repeat(length), "4".repeat(length));
            let mut lines = reader(text.leak());
            assert_eq!(lines.next_text(true).unwrap(), Some(&b"1"[..]));
            let second = lines.next_text(true).map(|text| text.map(<[u8]>::len));
            match second {
                Ok(text) => assert_eq!((length, text), (63, Some(63))),
                Err(LineError::TooLong { place, .. }) => {
                    assert!(length > 63);
                    assert_eq!(place, "a.jsonl:2");
                }
                Err(other) => panic!("{other}"),
            }
            assert_eq!(lines.next_text(true).unwrap(), Some(&b"3"[..]), "{length}");
            assert_eq!(lines.place(), "a.jsonl:3");
            assert_eq!(lines.next_text(true).is_ok(), length == 63);
            assert!(matches!(lines.next_text(true), Ok(None)));
            assert!(matches!(lines.next_text(true), Ok(None)));
        }
    }

    /// A file that grows: first half a line, then the rest of it.
    struct Growing(std::collections::VecDeque<&'static [u8]>);

    impl Read for Growing {
        fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
            let part = self.0.pop_front().unwrap_or_default();
            to[..part.len()].copy_from_slice(part);
            Ok(part.len())
        }
    }

    #[test]
    fn a_line_that_is_still_being_written_is_completed() {
        let parts = [&b"12"[..], b"", b"3\n4", b"", b""];
        let mut lines = JsonLinesReader::new("a.jsonl", Box::new(Growing(parts.into())), 64);
        assert_eq!(lines.next_text(false).unwrap(), None);
        assert_eq!(lines.next_text(false).unwrap(), Some(&b"123"[..]));
        assert_eq!(lines.next_text(false).unwrap(), None);
        assert_eq!(lines.next_text(true).unwrap(), Some(&b"4"[..]));
        assert_eq!(lines.place(), "a.jsonl:2");
    }
}
