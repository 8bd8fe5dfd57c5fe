'use strict';
/* The reference page's forms: one key for the page, and a real request from each endpoint. Answers are shown as text,
   whatever is in them; nothing is ever read as markup. */

(() => {
  const KEY = 'evenkeel.key';
  const SHOWN = ['X-Request-Id', 'ETag', 'RateLimit', 'RateLimit-Policy', 'Retry-After', 'Content-Encoding'];
  const LONGEST_COLOURED = 400000;
  const keyForm = document.getElementById('key-form');
  const keyField = document.getElementById('api-key');
  const keyNote = document.getElementById('key-note');
  const forms = [...document.querySelectorAll('form[data-path]')];
  const plainNote = keyNote.textContent;
  /* The form whose link led to the key, to go back to. */
  let waiting = null;

  function element(name, text, className) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  }

  /* Storage may be switched off; the field itself then keeps the key while the page is open. */
  function stored(change) {
    try {
      return change(sessionStorage);
    } catch {
      return null;
    }
  }

  const key = () => keyField.value.trim();

  function keyChanged() {
    const value = key();
    stored((it) => (value ? it.setItem(KEY, value) : it.removeItem(KEY)));
    const whole = /^eka?_[0-9A-Za-z]{38,}$/.test(value);
    keyNote.textContent = !value || whole ? plainNote : 'A whole key is ek_ and 38 letters and digits. This one is not.';
    for (const form of forms) form.querySelector('.need').hidden = Boolean(value);
  }

  keyForm.addEventListener('input', keyChanged);
  keyForm.addEventListener('reset', () => setTimeout(keyChanged));
  keyForm.addEventListener('submit', (event) => {
    event.preventDefault();
    if (!waiting) return;
    const button = waiting.querySelector('button[type=submit]');
    button.scrollIntoView({ block: 'center' });
    button.focus({ preventScroll: true });
    waiting = null;
  });

  /* The path and query that a form stands for; parameters that are left out are not sent. */
  function target(form) {
    let path = form.dataset.path;
    const query = [];
    for (const field of form.querySelectorAll('[data-place]:not([data-place=body])')) {
      const value = encodeURIComponent(field.value.trim()).replace(/'/g, '%27');
      if (field.dataset.place === 'path') {
        if (value) path = path.replace(`{${field.name}}`, value);
      } else if (value) {
        query.push(`${field.name}=${value}`);
      }
    }
    return path + (query.length ? `?${query.join('&')}` : '');
  }

  /* What is sent with a change; nothing where the form has no body. */
  const bodyOf = (form) => form.querySelector('[data-place=body]')?.value.trim() || undefined;

  function curl(form) {
    const body = bodyOf(form);
    const plain = form.dataset.method === (body ? 'POST' : 'GET');
    const method = plain ? '' : ` -X ${form.dataset.method}`;
    const line = `curl${method} '${form.dataset.base}${target(form)}' \\\n  -H "Authorization: Bearer $EVENKEEL_KEY"`;
    if (!body) return line;
    return `${line} \\\n  -H 'Content-Type: application/json' \\\n  -d '${body.replace(/'/g, "'\\''")}'`;
  }

  /* Lays JSON out without reading it into numbers first, so that every figure stands as it was sent. */
  function layOut(text, into) {
    const token = /"(?:[^"\\]|\\.)*"|[-+.\w]+|[{}[\],:]/g;
    let depth = 0;
    let plain = '';
    const flush = () => {
      into.append(plain);
      plain = '';
    };
    const line = () => `\n${'  '.repeat(depth)}`;
    const tokens = text.match(token) || [];
    tokens.forEach((it, index) => {
      const next = tokens[index + 1];
      if (it === '{' || it === '[') {
        plain += it;
        if (next === '}' || next === ']') return;
        depth += 1;
        plain += line();
      } else if (it === '}' || it === ']') {
        const before = tokens[index - 1];
        if (before !== '{' && before !== '[') {
          depth -= 1;
          plain += line();
        }
        plain += it;
      } else if (it === ',') {
        plain += it + line();
      } else if (it === ':') {
        plain += ': ';
      } else if (next === ':') {
        plain += it;
      } else {
        flush();
        into.append(element('span', it, it[0] === '"' ? 's' : 'n'));
      }
    });
    flush();
  }

  /* Ids that were seen are offered where an id is asked for. */
  function offerIds(value) {
    if (Array.isArray(value)) {
      value.forEach(offerIds);
    } else if (value && typeof value === 'object') {
      if (typeof value.id === 'string') offerId(value.id, value.name);
      Object.values(value).forEach(offerIds);
    }
  }

  function offerId(id, name) {
    for (const list of document.querySelectorAll('datalist[data-prefix]')) {
      const known = [...list.options].some((it) => it.value === id);
      if (!known && id.startsWith(list.dataset.prefix) && list.options.length < 100) {
        const option = element('option', typeof name === 'string' ? name : '');
        option.value = id;
        list.append(option);
      }
    }
  }

  function parsed(text) {
    try {
      return JSON.parse(text);
    } catch {
      return null;
    }
  }

  function show(form, response, text, milliseconds) {
    const panel = form.parentElement;
    const reply = panel.querySelector('.reply');
    const outcome = panel.querySelector('.outcome');
    const body = parsed(text);
    const size = new TextEncoder().encode(text).length;
    outcome.replaceChildren(
      element('strong', `${response.status} ${response.statusText}`.trim(), response.ok ? 'good' : 'bad'),
      ` in ${milliseconds} ms, ${size.toLocaleString('en')} bytes`,
    );
    const code = body?.error?.code;
    if (/^[A-Z_]+$/.test(code)) {
      const link = element('a', 'How to fix it');
      link.href = `/docs/errors/${code.toLowerCase().replace(/_/g, '-')}`;
      outcome.append('. ', link);
    }
    const heads = reply.querySelector('.heads');
    heads.replaceChildren();
    for (const name of SHOWN) {
      const value = response.headers.get(name);
      if (value === null) continue;
      const pair = element('div');
      pair.append(element('dt', name), element('dd', value));
      heads.append(pair);
    }
    const shown = reply.querySelector('code');
    shown.replaceChildren();
    if (body !== null && text.length <= LONGEST_COLOURED) layOut(text, shown);
    else shown.textContent = text;
    reply.querySelector('pre').scrollTop = 0;
    const cursor = body?.pagination?.next_cursor ?? body?.cursor;
    const next = reply.querySelector('.next');
    next.hidden = typeof cursor !== 'string' || !form.elements.cursor;
    next.onclick = () => {
      form.elements.cursor.value = cursor;
      form.requestSubmit();
    };
    reply.hidden = false;
    if (response.ok) offerIds(body?.data);
  }

  async function send(form) {
    const outcome = form.parentElement.querySelector('.outcome');
    const button = form.querySelector('button[type=submit]');
    const headers = { Accept: 'application/json' };
    if (key()) headers.Authorization = `Bearer ${key()}`;
    const body = bodyOf(form);
    if (body) headers['Content-Type'] = 'application/json';
    button.disabled = true;
    /* A word about waiting only when there is some. */
    const patience = setTimeout(() => outcome.replaceChildren('Waiting for the response'), 200);
    const began = performance.now();
    try {
      const response = await fetch(`/v1${target(form)}`, {
        method: form.dataset.method,
        headers,
        body,
        cache: 'no-store',
        credentials: 'omit',
        referrerPolicy: 'no-referrer',
      });
      const text = await response.text();
      clearTimeout(patience);
      show(form, response, text, Math.round(performance.now() - began));
    } catch {
      form.parentElement.querySelector('.reply').hidden = true;
      outcome.replaceChildren('No response. Check that the server is running and that the key is correct.');
    } finally {
      clearTimeout(patience);
      button.disabled = false;
    }
  }

  for (const form of forms) {
    const line = document.getElementById(`curl-${form.dataset.id}`);
    const example = line.textContent;
    const refresh = () => {
      const missing = [...form.querySelectorAll('[data-place=path]')].some((it) => !it.value.trim());
      line.textContent = missing ? example : curl(form);
    };
    form.addEventListener('input', refresh);
    form.addEventListener('reset', () => setTimeout(refresh));
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      refresh();
      send(form);
    });
    form.querySelector('.need').addEventListener('click', (event) => {
      event.preventDefault();
      waiting = form;
      keyForm.scrollIntoView({ block: 'center' });
      keyField.focus({ preventScroll: true });
    });
    for (const button of form.querySelectorAll('button')) button.disabled = false;
  }

  for (const control of keyForm.elements) control.disabled = false;
  keyField.value = stored((it) => it.getItem(KEY)) || '';
  keyChanged();

  /* On a phone the contents lie over the page, and have done their work once something is chosen. */
  const contents = document.getElementById('contents');
  contents.addEventListener('click', (event) => {
    if (event.target.closest('a') && contents.matches(':popover-open')) contents.hidePopover();
  });

  /* The entry of what is being read is marked. */
  const entries = new Map([...contents.querySelectorAll('a')].map((it) => [it.hash.slice(1), it]));
  const headings = [...entries.keys()].map((it) => document.getElementById(it)).filter(Boolean);
  let marked = null;
  function mark() {
    const line = innerHeight / 3;
    let reading = headings[0];
    for (const heading of headings) if (heading.getBoundingClientRect().top <= line) reading = heading;
    if (!reading) return;
    const entry = entries.get(reading.id);
    if (entry === marked) return;
    marked?.removeAttribute('aria-current');
    marked = entry;
    entry.setAttribute('aria-current', 'true');
    if (!contents.matches(':hover')) entry.scrollIntoView({ block: 'nearest' });
  }
  let asked = false;
  addEventListener(
    'scroll',
    () => {
      if (asked) return;
      asked = true;
      requestAnimationFrame(() => {
        asked = false;
        mark();
      });
    },
    { passive: true },
  );
  mark();
})();
