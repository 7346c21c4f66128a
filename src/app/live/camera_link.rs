//! The camera source of the running pool. It is opened again if a change of the site or an operator needs it; the other stages
//! run on.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use super::super::print_message;
use crate::camera::{
    AtEnd, CameraHealth, CameraParams, Feed, FeedSetup, FrameTap, SourceSpec, WorkerCommand,
};

/// Time between two checks whether the old source is closed.
const CLOSE_PAUSE: Duration = Duration::from_millis(5);

/// Makes the function that gets every frame, for each time that the source is opened; `None` if nothing records.
pub(crate) type TapMaker = Box<dyn Fn() -> Option<FrameTap> + Send + Sync>;

/// The open camera source, and what is needed to open another one.
pub(crate) struct CameraLink {
    feed: Mutex<Option<Arc<Feed>>>,
    setup: Mutex<FeedSetup>,
    /// Folder to which the source in the site file refers; `None` if the source comes from the command line and stays.
    folder: Option<PathBuf>,
    at_end: AtEnd,
    worker: WorkerCommand,
    make_tap: TapMaker,
    /// Whether an operator wants the source to be opened again.
    must_reopen: AtomicBool,
}

impl CameraLink {
    /// Opens the source.
    ///
    /// # Errors
    /// When no thread can be started. A missing camera is a fault, not an error.
    pub(crate) fn open(
        (spec, params): (SourceSpec, &CameraParams),
        folder: Option<PathBuf>,
        at_end: AtEnd,
        make_tap: TapMaker,
    ) -> anyhow::Result<Self> {
        let worker = WorkerCommand::own()?;
        let setup = FeedSetup {
            at_end,
            ..FeedSetup::new(spec, params, worker.clone())
        };
        let feed = Feed::open(setup.clone(), make_tap())?;
        Ok(Self {
            feed: Mutex::new(Some(Arc::new(feed))),
            setup: Mutex::new(setup),
            folder,
            at_end,
            worker,
            make_tap,
            must_reopen: AtomicBool::new(false),
        })
    }

    /// Lets the vision stage open the source again, see [`Self::reopen_if_requested`].
    pub(crate) fn request_reopen(&self) {
        self.must_reopen.store(true, Ordering::Relaxed);
    }

    /// Opens the source again if an operator asked for it.
    ///
    /// # Errors
    /// When no thread can be started. Then there is no source.
    pub(crate) fn reopen_if_requested(&self) -> anyhow::Result<()> {
        if !self.must_reopen.swap(false, Ordering::Relaxed) {
            return Ok(());
        }
        let setup = self.setup.lock().clone();
        self.open_again(setup)
    }

    /// Returns the open source; `None` while it is being opened again.
    pub(crate) fn feed(&self) -> Option<Arc<Feed>> {
        self.feed.lock().clone()
    }

    /// Returns name and health of the source.
    pub(crate) fn health(&self) -> (String, CameraHealth) {
        match self.feed() {
            Some(feed) => (feed.name().to_owned(), feed.health()),
            None => (String::new(), CameraHealth::default()),
        }
    }

    /// Uses other parameters. Opens the source again only if they concern it. Returns whether it did.
    ///
    /// # Errors
    /// When the source is invalid, or no thread can be started. Then the old source stays open, or there is none.
    pub(crate) fn change(&self, params: &CameraParams) -> anyhow::Result<bool> {
        let spec = match &self.folder {
            Some(folder) => SourceSpec::parse(&params.source)?.relative_to(folder),
            None => self.setup.lock().spec.clone(),
        };
        let setup = FeedSetup {
            at_end: self.at_end,
            ..FeedSetup::new(spec, params, self.worker.clone())
        };
        if *self.setup.lock() == setup {
            return Ok(false);
        }
        self.open_again(setup)?;
        Ok(true)
    }

    fn open_again(&self, setup: FeedSetup) -> anyhow::Result<()> {
        // The old source is closed first, because two programs cannot read a camera at the same time.
        let old = self.feed.lock().take();
        if let Some(old) = old {
            // The desk holds the source for the moment in which it reads its health.
            while Arc::strong_count(&old) > 1 {
                std::thread::sleep(CLOSE_PAUSE);
            }
        }
        let feed = Feed::open(setup.clone(), (self.make_tap)())?;
        print_message(&format!("camera: {} is opened again", feed.name()));
        *self.feed.lock() = Some(Arc::new(feed));
        *self.setup.lock() = setup;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_change_that_concerns_the_source_opens_it_again() {
        let params = CameraParams::default();
        let spec = SourceSpec::parse(&params.source).unwrap();
        let link = CameraLink::open(
            (spec, &params),
            Some(PathBuf::new()),
            AtEnd::Repeat,
            Box::new(|| None),
        )
        .unwrap();
        let latency = CameraParams {
            latency_ms: 20.0,
            ..params.clone()
        };
        assert!(!link.change(&latency).unwrap());
        let opened = link.feed().unwrap();
        link.reopen_if_requested().unwrap();
        assert!(
            Arc::ptr_eq(&opened, &link.feed().unwrap()),
            "nobody asked for it"
        );
        drop(opened);
        link.request_reopen();
        link.reopen_if_requested().unwrap();
        assert_eq!(link.health().1.frames, 0, "a new source");
        let other = CameraParams {
            source: "synthetic:2".to_owned(),
            ..params
        };
        assert!(link.change(&other).unwrap());
        assert_eq!(link.health().0, "synthetic:2");
    }
}
