//! How good a fit is: leave-one-out errors, points that were not measured where they were meant to be, the choice of the
//! lens model, and the error foretold over the whole surface.
//!
//! In: pairs. Out: numbers. Must not: write sentences, know limits that a person set other than by argument.

use glam::DVec2;

use super::fit::{Fit, LensModel, Pair};

/// Below this many pairs every one is left out in turn and all is fitted anew; above it, the linear approximation (which
/// is exact to second order in a point's influence, and no single one has much) gives the same in a fraction of the time.
const REFIT_PAIRS_MAX: usize = 64;

/// Lens terms are fitted from this many pairs on.
pub const LENS_PAIRS_MIN: usize = 8;

/// A leave-one-out error this many times the least is no reason for another lens term: a term that the points barely need
/// runs wild where there are none. **Source**: the idea is Breiman et al. 1984, section 3.4.3 (one-standard-error rule).
const ABOUT_THE_LEAST: f64 = 1.15;

/// At most this many pairs are believed to be wrong; where there are more, the list as a whole is.
const OUTLIERS_MAX: usize = 4;

/// A fit that was chosen among several lens models, and what each would foretell of a point that it was not told.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The fit.
    pub fit: Fit,
    /// For every pair, in their order: where the fit without it puts its pixel, minus where it is.
    pub left_out: Vec<DVec2>,
    /// Root of the mean squared length of `left_out`, for every model tried.
    pub candidates: Vec<(LensModel, f64)>,
}

impl Chosen {
    /// The simplest model whose leave-one-out error is about the least. `None` where no model fits.
    pub fn new(pairs: &[Pair], size_px: (u32, u32)) -> Option<Self> {
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
            .find(|(_, errors)| rms(errors) <= ABOUT_THE_LEAST * least)?;
        Some(Self {
            fit,
            left_out,
            candidates,
        })
    }
}

/// The models that this many pairs can bear.
fn models(pairs: usize) -> &'static [LensModel] {
    if pairs < LENS_PAIRS_MIN {
        &[LensModel::Straight]
    } else {
        &[LensModel::Straight, LensModel::OneTerm, LensModel::TwoTerms]
    }
}

/// Root of the mean squared length.
pub(super) fn rms(errors: &[DVec2]) -> f64 {
    (errors.iter().map(|e| e.length_squared()).sum::<f64>() / errors.len().max(1) as f64).sqrt()
}

/// Where the fit to all other pairs puts each pixel, minus where it is. `None` where the others do not fix a map.
pub fn leave_one_out(fit: &Fit, pairs: &[Pair]) -> Option<Vec<DVec2>> {
    if 2 * pairs.len().saturating_sub(1) < fit.model.terms() {
        return None;
    }
    let all: Option<Vec<DVec2>> = (0..pairs.len())
        .map(|i| {
            let error = if pairs.len() <= REFIT_PAIRS_MAX {
                fit.refit(&without(pairs, i))?.residual(&pairs[i])
            } else {
                // Source: Cook & Weisberg 1982, (I − H_ii)⁻¹ r_i, here with blocks of two rows.
                let leverage = fit.covariance(pairs[i].0);
                (glam::DMat2::IDENTITY - leverage).inverse() * fit.residual(&pairs[i])
            };
            error.is_finite().then_some(error)
        })
        .collect();
    all
}

fn without(pairs: &[Pair], i: usize) -> Vec<Pair> {
    pairs
        .iter()
        .enumerate()
        .filter(|(j, _)| *j != i)
        .map(|(_, p)| *p)
        .collect()
}

/// The pairs (by index, ascending) that are at least `distance` off what the others say, and improbably far for the
/// others' scatter (`scatter_min` at least).
///
/// Pairs are taken out one after the other, each time the one whose absence lets the rest agree best, until all that
/// were taken are improbable in the eyes of those that stay, and one more would not be. So two that hide each other are
/// found as well.
pub fn outliers(
    pairs: &[Pair],
    size_px: (u32, u32),
    distance: f64,
    scatter_min: f64,
) -> Vec<usize> {
    let model = models(pairs.len())
        .last()
        .copied()
        .unwrap_or(LensModel::Straight);
    let mut staying: Vec<usize> = (0..pairs.len()).collect();
    let mut taken = Vec::new();
    let mut found = Vec::new();
    let most = OUTLIERS_MAX.min(pairs.len() / 4).max(1);
    for _ in 0..most {
        let Some((i, fit)) = best_without_one(pairs, &staying, size_px, model) else {
            break;
        };
        staying.remove(i.0);
        taken.push(i.1);
        if taken
            .iter()
            .all(|&t| is_improbable(&fit, &pairs[t], distance, scatter_min))
        {
            found.clone_from(&taken);
        } else if !found.is_empty() {
            break;
        }
    }
    found.sort_unstable();
    found
}

/// Which of the pairs that stay (its place among them, its index) must go for the rest to agree best, and their fit.
fn best_without_one(
    pairs: &[Pair],
    staying: &[usize],
    size_px: (u32, u32),
    model: LensModel,
) -> Option<((usize, usize), Fit)> {
    let rest = |out: Option<usize>| -> Vec<Pair> {
        staying
            .iter()
            .filter(|&&i| Some(i) != out)
            .map(|&i| pairs[i])
            .collect()
    };
    // From the fit to all it is a short way to the fit without one of them; only the best is then sought from anew.
    let all = Fit::new(&rest(None), size_px, model)?;
    let mut tried: Vec<(usize, usize)> = staying.iter().copied().enumerate().collect();
    if staying.len() > REFIT_PAIRS_MAX {
        // With many pairs one alone bends the fit little: only those that it dislikes most are tried.
        let off = |i: usize| all.residual(&pairs[i]).length_squared();
        tried.sort_by(|a, b| off(b.1).total_cmp(&off(a.1)));
        tried.truncate(2 * OUTLIERS_MAX);
    }
    let (i, _) = tried
        .into_iter()
        .filter_map(|i| Some((i, all.refit(&rest(Some(i.1)))?)))
        .min_by(|a, b| a.1.squares.total_cmp(&b.1.squares))?;
    Some((i, Fit::new(&rest(Some(i.1)), size_px, model)?))
}

/// Whether a pair that took no part in a fit cannot be explained by the scatter of those that did.
fn is_improbable(fit: &Fit, pair: &Pair, distance: f64, scatter_min: f64) -> bool {
    let Some(scatter) = fit.scatter() else {
        return false;
    };
    let error = fit.residual(pair);
    if !error.is_finite() {
        return true;
    }
    let spread = glam::DMat2::IDENTITY + fit.covariance(pair.0);
    let deviations = error.dot(spread.inverse() * error).max(0.0).sqrt() / scatter.max(scatter_min);
    // The fewer numbers the scatter was estimated from, the farther chance alone throws a point (Student 1908); this
    // follows the quantile of about one in ten thousand.
    let left = fit.degrees_of_freedom() as f64;
    error.length() >= distance && deviations > 4.3 * (1.0 + 32.0 / (left * left))
}

/// Foretold error over the plane: root of the mean square, and worst, over `points`, of the standard deviation of where
/// the fit puts them. `pixels` are where the camera sees them. `None` where it is not finite.
pub fn foretold(fit: &Fit, pixels: &[DVec2], scatter: f64) -> Option<(f64, f64)> {
    let squares: Vec<f64> = pixels
        .iter()
        .map(|p| {
            let c = fit.covariance(*p);
            scatter * scatter * (c.x_axis.x + c.y_axis.y)
        })
        .collect();
    let mean = squares.iter().sum::<f64>() / squares.len().max(1) as f64;
    let worst = squares.iter().copied().fold(0.0, f64::max);
    let is_sound = squares.iter().all(|s| s.is_finite() && *s >= 0.0);
    (is_sound && !squares.is_empty()).then(|| (mean.sqrt(), worst.sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::sample::{Noise, grid, view};

    const SIZE_PX: (u32, u32) = (640, 480);

    #[test]
    fn the_model_that_made_the_points_is_chosen() {
        for (model, k1, k2) in [
            (LensModel::OneTerm, -0.3, 0.0),
            (LensModel::TwoTerms, -0.35, 0.15),
        ] {
            let mut noise = Noise::new(5);
            let pairs = noise.on(&grid(&view(k1, k2), 5), 0.0005);
            let chosen = Chosen::new(&pairs, SIZE_PX).expect("a grid fixes a map");
            let of = |m: LensModel| chosen.candidates.iter().find(|c| c.0 == m).map(|c| c.1);
            assert!(
                of(LensModel::Straight) > Some(0.01),
                "{:?}",
                chosen.candidates
            );
            assert!(
                chosen.fit.model.terms() >= model.terms(),
                "{:?}",
                chosen.candidates
            );
        }
        let few = grid(&view(0.0, 0.0), 3)[..7].to_vec();
        let chosen = Chosen::new(&few, SIZE_PX).expect("seven points fix a map");
        assert_eq!(chosen.candidates.len(), 1);
    }

    #[test]
    fn shortcut_and_refit_agree() {
        let mut noise = Noise::new(3);
        let pairs = noise.on(&grid(&view(-0.3, 0.08), 8), 0.004);
        let fit = Fit::new(&pairs, SIZE_PX, LensModel::TwoTerms).expect("a grid fixes a map");
        let exact = leave_one_out(&fit, &pairs).expect("64 points bear it");
        let mut more = pairs.clone();
        more.push(pairs[27]);
        let fit = Fit::new(&more, SIZE_PX, LensModel::TwoTerms).expect("a grid fixes a map");
        let quick = leave_one_out(&fit, &more).expect("65 points bear it");
        assert!(
            (rms(&quick) / rms(&exact) - 1.0).abs() < 0.03,
            "{} {}",
            rms(&quick),
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
    fn one_wrong_point_among_few_or_many() {
        for (n, count) in [(3, 7), (3, 9), (9, 81)] {
            let mut noise = Noise::new(8);
            let mut pairs = noise.on(&grid(&view(-0.2, 0.0), n), 0.002);
            pairs.truncate(count);
            pairs[2].1.y += 1.0;
            assert_eq!(outliers(&pairs, SIZE_PX, 0.06, 0.003), [2], "{count}");
        }
    }
}
