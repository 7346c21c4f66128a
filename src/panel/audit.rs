//! The audit trail: who did what and when, kept on the disk.
//!
//! Two logs of bounded size, so that a client that fails to log in a thousand times cannot push the changes of an administrator out:
//! one of changes, one of logins and refusals. Each has a file of JSON lines and the file before it. In: one entry at a time. Out: the
//! newest entries. Must not: contain a secret.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::control::Journal;
use crate::files::{append_private, read_file};
use crate::runtime::{Fault, is_hidden, now_iso};

/// Size after which a file is replaced by a new one, in bytes.
const FILE_BYTES_MAX: u64 = 512 << 10;
/// Longest text of a field, in characters.
const FIELD_CHARS_MAX: usize = 200;
/// Time in which an entry that is like the one before is only counted.
const SAME_FOR: Duration = Duration::from_secs(60);
/// Largest number of entries that are read.
const ENTRIES_MAX: usize = 1000;
/// Largest file that is read, in bytes: a file is replaced after the entry that makes it too large.
const READ_BYTES_MAX: u64 = FILE_BYTES_MAX + (64 << 10);

/// The kind of an entry. It decides about the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AuditEvent {
    /// The first password was set.
    Setup,
    /// A user has logged in.
    Login,
    /// A login failed.
    LoginFailed,
    /// A user has logged out.
    Logout,
    /// A sender asked for more than its role may, or a password was not repeated.
    Refused,
    /// A user has changed the own password.
    PasswordChanged,
    /// A user was created or changed.
    UserChanged,
    /// A user was removed.
    UserRemoved,
    /// A token was made.
    TokenAdded,
    /// A token was removed.
    TokenRemoved,
    /// A device was forgotten.
    DeviceForgotten,
    /// A session was ended by a user.
    SessionEnded,
    /// All files of the site were downloaded.
    Backup,
    /// The files of the site were replaced.
    Restored,
    /// A model was added.
    ModelAdded,
    /// A recording was downloaded.
    RecordingRead,
    /// A recording was deleted.
    RecordingRemoved,
    /// A command of an administrator was applied.
    Command,
}

impl AuditEvent {
    /// Whether the entry belongs into the log of logins and refusals.
    fn is_access(self) -> bool {
        matches!(
            self,
            Self::Login | Self::LoginFailed | Self::Logout | Self::Refused
        )
    }
}

/// An entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AuditEntry {
    /// Date and time in UTC, ISO 8601.
    pub(crate) time: String,
    pub(crate) event: AuditEvent,
    /// Name of the user or label of the token; of a failed login the name that was tried.
    pub(crate) who: String,
    /// Address of the client.
    pub(crate) address: String,
    /// What the event concerns.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) detail: String,
    /// Number of further events like this one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) more: u64,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The audit trail. Without a folder, entries are in the log of the program only.
#[derive(Debug)]
pub(crate) struct Audit {
    changes: Mutex<AuditLog>,
    accesses: Mutex<AuditLog>,
}

impl Audit {
    /// Returns the audit trail in a folder. Does not touch the disk.
    pub(crate) fn new(folder: Option<&Path>, journal: &Journal) -> Self {
        let log = |name: &str| {
            Mutex::new(AuditLog {
                path: folder.map(|folder| folder.join(name)),
                newest: None,
                fault: journal.fault("panel.audit"),
            })
        };
        Self {
            changes: log("audit-changes.jsonl"),
            accesses: log("audit-logins.jsonl"),
        }
    }

    /// Adds an entry with the current time, and writes it to the log of the program.
    pub(crate) fn add(&self, event: AuditEvent, who: &str, address: &str, detail: &str) {
        let field = |text: &str| -> String {
            let shown = text.chars().filter(|c| !is_hidden(*c));
            shown.take(FIELD_CHARS_MAX).collect()
        };
        let entry = AuditEntry {
            time: now_iso(),
            event,
            who: field(who),
            address: field(address),
            detail: field(detail),
            more: 0,
        };
        let log = if event.is_access() {
            &self.accesses
        } else {
            &self.changes
        };
        log.lock().add(entry, Instant::now());
    }

    /// Returns the newest entries, the newest first.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub(crate) fn read(&self) -> Result<Vec<AuditEntry>, String> {
        let mut entries = self.changes.lock().read()?;
        entries.extend(self.accesses.lock().read()?);
        // Times of one format sort like texts.
        entries.sort_by(|a, b| b.time.cmp(&a.time));
        Ok(entries)
    }
}

#[derive(Debug)]
struct AuditLog {
    path: Option<PathBuf>,
    /// The newest entry, the time at which it came, and the number of entries like it that came since and are not written.
    newest: Option<(AuditEntry, Instant, u64)>,
    fault: Fault,
}

impl AuditLog {
    fn add(&mut self, entry: AuditEntry, now: Instant) {
        if let Some((last, since, more)) = &mut self.newest
            && now.saturating_duration_since(*since) < SAME_FOR
            && (last.event, &last.who, &last.address, &last.detail)
                == (entry.event, &entry.who, &entry.address, &entry.detail)
        {
            *more += 1;
            return;
        }
        if let Some((last, _, more)) = self.newest.take().filter(|(_, _, more)| *more > 0) {
            self.write(&AuditEntry { more, ..last });
        }
        self.write(&entry);
        self.newest = Some((entry, now, 0));
    }

    fn write(&mut self, entry: &AuditEntry) {
        let AuditEntry {
            event,
            who,
            address,
            detail,
            more,
            ..
        } = entry;
        let event = serde_json::to_value(event).unwrap_or_default();
        let event = event.as_str().unwrap_or_default();
        match event {
            "login_failed" | "refused" => {
                tracing::warn!(event, who, address, detail, more, "panel: audit");
            }
            _ => tracing::info!(event, who, address, detail, more, "panel: audit"),
        }
        match self.append(entry) {
            Ok(()) => self.fault.clear(),
            Err(error) => {
                let message = format!("the audit trail cannot be written: {error}");
                self.fault.raise(&message);
            }
        }
    }

    fn append(&self, entry: &AuditEntry) -> io::Result<()> {
        let Some(path) = &self.path else {
            return Ok(());
        };
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        let mut file: File = append_private(path)?;
        file.write_all(&line)?;
        if file.metadata()?.len() >= FILE_BYTES_MAX {
            std::fs::rename(path, before(path))?;
        }
        Ok(())
    }

    fn read(&self) -> Result<Vec<AuditEntry>, String> {
        let Some(path) = &self.path else {
            return Ok(Vec::new());
        };
        let mut entries = Vec::new();
        for path in [before(path), path.clone()] {
            if path.exists() {
                let content = read_file(&path, READ_BYTES_MAX, "the audit trail");
                let content = content.map_err(|why| format!("{}: {why}", path.display()))?;
                let lines = content.split(|byte| *byte == b'\n');
                // A line that a power cut left unfinished costs only itself.
                entries.extend(lines.filter_map(|line| serde_json::from_slice(line).ok()));
            }
        }
        if let Some((last, _, more @ 1..)) = &self.newest {
            entries.push(AuditEntry {
                more: *more,
                ..last.clone()
            });
        }
        let excess = entries.len().saturating_sub(ENTRIES_MAX);
        entries.drain(..excess);
        Ok(entries)
    }
}

/// Returns the file before a file.
fn before(path: &Path) -> PathBuf {
    path.with_extension("old.jsonl")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_logins_never_push_changes_out_and_the_disk_is_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::default();
        let audit = Audit::new(Some(folder.path()), &journal);
        audit.add(AuditEvent::UserRemoved, "ada", "10.0.0.1", "vera");
        for n in 0..20_000 {
            let who = format!("user {n} {}", "x".repeat(500));
            audit.add(AuditEvent::LoginFailed, &who, "10.0.0.66", "");
        }
        let entries = audit.read().unwrap();
        let removed = entries.iter().find(|e| e.event == AuditEvent::UserRemoved);
        assert_eq!(removed.unwrap().detail, "vera");
        assert_eq!(entries.len(), ENTRIES_MAX + 1);
        let files = std::fs::read_dir(folder.path()).unwrap();
        let bytes: u64 = files
            .map(|file| file.unwrap().metadata().unwrap().len())
            .sum();
        assert!(bytes < 3 * FILE_BYTES_MAX, "{bytes}");
        assert_eq!(journal.faults(), []);
    }

    #[test]
    fn equal_entries_are_counted_and_no_text_moves_the_cursor() {
        let folder = tempfile::tempdir().unwrap();
        let audit = Audit::new(Some(folder.path()), &Journal::default());
        for _ in 0..1000 {
            audit.add(
                AuditEvent::Refused,
                "vera\u{1b}]0;x\u{7}\n",
                "10.0.0.2",
                "users",
            );
        }
        assert_eq!(
            audit.read().unwrap().iter().map(|e| e.more).sum::<u64>(),
            999
        );
        audit.add(AuditEvent::Login, "ada", "10.0.0.1", "");
        let entries = audit.read().unwrap();
        assert_eq!(entries.len(), 3);
        assert!(
            entries.iter().all(|e| !e.who.contains(['\u{1b}', '\n'])),
            "{entries:?}"
        );
    }
}
