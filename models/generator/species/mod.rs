//! The built-in models. The submodules define shape, skin and swimming motion of each fish.
//!
//! Proportions are measured from photographs of the animals from above and from the side.

mod fry;
mod herring;
mod koi;
mod pike;
mod salmon;
mod shark;
mod trout;

use glam::Vec3;

use super::clips::{self, Swim};
use super::coral;
use super::crab;
use super::drifter;
use super::fish::{self, Barbel, Detail, Fin, Section, Shape};
use super::glb::{self, Paint, WHITE};
use super::mesh::Mesh;
use super::paint::{self, Skin};
use super::ray;
use super::rock;
use super::skeleton::{self, Hinge};
use super::still;

/// The definition of a fish.
struct Species {
    name: &'static str,
    shape: Shape,
    skin: Skin,
    swim: Swim,
    /// Level of detail of the smallest mesh.
    smallest: Detail,
}

/// Returns the name and file content of every built-in model.
pub(crate) fn all() -> Vec<(&'static str, Vec<u8>)> {
    let fish = [
        shark::shark(),
        salmon::salmon(),
        trout::trout(),
        herring::herring(),
        fry::fry(),
        pike::pike(),
        koi::koi(),
        koi::butterfly(),
    ];
    let mut models: Vec<_> = fish.iter().map(|fish| (fish.name, file(fish))).collect();
    models.push(("manta", ray::file()));
    models.push(("crab", crab::file()));
    for rock in rock::ALL {
        let (full, light) = (rock::build(&rock, 2), rock::build(&rock, 1));
        let bytes = glb::write(rock.name, &[&full, &light], &[], &[], &WHITE);
        models.push((rock.name, bytes));
    }
    for (name, mesh) in [
        ("log", still::log()),
        ("weed", still::weed()),
        ("lily", still::lily()),
        ("flower", still::flower()),
        ("coral_finger", coral::finger()),
        ("coral_brain", coral::brain()),
        ("fall", coral::fall()),
    ] {
        models.push((name, glb::write(name, &[&mesh], &[], &[], &WHITE)));
    }
    let atoms = paint::halves([
        Vec3::new(243.0, 197.0, 112.0),
        Vec3::new(252.0, 240.0, 214.0),
    ]);
    for (name, build, divisions, paint) in [
        (
            "molecule",
            drifter::molecule as fn(usize) -> Mesh,
            3,
            Paint::Skin(&atoms),
        ),
        (
            "copepod",
            drifter::copepod,
            2,
            Paint::Plain([0.55, 0.90, 0.80]),
        ),
    ] {
        let (full, light) = (build(divisions), build(divisions - 1));
        models.push((name, glb::write(name, &[&full, &light], &[], &[], &paint)));
    }
    models
}

/// Returns the file content of a fish.
fn file(fish: &Species) -> Vec<u8> {
    let joints = skeleton::joints(&fish.shape);
    let meshes = [fish::NEAR, fish::MEDIUM, fish::SMALL, fish.smallest]
        .map(|detail| fish::build(&fish.shape, &joints, detail));
    let clips = clips::all(&fish.swim, &joints);
    let skin = Paint::Skin(&paint::png(&fish.skin, &fish::eye_spot(&fish.shape)));
    glb::write(fish.name, &meshes.each_ref(), &joints, &clips, &skin)
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
fn fin(hinge: Hinge, root: [[f32; 3]; 2], edge: &[[f32; 3]]) -> Fin {
    Fin {
        root: root.map(Vec3::from_array),
        edge: edge.iter().map(|&p| Vec3::from_array(p)).collect(),
        hinge,
        paired: false,
        bulge: 0.0,
        thickness: 0.0,
    }
}

/// Returns the two lobes of a tail that is symmetric. Points of the upper lobe are (height above the spine, station); the lower
/// lobe mirrors them.
fn tail(root: [[f32; 2]; 2], edge: &[[f32; 2]]) -> [Fin; 2] {
    [(Hinge::TailUpper, 1.0), (Hinge::TailLower, -1.0)].map(|(hinge, side)| {
        // The sum turns a height of -0 into 0.
        let point = |&[height, s]: &[f32; 2]| [0.0, 0.0 + side * height, s];
        let edge: Vec<[f32; 3]> = edge.iter().map(point).collect();
        fin(hinge, root.map(|end| point(&end)), &edge)
    })
}

/// Returns a stiff fin: a solid blade instead of a membrane.
fn solid(thickness: f32, fin: Fin) -> Fin {
    Fin { thickness, ..fin }
}

/// The shape of a paired fin that spreads from its root like a fan.
struct Fan {
    /// Front end of the root line, as (x, y, s).
    root: [f32; 3],
    /// Length of the root line along the body.
    chord: f32,
    /// Length of the longest ray.
    length: f32,
    /// Angles of the first and the last ray, from straight out to the side (0) to straight back (90).
    swept_deg: [f32; 2],
    /// Angle by which the fin points down.
    droop_deg: f32,
}

/// Returns a paired fin with seven rays. The second and third ray are the longest, as in fins of fast fish.
fn fan(hinge: Hinge, fan: &Fan) -> Fin {
    let [x, y, s] = fan.root;
    let lengths = [0.74, 0.96, 1.0, 0.93, 0.80, 0.64, 0.46];
    let droop = fan.droop_deg.to_radians();
    let edge: Vec<[f32; 3]> = lengths
        .iter()
        .enumerate()
        .map(|(i, share)| {
            let at = i as f32 / (lengths.len() - 1) as f32;
            let [first, last] = fan.swept_deg;
            let swept = (first + (last - first) * at).to_radians();
            let long = share * fan.length;
            let out = long * swept.cos();
            [
                x + out * droop.cos(),
                y - out * droop.sin(),
                s + fan.chord * at + long * swept.sin(),
            ]
        })
        .collect();
    pair(hinge, [fan.root, [x, y - 0.004, s + fan.chord]], &edge)
}

/// Returns a fin that exists on both sides of the fish.
fn pair(hinge: Hinge, root: [[f32; 3]; 2], edge: &[[f32; 3]]) -> Fin {
    Fin {
        paired: true,
        bulge: 0.008,
        ..fin(hinge, root, edge)
    }
}

/// Returns a barbel with these points from root to tip.
fn barbel(line: [[f32; 3]; 3]) -> Barbel {
    Barbel {
        line: line.map(Vec3::from_array),
        radius: 0.0035,
    }
}
