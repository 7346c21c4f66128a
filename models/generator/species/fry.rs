//! The fry: a young fish with a broad head, large eyes, and a tail like a thread.

use glam::Vec3;

use super::super::clips::Swim;
use super::super::fish::{self, Shape};
use super::super::paint::Skin;
use super::super::skeleton::Hinge;
use super::{Fan, Species, fan, fin, sections, tail};

pub(super) fn fry() -> Species {
    let mut fins = vec![
        fan(
            Hinge::Pectoral,
            &Fan {
                root: [0.078, -0.040, 0.205],
                chord: 0.020,
                length: 0.120,
                swept_deg: [36.0, 78.0],
                droop_deg: 22.0,
            },
        ),
        fin(
            Hinge::Spine,
            [[0.0, 0.060, 0.42], [0.0, 0.048, 0.52]],
            &[
                [0.002, 0.090, 0.440],
                [0.006, 0.104, 0.470],
                [0.006, 0.088, 0.510],
                [0.002, 0.062, 0.548],
            ],
        ),
        fin(
            Hinge::Spine,
            [[0.0, -0.052, 0.68], [0.0, -0.036, 0.76]],
            &[
                [0.0, -0.074, 0.71],
                [0.0, -0.070, 0.735],
                [0.0, -0.056, 0.760],
                [0.0, -0.042, 0.780],
            ],
        ),
    ];
    fins.extend(tail(
        [[0.022, 0.815], [0.0, 0.850]],
        &[
            [0.052, 0.870],
            [0.086, 0.935],
            [0.112, 0.995],
            [0.074, 0.965],
            [0.036, 0.930],
            [0.0, 0.898],
        ],
    ));
    let shape = Shape {
        sections: sections(&[
            [0.0, 0.020, 0.014, 0.016],
            [0.012, 0.044, 0.028, 0.030],
            [0.035, 0.064, 0.042, 0.044],
            [0.08, 0.082, 0.057, 0.060],
            [0.14, 0.092, 0.068, 0.072],
            [0.20, 0.095, 0.074, 0.080],
            [0.30, 0.088, 0.073, 0.082],
            [0.42, 0.066, 0.061, 0.067],
            [0.54, 0.043, 0.046, 0.050],
            [0.66, 0.026, 0.034, 0.034],
            [0.76, 0.016, 0.026, 0.026],
            [0.845, 0.007, 0.022, 0.022],
        ]),
        fins,
        eye: (Vec3::new(0.0580, 0.0430, 0.078), 0.0210),
        barbels: Vec::new(),
    };
    Species {
        name: "fry",
        shape,
        skin: skin(),
        swim: Swim {
            reach: 0.100,
            wave: 0.95,
            fold_rad: 0.35,
            twist_rad: 0.75,
        },
        smallest: fish::TINY,
    }
}

fn skin() -> Skin {
    Skin {
        back: Vec3::new(96.0, 100.0, 66.0),
        flank: Vec3::new(190.0, 188.0, 152.0),
        belly: Vec3::new(236.0, 234.0, 220.0),
        borders: [0.28, 0.60],
        softness: 0.16,
        fin: Vec3::new(170.0, 160.0, 120.0),
        fin_opacity: [0.80, 0.35],
        fin_tip: 0.15,
        rays: 11,
        scales: 0.10,
        mottling: 0.16,
        band: Some((Vec3::new(214.0, 214.0, 190.0), 0.5)),
        gills: &[0.19],
        gill_depth: 0.35,
        mouth: 0.072,
        mouth_line: [0.60, 0.5],
        head: 0.12,
        iris: Vec3::new(24.0, 24.0, 20.0),
    }
}
