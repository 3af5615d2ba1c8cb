import { Mtu, WcStatus, WrOpcode } from '../../src/device/ibta/index.js';
import { SeededRandom } from '../../src/device/link/index.js';
import { PeerTable, StandIn, Verdict } from '../../src/device/stand-in/index.js';
import { crc32, createPath, PacketMeta } from '../../src/device/wire/index.js';
import type { TestHost, TestMr } from '../../src/device/nic/test/host.js';
import { Captured } from '../../src/device/nic/test/packets.js';
import { pattern } from '../../src/device/nic/test/pair.js';
import type { TestQp } from '../../src/device/nic/test/qp.js';
import type { SendRequest } from '../../src/device/nic/test/rings.js';
import { World } from '../../src/device/nic/test/world.js';
import { check } from './failure.js';
import type { Figures } from './game.js';

const KINDS = ['SEND', 'WRITE', 'READ', 'ATOMIC'] as const;
type Kind = (typeof KINDS)[number];

/** What one end of a connection asks of the other. */
interface FlowPlan {
  readonly requests: readonly { readonly kind: Kind; readonly bytes: number; readonly atUs: number }[];
}

/** Two programs that talk and that stand still at times, and what stands in for them. */
export interface StandInPlan {
  readonly seed: number;
  readonly ipv6: boolean;
  readonly mtu: Mtu;
  readonly depth: number;
  readonly timeout: number;
  readonly retryCnt: number;
  readonly connections: readonly (readonly [FlowPlan, FlowPlan])[];
  readonly stalls: readonly { readonly host: 0 | 1; readonly atUs: number; readonly forUs: number }[];
  /** At these times a stand-in takes what has arrived though the NIC runs: the machine gave the thread no processor. */
  readonly mistakes: readonly { readonly host: 0 | 1; readonly atUs: number; readonly heldUs: number }[];
  readonly conditions: {
    readonly loss: number;
    readonly duplication: number;
    readonly reordering: number;
    readonly jitterUs: number;
    readonly reorderDelayUs: number;
  };
}

const SQ_ENTRIES = 32;
/** When a stand-in notices at the latest, and how often it looks then. */
const NOTICED_US = 40_000;
const LOOK_US = 5000;
const MAX_STALL_US = 20e6;
const MAX_VIRTUAL_US = 2000e6;

export function planStandIn(seed: number): StandInPlan {
  const random = new SeededRandom(seed ^ 0x57a4d);
  const rough = (most: number): number => (random.chance(0.5) ? most * random.fraction() : 0);
  const kinds = random.pick<readonly Kind[]>([KINDS, KINDS, ['READ'], ['SEND', 'WRITE'], ['ATOMIC', 'READ']]);
  const longest = random.pick([500, 5000, 50_000]);
  const spreadUs = random.pick([1000, 100_000, 3e6]);
  const flow = (): FlowPlan => ({
    requests: Array.from({ length: random.between(1, 25) }, () => {
      const kind = random.pick(kinds);
      return { kind, bytes: kind === 'ATOMIC' ? 8 : random.between(1, longest), atUs: spreadUs * random.fraction() };
    }).sort((a, b) => a.atUs - b.atUs),
  });
  const host = (): 0 | 1 => (random.chance(0.5) ? 0 : 1);
  const from = (): number => 1.5 * spreadUs * random.fraction();
  return {
    seed,
    ipv6: random.chance(0.3),
    mtu: random.pick([Mtu.MTU_256, Mtu.MTU_1024, Mtu.MTU_4096]),
    depth: random.pick([1, 2, 16]),
    timeout: random.pick([14, 15, 17]),
    retryCnt: random.pick([5, 7]),
    connections: Array.from({ length: random.pick([1, 1, 2, 5]) }, () => [flow(), flow()] as const),
    stalls: Array.from({ length: random.between(1, 4) }, () => ({
      host: host(),
      atUs: from(),
      forUs: MAX_STALL_US * random.fraction() ** 3,
    })),
    mistakes: Array.from({ length: random.pick([0, 5, 40]) }, () => ({
      host: host(),
      atUs: from(),
      heldUs: 500 * random.fraction(),
    })),
    conditions: {
      loss: rough(0.03),
      duplication: rough(0.05),
      reordering: rough(0.05),
      jitterUs: rough(100),
      reorderDelayUs: random.pick([5, 100]),
    },
  };
}

/** One line for a person. */
export function describeStandIn({ seed, connections, stalls, mistakes, conditions, timeout }: StandInPlan): string {
  const percent = (value: number): string => `${(100 * value).toFixed(1)} %`;
  const stood = stalls.map(
    ({ host, atUs, forUs }) => `${host} at ${(atUs / 1e3).toFixed(1)} for ${(forUs / 1e3).toFixed(0)} ms`,
  );
  return (
    `seed ${seed}: ${connections.length} connections, timeout ${timeout}, stalls ${stood.join(', ')}; ${mistakes.length} mistakes; ` +
    `loss ${percent(conditions.loss)}, duplication ${percent(conditions.duplication)}, reordering ${percent(conditions.reordering)}`
  );
}

interface Kept {
  readonly bytes: Uint8Array;
  readonly meta: PacketMeta;
}

function copyOf(meta: PacketMeta): PacketMeta {
  const copy = new PacketMeta();
  copy.ipv6 = meta.ipv6;
  copy.source.set(meta.source);
  copy.destination.set(meta.destination);
  copy.sourcePort = meta.sourcePort;
  copy.trafficClass = meta.trafficClass;
  copy.hopLimit = meta.hopLimit;
  copy.flowLabel = meta.flowLabel;
  copy.ipId = meta.ipId;
  return copy;
}

/** A host that can stand still, with its stand-in. */
class Still {
  stalledUntilUs = 0;
  stalls = 0;
  readonly host: TestHost;
  readonly standIn: StandIn;
  #kept: Kept[] = [];
  #answersAtUs = Infinity;

  constructor(world: World, address: string) {
    const peers = new PeerTable(new SharedArrayBuffer(PeerTable.bytesFor(64)));
    this.host = world.host(address, { peers });
    const { link } = this.host;
    this.standIn = new StandIn(peers.words, crc32, (to, bytes, lengthBytes) => {
      const path = createPath({ sgid: link.gid, dgid: to });
      const at = link.sink.reserve(path, lengthBytes);
      link.sink.bytes.set(bytes.subarray(0, lengthBytes), at);
      link.sink.commit();
      link.flush();
    });
  }

  isStalled(nowUs: number): boolean {
    return nowUs < this.stalledUntilUs;
  }

  /** The stand-in takes what has arrived. */
  take(nowUs: number): void {
    const { link } = this.host;
    link.receive(
      {
        receive: (bytes, offset, lengthBytes, meta) => {
          if (this.standIn.take(bytes, offset, lengthBytes, meta, nowUs) === Verdict.KEEP)
            this.#kept.push({ bytes: bytes.slice(offset, offset + lengthBytes), meta: copyOf(meta) });
        },
      },
      Infinity,
    );
  }

  turn(nowUs: number): void {
    const { nic } = this.host;
    nic.advanceTo(nowUs);
    for (const { bytes, meta } of this.#kept.splice(0)) nic.receive(bytes, 0, bytes.length, meta);
    this.host.turn(nowUs);
  }

  /** Answers what it has taken after a while, whatever the NIC does meanwhile. */
  mistake(world: World, heldUs: number): void {
    this.standIn.begin();
    this.take(world.nowUs);
    this.#answersAtUs = world.nowUs + heldUs;
    world.network.at(this.#answersAtUs, () => this.standIn.finish(world.nowUs));
  }

  stall(world: World, forUs: number, noticedUs: number): void {
    this.stalledUntilUs = Math.max(this.stalledUntilUs, world.nowUs + forUs);
    this.stalls += 1;
    const number = this.stalls;
    const look = (): void => {
      if (!this.isStalled(world.nowUs) || this.stalls !== number) return;
      this.take(world.nowUs);
      this.standIn.finish(world.nowUs);
      world.network.at(world.nowUs + LOOK_US, look);
    };
    world.network.at(world.nowUs + noticedUs, () => {
      this.standIn.begin();
      look();
    });
    world.network.at(this.stalledUntilUs, () => undefined);
  }

  /** When its NIC has something to do. */
  nextUs(nowUs: number): number {
    if (this.isStalled(nowUs)) return Infinity;
    return this.host.link.waiting > 0 || this.#kept.length > 0 ? nowUs : this.host.nic.nextWakeupUs();
  }
}

/** What must come of a request. */
interface Expected {
  readonly wrId: bigint;
  readonly what: string;
  readonly verify: () => void;
}

/** One end of a connection. */
class End {
  readonly expected: Expected[] = [];
  completed = 0;
  posted = 0;
  readonly #counter: TestMr;
  readonly #received: TestMr[] = [];
  #arrived = 0;
  #count = 0n;
  readonly #messages: Uint8Array[] = [];
  peer: End | undefined;

  constructor(
    readonly still: Still,
    readonly qp: TestQp,
    readonly plan: FlowPlan,
    private readonly random: SeededRandom,
  ) {
    this.#counter = still.host.mr(8);
  }

  get isFinished(): boolean {
    return this.completed === this.plan.requests.length;
  }

  /** Has a receive request for each message that the peer will send. */
  prepare(theirs: FlowPlan): void {
    for (const { kind, bytes } of theirs.requests) {
      if (kind !== 'SEND') continue;
      const mr = this.still.host.mr(bytes);
      this.#received.push(mr);
      this.qp.recv(mr);
    }
  }

  get nextPostUs(): number {
    const mayPost = this.posted < this.plan.requests.length && this.posted - this.completed < SQ_ENTRIES;
    return mayPost ? this.plan.requests[this.posted].atUs : Infinity;
  }

  work(nowUs: number, peer: End): void {
    for (; this.nextPostUs <= nowUs; this.posted += 1) {
      const { kind, bytes } = this.plan.requests[this.posted];
      this.expected.push(this.#ask(kind, bytes, peer));
    }
    for (const { wrId, status, detail } of this.qp.sent()) {
      const { wrId: wanted, what, verify } = this.expected[this.completed];
      this.completed += 1;
      check(wrId === wanted, () => `${wrId} completes in place of ${what}`);
      const name = Object.entries(WcStatus).find(([, value]) => value === status)?.[0] ?? status;
      check(status === WcStatus.SUCCESS, () => `${what} ends in ${name} (${detail.join(', ')})`);
      verify();
    }
    for (const { status } of this.qp.received()) {
      check(status === WcStatus.SUCCESS, () => `receive ${this.#arrived} ends in ${status}`);
      this.#arrived += 1;
    }
  }

  /** Every message came once, whole and in order; every atomic happened once. */
  compare(peer: End): void {
    check(this.#arrived === peer.#messages.length, () => `${this.#arrived} of ${peer.#messages.length} messages came`);
    peer.#messages.forEach((message, i) =>
      check(same(message, this.#received[i].bytes), () => `message ${i} is another`),
    );
    const count = this.#counter.view.getBigUint64(0, true);
    check(count === peer.#count, () => `the counter is ${count}, not ${peer.#count}`);
  }

  #ask(kind: Kind, bytes: number, peer: End): Expected {
    const { host } = this.still;
    const local = host.mr(bytes);
    const what = `${kind} ${this.posted} of ${bytes} bytes`;
    const post = (request: Omit<SendRequest, 'sgList'>): bigint => this.qp.post({ ...request, sgList: [local.sge()] });
    if (kind === 'ATOMIC') {
      const found = this.#count;
      const compareAdd = BigInt(this.random.below(1000));
      this.#count += compareAdd;
      const wrId = post({ opcode: WrOpcode.ATOMIC_FETCH_AND_ADD, ...peer.#counter.at(0), compareAdd });
      const answer = (): bigint => local.view.getBigUint64(0, true);
      return { wrId, what, verify: () => check(answer() === found, () => `${what} found ${answer()}, not ${found}`) };
    }
    const content = pattern(bytes, this.random.u32());
    if (kind === 'SEND') {
      local.bytes.set(content);
      this.#messages.push(content);
      return { wrId: post({ opcode: WrOpcode.SEND }), what, verify: () => undefined };
    }
    const remote = peer.still.host.mr(bytes);
    const [from, to] = kind === 'READ' ? [remote, local] : [local, remote];
    from.bytes.set(content);
    const wrId = post({ opcode: kind === 'READ' ? WrOpcode.RDMA_READ : WrOpcode.RDMA_WRITE, ...remote.at(0) });
    return { wrId, what, verify: () => check(same(to.bytes, content), () => `${what} moved other bytes`) };
  }
}

class StandInRun {
  readonly #world: World;
  readonly #stills: readonly [Still, Still];
  readonly #pairs: readonly (readonly [End, End])[];

  constructor(plan: StandInPlan, trace: ((line: string) => void) | undefined) {
    const { seed, conditions, ipv6, connections } = plan;
    const random = new SeededRandom(seed);
    const world = new World({ seed, conditions, capture: false });
    this.#world = world;
    if (trace !== undefined)
      world.network.onPacket = (packet) => {
        trace(Captured.of(packet).toString());
        return 'pass';
      };
    const [one, two] = ipv6 ? ['fd00::1', 'fd00::2'] : ['10.0.0.1', '10.0.0.2'];
    this.#stills = [new Still(world, one), new Still(world, two)];
    this.#pairs = connections.map((flows) => this.#connect(plan, flows, random));
    for (const { host, atUs, forUs } of plan.stalls) {
      const noticedUs = random.between(NOTICED_US / 2, NOTICED_US);
      world.network.at(atUs, () => this.#stills[host].stall(world, forUs, noticedUs));
    }
    for (const { host, atUs, heldUs } of plan.mistakes)
      world.network.at(atUs, () => this.#stills[host].mistake(world, heldUs));
  }

  play(): Figures {
    const world = this.#world;
    const { network } = world;
    const ends = this.#pairs.flat();
    for (;;) {
      for (const pair of this.#pairs)
        pair.forEach((end, i) => {
          if (!end.still.isStalled(world.nowUs)) end.work(world.nowUs, pair[1 - i]);
        });
      for (const still of this.#stills) if (!still.isStalled(world.nowUs)) still.turn(world.nowUs);
      const isOver = this.#stills.every((still) => !still.isStalled(world.nowUs));
      if (isOver && ends.every(({ isFinished }) => isFinished)) break;
      const nextUs = Math.min(
        network.nextEventUs(),
        ...this.#stills.map((still) => still.nextUs(world.nowUs)),
        ...ends.map(({ still, nextPostUs }) => (still.isStalled(world.nowUs) ? Infinity : nextPostUs)),
      );
      check(nextUs < MAX_VIRTUAL_US, () => 'a request never completes');
      network.advanceTo(Math.max(nextUs, world.nowUs));
    }
    for (const [a, b] of this.#pairs) {
      a.work(world.nowUs, b);
      b.work(world.nowUs, a);
      a.compare(b);
      b.compare(a);
    }
    return this.#figures();
  }

  #connect(plan: StandInPlan, flows: readonly [FlowPlan, FlowPlan], random: SeededRandom): readonly [End, End] {
    const [a, b] = this.#stills.map((still, i) => {
      const most = Math.max(1, flows[1 - i].requests.length);
      const qp = still.host.qp({ cap: { maxSendWr: SQ_ENTRIES, maxRecvWr: most } });
      return new End(still, qp, flows[i], random);
    });
    const psns = [random.below(2 ** 24), (0xffffff - random.below(50)) & 0xffffff];
    [a, b].forEach((end, i) => {
      end.qp.toRts([b, a][i].qp.peer, {
        pathMtu: plan.mtu,
        sqPsn: psns[i],
        rqPsn: psns[1 - i],
        timeout: plan.timeout,
        retryCnt: plan.retryCnt,
        maxRdAtomic: plan.depth,
        maxDestRdAtomic: plan.depth,
      });
      end.prepare(flows[1 - i]);
    });
    return [a, b];
  }

  #figures(): Figures {
    const { network } = this.#world;
    const { sent: packets, ...counts } = network.counts;
    const sum = (of: (still: Still) => number): number => this.#stills.reduce((total, still) => total + of(still), 0);
    return {
      counts: {
        requests: this.#pairs.flat().reduce((total, { completed }) => total + completed, 0),
        packets,
        stalls: sum(({ stalls }) => stalls),
        'rnr naks of stand-ins': sum(({ standIn }) => standIn.rnrNaks),
        retransmitted: sum(({ host }) => host.nic.counters.retransmittedPkts),
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
 * Plays two NICs whose programs stand still, with their stand-ins.
 *
 * @throws SimulationFailure when a request fails, or moves other bytes than it should
 */
export function runStandInSeed(seed: number, trace?: (line: string) => void): Figures {
  return new StandInRun(planStandIn(seed), trace).play();
}
