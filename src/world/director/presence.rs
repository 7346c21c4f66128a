//! The visitors on the surface: arrivals and departures.
//!
//! In: the shadows of a tick. Out: whether a visitor arrives or leaves in this tick. A track that flickers is one visitor.

use serde::{Deserialize, Serialize};

use crate::geometry::Visitor;

/// Time on the surface after which a shadow is a visitor who has arrived. As in the counts of visitors.
const STAY_SECS: f32 = 1.0;
/// Absence after which a visitor has left.
const GONE_SECS: f32 = 2.0;

/// A shadow on the surface, or one that was there a moment before.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Present {
    id: u32,
    here_secs: f32,
    gone_secs: f32,
}

/// The visitors on the surface.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Presence {
    visitors: Vec<Present>,
    arrives: bool,
    leaves: bool,
}

impl Presence {
    /// Takes the shadows of the next tick.
    pub fn update(&mut self, shadows: &[Visitor], dt_secs: f32) {
        (self.arrives, self.leaves) = (false, false);
        for shadow in shadows {
            if !self.visitors.iter().any(|known| known.id == shadow.id) {
                self.visitors.push(Present {
                    id: shadow.id,
                    here_secs: 0.0,
                    gone_secs: 0.0,
                });
            }
        }
        for known in &mut self.visitors {
            let before_secs = known.here_secs;
            if shadows.iter().any(|shadow| shadow.id == known.id) {
                known.here_secs += dt_secs;
                known.gone_secs = 0.0;
            } else {
                known.gone_secs += dt_secs;
            }
            self.arrives |= before_secs < STAY_SECS && known.here_secs >= STAY_SECS;
            self.leaves |= known.here_secs >= STAY_SECS && known.gone_secs >= GONE_SECS;
        }
        self.visitors.retain(|known| known.gone_secs < GONE_SECS);
    }

    /// Whether a visitor arrives in this tick.
    pub fn has_arrived(&self) -> bool {
        self.arrives
    }

    /// Whether a visitor leaves in this tick.
    pub fn has_left(&self) -> bool {
        self.leaves
    }

    /// Whether there is no visitor, and none leaves in this tick.
    pub fn is_empty(&self) -> bool {
        self.visitors.is_empty() && !self.leaves
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shadow(id: u32) -> Visitor {
        Visitor {
            id,
            ..Visitor::default()
        }
    }

    /// Returns the seconds, in steps of a tenth, at which visitors arrive and leave. `at` says who is there.
    fn moments(at: impl Fn(u32) -> Vec<u32>) -> (Vec<u32>, Vec<u32>) {
        let mut presence = Presence::default();
        let (mut arrivals, mut leavings) = (Vec::new(), Vec::new());
        for step in 0..200 {
            let shadows: Vec<Visitor> = at(step).into_iter().map(shadow).collect();
            presence.update(&shadows, 0.1);
            arrivals.extend(presence.has_arrived().then_some(step));
            leavings.extend(presence.has_left().then_some(step));
        }
        (arrivals, leavings)
    }

    #[test]
    fn a_visitor_arrives_after_a_second_and_leaves_two_seconds_after_the_last_shadow() {
        let (arrivals, leavings) = moments(|step| if step < 50 { vec![7] } else { Vec::new() });
        assert!(
            arrivals.len() == 1 && (9..=11).contains(&arrivals[0]),
            "{arrivals:?}"
        );
        assert!(
            leavings.len() == 1 && (69..=71).contains(&leavings[0]),
            "{leavings:?}"
        );
    }

    #[test]
    fn a_track_that_flickers_is_one_visitor_and_a_short_one_is_none() {
        let flickers = |step: u32| if step % 20 < 10 { vec![7] } else { Vec::new() };
        let (arrivals, leavings) = moments(flickers);
        assert_eq!((arrivals.len(), leavings.len()), (1, 0));
        let short = |step: u32| if step < 8 { vec![7] } else { Vec::new() };
        assert_eq!(moments(short), (Vec::new(), Vec::new()));
    }

    #[test]
    fn each_visitor_arrives_once() {
        let two = |step: u32| if step < 60 { vec![1] } else { vec![1, 2] };
        assert_eq!(moments(two).0.len(), 2);
    }
}
