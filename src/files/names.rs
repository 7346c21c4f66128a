//! Decides by the name of a file whether the file is a document, or whether another program has left it beside the documents:
//! hidden, lock, temporary and backup files, and the copies that sync programs make after a conflict.
//!
//! In: a file name. Out: what the file is. Must not: open the file.

use std::ffi::OsStr;

/// Longest name of a document, in bytes. Leaves room for the endings of temporary files within the 255 bytes of a file name.
const DOCUMENT_NAME_BYTES_MAX: usize = 64;

/// Words with which sync programs mark the copy that they make after a conflict, in lower case: Dropbox, Nextcloud, ownCloud,
/// Syncthing, Synology and Resilio; Seafile; Dropbox in German and in Danish; Dropbox in French and in Italian.
const CONFLICT_WORDS: [&str; 4] = ["conflict", "sfconflict", "konflikt", "conflit"];

/// What a file in a folder of documents is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// The document with this name.
    Document(String),
    /// A file that a user may take for a document, but that is not read.
    LeftOut {
        /// The file name without its ending.
        stem: String,
        /// Why the file is not read, and what to do.
        reason: &'static str,
    },
    /// Any other file: hidden files, backups, temporary files, pictures.
    Other,
}

/// Returns what a file in a folder of documents is.
///
/// Editors, systems and sync tools leave files such as `.#a.toml`, `#a.toml#`, `a.toml~`, `.a.toml.swp`, `._a.toml`,
/// `~$a.toml` and `~syncthing~a.toml.tmp`. They are none of the user's documents, so `check` does not mention them.
pub fn file_kind(file_name: &OsStr) -> FileKind {
    let name = file_name.to_string_lossy();
    if is_leftover_name(&name) {
        return FileKind::Other;
    }
    let lower = name.to_lowercase();
    let ending = [".toml.txt", ".toml"].into_iter();
    let Some(ending) = ending.into_iter().find(|ending| lower.ends_with(ending)) else {
        return FileKind::Other;
    };
    let stem = name
        .get(..name.len() - ending.len())
        .unwrap_or(&name)
        .to_owned();
    let reason = if file_name.to_str().is_none() {
        "its name is not valid Unicode; rename it"
    } else if is_conflict_copy(&name) {
        "a sync program made it after a conflict; compare it with the original, then remove it"
    } else if ending == ".toml.txt" {
        "its name ends with .txt; rename it so that it ends with .toml"
    } else if !name.ends_with(".toml") {
        "its name must end with .toml in lower case; rename it"
    } else if let Some(reason) = document_name_problem(&stem) {
        reason
    } else {
        return FileKind::Document(stem);
    };
    FileKind::LeftOut { stem, reason }
}

/// Returns why a name cannot be the name of a document, and what to do; `None` for a valid name.
pub fn document_name_problem(name: &str) -> Option<&'static str> {
    let is_valid = (1..=DOCUMENT_NAME_BYTES_MAX).contains(&name.len())
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || c == '_' || c == '-');
    (!is_valid).then_some(
        "its name cannot be the name of a document; use 1 to 64 letters, digits, underscores and hyphens",
    )
}

/// Whether a file with this name is a hidden, lock, temporary or backup file of another program.
pub fn is_leftover_name(name: &str) -> bool {
    name.starts_with(['.', '~', '#']) || name.ends_with(['~', '#'])
}

/// Whether a file with this name is the copy that a sync program makes after a conflict, such as
/// `a (Anna's conflicted copy 2026-01-02).png`, `a.sync-conflict-20260102-101112-ABCDEFG.png` or `a_conflict-20260102-101112.png`.
pub fn is_conflict_copy(name: &str) -> bool {
    let lower = name.to_lowercase();
    let is_word = |index: usize| {
        let before = lower.get(..index).unwrap_or("");
        before.ends_with(|c: char| !c.is_alphanumeric())
    };
    let mut words = CONFLICT_WORDS.into_iter();
    words.any(|word| lower.match_indices(word).any(|(index, _)| is_word(index)))
}

/// Returns the names of which a name can be the copy that OneDrive makes after a conflict: it adds the name of the computer, such as
/// `pool-MUSEUM-PC` or `pool-MUSEUM-PC-2`. A name that people choose, such as `pool-night`, has no capital letters.
pub fn copied_name(name: &str) -> impl Iterator<Item = &str> {
    let starts = name.match_indices('-').map(|(at, _)| name.split_at(at));
    let of_computer = starts.filter(|(_, rest)| {
        let rest = rest.trim_start_matches('-');
        rest.starts_with(char::is_uppercase) && rest.len() > 1
    });
    of_computer.map(|(original, _)| original)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(name: &str) -> FileKind {
        file_kind(OsStr::new(name))
    }

    #[test]
    fn files_of_other_programs_are_no_documents() {
        for name in [
            // Emacs, vim, nano, Kate
            ".#pool.toml",
            "#pool.toml#",
            "pool.toml~",
            "pool.toml.~1~",
            ".pool.toml.swp",
            ".pool.toml.un~",
            "4913",
            "pool.toml.save",
            ".pool.toml.kate-swp",
            // macOS, Windows, NAS
            "._pool.toml",
            ".DS_Store",
            "pool.toml.sb-1a2b3c4d-AbCdEf",
            "~$pool.toml",
            "~WRL0001.tmp",
            "Thumbs.db",
            "desktop.ini",
            "@eaDir",
            "$RECYCLE.BIN",
            // GNOME, KDE, LibreOffice, JetBrains, sed
            ".goutputstream-AB12CD",
            "pool.toml.AbCdEf",
            ".~lock.pool.toml#",
            "pool.toml___jb_tmp___",
            "sedAbCdEf",
            // Syncthing, Dropbox, Nextcloud, rsync, browsers
            "~syncthing~pool.toml.tmp",
            ".syncthing.pool.toml.tmp",
            ".pool.toml.~1a2b3c",
            "pool.toml.ocTransferId123.part",
            ".pool.toml.Ab3dEf",
            "pool.toml.part",
            "pool.toml.crdownload",
            // Kubernetes, Git
            "..data",
            "..2026_01_02",
            ".gitignore",
            // files that have nothing to do with documents
            "pool.toml.bak",
            "pool.toml.orig",
            "pool.tmp",
            "README.md",
            "koi.glb",
            "toml",
            "",
        ] {
            assert_eq!(kind(name), FileKind::Other, "{name}");
        }
    }

    #[test]
    fn files_that_look_like_documents_are_left_out_with_a_reason() {
        for (name, reason) in [
            (
                "pool (Anna's conflicted copy 2026-01-02).toml",
                "a sync program",
            ),
            ("pool (conflicted copy 2026-01-02 101112).toml", "a sync"),
            ("pool.sync-conflict-20260102-101112-ABCDEFG.toml", "a sync"),
            ("pool_conflict-20260102-101112.toml", "a sync"),
            ("pool_NAS_Jan-02-1011-2026_Conflict.toml", "a sync"),
            ("pool (SFConflict anna 2026-01-02).toml", "a sync"),
            (
                "pool (In Konflikt stehende Kopie von Anna).toml",
                "a sync program",
            ),
            ("pool (1).toml", "its name cannot be"),
            ("pool - Copy.toml", "its name cannot be"),
            ("pool.old.toml", "its name cannot be"),
            (".toml", ""),
            ("pool.TOML", "its name must end"),
            ("pool.toml.txt", "its name ends with .txt"),
            // A name in decomposed Unicode, as older versions of macOS write it.
            ("su\u{308}d.toml", "its name cannot be"),
        ] {
            match kind(name) {
                FileKind::LeftOut { reason: found, .. } => {
                    assert!(found.starts_with(reason), "{name}: {found}");
                }
                other => assert!(name == ".toml" && other == FileKind::Other, "{name}"),
            }
        }
    }

    /// A fixed bug: the copy that OneDrive makes was a scene of its own, without a word.
    #[test]
    fn a_name_with_the_name_of_a_computer_is_a_copy() {
        for (name, originals) in [
            ("pool-MUSEUM-PC", &["pool", "pool-MUSEUM"][..]),
            ("pool-MUSEUM-PC-2", &["pool", "pool-MUSEUM"]),
            ("koi-night-Annas-MacBook", &["koi-night", "koi-night-Annas"]),
            ("pool-night", &[]),
            ("pool-2", &[]),
            ("Pool", &[]),
        ] {
            assert_eq!(copied_name(name).collect::<Vec<_>>(), originals, "{name}");
        }
    }

    #[test]
    fn ordinary_names_are_documents() {
        for name in [
            "pool",
            "süd_2026",
            "conflict",
            "non-conformist",
            "a",
            "4913",
        ] {
            let expected = FileKind::Document(name.to_owned());
            assert_eq!(kind(&format!("{name}.toml")), expected, "{name}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_name_that_is_not_unicode_is_left_out() {
        use std::os::unix::ffi::OsStrExt as _;
        assert!(matches!(
            file_kind(OsStr::from_bytes(b"\xff.toml")),
            FileKind::LeftOut { .. }
        ));
    }
}
