//! What can go wrong with a source of frames: what, where, and how to mend it.

use std::path::PathBuf;

use super::frame::{MAX_PIXELS, MAX_SIDE_PX};

/// Why a source could not be opened or gave no further frame.
#[derive(Debug, thiserror::Error)]
pub enum CameraError {
    /// The text does not name a source.
    #[error(
        "'{given}' is no camera source: {problem}. Known are v4l2:CAMERA, nokhwa:NUMBER, file:VIDEO.y4m, file:FOLDER, - (y4m on standard input), \
         'command:PROGRAM ARGUMENTS' and synthetic:SEED, each with ?fps=30&size=320x240&format=GREY behind it"
    )]
    Spec {
        /// What was given.
        given: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A kind of source that is planned.
    #[error("'{given}': {kind}: sources are not in this version yet")]
    NotYet {
        /// What was given.
        given: String,
        /// The kind, as written before the colon.
        kind: String,
    },
    /// A file or folder could not be opened or read.
    #[error("{path}: cannot be read{after}: {cause}", path = path.display(), after = after(*frames))]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// Frames read before.
        frames: u64,
        /// What the system said.
        cause: std::io::Error,
    },
    /// A stream is not y4m, or stopped being it.
    #[error(
        "{source_name}: byte {byte}, frame {frame}: {problem}. A y4m stream is made by \
         'ffmpeg -i VIDEO -pix_fmt gray OUT.y4m'"
    )]
    Y4m {
        /// The file or command.
        source_name: String,
        /// Offset from the stream's start.
        byte: u64,
        /// Frame in whose place it happened, counted from 0.
        frame: u64,
        /// What was found and what was expected.
        problem: String,
    },
    /// A picture's size is none, or absurd.
    #[error(
        "{source_name}: a picture of {width_px}x{height_px} px is refused; sides are 1 to {MAX_SIDE_PX} px, \
         {MAX_PIXELS} px in all. Scale the video down (ffmpeg -vf scale=640:-2)"
    )]
    Size {
        /// The file or command.
        source_name: String,
        /// Width as the source says.
        width_px: u64,
        /// Height as the source says.
        height_px: u64,
    },
    /// A frame's size is not the one of those before, or not the one asked for.
    #[error(
        "{source_name}: frame {frame} has {width_px}x{height_px} px, expected {expected_width_px}x{expected_height_px} \
         ({why}). All frames of a source have one size: scale or remove it"
    )]
    SizeChanged {
        /// The file that differs.
        source_name: String,
        /// Its number.
        frame: u64,
        /// Its width.
        width_px: u32,
        /// Its height.
        height_px: u32,
        /// Expected width.
        expected_width_px: u32,
        /// Expected height.
        expected_height_px: u32,
        /// Who expects it.
        why: &'static str,
    },
    /// A folder without pictures.
    #[error("{path}: no picture in this folder; expected files that end in .png, .jpg, .jpeg, .tif or .tiff", path = path.display())]
    NoPictures {
        /// The folder.
        path: PathBuf,
    },
    /// A picture that cannot be decoded.
    #[error("{path}: frame {frame} is no picture that can be read: {cause}. Repair or remove the file", path = path.display())]
    Picture {
        /// The file.
        path: PathBuf,
        /// Its number in the folder's order.
        frame: u64,
        /// What the decoder said.
        cause: Box<image::ImageError>,
    },
    /// A child program could not be started.
    #[error("command '{program}' cannot be started: {cause}. Is it installed and in the PATH?")]
    Start {
        /// First word of the command.
        program: String,
        /// What the system said.
        cause: std::io::Error,
    },
    /// A child program failed.
    #[error(
        "command '{program}' ended with {status} after {frames} frames; its last words: {last_words}"
    )]
    Command {
        /// First word of the command.
        program: String,
        /// How it ended.
        status: String,
        /// Frames read before.
        frames: u64,
        /// The last lines of its standard error.
        last_words: String,
    },
}

fn after(frames: u64) -> String {
    match frames {
        0 => String::new(),
        1 => " after 1 frame".to_owned(),
        _ => format!(" after {frames} frames"),
    }
}
