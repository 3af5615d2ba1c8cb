import { randomInt } from 'node:crypto';
import {
  AccessFlags,
  type CompChannel,
  type Context,
  type Cq,
  type Gid,
  type Mr,
  type Mtu,
  type Pd,
  type Qp,
  QpState,
  QpType,
  SendFlags,
  VerbsError,
  type WorkCompletion,
  WcStatus,
  WrOpcode,
  alloc,
  isIpv4Gid,
  wcStatusStr,
} from '../../index.js';
import { ToolError, attempt } from '../errors.js';
import { gidText } from '../gid-text.js';
import { type Destination } from './destination.js';

const RECV_WRID = 1;
const SEND_WRID = 2;

const FILL = 0x7b;
const PAGE_BYTES = 4096;

/** How long a side that is done still answers the peer's retransmissions: four ACK timeouts of exponent 14. */
const LINGER_MS = 270;

/** Empty polls in a row, some tens of microseconds, after which polling pauses. */
const PATIENCE = 500;
const NAP_MS = 0.02;
/** Silence after which the user is told what it may mean. */
const SILENCE_MS = 5000;
const idle = new Int32Array(new SharedArrayBuffer(4));

export interface PingPongOptions {
  readonly sizeBytes: number;
  readonly pathMtu: Mtu;
  readonly rxDepth: number;
  readonly iterations: number;
  readonly serviceLevel: number;
  readonly portNum: number;
  readonly gidIndex: number | undefined;
  /** Sleep on completion events in place of polling. */
  readonly useEvents: boolean;
  /** Post by `wrStart` ... `wrComplete` in place of `postSend`. */
  readonly newSend: boolean;
  /** Check what was received. */
  readonly validate: boolean;
}

export interface PingPongResult {
  readonly elapsedUs: number;
  /** Pages whose content was wrong; only when asked to validate. */
  readonly invalidPages: readonly number[];
  /** Set when the peer left before it acknowledged our last message. */
  readonly note?: string;
}

/** The GID to talk from: the index asked for, or the first entry of the port's table. */
function chooseGid(context: Context, portNum: number, index: number | undefined): { index: number; gid: Gid } {
  const wanted = index ?? 0;
  return attempt(`can't read sgid of index ${wanted}`, () => ({
    index: wanted,
    gid: context.queryGid(portNum, wanted),
  }));
}

/** One side of a ping-pong: its verbs objects, and the loop that the C tool of the same name runs. */
export class PingPong {
  readonly #context: Context;
  readonly #options: PingPongOptions;
  readonly #channel: CompChannel | undefined;
  readonly #pd: Pd;
  readonly #memory: Uint8Array;
  readonly #mr: Mr;
  readonly #cq: Cq;
  readonly #qp: Qp;
  readonly #gidIndex: number;
  readonly #sendFlags: number;
  /** What the peer needs to reach this side. */
  readonly local: Destination;

  #outstandingReceives = 0;
  #sent = 0;
  #received = 0;
  #pending = 0;
  #toldSilence = false;

  constructor(context: Context, options: PingPongOptions) {
    const { sizeBytes, rxDepth, portNum } = options;
    this.#context = context;
    this.#options = options;
    const port = attempt("Couldn't get port info", () => context.queryPort(portNum));
    const { index, gid } = chooseGid(context, portNum, options.gidIndex);
    this.#gidIndex = index;
    this.#channel = options.useEvents
      ? attempt("Couldn't create completion channel", () => context.createCompChannel())
      : undefined;
    this.#pd = attempt("Couldn't allocate PD", () => context.allocPd());
    this.#memory = attempt("Couldn't allocate work buf", () => alloc(sizeBytes)).fill(FILL);
    this.#mr = attempt("Couldn't register MR", () => this.#pd.regMr(this.#memory, AccessFlags.LOCAL_WRITE));
    const channel = this.#channel;
    this.#cq = attempt("Couldn't create CQ", () =>
      context.createCq({ cqe: rxDepth + 1, ...(channel === undefined ? {} : { channel }) }),
    );
    this.#qp = attempt("Couldn't create QP", () =>
      this.#pd.createQp({
        qpType: QpType.RC,
        sendCq: this.#cq,
        recvCq: this.#cq,
        cap: { maxSendWr: 1, maxRecvWr: rxDepth, maxSendSge: 1, maxRecvSge: 1 },
      }),
    );
    const inline = this.#qp.cap.maxInlineData >= sizeBytes ? SendFlags.INLINE : 0;
    this.#sendFlags = SendFlags.SIGNALED | inline;
    attempt('Failed to modify QP to INIT', () =>
      this.#qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum, qpAccessFlags: 0 }),
    );
    this.#postReceives(rxDepth);
    if (options.useEvents) attempt("Couldn't request CQ notification", () => this.#cq.reqNotify());
    this.local = { lid: port.lid, qpn: this.#qp.qpNum, psn: randomInt(1 << 24), gid };
  }

  /** Moves the QP to RTS, toward the peer. The attributes are the C tool's (PROTOCOL.md 6.1). */
  connect(remote: Destination): void {
    const { pathMtu, serviceLevel, portNum } = this.#options;
    this.#refuseUnreachable(remote.gid);
    attempt('Failed to modify QP to RTR', () =>
      this.#qp.modify({
        qpState: QpState.RTR,
        pathMtu,
        destQpNum: remote.qpn,
        rqPsn: remote.psn,
        maxDestRdAtomic: 1,
        minRnrTimer: 12,
        ahAttr: {
          grh: { dgid: remote.gid, sgidIndex: this.#gidIndex, hopLimit: 64 },
          dlid: remote.lid,
          sl: serviceLevel,
          portNum,
        },
      }),
    );
    attempt('Failed to modify QP to RTS', () =>
      this.#qp.modify({
        qpState: QpState.RTS,
        timeout: 14,
        retryCnt: 7,
        rnrRetry: 7,
        sqPsn: this.local.psn,
        maxRdAtomic: 1,
      }),
    );
  }

  /** Plays all rounds. The client serves. */
  run(serves: boolean): PingPongResult {
    const { iterations, sizeBytes, validate } = this.#options;
    this.#pending = RECV_WRID;
    if (serves) {
      if (validate) for (let at = 0; at < sizeBytes; at += PAGE_BYTES) this.#memory[at] = 0;
      this.#postSend();
      this.#pending |= SEND_WRID;
    }
    let note: string | undefined;
    const started = performance.now();
    while (note === undefined && (this.#received < iterations || this.#sent < iterations)) {
      for (const completion of this.#nextCompletions()) note ??= this.#take(completion);
    }
    const elapsedUs = (performance.now() - started) * 1000;
    const invalidPages = validate && !serves ? this.#invalidPages() : [];
    this.#linger();
    return { elapsedUs, invalidPages, ...(note === undefined ? {} : { note }) };
  }

  close(): void {
    attempt("Couldn't destroy QP", () => this.#qp.destroy());
    attempt("Couldn't destroy CQ", () => this.#cq.destroy());
    attempt("Couldn't deregister MR", () => this.#mr.dereg());
    attempt("Couldn't deallocate PD", () => this.#pd.dealloc());
    const channel = this.#channel;
    if (channel !== undefined) attempt("Couldn't destroy completion channel", () => channel.destroy());
  }

  #refuseUnreachable(remote: Gid): void {
    if (remote.every((byte) => byte === 0)) {
      throw new ToolError(
        'The peer sent no GID, and RoCE has no other address: start it with -g INDEX (its ibv_devinfo -v lists them).',
      );
    }
    const own = this.local.gid;
    if (isIpv4Gid(own) === isIpv4Gid(remote)) return;
    const family = isIpv4Gid(remote) ? 'IPv4' : 'IPv6';
    throw new ToolError(
      `The peer's GID is ${gidText(remote)} and ours ${gidText(own)}: ` +
        `start one of both with an address of the other's family (here: --addr and an ${family} address).`,
    );
  }

  #postReceives(count: number): void {
    const sgList = [this.#mr.sge()];
    attempt(`Couldn't post receive (${this.#outstandingReceives})`, () => {
      for (let i = 0; i < count; i += 1) {
        this.#qp.postRecv({ wrId: RECV_WRID, sgList });
        this.#outstandingReceives += 1;
      }
    });
  }

  #postSend(): void {
    attempt("Couldn't post send", () => {
      if (this.#options.newSend) {
        const qp = this.#qp;
        qp.wrStart();
        qp.wrId = SEND_WRID;
        qp.wrFlags = this.#sendFlags;
        qp.wrSend();
        qp.wrSetSge(this.#mr.lkey, this.#mr.addr, this.#options.sizeBytes);
        qp.wrComplete();
      } else {
        this.#qp.postSend({
          wrId: SEND_WRID,
          opcode: WrOpcode.SEND,
          sendFlags: this.#sendFlags,
          sgList: [this.#mr.sge()],
        });
      }
    });
  }

  /** A request to receive never times out, so a peer that dies between two messages is only silent. */
  #tellSilence(): void {
    if (this.#toldSilence) return;
    this.#toldSilence = true;
    process.stderr.write(
      `Nothing has come from the peer for ${SILENCE_MS / 1000} s; if it is gone, end this side by Ctrl-C.\n`,
    );
  }

  #awaitEvent(channel: CompChannel): Cq {
    if (!this.#toldSilence) {
      try {
        return channel.getCqEvent(SILENCE_MS);
      } catch (error) {
        if (!(error instanceof VerbsError && error.errno === 'ETIMEDOUT')) throw error;
        this.#tellSilence();
      }
    }
    return channel.getCqEvent();
  }

  #nextCompletions(): WorkCompletion[] {
    const channel = this.#channel;
    if (channel !== undefined) {
      const cq = attempt('Failed to get cq_event', () => this.#awaitEvent(channel));
      cq.ackEvents();
      attempt("Couldn't request CQ notification", () => cq.reqNotify());
      return cq.poll(2);
    }
    let silentSince = 0;
    for (let empty = 0; ; empty += 1) {
      const completions = this.#cq.poll(2);
      if (completions.length > 0) return completions;
      if (empty % PATIENCE === 0) {
        const now = performance.now();
        if (empty === 0) silentSince = now;
        else if (now - silentSince > SILENCE_MS) this.#tellSilence();
      }
      // An inline NIC lives from our polling. One in a thread may need the core that we hold.
      if (empty >= PATIENCE && this.#context.host === 'thread') Atomics.wait(idle, 0, 0, NAP_MS);
    }
  }

  /** Counts one completion and answers it. A sentence back means that the game ended early, but well. */
  #take(completion: WorkCompletion): string | undefined {
    const wrId = Number(completion.wrId);
    if (completion.status !== WcStatus.SUCCESS) return this.#endedBy(completion);
    if (wrId === SEND_WRID) {
      this.#sent += 1;
    } else {
      this.#outstandingReceives -= 1;
      if (this.#outstandingReceives <= 1) this.#postReceives(this.#options.rxDepth - this.#outstandingReceives);
      this.#received += 1;
    }
    this.#pending &= ~wrId;
    if (this.#sent < this.#options.iterations && this.#pending === 0) {
      this.#postSend();
      this.#pending = RECV_WRID | SEND_WRID;
    }
    return undefined;
  }

  /**
   * The last acknowledgement of a ping-pong can be lost for good, since a peer that has all its messages leaves. With
   * every message received, only the news that our last one arrived is missing, so that is no failure.
   */
  #endedBy(completion: WorkCompletion): string {
    const { iterations } = this.#options;
    const lastSend = Number(completion.wrId) === SEND_WRID && this.#sent === iterations - 1;
    if (lastSend && this.#received === iterations && completion.status === WcStatus.RETRY_EXC_ERR) {
      return 'The peer left before its last acknowledgement came through; all its messages had arrived.';
    }
    throw new ToolError(
      `Failed status ${wcStatusStr(completion.status)} (${completion.status}) for wr_id ${completion.wrId}: ` +
        this.#context.explain(completion),
    );
  }

  #invalidPages(): number[] {
    const pages: number[] = [];
    for (let at = 0; at < this.#options.sizeBytes; at += PAGE_BYTES) {
      if (this.#memory[at] !== 0) pages.push(at / PAGE_BYTES);
    }
    return pages;
  }

  /** Where packets were lost, our last ACK may be too: stay a while, so that the peer's repetition gets its answer. */
  #linger(): void {
    const counters = this.#context.counters();
    const signs = ['retransmitted_pkts', 'duplicate_request', 'out_of_seq_request'];
    if (signs.every((name) => (counters[name] ?? 0) === 0)) return;
    const until = performance.now() + LINGER_MS;
    while (performance.now() < until) this.#cq.poll(1);
  }
}
