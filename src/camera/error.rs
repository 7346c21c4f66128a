//! Errors of a source: what is wrong, where, and how to fix it.

use std::path::PathBuf;

use super::limits::{MAX_PIXELS, MAX_SIDE_PX};

/// The reason why a source cannot be opened, or returns no further frame.
#[derive(Debug, thiserror::Error)]
pub enum CameraError {
    /// The text does not name a source.
    #[error(
        "'{given}' is not a camera source: {problem}. Known sources are v4l2:CAMERA, nokhwa:NUMBER, file:VIDEO.y4m, file:FOLDER, - (y4m on standard input), \
         'command:PROGRAM ARGUMENTS' and synthetic:SEED, each optionally followed by ?fps=30&size=320x240&format=GREY"
    )]
    Spec {
        /// The text of the source.
        given: String,
        /// The part that is wrong.
        problem: String,
    },
    /// A file or folder could not be opened or read.
    #[error("{path}: cannot be read{after}: {cause}", path = path.display(), after = after(*frames))]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// Number of frames read before the error.
        frames: u64,
        /// Error of the operating system.
        cause: std::io::Error,
    },
    /// A stream is not valid y4m.
    #[error(
        "{source_name}: byte {byte}, frame {frame}: {problem}. To make a y4m file: \
         ffmpeg -i VIDEO -pix_fmt gray OUT.y4m"
    )]
    Y4m {
        /// The file or command.
        source_name: String,
        /// Offset from the start of the stream, in bytes.
        byte: u64,
        /// Number of the frame at which the error happened, counted from 0.
        frame: u64,
        /// The text that was found and the text that was expected.
        problem: String,
    },
    /// The size of a frame is 0 or too large.
    #[error(
        "{source_name}: frames of {width_px}x{height_px} px are not accepted; width and height must be 1 to {MAX_SIDE_PX} \
         px, and a frame has at most {MAX_PIXELS} pixels. Scale the video down: ffmpeg -i VIDEO -vf scale=640:-2 OUT"
    )]
    Size {
        /// The file or command.
        source_name: String,
        /// Width according to the source, in pixels.
        width_px: u64,
        /// Height according to the source, in pixels.
        height_px: u64,
    },
    /// A frame has another size than the frames before it, or than the size that was asked for.
    #[error(
        "{source_name}: frame {frame} has {width_px}x{height_px} px, expected {expected_width_px}x{expected_height_px} \
         ({why}). All frames of a source must have the same size: scale this frame, or remove it"
    )]
    SizeChanged {
        /// The file or source with the frame.
        source_name: String,
        /// Number of the frame, counted from 0.
        frame: u64,
        /// Width of the frame, in pixels.
        width_px: u32,
        /// Height of the frame, in pixels.
        height_px: u32,
        /// Expected width, in pixels.
        expected_width_px: u32,
        /// Expected height, in pixels.
        expected_height_px: u32,
        /// The reason why this size is expected.
        why: &'static str,
    },
    /// A folder contains no image.
    #[error("{path}: this folder contains no image; expected files that end in .png, .jpg, .jpeg, .tif or .tiff", path = path.display())]
    NoImages {
        /// The folder.
        path: PathBuf,
    },
    /// An image file is damaged or incomplete.
    #[error("{path}: frame {frame}: the image cannot be decoded: {problem}. Repair or remove the file", path = path.display())]
    DamagedImage {
        /// The file.
        path: PathBuf,
        /// Number of the image in the order of the folder, counted from 0.
        frame: u64,
        /// The part that is damaged or missing.
        problem: String,
    },
    /// An image file has a form that Shoal does not read.
    #[error("{path}: frame {frame}: {problem}. {remedy}", path = path.display())]
    UnsupportedImage {
        /// The file.
        path: PathBuf,
        /// Number of the image in the order of the folder, counted from 0.
        frame: u64,
        /// The form of the image.
        problem: String,
        /// How to make an image that Shoal reads.
        remedy: &'static str,
    },
    /// A child program could not be started.
    #[error("command '{program}' cannot be started: {cause}. Is it installed and in the PATH?")]
    Start {
        /// First word of the command.
        program: String,
        /// Error of the operating system.
        cause: std::io::Error,
    },
    /// A child program failed.
    #[error(
        "command '{program}' ended with {status} after {frames} frames; its last lines on standard error: {stderr_tail}"
    )]
    Command {
        /// First word of the command.
        program: String,
        /// Exit status.
        status: String,
        /// Number of frames read before the error.
        frames: u64,
        /// Last lines that the program wrote to standard error.
        stderr_tail: String,
    },
}

impl CameraError {
    /// Whether a stream ended before its first byte. The cause is then the end of the program that should have written it.
    pub(super) fn is_empty_stream(&self) -> bool {
        matches!(self, Self::Y4m { byte: 0, .. })
    }
}

fn after(frames: u64) -> String {
    match frames {
        0 => String::new(),
        1 => " after 1 frame".to_owned(),
        _ => format!(" after {frames} frames"),
    }
}
