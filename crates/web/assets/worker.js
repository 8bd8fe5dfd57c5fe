'use strict';
/* Shows a page of its own when the server cannot be reached. It keeps that page and nothing else: no personal data is
   stored on the device. */

const CACHE = 'evenkeel-offline-1';
const PAGE = '/offline';

self.addEventListener('install', (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.add(PAGE)).then(() => self.skipWaiting()));
});

self.addEventListener('activate', (event) => {
  const outdated = (names) => names.filter((it) => it !== CACHE).map((it) => caches.delete(it));
  event.waitUntil(caches.keys().then((names) => Promise.all(outdated(names))));
});

self.addEventListener('fetch', (event) => {
  if (event.request.mode !== 'navigate' || event.request.method !== 'GET') return;
  event.respondWith(fetch(event.request).catch(() => caches.match(PAGE)));
});
