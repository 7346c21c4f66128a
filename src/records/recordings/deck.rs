//! Recordings of a camera: of the command line, and those that operators start while the pool runs. One at a time.
//!
//! In: frames from the camera sources, starts and stops from the desk. Out: files. Must not: delay a frame, replace a file.

use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::folder::RecordingsFolder;
use super::recorder::{Recorder, RecorderInput, USUAL_FPS, recorder};
use crate::camera::{Frame, FrameTap, Recording};
use crate::control::{COMMANDED_SECS_MAX, Journal, RecordingStatus};
use crate::runtime::Heartbeat;

/// Time beyond the length of an operator's recording after which it ends, even if the camera sends no frames.
const EXTRA_TIME: Duration = Duration::from_secs(10);
/// Time between two looks for a new recording.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// The recorder.
#[derive(Default)]
pub struct RecordingDeck {
    folder: OnceLock<RecordingsFolder>,
    journal: Journal,
    /// Index of the camera whose frames are wanted, counted from 1; 0 if none are. Costs an idle recorder one atomic read per frame.
    wanted: AtomicUsize,
    running: Mutex<Running>,
}

#[derive(Default)]
struct Running {
    input: Option<RecorderInput>,
    /// The recorder that the thread has not started yet.
    recorder: Option<Recorder>,
    current: Option<Current>,
}

struct Current {
    name: String,
    begun: Instant,
    secs: f64,
    /// Longest duration, also without frames; `None` if it waits for frames.
    time_max: Option<Duration>,
    bytes: Arc<AtomicU64>,
    bytes_max: u64,
}

impl RecordingDeck {
    /// Creates an idle recorder.
    pub fn new(journal: &Journal) -> Self {
        Self {
            journal: journal.clone(),
            ..Self::default()
        }
    }

    /// Sets the folder for the recordings of operators. Without one, they cannot record.
    pub fn set_folder(&self, folder: RecordingsFolder) {
        // The desk starts once.
        let _second = self.folder.set(folder);
    }

    /// Returns the folder.
    ///
    /// # Errors
    /// When there is none, the reason.
    pub fn folder(&self) -> Result<&RecordingsFolder, String> {
        self.folder.get().ok_or_else(|| {
            "the built-in site keeps no recordings; start Shoal with a site file".to_owned()
        })
    }

    /// Returns a function that takes every frame of the camera with this index.
    pub fn tap(self: &Arc<Self>, camera: usize) -> FrameTap {
        let deck = Arc::clone(self);
        Box::new(move |frame| deck.send(camera, frame))
    }

    /// Takes a frame if it is recorded.
    fn send(&self, camera: usize, frame: &Frame) {
        if self.wanted.load(Ordering::Relaxed) == camera + 1
            && let Some(input) = &mut self.running.lock().input
        {
            input.send(frame);
        }
    }

    /// Starts a recording of the camera with this index, of at most `secs` seconds. `fps` is the measured frame rate of the camera; 0 if it is not known yet.
    ///
    /// # Errors
    /// When one runs already, or there is no room for another one.
    pub fn start(&self, camera: usize, secs: f64, fps: f64) -> Result<(), String> {
        if !(1.0..=COMMANDED_SECS_MAX).contains(&secs) {
            return Err(format!(
                "secs = {secs} is out of range; allowed: 1 to {COMMANDED_SECS_MAX}"
            ));
        }
        let mut running = self.running.lock();
        if running.current.is_some() {
            return Err("a recording is running already".to_owned());
        }
        let (path, bytes_max) = self.folder()?.new_recording()?;
        let fps = if fps >= 1.0 { fps } else { USUAL_FPS };
        let recording = Recording::create(&path, secs, fps).map_err(|error| error.to_string())?;
        let recording = recording.with_bytes_max(bytes_max);
        let time_max = Duration::from_secs_f64(secs) + EXTRA_TIME;
        self.begin(&mut running, (&path, recording), secs, Some(time_max));
        self.wanted.store(camera + 1, Ordering::Relaxed);
        Ok(())
    }

    /// Starts the recording of the command line, of the first camera, which has no limit of time in which it must get its frames.
    pub fn start_file(&self, path: &Path, recording: Recording, secs: f64) {
        self.begin(&mut self.running.lock(), (path, recording), secs, None);
        self.wanted.store(1, Ordering::Relaxed);
    }

    fn begin(
        &self,
        running: &mut Running,
        (path, recording): (&Path, Recording),
        secs: f64,
        time_max: Option<Duration>,
    ) {
        let (_, bytes_max) = recording.bytes();
        let (input, recorder) = recorder(recording, &self.journal);
        let name = path.file_name().unwrap_or_default();
        running.current = Some(Current {
            name: name.to_string_lossy().into_owned(),
            begun: Instant::now(),
            secs,
            time_max,
            bytes: recorder.bytes(),
            bytes_max,
        });
        (running.input, running.recorder) = (Some(input), Some(recorder));
    }

    /// Ends the recording. The frames that were taken are kept.
    ///
    /// # Errors
    /// When there is none.
    pub fn stop(&self) -> Result<(), String> {
        let ended = self.running.lock().input.take();
        ended.map(drop).ok_or_else(|| "nothing is recorded".into())
    }

    /// Returns the recording that is being made. Ends it if the camera sends no frames.
    pub fn status(&self) -> Option<RecordingStatus> {
        let mut running = self.running.lock();
        let current = running.current.as_ref()?;
        let since = current.begun.elapsed();
        let status = RecordingStatus {
            name: current.name.clone(),
            secs: since.as_secs_f64().min(current.secs),
            limit_secs: current.secs,
            bytes: current.bytes.load(Ordering::Relaxed),
            limit_bytes: current.bytes_max,
        };
        if current.time_max.is_some_and(|time_max| since > time_max) {
            running.input = None;
        }
        Some(status)
    }

    /// Writes the recordings until the program ends.
    pub fn run(&self, heartbeat: &Heartbeat) {
        loop {
            let goes_on = heartbeat.sleep(LOOK_INTERVAL);
            let recorder = self.running.lock().recorder.take();
            if let Some(mut recorder) = recorder {
                recorder.run(heartbeat);
                self.wanted.store(0, Ordering::Relaxed);
                self.finish();
            }
            // A recording that began just before the end of the program is finished too.
            if !goes_on {
                return;
            }
        }
    }

    fn finish(&self) {
        let mut running = self.running.lock();
        running.input = None;
        let Some(current) = running.current.take() else {
            return;
        };
        // A file without a frame cannot be replayed.
        if let Some(folder) = self.folder.get()
            && let Some(path) = folder.path_of(&current.name)
            && std::fs::metadata(&path).is_ok_and(|file| file.len() == 0)
        {
            let _failed = folder.remove(&current.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::camera::Luma;
    use crate::runtime::{HangPolicy, StopFlag, Supervisor};

    #[test]
    fn recordings_follow_each_other_and_an_empty_one_is_not_kept() {
        let state = tempfile::tempdir().unwrap();
        // The disk of the test machine may be full.
        let folder = RecordingsFolder::on_disk(state.path(), |_| Some(1 << 40));
        let deck = Arc::new(RecordingDeck::new(&Journal::default()));
        assert!(deck.start(0, 60.0, 30.0).unwrap_err().contains("site file"));
        deck.set_folder(folder.clone());
        assert!(
            deck.start(0, 1e9, 30.0)
                .unwrap_err()
                .contains("out of range")
        );
        assert!(deck.start(0, f64::NAN, 30.0).is_err());
        assert!(deck.stop().is_err());
        let mut supervisor = Supervisor::new(StopFlag::default());
        let own = Arc::clone(&deck);
        let run = move |heartbeat: &Heartbeat| own.run(heartbeat);
        supervisor
            .start("recordings", HangPolicy::WaitAtEnd, run)
            .unwrap();
        let send = |secs: f64| {
            let frame = Frame {
                time_secs: secs,
                width_px: 2,
                height_px: 1,
                luma: Luma::U8(vec![7; 2]),
                ..Frame::default()
            };
            deck.send(0, &frame);
        };
        let wait_for_end = || {
            while deck.status().is_some() {
                std::thread::sleep(Duration::from_millis(2));
            }
        };
        // The first ends by itself, the second is stopped, the third is of another camera, which sends no frame.
        deck.start(0, 2.0, 30.0).unwrap();
        assert!(deck.start(0, 2.0, 30.0).unwrap_err().contains("already"));
        for frame in 0..5 {
            send(f64::from(frame));
        }
        wait_for_end();
        deck.start(0, 60.0, 30.0).unwrap();
        send(0.0);
        send(1.0);
        while deck.status().is_some_and(|status| status.bytes < 40) {
            std::thread::sleep(Duration::from_millis(2));
        }
        let status = deck.status().unwrap();
        assert!(status.bytes < status.limit_bytes, "{status:?}");
        assert_eq!(
            (status.limit_secs, status.limit_bytes > 1 << 20),
            (60.0, true)
        );
        deck.stop().unwrap();
        wait_for_end();
        deck.start(1, 60.0, 30.0).unwrap();
        send(0.0);
        deck.stop().unwrap();
        wait_for_end();
        supervisor.shut_down().unwrap();
        let sizes: Vec<u64> = folder.list().unwrap().iter().map(|f| f.bytes).collect();
        assert_eq!(sizes.len(), 2, "{sizes:?}");
        assert!(sizes.iter().all(|bytes| *bytes > 40), "{sizes:?}");
    }
}
