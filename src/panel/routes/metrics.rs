//! `GET /metrics`: the status as OpenMetrics text, for monitoring. **Source**: OpenMetrics 1.0, 2022.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::super::state::Panel;
use crate::control::{CameraStatus, Status};

/// Media type of the text.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// `GET /metrics`.
pub(super) async fn metrics(State(panel): State<Arc<Panel>>) -> Response {
    let text = metrics_text(&panel.links.client.status());
    ([(header::CONTENT_TYPE, OPEN_METRICS)], text).into_response()
}

/// The text. Writing to a String cannot fail.
#[derive(Default)]
struct Text(String);

impl Text {
    /// Begins a metric. `kind` is `gauge` or `counter`.
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(
            self.0,
            "# TYPE shoal_{name} {kind}\n# HELP shoal_{name} {help}"
        );
    }

    /// Adds a value without labels.
    fn gauge(&mut self, name: &str, help: &str, value: impl Into<f64>) {
        self.family(name, "gauge", help);
        let _ = writeln!(self.0, "shoal_{name} {}", value.into());
    }

    /// Adds a number that only grows.
    fn counter(&mut self, name: &str, help: &str, value: u64) {
        self.family(name, "counter", help);
        let _ = writeln!(self.0, "shoal_{name}_total {value}");
    }

    /// Adds values with a label.
    fn labelled(
        &mut self,
        (name, label): (&str, &str),
        help: &str,
        values: impl Iterator<Item = (String, f64)>,
    ) {
        self.family(name, "gauge", help);
        for (key, value) in values {
            let key = key
                .replace('\\', "\\\\")
                .replace('"', "\\\"")
                .replace('\n', "\\n");
            let _ = writeln!(self.0, "shoal_{name}{{{label}=\"{key}\"}} {value}");
        }
    }
}

fn metrics_text(status: &Status) -> String {
    let mut text = Text::default();
    let cameras = status.all_cameras();
    let sum = |value: fn(&CameraStatus) -> u64| cameras.iter().map(value).sum::<u64>();
    let rates = cameras.iter().map(|camera| camera.fps);
    text.gauge(
        "healthy",
        "Whether no fault is active and every stage runs.",
        u8::from(status.is_healthy),
    );
    text.gauge(
        "uptime_seconds",
        "Time since the start of the program.",
        status.uptime_secs,
    );
    text.counter("ticks", "Ticks of the simulation.", status.tick);
    text.counter("commands", "Applied commands.", status.revision);
    text.gauge(
        "camera_frames_per_second",
        "Frame rate of the camera; of several the lowest.",
        rates.fold(f64::INFINITY, f64::min),
    );
    text.counter(
        "camera_frames",
        "Frames that arrived.",
        sum(|camera| camera.frames),
    );
    text.counter(
        "camera_dropped",
        "Frames that the driver lost.",
        sum(|camera| camera.dropped),
    );
    text.counter(
        "camera_restarts",
        "Restarts of the camera source.",
        sum(|camera| camera.restarts),
    );
    text.gauge("visitors", "Visitors on the surface.", status.visitors.now);
    text.gauge(
        "visitors_today",
        "Visitors since midnight.",
        status.visitors.today,
    );
    let stages = status.stages.iter();
    let stages = stages.map(|stage| (stage.name.clone(), f64::from(u8::from(stage.is_well))));
    text.labelled(("stage_healthy", "stage"), "Whether a stage works.", stages);
    let faults = status.faults.iter();
    let faults = faults.map(|fault| (fault.name.clone(), fault.for_secs));
    text.labelled(
        ("fault_seconds", "fault"),
        "Duration of each active fault.",
        faults,
    );
    let species = status.species.iter();
    let species = species.map(|(name, species)| (name.clone(), f64::from(species.count)));
    text.labelled(
        ("individuals", "species"),
        "Individuals of each species.",
        species,
    );
    let outputs = status.outputs.iter().enumerate();
    let outputs = outputs.map(|(number, output)| (number.to_string(), output.fps));
    text.labelled(
        ("output_frames_per_second", "output"),
        "Pictures of each output.",
        outputs,
    );
    add_durations(&mut text, status);
    for (name, help, bytes) in [
        (
            "memory_bytes",
            "Memory of the program.",
            status.machine.memory_bytes,
        ),
        (
            "disk_free_bytes",
            "Free space on the disk.",
            status.machine.disk_free_bytes,
        ),
    ] {
        if let Some(bytes) = bytes {
            text.gauge(name, help, bytes as f64);
        }
    }
    text.0.push_str("# EOF\n");
    text.0
}

/// Adds the measured durations.
fn add_durations(text: &mut Text, status: &Status) {
    let timing = &status.timing;
    let mut timings = vec![
        ("tick".to_owned(), timing.tick),
        ("draw".to_owned(), timing.draw),
        ("gpu_picture".to_owned(), status.gpu.picture),
        ("picture_interval".to_owned(), timing.picture_interval),
        ("frame_to_picture".to_owned(), timing.frame_to_picture),
        ("command_to_reply".to_owned(), timing.command_to_reply),
    ];
    let passes = status.gpu.passes.iter();
    timings.extend(passes.map(|pass| (format!("gpu_{}", pass.name), pass.time)));
    for (suffix, help, of) in [
        ("p50", "Median of the last minute.", 0),
        ("p99", "99th percentile of the last minute.", 1),
    ] {
        let measured = timings.iter().filter(|(_, durations)| durations.count > 0);
        let values = measured.map(|(name, durations)| {
            let ms = [durations.p50_ms, durations.p99_ms][of];
            (name.clone(), ms / 1e3)
        });
        let name = format!("duration_{suffix}_seconds");
        text.labelled((&name, "of"), help, values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::SpeciesStatus;
    use crate::runtime::FaultStatus;
    use shoal_testing::assert_message;

    #[test]
    fn the_text_has_one_family_per_metric_and_escaped_labels() {
        let mut status = Status {
            tick: 7,
            ..Status::default()
        };
        status
            .species
            .insert("a\"b\\\n".to_owned(), SpeciesStatus::default());
        status.faults.push(FaultStatus::default());
        let text = metrics_text(&status);
        assert!(text.contains("\nshoal_ticks_total 7\n"));
        assert_message(&text, &["shoal_individuals{species=\"a\\\"b\\\\\\n\"} 0\n"]);
        assert!(text.ends_with("# EOF\n"));
        let mut families: Vec<&str> = text.lines().filter(|l| l.starts_with("# TYPE")).collect();
        let count = families.len();
        families.sort_unstable();
        families.dedup();
        assert_eq!(families.len(), count, "a family comes twice");
        let is_line = |line: &str| line.starts_with('#') || line.split(' ').count() == 2;
        assert!(text.lines().all(is_line), "{text}");
    }
}
