//! Where the tokens of data go: by column over all records, and by what they are spent on.
//!
//! Of the compact JSON. Every token belongs to the node it begins in, so the parts add up to what the ledger says for
//! `json`.

use std::ops::AddAssign;
use std::sync::Arc;

use crate::queries::columns::Columns;
use crate::queries::query::{Ctx, Query, Stop, Weigh};
use loupe_core::json::Node;
use loupe_core::token::{Encoding, Role, each_token};

/// What tokens are spent on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shares {
    /// Keys where they stand for the first time.
    pub keys: u64,
    /// Keys that a record before has named already.
    pub(crate) repeated_keys: u64,
    /// Brackets, commas, colons and quotes.
    pub punctuation: u64,
    /// White space alone; compact JSON has it inside strings only.
    pub space: u64,
    pub values: u64,
}

impl Shares {
    pub fn total(self) -> u64 {
        self.keys + self.repeated_keys + self.punctuation + self.space + self.values
    }

    /// Each share with the name people see, in the order of a bar.
    pub fn named(self) -> [(&'static str, u64); 5] {
        [
            ("values", self.values),
            ("keys", self.keys),
            ("repeated keys", self.repeated_keys),
            ("punctuation", self.punctuation),
            ("white space", self.space),
        ]
    }
}

impl AddAssign for Shares {
    fn add_assign(&mut self, other: Self) {
        self.keys += other.keys;
        self.repeated_keys += other.repeated_keys;
        self.punctuation += other.punctuation;
        self.space += other.space;
        self.values += other.values;
    }
}

/// The token map of data.
#[derive(Clone, Debug)]
pub struct TokenMap {
    pub encoding: Encoding,
    /// Of the whole: its sum is the row `json`.
    pub total: Shares,
    pub columns: Columns,
    /// By column: what begins in the column's own values, keys and brackets, without the columns inside.
    pub own: Vec<Shares>,
    /// Every column that something begins in itself, the dearest first: their own tokens add up to the whole.
    pub by_cost: Vec<usize>,
}

impl TokenMap {
    /// Counts data.
    pub fn new(root: Node<'_>, encoding: Encoding) -> Self {
        let columns = Columns::of(root);
        let mut is_first = vec![true; columns.columns.len()];
        let repeats: Vec<bool> = columns
            .of_node
            .iter()
            .map(|&column| !std::mem::replace(&mut is_first[column], false))
            .collect();
        let mut own = vec![Shares::default(); columns.columns.len()];
        each_token(root, encoding, |node, role| {
            let shares = &mut own[columns.of_node[node]];
            match role {
                Role::Key if repeats[node] => shares.repeated_keys += 1,
                Role::Key => shares.keys += 1,
                Role::Punctuation => shares.punctuation += 1,
                Role::Space => shares.space += 1,
                Role::Value => shares.values += 1,
            }
        });
        let mut total = Shares::default();
        own.iter().for_each(|shares| total += *shares);
        let mut by_cost: Vec<usize> = (0..own.len())
            .filter(|&column| own[column].total() > 0)
            .collect();
        by_cost.sort_by_key(|&column| (std::cmp::Reverse(own[column].total()), column));
        Self {
            encoding,
            total,
            columns,
            own,
            by_cost,
        }
    }
}

/// Where the data's tokens go, in one of the encodings that are always counted; `None` without data.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TokenMapQuery(pub Encoding);

impl Query for TokenMapQuery {
    type Out = Option<Arc<TokenMap>>;
    const IS_COUNT: bool = true;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        let Some(data) = &cx.subject()?.data else {
            return Ok(None);
        };
        Ok(Some(Arc::new(TokenMap::new(data.root(), self.0))))
    }
}

impl Weigh for TokenMap {
    fn weight(&self) -> usize {
        self.columns.of_node.len() * size_of::<usize>() + self.own.len() * 3 * size_of::<Shares>()
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use loupe_core::json::Doc;
    use loupe_core::token;

    const PAYLOAD: &str = r#"{"items":[{"id":12345,"name":"Acme\n      x","tags":["a","b"],"geo":{"x/y":1.5}},{"id":7,"name":"é \"x\"","tags":[],"geo":{"x/y":-2,"*":null}}],"more":false}"#;

    #[test]
    fn every_part_adds_up_to_the_whole() {
        let doc = Doc::parse(Bytes::from_static(PAYLOAD.as_bytes()));
        for &encoding in Encoding::ALL {
            let map = TokenMap::new(doc.root().unwrap(), encoding);
            let whole = token::count(PAYLOAD).get(encoding);
            assert_eq!(map.total.total(), whole);
            assert_eq!(
                map.own.iter().map(|shares| shares.total()).sum::<u64>(),
                whole
            );
            assert!(map.total.repeated_keys > 0 && map.total.keys > 0 && map.total.punctuation > 0);
        }
    }

    #[test]
    fn columns_have_paths_and_are_found_by_them() {
        let doc = Doc::parse(Bytes::from_static(PAYLOAD.as_bytes()));
        let map = TokenMap::new(doc.root().unwrap(), Encoding::O200kBase);
        let paths: Vec<String> = (0..map.own.len())
            .map(|column| map.columns.path(column))
            .collect();
        assert_eq!(
            paths,
            [
                "",
                "/items",
                "/items/*",
                "/items/*/id",
                "/items/*/name",
                "/items/*/tags",
                "/items/*/tags/*",
                "/items/*/geo",
                "/items/*/geo/x~1y",
                "/items/*/geo/~2",
                "/more"
            ]
        );
        for (column, path) in paths.iter().enumerate() {
            assert_eq!(map.columns.find(path), Some(column));
        }
        assert_eq!(map.columns.find("/items/*/no"), None);
        assert_eq!(map.columns.path(map.by_cost[0]), "/items/*/name");
    }

    #[test]
    fn deep_data_is_mapped() {
        let text = format!("{}1{}", "[".repeat(50_000), "]".repeat(50_000));
        let doc = Doc::parse(Bytes::from(text.clone()));
        let map = TokenMap::new(doc.root().unwrap(), Encoding::O200kBase);
        assert_eq!(map.total.total(), token::count(&text).o200k_base);
    }
}
