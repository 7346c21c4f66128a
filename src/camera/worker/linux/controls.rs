//! Sets the controls of a camera by name, and reads them back.
//!
//! The names exposure, gain, white_balance and focus work with all drivers that have such a control. All other names are
//! the driver's own names in lower case with underscores, as `shoal cameras` lists them.

use std::panic::{AssertUnwindSafe, catch_unwind};

use v4l::Device;
use v4l::control::{Control, Description, Flags, MenuItem, Type, Value};

use crate::camera::ControlDescription;
use crate::camera::pipe::AppliedControl;
use crate::camera::worker::CaptureRequest;

/// Common names of controls, each with the ids that drivers use for the control, most usual id first.
///
/// **Source**: linux/v4l2-controls.h.
const COMMON_NAMES: [(&str, &[u32]); 4] = [
    ("exposure", &[0x009a_0902, 0x0098_0911]),
    ("gain", &[0x0098_0913, 0x009e_0903]),
    ("white_balance", &[0x0098_091a]),
    ("focus", &[0x009a_090a]),
];

/// Automatic functions: name, id, and the value that switches the function off.
///
/// **Source**: linux/v4l2-controls.h.
const AUTOMATIC: [(&str, u32, i64); 7] = [
    ("auto_exposure", 0x009a_0901, 1),
    ("exposure_dynamic_framerate", 0x009a_0903, 0),
    ("gain_automatic", 0x0098_0912, 0),
    ("white_balance_automatic", 0x0098_090c, 0),
    ("focus_automatic_continuous", 0x009a_090c, 0),
    ("hue_automatic", 0x0098_0919, 0),
    ("brightness_automatic", 0x0098_0920, 0),
];

/// Switches automatic functions off and sets the requested controls. Returns each control with the value that was read back.
pub(in crate::camera::worker) fn apply(
    device: &Device,
    request: &CaptureRequest,
) -> Vec<AppliedControl> {
    let described = described(device);
    let asked = request.controls.iter().map(|(name, requested)| {
        let id = id_of(device, &described, name);
        (name.clone(), id, *requested)
    });
    let asked: Vec<(String, Option<u32>, i64)> = asked.collect();
    let mut all: Vec<(String, Option<u32>, i64)> = Vec::new();
    if !request.auto_functions {
        for (name, id, off) in AUTOMATIC {
            let by_hand = asked.iter().any(|(_, other, _)| *other == Some(id));
            if !by_hand && value(device, id).is_some() {
                all.push((name.to_owned(), Some(id), off));
            }
        }
    }
    all.extend(asked);
    let reasons: Vec<Option<String>> = all
        .iter()
        .map(|(name, id, requested)| match id {
            Some(id) => set(device, *id, *requested).err(),
            None => Some(format!(
                "the camera has no control '{name}'; it has {}",
                names(device, &described)
            )),
        })
        .collect();
    // Read the values back after all controls are set, because one control may change another.
    let readings = all.into_iter().zip(reasons);
    readings
        .map(|((name, id, requested), reason)| AppliedControl {
            name,
            requested,
            actual: id.and_then(|id| value(device, id)),
            reason,
        })
        .collect()
}

/// Describes all controls with a numeric value.
pub(super) fn describe(device: &Device) -> Vec<ControlDescription> {
    let described = described(device).unwrap_or_default();
    let numbers = described.iter().filter(|d| is_number(d));
    numbers
        .map(|d| ControlDescription {
            name: common_name(device, d.id).unwrap_or_else(|| snake_case(&d.name)),
            min: d.minimum,
            max: d.maximum,
            step: d.step,
            default: d.default,
            value: value(device, d.id),
            inactive: d.flags.contains(Flags::INACTIVE),
            choices: d
                .items
                .iter()
                .flatten()
                .map(|(at, item)| (i64::from(*at), choice(item)))
                .collect(),
        })
        .collect()
}

/// Returns the controls that the driver lists; `None` if the crate cannot read the list. The crate panics on control types that
/// it does not know.
fn described(device: &Device) -> Option<Vec<Description>> {
    catch_unwind(AssertUnwindSafe(|| device.query_controls()))
        .ok()?
        .ok()
}

fn is_number(description: &Description) -> bool {
    let number = matches!(
        description.typ,
        Type::Integer | Type::Integer64 | Type::Boolean | Type::Menu | Type::IntegerMenu
    );
    number
        && !description
            .flags
            .intersects(Flags::DISABLED | Flags::HAS_PAYLOAD | Flags::WRITE_ONLY)
}

fn choice(item: &MenuItem) -> String {
    match item {
        MenuItem::Name(name) => name.clone(),
        MenuItem::Value(value) => value.to_string(),
    }
}

/// Returns the id of a control. `name` is a common name, the name of an automatic function, or the driver's own name.
fn id_of(device: &Device, described: &Option<Vec<Description>>, name: &str) -> Option<u32> {
    let known = COMMON_NAMES.iter().find(|(known, _)| *known == name);
    let id = known.and_then(|(_, ids)| ids.iter().find(|id| value(device, **id).is_some()));
    let automatic = || {
        AUTOMATIC
            .iter()
            .find(|(n, id, _)| *n == name && value(device, *id).is_some())
    };
    let own = || {
        described
            .iter()
            .flatten()
            .find(|d| snake_case(&d.name) == name)
    };
    id.copied()
        .or_else(|| automatic().map(|(_, id, _)| *id))
        .or_else(|| own().map(|d| d.id))
}

/// Returns the common name of a control; `None` if the control has none, or if that name selects another control of this
/// camera.
fn common_name(device: &Device, id: u32) -> Option<String> {
    let (name, _) = COMMON_NAMES
        .iter()
        .find(|(_, ids)| ids.iter().find(|id| value(device, **id).is_some()) == Some(&id))?;
    Some((*name).to_owned())
}

/// Returns the names of all controls with a numeric value, for an error message.
fn names(device: &Device, described: &Option<Vec<Description>>) -> String {
    match described {
        Some(all) => {
            let numbers = all.iter().filter(|d| is_number(d));
            let names: Vec<String> = numbers
                .map(|d| common_name(device, d.id).unwrap_or_else(|| snake_case(&d.name)))
                .collect();
            names.join(", ")
        }
        None => "controls that cannot be listed".to_owned(),
    }
}

/// Converts a name as the tool v4l2-ctl does: "Exposure Time, Absolute" becomes `exposure_time_absolute`.
fn snake_case(name: &str) -> String {
    let words = name
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|w| !w.is_empty());
    let words: Vec<String> = words.map(str::to_ascii_lowercase).collect();
    words.join("_")
}

/// Returns the current value of a control; `None` if it does not exist or cannot be read.
fn value(device: &Device, id: u32) -> Option<i64> {
    let read = catch_unwind(AssertUnwindSafe(|| device.control(id)));
    match read.ok()?.ok()?.value {
        Value::Integer(value) => Some(value),
        Value::Boolean(value) => Some(i64::from(value)),
        _ => None,
    }
}

fn set(device: &Device, id: u32, requested: i64) -> Result<(), String> {
    let value = Value::Integer(requested);
    device
        .set_control(Control { id, value })
        .map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_converted_as_v4l2_ctl_does() {
        assert_eq!(
            snake_case("Exposure Time, Absolute"),
            "exposure_time_absolute"
        );
        assert_eq!(snake_case("Gain, Automatic"), "gain_automatic");
        assert_eq!(snake_case("  U8 Pixel Array "), "u8_pixel_array");
    }
}
