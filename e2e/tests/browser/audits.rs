//! Tests of the accessibility audit itself: it accepts a sound page, and finds each kind of fault.

use e2e::axe::Axe;
use e2e::{Browser, viewport};
use serde_json::json;

const SOUND: &str = r##"<!doctype html>
<html lang="en">
<head>
<title>Sound</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body { background: #fff; color: #222; }
input, select { border: 1px solid #555; background: #fff; color: #222; min-height: 24px; }
p a { color: #00539f; text-decoration: underline; }
.box { width: 200px; overflow: auto; }
.tight a { display: inline-block; font-size: 13px; line-height: 28px; width: 90px; }
:focus-visible { outline: 2px solid #00539f; }
</style>
</head>
<body>
<nav aria-label="Pages"><ul class="tight"><li><a href="#one">One</a></li><li><a href="#two">Two</a></li></ul></nav>
<nav aria-label="More pages"><ul><li>Nothing</li></ul></nav>
<main>
<h1 id="one">Sound</h1>
<h2 id="two">Words</h2>
<p id="words">Some words with <a href="/elsewhere">a link</a> among them.</p>
<svg role="img" aria-label="A line" width="9" height="9"><path d="M0 0h9"/></svg>
<svg aria-hidden="true" width="9" height="9"><path d="M0 0h9"/></svg>
<img alt="A dot" src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">
<table><tr><th scope="col">Day</th></tr><tr><td>Monday</td></tr></table>
<form>
<label for="email">Email</label><input id="email" type="email" autocomplete="username" placeholder="">
<fieldset><legend>How</legend><label><input type="radio" name="how"> So</label></fieldset>
<button type="button" aria-describedby="words">Go on</button>
</form>
<div class="box" tabindex="0" role="region" aria-label="Wide"><pre>a very long line that is wider than its box</pre></div>
<div aria-hidden="true"><span>decoration</span></div>
<p style="position: fixed; left: 8px; top: 24px"><button type="button" style="height: 20px">Over the page</button></p>
</main>
</body>
</html>"##;

/// Faults: the rule that must find it, the text to replace, and the replacement.
const FAULTS: &[(&str, &str, &str)] = &[
    ("language", r#" lang="en""#, ""),
    ("title", "<title>Sound</title>", ""),
    ("zoom", "initial-scale=1", "user-scalable=no"),
    ("refresh", "<title>", r#"<meta http-equiv="refresh" content="999"><title>"#),
    ("sound", "<h1", "<audio autoplay></audio><h1"),
    ("main", "<h1", "<main></main><h1"),
    ("nav", r#"nav aria-label="Pages""#, "nav"),
    ("nav", r#"aria-label="More pages""#, r#"aria-label="Pages""#),
    ("headings", "<h1", "<h1>Another</h1><h1"),
    ("headings", "h2", "h3"),
    ("name", ">Words</h2>", "></h2>"),
    ("ids", r#"id="two""#, r#"id="one""#),
    ("references", r##"href="#two""##, r##"href="#three""##),
    ("references", r#"for="email""#, r#"for="mail""#),
    ("references", r#"aria-describedby="words""#, r#"aria-describedby="nothing""#),
    ("aria", "aria-describedby", "aria-describe"),
    ("aria", r#"role="region""#, r#"role="area""#),
    ("picture", r#"role="img" aria-label="A line""#, ""),
    ("name", r#"alt="A dot""#, ""),
    ("name", ">Go on</button>", "></button>"),
    ("name", "<label for=\"email\">Email</label>", ""),
    ("order", r#"tabindex="0""#, r#"tabindex="1""#),
    ("table", r#"<th scope="col">Day</th>"#, "<td>Day</td>"),
    ("list", "<li>Nothing</li>", "<p>Nothing</p>"),
    ("hidden", "<span>decoration</span>", "<button>decoration</button>"),
    ("nested", ">Go on</button>", r#">Go <a href="/on">on</a></button>"#),
    ("choice", "<legend>How</legend>", ""),
    ("autocomplete", r#"autocomplete="username""#, ""),
    ("link", "text-decoration: underline", "text-decoration: none"),
    ("touching", "Some words with", "<b>10</b><small>left</small>"),
    ("contrast", "p a { color: #00539f", "p a { color: #999"),
    ("contrast", "color: #222; }", "color: #222; opacity: 0.4; }"),
    ("contrast", r#"placeholder="""#, r#"placeholder="you" style="color: #bbb""#),
    ("edge", "border: 1px solid #555", "border: 1px solid #ddd"),
    ("width", ".box { width: 200px; overflow: auto; }", ".box { width: 2000px; }"),
    // A phone widens its window for this page.
    ("width", ".box { width: 200px; overflow: auto; }", ".box { width: 450px; }"),
    ("scroll", r#" tabindex="0""#, r#" tabindex="-1""#),
    ("target", "line-height: 28px; width: 90px", "line-height: 14px; width: 90px"),
    ("focus", ":focus-visible { outline: 2px solid #00539f; }", "* { outline: none; }"),
    ("focus", ".tight a {", ".tight { clip-path: inset(50%); } .tight a {"),
    ("focus", "outline: 2px solid #00539f", "outline: 2px solid #ddd"),
];

fn audit(browser: &Browser, page: &str) -> Vec<String> {
    browser.go("about:blank");
    let write = "document.open(); document.write(arguments[0]); document.close()";
    browser.script(write, json!([page]));
    browser.keys("\u{e004}");
    browser.audit(viewport::PHONE)
}

#[test]
fn a_sound_page_passes_and_every_kind_of_fault_is_found() {
    let browser = Browser::start("about:blank");
    browser.set_viewport(viewport::PHONE);
    assert_eq!(audit(&browser, SOUND), [""; 0]);
    let mut not_found = Vec::new();
    for (rule, from, to) in FAULTS {
        assert!(SOUND.contains(from), "{from} is not in the page");
        let found = audit(&browser, &SOUND.replacen(from, to, 1));
        if !found.iter().any(|it| it.starts_with(&format!("{rule}: "))) {
            not_found.push(format!("{rule}, {from} -> {to}: {found:?}"));
        }
    }
    assert!(not_found.is_empty(), "not found:\n{}", not_found.join("\n"));
}

#[test]
fn axe_core_passes_the_sound_page_and_finds_a_fault() {
    let (browser, axe) = (Browser::start("about:blank"), Axe::installed());
    let write = "document.open(); document.write(arguments[0]); document.close()";
    let violations = |page: &str| {
        browser.go("about:blank");
        browser.script(write, json!([page]));
        axe.violations(&browser)
    };
    assert_eq!(violations(SOUND), [""; 0]);
    let found = violations(&SOUND.replacen("p a { color: #00539f", "p a { color: #999", 1));
    assert!(found.len() == 1 && found[0].starts_with("axe color-contrast: "), "{found:?}");
}

/// The sound page with a style for some screens only.
fn styled(media: &str, style: &str) -> String {
    SOUND.replacen("</style>", &format!("@media {media} {{ {style} }}\n</style>"), 1)
}

/// Pages have each fault on some screens only. axe-core looks at two of them, our own checks at all.
#[test]
fn faults_of_one_width_or_of_one_set_of_colors_are_found() {
    let (browser, axe) = (Browser::start("about:blank"), Axe::installed());
    let write = "document.open(); document.write(arguments[0]); document.close()";
    let problems = |page: &str| {
        browser.go("about:blank");
        browser.script(write, json!([page]));
        browser.problems_with(Some(&axe))
    };
    assert_eq!(problems(SOUND), [""; 0]);
    let (pale, narrow) = ("p a { color: #999; }", "(max-width: 500px)");
    for (media, style, expected) in [
        (
            "(prefers-color-scheme: dark)",
            pale,
            ["(desk-dark, phone-dark): contrast", "(desk-dark): axe color"],
        ),
        (
            "(prefers-color-scheme: light)",
            pale,
            ["(desk-light, phone-light): contrast", "(phone-light): axe color"],
        ),
        (narrow, pale, ["(phone-dark, phone-light): contrast", "(phone-light): axe color"]),
        (
            "(min-width: 501px)",
            pale,
            ["(desk-dark, desk-light): contrast", "(desk-dark): axe color"],
        ),
        (narrow, ".box { width: 450px; }", ["(phone-dark, phone-light): width", "(320 px): width"]),
        ("(max-width: 330px)", ".box { width: 400px; }", ["(320 px): width", ""]),
    ] {
        let found = problems(&styled(media, style)).join("\n");
        assert!(expected.iter().all(|it| found.contains(it)), "{media} {style}: {found}");
    }
    // On a phone that is dark only our own checks see it.
    let found = problems(&styled("(max-width: 500px) and (prefers-color-scheme: dark)", pale));
    assert!(found.len() == 1 && found[0].contains("(phone-dark): contrast"), "{found:?}");
}

#[test]
fn requests_to_other_origins_and_script_errors_are_detected() {
    let browser = Browser::start("http://localhost:1");
    browser.go("about:blank");
    let picture = "document.body.append(Object.assign(new Image(), {src: arguments[0]}))";
    browser.script(picture, json!(["http://127.0.0.1:1/elsewhere.png"]));
    let fail = "setTimeout(() => { throw new Error('a script of ours fails') })";
    browser.script(fail, json!([]));
    let mut seen = String::new();
    e2e::until("both are noticed", || {
        seen.push_str(&browser.logged_problems().join("\n"));
        let elsewhere = seen.contains("another origin: http://127.0.0.1:1/elsewhere.png");
        (elsewhere && seen.contains("a script of ours fails")).then_some(())
    });
}

#[test]
fn with_scripts_disabled_pages_run_none() {
    let browser = Browser::start("about:blank");
    let page = "data:text/html,<title>still</title><script>document.title = 'moved'</script>";
    let title = || browser.script("return document.title", json!([]));
    browser.go(page);
    assert_eq!(title(), "moved");
    browser.without_script();
    browser.go(page);
    assert_eq!(title(), "still");
}
