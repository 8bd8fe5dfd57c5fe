//! The commands of `docs/installing.md`, so that what people are told to type is what is tried.

use anyhow::{Context as _, Result, ensure};

use super::sandbox::HOST;
use crate::dist::{TARGETS, Target, read};
use crate::root;

/// The name of the server in the document's examples.
const EXAMPLE_HOST: &str = "money.example.com";

/// The commands below a heading, up to the next one, for this host name and the packages of this architecture.
pub(super) fn commands(heading: &str, target: &Target) -> Result<String> {
    let document = String::from_utf8(read(&root().join("docs/installing.md"))?)?;
    let commands = below(&document, heading)?;
    let example = &TARGETS[0];
    Ok(commands
        .replace(&format!("HOST={EXAMPLE_HOST}"), &format!("HOST={HOST}"))
        .replace(example.triple, target.triple)
        .replace(&format!("_{}.deb", example.debian), &format!("_{}.deb", target.debian)))
}

/// The indented lines below a heading.
fn below(document: &str, heading: &str) -> Result<String> {
    let mut lines = document.lines();
    lines.find(|it| *it == heading).with_context(|| format!("there is no heading {heading:?}"))?;
    let section = lines.take_while(|it| !it.starts_with('#'));
    let commands: Vec<&str> = section.filter_map(|it| it.strip_prefix("    ")).collect();
    ensure!(!commands.is_empty(), "there are no commands below {heading:?}");
    Ok(commands.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_end_at_the_next_heading() {
        let document = "# A\n\n    one\n\ntext\n\n    two\n      three\n\n## B\n\n    four\n";
        assert_eq!(below(document, "# A").unwrap(), "one\ntwo\n  three");
        assert_eq!(below(document, "## B").unwrap(), "four");
        assert!(below(document, "## C").is_err());
        assert!(below("# A\n\ntext\n", "# A").is_err());
    }
}
