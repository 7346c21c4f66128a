//! Huffman tables of a JPEG, and the standard tables for images that contain none.
//!
//! **Source**: ITU-T T.81 (1992), Annex C (codes), Annex K.3 (the standard tables).

/// Number of bits of a code that one lookup in the fast table decodes. Most codes are shorter.
const FAST_BITS: u32 = 8;

/// A table in the form of a DHT segment: the number of codes of each length from 1 to 16 bits, and the symbols.
pub(super) struct StandardTable {
    counts: [u8; 16],
    symbols: &'static [u8],
}

/// Luma (K.3.3.1) and chroma (K.3.3.1) tables of DC coefficients, Tables K.3 and K.4.
const STANDARD_DC: [StandardTable; 2] = [
    StandardTable {
        counts: [0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0],
        symbols: &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
    },
    StandardTable {
        counts: [0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0],
        symbols: &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
    },
];

/// Luma and chroma tables of AC coefficients, Tables K.5 and K.6.
#[rustfmt::skip]
const STANDARD_AC: [StandardTable; 2] = [
    StandardTable {
        counts: [0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 0x7d],
        symbols: &[
            0x01, 0x02, 0x03, 0x00, 0x04, 0x11, 0x05, 0x12, 0x21, 0x31, 0x41, 0x06, 0x13, 0x51, 0x61, 0x07, 0x22, 0x71,
            0x14, 0x32, 0x81, 0x91, 0xa1, 0x08, 0x23, 0x42, 0xb1, 0xc1, 0x15, 0x52, 0xd1, 0xf0, 0x24, 0x33, 0x62, 0x72,
            0x82, 0x09, 0x0a, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x25, 0x26, 0x27, 0x28, 0x29, 0x2a, 0x34, 0x35, 0x36, 0x37,
            0x38, 0x39, 0x3a, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0x4a, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59,
            0x5a, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7a, 0x83,
            0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9a, 0xa2, 0xa3,
            0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8, 0xb9, 0xba, 0xc2, 0xc3,
            0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8, 0xd9, 0xda, 0xe1, 0xe2,
            0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xe8, 0xe9, 0xea, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa,
        ],
    },
    StandardTable {
        counts: [0, 2, 1, 2, 4, 4, 3, 4, 7, 5, 4, 4, 0, 1, 2, 0x77],
        symbols: &[
            0x00, 0x01, 0x02, 0x03, 0x11, 0x04, 0x05, 0x21, 0x31, 0x06, 0x12, 0x41, 0x51, 0x07, 0x61, 0x71, 0x13, 0x22,
            0x32, 0x81, 0x08, 0x14, 0x42, 0x91, 0xa1, 0xb1, 0xc1, 0x09, 0x23, 0x33, 0x52, 0xf0, 0x15, 0x62, 0x72, 0xd1,
            0x0a, 0x16, 0x24, 0x34, 0xe1, 0x25, 0xf1, 0x17, 0x18, 0x19, 0x1a, 0x26, 0x27, 0x28, 0x29, 0x2a, 0x35, 0x36,
            0x37, 0x38, 0x39, 0x3a, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0x4a, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58,
            0x59, 0x5a, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7a,
            0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9a,
            0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8, 0xb9, 0xba,
            0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8, 0xd9, 0xda,
            0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xe8, 0xe9, 0xea, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa,
        ],
    },
];

/// Returns the standard table of a class (0: DC, 1: AC) and number; `None` if the standard has none for this number.
pub(super) fn standard_table(class: usize, number: usize) -> Option<&'static StandardTable> {
    [&STANDARD_DC, &STANDARD_AC].get(class)?.get(number)
}

impl StandardTable {
    /// Appends the table as a DHT segment.
    pub(super) fn write_segment(&self, class: usize, number: usize, to: &mut Vec<u8>) {
        let length = (2 + 1 + 16 + self.symbols.len()) as u16;
        to.extend([0xff, 0xc4]);
        to.extend(length.to_be_bytes());
        to.push((class << 4 | number) as u8);
        to.extend(self.counts);
        to.extend(self.symbols);
    }

    /// Returns the codes of the table; `None` if the table is not valid.
    pub(super) fn codes(&self) -> Option<HuffmanCodes> {
        HuffmanCodes::new(&self.counts, self.symbols)
    }
}

/// The codes of one table, in a form that decodes quickly.
#[derive(Clone)]
pub(super) struct HuffmanCodes {
    /// For each value of the next [`FAST_BITS`] bits: length of the code and its symbol; length 0 if the code is longer.
    fast: Vec<(u8, u8)>,
    /// For each code length: the last code of that length plus one, aligned to 16 bits.
    end: [u32; 17],
    /// For each code length: the number that is added to a code to get the index of its symbol.
    offset: [i32; 17],
    symbols: Vec<u8>,
}

impl HuffmanCodes {
    /// Builds the codes; `None` if the counts do not describe a prefix code.
    pub(super) fn new(counts: &[u8; 16], symbols: &[u8]) -> Option<Self> {
        let mut codes = Self {
            fast: vec![(0, 0); 1 << FAST_BITS],
            end: [0; 17],
            offset: [0; 17],
            symbols: symbols.to_vec(),
        };
        let (mut code, mut index) = (0u32, 0usize);
        for length in 1..=16u32 {
            let count = usize::from(counts[length as usize - 1]);
            codes.offset[length as usize] = index as i32 - code as i32;
            for symbol in symbols.get(index..index + count)? {
                if code >> length != 0 {
                    return None;
                }
                if length <= FAST_BITS {
                    let first = (code << (FAST_BITS - length)) as usize;
                    let last = first + (1 << (FAST_BITS - length));
                    codes.fast[first..last].fill((length as u8, *symbol));
                }
                code += 1;
            }
            index += count;
            codes.end[length as usize] = code << (16 - length);
            code <<= 1;
        }
        Some(codes)
    }

    /// Returns the length and the symbol of the code at the start of the next 16 bits; `None` if no code matches.
    #[inline]
    pub(super) fn decode(&self, next_16_bits: u32) -> Option<(u32, u8)> {
        let (length, symbol) = self.fast[(next_16_bits >> (16 - FAST_BITS)) as usize];
        if length > 0 {
            return Some((u32::from(length), symbol));
        }
        let length = (FAST_BITS + 1..=16).find(|l| next_16_bits < self.end[*l as usize])?;
        let code = (next_16_bits >> (16 - length)) as i32;
        let index = usize::try_from(code + self.offset[length as usize]).ok()?;
        Some((length, *self.symbols.get(index)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_standard_code_is_decoded() {
        for class in 0..2 {
            for number in 0..2 {
                let table = standard_table(class, number).unwrap();
                let codes = table.codes().unwrap();
                let (mut code, mut index) = (0u32, 0);
                for length in 1..=16u32 {
                    for _ in 0..table.counts[length as usize - 1] {
                        let bits = code << (16 - length);
                        let expected = Some((length, table.symbols[index]));
                        assert_eq!(codes.decode(bits), expected, "{class} {number} {code:b}");
                        (code, index) = (code + 1, index + 1);
                    }
                    code <<= 1;
                }
                assert_eq!(index, table.symbols.len());
                assert_eq!(codes.decode(0xffff), None, "a code of ones is reserved");
            }
        }
        assert!(standard_table(0, 2).is_none());
    }

    #[test]
    fn counts_that_are_no_prefix_code_are_rejected() {
        let mut counts = [0; 16];
        counts[0] = 3;
        assert!(HuffmanCodes::new(&counts, &[1, 2, 3]).is_none());
        counts[0] = 2;
        // Too few symbols.
        assert!(HuffmanCodes::new(&counts, &[1]).is_none());
        assert!(HuffmanCodes::new(&counts, &[1, 2]).is_some());
    }
}
