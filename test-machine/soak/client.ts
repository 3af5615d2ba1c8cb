/** The asking side: rounds of WRITE, announcement, READ and atomic over a connection, each checked. */
import {
  AccessFlags,
  CmOption,
  type Connection,
  connect,
  type Context,
  type Mr,
  type Pd,
  SendFlags,
  type SendWr,
  type WorkCompletion,
  WrOpcode,
} from '../../src/entry/index.js';
import type { Choices } from '../../test/fuzz/random.js';
import { nextMemory } from '../../test/support/memory.js';
import { ACK_TIMEOUT, Conversation, RETRIES } from './conversation.js';
import type { Reporter } from './reporter.js';
import { at } from './mortality.js';
import { FILLER, fill, fillerProblem, lengthOf, patternProblem, wordsOf } from './pattern.js';
import { type Moment, packHello, PORT, unpackWelcome, type Welcome } from './protocol.js';
import { ECHO_BYTES, LIBRARY_ROUND, NOTICE_BYTES } from './sizes.js';

/** Completions of a round: its four requests, and the echo of its announcement. */
const ENDINGS = 5;
const KINDS: readonly Moment[] = ['write', 'send', 'read', 'atomic'];

export class ClientMemory {
  readonly bytes: Uint8Array;
  readonly words: Int32Array;
  readonly at: {
    readonly write: number;
    readonly notice: number;
    readonly landing: number;
    readonly atomic: number;
    readonly echo: number;
    readonly end: number;
  };

  constructor(
    host: string,
    readonly slots: number,
    readonly slotBytes: number,
  ) {
    const write = 0;
    const notice = write + slots * slotBytes;
    const landing = notice + slots * NOTICE_BYTES;
    const atomic = landing + slots * slotBytes;
    // Between two places for answers lies one that nobody may touch.
    const echo = atomic + slots * 16;
    const end = echo + slots * NOTICE_BYTES;
    this.at = { write, notice, landing, atomic, echo, end };
    this.bytes = nextMemory(host, end + 4096);
    this.words = wordsOf(this.bytes);
  }

  /** The words from a byte on. */
  part(fromByte: number, lengthBytes: number): Int32Array {
    return this.words.subarray(fromByte >> 2, (fromByte + lengthBytes) >> 2);
  }
}

export interface Talk {
  readonly context: Context;
  readonly pd: Pd;
  readonly reporter: Reporter;
  readonly memory: ClientMemory;
  readonly server: string;
  readonly choices: Choices;
  readonly timeoutMs: number;
}

export class Asking extends Conversation {
  #next = 0;
  #done = 0;
  readonly #endings: Uint8Array;
  readonly #welcome: Welcome;

  constructor(
    connection: Connection,
    id: number,
    private readonly key: number,
    private readonly talk: Talk,
    private readonly mr: Mr,
  ) {
    super(connection, id, talk.reporter);
    this.#welcome = unpackWelcome(connection.privateData);
    this.#endings = new Uint8Array(talk.memory.slots);
  }

  get done(): number {
    return this.#done;
  }

  async ask(): Promise<void> {
    const { slots } = this.talk.memory;
    while (!this.isBroken && this.#next - this.#done >= slots) await this.happening();
    if (this.isBroken) return;
    const requests = this.#requests(this.#next);
    this.#endings[this.#next % slots] = 0;
    this.#next += 1;
    for (const [i, request] of requests.entries()) {
      if (!this.post(request)) return;
      at(KINDS[i]);
    }
  }

  /** Waits until all that was asked for is there. */
  async settled(): Promise<void> {
    while (!this.isBroken && this.#done < this.#next) await this.happening();
  }

  #requests(round: number): SendWr[] {
    const { memory } = this.talk;
    const { slots, slotBytes, at: places } = memory;
    const slot = round % slots;
    const length = lengthOf(this.key, round, slotBytes);
    fill(memory.part(places.write + slot * slotBytes, length), this.key, round);
    const notice = memory.part(places.notice + slot * NOTICE_BYTES, NOTICE_BYTES);
    notice[0] = round;
    fill(notice.subarray(1), this.key, ~round);
    // What a READ does not bring must not look as if it had.
    memory.part(places.landing + slot * slotBytes, slotBytes).fill(FILLER);
    const { mr } = this;
    const { SIGNALED } = SendFlags;
    const wrId = (kind: number): bigint => BigInt(round * 4 + kind);
    const remoteAddr = this.#welcome.slots.addr + BigInt(slot * slotBytes);
    const { from, lengthBytes } = this.#reading(round);
    const { counter, library } = this.#welcome;
    return [
      {
        opcode: WrOpcode.RDMA_WRITE,
        wrId: wrId(0),
        sendFlags: SIGNALED,
        sgList: [mr.sge(places.write + slot * slotBytes, length)],
        rdma: { remoteAddr, rkey: this.#welcome.slots.rkey },
      },
      {
        opcode: WrOpcode.SEND,
        wrId: wrId(1),
        sendFlags: SIGNALED,
        sgList: [mr.sge(places.notice + slot * NOTICE_BYTES, NOTICE_BYTES)],
      },
      {
        opcode: WrOpcode.RDMA_READ,
        wrId: wrId(2),
        sendFlags: SIGNALED,
        sgList: [mr.sge(places.landing + slot * slotBytes, lengthBytes)],
        rdma: { remoteAddr: library.addr + BigInt(from), rkey: library.rkey },
      },
      {
        opcode: WrOpcode.ATOMIC_FETCH_AND_ADD,
        wrId: wrId(3),
        sendFlags: SIGNALED,
        sgList: [mr.sge(places.atomic + slot * 16, 8)],
        atomic: { remoteAddr: counter.addr, rkey: counter.rkey, compareAdd: 1n },
      },
    ];
  }

  #reading(round: number): { readonly from: number; readonly lengthBytes: number } {
    const { slotBytes } = this.talk.memory;
    const lengthBytes = lengthOf(this.key ^ 0x5eed, round, slotBytes);
    return { from: ((round * 52) % (slotBytes - lengthBytes + 4)) & ~3, lengthBytes };
  }

  protected onSent({ wrId }: WorkCompletion): void {
    const round = Number(wrId >> 2n);
    const kind = Number(wrId & 3n);
    const { memory, reporter } = this.talk;
    const { figures } = reporter;
    const slot = round % memory.slots;
    if (kind === 0) {
      figures.writes += 1;
      figures.bytes += lengthOf(this.key, round, memory.slotBytes);
    } else if (kind === 1) {
      figures.sends += 1;
      figures.bytes += NOTICE_BYTES;
    } else if (kind === 2) {
      figures.reads += 1;
      const { from, lengthBytes } = this.#reading(round);
      figures.bytes += lengthBytes;
      const place = memory.at.landing + slot * memory.slotBytes;
      const words = memory.part(place, memory.slotBytes);
      const wrong = patternProblem(words.subarray(0, lengthBytes >> 2), this.#welcome.key, LIBRARY_ROUND, from >> 2);
      this.#require(wrong ?? fillerProblem(words.subarray(lengthBytes >> 2)), `READ ${round}`);
    } else {
      figures.atomics += 1;
      const [low, high] = memory.part(memory.at.atomic + slot * 16, 8);
      const problem = low === round && high === 0 ? undefined : `found ${low}, ${high}: not carried out once each`;
      this.#require(problem, `atomic ${round}`);
    }
    this.#ended(round);
  }

  protected onReceived({ wrId, byteLen }: WorkCompletion): void {
    const slot = Number(wrId);
    const { memory } = this.talk;
    const words = memory.part(memory.at.echo + slot * NOTICE_BYTES, ECHO_BYTES);
    const [round] = words;
    const due = byteLen === ECHO_BYTES && round % memory.slots === slot && round < this.#next && round >= this.#done;
    this.#require(
      due ? patternProblem(words.subarray(1), this.key, ~round) : `is ${byteLen} bytes of ${round}`,
      'echo',
    );
    this.repost(wrId, (id) =>
      this.connection.postRecv(id, this.mr.sge(memory.at.echo + slot * NOTICE_BYTES, ECHO_BYTES)),
    );
    this.#ended(round);
  }

  #ended(round: number): void {
    const { slots } = this.talk.memory;
    this.#endings[round % slots] += 1;
    while (this.#done < this.#next && this.#endings[this.#done % slots] === ENDINGS) {
      this.#endings[this.#done % slots] = 0;
      this.#done += 1;
      this.reporter.figures.rounds += 1;
    }
    this.progress();
  }

  #require(problem: string | undefined, what: string): void {
    if (problem === undefined) return;
    this.reporter.violation(`connection ${this.id}: ${what}: ${problem}`);
    this.break('wrong data');
  }
}

/** Connects, has `work` done, and parts. @throws what `connect` throws */
export async function visit(talk: Talk, work: (asking: Asking) => Promise<void>): Promise<Asking> {
  const { context, pd, memory, choices, server, timeoutMs } = talk;
  const id = choices.u32() >>> 0;
  const key = choices.u32() >>> 0;
  const { at: places, slots, slotBytes } = memory;
  memory.words.fill(FILLER);
  const mr = pd.regMr(memory.bytes.subarray(0, places.end), AccessFlags.LOCAL_WRITE);
  try {
    const connecting = connect({
      host: server,
      port: PORT,
      context,
      pd,
      timeoutMs,
      localAddress: context.address,
      retryCount: RETRIES,
      privateData: packHello({ connection: id, key, slots, slotBytes }),
      qp: { cap: { maxSendWr: 4 * slots + 4, maxRecvWr: 2 * slots } },
      prepare: (cmId) => {
        cmId.setOption(CmOption.ACK_TIMEOUT, ACK_TIMEOUT);
        for (let i = 0; i < slots; i += 1) cmId.postRecv(BigInt(i), mr.sge(places.echo + i * NOTICE_BYTES, ECHO_BYTES));
      },
    });
    at('connect');
    const connection = await connecting;
    const asking = new Asking(connection, id, key, talk, mr);
    await work(asking);
    await asking.settled();
    asking.break('closed');
    const parting = part(connection, choices);
    at('close');
    await parting;
    return asking;
  } finally {
    mr.dereg();
    const beyond = fillerProblem(memory.part(places.end, 4096));
    if (beyond !== undefined) talk.reporter.violation(`the client's memory of connection ${id}: ${beyond}`);
    for (let i = 0; i < slots; i += 1) {
      const between = fillerProblem(memory.part(places.atomic + i * 16 + 8, 8));
      if (between !== undefined) talk.reporter.violation(`beside atomic ${i} of connection ${id}: ${between}`);
    }
  }
}

/** By a farewell, mostly, and sometimes without a word. */
async function part(connection: Connection, choices: Choices): Promise<void> {
  if (choices.chance(70)) await connection.close();
  else connection[Symbol.dispose]();
}
