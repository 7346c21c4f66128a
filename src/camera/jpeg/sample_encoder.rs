//! A small JPEG encoder for tests: baseline, any sampling, and optional tables, restart markers and end marker.

use std::f64::consts::PI;

use super::huffman::standard_table;

/// Properties of an image that the tests encode.
#[derive(Clone, Debug)]
pub(in crate::camera) struct SampleJpeg {
    pub(in crate::camera) size_px: (u32, u32),
    /// Horizontal and vertical sampling factors of each component. If there is only one component, the image is gray.
    pub(in crate::camera) sampling: Vec<(u32, u32)>,
    /// Number of MCUs between restart markers; 0 for none.
    pub(in crate::camera) restart_interval: u16,
    pub(in crate::camera) has_huffman_tables: bool,
    pub(in crate::camera) has_end_marker: bool,
    /// Whether all components are in one scan.
    pub(in crate::camera) is_interleaved: bool,
    /// Segments after the start marker, such as APP0.
    pub(in crate::camera) first_segments: Vec<u8>,
}

/// Order of the coefficients in the data. **Source**: T.81, Figure A.6.
#[rustfmt::skip]
const ZIGZAG: [usize; 64] = [
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55,
    62, 63,
];
/// Quantization step of all coefficients.
const STEP: u8 = 3;

impl SampleJpeg {
    /// Returns a gray image in the usual form.
    pub(in crate::camera) fn gray(width_px: u32, height_px: u32) -> Self {
        Self {
            size_px: (width_px, height_px),
            sampling: vec![(1, 1)],
            restart_interval: 0,
            has_huffman_tables: true,
            has_end_marker: true,
            is_interleaved: true,
            first_segments: Vec::new(),
        }
    }

    /// Returns a color image whose luma has the given sampling factors: (1, 1) is 4:4:4, (2, 1) is 4:2:2, (2, 2) is 4:2:0.
    pub(in crate::camera) fn color(width_px: u32, height_px: u32, luma: (u32, u32)) -> Self {
        Self {
            sampling: vec![luma, (1, 1), (1, 1)],
            ..Self::gray(width_px, height_px)
        }
    }

    /// Returns the luma of a pixel in all sample images.
    pub(in crate::camera) fn level(x: u32, y: u32) -> u8 {
        (40 + x * 3 % 90 + y * 2 % 80) as u8
    }

    /// Encodes the image and returns its bytes. The luma of each pixel is [`SampleJpeg::level`].
    pub(in crate::camera) fn encode(&self) -> Vec<u8> {
        let (width, height) = self.size_px;
        let mut out = vec![0xff, 0xd8];
        out.extend(&self.first_segments);
        super::write_segment(0xdb, &[vec![0], vec![STEP; 64]].concat(), &mut out);
        let mut frame = vec![8];
        frame.extend((height as u16).to_be_bytes());
        frame.extend((width as u16).to_be_bytes());
        frame.push(self.sampling.len() as u8);
        for (i, (h, v)) in self.sampling.iter().enumerate() {
            frame.extend([i as u8 + 1, (h << 4 | v) as u8, 0]);
        }
        super::write_segment(0xc0, &frame, &mut out);
        if self.has_huffman_tables {
            for (class, number) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                let table = standard_table(class, number).unwrap();
                table.write_segment(class, number, &mut out);
            }
        }
        if self.restart_interval > 0 {
            super::write_segment(0xdd, &self.restart_interval.to_be_bytes(), &mut out);
        }
        let all: Vec<usize> = (0..self.sampling.len()).collect();
        if self.is_interleaved {
            self.write_scan(&all, &mut out);
        } else {
            for component in all {
                self.write_scan(&[component], &mut out);
            }
        }
        if self.has_end_marker {
            out.extend([0xff, 0xd9]);
        }
        out
    }

    fn write_scan(&self, components: &[usize], out: &mut Vec<u8>) {
        let mut header = vec![components.len() as u8];
        for c in components {
            header.extend([*c as u8 + 1, if *c == 0 { 0 } else { 0x11 }]);
        }
        header.extend([0, 63, 0]);
        super::write_segment(0xda, &header, out);
        let (width, height) = self.size_px;
        let horizontal = self.sampling.iter().map(|s| s.0).max().unwrap();
        let vertical = self.sampling.iter().map(|s| s.1).max().unwrap();
        let (columns, rows) = if components.len() > 1 {
            (
                width.div_ceil(8 * horizontal),
                height.div_ceil(8 * vertical),
            )
        } else {
            let (h, v) = self.sampling[components[0]];
            (
                (width * h).div_ceil(horizontal).div_ceil(8),
                (height * v).div_ceil(vertical).div_ceil(8),
            )
        };
        let mut bits = BitWriter::default();
        let mut predicted = [0; 4];
        for mcu in 0..columns * rows {
            if self.restart_interval > 0 && mcu > 0 && mcu % u32::from(self.restart_interval) == 0 {
                bits.end(out);
                let number = mcu / u32::from(self.restart_interval) - 1;
                out.extend([0xff, 0xd0 + (number % 8) as u8]);
                predicted = [0; 4];
            }
            for c in components {
                let (h, v) = self.sampling[*c];
                let (h_blocks, v_blocks) = if components.len() > 1 { (h, v) } else { (1, 1) };
                for block in 0..h_blocks * v_blocks {
                    let left = (mcu % columns * h_blocks + block % h_blocks) * 8;
                    let top = (mcu / columns * v_blocks + block / h_blocks) * 8;
                    let level = |x: u32, y: u32| match c {
                        0 => Self::level(
                            ((left + x) * horizontal / h).min(width - 1),
                            ((top + y) * vertical / v).min(height - 1),
                        ),
                        1 => 110,
                        _ => 150,
                    };
                    let coefficients = transform(level);
                    write_block(&coefficients, *c, &mut predicted[*c], &mut bits, out);
                }
            }
        }
        bits.end(out);
    }
}

/// Returns the quantized coefficients of a block, in the order of the data.
fn transform(level: impl Fn(u32, u32) -> u8) -> [i32; 64] {
    let cosine = |x: u32, u: usize| (f64::from(2 * x + 1) * u as f64 * PI / 16.0).cos();
    let scale = |u: usize| if u == 0 { 0.5f64.sqrt() } else { 1.0 };
    let value = |v: usize, u: usize| {
        let mut sum = 0.0;
        for y in 0..8 {
            for x in 0..8 {
                sum += (f64::from(level(x, y)) - 128.0) * cosine(x, u) * cosine(y, v);
            }
        }
        (sum * scale(u) * scale(v) / 4.0 / f64::from(STEP)).round() as i32
    };
    std::array::from_fn(|i| value(ZIGZAG[i] / 8, ZIGZAG[i] % 8))
}

fn write_block(
    coefficients: &[i32; 64],
    component: usize,
    predicted: &mut i32,
    bits: &mut BitWriter,
    out: &mut Vec<u8>,
) {
    let number = component.min(1);
    let mut code = |class, symbol, value: i32| {
        let (length, code) = standard_table(class, number).unwrap().code_of(symbol);
        bits.put(code, length, out);
        let size = u32::from(symbol & 15);
        let extra = if value < 0 {
            value - 1 + (1 << size)
        } else {
            value
        };
        bits.put(extra as u32, size, out);
    };
    let size_of = |value: i32| (32 - value.unsigned_abs().leading_zeros()) as u8;
    let difference = coefficients[0] - *predicted;
    *predicted = coefficients[0];
    code(0, size_of(difference), difference);
    let mut run = 0;
    for value in &coefficients[1..] {
        if *value == 0 {
            run += 1;
            continue;
        }
        while run > 15 {
            code(1, 0xf0, 0);
            run -= 16;
        }
        code(1, run << 4 | size_of(*value), *value);
        run = 0;
    }
    if run > 0 {
        code(1, 0, 0);
    }
}

#[derive(Default)]
struct BitWriter {
    waiting: u64,
    count: u32,
}

impl BitWriter {
    fn put(&mut self, value: u32, count: u32, out: &mut Vec<u8>) {
        self.waiting = self.waiting << count | u64::from(value);
        self.count += count;
        while self.count >= 8 {
            self.count -= 8;
            let byte = (self.waiting >> self.count) as u8;
            out.push(byte);
            if byte == 0xff {
                out.push(0);
            }
        }
    }

    /// Fills the rest of the last byte with one bits.
    fn end(&mut self, out: &mut Vec<u8>) {
        let missing = (8 - self.count) % 8;
        self.put((1 << missing) - 1, missing, out);
        *self = Self::default();
    }
}
