import { Mtu, mtuBytes, WcStatus, WrOpcode } from '../../src/device/ibta/index.js';
import { SeededRandom } from '../../src/device/link/index.js';
import { Captured } from '../../src/device/nic/test/packets.js';
import { pattern } from '../../src/device/nic/test/pair.js';
import type { TestQp } from '../../src/device/nic/test/qp.js';
import type { Completion, SendRequest } from '../../src/device/nic/test/rings.js';
import { RxeWorld } from '../../src/device/nic/test/rxe.js';
import { check } from './failure.js';
import type { Figures } from './game.js';

const KINDS = ['READ', 'WRITE', 'SEND', 'ATOMIC'] as const;
type Kind = (typeof KINDS)[number];

/** What one requester asks of a responder that answers as Soft-RoCE does, and over which network. */
export interface RxePlan {
  readonly seed: number;
  readonly mtu: Mtu;
  readonly depth: number;
  readonly sqPsn: number;
  readonly paceUs: number;
  /** Now and then nothing passes for up to so long. */
  readonly outageUs: number;
  readonly conditions: {
    readonly loss: number;
    readonly duplication: number;
    readonly reordering: number;
    readonly corruption: number;
    readonly reorderDelayUs: number;
  };
  readonly requests: readonly { readonly kind: Kind; readonly bytes: number; readonly pauseUs: number }[];
}

/** Requests under way at once, at most. */
const SQ_ENTRIES = 32;
/** A tail that nothing follows for so long is found out about by whoever sent it. */
const LONG_PAUSE_US = 30_000;
const BETWEEN_OUTAGES_US = 20_000;
const RESPONDER_PSN = 0x2000;
const MAX_VIRTUAL_US = 600e6;

export function planRxe(seed: number): RxePlan {
  const random = new SeededRandom(seed ^ 0x0c5e);
  const rough = (most: number): number => (random.chance(0.5) ? most * random.fraction() : 0);
  const kinds = random.pick<readonly Kind[]>([['READ'], ['READ'], KINDS, KINDS, ['WRITE', 'SEND'], ['ATOMIC', 'READ']]);
  const longest = random.pick([2000, 20_000, 20_000, 100_000]);
  const paceUs = random.pick([0, 20, 500]);
  const counted = random.between(3, longest > 50_000 ? 12 : 40);
  return {
    seed,
    mtu: random.pick([Mtu.MTU_256, Mtu.MTU_1024, Mtu.MTU_1024, Mtu.MTU_4096]),
    depth: random.pick([1, 2, 4, 16]),
    sqPsn: random.chance(0.3) ? (0xffffff - random.below(100)) & 0xffffff : random.below(2 ** 24),
    paceUs,
    outageUs: random.chance(0.3) ? random.pick([10, 100, 3000]) : 0,
    conditions: {
      loss: random.chance(0.8) ? 0.08 * random.fraction() : 0,
      duplication: rough(0.05),
      reordering: rough(0.05),
      corruption: rough(0.03),
      reorderDelayUs: random.pick([5, 30, 100]),
    },
    requests: Array.from({ length: counted }, () => {
      const kind = random.pick(kinds);
      const bytes = kind === 'ATOMIC' ? 8 : random.between(1, random.chance(0.4) ? longest : 2000);
      return { kind, bytes, pauseUs: random.chance(0.2) ? random.between(0, LONG_PAUSE_US) : paceUs };
    }),
  };
}

export function describeRxe({ seed, mtu, depth, conditions, outageUs, requests }: RxePlan): string {
  const percent = (value: number): string => `${(100 * value).toFixed(1)} %`;
  return (
    `seed ${seed}: ${requests.length} requests, path MTU ${mtuBytes(mtu)}, ${depth} READs at once; ` +
    `loss ${percent(conditions.loss)}, outages of ${outageUs} us, duplication ${percent(conditions.duplication)}, ` +
    `reordering ${percent(conditions.reordering)}, corruption ${percent(conditions.corruption)}`
  );
}

/** What must come of a request. */
interface Expected {
  readonly wrId: bigint;
  readonly what: string;
  readonly verify: () => void;
}

class RxeRun {
  readonly #world: RxeWorld;
  readonly #qp: TestQp;
  readonly #expected: Expected[] = [];
  readonly #sent: Uint8Array[] = [];
  readonly #random: SeededRandom;
  readonly #counterAt: number;
  #counter = 0n;
  #posted = 0;
  #completed = 0;
  #nextPostUs = 0;

  constructor(
    private readonly plan: RxePlan,
    trace: ((line: string) => void) | undefined,
  ) {
    const { seed, mtu, depth, sqPsn, conditions, requests } = plan;
    this.#random = new SeededRandom(seed);
    const areaBytes = requests.reduce((total, { bytes }) => total + bytes, 0);
    this.#counterAt = 8 * Math.ceil(areaBytes / 8);
    const options = { psn: sqPsn, mtuBytes: mtuBytes(mtu), depth, memoryBytes: this.#counterAt + 8 };
    this.#world = new RxeWorld(options, { seed, conditions, capture: false }, () => this.#qp.qpn);
    const { network, host1, rxe } = this.#world;
    if (trace !== undefined)
      network.onPacket = (packet) => {
        trace(Captured.of(packet).toString());
        return 'pass';
      };
    if (plan.outageUs > 0) this.#planOutage();
    rxe.memory.set(pattern(areaBytes, seed));
    this.#qp = host1.qp({ cap: { maxSendWr: SQ_ENTRIES } });
    this.#qp.toRts(rxe.peer, { pathMtu: mtu, sqPsn, rqPsn: RESPONDER_PSN, maxRdAtomic: depth, timeout: 12 });
  }

  play(): Figures {
    const world = this.#world;
    const { requests } = this.plan;
    world.turn();
    while (this.#completed < requests.length) {
      this.#post();
      world.turn();
      for (const completion of this.#qp.sent()) this.#complete(completion);
      const postUs = this.#mayPost ? Math.max(this.#nextPostUs, world.nowUs) : Infinity;
      const nextUs = Math.min(world.nextUs(), postUs);
      if (this.#completed === requests.length) break;
      check(nextUs < MAX_VIRTUAL_US, () => `request ${this.#completed} never completes`);
      world.network.advanceTo(Math.max(nextUs, world.nowUs));
      // Receive requests are posted now and then: whoever comes early is told so.
      if (world.rxe.credits < 2 && this.#random.chance(0.1)) world.rxe.credits += 1;
    }
    this.#compare();
    return this.#figures();
  }

  #planOutage(): void {
    const { network } = this.#world;
    const beginUs = network.nowUs + this.#random.between(100, BETWEEN_OUTAGES_US);
    network.at(beginUs, () => network.setConditions({ partitioned: true }));
    network.at(beginUs + this.#random.between(1, this.plan.outageUs), () => {
      network.setConditions({ partitioned: false });
      this.#planOutage();
    });
  }

  get #mayPost(): boolean {
    return this.#posted < this.plan.requests.length && this.#posted - this.#completed < SQ_ENTRIES;
  }

  #post(): void {
    while (this.#mayPost && this.#nextPostUs <= this.#world.nowUs) {
      const { bytes, kind, pauseUs } = this.plan.requests[this.#posted];
      const offset = this.plan.requests.slice(0, this.#posted).reduce((total, before) => total + before.bytes, 0);
      this.#expected.push(this.#ask(kind, bytes, offset));
      this.#posted += 1;
      this.#nextPostUs = this.#world.nowUs + pauseUs;
    }
  }

  #ask(kind: Kind, bytes: number, offset: number): Expected {
    const { host1, rxe } = this.#world;
    const local = host1.mr(bytes);
    const what = `${kind} ${this.#posted} of ${bytes} bytes`;
    const post = (request: Omit<SendRequest, 'sgList'>): bigint => this.#qp.post({ ...request, sgList: [local.sge()] });
    if (kind === 'READ') {
      const wrId = post({ opcode: WrOpcode.RDMA_READ, ...rxe.at(offset) });
      const there = rxe.memory.slice(offset, offset + bytes);
      return { wrId, what, verify: () => check(same(local.bytes, there), () => `${what} brought other bytes`) };
    }
    if (kind === 'ATOMIC') {
      const found = this.#counter;
      const compareAdd = BigInt(this.#random.below(1000));
      this.#counter += compareAdd;
      const wrId = post({ opcode: WrOpcode.ATOMIC_FETCH_AND_ADD, ...rxe.at(this.#counterAt), compareAdd });
      const answer = (): bigint => local.view.getBigUint64(0, true);
      return { wrId, what, verify: () => check(answer() === found, () => `${what} found ${answer()}, not ${found}`) };
    }
    local.bytes.set(pattern(bytes, this.#random.u32()));
    if (kind === 'SEND') this.#sent.push(local.bytes.slice());
    const opcode = kind === 'SEND' ? WrOpcode.SEND : WrOpcode.RDMA_WRITE;
    const wrId = post({ opcode, ...(kind === 'SEND' ? {} : rxe.at(offset)) });
    const verify = (): void =>
      check(
        kind === 'SEND' || same(rxe.memory.subarray(offset, offset + bytes), local.bytes),
        () => `${what} left other bytes`,
      );
    return { wrId, what, verify };
  }

  #complete({ wrId, status, detail }: Completion): void {
    const { wrId: expected, what, verify } = this.#expected[this.#completed];
    this.#completed += 1;
    check(wrId === expected, () => `${wrId} completes in place of ${what}`);
    const name = Object.entries(WcStatus).find(([, value]) => value === status)?.[0] ?? status;
    check(status === WcStatus.SUCCESS, () => `${what} ends in ${name} (${detail.join(', ')})`);
    verify();
  }

  #compare(): void {
    const { received, view } = this.#world.rxe;
    check(received.length === this.#sent.length, () => `${received.length} messages came of ${this.#sent.length}`);
    received.forEach((message, i) => check(same(message, this.#sent[i]), () => `message ${i} is another one`));
    const counter = view.getBigUint64(this.#counterAt, true);
    check(counter === this.#counter, () => `the counter is ${counter}, not ${this.#counter}`);
  }

  #figures(): Figures {
    const { network, host1, rxe } = this.#world;
    const { sent: packets, ...counts } = network.counts;
    return {
      counts: {
        requests: this.#completed,
        packets,
        retransmitted: host1.nic.counters.retransmittedPkts,
        probes: host1.nic.counters.lossProbes,
        'duplicates dropped': rxe.dropped,
      },
      network: { ...counts },
      virtualUs: network.nowUs,
    };
  }
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

/**
 * Plays one requester of ours against a responder that answers as Soft-RoCE does.
 *
 * @throws SimulationFailure when a request fails, or what it brought or left is wrong
 */
export function runRxeSeed(seed: number, trace?: (line: string) => void): Figures {
  return new RxeRun(planRxe(seed), trace).play();
}
