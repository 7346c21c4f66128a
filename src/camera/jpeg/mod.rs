//! Checks JPEG images of cameras and files, and adds the parts that cameras omit.
//!
//! Many cameras send JPEG data that differs from the standard: without Huffman tables, without an end marker, or with padding
//! or old data after the image. Decoders differ in the data that they accept, and most of them return a damaged image without
//! an error. Input: the bytes of one image. Output: a copy in standard form, which every decoder reads, or the reason why the
//! image cannot be used.
//!
//! **Source**: ITU-T T.81 (1992); Annex B for the structure, Annex K.3 for the standard Huffman tables.

mod huffman;
#[cfg(test)]
pub(super) mod sample_encoder;
mod scan;

use std::fmt;

use super::limits::{MAX_PIXELS, MAX_SIDE_PX};
use huffman::{HuffmanCodes, standard_table};
use scan::{ScanComponent, check_scan};

/// Minimum length of a run of equal bytes at the end of a buffer that is treated as padding, in bytes.
const MIN_PADDING_BYTES: usize = 8;

/// The reason why an image cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum JpegError {
    /// The data ends before the image is complete.
    Incomplete(String),
    /// The data is not valid.
    Damaged(String),
    /// The image has a form of JPEG that Shoal does not read.
    Unsupported(String),
    /// The image is larger than Shoal accepts.
    TooLarge {
        /// Width in pixels.
        width_px: u32,
        /// Height in pixels.
        height_px: u32,
    },
}

impl fmt::Display for JpegError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Incomplete(detail) => write!(f, "the JPEG is incomplete: {detail}"),
            Self::Damaged(detail) => write!(f, "the JPEG is damaged: {detail}"),
            Self::Unsupported(detail) => write!(f, "this form of JPEG cannot be read: {detail}"),
            Self::TooLarge {
                width_px,
                height_px,
            } => write!(f, "the JPEG claims {width_px}x{height_px} px"),
        }
    }
}

/// Properties of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct JpegInfo {
    pub(super) width_px: u32,
    pub(super) height_px: u32,
    /// The reason why decoders return a wrong image without an error; `None` if they return the image. Usual images have no such
    /// problem.
    pub(super) image_problem: Option<&'static str>,
    /// The reason why the luma cannot be decoded alone; `None` if it can. Usual images are gray or YCbCr in one scan, and have
    /// no such problem.
    pub(super) luma_problem: Option<&'static str>,
}

/// Checks the image in `bytes` and writes a copy in standard form into `to`, whose memory is reused.
///
/// # Errors
/// When the image is incomplete, damaged, too large, or has a form that Shoal does not read.
pub(super) fn complete_jpeg(bytes: &[u8], to: &mut Vec<u8>) -> Result<JpegInfo, JpegError> {
    to.clear();
    let bytes = without_padding(bytes);
    let start = bytes.windows(3).position(|w| w == [0xff, 0xd8, 0xff]);
    let Some(start) = start else {
        return Err(if bytes.iter().all(|byte| *byte == 0) {
            JpegError::Incomplete("it has no data".to_owned())
        } else {
            JpegError::Damaged("it has no start marker".to_owned())
        });
    };
    to.extend([0xff, 0xd8]);
    let mut parser = Parser::default();
    let mut at = start + 2;
    while !parser.is_complete() {
        let Some((marker, after)) = next_marker(bytes, at) else {
            return Err(JpegError::Incomplete(parser.missing_part().to_owned()));
        };
        at = match marker {
            0xd9 => return Err(JpegError::Incomplete(parser.missing_part().to_owned())),
            0xd0..=0xd8 => {
                return Err(JpegError::Damaged(format!(
                    "marker {marker:#04x} is at a wrong place"
                )));
            }
            0x01 => after,
            _ => {
                let segment = segment(bytes, after)?;
                let end = after + 2 + segment.len();
                if marker == 0xda {
                    parser.scan(bytes, segment, end, to)?
                } else {
                    parser.header(marker, segment, to)?;
                    end
                }
            }
        };
    }
    to.extend([0xff, 0xd9]);
    parser.info()
}

/// Returns the bytes without the last run of equal bytes, which pads the buffer. Two bytes of the run are kept, because they
/// may belong to the image.
///
/// If the padding stayed, zeros after half an image would be decoded as its other half.
fn without_padding(bytes: &[u8]) -> &[u8] {
    let last = bytes.last();
    let run = bytes
        .iter()
        .rev()
        .take_while(|byte| Some(*byte) == last)
        .count();
    if run < MIN_PADDING_BYTES {
        return bytes;
    }
    &bytes[..bytes.len() - run + 2]
}

/// Returns the next marker at or after `at`, and the position after the marker. Skips bytes that belong to no marker.
fn next_marker(bytes: &[u8], mut at: usize) -> Option<(u8, usize)> {
    loop {
        at += bytes.get(at..)?.iter().position(|byte| *byte == 0xff)? + 1;
        match *bytes.get(at)? {
            0x00 | 0xff => {}
            marker => return Some((marker, at + 1)),
        }
    }
}

/// Returns the content of the segment whose length field is at `at`.
fn segment(bytes: &[u8], at: usize) -> Result<&[u8], JpegError> {
    let cut = || JpegError::Incomplete("it ends in its header".to_owned());
    let length = bytes.get(at..at + 2).ok_or_else(cut)?;
    let length = usize::from(u16::from_be_bytes([length[0], length[1]]));
    if length < 2 {
        return Err(JpegError::Damaged(
            "a segment has a length below 2".to_owned(),
        ));
    }
    bytes.get(at + 2..at + length).ok_or_else(cut)
}

/// Appends a segment.
fn write_segment(marker: u8, content: &[u8], to: &mut Vec<u8>) {
    to.extend([0xff, marker]);
    to.extend((content.len() as u16 + 2).to_be_bytes());
    to.extend_from_slice(content);
}

/// A component of the image.
#[derive(Clone, Copy, Debug, Default)]
struct Component {
    id: u8,
    horizontal: u32,
    vertical: u32,
    quantization_table: u8,
    /// For each coefficient, the number of its lowest bits that have not been read yet; 255 if no bit has been read.
    missing_bits: Option<[u8; 64]>,
}

impl Component {
    fn is_complete(&self) -> bool {
        self.missing_bits.is_some_and(|bits| bits == [0; 64])
    }
}

/// State of the parser: the values defined by the headers that it has read so far.
#[derive(Default)]
struct Parser {
    size_px: Option<(u32, u32)>,
    is_progressive: bool,
    /// Number of scans read.
    scans: u32,
    components: Vec<Component>,
    restart_interval: u32,
    /// Huffman tables by class (0: DC, 1: AC) and number.
    codes: [[Option<HuffmanCodes>; 4]; 2],
    /// Whether each quantization table is defined.
    has_quantization: [bool; 4],
    /// Color transform of an Adobe segment; `None` without one.
    adobe_transform: Option<u8>,
}

impl Parser {
    /// Whether every component has been read completely.
    fn is_complete(&self) -> bool {
        !self.components.is_empty() && self.components.iter().all(Component::is_complete)
    }

    /// Describes the missing part of an image whose data has ended.
    fn missing_part(&self) -> &'static str {
        match self.size_px {
            None => "it ends in its header",
            Some(_) => "it ends before all of its components",
        }
    }

    fn info(&self) -> Result<JpegInfo, JpegError> {
        let (width_px, height_px) = self
            .size_px
            .ok_or_else(|| JpegError::Incomplete("it ends in its header".to_owned()))?;
        let ids: Vec<u8> = self.components.iter().map(|c| c.id).collect();
        let image_problem = if self.scans > 1 && !self.is_progressive {
            Some("its components are in separate scans")
        } else if !self.has_usual_sampling() {
            Some("its color is sampled more densely than its luma, or by an uneven ratio")
        } else {
            None
        };
        let luma_problem = match ids.len() {
            4 => Some("its colors are CMYK"),
            3 if self.adobe_transform == Some(0) || ids == *b"RGB" => Some("its colors are RGB"),
            _ => image_problem,
        };
        Ok(JpegInfo {
            width_px,
            height_px,
            image_problem,
            luma_problem,
        })
    }

    /// Whether the first component, which is the luma of usual images, has the full resolution, and every other component has a
    /// whole fraction of it.
    fn has_usual_sampling(&self) -> bool {
        let Some((first, others)) = self.components.split_first() else {
            return true;
        };
        others.iter().all(|other| {
            first.horizontal.is_multiple_of(other.horizontal)
                && first.vertical.is_multiple_of(other.vertical)
        })
    }

    /// Reads a header segment, and copies it if a decoder needs it.
    fn header(&mut self, marker: u8, content: &[u8], to: &mut Vec<u8>) -> Result<(), JpegError> {
        let unsupported = |what: &str| Err(JpegError::Unsupported(what.to_owned()));
        match marker {
            0xc0..=0xc2 => self.frame(marker, content)?,
            0xc3 | 0xc7 | 0xcb | 0xcf => return unsupported("it is lossless"),
            0xc5 | 0xc6 | 0xcd | 0xce => return unsupported("it is hierarchical"),
            0xc9 | 0xca | 0xcc => return unsupported("it uses arithmetic coding"),
            0xc4 => self.huffman_tables(content)?,
            0xdb => self.quantization_tables(content)?,
            0xdd => {
                let [high, low] = *content else {
                    return Err(JpegError::Damaged(
                        "its restart interval has a wrong length".to_owned(),
                    ));
                };
                self.restart_interval = u32::from(u16::from_be_bytes([high, low]));
            }
            0xe1 if content.starts_with(b"Exif\0\0") => {}
            0xee if content.starts_with(b"Adobe") && content.len() >= 12 => {
                self.adobe_transform = Some(content[11]);
            }
            // Comments, data of applications and unknown segments do not change the image.
            _ => return Ok(()),
        }
        write_segment(marker, content, to);
        Ok(())
    }

    /// Reads a frame header. **Source**: T.81, B.2.2.
    fn frame(&mut self, marker: u8, content: &[u8]) -> Result<(), JpegError> {
        let damaged = |what: &str| JpegError::Damaged(what.to_owned());
        if self.size_px.is_some() {
            return Err(damaged("it has two frame headers"));
        }
        let [precision, h1, h2, w1, w2, count, components @ ..] = content else {
            return Err(damaged("its frame header is too short"));
        };
        if *precision != 8 {
            return Err(JpegError::Unsupported(format!(
                "it has {precision} bits per sample, only 8 are supported"
            )));
        }
        let width_px = u32::from(u16::from_be_bytes([*w1, *w2]));
        let height_px = u32::from(u16::from_be_bytes([*h1, *h2]));
        if height_px == 0 {
            return Err(JpegError::Unsupported(
                "its height is not in the frame header".to_owned(),
            ));
        }
        if width_px == 0 {
            return Err(damaged("its width is 0"));
        }
        let pixels = u64::from(width_px) * u64::from(height_px);
        if width_px > MAX_SIDE_PX || height_px > MAX_SIDE_PX || pixels > MAX_PIXELS {
            return Err(JpegError::TooLarge {
                width_px,
                height_px,
            });
        }
        if !matches!(count, 1 | 3 | 4) || components.len() != usize::from(*count) * 3 {
            return Err(JpegError::Damaged(format!("it has {count} components")));
        }
        for component in components.chunks_exact(3) {
            let (horizontal, vertical) = (component[1] >> 4, component[1] & 15);
            if !(1..=4).contains(&horizontal) || !(1..=4).contains(&vertical) || component[2] > 3 {
                return Err(damaged("a component has invalid sampling factors"));
            }
            self.components.push(Component {
                id: component[0],
                horizontal: u32::from(horizontal),
                vertical: u32::from(vertical),
                quantization_table: component[2],
                missing_bits: None,
            });
        }
        self.is_progressive = marker == 0xc2;
        self.size_px = Some((width_px, height_px));
        Ok(())
    }

    /// Reads Huffman tables. **Source**: T.81, B.2.4.2.
    fn huffman_tables(&mut self, mut content: &[u8]) -> Result<(), JpegError> {
        let damaged = || JpegError::Damaged("a Huffman table is not valid".to_owned());
        while !content.is_empty() {
            let (head, rest) = content.split_at_checked(17).ok_or_else(damaged)?;
            let (class, number) = (usize::from(head[0] >> 4), usize::from(head[0] & 15));
            let counts: [u8; 16] = head[1..].try_into().map_err(|_| damaged())?;
            let total = counts.iter().map(|count| usize::from(*count)).sum();
            let (symbols, rest) = rest.split_at_checked(total).ok_or_else(damaged)?;
            let slot = self.codes.get_mut(class).and_then(|c| c.get_mut(number));
            *slot.ok_or_else(damaged)? =
                Some(HuffmanCodes::new(&counts, symbols).ok_or_else(damaged)?);
            content = rest;
        }
        Ok(())
    }

    /// Reads quantization tables. **Source**: T.81, B.2.4.1.
    fn quantization_tables(&mut self, mut content: &[u8]) -> Result<(), JpegError> {
        let damaged = || JpegError::Damaged("a quantization table is not valid".to_owned());
        while let [head, rest @ ..] = content {
            let length = if head >> 4 == 0 { 64 } else { 128 };
            let slot = self.has_quantization.get_mut(usize::from(head & 15));
            *slot.ok_or_else(damaged)? = true;
            content = rest.get(length..).ok_or_else(damaged)?;
        }
        Ok(())
    }

    /// Reads a scan header and checks the scan data, which starts at `start`. Copies both, and returns the position of the end
    /// of the scan. **Source**: T.81, B.2.3.
    fn scan(
        &mut self,
        bytes: &[u8],
        header: &[u8],
        start: usize,
        to: &mut Vec<u8>,
    ) -> Result<usize, JpegError> {
        let damaged = |what: &str| JpegError::Damaged(what.to_owned());
        let (count, rest) = header
            .split_first()
            .ok_or_else(|| damaged("a scan header is empty"))?;
        let count = usize::from(*count);
        if !(1..=4).contains(&count) || rest.len() != count * 2 + 3 {
            return Err(damaged("a scan header has a wrong length"));
        }
        let (selectors, spectral) = rest.split_at(count * 2);
        let mut scanned: Vec<(usize, usize, usize)> = Vec::with_capacity(4);
        for selector in selectors.chunks_exact(2) {
            let index = self.components.iter().position(|c| c.id == selector[0]);
            let index = index
                .filter(|index| scanned.iter().all(|(other, ..)| other != index))
                .ok_or_else(|| damaged("a scan names an unknown component"))?;
            let (dc, ac) = (selector[1] >> 4, selector[1] & 15);
            if dc > 3 || ac > 3 {
                return Err(damaged("a scan names an unknown Huffman table"));
            }
            let table = self.components[index].quantization_table;
            if !self.has_quantization[usize::from(table)] {
                return Err(damaged("a quantization table is missing"));
            }
            scanned.push((index, usize::from(dc), usize::from(ac)));
        }
        self.scans += 1;
        if self.is_progressive {
            self.note_progress(&scanned, spectral)?;
            write_segment(0xda, header, to);
            let end = end_of_scan(bytes, start)?;
            to.extend_from_slice(&bytes[start..end]);
            return Ok(end);
        }
        self.add_standard_tables(&scanned, to)?;
        write_segment(0xda, header, to);
        let ranges = self.check_sequential(bytes, start, &scanned)?;
        let end = ranges.last().map_or(start, |range| range.end);
        for (i, range) in ranges.into_iter().enumerate() {
            if i > 0 {
                to.extend([0xff, 0xd0 + ((i - 1) % 8) as u8]);
            }
            to.extend_from_slice(&bytes[range]);
        }
        for (index, ..) in &scanned {
            if self.components[*index]
                .missing_bits
                .replace([0; 64])
                .is_some()
            {
                return Err(damaged("two scans contain the same component"));
            }
        }
        Ok(end)
    }

    /// Adds the standard table for each table that a scan uses and that no header defines.
    fn add_standard_tables(
        &mut self,
        scanned: &[(usize, usize, usize)],
        to: &mut Vec<u8>,
    ) -> Result<(), JpegError> {
        for (_, dc, ac) in scanned {
            for (class, number) in [(0, *dc), (1, *ac)] {
                if self.codes[class][number].is_some() {
                    continue;
                }
                let table = standard_table(class, number).ok_or_else(|| {
                    JpegError::Damaged(format!("Huffman table {number} is missing"))
                })?;
                table.write_segment(class, number, to);
                self.codes[class][number] = table.codes();
            }
        }
        Ok(())
    }

    fn check_sequential(
        &self,
        bytes: &[u8],
        start: usize,
        scanned: &[(usize, usize, usize)],
    ) -> Result<Vec<std::ops::Range<usize>>, JpegError> {
        let largest = |of: fn(&Component) -> u32| self.components.iter().map(of).max().unwrap_or(1);
        let (horizontal, vertical) = (largest(|c| c.horizontal), largest(|c| c.vertical));
        let (width_px, height_px) = self.size_px.unwrap_or_default();
        let is_interleaved = scanned.len() > 1;
        let mut components = Vec::with_capacity(4);
        for (index, dc, ac) in scanned {
            let (Some(dc), Some(ac)) = (&self.codes[0][*dc], &self.codes[1][*ac]) else {
                return Err(JpegError::Damaged("a Huffman table is missing".to_owned()));
            };
            let component = &self.components[*index];
            components.push(ScanComponent {
                dc,
                ac,
                blocks: if is_interleaved {
                    component.horizontal * component.vertical
                } else {
                    1
                },
            });
        }
        // T.81, A.2: an interleaved scan has whole MCUs; a scan of one component has only the blocks with pixels.
        let mcus = if is_interleaved {
            width_px.div_ceil(8 * horizontal) * height_px.div_ceil(8 * vertical)
        } else {
            let component = &self.components[scanned[0].0];
            let width = (width_px * component.horizontal).div_ceil(horizontal);
            let height = (height_px * component.vertical).div_ceil(vertical);
            width.div_ceil(8) * height.div_ceil(8)
        };
        check_scan(bytes, start, &components, mcus, self.restart_interval)
    }

    /// Records which bits of which coefficients a progressive scan contains. **Source**: T.81, G.1.1.1.
    fn note_progress(
        &mut self,
        scanned: &[(usize, usize, usize)],
        spectral: &[u8],
    ) -> Result<(), JpegError> {
        let (first, last, missing) = (
            usize::from(spectral[0]),
            usize::from(spectral[1]),
            spectral[2] & 15,
        );
        if first > last || last > 63 {
            return Err(JpegError::Damaged(
                "a scan has invalid coefficients".to_owned(),
            ));
        }
        for (index, ..) in scanned {
            let bits = &mut self.components[*index].missing_bits;
            bits.get_or_insert([255; 64])[first..=last].fill(missing);
        }
        Ok(())
    }
}

/// Returns the position of the end of a progressive scan: the next marker that is not a restart marker.
fn end_of_scan(bytes: &[u8], mut at: usize) -> Result<usize, JpegError> {
    loop {
        match next_marker(bytes, at) {
            Some((0xd0..=0xd7, after)) => at = after,
            Some((_, after)) => return Ok(after - 2),
            None => {
                return Err(JpegError::Incomplete(
                    "it ends before its end marker".to_owned(),
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests;
