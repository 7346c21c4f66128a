//! Tests of a running pool whose files change as people and programs change them: saved in steps, replaced without a new time
//! stamp, moved away and back, unreadable for a while. The pool keeps the last valid site, and applies the files as soon as they
//! are valid.

use shoal_testing::assert_message;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::desk::Pool;
use serde_json::json;
use shoal::config::Problems;
use shoal::control::{DocumentText, EditorStep};
use shoal::site::FileWatcher;

/// More polls than the watcher waits for a file that looks incomplete.
const MANY_POLLS: usize = 12;

/// A pool, and the watcher of its files.
struct Watched {
    pool: Pool,
    watcher: FileWatcher,
    folder: PathBuf,
}

impl Watched {
    fn new() -> Self {
        let pool = Pool::new();
        let site = pool.site();
        Self {
            watcher: FileWatcher::new(&site),
            folder: site.parent().unwrap().to_path_buf(),
            pool,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// Polls `polls` times and applies what the watcher returns. Returns all messages about rejected changes and unreadable
    /// files.
    fn poll(&mut self, polls: usize) -> Vec<String> {
        let mut messages = Vec::new();
        for _ in 0..polls {
            match self.watcher.poll() {
                None => {}
                Some(Err(problems)) => messages.push(problems.to_string()),
                Some(Ok(changes)) => {
                    for documents in changes {
                        if let Err(problems) = self.apply(&documents) {
                            messages.push(problems.to_string());
                        }
                    }
                }
            }
        }
        self.pool.step();
        messages
    }

    /// Applies what the watcher has read, as the desk does.
    fn apply(&mut self, documents: &[DocumentText]) -> Result<(), Problems> {
        let documents = self.pool.desk.editor().without_outdated(documents);
        let Pool {
            desk, simulation, ..
        } = &mut self.pool;
        desk.apply_to(&EditorStep::TakeOver { documents }.into(), simulation)
    }

    /// Polls until everything is stable.
    fn settle(&mut self) -> Vec<String> {
        self.poll(MANY_POLLS)
    }

    #[track_caller]
    fn settles_well(&mut self) {
        assert_eq!(self.settle(), Vec::<String>::new());
    }

    /// The cruise speed of the trout in the pool, in cm/s.
    fn cruise(&self) -> u32 {
        let world = self.pool.simulation.world();
        let trout = world.species.iter().find(|s| s.name == "trout").unwrap();
        (trout.motion.cruise_mps * 100.0).round() as u32
    }
}

/// Returns the text of the trout with another cruise speed, in cm/s.
fn trout_with(text: &str, cruise: u32) -> String {
    let line = text
        .lines()
        .find(|l| l.starts_with("cruise_mps = "))
        .unwrap();
    text.replacen(line, &format!("cruise_mps = 0.{cruise}"), 1)
}

const TROUT: &str = "species/trout.toml";

/// Sets a time stamp that is the same for all files, as FAT, `rsync -t` and image layers of containers do.
fn set_old_stamp(path: &Path) {
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
}

#[test]
fn a_change_with_the_same_size_and_time_stamp_is_applied() {
    let mut site = Watched::new();
    let text = site.read(TROUT);
    for (number, cruise) in [21, 22, 23, 24].into_iter().enumerate() {
        let new = trout_with(&text, cruise);
        if number % 2 == 0 {
            site.write(TROUT, new);
        } else {
            site.write("new", new);
            set_old_stamp(&site.path("new"));
            std::fs::rename(site.path("new"), site.path(TROUT)).unwrap();
        }
        set_old_stamp(&site.path(TROUT));
        assert_eq!(site.poll(2), Vec::<String>::new());
        assert_eq!(site.cruise(), cruise);
    }
    // A new time stamp alone is no change.
    let revision = site.pool.simulation.revision();
    std::fs::File::options()
        .write(true)
        .open(site.path(TROUT))
        .unwrap()
        .set_modified(SystemTime::now())
        .unwrap();
    site.settles_well();
    assert_eq!(site.pool.simulation.revision(), revision);
}

#[test]
fn a_save_in_several_steps_never_makes_fish_vanish() {
    let mut site = Watched::new();
    let scene = "scenes/pool.toml";
    let text = site.read(scene);
    let fish = |site: &Watched| site.pool.count("herring") + site.pool.count("trout");
    let before = fish(&site);
    // Truncated first, written 1.5 s later, in two pieces. The first piece is a valid scene without fish.
    let cut = text.find("[population]").unwrap();
    assert!(text[..cut].parse::<toml::Table>().is_ok());
    for piece in ["", &text[..cut], &text] {
        site.write(scene, piece);
        assert_eq!(site.poll(6), Vec::<String>::new());
        assert_eq!(fish(&site), before);
    }
    // Removed first, and written later.
    let more = text.replacen("herring = 40", "herring = 41", 1);
    std::fs::remove_file(site.path(scene)).unwrap();
    assert_eq!(site.poll(6), Vec::<String>::new());
    site.write(scene, &more);
    site.settles_well();
    assert_eq!(fish(&site), before + 1);
    // An empty file that stays is reported once.
    for blank in ["", "\n \n", "\0\0\0"] {
        site.write(scene, blank);
        let messages = site.poll(50);
        assert_eq!(messages.len(), 1, "{messages:?}");
        assert!(messages[0].contains("pool.toml: is empty"), "{messages:?}");
        assert_eq!(fish(&site), before + 1);
        site.write(scene, &text);
        site.settles_well();
        assert_eq!(fish(&site), before);
        site.write(scene, &more);
        site.settles_well();
    }
    // A large part can also be removed for good.
    let population = &text[cut..];
    let end = population[1..].find("\n[").unwrap() + 1;
    site.write(scene, format!("{}{}", &text[..cut], &population[..end]));
    site.settles_well();
    assert_eq!(fish(&site), before);
}

#[test]
fn files_of_other_programs_change_nothing() {
    let mut site = Watched::new();
    for name in [
        "species/._herring.toml",
        "species/.herring.toml.swp",
        "species/~$herring.toml",
        "scenes/#pool.toml#",
        "scenes/pool.toml~",
        "scenes/pool (Anna's conflicted copy 2026-01-02).toml",
        "scenes/pool.sync-conflict-20260102-101112-ABC.toml",
        "scenes/pool.tmp",
    ] {
        site.write(name, "\0\u{5}\u{16}\u{7}");
        for _ in 0..MANY_POLLS {
            assert!(site.watcher.poll().is_none(), "{name}");
        }
    }
    let text = site.read(TROUT);
    site.write(TROUT, trout_with(&text, 21));
    assert_eq!(site.poll(2), Vec::<String>::new());
    assert_eq!(site.cruise(), 21);
}

#[test]
fn a_rejected_change_is_tried_again_when_anything_that_it_needs_changes() {
    let mut site = Watched::new();
    let text = site.read(TROUT);
    let model = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("models")
            .join(name);
        std::fs::read(path).unwrap()
    };
    // A model file that is missing, then damaged, then valid, then replaced by another one.
    let old_model = text.lines().find(|l| l.starts_with("model = ")).unwrap();
    let with_model = trout_with(&text, 22).replacen(old_model, "model = \"fish.glb\"", 1);
    site.write(TROUT, &with_model);
    let messages = site.poll(50);
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert_message(&messages[0], &["fish.glb cannot be opened"]);
    site.write("fish.glb", &model("trout.glb")[..1000]);
    let messages = site.poll(50);
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert!(messages[0].contains("fish.glb"), "{messages:?}");
    assert_eq!(site.cruise(), 30);
    site.write("fish.glb", model("trout.glb"));
    site.settles_well();
    assert_eq!(site.cruise(), 22);
    let vertices = |site: &Watched| {
        let species = &site.pool.desk.editor().site().species;
        let trout = species.iter().find(|s| s.name == "trout").unwrap();
        trout.model.vertices.len()
    };
    let before = vertices(&site);
    site.write("fish.glb", model("herring.glb"));
    site.settles_well();
    assert_ne!(vertices(&site), before, "a changed model is applied");
    // Another document.
    site.write(TROUT, &text);
    site.settles_well();
    let scene = site.read("scenes/pool.toml");
    site.write("scenes/pool.toml", scene.replace("trout = 6", "zander = 6"));
    let messages = site.poll(50);
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert_eq!(site.pool.count("trout"), 6);
    site.write("species/zander.toml", &text);
    site.settles_well();
    assert_eq!(
        (site.pool.count("zander"), site.pool.count("trout")),
        (6, 0)
    );
}

/// Each of these stands in the folder for a while. A good change of another file is made meanwhile, and is applied when the
/// obstacle is gone.
#[test]
#[cfg(unix)]
fn a_file_that_cannot_be_read_blocks_changes_only_while_it_is_there() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    type Obstacle = fn(&Path);
    let obstacles: [(&str, Obstacle); 5] = [
        ("a named pipe (FIFO)", |path| {
            mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).unwrap();
        }),
        ("a folder", |path| std::fs::create_dir(path).unwrap()),
        ("a device", |path| {
            std::os::unix::fs::symlink("/dev/zero", path).unwrap();
        }),
        ("which does not exist", |path| {
            std::os::unix::fs::symlink("gone", path).unwrap();
        }),
        ("UTF-8", |path| std::fs::write(path, b"\xff\xfe").unwrap()),
    ];
    let mut site = Watched::new();
    let text = site.read(TROUT);
    for (number, (wanted, put)) in obstacles.into_iter().enumerate() {
        let path = site.path("species/zz.toml");
        put(&path);
        let messages = site.poll(50);
        assert_eq!(messages.len(), 1, "{wanted}: {messages:?}");
        assert!(messages[0].contains(wanted), "{wanted}: {messages:?}");
        let cruise = 20 + number as u32;
        site.write(TROUT, trout_with(&text, cruise));
        assert!(site.settle().len() <= 1, "{wanted}");
        assert_ne!(site.cruise(), cruise);
        std::fs::remove_file(&path)
            .or_else(|_| std::fs::remove_dir(&path))
            .unwrap();
        site.settles_well();
        assert_eq!(site.cruise(), cruise, "{wanted}");
    }
}

#[test]
#[cfg(unix)]
fn a_lost_permission_keeps_the_last_site_until_it_is_back() {
    use std::os::unix::fs::PermissionsExt as _;
    let mut site = Watched::new();
    let text = site.read(TROUT);
    let allow = |path: PathBuf, mode: u32| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    for (number, name) in [TROUT, "species", "."].into_iter().enumerate() {
        let cruise = 20 + number as u32;
        site.write(TROUT, trout_with(&text, cruise));
        let mode = if name == TROUT { 0o644 } else { 0o755 };
        allow(site.path(name), 0);
        if std::fs::read(site.path(TROUT)).is_ok() {
            eprintln!("SKIPPED: the superuser can read every file");
            allow(site.path(name), mode);
            return;
        }
        let messages = site.poll(50);
        assert_eq!(messages.len(), 1, "{messages:?}");
        assert!(messages[0].contains("ermission"), "{messages:?}");
        allow(site.path(name), mode);
        site.settles_well();
        assert_eq!(site.cruise(), cruise);
    }
}

/// Copies a folder with its subfolders.
fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_folder(&path, &target);
        } else {
            std::fs::copy(&path, &target).unwrap();
        }
    }
}

/// A whole site folder is replaced by another one: by renaming both, or by a link that is swapped, as Kubernetes does with
/// `..data`. Also while nothing is there for a while.
#[test]
#[cfg(unix)]
fn a_replaced_folder_is_applied_as_a_whole() {
    use std::os::unix::fs::symlink;
    let origin = Pool::new();
    let temporary = tempfile::tempdir().unwrap();
    let at = |name: &str| temporary.path().join(name);
    let versions = [("one", 21), ("two", 22), ("three", 23)];
    for (name, cruise) in versions {
        copy_folder(origin.site().parent().unwrap(), &at(name));
        let path = at(name).join(TROUT);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, trout_with(&text, cruise)).unwrap();
    }
    let scene = at("two/scenes/pool.toml");
    let text = std::fs::read_to_string(&scene).unwrap();
    std::fs::write(&scene, text.replace("trout = 6", "zander = 6\ntrout = 1")).unwrap();
    std::fs::copy(at("two").join(TROUT), at("two/species/zander.toml")).unwrap();
    // mount/site.toml → ..data/site.toml, ..data → one
    std::fs::create_dir(at("mount")).unwrap();
    symlink("../one", at("mount/..data")).unwrap();
    for name in ["site.toml", "scenes", "species"] {
        symlink(Path::new("..data").join(name), at("mount").join(name)).unwrap();
    }
    let watch = |path: PathBuf| Watched {
        watcher: FileWatcher::new(&path.join("site.toml")),
        pool: Pool::open(Some(&path.join("site.toml")), 7),
        folder: path,
    };
    let mut site = watch(at("mount"));
    let state = |site: &Watched| (site.cruise(), site.pool.count("zander"));
    assert_eq!(state(&site), (21, 0));
    for (name, expected) in [("two", (22, 6)), ("three", (23, 0))] {
        symlink(format!("../{name}"), at("mount/..data_tmp")).unwrap();
        std::fs::rename(at("mount/..data_tmp"), at("mount/..data")).unwrap();
        site.settles_well();
        assert_eq!(state(&site), expected);
    }
    std::fs::remove_file(at("mount/..data")).unwrap();
    let messages = site.poll(50);
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert_message(&messages[0], &["site.toml: cannot be opened"]);
    symlink("../two", at("mount/..data")).unwrap();
    site.settles_well();
    assert_eq!(state(&site), (22, 6));
    // Plain folders.
    let mut site = watch(at("one"));
    for (name, expected) in [("two", (22, 6)), ("three", (23, 0))] {
        std::fs::rename(at("one"), at("old")).unwrap();
        assert_eq!(site.poll(3), Vec::<String>::new());
        std::fs::rename(at(name), at("one")).unwrap();
        std::fs::remove_dir_all(at("old")).unwrap();
        site.settles_well();
        assert_eq!(state(&site), expected);
    }
}

#[test]
fn a_deleted_document_that_is_needed_keeps_its_last_content() {
    let mut site = Watched::new();
    let text = site.read(TROUT);
    site.write(TROUT, trout_with(&text, 21));
    site.settles_well();
    // The built-in trout does not silently replace the deleted one.
    for name in [TROUT, "scenes/pool.toml"] {
        let old = site.read(name);
        std::fs::remove_file(site.path(name)).unwrap();
        let messages = site.poll(50);
        assert_eq!(messages.len(), 1, "{messages:?}");
        assert!(messages[0].contains("was deleted, but "), "{messages:?}");
        assert_eq!((site.cruise(), site.pool.count("trout")), (21, 6));
        // Other changes are still applied.
        let herring = site.read("species/herring.toml");
        site.write(
            "species/herring.toml",
            format!("{herring}\n[motion]\ncruise_mps = 0.19\n"),
        );
        assert_eq!(site.settle().len(), 1, "the deletion is still rejected");
        let world = site.pool.simulation.world();
        let herrings = world.species.iter().find(|s| s.name == "herring").unwrap();
        assert_eq!(herrings.motion.cruise_mps, 0.19);
        site.write("species/herring.toml", &herring);
        site.settle();
        site.write(name, &old);
        site.settles_well();
        assert_eq!(site.pool.desk.editor().unsaved(), []);
    }
    // A document that nothing needs is removed.
    let bare = json!({"command": "switch_scene", "name": "bare"});
    std::fs::remove_file(site.path("scenes/bare.toml")).unwrap();
    site.settles_well();
    assert!(site.pool.try_command(bare).is_err(), "the scene is gone");
    // The site file.
    let old = site.read("site.toml");
    std::fs::remove_file(site.path("site.toml")).unwrap();
    let messages = site.poll(50);
    assert_eq!(messages.len(), 1, "{messages:?}");
    site.write("site.toml", old.replace("seed = 1", "seed = 2"));
    site.settles_well();
    assert_eq!(site.pool.desk.editor().site().file.simulation.seed, 2);
}

/// A fixed bug: the watcher had read a file before a save, and its command arrived between the next edit and its save. The edit was
/// replaced by the older text, which then counted as saved.
#[test]
fn what_the_watcher_read_before_a_save_does_not_replace_a_later_edit() {
    let mut site = Watched::new();
    let edit_and_save = |site: &mut Watched, cruise: u32, late: Option<Vec<Vec<DocumentText>>>| {
        let value = json!(f64::from(cruise) / 100.0);
        site.pool.set("species:trout", "motion.cruise_mps", value);
        for documents in late.into_iter().flatten() {
            site.apply(&documents).unwrap();
        }
        site.pool.command(json!({"command": "save"}));
    };
    edit_and_save(&mut site, 21, None);
    let late = (0..MANY_POLLS).find_map(|_| site.watcher.poll());
    let late = late.unwrap().unwrap();
    edit_and_save(&mut site, 22, None);
    edit_and_save(&mut site, 23, Some(late));
    assert!(site.read(TROUT).contains("cruise_mps = 0.23"));
    site.settles_well();
    assert_eq!(site.cruise(), 23);
    assert_eq!(site.pool.desk.editor().unsaved(), []);
    // A change by another program still replaces unsaved edits.
    let text = trout_with(&site.read(TROUT), 24);
    site.pool
        .set("species:trout", "motion.cruise_mps", json!(0.25));
    site.write(TROUT, text);
    site.settles_well();
    assert_eq!(site.cruise(), 24);
}
