//! Converts the overlay as commands name it to what the simulation draws.

use crate::control::{OverlayChoice, OverlayFish, OverlayPart};
use crate::world::{OverlayAgents, OverlayLayer, OverlayLayers, OverlayRequest};

/// Returns what the simulation has to draw for a choice.
pub(super) fn overlay_request(choice: &OverlayChoice) -> OverlayRequest {
    let layers = choice.show.iter().map(|part| layers_of(*part));
    OverlayRequest {
        layers: layers.fold(OverlayLayers::NONE, OverlayLayers::and),
        agents: match &choice.fish {
            None => OverlayAgents::All,
            Some(OverlayFish::Id(id)) => OverlayAgents::Id(*id),
            Some(OverlayFish::Name(name)) => OverlayAgents::Named(name.clone()),
        },
    }
}

fn layers_of(part: OverlayPart) -> OverlayLayers {
    let layer = match part {
        OverlayPart::Flock => return OverlayLayers::FLOCK,
        OverlayPart::Why => OverlayLayer::Mind,
        OverlayPart::Forces => OverlayLayer::Force,
        OverlayPart::Sight => OverlayLayer::Sight,
        OverlayPart::Shelter => OverlayLayer::Shelter,
        OverlayPart::Vectors => OverlayLayer::Motion,
        OverlayPart::Shadows => OverlayLayer::Shadow,
        OverlayPart::Fields => OverlayLayer::Field,
        OverlayPart::Ways => OverlayLayer::Path,
        OverlayPart::Mesh => OverlayLayer::Mesh,
    };
    OverlayLayers::NONE.with(layer)
}
