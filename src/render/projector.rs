//! What a technician may set about one projector: which part of the surface it shows, where that lands in its picture,
//! and how it is matched with its neighbors.
//!
//! Plain parameter structs, one per TOML table; `site` puts them together. [`super::warp`] works with them.

use glam::DVec2;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most control points of a mesh along one side.
const MESH_SIDE_MAX: u32 = 17;
/// Most corners of one mask.
const MASK_CORNERS_MAX: usize = 64;

/// One entry of `[[outputs]]`: a projector, and what of the surface it shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OutputParams {
    /// Name of the monitor that is the projector, as `shoal monitors` lists it (`HDMI-1`). Empty: the primary one, or else the first.
    pub monitor: String,
    /// Width of the projector's picture in a window or a file; over a whole monitor it is the monitor's own.
    #[schemars(range(min = 16, max = 8192))]
    pub width_px: u32,
    /// Height of the projector's picture, likewise.
    #[schemars(range(min = 16, max = 8192))]
    pub height_px: u32,
    /// The part of the surface that this projector shows; the whole of it unless several share it.
    pub crop: Crop,
    /// Where the corners of that part lie in the projector's picture (keystone). At their defaults the part is shown as large as it fits, with its sides in proportion.
    pub corners: Corners,
    /// A net of points for surfaces that are not flat, inside of the corners.
    pub mesh: Mesh,
    /// Soft edges where this projector's picture overlaps its neighbors'.
    pub blend: Blend,
    /// Parts of the projector's picture that stay dark: a pillar, a bench.
    pub masks: Vec<Mask>,
    /// Exponent on the shown brightness; above 1 lifts mid-tones, for projectors that show them too dark.
    #[schemars(range(min = 0.3, max = 3.0))]
    pub gamma: f32,
    /// Factor on the light of this output, to match projectors with each other.
    #[schemars(range(min = 0.1, max = 2.0))]
    pub brightness: f32,
    /// Factors on red, green and blue, to match the colors of projectors.
    pub gain: Gain,
}

impl Default for OutputParams {
    fn default() -> Self {
        Self {
            monitor: String::new(),
            width_px: 1280,
            height_px: 720,
            crop: Crop::default(),
            corners: Corners::default(),
            mesh: Mesh::default(),
            blend: Blend::default(),
            masks: Vec::new(),
            gamma: 1.0,
            brightness: 1.0,
            gain: Gain::default(),
        }
    }
}

impl OutputParams {
    /// What single ranges cannot say: the dotted path inside this table and a sentence.
    pub fn problems(&self) -> Vec<(String, String)> {
        let mut problems = Vec::new();
        let mut tell = |path: &str, what: &str| problems.push((path.to_owned(), what.to_owned()));
        let Crop {
            left,
            top,
            right,
            bottom,
        } = self.crop;
        if !(right - left >= 0.01 && bottom - top >= 0.01) {
            tell(
                "crop",
                "nothing of the surface is left; make right larger than left and bottom larger than top",
            );
        }
        if !is_convex(self.corners.in_order()) {
            tell(
                "corners",
                "the four corners do not make a convex picture; move them so that, in the projector's picture, they run top left, top right, bottom right, bottom left without crossing or dents",
            );
        }
        let wanted = self.mesh.columns as usize * self.mesh.rows as usize;
        if !self.mesh.points.is_empty() && self.mesh.points.len() != wanted {
            tell(
                "mesh.points",
                &format!(
                    "{} points for {} columns and {} rows; give {wanted}, row by row from the top left, or none",
                    self.mesh.points.len(),
                    self.mesh.columns,
                    self.mesh.rows
                ),
            );
        } else if let Some(at) = self.mesh.folded_cell() {
            tell(
                "mesh.points",
                &format!(
                    "the cell in column {} and row {} (from 0) is folded over or flat; move its points apart",
                    at[0], at[1]
                ),
            );
        }
        let blend = &self.blend;
        if blend.left + blend.right > 1.0 || blend.top + blend.bottom > 1.0 {
            tell(
                "blend",
                "the soft edges of opposite sides meet; make them narrower, together at most 1",
            );
        }
        for (i, mask) in self.masks.iter().enumerate() {
            if !(3..=MASK_CORNERS_MAX).contains(&mask.corners.len()) {
                tell(
                    &format!("masks[{i}].corners"),
                    &format!(
                        "{} corners make no area; give 3 to {MASK_CORNERS_MAX}",
                        mask.corners.len()
                    ),
                );
            }
        }
        problems
    }
}

/// Whether four corners, from the top left over the top right, turn the same way at each of them.
fn is_convex(corners: [DVec2; 4]) -> bool {
    (0..4).all(|i| {
        let [a, b, c] = [corners[i], corners[(i + 1) % 4], corners[(i + 2) % 4]];
        (b - a).perp_dot(c - b) > 1e-4
    })
}

/// A part of the surface's picture, as shares of its width and height.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Crop {
    /// Left edge: 0 is the surface's own.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub left: f64,
    /// Upper edge.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub top: f64,
    /// Right edge: 1 is the surface's own.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub right: f64,
    /// Lower edge.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub bottom: f64,
}

impl Default for Crop {
    fn default() -> Self {
        Self {
            left: 0.0,
            top: 0.0,
            right: 1.0,
            bottom: 1.0,
        }
    }
}

/// Where four corners lie in the projector's picture, as shares of its width and height.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Corners {
    /// Upper left corner of the surface (−x, −z).
    pub top_left: Corner,
    /// Upper right corner (+x, −z).
    pub top_right: Corner,
    /// Lower right corner (+x, +z).
    pub bottom_right: Corner,
    /// Lower left corner (−x, +z).
    pub bottom_left: Corner,
}

impl Default for Corners {
    fn default() -> Self {
        let corner = |x, y| Corner { x, y };
        Self {
            top_left: corner(0.0, 0.0),
            top_right: corner(1.0, 0.0),
            bottom_right: corner(1.0, 1.0),
            bottom_left: corner(0.0, 1.0),
        }
    }
}

impl Corners {
    /// The corners in shares of the picture: top left, top right, bottom right, bottom left.
    pub fn in_order(&self) -> [DVec2; 4] {
        [
            &self.top_left,
            &self.top_right,
            &self.bottom_right,
            &self.bottom_left,
        ]
        .map(Corner::place)
    }
}

/// A point of the projector's picture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Corner {
    /// 0 at the picture's left edge, 1 at its right one.
    #[schemars(range(min = -0.5, max = 1.5))]
    pub x: f64,
    /// 0 at the picture's upper edge, 1 at its lower one.
    #[schemars(range(min = -0.5, max = 1.5))]
    pub y: f64,
}

impl Corner {
    /// As a vector.
    pub fn place(&self) -> DVec2 {
        DVec2::new(self.x, self.y)
    }
}

/// A net of control points. The picture passes through each; between them runs a smooth (bicubic Bézier) surface.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Mesh {
    /// Points along the width.
    #[schemars(range(min = 2, max = 17))]
    pub columns: u32,
    /// Points along the height.
    #[schemars(range(min = 2, max = 17))]
    pub rows: u32,
    /// Where the points lie, row by row from the top left, as shares of the picture inside of the corners: evenly spaced points change nothing. None: no net.
    #[schemars(length(max = 289))]
    pub points: Vec<Corner>,
}

impl Default for Mesh {
    fn default() -> Self {
        Self {
            columns: 2,
            rows: 2,
            points: Vec::new(),
        }
    }
}

impl Mesh {
    /// Column and row of the first cell whose corners do not make a convex shape.
    fn folded_cell(&self) -> Option<[u32; 2]> {
        let at = |c: u32, r: u32| {
            self.points
                .get((r * self.columns + c) as usize)
                .map(Corner::place)
        };
        let rows = self.rows.clamp(2, MESH_SIDE_MAX);
        let columns = self.columns.clamp(2, MESH_SIDE_MAX);
        (0..rows - 1)
            .flat_map(|r| (0..columns - 1).map(move |c| [c, r]))
            .find(|&[c, r]| {
                let corners = [at(c, r), at(c + 1, r), at(c + 1, r + 1), at(c, r + 1)];
                match corners {
                    [Some(a), Some(b), Some(c), Some(d)] => {
                        // Cells are small: what counts is the turn, not its size.
                        let size = (c - a).length_squared().max(1e-9);
                        let scale = size.sqrt().recip();
                        !is_convex([a, b, c, d].map(|p| p * scale))
                    }
                    _ => false,
                }
            })
    }
}

/// Soft edges. Where two projectors overlap, each fades out as the other fades in; their light adds up to one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Blend {
    /// Width of the soft left edge, as a share of this output's part of the surface; 0 has none.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub left: f32,
    /// Height of the soft upper edge.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub top: f32,
    /// Width of the soft right edge.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub right: f32,
    /// Height of the soft lower edge.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub bottom: f32,
    /// Shape of the ramp: 1 is straight (in light, not in numbers), more is steeper in its middle.
    #[schemars(range(min = 0.5, max = 4.0))]
    pub gamma: f32,
    /// Light added outside of the soft edges, so that the two projectors' gray where they overlap does not show, as a share of white.
    #[schemars(range(min = 0.0, max = 0.1))]
    pub black_lift: f32,
}

impl Default for Blend {
    fn default() -> Self {
        Self {
            left: 0.0,
            top: 0.0,
            right: 0.0,
            bottom: 0.0,
            gamma: 1.0,
            black_lift: 0.0,
        }
    }
}

impl Blend {
    /// How much of the light is shown at a place of the output's part of the surface (shares, 0..1): 1 outside of soft
    /// edges, 0 at their rim. Twin of `ramps` in `shaders/show.wgsl`.
    pub fn share_at(&self, place: [f32; 2]) -> f32 {
        let [x, y] = place;
        let sides = [
            (x, self.left),
            (y, self.top),
            (1.0 - x, self.right),
            (1.0 - y, self.bottom),
        ];
        sides
            .into_iter()
            .map(|(inside, width)| ramp((inside / width.max(1e-6)).clamp(0.0, 1.0), self.gamma))
            .product()
    }
}

/// A ramp from 0 to 1 with `ramp(t) + ramp(1 − t) = 1`.
///
/// **Source**: Bourke, 'Edge blending using commodity projectors', 2004.
fn ramp(t: f32, gamma: f32) -> f32 {
    if t < 0.5 {
        0.5 * (2.0 * t).powf(gamma)
    } else {
        1.0 - 0.5 * (2.0 * (1.0 - t)).powf(gamma)
    }
}

/// A part of the projector's picture that stays dark.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Mask {
    /// Its corners in order, as shares of the projector's picture.
    #[schemars(length(max = 64))]
    pub corners: Vec<Corner>,
}

/// Factors on the three colors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Gain {
    /// Factor on red.
    #[schemars(range(min = 0.1, max = 2.0))]
    pub red: f32,
    /// Factor on green.
    #[schemars(range(min = 0.1, max = 2.0))]
    pub green: f32,
    /// Factor on blue.
    #[schemars(range(min = 0.1, max = 2.0))]
    pub blue: f32,
}

impl Default for Gain {
    fn default() -> Self {
        Self {
            red: 1.0,
            green: 1.0,
            blue: 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corner(x: f64, y: f64) -> Corner {
        Corner { x, y }
    }

    #[test]
    fn crossed_or_dented_corners_are_told() {
        let mut output = OutputParams::default();
        assert_eq!(output.problems(), []);
        output.corners.top_left = corner(0.1, 0.2);
        assert_eq!(output.problems(), []);
        output.corners.top_left = corner(0.8, 0.8);
        assert_eq!(output.problems().len(), 1, "a dent");
        output.corners = Corners::default();
        std::mem::swap(&mut output.corners.top_left, &mut output.corners.top_right);
        assert_eq!(output.problems()[0].0, "corners");
    }

    #[test]
    fn what_cannot_be_shown_is_told_with_its_place() {
        let told = |output: &OutputParams| {
            let paths = output.problems().into_iter().map(|p| p.0);
            paths.collect::<Vec<_>>()
        };
        let mut output = OutputParams::default();
        (output.crop.left, output.crop.right) = (0.7, 0.3);
        assert_eq!(told(&output), ["crop"]);
        output = OutputParams::default();
        output.mesh.points = vec![corner(0.0, 0.0); 3];
        assert_eq!(told(&output), ["mesh.points"]);
        output.mesh.points = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]
            .map(|(x, y)| corner(x, y))
            .to_vec();
        assert_eq!(told(&output), ["mesh.points"], "rows in the wrong order");
        output.mesh.points.swap(2, 3);
        assert!(told(&output).is_empty());
        (output.blend.left, output.blend.right) = (0.6, 0.6);
        output.masks.push(Mask::default());
        assert_eq!(told(&output), ["blend", "masks[0].corners"]);
    }

    #[test]
    fn two_soft_edges_add_up_to_the_whole_light() {
        for gamma in [0.5, 1.0, 2.2, 4.0] {
            let soft = |left, right| Blend {
                left,
                right,
                gamma,
                ..Blend::default()
            };
            let (one, other) = (soft(0.0, 0.25), soft(0.25, 0.0));
            for i in 0..=50 {
                let t = i as f32 / 50.0;
                let sum = one.share_at([0.75 + 0.25 * t, 0.5]) + other.share_at([0.25 * t, 0.5]);
                assert!((sum - 1.0).abs() < 1e-5, "gamma {gamma}, {t}: {sum}");
            }
            assert_eq!(one.share_at([0.3, 0.5]), 1.0);
            assert!(one.share_at([1.0, 0.5]) < 1e-6);
        }
    }

    #[test]
    fn defaults_survive_a_round_trip() {
        let text = toml::to_string(&OutputParams::default()).unwrap();
        assert_eq!(
            toml::from_str::<OutputParams>(&text).unwrap(),
            OutputParams::default()
        );
        assert!(toml::from_str::<OutputParams>("gama = 1.0").is_err());
    }
}
