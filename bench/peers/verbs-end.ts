/** One end of what HERD measures of verbs: a device with a queue pair of each transport, and loops over them. */
import {
  AccessFlags,
  type Ah,
  alloc,
  type Context,
  type Cq,
  gidFromIp,
  type HostKind,
  type Mr,
  Mtu,
  openDevice,
  type Pd,
  type Qp,
  QpState,
  QpType,
  SendFlags,
  WcFlags,
  WcStatus,
  wcStatusStr,
} from '../../src/entry/index.js';
import { LatencyRecorder } from '../measure/latency.js';
import { type Effort, measure, type Measurement } from '../measure/measurement.js';

export const TRANSPORTS = ['rc', 'uc', 'ud'] as const;
export type TransportKind = (typeof TRANSPORTS)[number];

/** A message: how it goes. */
export interface Verb {
  readonly verb: 'read' | 'write' | 'send';
  readonly transport: TransportKind;
  readonly inline: boolean;
}

/** What the two ends tell each other, as plain data. */
export interface VerbsInfo {
  readonly address: string;
  readonly qpNums: Readonly<Record<TransportKind, number>>;
  readonly addr: number;
  readonly rkey: number;
}

const TYPES = { rc: QpType.RC, uc: QpType.UC, ud: QpType.UD } as const;
const ACCESS = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ;
const QKEY = 0x1badcafe;
const DEPTH = 256;
const RECEIVES = 128;
export const MOST_BYTES = 1024;
/** Longer messages are not sent inline: adapters take no more, or little more. */
export const INLINE_BYTES = 256;
/** A datagram arrives behind a GRH. */
const PLACE_BYTES = MOST_BYTES + 40;
/** Which messages of a list the receiver's program is told of: those that are written, otherwise, are just there. */
type Told = 'none' | 'last' | 'each';
/** By which who serves says that a list has come. */
const WORD: Verb = { verb: 'send', transport: 'rc', inline: true };
/** Requests of one list, of which the last tells that all are done. */
const LIST = 32;
const LISTS = 2;
/** What is not answered by then was lost: that happens where nobody repeats it. */
const LOST_MS = 100;

export class VerbsEnd {
  readonly context: Context;
  readonly #pd: Pd;
  readonly #mr: Mr;
  readonly #addr: number;
  readonly #sends: Cq;
  readonly #receives: Cq;
  readonly #qps: Readonly<Record<TransportKind, Qp>>;
  readonly #byNumber = new Map<number, TransportKind>();
  #peer: VerbsInfo | undefined;
  #ah: Ah | undefined;
  #answer: Verb | undefined;
  #answerBytes = 0;
  #isServing = false;

  constructor(host: HostKind, address: string) {
    this.context = openDevice({ host, address });
    this.#pd = this.context.allocPd();
    this.#mr = this.#pd.regMr(alloc(RECEIVES * PLACE_BYTES), ACCESS);
    this.#addr = Number(this.#mr.addr);
    this.#sends = this.context.createCq({ cqe: 4 * DEPTH });
    this.#receives = this.context.createCq({ cqe: 4 * DEPTH });
    const qp = (kind: TransportKind): Qp => {
      const cap = { maxSendWr: DEPTH, maxRecvWr: RECEIVES, maxSendSge: 1, maxRecvSge: 1, maxInlineData: INLINE_BYTES };
      const made = this.#pd.createQp({ qpType: TYPES[kind], sendCq: this.#sends, recvCq: this.#receives, cap });
      this.#byNumber.set(made.qpNum, kind);
      return made;
    };
    this.#qps = { rc: qp('rc'), uc: qp('uc'), ud: qp('ud') };
  }

  get info(): VerbsInfo {
    const { rc, uc, ud } = this.#qps;
    const qpNums = { rc: rc.qpNum, uc: uc.qpNum, ud: ud.qpNum };
    return { address: this.context.address, qpNums, addr: this.#addr, rkey: this.#mr.rkey };
  }

  connect(peer: VerbsInfo): void {
    this.#peer = peer;
    const { rc, uc, ud } = this.#qps;
    const ahAttr = { grh: { dgid: gidFromIp(peer.address) } };
    for (const qp of [rc, uc]) qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: ACCESS });
    const path = { pathMtu: Mtu.MTU_4096, rqPsn: 0, ahAttr } as const;
    rc.modify({ ...path, qpState: QpState.RTR, destQpNum: peer.qpNums.rc, maxDestRdAtomic: 16, minRnrTimer: 1 });
    rc.modify({ qpState: QpState.RTS, timeout: 14, retryCnt: 7, rnrRetry: 7, sqPsn: 0, maxRdAtomic: 16 });
    uc.modify({ ...path, qpState: QpState.RTR, destQpNum: peer.qpNums.uc });
    uc.modify({ qpState: QpState.RTS, sqPsn: 0 });
    ud.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qkey: QKEY });
    ud.modify({ qpState: QpState.RTR });
    ud.modify({ qpState: QpState.RTS, sqPsn: 0 });
    this.#ah = this.#pd.createAh(ahAttr);
    for (const kind of TRANSPORTS) for (let i = 0; i < RECEIVES; i += 1) this.#receive(kind);
  }

  /** From now on {@link serve} answers what it is told of with such a message; with nothing but a word for each list otherwise. */
  answerWith(answer: Verb | undefined, bytes: number): void {
    this.#isServing = true;
    this.#answer = answer;
    this.#answerBytes = answer === undefined ? 0 : bytes;
  }

  /** Takes what has come, and answers it, for so long. */
  serve(milliseconds: number): void {
    const end = performance.now() + milliseconds;
    while (performance.now() < end) {
      this.#takeSends();
      const came = this.#takeReceives();
      const answer = this.#answer ?? WORD;
      if (came > 0) this.#post(answer, this.#answerBytes, came, answer === WORD ? 'none' : 'each');
    }
  }

  /** Messages one way, in lists: 10^6 a second, of which the peer, or the adapter, has said that they are there. */
  rate(verb: Verb, bytes: number, effort: Effort): Measurement {
    const isAcknowledged = verb.transport === 'rc';
    let lists = 0;
    let heardMs = performance.now();
    const work = (): number => {
      for (; lists < LISTS; lists += 1) this.#post(verb, bytes, LIST, isAcknowledged ? 'none' : 'last');
      const sent = this.#takeSends();
      const done = isAcknowledged ? sent : this.#takeReceives();
      const nowMs = performance.now();
      if (done > 0) heardMs = nowMs;
      else if (!isAcknowledged && nowMs - heardMs > LOST_MS) {
        lists = 0;
        heardMs = nowMs;
      }
      lists = Math.max(0, lists - done);
      return done * LIST;
    };
    return { samples: measure(effort, work, (milliseconds, count) => count / milliseconds / 1000) };
  }

  /** Messages that are answered, so many at a time: 10^6 a second. */
  echoRate(request: Verb, bytes: number, window: number, effort: Effort): Measurement {
    const isLossy = request.transport !== 'rc';
    let under = 0;
    let heardMs = performance.now();
    const work = (): number => {
      if (under < window) {
        this.#post(request, bytes, window - under, 'each');
        under = window;
      }
      const sent = this.#takeSends();
      const done = request.verb === 'read' ? sent : this.#takeReceives();
      const nowMs = performance.now();
      if (done > 0) heardMs = nowMs;
      else if (isLossy && nowMs - heardMs > LOST_MS) {
        under = 0;
        heardMs = nowMs;
      }
      under = Math.max(0, under - done);
      return done;
    };
    return { samples: measure(effort, work, (milliseconds, count) => count / milliseconds / 1000) };
  }

  /** One message after the other: µs there and back. */
  echoLatency(request: Verb, bytes: number, effort: Effort): Measurement {
    const isRead = request.verb === 'read';
    const isLossy = request.transport !== 'rc';
    const recorder = new LatencyRecorder(effort, 1);
    recorder.start();
    do {
      this.#post(request, bytes, 1, 'each');
      const begunMs = performance.now();
      for (let isDone = false; !isDone && (!isLossy || performance.now() - begunMs < LOST_MS);) {
        const sent = this.#takeSends();
        isDone = isRead ? sent > 0 : this.#takeReceives() > 0;
      }
    } while (recorder.lap());
    return recorder.measurement();
  }

  #post(verb: Verb, bytes: number, count: number, told: Told): void {
    const { transport, inline, verb: kind } = verb;
    const qp = this.#qps[transport];
    const payload = this.#mr.bytes.subarray(0, bytes);
    qp.wrStart();
    for (let i = 0; i < count; i += 1) {
      const isLast = i === count - 1;
      qp.wrFlags = isLast || (kind === 'read' && told === 'each') ? SendFlags.SIGNALED : 0;
      this.#describe(qp, kind, told === 'each' ? kind === 'write' : told === 'last' && isLast);
      if (transport === 'ud') this.#address(qp);
      if (bytes === 0) continue;
      if (inline) qp.wrSetInlineData(payload);
      else qp.wrSetSge(this.#mr.lkey, this.#addr, bytes);
    }
    qp.wrComplete();
  }

  #describe(qp: Qp, kind: Verb['verb'], hasImm: boolean): void {
    const { rkey, addr } = this.#peerInfo();
    if (kind === 'read') qp.wrRdmaRead(rkey, addr);
    else if (kind === 'write' && hasImm) qp.wrRdmaWriteImm(rkey, addr, 0);
    else if (kind === 'write') qp.wrRdmaWrite(rkey, addr);
    else if (hasImm) qp.wrSendImm(0);
    else qp.wrSend();
  }

  #address(qp: Qp): void {
    if (this.#ah === undefined) throw new Error('a datagram before there is a peer');
    qp.wrSetUdAddr(this.#ah, this.#peerInfo().qpNums.ud, QKEY);
  }

  #peerInfo(): VerbsInfo {
    if (this.#peer === undefined) throw new Error('a message before there is a peer');
    return this.#peer;
  }

  #receive(kind: TransportKind): void {
    this.#qps[kind].postRecvSge(0, this.#mr.lkey, this.#addr, PLACE_BYTES);
  }

  /** @returns how many signalled requests are done */
  #takeSends(): number {
    return this.#poll(this.#sends, () => true);
  }

  /** Takes messages, and makes room for as many. @returns how many there were of those that tell something */
  #takeReceives(): number {
    const isEcho = this.#answer !== undefined || !this.#isServing;
    return this.#poll(this.#receives, (cq) => {
      const kind = this.#byNumber.get(cq.qpNum);
      if (kind === undefined) throw new Error(`a message at queue pair ${cq.qpNum}, which is not ours`);
      this.#receive(kind);
      return isEcho || (cq.wcFlags & WcFlags.WITH_IMM) !== 0;
    });
  }

  #poll(cq: Cq, counts: (cq: Cq) => boolean): number {
    if (!cq.startPoll()) return 0;
    let count = 0;
    let looked = 0;
    do {
      if (cq.status !== WcStatus.SUCCESS)
        throw new Error(`${wcStatusStr(cq.status)}: ${this.context.explain(cq.workCompletion())}`);
      if (counts(cq)) count += 1;
      looked += 1;
    } while (looked < LIST && cq.nextPoll());
    cq.endPoll();
    return count;
  }
}
