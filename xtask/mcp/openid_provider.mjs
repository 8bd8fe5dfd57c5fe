// A certified OpenID provider (oidc-provider) for the browser test of single sign-on. It prints its port, reads the address
// of the installation and the algorithm to sign with from standard input, and prints READY. Anybody can sign in with any
// name: the email is that name at example.com, and `robin` is in the group `admins`. `mallory` claims robin's email, which
// the provider has not verified.
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { generateKeyPairSync } from 'node:crypto';
import path from 'node:path';

const modules = process.argv[2];
const { Provider } = await import(pathToFileURL(path.join(modules, 'oidc-provider/lib/index.js')));

let handle = (_request, response) => response.writeHead(503).end();
const server = createServer((request, response) => handle(request, response));
await new Promise((done) => server.listen(0, '127.0.0.1', done));
const issuer = `http://localhost:${server.address().port}`;
console.log(server.address().port);

const keys = {
  RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  EdDSA: () => generateKeyPairSync('ed25519'),
};

function start(origin, algorithm) {
  const jwks = Object.entries(keys).map(([alg, generate]) => (
    { ...generate().privateKey.export({ format: 'jwk' }), alg, use: 'sig', kid: `key-${alg}` }
  ));
  const provider = new Provider(issuer, {
    clients: [{
      client_id: 'evenkeel',
      client_secret: 'a secret: with + and %',
      redirect_uris: [`${origin}/sign-on/house/callback`],
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
    if (!request.url.startsWith('/interaction/')) return callback(request, response);
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

for await (const line of createInterface({ input: process.stdin })) {
  const [origin, algorithm] = line.split(' ');
  start(origin, algorithm);
  console.log('READY');
}
process.exit(0);
