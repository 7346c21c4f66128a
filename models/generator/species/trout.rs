//! The trout: a stout body, broad fins and a straight tail.

#![allow(clippy::too_many_lines, reason = "the shape of a species is one table")]

use glam::Vec3;

use super::super::clips::Swim;
use super::super::fish::{self, Shape};
use super::super::paint::Skin;
use super::super::skeleton::Hinge;
use super::{Fan, Species, fan, fin, sections, tail};

pub(super) fn trout() -> Species {
    let mut fins = vec![
        fan(
            Hinge::Pectoral,
            &Fan {
                root: [0.066, -0.058, 0.220],
                chord: 0.032,
                length: 0.150,
                swept_deg: [28.0, 78.0],
                droop_deg: 28.0,
            },
        ),
        fin(
            Hinge::Dorsal,
            [[0.0, 0.104, 0.38], [0.0, 0.086, 0.52]],
            &[
                [0.004, 0.145, 0.398],
                [0.012, 0.176, 0.440],
                [0.014, 0.166, 0.505],
                [0.006, 0.118, 0.550],
            ],
        ),
        fin(
            Hinge::Spine,
            [[0.0, 0.058, 0.71], [0.0, 0.050, 0.745]],
            &[
                [0.0, 0.074, 0.738],
                [0.0, 0.082, 0.765],
                [0.0, 0.068, 0.780],
                [0.0, 0.054, 0.775],
            ],
        ),
        fin(
            Hinge::Spine,
            [[0.0, -0.064, 0.66], [0.0, -0.048, 0.75]],
            &[
                [0.0, -0.110, 0.690],
                [0.0, -0.126, 0.730],
                [0.0, -0.094, 0.775],
                [0.0, -0.060, 0.785],
            ],
        ),
        fan(
            Hinge::Pelvic,
            &Fan {
                root: [0.036, -0.090, 0.49],
                chord: 0.028,
                length: 0.095,
                swept_deg: [40.0, 84.0],
                droop_deg: 22.0,
            },
        ),
    ];
    fins.extend(tail(
        [[0.042, 0.835], [0.0, 0.868]],
        &[
            [0.070, 0.880],
            [0.104, 0.945],
            [0.126, 0.992],
            [0.088, 0.990],
            [0.044, 0.982],
            [0.0, 0.976],
        ],
    ));
    let shape = Shape {
        sections: sections(&[
            [0.0, 0.008, 0.008, 0.009],
            [0.012, 0.026, 0.022, 0.024],
            [0.035, 0.044, 0.038, 0.040],
            [0.08, 0.060, 0.058, 0.060],
            [0.15, 0.073, 0.082, 0.084],
            [0.26, 0.080, 0.106, 0.108],
            [0.38, 0.080, 0.108, 0.112],
            [0.52, 0.066, 0.094, 0.096],
            [0.66, 0.047, 0.068, 0.070],
            [0.77, 0.032, 0.050, 0.050],
            [0.83, 0.026, 0.044, 0.044],
            [0.87, 0.012, 0.044, 0.044],
        ]),
        fins,
        eye: (Vec3::new(0.0490, 0.026, 0.068), 0.0130),
        barbels: Vec::new(),
    };
    let skin = Skin {
        back: Vec3::new(82.0, 72.0, 38.0),
        flank: Vec3::new(186.0, 154.0, 82.0),
        belly: Vec3::new(234.0, 218.0, 176.0),
        borders: [0.30, 0.66],
        softness: 0.19,
        fin: Vec3::new(176.0, 128.0, 66.0),
        fin_opacity: [0.82, 0.30],
        fin_tip: 0.10,
        rays: 13,
        scales: 0.16,
        mottling: 0.18,
        band: Some((Vec3::new(214.0, 168.0, 136.0), 0.45)),
        gills: &[0.18],
        gill_depth: 0.36,
        mouth: 0.072,
        mouth_line: [0.60, 0.5],
        head: 0.28,
        iris: Vec3::new(112.0, 90.0, 44.0),
    };
    Species {
        name: "trout",
        shape,
        skin,
        swim: Swim {
            reach: 0.095,
            wave: 0.9,
            fold_rad: 0.26,
            twist_rad: 0.5,
        },
        smallest: fish::LIGHT,
    }
}
