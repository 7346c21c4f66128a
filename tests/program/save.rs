//! A save to a full disk must leave the complete old file.

use std::process::Command;

use shoal::files::{file_generations, save_file};

const OLD: &str = "# the old version\nwidth_m = 4.0\n";

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
                        name != "ballast" && name != "site.toml" && name != ".generations"
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
