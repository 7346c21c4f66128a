//! Reads a file of shadow tracks, a JSON object a line, in step with the clock of whoever asks.
//!
//! At time t counts the newest line that is not later than t; after the last line nobody is there. Reads as it goes, so
//! a recording of a whole day costs no more memory than a line. Must not invent shadows between two lines.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::observe::observation_from_line;
use crate::control::lines::TrackLine;
use crate::world::Observation;

/// Longest line that is read. A hundred visitors with full outlines have a fifth of it.
const MAX_LINE_BYTES: u64 = 1 << 20;

/// Times are written to the microsecond: a line may be later than its frame by the rounding.
const ROUNDING_SECS: f64 = 1e-6;

/// A file of tracks that is being read.
pub struct TracksFile {
    path: PathBuf,
    reader: Option<BufReader<Box<dyn Read + Send>>>,
    line: u64,
    now: Observation,
    next: Option<Observation>,
}

impl TracksFile {
    /// Opens a file and reads its first line.
    ///
    /// # Errors
    /// When the file cannot be read or its first line is no track line.
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        let file = File::open(path)
            .with_context(|| format!("{}: cannot be read as shadow tracks", path.display()))?;
        Self::new(path, Box::new(file))
    }

    /// Opens the file, or where there is none stands for nobody.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_or_nobody(path: Option<&Path>) -> anyhow::Result<Self> {
        path.map_or_else(|| Ok(Self::nobody()), Self::open)
    }

    /// Nobody, at any time.
    pub fn nobody() -> Self {
        Self {
            path: PathBuf::new(),
            reader: None,
            line: 0,
            now: Observation::default(),
            next: None,
        }
    }

    fn new(path: &Path, input: Box<dyn Read + Send>) -> anyhow::Result<Self> {
        let mut file = Self {
            path: path.to_owned(),
            reader: Some(BufReader::new(input)),
            ..Self::nobody()
        };
        file.next = file.read_line()?;
        Ok(file)
    }

    /// What is there at a time. Times asked for must not go back.
    ///
    /// # Errors
    /// When a line on the way there is no track line or goes back in time; says which.
    pub fn at(&mut self, time_secs: f64) -> anyhow::Result<&Observation> {
        while let Some(next) = self
            .next
            .take_if(|next| next.time_secs <= time_secs + ROUNDING_SECS)
        {
            self.now = next;
            self.next = self.read_line()?;
            if let Some(next) = &self.next
                && next.time_secs < self.now.time_secs
            {
                bail!(
                    "{}, line {}: time_secs = {} is before the line above ({}); tracks must be in order of time",
                    self.path.display(),
                    self.line,
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

    /// The next line that is not empty; `None` at the end.
    fn read_line(&mut self) -> anyhow::Result<Option<Observation>> {
        let Some(reader) = &mut self.reader else {
            return Ok(None);
        };
        let mut text = Vec::new();
        loop {
            text.clear();
            self.line += 1;
            let place = || format!("{}, line {}", self.path.display(), self.line);
            let length = reader
                .by_ref()
                .take(MAX_LINE_BYTES)
                .read_until(b'\n', &mut text)
                .with_context(place)?;
            if length == 0 {
                self.reader = None;
                return Ok(None);
            }
            if length as u64 == MAX_LINE_BYTES && text.last() != Some(&b'\n') {
                bail!(
                    "{}: longer than {MAX_LINE_BYTES} bytes; this is no file of shadow tracks",
                    place()
                );
            }
            if text.trim_ascii().is_empty() {
                continue;
            }
            let line: TrackLine = serde_json::from_slice(text.trim_ascii()).with_context(|| {
                format!("{}: no track line as `shoal track` writes it", place())
            })?;
            return Ok(Some(observation_from_line(&line)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(text: &'static str) -> anyhow::Result<TracksFile> {
        TracksFile::new(Path::new("t.jsonl"), Box::new(text.as_bytes()))
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
    fn the_newest_line_not_later_counts_and_nobody_after_the_last() {
        let mut file = open(lines(&[0.1, 0.2, 0.3])).unwrap();
        let mut seen = |time| {
            let now = file.at(time).unwrap();
            (now.time_secs, now.shadows.len())
        };
        assert_eq!(seen(0.05), (0.0, 0), "before the first line");
        assert_eq!(seen(0.1), (0.1, 1));
        assert_eq!(seen(0.29), (0.2, 1));
        assert_eq!(seen(0.3), (0.3, 1));
        assert_eq!(seen(0.31).1, 0, "after the last line");
    }

    #[test]
    fn rounded_times_are_on_time() {
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
        assert!(
            error("\n{\"frame\":0}\n").contains("t.jsonl, line 2"),
            "{}",
            error("\n{\"frame\":0}\n")
        );
        let back = error(lines(&[0.2, 0.1]));
        assert!(
            back.contains("line 2") && back.contains("before the line above"),
            "{back}"
        );
        let long = error(" ".repeat(3 << 20).leak());
        assert!(long.contains("longer than"), "{long}");
        assert_eq!(error(""), "no error", "an empty file is nobody");
    }

    #[test]
    fn shadows_beside_the_surface_are_nobody() {
        let text =
            lines(&[0.0]).replace("\"contour_m\":[]", "\"contour_m\":[],\"on_surface\":false");
        let mut file = open(text.leak()).unwrap();
        assert!(file.at(0.0).unwrap().shadows.is_empty());
    }
}
