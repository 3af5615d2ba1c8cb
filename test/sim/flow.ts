import { ackTimeoutUs, WcStatus } from '../../src/spec/index.js';
import type { SeededRandom } from '../../src/link/index.js';
import { statusName } from '../nic/pair.js';
import type { Completion } from '../nic/rings.js';
import type { Endpoint } from './endpoint.js';
import { check } from './failure.js';
import { gives, isPossibleRead, type Operation } from './operation.js';
import type { Receiver } from './receiver.js';
import { RequestMaker } from './request-maker.js';

/** Retries of every flow; the counter for RNR is infinite. */
export const RETRY_COUNT = 7;
/** A program that finds nothing to do looks at its queues less and less often, down to this. */
export const MAX_IDLE_PACE_US = 20_000;

/** The requests of one end, and what must come of them: each ends once, in order, with the right bytes. */
export class Flow {
  /** Requests whose end was not seen yet, in order. */
  readonly outstanding: Operation[] = [];
  /** May post: false until the QP is in RTS. */
  ready = true;
  /** The request that is wrong on purpose, or -1. */
  refusedRequest = -1;
  completed = 0;

  /** The peer's target memory as all requests that have completed left it. */
  readonly #settled: Uint8Array;
  readonly #maker: RequestMaker;
  /** Requests that ended in an error: nobody knows whether they took effect. */
  readonly #unsettled: Operation[] = [];
  #posted = 0;
  #failed = false;
  #lastActivityUs = 0;

  constructor(
    readonly end: Endpoint,
    readonly peer: Endpoint,
    peersReceiver: Receiver,
    private readonly random: SeededRandom,
    private readonly now: () => number,
  ) {
    this.#settled = peer.target.bytes.slice();
    this.#maker = new RequestMaker(end, peer, peersReceiver, random);
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
      const operation = this.#maker.post(this.#posted, last, wrong);
      if (operation === undefined) break;
      if (wrong) this.#doom('refusal');
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
    check(
      completion.opcode === operation.opcode && completion.byteLen === operation.byteLen,
      () => `${what}: opcode ${String(completion.opcode)} and ${String(completion.byteLen)} bytes`,
    );
    this.#settle(where, operation);
  }

  /** Notes that a request has taken effect, and checks what it brought. */
  #settle(where: string, operation: Operation): void {
    const { end, peer } = this;
    const { change, landing, content } = operation;
    this.completed += 1;
    if (change !== undefined) this.#settled.set(change.bytes, change.offset);
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
        status === operation.status || status === WcStatus.RETRY_EXC_ERR || status === WcStatus.WR_FLUSH_ERR,
        () => `${what} instead of ${statusName(operation.status)}`,
      );
    if (status === WcStatus.RETRY_EXC_ERR && connection.doom !== 'storm') {
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

  /** At the end of the run: the peer's memory is as the requests made it. */
  checkMemory(): void {
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
