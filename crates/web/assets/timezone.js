'use strict';
/* Chooses the time zone of the browser in a form for a new account. Without this script the person chooses it. */

(() => {
  const list = document.querySelector('select[data-from-browser]');
  const name = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (!list || !name) return;
  if (![...list.options].some((option) => option.value === name)) {
    list.add(new Option(name.replaceAll('_', ' '), name));
  }
  list.value = name;
})();
