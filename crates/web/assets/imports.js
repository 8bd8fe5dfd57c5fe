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
      fail(said ? said.textContent : 'The files were not taken. Try again.');
    }

    function send(files) {
      const most = Number(form.dataset.most);
      if (files.length === 0) return;
      if (files.reduce((sum, it) => sum + it.size, 0) > most) {
        fail(`Together these files have more than ${most / 1048576} MiB. Send fewer at once.`);
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
      request.addEventListener('error', () => fail('The server does not answer. Try again in a moment.'));
      bar.value = 0;
      bar.hidden = false;
      button.disabled = true;
      told.textContent = files.length === 1 ? 'Sending the file.' : `Sending ${files.length} files.`;
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

  /* Only the newest answer counts, and nobody's typing is taken from under their hands. */
  function preview(form) {
    let asked = 0;

    const typing = () => {
      const at = document.activeElement;
      return form.contains(at) && at.matches('input:not([type=radio], [type=checkbox])') && at.value !== at.defaultValue;
    };

    async function renew() {
      asked += 1;
      const mine = asked;
      const answer = await fetch(form.action, { method: 'POST', body: new URLSearchParams(new FormData(form)) });
      if (!answer.ok || mine !== asked) return;
      const page = html(await answer.text());
      const fresh = page.querySelector('form[data-preview]');
      if (!fresh || mine !== asked || typing()) return;
      const focused = document.activeElement && document.activeElement.id;
      const open = [...form.querySelectorAll('details')].map((it) => it.open);
      form.replaceChildren(...fresh.childNodes);
      form.querySelectorAll('details').forEach((it, place) => { it.open = it.open || open[place]; });
      const again = focused && document.getElementById(focused);
      if (again) again.focus({ preventScroll: true });
      const lines = ['.lead-in', '.rejected'].map((it) => [document.querySelector(`main > ${it}`), page.querySelector(`main > ${it}`)]);
      for (const [old, now] of lines) if (old && now) old.replaceWith(now);
      form.querySelector('output').textContent = 'The preview is updated.';
    }

    form.addEventListener('change', () => { renew().catch(() => {}); });
  }

  async function follow() {
    const main = document.querySelector('main');
    for (;;) {
      await new Promise((done) => { setTimeout(done, 1000); });
      try {
        const answer = await fetch(location.href, { headers: { accept: 'text/html' } });
        const fresh = html(await answer.text()).querySelector('main');
        if (!fresh || !fresh.querySelector('[data-taking]')) break;
        main.replaceChildren(...fresh.childNodes);
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
  if (document.querySelector('[data-taking]')) follow();
})();
