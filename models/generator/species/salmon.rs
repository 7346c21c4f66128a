//! The salmon: a long body with a dark back and silver flanks.

#![allow(clippy::too_many_lines, reason = "the shape of a species is one table")]

use glam::Vec3;

use super::super::clips::Swim;
use super::super::fish::{self, Shape};
use super::super::paint::Skin;
use super::super::skeleton::Hinge;
use super::{Fan, Species, fan, fin, sections, tail};

pub(super) fn salmon() -> Species {
    let mut fins = vec![
        fan(
            Hinge::Pectoral,
            &Fan {
                root: [0.058, -0.055, 0.225],
                chord: 0.026,
                length: 0.145,
                swept_deg: [34.0, 76.0],
                droop_deg: 26.0,
            },
        ),
        fin(
            Hinge::Dorsal,
            [[0.0, 0.096, 0.40], [0.0, 0.080, 0.52]],
            &[
                [0.004, 0.135, 0.420],
                [0.010, 0.158, 0.455],
                [0.012, 0.146, 0.505],
                [0.006, 0.108, 0.545],
            ],
        ),
        fin(
            Hinge::Spine,
            [[0.0, 0.052, 0.71], [0.0, 0.044, 0.74]],
            &[
                [0.0, 0.064, 0.735],
                [0.0, 0.071, 0.758],
                [0.0, 0.062, 0.770],
                [0.0, 0.050, 0.768],
            ],
        ),
        fin(
            Hinge::Spine,
            [[0.0, -0.058, 0.66], [0.0, -0.040, 0.75]],
            &[
                [0.0, -0.098, 0.690],
                [0.0, -0.112, 0.730],
                [0.0, -0.082, 0.770],
                [0.0, -0.055, 0.785],
            ],
        ),
        fan(
            Hinge::Pelvic,
            &Fan {
                root: [0.030, -0.084, 0.50],
                chord: 0.024,
                length: 0.085,
                swept_deg: [44.0, 82.0],
                droop_deg: 20.0,
            },
        ),
    ];
    fins.extend(tail(
        [[0.033, 0.835], [0.0, 0.865]],
        &[
            [0.062, 0.880],
            [0.104, 0.945],
            [0.132, 0.995],
            [0.088, 0.980],
            [0.042, 0.958],
            [0.0, 0.945],
        ],
    ));
    let shape = Shape {
        sections: sections(&[
            [0.0, 0.006, 0.006, 0.007],
            [0.012, 0.020, 0.018, 0.020],
            [0.035, 0.034, 0.032, 0.034],
            [0.08, 0.049, 0.052, 0.054],
            [0.15, 0.062, 0.074, 0.076],
            [0.25, 0.070, 0.096, 0.098],
            [0.38, 0.070, 0.102, 0.104],
            [0.52, 0.058, 0.088, 0.090],
            [0.66, 0.041, 0.062, 0.064],
            [0.77, 0.027, 0.042, 0.042],
            [0.83, 0.021, 0.035, 0.035],
            [0.87, 0.010, 0.034, 0.034],
        ]),
        fins,
        eye: (Vec3::new(0.0400, 0.022, 0.070), 0.0120),
        barbels: Vec::new(),
    };
    let skin = Skin {
        back: Vec3::new(74.0, 80.0, 70.0),
        flank: Vec3::new(196.0, 198.0, 188.0),
        belly: Vec3::new(232.0, 234.0, 230.0),
        borders: [0.37, 0.66],
        softness: 0.17,
        fin: Vec3::new(88.0, 98.0, 94.0),
        fin_opacity: [0.80, 0.26],
        fin_tip: 0.25,
        rays: 13,
        scales: 0.20,
        mottling: 0.16,
        band: None,
        gills: &[0.175],
        gill_depth: 0.36,
        mouth: 0.072,
        mouth_line: [0.60, 0.5],
        head: 0.30,
        iris: Vec3::new(92.0, 88.0, 66.0),
    };
    Species {
        name: "salmon",
        shape,
        skin,
        swim: Swim {
            reach: 0.095,
            wave: 1.0,
            fold_rad: 0.30,
            twist_rad: 0.45,
        },
        smallest: fish::LIGHT,
    }
}
