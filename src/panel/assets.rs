//! The files of the page, embedded in the program. To add one: a line in [`ASSETS`].

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::OnceLock;

use axum::body::Bytes;

/// Name of the page.
pub(crate) const INDEX: &str = "index.html";
/// Variable that names a folder whose files replace the embedded ones, in debug builds only.
#[cfg(debug_assertions)]
const FOLDER_VARIABLE: &str = "SHOAL_PANEL_ASSETS";

/// An embedded file: its name below `/assets/`, and its content.
type Asset = (&'static str, &'static [u8]);

macro_rules! asset {
    ($name:literal) => {
        ($name, include_bytes!(concat!("assets/", $name)))
    };
}

/// All files.
const ASSETS: &[Asset] = &[
    asset!("app.js"),
    asset!("core/api.js"),
    asset!("core/dom.js"),
    asset!("core/history.js"),
    asset!("core/i18n.js"),
    asset!("core/numbers.js"),
    asset!("core/store.js"),
    asset!("core/stream.js"),
    asset!("core/theme.js"),
    asset!("core/topics.js"),
    asset!("editor/context.js"),
    asset!("editor/fields.js"),
    asset!("editor/floor_picture.js"),
    asset!("editor/form.js"),
    asset!("editor/groups.js"),
    asset!("editor/map.js"),
    asset!("editor/mind.js"),
    asset!("editor/plan_check.js"),
    asset!("editor/relations.js"),
    asset!("editor/rename.js"),
    asset!("editor/rules.js"),
    asset!("editor/schema.js"),
    asset!("editor/sortable.js"),
    asset!("icon.svg"),
    asset!("index.html"),
    asset!("messages/de.js"),
    asset!("messages/en.js"),
    asset!("messages/parameters_de.js"),
    asset!("pages/hours.js"),
    asset!("pages/hours_rules.js"),
    asset!("pages/life.js"),
    asset!("pages/live.js"),
    asset!("pages/login.js"),
    asset!("pages/now.js"),
    asset!("pages/scenes.js"),
    asset!("pages/setup.js"),
    asset!("pages/system.js"),
    asset!("pages/visitors.js"),
    asset!("parts/access.js"),
    asset!("parts/broken.js"),
    asset!("parts/camera_choice.js"),
    asset!("parts/code_editor.js"),
    asset!("parts/dialog.js"),
    asset!("parts/diff.js"),
    asset!("parts/event_text.js"),
    asset!("parts/health.js"),
    asset!("parts/icons.js"),
    asset!("parts/lead_fish.js"),
    asset!("parts/mind_view.js"),
    asset!("parts/notebook.js"),
    asset!("parts/notices.js"),
    asset!("parts/overlay_switch.js"),
    asset!("parts/password.js"),
    asset!("parts/picture.js"),
    asset!("parts/pool_view.js"),
    asset!("parts/recordings.js"),
    asset!("parts/remote.js"),
    asset!("parts/restart.js"),
    asset!("parts/sound.js"),
    asset!("parts/spark.js"),
    asset!("parts/tabs.js"),
    asset!("parts/thumbnail.js"),
    asset!("parts/undo.js"),
    asset!("parts/unfinished.js"),
    asset!("parts/until.js"),
    asset!("parts/days.js"),
    asset!("parts/versions.js"),
    asset!("pictures/scene-aquarium.jpg"),
    asset!("pictures/scene-cascade.jpg"),
    asset!("pictures/scene-koi.jpg"),
    asset!("pictures/scene-lagoon.jpg"),
    asset!("pictures/scene-molecules.jpg"),
    asset!("pictures/scene-nursery.jpg"),
    asset!("pictures/scene-plankton.jpg"),
    asset!("pictures/scene-pool.jpg"),
    asset!("pictures/scene-reef.jpg"),
    asset!("pictures/scene-simple_school.jpg"),
    asset!("pictures/scene-sky.jpg"),
    asset!("pictures/species-damsel.jpg"),
    asset!("pictures/species-fry.jpg"),
    asset!("pictures/species-grazer.jpg"),
    asset!("pictures/species-herring.jpg"),
    asset!("pictures/species-koi.jpg"),
    asset!("pictures/species-molecule_big.jpg"),
    asset!("pictures/species-molecule_small.jpg"),
    asset!("pictures/species-pike.jpg"),
    asset!("pictures/species-plankton.jpg"),
    asset!("pictures/species-salmon.jpg"),
    asset!("pictures/species-shark.jpg"),
    asset!("pictures/species-simple_fish.jpg"),
    asset!("pictures/species-simple_leader.jpg"),
    asset!("pictures/species-trout.jpg"),
    asset!("setup/area_editor.js"),
    asset!("setup/calibration_step.js"),
    asset!("setup/camera_step.js"),
    asset!("setup/corner_editor.js"),
    asset!("setup/drawings.js"),
    asset!("setup/lamp_step.js"),
    asset!("setup/network_camera.js"),
    asset!("setup/output_step.js"),
    asset!("setup/point_picker.js"),
    asset!("setup/steps.js"),
    asset!("setup/waiting.js"),
    asset!("styles/base.css"),
    asset!("styles/pages.css"),
    asset!("styles/parts.css"),
    asset!("styles/shell.css"),
];

/// Content of a file.
pub(crate) enum Content {
    /// Embedded in the program.
    Embedded(&'static [u8]),
    /// Read from a folder at this moment.
    #[cfg(debug_assertions)]
    Read(Vec<u8>),
}

impl Content {
    /// Whether the content stays the same while the program runs.
    pub(crate) fn is_borrowed(&self) -> bool {
        matches!(self, Self::Embedded(_))
    }

    /// Returns the bytes.
    pub(crate) fn into_bytes(self) -> Bytes {
        match self {
            Self::Embedded(bytes) => Bytes::from_static(bytes),
            #[cfg(debug_assertions)]
            Self::Read(bytes) => bytes.into(),
        }
    }
}

/// Returns a name of all embedded files together, so that an open page notices that it is an older one.
pub(crate) fn page_name() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| {
        let mut hasher = DefaultHasher::new();
        ASSETS.hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    })
}

/// Returns type and content of a file; `None` if there is no file with this name.
pub(crate) fn asset(name: &str) -> Option<(&'static str, Content)> {
    let kind = media_type(name)?;
    #[cfg(debug_assertions)]
    if let Some(folder) = std::env::var_os(FOLDER_VARIABLE) {
        let is_part =
            |part: &str| !part.is_empty() && !part.starts_with('.') && !part.contains('\\');
        if !name.split('/').all(is_part) {
            return None;
        }
        let bytes = std::fs::read(std::path::Path::new(&folder).join(name)).ok()?;
        return Some((kind, Content::Read(bytes)));
    }
    let found = ASSETS.iter().find(|(own, _)| *own == name);
    found.map(|(_, bytes)| (kind, Content::Embedded(bytes)))
}

fn media_type(name: &str) -> Option<&'static str> {
    let (_, extension) = name.rsplit_once('.')?;
    Some(match extension {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" => "application/json",
        "webmanifest" => "application/manifest+json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" => "image/jpeg",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "txt" => "text/plain; charset=utf-8",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn names_in(folder: &Path, above: &str, names: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{above}{}", entry.file_name().to_str().unwrap());
            if entry.file_type().unwrap().is_dir() {
                names_in(&entry.path(), &format!("{name}/"), names);
            } else {
                names.push(name);
            }
        }
    }

    #[test]
    fn every_file_of_the_page_is_embedded_and_has_a_type() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../src/panel/assets");
        let mut names = Vec::new();
        names_in(&folder, "", &mut names);
        names.retain(|name| media_type(name).is_some());
        names.sort();
        let mut embedded: Vec<&str> = ASSETS.iter().map(|(name, _)| *name).collect();
        embedded.sort_unstable();
        assert_eq!(embedded, names, "the table and the folder differ");
        assert!(asset("../panel/assets.rs").is_none());
    }
}
