//! Messages of any program that speaks OSC to reports, by the mapping in the site file.

use glam::Vec2;
use rosc::{OscMessage, OscType};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::report::{Report, Seen, Spot};

/// Part of an address that stands for the number of a visitor.
const ID: &str = "{id}";
/// Part of an address that stands for any text between two slashes.
const ANY: &str = "*";
/// Largest number of an argument.
const ARGUMENT_MAX: u8 = 31;

/// The messages of a tracker that speaks OSC in its own way. In an address, `{id}` stands for the number of a visitor, and `*` for any
/// part between two slashes. Arguments are counted from 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OscVisitors {
    /// Address of the message about a visitor, for example `/tracker/{id}/position`.
    pub address: String,
    /// Number of the argument with the number of the visitor, counted from 0, if it is not part of the address.
    #[schemars(range(max = 31))]
    pub id: Option<u8>,
    /// Number of the argument with the first coordinate, counted from 0: to the right, unless `scale` says otherwise.
    #[schemars(range(max = 31))]
    pub x: u8,
    /// Number of the argument with the second coordinate, counted from 0: downwards in the picture, unless `scale` says otherwise.
    #[schemars(range(max = 31))]
    pub y: u8,
    /// Number of the argument with the radius of the body, counted from 0. If it is absent, every body has a radius of 0.25 m.
    #[schemars(range(max = 31))]
    pub radius: Option<u8>,
    /// Unit of the coordinates and the radius.
    pub unit: OscUnit,
    /// Place of the coordinates 0, 0 in the picture: `[0.0, 0.0]` is the left upper corner, `[0.5, 0.5]` the middle, `[0.0, 1.0]` the left
    /// lower corner.
    pub origin: [f32; 2],
    /// Factors of the coordinates: `[1.0, -1.0]` if y points upwards, `[0.001, 0.001]` for millimeters. The radius has the first one.
    pub scale: [f32; 2],
    /// Address of the message whose arguments are the numbers of all visitors that are there. If it is absent, a visitor of whom nothing is
    /// said for two seconds is gone.
    pub alive: Option<String>,
    /// Address of the message that a visitor has left: its number is in the address, or the first argument.
    pub leave: Option<String>,
    /// Address of the message whose first argument counts the frames, so that a datagram that comes late is left out.
    pub frame: Option<String>,
}

/// A unit of lengths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OscUnit {
    /// Shares of the width and the height of the picture.
    #[default]
    Picture,
    /// Meters.
    Meters,
}

impl Default for OscVisitors {
    fn default() -> Self {
        Self {
            address: String::new(),
            id: None,
            x: 0,
            y: 1,
            radius: None,
            unit: OscUnit::default(),
            origin: [0.0; 2],
            scale: [1.0; 2],
            alive: None,
            leave: None,
            frame: None,
        }
    }
}

impl OscVisitors {
    /// Returns the problems of the table, each with the key of its value.
    pub(in super::super) fn problems(&self) -> Vec<(&'static str, String)> {
        let mut problems = Vec::new();
        let others = [
            ("alive", &self.alive),
            ("leave", &self.leave),
            ("frame", &self.frame),
        ];
        let others = others
            .into_iter()
            .filter_map(|(key, text)| Some((key, text.as_ref()?)));
        let own = (!self.address.is_empty()).then_some(("address", &self.address));
        for (key, text) in own.into_iter().chain(others) {
            if !text.starts_with('/') || text.len() > 200 || text.matches(ID).count() > 1 {
                let message = "an address of OSC begins with / and has {id} at most once, for example \"/tracker/{id}/position\"";
                problems.push((key, message.to_owned()));
            }
        }
        if own.is_some() && self.address.contains(ID) == self.id.is_some() {
            let message = "the number of a visitor is either part of the address ({id}) or an argument (id = 0)";
            problems.push(("id", message.to_owned()));
        }
        let of_arguments = [Some(self.x), Some(self.y), self.id, self.radius];
        let mut used: Vec<u8> = of_arguments.into_iter().flatten().collect();
        let count = used.len();
        used.sort_unstable();
        used.dedup();
        if used.len() < count || used.last().is_some_and(|last| *last > ARGUMENT_MAX) {
            let message = "x, y, id and radius are different arguments from 0 to 31";
            problems.push(("x", message.to_owned()));
        }
        let is_sane = |value: &f32| value.is_finite() && value.abs() <= 1000.0;
        if !self.origin.iter().all(is_sane) {
            problems.push(("origin", "an origin is two numbers".to_owned()));
        }
        if !self
            .scale
            .iter()
            .all(|value| is_sane(value) && *value != 0.0)
        {
            let message = "a scale is two numbers other than 0";
            problems.push(("scale", message.to_owned()));
        }
        problems
    }

    /// Returns the report of the messages of a datagram.
    ///
    /// # Errors
    /// When no message is one of the mapping, or one does not have the arguments that the mapping names.
    pub(super) fn report_of(&self, messages: &[OscMessage]) -> Result<Report, String> {
        let mut report = Report::default();
        let mut is_known = false;
        let found = |pattern: &Option<String>, message: &OscMessage| {
            let pattern = pattern.as_ref()?;
            number_in(pattern, &message.addr)
        };
        for message in messages {
            let wrong = || {
                format!(
                    "{:.40} without the arguments of remote.osc_visitors",
                    message.addr
                )
            };
            if let Some(in_address) = number_in(&self.address, &message.addr) {
                report.seen.push(self.seen_of(message, in_address)?);
            } else if found(&self.alive, message).is_some() {
                let ids = message.args.iter().map(id_of).collect::<Option<Vec<_>>>();
                report.alive = Some(ids.ok_or_else(wrong)?);
            } else if let Some(in_address) = found(&self.leave, message) {
                let id = in_address.or_else(|| id_of(message.args.first()?));
                report.gone.push(id.ok_or_else(wrong)?);
            } else if found(&self.frame, message).is_some() {
                report.frame = Some(message.args.first().and_then(id_of).ok_or_else(wrong)?);
            } else {
                continue;
            }
            is_known = true;
        }
        match messages.first() {
            Some(message) if !is_known => Err(format!(
                "{:.40} is no address of remote.osc_visitors",
                message.addr
            )),
            _ => Ok(report),
        }
    }

    fn seen_of(&self, message: &OscMessage, in_address: Option<i32>) -> Result<Seen, String> {
        let argument = |index: u8| message.args.get(usize::from(index));
        let number = |index: u8| argument(index).and_then(number_of);
        let numbers = || {
            let id = in_address.or_else(|| argument(self.id?).and_then(id_of))?;
            let at = Vec2::new(number(self.x)?, number(self.y)?) * Vec2::from(self.scale);
            let size = match self.radius {
                Some(radius) => Some(Vec2::splat(2.0 * number(radius)? * self.scale[0].abs())),
                None => None,
            };
            Some((id, at, size))
        };
        let (id, at, size) = numbers().ok_or_else(|| {
            format!(
                "{:.40} without the arguments of remote.osc_visitors",
                message.addr
            )
        })?;
        let spot = |value: Vec2| match self.unit {
            OscUnit::Picture => Spot::of_picture(value),
            OscUnit::Meters => Spot::of_meters(value),
        };
        let origin = Spot::of_picture(Vec2::from(self.origin) - 0.5);
        Seen {
            id,
            at: origin + spot(at),
            shape: size.map(|size| (spot(size), 0.0)),
        }
        .checked()
    }
}

/// Returns the number at `{id}`, `Some(None)` if the pattern has none; `None` if the address is another one.
fn number_in(pattern: &str, address: &str) -> Option<Option<i32>> {
    if pattern.split('/').count() != address.split('/').count() {
        return None;
    }
    let mut number = None;
    for (wanted, part) in pattern.split('/').zip(address.split('/')) {
        match wanted.split_once(ID) {
            Some((before, after)) => {
                let text = part.strip_prefix(before)?.strip_suffix(after)?;
                number = Some(text.parse().ok()?);
            }
            None if wanted == ANY || wanted == part => {}
            None => return None,
        }
    }
    Some(number)
}

/// Some programs send all numbers as floats.
fn id_of(value: &OscType) -> Option<i32> {
    match value {
        OscType::Int(id) => Some(*id),
        OscType::Long(id) => i32::try_from(*id).ok(),
        other => {
            let number = number_of(other)?;
            // Whole numbers of f32 are exact up to here.
            let is_whole = number.fract() == 0.0 && number.abs() < 16_777_216.0;
            is_whole.then_some(number as i32)
        }
    }
}

fn number_of(value: &OscType) -> Option<f32> {
    match value {
        OscType::Float(value) => Some(*value),
        OscType::Double(value) => Some(*value as f32),
        OscType::Int(value) => Some(*value as f32),
        OscType::Long(value) => Some(*value as f32),
        _ => None,
    }
}
