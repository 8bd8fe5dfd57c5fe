'use strict';
/* Passkey buttons: ask the server for a question, the browser for the answer, and go on where the server says. */

(() => {
  const can = window.PublicKeyCredential
    && PublicKeyCredential.parseRequestOptionsFromJSON
    && PublicKeyCredential.parseCreationOptionsFromJSON;

  async function send(box, step, body) {
    const answer = await fetch(`/passkeys/${box.dataset.passkey}/${step}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-form-token': box.dataset.token },
      body: JSON.stringify({ about: box.dataset.about, ...body }),
    });
    const type = answer.headers.get('content-type') || '';
    if (!type.startsWith('application/json')) throw new Error('Reload the page and try again.');
    const said = await answer.json();
    if (!answer.ok) throw new Error(said.message);
    return said;
  }

  async function ask(box, more) {
    const options = await send(box, 'start');
    if (box.dataset.passkey === 'register') {
      const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
      return navigator.credentials.create({ publicKey, ...more });
    }
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
    return navigator.credentials.get({ publicKey, ...more });
  }

  async function use(box, more) {
    const credential = await ask(box, more);
    const name = box.closest('section, .card').querySelector('input[data-passkey-name]');
    const said = await send(box, 'finish', {
      credential: credential.toJSON(),
      next: box.dataset.next,
      name: name ? name.value : '',
    });
    const form = box.dataset.form && document.getElementById(box.dataset.form);
    if (form) form.submit();
    else location.assign(said.next);
  }

  function tell(box, error) {
    const place = box.querySelector('[role=alert]');
    const quiet = error.name === 'AbortError';
    const refused = error.name === 'NotAllowedError' || error.name === 'InvalidStateError';
    place.hidden = quiet;
    place.textContent = error.name === 'InvalidStateError'
      ? 'This device already has your passkey.'
      : refused ? 'No passkey was used. Try again or use another method.'
      : error.name === 'NotSupportedError' ? "This browser can't use your passkey." : error.message;
  }

  function bind(box) {
    if (!can) {
      box.querySelector('[data-unsupported]').hidden = false;
      return;
    }
    if (location.origin !== box.dataset.origin) {
      box.querySelector('[data-elsewhere]').hidden = false;
      return;
    }
    const button = box.querySelector('button');
    let offered = null;
    button.hidden = false;
    button.addEventListener('click', async () => {
      if (offered) offered.abort();
      button.disabled = true;
      try {
        await use(box);
      } catch (error) {
        tell(box, error);
      }
      button.disabled = false;
    });
    if (box.dataset.passkey !== 'sign-in' || !PublicKeyCredential.isConditionalMediationAvailable) return;
    PublicKeyCredential.isConditionalMediationAvailable().then(async (available) => {
      if (!available) return;
      offered = new AbortController();
      try {
        await use(box, { mediation: 'conditional', signal: offered.signal });
      } catch (error) {
        /* The browser could not offer a passkey, which nobody asked for yet. */
        if (!['AbortError', 'NotAllowedError', 'NotSupportedError'].includes(error.name)) tell(box, error);
      }
    });
  }

  const bindAll = () => document.querySelectorAll('[data-passkey]').forEach(bind);
  bindAll();
  /* What keeps pages true puts new boxes in place of the old ones. */
  document.addEventListener('renewed', bindAll);
})();
