/** A client that is never content: connection after connection to one server, round after round on each. */
import type { Context, Pd } from '../../src/entry/index.js';
import { Choices } from '../../test/fuzz/random.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Asking, ClientMemory, visit } from './client.js';
import { harmless, PATIENCE_MS } from './conversation.js';
import type { Reporter } from './reporter.js';
import type { MemberOptions } from './protocol.js';
import { stackOf } from './server.js';

const SLOTS = 8;
const SLOT_BYTES = 65536;
/** Rounds of a connection at most; the longest takes a minute or so. */
const MOST_ROUNDS = 3000;
/** Now and then so many rounds come without a pause between them. */
const BURST = 60;
const PAUSE_MS = 30;
/** Before a server that did not answer is asked again. */
const REST_MS = 100;

export class SteadyClient {
  readonly #pd: Pd;
  readonly #choices: Choices;
  readonly #memory: ClientMemory;
  readonly #over: Promise<void>;
  #asking: Asking | undefined;
  #interrupted = false;
  #finishing = false;

  constructor(
    private readonly context: Context,
    private readonly reporter: Reporter,
    private readonly options: MemberOptions,
  ) {
    this.#pd = context.allocPd();
    this.#choices = new Choices(options.seed);
    this.#memory = new ClientMemory(context.host, SLOTS, SLOT_BYTES);
    this.#over = this.#live();
  }

  interrupt(): void {
    this.#interrupted = true;
  }

  async finish(): Promise<void> {
    this.#finishing = true;
    await this.#over;
    this.#pd.dealloc();
  }

  async #live(): Promise<void> {
    const { context, reporter, options } = this;
    const talk = {
      context,
      pd: this.#pd,
      reporter,
      memory: this.#memory,
      server: options.server,
      choices: this.#choices,
      timeoutMs: PATIENCE_MS,
    };
    while (!this.#finishing) {
      reporter.doing = 'connecting';
      try {
        await visit(talk, (asking) => this.#ask(asking));
      } catch (error) {
        const what = harmless(error);
        if (what === undefined) reporter.violation(`connecting: ${stackOf(error)}`);
        reporter.failed(`connect: ${what ?? 'an error'}`);
      }
      this.#asking = undefined;
      await sleep(this.#choices.below(REST_MS));
    }
  }

  #mayAsk({ isBroken }: Asking): boolean {
    return !isBroken && !this.#interrupted && !this.#finishing;
  }

  async #ask(asking: Asking): Promise<void> {
    this.#asking = asking;
    this.#interrupted = false;
    const rounds = 1 + this.#choices.below(MOST_ROUNDS);
    let burst = 0;
    for (let i = 0; i < rounds && this.#mayAsk(asking); i += 1) {
      this.reporter.doing = `asking for round ${i}, ${this.#asking.done} done`;
      await asking.ask();
      if (burst === 0 && this.#choices.chance(2)) burst = BURST;
      if (burst > 0) burst -= 1;
      else await sleep(this.#choices.below(PAUSE_MS));
    }
    this.reporter.doing = `waiting for answers, ${asking.done} done`;
  }
}
