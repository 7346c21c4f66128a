//! Connected-component labeling of the foreground mask. Each connected component becomes a blob with its runs of
//! pixels, area, centroid and bounding box.

mod ghosts;

use glam::Vec2;

use ghosts::{GhostFinder, Labeled};

use super::background::Background;
use super::bit_mask::BitMask;
use super::floor::FloorTable;

/// Upper limit for the number of samples per blob.
const SAMPLES: u32 = 200;

/// One connected component of the foreground mask.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Blob {
    pub(super) pixels: u32,
    /// Number of pixels that cannot be trusted.
    unreliable_pixels: u32,
    pub(super) area_m2: f32,
    /// Centroid, weighted by shadow depth.
    pub(super) centroid_m: Vec2,
    /// Leftmost pixel of the topmost row. The tracing of the outline starts at this pixel.
    pub(super) first_pixel: (u32, u32),
    /// Exclusive lower right corner of the bounding box.
    pub(super) end: (u32, u32),
    /// Leftmost column of the bounding box.
    pub(super) left: u32,
    /// Index range of the samples of this blob in the list of all samples.
    pub(super) samples: std::ops::Range<usize>,
    /// Sum of area times shadow depth, in m²; the divisor of the centroid.
    depth_weight_m2: f32,
    /// Distance between samples, counted in pixels of the blob: every pixel whose number is a multiple of this becomes
    /// a sample.
    sample_stride: u32,
    is_ghost: bool,
    /// Number of pixels processed so far during sampling.
    pixels_passed: u32,
}

/// Rectangle in pixels; `right` and `bottom` are exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) left: u32,
    pub(super) top: u32,
    pub(super) right: u32,
    pub(super) bottom: u32,
}

impl Bounds {
    /// Returns the smallest rectangle that contains `self` and `other`.
    pub(super) fn around(&self, other: &Self) -> Self {
        Self {
            left: self.left.min(other.left),
            top: self.top.min(other.top),
            right: self.right.max(other.right),
            bottom: self.bottom.max(other.bottom),
        }
    }
}

impl Blob {
    /// Returns the bounding box of the blob.
    pub(super) fn bounds(&self) -> Bounds {
        Bounds {
            left: self.left,
            top: self.first_pixel.1,
            right: self.end.0,
            bottom: self.end.1,
        }
    }

    /// Returns the mean size of a pixel of the blob on the floor, in meters.
    pub(super) fn pixel_m(&self) -> f32 {
        (self.area_m2 / self.pixels.max(1) as f32).sqrt()
    }

    /// Returns whether most of the blob lies on pixels that can be trusted. Only such a blob can start a track.
    pub(super) fn is_reliable(&self) -> bool {
        2 * self.unreliable_pixels <= self.pixels
    }
}

/// Floor point of one pixel of a blob. It represents several pixels and carries their total area.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    pub(super) position_m: Vec2,
    pub(super) area_m2: f32,
    /// Whether the pixel is so close to the image border that the shadow may be cut off.
    pub(super) at_edge: bool,
}

/// Distance from the image border within which a shadow may be cut off, in pixels.
const EDGE_PX: usize = 4;

/// Run of foreground pixels in one row; `end` is exclusive. Runs of one blob are 8-connected.
struct Run {
    y: u32,
    start: u32,
    end: u32,
    label: u32,
}

/// Inputs of blob detection other than the mask.
pub(super) struct BlobContext<'a> {
    pub(super) levels: &'a [u8],
    pub(super) background: &'a Background,
    pub(super) floor: &'a FloorTable,
}

/// Finds blobs. Its buffers are reused from frame to frame.
#[derive(Default)]
pub(super) struct BlobFinder {
    runs: Vec<Run>,
    parents: Vec<u32>,
    blob_of_label: Vec<u32>,
    blobs: Vec<Blob>,
    samples: Vec<Sample>,
    ghosts: GhostFinder,
}

impl BlobFinder {
    /// Returns the blobs of the last mask, ordered by their first pixel (row, then column).
    pub(super) fn blobs(&self) -> &[Blob] {
        &self.blobs
    }

    /// Returns the samples of one blob.
    pub(super) fn samples(&self, blob: &Blob) -> &[Sample] {
        &self.samples[blob.samples.clone()]
    }

    /// Returns the pixel runs of a blob as (row, first column, exclusive end column).
    pub(super) fn rows(&self, blob: &Blob) -> impl Iterator<Item = (u32, u32, u32)> {
        let (x, y) = blob.first_pixel;
        let first = self.runs.iter().find(|r| (r.start, r.y) == (x, y));
        let label = first.map(|r| r.label);
        let own = self.runs.iter().filter(move |r| Some(r.label) == label);
        own.map(|r| (r.y, r.start, r.end))
    }

    /// Returns the pixel runs of all ghosts as (row, first column, exclusive end column).
    pub(super) fn ghost_rows(&self) -> impl Iterator<Item = (u32, u32, u32)> {
        let has_ghosts = self.ghosts.has_ghosts();
        let is_ghost = move |run: &&Run| {
            has_ghosts && (self.ghosts).is_ghost(self.blob_of_label[run.label as usize] as usize)
        };
        self.runs
            .iter()
            .filter(is_ghost)
            .map(|r| (r.y, r.start, r.end))
    }

    /// Finds the ghosts among the parts of the foreground `mask` that are in `new_mask`. [`Self::ghost_rows`] then returns them.
    pub(super) fn find_ghosts(
        &mut self,
        new_mask: &BitMask,
        mask: &BitMask,
        context: &BlobContext<'_>,
    ) {
        self.find_runs(new_mask);
        self.gather_blobs();
        let labeled = Labeled {
            runs: &self.runs,
            blob_of_label: &self.blob_of_label,
            blobs: &self.blobs,
        };
        self.ghosts.find(&labeled, mask, context);
    }

    /// Finds all blobs whose area is between the two values of `areas_m2`. Ghosts are left out.
    pub(super) fn find(&mut self, mask: &BitMask, context: &BlobContext<'_>, areas_m2: (f32, f32)) {
        self.find_ghosts(mask, mask, context);
        for run in &self.runs {
            let blob = &mut self.blobs[self.blob_of_label[run.label as usize] as usize];
            add_run(blob, run, mask.width(), context);
        }
        for blob in &mut self.blobs {
            blob.centroid_m /= blob.depth_weight_m2.max(f32::MIN_POSITIVE);
        }
        if self.ghosts.has_ghosts() {
            for (index, blob) in self.blobs.iter_mut().enumerate() {
                blob.is_ghost = self.ghosts.is_ghost(index);
            }
        }
        let wanted = |b: &Blob| !b.is_ghost && (areas_m2.0..=areas_m2.1).contains(&b.area_m2);
        self.allocate_samples(wanted);
        for run in &self.runs {
            let blob = &mut self.blobs[self.blob_of_label[run.label as usize] as usize];
            if wanted(blob) {
                let size = (mask.width(), mask.height());
                fill_samples(blob, run, size, context, &mut self.samples);
            }
        }
        self.blobs.retain(wanted);
    }

    /// Splits the rows of the mask into runs. Runs in neighboring rows that touch, even diagonally, get connected
    /// labels.
    fn find_runs(&mut self, mask: &BitMask) {
        self.runs.clear();
        self.parents.clear();
        let mut above = 0..0;
        for y in 0..mask.height() {
            let first = self.runs.len();
            let mut candidate = above.start;
            let mut x = 0;
            while let Some((start, end)) = next_run(mask.row(y), x, mask.width()) {
                x = end;
                let mut label = None;
                while candidate < above.end && (self.runs[candidate].end as usize) < start {
                    candidate += 1;
                }
                let mut touching = candidate;
                while touching < above.end && self.runs[touching].start as usize <= end {
                    let other = find_root(&mut self.parents, self.runs[touching].label);
                    label = Some(match label {
                        None => other,
                        Some(own) => union(&mut self.parents, own, other),
                    });
                    touching += 1;
                }
                let label = label.unwrap_or_else(|| {
                    self.parents.push(self.parents.len() as u32);
                    self.parents.len() as u32 - 1
                });
                self.runs.push(Run {
                    y: y as u32,
                    start: start as u32,
                    end: end as u32,
                    label,
                });
            }
            above = first..self.runs.len();
        }
    }

    /// Creates one blob per set of connected labels, ordered by first pixel.
    fn gather_blobs(&mut self) {
        self.blobs.clear();
        self.blob_of_label.clear();
        self.blob_of_label.resize(self.parents.len(), u32::MAX);
        for run in &mut self.runs {
            run.label = find_root(&mut self.parents, run.label);
            let blob = &mut self.blob_of_label[run.label as usize];
            if *blob == u32::MAX {
                *blob = self.blobs.len() as u32;
                self.blobs.push(Blob {
                    first_pixel: (run.start, run.y),
                    left: run.start,
                    ..Blob::default()
                });
            }
            self.blobs[*blob as usize].end.1 = run.y + 1;
        }
    }

    /// Reserves a range of samples for every blob that `wanted` selects.
    fn allocate_samples(&mut self, wanted: impl Fn(&Blob) -> bool) {
        let mut total = 0;
        for blob in self.blobs.iter_mut().filter(|b| wanted(b)) {
            blob.sample_stride = blob.pixels.div_ceil(SAMPLES).max(1);
            let count = blob.pixels.div_ceil(blob.sample_stride) as usize;
            blob.samples = total..total + count;
            total += count;
        }
        let empty = Sample {
            position_m: Vec2::ZERO,
            area_m2: 0.0,
            at_edge: false,
        };
        self.samples.clear();
        self.samples.resize(total, empty);
    }
}

/// Adds a run of pixels to the sums of its blob.
fn add_run(blob: &mut Blob, run: &Run, width: usize, context: &BlobContext<'_>) {
    let row = run.y as usize * width;
    blob.pixels += run.end - run.start;
    blob.unreliable_pixels += (context.background.unreliable()).count_in(run.y, run.start, run.end);
    blob.left = blob.left.min(run.start);
    blob.end = (blob.end.0.max(run.end), run.y + 1);
    let pixels = row + run.start as usize..row + run.end as usize;
    let moments = (context.floor).moments(pixels, context.levels, context.background);
    blob.area_m2 += moments.area_m2;
    blob.depth_weight_m2 += moments.weight;
    blob.centroid_m += moments.weighted_m;
}

/// Stores every `sample_stride`-th pixel of a run as a sample.
fn fill_samples(
    blob: &mut Blob,
    run: &Run,
    (width, height): (usize, usize),
    context: &BlobContext<'_>,
    samples: &mut [Sample],
) {
    let y = run.y as usize;
    let row = y * width;
    let inside = |at: usize, size: usize| at >= EDGE_PX && at + EDGE_PX < size;
    let skipped = blob.pixels_passed.next_multiple_of(blob.sample_stride) - blob.pixels_passed;
    let number = (blob.pixels_passed + skipped) / blob.sample_stride;
    let columns = (run.start + skipped..run.end).step_by(blob.sample_stride as usize);
    let to = blob.samples.start + number as usize;
    for (entry, x) in samples[to..].iter_mut().zip(columns.map(|x| x as usize)) {
        *entry = Sample {
            position_m: context.floor.position_m_of(x, y),
            area_m2: context.floor.areas_m2()[row + x] * blob.sample_stride as f32,
            at_edge: !inside(x, width) || !inside(y, height),
        };
    }
    blob.pixels_passed += run.end - run.start;
}

/// Returns the next run of set bits at or after column `x` as first column and exclusive end column, or `None` if there
/// is none.
fn next_run(words: &[u64], x: usize, width: usize) -> Option<(usize, usize)> {
    let start = next_bit(words, x, width, 0)?;
    Some((
        start,
        next_bit(words, start, width, u64::MAX).unwrap_or(width),
    ))
}

/// Returns the next bit at or after `x` that is set after XOR with `flip`, or `None` if there is none. With all bits of
/// `flip` set, the function finds clear bits.
fn next_bit(words: &[u64], x: usize, width: usize, flip: u64) -> Option<usize> {
    let mut index = x / 64;
    let mut word = (words.get(index)? ^ flip) & (u64::MAX << (x % 64));
    loop {
        if word != 0 {
            let bit = index * 64 + word.trailing_zeros() as usize;
            return (bit < width).then_some(bit);
        }
        index += 1;
        word = words.get(index)? ^ flip;
    }
}

/// Returns the root of a label in the union-find forest, and shortens the path to it (path halving).
fn find_root(parents: &mut [u32], label: u32) -> u32 {
    let mut at = label as usize;
    while parents[at] as usize != at {
        parents[at] = parents[parents[at] as usize];
        at = parents[at] as usize;
    }
    at as u32
}

/// Merges two sets of labels and returns the root, which is the smaller label.
fn union(parents: &mut [u32], a: u32, b: u32) -> u32 {
    let (a, b) = (find_root(parents, a), find_root(parents, b));
    let (low, high) = (a.min(b), a.max(b));
    parents[high as usize] = low;
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::{FloorFromCamera, Surface};
    use crate::vision::{FloorView, VisionParams};
    use image::{GrayImage, Luma};
    use imageproc::region_labelling::{Connectivity, connected_components};
    use proptest::prelude::*;

    fn floor(width: usize, height: usize) -> FloorTable {
        let surface = Surface {
            width_m: width as f32 * 0.01,
            height_m: height as f32 * 0.01,
            ..Surface::default()
        };
        let view = FloorView {
            map: FloorFromCamera::whole_frame(width as u32, height as u32, &surface),
            lamp_m: None,
            camera_m: None,
            surface,
        };
        FloorTable::new(&view, width, height)
    }

    fn find(image: &GrayImage) -> BlobFinder {
        let (width, height) = (image.width() as usize, image.height() as usize);
        let mut mask = BitMask::new(width, height);
        let empty = BitMask::new(width, height);
        for (x, y, p) in image.enumerate_pixels() {
            mask.row_mut(y as usize)[x as usize / 64] |= u64::from(p.0[0] > 0) << (x % 64);
        }
        let floor = floor(width, height);
        let mut background = Background::new(width, height, floor.areas_m2());
        let levels = vec![100; width * height];
        let mut scratch = empty.clone();
        background.find_foreground(&levels, &empty, &VisionParams::default(), &mut scratch);
        let levels = vec![20; width * height];
        let context = BlobContext {
            levels: &levels,
            background: &background,
            floor: &floor,
        };
        let mut finder = BlobFinder::default();
        finder.find(&mask, &context, (0.0, 1e9));
        finder
    }

    proptest! {
        #[test]
        fn labeling_matches_imageproc(w in 1u32..150, h in 1u32..16, seed in any::<u64>(), rarity in 2u64..6) {
            // imageproc panics for an image of one pixel, because its label table is one entry too short.
            prop_assume!(w * h > 1);
            let image = GrayImage::from_fn(w, h, |x, y| {
                let mix = (seed ^ u64::from(x) << 32 ^ u64::from(y))
                    .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                    .rotate_left(31)
                    .wrapping_mul(0xbf58_476d_1ce4_e5b9);
                Luma([if (mix >> 40) % rarity == 0 { 255 } else { 0 }])
            });
            let labels = connected_components(&image, Connectivity::Eight, Luma([0]));
            let mut sizes = std::collections::BTreeMap::<u32, (u32, (u32, u32))>::new();
            for (x, y, label) in labels.enumerate_pixels() {
                if label.0[0] > 0 {
                    sizes.entry(label.0[0]).or_insert((0, (x, y))).0 += 1;
                }
            }
            let mut expected: Vec<_> = sizes.into_values().collect();
            expected.sort_by_key(|&(_, (x, y))| (y, x));
            let found = find(&image);
            let found: Vec<_> = found.blobs().iter().map(|b| (b.pixels, b.first_pixel)).collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn area_and_centroid_of_a_rectangle() {
        let image = GrayImage::from_fn(100, 100, |x, y| {
            Luma([u8::from((20..40).contains(&x) && (10..60).contains(&y))])
        });
        let finder = find(&image);
        let [blob] = finder.blobs() else {
            panic!("expected one blob")
        };
        assert!((blob.area_m2 - 0.1).abs() < 1e-4);
        assert!(blob.centroid_m.distance(Vec2::new(-0.2, -0.15)) < 1e-3);
        let sum: f32 = finder.samples(blob).iter().map(|s| s.area_m2).sum();
        assert!((sum - 0.1).abs() < 0.005, "{sum}");
    }
}
