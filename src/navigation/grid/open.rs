//! The open list of a search: cells in buckets of nearly equal keys.

use super::map::Cell;

/// Keys within a bucket differ by less than 2 to the power of this number: about a sixth of the cost of a straight
/// step.
const BUCKET_SHIFT: u32 = 10;
const END_OF_CHAIN: u32 = u32::MAX;
/// Number of buckets that are allocated at first, in 8 kB. It suffices for a path of about 340 cells, longer than any path in the
/// surroundings of an agent, so that a later search with a longer path allocates nothing.
const FIRST_BUCKETS: usize = 2048;
/// Number of entries that are allocated at first: several times the cells at the rim of a search in the surroundings of an agent.
const FIRST_ENTRIES: usize = 1024;

/// A priority queue of cells. Each bucket is a linked list in one shared vector, so that every operation takes constant time.
/// Within a bucket, the cell that was inserted last is removed first.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenList {
    heads: Vec<u32>,
    /// Entries: a cell and the index of the next entry of the same bucket.
    chain: Vec<(Cell, u32)>,
    free_head: u32,
    lowest: usize,
    highest: usize,
}

impl OpenList {
    /// Removes all cells but keeps the allocated memory.
    pub(super) fn clear(&mut self) {
        let end = (self.highest + 1).min(self.heads.len());
        self.heads[..end].fill(END_OF_CHAIN);
        self.chain.clear();
        self.free_head = END_OF_CHAIN;
        self.lowest = usize::MAX;
        self.highest = 0;
    }

    /// Inserts a cell.
    #[inline]
    pub(super) fn push(&mut self, key: u32, cell: Cell) {
        let bucket = (key >> BUCKET_SHIFT) as usize;
        if bucket >= self.heads.len() {
            let buckets = (bucket + 1).next_power_of_two().max(FIRST_BUCKETS);
            self.heads.resize(buckets, END_OF_CHAIN);
            self.chain
                .reserve_exact(FIRST_ENTRIES.saturating_sub(self.chain.len()));
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

    /// Removes one of the cells with the smallest keys and returns (lower bound of all keys in the list, cell). Returns
    /// `None` if the list is empty.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<(u32, Cell)> {
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

    /// Calls `visit` for every cell in the list.
    pub(super) fn for_each(&self, mut visit: impl FnMut(Cell)) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_list_returns_its_cells_in_order(
            steps in prop::collection::vec(prop::option::weighted(0.7, 0u32..400_000), 0..400),
        ) {
            let mut list = OpenList::default();
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
                list.for_each(|_| seen += 1);
                prop_assert_eq!(seen, inside.len());
            }
        }
    }
}
