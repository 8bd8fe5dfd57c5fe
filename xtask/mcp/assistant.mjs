// An assistant made with the TypeScript SDK, for the browser test. It prints each page that the person has to open, after
// AUTHORIZE or APPROVE, and goes on when they have decided there.
import http from 'node:http';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [url, modules] = process.argv.slice(2);
// The SDK is installed elsewhere.
const require = createRequire(pathToFileURL(`${modules}/`));
const load = (path) => import(pathToFileURL(require.resolve(`@modelcontextprotocol/sdk/${path}`)));
const { Client } = await load('client/index.js');
const { StreamableHTTPClientTransport } = await load('client/streamableHttp.js');
const { UnauthorizedError } = await load('client/auth.js');

const say = (...words) => console.log(words.join(' '));

// The address on this machine to which the person's browser returns.
const codes = [];
const waiting = [];
const server = http.createServer((request, response) => {
  response.end('Thanks.');
  const query = new URL(request.url, 'http://127.0.0.1').searchParams;
  if (!query.has('code')) return;
  const next = waiting.shift();
  if (next) next(query.get('code'));
  else codes.push(query.get('code'));
});
await new Promise((done) => server.listen(0, '127.0.0.1', done));
const redirectUrl = `http://127.0.0.1:${server.address().port}/callback`;
const nextCode = () => (codes.length ? codes.shift() : new Promise((done) => waiting.push(done)));

const memory = {};
const provider = {
  redirectUrl,
  clientMetadata: { client_name: 'TypeScript assistant', redirect_uris: [redirectUrl], token_endpoint_auth_method: 'none' },
  clientInformation: () => memory.client,
  saveClientInformation: (client) => { memory.client = client; },
  // Without its refresh token: with one, this version of the SDK renews the token instead of asking for more scopes.
  tokens: () => memory.tokens && { ...memory.tokens, refresh_token: undefined },
  saveTokens: (tokens) => { memory.tokens = tokens; },
  redirectToAuthorization: (page) => say('AUTHORIZE', page.href),
  saveCodeVerifier: (verifier) => { memory.verifier = verifier; },
  codeVerifier: () => memory.verifier,
};

let client;
let transport;
async function connect() {
  client = new Client({ name: 'TypeScript assistant', version: '1.0.0' });
  transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
  await client.connect(transport);
}

// Does something, and again after the person has allowed it.
async function authorized(work) {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error;
    await transport.finishAuth(await nextCode());
    return await work();
  }
}

async function call(name, args = {}) {
  const result = await authorized(() => client.callTool({ name, arguments: args }, undefined, { timeout: 60_000 }));
  if (result.isError) throw new Error(`${name}: ${result.content[0].text}`);
  return result.structuredContent;
}

// Asks the person and waits for the decision.
async function follow(proposed) {
  let action = proposed.action;
  if (action.status !== 'pending_approval') throw new Error(JSON.stringify(action));
  say('APPROVE', proposed.approval_url);
  while (['pending_approval', 'approved', 'executing'].includes(action.status)) {
    action = (await call('get_action', { action_id: action.action_id, wait: 30 })).action;
  }
  say('DECIDED', JSON.stringify({ type: action.action_type, status: action.status }));
}

await authorized(connect);
const { tools } = await client.listTools();
say('TOOLS', ...tools.map((it) => it.name).sort());
say('ASKED', 'net_worth', (await call('get_overview')).net_worth);
const paper = (await call('list_paper_accounts')).accounts[0];
const row = (await call('search_transactions', { limit: 1 })).transactions[0];
await follow(await call('propose_paper_trade', { account_id: paper.id, symbol: 'AAPL', side: 'buy', quantity: 1, reason: 'You asked.' }));
await follow(await call('propose_corrections', { transaction_ids: [row.id], name: 'Corrected by the test' }));
await client.close();
server.close();
server.closeAllConnections();
