'use strict';
/* Opens a transaction beside the list, which keeps its place. Without scripts, the same links lead to its page. */

(() => {
  const table = document.querySelector('table.ledger');
  const panel = document.getElementById('panel');
  if (!table || !panel) return;
  const content = panel.querySelector('[data-panel]');
  let changed = false;
  /* Whether the panel has an entry in the history, so that the browser's Back closes it. */
  let hasEntry = false;

  /* The list has elements with the same ids. */
  function rename(main) {
    for (const name of ['id', 'for', 'aria-labelledby', 'aria-describedby']) {
      for (const it of main.querySelectorAll(`[${name}]`)) {
        const ids = it.getAttribute(name).split(' ');
        it.setAttribute(name, ids.map((id) => `panel-${id}`).join(' '));
      }
    }
    for (const it of main.querySelectorAll('h1')) {
      const heading = document.createElement('h2');
      heading.className = 'title';
      heading.append(...it.childNodes);
      it.replaceWith(heading);
    }
  }

  async function show(answer) {
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const main = page.querySelector('.app main');
    /* Another page, such as the one to sign in. */
    if (!main || !new URL(answer.url).pathname.startsWith('/transactions/')) {
      location.href = answer.url;
      return;
    }
    rename(main);
    content.replaceChildren(...main.childNodes);
    if (!panel.open) {
      panel.showModal();
      history.pushState(null, '');
      hasEntry = true;
    }
    panel.scrollTop = 0;
  }

  table.addEventListener('click', (event) => {
    const link = event.target.closest('.what a');
    const plain = !event.button && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
    if (!plain || !link || !link.pathname.startsWith('/transactions/')) return;
    event.preventDefault();
    fetch(link.href).then(show).catch(() => { location.href = link.href; });
  });

  content.addEventListener('submit', (event) => {
    const form = event.target;
    if (form.method !== 'post') return;
    event.preventDefault();
    changed = true;
    const data = new FormData(form, event.submitter);
    const body = form.enctype === 'multipart/form-data' ? data : new URLSearchParams(data);
    fetch(form.action, { method: 'POST', body }).then(show).catch(() => location.reload());
  });

  content.addEventListener('click', (event) => {
    if (!event.target.closest('.trail a')) return;
    event.preventDefault();
    panel.close();
  });
  panel.addEventListener('click', (event) => { if (event.target === panel) panel.close(); });

  /* The list shows what was changed, at the same place. */
  function finish() {
    if (changed) location.reload();
  }
  panel.addEventListener('close', () => {
    if (!hasEntry) return;
    hasEntry = false;
    history.back();
  });
  addEventListener('popstate', () => {
    hasEntry = false;
    if (panel.open) panel.close();
    finish();
  });
})();
