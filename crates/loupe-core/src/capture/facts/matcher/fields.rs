//! The fields of data: a key below a key, whatever record it is in.

use std::borrow::Cow;
use std::hash::BuildHasher;

use foldhash::{HashMap, HashMapExt};

use super::super::labels::Field;
use crate::json::{Node, decode_string};

/// The field above all others.
pub(super) const NO_FIELD: u32 = 0;
/// Three keys are enough to tell fields apart, and a bound.
const KEYS: usize = 3;

/// The field around one, and a member that has its key, by its tape index minus the root's: a result may have as many
/// fields as values.
#[derive(Clone, Copy)]
struct Known {
    around: u32,
    member: u32,
}

/// Every field met.
pub(super) struct Fields<'t> {
    root: Node<'t>,
    known: Vec<Known>,
    by_key: HashMap<(u32, u64), u32>,
}

impl<'t> Fields<'t> {
    pub(super) fn new(root: Node<'t>) -> Self {
        Self {
            root,
            known: vec![Known {
                around: NO_FIELD,
                member: 0,
            }],
            by_key: HashMap::new(),
        }
    }

    /// The field of a member, whose key is spelled so, below another field.
    pub(super) fn of(&mut self, around: u32, member: Node<'t>, spelling: &[u8]) -> u32 {
        // Keys themselves would take more than the fields. Two of one hash are fields of their own.
        let hash = |key: &[u8]| (around, self.by_key.hasher().hash_one(key));
        let known = self
            .by_key
            .get(&hash(spelling))
            .filter(|known| self.spelling(**known) == Some(spelling));
        if let Some(&known) = known {
            return known;
        }
        let key = decode_string(spelling);
        let hashed = hash(key.as_bytes());
        if let Some(&known) = self.by_key.get(&hashed)
            && self.key(known) == key
        {
            return known;
        }
        let next = u32::try_from(self.known.len()).unwrap_or(u32::MAX);
        // A tape has no more than [`crate::json::MAX_NODES`].
        let member = u32::try_from(member.index() - self.root.index()).unwrap_or(u32::MAX);
        self.known.push(Known { around, member });
        self.by_key.insert(hashed, next);
        next
    }

    pub(super) fn key(&self, field: u32) -> Cow<'t, str> {
        self.spelling(field).map(decode_string).unwrap_or_default()
    }

    fn spelling(&self, field: u32) -> Option<&'t [u8]> {
        let member = self.known[field as usize].member as usize;
        self.root
            .doc()
            .node(self.root.index() + member)
            .filter(|_| field != NO_FIELD)?
            .raw_key()
    }

    /// The field as labels are compared with it.
    pub(super) fn named(&self, field: u32) -> Field {
        let around = |field: &u32| Some(self.known[*field as usize].around);
        let way = std::iter::successors(Some(field), around)
            .take_while(|field| *field != NO_FIELD)
            .take(KEYS);
        Field::of(way.map(|field| self.key(field)))
    }
}
