//! What a capture worker writes to its standard output: headers of fixed length, each followed by its content.
//!
//! Shared by both ends, so that they cannot drift apart. The reading end trusts nothing: lengths are held against the
//! picture's size or a small limit before memory is taken, and an unknown header ends the worker.
//!
//! A header is 40 bytes, little endian: magic (4), kind (1), bits of a level (1), zero (2), sequence (8), monotonic time
//! stamp in nanoseconds (8), width (4), height (4), length of the content in bytes (4), zero (4). The content is JSON of
//! a [`Message`], or the levels of a frame: one byte each, or two, little endian, where they have more than 8 bits.

use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};

use super::frame::check_size;
use super::live::FaultKind;
use super::worker::CameraDescription;

/// Length of a header.
pub(super) const HEADER_BYTES: usize = 40;
/// The longest JSON that is read.
const MAX_MESSAGE_BYTES: usize = 1 << 20;
const MAGIC: [u8; 4] = *b"shc1";
const KIND_FRAME: u8 = 1;
const KIND_MESSAGE: u8 = 2;

/// What a worker tells beside frames.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "tell", rename_all = "snake_case")]
pub(super) enum Message {
    /// The camera is open; frames follow.
    Ready(Granted),
    /// Something is wrong. The worker ends after it, unless it is about single frames.
    Trouble {
        /// Which fault.
        kind: FaultKind,
        /// In words: what, where, how to mend it.
        detail: String,
    },
    /// A device is about to be looked at (while listing).
    Probing {
        /// Its node or number.
        device: String,
    },
    /// A camera was found (while listing).
    Camera(Box<CameraDescription>),
    /// The list is complete.
    Listed,
}

/// What the driver granted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Granted {
    /// The node or number that was opened, such as `/dev/video0`.
    pub device: String,
    /// The source's text that finds this camera again after it was unplugged, such as `v4l2:platform:vivid-000 vivid`.
    pub stable_source: String,
    /// The camera's name as its driver tells it.
    pub card: String,
    /// Pixel format, a V4L2 four character code.
    pub format: String,
    /// Width in pixels.
    pub width_px: u32,
    /// Height in pixels.
    pub height_px: u32,
    /// Frames a second, where the driver tells it.
    pub fps: Option<f64>,
    /// Controls that were asked for, or switched off because they work by themselves.
    pub controls: Vec<ControlReading>,
    /// What else was not granted as asked.
    pub remarks: Vec<String>,
}

/// A control after it was set and read back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ControlReading {
    /// Its name in `camera.controls`, or the driver's.
    pub name: String,
    /// What it was set to.
    pub wanted: i64,
    /// What it says it is; `None` where it cannot be read or is not there.
    pub got: Option<i64>,
    /// Why it did not take, where that is known.
    pub reason: Option<String>,
}

impl ControlReading {
    /// Whether the control is what was wanted.
    pub fn took(&self) -> bool {
        self.got == Some(self.wanted)
    }
}

/// What comes next on the pipe.
#[derive(Debug, PartialEq)]
pub(super) enum Head {
    /// Levels of a frame.
    Frame(FrameHead),
    /// A message.
    Message(Message),
}

/// The header of a frame, its length checked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FrameHead {
    /// The driver's number of the frame; gaps are frames that were lost.
    pub(super) sequence: u64,
    /// When it was taken, see [`super::clock`].
    pub(super) stamp_ns: u64,
    pub(super) width_px: u32,
    pub(super) height_px: u32,
    /// Bits of a level, 8 to 16.
    pub(super) bits: u32,
}

impl FrameHead {
    /// Number of pixels; small enough for memory, as sizes are checked.
    pub(super) fn pixels(&self) -> usize {
        self.width_px as usize * self.height_px as usize
    }

    /// Length of the content in bytes.
    fn content_bytes(&self) -> usize {
        self.pixels() * if self.bits > 8 { 2 } else { 1 }
    }
}

/// Why nothing further can be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum PipeError {
    /// The pipe is closed.
    #[error("the pipe ended")]
    Ended,
    /// What came is not what a worker writes.
    #[error("{0}")]
    Garbage(String),
}

impl From<io::Error> for PipeError {
    fn from(_: io::Error) -> Self {
        Self::Ended
    }
}

/// Writes a frame.
pub(super) fn write_frame(to: &mut impl Write, head: &FrameHead, levels: &[u8]) -> io::Result<()> {
    debug_assert_eq!(levels.len(), head.content_bytes());
    to.write_all(&header(KIND_FRAME, head, levels.len() as u32))?;
    to.write_all(levels)?;
    to.flush()
}

/// Writes a message.
pub(super) fn write_message(to: &mut impl Write, message: &Message) -> io::Result<()> {
    let json = serde_json::to_vec(message)?;
    let none = FrameHead {
        sequence: 0,
        stamp_ns: 0,
        width_px: 0,
        height_px: 0,
        bits: 0,
    };
    to.write_all(&header(KIND_MESSAGE, &none, json.len() as u32))?;
    to.write_all(&json)?;
    to.flush()
}

/// Reads up to the levels of a frame, or a whole message.
pub(super) fn read_head(from: &mut impl Read) -> Result<Head, PipeError> {
    let mut bytes = [0; HEADER_BYTES];
    from.read_exact(&mut bytes)?;
    let (kind, head, length) = parse(&bytes)?;
    match kind {
        KIND_FRAME => {
            let (width, height) = (u64::from(head.width_px), u64::from(head.height_px));
            check_size("the worker", width, height)
                .map_err(|e| PipeError::Garbage(e.to_string()))?;
            if !(8..=16).contains(&head.bits) {
                let told = format!("a frame with {} bits a level, expected 8 to 16", head.bits);
                return Err(PipeError::Garbage(told));
            }
            if length as usize != head.content_bytes() {
                return Err(PipeError::Garbage(format!(
                    "a frame of {width}x{height} px with {} bits says it has {length} bytes, expected {}",
                    head.bits,
                    head.content_bytes()
                )));
            }
            Ok(Head::Frame(head))
        }
        KIND_MESSAGE => {
            let length = length as usize;
            if length > MAX_MESSAGE_BYTES {
                return Err(PipeError::Garbage(format!(
                    "a message says it has {length} bytes, at most {MAX_MESSAGE_BYTES} are read"
                )));
            }
            let mut json = vec![0; length];
            from.read_exact(&mut json)?;
            serde_json::from_slice(&json)
                .map(Head::Message)
                .map_err(|e| PipeError::Garbage(format!("a message cannot be understood: {e}")))
        }
        other => Err(PipeError::Garbage(format!(
            "a header of the unknown kind {other}"
        ))),
    }
}

fn header(kind: u8, head: &FrameHead, length: u32) -> [u8; HEADER_BYTES] {
    let mut bytes = [0; HEADER_BYTES];
    bytes[..4].copy_from_slice(&MAGIC);
    bytes[4] = kind;
    bytes[5] = head.bits as u8;
    bytes[8..16].copy_from_slice(&head.sequence.to_le_bytes());
    bytes[16..24].copy_from_slice(&head.stamp_ns.to_le_bytes());
    bytes[24..28].copy_from_slice(&head.width_px.to_le_bytes());
    bytes[28..32].copy_from_slice(&head.height_px.to_le_bytes());
    bytes[32..36].copy_from_slice(&length.to_le_bytes());
    bytes
}

fn parse(bytes: &[u8; HEADER_BYTES]) -> Result<(u8, FrameHead, u32), PipeError> {
    if bytes[..4] != MAGIC {
        let found = bytes[..8].escape_ascii();
        return Err(PipeError::Garbage(format!(
            "found '{found}' where a header should start"
        )));
    }
    let four = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
    let eight = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
    let head = FrameHead {
        sequence: eight(8),
        stamp_ns: eight(16),
        width_px: four(24),
        height_px: four(28),
        bits: u32::from(bytes[5]),
    };
    Ok((bytes[4], head, four(32)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: FrameHead = FrameHead {
        sequence: 7,
        stamp_ns: 1 << 40,
        width_px: 3,
        height_px: 2,
        bits: 10,
    };

    fn told(bytes: &[u8]) -> String {
        read_head(&mut &bytes[..]).unwrap_err().to_string()
    }

    #[test]
    fn what_is_written_is_read() {
        let mut pipe = Vec::new();
        write_frame(&mut pipe, &HEAD, &[9; 12]).unwrap();
        let trouble = Message::Trouble {
            kind: FaultKind::Unplugged,
            detail: "gone".into(),
        };
        write_message(&mut pipe, &trouble).unwrap();
        let mut from = &pipe[..];
        assert_eq!(read_head(&mut from).unwrap(), Head::Frame(HEAD));
        from = &from[12..];
        assert_eq!(read_head(&mut from).unwrap(), Head::Message(trouble));
        assert!(matches!(read_head(&mut from), Err(PipeError::Ended)));
    }

    #[test]
    fn lengths_are_checked_before_memory_is_taken() {
        let huge = FrameHead {
            width_px: u32::MAX,
            height_px: u32::MAX,
            ..HEAD
        };
        assert!(told(&header(KIND_FRAME, &huge, u32::MAX)).contains("refused"));
        assert!(told(&header(KIND_FRAME, &HEAD, u32::MAX)).contains("expected 12"));
        assert!(told(&header(KIND_MESSAGE, &HEAD, u32::MAX)).contains("at most"));
        assert!(told(&header(KIND_FRAME, &FrameHead { bits: 32, ..HEAD }, 12)).contains("32 bits"));
    }

    #[test]
    fn garbage_is_told() {
        assert!(told(&[b'x'; 40]).contains("found 'xxxxxxxx'"));
        assert!(told(&header(9, &HEAD, 0)).contains("unknown kind 9"));
        let mut message = header(KIND_MESSAGE, &HEAD, 2).to_vec();
        message.extend(b"{}");
        assert!(told(&message).contains("cannot be understood"));
        assert_eq!(told(&[b's'; 39]), "the pipe ended");
    }
}
