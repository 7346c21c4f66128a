//! Open lists of a search: priority queues of cells, ordered by smallest key.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::map::Cell;

/// Data structure of the open list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OpenListKind {
    /// Buckets of nearly equal keys. Every operation takes constant time. Within a bucket, the cell that was inserted
    /// last is removed first.
    #[default]
    Bucket,
    /// A binary heap.
    Heap,
    /// A sorted list of the 75 smallest keys and an unsorted list of the others. **Source**: Dahlberg & Viktorsson
    /// 2002, §3.5.4 and figure 15.
    CheapList,
}

/// A priority queue of cells.
pub(super) trait OpenList {
    /// Removes all cells but keeps the allocated memory.
    fn clear(&mut self);
    /// Inserts a cell.
    fn push(&mut self, key: u32, cell: Cell);
    /// Removes the cell with the smallest key (with buckets: one of the smallest) and returns (lower bound of all keys
    /// in the list, cell). Returns `None` if the list is empty.
    fn pop(&mut self) -> Option<(u32, Cell)>;
    /// Calls `visit` for every cell in the list.
    fn for_each(&self, visit: &mut dyn FnMut(Cell));
}

/// Keys within a bucket differ by less than 2 to the power of this number: about a sixth of the cost of a straight
/// step.
const BUCKET_SHIFT: u32 = 10;
const END_OF_CHAIN: u32 = u32::MAX;
/// Number of buckets that are allocated at first, in 8 kB. It suffices for a path of about 340 cells, longer than any path in the
/// surroundings of an agent, so that a later search with a longer path allocates nothing.
const FIRST_BUCKETS: usize = 2048;
/// Number of entries that are allocated at first: several times the cells at the rim of a search in the surroundings of an agent.
const FIRST_ENTRIES: usize = 1024;

/// Buckets of keys. Each bucket is a linked list in one shared vector.
#[derive(Clone, Debug, Default)]
pub(super) struct Buckets {
    heads: Vec<u32>,
    /// Entries: a cell and the index of the next entry of the same bucket.
    chain: Vec<(Cell, u32)>,
    free_head: u32,
    lowest: usize,
    highest: usize,
}

impl Buckets {
    /// Numbers of buckets and of entries that fit into the allocated memory.
    pub(super) fn size(&self) -> [usize; 2] {
        [self.heads.len(), self.chain.capacity()]
    }

    /// Allocates memory for these numbers of buckets and entries.
    pub(super) fn reserve(&mut self, [heads, entries]: [usize; 2]) {
        if self.heads.len() < heads {
            self.heads.resize(heads, END_OF_CHAIN);
        }
        self.chain
            .reserve_exact(entries.saturating_sub(self.chain.len()));
    }
}

impl OpenList for Buckets {
    fn clear(&mut self) {
        let end = (self.highest + 1).min(self.heads.len());
        self.heads[..end].fill(END_OF_CHAIN);
        self.chain.clear();
        self.free_head = END_OF_CHAIN;
        self.lowest = usize::MAX;
        self.highest = 0;
    }

    #[inline]
    fn push(&mut self, key: u32, cell: Cell) {
        let bucket = (key >> BUCKET_SHIFT) as usize;
        if bucket >= self.heads.len() {
            let buckets = (bucket + 1).next_power_of_two().max(FIRST_BUCKETS);
            self.reserve([buckets, FIRST_ENTRIES]);
        }
        let entry = (cell, self.heads[bucket]);
        self.heads[bucket] = if self.free_head == END_OF_CHAIN {
            self.chain.push(entry);
            self.chain.len() as u32 - 1
        } else {
            let index = self.free_head;
            self.free_head = self.chain[index as usize].1;
            self.chain[index as usize] = entry;
            index
        };
        self.lowest = self.lowest.min(bucket);
        self.highest = self.highest.max(bucket);
    }

    #[inline]
    fn pop(&mut self) -> Option<(u32, Cell)> {
        while self.lowest <= self.highest {
            let head = *self.heads.get(self.lowest)?;
            if head == END_OF_CHAIN {
                self.lowest += 1;
                continue;
            }
            let (cell, next) = self.chain[head as usize];
            self.heads[self.lowest] = next;
            self.chain[head as usize].1 = self.free_head;
            self.free_head = head;
            return Some(((self.lowest as u32) << BUCKET_SHIFT, cell));
        }
        None
    }

    fn for_each(&self, visit: &mut dyn FnMut(Cell)) {
        for &head in self.heads.iter().take(self.highest + 1) {
            let mut at = head;
            while at != END_OF_CHAIN {
                let (cell, next) = self.chain[at as usize];
                visit(cell);
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

    fn for_each(&self, visit: &mut dyn FnMut(Cell)) {
        self.entries
            .iter()
            .for_each(|Reverse((_, cell))| visit(*cell));
    }
}

/// Length of the sorted list. **Source**: Dahlberg & Viktorsson 2002, figure 15.
const CHEAP_LEN: usize = 75;

/// A short sorted list whose last entry has the smallest key, and an unsorted list of all larger keys.
#[derive(Clone, Debug, Default)]
pub(super) struct CheapList {
    cheap: Vec<(u32, Cell)>,
    expensive: Vec<(u32, Cell)>,
}

impl OpenList for CheapList {
    fn clear(&mut self) {
        self.cheap.clear();
        self.expensive.clear();
    }

    fn push(&mut self, key: u32, cell: Cell) {
        let entry = (key, cell);
        let is_expensive = match self.cheap.first() {
            Some(&most_expensive) => entry >= most_expensive,
            None => !self.expensive.is_empty(),
        };
        if is_expensive && (self.cheap.len() >= CHEAP_LEN || !self.expensive.is_empty()) {
            self.expensive.push(entry);
            return;
        }
        let index = self.cheap.partition_point(|&other| other > entry);
        self.cheap.insert(index, entry);
        if self.cheap.len() > CHEAP_LEN {
            self.expensive.push(self.cheap.remove(0));
        }
    }

    fn pop(&mut self) -> Option<(u32, Cell)> {
        if self.cheap.is_empty() && !self.expensive.is_empty() {
            let take = CHEAP_LEN.min(self.expensive.len());
            if take < self.expensive.len() {
                self.expensive.select_nth_unstable(take - 1);
            }
            self.cheap.extend(self.expensive.drain(..take));
            self.cheap.sort_unstable_by(|a, b| b.cmp(a));
        }
        self.cheap.pop()
    }

    fn for_each(&self, visit: &mut dyn FnMut(Cell)) {
        let all = self.cheap.iter().chain(&self.expensive);
        all.for_each(|&(_, cell)| visit(cell));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_lists_return_their_cells_in_order(
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
                                    let index = inside.iter().position(|&k| k == key);
                                    prop_assert!(index.is_some());
                                    inside.swap_remove(index.unwrap());
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
