//! The koi: a broad body with a blunt head, barbels, and fins like spoons. The skin is white; the renderer grows the pattern of
//! each individual.

#![allow(clippy::too_many_lines, reason = "the shape of a species is one table")]

use glam::Vec3;

use super::super::clips::Swim;
use super::super::fish::{self, Shape};
use super::super::paint::Skin;
use super::super::skeleton::Hinge;
use super::{Species, barbel, fin, pair, sections, tail};

pub(super) fn koi() -> Species {
    species("koi", &Fins::SHORT)
}

/// The koi with long fins.
pub(super) fn butterfly() -> Species {
    species("butterfly_koi", &Fins::LONG)
}

/// Lengths of the fins relative to those of an ordinary koi.
struct Fins {
    paired: f32,
    dorsal: f32,
    tail: f32,
}

impl Fins {
    const SHORT: Self = Self {
        paired: 1.0,
        dorsal: 1.0,
        tail: 1.0,
    };
    const LONG: Self = Self {
        paired: 1.9,
        dorsal: 1.5,
        tail: 1.75,
    };
}

fn species(name: &'static str, lengths: &Fins) -> Species {
    let mut fins = vec![
        pair(
            Hinge::Pectoral,
            [[0.074, -0.050, 0.225], [0.078, -0.056, 0.265]],
            &[
                [0.110, -0.062, 0.212],
                [0.158, -0.076, 0.206],
                [0.198, -0.088, 0.222],
                [0.212, -0.094, 0.254],
                [0.196, -0.092, 0.286],
                [0.156, -0.082, 0.300],
                [0.112, -0.068, 0.292],
            ],
        ),
        fin(
            Hinge::Dorsal,
            [[0.0, 0.098, 0.36], [0.0, 0.060, 0.62]],
            &[
                [0.004, 0.138, 0.370],
                [0.014, 0.172, 0.405],
                [0.020, 0.160, 0.470],
                [0.016, 0.132, 0.545],
                [0.010, 0.104, 0.615],
                [0.004, 0.078, 0.655],
            ],
        ),
        fin(
            Hinge::Spine,
            [[0.0, -0.058, 0.66], [0.0, -0.042, 0.73]],
            &[
                [0.0, -0.096, 0.680],
                [0.0, -0.118, 0.715],
                [0.0, -0.096, 0.760],
                [0.0, -0.058, 0.770],
            ],
        ),
        pair(
            Hinge::Pelvic,
            [[0.044, -0.084, 0.46], [0.042, -0.082, 0.495]],
            &[
                [0.076, -0.094, 0.456],
                [0.112, -0.102, 0.470],
                [0.124, -0.106, 0.502],
                [0.104, -0.104, 0.528],
                [0.068, -0.094, 0.530],
            ],
        ),
    ];
    fins.extend(tail(
        [[0.034, 0.800], [0.0, 0.832]],
        &[
            [0.064, 0.848],
            [0.104, 0.915],
            [0.132, 0.985],
            [0.104, 0.992],
            [0.060, 0.958],
            [0.022, 0.925],
            [0.0, 0.912],
        ],
    ));
    for fin in &mut fins {
        let factor = match fin.hinge {
            Hinge::Pectoral | Hinge::Pelvic => lengths.paired,
            Hinge::Dorsal => lengths.dorsal,
            Hinge::TailUpper | Hinge::TailLower => lengths.tail,
            Hinge::Spine => 1.0,
        };
        let last = (fin.edge.len() - 1).max(1) as f32;
        let [front, back] = fin.root;
        for (i, point) in fin.edge.iter_mut().enumerate() {
            let root = front.lerp(back, i as f32 / last);
            *point = root + (*point - root) * factor;
        }
    }
    let mut shape = Shape {
        sections: sections(&[
            [0.0, 0.012, 0.010, 0.012],
            [0.008, 0.024, 0.018, 0.020],
            [0.02, 0.036, 0.026, 0.030],
            [0.05, 0.060, 0.044, 0.050],
            [0.08, 0.075, 0.060, 0.064],
            [0.14, 0.085, 0.082, 0.082],
            [0.195, 0.0895, 0.094, 0.094],
            [0.225, 0.0875, 0.097, 0.096],
            [0.29, 0.087, 0.102, 0.102],
            [0.36, 0.0855, 0.104, 0.104],
            [0.44, 0.078, 0.098, 0.100],
            [0.51, 0.066, 0.088, 0.092],
            [0.59, 0.053, 0.074, 0.078],
            [0.66, 0.044, 0.060, 0.064],
            [0.74, 0.033, 0.046, 0.048],
            [0.79, 0.028, 0.038, 0.038],
            [0.825, 0.022, 0.034, 0.034],
            [0.85, 0.008, 0.030, 0.030],
        ]),
        fins,
        eye: (Vec3::new(0.063, 0.034, 0.085), 0.0135),
        barbels: vec![
            barbel([
                [0.030, -0.020, 0.018],
                [0.046, -0.030, 0.006],
                [0.060, -0.040, 0.018],
            ]),
            barbel([
                [0.042, -0.024, 0.034],
                [0.060, -0.034, 0.026],
                [0.070, -0.044, 0.040],
            ]),
        ],
    };
    // Long fins reach beyond the tip of the tail, so the whole fish is scaled to a length of 1.
    shape.fit();
    let skin = Skin {
        back: Vec3::new(226.0, 218.0, 212.0),
        flank: Vec3::new(232.0, 226.0, 220.0),
        belly: Vec3::new(236.0, 232.0, 228.0),
        borders: [0.30, 0.66],
        softness: 0.16,
        fin: Vec3::new(232.0, 226.0, 220.0),
        fin_opacity: [0.90, 0.30],
        fin_tip: 0.08,
        rays: 13,
        scales: 0.05,
        mottling: 0.05,
        band: None,
        gills: &[0.205],
        gill_depth: 0.5,
        mouth: 0.072,
        mouth_line: [0.60, 0.5],
        head: 0.16,
        iris: Vec3::new(70.0, 62.0, 52.0),
    };
    Species {
        name,
        shape,
        skin,
        swim: Swim {
            reach: 0.085,
            wave: 0.95,
            fold_rad: 0.28,
            twist_rad: 0.62,
        },
        smallest: fish::LIGHT,
    }
}
