import type { RecordableHistogram } from 'node:perf_hooks';
import { alloc } from '../../../entry/index.js';
import type { XioRequestOptions, XioSession } from '../../../entry/xio.js';
import { ToolError } from '../../kit/errors.js';
import { Load } from '../../kit/load.js';
import { questionOf } from './server.js';
import type { XioTest } from './tests.js';

/** What a load is, whatever the bytes are. */
export interface LoadSetup {
  readonly direction: XioTest['direction'];
  readonly isDirect: boolean;
  /** Requests under way at a time. */
  readonly depth: number;
  /** The most bytes that there will be. */
  readonly maxBytes: number;
}

/** A part of a run: so many bytes, for so long. */
export interface Round {
  readonly bytes: number;
  readonly warmUpMs: number;
  readonly measuredMs: number;
}

/** What one thread has counted while it was measured. */
export interface Counted {
  readonly requests: number;
  readonly seconds: number;
  /** Of the times from each request until its answer, in ns. */
  readonly histogram: RecordableHistogram;
}

/** Requests on one session, so many under way at a time: whichever is answered makes room for the next. */
export class XioLoad extends Load {
  readonly #session: XioSession;
  readonly #setup: LoadSetup;
  /** Each request that is under way has its own, which stays registered. */
  readonly #memory: readonly Uint8Array[];
  /** What the server's memory is used by. */
  #token: Uint8Array | undefined;
  #isTimeUp = false;

  constructor(session: XioSession, setup: LoadSetup) {
    super();
    this.#session = session;
    this.#setup = setup;
    this.#memory = Array.from({ length: setup.depth }, () => alloc(Math.max(1, setup.maxBytes)));
  }

  /** @throws XioError (the promise rejects) of the first request that fails; that ends all others as well */
  async run(round: Round): Promise<Counted> {
    this.#isTimeUp = false;
    await this.play(round.warmUpMs, round.measuredMs, async () => {
      const { isDirect, depth } = this.#setup;
      if (isDirect) this.#token ??= Uint8Array.from((await this.#session.request(questionOf('share', 0))).body);
      const token = this.#token;
      return Array.from({ length: depth }, (_, lane) =>
        token === undefined ? this.#ask(lane, round.bytes) : this.#move(lane, round.bytes, token),
      );
    });
    return this.counted;
  }

  /** Also before it is over: then what was counted so far. */
  get counted(): Counted {
    return { requests: this.histogram.count, seconds: this.seconds, histogram: this.histogram };
  }

  /** One request after the other. */
  async #ask(lane: number, bytes: number): Promise<void> {
    const { direction } = this.#setup;
    const place = this.#memory[lane].subarray(0, bytes);
    const question = questionOf(direction, bytes);
    const [body, options]: [Uint8Array | undefined, XioRequestOptions] =
      direction === 'read' ? [undefined, bytes === 0 ? {} : { into: place }] : [place, {}];
    const expected = direction === 'read' ? bytes : 0;
    while (!this.isOver) {
      const sentMs = performance.now();
      const response = await this.#session.request(question, body, options);
      if (response.body.length !== expected)
        throw new ToolError(`The server has answered with ${response.body.length} bytes in place of ${expected}.`);
      response[Symbol.dispose]();
      this.#count(sentMs);
    }
  }

  /** One access after the other. */
  async #move(lane: number, bytes: number, token: Uint8Array): Promise<void> {
    const { direction } = this.#setup;
    const place = this.#memory[lane].subarray(0, bytes);
    while (!this.isOver) {
      const sentMs = performance.now();
      if (direction === 'read') await this.#session.read(token, 0, place);
      else await this.#session.write(token, 0, place);
      this.#count(sentMs);
    }
  }

  /** A round has one answer at least, however long that takes. */
  protected override timeIsUp(): void {
    this.#isTimeUp = true;
    if (this.histogram.count > 0) this.stop();
  }

  #count(sentMs: number): void {
    // What is answered before it is measured, or when that is over, belongs to another time.
    if (this.isOver || !this.isMeasured) return;
    this.record(sentMs);
    if (this.#isTimeUp) this.stop();
  }
}
