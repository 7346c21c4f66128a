//! Records frames to a y4m file that [`super::Source`] plays back exactly, including timestamps.
//!
//! Input: frames of one size. Output: a file of limited length. The file gets its final name when the recording is complete. If
//! the disk becomes full, the frames that were written before are kept.

use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::{Frame, Luma};
use crate::files::{OutputKind, check_output, output_target};

/// Longest recording, in seconds.
pub const MAX_RECORDING_SECS: f64 = 3600.0;
/// Largest recording, in bytes: 1 hour of 640 × 480 pixels at 7 frames per second, or 2.5 minutes of full HD at 30.
const MAX_RECORDING_BYTES: u64 = 8 << 30;

/// The reason why a recording fails, or ends early.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The file cannot be created, written or renamed.
    #[error("{path}: the recording cannot be written after {frames} frames: {cause}", path = path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Number of frames written before.
        frames: u64,
        /// Error of the operating system.
        cause: std::io::Error,
    },
    /// The size or the number of bits of the frames has changed.
    #[error(
        "{path}: the size of the frames changed after {frames} frames; the recording ends here, because all its frames have one size",
        path = path.display()
    )]
    SizeChanged {
        /// The file.
        path: PathBuf,
        /// Number of frames written before.
        frames: u64,
    },
}

/// A finished recording.
#[derive(Clone, Debug, PartialEq)]
pub struct FinishedRecording {
    /// Path of the file.
    pub path: PathBuf,
    /// Number of frames.
    pub frames: u64,
    /// Time from the first frame to the last, in seconds.
    pub secs: f64,
}

/// A recording in progress.
#[derive(Debug)]
pub struct Recording {
    path: PathBuf,
    unfinished: PathBuf,
    file: File,
    limit_secs: f64,
    limit_bytes: u64,
    fps: f64,
    /// Width and height in pixels, and bits per pixel value; `None` before the first frame.
    shape: Option<(u32, u32, u32)>,
    frames: u64,
    /// Length of the complete frames in the file, in bytes.
    bytes: u64,
    first_secs: f64,
    last_secs: f64,
    /// The encoded frame; reused memory.
    packed: Vec<u8>,
}

impl Recording {
    /// Starts a recording of at most `limit_secs` seconds and at most [`MAX_RECORDING_SECS`], measured by the timestamps of the
    /// frames. `fps` is the frame rate in the header, for other programs; each frame also keeps its timestamp.
    ///
    /// # Errors
    /// [`RecordError::Write`] when `path` is neither a regular file nor a new name, or no file can be created in its folder.
    pub fn create(path: &Path, limit_secs: f64, fps: f64) -> Result<Self, RecordError> {
        let create = || {
            check_output(path, OutputKind::File)?;
            let target = output_target(path)?;
            let mut name = target.file_name().unwrap_or_default().to_owned();
            name.push(".unfinished");
            let unfinished = output_target(&target.with_file_name(name))?;
            let file = create_locked(&unfinished)?;
            Ok((target, unfinished, file))
        };
        let (target, unfinished, file) = create().map_err(|cause| RecordError::Write {
            path: path.to_owned(),
            frames: 0,
            cause,
        })?;
        Ok(Self {
            path: target,
            unfinished,
            file,
            limit_secs: limit_secs.clamp(0.0, MAX_RECORDING_SECS),
            limit_bytes: MAX_RECORDING_BYTES,
            fps,
            shape: None,
            frames: 0,
            bytes: 0,
            first_secs: 0.0,
            last_secs: 0.0,
            packed: Vec::new(),
        })
    }

    /// Limits the size of the file.
    #[must_use]
    pub fn with_bytes_max(mut self, bytes: u64) -> Self {
        self.limit_bytes = bytes.min(MAX_RECORDING_BYTES);
        self
    }

    /// Returns the size of the file, and the size at which the recording ends, in bytes.
    pub fn bytes(&self) -> (u64, u64) {
        (self.bytes, self.limit_bytes)
    }

    /// Adds a frame. Returns false if the frame exceeds a limit: then the recording is full, the frame is not written, and the
    /// caller must finish the recording.
    ///
    /// # Errors
    /// When the disk is full or the size of the frames changes. The frames written before are complete, and the caller
    /// finishes the recording.
    pub fn write(&mut self, frame: &Frame) -> Result<bool, RecordError> {
        let bits = match &frame.luma {
            Luma::U8(_) => 8,
            Luma::U16 { bits, .. } => *bits,
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
                // Writing to memory does not fail.
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
            || self.bytes + 2 * frame.luma.len() as u64 > self.limit_bytes;
        if full {
            return Ok(false);
        }
        // `Display` writes the shortest text that reads back as the same number.
        let _written = writeln!(self.packed, "FRAME XTS={}", frame.time_secs);
        match &frame.luma {
            Luma::U8(levels) => self.packed.extend_from_slice(levels),
            Luma::U16 { levels, .. } => {
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

    /// Waits until the written frames are on the disk. After a power cut, the unfinished file plays up to here.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn sync(&self) -> Result<(), RecordError> {
        self.file.sync_data().map_err(|cause| self.failed(cause))
    }

    /// Finishes the recording: cuts off an incomplete last frame and gives the file its final name.
    ///
    /// # Errors
    /// [`RecordError::Write`]; the file keeps its temporary name, which ends in `.unfinished`.
    pub fn finish(self) -> Result<FinishedRecording, RecordError> {
        let ended = self
            .file
            .set_len(self.bytes)
            .and_then(|()| self.file.sync_all())
            .and_then(|()| std::fs::rename(&self.unfinished, &self.path));
        ended.map_err(|cause| self.failed(cause))?;
        Ok(FinishedRecording {
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

/// Creates an empty file, and locks it until it is closed. A file that a program left behind when it died is not locked, so it is
/// replaced.
fn create_locked(path: &Path) -> std::io::Result<File> {
    loop {
        let mut options = File::options();
        let file = options
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let why = "another recording writes this file; choose another name, or end the other recording";
                return Err(std::io::Error::new(ErrorKind::ResourceBusy, why));
            }
            // Some network file systems have no locks.
            Err(TryLockError::Error(cause)) if cause.kind() == ErrorKind::Unsupported => {}
            Err(TryLockError::Error(cause)) => return Err(cause),
        }
        // Between opening and locking, another recording may have finished and renamed the file.
        if is_file_at(&file, path) {
            file.set_len(0)?;
            return Ok(file);
        }
    }
}

/// Whether `path` is the path of an open file.
#[cfg(unix)]
fn is_file_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let same =
        |a: &std::fs::Metadata, b: &std::fs::Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(opened), Ok(found)) => same(&opened, &found),
        _ => false,
    }
}

/// Always true: other systems do not rename an open file.
#[cfg(not(unix))]
fn is_file_at(_: &File, _: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::camera::{Source, SourceSpec};
    use shoal_testing::assert_message;

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
        let mut source = Source::open(&spec).unwrap();
        let (mut frames, mut next) = (Vec::new(), Frame::default());
        while source.read(&mut next).unwrap() {
            frames.push(next.clone());
        }
        assert_eq!(source.take_warning(), None);
        frames
    }

    #[test]
    fn a_recording_plays_back_bit_by_bit() {
        let folder = tempfile::tempdir().unwrap();
        let eight = |n: u8| Luma::U8((0..6).map(|i| n * 10 + i).collect());
        let sixteen = |n: u16| Luma::U16 {
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
                assert!(
                    !path.exists(),
                    "the unfinished recording has the final name"
                );
            }
            let recorded = recording.finish().unwrap();
            assert_eq!(recorded.frames, 4);
            assert!((recorded.secs - (5.0 / 3.0 - 0.1)).abs() < 1e-9);
            assert_eq!(played(&path), frames);
        }
        let files = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(files, 2, "an unfinished file is left over");
    }

    #[test]
    fn a_recording_ends_at_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.y4m");
        let mut recording = Recording::create(&path, 0.25, 10.0).unwrap();
        let taken = (0..5).map(|n| {
            let frame = frame(n, 7.0 + n as f64 / 10.0, Luma::U8(vec![0; 6]));
            recording.write(&frame).unwrap()
        });
        assert_eq!(taken.collect::<Vec<_>>(), [true, true, true, false, false]);
        assert_eq!(recording.finish().unwrap().frames, 3);
        assert_eq!(played(&path).len(), 3);
    }

    #[test]
    fn a_change_of_size_ends_the_recording_and_keeps_the_frames_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.y4m");
        let mut recording = Recording::create(&path, 60.0, 10.0).unwrap();
        let first = frame(0, 0.0, Luma::U8(vec![9; 6]));
        assert!(recording.write(&first).unwrap());
        let wider = Frame {
            width_px: 6,
            height_px: 1,
            ..first.clone()
        };
        let error = recording.write(&wider).unwrap_err().to_string();
        assert!(error.contains("changed after 1 frames"), "{error}");
        recording.finish().unwrap();
        assert_eq!(played(&path), [first]);
    }

    #[test]
    fn a_full_disk_leaves_complete_frames() {
        if !Path::new("/dev/full").exists() {
            eprintln!("SKIPPED: this system has no /dev/full");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.y4m");
        let mut recording = Recording::create(&path, 60.0, 10.0).unwrap();
        let one = frame(0, 0.0, Luma::U8(vec![9; 6]));
        assert!(recording.write(&one).unwrap());
        let kept = std::mem::replace(
            &mut recording.file,
            File::options().write(true).open("/dev/full").unwrap(),
        );
        let error = recording.write(&one).unwrap_err().to_string();
        assert!(error.contains("after 1 frames"), "{error}");
        recording.file = kept;
        // A part of a frame, as in a file on a disk that became full.
        recording.file.write_all(b"FRAME XTS=1\nabc").unwrap();
        assert_eq!(recording.finish().unwrap().frames, 1);
        assert_eq!(played(&path), [one]);
    }

    #[test]
    fn a_recording_never_replaces_anything_but_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.y4m");
        std::fs::create_dir(&path).unwrap();
        let error = Recording::create(&path, 60.0, 30.0)
            .unwrap_err()
            .to_string();
        assert_message(&error, &["a.y4m", "it is a folder"]);
        let unfinished = folder.path().join("b.y4m.unfinished");
        std::fs::create_dir(&unfinished).unwrap();
        assert!(Recording::create(&folder.path().join("b.y4m"), 60.0, 30.0).is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    /// A fixed bug: two instances wrote the same unfinished file, and both recordings were lost.
    #[test]
    fn a_file_that_another_recording_writes_is_refused_and_a_stale_one_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.y4m");
        std::fs::write(folder.path().join("a.y4m.unfinished"), "of a dead program").unwrap();
        let mut first = Recording::create(&path, 60.0, 30.0).unwrap();
        let one = frame(0, 0.0, Luma::U8(vec![9; 6]));
        assert!(first.write(&one).unwrap());
        for _ in 0..2 {
            let error = Recording::create(&path, 60.0, 30.0).unwrap_err();
            let text = error.to_string();
            assert_message(&text, &["a.y4m", "another recording writes"]);
            // A fixed bug: the reason was printed twice.
            assert!(std::error::Error::source(&error).is_none());
        }
        first.finish().unwrap();
        assert_eq!(played(&path), std::slice::from_ref(&one));
        let mut next = Recording::create(&path, 60.0, 30.0).unwrap();
        assert!(next.write(&one).unwrap());
        assert_eq!(next.finish().unwrap().frames, 1);
        assert_eq!(played(&path), [one]);
    }

    #[test]
    fn an_unwritable_path_is_an_error_at_once() {
        let error = Recording::create(Path::new("/nowhere/a.y4m"), 60.0, 30.0).unwrap_err();
        assert!(error.to_string().contains("/nowhere/a.y4m"), "{error}");
    }
}
