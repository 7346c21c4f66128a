//! Outer outline of a blob. It is traced along the border pixels of the blob, then simplified.

use pulp::{Arch, Simd, WithSimd};

use super::bit_mask::BitMask;

/// Upper limit for the number of corners of an outline.
pub const MAX_CORNERS: usize = 64;
/// Initial tolerance of the simplification, in pixels.
const TOLERANCE_PX: f32 = 0.7;

/// Offsets of the eight neighbors, in clockwise order (y points down), beginning with the right neighbor.
const AROUND: [(i32, i32); 8] = [
    (1, 0),
    (1, 1),
    (0, 1),
    (-1, 1),
    (-1, 0),
    (-1, -1),
    (0, -1),
    (1, -1),
];

/// Traces outlines. Its buffers are reused from blob to blob.
#[derive(Default)]
pub(super) struct Tracer {
    border: Vec<(i32, i32)>,
    /// Coordinates of the border in separate lists, so that distances can be vectorized.
    border_x: Vec<f32>,
    border_y: Vec<f32>,
    /// Square of the distance of each point of a span to the line between its ends.
    off: Vec<f32>,
    kept: Vec<bool>,
    spans: Vec<(usize, usize)>,
    corners: Vec<(i32, i32)>,
}

impl Tracer {
    /// Returns the outline of a blob in clockwise order. `first` is the leftmost pixel of the topmost row of the blob.
    /// The first corner is not repeated at the end.
    pub(super) fn trace(&mut self, mask: &BitMask, first: (u32, u32)) -> &[(i32, i32)] {
        self.follow_border(mask, (first.0 as i32, first.1 as i32));
        self.border_x.clear();
        self.border_y.clear();
        self.border_x.extend(self.border.iter().map(|p| p.0 as f32));
        self.border_y.extend(self.border.iter().map(|p| p.1 as f32));
        let mut tolerance = TOLERANCE_PX;
        loop {
            Arch::new().dispatch(Simplification {
                tracer: self,
                tolerance,
            });
            if self.corners.len() <= MAX_CORNERS {
                return &self.corners;
            }
            tolerance *= 1.5;
        }
    }

    /// Traces the border by Moore-neighbor tracing with Jacob's stopping criterion: tracing ends when it is about to
    /// leave the start pixel in the same direction as the first time.
    fn follow_border(&mut self, mask: &BitMask, start: (i32, i32)) {
        self.border.clear();
        let limit = 4 * mask.width() * mask.height();
        // There is no foreground to the left of the start pixel or above it, so the search can begin at the upper left
        // neighbor.
        let (mut at, mut looked_from) = (start, 5);
        let mut first_step = None;
        loop {
            let step = (0..8)
                .map(|i| (looked_from + i) % 8)
                .find(|&d| mask.contains(at.0 + AROUND[d].0, at.1 + AROUND[d].1));
            let Some(step) = step else {
                self.border.push(at);
                return;
            };
            if at == start && first_step == Some(step) || self.border.len() > limit {
                return;
            }
            first_step.get_or_insert(step);
            self.border.push(at);
            at = (at.0 + AROUND[step].0, at.1 + AROUND[step].1);
            // Continue clockwise from the background pixel that was examined before the new pixel.
            looked_from = (step + if step % 2 == 0 { 6 } else { 5 }) % 8;
        }
    }

    /// Simplifies the outline (Douglas and Peucker 1973). The start pixel and the point farthest from it divide the
    /// outline into two halves, which are simplified separately.
    #[inline(always)]
    fn simplify(&mut self, tolerance: f32) {
        let n = self.border.len();
        self.kept.clear();
        self.kept.resize(n, false);
        self.corners.clear();
        if n == 0 {
            return;
        }
        let square = |a: (i32, i32), b: (i32, i32)| (a.0 - b.0).pow(2) + (a.1 - b.1).pow(2);
        let start = self.border[0];
        let far = (0..n)
            .max_by_key(|&i| (square(self.border[i], start), n - i))
            .unwrap_or(0);
        self.kept[0] = true;
        self.kept[far] = true;
        self.spans.clear();
        self.spans.extend([(0, far), (far, n)]);
        while let Some((from, to)) = self.spans.pop() {
            let (a, b) = (self.border[from], self.border[to % n]);
            let mut worst = (tolerance * tolerance, None);
            let inside = from + 1..to.max(from + 1);
            self.measure_span(inside.clone(), a, b);
            for (&off, i) in self.off.iter().zip(inside) {
                if off > worst.0 {
                    worst = (off, Some(i));
                }
            }
            if let (_, Some(middle)) = worst {
                self.kept[middle] = true;
                self.spans.extend([(from, middle), (middle, to)]);
            }
        }
        let corners = self.border.iter().zip(&self.kept);
        self.corners
            .extend(corners.filter(|(_, kept)| **kept).map(|(p, _)| *p));
    }

    /// Measures the squares of the distances of a span of the border to the line from `a` to `b`.
    #[inline(always)]
    fn measure_span(&mut self, span: std::ops::Range<usize>, a: (i32, i32), b: (i32, i32)) {
        let (a_x, a_y) = (a.0 as f32, a.1 as f32);
        let (along_x, along_y) = (b.0 as f32 - a_x, b.1 as f32 - a_y);
        let square = (along_x * along_x + along_y * along_y).max(1e-6);
        let span_x = self.border_x[span.clone()].iter();
        let points = span_x.zip(&self.border_y[span]);
        self.off.clear();
        self.off.extend(points.map(|(&x, &y)| {
            let t = ((x - a_x) * along_x + (y - a_y) * along_y) / square;
            let t = t.clamp(0.0, 1.0);
            let (off_x, off_y) = (x - (a_x + along_x * t), y - (a_y + along_y * t));
            off_x * off_x + off_y * off_y
        }));
    }
}

/// Simplification of an outline with the widest SIMD instructions of this machine. Every function called from `with_simd` must be inlined.
struct Simplification<'a> {
    tracer: &'a mut Tracer,
    tolerance: f32,
}

impl WithSimd for Simplification<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.tracer.simplify(self.tolerance);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask(rows: &[&str]) -> BitMask {
        let mut mask = BitMask::new(rows[0].len(), rows.len());
        for (y, row) in rows.iter().enumerate() {
            for (x, c) in row.bytes().enumerate() {
                mask.row_mut(y)[x / 64] |= u64::from(c == b'#') << (x % 64);
            }
        }
        mask
    }

    #[test]
    fn corners_of_a_rectangle() {
        let mask = mask(&["......", ".####.", ".####.", ".####.", "......"]);
        let outline = Tracer::default().trace(&mask, (1, 1)).to_vec();
        assert_eq!(outline, [(1, 1), (4, 1), (4, 3), (1, 3)]);
    }

    #[test]
    fn outlines_of_one_pixel_and_of_a_line() {
        assert_eq!(Tracer::default().trace(&mask(&["#"]), (0, 0)), [(0, 0)]);
        let line = mask(&["#####"]);
        assert_eq!(Tracer::default().trace(&line, (0, 0)), [(0, 0), (4, 0)]);
    }

    #[test]
    fn a_narrow_waist_is_traced_on_both_sides() {
        let mask = mask(&["##...##", "##...##", "..###..", "##...##", "##...##"]);
        let mut tracer = Tracer::default();
        tracer.trace(&mask, (0, 0));
        for corner in [(0, 0), (6, 0), (6, 4), (0, 4)] {
            assert!(tracer.border.contains(&corner), "{corner:?}");
        }
    }

    #[test]
    fn never_more_than_64_corners() {
        let rows: Vec<String> = (0..60)
            .map(|y| {
                if y == 0 || y % 2 == 1 {
                    "#".repeat(100)
                } else {
                    "#.".repeat(50)
                }
            })
            .collect();
        let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
        assert!(Tracer::default().trace(&mask(&rows), (0, 0)).len() <= MAX_CORNERS);
        let comb: Vec<String> = (0..40)
            .map(|y| {
                if y == 0 {
                    "#".repeat(200)
                } else {
                    "#.".repeat(100)
                }
            })
            .collect();
        let comb: Vec<&str> = comb.iter().map(String::as_str).collect();
        assert!(Tracer::default().trace(&mask(&comb), (0, 0)).len() <= MAX_CORNERS);
    }
}
