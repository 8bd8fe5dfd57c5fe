//! Reading charts: the keyboard, the mouse and a finger show the values of the table beside each chart.

use e2e::input::{Place, key};
use e2e::{Browser, Program, viewport};
use serde_json::{Value, json};

/// The rows of the table beside the first chart, as the texts of their cells.
const ROWS: &str = "
return [...document.querySelectorAll('figure.chart')[0].querySelectorAll('tbody tr')]
    .map(row => [...row.cells].map(cell => cell.textContent.trim()));
";

/// The value that the first chart shows, and nothing if it is not visible.
const SHOWN: &str = "
const shown = document.querySelectorAll('figure.chart')[0].querySelector('output');
return shown.checkVisibility({ visibilityProperty: true, opacityProperty: true }) ? shown.innerText : '';
";

/// Scrolls the first chart into view, and returns the place of a row in its plot, which is where the line is, or the bars.
/// Rows are equally far apart. Both edges themselves are outside of the plot.
const PLOT: &str = "
const figure = document.querySelectorAll('figure.chart')[0];
figure.querySelector('svg').scrollIntoView({ block: 'center' });
const line = figure.querySelector('polyline.track');
const bars = [...figure.querySelectorAll('rect.stave')];
const boxes = (line ? [line] : bars).map(it => it.getBoundingClientRect());
const svg = figure.querySelector('svg').getBoundingClientRect();
const left = Math.min(...boxes.map(it => it.left)) + 1;
const right = Math.max(...boxes.map(it => it.right)) - 1;
return [left + (right - left) * arguments[0] / arguments[1], svg.top + svg.height / 2].map(Math.round);
";

/// Labels of charts that touch one another or stick out of their picture, and charts with too few or too many labels along
/// time. A chart of few values has a label for each. The last value is how many charts there are.
const LABELS: &str = "
const charts = [...document.querySelectorAll('.chart')].filter(it => it.querySelector('svg text'));
const faults = charts.flatMap(chart => {
    const edge = chart.querySelector('svg').getBoundingClientRect();
    const labels = [...chart.querySelectorAll('svg text')].filter(it => it.textContent.trim())
        .map(it => [it.textContent.trim(), it.getBoundingClientRect()]);
    const outside = labels.filter(([, it]) => it.left < edge.left - 1 || it.right > edge.right + 1
        || it.top < edge.top - 1 || it.bottom > edge.bottom + 1).map(([name]) => `${name} sticks out`);
    const touching = labels.flatMap(([name, a], index) => labels.slice(index + 1)
        .filter(([, b]) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
        .map(([other]) => `${name} and ${other} overlap`));
    const times = chart.querySelectorAll('svg text.time').length;
    const least = Math.min(4, chart.querySelectorAll('tbody tr').length);
    const count = times && (times < least || times > 7) ? [`${times} labels along time`] : [];
    const name = chart.querySelector('figcaption .hush')?.textContent;
    return [...outside, ...touching, ...count].map(it => `${name}: ${it}`);
});
return [...faults, String(charts.length)];
";

/// The first link from a list to one of its things.
const FIRST: &str = "
return [...document.querySelectorAll('main a[href]')].map(it => it.pathname)
    .find(it => it.startsWith(arguments[0] + '/') && /[0-9]/.test(it));
";

/// Opens every kind of chart in the narrowest viewport and on a desk.
fn labels_keep_apart(browser: &Browser) {
    let mut pages: Vec<String> =
        ["1m", "6m", "1y", "all"].map(|it| format!("/?range={it}")).to_vec();
    pages.extend(
        ["/spending", "/income", "/investments?range=1m", "/investments"].map(str::to_owned),
    );
    for list in ["/accounts", "/goals", "/recurring"] {
        browser.go(list);
        let first = browser.script(FIRST, json!([list]));
        pages.push(first.as_str().unwrap_or_else(|| panic!("{list} has no links")).to_owned());
    }
    let (mut faults, mut charts) = (Vec::new(), 0);
    for viewport in [viewport::NARROWEST, viewport::PHONE, viewport::DESKTOP] {
        browser.set_viewport(viewport);
        for page in &pages {
            browser.go(page);
            let found = browser.script(LABELS, json!([]));
            let mut found: Vec<&str> =
                found.as_array().unwrap().iter().filter_map(Value::as_str).collect();
            charts += found.pop().and_then(|it| it.parse::<usize>().ok()).unwrap();
            faults.extend(found.iter().map(|it| format!("{} {page}: {it}", viewport.name)));
        }
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
    assert!(charts >= 3 * 8, "only {charts} charts");
}

/// The first chart of a page, with the table beside it.
struct Chart<'a> {
    browser: &'a Browser,
    name: &'static str,
    rows: Vec<Vec<String>>,
}

impl Chart<'_> {
    #[track_caller]
    fn open<'a>(browser: &'a Browser, path: &str, name: &'static str) -> Chart<'a> {
        browser.go(path);
        let text = |it: &Value| it.as_str().unwrap().to_owned();
        let cells = |it: &Value| it.as_array().unwrap().iter().map(text).collect::<Vec<_>>();
        let rows = browser.script(ROWS, json!([]));
        let rows: Vec<_> = rows.as_array().unwrap().iter().map(cells).collect();
        assert!(rows.len() > 10, "{path}: {rows:?}");
        Chart { browser, name, rows }
    }

    fn last(&self) -> usize {
        self.rows.len() - 1
    }

    #[track_caller]
    fn shown(&self) -> String {
        self.browser.script(SHOWN, json!([])).as_str().unwrap().to_owned()
    }

    /// Checks that the chart shows the values of a row, and of no other day.
    #[track_caller]
    fn shows_row(&self, index: usize) {
        let (shown, row) = (self.shown(), &self.rows[index]);
        assert!(shown.starts_with(&format!("{}: ", row[0])), "{shown:?} is not row {row:?}");
        for cell in &row[1..] {
            assert!(shown.contains(cell.as_str()), "{shown:?} has no {cell:?}");
        }
    }

    #[track_caller]
    fn place(&self, row: usize) -> Place {
        let found = self.browser.script(PLOT, json!([row, self.last()]));
        Place { x: found[0].as_i64().unwrap(), y: found[1].as_i64().unwrap() }
    }

    #[track_caller]
    fn read_by_keyboard(&self) {
        let browser = self.browser;
        assert_eq!(self.shown(), "", "nothing is read yet");
        browser.focus_by_keyboard(&format!("{}. Use the arrow keys to read values.", self.name));
        self.shows_row(self.last());
        browser.keys(key::LEFT);
        self.shows_row(self.last() - 1);
        browser.keys(key::LEFT);
        browser.keys(key::LEFT);
        browser.keys(key::RIGHT);
        self.shows_row(self.last() - 2);
        browser.keys(key::HOME);
        self.shows_row(0);
        // There is nothing before the first value.
        browser.keys(key::LEFT);
        self.shows_row(0);
        browser.keys(key::END);
        self.shows_row(self.last());
        browser.keys(key::TAB);
        assert_eq!(self.shown(), "", "the focus has left the chart");
    }

    #[track_caller]
    fn read_by_mouse(&self) {
        for row in [0, self.last() / 2, self.last()] {
            self.browser.hover(self.place(row));
            self.shows_row(row);
        }
        let corner = Place { x: 5, y: 5 };
        self.browser.hover(corner);
        assert_eq!(self.shown(), "", "the mouse has left the chart");
    }

    #[track_caller]
    fn read_by_finger(&self) {
        for row in [self.last(), self.last() / 2, 0] {
            self.browser.tap(self.place(row));
            // The finger is lifted, and the value is still shown.
            self.shows_row(row);
        }
    }
}

/// The large amount of the card with the chart.
fn headline(browser: &Browser) -> String {
    let text = "return document.querySelector('section.card:has(figure.chart) p.big').innerText";
    browser.script(text, json!([])).as_str().unwrap().to_owned()
}

#[test]
fn charts_are_read_by_keyboard_mouse_and_finger() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.sign_in(&program);
    // The shortest range has a point for each day, so the points are equally far apart.
    let charts = [("/?range=1m", "Net worth over time"), ("/spending", "Spending by month")];
    for (path, name) in charts {
        browser.set_viewport(viewport::DESKTOP);
        let chart = Chart::open(&browser, path, name);
        assert_eq!(
            chart.rows[chart.last()][1],
            headline(&browser),
            "{path}: the last value is today's"
        );
        chart.read_by_keyboard();
        chart.read_by_mouse();
        browser.set_viewport(viewport::PHONE);
        Chart::open(&browser, path, name).read_by_finger();
    }
    labels_keep_apart(&browser);
    browser.assert_clean();
}
