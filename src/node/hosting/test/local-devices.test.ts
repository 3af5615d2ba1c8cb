import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { type Context, type LinkKind, openDevice, WcStatus, WrOpcode } from '../../../entry/index.js';
import { connectTo, infoOf } from '../../../providers/soft/test/support/ends.js';
import {
  drain,
  drainOne,
  makeSide,
  type PairOptions,
  pattern,
  type Side,
} from '../../../providers/soft/test/support/pair.js';
import { asEndInfo, Program } from './programs.js';
import { loopback } from '../../../../test/support/loopback.js';

const inherited = process.env['VERBENA_LINK'];

afterEach(() => {
  if (inherited === undefined) Reflect.deleteProperty(process.env, 'VERBENA_LINK');
  else process.env['VERBENA_LINK'] = inherited;
});

function localPackets(context: Context): number {
  return context.counters()['link_local_received_packets'] ?? 0;
}

/** A process that answers SENDs, connected to a side here. */
async function echo(side: Side, host: string, link: LinkKind, options: PairOptions = {}): Promise<Program> {
  const program = new Program('echo', [host, loopback(2)], { VERBENA_LINK: link });
  connectTo(side, asEndInfo(await program.message()), options);
  program.send(infoOf(side));
  await program.message();
  return program;
}

function exchange(side: Side, lengths: readonly number[]): void {
  for (const length of lengths) {
    const data = pattern(length);
    side.mr.bytes.set(data);
    side.qp.postRecv({ sgList: [side.mr.sge(32768, 4096)] });
    side.qp.postSend({ opcode: WrOpcode.SEND, sgList: [side.mr.sge(0, length)] });
    const { status, byteLen } = drainOne(side.cq);
    assert.deepEqual([status, byteLen], [WcStatus.SUCCESS, length]);
    assert.deepEqual(side.mr.bytes.subarray(32768, 32768 + length), data.reverse());
  }
}

describe('devices of two processes on one machine', () => {
  for (const [mine, theirs] of [
    ['inline', 'inline'],
    ['inline', 'thread'],
    ['thread', 'inline'],
    ['thread', 'thread'],
  ] as const) {
    for (const [here, there, byMemory] of [
      ['auto', 'auto', true],
      ['shm', 'shm', true],
      ['udp', 'auto', false],
      ['auto', 'udp', false],
    ] as const) {
      test(`${mine} and ${theirs}, link ${here} and ${there}: ${byMemory ? 'by memory' : 'by UDP'}`, async () => {
        using context = openDevice({ host: mine, address: loopback(1), link: here });
        const side = makeSide(context);
        await using program = await echo(side, theirs, there);
        exchange(side, [1, 64, 1027, 4096]);
        assert.equal(localPackets(context) > 0, byMemory);
        program.send({ end: true });
        const { code, stderr } = await program.ended();
        assert.deepEqual([code, stderr], [0, '']);
      });
    }
  }

  for (const host of ['inline', 'thread'] as const) {
    test(`a peer that is killed ends requests as one behind a network does, and its successor is reached (${host})`, async () => {
      using context = openDevice({ host, address: loopback(1) });
      const side = makeSide(context);
      const program = await echo(side, host, 'auto', { timeout: 14 });
      exchange(side, [64]);
      await program[Symbol.asyncDispose]();
      side.qp.postSend([1, 2].map((wrId) => ({ wrId, opcode: WrOpcode.SEND })));
      assert.deepEqual(
        drain(side.cq, 2).map(({ status }) => status),
        [WcStatus.RETRY_EXC_ERR, WcStatus.WR_FLUSH_ERR],
      );
      const next = makeSide(context);
      await using successor = await echo(next, host, 'auto');
      const before = localPackets(context);
      exchange(next, [64]);
      assert.ok(localPackets(context) > before);
      successor.send({ end: true });
    });
  }
});

describe('the setting of the link', () => {
  test('comes from the environment, and nothing else is one', () => {
    process.env['VERBENA_LINK'] = 'cable';
    assert.throws(() => openDevice(), { errno: 'EINVAL', message: /'cable'.*VERBENA_LINK/ });
    process.env['VERBENA_LINK'] = 'udp';
    using context = openDevice({ address: loopback(1), host: 'inline' });
    assert.equal('link_local_sent_packets' in context.counters(), false);
  });

  test('shared memory alone is refused where there is none, with what to do', async () => {
    const env = { VERBENA_LINK: 'shm', VERBENA_NATIVE: 'off' };
    await using program = new Program('echo', ['thread', loopback(2)], env);
    const { code, stderr } = await program.ended();
    assert.notEqual(code, 0);
    assert.match(stderr, /EOPNOTSUPP/);
    assert.match(stderr, /VERBENA_LINK is 'shm'/);
  });
});
