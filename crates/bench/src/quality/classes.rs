//! Failures grouped by class, with the first ones of each class as examples.

use std::collections::BTreeMap;

const EXAMPLES_MAX: usize = 3;

#[derive(Debug, Clone, Default)]
pub(super) struct Classes(BTreeMap<String, Class>);

#[derive(Debug, Clone, Default)]
struct Class {
    count: usize,
    examples: Vec<String>,
}

impl Class {
    /// Adds an example unless it is a duplicate.
    fn add_example(&mut self, example: String) {
        if self.examples.len() < EXAMPLES_MAX && !self.examples.contains(&example) {
            self.examples.push(example);
        }
    }
}

impl Classes {
    pub(super) fn count(&mut self, class: String, example: impl FnOnce() -> String) {
        let class = self.0.entry(class).or_default();
        class.count += 1;
        if class.examples.len() < EXAMPLES_MAX {
            class.add_example(example());
        }
    }

    pub(super) fn add(&mut self, other: &Classes) {
        for (name, theirs) in &other.0 {
            let ours = self.0.entry(name.clone()).or_default();
            ours.count += theirs.count;
            theirs.examples.iter().for_each(|it| ours.add_example(it.clone()));
        }
    }

    #[cfg(test)]
    pub(super) fn names(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }

    /// Prints the classes, the most frequent first.
    pub(super) fn print(&self, title: &str, limit: usize) {
        if self.0.is_empty() {
            return;
        }
        let mut classes: Vec<(&String, &Class)> = self.0.iter().collect();
        classes.sort_by(|a, b| (b.1.count, a.0).cmp(&(a.1.count, b.0)));
        println!("  {title}:");
        for (name, class) in classes.iter().take(limit) {
            println!("  {:>6}  {name}", class.count);
            for example in &class.examples {
                println!("            {example}");
            }
        }
        if classes.len() > limit {
            let rest: usize = classes.iter().skip(limit).map(|it| it.1.count).sum();
            println!("  {rest:>6}  in {} more kinds", classes.len() - limit);
        }
    }
}
