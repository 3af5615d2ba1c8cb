import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  AddressFamily,
  raccept,
  rbind,
  rclose,
  rconnect,
  rlisten,
  rrecv,
  rsend,
  rsocket,
  SocketType,
} from '../../entry/rsocket.js';
import * as messages from '../../entry/messages.js';
import { type Sim, type SimHost, simulate } from '../../entry/sim.js';
import { UcpWorker, type UcpEndpoint } from '../../entry/ucp.js';
import * as xio from '../../entry/xio.js';

const PORT = 7174;
const COUNT = 100;

/** How the sender ends after its data was sent. */
type End = 'in order' | 'at once' | 'by a crash';
const ENDS: readonly End[] = ['in order', 'at once', 'by a crash'];

interface Sender {
  send(i: number): Promise<unknown>;
  end(): Promise<unknown>;
  drop(): void;
}

interface Receiver {
  /** Takes everything up to the end. @returns how much it was, and how it ended */
  readAll(): Promise<{ readonly count: number; readonly end: unknown }>;
  /** Ends it, so that nothing waits for a peer that is gone. */
  close(): void;
}

type Connect = (sim: Sim, server: SimHost, client: SimHost) => Promise<readonly [Sender, Receiver]>;

/** Takes one after the other until it fails. @param take gives 0 at the end */
async function counted(take: () => Promise<number>): Promise<{ readonly count: number; readonly end: unknown }> {
  let count = 0;
  try {
    for (let taken = await take(); taken > 0; taken = await take()) count += taken;
    return { count, end: 'the end' };
  } catch (error) {
    return { count, end: error };
  }
}

const APIS: Readonly<Record<string, Connect>> = {
  messages: async (_, server, client) => {
    const listener = messages.listen({ port: PORT, context: server.context, window: COUNT, keepAliveMs: 1000 });
    const accepted = listener[Symbol.asyncIterator]().next();
    const receiver = await client.run(() =>
      messages.connect({ host: 'server', port: PORT, window: COUNT, keepAliveMs: 1000 }),
    );
    const { value: sender } = await accepted;
    assert.ok(sender);
    return [
      { send: (i) => sender.send(Uint8Array.of(i)), end: () => sender.close(), drop: () => sender[Symbol.dispose]() },
      {
        readAll: () => counted(async () => ((await receiver.receive()) === undefined ? 0 : 1)),
        close: () => receiver[Symbol.dispose](),
      },
    ];
  },
  'calls of rsocket': async (_, server, client) => {
    const socketOf = (host: SimHost) => rsocket(AddressFamily.INET, SocketType.STREAM, 0, { context: host.context });
    const listener = socketOf(server);
    rbind(listener, { host: server.address, port: PORT });
    rlisten(listener, 1);
    const accepted = raccept(listener);
    const receiver = socketOf(client);
    await rconnect(receiver, { host: server.address, port: PORT });
    const sender = await accepted;
    const byte = new Uint8Array(1);
    return [
      { send: (i) => rsend(sender, Uint8Array.of(i)), end: () => rclose(sender), drop: () => void rclose(sender) },
      { readAll: () => counted(() => rrecv(receiver, byte)), close: () => void rclose(receiver) },
    ];
  },
  xio: async (_, server, client) => {
    const serving = await server.run(() => xio.listen({ port: PORT, context: server.context }));
    const accepted = serving[Symbol.asyncIterator]().next();
    const connecting = client.run(() => xio.connect(`rdma://server:${PORT}`));
    const { value: sender } = await accepted;
    assert.ok(sender);
    sender.on('request', () => ({}));
    const receiver = await connecting;
    return [
      { send: (i) => sender.send(Uint8Array.of(i)), end: () => sender.close(), drop: () => sender.abort() },
      {
        readAll: async () => {
          const iterator = receiver.messages();
          return counted(async () => {
            const { value } = await iterator.next();
            value?.release();
            return value === undefined ? 0 : 1;
          });
        },
        close: () => receiver.abort(),
      },
    ];
  },
  ...Object.fromEntries(
    (['rc', 'ud'] as const).map((transport): [string, Connect] => [
      `streams of ucp by ${transport}`,
      async (_, server, client) => {
        const [sending, receiving] = [server, client].map(
          ({ context }) => new UcpWorker(context, { transport, window: COUNT }),
        );
        const accepted = new Promise<UcpEndpoint>((resolve) => sending.listen({ port: PORT }, resolve));
        const receiver = await client.run(() => receiving.connect({ host: 'server', port: PORT }));
        const sender = await accepted;
        const byte = new Uint8Array(1);
        return [
          {
            send: (i) => sender.streamSend(Uint8Array.of(i)),
            end: () => sender.flushAndClose(),
            drop: () => sender.close(),
          },
          { readAll: () => counted(() => receiver.streamReceive(byte)), close: () => receiver.close() },
        ];
      },
    ]),
  ),
};

for (const [name, connect] of Object.entries(APIS))
  describe(`what has arrived comes before the failure of its connection, by ${name}`, () => {
    for (const end of ENDS)
      for (const isPaused of [false, true])
        it(`whose peer ends ${end}${isPaused ? ', to a host that is paused meanwhile' : ''}`, () =>
          simulate(async (sim) => {
            const [server, client] = [sim.host('server'), sim.host('client')];
            const [sender, receiver] = await connect(sim, server, client);
            await sim.sleep(1000);
            let delivered = 0;
            // The receiver is slow, or even paused: its data and the end come to it at the same time.
            if (isPaused) client.pause();
            const sends = Promise.allSettled(
              Array.from({ length: COUNT }, async (_, i) => {
                await sender.send(i);
                delivered += 1;
              }),
            );
            await sim.sleep(isPaused ? 20 : 10_000);
            const least = isPaused ? 1 : delivered;
            const ending = end === 'in order' ? sender.end().catch(() => undefined) : undefined;
            if (end === 'at once') sender.drop();
            if (end === 'by a crash') server.crash();
            await sim.sleep(100);
            if (isPaused) client.resume();
            const reading = receiver.readAll();
            await sim.sleep(1_000_000);
            receiver.close();
            const { count, end: how } = await reading;
            assert.ok(count >= least, `${count} came of ${least} before ${String(how)}`);
            if (end !== 'in order') return;
            await ending;
            await sends;
            assert.equal(count, delivered);
          }));
  });
