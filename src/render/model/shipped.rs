//! The models that are built into the program.

use super::data::Model;
use super::error::ModelError;

/// Number of models of static bodies, in this order: four stones, a trunk, two corals, a plant, a lily leaf, a
/// lily flower, a waterfall.
pub(crate) const STATIC_MODEL_COUNT: usize = 11;

/// The built-in models of species by name.
pub const SHIPPED_MODELS: &[(&str, &[u8])] = &[
    (
        "butterfly_koi",
        include_bytes!("../../../models/butterfly_koi.glb"),
    ),
    ("copepod", include_bytes!("../../../models/copepod.glb")),
    ("crab", include_bytes!("../../../models/crab.glb")),
    ("fry", include_bytes!("../../../models/fry.glb")),
    ("herring", include_bytes!("../../../models/herring.glb")),
    ("koi", include_bytes!("../../../models/koi.glb")),
    ("manta", include_bytes!("../../../models/manta.glb")),
    ("molecule", include_bytes!("../../../models/molecule.glb")),
    ("pike", include_bytes!("../../../models/pike.glb")),
    ("salmon", include_bytes!("../../../models/salmon.glb")),
    ("shark", include_bytes!("../../../models/shark.glb")),
    ("trout", include_bytes!("../../../models/trout.glb")),
];

/// The built-in models of static bodies, in the order that [`STATIC_MODEL_COUNT`] documents.
const STATIC_MODELS: [(&str, &[u8]); STATIC_MODEL_COUNT] = [
    (
        "rock_round",
        include_bytes!("../../../models/rock_round.glb"),
    ),
    ("rock_flat", include_bytes!("../../../models/rock_flat.glb")),
    (
        "rock_split",
        include_bytes!("../../../models/rock_split.glb"),
    ),
    (
        "rock_sharp",
        include_bytes!("../../../models/rock_sharp.glb"),
    ),
    ("log", include_bytes!("../../../models/log.glb")),
    (
        "coral_finger",
        include_bytes!("../../../models/coral_finger.glb"),
    ),
    (
        "coral_brain",
        include_bytes!("../../../models/coral_brain.glb"),
    ),
    ("weed", include_bytes!("../../../models/weed.glb")),
    ("lily", include_bytes!("../../../models/lily.glb")),
    ("flower", include_bytes!("../../../models/flower.glb")),
    ("fall", include_bytes!("../../../models/fall.glb")),
];

/// Loads the built-in models of static bodies.
///
/// # Errors
/// If a built-in model is invalid; a test loads all of them.
pub fn shipped_static_models() -> Result<Vec<Model>, ModelError> {
    STATIC_MODELS
        .iter()
        .map(|(name, bytes)| Model::from_glb(name, bytes))
        .collect()
}
