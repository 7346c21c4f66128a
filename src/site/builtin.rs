//! The demo site with its scenes and species, built into the program so that every command runs without files.

/// The demo's site file.
pub(super) const SITE: &str = include_str!("../../config/demo.toml");

/// Scenes by name.
pub(super) const SCENES: &[(&str, &str)] = &[
    (
        "aquarium",
        include_str!("../../config/scenes/aquarium.toml"),
    ),
    ("koi", include_str!("../../config/scenes/koi.toml")),
    ("lagoon", include_str!("../../config/scenes/lagoon.toml")),
    (
        "molecules",
        include_str!("../../config/scenes/molecules.toml"),
    ),
    ("nursery", include_str!("../../config/scenes/nursery.toml")),
    (
        "plankton",
        include_str!("../../config/scenes/plankton.toml"),
    ),
    ("cascade", include_str!("../../config/scenes/cascade.toml")),
    ("pool", include_str!("../../config/scenes/pool.toml")),
    ("reef", include_str!("../../config/scenes/reef.toml")),
    (
        "simple_school",
        include_str!("../../config/scenes/simple_school.toml"),
    ),
    ("sky", include_str!("../../config/scenes/sky.toml")),
];

/// Species by name.
pub(super) const SPECIES: &[(&str, &str)] = &[
    ("damsel", include_str!("../../config/species/damsel.toml")),
    ("fish", include_str!("../../config/species/fish.toml")),
    ("fry", include_str!("../../config/species/fry.toml")),
    ("grazer", include_str!("../../config/species/grazer.toml")),
    ("herring", include_str!("../../config/species/herring.toml")),
    ("koi", include_str!("../../config/species/koi.toml")),
    (
        "molecule_big",
        include_str!("../../config/species/molecule_big.toml"),
    ),
    (
        "molecule_small",
        include_str!("../../config/species/molecule_small.toml"),
    ),
    ("pike", include_str!("../../config/species/pike.toml")),
    (
        "plankton",
        include_str!("../../config/species/plankton.toml"),
    ),
    ("salmon", include_str!("../../config/species/salmon.toml")),
    ("shark", include_str!("../../config/species/shark.toml")),
    (
        "simple_fish",
        include_str!("../../config/species/simple_fish.toml"),
    ),
    (
        "simple_leader",
        include_str!("../../config/species/simple_leader.toml"),
    ),
    ("trout", include_str!("../../config/species/trout.toml")),
];
