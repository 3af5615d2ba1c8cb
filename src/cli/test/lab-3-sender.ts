import assert from 'node:assert/strict';
import {
  AccessFlags,
  type Connection,
  type Context,
  type Mr,
  SendFlags,
  type WorkCompletion,
  alloc,
  connect,
  openDevice,
} from '../../entry/index.js';
import {
  LAB_PORT,
  MESSAGE_BYTES,
  type Message,
  MessageType,
  type RegionMessage,
  decodeMessage,
  encodeMessage,
} from '../../../labs/lab-3-protocol.js';

/** The same bytes in memory that every NIC takes. */
function lasting(bytes: Uint8Array): Uint8Array {
  const memory = alloc(bytes.length);
  memory.set(bytes);
  return memory;
}

/** A sender of lab 3 that does what a test tells it, right or wrong. */
export class LabSender {
  readonly #context: Context;
  readonly #connection: Connection;
  readonly #inbox: Mr;

  constructor(context: Context, connection: Connection, inbox: Mr) {
    this.#context = context;
    this.#connection = connection;
    this.#inbox = inbox;
  }

  get closed(): Promise<void> {
    return this.#connection.closed;
  }

  async say(message: Message): Promise<void> {
    await this.send(encodeMessage(message));
  }

  /** Sends any bytes; how that ended comes back. */
  async send(bytes: Uint8Array): Promise<WorkCompletion> {
    using mr = this.#connection.regMsgs(lasting(bytes));
    this.#connection.id.postSend(0, mr.sge(), SendFlags.SIGNALED);
    return await this.#connection.sendComp();
  }

  async hear(): Promise<Message | string> {
    const { wrId, byteLen } = await this.#connection.recvComp();
    const begin = Number(wrId) * MESSAGE_BYTES;
    return decodeMessage(this.#inbox.bytes.slice(begin, begin + byteLen));
  }

  async region(): Promise<RegionMessage> {
    const message = await this.hear();
    assert.ok(typeof message !== 'string' && message.type === MessageType.REGION);
    return message;
  }

  /** Writes bytes anywhere; how that ended comes back. */
  async write({ addr, rkey }: { addr: bigint; rkey: number }, bytes: Uint8Array): Promise<WorkCompletion> {
    using mr = this.#connection.regMsgs(lasting(bytes));
    this.#connection.id.postWrite(0, mr.sge(), SendFlags.SIGNALED, addr, rkey);
    return await this.#connection.sendComp();
  }

  async close(): Promise<void> {
    await this.#connection.close();
    this.#context.close();
  }
}

/** A sender at `address` that is connected to the receiver at `host`, with room for so many answers. */
export async function connected(host: string, address: string, answers = 3): Promise<LabSender> {
  const context = openDevice({ address });
  const pd = context.allocPd();
  const inbox = pd.regMr(alloc(Math.max(1, answers) * MESSAGE_BYTES), AccessFlags.LOCAL_WRITE);
  const connection = await connect({
    context,
    host,
    port: LAB_PORT,
    pd,
    prepare: (id) => {
      for (let slot = 0; slot < answers; slot += 1) id.postRecv(slot, inbox.sge(slot * MESSAGE_BYTES, MESSAGE_BYTES));
    },
  });
  return new LabSender(context, connection, inbox);
}
