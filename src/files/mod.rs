//! Files on disk: reading only regular files, atomic saving with old versions, checks of the paths that the program writes, and
//! what a file is by its name.
//!
//! In: a path. Out: bytes, or a written file. Must not: know what a file contains.

mod leftovers;
mod names;
mod operation;
mod output;
mod read;
mod save;

pub use leftovers::remove_leftovers;
pub use names::{
    FileKind, copied_name, document_name_problem, file_kind, is_conflict_copy, is_leftover_name,
};
pub use output::{OutputKind, check_not_input, check_output, create_stream, output_target};
pub use read::{find_program, open_file, read_file};
pub use save::{
    append_private, create_private_folder, file_generations, remove_file, save_file,
    save_file_again, save_files, write_atomically, write_private,
};
