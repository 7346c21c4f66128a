//! `shoal plan`: says what a planned camera would see of the surface.

use std::io::Write as _;
use std::process::ExitCode;

use clap::Args;
use glam::{DVec2, DVec3};

use super::arguments::{number_in, size_m, size_px};
use crate::runtime::text_output;
use crate::vision::{PlannedCamera, PlannedView, Resolution, Seen};

/// `shoal plan`.
#[derive(Debug, Args)]
pub(in crate::app) struct PlanArguments {
    /// Size of the camera's picture in pixels
    #[arg(long, value_name = "WxH", value_parser = size_px)]
    camera: (u32, u32),
    /// Horizontal angle of view of the lens in degrees, from 10 to 150
    #[arg(long, value_name = "DEGREES", value_parser = lens_deg, allow_negative_numbers = true)]
    lens: f64,
    /// Height of the camera above the surface in meters
    #[arg(long, value_name = "METERS", value_parser = height_m, allow_negative_numbers = true)]
    height: f64,
    /// Size of the projected surface in meters
    #[arg(long, value_name = "WxH", value_parser = size_m)]
    surface: (f64, f64),
    /// Point of the surface above which the camera hangs, in meters from its middle; the camera looks at the middle
    #[arg(long, value_name = "x,z", value_parser = point_m, default_value = "0,0", allow_hyphen_values = true)]
    at: DVec2,
    /// Height of the tallest visitor whose head must be in the picture, in meters
    #[arg(long, value_name = "METERS", value_parser = visitor_m, default_value = "1.8")]
    visitor: f64,
}

fn lens_deg(text: &str) -> Result<f64, String> {
    let expected = "expected the horizontal angle of view in degrees, from 10 to 150, such as 68";
    number_in(text, 10.0..=150.0).ok_or_else(|| expected.to_owned())
}

fn height_m(text: &str) -> Result<f64, String> {
    let expected = "expected meters above the surface, from 0.5 to 50, such as 4.2";
    number_in(text, 0.5..=50.0).ok_or_else(|| expected.to_owned())
}

fn visitor_m(text: &str) -> Result<f64, String> {
    let expected = "expected meters, from 0.2 to 3, such as 1.8";
    number_in(text, 0.2..=3.0).ok_or_else(|| expected.to_owned())
}

fn point_m(text: &str) -> Result<DVec2, String> {
    let point = text.split_once(',').and_then(|(x, z)| {
        let number = |text| number_in(text, -100.0..=100.0);
        Some(DVec2::new(number(x)?, number(z)?))
    });
    point.ok_or_else(|| "expected x,z in meters from -100 to 100, such as 0.6,0.9".to_owned())
}

pub(in crate::app) fn plan(arguments: &PlanArguments) -> anyhow::Result<ExitCode> {
    write!(text_output(), "{}", report(arguments)?)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the report.
fn report(arguments: &PlanArguments) -> anyhow::Result<String> {
    anyhow::ensure!(
        arguments.height > arguments.visitor,
        "--height {}: the camera hangs below the head of a visitor of {} m; hang it higher, or give --visitor",
        arguments.height,
        arguments.visitor
    );
    let camera = PlannedCamera {
        size_px: arguments.camera,
        lens_deg: arguments.lens,
        at_m: DVec3::new(arguments.at.x, arguments.height, arguments.at.y),
    };
    let view = camera.view(arguments.surface.into(), arguments.visitor);
    Ok(text(arguments, &camera, &view))
}

/// Returns the lines of the report.
fn text(arguments: &PlanArguments, camera: &PlannedCamera, view: &PlannedView) -> String {
    let visitor_m = arguments.visitor;
    let floor_m = camera.floor_m();
    let at = match arguments.at {
        DVec2::ZERO => "above the middle of".to_owned(),
        at_m => format!("above the point ({}, {}) m of", at_m.x, at_m.y),
    };
    let (width_m, height_m) = arguments.surface;
    let mut lines = vec![
        format!(
            "The camera hangs {} m {at} a surface of {width_m} x {height_m} m. Around the middle it shows about {:.1} x {:.1} m of floor.",
            arguments.height, floor_m.x, floor_m.y
        ),
        format!(
            "pixels         {:.1} cm in the middle, {:.1} cm at most",
            100.0 * view.middle_pixel_m,
            100.0 * view.largest_pixel_m
        ),
        format!(
            "visitor        {:.0} pixels at least, without the shadow",
            view.visitor_px
        ),
        resolution_advice(view, camera),
        format!("blind corners  {}", blind_corners(view, visitor_m)),
    ];
    lines.extend(view_advice(view, visitor_m));
    lines.push(format!(
        "largest floor  {}",
        view.largest_m.map_or("none".to_owned(), |size_m| format!(
            "{:.1} x {:.1} m with this camera at this place",
            floor_to_tenth(size_m.x),
            floor_to_tenth(size_m.y)
        ))
    ));
    lines.push(String::new());
    lines.join("\n")
}

fn resolution_advice(view: &PlannedView, camera: &PlannedCamera) -> String {
    let width_px = camera.size_px.0;
    let more = format!(
        "Take a camera of at least {:.0} pixels instead of {width_px} across, a lens of a smaller angle, or hang it lower.",
        view.needed_width_px.ceil()
    );
    let sentence = match view.resolution {
        Resolution::Good => "This is enough also for children.".to_owned(),
        Resolution::Coarse => format!("Legs and small children may be lost. {more}"),
        Resolution::TooCoarse => format!("This is too coarse for legs and arms. {more}"),
    };
    format!("               {sentence}")
}

fn blind_corners(view: &PlannedView, visitor_m: f64) -> String {
    let list = |wanted: Seen| {
        let corners = view.corners.iter().filter(|(_, seen)| *seen == wanted);
        let corners: Vec<String> = corners
            .map(|(at_m, _)| format!("({}, {})", at_m.x, at_m.y))
            .collect();
        corners.join(" ")
    };
    let percent = |share: f64| (100.0 * share).ceil();
    let mut parts = Vec::new();
    if view.unseen_share > 0.0 {
        let share = percent(view.unseen_share);
        parts.push(format!(
            "{share} % of the surface is outside the picture: {}",
            list(Seen::Not)
        ));
    }
    if view.headless_share > view.unseen_share {
        let share = percent(view.headless_share - view.unseen_share);
        let corners = list(Seen::Headless);
        let place = if corners.is_empty() {
            String::new()
        } else {
            format!(": {corners}")
        };
        parts.push(format!(
            "on {share} % the picture cuts off the head of a visitor of {visitor_m} m{place}"
        ));
    }
    if parts.is_empty() {
        return format!("none, also for the head of a visitor of {visitor_m} m");
    }
    parts.join("; ")
}

/// Returns what to change so that the whole surface is seen.
fn view_advice(view: &PlannedView, visitor_m: f64) -> Option<String> {
    if view.headless_share == 0.0 {
        return None;
    }
    let ways: Vec<String> = [
        (view.needed_height_m).map(|m| format!("hang it at {:.1} m", (10.0 * m).ceil() / 10.0)),
        (view.needed_lens_deg).map(|deg| format!("take a lens of {:.0}°", deg.ceil())),
    ]
    .into_iter()
    .flatten()
    .collect();
    let ways = if ways.is_empty() {
        "hang the camera nearer to the middle of the surface".to_owned()
    } else {
        ways.join(", or ")
    };
    Some(format!(
        "               To see visitors of {visitor_m} m everywhere: {ways}."
    ))
}

fn floor_to_tenth(value: f64) -> f64 {
    (10.0 * value).floor() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        plan: PlanArguments,
    }

    fn report_of(options: &str) -> Result<String, String> {
        let words = std::iter::once("plan").chain(options.split_whitespace());
        let line = Line::try_parse_from(words).map_err(|e| e.to_string())?;
        report(&line.plan).map_err(|e| e.to_string())
    }

    #[test]
    fn every_wrong_value_says_what_is_expected() {
        let good = "--camera 640x480 --lens 68 --height 4.2 --surface 4x3";
        assert!(report_of(good).is_ok());
        for (right, wrong, expected) in [
            ("640x480", "640", "expected WIDTHxHEIGHT in pixels"),
            ("68", "NaN", "expected the horizontal angle of view"),
            ("68", "180", "from 10 to 150"),
            ("4.2", "-1", "expected meters above the surface"),
            ("4x3", "0x3", "between 0.2 and 100 meters"),
            ("4x3", "4x3 --at 1", "expected x,z in meters"),
            ("4x3", "4x3 --visitor 4", "expected meters, from 0.2 to 3"),
            ("4.2", "1.5", "below the head of a visitor of 1.8 m"),
        ] {
            let error = report_of(&good.replace(right, wrong)).unwrap_err();
            assert!(error.contains(expected), "{wrong}: {error}");
        }
    }

    #[test]
    fn a_set_up_that_sees_everything_needs_no_advice_and_one_beside_the_surface_does() {
        let fine = report_of("--camera 640x480 --lens 90 --height 4.2 --surface 4x3").unwrap();
        assert!(fine.contains("blind corners  none"), "{fine}");
        assert!(!fine.contains("To see visitors"), "{fine}");
        let beside =
            report_of("--camera 640x480 --lens 60 --height 3 --surface 4x3 --at 0,3").unwrap();
        assert!(
            beside.contains("outside the picture: (2, 1.5) (-2, 1.5)"),
            "{beside}"
        );
        assert!(
            beside.contains("To see visitors of 1.8 m everywhere: "),
            "{beside}"
        );
        let coarse = report_of("--camera 160x120 --lens 90 --height 4.2 --surface 4x3").unwrap();
        assert!(coarse.contains("too coarse for legs"), "{coarse}");
    }
}
