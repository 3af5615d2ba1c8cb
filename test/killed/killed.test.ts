import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { endWithTest } from '../support/children.js';
import { loopback } from '../support/loopback.js';
import { type Api, clients } from './apis.js';

const SERVER = fileURLToPath(new URL('./server.js', import.meta.url));
/** For a request to be with its server. */
const DELIVERY_MS = 300;

/** A server whose program has a request that it has not answered, and its requester. @returns the client's call */
async function unanswered(api: Api, kind: string, n: number) {
  const [host, localAddress] = [loopback(n), loopback(n + 1)];
  const server = endWithTest(fork(SERVER, [api, host], { env: { ...process.env, VERBENA_LINK: kind } }));
  const [{ port }] = (await once(server, 'message')) as [{ readonly port: number }];
  const client = await clients[api]({ host, port, localAddress });
  // Verbs' call is the end of the connection.
  if (api !== 'verbs') await client.ask();
  server.send('hang');
  await once(server, 'message');
  const call = client.ask();
  const ended = call.then(
    () => 'done',
    (error: unknown) => error,
  );
  await sleep(DELIVERY_MS);
  return { server, client, ended };
}

/** How clients reach a server, which they are to notice the end of. Where its NIC is in its process, memory shows that it is gone; UDP shows it to those that probe it. */
const scenes: readonly (readonly [kind: 'auto' | 'udp', signal: NodeJS.Signals, apis: readonly Api[]])[] = [
  ['auto', 'SIGKILL', ['verbs', 'messages', 'kv', 'ucp', 'xio', 'net']],
  ['auto', 'SIGTERM', ['net', 'xio']],
  ['udp', 'SIGKILL', ['messages', 'ucp', 'xio']],
];

describe('a server that has a request, and is killed', () => {
  let n = 1;
  for (const [kind, signal, apis] of scenes)
    for (const api of apis)
      test(`by ${signal} is noticed by a client of ${api}, by the link ${kind}`, async () => {
        const { server, client, ended } = await unanswered(api, kind, (n += 2));
        server.kill(signal);
        const outcome = await ended;
        if (api === 'verbs') assert.equal(outcome, 'done');
        else assert.ok(outcome instanceof Error, String(outcome));
        client.close();
      });
});
