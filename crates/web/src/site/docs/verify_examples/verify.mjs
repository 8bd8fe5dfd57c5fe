import { createHmac, timingSafeEqual } from 'node:crypto';

// Headers with names in lower case, and the body as the bytes that came.
export function verify(secret, headers, body) {
  const [id, sentAt] = [headers['webhook-id'], headers['webhook-timestamp']];
  const age = Math.abs(Date.now() / 1000 - Number(sentAt));
  if (!(age <= 300)) throw new Error('sent too long ago');
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const hmac = createHmac('sha256', key).update(`${id}.${sentAt}.`).update(body);
  const expected = Buffer.from(`v1,${hmac.digest('base64')}`);
  const isGood = headers['webhook-signature'].split(' ').some((text) => {
    const entry = Buffer.from(text);
    return entry.length === expected.length && timingSafeEqual(entry, expected);
  });
  if (!isGood) throw new Error('not signed with this secret');
  return JSON.parse(body);
}
