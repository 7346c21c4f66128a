//! Reading and writing of configuration files: which files are documents, reading only regular files, parsing with
//! positions, reporting all problems at once, checking ranges, editing without losing comments, and atomic saving. This
//! room (top-level module) defines no parameters of its own.
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
mod file_names;
mod lists;
mod output;
mod path;
mod problem;
mod read;
mod renamed;
mod save;
mod schema;
mod shown;
mod spans;
mod suggest;
mod validate;

pub use document::{
    TEXT_BYTES_MAX, is_blank, is_toml, parse, parse_extending, parse_lenient, read_text,
    top_level_text, whole_table,
};
pub use edit::{RejectedChange, TextChange, apply_changes};
pub use extend::{ExtendRules, KeyedList};
pub use file_names::{
    FileKind, document_name_problem, file_kind, is_conflict_copy, is_leftover_name,
};
pub use output::{OutputKind, check_not_input, check_output, create_stream, output_target};
pub use path::{PathSegment, ValuePath};
pub use problem::{Problem, Problems};
pub use read::{open_file, read_file};
pub use renamed::{with_new_names, with_new_names_extending};
pub use save::{
    AfterOperation, GENERATIONS_FOLDER, GENERATIONS_KEPT, SaveOperation, file_generations,
    remove_file, remove_file_stepwise, save_file, save_file_stepwise, write_atomically,
};
pub use schema::{schema_of, schema_problems, unit_of_field};
pub use shown::{shown, visible};
pub use spans::Spans;
pub use suggest::nearest_name;
