//! Measures the quality of a fit: leave-one-out errors, outliers, the selection of the lens model, and the predicted error.
//!
//! Input: pairs. Output: numbers. This file must not write messages or know limits other than its arguments.

use glam::DVec2;

use super::fit::{Fit, LensModel, PointPair};

/// Maximum number of pairs for which leave-one-out errors are computed by fitting again without each pair. For more pairs, a
/// linear approximation is used, which gives almost the same errors much faster.
const REFIT_PAIRS_MAX: usize = 64;

/// Minimum number of pairs that is needed to fit lens terms.
const LENS_PAIRS_MIN: usize = 8;

/// The simplest lens model is selected whose leave-one-out error is at most this multiple of the smallest error. Reason: a lens
/// term that the points barely need gives bad results outside the points. **Source**: after the one-standard-error rule of
/// Breiman et al. 1984, §3.4.3.
const MODEL_ERROR_FACTOR: f64 = 1.15;

/// Maximum number of outliers that are searched for. If more pairs are wrong, the whole measurement counts as wrong.
const OUTLIERS_MAX: usize = 4;

/// Fit with the selected lens model, and the leave-one-out errors of all tried models.
#[derive(Clone, Debug)]
pub struct SelectedFit {
    /// Fit to all pairs with the selected model.
    pub fit: Fit,
    /// Leave-one-out residual of each pair, in the order of the pairs (see `leave_one_out`).
    pub left_out: Vec<DVec2>,
    /// Leave-one-out error (root mean square) of each tried model.
    pub candidates: Vec<(LensModel, f64)>,
}

impl SelectedFit {
    /// Selects the simplest model whose leave-one-out error is close to the least. Returns `None` if no model can be fitted.
    pub fn new(pairs: &[PointPair], size_px: (u32, u32)) -> Option<Self> {
        let tried: Vec<(Fit, Vec<DVec2>)> = models(pairs.len())
            .iter()
            .filter_map(|&model| {
                let fit = Fit::new(pairs, size_px, model)?;
                let left_out = leave_one_out(&fit, pairs)?;
                Some((fit, left_out))
            })
            .collect();
        let candidates: Vec<(LensModel, f64)> = tried
            .iter()
            .map(|(fit, errors)| (fit.model, rms(errors)))
            .collect();
        let least = candidates.iter().map(|c| c.1).fold(f64::INFINITY, f64::min);
        let (fit, left_out) = tried
            .into_iter()
            .find(|(_, errors)| rms(errors) <= MODEL_ERROR_FACTOR * least)?;
        Some(Self {
            fit,
            left_out,
            candidates,
        })
    }
}

/// Returns the models that can be fitted to this many pairs.
fn models(pairs: usize) -> &'static [LensModel] {
    if pairs < LENS_PAIRS_MIN {
        &[LensModel::Straight]
    } else {
        &[LensModel::Straight, LensModel::OneTerm, LensModel::TwoTerms]
    }
}

/// Returns the root mean square of the lengths of `errors`.
pub(super) fn rms(errors: &[DVec2]) -> f64 {
    (errors.iter().map(|e| e.length_squared()).sum::<f64>() / errors.len().max(1) as f64).sqrt()
}

/// Returns the leave-one-out residual of each pair: the point that a fit to all other pairs predicts at the pair's pixel, minus
/// the pair's point. Returns `None` if the other pairs do not determine a map.
fn leave_one_out(fit: &Fit, pairs: &[PointPair]) -> Option<Vec<DVec2>> {
    if 2 * pairs.len().saturating_sub(1) < fit.model.terms() {
        return None;
    }
    let all: Option<Vec<DVec2>> = (0..pairs.len())
        .map(|i| {
            let error = if pairs.len() <= REFIT_PAIRS_MAX {
                fit.refit(&without(pairs, i))?.residual(&pairs[i])
            } else {
                // Source: Cook & Weisberg 1982: (I − H_ii)⁻¹ r_i, with 2 × 2 blocks H_ii, because each pair has two
                // coordinates.
                let leverage = fit.covariance(pairs[i].0);
                (glam::DMat2::IDENTITY - leverage).inverse() * fit.residual(&pairs[i])
            };
            error.is_finite().then_some(error)
        })
        .collect();
    all
}

/// Returns all pairs except the one at index `i`.
fn without(pairs: &[PointPair], i: usize) -> Vec<PointPair> {
    pairs
        .iter()
        .enumerate()
        .filter(|(j, _)| *j != i)
        .map(|(_, p)| *p)
        .collect()
}

/// Returns the indexes of the outliers in ascending order. A pair is an outlier if its residual from a fit to the other pairs
/// is at least `distance`, and is improbable for the scatter of the other pairs. The scatter is assumed to be at least
/// `scatter_min`.
///
/// Pairs are removed one by one. Each time, the pair is removed whose removal reduces the error of the remaining pairs most.
/// The largest set in which every removed pair is improbable for the remaining ones is returned, so two outliers that mask each
/// other are found too.
pub(super) fn outliers(
    pairs: &[PointPair],
    size_px: (u32, u32),
    distance: f64,
    scatter_min: f64,
) -> Vec<usize> {
    let model = models(pairs.len())
        .last()
        .copied()
        .unwrap_or(LensModel::Straight);
    let mut remaining: Vec<usize> = (0..pairs.len()).collect();
    let mut removed = Vec::new();
    let mut found = Vec::new();
    let most = OUTLIERS_MAX.min(pairs.len() / 4).max(1);
    for _ in 0..most {
        let Some((i, fit)) = best_without_one(pairs, &remaining, size_px, model) else {
            break;
        };
        remaining.remove(i.0);
        removed.push(i.1);
        if removed
            .iter()
            .all(|&t| is_improbable(&fit, &pairs[t], distance, scatter_min))
        {
            found.clone_from(&removed);
        } else if !found.is_empty() {
            break;
        }
    }
    found.sort_unstable();
    found
}

/// Finds the remaining pair whose removal leaves the smallest error. Returns its index in `remaining`, its index in `pairs`,
/// and the fit to the other remaining pairs.
fn best_without_one(
    pairs: &[PointPair],
    remaining: &[usize],
    size_px: (u32, u32),
    model: LensModel,
) -> Option<((usize, usize), Fit)> {
    let rest = |out: Option<usize>| -> Vec<PointPair> {
        remaining
            .iter()
            .filter(|&&i| Some(i) != out)
            .map(|&i| pairs[i])
            .collect()
    };
    // To save time, each fit without one pair uses the fit to all pairs as its initial value. Only the best of these fits is
    // then computed again from the beginning.
    let all = Fit::new(&rest(None), size_px, model)?;
    let mut tried: Vec<(usize, usize)> = remaining.iter().copied().enumerate().collect();
    if remaining.len() > REFIT_PAIRS_MAX {
        // Among many pairs, one pair changes the fit little, so only the pairs with the largest residuals are tried.
        let residual_sq = |i: usize| all.residual(&pairs[i]).length_squared();
        tried.sort_by(|a, b| residual_sq(b.1).total_cmp(&residual_sq(a.1)));
        tried.truncate(2 * OUTLIERS_MAX);
    }
    let (i, _) = tried
        .into_iter()
        .filter_map(|i| Some((i, all.refit(&rest(Some(i.1)))?)))
        .min_by(|a, b| a.1.squares.total_cmp(&b.1.squares))?;
    Some((i, Fit::new(&rest(Some(i.1)), size_px, model)?))
}

/// Returns whether a pair that is not part of a fit is improbable for the scatter of the fitted pairs.
fn is_improbable(fit: &Fit, pair: &PointPair, distance: f64, scatter_min: f64) -> bool {
    let Some(scatter) = fit.scatter() else {
        return false;
    };
    let error = fit.residual(pair);
    if !error.is_finite() {
        return true;
    }
    let spread = glam::DMat2::IDENTITY + fit.covariance(pair.0);
    let deviations = error.dot(spread.inverse() * error).max(0.0).sqrt() / scatter.max(scatter_min);
    // With few degrees of freedom, larger residuals occur by chance (Student 1908). The limit approximates the quantile for a
    // probability of 1 in 10,000.
    let left = fit.degrees_of_freedom() as f64;
    error.length() >= distance && deviations > 4.3 * (1.0 + 32.0 / (left * left))
}

/// Returns the predicted error over the plane: the root mean square and the maximum of the standard deviation of the fitted
/// points at `pixels`. Returns `None` if the error is not finite.
pub(super) fn predicted_error(fit: &Fit, pixels: &[DVec2], scatter: f64) -> Option<(f64, f64)> {
    let squares: Vec<f64> = pixels
        .iter()
        .map(|p| {
            let c = fit.covariance(*p);
            scatter * scatter * (c.x_axis.x + c.y_axis.y)
        })
        .collect();
    let mean = squares.iter().sum::<f64>() / squares.len().max(1) as f64;
    let largest = squares.iter().copied().fold(0.0, f64::max);
    let is_sound = squares.iter().all(|s| s.is_finite() && *s >= 0.0);
    (is_sound && !squares.is_empty()).then(|| (mean.sqrt(), largest.sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::sample::{Noise, grid, view};

    const SIZE_PX: (u32, u32) = (640, 480);

    #[test]
    fn the_model_of_the_points_is_selected() {
        for (model, k1, k2) in [
            (LensModel::OneTerm, -0.3, 0.0),
            (LensModel::TwoTerms, -0.35, 0.15),
        ] {
            let mut noise = Noise::new(5);
            let pairs = noise.on(&grid(&view(k1, k2), 5), 0.0005);
            let selected = SelectedFit::new(&pairs, SIZE_PX).unwrap();
            let of = |m: LensModel| selected.candidates.iter().find(|c| c.0 == m).map(|c| c.1);
            assert!(
                of(LensModel::Straight) > Some(0.01),
                "{:?}",
                selected.candidates
            );
            assert!(
                selected.fit.model.terms() >= model.terms(),
                "{:?}",
                selected.candidates
            );
        }
        let few = grid(&view(0.0, 0.0), 3)[..7].to_vec();
        let selected = SelectedFit::new(&few, SIZE_PX).unwrap();
        assert_eq!(selected.candidates.len(), 1);
    }

    #[test]
    fn linear_approximation_and_refit_agree() {
        let mut noise = Noise::new(3);
        let pairs = noise.on(&grid(&view(-0.3, 0.08), 8), 0.004);
        let fit = Fit::new(&pairs, SIZE_PX, LensModel::TwoTerms).unwrap();
        let exact = leave_one_out(&fit, &pairs).unwrap();
        let mut more = pairs.clone();
        more.push(pairs[27]);
        let fit = Fit::new(&more, SIZE_PX, LensModel::TwoTerms).unwrap();
        let approximate = leave_one_out(&fit, &more).unwrap();
        assert!(
            (rms(&approximate) / rms(&exact) - 1.0).abs() < 0.03,
            "{} {}",
            rms(&approximate),
            rms(&exact)
        );
    }

    #[test]
    fn wrong_points_are_found_and_good_ones_are_not() {
        let clean = grid(&view(-0.3, 0.08), 4);
        for seed in 0..20 {
            let mut noise = Noise::new(seed);
            let good = noise.on(&clean, 0.01);
            assert!(
                outliers(&good, SIZE_PX, 0.06, 0.003).is_empty(),
                "seed {seed}"
            );
            let mut wrong = noise.on(&clean, 0.005);
            let i = seed as usize % 16;
            wrong[i].1 += DVec2::new(0.18, 0.0);
            assert_eq!(outliers(&wrong, SIZE_PX, 0.06, 0.003), [i], "seed {seed}");
            let mut swapped = noise.on(&clean, 0.005);
            let (a, b) = (swapped[4].1, swapped[11].1);
            (swapped[4].1, swapped[11].1) = (b, a);
            assert_eq!(
                outliers(&swapped, SIZE_PX, 0.06, 0.003),
                [4, 11],
                "seed {seed}"
            );
        }
    }

    #[test]
    fn one_wrong_point_is_found_among_few_or_many() {
        for (n, count) in [(3, 7), (3, 9), (9, 81)] {
            let mut noise = Noise::new(8);
            let mut pairs = noise.on(&grid(&view(-0.2, 0.0), n), 0.002);
            pairs.truncate(count);
            pairs[2].1.y += 1.0;
            assert_eq!(outliers(&pairs, SIZE_PX, 0.06, 0.003), [2], "{count}");
        }
    }
}
