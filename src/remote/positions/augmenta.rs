//! Places to bundles of Augmenta 3 over OSC. **Source**: Augmenta, "Augmenta OSCv3 protocol", in the public description of the company.

use glam::Vec2;
use rosc::OscType;

use super::super::datagram::{bundles, message};
use super::place::Place;

/// Largest bundle, in bytes, as the protocol says.
const BYTES_MAX: usize = 1432;

/// Returns the datagrams of a frame: bundles that each name all ids, and together contain all visitors. Places are in meters from the
/// left lower corner of the picture: to the right, up from the floor, and away from the viewer.
pub(super) fn frame(places: &[Place], picture_m: Vec2, frame: i32) -> Vec<Vec<u8>> {
    let point = |at: Vec2| {
        vec![at.x, 0.0, at.y]
            .into_iter()
            .map(OscType::Float)
            .collect()
    };
    let from_corner = |at_m: Vec2| {
        let corner = at_m + picture_m / 2.0;
        Vec2::new(corner.x, picture_m.y - corner.y)
    };
    let group = |place: &Place| {
        let address = |part: &str| format!("/au/{}/{part}", place.id);
        vec![
            message(&address("uid"), vec![OscType::Int(place.id)]),
            message(&address("pos"), point(from_corner(place.foot_m))),
            message(&address("box/pos"), point(from_corner(place.middle_m))),
            message(&address("box/size"), point(place.size_m)),
        ]
    };
    let groups: Vec<_> = places.iter().map(group).collect();
    let ids = places.iter().map(|place| OscType::Int(place.id)).collect();
    let count = OscType::Int(places.len() as i32);
    bundles(
        BYTES_MAX,
        &[message("/au/frame/id", vec![OscType::Int(frame)])],
        &groups,
        &[
            message("/au/frame/numObj", vec![count]),
            message("/au/frame/objList", ids),
        ],
    )
}

/// Returns the datagram that describes the picture.
pub(super) fn scene(picture_m: Vec2) -> Vec<Vec<u8>> {
    let size = [picture_m.x, 0.0, picture_m.y].map(OscType::Float);
    bundles(
        BYTES_MAX,
        &[message("/au/scene/size", size.to_vec())],
        &[],
        &[],
    )
}
