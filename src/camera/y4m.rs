//! Reads y4m (YUV4MPEG2) streams: only the luma, with 8 to 16 bits, for every chroma layout.
//!
//! The reader does not trust the stream: the length of header lines is limited, sizes are checked before memory is
//! allocated, and an incomplete last frame is discarded with a warning.
//!
//! **Source**: the manual page yuv4mpeg(5) of mjpegtools, and the extensions that ffmpeg writes (`mono9` to `mono16`,
//! `420p10`). Shoal's own extension is the frame parameter `XTS=SECONDS`, a timestamp that [`super::Recording`] writes.
//! Other programs ignore it, because parameters that start with X are comments.

use std::io::{ErrorKind, Read};
use std::path::PathBuf;

use super::CameraError;
use super::frame::{Frame, Luma, check_size};

/// First word of a y4m stream.
const MAGIC: &[u8] = b"YUV4MPEG2";
/// Largest header line of a stream or frame, in bytes. Usual lines are shorter than 100 bytes.
const MAX_HEADER_BYTES: usize = 4096;
/// Number of bytes of a wrong frame header that an error message shows.
const SHOWN_BYTES: usize = 20;
/// Size of the buffer for 16-bit levels and skipped chroma, in bytes.
const CHUNK_BYTES: usize = 1 << 16;
/// Largest valid timestamp, in seconds: 30 years.
const MAX_TIMESTAMP_SECS: f64 = 1e9;

/// The header of a stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Y4mHeader {
    pub(super) width_px: u32,
    pub(super) height_px: u32,
    /// Frame rate in frames per second; `None` if the header does not define it.
    pub(super) fps: Option<f64>,
    /// Number of bits of a level, 8 to 16.
    bits: u32,
    /// Number of chroma and alpha samples after the luma plane of each frame; the reader skips them.
    chroma_samples: u64,
}

/// A reader of a y4m stream.
pub(super) struct Y4mReader<R> {
    stream: R,
    name: String,
    header: Y4mHeader,
    /// Number of bytes read.
    byte: u64,
    /// Number of complete frames read.
    frames: u64,
    line: Vec<u8>,
    chunk: Vec<u8>,
    /// Warning that the last frame was incomplete; `None` if it was complete.
    truncation: Option<String>,
    /// Timestamp of the last frame in seconds, if it has one.
    timestamp_secs: Option<f64>,
}

impl<R: Read> Y4mReader<R> {
    /// Reads the header of a stream. `name` is the name of the stream in error messages.
    pub(super) fn open(stream: R, name: String) -> Result<Self, CameraError> {
        let mut reader = Self {
            stream,
            name,
            header: Y4mHeader {
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
            truncation: None,
            timestamp_secs: None,
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
        if parameters.ends_with('\r') {
            return Err(reader.problem(
                "the header ends with a carriage return: a transfer in text mode has changed the file. Copy it in binary mode"
                    .into(),
            ));
        }
        reader.header = reader.parse_header(parameters)?;
        Ok(reader)
    }

    /// Returns the header of a stream.
    pub(super) fn header(&self) -> Y4mHeader {
        self.header
    }

    /// Returns the number of complete frames read.
    pub(super) fn frames(&self) -> u64 {
        self.frames
    }

    /// Returns the timestamp of the frame read last in seconds, if it has one.
    pub(super) fn timestamp_secs(&self) -> Option<f64> {
        self.timestamp_secs
    }

    /// Removes and returns the warning that the last frame was incomplete; `None` if there is none.
    pub(super) fn take_warning(&mut self) -> Option<String> {
        self.truncation.take()
    }

    /// Reads the luma of the next frame. Returns false at the end of the stream.
    pub(super) fn read(&mut self, frame: &mut Frame) -> Result<bool, CameraError> {
        if !self.read_line("a frame's header")? {
            return Ok(false);
        }
        if self.line != b"FRAME" && !self.line.starts_with(b"FRAME ") {
            let found = &self.line[..self.line.len().min(SHOWN_BYTES)];
            let found = String::from_utf8_lossy(found).into_owned();
            let Y4mHeader {
                width_px,
                height_px,
                ..
            } = self.header;
            return Err(self.problem(format!(
                "found '{}', expected 'FRAME': the frame before is not {width_px}x{height_px} px with the color layout of the \
                 header, or the stream is damaged",
                found.escape_debug()
            )));
        }
        self.timestamp_secs = self.parse_timestamp()?;
        let Y4mHeader {
            width_px,
            height_px,
            bits,
            chroma_samples,
            ..
        } = self.header;
        let pixels = width_px as usize * height_px as usize;
        let sample_bytes = if bits > 8 { 2 } else { 1 };
        let whole = if bits > 8 {
            let mut levels = frame.luma.take_u16(pixels);
            let whole = self.read_u16(&mut levels)?;
            frame.luma = Luma::U16 { bits, levels };
            whole
        } else {
            let mut levels = frame.luma.take_u8(pixels);
            let read = self.read_into(&mut levels)?;
            frame.luma = Luma::U8(levels);
            self.byte += read as u64;
            read == pixels
        };
        if !(whole && self.skip(chroma_samples * sample_bytes)?) {
            self.truncation = Some(format!(
                "{}: the stream ends in the middle of frame {} at byte {}; the {} complete frames before it are used",
                self.name, self.frames, self.byte, self.frames
            ));
            return Ok(false);
        }
        frame.width_px = width_px;
        frame.height_px = height_px;
        self.frames += 1;
        Ok(true)
    }

    /// Parses the timestamp in the header line of a frame; `None` if there is none. A timestamp that is earlier than the
    /// previous one is an error.
    fn parse_timestamp(&self) -> Result<Option<f64>, CameraError> {
        let mut words = self.line.split(|&byte| byte == b' ');
        let Some(text) = words.find_map(|word| word.strip_prefix(b"XTS=")) else {
            return Ok(None);
        };
        let text = String::from_utf8_lossy(text);
        let secs = text
            .parse()
            .ok()
            .filter(|secs| (0.0..=MAX_TIMESTAMP_SECS).contains(secs));
        let Some(secs) = secs else {
            let found = text.escape_debug();
            return Err(self.problem(format!(
                "the timestamp 'XTS={found}' is not a number of seconds from 0 to {MAX_TIMESTAMP_SECS}"
            )));
        };
        match self.timestamp_secs {
            Some(before) if secs < before => Err(self.problem(format!(
                "the timestamp {secs} s is earlier than {before} s, the timestamp of the frame before"
            ))),
            _ => Ok(Some(secs)),
        }
    }

    fn read_u16(&mut self, levels: &mut [u16]) -> Result<bool, CameraError> {
        let mut chunk = std::mem::take(&mut self.chunk);
        let mut whole = true;
        for part in levels.chunks_mut(CHUNK_BYTES / 2) {
            let bytes = &mut chunk[..part.len() * 2];
            let read = self.read_into(bytes)?;
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

    /// Skips `bytes` bytes. Returns false if the stream ends before that.
    fn skip(&mut self, mut bytes: u64) -> Result<bool, CameraError> {
        let mut chunk = std::mem::take(&mut self.chunk);
        while bytes > 0 {
            let want = bytes.min(CHUNK_BYTES as u64) as usize;
            let read = self.read_into(&mut chunk[..want])?;
            self.byte += read as u64;
            bytes -= read as u64;
            if read < want {
                break;
            }
        }
        self.chunk = chunk;
        Ok(bytes == 0)
    }

    /// Reads into `to` until it is full or the stream ends. Returns the number of bytes read.
    fn read_into(&mut self, to: &mut [u8]) -> Result<usize, CameraError> {
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

    /// Reads into `self.line` up to a line feed. Returns false if the stream ends before the first byte.
    fn read_line(&mut self, what: &str) -> Result<bool, CameraError> {
        self.line.clear();
        loop {
            let mut byte = [0];
            if self.read_into(&mut byte)? == 0 {
                if self.line.is_empty() && self.byte > 0 {
                    return Ok(false);
                }
                if self.byte == 0 {
                    return Err(self.problem("the stream is empty, expected 'YUV4MPEG2 '".into()));
                }
                if self.is_no_frame_header() {
                    return Ok(true);
                }
                if b"FRAME".starts_with(&self.line) || self.line.starts_with(b"FRAME ") {
                    self.truncation = Some(format!(
                        "{}: the stream ends within {what} at byte {}; the {} complete frames before it are used",
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
                // A stream that is not y4m may have no line feed, so a line that reaches the limit ends here.
                return Ok(true);
            }
            if self.line.len() == SHOWN_BYTES && self.is_no_frame_header() {
                // The pixels of a frame that is larger than the header states may have no line feed.
                return Ok(true);
            }
            if self.line.len() > MAX_HEADER_BYTES {
                return Err(self.problem(format!("{what} is longer than {MAX_HEADER_BYTES} bytes")));
            }
        }
    }

    /// Whether the line cannot be the start of a frame header. False while the header of the stream is read.
    fn is_no_frame_header(&self) -> bool {
        let start = &self.line[..self.line.len().min(5)];
        self.header.width_px > 0 && !b"FRAME".starts_with(start)
    }

    fn parse_header(&self, parameters: &str) -> Result<Y4mHeader, CameraError> {
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
                // Interlacing, aspect ratio and comments do not change the luma.
                _ => {}
            }
        }
        let (Some(width), Some(height)) = (width, height) else {
            return Err(self.problem("the header has no width (W…) or no height (H…)".into()));
        };
        check_size(&self.name, width, height)?;
        let (bits, chroma_samples) = color_layout(color, width, height).ok_or_else(|| {
            self.problem(format!(
                "the color layout 'C{}' is unknown; known layouts are mono, mono9 to mono16, 420, 411, 422, 440, 444, \
                 444alpha, with p9 to p16 for more bits",
                color.escape_debug()
            ))
        })?;
        Ok(Y4mHeader {
            width_px: width as u32,
            height_px: height as u32,
            fps,
            bits,
            chroma_samples,
        })
    }

    fn number(&self, parameter: &str, value: &str) -> Result<u64, CameraError> {
        // `parse` accepts a plus sign, which is not valid here.
        let digits = Some(value).filter(|v| v.starts_with(|c: char| c.is_ascii_digit()));
        let size = digits.and_then(|v| v.parse::<u32>().ok()).map(u64::from);
        size.ok_or_else(|| {
            self.problem(format!(
                "'{}' in the header is not a size",
                parameter.escape_debug()
            ))
        })
    }

    fn frame_rate(&self, parameter: &str, value: &str) -> Result<Option<f64>, CameraError> {
        let parameter = parameter.escape_debug();
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
                    Err(self.problem(format!("'{parameter}' in the header is not a frame rate")))
                }
            }
            None => Err(self.problem(format!(
                "'{parameter}' in the header is not a frame rate such as F30:1"
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

/// Returns the number of bits of a sample, and the number of samples after the luma plane; `None` for an unknown layout.
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
    use proptest::prelude::*;

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
    fn every_layout_gives_its_luma() {
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
            assert_eq!(all[1].luma, Luma::U8(vec![6, 5, 4, 3, 2, 1]));
            assert_eq!(warning, None);
        }
    }

    #[test]
    fn sixteen_bits_are_little_endian() {
        let stream = joined(&[b"YUV4MPEG2 W2 H1 F1:1 Cmono10\nFRAME\n", &[1, 2, 255, 3]]);
        let (all, _) = frames(&stream).unwrap();
        let levels = vec![513, 1023];
        assert_eq!(all[0].luma, Luma::U16 { bits: 10, levels });
    }

    #[test]
    fn an_incomplete_last_frame_is_discarded_with_a_warning() {
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
            assert!(warning.contains("1 complete frames"), "{warning}");
        }
    }

    #[test]
    fn timestamps_are_read_if_present() {
        let stream = b"YUV4MPEG2 W1 H1 Cmono\nFRAME XTS=0.1 Ip\naFRAME\nbFRAME XTS=1e3\nc";
        let mut reader = Y4mReader::open(stream.as_slice(), "t".into()).unwrap();
        let (mut frame, mut stamps) = (Frame::default(), Vec::new());
        while reader.read(&mut frame).unwrap() {
            stamps.push(reader.timestamp_secs());
        }
        assert_eq!(stamps, [Some(0.1), None, Some(1000.0)]);
        for (bad, expected) in [
            ("XTS=nan", "not a number of seconds"),
            ("XTS=", "not a number of seconds"),
            ("XTS=-1", "not a number of seconds"),
            ("XTS=1e300", "not a number of seconds"),
            ("XTS=0.5", "is earlier than"),
        ] {
            let stream = format!("YUV4MPEG2 W1 H1 Cmono\nFRAME XTS=2\naFRAME {bad}\nb");
            let error = frames(stream.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(expected), "{bad}: {error}");
        }
    }

    #[test]
    fn hostile_streams_are_rejected_with_a_reason() {
        let long = [b"YUV4MPEG2 ".as_slice(), &[b'X'; 5000]].concat();
        let larger = [b"YUV4MPEG2 W2 H2 Cmono\nFRAME\n".as_slice(), &[200; 9000]].concat();
        let cases: [(&[u8], &str); 20] = [
            // A fixed bug: frames that are larger than the header states had a header that was too long.
            (&larger, "not 2x2 px"),
            (b"YUV4MPEG2 W2 H2 Cmono\nFRAME\n1234123", "not 2x2 px"),
            (b"YUV4MPEG2 W2 H2 C\x1b[31m\n", "'C\\u{1b}[31m'"),
            (b"", "empty"),
            (b"RIFFxxxxAVI LIST", "starts with 'RIFFxxxxA'"),
            (b"YUV4MPEG2 W2", "ends within"),
            (b"YUV4MPEG2 H2\n", "no width"),
            (b"YUV4MPEG2 W999999999 H999999999 F1:1\n", "not accepted"),
            (b"YUV4MPEG2 W99999999999999 H2\n", "not a size"),
            (b"YUV4MPEG2 W-2 H2\n", "not a size"),
            (b"YUV4MPEG2 W2 H2 Cxyz\n", "unknown"),
            (b"YUV4MPEG2 W2 H2 F1\n", "not a frame rate"),
            (
                b"YUV4MPEG2 W2 H2 Cmono\nFRAME\n1234FRAMX\n",
                "expected 'FRAME'",
            ),
            (&long, "longer than"),
            (b"YUV4MPEG2 W60000 H60000\nFRAME\n", "not accepted"),
            (b"YUV4MPEG2 W0 H2\n", "not accepted"),
            (b"YUV4MPEG2 W+2 H2\n", "not a size"),
            (b"YUV4MPEG2 W2 H2 Cmono\r\nFRAME\r\n1234", "binary mode"),
            (b"YUV4MPEG3 W2 H2\n", "expected 'YUV4MPEG2 '"),
            (b"YUV4MPEG2 W2 H2 Cmono\nframe\n1234", "expected 'FRAME'"),
        ];
        for (stream, expected) in cases {
            let error = frames(stream).unwrap_err().to_string();
            assert!(error.contains(expected), "{expected}: {error}");
        }
    }

    #[test]
    fn parameters_of_frames_are_skipped() {
        for parameters in [
            "",
            " ",
            " Ipp",
            " Xa=1 Xb",
            " I1p XYZ=\u{fffd} ",
            " XTS=0.5 Ip XTS=x",
        ] {
            let stream = format!("YUV4MPEG2 W2 H1 Cmono\nFRAME{parameters}\nab");
            let (all, warning) = frames(stream.as_bytes()).unwrap();
            assert_eq!((all.len(), warning), (1, None), "{parameters:?}");
            assert_eq!(all[0].luma, Luma::U8(b"ab".to_vec()));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn damaged_streams_never_panic_and_give_whole_frames(
            is_deep in any::<bool>(),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
            cut in any::<prop::sample::Index>(),
            is_cut in any::<bool>(),
        ) {
            let color = if is_deep { "420p10" } else { "422" };
            let mut stream = format!("YUV4MPEG2 W4 H2 F25:1 Ip C{color}\n").into_bytes();
            for i in 0..3u8 {
                stream.extend(format!("FRAME XTS={i} Ip\n").as_bytes());
                stream.extend([i; 24][..if is_deep { 24 } else { 16 }].iter());
            }
            for (at, value) in &changes {
                let at = at.index(stream.len());
                stream[at] = *value;
            }
            if is_cut {
                stream.truncate(cut.index(stream.len()));
            }
            match frames(&stream) {
                Ok((all, _)) => {
                    for frame in all {
                        let pixels = frame.width_px as usize * frame.height_px as usize;
                        prop_assert!(pixels > 0 && frame.luma.len() == pixels);
                    }
                }
                Err(error) => prop_assert!(error.to_string().contains("test"), "{}", error),
            }
        }
    }

    #[test]
    fn an_undefined_frame_rate_is_none() {
        let reader = Y4mReader::open(b"YUV4MPEG2 W2 H2 F0:0\n".as_slice(), "t".into()).unwrap();
        assert_eq!(reader.header().fps, None);
        let reader =
            Y4mReader::open(b"YUV4MPEG2 W2 H2 F30000:1001\n".as_slice(), "t".into()).unwrap();
        assert!((reader.header().fps.unwrap() - 29.97).abs() < 0.001);
    }
}
