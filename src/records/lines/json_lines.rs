//! Reads and writes files of JSON lines: one JSON object per line.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use anyhow::{Context, bail};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::stoppable_input::StoppableInput;
use crate::files::create_stream;
use crate::runtime::StopFlag;

/// Byte order mark, which some editors write at the beginning of a text.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Writes JSON lines to a file or to standard output.
pub struct JsonLinesWriter {
    path: PathBuf,
    out: Box<dyn Write + Send>,
}

impl JsonLinesWriter {
    /// Creates the file. If the path is `-` or `/dev/stdout`, writes to standard output instead.
    ///
    /// # Errors
    /// When the file cannot be created.
    pub fn create(path: &Path) -> anyhow::Result<Self> {
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
    pub fn write(&mut self, line: &impl Serialize) -> anyhow::Result<()> {
        serde_json::to_writer(&mut self.out, line)
            .map_err(anyhow::Error::from)
            .and_then(|()| self.out.write_all(b"\n").map_err(anyhow::Error::from))
            .with_context(|| cannot_be_written(&self.path))
    }

    /// Writes buffered lines and closes the file.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn finish(mut self) -> anyhow::Result<()> {
        self.out
            .flush()
            .with_context(|| cannot_be_written(&self.path))
    }
}

fn cannot_be_written(path: &Path) -> String {
    format!("{}: cannot be written", path.display())
}

/// Whether a path on the command line is `-`, which means standard input or output.
pub fn is_standard_stream(path: &Path) -> bool {
    path == Path::new("-")
}

/// Whether an output path on the command line means standard output. The files of the system that mean standard output must not
/// be opened, because that would cut off a file to which the output is redirected.
pub fn is_standard_output(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]
        .iter()
        .any(|name| path == Path::new(name))
}

/// Reads JSON lines. Only one line is in memory at a time, so a file may contain a recording of a whole day.
pub struct JsonLinesReader {
    name: String,
    input: BufReader<Box<dyn Read + Send>>,
    max_line_bytes: u64,
    /// The current line.
    text: Vec<u8>,
    /// Number of the current line, counted from 1.
    number: u64,
    /// Flag that ends the input; `None` if only its end does.
    stop: Option<StopFlag>,
}

impl JsonLinesReader {
    /// Opens a file, or standard input if the path is `-`. Lines of `max_line_bytes` bytes or more are an error. If `stop` is
    /// set while the reader waits for a program that writes its input, the input ends.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn open_until(path: &Path, max_line_bytes: u64, stop: &StopFlag) -> anyhow::Result<Self> {
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
    pub fn open(path: &Path, max_line_bytes: u64) -> anyhow::Result<Self> {
        if is_standard_stream(path) {
            let input = Box::new(std::io::stdin());
            return Ok(Self::new("standard input", input, max_line_bytes));
        }
        let name = path.display().to_string();
        let file = File::open(path).with_context(|| format!("{name}: cannot be read"))?;
        Ok(Self::new(&name, Box::new(file), max_line_bytes))
    }

    /// Reads from `input`, which is called `name` in messages.
    pub fn new(name: &str, input: Box<dyn Read + Send>, max_line_bytes: u64) -> Self {
        Self {
            name: name.to_owned(),
            input: BufReader::new(input),
            max_line_bytes,
            text: Vec::new(),
            number: 0,
            stop: None,
        }
    }

    /// Returns the name of the file and the number of the current line, for messages.
    pub fn place(&self) -> String {
        format!("{}:{}", self.name, self.number)
    }

    /// Reads and parses the next line that is not empty. Returns `None` at the end of the input. `line_kind` is the name of
    /// such a line in messages. The last line may have no line feed.
    ///
    /// # Errors
    /// When the input cannot be read, or a line is too long or not of this kind.
    pub fn next<T: DeserializeOwned>(&mut self, line_kind: &str) -> anyhow::Result<Option<T>> {
        self.parse_next(line_kind, true)
    }

    /// Reads like [`Self::next`], but leaves out a last line without a line feed: it was cut off while it was written.
    ///
    /// # Errors
    /// As [`Self::next`].
    pub fn next_complete<T: DeserializeOwned>(
        &mut self,
        line_kind: &str,
    ) -> anyhow::Result<Option<T>> {
        self.parse_next(line_kind, false)
    }

    fn parse_next<T: DeserializeOwned>(
        &mut self,
        line_kind: &str,
        accepts_partial: bool,
    ) -> anyhow::Result<Option<T>> {
        while self.read_line(accepts_partial)? {
            let text = self.text.trim_ascii();
            if !text.is_empty() {
                let parsed = serde_json::from_slice(text);
                let place = || format!("{}: this line is no {line_kind}", self.place());
                return parsed.with_context(place).map(Some);
            }
        }
        Ok(None)
    }

    /// Reads the next line into `text`. Returns false at the end of the input.
    fn read_line(&mut self, accepts_partial: bool) -> anyhow::Result<bool> {
        self.text.clear();
        self.number += 1;
        let limit = self.max_line_bytes;
        let read = (&mut self.input)
            .take(limit)
            .read_until(b'\n', &mut self.text);
        read.with_context(|| format!("{}: cannot be read", self.place()))?;
        if self.text.last() != Some(&b'\n') {
            if self.text.len() as u64 >= limit {
                bail!("{}: the line is longer than {limit} bytes", self.place());
            }
            // If the stop flag ended the input, the line is not complete.
            let is_stopped = (self.stop.as_ref()).is_some_and(|stop| stop.load(Ordering::Relaxed));
            if self.text.is_empty() || is_stopped || !accepts_partial {
                return Ok(false);
            }
        }
        if self.number == 1 && self.text.starts_with(BYTE_ORDER_MARK) {
            self.text.drain(..BYTE_ORDER_MARK.len());
        }
        Ok(true)
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
        // A mark inside of the file.
        assert!(lines.next::<u32>("number").is_err());
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
        let long = format!("1\n{}\n", "2".repeat(64));
        let mut long = reader(long.leak());
        long.next::<u64>("number").unwrap();
        let error = long.next::<u64>("number").unwrap_err().to_string();
        assert_eq!(error, "a.jsonl:2: the line is longer than 64 bytes");
    }

    #[test]
    fn a_line_that_was_cut_off_while_it_was_written_is_left_out_of_a_log() {
        let mut lines = reader("1\n23");
        assert_eq!(lines.next_complete::<u32>("number").unwrap(), Some(1));
        assert_eq!(lines.next_complete::<u32>("number").unwrap(), None);
    }
}
