import { nameOf, QpType, WcFlags, WcOpcode, WcStatus, type WorkCompletion, WrOpcode } from '../../src/entry/index.js';
import { check } from '../sim/failure.js';
import type { Claims } from './claims.js';
import { isFor } from './datagrams.js';
import { ATOMICS, isReliable, type Surroundings, WRITES } from './judge.js';
import { Matching } from './matching.js';
import { byteOf, HEADER_BYTES } from './memory-watch.js';
import { SharedOrder } from './shared-order.js';
import { completionOpcodes, describeRequest, recvObjection, sendObjection } from './statuses.js';
import type { CqRecord, HostRecord, Life, Place, QpRecord, RecvRecord, SendRecord } from './things.js';

/** One byte of a host's memory. */
interface Spot {
  readonly arena: Place['arena'];
  readonly at: number;
}

/** Whether a completion was asked for by its sender, as far as can be told. */
export type Solicited = 'yes' | 'no' | 'maybe';

/** What completions need of the world. */
export interface Ledger extends Surroundings {
  /** Every message of UC and UD that was ever posted. */
  readonly datagrams: readonly SendRecord[];
  readonly claims: Claims;
  readonly tick: number;
  /** Whether packets were ever doubled, or came in another order. */
  readonly disordered: boolean;
  close(request: SendRecord, status: WcStatus): void;
  /** How often each status was read. */
  readonly statuses: Record<string, number>;
  readonly counts: { completions: number; messages: number; errors: number };
}

/** Takes completions, and holds them against what the model allows. */
export class Completions {
  readonly order = new SharedOrder();
  /** What came to QPs of unreliable services. */
  readonly #arrived = new Map<QpRecord, Matching<RecvRecord, SendRecord>>();

  constructor(private readonly world: Ledger) {}

  /** @returns whether the completion calls programs that wait for solicited ones alone */
  take(host: HostRecord, cq: CqRecord, wc: WorkCompletion): Solicited {
    const solicited = this.#take(host, cq, wc);
    return wc.status === WcStatus.SUCCESS ? solicited : 'yes';
  }

  #take(host: HostRecord, cq: CqRecord, wc: WorkCompletion): Solicited {
    const wrId = Number(wc.wrId);
    this.world.counts.completions += 1;
    if (wc.status !== WcStatus.SUCCESS) this.world.counts.errors += 1;
    const status = nameOf(WcStatus, wc.status);
    this.world.statuses[status] = (this.world.statuses[status] ?? 0) + 1;
    const sender = host.qps.find(
      ({ sends, sendCq }) => sendCq === cq && sends.some((request) => request.wrId === wrId),
    );
    if (sender !== undefined) {
      check(wc.qpNum === sender.qpn, () => `request ${wrId} of ${sender.name} completed as one of QP ${wc.qpNum}`);
      this.#takeSend(sender, wrId, wc);
      return 'no';
    }
    const receiver = host.qps.find(({ recvs }) => recvs.some((recv) => recv.wrId === wrId));
    const srq = host.srqs.find(({ recvs }) => recvs.some((recv) => recv.wrId === wrId));
    const qp = receiver ?? host.qps.find(({ qpn }) => qpn === wc.qpNum);
    const recvs = receiver?.recvs ?? srq?.recvs;
    // Of a QP that was reset or destroyed with completions outstanding, what was complete before is read later.
    if (recvs === undefined || qp === undefined) {
      check(
        this.#isStale(wrId),
        () => `a completion of request ${wrId}, which is not outstanding: ${nameOf(WcStatus, wc.status)}`,
      );
      return 'maybe';
    }
    const index = recvs.findIndex((recv) => recv.wrId === wrId);
    const recv = recvs[index];
    if (srq === undefined) {
      check(index === 0, () => `receive request ${wrId} of ${qp.name} completed before ${index} older ones`);
      check(wc.qpNum === qp.qpn, () => `receive request ${wrId} completed on QP ${wc.qpNum}`);
    } else {
      this.order.take(qp, srq, cq, recv, wc.status);
      qp.life.holds = false;
    }
    recvs.splice(index, 1);
    recv.closedTick = this.world.tick;
    return this.#takeRecv(qp, srq?.api.srqNum ?? 0, recv, wc);
  }

  /** Requests that ended without a completion that is due to be read, but may have had one. */
  readonly stale = new Set<number>();

  #isStale(wrId: number): boolean {
    return this.stale.delete(wrId);
  }

  #takeSend(qp: QpRecord, wrId: number, wc: WorkCompletion): void {
    const index = qp.sends.findIndex((request) => request.wrId === wrId);
    for (const earlier of qp.sends.splice(0, index)) {
      check(
        !earlier.signalled,
        () =>
          `${describeRequest(earlier)} did not complete, but a later one did: ${wrId}, ${nameOf(WcStatus, wc.status)}`,
      );
      this.#end(earlier, WcStatus.SUCCESS);
    }
    const [request] = qp.sends.splice(0, 1);
    if (wc.status === WcStatus.SUCCESS) {
      check(request.signalled, () => `${describeRequest(request)} completed, which nobody asked for`);
      const opcode = completionOpcodes[request.opcode];
      check(wc.opcode === opcode, () => `${describeRequest(request)} completed as ${nameOf(WcOpcode, wc.opcode)}`);
    }
    this.#end(request, wc.status);
  }

  #end(request: SendRecord, status: WcStatus): void {
    const objection = sendObjection(request, status, true);
    check(
      objection === undefined,
      () => `${describeRequest(request)} cannot end in ${nameOf(WcStatus, status)}: ${objection ?? ''}`,
    );
    if (status === WcStatus.SUCCESS && isReliable(request.qp.type) && !request.wild) this.#checkEffect(request);
    this.world.close(request, status);
  }

  #checkEffect(request: SendRecord): void {
    const { opcode, remotes, pieces } = request;
    if (opcode === WrOpcode.RDMA_READ) {
      const [landing] = pieces;
      if (pieces.length !== 1 || request.moved) return;
      for (let i = 0; i < request.lengthBytes; i += 1) {
        const to = byteOf(landing, i);
        if (to === undefined) continue;
        const came = remotes.some(({ arena, at }) => to.arena.shares(to.at, request.tick, arena, at + i, request.tick));
        check(
          came || this.#contested(to, request),
          () => `${describeRequest(request)} succeeded, but byte ${i} is none that was there to be read`,
        );
      }
    } else if (WRITES.has(opcode)) {
      const [place] = remotes;
      if (remotes.length !== 1 || request.moved) return;
      for (let i = 0; i < request.lengthBytes; i += 1) {
        const at = { arena: place.arena, at: place.at + i };
        const there = this.#hasLanded(request, i, at);
        check(
          there || this.#contested(at, request),
          () => `${describeRequest(request)} succeeded, but byte ${i} was never seen at its place, ${at.at}`,
        );
      }
    } else if (ATOMICS.has(opcode)) {
      this.#checkAtomic(request);
    }
  }

  /** Whether a byte was seen at its place, from `sinceTick` on. */
  #hasLanded(request: SendRecord, offset: number, to: Spot, sinceTick = request.tick): boolean {
    const { inline, pieces, tick } = request;
    if (inline !== undefined) return to.arena.had(to.at, inline[offset], sinceTick);
    return pieces.some((places) => {
      const from = byteOf(places, offset);
      return from !== undefined && to.arena.shares(to.at, sinceTick, from.arena, from.at, tick);
    });
  }

  #checkAtomic(request: SendRecord): void {
    const { pieces, remotes, moved, found, opcode, operand, swap } = request;
    const landing = pieces.length === 1 ? byteOf(pieces[0], 0) : undefined;
    if (landing === undefined || remotes.length !== 1 || moved) return;
    const [cell] = remotes;
    for (let i = 0; i < 8; i += 1) {
      const theirs = { arena: cell.arena, at: cell.at + i };
      if (this.#contested({ ...landing, at: landing.at + i }, request) || this.#contested(theirs, request)) return;
    }
    const value = landing.arena.quadword(landing.at);
    if (found !== undefined)
      check(value === found, () => `${describeRequest(request)} brought ${value}, but found ${found}`);
    const changes = opcode === WrOpcode.ATOMIC_FETCH_AND_ADD ? operand !== 0n : value === operand && swap !== operand;
    check(
      request.executed === changes,
      () => `${describeRequest(request)} brought ${value}, and was carried out: ${request.executed}`,
    );
  }

  /** Whether somebody else may have written there since a request was posted. */
  #contested(at: Spot, request: SendRecord): boolean {
    return this.world.claims.contested(at.arena, at.at, request.tick, request);
  }

  #takeRecv(qp: QpRecord, srqn: number, recv: RecvRecord, wc: WorkCompletion): Solicited {
    const { world } = this;
    const objection = recvObjection(qp, recv, wc.status);
    check(
      objection === undefined,
      () =>
        `receive request ${recv.wrId} of ${qp.name} cannot end in ${nameOf(WcStatus, wc.status)}: ${objection ?? ''}`,
    );
    if (wc.status !== WcStatus.SUCCESS) return 'yes';
    world.counts.messages += 1;
    const request = this.#whose(qp, srqn, recv, wc);
    if (request === undefined) return 'maybe';
    request.deliveries += 1;
    // Of unreliable services, messages that look alike cannot be told apart.
    return !isReliable(qp.type) ? 'maybe' : request.solicited ? 'yes' : 'no';
  }

  #whose(qp: QpRecord, srqn: number, recv: RecvRecord, wc: WorkCompletion): SendRecord | undefined {
    const { life } = qp;
    const { mate } = life;
    if (qp.type === QpType.UD) {
      const request = this.#match(qp, recv, wc, (candidate) => candidate.qp.qpn === wc.srcQp && isFor(candidate, qp));
      check(
        request !== undefined,
        () => `a datagram came to ${qp.name} that nobody sent (receive request ${recv.wrId})`,
      );
      request.copies.add(qp);
      return request;
    }
    const nth = life.delivered;
    life.delivered += 1;
    // A connection that is none, or whose other end has begun anew, says nothing about what comes.
    if (mate === undefined || mate.messages.some(({ wild }) => wild)) return undefined;
    if (isReliable(qp.type)) {
      // Those of XRC complete in the CQ of the shared queue that they name, and of several one is read before the other.
      const request: SendRecord | undefined =
        qp.type === QpType.XRC_RECV
          ? mate.messages.find((message) => message.srqn === srqn && message.deliveries === 0)
          : mate.messages.at(nth);
      check(
        request !== undefined,
        () => `a message came to ${qp.name} that nobody sent (receive request ${recv.wrId})`,
      );
      const difference = this.#looksLike(qp, recv, wc, request);
      check(
        difference === undefined,
        () => `${describeRequest(request)} came to ${qp.name} in receive request ${recv.wrId}, but ${difference ?? ''}`,
      );
      return request;
    }
    return this.#whichUnreliable(qp, life, mate, recv, wc);
  }

  #whichUnreliable(qp: QpRecord, life: Life, mate: Life, recv: RecvRecord, wc: WorkCompletion): SendRecord {
    const { disordered } = this.world;
    const request = this.#match(qp, recv, wc, ({ life: its, qp: sender, messageIndex }) => {
      if (its === mate) return disordered || messageIndex > life.lastMessage;
      // What was under way when both ends began anew comes as if it were theirs: UC takes any PSN that begins a message.
      return its.destQpn === qp.qpn && sender.qpn === life.destQpn;
    });
    check(
      request !== undefined,
      () => `a message came to ${qp.name} that nobody sent, or out of order (receive request ${recv.wrId})`,
    );
    if (request.life === mate) life.lastMessage = Math.max(life.lastMessage, request.messageIndex);
    return request;
  }

  /** Finds a message of an unreliable service for a receive request that may have got it, and that no other needs. */
  #match(
    qp: QpRecord,
    recv: RecvRecord,
    wc: WorkCompletion,
    isOurs: (candidate: SendRecord) => boolean,
  ): SendRecord | undefined {
    const { datagrams, disordered } = this.world;
    const candidates = datagrams.filter(
      (request) =>
        // What was gone from the wire before can have filled nothing that was posted later.
        request.closedTick >= recv.tick && isOurs(request) && this.#looksLike(qp, recv, wc, request) === undefined,
    );
    const arrived = this.#arrived.get(qp) ?? new Matching<RecvRecord, SendRecord>();
    this.#arrived.set(qp, arrived);
    return arrived.add(recv, candidates, disordered ? 2 : 1);
  }

  /** What of a completion and its data is not as the request would have it. */
  #looksLike(qp: QpRecord, recv: RecvRecord, wc: WorkCompletion, request: SendRecord): string | undefined {
    const { opcode, immData, invalidates, lengthBytes } = request;
    const header = qp.type === QpType.UD ? HEADER_BYTES : 0;
    const write = opcode === WrOpcode.RDMA_WRITE_WITH_IMM;
    if (wc.opcode !== (write ? WcOpcode.RECV_RDMA_WITH_IMM : WcOpcode.RECV)) return `as ${nameOf(WcOpcode, wc.opcode)}`;
    if (wc.byteLen !== lengthBytes + header) return `with ${wc.byteLen} bytes`;
    const withImm = (wc.wcFlags & WcFlags.WITH_IMM) !== 0;
    if (withImm !== (immData !== undefined) || (withImm && wc.immData !== immData))
      return `with immediate data ${wc.immData}`;
    const withInv = (wc.wcFlags & WcFlags.WITH_INV) !== 0;
    const closes = opcode === WrOpcode.SEND_WITH_INV;
    if (withInv !== closes || (withInv && wc.invalidatedRkey !== invalidates))
      return `with key ${wc.invalidatedRkey} closed`;
    if (write) return undefined;
    const [places] = recv.pieces;
    if (recv.pieces.length !== 1) return undefined;
    for (let i = 0; i < lengthBytes; i += 1) {
      const to = byteOf(places, header + i);
      if (to === undefined) return `its receive request has no byte ${i}`;
      if (this.#hasLanded(request, i, to, recv.tick)) continue;
      if (this.world.claims.contested(to.arena, to.at, recv.tick, recv)) continue;
      return `byte ${i} of it is none that was sent`;
    }
    return undefined;
  }
}
