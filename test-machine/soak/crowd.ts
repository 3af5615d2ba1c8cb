/** Many clients in one program: a few that come and go all the time, and now and then a crowd all at once. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context, Pd } from '../../src/entry/index.js';
import { Choices } from '../../test/fuzz/random.js';
import { ClientMemory, type Talk, visit } from './client.js';
import { harmless } from './conversation.js';
import type { Reporter } from './reporter.js';
import type { MemberOptions } from './protocol.js';
import { stackOf } from './server.js';

const SLOTS = 2;
const SLOT_BYTES = 4096;
const REGULARS = 4;
const MOST_ROUNDS = 8;
/** Between two connections of a regular. */
const REST_MS = 400;
/** Long enough for any machine: whoever is still not connected then has been forgotten. */
const LONGEST_MS = 60_000;

export class Crowd {
  readonly #pd: Pd;
  readonly #choices: Choices;
  readonly #memories: ClientMemory[] = [];
  readonly #regulars: readonly Promise<void>[];
  #crowd: Promise<void> = Promise.resolve();
  #finishing = false;

  constructor(
    private readonly context: Context,
    private readonly reporter: Reporter,
    private readonly options: MemberOptions,
  ) {
    this.#pd = context.allocPd();
    this.#choices = new Choices(options.seed);
    this.#regulars = Array.from({ length: REGULARS }, () => this.#comeAndGo());
  }

  async crowd(count: number): Promise<void> {
    this.#crowd = this.#come(count);
    return this.#crowd;
  }

  async finish(): Promise<void> {
    this.#finishing = true;
    await Promise.all([...this.#regulars, this.#crowd]);
    this.#pd.dealloc();
  }

  async #come(count: number): Promise<void> {
    const begun = performance.now();
    this.reporter.doing = `${count} clients connect at once`;
    const came = await Promise.all(Array.from({ length: count }, () => this.#one()));
    const failed = came.filter((ok) => !ok).length;
    this.reporter.figures.crowds += 1;
    this.reporter.doing = 'coming and going';
    this.reporter.tell({ report: 'crowd', count, failed, tookMs: performance.now() - begun });
  }

  async #comeAndGo(): Promise<void> {
    this.reporter.doing = 'coming and going';
    while (!this.#finishing) {
      await this.#one();
      await sleep(this.#choices.below(REST_MS));
    }
  }

  /** @returns whether all went well */
  async #one(): Promise<boolean> {
    const { context, reporter, options } = this;
    const memory = this.#memories.pop() ?? new ClientMemory(context.host, SLOTS, SLOT_BYTES);
    const choices = this.#choices;
    const talk: Talk = {
      context,
      pd: this.#pd,
      reporter,
      memory,
      server: options.server,
      choices,
      timeoutMs: LONGEST_MS,
    };
    try {
      const { reason } = await visit(talk, async (asking) => {
        for (let i = 1 + choices.below(MOST_ROUNDS); i > 0; i -= 1) await asking.ask();
      });
      return reason === 'closed';
    } catch (error) {
      const what = harmless(error);
      if (what === undefined) reporter.violation(`connecting: ${stackOf(error)}`);
      reporter.failed(`connect: ${what ?? 'an error'}`);
      return false;
    } finally {
      this.#memories.push(memory);
    }
  }
}
