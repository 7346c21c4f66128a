//! The protocol between a capture worker and its parent: the worker writes frames and messages to its standard output.
//!
//! Both processes use this module. The reader does not trust the data: it checks each length against the size of the frame or
//! against a limit before it allocates memory. If a header is unknown, the parent ends the worker.
//!
//! A header is 40 bytes, little endian: magic (4), kind (1), bits of a level (1), zero (2), sequence (8), monotonic
//! timestamp in nanoseconds (8), width (4), height (4), length of the content in bytes (4), zero (4). The content follows:
//! the JSON of a [`Message`], or the levels of a frame with 1 byte each, or 2 bytes (little endian) for more than 8 bits.

use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};

use super::description::CameraDescription;
use super::fault::Fault;
use super::frame::check_size;

/// Length of a header in bytes.
pub(super) const HEADER_BYTES: usize = 40;
/// Largest message that is read, in bytes of JSON. The description of one camera is a few kilobytes.
const MAX_MESSAGE_BYTES: usize = 1 << 20;
/// First bytes of every header: "Shoal camera, version 1".
const MAGIC: [u8; 4] = *b"shc1";
/// Kind of a header that precedes the levels of a frame.
const KIND_FRAME: u8 = 1;
/// Kind of a header that precedes a message.
const KIND_MESSAGE: u8 = 2;

/// A message from a worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "snake_case")]
pub(super) enum Message {
    /// The camera is open; frames follow.
    Ready(GrantedSettings),
    /// A fault. The worker ends after it, unless the fault concerns single frames.
    Fault(Fault),
    /// The worker lists cameras and is about to query this device.
    Probing {
        /// Node or number of the device.
        device: String,
    },
    /// The worker lists cameras and has found this one.
    Camera(Box<CameraDescription>),
    /// The list is complete.
    ListEnd,
}

/// The settings that the driver accepted when the camera was opened.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GrantedSettings {
    /// Node or number of the opened device, such as `/dev/video0`.
    pub device: String,
    /// Source text that finds this camera again after it was disconnected, such as `v4l2:platform:vivid-000 vivid`.
    pub stable_source: String,
    /// Name of the camera, from its driver.
    pub card: String,
    /// Pixel format, a V4L2 four character code.
    pub format: String,
    /// Width in pixels.
    pub width_px: u32,
    /// Height in pixels.
    pub height_px: u32,
    /// Frames per second; `None` if the driver does not report it.
    pub fps: Option<f64>,
    /// Controls that were requested, and automatic functions that were switched off.
    pub controls: Vec<AppliedControl>,
    /// Other settings that differ from the request, in sentences.
    pub remarks: Vec<String>,
}

/// A control after it was set and read back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AppliedControl {
    /// Name in `camera.controls`, or name of the automatic function.
    pub name: String,
    /// Requested value.
    pub requested: i64,
    /// Value read back; `None` if the control does not exist or cannot be read.
    pub actual: Option<i64>,
    /// Reason why the value was not applied, if known.
    pub reason: Option<String>,
}

impl AppliedControl {
    /// Whether the control has the requested value.
    pub fn is_applied(&self) -> bool {
        self.actual == Some(self.requested)
    }
}

/// The next item on the pipe.
#[derive(Debug, PartialEq)]
pub(super) enum Incoming {
    /// The header of a frame; its levels follow on the pipe.
    Frame(FrameHeader),
    /// A complete message.
    Message(Message),
}

/// The header of a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FrameHeader {
    /// Frame number of the driver; a gap in these numbers means lost frames.
    pub(super) sequence: u64,
    /// Time of capture on the clock of [`super::clock`], in nanoseconds.
    pub(super) timestamp_ns: u64,
    pub(super) width_px: u32,
    pub(super) height_px: u32,
    /// Number of bits of a level, 8 to 16.
    pub(super) bits: u32,
}

impl FrameHeader {
    /// Returns the number of pixels. [`read_next`] has checked that it fits into memory.
    pub(super) fn pixels(&self) -> usize {
        self.width_px as usize * self.height_px as usize
    }

    /// Returns the length of the levels in bytes.
    fn content_bytes(&self) -> usize {
        self.pixels() * if self.bits > 8 { 2 } else { 1 }
    }
}

/// The reason why reading ends.
#[derive(Debug, thiserror::Error)]
pub(super) enum PipeError {
    /// The pipe is closed.
    #[error("the pipe ended")]
    Ended,
    /// The data does not follow the protocol.
    #[error("{0}")]
    Protocol(String),
}

impl From<io::Error> for PipeError {
    fn from(_: io::Error) -> Self {
        Self::Ended
    }
}

/// Writes a frame.
pub(super) fn write_frame(
    to: &mut impl Write,
    header: &FrameHeader,
    levels: &[u8],
) -> io::Result<()> {
    debug_assert_eq!(levels.len(), header.content_bytes());
    to.write_all(&encode_header(KIND_FRAME, header, levels.len() as u32))?;
    to.write_all(levels)?;
    to.flush()
}

/// Writes a message.
pub(super) fn write_message(to: &mut impl Write, message: &Message) -> io::Result<()> {
    let json = serde_json::to_vec(message)?;
    let none = FrameHeader {
        sequence: 0,
        timestamp_ns: 0,
        width_px: 0,
        height_px: 0,
        bits: 0,
    };
    to.write_all(&encode_header(KIND_MESSAGE, &none, json.len() as u32))?;
    to.write_all(&json)?;
    to.flush()
}

/// Reads a whole message, or the header of a frame. After a frame header the caller must read the levels.
pub(super) fn read_next(from: &mut impl Read) -> Result<Incoming, PipeError> {
    let mut bytes = [0; HEADER_BYTES];
    from.read_exact(&mut bytes)?;
    let (kind, header, length) = decode_header(&bytes)?;
    match kind {
        KIND_FRAME => {
            let (width, height) = (u64::from(header.width_px), u64::from(header.height_px));
            check_size("the worker", width, height)
                .map_err(|e| PipeError::Protocol(e.to_string()))?;
            if !(8..=16).contains(&header.bits) {
                let refusal = format!(
                    "a frame has {} bits per level, expected 8 to 16",
                    header.bits
                );
                return Err(PipeError::Protocol(refusal));
            }
            if length as usize != header.content_bytes() {
                return Err(PipeError::Protocol(format!(
                    "a frame of {width}x{height} px with {} bits has a length of {length} bytes, expected {}",
                    header.bits,
                    header.content_bytes()
                )));
            }
            Ok(Incoming::Frame(header))
        }
        KIND_MESSAGE => {
            let length = length as usize;
            if length > MAX_MESSAGE_BYTES {
                return Err(PipeError::Protocol(format!(
                    "a message has {length} bytes, at most {MAX_MESSAGE_BYTES} are allowed"
                )));
            }
            let mut json = vec![0; length];
            from.read_exact(&mut json)?;
            serde_json::from_slice(&json)
                .map(Incoming::Message)
                .map_err(|e| PipeError::Protocol(format!("a message cannot be parsed: {e}")))
        }
        other => Err(PipeError::Protocol(format!(
            "a header has the unknown kind {other}"
        ))),
    }
}

fn encode_header(kind: u8, header: &FrameHeader, length: u32) -> [u8; HEADER_BYTES] {
    let mut bytes = [0; HEADER_BYTES];
    bytes[..4].copy_from_slice(&MAGIC);
    bytes[4] = kind;
    bytes[5] = header.bits as u8;
    bytes[8..16].copy_from_slice(&header.sequence.to_le_bytes());
    bytes[16..24].copy_from_slice(&header.timestamp_ns.to_le_bytes());
    bytes[24..28].copy_from_slice(&header.width_px.to_le_bytes());
    bytes[28..32].copy_from_slice(&header.height_px.to_le_bytes());
    bytes[32..36].copy_from_slice(&length.to_le_bytes());
    bytes
}

fn decode_header(bytes: &[u8; HEADER_BYTES]) -> Result<(u8, FrameHeader, u32), PipeError> {
    if bytes[..4] != MAGIC {
        let found = bytes[..8].escape_ascii();
        return Err(PipeError::Protocol(format!(
            "found '{found}', expected a header"
        )));
    }
    let four = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
    let eight = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
    let header = FrameHeader {
        sequence: eight(8),
        timestamp_ns: eight(16),
        width_px: four(24),
        height_px: four(28),
        bits: u32::from(bytes[5]),
    };
    Ok((bytes[4], header, four(32)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::camera::FaultKind;

    const HEADER: FrameHeader = FrameHeader {
        sequence: 7,
        timestamp_ns: 1 << 40,
        width_px: 3,
        height_px: 2,
        bits: 10,
    };

    fn refusal(bytes: &[u8]) -> String {
        read_next(&mut &bytes[..]).unwrap_err().to_string()
    }

    #[test]
    fn written_frames_and_messages_are_read_back() {
        let mut pipe = Vec::new();
        write_frame(&mut pipe, &HEADER, &[9; 12]).unwrap();
        let fault = Message::Fault(Fault::new(FaultKind::Unplugged, "gone"));
        write_message(&mut pipe, &fault).unwrap();
        let mut from = &pipe[..];
        assert_eq!(read_next(&mut from).unwrap(), Incoming::Frame(HEADER));
        from = &from[12..];
        assert_eq!(read_next(&mut from).unwrap(), Incoming::Message(fault));
        assert!(matches!(read_next(&mut from), Err(PipeError::Ended)));
    }

    #[test]
    fn lengths_are_checked_before_memory_is_allocated() {
        let huge = FrameHeader {
            width_px: u32::MAX,
            height_px: u32::MAX,
            ..HEADER
        };
        assert!(refusal(&encode_header(KIND_FRAME, &huge, u32::MAX)).contains("not accepted"));
        assert!(refusal(&encode_header(KIND_FRAME, &HEADER, u32::MAX)).contains("expected 12"));
        assert!(refusal(&encode_header(KIND_MESSAGE, &HEADER, u32::MAX)).contains("at most"));
        assert!(
            refusal(&encode_header(
                KIND_FRAME,
                &FrameHeader { bits: 32, ..HEADER },
                12
            ))
            .contains("32 bits")
        );
    }

    #[test]
    fn data_outside_the_protocol_is_an_error() {
        assert!(refusal(&[b'x'; 40]).contains("found 'xxxxxxxx'"));
        assert!(refusal(&encode_header(9, &HEADER, 0)).contains("unknown kind 9"));
        let mut message = encode_header(KIND_MESSAGE, &HEADER, 2).to_vec();
        message.extend(b"{}");
        assert!(refusal(&message).contains("cannot be parsed"));
        assert_eq!(refusal(&[b's'; 39]), "the pipe ended");
    }
}
