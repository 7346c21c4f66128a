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

/// The files of the examples in `docs`, as (kind, name, text). `explain` names them as users of a key.
pub(super) const EXAMPLES: &[(&str, &str, &str)] = &[
    (
        "site",
        "docs/navigation/site",
        include_str!("../../docs/navigation/site.toml"),
    ),
    (
        "scene",
        "docs/navigation/equals",
        include_str!("../../docs/navigation/scenes/equals.toml"),
    ),
    (
        "scene",
        "docs/navigation/harmonic",
        include_str!("../../docs/navigation/scenes/harmonic.toml"),
    ),
    (
        "scene",
        "docs/navigation/leaders",
        include_str!("../../docs/navigation/scenes/leaders.toml"),
    ),
    (
        "scene",
        "docs/navigation/navigate",
        include_str!("../../docs/navigation/scenes/navigate.toml"),
    ),
    (
        "scene",
        "docs/navigation/radial",
        include_str!("../../docs/navigation/scenes/radial.toml"),
    ),
    (
        "scene",
        "docs/navigation/swirl",
        include_str!("../../docs/navigation/scenes/swirl.toml"),
    ),
    (
        "species",
        "docs/navigation/drifter",
        include_str!("../../docs/navigation/species/drifter.toml"),
    ),
    (
        "species",
        "docs/navigation/eastward",
        include_str!("../../docs/navigation/species/eastward.toml"),
    ),
    (
        "species",
        "docs/navigation/four_goals",
        include_str!("../../docs/navigation/species/four_goals.toml"),
    ),
    (
        "species",
        "docs/navigation/leader_of_goal",
        include_str!("../../docs/navigation/species/leader_of_goal.toml"),
    ),
    (
        "species",
        "docs/navigation/leader_of_place",
        include_str!("../../docs/navigation/species/leader_of_place.toml"),
    ),
    (
        "species",
        "docs/navigation/one_goal",
        include_str!("../../docs/navigation/species/one_goal.toml"),
    ),
    (
        "species",
        "docs/navigation/same_goal",
        include_str!("../../docs/navigation/species/same_goal.toml"),
    ),
    (
        "species",
        "docs/navigation/same_place",
        include_str!("../../docs/navigation/species/same_place.toml"),
    ),
    (
        "species",
        "docs/navigation/southward",
        include_str!("../../docs/navigation/species/southward.toml"),
    ),
    (
        "species",
        "docs/navigation/to_agent",
        include_str!("../../docs/navigation/species/to_agent.toml"),
    ),
    (
        "species",
        "docs/navigation/to_gathering",
        include_str!("../../docs/navigation/species/to_gathering.toml"),
    ),
    (
        "species",
        "docs/navigation/to_point",
        include_str!("../../docs/navigation/species/to_point.toml"),
    ),
    (
        "site",
        "docs/hall/site",
        include_str!("../../docs/hall/site.toml"),
    ),
    (
        "site",
        "docs/shows/site",
        include_str!("../../docs/shows/site.toml"),
    ),
    (
        "scene",
        "docs/shows/night",
        include_str!("../../docs/shows/scenes/night.toml"),
    ),
    (
        "scene",
        "docs/shows/quiet",
        include_str!("../../docs/shows/scenes/quiet.toml"),
    ),
    (
        "scene",
        "docs/shows/show",
        include_str!("../../docs/shows/scenes/show.toml"),
    ),
    (
        "species",
        "docs/shows/offering",
        include_str!("../../docs/shows/species/offering.toml"),
    ),
    (
        "species",
        "docs/shows/sleeper",
        include_str!("../../docs/shows/species/sleeper.toml"),
    ),
    (
        "site",
        "docs/steering/site",
        include_str!("../../docs/steering/site.toml"),
    ),
    (
        "scene",
        "docs/steering/groups",
        include_str!("../../docs/steering/scenes/groups.toml"),
    ),
    (
        "scene",
        "docs/steering/reef_floor",
        include_str!("../../docs/steering/scenes/reef_floor.toml"),
    ),
    (
        "scene",
        "docs/steering/steering",
        include_str!("../../docs/steering/scenes/steering.toml"),
    ),
    (
        "species",
        "docs/steering/chaser",
        include_str!("../../docs/steering/species/chaser.toml"),
    ),
    (
        "species",
        "docs/steering/companion",
        include_str!("../../docs/steering/species/companion.toml"),
    ),
    (
        "species",
        "docs/steering/contained",
        include_str!("../../docs/steering/species/contained.toml"),
    ),
    (
        "species",
        "docs/steering/crab",
        include_str!("../../docs/steering/species/crab.toml"),
    ),
    (
        "species",
        "docs/steering/crossing",
        include_str!("../../docs/steering/species/crossing.toml"),
    ),
    (
        "species",
        "docs/steering/flocker",
        include_str!("../../docs/steering/species/flocker.toml"),
    ),
    (
        "species",
        "docs/steering/follower",
        include_str!("../../docs/steering/species/follower.toml"),
    ),
    (
        "species",
        "docs/steering/guard",
        include_str!("../../docs/steering/species/guard.toml"),
    ),
    (
        "species",
        "docs/steering/lane_swimmer",
        include_str!("../../docs/steering/species/lane_swimmer.toml"),
    ),
    (
        "species",
        "docs/steering/manta",
        include_str!("../../docs/steering/species/manta.toml"),
    ),
    (
        "species",
        "docs/steering/netted",
        include_str!("../../docs/steering/species/netted.toml"),
    ),
    (
        "species",
        "docs/steering/path_keeper",
        include_str!("../../docs/steering/species/path_keeper.toml"),
    ),
    (
        "species",
        "docs/steering/rester",
        include_str!("../../docs/steering/species/rester.toml"),
    ),
    (
        "species",
        "docs/steering/runner",
        include_str!("../../docs/steering/species/runner.toml"),
    ),
    (
        "species",
        "docs/steering/swimmer",
        include_str!("../../docs/steering/species/swimmer.toml"),
    ),
    (
        "species",
        "docs/steering/waiting",
        include_str!("../../docs/steering/species/waiting.toml"),
    ),
    (
        "species",
        "docs/steering/wall_follower",
        include_str!("../../docs/steering/species/wall_follower.toml"),
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The base of the shipped fish, which lives in no scene.
    const BASE: &str = "fish";

    #[test]
    fn every_scene_and_species_has_a_small_picture_on_the_panel() {
        let assets = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/panel/assets");
        let script = std::fs::read_to_string(assets.join("parts/thumbnail.js")).unwrap();
        for (kind, documents) in [("scene", SCENES), ("species", SPECIES)] {
            for (name, _) in documents.iter().filter(|(name, _)| *name != BASE) {
                let file = assets.join(format!("pictures/{kind}-{name}.jpg"));
                assert!(
                    file.is_file(),
                    "{} is missing; run scripts/pictures",
                    file.display()
                );
                assert!(
                    script.contains(&format!("\"{name}\"")),
                    "{name} in thumbnail.js"
                );
            }
        }
    }
}
