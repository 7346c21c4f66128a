//! Visitors to bundles of TUIO 1.1: the profiles `2Dcur` (a foot point) and `2Dblb` (a shadow).

use glam::Vec2;
use rosc::{OscBundle, OscMessage, OscPacket, OscTime, OscType, encoder};

use crate::geometry::Visitor;

/// Largest bundle, in bytes: what fits into an Ethernet frame.
pub(super) const BYTES_MAX: usize = 1472;
/// Largest number of visitors that are sent. There are ids for all of them in each bundle.
pub(super) const VISITORS_MAX: usize = 128;
/// Name of the sender in each bundle.
const SOURCE: &str = "shoal";
/// "Immediately", as the time of a bundle.
const NOW: OscTime = OscTime {
    seconds: 0,
    fractional: 1,
};

/// A visitor, in shares of the picture: from 0 at the left and at the top to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Cursor {
    pub(super) id: i32,
    pub(super) at: Vec2,
    /// Shares of the picture per second.
    pub(super) velocity: Vec2,
    /// Change of the speed per second.
    pub(super) acceleration: f32,
    /// Width and height of the shadow.
    pub(super) size: Vec2,
    /// Share of the picture that the shadow covers.
    pub(super) area: f32,
}

impl Cursor {
    /// Returns the visitor; `None` if the foot point is not in the picture, which measures `picture_m`, or a number is not finite.
    pub(super) fn of(visitor: &Visitor, picture_m: Vec2) -> Option<Self> {
        let at = visitor.foot_m / picture_m + 0.5;
        let is_inside = (0.0..=1.0).contains(&at.x) && (0.0..=1.0).contains(&at.y);
        if !is_inside || !visitor.is_finite() {
            return None;
        }
        let corners = visitor.outline_m.iter().copied();
        let (low, high) = corners.fold((Vec2::MAX, Vec2::MIN), |(low, high), corner| {
            (low.min(corner), high.max(corner))
        });
        let size_m = match visitor.outline_m.is_empty() {
            true => Vec2::splat(2.0 * visitor.radius_m),
            false => high - low,
        };
        Some(Self {
            // Ids of TUIO have a sign.
            id: (visitor.id & 0x7fff_ffff) as i32,
            at,
            velocity: visitor.velocity_mps / picture_m,
            acceleration: 0.0,
            size: size_m / picture_m,
            area: visitor.area_m2 / (picture_m.x * picture_m.y),
        })
    }
}

/// A profile: what is sent of a visitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Profile {
    Cursor,
    Blob,
}

impl Profile {
    fn address(self) -> &'static str {
        match self {
            Self::Cursor => "/tuio/2Dcur",
            Self::Blob => "/tuio/2Dblb",
        }
    }

    fn message(self, args: Vec<OscType>) -> OscPacket {
        OscPacket::Message(OscMessage {
            addr: self.address().to_owned(),
            args,
        })
    }

    fn set(self, cursor: &Cursor) -> OscPacket {
        let Cursor { at, velocity, .. } = *cursor;
        let numbers = match self {
            Self::Cursor => vec![at.x, at.y, velocity.x, velocity.y, cursor.acceleration],
            // The angle of the shadow and its rotation are not known.
            Self::Blob => vec![
                at.x,
                at.y,
                0.0,
                cursor.size.x,
                cursor.size.y,
                cursor.area,
                velocity.x,
                velocity.y,
                0.0,
                cursor.acceleration,
                0.0,
            ],
        };
        let mut args = vec!["set".into(), OscType::Int(cursor.id)];
        args.extend(numbers.into_iter().map(OscType::Float));
        self.message(args)
    }

    /// Returns the datagrams of a frame: bundles that each name all ids, and together contain all visitors.
    pub(super) fn datagrams(self, cursors: &[Cursor], frame: i32) -> Vec<Vec<u8>> {
        let alive = cursors.iter().map(|cursor| OscType::Int(cursor.id));
        let alive = std::iter::once("alive".into()).chain(alive).collect();
        let head = [
            self.message(vec!["source".into(), SOURCE.into()]),
            self.message(alive),
        ];
        let end = self.message(vec!["fseq".into(), OscType::Int(frame)]);
        let bundle = |sets: &[OscPacket]| {
            let content = head.iter().chain(sets).chain([&end]).cloned().collect();
            let timetag = NOW;
            let bundle = OscPacket::Bundle(OscBundle { timetag, content });
            // A bundle of these messages can always be encoded.
            encoder::encode(&bundle).unwrap_or_default()
        };
        let sets: Vec<_> = cursors.iter().map(|cursor| self.set(cursor)).collect();
        let used = bundle(&[]).len();
        // Each message of a bundle has its size before it.
        let size = |set: &OscPacket| encoder::encode(set).map_or(0, |bytes| bytes.len() + 4);
        let largest = sets.iter().map(size).max().unwrap_or(1);
        let count = (BYTES_MAX.saturating_sub(used) / largest).max(1);
        match sets.is_empty() {
            true => vec![bundle(&[])],
            false => sets.chunks(count).map(bundle).collect(),
        }
    }
}
