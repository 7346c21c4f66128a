//! Reads y4m (YUV4MPEG2) streams: luma only, 8 to 16 bit, every chroma layout.
//!
//! The stream is not trusted: header lines are bounded, sizes are checked before memory is taken, and a last frame that
//! is cut short is told, not used.
//!
//! Source: mjpegtools' yuv4mpeg(5) and the extensions that ffmpeg writes (`mono9` to `mono16`, `420p10`). Ours is the
//! comment `XTS=SECONDS` of a frame, its time stamp, which [`super::record`] writes and others skip.

use std::io::{ErrorKind, Read};
use std::path::PathBuf;

use super::CameraError;
use super::frame::{Frame, Luma, check_size};

const MAGIC: &[u8] = b"YUV4MPEG2";
const MAX_HEADER_BYTES: usize = 4096;
const CHUNK_BYTES: usize = 1 << 16;
/// The largest time stamp that is believed: 30 years.
const MAX_STAMP_SECS: f64 = 1e9;

/// What the stream's header says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Header {
    pub(super) width_px: u32,
    pub(super) height_px: u32,
    /// Frames a second; `None` where the header leaves it open.
    pub(super) fps: Option<f64>,
    bits: u32,
    chroma_samples: u64,
}

/// A y4m stream being read.
pub(super) struct Y4mReader<R> {
    stream: R,
    name: String,
    header: Header,
    byte: u64,
    frames: u64,
    line: Vec<u8>,
    chunk: Vec<u8>,
    cut_short: Option<String>,
    /// Time stamp of the last frame, where it has one.
    stamp_secs: Option<f64>,
}

impl<R: Read> Y4mReader<R> {
    /// Reads the stream's header. `name` is what errors call the stream.
    pub(super) fn open(stream: R, name: String) -> Result<Self, CameraError> {
        let mut reader = Self {
            stream,
            name,
            header: Header {
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
            cut_short: None,
            stamp_secs: None,
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
        reader.header = reader.parse_header(parameters)?;
        Ok(reader)
    }

    /// What the stream's header says.
    pub(super) fn header(&self) -> Header {
        self.header
    }

    /// Number of whole frames read.
    pub(super) fn frames(&self) -> u64 {
        self.frames
    }

    /// Time stamp of the frame read last, where the stream has one.
    pub(super) fn stamp_secs(&self) -> Option<f64> {
        self.stamp_secs
    }

    /// Says, once, that the last frame was cut short.
    pub(super) fn take_warning(&mut self) -> Option<String> {
        self.cut_short.take()
    }

    /// Reads the next frame's luma; false at the stream's end.
    pub(super) fn read(&mut self, frame: &mut Frame) -> Result<bool, CameraError> {
        if !self.read_line("a frame's header")? {
            return Ok(false);
        }
        if self.line != b"FRAME" && !self.line.starts_with(b"FRAME ") {
            let found = String::from_utf8_lossy(&self.line[..self.line.len().min(20)]).into_owned();
            return Err(self.problem(format!(
                "found '{}', expected 'FRAME': the frame before has another size than the header says, or the file is damaged",
                found.escape_debug()
            )));
        }
        self.stamp_secs = self.stamp()?;
        let Header {
            width_px,
            height_px,
            bits,
            chroma_samples,
            ..
        } = self.header;
        let pixels = width_px as usize * height_px as usize;
        let sample_bytes = if bits > 8 { 2 } else { 1 };
        let whole = if bits > 8 {
            let mut levels = frame.luma.take_sixteen(pixels);
            let whole = self.read_sixteen(&mut levels)?;
            frame.luma = Luma::Sixteen { bits, levels };
            whole
        } else {
            let mut levels = frame.luma.take_eight(pixels);
            let read = self.fill(&mut levels)?;
            frame.luma = Luma::Eight(levels);
            self.byte += read as u64;
            read == pixels
        };
        if !(whole && self.skip(chroma_samples * sample_bytes)?) {
            self.cut_short = Some(format!(
                "{}: the stream ends in the middle of frame {} at byte {}; the {} whole frames before it are used",
                self.name, self.frames, self.byte, self.frames
            ));
            return Ok(false);
        }
        frame.width_px = width_px;
        frame.height_px = height_px;
        self.frames += 1;
        Ok(true)
    }

    /// The time stamp in the line of a frame, which must not go back.
    fn stamp(&self) -> Result<Option<f64>, CameraError> {
        let mut words = self.line.split(|&byte| byte == b' ');
        let Some(text) = words.find_map(|word| word.strip_prefix(b"XTS=")) else {
            return Ok(None);
        };
        let text = String::from_utf8_lossy(text);
        let secs = text
            .parse()
            .ok()
            .filter(|secs| (0.0..=MAX_STAMP_SECS).contains(secs));
        let Some(secs) = secs else {
            let found = text.escape_debug();
            return Err(self.problem(format!(
                "the time stamp 'XTS={found}' is no number of seconds from 0 to {MAX_STAMP_SECS}"
            )));
        };
        match self.stamp_secs {
            Some(before) if secs < before => Err(self.problem(format!(
                "the time stamp {secs} s goes back, the frame before has {before} s"
            ))),
            _ => Ok(Some(secs)),
        }
    }

    fn read_sixteen(&mut self, levels: &mut [u16]) -> Result<bool, CameraError> {
        let mut chunk = std::mem::take(&mut self.chunk);
        let mut whole = true;
        for part in levels.chunks_mut(CHUNK_BYTES / 2) {
            let bytes = &mut chunk[..part.len() * 2];
            let read = self.fill(bytes)?;
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

    /// Reads past `bytes` bytes; false when the stream ends before.
    fn skip(&mut self, mut bytes: u64) -> Result<bool, CameraError> {
        let mut chunk = std::mem::take(&mut self.chunk);
        while bytes > 0 {
            let want = bytes.min(CHUNK_BYTES as u64) as usize;
            let read = self.fill(&mut chunk[..want])?;
            self.byte += read as u64;
            bytes -= read as u64;
            if read < want {
                break;
            }
        }
        self.chunk = chunk;
        Ok(bytes == 0)
    }

    /// Fills `to` as far as the stream goes, and says how far.
    fn fill(&mut self, to: &mut [u8]) -> Result<usize, CameraError> {
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

    /// Reads up to a line feed into `self.line`; false when the stream is at its end before the first byte.
    fn read_line(&mut self, what: &str) -> Result<bool, CameraError> {
        self.line.clear();
        loop {
            let mut byte = [0];
            if self.fill(&mut byte)? == 0 {
                if self.line.is_empty() && self.byte > 0 {
                    return Ok(false);
                }
                if self.byte == 0 {
                    return Err(self.problem("the stream is empty, expected 'YUV4MPEG2 '".into()));
                }
                if b"FRAME".starts_with(&self.line) || self.line.starts_with(b"FRAME ") {
                    self.cut_short = Some(format!(
                        "{}: the stream ends within {what} at byte {}; the {} whole frames before it are used",
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
                // What is no y4m need not be read to its first line feed.
                return Ok(true);
            }
            if self.line.len() > MAX_HEADER_BYTES {
                return Err(self.problem(format!("{what} is longer than {MAX_HEADER_BYTES} bytes")));
            }
        }
    }

    fn parse_header(&self, parameters: &str) -> Result<Header, CameraError> {
        let (mut width, mut height, mut fps, mut color) = (None, None, None, "420jpeg");
        for parameter in parameters.split(' ').filter(|p| !p.is_empty()) {
            let mut characters = parameter.chars();
            let key = characters.next();
            let value = characters.as_str();
            match key {
                Some('W') => width = Some(self.number(parameter, value)?),
                Some('H') => height = Some(self.number(parameter, value)?),
                Some('F') => fps = self.frame_rate(parameter, value)?,
                Some('C') => color = value,
                // Interlacing, aspect, comments: of no matter to brightness.
                _ => {}
            }
        }
        let (Some(width), Some(height)) = (width, height) else {
            return Err(self.problem("the header names no width (W…) or no height (H…)".into()));
        };
        check_size(&self.name, width, height)?;
        let (bits, chroma_samples) = color_layout(color, width, height).ok_or_else(|| {
            self.problem(format!(
                "the color layout 'C{color}' is unknown; known are mono, mono9 to mono16, 420, 411, 422, 440, 444, \
                 444alpha, with p9 to p16 for more bits"
            ))
        })?;
        Ok(Header {
            width_px: width as u32,
            height_px: height as u32,
            fps,
            bits,
            chroma_samples,
        })
    }

    fn number(&self, parameter: &str, value: &str) -> Result<u64, CameraError> {
        value
            .parse::<u32>()
            .map(u64::from)
            .map_err(|_| self.problem(format!("'{parameter}' in the header is no size")))
    }

    fn frame_rate(&self, parameter: &str, value: &str) -> Result<Option<f64>, CameraError> {
        let ratio = value
            .split_once(':')
            .and_then(|(n, d)| Some((n.parse::<u32>().ok()?, d.parse::<u32>().ok()?)));
        match ratio {
            Some((0, _) | (_, 0)) => Ok(None),
            Some((n, d)) => {
                let fps = f64::from(n) / f64::from(d);
                if (0.001..=10_000.0).contains(&fps) {
                    Ok(Some(fps))
                } else {
                    Err(self.problem(format!("'{parameter}' in the header is no frame rate")))
                }
            }
            None => Err(self.problem(format!(
                "'{parameter}' in the header is no frame rate, expected like F30:1"
            ))),
        }
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

/// Bits of a sample and number of samples behind the luma plane.
fn color_layout(color: &str, width: u64, height: u64) -> Option<(u32, u64)> {
    let deep = |bits: &str| bits.parse::<u32>().ok().filter(|b| (9..=16).contains(b));
    if let Some(bits) = color.strip_prefix("mono") {
        return Some((if bits.is_empty() { 8 } else { deep(bits)? }, 0));
    }
    if color == "444alpha" {
        return Some((8, 3 * width * height));
    }
    let (layout, rest) = color.split_at_checked(3)?;
    let chroma = match layout {
        "420" => 2 * width.div_ceil(2) * height.div_ceil(2),
        "422" => 2 * width.div_ceil(2) * height,
        "411" => 2 * width.div_ceil(4) * height,
        "440" => 2 * width * height.div_ceil(2),
        "444" => 2 * width * height,
        _ => return None,
    };
    let bits = match rest {
        "" | "jpeg" | "mpeg2" | "paldv" => 8,
        _ => deep(rest.strip_prefix('p')?)?,
    };
    Some((bits, chroma))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(stream: &[u8]) -> Result<(Vec<Frame>, Option<String>), CameraError> {
        let mut reader = Y4mReader::open(stream, "test".into())?;
        let (mut all, mut frame) = (Vec::new(), Frame::default());
        while reader.read(&mut frame)? {
            all.push(frame.clone());
        }
        Ok((all, reader.take_warning()))
    }

    fn joined(parts: &[&[u8]]) -> Vec<u8> {
        parts.concat()
    }

    #[test]
    fn luma_of_every_layout() {
        for (color, behind) in [
            ("Cmono", 0),
            ("C420jpeg", 4),
            ("C420paldv XYSCSS=420PALDV", 4),
            ("C422", 8),
            ("C411", 4),
            ("C440", 6),
            ("C444", 12),
            ("C444alpha", 18),
            ("", 4),
        ] {
            let header = format!("YUV4MPEG2 W3 H2 F25:1 Ip A1:1 {color}\n");
            let chroma = vec![9; behind];
            let stream = joined(&[
                header.as_bytes(),
                b"FRAME\n",
                &[1, 2, 3, 4, 5, 6],
                &chroma,
                b"FRAME Ip Xk=1\n",
                &[6, 5, 4, 3, 2, 1],
                &chroma,
            ]);
            let (all, warning) = frames(&stream).unwrap();
            assert_eq!(all.len(), 2, "{color}");
            assert_eq!(all[1].luma, Luma::Eight(vec![6, 5, 4, 3, 2, 1]));
            assert_eq!(warning, None);
        }
    }

    #[test]
    fn sixteen_bits_are_little_endian() {
        let stream = joined(&[b"YUV4MPEG2 W2 H1 F1:1 Cmono10\nFRAME\n", &[1, 2, 255, 3]]);
        let (all, _) = frames(&stream).unwrap();
        let levels = vec![513, 1023];
        assert_eq!(all[0].luma, Luma::Sixteen { bits: 10, levels });
    }

    #[test]
    fn a_last_frame_cut_short_is_told_and_left_out() {
        for cut in 1..=9 {
            let stream = joined(&[
                b"YUV4MPEG2 W2 H2 Cmono\nFRAME\n",
                &[1; 4],
                b"FRAME\n",
                &[2; 4],
            ]);
            let (all, warning) = frames(&stream[..stream.len() - cut]).unwrap();
            assert_eq!(all.len(), 1, "{cut}");
            let warning = warning.unwrap();
            assert!(warning.contains("1 whole frames"), "{warning}");
        }
    }

    #[test]
    fn time_stamps_are_read_where_there_are_any() {
        let stream = b"YUV4MPEG2 W1 H1 Cmono\nFRAME XTS=0.1 Ip\naFRAME\nbFRAME XTS=1e3\nc";
        let mut reader = Y4mReader::open(stream.as_slice(), "t".into()).unwrap();
        let (mut frame, mut stamps) = (Frame::default(), Vec::new());
        while reader.read(&mut frame).unwrap() {
            stamps.push(reader.stamp_secs());
        }
        assert_eq!(stamps, [Some(0.1), None, Some(1000.0)]);
        for (bad, told) in [
            ("XTS=nan", "no number of seconds"),
            ("XTS=", "no number of seconds"),
            ("XTS=-1", "no number of seconds"),
            ("XTS=1e300", "no number of seconds"),
            ("XTS=0.5", "goes back"),
        ] {
            let stream = format!("YUV4MPEG2 W1 H1 Cmono\nFRAME XTS=2\naFRAME {bad}\nb");
            let error = frames(stream.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(told), "{bad}: {error}");
        }
    }

    #[test]
    fn hostile_streams_are_refused_with_a_reason() {
        let long = [b"YUV4MPEG2 ".as_slice(), &[b'X'; 5000]].concat();
        let cases: [(&[u8], &str); 11] = [
            (b"", "empty"),
            (b"RIFFxxxxAVI LIST", "starts with 'RIFFxxxxA'"),
            (b"YUV4MPEG2 W2", "ends within"),
            (b"YUV4MPEG2 H2\n", "no width"),
            (b"YUV4MPEG2 W999999999 H999999999 F1:1\n", "refused"),
            (b"YUV4MPEG2 W99999999999999 H2\n", "no size"),
            (b"YUV4MPEG2 W-2 H2\n", "no size"),
            (b"YUV4MPEG2 W2 H2 Cxyz\n", "unknown"),
            (b"YUV4MPEG2 W2 H2 F1\n", "no frame rate"),
            (
                b"YUV4MPEG2 W2 H2 Cmono\nFRAME\n1234FRAMX\n",
                "expected 'FRAME'",
            ),
            (&long, "longer than"),
        ];
        for (stream, told) in cases {
            let error = frames(stream).unwrap_err().to_string();
            assert!(error.contains(told), "{told}: {error}");
        }
    }

    #[test]
    fn an_open_frame_rate_is_none() {
        let reader = Y4mReader::open(b"YUV4MPEG2 W2 H2 F0:0\n".as_slice(), "t".into()).unwrap();
        assert_eq!(reader.header().fps, None);
        let reader =
            Y4mReader::open(b"YUV4MPEG2 W2 H2 F30000:1001\n".as_slice(), "t".into()).unwrap();
        assert!((reader.header().fps.unwrap() - 29.97).abs() < 0.001);
    }
}
