//! Nothing ships without a user: every action, condition, effect, flow field, search option, calibration way, key of the
//! configuration, route of the panel and command is used by a shipped file, a documented example, a page of the panel or a script.
//! A thing without a user is removed, gets an example, or is listed here with the reason why a site needs it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

mod command_line;
mod commands;
mod keys;
mod routes;
mod texts;

/// Things that no shipped file and no example uses, with the reason why they stay. A name that ends with `.` stands for all keys
/// below it.
const WITHOUT_USER: &[(&[&str], &str)] = &[
    (
        &["command save_site"],
        "the desk sends it to itself; it is a command so that a log of commands replays a later revert",
    ),
    (
        &["key site.vision."],
        "limits for another lamp, lens or floor than those of the recordings on which the defaults were tuned",
    ),
    (
        &[
            "key site.calibration.outlier_m",
            "key site.calibration.placement_error_m",
        ],
        "limits for a floor on which marks cannot be placed as exactly as usual",
    ),
    (
        &[
            "key site.outputs[].blend.black_lift",
            "key site.outputs[].blend.gamma",
            "key site.outputs[].gain.",
            "key site.outputs[].gamma",
            "key site.outputs[].masks",
        ],
        "several projectors of different colors, and things that must stay dark",
    ),
    (
        &[
            "key scene.individuals[].look.variety = asagi",
            "key scene.individuals[].look.variety = kohaku",
            "key scene.individuals[].look.variety = sanke",
            "key scene.individuals[].look.variety = showa",
        ],
        "the same varieties as those of the species koi, which has them all; the example shows one",
    ),
    (
        &["key site.simulation.search_budget"],
        "a slow machine, or many fish that search paths",
    ),
    (
        &[
            "key species.drives.is_spread",
            "key species.needs[].limit.reset_by = courted",
            "key species.needs[].limit.reset_by = meal",
            "key species.actions.*.leap.calm_secs",
            "key species.actions.*.navigate.slowing_m",
            "key species.actions.*.seek.attraction",
            "key species.actions.*.seek.attraction.",
            "key species.actions.*.shadow_follow.",
        ],
        "needs and movements of a site's own species",
    ),
];

/// Returns what has no user and no reason to stay, in the order of the names.
fn unexplained(without_user: BTreeSet<String>) -> Vec<String> {
    let is_explained = |name: &String| entries().any(|entry| covers(entry, name));
    without_user
        .into_iter()
        .filter(|name| !is_explained(name))
        .collect()
}

fn entries() -> impl Iterator<Item = &'static str> {
    let names = WITHOUT_USER.iter().flat_map(|(names, _)| names.iter());
    names.copied()
}

fn covers(entry: &str, name: &str) -> bool {
    name == entry || (entry.ends_with('.') && name.starts_with(entry))
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the files below a folder whose name ends with one of `endings`.
fn files(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, endings));
        } else if endings
            .iter()
            .any(|ending| path.to_string_lossy().ends_with(ending))
        {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Everything without a user, by what it is.
fn all_without_user() -> BTreeSet<String> {
    let mut all = keys::without_user();
    all.extend(commands::without_user());
    all.extend(command_line::without_user());
    all.extend(routes::without_user());
    all
}

#[test]
fn nothing_ships_without_a_user() {
    let left = unexplained(all_without_user());
    assert!(
        left.is_empty(),
        "no shipped file, example, page of the panel or script uses these; remove them, add an example, or list them in \
         WITHOUT_USER with a reason:\n{}",
        left.join("\n")
    );
}

#[test]
fn every_reason_is_still_needed() {
    let all = all_without_user();
    let is_idle = |entry: &&str| !all.iter().any(|name| covers(entry, name));
    let idle: Vec<&str> = entries().filter(is_idle).collect();
    assert_eq!(
        idle,
        Vec::<&str>::new(),
        "these have a user or do not exist; remove them from the list"
    );
}
