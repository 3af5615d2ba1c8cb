import { UcsStatus } from '../../../wire/index.js';
import { check } from '../../../../../../test/sim/failure.js';
import { MOST_BYTES } from '../chance.js';
import { formOf } from '../datatype.js';
import { Family } from '../family.js';
import { memoryFor, type Question, type UcpWorld } from '../world.js';
import { type BookedReceive, contentOf, TagBook } from './book.js';
import type { ReceiveStep, SendStep, TagStep } from './plan.js';

const FULL_MASK = 2n ** 64n - 1n;

export class TagCalls extends Family<TagStep> {
  readonly #book = new TagBook();
  readonly #givenUp: ReadonlySet<TagStep['kind']>;
  #order = 0;
  #truncated = 0;

  constructor(world: UcpWorld, steps: readonly TagStep[]) {
    super(world, steps);
    this.#givenUp = new Set(steps.filter(({ abortAfterUs }) => abortAfterUs !== Infinity).map(({ kind }) => kind));
  }

  override async drain(): Promise<boolean> {
    let isAny = false;
    for (const [at, worker] of this.world.workers.entries())
      while (!this.world.down.has(at) && worker.tagProbe(0, 0) !== undefined) {
        isAny = true;
        await this.#drain(at);
      }
    return isAny;
  }

  verify(isCalm: boolean): void {
    this.#book.verifyOrder();
    const { sent, received } = this.#book;
    if (isCalm)
      check(sent === received + this.#truncated, () => {
        return `of ${sent} messages ${received} were received and ${this.#truncated} were too long`;
      });
    for (const [i, { unexpectedBytes }] of this.world.workers.entries())
      if (!this.world.down.has(i))
        check(unexpectedBytes === 0, () => `worker ${i} keeps ${unexpectedBytes} bytes for messages`);
  }

  counts(): Record<string, number> {
    const { sent, received } = this.#book;
    return { sent, received, truncated: this.#truncated };
  }

  protected override take(step: TagStep): Promise<void> {
    return step.kind === 'send' ? this.#send(step) : this.#receive(step);
  }

  async #send(step: SendStep): Promise<void> {
    const { from, to, tag, bytes, isSync, registers, isTyped, abortAfterUs } = step;
    const { world } = this;
    if (world.down.has(from)) return;
    const endpoint = world.endpoints[from][to];
    const { number } = this.#book.send(step);
    const data = memoryFor(registers, bytes);
    data.set(contentOf(number, bytes));
    const what = `message ${number}`;
    const question = { at: from, peers: [to], what, abortAfterUs, mayBeCanceled: this.#givenUp.has('receive') };
    await world.ask(question, (signal) =>
      isSync
        ? endpoint.tagSendSync(formOf(data, isTyped), tag, { signal })
        : endpoint.tagSend(formOf(data, isTyped), tag, { signal }),
    );
    world.own(data, what);
  }

  async #receive(step: ReceiveStep): Promise<void> {
    const { at, tag, mask, bytes, takesForUs, registers, isTyped, abortAfterUs } = step;
    const { world } = this;
    if (world.down.has(at)) return;
    const worker = world.workers[at];
    const wide = mask === -1 ? FULL_MASK : BigInt(mask);
    const booked = { at, order: (this.#order += 1), tag, mask };
    const buffer = memoryFor(registers, bytes);
    if (takesForUs === undefined) {
      const ways = { abortAfterUs, waits: true };
      await this.#end(booked, buffer, ways, (signal) =>
        worker.tagReceive(formOf(buffer, isTyped), tag, { mask: wide, signal }),
      );
      return;
    }
    const taken = worker.tagProbeRemove(tag, wide);
    if (taken === undefined) return;
    await world.sim.sleep(takesForUs);
    if (world.down.has(at)) return;
    // It has to be received, lest it stay there.
    const ways = { abortAfterUs: Infinity, waits: false };
    await this.#end(booked, buffer, ways, () => worker.tagMessageReceive(taken, formOf(buffer, isTyped)));
  }

  #drain(at: number): Promise<void> {
    const buffer = new Uint8Array(MOST_BYTES);
    const booked = { at, order: (this.#order += 1), tag: 0, mask: 0 };
    const ways = { abortAfterUs: Infinity, waits: true };
    return this.#end(booked, buffer, ways, (signal) =>
      this.world.workers[at].tagReceive(buffer, 0, { mask: 0, signal }),
    );
  }

  async #end(
    receive: BookedReceive,
    buffer: Uint8Array,
    ways: Pick<Question, 'abortAfterUs' | 'waits'>,
    call: (signal: AbortSignal) => Promise<{ readonly tag: bigint; readonly length: number }>,
  ): Promise<void> {
    const what = `receive ${receive.order} of worker ${receive.at}`;
    const { world } = this;
    const explains = (status: UcsStatus): boolean => {
      if (status !== UcsStatus.UCS_ERR_MESSAGE_TRUNCATED) return false;
      check(buffer.length < MOST_BYTES, () => `${what} has room for every message`);
      const isUntouched = buffer.every((byte) => byte === 0);
      check(isUntouched, () => `${what} was written to, and then truncated`);
      this.#truncated += 1;
      return true;
    };
    const peers = [...world.workers.keys()];
    const question = { at: receive.at, peers, what, mayBeCanceled: this.#givenUp.has('send'), explains, ...ways };
    const got = await world.ask(question, call);
    if (got !== undefined) {
      const { tag, length } = got.value;
      this.#book.receive(receive, Number(tag), buffer.subarray(0, length));
    }
    world.own(buffer, what);
  }
}
