import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { alloc } from '../../../../entry/index.js';
import type { XioSession } from '../../index.js';
import { type Net, NETS } from '../support/nets.js';
import { codeOf } from '../support/scenes.js';
import { pattern } from '../support/worlds.js';

const BYTES = 300_000;
const SHORTER = 50_000;

/** Memory that adapters reach where it lies, and memory that they do not. */
const KINDS = {
  'memory that is registered': (length: number) => new Uint8Array(length),
  'memory that is copied': (length: number) => new Uint8Array(resizable(length)),
} as const;

function resizable(length: number): ArrayBuffer {
  // The types of this language level do not know of it.
  const made: unknown = Reflect.construct(ArrayBuffer, [length, { maxByteLength: length }]);
  assert.ok(made instanceof ArrayBuffer);
  return made;
}

function transfer({ buffer }: Uint8Array): void {
  assert.ok(buffer instanceof ArrayBuffer);
  structuredClone(buffer, { transfer: [buffer] });
}

/** Memory whose view says of itself what it said before it was transferred: so it is in code that V8 11.3 (Node 20) has compiled. */
function stale(bytes: Uint8Array): Uint8Array {
  const { length } = bytes;
  return Object.defineProperty(bytes, 'length', { get: () => length });
}

/** A session with a server that answers with so many bytes as it is asked for, and whether it still does. */
async function asked(net: Net): Promise<{ readonly client: XioSession; readonly isWell: () => Promise<boolean> }> {
  await net.listen((session) => {
    session.on('request', ({ header }) => ({ body: pattern(Number(new TextDecoder().decode(header)), 1) }));
  });
  const client = await net.connect();
  const isWell = async (): Promise<boolean> => {
    const { body } = await net.settled(client.request('9', undefined, { deadlineMs: 60_000 }));
    return body.length === 9 && client.failure === undefined;
  };
  return { client, isWell };
}

for (const [name, play] of Object.entries(NETS))
  for (const [kind, make] of Object.entries(KINDS)) {
    const test = (what: string, scene: (net: Net) => Promise<void>): void => void it(what, () => play(scene));

    describe(`${kind} that a program transfers too early, over ${name}`, () => {
      test('fails its request or its message where it has to be sent again, and nothing else', async (net) => {
        const { client, isWell } = await asked(net);
        for (const begin of [
          (body: Uint8Array) => client.request('9', body),
          (body: Uint8Array) => client.send(body, { receipt: true }),
        ]) {
          const body = make(BYTES);
          net.cut();
          const sent = codeOf(begin(body));
          transfer(body);
          assert.equal(await net.settled(sent), 'XIO_E_NO_USER_BUFS');
          assert.ok(await isWell());
        }
      });

      for (const bytes of [BYTES, SHORTER])
        test(`has an answer of ${bytes} bytes come elsewhere, and whole`, async (net) => {
          const { client, isWell } = await asked(net);
          for (let turns = 0; turns < 12; turns += 1) {
            const into = make(bytes);
            const response = client.request(`${bytes}`, undefined, { into });
            await net.sim.sleep(turns / 100);
            transfer(into);
            assert.deepEqual((await net.settled(response)).body, pattern(bytes, 1));
          }
          assert.ok(await isWell());
        });

      for (const bytes of [BYTES, SHORTER])
        test(`has an answer of ${bytes} bytes come elsewhere, though its view keeps its length`, async (net) => {
          const { client, isWell } = await asked(net);
          const into = stale(make(bytes));
          net.cut();
          const response = client.request(`${bytes}`, undefined, { into });
          transfer(into);
          assert.deepEqual((await net.settled(response)).body, pattern(bytes, 1));
          assert.ok(await isWell());
        });

      test('has an answer come that needs nothing of it', async (net) => {
        const { client, isWell } = await asked(net);
        for (const [bytes, pieces] of [
          [0, 1],
          [0, 3],
          [9, 3],
        ] as const) {
          const into = Array.from({ length: pieces }, () => make(20));
          const response = client.request(`${bytes}`, undefined, { into });
          transfer(into[0]);
          const { body } = await net.settled(response);
          assert.equal(body.length, bytes);
          if (bytes > 0) assert.deepEqual(body, pattern(bytes, 1));
        }
        assert.ok(await isWell());
      });

      test('is missed by nobody where a body without bytes lay in it', async (net) => {
        const { client, isWell } = await asked(net);
        for (const begin of [
          (body: Uint8Array) => client.request('9', body, { placement: 'rdma' }),
          (body: Uint8Array) => client.request('9', body),
          (body: Uint8Array) => client.send(body),
        ]) {
          const body = make(20).subarray(20);
          net.cut();
          const sent = codeOf(begin(body));
          transfer(body);
          assert.equal(await net.settled(sent), 'resolved');
          // It is gone by the time that it is asked for.
          assert.equal(await net.settled(codeOf(begin(body))), 'resolved');
        }
        assert.ok(await isWell());
      });

      test('harms nobody where the request was given up', async (net) => {
        const { client, isWell } = await asked(net);
        for (let turns = 0; turns < 12; turns += 1) {
          const into = make(BYTES);
          const giver = new AbortController();
          const given = codeOf(client.request(`${BYTES}`, undefined, { into, signal: giver.signal }));
          await net.sim.sleep(turns / 100);
          giver.abort();
          transfer(into);
          await net.settled(given);
          assert.ok(await isWell());
        }
        assert.equal(client.statistics.reconnects, 0);
      });

      test('of an answer fails its request', async (net) => {
        await net.listen((session) => {
          session.on('request', (request) => {
            const body = make(BYTES);
            void request.reply('', body);
            transfer(body);
          });
        });
        const client = await net.connect();
        const answer = client.request('', undefined, { deadlineMs: 60_000 });
        // Where it was copied at once, it comes.
        assert.ok(['resolved', 'XIO_E_NO_USER_BUFS'].includes(String(await net.settled(codeOf(answer)))));
        assert.equal(client.failure, undefined);
      });

      test('fails what was to be read there, or written from there', async (net) => {
        const memory = alloc(3 << 20).fill(5);
        await net.listen((session) => {
          const share = session.share(memory, { access: 'read-write' });
          session.on('request', () => ({ body: share.token }));
        });
        const client = await net.connect();
        const { body: token } = await client.request('');
        for (const begin of [
          (bytes: Uint8Array) => client.read(token, 0, bytes, { deadlineMs: 60_000 }),
          (bytes: Uint8Array) => client.write(token, 0, bytes, { deadlineMs: 60_000 }),
        ])
          for (let turns = 0; turns < 12; turns += 1) {
            const bytes = make(memory.length).fill(5);
            const access = codeOf(begin(bytes));
            await net.sim.sleep(turns / 100);
            transfer(bytes);
            assert.ok(['resolved', 'XIO_E_NO_USER_BUFS'].includes(String(await net.settled(access))));
            assert.ok(memory.every((byte) => byte === 5));
          }
        assert.equal(client.failure, undefined);
      });

      test('of a grant is neither read nor written any more', async (net) => {
        await net.listen((session) => session.accept());
        const client = await net.connect();
        await net.until(() => net.served.length === 1);
        for (const how of ['read', 'write'] as const)
          for (let turns = 0; turns < 12; turns += 1) {
            const memory = make(BYTES);
            const share = net.served[0].share(memory, { access: 'read-write' });
            const access = codeOf(client[how](share.token, 0, alloc(BYTES), { deadlineMs: 60_000 }));
            await net.sim.sleep(turns / 100);
            transfer(memory);
            const told = await net.settled(access);
            const failures = ['XIO_E_USER_OBJ_NOT_FOUND', 'XIO_E_NO_USER_BUFS', 'XIO_E_READ_FAILED'];
            assert.ok(['resolved', ...failures].includes(String(told)), String(told));
            share.revoke();
          }
        assert.equal(client.failure, undefined);
      });
    });
  }
