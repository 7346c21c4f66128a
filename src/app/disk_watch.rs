//! Watches the files of a site: a change on the disk becomes a command for the desk.
//!
//! In: a watcher of the site's files. Out: requests, and the fault `site_files` while the files on the disk are not what the pool
//! shows. Must not: validate the files; the desk validates them.

use std::time::Duration;

use crate::control::{
    Command, DeskClient, DocumentText, EditorStep, Journal, Outcome, Request, Source, SourceKind,
    Trust, Undelivered,
};
use crate::runtime::{Fault, Heartbeat};
use crate::site::{FileWatcher, POLL_INTERVAL};

/// Longest wait for the reply of the desk.
const REPLY_TIMEOUT: Duration = Duration::from_secs(60);

/// Polls a watcher of a site's files and sends changed documents to the desk. While the files cannot be read or are rejected, the
/// fault `site_files` is active. Returns when the program ends.
///
/// The caller creates the watcher, so that a change between the creation and the start of this thread is not missed.
pub fn watch_files(
    watch: &mut FileWatcher,
    client: &DeskClient,
    journal: &Journal,
    heartbeat: &Heartbeat,
) {
    let mut fault = SiteFault::new(journal);
    while heartbeat.keep_running() {
        match watch.poll() {
            Some(Ok(changes)) => {
                let mut problems = Vec::new();
                for documents in changes {
                    match take_over(documents.clone(), client, heartbeat) {
                        Some(Outcome::Applied { .. }) => watch.forget_deletions(&documents),
                        Some(Outcome::Rejected { problems: reasons }) => {
                            problems.extend(reasons.iter().map(ToString::to_string));
                        }
                        None => return,
                    }
                }
                problems.extend(watch.busy_files().iter().map(ToString::to_string));
                fault.set(&problems);
            }
            Some(Err(problems)) => fault.set(&problems.0),
            None => {}
        }
        heartbeat.sleep(POLL_INTERVAL);
    }
}

/// Lets the desk apply documents, and waits for the outcome. While the queue of the desk is full, it is tried again. Returns
/// `None` if the program ends.
fn take_over(
    documents: Vec<DocumentText>,
    client: &DeskClient,
    heartbeat: &Heartbeat,
) -> Option<Outcome> {
    let request = Request {
        id: 0,
        source: Source::of(SourceKind::Files),
        command: Command::Pool(EditorStep::TakeOver { documents }.into()),
        trust: Trust::Programs,
    };
    loop {
        match client.request(request.clone(), REPLY_TIMEOUT) {
            Ok(reply) => return Some(reply.result),
            Err(Undelivered::Gone) => return None,
            Err(late @ Undelivered::Late) => return Some(Outcome::rejected(late.to_string())),
            Err(Undelivered::Busy) if heartbeat.sleep(POLL_INTERVAL) => {}
            Err(Undelivered::Busy) => return None,
        }
    }
}

/// The fault that the files on the disk are not applied. It names the first problem.
struct SiteFault {
    reporter: Fault,
    detail: String,
}

impl SiteFault {
    fn new(journal: &Journal) -> Self {
        Self {
            reporter: journal.fault("site_files"),
            detail: String::new(),
        }
    }

    /// Begins the fault with these problems, or ends it if there are none. The fault lasts since the files were valid for the last time,
    /// also if they have other problems meanwhile.
    fn set<P: std::fmt::Display>(&mut self, problems: &[P]) {
        let Some((first, others)) = problems.split_first() else {
            self.reporter.clear();
            return;
        };
        let others = match others.len() {
            0 => String::new(),
            1 => " (and one more problem; shoal check lists both)".to_owned(),
            count => format!(" (and {count} more problems; shoal check lists all)"),
        };
        let detail = format!(
            "{first}{others}. The pool keeps the last valid site until the files are corrected."
        );
        let begins = self.reporter.raise(&detail);
        if !begins && self.detail != detail {
            tracing::warn!("the files have other problems: {detail}");
        }
        self.detail = detail;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{Board, DeskEvent, DeskEvents, EventKind, Reason, desk_queue};
    use crate::runtime::{HangPolicy, StopFlag, Supervisor};
    use shoal_testing::assert_message;
    use std::path::Path;
    use std::sync::Arc;

    const PATIENCE: Duration = Duration::from_secs(20);

    /// A watched site and the desk that answers its commands.
    struct Watched {
        folder: tempfile::TempDir,
        supervisor: Supervisor,
        events: DeskEvents,
        board: Arc<Board>,
        /// Number of the last event that was read.
        seen: u64,
    }

    impl Watched {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let site = folder.path().join("site.toml");
            std::fs::write(&site, "one = 1\n").unwrap();
            let (client, events, board) = desk_queue();
            let journal = Journal::new(Arc::clone(&board));
            let mut watch = FileWatcher::new(&site);
            let mut supervisor = Supervisor::new(StopFlag::default());
            supervisor
                .start("disk-watch", HangPolicy::Abandon, move |heartbeat| {
                    watch_files(&mut watch, &client, &journal, heartbeat);
                })
                .unwrap();
            Self {
                folder,
                supervisor,
                events,
                board,
                seen: 0,
            }
        }

        fn site(&self) -> std::path::PathBuf {
            self.folder.path().join("site.toml")
        }

        fn answer(&self, problems: &[Reason]) {
            let DeskEvent::Request(incoming) = self.events.recv_timeout(PATIENCE).unwrap() else {
                panic!("only clients send here");
            };
            let outcome = match problems {
                [] => Outcome::Applied {
                    tick: 0,
                    notes: Vec::new(),
                    unsaved: None,
                },
                _ => Outcome::Rejected {
                    problems: problems.to_vec(),
                },
            };
            incoming.answer(1, outcome);
        }

        fn next_event(&mut self) -> EventKind {
            let page = self.board.events.after(self.seen, PATIENCE);
            let event = page.events.first().unwrap().clone();
            self.seen = event.number;
            event.kind
        }

        /// Returns the detail of the fault that begins next.
        fn begun(&mut self) -> String {
            match self.next_event() {
                EventKind::FaultBegan { fault, detail } if fault == "site_files" => detail,
                other => panic!("{other:?}"),
            }
        }

        fn has_ended(&mut self) -> bool {
            matches!(self.next_event(), EventKind::FaultEnded { fault, .. } if fault == "site_files")
        }
    }

    fn reason(line: usize) -> Reason {
        Reason {
            file: "scenes/reef.toml".to_owned(),
            line,
            path: "population.shrk".to_owned(),
            message: "unknown species. Did you mean \"shark\"?".to_owned(),
            code: String::new(),
        }
    }

    fn write(path: &Path, text: &[u8]) {
        std::fs::write(path, text).unwrap();
    }

    /// A rejected file was only a line in the log, so an operator could not see that the pool shows another site than the files.
    #[test]
    fn a_rejected_site_file_is_a_fault_until_it_is_corrected() {
        let mut watched = Watched::new();
        let site = watched.site();
        write(&site, b"one = 2\n");
        watched.answer(&[reason(12), reason(20), reason(30)]);
        let detail = watched.begun();
        assert!(
            detail.starts_with("scenes/reef.toml:12: population.shrk: unknown species."),
            "{detail}"
        );
        assert!(detail.contains("2 more problems"), "{detail}");
        // A fixed bug: with another problem the fault began again, so the page said that it was new. The next event is its end.
        write(&site, b"one = 3\n");
        watched.answer(&[reason(20)]);
        write(&site, b"one = 4\n");
        watched.answer(&[]);
        assert!(watched.has_ended());
        watched.supervisor.shut_down().unwrap();
    }

    #[test]
    fn a_site_file_that_cannot_be_read_is_the_same_fault() {
        let mut watched = Watched::new();
        let site = watched.site();
        write(&site, b"one = \xff\xfe\n");
        let detail = watched.begun();
        assert_message(&detail, &["site.toml", "UTF-8"]);
        write(&site, b"one = 2\n");
        watched.answer(&[]);
        assert!(watched.has_ended());
        watched.supervisor.shut_down().unwrap();
    }
}
