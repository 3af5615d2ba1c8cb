import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AccessFlags, alloc } from '../../../../entry/index.js';
import { connectServer, type ClientConnection } from '../../client/establish.js';
import { CLIENT_TRANSPORTS } from '../../client/transports.js';
import type { TransportName } from '../../index.js';
import { type Asked, encodeRequest, NO_SESSION, Operation, requestBytes, type Welcome } from '../../wire/index.js';
import { simulate, type Sim, type SimHost } from '../../../../entry/sim.js';
import { hostOf, PORT, served, text } from '../support/served.js';

const WINDOW = 4;
/** Of a network as Ethernet is one: a path MTU of 1024 bytes and headers. */
const NARROW = { maxPacketBytes: 1024 + 96 };

/** A way to the server on which a test says what it likes, of a new session or of that of another way. */
function wayOf(
  host: SimHost,
  transport: TransportName,
  { welcome }: Partial<ClientConnection> = {},
): Promise<ClientConnection> {
  const { session = NO_SESSION, epoch = 0 }: Partial<Welcome> = welcome ?? {};
  const where = { host: 'server', port: PORT, context: host.context };
  return host.run(() => connectServer(where, { window: WINDOW, session, epoch }, CLIENT_TRANSPORTS[transport]));
}

/** Sends a request of slot 0, and waits for what may come. @returns bytes of each answer */
async function say(sim: Sim, { link, welcome: { session, epoch } }: ClientConnection, asked: Asked): Promise<number[]> {
  const answers: number[] = [];
  link.listen({
    onMessage: (bytes) => void answers.push(bytes.length),
    onRoom: () => undefined,
    onLost: () => undefined,
  });
  const bytes = new Uint8Array(requestBytes(asked));
  encodeRequest(bytes, { session, epoch, slot: 0, sequence: 1 }, asked);
  link.send(bytes, 0);
  await sim.sleep(1000);
  return answers;
}

function end({ connection, link }: ClientConnection): void {
  connection[Symbol.dispose]();
  link.destroyed();
}

describe('a session that goes on by another way', () => {
  for (const transport of ['ud', 'uc'] satisfies readonly TransportName[])
    it(`has no answer by ${transport} that is too long for it, and no other client hears of that`, () =>
      simulate(async (sim) => {
        for (const name of ['server', 'honest', 'writer', 'rogue']) sim.host(name, NARROW);
        const { client: connected } = served(sim, {}, { transport: 'ud' });
        using honest = await connected('honest');
        await honest.set('long', 'v'.repeat(900));
        using writer = await connected('writer', { transport: 'rc' });
        await writer.set('long', 'v'.repeat(3000));
        const rogue = hostOf(sim, 'rogue');
        const wide = await wayOf(rogue, 'rc');
        const memory = wide.link.engine.pd.regMr(alloc(4096), AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE);
        const remote = { addr: memory.iova, rkey: memory.rkey, length: 4096 };
        const key = new TextEncoder().encode('long');
        const get = { operation: Operation.GET, key, value: new Uint8Array(0), remote, ttlMs: 0, operand: 0n };
        assert.deepEqual(await say(sim, wide, get), [32 + 3000]);
        const narrow = await wayOf(rogue, transport, wide);
        assert.deepEqual(await say(sim, narrow, get), []);
        await honest.set('a', '1');
        assert.equal(text(await honest.get('a')), '1');
        assert.equal(honest.statistics.resumptions, 0);
        for (const way of [wide, narrow]) end(way);
        memory.dereg();
      }));
});
