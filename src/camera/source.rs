//! Opens a source and reads its frames in order, in real time or as fast as possible. A live camera returns its newest
//! frame each time.

use std::fs::File;
use std::io::{BufReader, Stdin};
use std::process::ChildStdout;
use std::time::{Duration, Instant};

use super::child_program::ChildProgram;
use super::image_folder::ImageFolder;
use super::live::{LiveCamera, LiveSetup, WorkerCommand};
use super::synthetic::Synthetic;
use super::y4m::Y4mReader;
use super::{CameraError, CameraParams, Frame, SourceKind, SourceSpec};

/// Frame rate of sources that do not define one, in frames per second.
const DEFAULT_FPS: f64 = 30.0;
/// Width and height of synthetic frames if the source text has no `?size=`, in pixels.
const DEFAULT_SIZE_PX: (u32, u32) = (320, 240);
/// Size of the read buffer of a y4m stream, in bytes.
const BUFFER_BYTES: usize = 1 << 16;
/// Largest delay that playback catches up. If a frame is later than this, playback continues from the current time.
const MAX_LAG: Duration = Duration::from_secs(1);

/// Playback settings of a source.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Playback {
    /// Frame rate in frames per second, if the source text has no `?fps=`; replaces the rate of a recording.
    pub fps: Option<f64>,
    /// Whether frames are read as fast as possible instead of in real time. The timestamps are the same.
    pub fast: bool,
}

/// Result of waiting for a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadOutcome {
    /// The next frame was read.
    Frame,
    /// A live camera had no new frame within the time.
    Timeout,
    /// The source has ended.
    End,
}

/// An open source of frames.
pub struct Source {
    stream: Stream,
    name: String,
    fps: f64,
    next: u64,
    expected_px: Option<(u32, u32)>,
    /// Whether the user set the frame rate. If so, the timestamps in a recording are ignored.
    rate_given: bool,
    /// When the first frame was due, and its timestamp in seconds; `None` before it, and always with `fast`.
    pace: Option<(Instant, f64)>,
    fast: bool,
    warnings: Vec<String>,
}

enum Stream {
    File(Box<Y4mReader<BufReader<File>>>),
    StandardInput(Box<Y4mReader<BufReader<Stdin>>>),
    Command(Box<Y4mReader<BufReader<ChildStdout>>>, ChildProgram),
    Images(ImageFolder),
    Synthetic(Box<Synthetic>),
    Live(LiveCamera),
}

impl Source {
    /// Opens a source. Relative paths start at the current directory; see [`SourceSpec::relative_to`].
    ///
    /// A live camera is opened with the controls of [`CameraParams::default`], and its worker runs the current program. Use
    /// [`Source::live`] for other settings.
    ///
    /// # Errors
    /// When the file, folder or program does not exist, or its data does not start with a valid header.
    pub fn open(spec: &SourceSpec, playback: Playback) -> Result<Self, CameraError> {
        let mut name = String::new();
        let mut expected_px = spec.size_px;
        let stream = match &spec.kind {
            SourceKind::File(path) => {
                name = path.display().to_string();
                if path.is_dir() {
                    Stream::Images(ImageFolder::open(path)?)
                } else {
                    let file = File::open(path).map_err(|cause| CameraError::Read {
                        path: path.clone(),
                        frames: 0,
                        cause,
                    })?;
                    let file = BufReader::with_capacity(BUFFER_BYTES, file);
                    Stream::File(Box::new(Y4mReader::open(file, name.clone())?))
                }
            }
            SourceKind::StandardInput => {
                "standard input".clone_into(&mut name);
                let input = BufReader::with_capacity(BUFFER_BYTES, std::io::stdin());
                Stream::StandardInput(Box::new(Y4mReader::open(input, name.clone())?))
            }
            SourceKind::Command(words) => {
                name = format!("command '{}'", words.first().map_or("", String::as_str));
                let (mut child, output) = ChildProgram::start(words)?;
                let output = BufReader::with_capacity(BUFFER_BYTES, output);
                // If the program failed at once, its own error is more helpful than the error about its empty stream.
                match Y4mReader::open(output, name.clone()) {
                    Ok(reader) => Stream::Command(Box::new(reader), child),
                    Err(error) => return Err(child.finish(0).err().unwrap_or(error)),
                }
            }
            SourceKind::Synthetic { seed } => {
                name = format!("synthetic:{seed}");
                let (width, height) = spec.size_px.unwrap_or(DEFAULT_SIZE_PX);
                expected_px = None;
                Stream::Synthetic(Box::new(Synthetic::new(*seed, width, height)))
            }
            SourceKind::Live { .. } => {
                let params = CameraParams {
                    fps: playback.fps,
                    ..CameraParams::default()
                };
                let worker = WorkerCommand::own()?;
                return Self::live(LiveSetup::new(spec.clone(), &params, worker));
            }
        };
        let header_fps = match &stream {
            Stream::File(reader) => Some(reader.header().fps),
            Stream::StandardInput(reader) => Some(reader.header().fps),
            Stream::Command(reader, _) => Some(reader.header().fps),
            Stream::Images(_) | Stream::Synthetic(_) | Stream::Live(_) => None,
        };
        let asked = spec.fps.or(playback.fps);
        let mut warnings = Vec::new();
        if asked.is_none() && header_fps == Some(None) {
            warnings.push(format!(
                "{name}: the recording has no frame rate, {DEFAULT_FPS} is used; set it with ?fps="
            ));
        }
        Ok(Self {
            stream,
            name,
            fps: asked.or(header_fps.flatten()).unwrap_or(DEFAULT_FPS),
            next: 0,
            expected_px,
            rate_given: asked.is_some(),
            pace: None,
            fast: playback.fast,
            warnings,
        })
    }

    /// Opens a live camera. A missing camera is not an error; [`Source::live_camera`] reports its health.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn live(setup: LiveSetup) -> Result<Self, CameraError> {
        let fps = setup.spec.fps.unwrap_or(DEFAULT_FPS);
        let camera = LiveCamera::open(setup)?;
        Ok(Self {
            name: camera.name().to_owned(),
            stream: Stream::Live(camera),
            fps,
            next: 0,
            expected_px: None,
            rate_given: false,
            pace: None,
            fast: true,
            warnings: Vec::new(),
        })
    }

    /// The live camera, if this source is one.
    pub fn live_camera(&self) -> Option<&LiveCamera> {
        match &self.stream {
            Stream::Live(camera) => Some(camera),
            _ => None,
        }
    }

    /// Name of the source in error messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Frame rate in frames per second; for a live camera, the requested rate.
    pub fn fps(&self) -> f64 {
        self.fps
    }

    /// Removes and returns a warning about a degraded source. Warnings are not errors: reading continues or ends normally.
    pub fn take_warning(&mut self) -> Option<String> {
        self.warnings.pop()
    }

    /// Reads like [`Source::read`], but waits at most `wait` for a live camera, which may be absent for hours. With other
    /// sources it waits as long as `read`.
    ///
    /// # Errors
    /// The errors of [`Source::read`].
    pub fn read_within(
        &mut self,
        frame: &mut Frame,
        wait: Duration,
    ) -> Result<ReadOutcome, CameraError> {
        if let Stream::Live(camera) = &self.stream {
            return Ok(if camera.take_newest(frame, wait) {
                ReadOutcome::Frame
            } else {
                ReadOutcome::Timeout
            });
        }
        Ok(if self.read(frame)? {
            ReadOutcome::Frame
        } else {
            ReadOutcome::End
        })
    }

    /// Waits until the next frame is due and reads it into `frame`; false when the source has ended. A live camera has no
    /// end, and this method waits for its next frame without a limit; [`Source::read_within`] has one.
    ///
    /// After an error the source returns no further frame.
    ///
    /// # Errors
    /// When the stream is damaged, an image cannot be read, a frame has another size, or a child program failed.
    pub fn read(&mut self, frame: &mut Frame) -> Result<bool, CameraError> {
        if let Stream::Live(camera) = &self.stream {
            while !camera.take_newest(frame, MAX_LAG) {}
            return Ok(true);
        }
        let time_secs = self.next as f64 / self.fps;
        let more = match &mut self.stream {
            Stream::File(reader) => reader.read(frame)?,
            Stream::StandardInput(reader) => reader.read(frame)?,
            Stream::Command(reader, child) => {
                let more = reader.read(frame)?;
                if !more {
                    child.finish(reader.frames())?;
                }
                more
            }
            Stream::Images(folder) => folder.read(frame)?,
            Stream::Synthetic(scene) => {
                scene.draw(self.next, time_secs, frame);
                true
            }
            // Returned above.
            Stream::Live(_) => false,
        };
        if !more {
            let truncation = match &mut self.stream {
                Stream::File(reader) => reader.take_warning(),
                Stream::StandardInput(reader) => reader.take_warning(),
                Stream::Command(reader, _) => reader.take_warning(),
                Stream::Images(_) | Stream::Synthetic(_) | Stream::Live(_) => None,
            };
            self.warnings.extend(truncation);
            return Ok(false);
        }
        if let Some((width, height)) = self.expected_px
            && (width, height) != (frame.width_px, frame.height_px)
        {
            return Err(CameraError::SizeChanged {
                source_name: self.name.clone(),
                frame: self.next,
                width_px: frame.width_px,
                height_px: frame.height_px,
                expected_width_px: width,
                expected_height_px: height,
                why: "the size in ?size=; recordings are not scaled",
            });
        }
        let timestamp_secs = match &self.stream {
            Stream::File(reader) => reader.timestamp_secs(),
            Stream::StandardInput(reader) => reader.timestamp_secs(),
            Stream::Command(reader, _) => reader.timestamp_secs(),
            _ => None,
        };
        let time_secs = timestamp_secs
            .filter(|_| !self.rate_given)
            .unwrap_or(time_secs);
        frame.sequence = self.next;
        frame.time_secs = time_secs;
        self.next += 1;
        if !self.fast {
            self.wait_until_due(time_secs);
        }
        Ok(true)
    }

    fn wait_until_due(&mut self, time_secs: f64) {
        let now = Instant::now();
        let (start, start_secs) = *self.pace.get_or_insert((now, time_secs));
        let due = start + Duration::from_secs_f64((time_secs - start_secs).max(0.0));
        if due > now {
            std::thread::sleep(due - now);
        } else if now - due > MAX_LAG {
            self.pace = Some((now, time_secs));
        }
    }
}
