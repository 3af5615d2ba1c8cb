import {
  AccessFlags,
  alloc,
  type Connection,
  type ConnectionOptions,
  type Context,
  type Mr,
  type Pd,
  SendFlags,
  WcStatus,
  wcStatusStr,
  type WorkCompletion,
  WrOpcode,
} from '../../entry/index.js';
import { ToolError } from '../kit/errors.js';
import type { Grant } from './messages.js';

/** Requests that may be under way at once. */
const SEND_DEPTH = 64;

/** Room for one short message in each direction. */
const MESSAGE_BYTES = 64;

/** What one end has before it is connected: the memory that is read or written, and room for short messages. */
export class EndMemory {
  readonly #pd: Pd;
  readonly data: Mr;
  readonly outgoing: Mr;
  readonly incoming: Mr;

  constructor(context: Context, dataBytes: number, access: number) {
    this.#pd = context.allocPd();
    this.data = this.#pd.regMr(alloc(Math.max(1, dataBytes)), access);
    this.outgoing = this.#pd.regMr(alloc(MESSAGE_BYTES), AccessFlags.LOCAL_WRITE);
    this.incoming = this.#pd.regMr(alloc(MESSAGE_BYTES), AccessFlags.LOCAL_WRITE);
  }

  /** How to connect or accept with this memory: there is room for a message before the peer can send one. */
  get options(): ConnectionOptions {
    return {
      pd: this.#pd,
      qp: { cap: { maxSendWr: SEND_DEPTH, maxRecvWr: 1, maxSendSge: 1, maxRecvSge: 1 } },
      prepare: (id) => id.postRecv(0, this.incoming.sge()),
    };
  }

  close(): void {
    for (const mr of [this.data, this.outgoing, this.incoming]) mr.dereg();
    this.#pd.dealloc();
  }
}

/** One end of the transfer: a connection, the memory that is read or written, and short messages beside it. */
export class Endpoint {
  readonly #context: Context;
  readonly #memory: EndMemory;
  readonly #connection: Connection;

  constructor(context: Context, memory: EndMemory, connection: Connection) {
    this.#context = context;
    this.#memory = memory;
    this.#connection = connection;
  }

  /** The memory that the transfer reads from or writes to. */
  get data(): Uint8Array {
    return this.#memory.data.bytes;
  }

  /** Resolves once the connection has ended. */
  get closed(): Promise<void> {
    return this.#connection.closed;
  }

  /** Writes a piece of our memory to the same place in the peer's. With `immData` the peer hears of it. */
  write(remote: Grant, offset: number, length: number, immData?: number): void {
    const common = {
      wrId: length,
      sgList: [this.#memory.data.sge(offset, length)],
      sendFlags: SendFlags.SIGNALED,
      rdma: { remoteAddr: remote.remoteAddr + BigInt(offset), rkey: remote.rkey },
    };
    const { qp } = this.#connection;
    if (immData === undefined) qp.postSend({ ...common, opcode: WrOpcode.RDMA_WRITE });
    else qp.postSend({ ...common, opcode: WrOpcode.RDMA_WRITE_WITH_IMM, immData });
  }

  /** Waits for the oldest write that is under way; as many bytes as it had come back. @throws ToolError when it failed */
  async written(): Promise<number> {
    return Number(this.#checked(await this.#connection.sendComp()).wrId);
  }

  /** Sends a short message, and waits until it has arrived. @throws ToolError when it did not */
  async send(message: Uint8Array): Promise<void> {
    this.#memory.outgoing.bytes.set(message);
    this.#connection.id.postSend(0, this.#memory.outgoing.sge(0, message.length), SendFlags.SIGNALED);
    this.#checked(await this.#connection.sendComp());
  }

  /** Waits for the peer's next message, or for the news of its next write with an immediate. @throws ToolError */
  async hear(): Promise<{ readonly completion: WorkCompletion; readonly message: Uint8Array }> {
    const completion = this.#checked(await this.#connection.recvComp());
    const message = this.#memory.incoming.bytes.slice(0, completion.byteLen);
    this.#connection.id.postRecv(0, this.#memory.incoming.sge());
    return { completion, message };
  }

  async close(): Promise<void> {
    await this.#connection.close();
    this.#memory.close();
  }

  #checked(completion: WorkCompletion): WorkCompletion {
    if (completion.status === WcStatus.SUCCESS) return completion;
    throw new ToolError(`${wcStatusStr(completion.status)}: ${this.#context.explain(completion)}`);
  }
}
