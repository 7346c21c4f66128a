//! Parsing of configuration files: positions, all problems at once, ranges, and edits that keep comments. This room (top-level
//! module) defines no parameters of its own.
//!
//! In: TOML text and a type that describes itself by a JSON Schema. Out: a value of that type, or every [`Problem`]
//! of the text with file, line and column. [`parse_lenient`] returns the value and the problems, so that a faulty
//! file can still be checked against other files.
//!
//! A text is checked in three stages: first the syntax (all errors, not only the first), then the raw tree against
//! the schema of the type ([`schema_of`]), then the conversion by serde. Afterwards other rooms check rules between
//! several values; [`Spans`] gives the positions for their messages.
//!
//! Must not: know any parameter, replace a bad value by a default, stop at the first problem.

mod convert;
mod document;
mod edit;
mod extend;
mod lists;
mod path;
mod problem;
mod schema;
mod shown;
mod spans;
mod suggest;
mod syntax;
mod validate;

pub use document::{
    TEXT_BYTES_MAX, is_blank, is_toml, parse, parse_extending, parse_lenient, problem_in,
    read_text, top_level_text, whole_table,
};
pub use edit::{RejectedChange, TextChange, apply_changes};
pub use extend::{ExtendRules, KeyedList, Preset};
pub use path::{PathSegment, ValuePath};
pub use problem::{Problem, Problems};
pub use schema::{schema_of, tag_of, unit_of_field, variant_name};
pub use shown::{shown, visible};
pub use spans::Spans;
pub use suggest::{nearest_name, suggestion};
