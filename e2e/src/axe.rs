//! axe-core, the accessibility audit of others, beside our own. `cargo xtask test` installs it with npm.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::Browser;

/// Runs every rule that axe-core has switched on, including its recommendations beyond WCAG. Loading the page's styles and
/// media again takes a fifth of the time, and only a rule about sound that plays by itself needs it: `audit.js` has that
/// one.
const RUN: &str = "
return axe.run({ resultTypes: ['violations'], preload: false, selectors: false }).then(({ violations }) => violations.flatMap(rule =>
    rule.nodes.map(node => `axe ${rule.id}: ${rule.help}: ${node.html.slice(0, 150)}`)));
";

/// The script of axe-core.
pub struct Axe(String);

impl Axe {
    /// Reads the installed script, which is in the target folder of this binary.
    pub fn installed() -> Axe {
        let own = std::env::current_exe().expect("the path of this binary is known");
        let script = Path::new("mcp/node/node_modules/axe-core/axe.min.js");
        let mut found = own.ancestors().map(|it| it.join(script)).filter(|it| it.is_file());
        let found =
            found.next().expect("axe-core is not installed: run `cargo xtask test --only mcp`");
        Axe(fs::read_to_string(found).expect("axe-core can be read"))
    }

    /// The violations of the open page, one sentence each.
    #[track_caller]
    pub fn violations(&self, browser: &Browser) -> Vec<String> {
        if browser.script("return typeof axe === 'undefined'", json!([])) == true {
            browser.script(&self.0, json!([]));
            // The pages after this one get it as they load, which is much cheaper than sending it again.
            browser.before_pages(&self.0);
        }
        match browser.script(RUN, json!([])) {
            Value::Array(found) => {
                found.iter().filter_map(|it| it.as_str().map(str::to_owned)).collect()
            }
            other => panic!("axe-core answered {other}"),
        }
    }
}
