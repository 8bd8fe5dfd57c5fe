// Audits the open page and returns its accessibility problems, one sentence each.
// Names of controls are not checked here, but through the browser's accessibility tree, which is more reliable.
const [{ phone, width }] = arguments;
const found = [];
const style = it => getComputedStyle(it);
const every = selector => [...document.querySelectorAll(selector)];
const plain = text => (text ?? "").replace(/\s+/g, " ").trim();
const visible = it =>
    it.checkVisibility({ visibilityProperty: true }) && it.getClientRects().length > 0;

// Describes an element well enough to find it in the source.
const at = it => {
    const name = it.tagName.toLowerCase() + (it.id ? "#" + it.id : "");
    const kind = [...it.classList].map(one => "." + one).join("");
    const parent = it.id || !it.parentElement ? "" : it.parentElement.tagName.toLowerCase() + " > ";
    const text = plain(it.textContent).slice(0, 40);
    return parent + name + kind + (text ? ` "${text}"` : "");
};
const report = (rule, it, what) => found.push(`${rule}: ${it ? at(it) + ": " : ""}${what}`);

// Parses a color with a canvas, which understands every notation.
const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
const known = new Map();
const color = text => {
    if (!known.has(text)) {
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = text;
        canvas.fillRect(0, 0, 1, 1);
        const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
        known.set(text, [r, g, b, a / 255]);
    }
    return known.get(text);
};
const over = ([r, g, b, a], below) =>
    [r, g, b].map((part, index) => part * a + below[index] * (1 - a)).concat(1);
const luminance = parts => {
    const [r, g, b] = parts.slice(0, 3).map(part => part / 255)
        .map(part => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const ratio = (one, other) => {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
};

// Remembers the result for each element, because large pages ask for the same ancestors thousands of times.
const remembered = compute => {
    const results = new Map();
    return it => {
        if (!results.has(it)) results.set(it, compute(it));
        return results.get(it);
    };
};

// The background color behind the content of an element; null over a picture.
const behind = remembered(it => {
    if (!it) return [255, 255, 255, 1];
    if (style(it).backgroundImage !== "none") return null;
    const layer = color(style(it).backgroundColor);
    if (layer[3] === 1) return layer;
    const below = behind(it.parentElement);
    return below && over(layer, below);
});
const opacity = remembered(it => (it ? Number(style(it).opacity) * opacity(it.parentElement) : 1));
const shown = parts => "rgb(" + parts.slice(0, 3).map(Math.round).join(" ") + ")";

const checkText = (it, written, what) => {
    const below = behind(it);
    if (!below) return;
    const [r, g, b, a] = color(written);
    const ink = over([r, g, b, a * opacity(it)], below);
    const size = parseFloat(style(it).fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style(it).fontWeight) >= 700);
    const least = large ? 3 : 4.5;
    const has = ratio(ink, below);
    if (has < least) {
        const message = `${shown(ink)} on ${shown(below)} is ${has.toFixed(2)}:1, not ${least}:1`;
        report("contrast", it, what + message);
    }
};

const contrast = () => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const checked = new Set();
    while (walker.nextNode()) {
        const it = walker.currentNode.parentElement;
        const idle = it.closest("script, style, noscript, template, option, title, [disabled]");
        if (checked.has(it) || idle || !plain(walker.currentNode.data) || !visible(it)) continue;
        checked.add(it);
        const { width, height } = it.getBoundingClientRect();
        // Visible only to screen readers.
        if (width <= 1 || height <= 1) continue;
        checkText(it, it instanceof SVGElement ? style(it).fill : style(it).color, "");
    }
    for (const it of every("input:not([type=hidden]), select, textarea")) {
        if (!visible(it) || it.disabled) continue;
        checkText(it, style(it).color, "what is typed ");
        if (it.placeholder) {
            checkText(it, getComputedStyle(it, "::placeholder").color, "the placeholder ");
        }
    }
};

// A field must be recognizable, by its border or by a different background.
const edges = () => {
    const typed = "input:not([type=hidden], [type=checkbox], [type=radio], [type=submit], " +
        "[type=file], [type=range]), select, textarea";
    for (const it of every(typed)) {
        const outside = behind(it.parentElement);
        const inside = behind(it);
        if (!visible(it) || it.disabled || !outside || !inside) continue;
        const edge = over(color(style(it).borderBottomColor), outside);
        const seen = parseFloat(style(it).borderBottomWidth) > 0 ? ratio(edge, outside) : 1;
        const best = Math.max(seen, ratio(inside, outside));
        if (best < 3) report("edge", it, `its edge is ${best.toFixed(2)}:1 against the page, not 3:1`);
    }
};

const frame = () => {
    const viewport = document.querySelector("meta[name=viewport]")?.content ?? "";
    if (!document.documentElement.lang) report("language", null, "html has no lang");
    if (!plain(document.title)) report("title", null, "the page has no title");
    if (/user-scalable\s*=\s*no|maximum-scale/.test(viewport)) report("zoom", null, viewport);
    if (document.querySelector("meta[http-equiv=refresh]")) report("refresh", null, "it reloads itself");
    every("audio[autoplay], video[autoplay]").forEach(it => report("sound", it, "plays by itself"));
    const mains = every("main, [role=main]").filter(visible);
    if (mains.length !== 1) report("main", null, `${mains.length} main landmarks`);
    const navs = every("nav, [role=navigation]").filter(visible);
    const names = navs.map(it => it.getAttribute("aria-label") ??
        document.getElementById(it.getAttribute("aria-labelledby"))?.textContent);
    if (navs.length > 1) {
        navs.filter((_, index) => !plain(names[index])).forEach(it => report("nav", it, "has no name"));
        if (new Set(names).size < names.length) report("nav", null, `two have one name: ${names}`);
    }
};

const headings = () => {
    const all = every("h1, h2, h3, h4, h5, h6").filter(visible);
    const level = it => Number(it.tagName[1]);
    const first = all.filter(it => level(it) === 1);
    if (first.length !== 1) report("headings", null, `${first.length} headings of the first level`);
    all.forEach((it, index) => {
        const before = index ? level(all[index - 1]) : 0;
        if (index && level(it) > before + 1) report("headings", it, `follows a level ${before}`);
        if (!plain(it.textContent)) report("headings", it, "is empty");
    });
};

const references = () => {
    const ids = every("[id]").map(it => it.id);
    new Set(ids.filter((id, index) => ids.indexOf(id) !== index))
        .forEach(id => report("ids", null, `${id} exists more than once`));
    const there = new Set(ids);
    const kinds = ["labelledby", "describedby", "controls", "owns", "activedescendant", "details",
        "errormessage"].map(it => "aria-" + it).concat("for", "form", "list", "headers",
        "popovertarget", "commandfor");
    for (const kind of kinds) {
        for (const it of every(`[${kind}]`)) {
            plain(it.getAttribute(kind)).split(" ").filter(id => !there.has(id))
                .forEach(id => report("references", it, `${kind} names ${id}, which does not exist`));
        }
    }
    for (const it of every("a[href^='#']")) {
        const id = decodeURIComponent(it.hash.slice(1));
        if (id && !there.has(id)) report("references", it, `leads to #${id}, which does not exist`);
    }
};

const roles = () => {
    const attributes = new Set(("activedescendant atomic autocomplete busy checked colcount " +
        "colindex colspan controls current describedby description details disabled errormessage " +
        "expanded flowto haspopup hidden invalid keyshortcuts label labelledby level live modal " +
        "multiline multiselectable orientation owns placeholder posinset pressed readonly required " +
        "roledescription rowcount rowindex rowspan selected setsize sort valuemax valuemin " +
        "valuenow valuetext").split(" "));
    const words = new Set(("alert alertdialog application article banner button cell checkbox " +
        "columnheader combobox complementary contentinfo definition dialog document feed figure " +
        "form grid gridcell group heading img list listbox listitem log main math menu menubar " +
        "menuitem meter navigation none note option presentation progressbar radio radiogroup " +
        "region row rowgroup rowheader search searchbox separator slider spinbutton status switch " +
        "tab table tablist tabpanel term textbox timer toolbar tooltip tree treeitem " +
        "graphics-document graphics-object graphics-symbol").split(" "));
    for (const it of every("*")) {
        for (const { name } of it.attributes) {
            if (name.startsWith("aria-") && !attributes.has(name.slice(5))) {
                report("aria", it, `${name} is no attribute`);
            }
        }
        const role = it.getAttribute("role");
        if (role !== null && !words.has(role)) report("aria", it, `${role} is no role`);
    }
    for (const it of every("svg")) {
        const named = it.getAttribute("role") && (it.getAttribute("aria-label") ||
            it.getAttribute("aria-labelledby") || it.querySelector("title"));
        if (visible(it) && !it.closest("[aria-hidden=true]") && !named) {
            report("picture", it, "has no name and is not hidden from screen readers");
        }
    }
};

// Words of adjacent elements without a gap are read as one word, also by screen readers.
const touching = () => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const ends = (node, first) => {
        const range = document.createRange();
        const at = first ? 0 : node.data.length - 1;
        range.setStart(node, at);
        range.setEnd(node, at + 1);
        return range.getBoundingClientRect();
    };
    const block = it => (style(it).display.startsWith("inline") ? block(it.parentElement) : it);
    let before = null;
    while (walker.nextNode()) {
        const node = walker.currentNode;
        const inside = node.parentElement;
        if (!node.data || inside.closest("svg, script, pre, code") || !visible(inside)) continue;
        const words = before && /[\p{L}\p{N}%]$/u.test(before.data) &&
            /^[\p{L}\p{N}]/u.test(node.data);
        const apart = words && before.parentElement !== inside;
        if (apart && block(before.parentElement) === block(inside)) {
            const [left, right] = [ends(before, false), ends(node, true)];
            const level = left.bottom > right.top && right.bottom > left.top;
            const gap = right.left - left.right;
            if (level && gap > -1 && gap < 2) {
                report("touching", inside, `follows "${plain(before.data).slice(-20)}" without a gap`);
            }
        }
        before = node;
    }
};

const reach = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex]";
const reachable = () => every(reach)
    .filter(it => visible(it) && !it.disabled && it.tabIndex >= 0);

const structure = () => {
    every("[tabindex]").filter(it => it.tabIndex > 0).forEach(it => report("order", it, "tabindex"));
    for (const it of every("table:not([role=presentation])")) {
        if (visible(it) && !it.querySelector("th")) report("table", it, "has no headers");
    }
    every("th").filter(it => visible(it) && !plain(it.textContent) && !it.ariaLabel)
        .forEach(it => report("table", it, "an empty header"));
    for (const it of every("ul, ol")) {
        const other = [...it.children].find(one => !["LI", "TEMPLATE"].includes(one.tagName));
        if (other && !it.hasAttribute("role")) report("list", other, "is in a list, but no entry");
    }
    every("li").filter(it => !it.parentElement.matches("ul, ol, menu, [role=list]"))
        .forEach(it => report("list", it, "is an entry of no list"));
    every("dt, dd").filter(it => !it.closest("dl")).forEach(it => report("list", it, "is outside a dl"));
    every("[aria-hidden=true]").filter(it => [it, ...it.querySelectorAll(reach)]
        .some(one => one.matches(reach) && one.tabIndex >= 0 && visible(one)))
        .forEach(it => report("hidden", it, "is hidden from screen readers, but takes the focus"));
    every("a[href], button, summary").forEach(it => {
        const inner = it.querySelector("a[href], button, input, select, textarea, [tabindex]");
        if (inner) report("nested", inner, "is a control inside " + at(it));
    });
    const choices = every("input[type=radio]").filter(visible);
    choices.filter(it => !it.closest("fieldset")?.querySelector("legend") &&
        !it.closest("[role=radiogroup]")).forEach(it => report("choice", it, "is in no named group"));
    every("input[type=email], input[type=password]").filter(it => visible(it) && !it.autocomplete)
        .forEach(it => report("autocomplete", it, "has no autocomplete attribute"));
};

// A link within text must differ from it by more than its color.
const links = () => {
    for (const it of every("p a[href], li a[href], dd a[href], td a[href]")) {
        const around = it.closest("p, li, dd, td");
        const among = [...around.childNodes].some(one =>
            one.nodeType === Node.TEXT_NODE && plain(one.data).length > 2);
        const lined = style(it).textDecorationLine !== "none" ||
            parseFloat(style(it).borderBottomWidth) > 0 ||
            style(it).fontWeight !== style(around).fontWeight ||
            style(it).display !== "inline";
        if (visible(it) && among && !lined) report("link", it, "only its color shows that it is a link");
    }
};

// The width is passed in and not read, because a phone widens its window to a page that is too wide.
const scrolling = () => {
    const page = document.scrollingElement;
    if (page.scrollWidth > width) {
        const wide = every("body *").filter(visible)
            .filter(it => it.getBoundingClientRect().right > width + 1)
            .filter(it => style(it).position !== "fixed").slice(0, 3).map(at);
        report("width", null, `${page.scrollWidth} px on ${width}: ${wide.join("; ")}`);
    }
    for (const it of every("body *")) {
        const { overflowX, overflowY } = style(it);
        const moves = (/auto|scroll/.test(overflowX) && it.scrollWidth > it.clientWidth + 1) ||
            (/auto|scroll/.test(overflowY) && it.scrollHeight > it.clientHeight + 1);
        if (!moves || !visible(it) || it === page || it === document.body) continue;
        const focusable = it.tabIndex >= 0 || [...it.querySelectorAll(reach)].some(visible);
        if (!focusable) report("scroll", it, "scrolls, but not by the keyboard");
    }
};

// A touch target needs 24 px, or as much distance to the next target. Links within text are exempt.
const targets = () => {
    const middle = remembered(it => {
        const { left, top, width, height } = it.getBoundingClientRect();
        return [left + width / 2, top + height / 2];
    });
    const room = it => (it.labels?.[0] && it.matches("[type=checkbox], [type=radio]") ?
        it.labels[0] : it);
    // What lies over the page, such as a menu or the bar at the bottom, is near something only by chance: the page scrolls
    // below it.
    const layer = remembered(it => (!it || it.popover || style(it).position === "fixed" ?
        it : layer(it.parentElement)));
    const all = reachable().map(room);
    for (const it of new Set(all)) {
        const { width, height } = it.getBoundingClientRect();
        const inline = style(it).display === "inline" && it.closest("p, li, dd, td, h1, h2, h3");
        const small = width < 24 || height < 24;
        if (!small || inline || width <= 1 || it instanceof SVGElement) continue;
        const [x, y] = middle(it);
        const near = all.find(one => Math.hypot(middle(one)[0] - x, middle(one)[1] - y) < 24 &&
            one !== it && !one.contains(it) && !it.contains(one) &&
            layer(one) === layer(it));
        if (near) {
            report("target", it, `${width.toFixed(0)} × ${height.toFixed(0)} px beside ${at(near)}`);
        }
    }
};

// Controls of one kind that are focused: rows of a table have the same controls, and focusing thousands takes minutes.
const OF_A_KIND = 5;

// Keyboard focus must be visible.
const focus = () => {
    const kinds = new Map();
    const kind = it => [it, it.parentElement, it.parentElement?.parentElement].filter(Boolean)
        .map(one => one.tagName + "." + one.className + "." + (one.type ?? "")).join();
    const another = it => {
        const count = (kinds.get(kind(it)) ?? 0) + 1;
        kinds.set(kind(it), count);
        return count <= OF_A_KIND;
    };
    const traits = ["outlineStyle", "outlineWidth", "outlineColor", "boxShadow", "borderColor",
        "backgroundColor", "textDecorationLine", "top", "left", "transform", "clipPath", "opacity",
        "stroke", "strokeWidth", "fill", "r"];
    const where = it => [it, it.parentElement, it.closest("label"), it.nextElementSibling,
        ...it.children].filter(Boolean);
    const looks = it => where(it).map(one => traits.map(trait => style(one)[trait]).join());
    // Clipped to nothing, by itself or by an ancestor.
    const unseen = it => it && it !== document.body && (unseen(it.parentElement) ||
        (it.offsetWidth <= 1 && it.offsetHeight <= 1 && style(it).overflow !== "visible") ||
        /inset\((50|100)%/.test(style(it).clipPath));
    const scrolled = [scrollX, scrollY];
    const before = document.activeElement;
    for (const it of reachable().filter(another)) {
        document.activeElement?.blur();
        const idle = looks(it).join();
        it.focus({ preventScroll: true });
        if (document.activeElement !== it) continue;
        if (unseen(it)) report("focus", it, "takes the focus but is not visible");
        if (looks(it).join() === idle) report("focus", it, "looks the same with the focus");
        const outline = style(it).outlineStyle;
        const below = behind(it.parentElement);
        if (outline === "none" || outline === "auto" || !below) continue;
        const has = ratio(over(color(style(it).outlineColor), below), below);
        if (has < 3) report("focus", it, `its outline is ${has.toFixed(2)}:1 against the page`);
    }
    document.activeElement?.blur();
    before?.focus({ preventScroll: true });
    scrollTo(...scrolled);
};

[frame, headings, references, roles, structure, links, touching, contrast, edges, scrolling,
    focus].forEach(check => check());
if (phone) targets();
return found;
