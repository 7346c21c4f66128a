//! Least-squares fit of lens and homography to point pairs.
//!
//! Input: pairs (camera pixel, point of the plane) and a lens model. Output: the map, its residuals and its covariance. The
//! caller chooses the unit of the plane: meters of a floor, or pixels of a projector. This file must not select a model,
//! evaluate a fit, or remove a pair.
//!
//! Residuals are measured in the plane, because placing a target is far less exact than locating it in the frame.
//!
//! **Source**: Hartley & Zisserman 2004, sections 4.1, 5.1 (covariance), A6.2 (Levenberg–Marquardt).

use glam::{DMat2, DMat3, DVec2};
use nalgebra::{DMatrix, DVector};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::geometry::{Homography, Lens};

/// Number of free entries of a homography with fixed scale.
const HOMOGRAPHY_TERMS: usize = 8;

/// Number of free parameters of the largest model.
const TERMS_MAX: usize = HOMOGRAPHY_TERMS + 2;

/// Standard deviations of k1 and k2 over usual camera lenses, including wide ones. They form the prior on the lens, which
/// matters if the points determine the lens poorly. The values were chosen from lenses with fields of view of 40° to 110°.
const LENS_DEVIATIONS: [f64; 2] = [0.5, 0.2];

/// Lens model: the set of distortion terms that are fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LensModel {
    /// No distortion: homography only.
    Straight,
    /// One radial term, k1.
    OneTerm,
    /// Two radial terms, k1 and k2.
    TwoTerms,
}

impl LensModel {
    /// Returns the number of free parameters of lens and homography together.
    pub fn terms(self) -> usize {
        HOMOGRAPHY_TERMS + self.lens_terms()
    }

    fn lens_terms(self) -> usize {
        match self {
            Self::Straight => 0,
            Self::OneTerm => 1,
            Self::TwoTerms => 2,
        }
    }
}

impl std::fmt::Display for LensModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Straight => "homography",
            Self::OneTerm => "homography + k1",
            Self::TwoTerms => "homography + k1, k2",
        })
    }
}

/// Pair of a camera pixel and the point of the plane that is visible at that pixel.
pub type PointPair = (DVec2, DVec2);

/// Lens and homography that fit a set of pairs best.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The lens model.
    pub model: LensModel,
    /// Size of the camera frame.
    size_px: (u32, u32),
    /// Free parameters: eight of the homography between normalized points, then two lens terms (0 if the model does not have
    /// them).
    terms: [f64; TERMS_MAX],
    /// Normalization of undistorted pixels: shift and scale. It does not change during the fit, so that the ninth entry of the
    /// homography can stay 1.
    from: (DVec2, f64),
    /// Normalization of points of the plane: shift and scale.
    to: (DVec2, f64),
    /// Sum of the squared residuals.
    pub squares: f64,
    /// Weight of the prior on the lens: the variance of the residuals. It is 0 in the first round, because the variance is not
    /// known yet.
    prior: f64,
    /// Inverse of `JᵀJ` (J is the Jacobian): covariance of the terms for residuals of unit variance.
    inverse_normal: DMatrix<f64>,
    /// Number of pairs.
    pub pairs: usize,
}

impl Fit {
    /// Fits the pairs. Returns `None` if they do not determine a fit: they are too few, lie on a line, or are not finite.
    pub fn new(pairs: &[PointPair], size_px: (u32, u32), model: LensModel) -> Option<Self> {
        let is_on_a_line =
            breadth(pairs.iter().map(|p| p.0)).min(breadth(pairs.iter().map(|p| p.1))) < 1e-3;
        if 2 * pairs.len() < model.terms() || is_on_a_line {
            return None;
        }
        // For strong distortion the error has several local minima, so the fit refines the best of several initial values.
        let k1_grid: &[f64] = match model {
            LensModel::Straight => &[0.0],
            _ => &[0.0, -0.6, -0.4, -0.3, -0.2, -0.1, 0.1, 0.25],
        };
        let mut fit = k1_grid
            .iter()
            .filter_map(|&k1| Self::start(pairs, size_px, model, k1))
            .min_by(|a, b| a.squares.total_cmp(&b.squares))?
            .refine(pairs)?;
        // The scatter of the points is known after the first round, so the second round includes the prior on the lens.
        fit.prior = fit.scatter().unwrap_or(0.0).powi(2);
        fit.refine(pairs)
    }

    /// Fits other pairs with this fit as the initial value. The other pairs may differ only slightly from those of this fit.
    /// Returns `None` if they do not determine a fit.
    pub fn refit(&self, pairs: &[PointPair]) -> Option<Self> {
        if 2 * pairs.len() < self.model.terms() {
            return None;
        }
        let mut fit = self.clone();
        fit.pairs = pairs.len();
        fit.squares = fit.sum_of_squares(pairs);
        fit.refine(pairs)
    }

    fn start(pairs: &[PointPair], size_px: (u32, u32), model: LensModel, k1: f64) -> Option<Self> {
        let lens = Lens::new(size_px.0, size_px.1, k1, 0.0)?;
        let straight: Vec<PointPair> = pairs
            .iter()
            .map(|(a, b)| (lens.undistort(*a), *b))
            .collect();
        let from = (centroid(pairs.iter().map(|p| p.0)), lens.half_diagonal_px());
        let target = centroid(pairs.iter().map(|p| p.1));
        let spread = pairs
            .iter()
            .map(|p| p.1.distance(target))
            .fold(0.0, f64::max);
        let to = (target, spread);
        let homography = Homography::from_pairs(&straight)?;
        let normalized = affine(to).inverse() * homography.0 * affine(from);
        let h = normalized * (1.0 / normalized.z_axis.z);
        let lens_k1 = if model == LensModel::Straight {
            0.0
        } else {
            k1
        };
        let terms = [
            h.x_axis.x, h.y_axis.x, h.z_axis.x, h.x_axis.y, h.y_axis.y, h.z_axis.y, h.x_axis.z,
            h.y_axis.z, lens_k1, 0.0,
        ];
        let mut fit = Self {
            model,
            size_px,
            terms,
            from,
            to,
            squares: 0.0,
            prior: 0.0,
            inverse_normal: DMatrix::zeros(0, 0),
            pairs: pairs.len(),
        };
        fit.squares = fit.sum_of_squares(pairs);
        fit.squares.is_finite().then_some(fit)
    }

    /// Minimizes the objective (Levenberg–Marquardt) and returns the result, or `None` if the minimization fails.
    fn refine(mut self, pairs: &[PointPair]) -> Option<Self> {
        let count = self.model.terms();
        let mut damping = 1e-4;
        for _ in 0..60 {
            let (normal, gradient) = self.normal_equations(pairs);
            let mut damped = normal.clone();
            for i in 0..count {
                damped[(i, i)] += damping * normal[(i, i)].max(1e-12);
            }
            let Some(step) = damped.cholesky().map(|c| c.solve(&gradient)) else {
                damping *= 10.0;
                if damping > 1e9 {
                    return None;
                }
                continue;
            };
            let mut next = self.clone();
            for (term, by) in next.terms.iter_mut().zip(step.iter()) {
                *term -= by;
            }
            next.squares = next.sum_of_squares(pairs);
            let gain = self.objective() - next.objective();
            if gain >= 0.0 {
                self = next;
                damping = (damping / 10.0).max(1e-12);
                if gain <= 1e-12 * self.objective() || step.amax() < 1e-13 {
                    break;
                }
            } else {
                damping *= 10.0;
                if damping > 1e9 {
                    break;
                }
            }
        }
        let (normal, _) = self.normal_equations(pairs);
        self.inverse_normal = invert(&normal)?;
        let is_sound = self.squares.is_finite()
            && self.lens().is_some()
            && pairs.iter().all(|p| self.residual(p).is_finite());
        is_sound.then_some(self)
    }

    fn normal_equations(&self, pairs: &[PointPair]) -> (DMatrix<f64>, DVector<f64>) {
        let count = self.model.terms();
        let mut normal = DMatrix::zeros(count, count);
        let mut gradient = DVector::zeros(count);
        for pair in pairs {
            let residual = self.residual(pair);
            let slope = self.slope(pair.0);
            for (axis, error) in [residual.x, residual.y].into_iter().enumerate() {
                for i in 0..count {
                    gradient[i] += slope[axis][i] * error;
                    for j in 0..count {
                        normal[(i, j)] += slope[axis][i] * slope[axis][j];
                    }
                }
            }
        }
        for (i, k, weight) in self.lens_prior() {
            gradient[i] += weight * k;
            normal[(i, i)] += weight;
        }
        (normal, gradient)
    }

    /// Returns the value that the fit minimizes: squared residuals plus the prior on the lens.
    fn objective(&self) -> f64 {
        self.squares
            + self
                .lens_prior()
                .map(|(_, k, weight)| weight * k * k)
                .sum::<f64>()
    }

    /// Returns the prior on the lens: index, value and weight of each lens term.
    fn lens_prior(&self) -> impl Iterator<Item = (usize, f64, f64)> + '_ {
        LENS_DEVIATIONS
            .iter()
            .enumerate()
            .take(self.model.lens_terms())
            .map(|(i, deviation)| {
                (
                    HOMOGRAPHY_TERMS + i,
                    self.terms[HOMOGRAPHY_TERMS + i],
                    self.prior / deviation.powi(2),
                )
            })
    }

    fn sum_of_squares(&self, pairs: &[PointPair]) -> f64 {
        let sum: f64 = pairs
            .iter()
            .map(|p| self.residual(p).length_squared())
            .sum();
        if sum.is_nan() { f64::INFINITY } else { sum }
    }

    /// Returns the derivatives of the plane point at a pixel with respect to every term: one row for x, one row for y.
    fn slope(&self, camera_px: DVec2) -> [[f64; TERMS_MAX]; 2] {
        let [mut across, mut along] = [[0.0; TERMS_MAX]; 2];
        let rows = across.iter_mut().zip(&mut along).enumerate();
        for (term, (x, z)) in rows.take(self.model.terms()) {
            let (step, above, below) = self.steps(term);
            let change = self.plane_with(&above, camera_px) - self.plane_with(&below, camera_px);
            *x = change.x / (2.0 * step);
            *z = change.y / (2.0 * step);
        }
        [across, along]
    }

    /// Returns a small step of one term, the terms with this step added, and the terms with this step subtracted.
    fn steps(&self, term: usize) -> (f64, [f64; TERMS_MAX], [f64; TERMS_MAX]) {
        let step = 1e-6 * self.terms[term].abs().max(1.0);
        let (mut above, mut below) = (self.terms, self.terms);
        above[term] += step;
        below[term] -= step;
        (step, above, below)
    }

    /// Maps a pixel to the plane. Returns NaN for a pixel beyond the horizon.
    pub fn plane_from_camera(&self, camera_px: DVec2) -> DVec2 {
        self.plane_with(&self.terms, camera_px)
    }

    fn plane_with(&self, terms: &[f64; TERMS_MAX], camera_px: DVec2) -> DVec2 {
        let Some(lens) = self.lens_with(terms) else {
            return DVec2::NAN;
        };
        let s = (lens.undistort(camera_px) - self.from.0) / self.from.1;
        let w = terms[6] * s.x + terms[7] * s.y + 1.0;
        if w <= 0.0 {
            return DVec2::NAN;
        }
        let p = DVec2::new(
            terms[0] * s.x + terms[1] * s.y + terms[2],
            terms[3] * s.x + terms[4] * s.y + terms[5],
        );
        self.to.0 + p / w * self.to.1
    }

    /// Returns the residual of a pair: the fitted point minus the given point.
    pub fn residual(&self, pair: &PointPair) -> DVec2 {
        self.plane_from_camera(pair.0) - pair.1
    }

    /// Returns the covariance of the fitted point at a pixel, for residuals of unit variance in each direction.
    pub fn covariance(&self, camera_px: DVec2) -> DMat2 {
        let slope = self.slope(camera_px);
        let count = self.model.terms();
        let entry = |a: usize, b: usize| -> f64 {
            (0..count)
                .flat_map(|i| (0..count).map(move |j| (i, j)))
                .map(|(i, j)| slope[a][i] * self.inverse_normal[(i, j)] * slope[b][j])
                .sum()
        };
        let across = entry(0, 1);
        DMat2::from_cols(
            DVec2::new(entry(0, 0), across),
            DVec2::new(across, entry(1, 1)),
        )
    }

    /// Returns the degrees of freedom: number of measured coordinates minus number of fitted parameters.
    pub fn degrees_of_freedom(&self) -> usize {
        (2 * self.pairs).saturating_sub(self.model.terms())
    }

    /// Returns the standard deviation of the points in each direction, estimated from the residuals, or `None` without degrees
    /// of freedom.
    pub fn scatter(&self) -> Option<f64> {
        let left = self.degrees_of_freedom();
        (left > 0).then(|| (self.squares / left as f64).sqrt())
    }

    /// Returns the root mean square of the residual lengths.
    pub fn rms(&self) -> f64 {
        (self.squares / self.pairs as f64).sqrt()
    }

    /// Returns the fitted lens, or `None` if a term is not finite.
    pub fn lens(&self) -> Option<Lens> {
        self.lens_with(&self.terms)
    }

    fn lens_with(&self, terms: &[f64; TERMS_MAX]) -> Option<Lens> {
        let [.., k1, k2] = *terms;
        Lens::new(self.size_px.0, self.size_px.1, k1, k2)
    }

    /// Returns the fitted homography from undistorted pixels to the plane.
    pub fn homography(&self) -> Homography {
        self.homography_with(&self.terms)
    }

    fn homography_with(&self, t: &[f64; TERMS_MAX]) -> Homography {
        let normalized =
            DMat3::from_cols_array_2d(&[[t[0], t[3], t[6]], [t[1], t[4], t[7]], [t[2], t[5], 1.0]]);
        Homography(affine(self.to) * normalized * affine(self.from).inverse())
    }

    /// Returns the standard deviations of `N` values that `derive` computes from lens and homography. `scatter` is the standard
    /// deviation of the residuals. Returns `None` if `derive` fails for a small change of a term.
    pub fn deviation<const N: usize>(
        &self,
        scatter: f64,
        derive: impl Fn(&Lens, &Homography) -> Option<[f64; N]>,
    ) -> Option<[f64; N]> {
        let count = self.model.terms();
        let mut slope = DMatrix::zeros(N, count);
        for term in 0..count {
            let (step, above, below) = self.steps(term);
            let derived = |terms| derive(&self.lens_with(terms)?, &self.homography_with(terms));
            let (above, below) = (derived(&above)?, derived(&below)?);
            for i in 0..N {
                slope[(i, term)] = (above[i] - below[i]) / (2.0 * step);
            }
        }
        let covariance = &slope * &self.inverse_normal * slope.transpose();
        Some(std::array::from_fn(|i| {
            scatter * covariance[(i, i)].max(0.0).sqrt()
        }))
    }
}

/// Returns the matrix that first scales, then shifts.
fn affine((shift, scale): (DVec2, f64)) -> DMat3 {
    DMat3::from_translation(shift) * DMat3::from_scale(DVec2::splat(scale))
}

/// Returns the centroid of points.
fn centroid(points: impl Iterator<Item = DVec2> + Clone) -> DVec2 {
    let count = points.clone().count().max(1) as f64;
    points.sum::<DVec2>() / count
}

/// Returns the ratio of width to length of a set of points: 0 on a line, 1 if the set is equally wide in all directions. Points
/// that are NaN count as a line.
pub(super) fn breadth(points: impl Iterator<Item = DVec2> + Clone) -> f64 {
    let center = centroid(points.clone());
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for point in points {
        let d = point - center;
        xx += d.x * d.x;
        xy += d.x * d.y;
        yy += d.y * d.y;
    }
    // These are half of the sum and half of the difference of the two eigenvalues of the covariance.
    let (mean, apart) = ((xx + yy) / 2.0, ((xx - yy) / 2.0).hypot(xy));
    ((mean - apart) / (mean + apart)).max(0.0).sqrt()
}

/// Returns the inverse of a symmetric positive definite matrix whose rows can differ strongly in scale.
fn invert(normal: &DMatrix<f64>) -> Option<DMatrix<f64>> {
    let count = normal.nrows();
    let scale = DVector::from_iterator(count, (0..count).map(|i| normal[(i, i)].sqrt().recip()));
    if !scale.iter().all(|s| s.is_finite()) {
        return None;
    }
    let scaled = DMatrix::from_fn(count, count, |i, j| normal[(i, j)] * scale[i] * scale[j]);
    let factor = scaled.cholesky()?;
    // The square of a diagonal entry of the Cholesky factor is the share of a term's variance that the earlier terms do not
    // explain.
    if factor.l_dirty().diagonal().amin() < 3e-5 {
        return None;
    }
    let inverse = factor.inverse();
    Some(DMatrix::from_fn(count, count, |i, j| {
        inverse[(i, j)] * scale[i] * scale[j]
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::sample::{Noise, grid, view};
    use crate::geometry::FloorFromCamera;
    use shoal_testing::assert_near;

    #[test]
    fn exact_points_give_the_exact_map() {
        for (model, k1, k2) in [
            (LensModel::Straight, 0.0, 0.0),
            (LensModel::OneTerm, -0.3, 0.0),
            (LensModel::TwoTerms, -0.35, 0.08),
            (LensModel::TwoTerms, 0.2, -0.05),
        ] {
            let view = view(k1, k2);
            let pairs = grid(&view, 4);
            let fit = Fit::new(&pairs, (640, 480), model).unwrap();
            assert!(fit.rms() < 1e-9, "{model} {k1} {k2}: {}", fit.rms());
            let lens = fit.lens().unwrap();
            assert!((lens.k1() - k1).abs() < 1e-6 && (lens.k2() - k2).abs() < 1e-6);
            let found = FloorFromCamera::new(lens, fit.homography()).unwrap();
            let p = DVec2::new(400.0, 200.0);
            assert_near(found.floor_from_camera(p), view.floor_from_camera(p), 1e-8);
            assert_near(found.floor_from_camera(p), fit.plane_from_camera(p), 1e-9);
        }
    }

    #[test]
    fn covariance_predicts_what_noise_does() {
        // The spread of many noisy fits at a pixel must match the covariance of a single fit.
        let view = view(-0.25, 0.05);
        let clean = grid(&view, 4);
        let p = DVec2::new(500.0, 380.0);
        let mut noise = Noise::new(1);
        let (mut spread, mut predicted, mut scatter) = (0.0, 0.0, 0.0);
        for _ in 0..500 {
            let pairs = noise.on(&clean, 0.002);
            let fit = Fit::new(&pairs, (640, 480), LensModel::TwoTerms).unwrap();
            spread += fit
                .plane_from_camera(p)
                .distance_squared(view.floor_from_camera(p))
                / 500.0;
            let c = fit.covariance(p);
            predicted += 0.002_f64.powi(2) * (c.x_axis.x + c.y_axis.y) / 500.0;
            scatter += fit.scatter().unwrap().powi(2) / 500.0;
        }
        let ratio = (spread / predicted).sqrt();
        assert!(
            (0.85..1.15).contains(&ratio),
            "the spread is {ratio} of the predicted one"
        );
        assert_near(scatter.sqrt() / 0.002, 1.0, 0.05);
    }

    #[test]
    fn degenerate_pairs_give_no_fit() {
        let line: Vec<PointPair> = (0..9)
            .map(|i| {
                (
                    DVec2::splat(f64::from(i) * 10.0),
                    DVec2::new(f64::from(i), 0.0),
                )
            })
            .collect();
        let same = vec![(DVec2::ONE, DVec2::ONE); 9];
        let broken = vec![(DVec2::NAN, DVec2::ONE); 9];
        for pairs in [&line, &same, &broken, &Vec::new()] {
            for model in [LensModel::Straight, LensModel::OneTerm, LensModel::TwoTerms] {
                assert!(Fit::new(pairs, (640, 480), model).is_none());
            }
        }
    }
}
