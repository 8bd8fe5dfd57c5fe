'use strict';
/* Copy buttons. They are hidden in the page and shown here, because without this script they would do nothing. */

(() => {
  /* The clipboard is only there on https and on this machine; a selection can be copied anywhere. */
  async function copy(element) {
    const text = element.textContent;
    if (navigator.clipboard) {
      await navigator.clipboard.writeText(text);
      return true;
    }
    const range = document.createRange();
    range.selectNodeContents(element);
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    const copied = document.execCommand('copy');
    selection.removeAllRanges();
    return copied;
  }

  for (const button of document.querySelectorAll('button.copy')) {
    const figure = button.closest('figure');
    const caption = figure.querySelector('figcaption span').textContent;
    button.hidden = false;
    button.setAttribute('aria-label', `Copy: ${caption}`);
    button.setAttribute('aria-live', 'polite');
    button.addEventListener('click', async () => {
      const copied = await copy(figure.querySelector('code')).catch(() => false);
      button.textContent = copied ? 'Copied' : 'Copy failed';
      button.setAttribute('aria-label', `${button.textContent}: ${caption}`);
      setTimeout(() => {
        button.textContent = 'Copy';
        button.setAttribute('aria-label', `Copy: ${caption}`);
      }, 1500);
    });
  }
})();
