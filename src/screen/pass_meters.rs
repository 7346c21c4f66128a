//! The times of the graphics device, from picture to picture, and their summary for the status.

use crate::control::{GpuStatus, PassStatus};
use crate::render::{PassGroup, PassTimes};
use crate::runtime::{DurationMeter, DurationStatus};

/// Times of the graphics device.
#[derive(Debug, Default)]
pub struct PassMeters {
    picture: DurationMeter,
    groups: [DurationMeter; PassGroup::ALL.len()],
}

impl PassMeters {
    /// Records the times of a picture.
    pub fn record(&self, times: &PassTimes) {
        self.picture.record(times.picture);
        for (meter, secs) in self.groups.iter().zip(times.groups) {
            meter.record(secs);
        }
    }

    /// Summarizes the last minute. `wanted_fps` is the rate of pictures that the monitors can show; 0 if it is not known.
    pub fn last_minute(&self, wanted_fps: f64) -> GpuStatus {
        self.summarized(wanted_fps, DurationMeter::last_minute)
    }

    /// Summarizes all kept times.
    pub fn summary(&self) -> GpuStatus {
        self.summarized(0.0, DurationMeter::summary)
    }

    fn summarized(
        &self,
        wanted_fps: f64,
        of: impl Fn(&DurationMeter) -> DurationStatus,
    ) -> GpuStatus {
        let groups = PassGroup::ALL.into_iter().zip(&self.groups);
        let passes = groups.map(|(group, meter)| PassStatus {
            name: group.name().to_owned(),
            time: of(meter),
        });
        GpuStatus::new(of(&self.picture), passes.collect(), wanted_fps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_sentence_names_the_median_of_each_group() {
        let meters = PassMeters::default();
        assert_eq!(meters.last_minute(60.0), GpuStatus::default());
        for tenths in [9_u64, 31, 500] {
            meters.record(&PassTimes {
                picture: Duration::from_micros(100 * tenths),
                groups: [9, 2, 1, 14, 5].map(|part| Duration::from_micros(100 * part)),
            });
        }
        let groups = "water 0.9, sunlight 0.2, shadows 0.1, bodies 1.4, outputs 0.5";
        let live = meters.last_minute(60.0);
        assert_eq!(live.sentence, format!("picture 3.1 of 16.7 ms: {groups}"));
        assert_eq!((live.picture.count, live.picture.p99_ms.round()), (3, 50.0));
        assert_eq!(
            meters.summary().sentence,
            format!("picture 3.1 ms: {groups}")
        );
    }
}
