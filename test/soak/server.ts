/** The serving side: takes whoever comes, lets each touch a shelf of its own, and checks what came. */
import {
  AccessFlags,
  CmOption,
  type CmId,
  type Connection,
  type ConnectionRequest,
  type Context,
  listen,
  type Mr,
  type Pd,
  SendFlags,
  type WorkCompletion,
  WrOpcode,
} from '../../src/index.js';
import { nextMemory } from '../support/memory.js';
import { ACK_TIMEOUT, Conversation, harmless, PATIENCE_MS } from './conversation.js';
import type { Desk } from './desk.js';
import { at } from './mortality.js';
import { patternProblem, wordsOf } from './pattern.js';
import { type Hello, packWelcome, PORT, unpackHello } from './protocol.js';
import { type Shelf, Shelves } from './shelf.js';
import { ECHO_BYTES, NOTICE_BYTES } from './sizes.js';

/** More than a client has under way. */
const RECEIVES = 16;

/** Receives announcements, checks them and what they announce, and echoes them. */
class ServedConversation extends Conversation {
  #answered = 0;
  readonly #notices: Int32Array;

  constructor(
    connection: Connection,
    private readonly hello: Hello,
    desk: Desk,
    private readonly shelf: Shelf,
    private readonly desktop: Mr,
  ) {
    super(connection, hello.connection, desk);
    this.#notices = wordsOf(desktop.bytes);
  }

  protected onReceived({ wrId, byteLen }: WorkCompletion): void {
    const place = Number(wrId);
    const words = this.#notices.subarray((place * NOTICE_BYTES) >> 2, (place * NOTICE_BYTES + NOTICE_BYTES) >> 2);
    const [round] = words;
    const { key, connection } = this.hello;
    const problem =
      byteLen === NOTICE_BYTES
        ? (patternProblem(words.subarray(1), key, ~round) ?? this.shelf.arrived(round))
        : `an announcement has ${byteLen} bytes`;
    if (problem !== undefined) {
      this.desk.violation(`connection ${connection}: ${problem}`);
      this.break('wrong data');
      return;
    }
    this.desk.figures.rounds += 1;
    // The echo is the announcement; it is taken while posting, so that its place can receive again.
    this.post({
      opcode: WrOpcode.SEND,
      wrId: BigInt(this.#answered),
      sendFlags: SendFlags.SIGNALED | SendFlags.INLINE,
      sgList: [this.desktop.sge(place * NOTICE_BYTES, ECHO_BYTES)],
    });
    this.#answered += 1;
    at('send');
    this.repost(wrId, (id) => this.connection.postRecv(id, this.desktop.sge(place * NOTICE_BYTES, NOTICE_BYTES)));
  }

  protected onSent(): void {
    this.progress();
  }

  async over(): Promise<void> {
    while (!this.isBroken) await this.happening();
  }
}

export class Server {
  readonly #listener;
  readonly #pd: Pd;
  readonly #shelves: Shelves;
  readonly #conversations = new Set<ServedConversation>();
  readonly #visits = new Set<Promise<void>>();
  #libraries = 0;

  constructor(
    context: Context,
    private readonly desk: Desk,
    private readonly seed: number,
  ) {
    this.#pd = context.allocPd();
    this.#shelves = new Shelves(context.host, (text) => desk.violation(text));
    this.#listener = listen({ context, host: context.address, port: PORT });
    void this.#serve();
  }

  /** Ends the connections that there are: their clients come again. */
  interrupt(): void {
    for (const conversation of this.#conversations) conversation.break('closed');
  }

  async finish(): Promise<void> {
    this.#listener.close();
    this.interrupt();
    await Promise.all(this.#visits);
    this.#pd.dealloc();
  }

  async #serve(): Promise<void> {
    this.desk.doing = 'serving';
    for await (const request of this.#listener) {
      const visit = this.#attend(request).catch((error: unknown) => this.desk.violation(`serving: ${stackOf(error)}`));
      this.#visits.add(visit);
      void visit.then(() => this.#visits.delete(visit));
    }
  }

  async #attend(request: ConnectionRequest): Promise<void> {
    const hello = unpackHello(request.privateData);
    const shelf = this.#shelves.take(hello);
    this.#libraries += 1;
    const welcome = shelf.open(this.#pd, hello, (this.seed + this.#libraries * 7919) >>> 0);
    const desktop = this.#pd.regMr(nextMemory(this.#pd.context.host, RECEIVES * NOTICE_BYTES), AccessFlags.LOCAL_WRITE);
    try {
      const accepting = request.accept({
        pd: this.#pd,
        privateData: packWelcome(welcome),
        timeoutMs: PATIENCE_MS,
        qp: { cap: { maxSendWr: 2 * RECEIVES, maxRecvWr: RECEIVES, maxInlineData: ECHO_BYTES } },
        prepare: (id) => prepare(id, desktop),
      });
      at('accept');
      await using connection = await accepting;
      await this.#talk(connection, hello, shelf, desktop);
    } catch (error) {
      const what = harmless(error);
      if (what === undefined) throw error;
      this.desk.failed(`accept: ${what}`);
    } finally {
      desktop.dereg();
      const problem = shelf.close();
      const what = `the server's memory for connection ${hello.connection}`;
      if (problem !== undefined) this.desk.violation(`${what}: ${problem}`);
      this.#shelves.giveBack(shelf, what);
    }
  }

  async #talk(connection: Connection, hello: Hello, shelf: Shelf, desktop: Mr): Promise<void> {
    const conversation = new ServedConversation(connection, hello, this.desk, shelf, desktop);
    this.#conversations.add(conversation);
    await conversation.over();
    this.#conversations.delete(conversation);
    at('close');
  }
}

function prepare(id: CmId, desktop: Mr): void {
  id.setOption(CmOption.ACK_TIMEOUT, ACK_TIMEOUT);
  for (let i = 0; i < RECEIVES; i += 1) id.postRecv(BigInt(i), desktop.sge(i * NOTICE_BYTES, NOTICE_BYTES));
}

export function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
