// Lab 3: how the receiver hears from its sender, and answers. A sender may do anything, so nothing that it does throws.
import {
  type CmEvent,
  CmEventType,
  type CmId,
  type Context,
  type Mr,
  SendFlags,
  Syndrome,
  type WorkCompletion,
  WcOpcode,
  WcStatus,
  alloc,
} from 'verbena';
import { MESSAGE_BYTES, type Message, decodeMessage, encodeMessage } from './lab-3-protocol.js';

/** Receive requests that are posted at once: more than a right sender ever needs. */
const ROOM = 4;

/** What came from the sender. */
export type News =
  | { readonly kind: 'message'; readonly message: Message }
  /** Something that is not a message of this protocol. */
  | { readonly kind: 'nonsense'; readonly what: string }
  /** The connection is dead because the sender named memory that it may not use. */
  | { readonly kind: 'trespass' }
  /** The connection is dead for another reason. */
  | { readonly kind: 'broken'; readonly why: string }
  /** The sender has disconnected. */
  | { readonly kind: 'gone' }
  /** Nothing at all. */
  | { readonly kind: 'silence' };

/** Why requests are flushed when a connection has ended in good order. */
const FAREWELLS: ReadonlySet<number> = new Set([Syndrome.DISCONNECTED, Syndrome.PEER_DISCONNECTED]);

/** The sender, as the receiver sees it. */
export class Peer {
  readonly #id: CmId;
  readonly #context: Context;
  readonly #events: AsyncIterator<CmEvent, void, undefined>;
  readonly #patienceMs: number;
  readonly #inbox: Mr;
  readonly #outbox: Mr;
  #established = false;
  #gone = false;

  /** `id` comes from a CONNECT_REQUEST, and is accepted here; `events` are those of its channel. */
  constructor(id: CmId, context: Context, events: AsyncIterator<CmEvent, void, undefined>, patienceMs: number) {
    this.#id = id;
    this.#context = context;
    this.#events = events;
    this.#patienceMs = patienceMs;
    id.createQp(undefined, { cap: { maxSendWr: ROOM, maxRecvWr: ROOM } });
    this.#inbox = id.regMsgs(alloc(ROOM * MESSAGE_BYTES));
    this.#outbox = id.regMsgs(alloc(MESSAGE_BYTES));
    // Room first, then the connection: whoever is connected may send.
    for (let slot = 0; slot < ROOM; slot += 1) this.#makeRoom(slot);
    id.accept();
    void this.#watch();
  }

  /** Whether the connection has come about. */
  get established(): boolean {
    return this.#established;
  }

  /** Waits for the sender's next message, or for whatever comes in its place. */
  async hear(): Promise<News> {
    const wc = await this.#within((signal) => this.#id.nextRecvComp(signal));
    if (wc === undefined) return { kind: 'silence' };
    if (wc.status !== WcStatus.SUCCESS) return this.#failure(wc);
    const slot = Number(wc.wrId);
    const bytes = this.#inbox.bytes.slice(slot * MESSAGE_BYTES, slot * MESSAGE_BYTES + wc.byteLen);
    this.#makeRoom(slot);
    if (wc.opcode !== WcOpcode.RECV) {
      return { kind: 'nonsense', what: 'an RDMA WRITE with immediate, which fills no message and is not used here' };
    }
    const message = decodeMessage(bytes);
    return typeof message === 'string' ? { kind: 'nonsense', what: message } : { kind: 'message', message };
  }

  /** Sends a message. Undefined when it has arrived; else what came in the place of that. */
  async say(message: Message): Promise<News | undefined> {
    const bytes = encodeMessage(message);
    this.#outbox.bytes.set(bytes);
    try {
      this.#id.postSend(0, this.#outbox.sge(0, bytes.length), SendFlags.SIGNALED);
    } catch {
      // The queue pair is in error already, and the next receive request says why.
      return undefined;
    }
    const wc = await this.#within((signal) => this.#id.nextSendComp(signal));
    if (wc === undefined) {
      const why =
        'the answer could not be delivered, since the sender has posted no receive request for it ' +
        `(rcvd_rnr_err is ${this.#context.counters()['rcvd_rnr_err'] ?? 0})`;
      return { kind: 'broken', why };
    }
    return wc.status === WcStatus.SUCCESS ? undefined : this.#failure(wc);
  }

  /** Hangs up, if the sender has not. */
  close(): void {
    this.#id.disconnect();
    this.#inbox.dereg();
    this.#outbox.dereg();
  }

  #makeRoom(slot: number): void {
    this.#id.postRecv(slot, this.#inbox.sge(slot * MESSAGE_BYTES, MESSAGE_BYTES));
  }

  /** Follows what happens to the connection, until it has ended. */
  async #watch(): Promise<void> {
    while (!this.#gone) {
      const { value: event, done } = await this.#events.next();
      if (done === true) return;
      event.ack();
      if (event.event === CmEventType.ESTABLISHED) this.#established = true;
      else this.#gone = true;
    }
    // Our queue pair goes to ERR with that, and so the receive requests that are left complete, flushed: hear() sees it
    // after all messages that came before.
    this.#id.disconnect();
  }

  /** A completion, or nothing in all our patience. */
  async #within(wait: (signal: AbortSignal) => Promise<WorkCompletion>): Promise<WorkCompletion | undefined> {
    const patience = AbortSignal.timeout(this.#patienceMs);
    try {
      return await wait(patience);
    } catch (error) {
      if (patience.aborted) return undefined;
      throw error;
    }
  }

  /** What a completion in error means. */
  #failure(wc: WorkCompletion): News {
    const cause = wc.vendorErr === Syndrome.FLUSHED ? wc.detail[1] : wc.vendorErr;
    if (cause === Syndrome.RESPONDER_ACCESS) return { kind: 'trespass' };
    if (this.#gone && FAREWELLS.has(cause)) return { kind: 'gone' };
    return { kind: 'broken', why: this.#context.explain(wc) };
  }
}
