// A certified OpenID provider (oidc-provider) for the browser test of single sign-on. It prints its port, reads commands from
// standard input, and prints READY after each: `serve ORIGIN NAME ALGORITHM` registers the installation, which calls this
// provider NAME, and signs with this algorithm; `attack ATTACK [ISSUER]` changes the answers from then on. Anybody can sign
// in with any name: the email is that name at example.com, and `robin` is in the group `admins`. `mallory` claims robin's
// email, which the provider has not verified.
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { generateKeyPairSync, sign } from 'node:crypto';
import path from 'node:path';

// Standard output is for READY, and the provider has notices for those who run it in earnest.
console.info = console.warn;

const modules = process.argv[2];
const { Provider } = await import(pathToFileURL(path.join(modules, 'oidc-provider/lib/index.js')));

let handle = (_request, response) => response.writeHead(503).end();
const server = createServer((request, response) => handle(request, response));
await new Promise((done) => server.listen(0, '127.0.0.1', done));
const issuer = `http://localhost:${server.address().port}`;
console.log(server.address().port);

const keys = {
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
  EdDSA: generateKeyPairSync('ed25519').privateKey,
};

function start(origin, name, algorithm) {
  const jwks = Object.entries(keys).map(([alg, key]) => (
    { ...key.export({ format: 'jwk' }), alg, use: 'sig', kid: `key-${alg}` }
  ));
  const provider = new Provider(issuer, {
    clients: [{
      client_id: 'evenkeel',
      client_secret: 'a secret: with + and %',
      redirect_uris: [`${origin}/sign-on/${name}/callback`],
      id_token_signed_response_alg: algorithm,
    }],
    jwks: { keys: jwks },
    enabledJWA: { idTokenSigningAlgValues: Object.keys(keys) },
    cookies: { keys: ['only for tests'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
    scopes: ['openid', 'email', 'profile', 'groups'],
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => ({
        sub: id, name: id, email: `${id === 'mallory' ? 'robin' : id}@example.com`, email_verified: id !== 'mallory',
        groups: id === 'robin' ? ['admins'] : [],
      }),
    }),
  });
  const callback = provider.callback();
  handle = (request, response) => {
    if (!request.url.startsWith('/interaction/')) {
      if (attack.name) changeAnswer(request, response, origin);
      return callback(request, response);
    }
    return interact(provider, request, response).catch((error) => {
      response.writeHead(500).end(String(error));
    });
  };
}

async function interact(provider, request, response) {
  const { params, grantId } = await provider.interactionDetails(request, response);
  if (request.method === 'GET') {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end('<!doctype html><html lang="en"><title>House</title><h1>The house</h1><form method="post">'
      + '<label for="name">Name</label><input id="name" name="name"><button>Enter the house</button></form>');
    return;
  }
  let body = '';
  for await (const part of request) body += part;
  const accountId = new URLSearchParams(body).get('name');
  const known = grantId && await provider.Grant.find(grantId);
  const grant = known?.accountId === accountId
    ? known
    : new provider.Grant({ accountId, clientId: params.client_id });
  grant.addOIDCScope(params.scope);
  const result = { login: { accountId }, consent: { grantId: await grant.save() } };
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
}

// The attack, and the issuer that it concerns. No certified provider makes one, so it changes the finished answers.
let attack = {};
let keptCode = '';

const idTokenAttacks = {
  // No attack: shows that a token which is signed here is accepted.
  resign: (header, claims) => [header, claims],
  'alg-none': (header, claims) => [{ ...header, alg: 'none' }, claims],
  audience: (header, claims) => [header, { ...claims, aud: 'another-application' }],
};

const redirectAttacks = {
  // An attacker's browser stops before it hands over the code.
  'keep-code': (address) => { keptCode = address.searchParams.get('code'); },
  'inject-code': (address) => { address.searchParams.set('code', keptCode); return address; },
  'foreign-issuer': (address) => { address.searchParams.set('iss', attack.issuer); return address; },
};

function changeAnswer(request, response, origin) {
  if (attack.name === 'mix-up' && request.url.startsWith('/auth?')) {
    // Sends people on to another provider, with the state of the sign-in that began here.
    const address = new URL(request.url, attack.issuer);
    address.searchParams.set('redirect_uri', `${origin}/sign-on/house/callback`);
    request.url = '/elsewhere';
    changeEnd(response, () => { response.statusCode = 303; response.setHeader('location', address.href); return ''; });
  } else if (request.url === '/token' && idTokenAttacks[attack.name]) {
    changeEnd(response, (body) => {
      const answer = JSON.parse(body);
      if (answer.id_token) answer.id_token = forged(answer.id_token, idTokenAttacks[attack.name]);
      return JSON.stringify(answer);
    });
  } else if (redirectAttacks[attack.name]) {
    changeEnd(response, (body) => {
      const location = response.getHeader('location');
      if (!location?.includes('code=')) return body;
      const address = redirectAttacks[attack.name](new URL(location));
      if (address) { response.setHeader('location', address.href); return body; }
      response.removeHeader('location');
      response.statusCode = 200;
      return 'The code is kept';
    });
  }
}

function changeEnd(response, change) {
  const end = response.end.bind(response);
  response.end = (body) => {
    const changed = change(body);
    if (changed !== undefined) response.setHeader('content-length', Buffer.byteLength(changed));
    return end(changed);
  };
}

function forged(token, change) {
  const [header, claims] = token.split('.', 2).map((it) => JSON.parse(Buffer.from(it, 'base64url')));
  const parts = change(header, claims);
  const text = parts.map((it) => Buffer.from(JSON.stringify(it)).toString('base64url')).join('.');
  if (parts[0].alg === 'none') return `${text}.`;
  const key = { key: keys[header.alg], dsaEncoding: 'ieee-p1363' };
  return `${text}.${sign(header.alg === 'EdDSA' ? null : 'sha256', text, key).toString('base64url')}`;
}

for await (const line of createInterface({ input: process.stdin })) {
  const [command, ...words] = line.split(' ');
  if (command === 'serve') start(...words);
  else attack = { name: words[0], issuer: words[1] };
  console.log('READY');
}
process.exit(0);
