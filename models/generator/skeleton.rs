//! The skeleton of a fish: a spine, and one joint for each fin that moves by itself.

use glam::Vec3;

use super::fish::{HEAD_S, ROOT_S, Shape, TAIL_S};

/// The part of the body that a joint moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Part {
    /// The root of the skeleton.
    Body,
    Head,
    /// A part of the tail; 0 is next to the body.
    Tail(usize),
    /// A fin, and its side: 1 is left, −1 is right, 0 is the plane of symmetry.
    Fin(Hinge, f32),
    /// A part of a limb: what it is, its number from the body or from the front, and its side.
    Limb(&'static str, usize, f32),
}

/// The way in which a fin is attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hinge {
    /// The spine moves the fin; it has no joint of its own.
    Spine,
    Pectoral,
    Pelvic,
    Dorsal,
    /// Upper lobe of the tail fin.
    TailUpper,
    /// Lower lobe of the tail fin.
    TailLower,
}

/// A joint of a skeleton, with its parent and its position in model space.
pub(super) struct Joint {
    pub part: Part,
    pub parent: Option<usize>,
    pub place: Vec3,
}

impl Joint {
    /// Returns the name of the joint in the file.
    pub(super) fn name(&self) -> String {
        let side = |side: f32| match side {
            1.0 => "_left",
            -1.0 => "_right",
            _ => "",
        };
        match self.part {
            Part::Body => "body".to_owned(),
            Part::Head => "head".to_owned(),
            Part::Tail(4) => "tail_fin".to_owned(),
            Part::Tail(i) => format!("tail_{}", i + 1),
            Part::Limb(name, number, of) => format!("{name}_{}{}", number + 1, side(of)),
            Part::Fin(hinge, of) => format!(
                "{}{}",
                match hinge {
                    Hinge::Spine => "fin",
                    Hinge::Pectoral => "pectoral",
                    Hinge::Pelvic => "pelvic",
                    Hinge::Dorsal => "dorsal",
                    Hinge::TailUpper => "tail_upper",
                    Hinge::TailLower => "tail_lower",
                },
                side(of)
            ),
        }
    }
}

/// Returns the joints of a fish: root, head, tail, and the fins that have joints, in the order of the shape.
pub(super) fn joints(shape: &Shape) -> Vec<Joint> {
    let spine = |s: f32| Vec3::new(0.0, 0.0, 0.5 - s);
    let joint = |part, parent, place| Joint {
        part,
        parent,
        place,
    };
    let mut joints = vec![
        joint(Part::Body, None, spine(ROOT_S)),
        joint(Part::Head, Some(0), spine(HEAD_S)),
    ];
    for (i, &s) in TAIL_S.iter().enumerate() {
        let parent = if i == 0 { 0 } else { joints.len() - 1 };
        joints.push(joint(Part::Tail(i), Some(parent), spine(s)));
    }
    for fin in shape.fins.iter().filter(|fin| fin.hinge != Hinge::Spine) {
        let middle = fin.root[0].lerp(fin.root[1], 0.3);
        let place = Vec3::new(middle.x, middle.y, 0.5 - middle.z);
        // The last joint of the spine in front of the fin is its parent.
        let parent = TAIL_S
            .iter()
            .rposition(|&s| s < middle.z)
            .map_or(0, |i| 2 + i);
        let sides: &[f32] = if fin.paired { &[1.0, -1.0] } else { &[0.0] };
        for &side in sides {
            let place = if side < 0.0 {
                place * Vec3::new(-1.0, 1.0, 1.0)
            } else {
                place
            };
            joints.push(joint(Part::Fin(fin.hinge, side), Some(parent), place));
        }
    }
    joints
}
