'use strict';
/* Open pages stay true: the number of waiting proposals, and the whole of a page that says so, follow the server. */

(() => {
  const badges = [...document.querySelectorAll('[data-waiting]')];
  const live = document.querySelector('main[data-live]');
  if (badges.length === 0 && !live) return;
  let known = null;
  let pause = 1000;

  function count(pending) {
    for (const badge of badges) {
      badge.hidden = pending === 0;
      badge.querySelector('.number').textContent = pending;
    }
  }

  /* Nobody's typing or reaching for a button is disturbed. */
  function busy() {
    const at = document.activeElement;
    const typed = [...live.querySelectorAll('textarea, input:not([type=hidden])')];
    return (live.contains(at) && at !== live) || typed.some((it) => it.value !== it.defaultValue);
  }

  async function renew() {
    if (!live || busy()) return;
    const answer = await fetch(location.href, { headers: { accept: 'text/html' } });
    if (!answer.ok || answer.redirected) return;
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const fresh = page.querySelector('main[data-live]');
    if (!fresh || busy()) return;
    live.replaceChildren(...fresh.childNodes);
    document.dispatchEvent(new Event('renewed'));
  }

  async function ask() {
    const query = known ? `?pending=${known.pending}&stamp=${known.stamp}` : '';
    const answer = await fetch(`/approvals/pulse${query}`, { headers: { accept: 'application/json' } });
    const type = answer.headers.get('content-type') || '';
    /* Signed out meanwhile: there is nothing left to follow. */
    if (!answer.ok || !type.startsWith('application/json')) return false;
    const now = await answer.json();
    count(now.pending);
    if (known) await renew();
    known = now;
    return true;
  }

  const visible = () => new Promise((done) => {
    if (document.visibilityState === 'visible') done();
    else document.addEventListener('visibilitychange', () => done(), { once: true });
  });

  async function follow() {
    for (;;) {
      await visible();
      try {
        if (!(await ask())) return;
        pause = 1000;
      } catch {
        /* The server is being restarted, or the network is away. */
        await new Promise((done) => { setTimeout(done, pause); });
        pause = Math.min(pause * 2, 60000);
      }
    }
  }
  follow();
})();
