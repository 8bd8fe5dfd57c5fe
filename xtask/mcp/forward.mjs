// Passes requests on to the server and adds the API key, because the conformance suite cannot send one. Host and Origin
// of this forwarder become those of the server; all others stay, so that the server's own checks are tested.
import http from 'node:http';

const [target, key] = process.argv.slice(2);
const server = new URL(target);

const forwarder = http.createServer((request, response) => {
  const own = `127.0.0.1:${forwarder.address().port}`;
  const local = [own, own.replace('127.0.0.1', 'localhost')];
  const headers = { ...request.headers, authorization: `Bearer ${key}` };
  if (local.includes(headers.host)) headers.host = server.host;
  if (local.some((it) => headers.origin === `http://${it}`)) headers.origin = server.origin;
  const options = { host: server.hostname, port: server.port, path: request.url, method: request.method, headers };
  const passed = http.request(options, (answer) => {
    response.writeHead(answer.statusCode, answer.rawHeaders);
    answer.pipe(response);
  });
  passed.on('error', () => response.destroy());
  response.on('close', () => passed.destroy());
  request.pipe(passed);
});
forwarder.listen(0, '127.0.0.1', () => console.log(forwarder.address().port));
