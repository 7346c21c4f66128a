//! Errors of the keys of a hall.

use std::path::{Path, PathBuf};

/// Why the keys of a hall cannot be made, read or changed.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The folder holds no authority.
    #[error(
        "{}: this machine has no authority of a hall. Use the machine on which `shoal cluster init` was run, or run it here for a new hall",
        .0.display()
    )]
    NoAuthority(PathBuf),
    /// The folder holds no keys.
    #[error(
        "{}: this machine has no key of a hall. Run `shoal cluster invite NAME` on the machine with the authority, then `shoal cluster join CODE ADDRESS` here",
        .0.display()
    )]
    NoKeys(PathBuf),
    /// The folder already holds keys.
    #[error(
        "{}: this machine is already the node `{name}` of the hall `{hall}`. To join again, move this folder away first",
        .path.display()
    )]
    Exists {
        /// The file with the keys.
        path: PathBuf,
        /// Name of the node.
        name: String,
        /// Name of the hall.
        hall: String,
    },
    /// The folder already holds an authority.
    #[error(
        "{}: this machine has the authority of a hall. For a new hall, move this folder away first; the nodes of the old one then stay without an authority",
        .0.display()
    )]
    AuthorityExists(PathBuf),
    /// A file cannot be read or written.
    #[error(
        "{}: {problem}. Check the free space and who may read and write this folder",
        .path.display()
    )]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        problem: String,
    },
    /// A file is not what Shoal wrote.
    #[error(
        "{}: the file is damaged ({problem}). Restore it from a backup, or move this folder away and let the machine join again",
        .path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The reason.
        problem: String,
    },
    /// A name that cannot be used.
    #[error("`{0}`: no name for a hall or a node. Use 1 to 40 letters, digits and hyphens")]
    Name(String),
    /// The name belongs to another member.
    #[error(
        "`{0}`: a node with this name is a member. Run `shoal cluster revoke {0}` first, or choose another name"
    )]
    NameInUse(String),
    /// No member has this name.
    #[error("`{name}`: no member of the hall. Members: {}", .members.join(", "))]
    NoMember {
        /// The name.
        name: String,
        /// Names of the members.
        members: Vec<String>,
    },
    /// The list of members is not from the authority of the hall.
    #[error(
        "the list of members is not signed by the authority of this hall. It was changed, or comes from another hall"
    )]
    Signature,
    /// The operating system gave no random numbers, or a key or a signature cannot be made.
    #[error("no key can be made: {0}. Try again")]
    Crypto(String),
}

impl KeyError {
    pub(super) fn crypto(error: &impl ToString) -> Self {
        Self::Crypto(error.to_string())
    }

    pub(super) fn file(path: &Path, error: &impl ToString) -> Self {
        Self::File {
            path: path.to_owned(),
            problem: error.to_string(),
        }
    }

    pub(super) fn damaged(path: &Path, error: &impl ToString) -> Self {
        Self::Damaged {
            path: path.to_owned(),
            problem: error.to_string(),
        }
    }
}
