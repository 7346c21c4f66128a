//! Reads the tracks of a JSON-lines file in step with the simulation's clock.
//!
//! At time t, the newest line that is not later than t is valid. After the last line there are no visitors. Only one line is in
//! memory at a time, so the file may contain a recording of a whole day. Must not: interpolate between two lines.

use std::path::Path;

use anyhow::bail;

use super::json_lines::JsonLinesReader;
use crate::control::TrackLine;
use crate::geometry::Visitor;
use crate::runtime::StopFlag;
use crate::world::Observation;

/// Longest line, in bytes. A hundred visitors with full outlines need a fifth of this length.
const MAX_LINE_BYTES: u64 = 1 << 20;

/// Largest rounding error of a time in the file, in seconds. Times are rounded to microseconds, so a line may be later than its
/// frame by this much.
const ROUNDING_SECS: f64 = 1e-6;

/// A file of tracks that is being read.
pub struct TracksFile {
    /// The open file; `None` if there is no file, and after its last line.
    lines: Option<JsonLinesReader>,
    now: Observation,
    next: Option<Observation>,
}

impl TracksFile {
    /// Opens a file and reads its first line. Without a file there are no visitors at any time. When `stop` is set, a file that
    /// another program still writes ends.
    ///
    /// # Errors
    /// When the file cannot be read, or its first line is no track line.
    pub fn open(path: Option<&Path>, stop: &StopFlag) -> anyhow::Result<Self> {
        let lines = path.map(|path| JsonLinesReader::open_until(path, MAX_LINE_BYTES, stop));
        Self::new(lines.transpose()?)
    }

    fn new(lines: Option<JsonLinesReader>) -> anyhow::Result<Self> {
        let mut file = Self {
            lines,
            now: Observation::default(),
            next: None,
        };
        let place = file.lines.as_ref().map(JsonLinesReader::place);
        file.next = file.read_line()?;
        // A full disk leaves an empty file. It must not look like a recording without visitors.
        if let (None, Some(place)) = (&file.next, place) {
            tracing::warn!("{place}: the file contains no track line, so there are no visitors");
        }
        Ok(file)
    }

    /// Returns the observation at a time. The time must not be earlier than in the previous call.
    ///
    /// # Errors
    /// When a line up to this time is no track line, or is earlier than the line before it.
    pub fn at(&mut self, time_secs: f64) -> anyhow::Result<&Observation> {
        while let Some(next) = self
            .next
            .take_if(|next| next.time_secs <= time_secs + ROUNDING_SECS)
        {
            self.now = next;
            self.next = self.read_line()?;
            if let (Some(next), Some(lines)) = (&self.next, &self.lines)
                && next.time_secs < self.now.time_secs
            {
                bail!(
                    "{}: time_secs = {} is before the previous line ({}); sort the lines by time",
                    lines.place(),
                    next.time_secs,
                    self.now.time_secs
                );
            }
        }
        let is_over = self.next.is_none() && time_secs > self.now.time_secs + ROUNDING_SECS;
        if is_over {
            self.now.shadows.clear();
        }
        Ok(&self.now)
    }

    /// Reads the next line and converts it. Returns `None` at the end of the file.
    fn read_line(&mut self) -> anyhow::Result<Option<Observation>> {
        let Some(lines) = &mut self.lines else {
            return Ok(None);
        };
        let line: Option<TrackLine> = lines.next("track line as `shoal track` writes it")?;
        if line.is_none() {
            self.lines = None;
        }
        Ok(line.map(|line| observation_of(&line)))
    }
}

/// Returns the visitors in a line that are on the surface.
fn observation_of(line: &TrackLine) -> Observation {
    let on_surface = line.shadows.iter().filter(|line| line.on_surface);
    Observation {
        time_secs: line.time_secs,
        shadows: on_surface.map(Visitor::from).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shoal_testing::assert_message;

    fn open(text: &'static str) -> anyhow::Result<TracksFile> {
        let input = Box::new(text.as_bytes());
        TracksFile::new(Some(JsonLinesReader::new("t.jsonl", input, MAX_LINE_BYTES)))
    }

    const SHADOW: &str = r#"{"id":3,"x_m":0.5,"z_m":-1.0,"foot_m":[0.4,-1.3],"radius_m":0.2,"vx_mps":0.8,"vz_mps":0.0,"area_m2":0.1,"age_secs":1.2,"still_secs":0.0,"contour_m":[]}"#;

    fn lines(times: &[f64]) -> &'static str {
        let text: String = times
            .iter()
            .enumerate()
            .map(|(frame, time)| {
                format!("{{\"frame\":{frame},\"time_secs\":{time},\"shadows\":[{SHADOW}]}}\n")
            })
            .collect();
        text.leak()
    }

    #[test]
    fn the_newest_line_is_valid_and_there_are_no_visitors_after_the_last_one() {
        let mut file = open(lines(&[0.1, 0.2, 0.3])).unwrap();
        let mut at = |time| {
            let now = file.at(time).unwrap();
            (now.time_secs, now.shadows.len())
        };
        assert_eq!(at(0.05), (0.0, 0), "before the first line");
        assert_eq!(at(0.1), (0.1, 1));
        assert_eq!(at(0.29), (0.2, 1));
        assert_eq!(at(0.3), (0.3, 1));
        assert_eq!(at(0.31).1, 0, "after the last line");
    }

    #[test]
    fn a_line_whose_time_was_rounded_up_is_valid_at_its_tick() {
        let mut file = open(lines(&[0.033333, 0.066667, 0.1])).unwrap();
        assert_eq!(file.at(2.0 / 30.0).unwrap().time_secs, 0.066667);
    }

    #[test]
    fn errors_name_file_and_line() {
        let error = |text: &'static str| {
            let mut file = match open(text) {
                Ok(file) => file,
                Err(error) => return format!("{error:#}"),
            };
            match file.at(9.0) {
                Ok(_) => "no error".into(),
                Err(error) => format!("{error:#}"),
            }
        };
        assert_message(error("\n{\"frame\":0}\n"), &["t.jsonl:2: "]);
        let back = error(lines(&[0.2, 0.1]));
        assert_message(&back, &["t.jsonl:2: ", "before the previous line"]);
        let long = error(" ".repeat(3 << 20).leak());
        assert!(long.contains("longer than"), "{long}");
        assert_eq!(error(""), "no error", "a file may be empty");
    }

    #[test]
    fn shadows_beside_the_surface_are_left_out() {
        let text =
            lines(&[0.0]).replace("\"contour_m\":[]", "\"contour_m\":[],\"on_surface\":false");
        let mut file = open(text.leak()).unwrap();
        assert!(file.at(0.0).unwrap().shadows.is_empty());
    }
}
