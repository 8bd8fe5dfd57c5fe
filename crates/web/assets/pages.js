'use strict';
/* Charts say their values under the pointer and by the arrow keys; the figures are those of the table behind each. */

(() => {
  for (const figure of document.querySelectorAll('figure.chart')) {
    const svg = figure.querySelector('svg');
    const output = figure.querySelector('output');
    const rows = [...figure.querySelectorAll('tbody tr')];
    const heads = [...figure.querySelectorAll('thead th')].slice(1).map((it) => it.textContent);
    const track = figure.querySelector('polyline.track');
    const groups = [...figure.querySelectorAll('g.group')];
    const cursor = figure.querySelector('.cursor');
    const dot = figure.querySelector('.dot');
    const places = track
      ? track.getAttribute('points').split(' ').filter(Boolean).map((it) => it.split(',').map(Number))
      : groups.map((it) => {
          const box = it.getBBox();
          return [box.x + box.width / 2, 0];
        });
    let at = places.length - 1;
    if (at < 0) continue;

    function show(index) {
      at = Math.max(0, Math.min(places.length - 1, index));
      figure.classList.add('reading');
      const cells = [...rows[at].cells].map((it) => it.textContent);
      const values = cells.slice(1).map((it, place) => (heads.length > 1 ? `${heads[place]} ${it}` : it));
      output.textContent = `${cells[0]}: ${values.join(', ')}`;
      if (track) {
        const [x, y] = places[at];
        cursor.setAttribute('x1', x);
        cursor.setAttribute('x2', x);
        dot.setAttribute('cx', x);
        dot.setAttribute('cy', y);
      }
      groups.forEach((it, place) => it.classList.toggle('read', place === at));
    }

    function hide() {
      figure.classList.remove('reading');
      output.textContent = '';
      groups.forEach((it) => it.classList.remove('read'));
    }

    /* A finger reads the value where it touches. It leaves at once, and the value stays until another touch. */
    function read(event) {
      const box = svg.getBoundingClientRect();
      const x = ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
      let nearest = 0;
      places.forEach((place, index) => {
        if (Math.abs(place[0] - x) < Math.abs(places[nearest][0] - x)) nearest = index;
      });
      show(nearest);
    }
    svg.addEventListener('pointermove', read);
    svg.addEventListener('pointerdown', read);
    svg.addEventListener('pointerleave', (event) => {
      if (event.pointerType !== 'touch') hide();
    });
    svg.addEventListener('focus', () => show(at));
    svg.addEventListener('blur', hide);
    svg.addEventListener('keydown', (event) => {
      const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: places.length - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      show(to);
    });
  }
})();

/* The form of the transaction list: selecting all rows of the page, and how many are selected. */
(() => {
  const label = document.querySelector('[data-selected]');
  if (!label) return;
  const form = label.closest('form');
  const rows = [...form.querySelectorAll('input[name="id"]')];
  const page = form.querySelector('input[name="page"]');
  const all = form.querySelector('input[name="all"]');
  const update = () => {
    const count = rows.filter((it) => it.checked).length;
    page.checked = count === rows.length;
    if (all && !page.checked) all.checked = false;
    label.textContent = all && all.checked ? `${form.elements.matching.value} selected. ` : count ? `${count} selected. ` : '';
  };
  form.addEventListener('change', ({ target }) => {
    if (target === page || (target === all && all.checked)) rows.forEach((it) => { it.checked = target.checked; });
    update();
  });
  update();
})();
