//! The mechanism of configuration: parse with spans, collect all problems, ranges, edits that lose nothing, atomic saves.
//! Holds no parameter of anybody.
//!
//! In: TOML text and a type that describes itself by JSON Schema. Out: a value of that type, or every [`Problem`] of the
//! text at once, with file, line and column; [`read`] gives both, to hold a faulty file against others. The path of a text
//! is: syntax (all errors, not the first), then the raw tree against [`schema_of`] the type, then serde. What one number
//! allows of another is asked of the rooms afterwards;
//! [`Spans`] says where in the file their answer belongs.
//!
//! Must not: know any parameter, fall back to a default for a bad value, stop at the first problem.

mod convert;
mod document;
pub mod edit;
mod lists;
mod path;
mod problem;
mod renamed;
pub mod save;
pub mod schema;
mod spans;
mod suggest;
mod validate;

pub use document::{TEXT_BYTES_MAX, parse, read, read_text};
pub use path::{Path, Step};
pub use problem::{Problem, Problems};
pub use save::{save, write_atomically};
pub use schema::schema_of;
pub use spans::Spans;
pub use suggest::nearest;
