//! Commands for the documents and the fish: `site::Editor` validates and applies them, and passes their changes to the
//! simulation. A log of them can be replayed.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::director::{DirectorEvent, MindChoice};
use super::documents::{DocumentName, DocumentText, Edit};
use super::{Command, listed};

/// A command for the documents and the fish.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, try_from = "Command")]
pub enum PoolCommand {
    /// Changes documents, or instructs the fish.
    Edit(PoolEdit),
    /// Concerns one individual.
    Individual(IndividualCommand),
    /// Concerns all documents.
    Editor(EditorStep),
}

/// A change of documents, or an instruction to the fish. Several can be applied together, as a batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum PoolEdit {
    /// Changes values of documents. If one change is invalid, none is applied.
    Edit {
        /// The changes, applied in this order.
        edits: Vec<Edit>,
        /// Whether the change is a further step of the last one, for example while a corner is dragged. Both are undone together.
        /// A running pool decides this itself: if the same client changes the same values again within a second.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        joins_last: bool,
    },
    /// Replaces the whole text of a document, or adds a scene or a species with this text.
    ReplaceText {
        /// The document.
        document: DocumentName,
        /// Its new text, as TOML.
        text: String,
    },
    /// Adds a species to the library and to the current scene.
    AddSpecies {
        /// Name of the species; its document becomes `species/NAME.toml`.
        name: String,
        /// Content of the document, as TOML. If absent, the species `like` is copied; without `like`, all values are
        /// defaults.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// Name of the species to copy. Must be absent if `text` is given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        like: Option<String>,
        /// Number of individuals in the current scene.
        #[serde(default)]
        count: u32,
    },
    /// Removes a species from every scene and from the library. A built-in species is only removed from the scenes.
    RemoveSpecies {
        /// Name of the species.
        name: String,
    },
    /// Switches to another scene.
    SwitchScene {
        /// Name of the scene.
        name: String,
    },
    /// Adds one individual to a species of the current scene.
    AddIndividual {
        /// Name of the species.
        species: String,
        /// Initial position in world space. If absent, the individual enters from outside the visible area.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        position_m: Option<[f32; 3]>,
    },
    /// A temporary instruction to the fish.
    Director {
        /// The instruction.
        event: DirectorEvent,
    },
}

named!(PoolEdit {
    Edit = "edit",
    ReplaceText = "replace_text",
    AddSpecies = "add_species",
    RemoveSpecies = "remove_species",
    SwitchScene = "switch_scene",
    AddIndividual = "add_individual",
    Director = "director",
});

impl PoolEdit {
    pub(super) fn summary(&self) -> String {
        match self {
            Self::Edit { edits, .. } => {
                let edit = |e: &Edit| format!("{}: {}", e.document, e.path);
                listed(edits.iter().map(edit))
            }
            Self::ReplaceText { document, .. } => document.to_string(),
            Self::AddSpecies { name, count, .. } => format!("{count} {name}"),
            Self::RemoveSpecies { name } | Self::SwitchScene { name } => name.clone(),
            Self::AddIndividual { species, .. } => species.clone(),
            Self::Director { event } => serde_json::to_string(event).unwrap_or_default(),
        }
    }
}

/// A command that names one living individual. It is applied only while this individual lives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum IndividualCommand {
    /// Removes one individual, and lowers the number of individuals of its species by one.
    RemoveIndividual {
        /// Id of the individual.
        id: u32,
    },
    /// Replaces the mind of one individual for `secs` seconds.
    OverrideMind {
        /// Id of the individual.
        id: u32,
        /// The temporary mind.
        mind: MindChoice,
        /// Duration in seconds.
        secs: f32,
    },
    /// Gives one individual its own mind back before this time is over.
    EndOverride {
        /// Id of the individual.
        id: u32,
    },
}

named!(IndividualCommand {
    RemoveIndividual = "remove_individual",
    OverrideMind = "override_mind",
    EndOverride = "end_override",
});

impl IndividualCommand {
    /// Returns the id of the individual.
    pub fn id(&self) -> u32 {
        match self {
            Self::RemoveIndividual { id }
            | Self::OverrideMind { id, .. }
            | Self::EndOverride { id } => *id,
        }
    }

    pub(super) fn summary(&self) -> String {
        match self {
            Self::RemoveIndividual { id } | Self::EndOverride { id } => format!("id {id}"),
            Self::OverrideMind { id, secs, .. } => format!("id {id} for {secs} s"),
        }
    }
}

/// A step that concerns all documents: several edits together, undo, and the way from and to the disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum EditorStep {
    /// Applies several commands, or none of them. One undo undoes all. Allowed are commands that change documents, and
    /// instructions to the fish.
    Batch {
        /// The commands, applied in this order.
        #[serde(deserialize_with = "batch")]
        commands: Vec<PoolEdit>,
    },
    /// Applies the texts of documents that have changed on the disk.
    TakeOver {
        /// The documents that changed since they were last read, with their texts.
        documents: Vec<DocumentText>,
    },
    /// Undoes the last change.
    Undo {
        /// Number of the change that is meant, from the status. Rejected if another one would be undone, because somebody changed
        /// something meanwhile. If absent, the last change is meant, whatever it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        change: Option<u64>,
    },
    /// Applies the last undone change again.
    Redo {
        /// Number of the change that is meant, as for `undo`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        change: Option<u64>,
    },
    /// Writes all changed documents to the disk.
    Save,
    /// Writes the site file to the disk. Changed scenes and species stay drafts. Rejected if the site needs one of them. A running
    /// pool does this itself after every change of the site file.
    SaveSite,
    /// Replaces all documents by the files on the disk. Can be undone.
    Revert,
}

named!(EditorStep {
    Batch = "batch",
    TakeOver = "take_over",
    Undo = "undo",
    Redo = "redo",
    Save = "save",
    SaveSite = "save_site",
    Revert = "revert",
});

impl EditorStep {
    /// Undoes the last change, whatever it is.
    pub const UNDO: Self = Self::Undo { change: None };
    /// Applies the last undone change again.
    pub const REDO: Self = Self::Redo { change: None };

    pub(super) fn summary(&self) -> String {
        match self {
            Self::Batch { commands } => {
                let command = |c: &PoolEdit| format!("{} {}", c.name(), c.summary());
                listed(commands.iter().map(command))
            }
            Self::TakeOver { documents } => {
                listed(documents.iter().map(|d| d.document.to_string()))
            }
            Self::Undo { .. } | Self::Redo { .. } | Self::Save | Self::SaveSite | Self::Revert => {
                String::new()
            }
        }
    }
}

impl From<PoolEdit> for PoolCommand {
    fn from(edit: PoolEdit) -> Self {
        Self::Edit(edit)
    }
}

impl From<EditorStep> for PoolCommand {
    fn from(step: EditorStep) -> Self {
        Self::Editor(step)
    }
}

/// Reads the commands of a batch.
fn batch<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PoolEdit>, D::Error> {
    let commands = Vec::<Command>::deserialize(deserializer)?;
    let edit = |(command, number): (Command, usize)| match command {
        Command::Pool(PoolCommand::Edit(edit)) => Ok(edit),
        other => Err(serde::de::Error::custom(format!(
            "command {number} ({}): this command cannot be part of a batch; send it alone",
            other.name()
        ))),
    };
    commands.into_iter().zip(1..).map(edit).collect()
}

/// One line of a command log: an applied command and its tick. The lines are sorted by tick.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandLine {
    /// Number of ticks completed before the command was applied.
    pub tick: u64,
    /// The command.
    pub command: PoolCommand,
}
