//! Keeps frames: a y4m file that [`super::Source`] plays back as it was, time stamps and all.
//!
//! In: frames of one size. Out: a file that appears whole under its name when the recording ends, of bounded length.
//! Where the disk is full, what was written before is kept. Must not: wait for anybody, or start by itself.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::{Frame, Luma};

/// The longest recording.
pub const MAX_SECS: f64 = 3600.0;
/// The largest recording: an hour of 640 × 480 pixels at 7 frames a second, 2.5 minutes of full HD at 30.
pub const MAX_BYTES: u64 = 8 << 30;

/// Why there is no recording, or a shorter one.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The file cannot be made, written or given its name.
    #[error("{path}: the recording cannot be written after {frames} frames: {cause}", path = path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Frames that were written before.
        frames: u64,
        /// What the system said.
        #[source]
        cause: std::io::Error,
    },
    /// The frames have become larger or smaller.
    #[error(
        "{path}: the camera's picture changed its size after {frames} frames, and a recording has one: it ends here",
        path = path.display()
    )]
    SizeChanged {
        /// The file.
        path: PathBuf,
        /// Frames that were written before.
        frames: u64,
    },
}

/// What became of a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// Where it is.
    pub path: PathBuf,
    /// Frames in it.
    pub frames: u64,
    /// From the first frame to the last.
    pub secs: f64,
}

/// A recording in the making.
#[derive(Debug)]
pub struct Recording {
    path: PathBuf,
    unfinished: PathBuf,
    file: File,
    limit_secs: f64,
    fps: f64,
    /// Size and depth, from the first frame on.
    shape: Option<(u32, u32, u32)>,
    frames: u64,
    /// Length of what is whole.
    bytes: u64,
    first_secs: f64,
    last_secs: f64,
    /// A frame as it is written; used again.
    packed: Vec<u8>,
}

impl Recording {
    /// Begins a recording of at most `limit_secs` of the frames' own time, at most [`MAX_SECS`]. `fps` is what the header
    /// tells other programs; the frames' time stamps are kept beside it.
    ///
    /// # Errors
    /// [`RecordError::Write`] when no file can be made beside `path`.
    pub fn create(path: &Path, limit_secs: f64, fps: f64) -> Result<Self, RecordError> {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(".unfinished");
        let unfinished = path.with_file_name(name);
        let file = File::create(&unfinished).map_err(|cause| RecordError::Write {
            path: path.to_owned(),
            frames: 0,
            cause,
        })?;
        Ok(Self {
            path: path.to_owned(),
            unfinished,
            file,
            limit_secs: limit_secs.clamp(0.0, MAX_SECS),
            fps,
            shape: None,
            frames: 0,
            bytes: 0,
            first_secs: 0.0,
            last_secs: 0.0,
            packed: Vec::new(),
        })
    }

    /// Adds a frame; false when it is beyond the limit: then the recording is full, and to be finished.
    ///
    /// # Errors
    /// When the disk is full or the picture's size changed. What was written before is whole, and to be finished.
    pub fn write(&mut self, frame: &Frame) -> Result<bool, RecordError> {
        let bits = match &frame.luma {
            Luma::Eight(_) => 8,
            Luma::Sixteen { bits, .. } => *bits,
        };
        let shape = (frame.width_px, frame.height_px, bits);
        self.packed.clear();
        match self.shape {
            None => {
                self.first_secs = frame.time_secs;
                let depth = if bits > 8 {
                    format!("mono{bits}")
                } else {
                    "mono".to_owned()
                };
                let rate = (self.fps * 1000.0).round().clamp(1.0, 1e9) as u64;
                let (width, height, _) = shape;
                // Writing to memory cannot fail.
                let _written = writeln!(
                    self.packed,
                    "YUV4MPEG2 W{width} H{height} F{rate}:1000 Ip A1:1 C{depth}"
                );
            }
            Some(before) if before != shape => {
                return Err(RecordError::SizeChanged {
                    path: self.path.clone(),
                    frames: self.frames,
                });
            }
            Some(_) => {}
        }
        let full = frame.time_secs - self.first_secs >= self.limit_secs
            || self.bytes + 2 * frame.luma.len() as u64 > MAX_BYTES;
        if full {
            return Ok(false);
        }
        // The shortest text that reads back as the same number.
        let _written = writeln!(self.packed, "FRAME XTS={}", frame.time_secs);
        match &frame.luma {
            Luma::Eight(levels) => self.packed.extend_from_slice(levels),
            Luma::Sixteen { levels, .. } => {
                let bytes = levels.iter().flat_map(|level| level.to_le_bytes());
                self.packed.extend(bytes);
            }
        }
        let written = self.file.write_all(&self.packed);
        written.map_err(|cause| self.failed(cause))?;
        self.shape = Some(shape);
        self.bytes += self.packed.len() as u64;
        self.frames += 1;
        self.last_secs = frame.time_secs;
        Ok(true)
    }

    /// Ends the recording: cuts off a frame that was not written whole, and gives the file its name.
    ///
    /// # Errors
    /// [`RecordError::Write`]; the file stays under its unfinished name.
    pub fn finish(self) -> Result<Recorded, RecordError> {
        let ended = self
            .file
            .set_len(self.bytes)
            .and_then(|()| self.file.sync_all())
            .and_then(|()| std::fs::rename(&self.unfinished, &self.path));
        ended.map_err(|cause| self.failed(cause))?;
        Ok(Recorded {
            path: self.path,
            frames: self.frames,
            secs: self.last_secs - self.first_secs,
        })
    }

    fn failed(&self, cause: std::io::Error) -> RecordError {
        RecordError::Write {
            path: self.path.clone(),
            frames: self.frames,
            cause,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::camera::{Playback, Source, SourceSpec};

    fn frame(n: u64, time_secs: f64, luma: Luma) -> Frame {
        Frame {
            sequence: n,
            time_secs,
            width_px: 3,
            height_px: 2,
            luma,
        }
    }

    fn played(path: &Path) -> Vec<Frame> {
        let spec = SourceSpec::parse(&format!("file:{}", path.display())).unwrap();
        let playback = Playback {
            fps: None,
            fast: true,
        };
        let mut source = Source::open(&spec, playback).unwrap();
        let (mut frames, mut next) = (Vec::new(), Frame::default());
        while source.read(&mut next).unwrap() {
            frames.push(next.clone());
        }
        assert_eq!(source.take_warning(), None);
        frames
    }

    #[test]
    fn what_is_recorded_plays_back_to_the_bit() {
        let folder = tempfile::tempdir().unwrap();
        let eight = |n: u8| Luma::Eight((0..6).map(|i| n * 10 + i).collect());
        let sixteen = |n: u16| Luma::Sixteen {
            bits: 10,
            levels: (0..6).map(|i| n * 100 + i).collect(),
        };
        let times = [0.1, 0.1 + 1.0 / 30.0, 0.3, 5.0 / 3.0];
        let bright: Vec<Frame> = (0..4)
            .map(|n| frame(n, times[n as usize], eight(n as u8)))
            .collect();
        let deep: Vec<Frame> = (0..4)
            .map(|n| frame(n, times[n as usize], sixteen(n as u16)))
            .collect();
        for (name, frames) in [("bright.y4m", bright), ("deep.y4m", deep)] {
            let path = folder.path().join(name);
            let mut recording = Recording::create(&path, 60.0, 29.97).unwrap();
            for frame in &frames {
                assert!(recording.write(frame).unwrap());
                assert!(!path.exists(), "half a recording is seen");
            }
            let recorded = recording.finish().unwrap();
            assert_eq!(recorded.frames, 4);
            assert!((recorded.secs - (5.0 / 3.0 - 0.1)).abs() < 1e-9);
            assert_eq!(played(&path), frames);
        }
        let files = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(files, 2, "an unfinished file is left");
    }

    #[test]
    fn a_recording_ends_at_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.y4m");
        let mut recording = Recording::create(&path, 0.25, 10.0).unwrap();
        let taken = (0..5).map(|n| {
            let frame = frame(n, 7.0 + n as f64 / 10.0, Luma::Eight(vec![0; 6]));
            recording.write(&frame).unwrap()
        });
        assert_eq!(taken.collect::<Vec<_>>(), [true, true, true, false, false]);
        assert_eq!(recording.finish().unwrap().frames, 3);
        assert_eq!(played(&path).len(), 3);
    }

    #[test]
    fn another_size_ends_it_and_keeps_what_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.y4m");
        let mut recording = Recording::create(&path, 60.0, 10.0).unwrap();
        let first = frame(0, 0.0, Luma::Eight(vec![9; 6]));
        assert!(recording.write(&first).unwrap());
        let wider = Frame {
            width_px: 6,
            height_px: 1,
            ..first.clone()
        };
        let error = recording.write(&wider).unwrap_err().to_string();
        assert!(error.contains("changed its size after 1 frames"), "{error}");
        recording.finish().unwrap();
        assert_eq!(played(&path), [first]);
    }

    #[test]
    fn a_full_disk_leaves_whole_frames() {
        if !Path::new("/dev/full").exists() {
            eprintln!("SKIPPED: no /dev/full here");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.y4m");
        let mut recording = Recording::create(&path, 60.0, 10.0).unwrap();
        let one = frame(0, 0.0, Luma::Eight(vec![9; 6]));
        assert!(recording.write(&one).unwrap());
        let kept = std::mem::replace(
            &mut recording.file,
            File::options().write(true).open("/dev/full").unwrap(),
        );
        let error = recording.write(&one).unwrap_err().to_string();
        assert!(error.contains("after 1 frames"), "{error}");
        recording.file = kept;
        // What a disk takes of a frame before it is full.
        recording.file.write_all(b"FRAME XTS=1\nabc").unwrap();
        assert_eq!(recording.finish().unwrap().frames, 1);
        assert_eq!(played(&path), [one]);
    }

    #[test]
    fn a_place_that_cannot_be_written_is_told_at_once() {
        let error = Recording::create(Path::new("/nowhere/a.y4m"), 60.0, 30.0).unwrap_err();
        assert!(error.to_string().contains("/nowhere/a.y4m"), "{error}");
    }
}
