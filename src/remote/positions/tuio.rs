//! Places to bundles of TUIO 1.1: the profiles `2Dcur` (a foot point) and `2Dblb` (a shadow). **Source**: Kaltenbrunner et al. 2005,
//! "TUIO: A Protocol for Table-Top Tangible User Interfaces"; the numbers are those of version 1.1.

use glam::Vec2;
use rosc::{OscPacket, OscType};

use super::super::datagram::{bundles, message};
use super::place::{BYTES_MAX, Place};

/// Name of the sender in each bundle.
const SOURCE: &str = "shoal";

/// A profile: what is sent of a visitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Profile {
    Cursor,
    Blob,
}

impl Profile {
    fn message(self, args: Vec<OscType>) -> OscPacket {
        match self {
            Self::Cursor => message("/tuio/2Dcur", args),
            Self::Blob => message("/tuio/2Dblb", args),
        }
    }

    /// All numbers are in shares of the picture, from 0 at the left and at the top to 1.
    fn set(self, place: &Place, picture_m: Vec2) -> OscPacket {
        let at = place.foot_m / picture_m + 0.5;
        let velocity = place.velocity_mps / picture_m;
        let acceleration = place.before.map_or(0.0, |(before, secs)| {
            (velocity.length() - (before / picture_m).length()) / secs
        });
        let numbers = match self {
            Self::Cursor => vec![at.x, at.y, velocity.x, velocity.y, acceleration],
            Self::Blob => {
                let size = place.size_m / picture_m;
                let area = place.area_m2 / (picture_m.x * picture_m.y);
                // The angle of the shadow and its rotation are not known.
                vec![
                    at.x,
                    at.y,
                    0.0,
                    size.x,
                    size.y,
                    area,
                    velocity.x,
                    velocity.y,
                    0.0,
                    acceleration,
                    0.0,
                ]
            }
        };
        let mut args = vec!["set".into(), OscType::Int(place.id)];
        args.extend(numbers.into_iter().map(OscType::Float));
        self.message(args)
    }

    /// Returns the datagrams of a frame: bundles that each name all ids, and together contain all visitors.
    pub(super) fn datagrams(self, places: &[Place], picture_m: Vec2, frame: i32) -> Vec<Vec<u8>> {
        let alive = places.iter().map(|place| OscType::Int(place.id));
        let alive = std::iter::once("alive".into()).chain(alive).collect();
        let head = [
            self.message(vec!["source".into(), SOURCE.into()]),
            self.message(alive),
        ];
        let end = [self.message(vec!["fseq".into(), OscType::Int(frame)])];
        let sets: Vec<_> = (places.iter())
            .map(|place| vec![self.set(place, picture_m)])
            .collect();
        bundles(BYTES_MAX, &head, &sets, &end)
    }
}
