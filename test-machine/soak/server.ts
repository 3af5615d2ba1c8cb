/** The serving side: takes whoever comes, lets each touch memory of its own, and checks what came. */
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
} from '../../src/entry/index.js';
import { nextMemory } from '../../test/support/memory.js';
import { ACK_TIMEOUT, Conversation, harmless, PATIENCE_MS } from './conversation.js';
import type { Reporter } from './reporter.js';
import { at } from './mortality.js';
import { patternProblem, wordsOf } from './pattern.js';
import { type Hello, packWelcome, PORT, unpackHello } from './protocol.js';
import { type ServerMemory, ServerMemories } from './server-memory.js';
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
    reporter: Reporter,
    private readonly memory: ServerMemory,
    private readonly noticeMr: Mr,
  ) {
    super(connection, hello.connection, reporter);
    this.#notices = wordsOf(noticeMr.bytes);
  }

  protected onReceived({ wrId, byteLen }: WorkCompletion): void {
    const place = Number(wrId);
    const words = this.#notices.subarray((place * NOTICE_BYTES) >> 2, (place * NOTICE_BYTES + NOTICE_BYTES) >> 2);
    const [round] = words;
    const { key, connection } = this.hello;
    const problem =
      byteLen === NOTICE_BYTES
        ? (patternProblem(words.subarray(1), key, ~round) ?? this.memory.arrived(round))
        : `an announcement has ${byteLen} bytes`;
    if (problem !== undefined) {
      this.reporter.violation(`connection ${connection}: ${problem}`);
      this.break('wrong data');
      return;
    }
    this.reporter.figures.rounds += 1;
    // The echo is the announcement; it is taken while posting, so that its place can receive again.
    this.post({
      opcode: WrOpcode.SEND,
      wrId: BigInt(this.#answered),
      sendFlags: SendFlags.SIGNALED | SendFlags.INLINE,
      sgList: [this.noticeMr.sge(place * NOTICE_BYTES, ECHO_BYTES)],
    });
    this.#answered += 1;
    at('send');
    this.repost(wrId, (id) => this.connection.postRecv(id, this.noticeMr.sge(place * NOTICE_BYTES, NOTICE_BYTES)));
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
  readonly #memories: ServerMemories;
  readonly #conversations = new Set<ServedConversation>();
  readonly #visits = new Set<Promise<void>>();
  #libraries = 0;

  constructor(
    context: Context,
    private readonly reporter: Reporter,
    private readonly seed: number,
  ) {
    this.#pd = context.allocPd();
    this.#memories = new ServerMemories(context.host, (text) => reporter.violation(text));
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
    this.reporter.doing = 'serving';
    for await (const request of this.#listener) {
      const visit = this.#attend(request).catch((error: unknown) =>
        this.reporter.violation(`serving: ${stackOf(error)}`),
      );
      this.#visits.add(visit);
      void visit.then(() => this.#visits.delete(visit));
    }
  }

  async #attend(request: ConnectionRequest): Promise<void> {
    const hello = unpackHello(request.privateData);
    const memory = this.#memories.take(hello);
    this.#libraries += 1;
    const welcome = memory.open(this.#pd, hello, (this.seed + this.#libraries * 7919) >>> 0);
    const noticeMr = this.#pd.regMr(
      nextMemory(this.#pd.context.host, RECEIVES * NOTICE_BYTES),
      AccessFlags.LOCAL_WRITE,
    );
    try {
      const accepting = request.accept({
        pd: this.#pd,
        privateData: packWelcome(welcome),
        timeoutMs: PATIENCE_MS,
        qp: { cap: { maxSendWr: 2 * RECEIVES, maxRecvWr: RECEIVES, maxInlineData: ECHO_BYTES } },
        prepare: (id) => prepare(id, noticeMr),
      });
      at('accept');
      await using connection = await accepting;
      await this.#talk(connection, hello, memory, noticeMr);
    } catch (error) {
      const what = harmless(error);
      if (what === undefined) throw error;
      this.reporter.failed(`accept: ${what}`);
    } finally {
      noticeMr.dereg();
      const problem = memory.close();
      const what = `the server's memory for connection ${hello.connection}`;
      if (problem !== undefined) this.reporter.violation(`${what}: ${problem}`);
      this.#memories.giveBack(memory, what);
    }
  }

  async #talk(connection: Connection, hello: Hello, memory: ServerMemory, noticeMr: Mr): Promise<void> {
    const conversation = new ServedConversation(connection, hello, this.reporter, memory, noticeMr);
    this.#conversations.add(conversation);
    await conversation.over();
    this.#conversations.delete(conversation);
    at('close');
  }
}

function prepare(id: CmId, noticeMr: Mr): void {
  id.setOption(CmOption.ACK_TIMEOUT, ACK_TIMEOUT);
  for (let i = 0; i < RECEIVES; i += 1) id.postRecv(BigInt(i), noticeMr.sge(i * NOTICE_BYTES, NOTICE_BYTES));
}

export function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
