//! Open lists of a search: cells by their key, the least first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::map::Cell;

/// Which open list a search uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OpenKind {
    /// Buckets of nearly equal keys: constant time, order within a bucket is last in, first out.
    #[default]
    Bucket,
    /// A binary heap.
    Heap,
    /// The 75 least keys sorted, the others not. **Source**: 001 section 3.5.4 and figure 15.
    CheapList,
}

/// Cells by key.
pub(super) trait OpenList {
    /// Forgets all cells, keeps the memory.
    fn clear(&mut self);
    /// Takes a cell in.
    fn push(&mut self, key: u32, cell: Cell);
    /// The cell with the least key and a number that no key in the list is less than.
    fn pop(&mut self) -> Option<(u32, Cell)>;
    /// Calls for every cell in the list.
    fn for_each(&self, see: &mut dyn FnMut(Cell));
}

/// Keys in one bucket differ by less than this: about a sixth of a straight step.
const BUCKET_SHIFT: u32 = 10;
const NONE: u32 = u32::MAX;

/// Buckets of keys, each a chain through a common store.
#[derive(Clone, Debug, Default)]
pub(super) struct Buckets {
    heads: Vec<u32>,
    /// Cell and the next in the chain.
    chain: Vec<(Cell, u32)>,
    vacant: u32,
    lowest: usize,
    highest: usize,
}

impl OpenList for Buckets {
    fn clear(&mut self) {
        let end = (self.highest + 1).min(self.heads.len());
        self.heads[..end].fill(NONE);
        self.chain.clear();
        self.vacant = NONE;
        self.lowest = usize::MAX;
        self.highest = 0;
    }

    #[inline]
    fn push(&mut self, key: u32, cell: Cell) {
        let bucket = (key >> BUCKET_SHIFT) as usize;
        if bucket >= self.heads.len() {
            self.heads.resize((bucket + 1).next_power_of_two(), NONE);
        }
        let entry = (cell, self.heads[bucket]);
        self.heads[bucket] = if self.vacant == NONE {
            self.chain.push(entry);
            self.chain.len() as u32 - 1
        } else {
            let place = self.vacant;
            self.vacant = self.chain[place as usize].1;
            self.chain[place as usize] = entry;
            place
        };
        self.lowest = self.lowest.min(bucket);
        self.highest = self.highest.max(bucket);
    }

    #[inline]
    fn pop(&mut self) -> Option<(u32, Cell)> {
        while self.lowest <= self.highest {
            let head = *self.heads.get(self.lowest)?;
            if head == NONE {
                self.lowest += 1;
                continue;
            }
            let (cell, next) = self.chain[head as usize];
            self.heads[self.lowest] = next;
            self.chain[head as usize].1 = self.vacant;
            self.vacant = head;
            return Some(((self.lowest as u32) << BUCKET_SHIFT, cell));
        }
        None
    }

    fn for_each(&self, see: &mut dyn FnMut(Cell)) {
        for &head in self.heads.iter().take(self.highest + 1) {
            let mut at = head;
            while at != NONE {
                let (cell, next) = self.chain[at as usize];
                see(cell);
                at = next;
            }
        }
    }
}

/// A binary heap.
#[derive(Clone, Debug, Default)]
pub(super) struct Heap {
    entries: BinaryHeap<Reverse<(u32, Cell)>>,
}

impl OpenList for Heap {
    fn clear(&mut self) {
        self.entries.clear();
    }

    fn push(&mut self, key: u32, cell: Cell) {
        self.entries.push(Reverse((key, cell)));
    }

    fn pop(&mut self) -> Option<(u32, Cell)> {
        self.entries.pop().map(|Reverse(entry)| entry)
    }

    fn for_each(&self, see: &mut dyn FnMut(Cell)) {
        self.entries
            .iter()
            .for_each(|Reverse((_, cell))| see(*cell));
    }
}

/// Length of the sorted list. **Source**: 001 figure 15.
const CHEAP: usize = 75;

/// A short sorted list, the least key last, and an unsorted one of what is dearer than all of it.
#[derive(Clone, Debug, Default)]
pub(super) struct CheapList {
    cheap: Vec<(u32, Cell)>,
    dear: Vec<(u32, Cell)>,
}

impl OpenList for CheapList {
    fn clear(&mut self) {
        self.cheap.clear();
        self.dear.clear();
    }

    fn push(&mut self, key: u32, cell: Cell) {
        let entry = (key, cell);
        let is_dear = match self.cheap.first() {
            Some(&dearest) => entry >= dearest,
            None => !self.dear.is_empty(),
        };
        if is_dear && (self.cheap.len() >= CHEAP || !self.dear.is_empty()) {
            self.dear.push(entry);
            return;
        }
        let place = self.cheap.partition_point(|&other| other > entry);
        self.cheap.insert(place, entry);
        if self.cheap.len() > CHEAP {
            self.dear.push(self.cheap.remove(0));
        }
    }

    fn pop(&mut self) -> Option<(u32, Cell)> {
        if self.cheap.is_empty() && !self.dear.is_empty() {
            let take = CHEAP.min(self.dear.len());
            if take < self.dear.len() {
                self.dear.select_nth_unstable(take - 1);
            }
            self.cheap.extend(self.dear.drain(..take));
            self.cheap.sort_unstable_by(|a, b| b.cmp(a));
        }
        self.cheap.pop()
    }

    fn for_each(&self, see: &mut dyn FnMut(Cell)) {
        let all = self.cheap.iter().chain(&self.dear);
        all.for_each(|&(_, cell)| see(cell));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_lists_give_back_what_they_took_in_order(
            steps in prop::collection::vec(prop::option::weighted(0.7, 0u32..400_000), 0..400),
        ) {
            let (mut buckets, mut heap, mut cheap) = (Buckets::default(), Heap::default(), CheapList::default());
            for list in [&mut buckets as &mut dyn OpenList, &mut heap, &mut cheap] {
                for _ in 0..2 {
                    list.clear();
                    let mut inside: Vec<u32> = Vec::new();
                    for step in &steps {
                        match step {
                            Some(key) => {
                                inside.push(*key);
                                list.push(*key, *key);
                            }
                            None => {
                                let least = inside.iter().copied().min();
                                let popped = list.pop();
                                prop_assert_eq!(popped.is_some(), least.is_some());
                                if let (Some((bound, key)), Some(least)) = (popped, least) {
                                    prop_assert!(bound <= least);
                                    prop_assert!(key >> BUCKET_SHIFT == least >> BUCKET_SHIFT);
                                    let place = inside.iter().position(|&k| k == key);
                                    prop_assert!(place.is_some());
                                    inside.swap_remove(place.unwrap());
                                }
                            }
                        }
                    }
                    let mut seen = 0;
                    list.for_each(&mut |_| seen += 1);
                    prop_assert_eq!(seen, inside.len());
                }
            }
        }
    }
}
