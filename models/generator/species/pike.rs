//! The pike: an arrow with a long flat snout; dorsal and anal fin sit far back.

#![allow(clippy::too_many_lines, reason = "the shape of a species is one table")]

use glam::Vec3;

use super::super::clips::Swim;
use super::super::fish::{self, Shape};
use super::super::paint::Skin;
use super::super::skeleton::Hinge;
use super::{Fan, Species, fan, fin, sections, tail};

pub(super) fn pike() -> Species {
    let mut fins = vec![
        fan(
            Hinge::Pectoral,
            &Fan {
                root: [0.048, -0.040, 0.240],
                chord: 0.024,
                length: 0.100,
                swept_deg: [30.0, 80.0],
                droop_deg: 22.0,
            },
        ),
        fin(
            Hinge::Dorsal,
            [[0.0, 0.058, 0.68], [0.0, 0.044, 0.77]],
            &[
                [0.004, 0.096, 0.700],
                [0.012, 0.126, 0.745],
                [0.014, 0.120, 0.800],
                [0.006, 0.074, 0.820],
            ],
        ),
        fin(
            Hinge::Spine,
            [[0.0, -0.056, 0.69], [0.0, -0.042, 0.77]],
            &[
                [0.0, -0.092, 0.715],
                [0.0, -0.118, 0.755],
                [0.0, -0.110, 0.800],
                [0.0, -0.070, 0.815],
            ],
        ),
        fan(
            Hinge::Pelvic,
            &Fan {
                root: [0.034, -0.058, 0.50],
                chord: 0.024,
                length: 0.080,
                swept_deg: [40.0, 84.0],
                droop_deg: 18.0,
            },
        ),
    ];
    fins.extend(tail(
        [[0.030, 0.835], [0.0, 0.868]],
        &[
            [0.060, 0.885],
            [0.096, 0.950],
            [0.112, 0.995],
            [0.076, 0.980],
            [0.036, 0.955],
            [0.0, 0.940],
        ],
    ));
    let shape = Shape {
        sections: sections(&[
            [0.0, 0.010, 0.006, 0.006],
            [0.010, 0.020, 0.009, 0.010],
            [0.04, 0.027, 0.015, 0.018],
            [0.09, 0.033, 0.026, 0.030],
            [0.15, 0.045, 0.044, 0.046],
            [0.22, 0.053, 0.058, 0.058],
            [0.36, 0.058, 0.068, 0.068],
            [0.52, 0.057, 0.068, 0.068],
            [0.66, 0.049, 0.060, 0.060],
            [0.76, 0.034, 0.042, 0.042],
            [0.83, 0.024, 0.032, 0.032],
            [0.87, 0.011, 0.032, 0.032],
        ]),
        fins,
        eye: (Vec3::new(0.030, 0.022, 0.125), 0.0105),
        barbels: Vec::new(),
    };
    let skin = Skin {
        back: Vec3::new(62.0, 66.0, 38.0),
        flank: Vec3::new(134.0, 130.0, 76.0),
        belly: Vec3::new(226.0, 220.0, 186.0),
        borders: [0.34, 0.72],
        softness: 0.18,
        fin: Vec3::new(150.0, 104.0, 58.0),
        fin_opacity: [0.84, 0.36],
        fin_tip: 0.20,
        rays: 14,
        scales: 0.14,
        mottling: 0.25,
        band: None,
        gills: &[0.215],
        gill_depth: 0.36,
        mouth: 0.100,
        mouth_line: [0.60, 0.5],
        head: 0.20,
        iris: Vec3::new(210.0, 170.0, 60.0),
    };
    Species {
        name: "pike",
        shape,
        skin,
        swim: Swim {
            reach: 0.085,
            wave: 0.85,
            fold_rad: 0.30,
            twist_rad: 0.4,
        },
        smallest: fish::LIGHT,
    }
}
