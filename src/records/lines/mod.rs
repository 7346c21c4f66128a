//! Files of JSON lines: tracks, agents, commands.

mod agents_line;
mod json_lines;
mod stoppable_input;
mod tracks_file;

pub use agents_line::{add_forces, agents_line};
pub use json_lines::{JsonLinesReader, JsonLinesWriter, is_standard_output, is_standard_stream};
pub use tracks_file::TracksFile;
