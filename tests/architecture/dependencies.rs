//! The crates of a build without clusters.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Returns the names of the crates that a package is built from, without itself.
fn crates_of(package: &str, features: &[&str]) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--locked",
            "--offline",
            "--prefix",
            "none",
            "--no-dedupe",
        ])
        .args(["--edges", "normal,build", "--package", package])
        .args(features.iter().flat_map(|feature| ["--features", feature]))
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let problem = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{problem}");
    let names = text.lines().filter_map(|line| line.split(' ').next());
    names
        .filter(|name| !name.is_empty() && *name != package)
        .map(str::to_owned)
        .collect()
}

/// The room `cluster` is in every build, the network of a hall only with the feature `cluster`.
#[test]
fn without_the_feature_a_hall_adds_no_crate() {
    let cluster = crates_of("shoal-cluster", &[]);
    let mut others = crates_of("shoal-desk", &[]);
    others.insert("shoal-desk".to_owned());
    let added: Vec<_> = cluster.difference(&others).collect();
    assert!(added.is_empty(), "{added:?}");
    let whole = crates_of("shoal", &[]);
    let network = |name: &&String| name.starts_with("zenoh") || *name == "spake2";
    assert_eq!(whole.iter().find(network), None);
    // The same question finds them if they are there.
    let with_feature = crates_of("shoal-cluster", &["zenoh"]);
    assert!(with_feature.iter().filter(network).count() > 10);
}
