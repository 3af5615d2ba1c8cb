import { ackTimeoutUs, QpState, rnrTimerUs, WcOpcode, WcStatus } from '../../src/device/ibta/index.js';
import type { SeededRandom } from '../../src/device/link/index.js';
import { statusName } from '../../src/device/nic/test/pair.js';
import type { Completion } from '../../src/device/nic/test/rings.js';
import type { Connection, Endpoint } from './endpoint.js';
import { check } from './failure.js';
import { gives, isPossibleRead, type Operation } from './operation.js';
import type { Receiver } from './receiver.js';
import { RequestMaker } from './request-maker.js';

/** Retries of every flow; the counter for RNR is infinite. */
export const RETRY_COUNT = 7;
/** By a peer. */
const REFUSALS: readonly WcStatus[] = [WcStatus.REM_ACCESS_ERR, WcStatus.REM_INV_REQ_ERR, WcStatus.REM_OP_ERR];
/** A program that finds nothing to do looks at its queues less and less often, down to this. */
export const MAX_IDLE_PACE_US = 20_000;

/** How many requests were posted before. */
function indexOf({ wrId }: Operation): number {
  return Number(wrId & 0xffffffffn);
}

/** The requests of one end, and what must come of them: each ends once, in order, with the right bytes. */
export class Flow {
  /** Requests whose end was not seen yet, in order. */
  readonly outstanding: Operation[] = [];
  /** May post: false until the QP is in RTS. */
  ready = true;
  /** The request that is wrong on purpose, or -1. */
  refusedRequest = -1;
  completed = 0;
  /** Of these, SENDs, and requests that the peer was not to carry out. */
  sends = 0;
  misdirected = 0;

  /** The peer's target memory as all requests that have completed left it. */
  readonly #settled: Uint8Array;
  readonly #maker: RequestMaker;
  /** Requests that ended in an error: nobody knows whether they took effect. */
  readonly #unsettled: Operation[] = [];
  #posted = 0;
  /** Of requests from this one on none is to be started, since the queue is drained. */
  #heldFrom = Infinity;
  #failed = false;
  /** How the wrong request ends is certain. */
  #certain = false;
  #refusedByPeer = false;
  #lastActivityUs = 0;

  constructor(
    readonly end: Endpoint,
    readonly peer: Endpoint,
    peersReceiver: Receiver,
    private readonly random: SeededRandom,
    private readonly now: () => number,
    /** Whether every packet arrives, once and in order, so that a refusal cannot be missed. */
    private readonly perfect: boolean,
  ) {
    this.#settled = peer.target.bytes.slice();
    this.#maker = new RequestMaker(end, peer, peersReceiver, random, now);
  }

  get finished(): boolean {
    return this.#posted === this.end.plan.requests && this.outstanding.length === 0;
  }

  /** Posts some requests. @returns whether it did */
  work(): boolean {
    const { end, random } = this;
    if (!this.ready) return false;
    let posted = 0;
    const wanted = random.between(0, 8);
    while (posted < wanted && this.#posted < end.plan.requests && end.qp.sq.room > 0) {
      const last = this.#posted === end.plan.requests - 1;
      const wrong = this.#posted === this.refusedRequest;
      // What was to be answered before is lost with the queue pair that refuses, and may be found missing first.
      const plain = this.outstanding.every(({ landing }) => landing === undefined);
      const operation = this.#maker.post(this.#posted, last, wrong);
      if (operation === undefined) break;
      if (wrong) {
        this.#doom('refusal');
        this.#certain = this.perfect && plain;
      }
      this.outstanding.push(operation);
      this.#posted += 1;
      posted += 1;
    }
    if (posted > 0) this.#lastActivityUs = this.now();
    return posted > 0;
  }

  #doom(why: string): void {
    const { connection } = this.end;
    connection.doomedUs = Math.min(connection.doomedUs, this.now());
    connection.doom = why;
  }

  take(completion: Completion): void {
    const where = `QP 0x${this.end.qp.qpn.toString(16)}`;
    for (;;) {
      const operation = this.outstanding.shift();
      check(
        operation !== undefined,
        () => `${where}: completion of request ${String(completion.wrId)}, which was never posted or had ended`,
      );
      if (operation.wrId === completion.wrId) {
        if (completion.status === WcStatus.SUCCESS) this.#succeed(where, operation, completion);
        else this.#fail(where, operation, completion);
        break;
      }
      const silent = !operation.signalled && !this.#failed;
      check(silent, () => `${where}: request ${String(operation.wrId)} was passed over by ${String(completion.wrId)}`);
      this.#settle(where, operation);
    }
    this.#lastActivityUs = this.now();
  }

  #succeed(where: string, operation: Operation, completion: Completion): void {
    const what = `${where}: ${operation.name} ${String(operation.wrId)}`;
    check(!this.#failed, () => `${what} succeeded after an error`);
    check(operation.status === WcStatus.SUCCESS, () => `${what} succeeded, but was to be refused`);
    check(operation.signalled, () => `${what} was not signalled, and completed`);
    check(indexOf(operation) < this.#heldFrom, () => `${what} was posted while its queue was drained, and completed`);
    check(
      completion.opcode === operation.opcode && completion.byteLen === operation.byteLen,
      () => `${what}: opcode ${String(completion.opcode)} and ${String(completion.byteLen)} bytes`,
    );
    this.#settle(where, operation);
  }

  /** The queue pair is in SQD: what is posted from now on waits until it is not (protocol/reliable.md 2.9). */
  hold(): void {
    this.#heldFrom = this.#posted;
  }

  resume(): void {
    this.#heldFrom = Infinity;
  }

  /** Notes that a request has taken effect, and checks what it brought. */
  #settle(where: string, operation: Operation): void {
    const { end, peer } = this;
    const { change, landing, content, done } = operation;
    this.completed += 1;
    if (operation.opcode === WcOpcode.SEND) this.sends += 1;
    if (operation.name === 'MISDIRECTED') this.misdirected += 1;
    if (change !== undefined) this.#settled.set(change.bytes, change.offset);
    done?.();
    if (landing === undefined) return;
    const length = operation.byteLen;
    const actual = end.landing.gather(landing, length);
    if (operation.shared === true) {
      const value = new DataView(actual.buffer).getBigUint64(0, true);
      check(!peer.memory.fetched.has(value), () => `${where}: two additions both found ${String(value)}`);
      peer.memory.fetched.add(value);
      peer.memory.additions += 1;
    } else {
      check(
        content !== undefined && isPossibleRead(operation, actual, this.outstanding),
        () => `${where}: ${operation.name} ${String(operation.wrId)} of ${String(length)} bytes brought wrong bytes`,
      );
    }
    end.landing.expect(landing, actual);
    end.landing.release(landing);
  }

  #fail(where: string, operation: Operation, { status }: Completion): void {
    const { connection, plan, rules } = this.end;
    const what = `${where}: ${operation.name} ${String(operation.wrId)} ended with ${statusName(status)}`;
    check(connection.doomedUs !== Infinity, () => `${what} on a connection in good order`);
    check(rules.reliable, () => `${what}, of which nobody can know`);
    if (this.#failed) check(status === WcStatus.WR_FLUSH_ERR, () => `${what} after an error`);
    else
      check(
        status === operation.status ||
          (!(this.#certain && operation.status !== WcStatus.SUCCESS) && this.#mayEndSo(status, connection)),
        () => `${what} instead of ${statusName(operation.status)}`,
      );
    if (status === WcStatus.RNR_RETRY_EXC_ERR) this.#checkPatience(what, operation);
    if (!this.#failed && REFUSALS.includes(status)) this.#refusedByPeer = true;
    if (status === WcStatus.RETRY_EXC_ERR && connection.doom !== 'storm' && connection.doom !== 'unready') {
      const sinceUs = this.now() - Math.max(this.#lastActivityUs, connection.doomedUs);
      // IBTA lets a timer run four times its nominal time; the rest is for packets still under way and for a program
      // that looks late.
      const boundUs = 4 * (RETRY_COUNT + 2) * ackTimeoutUs(plan.timeout) + 2 * MAX_IDLE_PACE_US;
      check(sinceUs <= boundUs, () => `${what} after ${sinceUs.toFixed(0)} us; ${boundUs.toFixed(0)} us are the most`);
    }
    this.#failed = true;
    this.#unsettled.push(operation);
    if (operation.shared === true) this.peer.memory.unknownAdditions += 1;
    if (operation.landing !== undefined) {
      const { landing } = this.end;
      landing.expect(operation.landing, landing.gather(operation.landing, operation.byteLen));
      landing.release(operation.landing);
    }
  }

  /** What else than by itself a request may end with on a connection that is bound to fail. */
  #mayEndSo(status: WcStatus, { doom }: Connection): boolean {
    if (status === WcStatus.RNR_RETRY_EXC_ERR) return doom === 'unready';
    return status === WcStatus.RETRY_EXC_ERR || status === WcStatus.WR_FLUSH_ERR;
  }

  /** A peer that was not ready was given the time that it asked for, as often as was said. */
  #checkPatience(what: string, { postedUs }: Operation): void {
    const { plan, connection } = this.end;
    const leastUs = connection.plan.rnrRetry * rnrTimerUs(plan.minRnrTimer);
    const waitedUs = this.now() - postedUs;
    check(waitedUs >= leastUs, () => `${what} after ${waitedUs.toFixed(0)} us; ${leastUs.toFixed(0)} us are the least`);
  }

  /** At the end of the run: the peer's memory is as the requests made it, and who refused one is in ERR. */
  checkMemory(): void {
    const { inbound } = this.peer;
    check(
      !this.#refusedByPeer || inbound.state === QpState.ERR,
      () => `QP 0x${inbound.qpn.toString(16)} has refused a request, and is in state ${String(inbound.state)}`,
    );
    this.#checkLanding();
    // What an unreliable connection leaves there only the receiver can tell.
    if (this.end.rules.reliable) this.#checkTarget();
  }

  #checkTarget(): void {
    const { peer } = this;
    const actual = peer.target.bytes;
    const perhaps = [...this.#unsettled, ...this.outstanding].flatMap(({ change }) => change ?? []);
    const at =
      Buffer.compare(actual, this.#settled) === 0
        ? -1
        : actual.findIndex((byte, i) => byte !== this.#settled[i] && !perhaps.some((change) => gives(change, i, byte)));
    check(at < 0, () => `target memory of QP 0x${peer.qp.qpn.toString(16)} is wrong at offset ${String(at)}`);
  }

  #checkLanding(): void {
    const { end } = this;
    for (const { landing, byteLen } of this.outstanding)
      if (landing !== undefined) end.landing.expect(landing, end.landing.gather(landing, byteLen));
    const touched = end.landing.firstDifference();
    check(
      touched < 0,
      () => `landing memory of QP 0x${end.qp.qpn.toString(16)} was touched at offset ${String(touched)}`,
    );
  }

  /** For a person: what is still open. */
  get rest(): string {
    const open = this.outstanding.map(({ name, wrId }) => `${name} ${String(wrId)}`).join(', ');
    const { qp, plan } = this.end;
    const { qpState, sqDraining } = qp.host.nic.control.queryQp(qp.qpn);
    const state = `state ${String(qpState)}${sqDraining === 1 ? ', draining' : ''}, ${String(qp.sq.inUse)} entries in use`;
    return `QP 0x${qp.qpn.toString(16)}: ${state}, ${String(this.#posted)} of ${String(plan.requests)} posted, open: ${open}`;
  }

  /** Notes what a dead requester may still have done. */
  abandon(): void {
    for (const operation of this.outstanding) if (operation.shared === true) this.peer.memory.unknownAdditions += 1;
  }
}
