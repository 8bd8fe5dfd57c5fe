'use strict';
/* The search dialog (Ctrl+K or /), the help sheet (?), and keys that go to pages. The results are those of the search
   page, which also works without scripts. */

(() => {
  const dialog = document.getElementById('palette');
  const help = document.getElementById('shortcuts');
  if (!dialog || !help) return;
  const input = dialog.querySelector('input');
  const results = dialog.querySelector('[data-results]');
  const pages = { o: '/', a: '/accounts', t: '/transactions', s: '/spending', r: '/recurring', i: '/income', p: '/approvals' };
  let latest = 0;
  let afterG = false;

  const links = () => [...results.querySelectorAll('a, button')];

  async function search() {
    const number = ++latest;
    const answer = await fetch(`/search?q=${encodeURIComponent(input.value)}`, { headers: { accept: 'text/html' } });
    if (!answer.ok || answer.redirected || number !== latest) return;
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const found = page.querySelector('[data-results]');
    if (!found) return;
    /* Actions such as hiding amounts come back to this page. */
    for (const next of found.querySelectorAll('input[name=next]')) next.value = location.pathname + location.search;
    results.replaceChildren(...found.childNodes);
  }

  function open() {
    dialog.showModal();
    input.select();
    search();
  }

  function move(by) {
    const all = links();
    const at = all.indexOf(document.activeElement) + by;
    (all[at] || input).focus();
  }

  dialog.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown') move(1);
    else if (event.key === 'ArrowUp') move(-1);
    else if (event.key === 'Enter' && document.activeElement === input) links()[0]?.click();
    /* Escape would only empty a search field. */
    else if (event.key === 'Escape') dialog.close();
    else return;
    event.preventDefault();
  });
  input.addEventListener('input', search);
  for (const button of document.querySelectorAll('[data-open]')) {
    button.addEventListener('click', (event) => {
      event.preventDefault();
      if (button.dataset.open === 'palette') open();
      else help.showModal();
    });
  }

  document.addEventListener('keydown', (event) => {
    const key = event.key.toLowerCase();
    if ((event.ctrlKey || event.metaKey) && key === 'k') {
      event.preventDefault();
      open();
      return;
    }
    const typing = event.target.closest('input, textarea, select, [contenteditable], dialog');
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (afterG && pages[key]) location.href = pages[key];
    else if (key === '/') open();
    else if (key === '?') help.showModal();
    else {
      afterG = key === 'g';
      return;
    }
    afterG = false;
    event.preventDefault();
  });
})();

/* Pages can be installed on a phone; without a connection they say so. */
if ('serviceWorker' in navigator && window.isSecureContext) navigator.serviceWorker.register('/worker.js').catch(() => {});
