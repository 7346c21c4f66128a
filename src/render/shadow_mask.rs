//! Shadow masks: the area that the shadow of a body covers, at several levels of blur, for soft shadows on the ground.
//!
//! In: a model at rest. Out: its masks as seen from above (in slightly oblique sunlight), and stations: points along the spine.
//! The shadow of a bent body follows the stations.

use glam::{Affine3A, Vec2, Vec3};

use super::model::{Model, ModelVertex};

/// Number of cells of a mask along the body, from in front of the nose to behind the tail.
pub(super) const WIDTH: usize = 128;
/// Number of cells of a mask across the body.
pub(super) const HEIGHT: usize = 64;
/// Number of levels of blur. Each level is twice as soft as the level before, and has half as many cells per side.
pub(super) const LEVELS: usize = 5;
/// Least half extent of a mask across the body, in body lengths.
const HALF_WIDTH: f32 = 0.42;
/// Half width of a body, in body lengths, from which its mask is wider. A body that is about as wide as long loses only the tips of its
/// shadow, and has a finer mask.
const WIDE_FROM: f32 = 0.65;
/// Room beside a body that is wider than long, for the blur of its shadow, as a share of its half width.
const BESIDE_SHARE: f32 = 0.1;
/// Extent of a mask along the body, in body lengths; the body is in the middle.
pub(super) const ALONG: f32 = 1.5;
/// Width of the blur of the first level, in body lengths; each level doubles it.
pub(super) const BLUR_OF_LEVEL_0: f32 = ALONG / WIDTH as f32 * 1.5;
/// Share of the height of a body that counts as width, because the sunlight is oblique.
const OBLIQUE: f32 = 0.25;
/// Number of points along the spine that a shadow follows.
pub(super) const SPINE_STATIONS: usize = 9;

/// Number of masks from one level of blur to the next. The masks between make the transition invisible without mixing two
/// levels for every pixel.
pub(super) const STEPS: usize = 4;

/// One mask: its levels, each with one byte per cell. Each level has half the size of the level before.
pub(super) type MaskLevels = Vec<Vec<u8>>;

/// Points along the spine at rest, each with the joints that move it and their weights.
#[derive(Clone, Debug, Default)]
pub struct SpineStations {
    points: Vec<(Vec3, Vec<(usize, f32)>)>,
    /// Half extent of the mask across the body, in body lengths.
    pub half_width: f32,
}

impl SpineStations {
    /// Creates evenly spaced stations from in front of the nose to behind the tail.
    pub fn of(model: &Model) -> Self {
        let length = model.size.z.max(1e-6);
        let points = (0..SPINE_STATIONS)
            .map(|i| {
                let z = (0.5 - i as f32 / (SPINE_STATIONS - 1) as f32) * ALONG * length;
                let near = z.clamp(-0.48 * length, 0.48 * length);
                (Vec3::new(0.0, 0.0, z), carriers(model, near, 0.05 * length))
            })
            .collect();
        Self {
            points,
            half_width: half_width(model),
        }
    }

    /// Returns the stations of a posed body, in world space.
    pub fn bent(&self, matrices: &[Affine3A]) -> [Vec3; SPINE_STATIONS] {
        let mut line = [Vec3::ZERO; SPINE_STATIONS];
        for (to, (point, carriers)) in line.iter_mut().zip(&self.points) {
            let carried = |&(joint, weight): &(usize, f32)| {
                matrices
                    .get(joint)
                    .map_or(Vec3::ZERO, |m| m.transform_point3(*point) * weight)
            };
            *to = carriers.iter().map(carried).sum();
        }
        line
    }
}

/// Returns the joints that move the slice of the body at `z`, each with its mean weight. The slice is `reach` thick. A slice
/// without vertices near the spine moves with the vertices that are nearest to it along the body.
fn carriers(model: &Model, z: f32, reach: f32) -> Vec<(usize, f32)> {
    let is_near_spine = |x: f32| x.abs() < 2.0 * reach;
    let distance = |vertex: &ModelVertex| (vertex.position[2] - z).abs();
    let has_slice = (model.vertices.iter())
        .any(|vertex| is_near_spine(vertex.position[0]) && distance(vertex) < reach);
    let nearest = model.vertices.iter().map(distance).fold(f32::MAX, f32::min);
    let mut sums = vec![0.0f32; model.joints.len().max(1)];
    for vertex in &model.vertices {
        let close = if !has_slice {
            1.0 - (distance(vertex) - nearest) / reach
        } else if is_near_spine(vertex.position[0]) {
            1.0 - distance(vertex) / reach
        } else {
            0.0
        };
        for (joint, weight) in vertex.joints.iter().zip(vertex.weights) {
            if let Some(sum) = sums.get_mut(usize::from(*joint)) {
                *sum += close.max(0.0) * f32::from(weight);
            }
        }
    }
    let total: f32 = sums.iter().sum();
    if total <= 0.0 {
        return vec![(0, 1.0)];
    }
    let mut carriers: Vec<_> = sums
        .iter()
        .map(|sum| sum / total)
        .enumerate()
        .filter(|c| c.1 > 0.04)
        .collect();
    let kept: f32 = carriers.iter().map(|c| c.1).sum();
    for carrier in &mut carriers {
        carrier.1 /= kept;
    }
    carriers
}

/// Returns the masks of a disc, for static bodies. The disc fills the middle half of a mask.
pub(super) fn disc() -> [MaskLevels; STEPS] {
    let mut cells = vec![0.0f32; WIDTH * HEIGHT];
    for (i, cell) in cells.iter_mut().enumerate() {
        let place = Vec2::new(
            ((i % WIDTH) as f32 + 0.5) / WIDTH as f32,
            ((i / WIDTH) as f32 + 0.5) / HEIGHT as f32,
        );
        let reach = (place - 0.5).length() * 4.0;
        *cell = (1.0 - (reach - 0.95) * 8.0).clamp(0.0, 1.0);
    }
    steps(&levels(&cells))
}

/// Returns the half extent of the mask of a model across the body, in body lengths.
fn half_width(model: &Model) -> f32 {
    let vertices = model.vertices.iter();
    let widest = vertices.map(|v| (v.position[0] + OBLIQUE * v.position[1]).abs());
    let half = widest.fold(0.0, f32::max) / model.size.z.max(1e-6);
    if half > WIDE_FROM {
        half * (1.0 + BESIDE_SHARE)
    } else {
        HALF_WIDTH
    }
}

/// Returns the masks of a model as seen from above, with the nose at the left.
pub(super) fn of(model: &Model) -> [MaskLevels; STEPS] {
    let length = model.size.z.max(1e-6);
    let half_width = half_width(model);
    let mut cells = vec![0.0f32; WIDTH * HEIGHT];
    let place = |i: u32| -> Option<Vec2> {
        let [x, y, z] = model.vertices.get(i as usize)?.position;
        let along = 0.5 - z / length / ALONG;
        let across = 0.5 - (x + OBLIQUE * y) / length / (2.0 * half_width);
        Some(Vec2::new(along * WIDTH as f32, across * HEIGHT as f32))
    };
    for triangle in model.indices.chunks_exact(3) {
        if let [Some(a), Some(b), Some(c)] =
            [0, 1, 2].map(|i| triangle.get(i).and_then(|&i| place(i)))
        {
            cover(&mut cells, [a, b, c]);
        }
    }
    steps(&levels(&cells))
}

/// Fills the cells that a triangle covers.
fn cover(cells: &mut [f32], [a, b, c]: [Vec2; 3]) {
    let low = a.min(b).min(c).floor().max(Vec2::ZERO);
    let high = a
        .max(b)
        .max(c)
        .ceil()
        .min(Vec2::new(WIDTH as f32, HEIGHT as f32));
    let area = (b - a).perp_dot(c - a);
    if area.abs() < 1e-6 {
        return;
    }
    for row in low.y as usize..high.y as usize {
        for column in low.x as usize..high.x as usize {
            let p = Vec2::new(column as f32 + 0.5, row as f32 + 0.5);
            let inside = [(a, b), (b, c), (c, a)]
                .iter()
                .all(|&(p0, p1)| (p1 - p0).perp_dot(p - p0) / area >= -0.02);
            if inside && let Some(cell) = cells.get_mut(row * WIDTH + column) {
                *cell = 1.0;
            }
        }
    }
}

/// Computes the levels: each is the level before, blurred and halved in size. The border stays empty, so that a shadow ends
/// within its strip.
fn levels(first: &[f32]) -> Vec<Vec<f32>> {
    let (mut width, mut height) = (WIDTH, HEIGHT);
    let mut cells = blurred(first, width, height);
    let mut levels = Vec::new();
    for _ in 0..LEVELS {
        levels.push(
            cells
                .iter()
                .enumerate()
                .map(|(i, &v)| {
                    let (x, y) = (i % width, i / width);
                    let rim = x == 0 || y == 0 || x + 1 == width || y + 1 == height;
                    if rim { 0.0 } else { v }
                })
                .collect(),
        );
        let half: Vec<f32> = (0..height / 2)
            .flat_map(|y| (0..width / 2).map(move |x| (x, y)))
            .map(|(x, y)| {
                let at = |dx: usize, dy: usize| cells[(2 * y + dy) * width + 2 * x + dx];
                (at(0, 0) + at(1, 0) + at(0, 1) + at(1, 1)) / 4.0
            })
            .collect();
        width /= 2;
        height /= 2;
        cells = blurred(&half, width, height);
    }
    levels
}

/// Returns the masks between the levels: each level is mixed with a share of the next level, enlarged to the same size.
fn steps(levels: &[Vec<f32>]) -> [MaskLevels; STEPS] {
    let mixed = |step: usize, i: usize, level: &Vec<f32>| {
        let (width, height) = (WIDTH >> i, HEIGHT >> i);
        let share = step as f32 / STEPS as f32;
        let softer = |x: usize, y: usize| {
            let next = levels.get(i + 1)?;
            // The two nearest cells of the next level and their weights.
            let near = |c: usize, most: usize| {
                [
                    (c / 2, 0.75),
                    ((c / 2 + c % 2 * 2).saturating_sub(1).min(most - 1), 0.25),
                ]
            };
            let columns = near(x, width / 2);
            let rows = near(y, height / 2);
            let pairs = rows
                .iter()
                .flat_map(|r| columns.iter().map(move |c| (r, c)));
            pairs
                .map(|(&(y, v), &(x, w))| Some(v * w * next.get(y * (width / 2) + x)?))
                .sum::<Option<f32>>()
        };
        let cell = |(at, &value): (usize, &f32)| {
            let mixed = softer(at % width, at / width)
                .map_or(value, |softer| value + (softer - value) * share);
            (mixed * 255.0).round() as u8
        };
        level.iter().enumerate().map(cell).collect()
    };
    std::array::from_fn(|step| {
        levels
            .iter()
            .enumerate()
            .map(|(i, level)| mixed(step, i, level))
            .collect()
    })
}

/// Applies a binomial blur over 3 × 3 cells; cells beyond the edge count as 0.
fn blurred(cells: &[f32], width: usize, height: usize) -> Vec<f32> {
    let at = |x: isize, y: isize| {
        let inside = x >= 0 && y >= 0 && (x as usize) < width && (y as usize) < height;
        if inside {
            cells[y as usize * width + x as usize]
        } else {
            0.0
        }
    };
    let weights = [(-1, 0.25), (0, 0.5), (1, 0.25)];
    (0..width * height)
        .map(|i| {
            let (x, y) = ((i % width) as isize, (i / width) as isize);
            let row = |dy: isize| {
                weights
                    .iter()
                    .map(|&(dx, w)| w * at(x + dx, y + dy))
                    .sum::<f32>()
            };
            weights.iter().map(|&(dy, w)| w * row(dy)).sum()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::model::SHIPPED_MODELS;
    use bytemuck::Zeroable as _;

    /// Returns a plate of this width, 2 units long, with the joints of a fish. Its corners move with the second joint; the
    /// first one moves no vertex.
    fn plate(width: f32) -> Model {
        let (name, bytes) = (SHIPPED_MODELS.iter())
            .find(|(name, _)| *name == "herring")
            .unwrap();
        let fish = Model::from_glb(name, bytes).unwrap();
        let corners = [(0.5, 1.0), (0.5, -1.0), (-0.5, -1.0), (-0.5, 1.0)];
        let vertex = |(x, z): (f32, f32)| ModelVertex {
            position: [x * width, 0.0, z],
            joints: [1, 0, 0, 0],
            weights: [255, 0, 0, 0],
            ..ModelVertex::zeroed()
        };
        Model {
            vertices: corners.map(vertex).to_vec(),
            size: Vec3::new(width, 0.0, 2.0),
            ..fish
        }
    }

    /// Stations far from all vertices moved with the first joint. If it has another scale than the body, the shadow was
    /// drawn in that scale.
    #[test]
    fn the_shadow_of_a_body_does_not_follow_a_joint_that_moves_no_vertex() {
        let matrices = [100.0, 0.5].map(|scale| Affine3A::from_scale(Vec3::splat(scale)));
        for width in [0.01, 0.1, 1.0, 4.0] {
            let line = SpineStations::of(&plate(width)).bent(&matrices);
            let length = line[0].distance(line[SPINE_STATIONS - 1]);
            assert!(
                (length - 0.5 * 2.0 * ALONG).abs() < 1e-5,
                "{width}: {length}"
            );
        }
    }
}
