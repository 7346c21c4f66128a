//! `shoal cameras`: lists the cameras, with the source text for the configuration of each camera.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::Args;

use crate::camera::{
    CameraDescription, CameraList, ControlDescription, FormatDescription, WorkerCommand,
    list_cameras,
};
use crate::config::visible;
use crate::runtime::{print_message, text_output};

/// Longest time that a camera may take to answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// Largest number of choices of a control that the table shows; the JSON output contains all choices.
const CHOICES_MAX: usize = 10;

/// `shoal cameras`.
#[derive(Debug, Args)]
pub(in crate::app) struct CamerasArguments {
    /// Print the list as JSON
    #[arg(long)]
    json: bool,
}

/// Text of the table if there is no camera.
const NONE_FOUND: &str = "\
No camera found. Check:
  - Is the camera plugged in? 'lsusb' lists the USB devices. Try another socket or cable, without a hub.
  - Does Linux recognize it as a camera? 'ls -l /dev/video*' must list it; 'dmesg | tail' shows why it does not.
  - May you use it? Your user must be in the group 'video': 'sudo usermod -aG video $USER', then log in again.
  - Is it a network or industrial camera? Such cameras need a program that reads them: --camera 'command:gst-launch-1.0 …'.
";

/// Prints the cameras. Returns exit code 1 if there are none.
pub(in crate::app) fn cameras(arguments: &CamerasArguments) -> anyhow::Result<ExitCode> {
    let listing = list_cameras(&WorkerCommand::own()?, ANSWER_TIMEOUT)?;
    for problem in &listing.problems {
        print_message(&format!("warning: {}", visible(problem)));
    }
    let text = if arguments.json {
        serde_json::to_string_pretty(&listing)? + "\n"
    } else {
        table(&listing)
    };
    let written = text_output().write_all(text.as_bytes());
    written.context("standard output cannot be written")?;
    Ok(ExitCode::from(u8::from(listing.cameras.is_empty())))
}

fn table(listing: &CameraList) -> String {
    if listing.cameras.is_empty() {
        return NONE_FOUND.to_owned();
    }
    let mut text = String::new();
    for camera in &listing.cameras {
        describe(camera, &mut text);
    }
    text
}

/// Adds one camera to the table. Writing to a `String` cannot fail.
fn describe(camera: &CameraDescription, to: &mut String) {
    let _ = writeln!(to, "{}", visible(&camera.source));
    let nokhwa = camera
        .nokhwa_source
        .as_ref()
        .map_or(String::new(), |s| format!(", also {}", visible(s)));
    let _ = writeln!(
        to,
        "  {}, {} at {}, driver {}{nokhwa}",
        visible(&camera.card),
        visible(&camera.device),
        visible(&camera.bus),
        visible(&camera.driver)
    );
    if let Some(problem) = &camera.problem {
        let _ = writeln!(to, "  problem: {}", visible(problem));
    }
    let readable: Vec<&FormatDescription> = camera.formats.iter().filter(|f| f.readable).collect();
    let mut listed: Vec<&FormatDescription> = Vec::new();
    for format in &readable {
        if listed.iter().any(|other| other.sizes == format.sizes) {
            continue;
        }
        listed.push(format);
        let same = readable.iter().filter(|other| other.sizes == format.sizes);
        let names: Vec<&str> = same.map(|other| other.format.as_str()).collect();
        let _ = writeln!(to, "  formats {}", names.join(" "));
        describe_sizes(format, to);
    }
    let others: Vec<&str> = camera
        .formats
        .iter()
        .filter(|f| !f.readable)
        .map(|f| f.format.as_str())
        .collect();
    if !others.is_empty() {
        let _ = writeln!(to, "  formats that Shoal cannot read: {}", others.join(" "));
    }
    if !camera.controls.is_empty() {
        let _ = writeln!(to, "  controls");
    }
    for control in &camera.controls {
        describe_control(control, to);
    }
    to.push('\n');
}

fn describe_sizes(format: &FormatDescription, to: &mut String) {
    for size in &format.sizes {
        let rates: Vec<String> = size.rates_fps.iter().map(|r| format!("{r}")).collect();
        let pixels = format!("{}x{}", size.width_px, size.height_px);
        let _ = writeln!(to, "    {pixels:11} {} fps", rates.join(" "));
    }
    if format.sizes.is_empty() {
        let _ = writeln!(to, "    sizes are not listed by the driver");
    }
}

fn describe_control(control: &ControlDescription, to: &mut String) {
    let ControlDescription {
        name,
        min,
        max,
        default,
        ..
    } = control;
    let now = control.value.map_or("?".to_owned(), |v| v.to_string());
    let _ = write!(
        to,
        "    {:28} {now} (default {default}, {min} to {max})",
        visible(name)
    );
    if control.inactive {
        to.push_str(", no effect at the moment");
    }
    let choices = control.choices.iter().take(CHOICES_MAX);
    let choices: Vec<String> = choices
        .map(|(v, name)| format!("{v} = {}", visible(name)))
        .collect();
    if !choices.is_empty() {
        let more = if control.choices.len() > CHOICES_MAX {
            ", ..."
        } else {
            ""
        };
        let _ = write!(to, ": {}{more}", choices.join(", "));
    }
    to.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::camera::SizeDescription;

    #[test]
    fn without_a_camera_the_table_lists_what_to_check() {
        let text = table(&CameraList::default());
        assert!(text.starts_with("No camera found") && text.contains("group 'video'"));
    }

    /// A fixed bug: a line break in the name of a USB camera looked like another camera.
    #[test]
    fn the_name_of_a_camera_stays_on_its_line() {
        let camera = CameraDescription {
            source: "v4l2:a\nv4l2:b".into(),
            card: "Eye\nv4l2:c".into(),
            problem: Some("busy\nv4l2:d".into()),
            ..CameraDescription::default()
        };
        let text = table(&CameraList {
            cameras: vec![camera],
            problems: vec![],
        });
        let sources = text.lines().filter(|line| line.starts_with("v4l2:"));
        assert_eq!(sources.collect::<Vec<_>>(), ["v4l2:a\\nv4l2:b"], "{text}");
    }

    #[test]
    fn the_table_contains_everything_a_source_needs() {
        let camera = CameraDescription {
            source: "v4l2:usb-1 Eye".into(),
            device: "/dev/video4".into(),
            nokhwa_source: Some("nokhwa:4".into()),
            card: "Eye".into(),
            formats: vec![
                FormatDescription {
                    format: "GREY".into(),
                    readable: true,
                    sizes: vec![SizeDescription {
                        width_px: 640,
                        height_px: 480,
                        rates_fps: vec![60.0, 29.97],
                    }],
                },
                FormatDescription {
                    format: "H264".into(),
                    ..FormatDescription::default()
                },
            ],
            controls: vec![ControlDescription {
                name: "exposure".into(),
                max: 5000,
                value: Some(156),
                inactive: true,
                ..ControlDescription::default()
            }],
            ..CameraDescription::default()
        };
        let listing = CameraList {
            cameras: vec![camera],
            problems: Vec::new(),
        };
        let text = table(&listing);
        for part in [
            "v4l2:usb-1 Eye\n",
            "nokhwa:4",
            "640x480     60 29.97 fps",
            "cannot read: H264",
            "exposure",
            "156 (default 0, 0 to 5000), no effect at the moment",
        ] {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
    }
}
