//! Numbers of places that are taken, altogether and for each key, such as an address or a user. Must not: know what a place is for.

use std::collections::HashMap;
use std::hash::Hash;

/// The numbers.
#[derive(Debug)]
pub(crate) struct Tally<K> {
    all: usize,
    by_key: HashMap<K, usize>,
}

impl<K> Default for Tally<K> {
    fn default() -> Self {
        Self {
            all: 0,
            by_key: HashMap::new(),
        }
    }
}

impl<K: Clone + Eq + Hash> Tally<K> {
    /// Number of all places that are taken.
    pub(crate) fn all(&self) -> usize {
        self.all
    }

    /// Whether each of these keys has fewer places than `most` says.
    pub(crate) fn has_room(&self, keys: &[K], most: impl Fn(&K) -> usize) -> bool {
        keys.iter()
            .all(|key| self.by_key.get(key).is_none_or(|own| *own < most(key)))
    }

    /// Takes a place that counts for all of these keys.
    pub(crate) fn take(&mut self, keys: &[K]) {
        self.all += 1;
        for key in keys {
            *self.by_key.entry(key.clone()).or_default() += 1;
        }
    }

    /// Gives a place back.
    pub(crate) fn give_back(&mut self, keys: &[K]) {
        self.all -= 1;
        for key in keys {
            if let Some(own) = self.by_key.get_mut(key) {
                *own -= 1;
                if *own == 0 {
                    self.by_key.remove(key);
                }
            }
        }
    }

    /// Whether nothing is kept for any key.
    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.all == 0 && self.by_key.is_empty()
    }
}
