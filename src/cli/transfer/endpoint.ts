import { randomInt } from 'node:crypto';
import {
  AccessFlags,
  type CompChannel,
  type Context,
  type Cq,
  type Mr,
  type Mtu,
  type Pd,
  type Qp,
  QpState,
  QpType,
  SendFlags,
  type WorkCompletion,
  WcStatus,
  WrOpcode,
  alloc,
  gidFromIp,
  ipFromGid,
  isIpv4Gid,
  wcStatusStr,
} from '../../index.js';
import { ToolError } from '../errors.js';
import { type EndAddress } from './messages.js';

const PORT = 1;

/** Requests that may be under way at once, of each kind. */
const DEPTH = 64;

/** Room for one short message in each direction. */
const MESSAGE_BYTES = 64;

/** One end of the transfer: a QP, the memory that is read or written, and short messages beside it. */
export class Endpoint {
  readonly #context: Context;
  readonly #pd: Pd;
  readonly #channel: CompChannel;
  readonly #events: AsyncIterator<Cq>;
  readonly #cq: Cq;
  readonly #qp: Qp;
  readonly #data: Mr;
  readonly #outgoing: Mr;
  readonly #incoming: Mr;
  readonly #psn = randomInt(1 << 24);
  #arrived: WorkCompletion[] = [];

  constructor(context: Context, dataBytes: number, access: number) {
    this.#context = context;
    this.#pd = context.allocPd();
    this.#channel = context.createCompChannel();
    this.#events = this.#channel[Symbol.asyncIterator]();
    this.#cq = context.createCq({ cqe: 2 * DEPTH, channel: this.#channel });
    this.#qp = this.#pd.createQp({
      qpType: QpType.RC,
      sendCq: this.#cq,
      recvCq: this.#cq,
      cap: { maxSendWr: DEPTH, maxRecvWr: DEPTH, maxSendSge: 1, maxRecvSge: 1 },
    });
    this.#data = this.#pd.regMr(alloc(Math.max(1, dataBytes)), access);
    this.#outgoing = this.#pd.regMr(alloc(MESSAGE_BYTES), AccessFlags.LOCAL_WRITE);
    this.#incoming = this.#pd.regMr(alloc(MESSAGE_BYTES), AccessFlags.LOCAL_WRITE);
    this.#qp.modify({
      qpState: QpState.INIT,
      pkeyIndex: 0,
      portNum: PORT,
      qpAccessFlags: AccessFlags.REMOTE_WRITE,
    });
  }

  /** The memory that the transfer reads from or writes to. */
  get data(): Uint8Array {
    return this.#data.bytes;
  }

  get local(): EndAddress {
    return {
      address: ipFromGid(this.#context.queryGid(PORT, 0)),
      qpn: this.#qp.qpNum,
      psn: this.#psn,
      mtu: this.#context.queryPort(PORT).activeMtu,
      remoteAddr: this.#data.addr.toString(16),
      rkey: this.#data.rkey,
    };
  }

  connect(remote: EndAddress): void {
    const local = this.local;
    const dgid = gidFromIp(remote.address);
    if (isIpv4Gid(dgid) !== isIpv4Gid(this.#context.queryGid(PORT, 0))) {
      throw new ToolError(
        `Sender and receiver need addresses of one family, not ${local.address} and ${remote.address}.`,
      );
    }
    this.#qp.modify({
      qpState: QpState.RTR,
      // Both ends are this program, so the number is an Mtu.
      pathMtu: Math.min(local.mtu, remote.mtu) as Mtu,
      destQpNum: remote.qpn,
      rqPsn: remote.psn,
      maxDestRdAtomic: 1,
      minRnrTimer: 12,
      ahAttr: { grh: { dgid } },
    });
    this.#qp.modify({
      qpState: QpState.RTS,
      timeout: 14,
      retryCnt: 7,
      rnrRetry: 7,
      sqPsn: this.#psn,
      maxRdAtomic: 1,
    });
  }

  /** Writes a piece of our memory to the same place in the peer's. With `immData` the peer hears of it. */
  write(remote: EndAddress, offset: number, length: number, immData?: number): void {
    const common = {
      wrId: length,
      sgList: [this.#data.sge(offset, length)],
      sendFlags: SendFlags.SIGNALED,
      rdma: { remoteAddr: BigInt(`0x${remote.remoteAddr}`) + BigInt(offset), rkey: remote.rkey },
    };
    if (immData === undefined) this.#qp.postSend({ ...common, opcode: WrOpcode.RDMA_WRITE });
    else this.#qp.postSend({ ...common, opcode: WrOpcode.RDMA_WRITE_WITH_IMM, immData });
  }

  send(message: Uint8Array): void {
    this.#outgoing.bytes.set(message);
    this.#qp.postSend({
      wrId: 0,
      opcode: WrOpcode.SEND,
      sendFlags: SendFlags.SIGNALED,
      sgList: [this.#outgoing.sge(0, message.length)],
    });
  }

  /** Makes room for the peer's next message, or for the news of its next write with an immediate. */
  expect(): void {
    this.#qp.postRecv({ wrId: 0, sgList: [this.#incoming.sge()] });
  }

  /** The bytes that a received message brought. */
  message(completion: WorkCompletion): Uint8Array {
    return this.#incoming.bytes.slice(0, completion.byteLen);
  }

  /**
   * The next completion. The event loop runs on while it waits.
   *
   * @throws ToolError when a request failed
   */
  async next(): Promise<WorkCompletion> {
    for (;;) {
      const completion = this.#arrived.shift();
      if (completion !== undefined) {
        if (completion.status === WcStatus.SUCCESS) return completion;
        throw new ToolError(`${wcStatusStr(completion.status)}: ${this.#context.explain(completion)}`);
      }
      this.#arrived = this.#cq.poll(DEPTH);
      if (this.#arrived.length > 0) continue;
      // Arm, then look once more, then wait: what completes after the arming raises an event.
      this.#cq.reqNotify();
      this.#arrived = this.#cq.poll(DEPTH);
      if (this.#arrived.length > 0) continue;
      await this.#events.next();
      this.#cq.ackEvents();
    }
  }

  async close(): Promise<void> {
    await this.#events.return?.();
    this.#qp.destroy();
    for (const mr of [this.#data, this.#outgoing, this.#incoming]) mr.dereg();
    this.#cq.destroy();
    this.#channel.destroy();
    this.#pd.dealloc();
  }
}
