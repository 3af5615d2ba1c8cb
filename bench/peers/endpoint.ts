/** One end of a measured connection: a device, a region, a queue pair, and the spinning loops over them. */
import {
  AccessFlags,
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
  WcStatus,
  wcStatusStr,
} from '../../src/entry/index.js';
import { measureRounds } from '../measure/latency.js';
import { type Effort, measure, type Measurement } from '../measure/measurement.js';

/** What the two ends tell each other, as plain data. */
export interface EndpointInfo {
  readonly address: string;
  /** Each is connected to the one in the same place on the other side. */
  readonly qpNums: readonly number[];
  readonly addr: string;
  readonly rkey: number;
}

const ALL_ACCESS =
  AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_ATOMIC;
const DEPTH = 256;
const DEPTH_OF_MANY = 16;
/** The largest WRITE or READ, unless something else is asked for. */
const LARGEST_BYTES = 8 << 20;
/** The longest message. */
const MESSAGE_BYTES = 4096;
/** Length of the messages that end a ping-pong. */
const LAST = 1;

/** A device with one region and one RC queue pair, or many. */
export class Endpoint implements Disposable {
  readonly context: Context;
  readonly mr: Mr;
  readonly cq: Cq;
  /** The first, and mostly the only one. */
  readonly qp: Qp;
  readonly qps: readonly Qp[];
  readonly #addr: number;
  /** Where messages arrive, out of the way of those sent. */
  readonly #inbox: number;
  #peerAddr = 0;
  #peerRkey = 0;
  /** Signalled requests that are not complete. */
  #under = 0;

  /** @param memory takes the memory of the region */
  constructor(
    host: HostKind,
    address: string,
    qpCount = 1,
    largestBytes = LARGEST_BYTES,
    memory: (lengthBytes: number) => Parameters<Pd['regMr']>[0] = alloc,
  ) {
    this.context = openDevice({ host, address });
    const pd = this.context.allocPd();
    this.mr = pd.regMr(memory(largestBytes + MESSAGE_BYTES), ALL_ACCESS);
    this.#addr = Number(this.mr.addr);
    this.#inbox = this.#addr + largestBytes;
    this.cq = this.context.createCq({ cqe: 2 * DEPTH });
    const depth = qpCount === 1 ? DEPTH : DEPTH_OF_MANY;
    this.qps = Array.from({ length: qpCount }, () =>
      pd.createQp({
        qpType: QpType.RC,
        sendCq: this.cq,
        recvCq: this.cq,
        cap: { maxSendWr: depth, maxRecvWr: depth },
      }),
    );
    this.qp = this.qps[0];
  }

  get info(): EndpointInfo {
    const { context, qps, mr } = this;
    return { address: context.address, qpNums: qps.map(({ qpNum }) => qpNum), addr: String(mr.addr), rkey: mr.rkey };
  }

  connect(peer: EndpointInfo): void {
    this.qps.forEach((_, i) => this.connectOne(i, peer, peer.qpNums[i]));
    this.#peerAddr = Number(peer.addr);
    this.#peerRkey = peer.rkey;
    if (this.qps.length === 1) for (let i = 0; i < DEPTH / 2; i += 1) this.#receive();
  }

  /** Connects one of the queue pairs, for the peer to write and read here. */
  connectOne(index: number, peer: EndpointInfo, destQpNum: number): void {
    const qp = this.qps[index];
    qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: ALL_ACCESS });
    qp.modify({
      qpState: QpState.RTR,
      pathMtu: Mtu.MTU_4096,
      destQpNum,
      rqPsn: 0,
      maxDestRdAtomic: 16,
      minRnrTimer: 1,
      ahAttr: { grh: { dgid: gidFromIp(peer.address) } },
    });
    qp.modify({ qpState: QpState.RTS, timeout: 14, retryCnt: 7, rnrRetry: 7, sqPsn: 0, maxRdAtomic: 16 });
  }

  /** Sends `bytes`, and waits for the answer, again and again. @returns µs one way */
  ping(bytes: number, effort: Effort): Measurement {
    const measurement = measureRounds(effort, () => {
      this.#send(bytes);
      // There are enough of them: the next one is posted while the message is under way.
      this.#receive();
      this.#spin();
    });
    this.#send(LAST);
    this.#spin();
    return measurement;
  }

  /** Answers every message with one of the same length, until the last. */
  pong(): void {
    for (let length = 0; length !== LAST;) {
      length = this.#spin();
      this.#send(length);
      this.#receive();
    }
  }

  /** Keeps a few WRITEs or READs under way. @returns 10^9 bytes a second, for each stretch */
  bandwidth(
    verb: 'write' | 'read',
    bytes: number,
    outstanding: number,
    effort: Effort,
  ): Measurement & { readonly bytes: number } {
    let done = 0;
    const work = (): number => {
      const came = this.keepBusy(verb, bytes, outstanding);
      done += came;
      return came;
    };
    const samples = measure(effort, work, (milliseconds, count) => (count * bytes) / milliseconds / 1e6);
    this.#finish();
    return { samples, bytes: done * bytes };
  }

  /** Posts up to `outstanding` WRITEs or READs, and takes what is complete. @returns how many */
  keepBusy(verb: 'write' | 'read', bytes: number, outstanding: number): number {
    for (; this.#under < outstanding; this.#under += 1) {
      if (verb === 'write') this.#write(this.qp, bytes);
      else this.#read(this.qp, bytes);
    }
    const came = this.#poll();
    this.#under -= came;
    return came;
  }

  /** Keeps a few WRITEs under way on each queue pair. @returns bytes of each stretch, a row for each queue pair */
  writeOnAll(bytes: number, outstanding: number, { stretches, stretchMs, warmUpMs }: Effort): number[][] {
    const places = new Map(this.qps.map((qp, i) => [qp.qpNum, i]));
    const rows = this.qps.map(() => new Array<number>(stretches).fill(0));
    for (const qp of this.qps) for (let i = 0; i < outstanding; i += 1) this.#write(qp, bytes);
    const beginMs = performance.now() + warmUpMs;
    const { cq } = this;
    let under = this.qps.length * outstanding;
    while (under > 0) {
      if (!cq.startPoll()) continue;
      const stretch = Math.floor((performance.now() - beginMs) / stretchMs);
      let taken = 0;
      do {
        taken += 1;
        this.#expectSuccess();
        const place = places.get(cq.qpNum);
        if (place === undefined) throw new Error(`a completion of queue pair ${cq.qpNum}, which is not ours`);
        if (stretch >= 0 && stretch < stretches) rows[place][stretch] += bytes;
        if (stretch < stretches) this.#write(this.qps[place], bytes);
        else under -= 1;
        // Entries are given back when the poll ends, and what is posted meanwhile may complete at once.
      } while (taken < DEPTH && cq.nextPoll());
      cq.endPoll();
    }
    return rows;
  }

  /** One WRITE after the other, each on the next queue pair. @returns µs of one, for each stretch */
  writeInTurn(bytes: number, effort: Effort): number[] {
    const ROUNDS = 64;
    let next = 0;
    const rounds = (): number => {
      for (let i = 0; i < ROUNDS; i += 1) {
        this.#write(this.qps[next], bytes);
        next = next + 1 === this.qps.length ? 0 : next + 1;
        this.#spin();
      }
      return ROUNDS;
    };
    return measure(effort, rounds, (milliseconds, count) => (milliseconds * 1000) / count);
  }

  /** WRITEs of 8 bytes, posted in lists whose last is signalled. @returns 10^6 WRITEs a second, for each stretch */
  writeRate(listLength: number, effort: Effort): number[] {
    const write = (): number => {
      for (; this.#under < 2; this.#under += 1) this.#writeList(listLength);
      const came = this.#poll();
      this.#under -= came;
      return came * listLength;
    };
    const samples = measure(effort, write, (milliseconds, count) => count / milliseconds / 1000);
    this.#finish();
    return samples;
  }

  /** Gives the device turns, when it has none of its own, for so long. */
  serve(milliseconds: number): void {
    const end = performance.now() + milliseconds;
    while (performance.now() < end) this.#poll();
  }

  [Symbol.dispose](): void {
    this.context[Symbol.dispose]();
  }

  #send(bytes: number): void {
    const { qp } = this;
    qp.wrStart();
    qp.wrSend();
    qp.wrSetSge(this.mr.lkey, this.#addr, bytes);
    qp.wrComplete();
  }

  #receive(): void {
    this.qp.postRecvSge(0, this.mr.lkey, this.#inbox, MESSAGE_BYTES);
  }

  #write(qp: Qp, bytes: number): void {
    qp.wrStart();
    qp.wrFlags = SendFlags.SIGNALED;
    qp.wrRdmaWrite(this.#peerRkey, this.#peerAddr);
    qp.wrSetSge(this.mr.lkey, this.#addr, bytes);
    qp.wrComplete();
  }

  #read(qp: Qp, bytes: number): void {
    qp.wrStart();
    qp.wrFlags = SendFlags.SIGNALED;
    qp.wrRdmaRead(this.#peerRkey, this.#peerAddr);
    qp.wrSetSge(this.mr.lkey, this.#addr, bytes);
    qp.wrComplete();
  }

  #writeList(length: number): void {
    const { qp, mr } = this;
    qp.wrStart();
    for (let i = 0; i < length; i += 1) {
      qp.wrFlags = i === length - 1 ? SendFlags.SIGNALED : 0;
      qp.wrRdmaWrite(this.#peerRkey, this.#peerAddr + 8 * i);
      qp.wrSetSge(mr.lkey, this.#addr + 8 * i, 8);
    }
    qp.wrComplete();
  }

  /** Spins for one completion. @returns its length */
  #spin(): number {
    const { cq } = this;
    while (!cq.startPoll());
    this.#expectSuccess();
    const length = cq.byteLen;
    cq.endPoll();
    return length;
  }

  #finish(): void {
    while (this.#under > 0) this.#under -= this.#poll();
  }

  /** Takes the completions that are there. @returns how many */
  #poll(): number {
    const { cq } = this;
    if (!cq.startPoll()) return 0;
    let count = 0;
    do {
      this.#expectSuccess();
      count += 1;
    } while (cq.nextPoll());
    cq.endPoll();
    return count;
  }

  #expectSuccess(): void {
    const { cq } = this;
    if (cq.status === WcStatus.SUCCESS) return;
    throw new Error(`${wcStatusStr(cq.status)}: ${this.context.explain(cq.workCompletion())}`);
  }
}
