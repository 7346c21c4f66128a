//! `shoal capture-worker`: reads one camera in a process of its own. Started by [`crate::camera::Feed`], not by users.

use std::collections::BTreeMap;
use std::process::ExitCode;

use clap::Args;

use super::arguments::{frame_rate, pair};
use crate::camera::{CaptureRequest, SourceKind, SourceSpec, run_capture_worker, run_list_worker};

/// `shoal capture-worker`.
#[derive(Debug, Args)]
pub(in crate::app) struct CaptureWorkerArguments {
    /// List all cameras instead of opening one
    #[arg(long)]
    list: bool,
    /// Camera as v4l2:CAMERA or nokhwa:CAMERA, without options
    #[arg(long, value_name = "SRC", required_unless_present = "list")]
    source: Option<String>,
    /// Pixel format
    #[arg(long, value_name = "CODE")]
    format: Option<String>,
    /// Size of the picture in pixels
    #[arg(long, value_name = "WxH", value_parser = size_px)]
    size: Option<(u32, u32)>,
    /// Frames per second
    #[arg(long, value_name = "F", value_parser = frame_rate)]
    fps: Option<f64>,
    /// Set a control of the camera
    #[arg(long, value_name = "NAME=VALUE", value_parser = control)]
    control: Vec<(String, i64)>,
    /// Leave automatic functions of the camera on
    #[arg(long)]
    auto_functions: bool,
}

/// Runs a worker until its camera fails or standard input is closed.
pub(in crate::app) fn capture_worker(
    arguments: &CaptureWorkerArguments,
) -> anyhow::Result<ExitCode> {
    if arguments.list {
        run_list_worker();
        return Ok(ExitCode::SUCCESS);
    }
    let source = arguments.source.as_deref().unwrap_or_default();
    let SourceKind::Live { backend, device } = SourceSpec::parse(source)?.kind else {
        anyhow::bail!("'{source}' is not a live camera; give v4l2:CAMERA or nokhwa:CAMERA");
    };
    let request = CaptureRequest {
        backend,
        device,
        format: arguments.format.clone(),
        size_px: arguments.size,
        fps: arguments.fps,
        controls: arguments
            .control
            .iter()
            .cloned()
            .collect::<BTreeMap<_, _>>(),
        auto_functions: arguments.auto_functions,
    };
    anyhow::bail!("{}", run_capture_worker(&request));
}

fn size_px(text: &str) -> Result<(u32, u32), String> {
    pair(text).ok_or_else(|| "expected WIDTHxHEIGHT in pixels".to_owned())
}

fn control(text: &str) -> Result<(String, i64), String> {
    text.split_once('=')
        .and_then(|(name, value)| Some((name.to_owned(), value.parse().ok()?)))
        .ok_or_else(|| "expected NAME=NUMBER".to_owned())
}
