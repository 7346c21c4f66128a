//! Standard error without waiting for its reader.
//!
//! Whoever reads standard error may stop: a terminal after Ctrl-S, a lost connection, a log collector that hangs. A program that
//! runs for months must not stand still with it. After [`queue_messages`] a thread writes, and lines for which there is no room are
//! dropped and counted.

use std::io::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Number of lines that may wait.
const WAITING_MAX: usize = 1000;
/// Longest wait for the lines that wait when the program ends.
const FLUSH_TIME: Duration = Duration::from_millis(500);

static QUEUE: OnceLock<SyncSender<Queued>> = OnceLock::new();
static DROPPED: AtomicU64 = AtomicU64::new(0);
/// Since when the writing thread waits for standard error; `None` while it does not.
static WRITING: Mutex<Option<Instant>> = Mutex::new(None);

/// What the writing thread does next.
enum Queued {
    Line(Vec<u8>),
    /// Answers when all lines before it are written.
    Flush(SyncSender<()>),
}

/// Writes to standard error. Each write is a whole line.
#[derive(Clone, Copy, Debug, Default)]
pub struct MessageWriter;

impl Write for MessageWriter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match QUEUE.get() {
            Some(queue) => put(queue, bytes, &DROPPED),
            None => {
                let _ = std::io::stderr().lock().write_all(bytes);
            }
        }
        Ok(bytes.len())
    }

    fn write_fmt(&mut self, text: std::fmt::Arguments<'_>) -> std::io::Result<()> {
        self.write(text.to_string().as_bytes()).map(drop)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Lets a thread write from now on, so that no other thread waits for standard error.
///
/// # Errors
/// When the thread cannot be started.
pub fn queue_messages() -> std::io::Result<()> {
    if QUEUE.get().is_some() {
        return Ok(());
    }
    let (queue, waiting) = sync_channel(WAITING_MAX);
    std::thread::Builder::new()
        .name("messages".to_owned())
        .spawn(move || write_waiting(&waiting, &mut std::io::stderr(), &DROPPED))?;
    // Another thread that was quicker has started the same.
    let _ = QUEUE.set(queue);
    Ok(())
}

/// Whether standard error takes the lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageFlow {
    /// Number of lines that were dropped since the start.
    pub dropped: u64,
    /// Time for which standard error has not taken the line that is being written.
    pub stuck: Duration,
}

/// Returns whether standard error takes the lines.
pub fn message_flow() -> MessageFlow {
    MessageFlow {
        dropped: DROPPED.load(Ordering::Relaxed),
        stuck: WRITING
            .lock()
            .map_or(Duration::ZERO, |since| since.elapsed()),
    }
}

/// Waits a moment until the waiting lines are written. For the end of the program.
pub fn flush_messages() {
    let Some(queue) = QUEUE.get() else { return };
    let (written, is_written) = sync_channel(1);
    if queue.try_send(Queued::Flush(written)).is_ok() {
        let _late = is_written.recv_timeout(FLUSH_TIME);
    }
}

fn put(queue: &SyncSender<Queued>, bytes: &[u8], dropped: &AtomicU64) {
    if queue.try_send(Queued::Line(bytes.to_vec())).is_err() {
        dropped.fetch_add(1, Ordering::Relaxed);
    }
}

/// Writes lines until the queue is closed. After lines were dropped, says how many.
fn write_waiting(waiting: &Receiver<Queued>, to: &mut dyn Write, dropped: &AtomicU64) {
    let mut reported = 0;
    for next in waiting {
        match next {
            Queued::Line(line) => {
                *WRITING.lock() = Some(Instant::now());
                // A closed terminal is no error.
                let _ = to.write_all(&line);
                *WRITING.lock() = None;
                let all = dropped.load(Ordering::Relaxed);
                let new = all - std::mem::replace(&mut reported, all);
                if new > 0 {
                    let _ = writeln!(
                        to,
                        "{new} lines were dropped here, because nothing read them"
                    );
                }
            }
            Queued::Flush(written) => {
                let _gone = written.send(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    /// Takes a write only after a permission, as a paused terminal does.
    struct Paused(Receiver<()>, Vec<u8>);

    impl Write for Paused {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            let _ended = self.0.recv();
            self.1.extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// A fixed bug: the whole pool stood still when nothing read its log.
    #[test]
    fn a_reader_that_stops_makes_nobody_wait_and_the_lost_lines_are_counted() {
        let (queue, waiting) = sync_channel(WAITING_MAX);
        let (permit, permits) = channel();
        let dropped = AtomicU64::new(0);
        std::thread::scope(|threads| {
            let counted = &dropped;
            let writer = threads.spawn(move || {
                let mut paused = Paused(permits, Vec::new());
                write_waiting(&waiting, &mut paused, counted);
                String::from_utf8(paused.1).unwrap()
            });
            // One line can be in the hands of the writer.
            for number in 0..WAITING_MAX + 3 {
                put(&queue, format!("line {number}\n").as_bytes(), &dropped);
            }
            assert!(dropped.load(Ordering::Relaxed) >= 2);
            drop(queue);
            drop(permit);
            let text = writer.join().unwrap();
            assert!(text.starts_with("line 0\n"), "{text}");
            assert!(text.contains("lines were dropped here"), "{text}");
        });
    }
}
