'use strict';
/* Files can be dropped, with how far they are; a preview follows each choice; a page of work under way follows it. */

(() => {
  const html = (text) => new DOMParser().parseFromString(text, 'text/html');

  function dropZone(form) {
    const field = form.querySelector('input[type=file]');
    const bar = form.querySelector('progress');
    const told = form.querySelector('output');
    const button = form.querySelector('button');

    function fail(sentence) {
      bar.hidden = true;
      button.disabled = false;
      told.textContent = sentence;
    }

    function done(request) {
      if (request.status === 200) {
        location.assign(JSON.parse(request.responseText).next);
        return;
      }
      const said = html(request.responseText).querySelector('main .wrong, main p');
      fail(said ? said.textContent : 'The upload failed. Try again.');
    }

    function send(files) {
      const most = Number(form.dataset.most);
      if (files.length === 0) return;
      if (files.reduce((sum, it) => sum + it.size, 0) > most) {
        fail(`These files exceed ${most / 1048576} MB in total. Upload fewer files.`);
        return;
      }
      const body = new FormData();
      body.append('form_token', form.elements.form_token.value);
      for (const file of files) body.append('file', file, file.name);
      const request = new XMLHttpRequest();
      request.open('POST', form.action);
      request.setRequestHeader('accept', 'application/json');
      request.upload.addEventListener('progress', (event) => {
        if (event.lengthComputable) bar.value = (100 * event.loaded) / event.total;
      });
      request.addEventListener('load', () => done(request));
      request.addEventListener('error', () => fail('The server isn\'t responding. Try again in a moment.'));
      bar.value = 0;
      bar.hidden = false;
      button.disabled = true;
      told.textContent = files.length === 1 ? 'Uploading file.' : `Uploading ${files.length} files.`;
      request.send(body);
    }

    const over = (is) => (event) => {
      event.preventDefault();
      form.classList.toggle('over', is);
    };
    form.addEventListener('dragenter', over(true));
    form.addEventListener('dragover', over(true));
    form.addEventListener('dragleave', over(false));
    form.addEventListener('drop', (event) => {
      over(false)(event);
      send([...event.dataTransfer.files]);
    });
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      send([...field.files]);
    });
  }

  /* Only the newest answer counts, and nothing is taken from under anybody's hands. */
  function preview(form) {
    let asked = 0;
    let pressed = false;
    let leaving = false;

    const typing = () => {
      const at = document.activeElement;
      return form.contains(at) && at.matches('input:not([type=radio], [type=checkbox])') && at.value !== at.defaultValue;
    };

    async function renew() {
      asked += 1;
      const mine = asked;
      const answer = await fetch(form.action, { method: 'POST', body: new URLSearchParams(new FormData(form)) });
      if (!answer.ok) return;
      const page = html(await answer.text());
      const fresh = page.querySelector('form[data-preview]');
      while (pressed) await new Promise((done) => { setTimeout(done, 20); });
      if (!fresh || leaving || mine !== asked || typing()) return;
      const focused = document.activeElement && document.activeElement.id;
      const open = [...form.querySelectorAll('details[id]')].filter((it) => it.open);
      form.replaceChildren(...fresh.childNodes);
      for (const it of open) {
        const now = document.getElementById(it.id);
        if (now) now.open = true;
      }
      const again = focused && document.getElementById(focused);
      if (again) again.focus({ preventScroll: true });
      document.querySelector('main > .lead-in').replaceWith(page.querySelector('main > .lead-in'));
      form.querySelector('output').textContent = 'Preview updated.';
    }

    document.addEventListener('pointerdown', () => { pressed = true; });
    for (const end of ['pointerup', 'pointercancel']) {
      document.addEventListener(end, () => { setTimeout(() => { pressed = false; }, 20); });
    }
    form.addEventListener('submit', () => { leaving = true; });
    form.addEventListener('change', () => { renew().catch(() => {}); });
  }

  async function follow() {
    for (;;) {
      const wait = Number(document.querySelector('[data-commit]').dataset.commit) || 1000;
      await new Promise((done) => { setTimeout(done, wait); });
      try {
        const answer = await fetch(location.href, { headers: { accept: 'text/html' } });
        const fresh = html(await answer.text()).querySelector('[data-commit]');
        if (!fresh || answer.redirected) break;
        document.querySelector('[data-commit]').replaceWith(fresh);
      } catch {
        /* The server is being restarted, or the network is away. */
      }
    }
    location.reload();
  }

  const zone = document.querySelector('form[data-drop]');
  if (zone) dropZone(zone);
  const choices = document.querySelector('form[data-preview]');
  if (choices) preview(choices);
  if (document.querySelector('[data-commit]')) follow();
})();
