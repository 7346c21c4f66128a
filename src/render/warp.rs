//! The mapping from the surface's picture to an output: crop, then a bicubic control mesh, then keystone.
//!
//! In: an output's parameters. Out: positions on the output, and the triangles that the output pass draws.
//!
//! Spaces, all as shares 0..1 of width and height with y down: *picture* is the whole surface, *crop* is the part of the
//! picture that the output shows, *output* is the projector's picture.

use bytemuck::{Pod, Zeroable};
use glam::{DVec2, DVec3};

use super::error::RenderError;
use super::output_params::{Corner, Corners, Crop, OutputParams};
use crate::geometry::{Homography, Surface};

/// Number of pieces along each side of a control mesh that has a single cell. In a mesh with n cells, each cell is drawn in
/// `PIECES / sqrt(n)` pieces per side. With this value, the straight pieces are within half a pixel of the curved mesh at full
/// HD.
const PIECES: f64 = 64.0;
/// Largest relative difference between the proportions of surface and output for which a picture without keystone fills the
/// output. With a larger difference, the picture gets bars. Measuring a floor with a tape has errors of this size.
const PROPORTION_SLACK: f64 = 0.03;

/// A vertex of the output pass; same layout as `WarpVertex` in `shaders/output.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct WarpVertex {
    /// Clip space x, y and w. The GPU uses w for perspective interpolation between vertices.
    pub clip_xyw: [f32; 3],
    /// Position in the picture.
    pub picture: [f32; 2],
    /// Position in the crop.
    pub crop: [f32; 2],
}

/// The mapping from the surface's picture to one output.
#[derive(Clone, Debug)]
pub struct Warp {
    crop: Crop,
    mesh: Option<ControlMesh>,
    keystone: Homography,
}

impl Warp {
    /// Creates the mapping for an output of `size_px`. This size differs from that in the output's parameters if the output is
    /// shown in a window.
    ///
    /// # Errors
    /// [`RenderError::Output`] if the parameters describe no valid warp.
    pub fn new(
        surface: &Surface,
        output: &OutputParams,
        size_px: [u32; 2],
    ) -> Result<Self, RenderError> {
        if let Some((path, message)) = output.problems().into_iter().next() {
            return Err(RenderError::Output(format!("{path}: {message}")));
        }
        let square = [DVec2::ZERO, DVec2::X, DVec2::ONE, DVec2::Y];
        let corners = if output.corners == Corners::default() {
            as_large_as_fits(surface, &output.crop, size_px)
        } else {
            output.corners.in_order()
        };
        let pairs: Vec<_> = square.into_iter().zip(corners).collect();
        let keystone = if pairs.iter().all(|(a, b)| a == b) {
            Homography::IDENTITY
        } else {
            Homography::from_pairs(&pairs).ok_or_else(|| {
                RenderError::Output(
                    "corners: no perspective maps the surface to them; move them apart".to_owned(),
                )
            })?
        };
        Ok(Self {
            crop: output.crop.clone(),
            mesh: ControlMesh::new(output),
            keystone,
        })
    }

    /// Returns the position on the output for a position in the crop, in homogeneous coordinates.
    fn output_from_crop(&self, crop: DVec2) -> DVec3 {
        let bent = self.mesh.as_ref().map_or(crop, |mesh| mesh.at(crop));
        self.keystone.0 * bent.extend(1.0)
    }

    /// Returns the position in the crop for a position in the picture. A position with a result outside of 0..1 is not shown.
    pub fn crop_from_picture(&self, picture: DVec2) -> DVec2 {
        let Crop {
            left,
            top,
            right,
            bottom,
        } = self.crop;
        (picture - DVec2::new(left, top)) / DVec2::new(right - left, bottom - top)
    }

    /// Returns the position in the picture for a position in the crop.
    fn picture_from_crop(&self, crop: DVec2) -> DVec2 {
        let low = DVec2::new(self.crop.left, self.crop.top);
        let high = DVec2::new(self.crop.right, self.crop.bottom);
        low + crop * (high - low)
    }

    /// Returns the position on the output for a position in the picture. Outside of the crop, the warp is extrapolated
    /// linearly.
    pub fn output_from_picture(&self, picture: DVec2) -> DVec2 {
        let p = self.output_from_crop(self.crop_from_picture(picture));
        DVec2::new(p.x / p.z, p.y / p.z)
    }

    /// Returns the upper left and the lower right corner of the crop, as positions in the picture.
    pub fn crop_in_picture(&self) -> [DVec2; 2] {
        [DVec2::ZERO, DVec2::ONE].map(|corner| self.picture_from_crop(corner))
    }

    /// Returns the triangles of the output pass, three vertices each.
    pub fn triangles(&self) -> Vec<WarpVertex> {
        let [columns, rows] = self.mesh.as_ref().map_or([1, 1], |mesh| {
            [mesh.columns - 1, mesh.rows - 1]
                .map(|cells| cells * (PIECES / f64::from(cells).sqrt()).ceil() as u32)
        });
        let vertex = |c: u32, r: u32| {
            let crop = DVec2::new(
                f64::from(c) / f64::from(columns),
                f64::from(r) / f64::from(rows),
            );
            let p = self.output_from_crop(crop);
            WarpVertex {
                clip_xyw: DVec3::new(2.0 * p.x - p.z, p.z - 2.0 * p.y, p.z)
                    .as_vec3()
                    .to_array(),
                picture: self.picture_from_crop(crop).as_vec2().to_array(),
                crop: crop.as_vec2().to_array(),
            }
        };
        (0..rows)
            .flat_map(|r| (0..columns).map(move |c| (c, r)))
            .flat_map(|(c, r)| {
                [(0, 0), (1, 0), (0, 1), (0, 1), (1, 0), (1, 1)]
                    .map(|(dc, dr)| vertex(c + dc, r + dr))
            })
            .collect()
    }

    /// Returns the width and height, in pixels, that the picture needs so that this output of `size_px` does not enlarge it.
    pub fn picture_px(&self, size_px: [u32; 2]) -> [f64; 2] {
        let size = DVec2::new(f64::from(size_px[0]), f64::from(size_px[1]));
        let at = |x, y| {
            let p = self.output_from_crop(DVec2::new(x, y));
            DVec2::new(p.x, p.y) / p.z * size
        };
        let [a, b, c, d] = [at(0.0, 0.0), at(1.0, 0.0), at(1.0, 1.0), at(0.0, 1.0)];
        let width = a.distance(b).max(d.distance(c));
        let height = a.distance(d).max(b.distance(c));
        [
            width / (self.crop.right - self.crop.left),
            height / (self.crop.bottom - self.crop.top),
        ]
    }
}

/// Returns the corners of a crop that is centered on the output and as large as possible with its proportions kept.
fn as_large_as_fits(surface: &Surface, crop: &Crop, size_px: [u32; 2]) -> [DVec2; 4] {
    let wanted = f64::from(surface.width_m) * (crop.right - crop.left)
        / (f64::from(surface.height_m) * (crop.bottom - crop.top));
    let given = f64::from(size_px[0].max(1)) / f64::from(size_px[1].max(1));
    let narrower = wanted / given;
    let half = if (narrower - 1.0).abs() <= PROPORTION_SLACK {
        DVec2::splat(0.5)
    } else {
        DVec2::new(narrower.min(1.0), narrower.recip().min(1.0)) / 2.0
    };
    [
        DVec2::new(-half.x, -half.y),
        DVec2::new(half.x, -half.y),
        half,
        DVec2::new(-half.x, half.y),
    ]
    .map(|corner| corner + 0.5)
}

/// A mesh of control points with a smooth surface through them.
#[derive(Clone, Debug)]
struct ControlMesh {
    columns: u32,
    rows: u32,
    points: Vec<DVec2>,
}

impl ControlMesh {
    fn new(output: &OutputParams) -> Option<Self> {
        let mesh = &output.mesh;
        (!mesh.points.is_empty()).then(|| Self {
            columns: mesh.columns,
            rows: mesh.rows,
            points: mesh.points.iter().map(Corner::position).collect(),
        })
    }

    /// Returns a control point. Outside of the mesh, control points are extrapolated linearly.
    fn point(&self, c: i64, r: i64) -> DVec2 {
        let (last_c, last_r) = (i64::from(self.columns) - 1, i64::from(self.rows) - 1);
        if c < 0 {
            return 2.0 * self.point(0, r) - self.point(1, r);
        }
        if c > last_c {
            return 2.0 * self.point(last_c, r) - self.point(last_c - 1, r);
        }
        if r < 0 {
            return 2.0 * self.point(c, 0) - self.point(c, 1);
        }
        if r > last_r {
            return 2.0 * self.point(c, last_r) - self.point(c, last_r - 1);
        }
        let at = r as usize * self.columns as usize + c as usize;
        self.points.get(at).copied().unwrap_or_default()
    }

    /// Returns the position on the mesh for a position in the crop.
    ///
    /// The mesh consists of bicubic Bézier patches. Their inner control points are a third along the Catmull–Rom tangents, so
    /// that neighboring patches join smoothly.
    fn at(&self, crop: DVec2) -> DVec2 {
        let (c, wc) = weights(crop.x, self.columns);
        let (r, wr) = weights(crop.y, self.rows);
        let mut sum = DVec2::ZERO;
        for (dr, wr) in (-1..3).zip(wr) {
            for (dc, wc) in (-1..3).zip(wc) {
                sum += self.point(c + dc, r + dr) * (wc * wr);
            }
        }
        sum
    }
}

/// Returns, along one axis, the cell that contains a position, and the weights of the four control points around the position.
fn weights(share: f64, points: u32) -> (i64, [f64; 4]) {
    let cells = f64::from(points - 1);
    let cell = (share * cells).floor().clamp(0.0, cells - 1.0);
    let t = share * cells - cell;
    let (u, t2, t3) = (1.0 - t, t * t, t * t * t);
    // Bernstein polynomials of the two ends and the two inner points between them.
    let [b0, b1, b2, b3] = [u * u * u, 3.0 * u * u * t, 3.0 * u * t2, t3];
    // Inner points: p0 + (p1 − p−1)/6 and p1 − (p2 − p0)/6.
    let sixth = 1.0 / 6.0;
    (
        cell as i64,
        [
            -b1 * sixth,
            b0 + b1 + b2 * sixth,
            b1 * sixth + b2 + b3,
            -b2 * sixth,
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn surface() -> Surface {
        Surface {
            width_m: 4.0,
            height_m: 2.25,
            ..Surface::default()
        }
    }

    fn even(columns: u32, rows: u32) -> Vec<Corner> {
        (0..rows)
            .flat_map(|r| (0..columns).map(move |c| (c, r)))
            .map(|(c, r)| Corner {
                x: f64::from(c) / f64::from(columns - 1),
                y: f64::from(r) / f64::from(rows - 1),
            })
            .collect()
    }

    #[test]
    fn an_even_mesh_is_the_identity() {
        let mut output = OutputParams::default();
        output.mesh.columns = 5;
        output.mesh.rows = 3;
        output.mesh.points = even(5, 3);
        let warp = Warp::new(&surface(), &output, [1280, 720]).unwrap();
        for i in 0..=40 {
            let p = DVec2::new(f64::from(i) / 40.0, f64::from((i * 7) % 41) / 40.0);
            assert!(warp.output_from_picture(p).distance(p) < 1e-12, "{p}");
        }
    }

    #[test]
    fn a_crop_without_keystone_keeps_its_proportions() {
        let surface = Surface::default();
        let warp = Warp::new(&surface, &OutputParams::default(), [1600, 900]).unwrap();
        let size = DVec2::new(1600.0, 900.0);
        let at = |x, y| warp.output_from_picture(DVec2::new(x, y)) * size;
        assert!(at(0.0, 0.0).distance(DVec2::new(200.0, 0.0)) < 1e-6);
        assert!(at(1.0, 1.0).distance(DVec2::new(1400.0, 900.0)) < 1e-6);
        assert_eq!(
            warp.picture_px([1600, 900]).map(|s| s.round() as u32),
            [1200, 900]
        );
        // A difference within PROPORTION_SLACK adds no bars.
        let measured = Surface {
            width_m: 4.02,
            height_m: 2.24,
            ..surface
        };
        let warp = Warp::new(&measured, &OutputParams::default(), [1600, 900]).unwrap();
        assert!(warp.output_from_picture(DVec2::ZERO).length() < 1e-9);
    }

    #[test]
    fn two_outputs_show_two_parts_at_full_resolution() {
        let mut left = OutputParams::default();
        left.crop.right = 0.6;
        let surface = Surface {
            width_m: 6.0,
            height_m: 2.025,
            ..Surface::default()
        };
        let warp = Warp::new(&surface, &left, [1280, 720]).unwrap();
        let seam = warp.output_from_picture(DVec2::new(0.6, 0.5));
        assert!(seam.distance(DVec2::new(1.0, 0.5)) < 1e-9, "{seam}");
        let [width, height] = warp.picture_px([1280, 720]);
        assert!((width - 1280.0 / 0.6).abs() < 1e-6 && (height - 720.0).abs() < 1e-6);
    }

    /// Returns the position on the output for a position in the picture, computed from the triangles with perspective
    /// interpolation like on the GPU.
    fn output_by_triangles(triangles: &[WarpVertex], picture: DVec2) -> Option<DVec2> {
        triangles.chunks_exact(3).find_map(|t| {
            let at = |i: usize| DVec2::new(t[i].picture[0].into(), t[i].picture[1].into());
            let (a, b, c) = (at(0), at(1), at(2));
            let area = (b - a).perp_dot(c - a);
            let u = (picture - a).perp_dot(c - a) / area;
            let v = (b - a).perp_dot(picture - a) / area;
            let inside = u >= -1e-6 && v >= -1e-6 && u + v <= 1.0 + 1e-6;
            inside.then(|| {
                let clip = |i: usize| {
                    let [x, y, w] = t[i].clip_xyw;
                    DVec3::new(x.into(), y.into(), w.into())
                };
                let p = clip(0) * (1.0 - u - v) + clip(1) * u + clip(2) * v;
                DVec2::new(0.5 + 0.5 * p.x / p.z, 0.5 - 0.5 * p.y / p.z)
            })
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

        /// For every valid combination of crop, mesh and keystone, the drawn triangles are within half a pixel of the exact
        /// mapping.
        #[test]
        fn triangles_match_the_exact_mapping(
            moves in prop::collection::vec((-0.06f64..0.06, -0.06f64..0.06), 20),
            corners in prop::collection::vec((-0.12f64..0.12, -0.12f64..0.12), 4),
            crop in (0.0f64..0.4, 0.0f64..0.4, 0.6f64..1.0, 0.6f64..1.0),
            at in (0.0f64..1.0, 0.0f64..1.0),
        ) {
            let mut output = OutputParams { width_px: 1920, height_px: 1080, ..OutputParams::default() };
            output.crop = Crop { left: crop.0, top: crop.1, right: crop.2, bottom: crop.3 };
            output.mesh.columns = 5;
            output.mesh.rows = 4;
            output.mesh.points = even(5, 4);
            for (point, by) in output.mesh.points.iter_mut().zip(&moves) {
                point.x += by.0;
                point.y += by.1;
            }
            let c = &mut output.corners;
            for (corner, by) in [&mut c.top_left, &mut c.top_right, &mut c.bottom_right, &mut c.bottom_left].into_iter().zip(&corners) {
                corner.x += by.0;
                corner.y += by.1;
            }
            prop_assert_eq!(output.problems(), vec![]);
            let warp = Warp::new(&surface(), &output, [1920, 1080]).unwrap();
            let picture = warp.picture_from_crop(DVec2::new(at.0, at.1));
            let expected = warp.output_from_picture(picture);
            let by_triangles = output_by_triangles(&warp.triangles(), picture).unwrap();
            let off = ((by_triangles - expected) * DVec2::new(1920.0, 1080.0)).length();
            prop_assert!(off < 0.5, "{} px off", off);
        }
    }
}
