//! Lines of PJLink, class 1 and 2, from and to bytes.

use md5::{Digest, Md5};

use crate::control::ProjectorPower;
use crate::runtime::is_hidden;

/// Longest line that is read, in bytes. PJLink allows 136.
pub(super) const LINE_MAX: usize = 256;
/// Longest text of an answer that is shown.
const SHOWN_CHARS: usize = 64;
/// Parts of a projector that report errors, in the order of the digits of an answer.
const PARTS: [&str; 6] = ["fan", "lamp", "temperature", "cover", "filter", "other"];

/// What a projector says when it is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Greeting {
    /// It wants no password.
    Open,
    /// It wants a digest of this text and the password.
    Locked(String),
}

/// Why a projector does not do what it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// `ERR1`: it does not know the command.
    Unknown,
    /// `ERR2`: it does not have this value, for example this input.
    Value,
    /// `ERR3`: not at this time, for example in standby.
    NotNow,
    /// `ERR4`: it is damaged.
    Failure,
    /// `ERRA`: the password is wrong.
    Password,
}

impl Refusal {
    fn of(text: &str) -> Option<Self> {
        match text.to_ascii_uppercase().as_str() {
            "ERR1" => Some(Self::Unknown),
            "ERR2" => Some(Self::Value),
            "ERR3" => Some(Self::NotNow),
            "ERR4" => Some(Self::Failure),
            "ERRA" => Some(Self::Password),
            _ => None,
        }
    }

    /// Returns the reason, for a sentence.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::Unknown => "it does not know the command",
            Self::Value => "it does not have this value",
            Self::NotNow => "it cannot do this now",
            Self::Failure => "it reports a failure",
            Self::Password => "it refuses the password",
        }
    }
}

/// A part that is not well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PartState {
    pub(super) part: &'static str,
    /// False for a warning.
    pub(super) is_error: bool,
}

/// Returns the greeting in a line.
///
/// # Errors
/// When it is no greeting of PJLink, or one that cannot be answered.
pub(super) fn greeting_of(line: &str) -> Result<Greeting, String> {
    let mut words = line.split_ascii_whitespace();
    let is_pjlink = words
        .next()
        .is_some_and(|word| word.eq_ignore_ascii_case("PJLINK"));
    match (is_pjlink, words.next(), words.next()) {
        (true, Some("0"), _) => Ok(Greeting::Open),
        (true, Some("1"), Some(random)) => Ok(Greeting::Locked(random.to_owned())),
        (true, Some("2"), _) => Err(
            "it wants a kind of password that Shoal does not know; choose PJLink class 1 in its menu"
                .to_owned(),
        ),
        (true, Some(word), _) if word.eq_ignore_ascii_case("ERRA") => {
            Err(Refusal::Password.reason().to_owned())
        }
        _ => Err(format!("no projector with PJLink answers there: \"{}\"", shown(line))),
    }
}

/// Returns the digest of a password that stands before the first command.
pub(super) fn digest(random: &str, password: &str) -> String {
    let hash = Md5::new()
        .chain_update(random)
        .chain_update(password)
        .finalize();
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the line of a command of class 1, without a digest.
pub(super) fn request(command: &str, parameter: &str) -> String {
    format!("%1{command} {parameter}\r")
}

/// Returns the value in the answer to a command; `None` if the line answers another command.
///
/// # Errors
/// When the projector refuses.
pub(super) fn answer_to<'a>(command: &str, line: &'a str) -> Option<Result<&'a str, Refusal>> {
    if line.eq_ignore_ascii_case("PJLINK ERRA") {
        return Some(Err(Refusal::Password));
    }
    let (head, value) = line.split_once('=')?;
    let name = head
        .strip_prefix('%')
        .and_then(|rest| rest.get(1..))
        .filter(|name| name.trim_end().eq_ignore_ascii_case(command));
    name?;
    let value = value.trim();
    Some(match Refusal::of(value) {
        Some(refusal) => Err(refusal),
        None => Ok(value),
    })
}

/// Returns the text of a line. A name may be in an older encoding than UTF-8.
pub(super) fn text_of(line: &[u8]) -> String {
    match str::from_utf8(line) {
        Ok(text) => text.to_owned(),
        Err(_) => line.iter().map(|byte| char::from(*byte)).collect(),
    }
}

/// Returns a text of a projector without what could spoil a log or a page.
pub(super) fn shown(text: &str) -> String {
    let clean = text.chars().filter(|c| !is_hidden(*c));
    clean
        .take(SHOWN_CHARS)
        .collect::<String>()
        .trim()
        .to_owned()
}

/// Returns the power in an answer to `POWR`.
pub(super) fn power_of(value: &str) -> ProjectorPower {
    match value {
        "0" => ProjectorPower::Off,
        "1" => ProjectorPower::On,
        "2" => ProjectorPower::Cooling,
        "3" => ProjectorPower::Warming,
        _ => ProjectorPower::Unknown,
    }
}

/// Returns the parts that are not well in an answer to `ERST`.
pub(super) fn parts_of(value: &str) -> Vec<PartState> {
    let digits = value.chars().zip(PARTS);
    let unwell = digits.filter(|(digit, _)| matches!(digit, '1' | '2'));
    unwell
        .map(|(digit, part)| PartState {
            part,
            is_error: digit == '2',
        })
        .collect()
}

/// Returns the hours of the oldest lamp in an answer to `LAMP`: pairs of hours and whether it is lit.
pub(super) fn lamp_hours_of(value: &str) -> Option<u32> {
    let hours = value.split_ascii_whitespace().step_by(2);
    hours.filter_map(|hours| hours.parse().ok()).max()
}
