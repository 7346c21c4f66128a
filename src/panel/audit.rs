//! The audit trail: who did what and when, kept on the disk.
//!
//! Four logs of bounded size, so that a client that fails to log in a thousand times can push neither the changes of an administrator
//! nor the logins of users out: one of changes, one of the commands of operators, one of logins, one of refusals. Each has a file of JSON
//! lines and the file before it. Equal entries of a minute are one with a count, which has the time of the last of them, so that the
//! newest entry is what holds. Refusals, or commands of operators, of a minute that have nothing in common are at most [`OPEN_MAX`]
//! entries; the others are one with a count. In: one entry at a time. Out: the newest entries. Must not: contain a secret.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::control::Journal;
use crate::files::{append_private, read_file};
use crate::runtime::{Fault, is_hidden, now_iso_millis};

/// Size after which a file is replaced by a new one, in bytes.
const FILE_BYTES_MAX: u64 = 512 << 10;
/// Longest text of a field, in characters.
const FIELD_CHARS_MAX: usize = 200;
/// Time in which an entry that is like an earlier one is only counted.
const SAME_FOR: Duration = Duration::from_secs(60);
/// Largest number of entries of a log that later ones are compared with.
const OPEN_MAX: usize = 32;
/// Sender of entries that are only counted, because too many others came in the same minute.
const OTHERS: &str = "(others)";
/// Largest number of entries of a log that wait for a disk that takes none. Further ones are in the log of the program only.
const WAITING_MAX: usize = 256;
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
    /// A login was refused unseen, because too many had failed before. The address stands for all names that were tried.
    LoginThrottled,
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
    /// A command was allowed and rejected: it changed nothing.
    Rejected,
    /// A command of an administrator was applied.
    Command,
    /// A command of an operator was applied.
    Operated,
}

impl AuditEvent {
    /// Whether nothing was done. A client can cause it as often as it wants, most of them without any right.
    fn is_refusal(self) -> bool {
        matches!(
            self,
            Self::LoginFailed | Self::LoginThrottled | Self::Refused | Self::Rejected
        )
    }

    /// Whether many of a minute are one entry.
    fn is_bounded(self) -> bool {
        self.is_refusal() || self == Self::Operated
    }
}

/// An entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AuditEntry {
    /// Date and time in UTC, ISO 8601.
    pub(crate) time: String,
    pub(crate) event: AuditEvent,
    /// Name of the user, or `token:` and the label of the token; of a failed login the name that was tried.
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
    operation: Mutex<AuditLog>,
    logins: Mutex<AuditLog>,
    refusals: Mutex<AuditLog>,
}

impl Audit {
    /// Returns the audit trail in a folder. Does not touch the disk.
    pub(crate) fn new(folder: Option<&Path>, journal: &Journal) -> Self {
        let log = |name: &str| {
            Mutex::new(AuditLog {
                path: folder.map(|folder| folder.join(name)),
                open: Vec::new(),
                waiting: VecDeque::new(),
                lost: 0,
                may_be_torn: true,
                is_unflushed: false,
                fault: journal.fault("panel.audit"),
            })
        };
        Self {
            changes: log("audit-changes.jsonl"),
            operation: log("audit-operation.jsonl"),
            logins: log("audit-logins.jsonl"),
            refusals: log("audit-refusals.jsonl"),
        }
    }

    fn logs(&self) -> [&Mutex<AuditLog>; 4] {
        [&self.changes, &self.operation, &self.logins, &self.refusals]
    }

    /// Adds an entry with the current time, and writes it to the log of the program.
    pub(crate) fn add(&self, event: AuditEvent, who: &str, address: &str, detail: &str) {
        let field = |text: &str| -> String {
            let shown = text.chars().filter(|c| !is_hidden(*c));
            shown.take(FIELD_CHARS_MAX).collect()
        };
        let entry = AuditEntry {
            time: now_iso_millis(),
            event,
            who: field(who),
            address: field(address),
            detail: field(detail),
            more: 0,
        };
        let log = match event {
            AuditEvent::Login | AuditEvent::Logout => &self.logins,
            AuditEvent::Operated => &self.operation,
            event if event.is_refusal() => &self.refusals,
            _ => &self.changes,
        };
        log.lock().add(entry, Instant::now());
    }

    /// Writes the counts of the minutes that are over; with `is_end`, all counts.
    pub(crate) fn write_counts(&self, now: Instant, is_end: bool) {
        let left = if is_end { Duration::ZERO } else { SAME_FOR };
        for log in self.logs() {
            log.lock().close(now, left);
        }
    }

    /// Flushes the entries to the disk, so that a power cut costs none of them. Takes as long as the disk needs.
    pub(crate) fn flush(&self) {
        for log in self.logs() {
            let path = {
                let mut log = log.lock();
                std::mem::take(&mut log.is_unflushed).then(|| log.path.clone())
            };
            if let Some(path) = path.flatten() {
                // A file that was replaced meanwhile is flushed by then.
                let flushed = File::open(&path).and_then(|file| file.sync_data());
                let mut log = log.lock();
                match flushed {
                    Ok(()) if log.waiting.is_empty() => log.fault.clear(),
                    Ok(()) => {}
                    Err(error) => {
                        log.is_unflushed = true;
                        let message =
                            format!("the audit trail cannot be flushed to the disk: {error}");
                        log.fault.raise(&message);
                    }
                }
            }
        }
    }

    /// Whether entries wait for a flush.
    pub(crate) fn is_unflushed(&self) -> bool {
        self.logs().iter().any(|log| log.lock().is_unflushed)
    }

    /// Returns the newest entries, the newest first.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub(crate) fn read(&self) -> Result<Vec<AuditEntry>, String> {
        let mut entries = Vec::new();
        for log in self.logs() {
            entries.extend(log.lock().read()?);
        }
        // Times of one format sort like texts. Entries of the same second stay in their order.
        entries.reverse();
        entries.sort_by(|a, b| b.time.cmp(&a.time));
        Ok(entries)
    }
}

/// An entry that is written, for the count of those like it.
#[derive(Debug)]
struct Open {
    entry: AuditEntry,
    since: Instant,
    /// Number of entries like it that came since.
    more: u64,
    /// Time of the last of them.
    last_time: String,
}

impl Open {
    fn is_like(&self, other: &AuditEntry) -> bool {
        let own = &self.entry;
        (own.event, &own.who, &own.address, &own.detail)
            == (other.event, &other.who, &other.address, &other.detail)
    }

    fn counted(&self) -> Option<AuditEntry> {
        let more = self.more;
        (more > 0).then(|| AuditEntry {
            more,
            time: self.last_time.clone(),
            ..self.entry.clone()
        })
    }
}

#[derive(Debug)]
struct AuditLog {
    path: Option<PathBuf>,
    /// Entries of the last minute, the oldest first.
    open: Vec<Open>,
    /// Entries that the disk has not taken, the oldest first. They are tried again.
    waiting: VecDeque<AuditEntry>,
    /// Number of entries that found no place there.
    lost: u64,
    /// Whether the last line of the file may be unfinished: a kill or a full disk can tear it.
    may_be_torn: bool,
    /// Whether an entry of the file may not be on the disk yet.
    is_unflushed: bool,
    fault: Fault,
}

impl AuditLog {
    fn add(&mut self, mut entry: AuditEntry, now: Instant) {
        self.close(now, SAME_FOR);
        if self.count(&entry) {
            return;
        }
        if self.open.len() >= OPEN_MAX {
            if entry.event.is_bounded() {
                OTHERS.clone_into(&mut entry.who);
                entry.address = String::new();
                entry.detail = String::new();
                if self.count(&entry) {
                    return;
                }
            } else {
                let oldest = self.open.remove(0);
                self.write_count(&oldest);
            }
        }
        self.write(&entry);
        self.open.push(Open {
            last_time: entry.time.clone(),
            entry,
            since: now,
            more: 0,
        });
    }

    /// Counts an entry if there is one like it.
    fn count(&mut self, entry: &AuditEntry) -> bool {
        let mut open = self.open.iter_mut();
        let Some(same) = open.find(|open| open.is_like(entry)) else {
            return false;
        };
        same.more += 1;
        same.last_time.clone_from(&entry.time);
        true
    }

    /// Writes the counts of the entries that are older than `age`.
    fn close(&mut self, now: Instant, age: Duration) {
        let is_over = |open: &mut Open| now.saturating_duration_since(open.since) >= age;
        let over: Vec<Open> = self.open.extract_if(.., is_over).collect();
        for open in &over {
            self.write_count(open);
        }
        if !self.waiting.is_empty() {
            self.write_waiting();
        }
    }

    fn write_count(&mut self, open: &Open) {
        if let Some(entry) = open.counted() {
            self.write(&entry);
        }
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
            "login_failed" | "login_throttled" | "refused" | "rejected" => {
                tracing::warn!(event, who, address, detail, more, "panel: audit");
            }
            _ => tracing::info!(event, who, address, detail, more, "panel: audit"),
        }
        if self.waiting.len() < WAITING_MAX {
            self.waiting.push_back(entry.clone());
        } else {
            self.lost += 1;
        }
        self.write_waiting();
    }

    /// Writes the entries that wait. The rest waits for the next attempt.
    fn write_waiting(&mut self) {
        while let Some(entry) = self.waiting.front() {
            let written = self.append(entry);
            self.may_be_torn = written.is_err();
            if let Err(error) = written {
                let (waiting, lost) = (self.waiting.len(), self.lost);
                let mut message =
                    format!("the audit trail cannot be written: {error}; {waiting} entries wait");
                if lost > 0 {
                    message += &format!(", and {lost} are in the log of the program only");
                }
                self.fault.raise(&message);
                return;
            }
            self.is_unflushed = self.path.is_some();
            self.waiting.pop_front();
        }
        self.lost = 0;
        self.fault.clear();
    }

    fn append(&self, entry: &AuditEntry) -> io::Result<()> {
        let Some(path) = &self.path else {
            return Ok(());
        };
        // An empty line is no entry, and keeps this one apart from a torn one.
        let mut line = match self.may_be_torn {
            true => vec![b'\n'],
            false => Vec::new(),
        };
        serde_json::to_writer(&mut line, entry)?;
        line.push(b'\n');
        let mut file: File = append_private(path)?;
        file.write_all(&line)?;
        if file.metadata()?.len() >= FILE_BYTES_MAX {
            file.sync_data()?;
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
        entries.extend(self.waiting.iter().cloned());
        entries.extend(self.open.iter().filter_map(Open::counted));
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

    fn audit() -> (tempfile::TempDir, Journal, Audit) {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::default();
        let audit = Audit::new(Some(folder.path()), &journal);
        (folder, journal, audit)
    }

    fn bytes_of(folder: &Path) -> u64 {
        let files = std::fs::read_dir(folder).unwrap();
        files
            .map(|file| file.unwrap().metadata().unwrap().len())
            .sum()
    }

    /// A fixed bug: what happened while the disk was full was in no file, and the fault stayed until the next entry.
    #[test]
    fn what_the_disk_does_not_take_waits_and_is_written_later() {
        let (folder, journal, audit) = audit();
        // A folder in the place of the file takes no line.
        let path = folder.path().join("audit-changes.jsonl");
        std::fs::create_dir(&path).unwrap();
        for number in 0..WAITING_MAX + 2 {
            audit.add(AuditEvent::Command, "ada", "::1", &format!("edit {number}"));
        }
        let is_fault = || !journal.faults().is_empty();
        assert!(is_fault());
        std::fs::remove_dir(&path).unwrap();
        audit.write_counts(Instant::now(), false);
        assert!(!is_fault(), "the next attempt ends the fault");
        let entries = audit.read().unwrap();
        assert_eq!(entries.len(), WAITING_MAX);
        assert!(entries.iter().any(|entry| entry.detail == "edit 0"));
    }

    /// A fixed bug: refused logins were an entry each, so that a client without a password pushed all earlier logins out of the trail.
    #[test]
    fn refused_logins_push_neither_changes_nor_logins_out_and_are_counted() {
        let (folder, journal, audit) = audit();
        audit.add(AuditEvent::UserRemoved, "ada", "10.0.0.1", "vera");
        audit.add(AuditEvent::Login, "ada", "10.0.0.1", "");
        for n in 0..20_000 {
            let who = format!("user {n} {}", "x".repeat(500));
            let address = format!("fd00::{n:x}");
            audit.add(AuditEvent::LoginFailed, &who, &address, "");
            audit.add(AuditEvent::LoginThrottled, "", "fd00::/64", "");
            audit.add(AuditEvent::Refused, "vera", "10.0.0.2", &format!("/{n}"));
            audit.add(AuditEvent::Operated, "otto", "10.0.0.3", &format!("{n}"));
        }
        let entries = audit.read().unwrap();
        let of = |event| entries.iter().filter(move |entry| entry.event == event);
        assert_eq!(of(AuditEvent::UserRemoved).count(), 1);
        assert_eq!(of(AuditEvent::Login).count(), 1);
        for event in [
            AuditEvent::LoginFailed,
            AuditEvent::LoginThrottled,
            AuditEvent::Refused,
            AuditEvent::Operated,
        ] {
            let counted: u64 = of(event).map(|entry| entry.more).sum();
            let written = of(event).filter(|entry| entry.more == 0).count() as u64;
            assert_eq!(counted + written, 20_000, "{event:?}");
        }
        assert!(bytes_of(folder.path()) < 60_000, "{:?}", entries.len());
        assert_eq!(journal.faults(), []);
    }

    #[test]
    fn the_disk_is_bounded_also_after_months() {
        let (folder, _, audit) = audit();
        let begun = Instant::now();
        for n in 0..20_000 {
            let entry = AuditEntry {
                time: now_iso_millis(),
                event: AuditEvent::LoginFailed,
                who: format!("user {n}"),
                address: "10.0.0.66".to_owned(),
                detail: "x".repeat(FIELD_CHARS_MAX),
                more: 0,
            };
            let later = begun + n * SAME_FOR;
            audit.refusals.lock().add(entry, later);
        }
        let bytes = bytes_of(folder.path());
        assert!(bytes < 2 * READ_BYTES_MAX, "{bytes}");
        assert_eq!(audit.read().unwrap().len(), ENTRIES_MAX);
    }

    /// A fixed bug: the entry after a torn line was read as a part of it.
    #[test]
    fn a_torn_line_costs_only_itself() {
        let (folder, journal, audit) = audit();
        audit.add(AuditEvent::Login, "ada", "10.0.0.1", "");
        audit.add(AuditEvent::Login, "bob", "10.0.0.1", "");
        let path = folder.path().join("audit-logins.jsonl");
        let text = std::fs::read(&path).unwrap();
        let users = |audit: &Audit| -> Vec<String> {
            let entries = audit.read().unwrap().into_iter().rev();
            entries.map(|entry| entry.who).collect()
        };
        // Killed in the middle of the second line.
        std::fs::write(&path, &text[..text.len() - 20]).unwrap();
        let audit = Audit::new(Some(folder.path()), &journal);
        audit.add(AuditEvent::Login, "eve", "10.0.0.1", "");
        assert_eq!(users(&audit), ["ada", "eve"]);
        // A disk that refused may have taken a part.
        let torn = [&std::fs::read(&path).unwrap()[..], b"{\"time\":"].concat();
        let aside = folder.path().join("aside");
        std::fs::rename(&path, &aside).unwrap();
        std::fs::create_dir(&path).unwrap();
        audit.add(AuditEvent::Login, "lost", "10.0.0.1", "");
        assert_eq!(journal.faults().len(), 1);
        std::fs::remove_dir(&path).unwrap();
        std::fs::write(&path, torn).unwrap();
        audit.add(AuditEvent::Login, "fay", "10.0.0.1", "");
        assert_eq!(users(&audit), ["ada", "eve", "lost", "fay"]);
        assert_eq!(journal.faults(), []);
    }

    #[test]
    fn counts_are_written_after_a_minute_and_at_the_end() {
        let (folder, journal, audit) = audit();
        for _ in 0..5 {
            audit.add(AuditEvent::Login, "ada", "10.0.0.1", "");
            audit.add(AuditEvent::Logout, "ada", "10.0.0.1", "");
        }
        let written = || {
            let audit = Audit::new(Some(folder.path()), &journal);
            let entries = audit.read().unwrap();
            entries.iter().map(|entry| entry.more).sum::<u64>()
        };
        let now = Instant::now();
        audit.write_counts(now, false);
        assert_eq!(written(), 0);
        audit.write_counts(now + SAME_FOR, false);
        assert_eq!(written(), 8);
        audit.add(AuditEvent::Login, "ada", "10.0.0.1", "");
        audit.add(AuditEvent::Login, "ada", "10.0.0.1", "");
        audit.write_counts(now, true);
        assert_eq!(written(), 9);
    }

    /// A fixed bug: a role that was given, changed and given again within a minute was listed as changed, because the third entry was
    /// counted with the first.
    #[test]
    fn the_newest_entry_is_the_state_that_holds() {
        let (folder, journal, audit) = audit();
        let begun = Instant::now();
        for (ms, role) in ["admin", "view", "view", "admin", "operate", "view"]
            .iter()
            .enumerate()
        {
            let entry = AuditEntry {
                time: format!("2026-06-01T12:00:00.00{ms}Z"),
                event: AuditEvent::UserChanged,
                who: "ada".to_owned(),
                address: String::new(),
                detail: (*role).to_owned(),
                more: 0,
            };
            audit.changes.lock().add(entry, begun);
        }
        let shown = |audit: &Audit| -> Vec<(String, u64)> {
            let entries = audit.read().unwrap().into_iter();
            entries.map(|entry| (entry.detail, entry.more)).collect()
        };
        let all = [
            ("view", 2),
            ("operate", 0),
            ("admin", 1),
            ("view", 0),
            ("admin", 0),
        ];
        let all = all.map(|(role, more)| (role.to_owned(), more));
        assert_eq!(shown(&audit), all);
        audit.write_counts(begun + SAME_FOR, false);
        let later = Audit::new(Some(folder.path()), &journal);
        assert_eq!(shown(&later), all);
    }

    #[test]
    fn no_text_moves_the_cursor() {
        let (_folder, _, audit) = audit();
        let who = "vera\u{1b}]0;x\u{7}\n";
        audit.add(AuditEvent::Refused, who, "10.0.0.2", "users\r\n");
        let entries = audit.read().unwrap();
        assert_eq!(entries[0].who, "vera]0;x");
        assert_eq!(entries[0].detail, "users");
    }
}
