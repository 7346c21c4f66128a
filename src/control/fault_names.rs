//! The names of all faults, for the list of those that are not reported.

/// Names of all faults. A fault that is not listed cannot be named in `alerts.ignore`.
pub const FAULT_NAMES: &[&str] = &[
    "alerts",
    "bright_floor",
    "calibration_projection",
    "calibration_surface",
    "camera.absent",
    "camera.black",
    "camera.damaged_frames",
    "camera.ended",
    "camera.frozen",
    "camera.open_failed",
    "camera.program_died",
    "camera.program_ended",
    "camera.protocol_error",
    "camera.saturated",
    "camera.short_frames",
    "camera.stalled",
    "camera.stream_error",
    "camera.timestamp_jump",
    "camera.unplugged",
    "camera.wrong_size",
    "camera_moved",
    "camera_size",
    "cameras_disagree",
    "computer_busy",
    "counting",
    "dark_floor",
    "desk",
    "hall",
    "log",
    "monitor",
    "panel",
    "panel.audit",
    "panel.connections",
    "panel.sessions",
    "panel.users",
    "picture",
    "picture_by_processor",
    "picture_slow",
    "projectors",
    "recording_failed",
    "recording_late",
    "remote.mqtt",
    "remote.osc",
    "remote.projector_parts",
    "remote.projectors",
    "remote.sacn",
    "remote.webhooks",
    "rolling_bands",
    "second_instance",
    "simulation.not_finite",
    "simulation_late",
    "site_files",
    "site_unsaved",
    "sound",
    "strobing_light",
    "tracker_address",
    "tracker_silent",
    "unreliable_area",
    "unreliable_floor",
];

/// Whether a name stands for a fault: its own name, or all of the name before a point.
pub fn names_fault(name: &str, fault: &str) -> bool {
    let rest = fault.strip_prefix(name);
    rest.is_some_and(|rest| rest.is_empty() || (!name.is_empty() && rest.starts_with('.')))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn collect(folder: &Path, text: &mut String) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, text);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let code = std::fs::read_to_string(&path).unwrap();
                text.push_str(code.split("#[cfg(test)]").next().unwrap_or_default());
            }
        }
    }

    #[test]
    fn every_fault_of_the_code_and_of_the_page_is_listed() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../src");
        let mut code = String::new();
        collect(&root, &mut code);
        let page = std::fs::read_to_string(root.join("panel/assets/messages/en.js")).unwrap();
        let in_code = code.split(".fault(\"").skip(1);
        let in_page = page.split("\n  \"fault.").skip(1);
        let named: Vec<&str> = in_code
            .chain(in_page)
            .filter_map(|rest| rest.split('"').next())
            .collect();
        assert!(named.len() > 50, "{named:?}");
        for name in named {
            assert!(FAULT_NAMES.contains(&name), "{name}");
        }
        assert!(FAULT_NAMES.is_sorted(), "they are listed in this order");
    }

    /// A fixed fault: seven faults had no sentence or no remedy on the panel.
    #[test]
    fn every_fault_has_a_sentence_and_a_remedy_in_each_language() {
        let messages =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../src/panel/assets/messages");
        for language in ["en", "de"] {
            let page = std::fs::read_to_string(messages.join(format!("{language}.js"))).unwrap();
            for (kind, name) in
                (FAULT_NAMES.iter()).flat_map(|name| [("fault", name), ("remedy", name)])
            {
                assert!(
                    page.contains(&format!("\n  \"{kind}.{name}\": \"")),
                    "{language}: {kind}.{name}"
                );
            }
        }
    }
}
