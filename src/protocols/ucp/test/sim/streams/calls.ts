import { check } from '../../../../../../test/sim/failure.js';
import { formOf } from '../datatype.js';
import { Family } from '../family.js';
import type { UcpWorld } from '../world.js';
import { StreamBook } from './book.js';
import type { StreamStep } from './plan.js';

const DRAIN_BYTES = 65_536;
/** What has come is given at once. */
const DRAIN_US = 1;

/** Programs that send bytes to each other. */
export class StreamCalls extends Family<StreamStep> {
  readonly #books: readonly (readonly StreamBook[])[];
  readonly #isPlayed: boolean;
  #sends = 0;

  constructor(world: UcpWorld, steps: readonly StreamStep[]) {
    super(world, steps);
    this.#isPlayed = steps.length > 0;
    const numbers = [...world.workers.keys()];
    this.#books = numbers.map((from) => numbers.map((to) => new StreamBook(`the stream from ${from} to ${to}`)));
  }

  override async finish(): Promise<void> {
    if (!this.#isPlayed) return;
    for (const { one: at, other: peer } of this.world.pairs()) {
      let more = !this.world.down.has(at);
      while (more) more = await this.#drain(at, peer);
    }
  }

  verify(): void {
    const { world } = this;
    for (const { one: from, other: to } of world.pairs())
      this.#books[from][to].verify(world.isBroken(from, to) || world.mayFail(from, to));
    for (const [i, { streamBytes }] of world.workers.entries())
      if (!world.down.has(i)) check(streamBytes === 0, () => `worker ${i} keeps ${streamBytes} bytes of streams`);
  }

  counts(): Record<string, number> {
    const bytes = this.#books.flat().reduce((sum, { receivedBytes }) => sum + receivedBytes, 0);
    return { 'stream sends': this.#sends, 'stream bytes': bytes };
  }

  protected override async take(step: StreamStep): Promise<void> {
    if (this.world.down.has(step.at)) return;
    await (step.kind === 'send' ? this.#send(step) : this.#receive(step));
  }

  async #send({ at, peer, bytes: length, isTyped, abortAfterUs }: StreamStep): Promise<void> {
    const { world } = this;
    const what = `send of ${length} bytes of a stream from ${at} to ${peer}`;
    const { bytes, done } = this.#books[at][peer].send(length);
    const data = bytes.slice();
    const question = { at, peers: [peer], what, abortAfterUs };
    const end = await world.ask(question, (signal) =>
      world.endpoints[at][peer].streamSend(formOf(data, isTyped), { signal }),
    );
    if (end !== undefined) {
      this.#sends += 1;
      done();
    }
    world.own(data, what);
  }

  async #receive({ at, peer, bytes, elementBytes, waitAll, isTyped, abortAfterUs }: StreamStep): Promise<void> {
    const { world } = this;
    const what = `receive of ${bytes} bytes of the stream from ${peer} to ${at}`;
    const told = this.#books[peer][at].receive();
    const buffer = new Uint8Array(bytes);
    const options = { elementBytes, waitAll };
    const question = { at, peers: [peer], what, abortAfterUs, waits: true };
    const end = await world.ask(question, (signal) =>
      world.endpoints[at][peer].streamReceive(formOf(buffer, isTyped), { ...options, signal }),
    );
    if (end !== undefined) {
      const length = end.value;
      check(length > 0 && length % elementBytes === 0, () => `${what} got ${length}, of elements of ${elementBytes}`);
      const isFull = length === bytes - (bytes % elementBytes);
      check(!waitAll || isFull, () => `${what} wanted all and got ${length}`);
      told(buffer.slice(0, length));
    }
    world.own(buffer, what);
  }

  /** @returns whether there was something */
  async #drain(at: number, peer: number): Promise<boolean> {
    const buffer = new Uint8Array(DRAIN_BYTES);
    const question = { at, peers: [peer], what: 'the rest of a stream', abortAfterUs: DRAIN_US };
    const told = this.#books[peer][at].receive();
    const end = await this.world.ask(question, (signal) =>
      this.world.endpoints[at][peer].streamReceive(buffer, { signal }),
    );
    if (end !== undefined) told(buffer.subarray(0, end.value));
    return end !== undefined;
  }
}
