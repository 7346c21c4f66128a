//! Parameters of one output: the part of the surface that it shows, the warp onto the projector's picture, and the matching
//! with neighboring projectors.
//!
//! Plain parameter structs, one per TOML table. `site` combines them with the parameter structs of other modules.
//! [`super::warp`] applies them.

use glam::DVec2;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Largest number of control points of a mesh along one side.
const MESH_SIDE_MAX: u32 = 17;
/// Largest number of corners of one mask.
const MASK_CORNERS_MAX: usize = 64;

/// One entry of `[[outputs]]`: a projector and the part of the surface that it shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OutputParams {
    /// Name of the monitor that the projector is connected as, for example `HDMI-1`; `shoal monitors` lists the names. Empty: the primary monitor, or the first one if none is primary.
    pub monitor: String,
    /// Width of the projector's picture in a window or a file. On a whole monitor the resolution of the monitor is used instead.
    #[schemars(range(min = 16, max = 8192))]
    pub width_px: u32,
    /// Height of the projector's picture in a window or a file. On a whole monitor the resolution of the monitor is used instead.
    #[schemars(range(min = 16, max = 8192))]
    pub height_px: u32,
    /// The part of the surface that this projector shows. It is the whole surface unless several projectors share it.
    pub crop: Crop,
    /// Positions of the corners of the `crop` in the projector's picture (keystone). With the defaults, the crop is shown as large as possible with its proportions kept.
    pub corners: Corners,
    /// A mesh of control points inside of the corners, for surfaces that are not flat.
    pub mesh: Mesh,
    /// Soft edges where the pictures of neighboring projectors overlap.
    pub blend: Blend,
    /// Parts of the projector's picture that stay dark, for example at a pillar or a bench.
    #[schemars(length(max = 64))]
    pub masks: Vec<Mask>,
    /// Gamma correction of the picture. Values above 1 brighten mid-tones, for projectors that show them too dark.
    #[schemars(range(min = 0.3, max = 3.0))]
    pub gamma: f32,
    /// Factor on the light of this output, to match it with other projectors.
    #[schemars(range(min = 0.1, max = 2.0))]
    pub brightness: f32,
    /// Factors on red, green and blue, to match the colors with other projectors.
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
    /// Checks the rules that ranges of single values cannot express. Returns, for each violation, the dotted path inside this
    /// table and a message.
    pub fn problems(&self) -> Vec<(String, String)> {
        let mut problems = Vec::new();
        let mut report =
            |path: &str, message: &str| problems.push((path.to_owned(), message.to_owned()));
        let Crop {
            left,
            top,
            right,
            bottom,
        } = self.crop;
        if !(right - left >= 0.01 && bottom - top >= 0.01) {
            report(
                "crop",
                "the crop is empty or too small; make right at least 0.01 larger than left, and bottom at least 0.01 larger than top",
            );
        }
        if !is_convex(self.corners.in_order()) && !self.corners.is_mirrored() {
            report(
                "corners",
                "the four corners are not convex; move them so that top left, top right, bottom right, bottom left form a quadrilateral without crossing sides or dents",
            );
        }
        let wanted = self.mesh.columns as usize * self.mesh.rows as usize;
        if !self.mesh.points.is_empty() && self.mesh.points.len() != wanted {
            report(
                "mesh.points",
                &format!(
                    "{} points for {} columns and {} rows; list {wanted} points, row by row from the top left, or none",
                    self.mesh.points.len(),
                    self.mesh.columns,
                    self.mesh.rows
                ),
            );
        } else if let Some(at) = self.mesh.folded_cell() {
            report(
                "mesh.points",
                &format!(
                    "the cell in column {} and row {} (counted from 0) is folded or flat; move its points apart",
                    at[0], at[1]
                ),
            );
        }
        let blend = &self.blend;
        if blend.left + blend.right > 1.0 || blend.top + blend.bottom > 1.0 {
            report(
                "blend",
                "the soft edges of opposite sides overlap; make their sum at most 1",
            );
        }
        for (i, mask) in self.masks.iter().enumerate() {
            if !(3..=MASK_CORNERS_MAX).contains(&mask.corners.len()) {
                report(
                    &format!("masks[{i}].corners"),
                    &format!(
                        "{} corners do not define an area; list 3 to {MASK_CORNERS_MAX}",
                        mask.corners.len()
                    ),
                );
            }
        }
        problems
    }
}

/// Returns whether four corners in the order top left, top right, bottom right, bottom left are convex.
fn is_convex(corners: [DVec2; 4]) -> bool {
    (0..4).all(|i| {
        let [a, b, c] = [corners[i], corners[(i + 1) % 4], corners[(i + 2) % 4]];
        (b - a).perp_dot(c - b) > 1e-4
    })
}

/// A rectangular part of the surface, as shares of its width and height.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Crop {
    /// Left edge; 0 is the left edge of the surface.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub left: f64,
    /// Upper edge; 0 is the upper edge of the surface.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub top: f64,
    /// Right edge; 1 is the right edge of the surface.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub right: f64,
    /// Lower edge; 1 is the lower edge of the surface.
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

/// Positions of four corners in the projector's picture, as shares of its width and height.
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
    /// The corners in the order top left, top right, bottom right, bottom left.
    pub fn in_order(&self) -> [DVec2; 4] {
        [
            &self.top_left,
            &self.top_right,
            &self.bottom_right,
            &self.bottom_left,
        ]
        .map(Corner::position)
    }

    /// Whether the picture is drawn mirrored, for a projector that shines over a mirror or from behind.
    pub fn is_mirrored(&self) -> bool {
        let mut corners = self.in_order();
        corners.reverse();
        is_convex(corners)
    }
}

/// A point in the projector's picture, as shares of its width and height.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Corner {
    /// Horizontal position: 0 at the left edge, 1 at the right edge.
    #[schemars(range(min = -0.5, max = 1.5))]
    pub x: f64,
    /// Vertical position: 0 at the upper edge, 1 at the lower edge.
    #[schemars(range(min = -0.5, max = 1.5))]
    pub y: f64,
}

impl Corner {
    /// The point as a vector.
    pub fn position(&self) -> DVec2 {
        DVec2::new(self.x, self.y)
    }
}

/// A mesh of control points. The warp passes through each point and is smooth (bicubic Bézier) between them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Mesh {
    /// Number of points along the width.
    #[schemars(range(min = 2, max = 17))]
    pub columns: u32,
    /// Number of points along the height.
    #[schemars(range(min = 2, max = 17))]
    pub rows: u32,
    /// Positions of the points, row by row from the top left, as shares of the area inside of the corners. Evenly spaced points change nothing. An empty list disables the mesh.
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
    /// Returns the column and row of the first cell whose corners are not convex; `None` if there is no such cell.
    fn folded_cell(&self) -> Option<[u32; 2]> {
        let at = |c: u32, r: u32| {
            self.points
                .get((r * self.columns + c) as usize)
                .map(Corner::position)
        };
        let rows = self.rows.clamp(2, MESH_SIDE_MAX);
        let columns = self.columns.clamp(2, MESH_SIDE_MAX);
        (0..rows - 1)
            .flat_map(|r| (0..columns - 1).map(move |c| [c, r]))
            .find(|&[c, r]| {
                let corners = [at(c, r), at(c + 1, r), at(c + 1, r + 1), at(c, r + 1)];
                match corners {
                    [Some(a), Some(b), Some(c), Some(d)] => {
                        // Cells are small; scaling them makes the convexity threshold independent of their size.
                        let size = (c - a).length_squared().max(1e-9);
                        let scale = size.sqrt().recip();
                        !is_convex([a, b, c, d].map(|p| p * scale))
                    }
                    _ => false,
                }
            })
    }
}

/// Soft edges. Where two projectors overlap, one fades out while the other fades in, and the sum of their light is constant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Blend {
    /// Width of the soft left edge, as a share of the part of the surface that this output shows; 0 disables it.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub left: f32,
    /// Height of the soft upper edge, as a share of the part of the surface that this output shows.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub top: f32,
    /// Width of the soft right edge, as a share of the part of the surface that this output shows.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub right: f32,
    /// Height of the soft lower edge, as a share of the part of the surface that this output shows.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub bottom: f32,
    /// Shape of the ramp: 1 is linear in light; larger values are steeper in the middle.
    #[schemars(range(min = 0.5, max = 4.0))]
    pub gamma: f32,
    /// Light added outside of the soft edges, as a share of white. It hides the brighter black where two projectors overlap.
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
    /// Returns the share of the light that is shown at a position in the output's crop (coordinates 0..1): 1 outside of the
    /// soft edges, 0 at the outer end of an edge. `blended` in `shaders/output.wgsl` computes the same on the GPU.
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

/// Returns the value of a ramp from 0 to 1 for which `ramp(t) + ramp(1 − t) = 1`.
///
/// **Source**: Bourke 2004, "Edge blending using commodity projectors".
fn ramp(t: f32, gamma: f32) -> f32 {
    if t < 0.5 {
        0.5 * (2.0 * t).powf(gamma)
    } else {
        1.0 - 0.5 * (2.0 * (1.0 - t)).powf(gamma)
    }
}

/// A polygon in the projector's picture that stays dark.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Mask {
    /// The corners of the polygon in order, as shares of the projector's picture.
    #[schemars(length(max = 64))]
    pub corners: Vec<Corner>,
}

/// Factors on the three color channels.
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
    fn corners_that_are_not_convex_are_reported() {
        let mut output = OutputParams::default();
        assert_eq!(output.problems(), []);
        output.corners.top_left = corner(0.1, 0.2);
        assert_eq!(output.problems(), []);
        output.corners.top_left = corner(0.8, 0.8);
        assert_eq!(output.problems().len(), 1, "a concave corner");
        output.corners = Corners::default();
        std::mem::swap(&mut output.corners.top_left, &mut output.corners.top_right);
        assert_eq!(output.problems()[0].0, "corners");
    }

    #[test]
    fn invalid_parameters_are_reported_with_their_paths() {
        let paths_of = |output: &OutputParams| {
            let paths = output.problems().into_iter().map(|p| p.0);
            paths.collect::<Vec<_>>()
        };
        let mut output = OutputParams::default();
        (output.crop.left, output.crop.right) = (0.7, 0.3);
        assert_eq!(paths_of(&output), ["crop"]);
        output = OutputParams::default();
        output.mesh.points = vec![corner(0.0, 0.0); 3];
        assert_eq!(paths_of(&output), ["mesh.points"]);
        output.mesh.points = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]
            .map(|(x, y)| corner(x, y))
            .to_vec();
        assert_eq!(
            paths_of(&output),
            ["mesh.points"],
            "points in the wrong order fold the cell"
        );
        output.mesh.points.swap(2, 3);
        assert!(paths_of(&output).is_empty());
        (output.blend.left, output.blend.right) = (0.6, 0.6);
        output.masks.push(Mask::default());
        assert_eq!(paths_of(&output), ["blend", "masks[0].corners"]);
    }

    #[test]
    fn two_soft_edges_add_up_to_constant_light() {
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
                assert!(
                    (sum - 1.0).abs() < 1e-5,
                    "gamma {gamma}, position {t}: sum {sum}"
                );
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
