//! Brands known only by their category, `data/brands.txt`. Their names are not used: the merchants have better ones.

use std::sync::LazyLock;

use base::category::Category;

use super::phrases::WordMap;

pub(super) const TEXT: &str = include_str!("../../../../data/brands.txt");

/// A single word of fewer letters stands only for itself, not for what starts with it.
const SHORTEST_PREFIX: usize = 8;

static BRANDS: LazyLock<WordMap<&'static str, Category>> = LazyLock::new(read);

/// The category of the brand with exactly this key.
pub(super) fn exact(key: &str) -> Option<Category> {
    BRANDS.get(key).copied()
}

/// The category of the longest brand that the key starts with.
pub(super) fn leading(key: &str) -> Option<Category> {
    let shorter = key.rmatch_indices([' ', '-']).map(|(end, _)| &key[..end]);
    shorter.filter(|it| is_distinctive(it)).find_map(exact)
}

fn is_distinctive(name: &str) -> bool {
    name.contains(' ') || name.len() >= SHORTEST_PREFIX
}

/// Each section's category with its names.
pub(super) fn sections() -> impl Iterator<Item = (&'static str, &'static str)> {
    let mut section = "";
    TEXT.lines().flat_map(move |line| {
        let line = line.trim();
        if let Some(code) = line.strip_prefix('[') {
            section = code.trim_end_matches(']');
        }
        let is_names = !line.is_empty() && !line.starts_with(['#', '[']);
        let names = if is_names { line } else { "" };
        names.split(", ").filter(|it| !it.is_empty()).map(move |it| (section, it))
    })
}

fn read() -> WordMap<&'static str, Category> {
    let mut brands = WordMap::default();
    // About the final size.
    brands.reserve(TEXT.len() / 12);
    brands.extend(sections().filter_map(|(code, name)| Some((name, Category::parse(code)?))));
    brands
}
