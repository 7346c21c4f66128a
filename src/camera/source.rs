//! Opens a source that is not a live camera and reads its frames in order, as fast as the source delivers them. A [`Source`]
//! blocks its caller while it waits for a frame. [`super::Feed`] supervises a source, and returns each frame when it is due.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;
use std::process::ChildStdout;

use super::child_group::ChildGroup;
use super::command::start_program;
use super::image_folder::ImageFolder;
use super::synthetic::Synthetic;
use super::y4m::Y4mReader;
use super::{CameraError, Frame, SourceKind, SourceSpec};

/// Frame rate of sources that do not define one, in frames per second.
const DEFAULT_FPS: f64 = 30.0;
/// Width and height of synthetic frames if the source text has no `?size=`, in pixels.
const DEFAULT_SIZE_PX: (u32, u32) = (320, 240);
/// Size of the read buffer of a y4m stream, in bytes.
const BUFFER_BYTES: usize = 1 << 16;
/// An open source of frames.
pub struct Source {
    stream: Stream,
    name: String,
    fps: f64,
    next: u64,
    expected_px: Option<(u32, u32)>,
    /// Whether the user set the frame rate. If so, the timestamps in a recording are ignored.
    rate_given: bool,
    warnings: Vec<String>,
}

/// A reader of a y4m stream of any origin.
type Y4m = Y4mReader<BufReader<Box<dyn Read + Send>>>;

enum Stream {
    Y4m {
        reader: Box<Y4m>,
        /// The process of the program that writes the stream; `None` if there is none, or if a [`super::Feed`] supervises it.
        program: Option<ChildGroup>,
    },
    Images(ImageFolder),
    Synthetic(Box<Synthetic>),
}

impl Source {
    /// Opens a source. Relative paths start at the current directory; see [`SourceSpec::relative_to`].
    ///
    /// # Errors
    /// When the file, folder or program does not exist, its data does not start with a valid header, or the source is a live
    /// camera, which only [`super::Feed`] opens.
    pub fn open(spec: &SourceSpec) -> Result<Self, CameraError> {
        let name = source_name(spec);
        let stream = match &spec.kind {
            SourceKind::File(path) => open_path(path, &name)?,
            SourceKind::StandardInput => Stream::Y4m {
                reader: open_y4m(std::io::stdin(), &name)?,
                program: None,
            },
            SourceKind::Command(words) => {
                let (mut program, output) = start_program(words)?;
                match open_y4m(output, &name) {
                    Ok(reader) => Stream::Y4m {
                        reader,
                        program: Some(program),
                    },
                    Err(error) => return Err(program.cause_of(error)),
                }
            }
            SourceKind::Synthetic { seed } => {
                let (width, height) = spec.size_px.unwrap_or(DEFAULT_SIZE_PX);
                Stream::Synthetic(Box::new(Synthetic::new(*seed, width, height)))
            }
            SourceKind::Live { .. } => {
                return Err(CameraError::Spec {
                    given: name,
                    problem: "a live camera cannot be read frame by frame".to_owned(),
                });
            }
            SourceKind::Tracker(_) => {
                return Err(CameraError::Spec {
                    given: name,
                    problem: "a tracker reports visitors and has no frames; only shoal run uses it"
                        .to_owned(),
                });
            }
        };
        Ok(Self::new(stream, name, spec))
    }

    /// Creates a source from the output of a program that a [`super::Feed`] has started.
    pub(super) fn from_program(
        output: ChildStdout,
        spec: &SourceSpec,
    ) -> Result<Self, CameraError> {
        let name = source_name(spec);
        let stream = Stream::Y4m {
            reader: open_y4m(output, &name)?,
            program: None,
        };
        Ok(Self::new(stream, name, spec))
    }

    fn new(stream: Stream, name: String, spec: &SourceSpec) -> Self {
        let header_fps = match &stream {
            Stream::Y4m { reader, .. } => Some(reader.header().fps),
            Stream::Images(_) | Stream::Synthetic(_) => None,
        };
        let asked = spec.fps;
        let mut warnings = Vec::new();
        if asked.is_none() && header_fps == Some(None) {
            warnings.push(format!(
                "{name}: the recording has no frame rate, {DEFAULT_FPS} is used; set it with ?fps="
            ));
        }
        // A synthetic source draws frames of every requested size.
        let expected_px = match stream {
            Stream::Synthetic(_) => None,
            _ => spec.size_px,
        };
        Self {
            stream,
            name,
            fps: asked.or(header_fps.flatten()).unwrap_or(DEFAULT_FPS),
            next: 0,
            expected_px,
            rate_given: asked.is_some(),
            warnings,
        }
    }

    /// Returns the name of the source in error messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the frame rate in frames per second.
    pub fn fps(&self) -> f64 {
        self.fps
    }

    /// Removes and returns a warning about a degraded source; `None` if there is none. Warnings are not errors: reading
    /// continues or ends normally.
    pub fn take_warning(&mut self) -> Option<String> {
        self.warnings.pop()
    }

    /// Reads the next frame into `frame`, and waits until the source delivers it. Returns false when the source has ended.
    ///
    /// After an error the source returns no further frame, except from a folder in which one image is damaged.
    ///
    /// # Errors
    /// When the stream is damaged, an image cannot be read, a frame has another size, or a child program failed.
    pub fn read(&mut self, frame: &mut Frame) -> Result<bool, CameraError> {
        let time_secs = self.next as f64 / self.fps;
        let more = match &mut self.stream {
            Stream::Y4m { reader, program } => {
                let more = reader.read(frame)?;
                if let Some(program) = program
                    && !more
                {
                    program.finish(reader.frames())?;
                }
                more
            }
            Stream::Images(folder) => folder.read(frame)?,
            Stream::Synthetic(scene) => {
                scene.draw(self.next, time_secs, frame);
                true
            }
        };
        if !more {
            if let Stream::Y4m { reader, .. } = &mut self.stream {
                self.warnings.extend(reader.take_warning());
            }
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
        frame.time_secs = self.timestamp_secs().unwrap_or(time_secs);
        frame.sequence = self.next;
        self.next += 1;
        Ok(true)
    }

    /// Whether the next call of [`Source::read`] continues after an error: each image of a folder is a file of its own.
    pub(super) fn continues_after_errors(&self) -> bool {
        matches!(self.stream, Stream::Images(_))
    }

    /// Returns the timestamp in the frame that was read last, in seconds; `None` if the frame has none or the user set the
    /// frame rate.
    pub(super) fn timestamp_secs(&self) -> Option<f64> {
        match &self.stream {
            Stream::Y4m { reader, .. } if !self.rate_given => reader.timestamp_secs(),
            _ => None,
        }
    }
}

/// Returns the name of a source in error messages and logs.
pub(super) fn source_name(spec: &SourceSpec) -> String {
    match &spec.kind {
        SourceKind::File(path) => path.display().to_string(),
        SourceKind::StandardInput => "standard input".to_owned(),
        SourceKind::Command(words) => {
            format!("command '{}'", words.first().map_or("", String::as_str))
        }
        SourceKind::Synthetic { .. } | SourceKind::Live { .. } | SourceKind::Tracker(_) => {
            spec.to_string()
        }
    }
}

/// Opens a y4m file or a folder of images. Other files, such as pipes, may never end and are rejected.
fn open_path(path: &Path, name: &str) -> Result<Stream, CameraError> {
    let read = |cause| CameraError::Read {
        path: path.to_owned(),
        frames: 0,
        cause,
    };
    let metadata = std::fs::metadata(path).map_err(read)?;
    if metadata.is_dir() {
        return Ok(Stream::Images(ImageFolder::open(path)?));
    }
    if !metadata.is_file() {
        let cause = "it is not a regular file. Read a pipe or device with 'command:cat PATH', or write to standard input and use the source -";
        return Err(read(std::io::Error::other(cause)));
    }
    Ok(Stream::Y4m {
        reader: open_y4m(File::open(path).map_err(read)?, name)?,
        program: None,
    })
}

fn open_y4m(input: impl Read + Send + 'static, name: &str) -> Result<Box<Y4m>, CameraError> {
    let input: Box<dyn Read + Send> = Box::new(input);
    let input = BufReader::with_capacity(BUFFER_BYTES, input);
    Ok(Box::new(Y4mReader::open(input, name.to_owned())?))
}
