import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { type Context, openDevice, WcStatus, WrOpcode } from '../../../entry/index.js';
import { connectTo, infoOf } from '../../../providers/soft/test/support/ends.js';
import { drainOne, makeSide, pattern } from '../../../providers/soft/test/support/pair.js';
import { asEndInfo, Program } from './programs.js';
import { loopback } from '../../../../test/support/loopback.js';

const NAMES = ['VERBENA_NETEM', 'VERBENA_LINK'] as const;
const inherited = NAMES.map((name) => process.env[name]);

afterEach(() => {
  for (const [i, name] of NAMES.entries()) {
    const value = inherited[i];
    if (value === undefined) Reflect.deleteProperty(process.env, name);
    else process.env[name] = value;
  }
});

const WORDS = 'loss 5% dup 5% reorder 10% corrupt 5% delay 100us 50us';

function count(context: Context, name: string): number {
  return context.counters()[`link_netem_${name}`];
}

describe('devices of two processes whose packets are disturbed', () => {
  for (const [mine, theirs] of [
    ['inline', 'thread'],
    ['thread', 'inline'],
  ] as const) {
    test(`${mine} and ${theirs}: what RC transfers arrives whole`, async () => {
      process.env['VERBENA_NETEM'] = `${WORDS} both seed 7`;
      const warnings: string[] = [];
      using context = openDevice({ host: mine, address: loopback(1), warn: (text) => warnings.push(text) });
      const side = makeSide(context);
      await using program = new Program('echo', [theirs, loopback(2)], { VERBENA_NETEM: `${WORDS} seed 8` });
      connectTo(side, asEndInfo(await program.message()));
      program.send(infoOf(side));
      await program.message();
      for (let round = 0; round < 40; round += 1) {
        const data = pattern(4096, round);
        side.mr.bytes.set(data);
        side.qp.postRecv({ sgList: [side.mr.sge(32768, 4096)] });
        side.qp.postSend({ opcode: WrOpcode.SEND, sgList: [side.mr.sge(0, 4096)] });
        assert.equal(drainOne(side.cq).status, WcStatus.SUCCESS);
        assert.deepEqual(side.mr.bytes.subarray(32768, 32768 + 4096), data.reverse());
      }
      const done = ['lost', 'duplicated', 'reordered', 'corrupted', 'delayed'].map((name) => count(context, name) > 0);
      assert.deepEqual(done, [true, true, true, true, true]);
      assert.deepEqual(warnings, [
        `packets are disturbed: '${WORDS} both seed 7' (option netem, or VERBENA_NETEM) does the same again`,
      ]);
      program.send({ end: true });
    });
  }
});

test('a disturbed device sends all packets by UDP, which may be lost', () => {
  using context = openDevice({ host: 'inline', address: loopback(3), netem: 'loss 1%', warn: () => {} });
  assert.equal('link_local_sent_packets' in context.counters(), false);
});

test('the option has precedence, and without words there is no disturbance', () => {
  process.env['VERBENA_NETEM'] = 'loss 100%';
  using context = openDevice({ host: 'inline', address: loopback(4), netem: '' });
  assert.equal('link_netem_lost' in context.counters(), false);
});

test('words that mean nothing are refused with an example', () => {
  process.env['VERBENA_NETEM'] = 'loss 1% gremlins 3%';
  assert.throws(() => openDevice(), { errno: 'EINVAL', message: /'gremlins'.*loss 1% dup.*VERBENA_NETEM/ });
});

test('shared memory alone and disturbance exclude each other', () => {
  assert.throws(() => openDevice({ link: 'shm', netem: 'loss 1%' }), { errno: 'EINVAL', message: /'shm'/ });
});
