//! Checks that the entropy-coded data of a sequential JPEG contains every block of the image.
//!
//! A decoder fills the missing part of a damaged image with gray or zeros and reports success. This check decodes the
//! codes without computing pixels. Input: the data after a scan header. Output: the byte ranges of the data, one for each
//! restart interval, without padding.
//!
//! **Source**: ITU-T T.81 (1992), Annex F.2 (sequential decoding), F.1.2.3 (padding), B.2.1 (restart markers).

use std::ops::Range;

use super::JpegError;
use super::huffman::HuffmanCodes;

/// Largest number of arbitrary bytes between the last block and the next marker. Some cameras align the marker to a multiple of
/// 32 bits.
const MAX_ALIGNMENT_BYTES: usize = 3;
/// Longest run of zeros in the data, in bytes. A longer run means that a part of the data did not arrive. With usual tables
/// such a run would be a block of 63 equal coefficients, which does not occur in images.
const MAX_ZERO_BYTES: usize = 32;
/// Largest absolute value of a quantized DC coefficient of 8-bit samples. A larger one comes from damaged data.
const MAX_DC: i32 = 2048;
/// Largest number of bits of a DC difference of 8-bit samples.
const MAX_DC_BITS: u8 = 11;

/// A component in a scan.
pub(super) struct ScanComponent<'a> {
    pub(super) dc: &'a HuffmanCodes,
    pub(super) ac: &'a HuffmanCodes,
    /// Number of blocks of this component in each MCU (minimum coded unit).
    pub(super) blocks: u32,
}

/// Checks a scan of `mcus` MCUs (minimum coded units) that starts at `start`. `restart_interval` is the number of MCUs between
/// restart markers; 0 if there are none. Returns the byte ranges of the coded data, one for each restart interval.
pub(super) fn check_scan(
    bytes: &[u8],
    start: usize,
    components: &[ScanComponent<'_>],
    mcus: u32,
    restart_interval: u32,
) -> Result<Vec<Range<usize>>, JpegError> {
    let mut ranges = Vec::new();
    let mut bits = BitReader::new(bytes, start);
    let mut from = start;
    let mut predicted = [0; 4];
    for mcu in 0..mcus {
        if restart_interval > 0 && mcu > 0 && mcu % restart_interval == 0 {
            ranges.push(from..bits.finish()?);
            let expected = 0xd0 + (ranges.len() - 1) as u8 % 8;
            match bits.marker() {
                Some((marker, after)) if marker == expected => from = after,
                Some((marker @ 0xd0..=0xd7, _)) => {
                    return Err(JpegError::Damaged(format!(
                        "restart marker {} is missing, found {}",
                        expected & 7,
                        marker & 7
                    )));
                }
                _ => {
                    return Err(JpegError::Incomplete(format!(
                        "its data ends at restart marker {}",
                        ranges.len() - 1
                    )));
                }
            }
            bits = BitReader::new(bytes, from);
            predicted = [0; 4];
        }
        for (component, predicted) in components.iter().zip(&mut predicted) {
            for _ in 0..component.blocks {
                let block = check_block(&mut bits, component, predicted);
                block.map_err(|problem| problem.error(mcu, mcus))?;
            }
        }
    }
    ranges.push(from..bits.finish()?);
    // If zeros mean "end of block", the data of a uniform image consists of zeros.
    let zeros_are_pixels = components.iter().all(|c| {
        let symbol = c.ac.decode(0);
        symbol.is_none_or(|(_, symbol)| symbol == 0)
    });
    let has_gap = |range: &Range<usize>| {
        let mut runs = bytes[range.clone()].split(|byte| *byte != 0);
        runs.any(|run| run.len() > MAX_ZERO_BYTES)
    };
    if !zeros_are_pixels && ranges.iter().any(has_gap) {
        return Err(JpegError::Damaged(
            "a part of its data was replaced by zeros".to_owned(),
        ));
    }
    Ok(ranges)
}

/// The reason why a block cannot be decoded.
enum BlockProblem {
    /// The data ends.
    End,
    /// The data is not valid.
    Invalid,
}

impl BlockProblem {
    fn error(self, mcu: u32, mcus: u32) -> JpegError {
        let percent = u64::from(mcu) * 100 / u64::from(mcus.max(1));
        match self {
            Self::End => {
                JpegError::Incomplete(format!("its data ends after {percent} % of the image"))
            }
            Self::Invalid => JpegError::Damaged(format!(
                "its data is damaged after {percent} % of the image"
            )),
        }
    }
}

/// Decodes one block and discards its coefficients.
#[inline]
fn check_block(
    bits: &mut BitReader<'_>,
    component: &ScanComponent<'_>,
    predicted: &mut i32,
) -> Result<(), BlockProblem> {
    let size = bits.symbol(component.dc)?;
    if size > MAX_DC_BITS {
        return Err(BlockProblem::Invalid);
    }
    if size > 0 {
        let value = bits.take(u32::from(size))? as i32;
        let is_negative = value >> (size - 1) == 0;
        *predicted += if is_negative {
            value + 1 - (1 << size)
        } else {
            value
        };
        if predicted.abs() > MAX_DC {
            return Err(BlockProblem::Invalid);
        }
    }
    let mut position = 1;
    while position < 64 {
        let symbol = bits.symbol(component.ac)?;
        let (run, size) = (u32::from(symbol >> 4), u32::from(symbol & 15));
        match (run, size) {
            (0, 0) => break,
            (15, 0) => position += 16,
            (_, 0) => return Err(BlockProblem::Invalid),
            _ => {
                position += run + 1;
                bits.take(size)?;
            }
        }
        if position > 64 {
            return Err(BlockProblem::Invalid);
        }
    }
    Ok(())
}

/// Reads bits up to the next marker or the end of the data.
struct BitReader<'a> {
    bytes: &'a [u8],
    /// The next byte to read.
    at: usize,
    /// Bits that were read from the bytes but not used yet, in the lowest `count` bits.
    waiting: u64,
    count: u32,
}

impl<'a> BitReader<'a> {
    fn new(bytes: &'a [u8], at: usize) -> Self {
        Self {
            bytes,
            at,
            waiting: 0,
            count: 0,
        }
    }

    /// Reads bytes until at least 32 bits are waiting, or a marker or the end of the data follows.
    #[inline]
    fn refill(&mut self) {
        while self.count <= 48 {
            match self.bytes.get(self.at..) {
                Some([0xff, 0x00, ..]) => {
                    self.push(0xff);
                    self.at += 2;
                }
                Some([0xff, 0xff, rest @ ..]) => {
                    // Fill bytes (0xff) may precede a marker. Some encoders also write them before a stuffed byte.
                    let more = rest.iter().take_while(|byte| **byte == 0xff).count();
                    if rest.get(more) != Some(&0x00) {
                        return;
                    }
                    self.at += more + 1;
                }
                None | Some([] | [0xff, ..]) => return,
                Some([byte, ..]) => {
                    self.push(*byte);
                    self.at += 1;
                }
            }
        }
    }

    #[inline]
    fn push(&mut self, byte: u8) {
        self.waiting = self.waiting << 8 | u64::from(byte);
        self.count += 8;
    }

    #[inline]
    fn symbol(&mut self, codes: &HuffmanCodes) -> Result<u8, BlockProblem> {
        if self.count < 16 {
            self.refill();
        }
        // At the end of the data fewer than 16 bits are left. The rest is filled with ones, because no code consists of ones
        // only.
        let next = if self.count >= 16 {
            self.waiting >> (self.count - 16)
        } else {
            let missing = 16 - self.count;
            (self.waiting << missing) | ((1 << missing) - 1)
        };
        let is_at_end = self.count < 16;
        match codes.decode((next & 0xffff) as u32) {
            Some((length, symbol)) if length <= self.count => {
                self.count -= length;
                Ok(symbol)
            }
            None if !is_at_end => Err(BlockProblem::Invalid),
            _ => Err(BlockProblem::End),
        }
    }

    /// Removes and returns the next `count` bits, 1 to 16.
    #[inline]
    fn take(&mut self, count: u32) -> Result<u32, BlockProblem> {
        if self.count < count {
            self.refill();
            if self.count < count {
                return Err(BlockProblem::End);
            }
        }
        self.count -= count;
        Ok((self.waiting >> self.count) as u32 & ((1 << count) - 1))
    }

    /// Ends the restart interval. Returns the position of the end of its coded data, and checks the bytes up to the next
    /// marker.
    fn finish(&mut self) -> Result<usize, JpegError> {
        let (padding_bits, unread) = (self.count % 8, self.count / 8);
        let mask = (1 << padding_bits) - 1;
        let is_padded_with_ones = self.waiting >> (unread * 8) & mask == mask;
        let mut end = self.at;
        for _ in 0..unread {
            let is_stuffed = end >= 2 && self.bytes[end - 2..end] == [0xff, 0x00];
            end -= if is_stuffed { 2 } else { 1 };
        }
        let marker = self.marker();
        let rest = match marker {
            Some((_, after)) => &self.bytes[end..after.saturating_sub(2).max(end)],
            None => &self.bytes[end..],
        };
        let is_uniform = rest.windows(2).all(|pair| pair[0] == pair[1]);
        // Data that was damaged in the middle rarely ends at the last block. Without an end marker any bytes may follow the
        // image, so the padding bits must have the values that the standard requires.
        let is_complete = rest.len() <= MAX_ALIGNMENT_BYTES
            || is_uniform
            || (marker.is_none_or(|(m, _)| m != 0xd9 && !(0xd0..=0xd7).contains(&m))
                && is_padded_with_ones);
        if is_complete {
            Ok(end)
        } else {
            Err(JpegError::Damaged(format!(
                "{} bytes of its data belong to no part of the image",
                rest.len()
            )))
        }
    }

    /// Returns the next marker that is not a stuffed byte, and the position after the marker.
    fn marker(&self) -> Option<(u8, usize)> {
        super::next_marker(self.bytes, self.at)
    }
}
