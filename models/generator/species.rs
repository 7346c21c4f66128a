//! The built-in models. For shark, salmon, trout and herring, this file defines shape, skin and swimming motion.

#![allow(clippy::too_many_lines, reason = "the shape of a species is one table")]

use glam::Vec3;

use super::clips::{self, Swim};
use super::coral;
use super::drifter;
use super::fish::{self, Fin, HEAD_S, PECTORAL, ROOT_S, Section, Shape, TAIL_S};
use super::glb::{self, Joint, Paint, WHITE};
use super::mesh::Mesh;
use super::paint::{self, Skin, Spots};
use super::rock;
use super::still;

/// Returns the name and file content of every built-in model.
pub(crate) fn all() -> Vec<(&'static str, Vec<u8>)> {
    let mut models: Vec<_> = [shark(), salmon(), trout(), herring()]
        .into_iter()
        .map(|(name, shape, skin, swim)| {
            let full = fish::build(&shape, fish::FULL);
            let small = if name == "herring" {
                fish::TINY
            } else {
                fish::LIGHT
            };
            let light = fish::build(&shape, small);
            let joints = skeleton(&shape);
            (
                name,
                glb::write(
                    name,
                    &[&full, &light],
                    &joints,
                    &clips::all(&swim),
                    &Paint::Skin(&paint::png(&skin, &fish::eye_spot(&shape))),
                ),
            )
        })
        .collect();
    for rock in rock::ALL {
        let (full, light) = (rock::build(&rock, 2), rock::build(&rock, 1));
        let bytes = glb::write(rock.name, &[&full, &light], &[], &[], &WHITE);
        models.push((rock.name, bytes));
    }
    for (name, mesh) in [
        ("log", still::log()),
        ("weed", still::weed()),
        ("lily", still::lily()),
        ("coral_finger", coral::finger()),
        ("coral_brain", coral::brain()),
        ("fall", coral::fall()),
    ] {
        models.push((name, glb::write(name, &[&mesh], &[], &[], &WHITE)));
    }
    for (name, build, divisions, color) in [
        (
            "molecule",
            drifter::molecule as fn(usize) -> Mesh,
            3,
            [0.90, 0.62, 0.20],
        ),
        ("copepod", drifter::copepod, 2, [0.55, 0.90, 0.80]),
    ] {
        let (full, light) = (build(divisions), build(divisions - 1));
        let bytes = glb::write(name, &[&full, &light], &[], &[], &Paint::Plain(color));
        models.push((name, bytes));
    }
    models
}

/// Returns the joints of a fish.
fn skeleton(shape: &Shape) -> Vec<Joint> {
    let spine = |s: f32| Vec3::new(0.0, 0.0, 0.5 - s);
    let shoulder = shape
        .fins
        .iter()
        .find(|fin| fin.joint == Some(PECTORAL))
        .map_or(spine(ROOT_S), |fin| {
            let middle = fin.root[0].lerp(fin.root[1], 0.3);
            Vec3::new(middle.x, middle.y, 0.5 - middle.z)
        });
    let joint = |name, parent, place| Joint {
        name,
        parent,
        place,
    };
    vec![
        joint("body", None, spine(ROOT_S)),
        joint("head", Some(0), spine(HEAD_S)),
        joint("tail_1", Some(0), spine(TAIL_S[0])),
        joint("tail_2", Some(2), spine(TAIL_S[1])),
        joint("tail_3", Some(3), spine(TAIL_S[2])),
        joint("tail_4", Some(4), spine(TAIL_S[3])),
        joint("tail_fin", Some(5), spine(TAIL_S[4])),
        joint("pectoral_left", Some(0), shoulder),
        joint(
            "pectoral_right",
            Some(0),
            shoulder * Vec3::new(-1.0, 1.0, 1.0),
        ),
    ]
}

/// Returns cross sections from rows of (station, half width, height above the spine, height below the spine).
fn sections(rows: &[[f32; 4]]) -> Vec<Section> {
    rows.iter()
        .map(|&[s, width, top, bottom]| Section {
            s,
            width,
            top,
            bottom,
        })
        .collect()
}

/// Returns a fin in the plane of symmetry of the fish.
fn fin(root: [[f32; 3]; 2], edge: &[[f32; 3]]) -> Fin {
    Fin {
        root: root.map(Vec3::from_array),
        edge: edge.iter().map(|&p| Vec3::from_array(p)).collect(),
        joint: None,
        paired: false,
    }
}

/// Returns a fin that exists on both sides of the fish.
fn pair(root: [[f32; 3]; 2], edge: &[[f32; 3]], joint: Option<u8>) -> Fin {
    Fin {
        joint,
        paired: true,
        ..fin(root, edge)
    }
}

/// Name, shape, skin and swimming motion.
type Species = (&'static str, Shape, Skin, Swim);

fn shark() -> Species {
    let shape = Shape {
        sections: sections(&[
            [0.0, 0.004, 0.004, 0.004],
            [0.02, 0.042, 0.018, 0.020],
            [0.07, 0.072, 0.036, 0.036],
            [0.14, 0.086, 0.052, 0.050],
            [0.24, 0.092, 0.070, 0.066],
            [0.36, 0.088, 0.078, 0.072],
            [0.50, 0.064, 0.062, 0.056],
            [0.64, 0.038, 0.042, 0.036],
            [0.76, 0.020, 0.026, 0.022],
            [0.83, 0.013, 0.020, 0.017],
            [0.90, 0.006, 0.016, 0.010],
            [0.96, 0.002, 0.012, 0.002],
        ]),
        fins: vec![
            pair(
                [[0.075, -0.030, 0.26], [0.072, -0.034, 0.38]],
                &[
                    [0.150, -0.061, 0.29],
                    [0.240, -0.098, 0.37],
                    [0.262, -0.111, 0.425],
                    [0.190, -0.085, 0.415],
                    [0.105, -0.052, 0.40],
                ],
                Some(PECTORAL),
            ),
            fin(
                [[0.0, 0.070, 0.37], [0.0, 0.058, 0.50]],
                &[
                    [0.0, 0.115, 0.42],
                    [0.0, 0.165, 0.48],
                    [0.0, 0.175, 0.515],
                    [0.0, 0.110, 0.505],
                    [0.0, 0.075, 0.525],
                ],
            ),
            fin(
                [[0.0, 0.026, 0.72], [0.0, 0.020, 0.77]],
                &[
                    [0.0, 0.045, 0.745],
                    [0.0, 0.055, 0.775],
                    [0.0, 0.035, 0.785],
                    [0.0, 0.026, 0.79],
                ],
            ),
            fin(
                [[0.0, -0.024, 0.71], [0.0, -0.018, 0.76]],
                &[
                    [0.0, -0.040, 0.74],
                    [0.0, -0.050, 0.77],
                    [0.0, -0.032, 0.775],
                    [0.0, -0.022, 0.78],
                ],
            ),
            pair(
                [[0.030, -0.034, 0.57], [0.026, -0.030, 0.64]],
                &[
                    [0.060, -0.048, 0.60],
                    [0.082, -0.056, 0.65],
                    [0.055, -0.048, 0.665],
                    [0.034, -0.036, 0.66],
                ],
                None,
            ),
            fin(
                [[0.0, 0.016, 0.86], [0.0, -0.012, 0.86]],
                &[
                    [0.0, 0.075, 0.905],
                    [0.0, 0.150, 0.985],
                    [0.0, 0.062, 0.935],
                    [0.0, -0.020, 0.905],
                    [0.0, -0.085, 0.935],
                    [0.0, -0.050, 0.880],
                ],
            ),
            fin(
                [[0.0, 0.016, 0.80], [0.0, -0.014, 0.80]],
                &[
                    [0.0, 0.030, 0.88],
                    [0.0, 0.020, 0.90],
                    [0.0, -0.010, 0.90],
                    [0.0, -0.024, 0.88],
                ],
            ),
        ],
        eye: (Vec3::new(0.066, 0.010, 0.085), 0.0085),
    };
    let skin = Skin {
        back: Vec3::new(84.0, 88.0, 92.0),
        flank: Vec3::new(136.0, 141.0, 143.0),
        belly: Vec3::new(222.0, 222.0, 216.0),
        borders: [0.30, 0.60],
        softness: 0.10,
        fin: Vec3::new(76.0, 81.0, 86.0),
        fin_opacity: [1.0, 0.96],
        mottling: 0.55,
        spots: None,
        band: None,
        gills: &[0.185, 0.200, 0.215, 0.230, 0.245],
        iris: Vec3::new(60.0, 62.0, 60.0),
    };
    (
        "shark",
        shape,
        skin,
        Swim {
            reach: 0.10,
            wave: 0.95,
        },
    )
}

fn salmon() -> Species {
    let shape = Shape {
        sections: sections(&[
            [0.0, 0.004, 0.006, 0.006],
            [0.025, 0.022, 0.024, 0.026],
            [0.08, 0.042, 0.050, 0.052],
            [0.16, 0.058, 0.074, 0.076],
            [0.28, 0.068, 0.098, 0.100],
            [0.40, 0.068, 0.102, 0.104],
            [0.54, 0.056, 0.086, 0.088],
            [0.68, 0.038, 0.060, 0.062],
            [0.80, 0.021, 0.038, 0.038],
            [0.86, 0.014, 0.033, 0.033],
            [0.895, 0.007, 0.038, 0.038],
        ]),
        fins: vec![
            pair(
                [[0.050, -0.055, 0.24], [0.052, -0.060, 0.275]],
                &[
                    [0.085, -0.095, 0.27],
                    [0.125, -0.138, 0.33],
                    [0.118, -0.130, 0.355],
                    [0.075, -0.087, 0.33],
                ],
                Some(PECTORAL),
            ),
            fin(
                [[0.0, 0.096, 0.41], [0.0, 0.082, 0.53]],
                &[
                    [0.0, 0.150, 0.445],
                    [0.0, 0.158, 0.48],
                    [0.0, 0.132, 0.525],
                    [0.0, 0.108, 0.56],
                ],
            ),
            fin(
                [[0.0, 0.052, 0.72], [0.0, 0.044, 0.755]],
                &[
                    [0.0, 0.066, 0.745],
                    [0.0, 0.072, 0.765],
                    [0.0, 0.062, 0.78],
                    [0.0, 0.050, 0.78],
                ],
            ),
            fin(
                [[0.0, -0.058, 0.68], [0.0, -0.040, 0.77]],
                &[
                    [0.0, -0.108, 0.725],
                    [0.0, -0.112, 0.755],
                    [0.0, -0.080, 0.79],
                    [0.0, -0.055, 0.80],
                ],
            ),
            pair(
                [[0.020, -0.088, 0.52], [0.018, -0.082, 0.555]],
                &[
                    [0.042, -0.110, 0.55],
                    [0.058, -0.118, 0.59],
                    [0.048, -0.110, 0.605],
                    [0.026, -0.092, 0.59],
                ],
                None,
            ),
            fin(
                [[0.0, 0.036, 0.875], [0.0, -0.036, 0.875]],
                &[
                    [0.0, 0.085, 0.925],
                    [0.0, 0.135, 0.99],
                    [0.0, 0.070, 0.955],
                    [0.0, 0.0, 0.935],
                    [0.0, -0.070, 0.955],
                    [0.0, -0.135, 0.99],
                    [0.0, -0.085, 0.925],
                ],
            ),
        ],
        eye: (Vec3::new(0.034, 0.014, 0.070), 0.0105),
    };
    let skin = Skin {
        back: Vec3::new(76.0, 88.0, 84.0),
        flank: Vec3::new(168.0, 186.0, 196.0),
        belly: Vec3::new(232.0, 234.0, 230.0),
        borders: [0.37, 0.66],
        softness: 0.13,
        fin: Vec3::new(96.0, 112.0, 114.0),
        fin_opacity: [0.95, 0.55],
        mottling: 0.16,
        spots: Some(Spots {
            color: Vec3::new(30.0, 42.0, 48.0),
            per_length: 21.0,
            radius: 0.0115,
            reach_down: 0.44,
            red: 0.0,
        }),
        band: None,
        gills: &[0.175],
        iris: Vec3::new(196.0, 190.0, 150.0),
    };
    (
        "salmon",
        shape,
        skin,
        Swim {
            reach: 0.085,
            wave: 1.0,
        },
    )
}

fn trout() -> Species {
    let shape = Shape {
        sections: sections(&[
            [0.0, 0.005, 0.008, 0.008],
            [0.025, 0.028, 0.028, 0.030],
            [0.08, 0.052, 0.056, 0.058],
            [0.16, 0.068, 0.082, 0.084],
            [0.28, 0.078, 0.106, 0.108],
            [0.40, 0.078, 0.108, 0.112],
            [0.54, 0.064, 0.092, 0.094],
            [0.68, 0.044, 0.066, 0.068],
            [0.80, 0.026, 0.046, 0.046],
            [0.86, 0.018, 0.042, 0.042],
            [0.895, 0.008, 0.050, 0.050],
        ]),
        fins: vec![
            pair(
                [[0.058, -0.058, 0.23], [0.060, -0.064, 0.275]],
                &[
                    [0.105, -0.104, 0.26],
                    [0.155, -0.150, 0.315],
                    [0.158, -0.154, 0.355],
                    [0.125, -0.128, 0.365],
                    [0.085, -0.092, 0.335],
                ],
                Some(PECTORAL),
            ),
            fin(
                [[0.0, 0.104, 0.40], [0.0, 0.088, 0.54]],
                &[
                    [0.0, 0.165, 0.43],
                    [0.0, 0.176, 0.47],
                    [0.0, 0.160, 0.53],
                    [0.0, 0.118, 0.57],
                ],
            ),
            fin(
                [[0.0, 0.058, 0.72], [0.0, 0.050, 0.76]],
                &[
                    [0.0, 0.078, 0.75],
                    [0.0, 0.082, 0.775],
                    [0.0, 0.068, 0.79],
                    [0.0, 0.054, 0.785],
                ],
            ),
            fin(
                [[0.0, -0.064, 0.68], [0.0, -0.048, 0.77]],
                &[
                    [0.0, -0.122, 0.72],
                    [0.0, -0.126, 0.755],
                    [0.0, -0.092, 0.795],
                    [0.0, -0.060, 0.80],
                ],
            ),
            pair(
                [[0.026, -0.094, 0.51], [0.024, -0.088, 0.555]],
                &[
                    [0.055, -0.118, 0.545],
                    [0.078, -0.128, 0.595],
                    [0.062, -0.120, 0.612],
                    [0.032, -0.098, 0.595],
                ],
                None,
            ),
            fin(
                [[0.0, 0.046, 0.875], [0.0, -0.046, 0.875]],
                &[
                    [0.0, 0.095, 0.925],
                    [0.0, 0.128, 0.985],
                    [0.0, 0.070, 0.972],
                    [0.0, 0.0, 0.965],
                    [0.0, -0.070, 0.972],
                    [0.0, -0.128, 0.985],
                    [0.0, -0.095, 0.925],
                ],
            ),
        ],
        eye: (Vec3::new(0.042, 0.016, 0.068), 0.0115),
    };
    let skin = Skin {
        back: Vec3::new(95.0, 90.0, 49.0),
        flank: Vec3::new(158.0, 138.0, 76.0),
        belly: Vec3::new(226.0, 212.0, 170.0),
        borders: [0.34, 0.70],
        softness: 0.15,
        fin: Vec3::new(138.0, 116.0, 64.0),
        fin_opacity: [0.95, 0.6],
        mottling: 0.22,
        spots: Some(Spots {
            color: Vec3::new(36.0, 32.0, 20.0),
            per_length: 20.0,
            radius: 0.0125,
            reach_down: 0.62,
            red: 0.35,
        }),
        band: Some((Vec3::new(206.0, 168.0, 140.0), 0.45)),
        gills: &[0.18],
        iris: Vec3::new(200.0, 160.0, 70.0),
    };
    (
        "trout",
        shape,
        skin,
        Swim {
            reach: 0.085,
            wave: 0.9,
        },
    )
}

fn herring() -> Species {
    let shape = Shape {
        sections: sections(&[
            [0.0, 0.004, 0.006, 0.006],
            [0.025, 0.017, 0.020, 0.024],
            [0.08, 0.031, 0.042, 0.050],
            [0.16, 0.042, 0.062, 0.074],
            [0.28, 0.049, 0.080, 0.094],
            [0.40, 0.049, 0.084, 0.098],
            [0.54, 0.040, 0.070, 0.082],
            [0.68, 0.027, 0.048, 0.056],
            [0.80, 0.015, 0.030, 0.032],
            [0.85, 0.010, 0.026, 0.026],
            [0.88, 0.005, 0.030, 0.030],
        ]),
        fins: vec![
            pair(
                [[0.038, -0.048, 0.23], [0.039, -0.052, 0.26]],
                &[
                    [0.062, -0.079, 0.26],
                    [0.085, -0.105, 0.31],
                    [0.078, -0.098, 0.325],
                    [0.052, -0.070, 0.30],
                ],
                Some(PECTORAL),
            ),
            fin(
                [[0.0, 0.080, 0.44], [0.0, 0.068, 0.54]],
                &[
                    [0.0, 0.122, 0.475],
                    [0.0, 0.122, 0.50],
                    [0.0, 0.096, 0.54],
                    [0.0, 0.078, 0.57],
                ],
            ),
            fin(
                [[0.0, -0.052, 0.70], [0.0, -0.036, 0.78]],
                &[
                    [0.0, -0.074, 0.73],
                    [0.0, -0.070, 0.755],
                    [0.0, -0.056, 0.78],
                    [0.0, -0.042, 0.80],
                ],
            ),
            fin(
                [[0.0, 0.028, 0.86], [0.0, -0.028, 0.86]],
                &[
                    [0.0, 0.085, 0.92],
                    [0.0, 0.128, 0.99],
                    [0.0, 0.060, 0.945],
                    [0.0, 0.0, 0.905],
                    [0.0, -0.060, 0.945],
                    [0.0, -0.128, 0.99],
                    [0.0, -0.085, 0.92],
                ],
            ),
        ],
        eye: (Vec3::new(0.026, 0.010, 0.062), 0.0125),
    };
    let skin = Skin {
        back: Vec3::new(68.0, 94.0, 94.0),
        flank: Vec3::new(206.0, 220.0, 226.0),
        belly: Vec3::new(238.0, 242.0, 242.0),
        borders: [0.26, 0.70],
        softness: 0.08,
        fin: Vec3::new(120.0, 140.0, 144.0),
        fin_opacity: [0.85, 0.45],
        mottling: 0.14,
        spots: None,
        band: Some((Vec3::new(226.0, 236.0, 238.0), 0.6)),
        gills: &[0.17],
        iris: Vec3::new(214.0, 216.0, 196.0),
    };
    (
        "herring",
        shape,
        skin,
        Swim {
            reach: 0.095,
            wave: 0.95,
        },
    )
}
