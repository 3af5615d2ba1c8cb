import { SeededRandom } from '../../src/device/link/index.js';
import { PERFECT_CONDITIONS } from '../../src/device/link/simulated/conditions.js';
import { nameOf, QpState, QpType, VerbsError, WcStatus, WrOpcode } from '../../src/entry/index.js';
import { SimulatedCluster } from '../../src/entry/sim.js';
import { Captured } from '../../src/device/nic/test/packets.js';
import { check } from '../sim/failure.js';
import { PacketBook } from '../sim/packet-book.js';
import { type Character, characterOf } from './character.js';
import { Claims } from './claims.js';
import type { Ledger } from './completions.js';
import { Hopes } from './datagrams.js';
import { mostIn, readEvents } from './events.js';
import { consider, considerReceive, fit, isReliable, mayEndOwn, mayEndPeer, targetOf } from './judge.js';
import { closeBind, closeInvalidation, unsettle } from './key-ledger.js';
import { checkLimits, noteHolder } from './limits.js';
import { MemoryWatch } from './memory-watch.js';
import { Notices } from './notices.js';
import type { HostRecord, QpRecord, RecvRecord, SendRecord, Thing } from './things.js';

/** Longer than any packet is under way, over any of the links of a walk. */
export const PACKET_LIFE_US = 20_000;

/** Queues that are seldom overrun are not looked after at every step. */
const SMALL = 100;

/** Rough links, as a walk makes them: what may happen to packets on any of them. */
interface Weather {
  readonly lossy: boolean;
  readonly disordering: boolean;
}

/** The hosts of a walk, what the model knows about them, and the look at everything that is taken after each step. */
export class World implements Ledger {
  readonly cluster: SimulatedCluster;
  readonly hosts: HostRecord[] = [];
  /** Requests that are outstanding, and those of which packets may still be under way. */
  readonly live = new Set<SendRecord>();
  readonly claims = new Claims();
  readonly datagrams: SendRecord[] = [];
  readonly character: Character;
  readonly counts = {
    ...{ calls: 0, refused: 0, requests: 0, completions: 0, messages: 0, errors: 0 },
    ...{ looks: 0, changes: 0, limits: 0, queries: 0 },
  };
  readonly statuses: Record<string, number> = {};
  random = new SeededRandom(0);
  step: { readonly id: number } = { id: 0 };
  tick = 0;
  disordered = false;
  readonly #notices = new Notices(this);
  readonly #watch = new MemoryWatch(this);
  /** Sources of trouble that are there now, by name. */
  readonly #troubles = new Set<string>();
  #troubledUntilUs = -1;
  /** When a host last stood still. */
  #pausedUs = -Infinity;
  readonly hopes = new Hopes(this);
  readonly packets: Captured[] = [];
  readonly packetBook: PacketBook;
  trace: ((line: string) => void) | undefined;
  #ids = 0;
  #made = 0;

  constructor(readonly seed: number) {
    this.character = characterOf(seed);
    this.cluster = new SimulatedCluster({ seed });
    this.packetBook = new PacketBook(this.cluster.network);
    this.cluster.network.onPacket = (packet) => {
      const captured = Captured.of(packet);
      this.packets.push(captured);
      if (this.packets.length > 400) this.packets.splice(0, 200);
      this.trace?.(captured.toString());
      return 'pass';
    };
  }

  get nowUs(): number {
    return this.cluster.nowUs;
  }

  get troubled(): boolean {
    return this.#troubles.size > 0 || this.nowUs < this.#troubledUntilUs;
  }

  nextWrId(): number {
    this.#ids += 1;
    return this.#ids;
  }

  /** A number for a thing that the step makes: the same whatever other steps there are. */
  nextId(): number {
    this.#made += 1;
    return this.step.id * 64 + this.#made;
  }

  /** Whether something is done in a way that does not fit, which happens with that probability in the usual walk. */
  slips(probability: number): boolean {
    return this.random.chance(probability * this.character.slips);
  }

  begin(step: { readonly id: number; readonly random: number }): void {
    this.step = step;
    this.#made = 0;
    this.random = new SeededRandom(step.random);
  }

  /** Chooses a thing such that others, that come or go, seldom change the choice. */
  pick<T extends Thing>(things: readonly T[]): T | undefined {
    const salt = this.random.u32();
    let best: T | undefined;
    let least = Infinity;
    for (const thing of things) {
      const rank = (Math.imul(thing.id ^ salt, 0x9e3779b1) ^ Math.imul(salt, 0x85ebca6b)) >>> 0;
      if (rank >= least) continue;
      least = rank;
      best = thing;
    }
    return best;
  }

  /** Makes a call that must do as the model says: `expected` are the errnos that it may be refused with, 'ok' when it may succeed. */
  attempt<T>(what: string, expected: readonly string[], call: () => T): T | undefined {
    this.counts.calls += 1;
    this.#stirred = true;
    this.trace?.(`  ${this.nowUs.toFixed(1)} us: ${what}`);
    let outcome = 'ok';
    let value: T | undefined;
    let problem = '';
    try {
      value = call();
    } catch (error) {
      if (!(error instanceof VerbsError)) throw error;
      outcome = error.errno;
      problem = error.message;
      this.counts.refused += 1;
    }
    this.done = outcome === 'ok';
    check(expected.includes(outcome), () => `${what}: ${outcome} in place of ${expected.join(' or ')}. ${problem}`);
    return value;
  }

  /** Whether the last attempt succeeded. */
  done = false;
  /** Rights may have changed since they were considered. */
  #stirred = false;

  setTrouble(name: string, there: boolean): void {
    if (there) this.#troubles.add(name);
    else if (this.#troubles.delete(name)) this.#troubledUntilUs = this.nowUs + PACKET_LIFE_US;
  }

  clearTroubles(): void {
    if (this.#troubles.size > 0) this.#troubledUntilUs = this.nowUs + PACKET_LIFE_US;
    this.#troubles.clear();
  }

  weather({ lossy, disordering }: Weather): void {
    this.setTrouble('weather', lossy || disordering);
    if (disordering) this.disordered = true;
  }

  /** Ends all that makes the network worse than it should be, but for partitions. */
  calm(): void {
    const { partitioned: _, ...perfect } = PERFECT_CONDITIONS;
    this.cluster.network.setConditions(perfect);
    this.setTrouble('weather', false);
  }

  /** A host is gone, and nobody is told. */
  crash(host: HostRecord): void {
    this.cluster.crash(host.context);
    host.up = false;
    for (const qp of host.qps) {
      this.abandon(qp);
      qp.alive = false;
    }
    for (const srq of host.srqs) for (const recv of srq.recvs) this.giveUp(recv);
    host.qps.length = 0;
    host.srqs.length = 0;
    host.arena.look(this.tick);
  }

  /** A host stands still, or goes on. */
  pause(host: HostRecord, paused: boolean): void {
    if (paused) this.cluster.pause(host.context);
    else this.cluster.resume(host.context);
    host.paused = paused;
    this.setTrouble(`pause of ${host.address}`, paused);
    this.#pausedUs = this.nowUs;
  }

  /** A receive request that can be filled no more. */
  giveUp(recv: RecvRecord): void {
    recv.closedTick = this.tick;
  }

  /** Lets time pass, with a look at everything after each thing that happens. */
  pass(us: number): void {
    const untilUs = this.nowUs + us;
    do {
      this.cluster.step(untilUs);
      this.look();
    } while (this.nowUs < untilUs);
  }

  /** Compares all there is with the model, and reads what is announced. */
  look(): void {
    let news = this.observe();
    for (const host of this.hosts) if (host.up && !host.lazy && !host.paused) news = this.wake(host) || news;
    for (const host of this.hosts) if (host.up && !host.paused) checkLimits(this, host);
    this.hopes.check(PACKET_LIFE_US);
    if (news) this.consider();
    // What waits before a host that stands still is under way as well.
    if (this.hosts.some(({ up, paused }) => up && paused)) this.#pausedUs = this.nowUs;
    if (this.nowUs < this.#pausedUs + PACKET_LIFE_US) return;
    for (const request of this.live) if (!request.open && this.nowUs > request.ghostUntilUs) this.#forget(request);
  }

  /** Compares memory and states with the model. @returns whether a QP failed */
  observe(): boolean {
    this.tick += 1;
    this.counts.looks += 1;
    if (this.#stirred) this.consider();
    const changes = this.hosts.map((host) => host.arena.look(this.tick));
    const flipped = this.#lookAtStates();
    for (const host of this.hosts)
      if (host.up && host.cqs.some((cq) => cq.capacity < SMALL && !cq.dead && mostIn(host, cq) > cq.capacity))
        this.events(host);
    this.hosts.forEach((host, i) => {
      if (changes[i].length === 0) return;
      this.counts.changes += changes[i].length;
      this.#watch.explain(host, changes[i]);
    });
    for (const qp of flipped) this.#whyError(qp);
    return flipped.length > 0;
  }

  /** Notes what may become of everything that is outstanding, now that something has changed. */
  consider(): void {
    this.#stirred = false;
    // Packets of those that were given up may come to be judged yet, as things are then.
    for (const request of this.live) if (request.open || request.ghostUntilUs >= 0) this.considerOne(request);
    for (const host of this.hosts) {
      for (const qp of host.qps) for (const recv of qp.recvs) considerReceive(recv, host);
      for (const srq of host.srqs) for (const recv of srq.recvs) considerReceive(recv, host);
    }
  }

  considerOne(request: SendRecord): void {
    const { pieces, remotes, opcode } = request;
    const { length: knownPieces } = pieces;
    const { length: knownRemotes } = remotes;
    consider(this, request);
    const fillsOwn = opcode === WrOpcode.RDMA_READ || isAtomic(request);
    for (const places of fillsOwn ? pieces.slice(knownPieces) : [])
      for (const place of places) this.claims.add(place, request);
    for (const place of opcode === WrOpcode.RDMA_READ ? [] : remotes.slice(knownRemotes))
      this.claims.add(place, request);
  }

  /** Reads what the completion queues of a host have announced. @returns whether there was anything */
  wake(host: HostRecord): boolean {
    return this.#notices.wake(host);
  }

  /** Reads all there is in them, announced or not; time may pass meanwhile. */
  drain(host: HostRecord): void {
    // Whatever was asked of a NIC since the last look has let it go on.
    this.observe();
    this.#notices.drain(host);
  }

  /** Asynchronous events of a host that were not read. */
  events(host: HostRecord): void {
    readEvents(this, host);
  }

  close(request: SendRecord, status: WcStatus): void {
    request.open = false;
    const { binds, invalidates, qp } = request;
    const success = status === WcStatus.SUCCESS;
    request.acknowledged = success;
    const late = !isReliable(qp.type) || !success;
    request.ghostUntilUs = late ? this.nowUs + PACKET_LIFE_US : -1;
    if (!late) request.closedTick = this.tick;
    // What is flushed may have been carried out: its turn came before the one ahead of it failed.
    if (status === WcStatus.WR_FLUSH_ERR && request.opcode !== WrOpcode.SEND_WITH_INV) unsettle(this.hosts, request);
    else if (binds !== undefined) closeBind(request, success);
    else if (request.opcode === WrOpcode.LOCAL_INV && invalidates !== undefined)
      closeInvalidation(this.hosts, request, success);
    // Whoever is connected to something else may be told that it was done before.
    else if (request.opcode === WrOpcode.SEND_WITH_INV && success && request.wild) unsettle(this.hosts, request);
    else if (request.opcode === WrOpcode.SEND_WITH_INV && success) closeInvalidation(this.hosts, request, true);
  }

  /** Gives up what a QP had outstanding: it was reset, or is gone. */
  abandon(qp: QpRecord): void {
    for (const request of qp.sends) {
      request.open = false;
      request.ghostUntilUs = this.nowUs + PACKET_LIFE_US;
      if (request.opcode !== WrOpcode.SEND_WITH_INV) unsettle(this.hosts, request);
    }
    for (const recv of qp.recvs) recv.closedTick = this.tick;
    // It may have been about to fill one, which then nobody hears of.
    for (const srq of qp.type === QpType.XRC_RECV ? qp.host.srqs : qp.srq === undefined ? [] : [qp.srq])
      if (qp.life.holds || [...this.live].some((request) => targetOf(this, request)?.qp === qp)) srq.lost += 1;
    qp.sends = [];
    qp.recvs = [];
  }

  #lookAtStates(): QpRecord[] {
    const flipped: QpRecord[] = [];
    for (const host of this.hosts) {
      if (!host.up) continue;
      for (const qp of host.qps) {
        const { state } = qp.api;
        qp.formerState = qp.seenState;
        if (state === qp.seenState) continue;
        qp.seenState = state;
        if (state === QpState.ERR || state === QpState.SQE) flipped.push(qp);
      }
    }
    return flipped;
  }

  /** A QP went to ERR or SQE by itself: somebody must have given it a reason. */
  #whyError(qp: QpRecord): void {
    const { host, life } = qp;
    if (qp.seenState === QpState.SQE) life.sendsFailed = true;
    this.events(host);
    if (life.doomed) {
      life.errorBy = 0;
      life.inbound = [...this.live].filter((request) => targetOf(this, request)?.qp === qp);
      return;
    }
    const own = qp.sends.some(mayEndOwn) || (qp.srq?.recvs ?? qp.recvs).some(({ couldNot }) => couldNot);
    const inbound = [...this.live].filter((request) => {
      const target = targetOf(this, request);
      return target?.qp === qp || request.life.mate === life;
    });
    // What is asked of a QP that is in ERR by now.
    for (const request of inbound) if (request.life.mate === life) fit(request.qp, request.life, qp);
    const suspects = inbound.filter(mayEndPeer);
    life.inbound = inbound;
    check(
      own || suspects.length > 0,
      () => `${qp.name} went to ${nameOf(QpState, qp.seenState)}, though all it was asked to do was right`,
    );
    life.errorBy = own ? 0 : Math.min(...suspects.map((request) => (request.life.mate === life ? request.index : 0)));
    this.trace?.(`  ${this.nowUs.toFixed(1)} us: ${qp.name} is in ${nameOf(QpState, qp.seenState)}`);
  }

  #forget(request: SendRecord): void {
    this.live.delete(request);
    noteHolder(this, request);
    request.closedTick = Math.min(request.closedTick, this.tick);
    unsettle(this.hosts, request);
  }
}

function isAtomic({ opcode }: SendRecord): boolean {
  return opcode === WrOpcode.ATOMIC_CMP_AND_SWP || opcode === WrOpcode.ATOMIC_FETCH_AND_ADD;
}
