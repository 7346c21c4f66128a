//! Removes the temporary files that a save left because the program was killed or the power failed.
//!
//! In: a folder. Out: fewer files. Must not: remove a file that another process may be writing.

use std::path::Path;
use std::time::Duration;

use super::output::temporary_process;

/// Age from which a temporary file of a process that does not run here is removed. On a share it may belong to another machine.
const AGE_MIN: Duration = Duration::from_secs(3600);

/// Removes the temporary files of ended processes in a folder. A file that cannot be removed stays.
pub fn remove_leftovers(folder: &Path) {
    // Without this folder nothing says which processes run.
    if !Path::new("/proc/self").exists() {
        return;
    }
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(process) = name.to_str().and_then(temporary_process) else {
            continue;
        };
        let runs = Path::new("/proc").join(process.to_string()).exists();
        let age = entry.metadata().and_then(|found| found.modified());
        let is_old = age.is_ok_and(|at| at.elapsed().is_ok_and(|age| age >= AGE_MIN));
        if !runs && is_old {
            let _removed = std::fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    #[test]
    fn only_old_temporary_files_of_ended_processes_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let own = std::process::id();
        // No process has the largest number.
        let names = [
            (".accounts.json.4194304.new".to_owned(), true, false),
            (".accounts.json.4194304.new.toml".to_owned(), true, true),
            (".site.toml.4194304.new".to_owned(), false, true),
            (format!(".site.toml.{own}.new"), true, true),
            ("site.toml.4194304.new".to_owned(), true, true),
            ("site.toml".to_owned(), true, true),
        ];
        for (name, is_old, _) in &names {
            let file = std::fs::File::create(folder.path().join(name)).unwrap();
            if *is_old {
                file.set_modified(SystemTime::now() - AGE_MIN * 2).unwrap();
            }
        }
        remove_leftovers(folder.path());
        for (name, _, stays) in &names {
            assert_eq!(folder.path().join(name).exists(), *stays, "{name}");
        }
        remove_leftovers(&folder.path().join("nothing"));
    }
}
