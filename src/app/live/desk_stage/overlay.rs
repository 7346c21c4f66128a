//! The overlay that explains the fish: the desk checks whom it is about, and the stages draw it.

use std::time::{Duration, Instant};

use super::DeskStage;
use crate::control::{OVERLAY_SECS_MAX, OverlayChoice, OverlayFish, OverlayPart};

impl DeskStage {
    /// Draws over the pool why the fish act, if there are such fish.
    pub(super) fn show_overlay(
        &self,
        show: &[OverlayPart],
        fish: Option<&OverlayFish>,
        secs: u32,
    ) -> Result<(), String> {
        let choice = OverlayChoice {
            show: show.to_vec(),
            fish: fish.cloned(),
        };
        if !(1..=OVERLAY_SECS_MAX).contains(&secs) {
            return Err(format!(
                "secs = {secs} is out of range; allowed: 1 to {OVERLAY_SECS_MAX}"
            ));
        }
        if !choice.show.is_empty() {
            if self.links.setups.is_none() {
                return Err("the pool runs without a picture".to_owned());
            }
            self.check_fish(fish)?;
        }
        let time = Duration::from_secs(u64::from(secs));
        self.links
            .control
            .show
            .set_overlay(choice, time, Instant::now());
        Ok(())
    }

    /// Checks that the pool has fish with an id or a name.
    fn check_fish(&self, fish: Option<&OverlayFish>) -> Result<(), String> {
        let is_known = match fish {
            None => true,
            Some(OverlayFish::Id(id)) => self.living.species_of(*id).is_some(),
            Some(OverlayFish::Name(name)) => self.desk.editor().site().has_fish_named(name),
        };
        let fish = fish.map(ToString::to_string).unwrap_or_default();
        match is_known {
            true => Ok(()),
            false => Err(format!(
                "the pool has no fish \"{fish}\"; write an id, or the name of a species, a group or a fish of this scene"
            )),
        }
    }
}
