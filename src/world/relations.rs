//! Names and relations as integer masks, so that no step of the simulation compares strings.
//!
//! Every name that an agent may bear (species, group, individual) has one bit. A relation of a type is the mask of the
//! names that it goes to: one agent is in it to another when mask and the other's bits meet. Never to oneself.

use std::collections::BTreeMap;

use super::RelationParams;

/// The name that every shadow bears as its species.
pub const VISITOR_SPECIES: &str = "visitor";

/// The relation that an individual adds by itself, to those it has investigated.
const KNOWN_RELATION: &str = "known";

/// The bit that those bear, in the eyes of that individual, to whom it has added the relation [`KNOWN_RELATION`].
pub(crate) const KNOWN_BIT: u64 = 1 << NameTable::MAX;

/// All names that agents bear or relations go to; a name's bit is its place in the list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NameTable(Vec<String>);

impl NameTable {
    /// Most names that one pool can tell apart: one bit is left for [`KNOWN_BIT`].
    pub const MAX: usize = 63;

    /// The bit of a name that was added before.
    pub fn find(&self, name: &str) -> Option<u64> {
        let place = self.0.iter().position(|n| n == name)?;
        Some(1 << place)
    }

    /// The bit of a name, which is added where it is new; `None` when there are too many.
    pub fn intern(&mut self, name: &str) -> Option<u64> {
        let place = self.0.iter().position(|n| n == name).or_else(|| {
            (self.0.len() < Self::MAX).then(|| {
                self.0.push(name.to_owned());
                self.0.len() - 1
            })
        })?;
        Some(1 << place)
    }
}

/// The relations of one species, resolved to masks of names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Relations {
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
    /// Names that any relation goes to.
    pub any: u64,
}

impl Relations {
    /// Resolves the names of a `[relations]` table; `None` when there are too many names.
    pub fn resolve(params: &RelationParams, names: &mut NameTable) -> Option<Self> {
        let mut masks = BTreeMap::new();
        for (kind, to) in params {
            let mut mask = 0;
            for name in to {
                mask |= names.intern(name)?;
            }
            masks.insert(kind.clone(), mask);
        }
        let of = |kind: &str| masks.get(kind).copied().unwrap_or(0);
        Some(Self {
            enemy: of("enemy"),
            friend: of("friend"),
            prey: of("prey"),
            food: of("food"),
            mother: of("mother"),
            child: of("child"),
            partner: of("partner"),
            any: masks.values().fold(0, |all, mask| all | mask),
            masks,
        })
    }

    /// The names that relations of any of these types go to.
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
    fn relations_go_to_species_groups_and_individuals() {
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
        // Nobody is known from the start, but who comes to be known is meant.
        assert_eq!(relations.mask(&[KNOWN_RELATION.into()]), KNOWN_BIT);
        assert_eq!((relations.any | shark | moby) & KNOWN_BIT, 0);
    }

    #[test]
    fn too_many_names_are_refused() {
        let mut names = NameTable::default();
        for i in 0..NameTable::MAX {
            assert!(names.intern(&i.to_string()).is_some());
        }
        assert_eq!(names.intern("one more"), None);
        assert_eq!(names.intern("3"), Some(8));
    }
}
