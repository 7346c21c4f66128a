//! What the director wants of the fish now. Set between ticks, read by actions.

use glam::Vec3;

/// Where some are to gather.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Gathering {
    /// The point, world space.
    pub point_m: Vec3,
    /// Weight that going there has at least, for actions whose own weight is less.
    pub weight: f32,
}

/// What the director wants now.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Director {
    /// Where all are to gather, told by hand; goes before what the rules want.
    pub by_hand: Option<Gathering>,
    /// Where the rules want each species to be, by its place in the list of species.
    pub by_rules: Vec<Option<Gathering>>,
}

impl Director {
    /// Where the species at this place in the list is to gather; `None` lets it go its way.
    pub fn gathering(&self, kind: u16) -> Option<Gathering> {
        let ruled = || self.by_rules.get(usize::from(kind)).copied().flatten();
        self.by_hand.or_else(ruled)
    }
}
