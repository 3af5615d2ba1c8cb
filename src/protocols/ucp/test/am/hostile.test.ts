import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Sim, simulate } from '../../../../entry/sim.js';
import { connectRc, AmHandlers, MemoryDomain } from '../../uct/index.js';
import { UcpWorker } from '../../worker/worker.js';
import type { UcpEndpoint } from '../../worker/endpoint.js';
import { Engine } from '../../../core/index.js';
import { AmFlags, AmId, Messages, RtsOpcode, UcsStatus } from '../../wire/index.js';
import { pattern, PORT, until } from '../support/transports.js';

const NONE = new Uint8Array(0);

/** A worker, and a peer that says whatever it likes. */
async function besieged(sim: Sim) {
  const hosts = [sim.host('liar'), sim.host('server')] as const;
  const server = new UcpWorker(hosts[1].context, { amBytes: 100_000 });
  const accepted = new Promise<UcpEndpoint>((resolve) => server.listen({ port: PORT }, resolve));
  const domain = new MemoryDomain(Engine.of(hosts[0].context));
  const handlers = new AmHandlers();
  const answers: unknown[] = [];
  handlers.set(AmId.RNDV_ATS, (bytes) => answers.push(Messages.RNDV_ATS.decode(bytes)));
  const liar = await hosts[0].run(() => connectRc({ domain, handlers }, { host: 'server', port: PORT }));
  const endpoint = await accepted;
  const says = (id: AmId, bytes: Uint8Array): void => {
    const pack = (into: Uint8Array): number => {
      into.set(bytes);
      return bytes.length;
    };
    assert.equal(liar.amBcopy(id, { pack }), UcsStatus.UCS_OK);
  };
  const close = (): void => {
    liar.close();
    server.close();
    for (const { context } of hosts) Engine.of(context).close();
  };
  return { server, endpoint, says, answers, close };
}

function packed<M>(format: { encode(into: Uint8Array, message: M): number }, message: M): Uint8Array {
  const into = new Uint8Array(4000);
  return into.slice(0, format.encode(into, message));
}

function first(total: number, messageId = 1, payload = 10): [AmId, Uint8Array] {
  const head = { amId: 1, flags: 0, headerBytes: 0 };
  const foot = { messageId, epId: 1, total };
  return [AmId.AM_FIRST, packed(Messages.AM_FIRST, { head, payload: pattern(payload), userHeader: NONE, foot })];
}

function middle(offset: number, payload: number, messageId = 1): [AmId, Uint8Array] {
  const message = { head: { offset }, payload: pattern(payload), userHeader: NONE, foot: { messageId, epId: 1 } };
  return [AmId.AM_MIDDLE, packed(Messages.AM_MIDDLE, message)];
}

function single(flags: number, headerBytes: number): [AmId, Uint8Array] {
  const bytes = new Uint8Array(20);
  new DataView(bytes.buffer).setUint16(0, 1, true);
  new DataView(bytes.buffer).setUint16(2, flags, true);
  new DataView(bytes.buffer).setUint32(4, headerBytes, true);
  return [AmId.AM_SINGLE, bytes];
}

function announced(header: bigint, userHeader: Uint8Array = NONE): [AmId, Uint8Array] {
  const head = { header, epId: 1, requestId: 9, address: 0n, size: 100, opcode: RtsOpcode.AM };
  return [AmId.RNDV_RTS, packed(Messages.RNDV_RTS, { head, rkey: undefined, userHeader })];
}

const LIES: Readonly<Record<string, readonly (readonly [AmId, Uint8Array])[]>> = {
  'has flags that nobody knows': [single(0x8, 0)],
  'has a header longer than itself': [single(0, 13)],
  'has a header longer than anything': [single(0, 0xffff_ffff)],
  'is announced with flags that nobody knows': [announced(0x8_0001n)],
  'is announced with a header longer than itself': [announced((5n << 32n) | 1n, pattern(4))],
  'is cut': [[AmId.AM_SINGLE, new Uint8Array(7)]],
  'wants an answer, and is cut before it says by which endpoint': [[AmId.AM_SINGLE_REPLY, new Uint8Array(15)]],
  'begins twice': [first(100), first(100)],
  'goes on, and has not begun': [middle(10, 10)],
  'goes on elsewhere': [first(100), middle(11, 10)],
  'repeats itself': [first(100), middle(10, 10), middle(10, 10)],
  'goes on by nothing': [first(100), middle(10, 0)],
  'is longer than it said': [first(100), middle(10, 91)],
  'goes on after its end': [first(100), middle(10, 90), middle(100, 1)],
  'is whole, and says that more comes': [first(10)],
  'is longer than can be counted': [[AmId.AM_FIRST, first(100)[1].fill(0xff, -8)]],
  'has a number that cannot be': [[AmId.AM_FIRST, first(100)[1].fill(0xff, -24, -16)]],
};

describe('an active message', () => {
  for (const [what, messages] of Object.entries(LIES))
    it(`that ${what} costs its sender the endpoint, and nothing is left of it`, () =>
      simulate(async (sim) => {
        const { server, endpoint, says, close } = await besieged(sim);
        server.setAmHandler(1, (message) => assert.equal(message.length, 100));
        for (const message of messages) says(...message);
        await until(sim, () => endpoint.failure !== undefined);
        assert.equal(endpoint.failure?.status, UcsStatus.UCS_ERR_IO_ERROR);
        await sim.sleep(1);
        assert.equal(server.amBytes, 0);
        close();
      }));

  it('that is announced to an id that nobody handles is answered, and its sender keeps the endpoint', () =>
    simulate(async (sim) => {
      const { server, endpoint, says, answers, close } = await besieged(sim);
      says(...announced(77n));
      await until(sim, () => answers.length === 1);
      assert.deepEqual(answers, [{ head: { requestId: 9, status: UcsStatus.UCS_OK }, size: undefined }]);
      assert.deepEqual([server.amsDropped, server.amBytes, endpoint.failure], [1, 0, undefined]);
      close();
    }));

  it('in parts to an id that nobody handles takes no memory for its data, however long it is said to be', () =>
    simulate(async (sim) => {
      const { server, endpoint, says, close } = await besieged(sim);
      says(...first(2 ** 50));
      says(...middle(10, 1000));
      await until(sim, () => server.amsDropped === 1);
      await sim.sleep(1);
      assert.ok(server.amBytes <= 256);
      assert.equal(endpoint.failure, undefined);
      close();
    }));

  it('that begins and never ends counts, so that there are no more of them than are kept', () =>
    simulate(async (sim) => {
      const { server, endpoint, says, close } = await besieged(sim);
      server.setAmHandler(1, () => assert.fail('none is whole'));
      for (let i = 1; i < 100 && endpoint.failure === undefined; i += 1) {
        says(...first(2000, i));
        await sim.sleep(1000);
      }
      assert.equal(endpoint.failure?.status, UcsStatus.UCS_ERR_EXCEEDS_LIMIT);
      assert.equal(server.amBytes, 0);
      close();
    }));

  it('can be answered though its sender did not set the flag, when it is of the kind that can', () =>
    simulate(async (sim) => {
      const { server, says, close } = await besieged(sim);
      const seen: boolean[] = [];
      server.setAmHandler(1, ({ replyEndpoint }) => seen.push(replyEndpoint !== undefined));
      const message = { payload: pattern(3), userHeader: NONE };
      for (const flags of [0, AmFlags.REPLY]) {
        const head = { amId: 1, flags, headerBytes: 0 };
        says(AmId.AM_SINGLE_REPLY, packed(Messages.AM_SINGLE_REPLY, { head, ...message, foot: { epId: 9 } }));
      }
      await until(sim, () => seen.length === 2);
      assert.deepEqual(seen, [true, true]);
      close();
    }));
});
