//! Random changes of valid inputs, for tests of decoders. Each test runs some thousand of them; `SHOAL_MUTATION_SECS=600` runs them for
//! ten minutes instead.

use std::time::{Duration, Instant};

/// Number of inputs in a normal run.
const NORMAL: u64 = 20_000;

/// Calls `decode` with changed copies of the inputs, always with the same ones in the same order.
pub(super) fn mutate(inputs: &[Vec<u8>], mut decode: impl FnMut(&[u8])) {
    let secs = std::env::var("SHOAL_MUTATION_SECS").ok();
    let end = secs
        .and_then(|secs| secs.parse().ok())
        .map(|secs| Instant::now() + Duration::from_secs(secs));
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut count = 0;
    while end.map_or(count < NORMAL, |end| Instant::now() < end) {
        count += 1;
        let mut input = inputs[random.below(inputs.len())].clone();
        for _ in 0..=random.below(4) {
            change(&mut input, inputs, &mut random);
        }
        decode(&input);
    }
    if end.is_some() {
        eprintln!("{count} changed inputs");
    }
}

fn change(input: &mut Vec<u8>, inputs: &[Vec<u8>], random: &mut Random) {
    let at = random.below(input.len() + 1);
    match random.below(6) {
        // Another byte: an edge, or any.
        0 | 1 if at < input.len() => {
            let edges = [0, 1, 0x2c, 0x5b, 0x7f, 0x80, 0xff];
            input[at] = match random.below(2) {
                0 => edges[random.below(edges.len())],
                _ => random.below(256) as u8,
            };
        }
        2 => input.truncate(at),
        3 => {
            let length = random.below(16);
            let bytes = (0..length)
                .map(|_| random.below(256) as u8)
                .collect::<Vec<_>>();
            input.splice(at..at, bytes);
        }
        // A part of another input, or of the same one again.
        4 => {
            let other = &inputs[random.below(inputs.len())];
            let begin = random.below(other.len() + 1);
            let end = begin + random.below(other.len() - begin + 1);
            let part = other[begin..end].to_vec();
            input.splice(at..at, part);
        }
        _ => {
            let end = at + random.below(input.len() - at + 1);
            input.drain(at..end);
        }
    }
}

/// Numbers by xorshift (Marsaglia 2003).
struct Random(u64);

impl Random {
    /// Returns a number below `limit`, which is not 0.
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % limit
    }
}
