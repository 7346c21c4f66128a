//! The herring: a silver body with a blunt head, thin behind, with a deeply forked tail.

use glam::Vec3;

use super::super::clips::Swim;
use super::super::fish::{self, Shape};
use super::super::paint::Skin;
use super::super::skeleton::Hinge;
use super::{Fan, Species, fan, fin, sections, tail};

pub(super) fn herring() -> Species {
    let mut fins = vec![
        fan(
            Hinge::Pectoral,
            &Fan {
                root: [0.056, -0.046, 0.205],
                chord: 0.018,
                length: 0.105,
                swept_deg: [36.0, 78.0],
                droop_deg: 22.0,
            },
        ),
        fin(
            Hinge::Spine,
            [[0.0, 0.080, 0.42], [0.0, 0.066, 0.52]],
            &[
                [0.002, 0.110, 0.440],
                [0.006, 0.124, 0.470],
                [0.006, 0.104, 0.510],
                [0.002, 0.078, 0.548],
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
        [[0.026, 0.815], [0.0, 0.850]],
        &[
            [0.062, 0.870],
            [0.100, 0.935],
            [0.128, 0.995],
            [0.082, 0.965],
            [0.040, 0.930],
            [0.0, 0.898],
        ],
    ));
    let shape = Shape {
        sections: sections(&[
            [0.0, 0.012, 0.010, 0.012],
            [0.012, 0.030, 0.022, 0.024],
            [0.035, 0.046, 0.036, 0.040],
            [0.08, 0.060, 0.053, 0.057],
            [0.14, 0.067, 0.067, 0.077],
            [0.20, 0.069, 0.077, 0.090],
            [0.32, 0.064, 0.083, 0.097],
            [0.46, 0.050, 0.074, 0.086],
            [0.60, 0.033, 0.053, 0.061],
            [0.72, 0.019, 0.034, 0.037],
            [0.80, 0.012, 0.026, 0.026],
            [0.845, 0.006, 0.025, 0.025],
        ]),
        fins,
        eye: (Vec3::new(0.0405, 0.0350, 0.062), 0.0165),
        barbels: Vec::new(),
    };
    Species {
        name: "herring",
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
        back: Vec3::new(84.0, 96.0, 90.0),
        flank: Vec3::new(206.0, 220.0, 226.0),
        belly: Vec3::new(238.0, 242.0, 242.0),
        borders: [0.30, 0.62],
        softness: 0.12,
        fin: Vec3::new(140.0, 156.0, 158.0),
        fin_opacity: [0.85, 0.40],
        fin_tip: 0.25,
        rays: 11,
        scales: 0.16,
        mottling: 0.14,
        band: Some((Vec3::new(226.0, 236.0, 238.0), 0.6)),
        gills: &[0.17],
        gill_depth: 0.45,
        mouth: 0.072,
        mouth_line: [0.60, 0.5],
        head: 0.10,
        iris: Vec3::new(30.0, 33.0, 33.0),
    }
}
