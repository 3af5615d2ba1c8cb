import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SeededRandom } from '../../../../device/link/simulated/index.js';
import {
  alloc,
  type Context,
  createEventChannel,
  createId,
  gidFromIp,
  MwType,
  PortSpace,
  QpState,
  QpType,
  SendFlags,
  WcStatus,
  WrOpcode,
} from '../../../../entry/index.js';
import { SimulatedCluster } from '../../../../entry/sim.js';
import type { EndVerb } from '../../../../device/adapter/command.js';
import { ALL_ACCESS, drainOne, makeSide, pattern, type Side } from '../../../../providers/soft/test/support/pair.js';
import { holdingsOf } from '../../../../../test/support/holdings.js';
import { another, hostOf, join } from './support/clients.js';
import { seedsOf } from '../../../../../test/support/share.js';

const SEEDS = Number(process.env['VERBENA_TEST_TIMES'] ?? 10);
const STEPS = 120;
const BYTES = 20_000;
const FOR_GOOD_US = 600_000_000;
const ENDINGS: readonly EndVerb[] = [
  'deallocPd',
  'deregMr',
  'deallocMw',
  'destroyCompChannel',
  'destroyCompCntr',
  'destroyCq',
  'closeXrcd',
  'destroySrq',
  'destroyAh',
  'destroyQp',
];

/** Objects of each kind, as `holdingsOf` counts those of a NIC. */
type Counts = Record<'pds' | 'regions' | 'windows' | 'channels' | 'cqs' | 'srqs' | 'xrcds' | 'qps' | 'ahs', number>;
const NONE: Counts = { pds: 0, regions: 0, windows: 0, channels: 0, cqs: 0, srqs: 0, xrcds: 0, qps: 0, ahs: 0 };
const kinds = Object.keys(NONE) as (keyof Counts)[];

/** A client that lives at random, and what it must have by what it did. */
class Life {
  readonly counts: Counts = { ...NONE };
  readonly #own: Side;
  readonly #peer: Side;
  readonly #ends: (() => void)[] = [];

  constructor(
    readonly context: Context,
    private readonly elsewhere: Context,
    private readonly random: SeededRandom,
  ) {
    this.#own = makeSide(context);
    this.#peer = makeSide(elsewhere);
    join(this.#own, this.#peer);
    this.#count({ pds: 1, regions: 1, channels: 1, cqs: 1, qps: 1 });
  }

  live(): void {
    const own = this.#own;
    const { pd, context } = own;
    const deeds = [
      () => this.#post(own, this.#peer),
      () => this.#post(this.#peer, own),
      () => own.cq.poll(16),
      () => own.cq.reqNotify(),
      () => own.qp.modify({ qpState: QpState.ERR }),
      () => this.#keep({ regions: 1 }, pd.regMr(alloc(64), ALL_ACCESS)),
      () => this.#keep({ windows: 1 }, pd.allocMw(MwType.TYPE_2)),
      () => this.#keep({ srqs: 1 }, pd.createSrq({ maxWr: 4, maxSge: 1 })),
      () => this.#keep({ xrcds: 1 }, context.openXrcd()),
      () => this.#keep({ ahs: 1 }, pd.createAh({ grh: { dgid: this.elsewhere.queryGid(1, 0) } })),
      () => this.#joinGroup(),
      () => this.#listen(),
      () => this.#ends.pop()?.(),
    ];
    deeds[this.random.u32() % deeds.length]();
  }

  #post(from: Side, to: Side): void {
    const opcode = this.random.u32() % 2 === 0 ? WrOpcode.RDMA_WRITE : WrOpcode.RDMA_READ;
    const rdma = { remoteAddr: to.mr.addr, rkey: to.mr.rkey };
    from.cq.poll(16);
    if (from.qp.state !== QpState.RTS) return;
    from.qp.postSend({ opcode, sendFlags: SendFlags.SIGNALED, sgList: [from.mr.sge(0, BYTES)], rdma });
  }

  #joinGroup(): void {
    const { pd, cq } = this.#own;
    const ud = pd.createQp({ qpType: QpType.UD, sendCq: cq, recvCq: cq });
    ud.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qkey: 7 });
    ud.attachMcast(gidFromIp(`224.1.2.${this.random.u32() % 4}`));
    this.#count({ qps: 1 });
  }

  #listen(): void {
    const id = createId(createEventChannel({ contexts: [this.context] }), PortSpace.TCP);
    id.bindAddr({ port: 0 });
    id.listen();
  }

  #keep(counts: Partial<Counts>, made: Disposable): void {
    this.#count(counts);
    this.#ends.push(() => {
      made[Symbol.dispose]();
      for (const kind of kinds) this.counts[kind] -= counts[kind] ?? 0;
    });
  }

  #count(more: Partial<Counts>): void {
    for (const kind of kinds) this.counts[kind] += more[kind] ?? 0;
  }
}

function play(seed: number): void {
  const random = new SeededRandom(seed);
  const cluster = new SimulatedCluster({ seed, conditions: { delayUs: 10, loss: seed % 3 === 0 ? 0.02 : 0 } });
  const first = cluster.open('10.0.0.1');
  const elsewhere = cluster.open('10.0.0.2');
  const [here, there] = [makeSide(first), makeSide(elsewhere)];
  join(here, there);
  const rdma = { remoteAddr: there.mr.addr, rkey: there.mr.rkey };
  const guest = another(first);
  const before = holdingsOf(first);
  const lives = new Set<Life>();
  for (let step = 0; step < STEPS; step += 1) {
    const chosen = [...lives].at(random.u32() % Math.max(1, lives.size));
    if (chosen === undefined || (lives.size < 6 && random.u32() % 8 === 0))
      lives.add(new Life(another(first), elsewhere, random));
    else if (random.u32() % 12 === 0) {
      lives.delete(chosen);
      chosen.context.close();
    } else chosen.live();
    // Whatever it does, whoever stays has its traffic.
    here.mr.bytes.set(pattern(BYTES));
    there.mr.bytes.fill(0, 0, BYTES);
    here.qp.postSend({
      opcode: WrOpcode.RDMA_WRITE,
      sendFlags: SendFlags.SIGNALED,
      sgList: [here.mr.sge(0, BYTES)],
      rdma,
    });
    if (random.u32() % 2 === 0) cluster.run(cluster.nowUs + (random.u32() % 300));
    // A client that has made nothing can end nothing, whichever number it says.
    for (const verb of ENDINGS)
      assert.throws(() => hostOf(guest).execute(verb, random.u32() % 64), { errno: 'EINVAL' });
    const held = holdingsOf(first);
    for (const kind of kinds) {
      const expected = [...lives].reduce((sum, { counts }) => sum + counts[kind], before[kind] ?? 0);
      assert.equal(held[kind], expected, `${kind} after step ${step}`);
    }
    assert.equal(drainOne(here.cq).status, WcStatus.SUCCESS);
    assert.deepEqual(there.mr.bytes.subarray(0, BYTES), pattern(BYTES));
  }
  for (const { context } of lives) context.close();
  cluster.run(cluster.nowUs + FOR_GOOD_US);
  assert.deepEqual(holdingsOf(first), before);
}

describe('clients that live and die at random', () => {
  test(`leave one that stays as it was, with the share of ${SEEDS} seeds`, () => {
    for (const seed of seedsOf(SEEDS)) {
      try {
        play(seed);
      } catch (error) {
        if (error instanceof Error) error.message = `seed ${seed}: ${error.message}`;
        throw error;
      }
    }
  });
});
