//! Tests of interrupted saving. A save is stopped after each of its file operations, by the end of the process, or by a full
//! disk. The file must then contain either the complete old version or the complete new version, and every generation must be
//! complete.

#![allow(
    clippy::needless_pass_by_value,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "tests may"
)]

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;

use shoal::config::{
    GENERATIONS_FOLDER, GENERATIONS_KEPT, SaveOperation, file_generations, remove_file_stepwise,
    save_file, save_file_stepwise,
};

const OLD: &str = "# the old version\nwidth_m = 4.0\n";

fn new() -> String {
    "# the new version\nwidth_m = 5.0\n".repeat(2000)
}

/// Creates a file with the largest number of generations, so that the next save performs every kind of operation. Returns the
/// path of the file.
fn prepared(folder: &Path) -> PathBuf {
    let path = folder.join("site.toml");
    for version in 0..GENERATIONS_KEPT {
        save_file(&path, format!("# version {version}\n").as_bytes()).unwrap();
    }
    save_file(&path, OLD.as_bytes()).unwrap();
    path
}

fn is_complete(text: &str) -> bool {
    text == OLD || text == new() || (text.starts_with("# version ") && text.ends_with('\n'))
}

fn check(path: &Path, stopped: &str) {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(
        text == OLD || text == new(),
        "{stopped}: {} bytes",
        text.len()
    );
    for kept in file_generations(path).unwrap() {
        assert!(
            is_complete(&std::fs::read_to_string(&kept).unwrap()),
            "{stopped}: {}",
            kept.display()
        );
    }
    if text == new() {
        let last = file_generations(path).unwrap().pop().unwrap();
        assert_eq!(
            std::fs::read_to_string(last).unwrap(),
            OLD,
            "{stopped}: the old version is kept"
        );
    }
    // The next save succeeds although the stopped save has left files behind, and the number of generations stays limited.
    save_file(path, new().as_bytes()).unwrap();
    save_file(path, OLD.as_bytes()).unwrap();
    assert_eq!(std::fs::read_to_string(path).unwrap(), OLD, "{stopped}");
    let kept = file_generations(path).unwrap();
    assert!(kept.len() <= GENERATIONS_KEPT, "{stopped}: {}", kept.len());
}

/// Returns all file operations of one save, in order.
fn operations() -> Vec<SaveOperation> {
    let folder = tempfile::tempdir().unwrap();
    let path = prepared(folder.path());
    let mut all = Vec::new();
    save_file_stepwise(&path, new().as_bytes(), &mut |operation| {
        all.push(operation);
        ControlFlow::Continue(())
    })
    .unwrap();
    all
}

#[test]
fn a_save_stopped_after_any_operation_leaves_a_complete_file() {
    let all = operations();
    use SaveOperation::*;
    let expected = [
        MakeFolder,
        WriteOld,
        SyncOld,
        RenameOld,
        SyncGenerations,
        WriteNew,
        SyncNew,
        RenameNew,
        SyncFolder,
        RemoveOldest,
    ];
    assert_eq!(all, expected);
    for stop in 0..all.len() {
        let folder = tempfile::tempdir().unwrap();
        let path = prepared(folder.path());
        let mut count = 0;
        save_file_stepwise(&path, new().as_bytes(), &mut |_| {
            count += 1;
            if count > stop {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })
        .unwrap();
        assert_eq!(count, stop + 1);
        let text = std::fs::read_to_string(&path).unwrap();
        let renamed = all.iter().position(|o| *o == RenameNew).unwrap();
        assert_eq!(text == new(), stop >= renamed, "{:?}", all[stop]);
        check(&path, &format!("stopped after {:?}", all[stop]));
    }
}

#[test]
fn a_removal_stopped_after_any_operation_keeps_the_file_or_its_generation() {
    for stop in 0..4 {
        let folder = tempfile::tempdir().unwrap();
        let path = prepared(folder.path());
        let mut count = 0;
        remove_file_stepwise(&path, &mut |_| {
            count += 1;
            if count > stop {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })
        .unwrap();
        let text = std::fs::read_to_string(&path).unwrap_or_else(|_| {
            let last = file_generations(&path).unwrap().pop().unwrap();
            std::fs::read_to_string(last).unwrap()
        });
        assert_eq!(text, OLD, "stopped after operation {stop}");
    }
}

/// The next test starts this function in a child process. The child process aborts during a save. When this function runs as a
/// normal test, it does nothing.
#[test]
fn child_that_aborts_during_a_save() {
    let (Ok(path), Ok(stop)) = (
        std::env::var("SHOAL_SAVE_PATH"),
        std::env::var("SHOAL_SAVE_STOP"),
    ) else {
        return;
    };
    let stop: usize = stop.parse().unwrap();
    let mut count = 0;
    let _ = save_file_stepwise(Path::new(&path), new().as_bytes(), &mut |_| {
        if count == stop {
            std::process::abort();
        }
        count += 1;
        ControlFlow::Continue(())
    });
}

#[test]
fn a_process_that_aborts_during_a_save_leaves_a_complete_file() {
    for (stop, operation) in operations().into_iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        let path = prepared(folder.path());
        let status = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "save::child_that_aborts_during_a_save"])
            .env("SHOAL_SAVE_PATH", &path)
            .env("SHOAL_SAVE_STOP", stop.to_string())
            .current_dir(folder.path())
            .output()
            .unwrap()
            .status;
        assert!(
            !status.success(),
            "the child did not abort after {operation:?}"
        );
        check(&path, &format!("process aborted after {operation:?}"));
    }
}

/// The disk of 64 kB has space for the old file and one generation of it, but not for the new file in addition.
#[test]
fn a_full_disk_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"])
        .arg(folder.path())
        .output();
    if !mounted.is_ok_and(|o| o.status.success()) {
        eprintln!(
            "SKIPPED a_full_disk_leaves_the_old_file: mounting a tmpfs needs root; nothing was tested"
        );
        return;
    }
    let tested = std::panic::catch_unwind(|| {
        let path = folder.path().join("site.toml");
        save_file(&path, OLD.as_bytes()).unwrap();
        // Fills the disk a little more in each round, so that each write operation of a save fails in some round.
        let mut failed = 0;
        for filled in (0..60).step_by(4) {
            std::fs::write(folder.path().join("ballast"), vec![0; filled * 1024]).ok();
            let error = save_file(&path, &vec![b'#'; 50 * 1024]);
            if let Err(error) = error {
                failed += 1;
                assert_eq!(error.kind(), std::io::ErrorKind::StorageFull, "{error}");
                assert_eq!(std::fs::read_to_string(&path).unwrap(), OLD);
                for kept in file_generations(&path).unwrap() {
                    assert_eq!(std::fs::read_to_string(kept).unwrap(), OLD);
                }
                let left: Vec<_> = std::fs::read_dir(folder.path())
                    .unwrap()
                    .map(|e| e.unwrap().file_name().into_string().unwrap())
                    .filter(|name| {
                        name != "ballast" && name != "site.toml" && name != GENERATIONS_FOLDER
                    })
                    .collect();
                assert_eq!(left, Vec::<String>::new(), "no temporary file is left");
            } else {
                // The save succeeded. All its files are removed before the next round.
                for written in file_generations(&path).unwrap().iter().chain([&path]) {
                    std::fs::remove_file(written).unwrap();
                }
                std::fs::remove_file(folder.path().join("ballast")).unwrap();
                save_file(&path, OLD.as_bytes()).unwrap();
            }
        }
        assert!(failed > 5, "the disk was never full");
        std::fs::remove_file(folder.path().join("ballast")).unwrap();
        save_file(&path, b"# small\n").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "# small\n");
    });
    let unmounted = Command::new("umount").arg(folder.path()).status();
    assert!(
        unmounted.is_ok_and(|s| s.success()),
        "the tmpfs could not be unmounted"
    );
    if let Err(panic) = tested {
        std::panic::resume_unwind(panic);
    }
}
