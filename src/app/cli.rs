//! The command line: what can be said to `shoal`, in the words of its users. Parses, decides nothing.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use glam::DVec3;

use crate::camera::SourceSpec;
use crate::render::{OverlayOptions, Pattern};
use crate::world::{OverlayLayer, OverlayLayers};

/// Arguments of the whole program.
#[derive(Debug, Parser)]
#[command(
    name = "shoal",
    version,
    about = "A pool of living fish, projected onto a floor, that visitors play with by their own shadow",
    after_help = "Every command runs without SITE.toml on the built-in demo site.\n\
                  Exit codes: 0 done, 1 refused with a reason, 2 wrong usage.",
    propagate_version = true
)]
pub struct Arguments {
    /// What to write to standard error: error, warn, info, debug or trace
    #[arg(long, global = true, value_name = "LEVEL", default_value = "warn")]
    pub log: tracing::Level,

    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the installation: camera, fish, and the picture on the projector
    Run(RunArguments),
    /// Show the built-in pool with synthetic visitors in a window, or drawn into a folder where there is no display
    Demo(DemoArguments),
    /// Find visitors' shadows in a camera's picture (camera and vision only)
    Track(TrackArguments),
    /// Let the fish live for a while, without drawing (behavior only)
    Simulate(SimulateArguments),
    /// Let the fish live for a while, and draw them off screen
    Render(RenderArguments),
    /// Fit lens and homography to measured points, and prove how good they are
    Calibrate(CalibrateArguments),
    /// Validate a site with its species, scenes and models; report all problems
    Check(CheckArguments),
    /// Print the JSON Schema of every configuration file
    Schema,
    /// List cameras with stable names, formats, sizes, rates and controls
    Cameras(super::cameras::CamerasArguments),
    /// List the display's monitors with name, place, size and rate, a JSON object a line
    Monitors,
    /// Serve one camera on standard output, until standard input closes (started by Shoal itself)
    #[command(hide = true)]
    CaptureWorker(super::capture_worker::CaptureWorkerArguments),
}

/// Which site a command runs on.
#[derive(Debug, Args)]
pub struct SiteArguments {
    /// Site file; without it the built-in demo site
    #[arg(value_name = "SITE.toml", value_parser = site_file)]
    pub site: Option<PathBuf>,
}

/// Where the picture of the visitors comes from.
const CAMERA_HELP: &str = "Camera source:\n\
    v4l2:NAME             a camera, as `shoal cameras` lists it; v4l2:0 is the first\n\
    nokhwa:NUMBER         a camera through nokhwa, the portable way\n\
    file:walk.y4m         a video (make one: ffmpeg -i x.mp4 -pix_fmt gray walk.y4m)\n\
    file:FOLDER           PNG, JPEG or TIFF frames, in order of their names\n\
    -                     y4m on standard input\n\
    command:ffmpeg …      a program that writes y4m to its standard output\n\
    synthetic:SEED        visitors made up by Shoal, no camera needed\n\
A source takes options: file:FOLDER?fps=25, 'v4l2:0?format=GREY&size=640x480&fps=30'";

/// `shoal run`.
#[derive(Debug, Args)]
pub struct RunArguments {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub site: SiteArguments,
    #[arg(long, value_name = "SRC", long_help = CAMERA_HELP, help = "Camera source; without it the site's")]
    #[allow(missing_docs)]
    pub camera: Option<String>,
    /// Scene instead of the site's
    #[arg(long, value_name = "NAME")]
    pub scene: Option<String>,
    /// Open no window
    #[arg(long, conflicts_with = "windowed")]
    pub headless: bool,
    /// In a window, instead of over the projector's whole picture
    #[arg(long)]
    pub windowed: bool,
    /// Keep the camera's frames in this file, for --record-secs
    #[arg(long, value_name = "FILE.y4m")]
    pub record: Option<PathBuf>,
    /// How much is kept of the camera's frames, at most 3600 s and 8 GiB
    #[arg(long, value_name = "N", default_value_t = 60.0, value_parser = record_secs, requires = "record")]
    pub record_secs: f64,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub marks: MarkArguments,
    /// End after this time, instead of running until Escape, Ctrl-C or SIGTERM
    #[arg(long, value_name = "SECS", value_parser = seconds)]
    pub seconds: Option<f64>,
    /// Tell it things while it runs: a file of commands, one JSON object a line; - is standard input
    #[arg(long, value_name = "FILE|-")]
    pub commands: Option<PathBuf>,

    /// Lose the graphics device after so many pictures, to see that it comes back
    #[arg(long, value_name = "PICTURES", hide = true)]
    pub lose_device_after: Option<u64>,
    /// Run as the child that is started again when the display is lost; which time this is
    #[arg(long, value_name = "RESTARTS", hide = true)]
    pub kept: Option<u64>,
}

/// `shoal demo`.
#[derive(Debug, Args)]
pub struct DemoArguments {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub site: SiteArguments,
    /// Camera source instead of synthetic visitors (see `shoal track --help`)
    #[arg(long, value_name = "SRC")]
    pub camera: Option<String>,
    /// How long; without it until Escape in a window, 10 s into a folder
    #[arg(long, value_name = "SECS", value_parser = seconds)]
    pub seconds: Option<f64>,
    /// Size of a window's picture (without it the site's) or of one in a folder (720 high, as wide as the
    /// surface asks); over a whole screen it is the screen's own
    #[arg(long, value_name = "WxH", value_parser = size_px)]
    pub size: Option<(u32, u32)>,
    /// Draw frames and video into this folder, also where there is a display; without it and a display demo-output
    #[arg(long, value_name = "DIR", conflicts_with = "windowed")]
    pub out: Option<PathBuf>,
    /// In a window, instead of over the whole screen
    #[arg(long)]
    pub windowed: bool,
}

/// `shoal track`.
#[derive(Debug, Args)]
pub struct TrackArguments {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub site: SiteArguments,
    #[arg(long, value_name = "SRC", long_help = CAMERA_HELP, help = "Camera source; without it the site's")]
    #[allow(missing_docs)]
    pub camera: Option<String>,
    /// As fast as possible, instead of at the recording's own rate
    #[arg(long)]
    pub fast: bool,
    /// Calibration made by `shoal calibrate`; without it the site's, or else the whole picture is the surface
    #[arg(long, value_name = "C.toml")]
    pub calibration: Option<PathBuf>,
    /// Frames per second of a folder of pictures
    #[arg(long, value_name = "F")]
    pub fps: Option<f64>,
    /// Stop after this many seconds of the recording (needed for sources without an end)
    #[arg(long, value_name = "SECS", value_parser = seconds)]
    pub seconds: Option<f64>,
    /// Where the tracks go, a JSON object a line; - for standard output
    #[arg(long, value_name = "T.jsonl")]
    pub out: PathBuf,
    /// Write pictures of every stage (raw, background, ratio, mask, validity, blobs, tracks) to DIR, a set a second
    #[arg(long, value_name = "DIR")]
    pub debug: Option<PathBuf>,
}

/// `shoal simulate`.
#[derive(Debug, Args)]
pub struct SimulateArguments {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub site: SiteArguments,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub pool: PoolArguments,
    /// Write every so many ticks
    #[arg(long, value_name = "TICKS", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub every: u64,
    /// Commands to be done while the fish live: lines {"tick":T,"command":{…}}, such as --log-commands wrote
    #[arg(long, value_name = "LOG.jsonl")]
    pub commands: Option<PathBuf>,
    /// Log the commands that were done; replayed with the same shadows, they give the same run
    #[arg(long, value_name = "LOG.jsonl", requires = "commands")]
    pub log_commands: Option<PathBuf>,
    /// Save the pool's state at the end, to go on from later with the same site and scene
    #[arg(long, value_name = "STATE.json")]
    pub save_state: Option<PathBuf>,
    /// Go on from a saved state instead of beginning anew; the seed is the saved one
    #[arg(long, value_name = "STATE.json")]
    pub load_state: Option<PathBuf>,
    /// Write why, too: the forces on every fish by the names of their actions
    #[arg(long)]
    pub why: bool,
    /// Where the agents go, a JSON object a line; - for standard output
    #[arg(long, value_name = "A.jsonl")]
    pub out: PathBuf,
}

/// What `simulate` and `render` share: which pool, for how long.
#[derive(Debug, Args)]
pub struct PoolArguments {
    /// Scene instead of the site's
    #[arg(long, value_name = "NAME")]
    pub scene: Option<String>,
    /// Visitors' shadows, written by `shoal track`; without it nobody is there
    #[arg(long, value_name = "T.jsonl")]
    pub shadows: Option<PathBuf>,
    /// How long
    #[arg(long, value_name = "N", value_parser = seconds)]
    pub seconds: f64,
    /// Same seed, configuration and shadows: the same run
    #[arg(long, value_name = "K", default_value_t = 1)]
    pub seed: u64,
    /// Threads for the behavior; the result is the same with any number
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub threads: u16,
}

/// `shoal render`.
#[derive(Debug, Args)]
pub struct RenderArguments {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub site: SiteArguments,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub pool: PoolArguments,
    /// Frames per second
    #[arg(long, value_name = "F", default_value_t = 30.0, value_parser = frame_rate)]
    pub fps: f64,
    /// Size of the picture in pixels
    #[arg(long, value_name = "WxH", default_value = "1280x720", value_parser = size_px)]
    pub size: (u32, u32),
    #[command(flatten)]
    #[allow(missing_docs)]
    pub marks: MarkArguments,
    /// Folder for 00000.png upwards, or a FILE.y4m
    #[arg(long, value_name = "DIR|FILE.y4m")]
    pub out: PathBuf,
}

/// What is drawn over the pool.
#[derive(Clone, Debug, Args)]
pub struct MarkArguments {
    /// Marks over the pool, for tuning: shadows (outlines and numbers), vectors (bodies and where they head), why (each fish's need and action in words), forces (each with its name), fields (currents), ways (paths, grids and what a search has still to look at), mesh (of terraces, with leaps and drops)
    #[arg(long, value_name = "LIST", value_enum, value_delimiter = ',')]
    pub overlay: Vec<OverlayName>,
    /// A pattern instead of the pool, for adjusting the projector
    #[arg(long, value_enum)]
    pub pattern: Option<PatternName>,
}

/// Marks over the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum OverlayName {
    /// Outlines, feet and numbers of visitors' shadows.
    Shadows,
    /// Bodies and where they head.
    Vectors,
    /// Each fish's need and action in words.
    Why,
    /// Steering forces with their names.
    Forces,
    /// The scene's flow fields.
    Fields,
    /// Ways that are searched and followed, with their grids.
    Ways,
    /// The mesh of the terraces, with leaps and drops.
    Mesh,
}

/// Patterns for adjusting a projector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum PatternName {
    /// Crosses at the surface's corners.
    Corners,
    /// Lines every tenth of the surface.
    Grid,
    /// Numbered crosses.
    Targets,
    /// Each output's part in a color of its own.
    Blend,
    /// Rulers in meters along two edges.
    Rulers,
}

impl MarkArguments {
    /// As the picture takes them.
    pub fn wish(&self) -> OverlayOptions {
        let has = |name| self.overlay.contains(&name);
        OverlayOptions {
            shadows: has(OverlayName::Shadows),
            vectors: has(OverlayName::Vectors),
            pattern: self.pattern.map(|name| match name {
                PatternName::Corners => Pattern::Corners,
                PatternName::Grid => Pattern::Grid,
                PatternName::Targets => Pattern::Targets {
                    columns: 4,
                    rows: 4,
                },
                PatternName::Blend => Pattern::Blend,
                PatternName::Rulers => Pattern::Rulers,
            }),
        }
    }

    /// The layers that the pool is to fill.
    pub fn layers(&self) -> OverlayLayers {
        let layers = [
            (OverlayName::Why, OverlayLayer::Mind),
            (OverlayName::Forces, OverlayLayer::Force),
            (OverlayName::Fields, OverlayLayer::Field),
            (OverlayName::Ways, OverlayLayer::Path),
            (OverlayName::Mesh, OverlayLayer::Mesh),
        ];
        layers
            .into_iter()
            .filter(|(name, _)| self.overlay.contains(name))
            .fold(OverlayLayers::NONE, |layers, (_, layer)| layers.with(layer))
    }
}

/// `shoal calibrate`.
#[derive(Debug, Args)]
pub struct CalibrateArguments {
    /// Table with the columns camera_x_px,camera_y_px,floor_x_m,floor_z_m; at least 6 points, better 16
    #[arg(value_name = "POINTS.csv")]
    pub points: PathBuf,
    /// Size of the camera's picture in pixels
    #[arg(long, value_name = "WxH", value_parser = size_px)]
    pub camera_size: (u32, u32),
    /// Size of the projected surface in meters
    #[arg(long, value_name = "WxH", value_parser = size_m)]
    pub surface: (f64, f64),
    /// Position of the infrared lamp in meters (y upwards from the surface): needed to know where visitors stand
    #[arg(long, value_name = "x,y,z", value_parser = position_m, allow_hyphen_values = true)]
    pub lamp: Option<DVec3>,
    /// Position of the camera in meters, where it is known better than the fit can tell
    #[arg(long, value_name = "x,y,z", value_parser = position_m, allow_hyphen_values = true)]
    pub camera: Option<DVec3>,
    /// Where the calibration goes; a refused one leaves the file as it is
    #[arg(long, value_name = "C.toml")]
    pub out: PathBuf,
}

/// `shoal check`.
#[derive(Debug, Args)]
pub struct CheckArguments {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub site: SiteArguments,
    /// Report as JSON
    #[arg(long)]
    pub json: bool,
}

pub(super) fn pair<T: std::str::FromStr>(text: &str) -> Option<(T, T)> {
    let (a, b) = text.split_once(['x', 'X', '×'])?;
    Some((a.trim().parse().ok()?, b.trim().parse().ok()?))
}

fn size_px(text: &str) -> Result<(u32, u32), String> {
    match pair::<u32>(text) {
        Some(size @ (16..=16384, 16..=16384)) => Ok(size),
        Some(_) => Err("width and height must lie between 16 and 16384 pixels".to_owned()),
        None => Err("expected WIDTHxHEIGHT in pixels, such as 1280x720".to_owned()),
    }
}

fn size_m(text: &str) -> Result<(f64, f64), String> {
    match pair::<f64>(text) {
        Some((w, h)) if (0.2..=100.0).contains(&w) && (0.2..=100.0).contains(&h) => Ok((w, h)),
        Some(_) => Err("width and height must lie between 0.2 and 100 meters".to_owned()),
        None => Err("expected WIDTHxHEIGHT in meters, such as 4x3".to_owned()),
    }
}

fn position_m(text: &str) -> Result<DVec3, String> {
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|n| n.trim().parse()).collect();
    match numbers.as_deref() {
        Ok([x, y, z]) if [x, y, z].iter().all(|v| v.is_finite() && v.abs() <= 1000.0) => {
            Ok(DVec3::new(*x, *y, *z))
        }
        _ => Err("expected x,y,z in meters, such as 0.2,4.2,-0.3".to_owned()),
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if (0.0..=1e7).contains(&value) => Ok(value),
        _ => Err("expected seconds, from 0 to 10000000".to_owned()),
    }
}

fn site_file(text: &str) -> Result<PathBuf, String> {
    if SourceSpec::parse(text).is_ok() {
        return Err(
            "this is a camera source, not a site file; it goes behind --camera of run, demo and track"
                .to_owned(),
        );
    }
    Ok(PathBuf::from(text))
}

fn record_secs(text: &str) -> Result<f64, String> {
    match seconds(text) {
        Ok(secs) if secs > 0.0 && secs <= crate::camera::MAX_RECORDING_SECS => Ok(secs),
        _ => Err("expected seconds, more than 0 and at most 3600".to_owned()),
    }
}

pub(super) fn frame_rate(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if (0.1..=1000.0).contains(&value) => Ok(value),
        _ => Err("expected frames per second, from 0.1 to 1000".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn sizes_and_positions() {
        assert_eq!(size_px("640x480"), Ok((640, 480)));
        assert!(size_px("640").is_err());
        assert!(size_px("0x480").is_err());
        assert_eq!(size_m("4x2.5"), Ok((4.0, 2.5)));
        assert!(size_m("nanx3").is_err());
        assert_eq!(position_m("0.2,4.2,-0.3"), Ok(DVec3::new(0.2, 4.2, -0.3)));
        assert!(position_m("1,2").is_err());
        assert!(position_m("1,inf,3").is_err());
    }
}
