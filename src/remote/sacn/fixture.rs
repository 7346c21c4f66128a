//! Values of channels to everyday commands.

use std::time::{Duration, Instant};

use super::super::params::SacnParams;

/// Number of channels of the fixture.
pub(super) const CHANNELS: usize = 3;
/// Number of values with the same meaning: 0 to 9 mean nothing, 10 to 19 the first entry of the list, and so on.
const BAND: u8 = 10;
/// Time for which a channel has to stay in a band, so that a fader that is moved over it does not switch.
const SETTLE_TIME: Duration = Duration::from_millis(150);
/// The states of the first channel.
const STATES: [&str; 5] = ["open", "attract", "dark", "closed", "plan"];

/// The three channels: state, scene, event.
#[derive(Debug)]
pub(super) struct Fixture {
    channels: [Channel; CHANNELS],
}

#[derive(Debug)]
struct Channel {
    /// First word of the command; empty if the entries are whole commands.
    word: &'static str,
    entries: Vec<String>,
    /// Band of the last value, and since when.
    band: Option<(u8, Instant)>,
    /// Band that was applied last.
    applied: Option<u8>,
}

impl Fixture {
    pub(super) fn new(params: &SacnParams) -> Self {
        let channel = |word: &'static str, entries: Vec<String>| Channel {
            word,
            entries,
            band: None,
            applied: None,
        };
        Self {
            channels: [
                channel("", STATES.map(str::to_owned).to_vec()),
                channel("scene", params.scenes.clone()),
                channel("event", params.events.clone()),
            ],
        }
    }

    /// Takes the values of the channels.
    pub(super) fn set(&mut self, values: [u8; CHANNELS], now: Instant) {
        for (channel, value) in self.channels.iter_mut().zip(values) {
            let band = value / BAND;
            if channel.band.is_none_or(|(old, _)| old != band) {
                channel.band = Some((band, now));
            }
        }
    }

    /// Returns the commands of the channels that have settled in another band, in words.
    pub(super) fn commands(&mut self, now: Instant) -> Vec<Vec<String>> {
        self.channels
            .iter_mut()
            .filter_map(|channel| channel.command(now))
            .collect()
    }
}

impl Channel {
    fn command(&mut self, now: Instant) -> Option<Vec<String>> {
        let (band, since) = self.band?;
        let is_settled = now.saturating_duration_since(since) >= SETTLE_TIME;
        if !is_settled || self.applied == Some(band) {
            return None;
        }
        let is_first = self.applied.replace(band).is_none();
        // A desk that already holds an event when Shoal starts has not called it.
        if is_first && self.word == "event" {
            return None;
        }
        let entry = self.entries.get(usize::from(band).checked_sub(1)?)?;
        let words = [self.word, entry]
            .into_iter()
            .filter(|word| !word.is_empty());
        Some(words.map(str::to_owned).collect())
    }
}
