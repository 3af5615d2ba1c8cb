import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import type nodeNet from 'node:net';
import { after, before, describe, it } from 'node:test';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import tls from 'node:tls';
import undici from 'undici';
import { WebSocket, WebSocketServer } from 'ws';
import { Agent, attach, connect, connector, type Server, Socket } from '../../../entry/net.js';
import { loopback } from '../../../../test/support/loopback.js';
import { closeOf } from './support/nets.js';
import { CERTIFICATE, KEY } from './support/certificate.js';

process.env['VERBENA_ADDR'] = loopback(1);

const MIB = 1024 * 1024;
const BODY_BYTES = 100 * MIB;
/** Of another length than any buffer on the way, so that no two chunks are alike. */
const BLOCK = randomBytes(65_521);

/** As many bytes as a body has, without having them all. */
function* body(): Generator<Buffer> {
  for (let left = BODY_BYTES; left > 0; left -= BLOCK.length) yield BLOCK.subarray(0, Math.min(left, BLOCK.length));
}

async function digestOf(stream: AsyncIterable<Uint8Array>): Promise<{ bytes: number; digest: string }> {
  const hash = createHash('sha1');
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    hash.update(chunk);
  }
  return { bytes, digest: hash.digest('hex') };
}

function answer(request: http.IncomingMessage, response: http.ServerResponse): void {
  response.setHeader('x-connection', `${request.socket.remotePort}`);
  if (request.url === '/echo') void pipeline(request, response).catch(() => undefined);
  else response.end(`hello ${request.url}`);
}

async function begun(server: Server): Promise<number> {
  server.listen(0);
  await once(server, 'listening');
  const address = server.address();
  assert.ok(address !== null);
  return address.port;
}

async function get(url: string, agent: http.Agent): Promise<{ body: string; connection: unknown }> {
  const [response] = (await once(http.get(url, { agent }), 'response')) as [http.IncomingMessage];
  return { body: await text(response), connection: response.headers['x-connection'] };
}

describe('clients and servers that know nothing of RDMA', () => {
  const httpServer = http.createServer(answer);
  const server = attach(httpServer);
  let port = 0;
  let url = '';

  before(async () => {
    port = await begun(server);
    url = `http://localhost:${port}`;
  });
  after(() => server[Symbol.asyncDispose]());

  it('have sockets that have all that those of Node have, and are made as those', () => {
    const socket = new Socket();
    const members: Partial<Record<keyof nodeNet.Socket, unknown>> = socket;
    const ofHttp: http.RequestOptions['createConnection'] = connect;
    assert.ok(members instanceof Socket);
    assert.equal(ofHttp, connect);
  });

  it('http gets answers over one connection that is kept alive', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const answers = [];
    for (let i = 0; i < 5; i += 1) answers.push(await get(`${url}/${i}`, agent));
    assert.deepEqual(
      answers.map(({ body }) => body),
      ['hello /0', 'hello /1', 'hello /2', 'hello /3', 'hello /4'],
    );
    assert.equal(new Set(answers.map(({ connection }) => connection)).size, 1);
    agent.destroy();
  });

  it('http gets answers over a connection for each, many at a time', async () => {
    const agent = new Agent();
    const answers = await Promise.all(Array.from({ length: 10 }, (_, i) => get(`${url}/${i}`, agent)));
    assert.equal(new Set(answers.map(({ connection }) => connection)).size, 10);
  });

  it('http posts 100 MiB and gets them back', async () => {
    const agent = new Agent({ keepAlive: true });
    const post = http.request(`${url}/echo`, { method: 'POST', agent });
    const posted = once(post, 'response') as Promise<[http.IncomingMessage]>;
    const [echoed, expected] = await Promise.all([
      posted.then(([response]) => digestOf(response)),
      digestOf(Readable.from(body())),
      pipeline(Readable.from(body()), post),
    ]);
    assert.deepEqual(echoed, expected);
    agent.destroy();
  });

  it('http aborts a request, and the server goes on', async () => {
    const aborted = http.request(`${url}/echo`, { method: 'POST', agent: new Agent() });
    aborted.on('error', () => {});
    aborted.write('begun');
    await once(aborted, 'response');
    aborted.destroy();
    await once(aborted, 'close');
    const answer = await get(`${url}/after`, new Agent());
    assert.equal(answer.body, 'hello /after');
  });

  it('http is told what is wrong by the codes of Node', async () => {
    const gone = attach(http.createServer(answer));
    const nobody = await begun(gone);
    await gone[Symbol.asyncDispose]();
    const [error] = (await once(http.get(`http://${loopback(1)}:${nobody}`, { agent: new Agent() }), 'error')) as [
      Error,
    ];
    assert.equal((error as NodeJS.ErrnoException).code, 'ECONNREFUSED');
  });

  it('undici gets, posts and fetches over its own pool', async () => {
    const dispatcher = new undici.Agent({ connect: connector(), connections: 2 });
    const { body: got } = await undici.request(`${url}/one`, { dispatcher });
    assert.equal(await got.text(), 'hello /one');
    const bytes = randomBytes(3 * MIB);
    const { body: echoed } = await undici.request(`${url}/echo`, { dispatcher, method: 'POST', body: bytes });
    assert.ok(Buffer.from(await echoed.arrayBuffer()).equals(bytes));
    const fetched = await undici.fetch(`${url}/two`, { dispatcher });
    assert.equal(await fetched.text(), 'hello /two');
    const several = Array.from({ length: 20 }, async (_, i) => {
      const { body: one } = await undici.request(`${url}/${i}`, { dispatcher });
      assert.equal(await one.text(), `hello /${i}`);
    });
    await Promise.all(several);
    await dispatcher.close();
  });

  it('undici is told that nobody listens', async () => {
    const dispatcher = new undici.Agent({ connect: connector() });
    await assert.rejects(undici.request(`http://${loopback(1)}:1/`, { dispatcher }), { code: 'ECONNREFUSED' });
    await dispatcher.destroy();
  });

  it('ws talks both ways, in text and bytes, and says goodbye', async () => {
    const sockets = new WebSocketServer({ server: httpServer, path: '/ws' });
    sockets.on('connection', (socket) =>
      socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary })),
    );
    const client = new WebSocket(`ws://localhost:${port}/ws`, { createConnection: connect as typeof nodeNet.connect });
    await once(client, 'open');
    client.send('hello');
    const [hello, isBinary] = (await once(client, 'message')) as [Buffer, boolean];
    assert.deepEqual([String(hello), isBinary], ['hello', false]);
    const bytes = randomBytes(2 * MIB);
    client.send(bytes);
    const [echoed] = (await once(client, 'message')) as [Buffer];
    assert.ok(echoed.equals(bytes));
    client.close(4000, 'goodbye');
    const [code] = (await once(client, 'close')) as [number];
    assert.equal(code, 4000);
    await new Promise((resolve) => sockets.close(resolve));
  });

  it('TLS lies over it, for sockets, https and undici', async () => {
    const secure = attach(https.createServer({ key: KEY, cert: CERTIFICATE }, answer));
    const securePort = await begun(secure);
    const trust = { ca: CERTIFICATE, servername: 'localhost' };
    const socket = tls.connect({ socket: connect(securePort), ...trust });
    await once(socket, 'secureConnect');
    assert.equal(socket.authorized, true);
    socket.end('GET /raw HTTP/1.0\r\n\r\n');
    assert.match((await buffer(socket)).toString(), /hello \/raw$/);
    const request = https.get(`https://localhost:${securePort}/https`, {
      createConnection: () => tls.connect({ socket: connect(securePort), ...trust }),
    });
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    assert.equal(await text(response), 'hello /https');
    const dispatcher = new undici.Agent({ connect: connector({ tls: { ca: CERTIFICATE } }) });
    const { body: got } = await undici.request(`https://localhost:${securePort}/undici`, { dispatcher });
    assert.equal(await got.text(), 'hello /undici');
    const doubting = new undici.Agent({ connect: connector() });
    await assert.rejects(undici.request(`https://localhost:${securePort}/`, { dispatcher: doubting }), /self.signed/i);
    await Promise.all([dispatcher.close(), doubting.destroy()]);
    await secure[Symbol.asyncDispose]();
  });

  it('a server of HTTP that is attached ends what takes too long, and what waits for nothing when it closes', async () => {
    const slow = http.createServer({ headersTimeout: 1, requestTimeout: 1, connectionsCheckingInterval: 1 }, answer);
    const carrier = attach(slow);
    const socket = connect(await begun(carrier));
    socket.write('GET / HTTP/1.1\r\n');
    assert.match((await buffer(socket)).toString(), /^HTTP\/1\.1 408/);
    await closeOf(socket);
    await carrier[Symbol.asyncDispose]();
    const idle = attach(http.createServer({ keepAliveTimeout: 0 }, answer));
    const agent = new Agent({ keepAlive: true });
    await get(`http://localhost:${await begun(idle)}/`, agent);
    await idle[Symbol.asyncDispose]();
    agent.destroy();
  });
});
