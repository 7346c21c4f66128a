//! Files of JSON lines being written: one object a line, to a file or to standard output.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Serialize;

/// A file of JSON lines, or standard output.
pub(super) struct LinesOut {
    path: PathBuf,
    out: Box<dyn Write + Send>,
}

impl LinesOut {
    /// Opens it; `-` is standard output.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub(super) fn create(path: &Path) -> anyhow::Result<Self> {
        let out: Box<dyn Write + Send> = if path == Path::new("-") {
            Box::new(BufWriter::new(std::io::stdout()))
        } else {
            let file = File::create(path).with_context(|| refusal(path))?;
            Box::new(BufWriter::new(file))
        };
        Ok(Self {
            path: path.to_owned(),
            out,
        })
    }

    /// Writes a line.
    ///
    /// # Errors
    /// When the file cannot be written, a full disk or a closed pipe included.
    pub(super) fn write(&mut self, line: &impl Serialize) -> anyhow::Result<()> {
        serde_json::to_writer(&mut self.out, line)
            .map_err(anyhow::Error::from)
            .and_then(|()| self.out.write_all(b"\n").map_err(anyhow::Error::from))
            .with_context(|| refusal(&self.path))
    }

    /// Writes what is still buffered.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub(super) fn finish(mut self) -> anyhow::Result<()> {
        self.out.flush().with_context(|| refusal(&self.path))
    }
}

fn refusal(path: &Path) -> String {
    format!("{}: cannot be written", path.display())
}
