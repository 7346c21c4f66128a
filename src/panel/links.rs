//! What the rest of the program gives to the panel.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::archive::SiteFileContent;
use super::live_slot::LiveSlot;
use super::log_ring::LogRing;
use crate::control::{
    AgentsLine, DeskClient, DocumentName, Journal, MindLine, Reason, TrackLine, Trust,
};

/// What the floor shows until a password is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetupNotice {
    /// Address of the page.
    pub url: String,
    /// The setup code.
    pub code: String,
    /// SHA-256 fingerprint of an own certificate, as browsers show it; empty without one.
    pub fingerprint: String,
}

impl SetupNotice {
    /// Returns the address that a QR code leads to: the page with the code filled in. A browser sends nothing after the `#`.
    pub fn link(&self) -> String {
        format!("{}/#setup={}", self.url, self.code)
    }
}

/// A picture without encoding.
#[derive(Clone, Debug, Default)]
pub struct RawPicture {
    /// Width.
    pub width_px: u32,
    /// Height.
    pub height_px: u32,
    /// Number of source pixels per pixel of this picture, in each direction; 0 if the picture was scaled otherwise.
    pub step: u8,
    /// Lowest byte of the number of the camera frame; 0 for a picture of an output.
    pub frame: u8,
    /// One byte per pixel for gray pictures, three for color (red, green, blue), row by row from the top.
    pub pixels: Vec<u8>,
}

/// The outlines of the visitors in one frame of the camera, for drawing over its picture.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct VisitorOutlines {
    /// Number of the frame in the source.
    pub frame: u64,
    /// Width and height of the frame in pixels.
    pub size_px: [u32; 2],
    /// The visitors by ascending id.
    pub visitors: Vec<VisitorOutline>,
}

/// The outline of one visitor. Positions are in pixels of the camera frame; pixel centers are whole numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct VisitorOutline {
    /// Id of the track.
    pub id: u32,
    /// Foot point.
    pub foot_px: [f32; 2],
    /// Corners; the first one is not repeated at the end.
    pub outline_px: Vec<[f32; 2]>,
}

/// Newest values of the stages. A stage fills a slot only while a client watches it.
#[derive(Clone, Default)]
pub struct LiveViews {
    /// The picture of the camera.
    pub camera: Arc<LiveSlot<RawPicture>>,
    /// The foreground mask of the same frame: white where something covers the floor.
    pub mask: Arc<LiveSlot<RawPicture>>,
    /// The picture of each output, in the order of the site file.
    pub outputs: Vec<Arc<LiveSlot<RawPicture>>>,
    /// The agents.
    pub agents: Arc<LiveSlot<AgentsLine>>,
    /// The minds of the fish that clients watch.
    pub minds: Vec<Arc<MindSlot>>,
    /// The tracks.
    pub tracks: Arc<LiveSlot<TrackLine>>,
    /// The outlines of the visitors in the picture of the camera.
    pub outlines: Arc<LiveSlot<VisitorOutlines>>,
}

impl LiveViews {
    /// Whether a client watches the mind of a fish.
    pub fn has_minds(&self, now: Instant) -> bool {
        self.minds.iter().any(|mind| mind.line.is_wanted(now))
    }
}

/// The mind of the fish that a client watches.
#[derive(Debug, Default)]
pub struct MindSlot {
    id: AtomicU32,
    /// The newest value.
    pub line: LiveSlot<MindLine>,
}

impl MindSlot {
    /// Returns the id of the fish.
    pub fn id(&self) -> u32 {
        self.id.load(Ordering::Relaxed)
    }

    /// Watches another fish.
    pub(crate) fn watch(&self, id: u32) {
        self.id.store(id, Ordering::Relaxed);
    }
}

/// Shows a setup notice; `None` removes it.
pub type ShowSetup = Box<dyn Fn(Option<&SetupNotice>) + Send + Sync>;

/// Returns the files of the site, or why they cannot be read.
pub type ReadFiles = Box<dyn Fn() -> Result<Vec<SiteFileContent>, String> + Send + Sync>;
/// Checks files as a site, and replaces the files of the site by them; or returns all reasons why not. Those that
/// change more than the trust allows are refused.
pub type RestoreFiles =
    Box<dyn Fn(&[SiteFileContent], Trust) -> Result<(), Vec<Reason>> + Send + Sync>;
/// Checks a model and adds it under a name like the wished one. Returns the value for `look.model` of a species, or what is
/// wrong with the model.
pub type AddModel = Box<dyn Fn(&str, &[u8]) -> Result<String, String> + Send + Sync>;

/// An earlier text of a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileVersion {
    /// Name of its file.
    pub file: String,
    /// Date and time at which a newer text replaced it, ISO 8601.
    pub replaced: String,
    /// The text.
    pub text: String,
}

/// Returns the earlier texts of a document, the newest first, or why they cannot be read.
pub type ReadVersions =
    Box<dyn Fn(&DocumentName) -> Result<Vec<FileVersion>, String> + Send + Sync>;

/// Reads and writes the files of the site.
pub struct SiteFiles {
    /// Reads the files of the site.
    pub read: ReadFiles,
    /// Reads the earlier texts of a document.
    pub versions: ReadVersions,
    /// Replaces the files of the site.
    pub restore: RestoreFiles,
    /// Adds a model.
    pub add_model: AddModel,
}

/// A finished recording of the camera.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RecordingFile {
    /// Name of the file.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// Date and time of its end in UTC, ISO 8601.
    pub time: String,
}

/// The finished recordings, and the space for another one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RecordingList {
    /// The recordings, the newest first.
    pub recordings: Vec<RecordingFile>,
    /// Largest size that another recording can have; 0 if there is no room for one.
    pub left_bytes: u64,
}

/// Returns the recordings, or why they cannot be read.
pub type ListRecordings = Box<dyn Fn() -> Result<RecordingList, String> + Send + Sync>;
/// Opens a recording; `None` if there is none with this name.
pub type OpenRecording = Box<dyn Fn(&str) -> Option<File> + Send + Sync>;
/// Deletes a recording, or returns why not.
pub type RemoveRecording = Box<dyn Fn(&str) -> Result<(), String> + Send + Sync>;

/// The recordings that operators made. The desk starts and ends them.
pub struct Recordings {
    /// Lists them.
    pub list: ListRecordings,
    /// Opens one for a download.
    pub open: OpenRecording,
    /// Deletes one.
    pub remove: RemoveRecording,
}

/// An entry of the maintenance notebook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotebookEntry {
    /// Date and time in UTC, ISO 8601.
    pub time: String,
    /// The person who did the work.
    pub person: String,
    /// Work or observation.
    pub note: String,
}

/// Returns all entries, the oldest first, or why they cannot be read.
pub type ReadNotebook = Box<dyn Fn() -> Result<Vec<NotebookEntry>, String> + Send + Sync>;
/// Adds an entry of a person with this note, or returns why not.
pub type AddNote = Box<dyn Fn(&str, &str) -> Result<(), String> + Send + Sync>;

/// The maintenance notebook.
pub struct Notebook {
    /// Reads it.
    pub read: ReadNotebook,
    /// Adds an entry with the current time.
    pub add: AddNote,
}

/// Returns devices of the machine as JSON, or why they cannot be listed.
pub type ListDevices = Box<dyn Fn() -> Result<Value, String> + Send + Sync>;

/// Lists the devices of the machine. Each list takes up to some seconds.
pub struct Devices {
    /// The cameras, as `shoal cameras --json`.
    pub cameras: ListDevices,
    /// The monitors, each as a line of `shoal monitors`.
    pub monitors: ListDevices,
}

/// The counts of visitors.
#[derive(Clone, Debug)]
pub struct VisitorCounts {
    /// The file.
    pub file: PathBuf,
    /// Numbers of visitors below this one are not shown.
    pub hide_below: u32,
}

/// What the rest of the program gives to the panel.
pub struct PanelLinks {
    /// The client of the desk.
    pub client: DeskClient,
    /// Takes the faults of the panel.
    pub journal: Journal,
    /// Newest values of the stages.
    pub views: LiveViews,
    /// Returns the JSON Schema of the configuration files, as JSON.
    pub schema: Box<dyn Fn() -> String + Send + Sync>,
    /// Lists cameras and monitors.
    pub devices: Devices,
    /// The counts of visitors; `None` if they are not counted.
    pub counts: Option<VisitorCounts>,
    /// Backup of the site; `None` for the built-in site, which has no files.
    pub archive: Option<SiteFiles>,
    /// Recordings of the camera; `None` for the built-in site, which keeps none.
    pub recordings: Option<Recordings>,
    /// The maintenance notebook; `None` for the built-in site, which keeps none.
    pub notebook: Option<Notebook>,
    /// Shows address and setup code until a password is set.
    pub on_setup: ShowSetup,
    /// The newest lines of the log.
    pub log: &'static LogRing,
    /// Language of the site, such as `en`.
    pub language: Box<dyn Fn() -> &'static str + Send + Sync>,
}
