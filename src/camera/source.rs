//! Opens a source and reads its frames one after the other, at their own pace or as fast as possible; of a live camera,
//! the newest each time.

use std::fs::File;
use std::io::{BufReader, Stdin};
use std::process::ChildStdout;
use std::time::{Duration, Instant};

use super::command::Worker;
use super::folder::Folder;
use super::live::{LiveCamera, LiveSetup, WorkerCommand};
use super::synthetic::Synthetic;
use super::y4m::Y4mReader;
use super::{CameraError, CameraParams, Frame, SourceKind, SourceSpec};

const DEFAULT_FPS: f64 = 30.0;
const DEFAULT_SIZE_PX: (u32, u32) = (320, 240);
const BUFFER_BYTES: usize = 1 << 16;
/// A reader that is this late gives up catching up and goes on from now.
const GIVE_UP_AFTER: Duration = Duration::from_secs(1);

/// How a source is played.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Playback {
    /// Frames a second where the source's text has no `?fps=`, instead of the recording's own.
    pub fps: Option<f64>,
    /// As fast as frames are read, instead of at their own rate. Time stamps are the same.
    pub fast: bool,
}

/// What came of waiting for a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// The next frame.
    Frame,
    /// Nothing yet: a live camera has no new frame.
    Nothing,
    /// The source is at its end.
    End,
}

/// An open source of frames.
pub struct Source {
    stream: Stream,
    name: String,
    fps: f64,
    next: u64,
    expected_px: Option<(u32, u32)>,
    /// Somebody said how many frames a second there are: the recording's own time stamps do not count.
    rate_given: bool,
    /// When the first frame was due; `None` before it, and always with `fast`.
    pace: Option<(Instant, f64)>,
    fast: bool,
    warnings: Vec<String>,
}

enum Stream {
    File(Box<Y4mReader<BufReader<File>>>),
    StandardInput(Box<Y4mReader<BufReader<Stdin>>>),
    Command(Box<Y4mReader<BufReader<ChildStdout>>>, Worker),
    Folder(Folder),
    Synthetic(Box<Synthetic>),
    Live(LiveCamera),
}

impl Source {
    /// Opens a source. Paths are taken as they are (see [`SourceSpec::relative_to`]).
    ///
    /// A live camera is opened with the controls of [`CameraParams::default`], its worker being this program itself;
    /// [`Source::live`] is for all else.
    ///
    /// # Errors
    /// When the file, folder or program is not there, or does not start like what it should be.
    pub fn open(spec: &SourceSpec, playback: Playback) -> Result<Self, CameraError> {
        let mut name = String::new();
        let mut expected_px = spec.size_px;
        let stream = match &spec.kind {
            SourceKind::File(path) => {
                name = path.display().to_string();
                if path.is_dir() {
                    Stream::Folder(Folder::open(path)?)
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
                let (mut worker, output) = Worker::start(words)?;
                let output = BufReader::with_capacity(BUFFER_BYTES, output);
                // A program that fails at once says why better than the empty stream does.
                match Y4mReader::open(output, name.clone()) {
                    Ok(reader) => Stream::Command(Box::new(reader), worker),
                    Err(error) => return Err(worker.finish(0).err().unwrap_or(error)),
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
            Stream::Folder(_) | Stream::Synthetic(_) | Stream::Live(_) => None,
        };
        let asked = spec.fps.or(playback.fps);
        let mut warnings = Vec::new();
        if asked.is_none() && header_fps == Some(None) {
            warnings.push(format!(
                "{name}: the recording does not say its frame rate, {DEFAULT_FPS} is taken; say it with ?fps="
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

    /// Opens a live camera. One that is not there is no error; [`Source::live_camera`] says how it is doing.
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

    /// The camera, if this source is one.
    pub fn live_camera(&self) -> Option<&LiveCamera> {
        match &self.stream {
            Stream::Live(camera) => Some(camera),
            _ => None,
        }
    }

    /// What errors call the source.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Frames a second of the source's clock; of a live camera, what was asked for.
    pub fn fps(&self) -> f64 {
        self.fps
    }

    /// Takes a warning that has come up: something was degraded, reading goes on or ends well.
    pub fn take_warning(&mut self) -> Option<String> {
        self.warnings.pop()
    }

    /// Like [`Source::read`], but waits at most `wait` for a live camera, which may be absent for hours. Other sources are
    /// waited for.
    ///
    /// # Errors
    /// As [`Source::read`].
    pub fn read_within(
        &mut self,
        frame: &mut Frame,
        wait: Duration,
    ) -> Result<Reading, CameraError> {
        if let Stream::Live(camera) = &self.stream {
            return Ok(if camera.newest(frame, wait) {
                Reading::Frame
            } else {
                Reading::Nothing
            });
        }
        Ok(if self.read(frame)? {
            Reading::Frame
        } else {
            Reading::End
        })
    }

    /// Reads the next frame into `frame`, waiting until it is due; false when the source is at its end. A live camera has
    /// no end and is waited for, however long that takes: see [`Source::read_within`].
    ///
    /// After an error nothing further comes.
    ///
    /// # Errors
    /// When the stream is damaged, a picture cannot be read or has another size, or a program failed.
    pub fn read(&mut self, frame: &mut Frame) -> Result<bool, CameraError> {
        if let Stream::Live(camera) = &self.stream {
            while !camera.newest(frame, GIVE_UP_AFTER) {}
            return Ok(true);
        }
        let time_secs = self.next as f64 / self.fps;
        let more = match &mut self.stream {
            Stream::File(reader) => reader.read(frame)?,
            Stream::StandardInput(reader) => reader.read(frame)?,
            Stream::Command(reader, worker) => {
                let more = reader.read(frame)?;
                if !more {
                    worker.finish(reader.frames())?;
                }
                more
            }
            Stream::Folder(folder) => folder.read(frame)?,
            Stream::Synthetic(scene) => {
                scene.draw(self.next, time_secs, frame);
                true
            }
            // Returned above.
            Stream::Live(_) => false,
        };
        if !more {
            let cut_short = match &mut self.stream {
                Stream::File(reader) => reader.take_warning(),
                Stream::StandardInput(reader) => reader.take_warning(),
                Stream::Command(reader, _) => reader.take_warning(),
                Stream::Folder(_) | Stream::Synthetic(_) | Stream::Live(_) => None,
            };
            self.warnings.extend(cut_short);
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
                why: "as asked for by ?size=; recordings are played in their own size",
            });
        }
        let stamp_secs = match &self.stream {
            Stream::File(reader) => reader.stamp_secs(),
            Stream::StandardInput(reader) => reader.stamp_secs(),
            Stream::Command(reader, _) => reader.stamp_secs(),
            _ => None,
        };
        let time_secs = stamp_secs.filter(|_| !self.rate_given).unwrap_or(time_secs);
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
        } else if now - due > GIVE_UP_AFTER {
            self.pace = Some((now, time_secs));
        }
    }
}
