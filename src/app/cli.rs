//! The command line: commands, options and their help texts. This module parses values and makes no decisions.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use glam::DVec3;

#[cfg(unix)]
use super::commands::CtlArguments;
use super::commands::{
    CamerasArguments, CaptureWorkerArguments, ChildGuardArguments, GenerateArguments,
    ScheduleArguments, VisitorsArguments,
};
use crate::camera::SourceSpec;
use crate::life::VisitorProgram;
use crate::panel::Listen;
use crate::render::{OverlayOptions, Pattern};
use crate::world::{OverlayLayer, OverlayLayers};

/// Arguments of the whole program.
#[derive(Debug, Parser)]
#[command(
    name = "shoal",
    version,
    about = "An interactive projection: a pool of living fish that visitors play with by their own shadow",
    after_help = "Without SITE.toml, every command uses the built-in demo site.\n\
                  `shoal help COMMAND` explains a command and shows an example.\n\
                  Exit codes: 0 done, 1 rejected with a reason, 2 wrong usage.",
    propagate_version = true
)]
pub(super) struct Arguments {
    /// Log level on standard error: error, warn, info, debug or trace
    #[arg(long, global = true, value_name = "LEVEL", default_value = "warn")]
    pub(super) log: tracing::Level,

    #[command(subcommand)]
    pub(super) command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run the installation: camera, fish, and pictures on the projectors
    #[command(after_help = "Example: shoal run my/site.toml --log info\n\
                            Ends with Escape and then Q, with Ctrl-C or SIGTERM. Changed files of the site are applied while it runs.")]
    Run(RunArguments),
    /// Ask a running instance for its status, send it commands, read its events
    #[cfg(unix)]
    #[command(after_help = "Example: shoal ctl status\n\
                            Example: shoal ctl send '{\"command\":\"switch_scene\",\"name\":\"reef\"}'\n\
                            Example: shoal ctl events --follow")]
    Ctl(CtlArguments),
    /// Show the built-in pool with synthetic visitors, in a window or, without a display, as pictures in a folder
    #[command(after_help = "Example: shoal demo --windowed\n\
                            Example: shoal demo --out demo-output --seconds 5")]
    Demo(DemoArguments),
    /// Track the shadows of visitors in a camera source, and write the tracks to a file
    #[command(after_help = "Example: shoal track --camera file:walk.y4m --fast --out tracks.jsonl")]
    Track(TrackArguments),
    /// Simulate the fish without a picture, and write what each of them does to a file
    #[command(
        after_help = "Example: shoal simulate --shadows tracks.jsonl --seconds 20 --out agents.jsonl"
    )]
    Simulate(SimulateArguments),
    /// Simulate every scene with different visitors and seeds for a long time, and report what is wrong with the life in it
    #[command(
        after_help = "Example: shoal life my/site.toml --scenes pool,reef --minutes 5 --seeds 1\n\
                      Exits with 1 if it finds a problem."
    )]
    Life(LifeArguments),
    /// Simulate the fish and render pictures without a window
    #[command(
        after_help = "Example: shoal render --shadows tracks.jsonl --seconds 20 --out pool.y4m"
    )]
    Render(RenderArguments),
    /// Calibrate the camera with a table of measured points, and report how exact the calibration is
    #[command(
        after_help = "Example: shoal calibrate points.csv --camera-size 640x480 --surface 4x3 --lamp 0.2,4.2,-0.3 \
                      --out calibration.toml"
    )]
    Calibrate(CalibrateArguments),
    /// Check a site with its species, scenes and models, and report all problems
    #[command(after_help = "Example: shoal check my/site.toml")]
    Check(CheckArguments),
    /// Print what the installation shows on the next days: opening hours, holidays, changes of the clocks
    #[command(after_help = "Example: shoal schedule my/site.toml --days 21")]
    Schedule(ScheduleArguments),
    /// Print how many visitors came, how long they stayed, and where they were
    #[command(
        after_help = "Example: shoal visitors my/site.toml --from 2026-12-01 --to 2026-12-31 --csv > december.csv"
    )]
    Visitors(VisitorsArguments),
    /// Print the JSON Schema of all configuration files
    #[command(after_help = "Example: shoal schema > schema.json")]
    Schema,
    /// List the cameras with their source names, formats, sizes, frame rates and controls
    #[command(after_help = "Example: shoal cameras\n\
                            The first line of each camera is what --camera and `camera.source` take.")]
    Cameras(CamerasArguments),
    /// List the monitors with name, position, size and refresh rate, as JSON lines
    #[command(after_help = "Example: shoal monitors\n\
                            `outputs.monitor` in a site file takes the name.")]
    Monitors,
    /// Write the man pages and the completions of shells, for a package
    #[command(hide = true)]
    Generate(GenerateArguments),
    /// Read one camera and write its frames to standard output, until standard input is closed (started by Shoal itself)
    #[command(hide = true)]
    CaptureWorker(CaptureWorkerArguments),
    /// Run a camera program and end it when standard input closes
    #[command(hide = true)]
    ChildGuard(ChildGuardArguments),
}

/// The site of a command.
#[derive(Debug, Args)]
pub(super) struct SiteArguments {
    /// Site file; default: the built-in demo site
    #[arg(value_name = "SITE.toml", value_parser = site_file)]
    pub(super) site: Option<PathBuf>,
}

/// Help text of the option `--camera`.
const CAMERA_HELP: &str = "Camera source; default: the source of the site\n\
    v4l2:NAME             camera as listed by `shoal cameras`; v4l2:0 is /dev/video0\n\
    nokhwa:NUMBER         camera read with the library nokhwa, on every operating system\n\
    file:walk.y4m         video (convert one: ffmpeg -i walk.mp4 -pix_fmt gray walk.y4m)\n\
    file:FOLDER           PNG, JPEG or TIFF files, sorted by name\n\
    -                     y4m on standard input\n\
    command:ffmpeg …      program that writes y4m to its standard output\n\
    synthetic:SEED        simulated visitors; needs no camera\n\
Options follow after '?': file:FOLDER?fps=25, 'v4l2:0?format=GREY&size=640x480&fps=30'";

/// `shoal run`.
#[derive(Debug, Args)]
pub(super) struct RunArguments {
    #[command(flatten)]
    pub(super) site: SiteArguments,
    #[arg(long, value_name = "SRC", long_help = CAMERA_HELP, help = "Camera source; default: the source of the site")]
    pub(super) camera: Option<String>,
    /// Scene; default: the scene of the site
    #[arg(long, value_name = "NAME")]
    pub(super) scene: Option<String>,
    /// Run without a picture
    #[arg(long, conflicts_with = "windowed")]
    pub(super) headless: bool,
    /// Show the picture in a window instead of fullscreen
    #[arg(long)]
    pub(super) windowed: bool,
    /// Record the frames of the camera to this file
    #[arg(long, value_name = "FILE.y4m")]
    pub(super) record: Option<PathBuf>,
    /// Duration of the recording in seconds, at most 3600; the recording ends earlier if the file reaches 8 GiB
    #[arg(long, value_name = "N", default_value_t = 60.0, value_parser = record_secs, requires = "record")]
    pub(super) record_secs: f64,
    /// Log commands and observations into this new folder, so that `shoal simulate --session` gives the same run again
    #[arg(long, value_name = "DIR")]
    pub(super) log_session: Option<PathBuf>,
    /// Keep the last five to ten minutes in memory, and write them into a folder in this one when a fault begins or after
    /// `shoal ctl keep`; `shoal simulate --session` repeats them
    #[arg(long, value_name = "DIR", conflicts_with = "log_session")]
    pub(super) keep_incidents: Option<PathBuf>,
    #[command(flatten)]
    pub(super) overlay: OverlayArguments,
    /// End after this time
    #[arg(long, value_name = "SECS", value_parser = seconds)]
    pub(super) seconds: Option<f64>,
    /// Path of the control socket for `shoal ctl`; default: shoal-NUMBER.sock in $RUNTIME_DIRECTORY, $XDG_RUNTIME_DIR/shoal or
    /// /tmp/shoal-USER
    #[cfg(unix)]
    #[arg(long, value_name = "PATH")]
    pub(super) control_socket: Option<PathBuf>,
    /// Where the operator's panel can be opened: local, lan, ADDRESS:PORT or off; default: `panel.listen` of the site
    #[arg(long, value_name = "WHERE", value_parser = listen)]
    pub(super) panel: Option<String>,
    /// Open the panel for every device in the local network, for the first installation with a phone; the same as --panel lan
    #[arg(long, conflicts_with = "panel")]
    pub(super) setup: bool,

    /// Lose the graphics device once after this number of pictures, to test that it is opened again
    #[arg(long, value_name = "PICTURES", hide = true)]
    pub(super) lose_device_after: Option<u64>,
    /// Run as the child process that is restarted after a crash; the number of restarts so far
    #[arg(long, value_name = "RESTARTS", hide = true)]
    pub(super) child_restarts: Option<u64>,
    /// Number of the parent process of a child process
    #[arg(long, value_name = "NUMBER", hide = true)]
    pub(super) parent_process: Option<u32>,
}

/// `shoal demo`.
#[derive(Debug, Args)]
pub(super) struct DemoArguments {
    #[command(flatten)]
    pub(super) site: SiteArguments,
    /// Camera source; default: synthetic visitors (see `shoal track --help`)
    #[arg(long, value_name = "SRC")]
    pub(super) camera: Option<String>,
    /// Duration; default: until Escape and Q in a window, 10 s in a folder
    #[arg(long, value_name = "SECS", value_parser = seconds)]
    pub(super) seconds: Option<f64>,
    /// Size of the picture in a window (default: the size in the site) or in a folder (default: 720 pixels high, in the
    /// proportions of the surface); a fullscreen picture has the size of its monitor
    #[arg(long, value_name = "WxH", value_parser = size_px)]
    pub(super) size: Option<(u32, u32)>,
    /// Render pictures and a video into this folder even if there is a display; default without a display: demo-output
    #[arg(long, value_name = "DIR", conflicts_with = "windowed")]
    pub(super) out: Option<PathBuf>,
    /// Show the picture in a window instead of fullscreen
    #[arg(long)]
    pub(super) windowed: bool,
}

/// `shoal track`.
#[derive(Debug, Args)]
pub(super) struct TrackArguments {
    #[command(flatten)]
    pub(super) site: SiteArguments,
    #[arg(long, value_name = "SRC", long_help = CAMERA_HELP, help = "Camera source; default: the source of the site")]
    pub(super) camera: Option<String>,
    /// Read a recording as fast as possible instead of at its own frame rate
    #[arg(long)]
    pub(super) fast: bool,
    /// Calibration from `shoal calibrate`; default: the calibration of the site, or else the whole picture is the surface
    #[arg(long, value_name = "C.toml")]
    pub(super) calibration: Option<PathBuf>,
    /// Frame rate of a folder of pictures
    #[arg(long, value_name = "F")]
    pub(super) fps: Option<f64>,
    /// Stop after this many seconds of the source (required for sources without an end)
    #[arg(long, value_name = "SECS", value_parser = seconds)]
    pub(super) seconds: Option<f64>,
    /// Output file for the tracks, one JSON object per frame; - for standard output
    #[arg(long, value_name = "T.jsonl")]
    pub(super) out: PathBuf,
    /// Write a picture of each processing step (raw, background, ratio, mask, validity, blobs, tracks) to DIR once per
    /// second
    #[arg(long, value_name = "DIR")]
    pub(super) debug: Option<PathBuf>,
}

/// `shoal simulate`.
#[derive(Debug, Args)]
pub(super) struct SimulateArguments {
    #[command(flatten)]
    pub(super) site: SiteArguments,
    #[command(flatten)]
    pub(super) pool: PoolArguments,
    /// Simulated time in seconds
    #[arg(long, value_name = "N", value_parser = seconds, required_unless_present = "session")]
    pub(super) seconds: Option<f64>,
    /// Replay the session in this folder, which `shoal run --log-session` wrote, and compare every second with the run
    #[arg(long, value_name = "DIR", conflicts_with_all = ["site", "scene", "shadows", "visitors", "seconds", "commands", "save_state", "load_state", "report", "report_json"])]
    pub(super) session: Option<PathBuf>,
    /// Write one line per this number of ticks
    #[arg(long, value_name = "TICKS", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) every: u64,
    /// Apply the commands in this file at their ticks, one {"tick":T,"command":{…}} per line, as --log-commands writes them
    #[arg(long, value_name = "LOG.jsonl")]
    pub(super) commands: Option<PathBuf>,
    /// Log the applied commands; with the same shadows, the log gives the same run again
    #[arg(long, value_name = "LOG.jsonl", requires = "commands")]
    pub(super) log_commands: Option<PathBuf>,
    /// Save the state at the end, so that a later run with the same site and scene can continue from it
    #[arg(long, value_name = "STATE.json")]
    pub(super) save_state: Option<PathBuf>,
    /// Continue from a saved state; its seed replaces --seed
    #[arg(long, value_name = "STATE.json")]
    pub(super) load_state: Option<PathBuf>,
    /// Write the steering forces of every fish too, by the name of the action
    #[arg(long)]
    pub(super) why: bool,
    /// Print a report of the life in the pool at the end: time per need and action, stillness, touches, visitors, director
    /// rules, and problems in words
    #[arg(long)]
    pub(super) report: bool,
    /// Write the report as JSON
    #[arg(long, value_name = "R.json")]
    pub(super) report_json: Option<PathBuf>,
    /// Output file for the agents, one JSON object per line; - for standard output
    #[arg(long, value_name = "A.jsonl", required_unless_present_any = ["report", "report_json", "session"])]
    pub(super) out: Option<PathBuf>,
}

/// Options of `simulate` and `render`.
#[derive(Debug, Args)]
pub(super) struct PoolArguments {
    /// Scene; default: the scene of the site
    #[arg(long, value_name = "NAME")]
    pub(super) scene: Option<String>,
    /// Tracks of visitors from `shoal track`; default: no visitors
    #[arg(long, value_name = "T.jsonl", conflicts_with = "visitors")]
    pub(super) shadows: Option<PathBuf>,
    /// Visitors that follow a program
    #[arg(long, value_enum)]
    visitors: Option<VisitorsName>,
    /// Seed of the random numbers; the same seed, configuration and shadows give the same run
    #[arg(long, value_name = "K", default_value_t = 1)]
    pub(super) seed: u64,
    /// Number of threads for the behavior; it does not change the result
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(super) threads: u16,
}

/// Programs of visitors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum VisitorsName {
    /// No visitors
    None,
    /// One visitor stands in one place for 8 minutes (shorter in a run of less than 14 minutes)
    Still,
    /// Three visitors walk and stop
    Walkers,
    /// Twelve children run
    Children,
}

impl VisitorsName {
    fn program(self) -> VisitorProgram {
        match self {
            Self::None => VisitorProgram::None,
            Self::Still => VisitorProgram::Still,
            Self::Walkers => VisitorProgram::Walkers,
            Self::Children => VisitorProgram::Children,
        }
    }
}

impl PoolArguments {
    /// Returns the program of the visitors; `None` if the command line names none.
    pub(super) fn visitors(&self) -> Option<VisitorProgram> {
        self.visitors.map(VisitorsName::program)
    }
}

/// `shoal life`.
#[derive(Debug, Args)]
pub(super) struct LifeArguments {
    #[command(flatten)]
    pub(super) site: SiteArguments,
    /// Scenes, separated by commas; default: all scenes of the site
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(super) scenes: Vec<String>,
    /// Programs of visitors, separated by commas; default: all
    #[arg(long, value_name = "LIST", value_enum, value_delimiter = ',')]
    visitors: Vec<VisitorsName>,
    /// Number of runs of each scene and program, with the seeds 1, 2 and so on
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(super) seeds: u64,
    /// Simulated minutes of each run
    #[arg(long, value_name = "N", default_value_t = 20.0, value_parser = minutes)]
    pub(super) minutes: f64,
    /// Number of runs at the same time; default: the number of processors
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(super) jobs: Option<u16>,
    /// Print the report of each run too
    #[arg(long)]
    pub(super) reports: bool,
    /// Write the reports of all runs as JSON lines
    #[arg(long, value_name = "R.jsonl")]
    pub(super) out: Option<PathBuf>,
}

impl LifeArguments {
    /// Returns the programs of the visitors.
    pub(super) fn programs(&self) -> Vec<VisitorProgram> {
        if self.visitors.is_empty() {
            return VisitorProgram::ALL.to_vec();
        }
        self.visitors.iter().map(|name| name.program()).collect()
    }
}

/// `shoal render`.
#[derive(Debug, Args)]
pub(super) struct RenderArguments {
    #[command(flatten)]
    pub(super) site: SiteArguments,
    #[command(flatten)]
    pub(super) pool: PoolArguments,
    /// Simulated time in seconds
    #[arg(long, value_name = "N", value_parser = seconds)]
    pub(super) seconds: f64,
    /// Frames per second
    #[arg(long, value_name = "F", default_value_t = 30.0, value_parser = frame_rate)]
    pub(super) fps: f64,
    /// Size of the picture in pixels
    #[arg(long, value_name = "WxH", default_value = "1280x720", value_parser = size_px)]
    pub(super) size: (u32, u32),
    #[command(flatten)]
    pub(super) overlay: OverlayArguments,
    /// Output: a folder for 00000.png and so on, or a FILE.y4m
    #[arg(long, value_name = "DIR|FILE.y4m")]
    pub(super) out: PathBuf,
}

/// Options for the debug overlay and the test pattern.
#[derive(Clone, Debug, Args)]
pub(super) struct OverlayArguments {
    /// Show debug information over the pool, separated by commas
    #[arg(long, value_name = "LIST", value_enum, value_delimiter = ',')]
    overlay: Vec<OverlayName>,
    /// Show a test pattern instead of the pool, to adjust the projector
    #[arg(long, value_enum)]
    pattern: Option<PatternName>,
}

/// Debug information over the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum OverlayName {
    /// Outlines, foot points and numbers of the visitors' shadows
    Shadows,
    /// Bodies of the fish and their directions
    Vectors,
    /// Active need and actions of each fish as text
    Why,
    /// Steering forces with the names of their actions
    Forces,
    /// Flow fields of the scene
    Fields,
    /// Paths, grids and searches of the fish that find their way
    Ways,
    /// Navigation mesh of the terraces, with leaps and drops
    Mesh,
}

/// Test patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum PatternName {
    /// Crosses at the corners of the surface
    Corners,
    /// Lines at every tenth of the surface
    Grid,
    /// Numbered crosses
    Targets,
    /// The part of each output in a color of its own
    Blend,
    /// Rulers in meters along two edges
    Rulers,
}

impl OverlayArguments {
    /// Returns the options for the renderer.
    pub(super) fn options(&self) -> OverlayOptions {
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

    /// Returns the layers of annotations that the simulation has to write.
    pub(super) fn layers(&self) -> OverlayLayers {
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
pub(super) struct CalibrateArguments {
    /// Table with the columns camera_x_px,camera_y_px,floor_x_m,floor_z_m; at least 6 points, better 16
    #[arg(value_name = "POINTS.csv")]
    pub(super) points: PathBuf,
    /// Size of the camera's picture in pixels
    #[arg(long, value_name = "WxH", value_parser = size_px)]
    pub(super) camera_size: (u32, u32),
    /// Size of the projected surface in meters
    #[arg(long, value_name = "WxH", value_parser = size_m)]
    pub(super) surface: (f64, f64),
    /// Position of the infrared lamp in meters, with y upwards from the surface; needed to find the visitors' feet
    #[arg(long, value_name = "x,y,z", value_parser = position_m, allow_hyphen_values = true)]
    pub(super) lamp: Option<DVec3>,
    /// Position of the camera in meters; default: estimated from the points. For a camera that looks into a mirror, the position
    /// of its mirror image
    #[arg(long, value_name = "x,y,z", value_parser = position_m, allow_hyphen_values = true)]
    pub(super) camera: Option<DVec3>,
    /// Output file, - for standard output; a rejected calibration does not change it
    #[arg(long, value_name = "C.toml")]
    pub(super) out: PathBuf,
}

/// `shoal check`.
#[derive(Debug, Args)]
pub(super) struct CheckArguments {
    #[command(flatten)]
    pub(super) site: SiteArguments,
    /// Report as JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Parses two values with an x between them; `None` if the text has another form.
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

fn minutes(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if (0.1..=1e5).contains(&value) => Ok(value),
        _ => Err("expected minutes, from 0.1 to 100000".to_owned()),
    }
}

fn listen(text: &str) -> Result<String, String> {
    Listen::parse(text)?;
    Ok(text.to_owned())
}

fn site_file(text: &str) -> Result<PathBuf, String> {
    if SourceSpec::parse(text).is_ok() {
        return Err(
            "this is a camera source, not a site file; put it behind --camera of run, demo or track"
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
    fn the_definition_of_the_command_line_is_valid() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn sizes_and_positions_are_parsed_and_checked() {
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
