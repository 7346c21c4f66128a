//! Input that ends when the program has to end, even while it waits for the program at the other end of a pipe.
//!
//! In: a function that opens the input. Out: its bytes. A thread of its own opens and reads the input, because both can wait
//! without a limit. The thread is never joined: it ends with the program, or when its reader is dropped and more data arrive.

use std::io::{self, Cursor, Read};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use crate::runtime::StopFlag;

/// Longest wait for data between two checks of the stop flag.
const STOP_CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// Number of bytes that are read at once.
const CHUNK_BYTES: usize = 64 << 10;
/// Number of chunks that can wait for the reader.
const WAITING_MAX: usize = 4;

/// The receiving end of an input that is read on another thread.
pub(super) struct StoppableInput {
    chunks: Receiver<io::Result<Vec<u8>>>,
    chunk: Cursor<Vec<u8>>,
    stop: StopFlag,
}

impl StoppableInput {
    /// Starts the thread that opens and reads the input.
    ///
    /// # Errors
    /// When the operating system cannot start the thread. An error of the input is returned when it is read.
    pub(super) fn start(
        stop: &StopFlag,
        open: impl FnOnce() -> io::Result<Box<dyn Read>> + Send + 'static,
    ) -> io::Result<Self> {
        let (sender, chunks) = sync_channel(WAITING_MAX);
        std::thread::Builder::new()
            .name("input".to_owned())
            .spawn(move || match open() {
                Ok(mut input) => send_all(&mut input, &sender),
                Err(error) => {
                    let _gone = sender.send(Err(error));
                }
            })?;
        Ok(Self {
            chunks,
            chunk: Cursor::default(),
            stop: StopFlag::clone(stop),
        })
    }
}

/// Sends the input in chunks until it ends or fails, or the receiver is dropped.
fn send_all(input: &mut dyn Read, sender: &SyncSender<io::Result<Vec<u8>>>) {
    loop {
        let mut chunk = vec![0; CHUNK_BYTES];
        let read = input.read(&mut chunk).map(|length| {
            chunk.truncate(length);
            chunk
        });
        let is_over = match &read {
            Ok(chunk) => chunk.is_empty(),
            Err(error) => error.kind() != io::ErrorKind::Interrupted,
        };
        if sender.send(read).is_err() || is_over {
            return;
        }
    }
}

impl Read for StoppableInput {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        loop {
            let length = self.chunk.read(to)?;
            if length > 0 || to.is_empty() || self.stop.load(Ordering::Relaxed) {
                return Ok(length);
            }
            match self.chunks.recv_timeout(STOP_CHECK_INTERVAL) {
                Ok(chunk) => self.chunk = Cursor::new(chunk?),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_input_is_read() {
        let text: Vec<u8> = (0..300_000).map(|i| (i % 251) as u8).collect();
        let source = text.clone();
        let stop = StopFlag::default();
        let open = move || -> io::Result<Box<dyn Read>> { Ok(Box::new(Cursor::new(source))) };
        let mut input = StoppableInput::start(&stop, open).unwrap();
        let mut read = Vec::new();
        input.read_to_end(&mut read).unwrap();
        assert!(read == text);
        let open = || -> io::Result<Box<dyn Read>> { Err(io::ErrorKind::NotFound.into()) };
        let mut absent = StoppableInput::start(&stop, open).unwrap();
        let error = absent.read(&mut [0]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

    /// An input that waits until the test ends.
    struct Silent(Receiver<()>);

    impl Read for Silent {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            let _ended = self.0.recv();
            Ok(0)
        }
    }

    #[test]
    fn the_stop_flag_ends_an_input_that_never_delivers_anything() {
        let (end, silent) = sync_channel(0);
        let stop = StopFlag::default();
        let open = move || -> io::Result<Box<dyn Read>> { Ok(Box::new(Silent(silent))) };
        let mut input = StoppableInput::start(&stop, open).unwrap();
        let ended = StopFlag::clone(&stop);
        let signal = std::thread::spawn(move || ended.store(true, Ordering::Relaxed));
        assert_eq!(input.read(&mut [0; 8]).unwrap(), 0);
        signal.join().unwrap();
        drop(end);
    }
}
