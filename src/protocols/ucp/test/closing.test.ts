import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Sim, simulate } from '../../../entry/sim.js';
import { Engine } from '../../core/index.js';
import { UcpDatatype } from '../worker/datatype.js';
import { UcpError } from '../worker/errors.js';
import { UcpWorker } from '../worker/worker.js';
import { UcsStatus } from '../wire/index.js';
import { pattern, PORT, until } from './support/transports.js';
import { type AnyWorkers, ALL_WAYS, connected } from './support/workers.js';

const NOTHING = new Uint8Array(0);
const CANCELED = { status: UcsStatus.UCS_ERR_CANCELED };

/** What is asked of an endpoint and of its peer, all of which is to end. */
function everything({ client, server, there, back }: AnyWorkers): Promise<unknown>[] {
  const rkey = there.unpackRkey(server.memMap(100_000).packRkey());
  const lengths = [0, 100, 20_000, 100_000];
  return [
    ...lengths.flatMap((length) => [
      there.tagSend(new Uint8Array(length), 7),
      there.tagSendSync(new Uint8Array(length), 8),
      there.amSend(1, NOTHING, new Uint8Array(length)),
      there.streamSend(new Uint8Array(length)),
      there.put(new Uint8Array(length), rkey.address, rkey),
      there.get(new Uint8Array(length), rkey.address, rkey),
      server.tagReceive(new Uint8Array(length), 7),
      client.tagReceive(new Uint8Array(length), 7),
      back.streamReceive(new Uint8Array(length + 1)),
    ]),
    there.atomicFetch('add', 1n, rkey.address, rkey),
    there.flush(),
    client.flush(),
  ];
}

/** @returns what each came to, once all have ended */
async function endings(sim: Sim, all: readonly Promise<unknown>[]): Promise<readonly unknown[]> {
  const outcomes = all.map((one) => one.then(() => undefined).catch((error: unknown) => error));
  const late = sim.sleep(200e6).then(() => Promise.reject(new Error('something never ends')));
  return Promise.race([Promise.all(outcomes), late]);
}

function assertStatuses(outcomes: readonly unknown[]): void {
  for (const outcome of outcomes)
    if (outcome !== undefined) assert.ok(outcome instanceof UcpError, 'it has a status of UCX');
}

describe('with everything under way', () => {
  for (const [name, connect] of Object.entries(ALL_WAYS)) {
    for (const afterUs of [0, 10, 60, 300])
      it(`both workers by ${name} can be closed after ${afterUs} µs: all ends, with a status`, () =>
        simulate(async (sim) => {
          const made = await connect(sim);
          const all = everything(made);
          const ended = endings(sim, all);
          if (afterUs > 0) await sim.sleep(afterUs);
          made.client.close();
          made.server.close();
          assertStatuses(await ended);
          await made.close();
        }));

    for (const what of ['the endpoint', 'its worker', 'both workers'])
      it(`${what} can be closed in a handler, by ${name}`, () =>
        simulate(async (sim) => {
          const made = await connect(sim);
          let handled = 0;
          made.server.setAmHandler(1, () => {
            handled += 1;
            if (handled < 2) return;
            if (what === 'the endpoint') made.back.close();
            else made.server.close();
            if (what === 'both workers') made.client.close();
          });
          const all = everything(made);
          const ended = endings(sim, all);
          await sim.sleep(10_000);
          made.client.close();
          made.server.close();
          assertStatuses(await ended);
          assert.equal(handled, 2, 'nothing comes to a handler that has closed');
          await made.close();
        }));

    for (const protocol of ['eager', 'rendezvous'] as const)
      it(`the endpoint that a message is to be answered by can be closed in its handler, ${protocol}, by ${name}`, () =>
        simulate(async (sim) => {
          const made = await connect(sim);
          const { there, server } = made;
          const came: Promise<PromiseSettledResult<unknown>[]>[] = [];
          server.setAmHandler(1, (message) => {
            message.replyEndpoint?.close();
            const answering = message.replyEndpoint?.amSend(1, NOTHING, NOTHING);
            came.push(Promise.allSettled([message.keep().receive(new Uint8Array(20_000)), answering]));
          });
          const sends = [0, 100, 20_000].map((length) =>
            there.amSend(1, NOTHING, new Uint8Array(length), { protocol, reply: true }),
          );
          const sent = endings(sim, sends);
          await sim.sleep(10_000);
          assert.equal(came.length, 1, 'nothing more comes to a handler that has closed');
          const [received, answered] = await came[0];
          assert.equal(answered.status, 'rejected');
          // What has come can be read; what was only announced will not come.
          assert.equal(received.status, protocol === 'eager' ? 'fulfilled' : 'rejected');
          assertStatuses(await sent);
          assert.equal(server.amBytes, 0);
          await made.close();
        }));

    for (const when of ['packs', 'makes ready to unpack', 'unpacks'] as const)
      it(`a worker can be closed by a program that ${when}, by ${name}`, () =>
        simulate(async (sim) => {
          const made = await connect(sim);
          const { client, server, there, back } = made;
          const both = (): void => {
            client.close();
            server.close();
          };
          const at = (now: typeof when): void => {
            if (now === when) both();
          };
          const closing = new UcpDatatype<undefined>({
            startPack: () => ({ packedSize: 9, pack: () => (at('packs'), 9) }),
            startUnpack: () => {
              at('makes ready to unpack');
              return { packedSize: 9, unpack: () => at('unpacks') };
            },
          }).of(undefined);
          server.setAmHandler(1, (message) => void all.push(message.keep().receive(closing)));
          const all: Promise<unknown>[] = [
            server.tagReceive(closing, 1),
            back.streamReceive(closing, { waitAll: true }),
            there.tagSend(closing, 1),
            there.amSend(1, NOTHING, closing),
            there.streamSend(closing),
          ];
          const ended = endings(sim, all);
          await sim.sleep(10_000);
          both();
          assertStatuses(await ended);
          await made.close();
        }));

    it(`a worker can be closed where it is told why its endpoint has failed, by ${name}`, () =>
      simulate(async (sim) => {
        const made = await connect(sim);
        const ended = endings(sim, everything(made));
        made.there.setErrorHandler(() => made.client.close());
        made.back.close();
        await sim.sleep(10_000);
        made.client.close();
        made.server.close();
        assertStatuses(await ended);
        await made.close();
      }));
  }
});

describe('a worker that was closed', () => {
  it('lets nobody wait for a message', () =>
    simulate(async (sim) => {
      const made = await ALL_WAYS['rc'](sim);
      await made.there.tagSend(Uint8Array.of(1), 1);
      await made.there.flush();
      const waiting = made.server.tagReceive(new Uint8Array(1), 2);
      made.server.close();
      await assert.rejects(waiting, CANCELED);
      assert.equal((await made.server.tagReceive(new Uint8Array(1), 1)).length, 1, 'what has come is there');
      await assert.rejects(made.server.tagReceive(new Uint8Array(1), 1), CANCELED);
      await made.close();
    }));

  for (const transport of ['rc', 'ud'] as const)
    for (const where of ['accept', 'onEndpoint'] as const)
      it(`where it was asked by another, in ${where}, by ${transport}, leaves nothing behind`, () =>
        simulate(async (sim) => {
          const [here, there] = [sim.host('here'), sim.host('there')];
          const [client, server] = [here, there].map(({ context }) => new UcpWorker(context, { transport }));
          const accept = (): boolean => {
            if (where === 'accept') server.close();
            return true;
          };
          server.listen({ port: PORT, accept }, () => server.close());
          const connecting = here.run(() => client.connect({ host: 'there', port: PORT, timeoutMs: 1000 }));
          const [outcome] = await endings(sim, [
            connecting.then((endpoint) => endpoint.tagSendSync(new Uint8Array(1), 1)),
          ]);
          assert.ok(outcome instanceof Error);
          client.close();
          assert.equal(server.query().endpoints, 0);
          await sim.sleep(10_000);
          for (const { context } of [here, there]) Engine.of(context).close();
        }));

  for (const transport of ['rc', 'ud'] as const)
    it(`makes nothing new, by ${transport}`, () =>
      simulate(async (sim) => {
        const { context } = sim.host('alone');
        const worker = new UcpWorker(context, { transport });
        worker.close();
        await assert.rejects(worker.connect({ host: 'alone', port: PORT }), CANCELED);
        assert.throws(() => worker.listen({ port: PORT }, () => undefined), CANCELED);
        assert.throws(() => worker.connectToSelf(), CANCELED);
        assert.throws(() => worker.memMap(100), CANCELED);
        Engine.of(context).close();
      }));
});

it('posts by rc what was sent in the same turn, and of which its program was told so, before it closes', () =>
  simulate(async (sim) => {
    const { client, server, there } = await connected(sim);
    await Promise.all(Array.from({ length: 3 }, (_, i) => there.tagSend(pattern(8), i)));
    there.close();
    await until(sim, () => [0, 1, 2].every((tag) => server.tagProbe(tag) !== undefined));
    client.close();
    server.close();
  }));
