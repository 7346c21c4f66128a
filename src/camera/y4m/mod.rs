//! Reads y4m (YUV4MPEG2) streams: only the luma, with 8 to 16 bits, for every chroma layout.
//!
//! The reader does not trust the stream: the length of header lines is limited, sizes are checked before memory is
//! allocated, and an incomplete last frame is discarded with a warning.
//!
//! **Source**: the manual page yuv4mpeg(5) of mjpegtools, and the extensions that ffmpeg writes (`mono9` to `mono16`,
//! `420p10`). Shoal's own extension is the frame parameter `XTS=SECONDS`, a timestamp that [`super::Recording`] writes.
//! Other programs ignore it, because parameters that start with X are comments.

mod header;

use std::io::{ErrorKind, Read};
use std::path::PathBuf;

use super::CameraError;
use super::frame::{Frame, Luma};
use header::Y4mHeader;

/// First word of a y4m stream.
const MAGIC: &[u8] = b"YUV4MPEG2";
/// Largest header line of a stream or frame, in bytes. Usual lines are shorter than 100 bytes.
const MAX_HEADER_BYTES: usize = 4096;
/// Number of bytes of a wrong frame header that an error message shows.
const SHOWN_BYTES: usize = 20;
/// Size of the buffer for 16-bit levels and skipped chroma, in bytes.
const CHUNK_BYTES: usize = 1 << 16;
/// Largest valid timestamp, in seconds: 30 years.
const MAX_TIMESTAMP_SECS: f64 = 1e9;

/// A reader of a y4m stream.
pub(super) struct Y4mReader<R> {
    stream: R,
    name: String,
    header: Y4mHeader,
    /// Number of bytes read.
    byte: u64,
    /// Number of complete frames read.
    frames: u64,
    line: Vec<u8>,
    chunk: Vec<u8>,
    /// Warning that the last frame was incomplete; `None` if it was complete.
    truncation: Option<String>,
    /// Timestamp of the last frame in seconds, if it has one.
    timestamp_secs: Option<f64>,
}

impl<R: Read> Y4mReader<R> {
    /// Reads the header of a stream. `name` is the name of the stream in error messages.
    pub(super) fn open(stream: R, name: String) -> Result<Self, CameraError> {
        let mut reader = Self {
            stream,
            name,
            header: Y4mHeader {
                width_px: 0,
                height_px: 0,
                fps: None,
                bits: 8,
                chroma_samples: 0,
            },
            byte: 0,
            frames: 0,
            line: Vec::with_capacity(256),
            chunk: vec![0; CHUNK_BYTES],
            truncation: None,
            timestamp_secs: None,
        };
        reader.read_line("the stream's header")?;
        let text = String::from_utf8_lossy(&reader.line).into_owned();
        let Some(parameters) = text
            .strip_prefix("YUV4MPEG2")
            .filter(|p| p.is_empty() || p.starts_with(' '))
        else {
            let start: String = text.chars().take(20).collect();
            return Err(reader.problem(format!(
                "the stream starts with '{}', expected 'YUV4MPEG2 '",
                start.escape_debug()
            )));
        };
        if parameters.ends_with('\r') {
            return Err(reader.problem(
                "the header ends with a carriage return: a transfer in text mode has changed the file. Copy it in binary mode"
                    .into(),
            ));
        }
        reader.header =
            Y4mHeader::parse(parameters, &reader.name, |problem| reader.problem(problem))?;
        Ok(reader)
    }

    /// Returns the header of a stream.
    pub(super) fn header(&self) -> Y4mHeader {
        self.header
    }

    /// Returns the number of complete frames read.
    pub(super) fn frames(&self) -> u64 {
        self.frames
    }

    /// Returns the timestamp of the frame read last in seconds, if it has one.
    pub(super) fn timestamp_secs(&self) -> Option<f64> {
        self.timestamp_secs
    }

    /// Removes and returns the warning that the last frame was incomplete; `None` if there is none.
    pub(super) fn take_warning(&mut self) -> Option<String> {
        self.truncation.take()
    }

    /// Reads the luma of the next frame. Returns false at the end of the stream.
    pub(super) fn read(&mut self, frame: &mut Frame) -> Result<bool, CameraError> {
        if !self.read_line("a frame's header")? {
            return Ok(false);
        }
        if self.line != b"FRAME" && !self.line.starts_with(b"FRAME ") {
            let found = &self.line[..self.line.len().min(SHOWN_BYTES)];
            let found = String::from_utf8_lossy(found).into_owned();
            let Y4mHeader {
                width_px,
                height_px,
                ..
            } = self.header;
            return Err(self.problem(format!(
                "found '{}', expected 'FRAME': the frame before is not {width_px}x{height_px} px with the color layout of the \
                 header, or the stream is damaged",
                found.escape_debug()
            )));
        }
        self.timestamp_secs = self.parse_timestamp()?;
        let Y4mHeader {
            width_px,
            height_px,
            bits,
            chroma_samples,
            ..
        } = self.header;
        let pixels = width_px as usize * height_px as usize;
        let sample_bytes = if bits > 8 { 2 } else { 1 };
        let whole = if bits > 8 {
            let mut levels = frame.luma.take_u16(pixels);
            let whole = self.read_u16(&mut levels)?;
            frame.luma = Luma::U16 { bits, levels };
            whole
        } else {
            let mut levels = frame.luma.take_u8(pixels);
            let read = self.read_into(&mut levels)?;
            frame.luma = Luma::U8(levels);
            self.byte += read as u64;
            read == pixels
        };
        if !(whole && self.skip(chroma_samples * sample_bytes)?) {
            self.truncation = Some(format!(
                "{}: the stream ends in the middle of frame {} at byte {}; the {} complete frames before it are used",
                self.name, self.frames, self.byte, self.frames
            ));
            return Ok(false);
        }
        frame.width_px = width_px;
        frame.height_px = height_px;
        self.frames += 1;
        Ok(true)
    }

    /// Parses the timestamp in the header line of a frame; `None` if there is none. A timestamp that is earlier than the
    /// previous one is an error.
    fn parse_timestamp(&self) -> Result<Option<f64>, CameraError> {
        let mut words = self.line.split(|&byte| byte == b' ');
        let Some(text) = words.find_map(|word| word.strip_prefix(b"XTS=")) else {
            return Ok(None);
        };
        let text = String::from_utf8_lossy(text);
        let secs = text
            .parse()
            .ok()
            .filter(|secs| (0.0..=MAX_TIMESTAMP_SECS).contains(secs));
        let Some(secs) = secs else {
            let found = text.escape_debug();
            return Err(self.problem(format!(
                "the timestamp 'XTS={found}' is not a number of seconds from 0 to {MAX_TIMESTAMP_SECS}"
            )));
        };
        match self.timestamp_secs {
            Some(before) if secs < before => Err(self.problem(format!(
                "the timestamp {secs} s is earlier than {before} s, the timestamp of the frame before"
            ))),
            _ => Ok(Some(secs)),
        }
    }

    fn read_u16(&mut self, levels: &mut [u16]) -> Result<bool, CameraError> {
        let mut chunk = std::mem::take(&mut self.chunk);
        let mut whole = true;
        for part in levels.chunks_mut(CHUNK_BYTES / 2) {
            let bytes = &mut chunk[..part.len() * 2];
            let read = self.read_into(bytes)?;
            self.byte += read as u64;
            if read < bytes.len() {
                whole = false;
                break;
            }
            for (level, pair) in part.iter_mut().zip(bytes.chunks_exact(2)) {
                *level = u16::from_le_bytes([pair[0], pair[1]]);
            }
        }
        self.chunk = chunk;
        Ok(whole)
    }

    /// Skips `bytes` bytes. Returns false if the stream ends before that.
    fn skip(&mut self, mut bytes: u64) -> Result<bool, CameraError> {
        let mut chunk = std::mem::take(&mut self.chunk);
        while bytes > 0 {
            let want = bytes.min(CHUNK_BYTES as u64) as usize;
            let read = self.read_into(&mut chunk[..want])?;
            self.byte += read as u64;
            bytes -= read as u64;
            if read < want {
                break;
            }
        }
        self.chunk = chunk;
        Ok(bytes == 0)
    }

    /// Reads into `to` until it is full or the stream ends. Returns the number of bytes read.
    fn read_into(&mut self, to: &mut [u8]) -> Result<usize, CameraError> {
        let mut filled = 0;
        while filled < to.len() {
            match self.stream.read(&mut to[filled..]) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(cause) => {
                    return Err(CameraError::Read {
                        path: PathBuf::from(&self.name),
                        frames: self.frames,
                        cause,
                    });
                }
            }
        }
        Ok(filled)
    }

    /// Reads into `self.line` up to a line feed. Returns false if the stream ends before the first byte.
    fn read_line(&mut self, what: &str) -> Result<bool, CameraError> {
        self.line.clear();
        loop {
            let mut byte = [0];
            if self.read_into(&mut byte)? == 0 {
                if self.line.is_empty() && self.byte > 0 {
                    return Ok(false);
                }
                if self.byte == 0 {
                    return Err(self.problem("the stream is empty, expected 'YUV4MPEG2 '".into()));
                }
                if self.is_no_frame_header() {
                    return Ok(true);
                }
                if b"FRAME".starts_with(&self.line) || self.line.starts_with(b"FRAME ") {
                    self.truncation = Some(format!(
                        "{}: the stream ends within {what} at byte {}; the {} complete frames before it are used",
                        self.name, self.byte, self.frames
                    ));
                    return Ok(false);
                }
                return Err(self.problem(format!("the stream ends within {what}")));
            }
            self.byte += 1;
            if byte[0] == b'\n' {
                return Ok(true);
            }
            self.line.push(byte[0]);
            if self.line.len() == MAGIC.len()
                && self.frames == 0
                && what.contains("stream")
                && self.line != MAGIC
            {
                // A stream that is not y4m may have no line feed, so a line that reaches the limit ends here.
                return Ok(true);
            }
            if self.line.len() == SHOWN_BYTES && self.is_no_frame_header() {
                // The pixels of a frame that is larger than the header states may have no line feed.
                return Ok(true);
            }
            if self.line.len() > MAX_HEADER_BYTES {
                return Err(self.problem(format!("{what} is longer than {MAX_HEADER_BYTES} bytes")));
            }
        }
    }

    /// Whether the line cannot be the start of a frame header. False while the header of the stream is read.
    fn is_no_frame_header(&self) -> bool {
        let start = &self.line[..self.line.len().min(5)];
        self.header.width_px > 0 && !b"FRAME".starts_with(start)
    }

    fn problem(&self, problem: String) -> CameraError {
        CameraError::Y4m {
            source_name: self.name.clone(),
            byte: self.byte,
            frame: self.frames,
            problem,
        }
    }
}

#[cfg(test)]
mod tests;
