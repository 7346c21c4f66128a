//! Names and relations as bit sets, so that a tick compares no strings.
//!
//! Every name of an agent (species, group, individual) has one bit. A relation of one type is a bit set of names. An agent has
//! the relation to another agent if at least one name of the other agent is in this set. An agent never has a relation to
//! itself.

use std::collections::BTreeMap;

use super::RelationParams;

/// Species name of all visitors.
pub const VISITOR_SPECIES: &str = "visitor";

/// Name of the relation that an individual gets at run time to an agent that it has investigated.
const KNOWN_RELATION: &str = "known";

/// Bit for known agents. If an individual has the relation [`KNOWN_RELATION`] to an agent, its perception adds this bit to the
/// agent's names.
pub(crate) const KNOWN_BIT: u64 = 1 << NameTable::MAX;

/// All names of agents and relations. The bit of a name is its index in this table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NameTable(Vec<String>);

impl NameTable {
    /// Maximum number of names in one pool: 64 bits, one of them reserved for `KNOWN_BIT`.
    pub const MAX: usize = 63;

    /// Returns the bit of a name; `None` if the name is not in the table.
    pub fn find(&self, name: &str) -> Option<u64> {
        let index = self.0.iter().position(|n| n == name)?;
        Some(1 << index)
    }

    /// Returns the bit of a name. Adds the name if it is new; returns `None` if the table is full.
    pub fn intern(&mut self, name: &str) -> Option<u64> {
        let index = self.0.iter().position(|n| n == name).or_else(|| {
            (self.0.len() < Self::MAX).then(|| {
                self.0.push(name.to_owned());
                self.0.len() - 1
            })
        })?;
        Some(1 << index)
    }
}

/// The relations of one species or individual, as bit sets of names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Relations {
    /// Bit set of names for each relation type.
    masks: BTreeMap<String, u64>,
    /// Names of enemies.
    pub enemy: u64,
    /// Names of friends.
    pub friend: u64,
    /// Names of prey.
    pub prey: u64,
    /// Names of food.
    pub food: u64,
    /// Names of mothers.
    pub mother: u64,
    /// Names of children.
    pub child: u64,
    /// Names of partners.
    pub partner: u64,
    /// Names in at least one relation.
    pub any: u64,
}

impl Relations {
    /// Compiles a `[relations]` table; `None` if there are too many names.
    pub fn resolve(params: &RelationParams, names: &mut NameTable) -> Option<Self> {
        let mut masks = BTreeMap::new();
        for (kind, to) in params {
            let mut mask = 0;
            for name in to {
                mask |= names.intern(name)?;
            }
            masks.insert(kind.clone(), mask);
        }
        Some(Self::of(masks))
    }

    fn of(masks: BTreeMap<String, u64>) -> Self {
        let of = |kind: &str| masks.get(kind).copied().unwrap_or(0);
        Self {
            enemy: of("enemy"),
            friend: of("friend"),
            prey: of("prey"),
            food: of("food"),
            mother: of("mother"),
            child: of("child"),
            partner: of("partner"),
            any: masks.values().fold(0, |all, mask| all | mask),
            masks,
        }
    }

    /// Adds names to a relation, or takes them away.
    pub fn set(&mut self, kind: &str, names: u64, is_on: bool) {
        let mut masks = std::mem::take(&mut self.masks);
        let mask = masks.entry(kind.to_owned()).or_default();
        match is_on {
            true => *mask |= names,
            false => *mask &= !names,
        }
        *self = Self::of(masks);
    }

    /// Returns all names that appear in relations of these types.
    pub fn mask(&self, kinds: &[String]) -> u64 {
        kinds.iter().fold(0, |all, kind| {
            let added = if kind == KNOWN_RELATION { KNOWN_BIT } else { 0 };
            all | added | self.masks.get(kind).copied().unwrap_or(0)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relations_can_name_species_groups_and_individuals() {
        let mut names = NameTable::default();
        let shark = names.intern("shark").unwrap() | names.intern("hunters").unwrap();
        let moby = names.intern("whale").unwrap() | names.intern("moby").unwrap();
        let params = RelationParams::from([
            ("enemy".into(), vec!["hunters".into(), "moby".into()]),
            ("teacher".into(), vec!["shark".into()]),
        ]);
        let relations = Relations::resolve(&params, &mut names).unwrap();
        assert_ne!(relations.enemy & shark, 0);
        assert_ne!(relations.enemy & moby, 0);
        assert_eq!(relations.prey, 0);
        assert_ne!(
            relations.mask(&["teacher".into(), "nobody".into()]) & shark,
            0
        );
        assert_eq!(relations.mask(&["teacher".into()]) & moby, 0);
        // The relation `known` has no names in the table, but its mask always contains the bit for known agents.
        assert_eq!(relations.mask(&[KNOWN_RELATION.into()]), KNOWN_BIT);
        assert_eq!((relations.any | shark | moby) & KNOWN_BIT, 0);
    }

    #[test]
    fn too_many_names_are_rejected() {
        let mut names = NameTable::default();
        for i in 0..NameTable::MAX {
            assert!(names.intern(&i.to_string()).is_some());
        }
        assert_eq!(names.intern("one more"), None);
        assert_eq!(names.intern("3"), Some(8));
    }
}
