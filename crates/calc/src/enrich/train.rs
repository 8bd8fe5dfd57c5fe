//! Trains the model from the tables: an averaged perceptron in whole numbers, so that every machine computes the same
//! bytes.

use super::model::{BUCKETS, CLASSES, Scores, each_bucket};
use super::{brands, keywords, merchants};

const ROUNDS: usize = 5;
/// The share of weights that fit into a byte; the few larger ones are cut off.
const FITTING: (usize, usize) = (999, 1000);

/// A text with its class.
struct Example {
    buckets: Vec<u16>,
    class: usize,
}

/// The content of `data/model.bin`.
pub fn train_model() -> Vec<u8> {
    let mut examples = examples();
    let mut perceptron = Perceptron::new();
    let mut state = 0x5eed;
    for _ in 0..ROUNDS {
        shuffle(&mut examples, &mut state);
        examples.iter().for_each(|it| perceptron.learn(it));
    }
    perceptron.into_bytes()
}

/// The names and keywords of the tables that stand for money out.
fn examples() -> Vec<Example> {
    let mut examples = Vec::new();
    let mut add = |text: &str, primary: &str| {
        let Some(class) = CLASSES.iter().position(|it| *it == primary) else { return };
        let mut buckets = Vec::new();
        each_bucket(text, |it| buckets.extend(u16::try_from(it)));
        examples.push(Example { buckets, class });
    };
    let table = &*merchants::MERCHANTS;
    let mut spellings: Vec<_> = table.spellings.values().collect();
    spellings.sort_unstable_by_key(|it| it.text);
    for spelling in spellings {
        if let Some(category) = table.merchants[spelling.merchant].category(false) {
            add(spelling.text, category.primary());
        }
    }
    for (keyword, phrases) in keywords::sections() {
        let Some(category) = keyword.category.filter(|_| keyword.is_for_outflows()) else {
            continue;
        };
        phrases.iter().for_each(|it| add(it.trim_start_matches('*'), category.primary()));
    }
    for (code, name) in brands::sections() {
        let primary = CLASSES.iter().find(|it| code.starts_with(**it));
        primary.into_iter().for_each(|it| add(name, it));
    }
    examples
}

/// Mixes the examples, always in the same ways, because neighbors in the tables have the same class.
fn shuffle(examples: &mut [Example], state: &mut u64) {
    for last in (1..examples.len()).rev() {
        *state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let chosen = (*state >> 33) % (last as u64 + 1);
        examples.swap(last, usize::try_from(chosen).unwrap_or(0));
    }
}

struct Perceptron {
    weights: Vec<Scores>,
    /// The changes, each times the number of the example after which it was made: what averaging takes off.
    early: Vec<[i64; CLASSES.len()]>,
    seen: i64,
}

impl Perceptron {
    fn new() -> Perceptron {
        let weights = vec![Scores::default(); BUCKETS];
        Perceptron { weights, early: vec![[0; CLASSES.len()]; BUCKETS], seen: 0 }
    }

    fn learn(&mut self, example: &Example) {
        self.seen += 1;
        let mut scores = Scores::default();
        for bucket in &example.buckets {
            let row = &self.weights[usize::from(*bucket)];
            for class in 0..CLASSES.len() {
                scores[class] += row[class];
            }
        }
        // The strongest wrong class; the right one must be ahead of it by a margin that grows with the text.
        let wrong = (0..CLASSES.len()).filter(|it| *it != example.class);
        let Some(rival) = wrong.max_by_key(|it| (scores[*it], *it)) else { return };
        let margin = i32::try_from(example.buckets.len()).unwrap_or(i32::MAX) / 2;
        if scores[example.class] - scores[rival] > margin {
            return;
        }
        for bucket in &example.buckets {
            let (weights, early) =
                (&mut self.weights[usize::from(*bucket)], &mut self.early[usize::from(*bucket)]);
            for (class, change) in [(example.class, 1), (rival, -1)] {
                weights[class] += change;
                early[class] += i64::from(change) * self.seen;
            }
        }
    }

    /// The averages over all steps, scaled to bytes.
    fn into_bytes(self) -> Vec<u8> {
        let pairs = self.weights.iter().flatten().zip(self.early.iter().flatten());
        let averages: Vec<i64> =
            pairs.map(|(weight, early)| i64::from(*weight) * (self.seen + 1) - early).collect();
        let mut sizes: Vec<i64> = averages.iter().map(|it| it.abs()).filter(|it| *it > 0).collect();
        sizes.sort_unstable();
        let largest = sizes.get(sizes.len() * FITTING.0 / FITTING.1).copied().unwrap_or(1);
        let scaled = averages.iter().map(|it| (it * 127 / largest).clamp(-127, 127));
        scaled.map(|it| i8::try_from(it).unwrap_or(0).cast_unsigned()).collect()
    }
}
