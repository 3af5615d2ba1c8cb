import { alloc, type Connection, type Mr, SendFlags, WcStatus, type WorkCompletion } from '../../../entry/index.js';
import { ToolError } from '../../kit/errors.js';
import { decodeKeyStruct, encodeKeyStruct, KEY_STRUCT_BYTES, type Keys, keyStructOf } from './keys.js';
import { type Exchange, PeerLeft } from './exchange.js';

const MESSAGE_BYTES = KEY_STRUCT_BYTES.long;
const OWN_AT = MESSAGE_BYTES;

/** A connection by rdma_cm between the two sides, with a SEND for each message (protocol/tools.md 7.3). */
export class CmExchange implements Exchange {
  peerVersion = 0;
  /** A peer that has gone on cannot be told from one that is slow. */
  readonly peerWaits = false;
  readonly #connection: Connection;
  readonly #memory: Mr;
  readonly #leads: boolean;
  readonly #tool: string;
  #left = false;

  /** @param memory from {@link registerExchange}, with a receive request posted */
  constructor(connection: Connection, memory: Mr, leads: boolean, tool: string) {
    this.#connection = connection;
    this.#memory = memory;
    this.#leads = leads;
    this.#tool = tool;
    void connection.closed.then(() => (this.#left = true));
  }

  async swap(own: Uint8Array, what: string): Promise<Buffer> {
    if (this.#leads) await this.#send(own, what);
    const answer = await this.#receive(own.length, what);
    if (!this.#leads) await this.#send(own, what);
    return answer;
  }

  async swapKeys(own: Keys): Promise<Keys> {
    const struct = keyStructOf(this.peerVersion);
    const answer = await this.swap(encodeKeyStruct(own, struct), 'keys');
    return decodeKeyStruct(answer, struct, this.#tool);
  }

  get hasPeerLeft(): boolean {
    return this.#left;
  }

  /** The connection ends with the others between the two. */
  close(): Promise<void> {
    return Promise.resolve();
  }

  async #send(own: Uint8Array, what: string): Promise<void> {
    this.#memory.bytes.set(own, OWN_AT);
    this.#connection.postSend(0, this.#memory.sge(OWN_AT, own.length), SendFlags.SIGNALED);
    this.#expectSuccess(await this.#connection.sendComp(), what);
  }

  async #receive(length: number, what: string): Promise<Buffer> {
    const completion = await this.#connection.recvComp();
    this.#expectSuccess(completion, what);
    if (completion.byteLen < length) {
      throw new ToolError(`The peer sent ${completion.byteLen} bytes where ${length} of ${what} were expected.`);
    }
    const bytes = Buffer.from(this.#memory.bytes.subarray(0, length));
    postExchangeReceive(this.#connection, this.#memory);
    return bytes;
  }

  #expectSuccess(completion: WorkCompletion, what: string): void {
    const { status } = completion;
    if (status === WcStatus.SUCCESS) return;
    if (status === WcStatus.WR_FLUSH_ERR) throw new PeerLeft(`Couldn't read ${what}; the peer closed the connection.`);
    throw new PeerLeft(`Couldn't read ${what}: ${this.#connection.id.verbs?.explain(completion) ?? ''}`);
  }
}

export function registerExchange(id: Pick<Connection, 'regMsgs'>): Mr {
  return id.regMsgs(alloc(OWN_AT + MESSAGE_BYTES));
}

/** Posts the receive request for what the peer says next. */
export function postExchangeReceive(id: Pick<Connection, 'postRecv'>, memory: Mr): void {
  id.postRecv(0, memory.sge(0, MESSAGE_BYTES));
}
