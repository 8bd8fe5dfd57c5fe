/* Shows a page of its own when the server cannot be reached. It keeps that page, its style and its icon, and nothing
   else: no personal data is stored on the device. The server sets FILES, whose names change with their contents. */

const PAGE = '/offline';
const CACHE = `evenkeel-offline ${FILES.join(' ')}`;

self.addEventListener('install', (event) => {
  const store = (cache) => cache.addAll([PAGE, ...FILES]);
  event.waitUntil(caches.open(CACHE).then(store).then(() => self.skipWaiting()));
});

self.addEventListener('activate', (event) => {
  const outdated = (names) => names.filter((it) => it !== CACHE).map((it) => caches.delete(it));
  event.waitUntil(caches.keys().then((names) => Promise.all(outdated(names))));
});

self.addEventListener('fetch', (event) => {
  const { request } = event;
  if (request.method !== 'GET') return;
  if (request.mode === 'navigate') {
    event.respondWith(fetch(request).catch(() => caches.match(PAGE)));
  } else if (FILES.includes(new URL(request.url).pathname)) {
    event.respondWith(fetch(request).catch(() => caches.match(request)));
  }
});
