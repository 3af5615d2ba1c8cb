import { SimulationFailure } from '../../../../../test/sim/failure.js';
import { MemoryBook } from './memory-book.js';
import { type LinePlan, type MessagesPlan, PART_BYTES } from './plan.js';
import { StreamBook } from './stream-book.js';

/** Between when a line begins and when it has to have ended, in virtual time: more than all repeats of any call. */
export const LINE_PATIENCE_US = 600e6;

/** A client's connection, as the model knows it: both directions of it, its part of the memory, and whether it may fail. */
export class Line {
  readonly toServer: StreamBook;
  readonly toClient: StreamBook;
  readonly memory: MemoryBook;
  /** Something on the way may have it fail: the program ends it in the midst, or a disaster befalls either host. */
  readonly mayFail: boolean;
  readonly stalls: boolean;
  hasBegun = false;
  readonly ended: Promise<void>;
  end: () => void = () => undefined;

  constructor(
    readonly number: number,
    readonly plan: LinePlan,
    { disasters }: MessagesPlan,
    /** Told what proves the package wrong. */
    private readonly onFault: (error: Error) => void,
  ) {
    const name = (what: string): string => `connection ${number}, ${what}`;
    this.toServer = new StreamBook(name('to the server'));
    this.toClient = new StreamBook(name('to the client'));
    this.memory = new MemoryBook(name('memory'), PART_BYTES);
    this.mayFail = plan.ending !== 'agreed' || disasters.some(({ host }) => host === 0 || host === plan.host);
    this.stalls = plan.server.taking.how === 'stalls';
    this.ended = new Promise((resolve) => (this.end = resolve));
  }

  /** Something failed that nobody took back. */
  readonly fails = (error: unknown): void => {
    if (error instanceof SimulationFailure) this.onFault(error);
    else if (!this.mayFail)
      this.onFault(
        new SimulationFailure(`connection ${this.number} had no reason to fail: ${String(error)}`, { cause: error }),
      );
  };
}
