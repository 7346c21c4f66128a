//! Arguments that several commands share, and the parsers of their values.

use std::convert::Infallible;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use clap::builder::{OsStringValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::camera::SourceSpec;
use crate::control::{OverlayChoice, OverlayFish, OverlayPart, TestPattern, TestPicture};
use crate::life::VisitorProgram;

/// The site of a command.
#[derive(Debug, Args)]
pub(super) struct SiteArguments {
    /// Site file; default: the built-in demo site
    #[arg(value_name = "SITE.toml", value_parser = OsStringValueParser::new().try_map(site_file))]
    pub(super) site: Option<PathBuf>,
}

/// Help text of the option `--camera`.
pub(super) const CAMERA_HELP: &str = "Camera source; default: the source of the site\n\
    v4l2:NAME             camera as listed by `shoal cameras`; v4l2:0 is /dev/video0\n\
    nokhwa:NUMBER         camera read with the library nokhwa, on every operating system\n\
    file:walk.y4m         video (convert one: ffmpeg -i walk.mp4 -pix_fmt gray walk.y4m)\n\
    file:FOLDER           PNG, JPEG or TIFF files, sorted by name\n\
    -                     y4m on standard input\n\
    command:ffmpeg …      program that writes y4m to its standard output\n\
    synthetic:SEED        simulated visitors; needs no camera\n\
    tuio:3333             tracker that reports visitors, also augmenta: and osc:; only for `shoal run`\n\
Options follow after '?': file:FOLDER?fps=25, 'v4l2:0?format=GREY&size=640x480&fps=30'";

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
pub(super) enum VisitorsName {
    /// No visitors
    None,
    /// One visitor stands in one place for 8 minutes (shorter in a run of less than 14 minutes)
    Still,
    /// Three visitors walk and stop
    Walkers,
    /// Twelve children run
    Children,
    /// Two visitors walk, stand, and stamp on the spot
    Stampers,
    /// Two visitors walk, stand, and wave an arm
    Wavers,
}

impl VisitorsName {
    /// Returns the program.
    pub(super) fn program(self) -> VisitorProgram {
        match self {
            Self::None => VisitorProgram::None,
            Self::Still => VisitorProgram::Still,
            Self::Walkers => VisitorProgram::Walkers,
            Self::Children => VisitorProgram::Children,
            Self::Stampers => VisitorProgram::Stampers,
            Self::Wavers => VisitorProgram::Wavers,
        }
    }
}

impl PoolArguments {
    /// Returns the program of the visitors; `None` if the command line names none.
    pub(super) fn visitors(&self) -> Option<VisitorProgram> {
        self.visitors.map(VisitorsName::program)
    }
}

/// Options for the overlay and the test pattern.
#[derive(Clone, Debug, Args)]
pub(super) struct OverlayArguments {
    /// Draw over the pool why the fish do what they do, separated by commas
    #[arg(long, value_name = "LIST", value_parser = overlay_parts(), value_delimiter = ',')]
    overlay: Vec<OverlayPart>,
    /// Explain only these fish: an id, or the name of a species, a group or a fish
    #[arg(long, value_name = "FISH", value_parser = overlay_fish, requires = "overlay")]
    overlay_fish: Option<OverlayFish>,
    /// Show a test pattern instead of the pool, to adjust the projector
    #[arg(long, value_enum)]
    pattern: Option<PatternName>,
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
    /// The number and the border of each output
    Outputs,
}

impl OverlayArguments {
    /// Returns what is drawn over the pool.
    pub(super) fn choice(&self) -> OverlayChoice {
        OverlayChoice {
            show: self.overlay.clone(),
            fish: self.overlay_fish.clone(),
        }
    }

    /// Returns the picture for adjusting the projectors; `None` if the pool is shown.
    pub(super) fn test_picture(&self) -> Option<TestPicture> {
        let pattern = match self.pattern? {
            PatternName::Corners => TestPattern::Corners,
            PatternName::Grid => TestPattern::Grid,
            PatternName::Targets => TestPattern::Targets,
            PatternName::Blend => TestPattern::Blend,
            PatternName::Rulers => TestPattern::Rulers,
            PatternName::Outputs => TestPattern::Outputs,
        };
        Some(TestPicture {
            pattern,
            corner: None,
        })
    }
}

/// Reads the names of the parts of an overlay.
fn overlay_parts() -> impl TypedValueParser<Value = OverlayPart> {
    let name = |part: OverlayPart| PossibleValue::new(part.name()).help(part.meaning());
    PossibleValuesParser::new(OverlayPart::ALL.map(name))
        .try_map(|name| OverlayPart::find(&name).ok_or("unknown"))
}

/// Reads an id or a name of fish.
fn overlay_fish(text: &str) -> Result<OverlayFish, Infallible> {
    Ok(match text.parse() {
        Ok(id) => OverlayFish::Id(id),
        Err(_) => OverlayFish::Name(text.to_owned()),
    })
}

/// Parses two values with an x between them; `None` if the text has another form.
pub(super) fn pair<T: std::str::FromStr>(text: &str) -> Option<(T, T)> {
    let (a, b) = text.split_once(['x', 'X', '×'])?;
    Some((a.trim().parse().ok()?, b.trim().parse().ok()?))
}

pub(super) fn size_px(text: &str) -> Result<(u32, u32), String> {
    match pair::<u32>(text) {
        Some(size @ (16..=16384, 16..=16384)) => Ok(size),
        Some(_) => Err("width and height must lie between 16 and 16384 pixels".to_owned()),
        None => Err("expected WIDTHxHEIGHT in pixels, such as 1280x720".to_owned()),
    }
}

pub(super) fn size_m(text: &str) -> Result<(f64, f64), String> {
    match pair::<f64>(text) {
        Some((w, h)) if (0.2..=100.0).contains(&w) && (0.2..=100.0).contains(&h) => Ok((w, h)),
        Some(_) => Err("width and height must lie between 0.2 and 100 meters".to_owned()),
        None => Err("expected WIDTHxHEIGHT in meters, such as 4x3".to_owned()),
    }
}

/// Parses a number within a range.
pub(super) fn number_in(text: &str, range: std::ops::RangeInclusive<f64>) -> Option<f64> {
    let number = text.trim().parse().ok()?;
    range.contains(&number).then_some(number)
}

pub(super) fn seconds(text: &str) -> Result<f64, String> {
    let expected = "expected seconds, from 0 to 10000000";
    number_in(text, 0.0..=1e7).ok_or_else(|| expected.to_owned())
}

fn site_file(text: OsString) -> Result<PathBuf, String> {
    // The name of a file need not be Unicode.
    if text
        .to_str()
        .is_some_and(|text| SourceSpec::parse(text).is_ok())
    {
        return Err(
            "this is a camera source, not a site file; put it behind --camera of run, demo or track"
                .to_owned(),
        );
    }
    Ok(PathBuf::from(text))
}

pub(super) fn frame_rate(text: &str) -> Result<f64, String> {
    let expected = "expected frames per second, from 0.1 to 1000";
    number_in(text, 0.1..=1000.0).ok_or_else(|| expected.to_owned())
}
