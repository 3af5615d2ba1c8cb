import { checkWait, type Timers, type WaitOptions } from '../../core/index.js';
import { UcsStatus } from '../wire/index.js';
import { UcpError, UcpPending } from './errors.js';

/** Somebody waits until something has come. */
class Asleep extends UcpPending<void> {
  constructor(private readonly all: Set<Asleep>) {
    super('wait');
  }

  protected onGivenUp(): void {
    this.all.delete(this);
  }
}

/** Has those go on who wait until something has come to a worker. Who looks in vain before he waits misses nothing that comes in between. */
export class Wakeup<Owner> {
  readonly #asleep = new Set<Asleep>();
  #come = 0;
  /** How often it had when {@link wait} has last resolved. */
  #seen = 0;
  #isClosed = false;

  /** @param owner the worker, which loops are given */
  constructor(
    private readonly timers: Timers,
    private readonly owner: Owner,
  ) {}

  note(): void {
    this.#come += 1;
    if (this.#asleep.size > 0) this.#wake();
  }

  /** As `UcpWorker.wait`. */
  async wait(options: WaitOptions): Promise<void> {
    checkWait('wait', options);
    await this.#comesAfter(this.#seen, options);
    this.#seen = this.#come;
  }

  /** As `UcpWorker.wakeups`. */
  async *all({ signal }: Pick<WaitOptions, 'signal'>): AsyncGenerator<Owner, void, void> {
    checkWait('wakeups', { signal });
    // Each loop has looked by itself, whatever others were told.
    let seen = this.#seen;
    for (;;) {
      try {
        await this.#comesAfter(seen, { signal });
      } catch (error) {
        if (error instanceof UcpError && error.status === UcsStatus.UCS_ERR_CANCELED) return;
        throw error;
      }
      // Before the program looks: what comes meanwhile ends its next sleep.
      seen = this.#come;
      yield this.owner;
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const asleep of this.#asleep) asleep.reject(closed());
    this.#asleep.clear();
  }

  async #comesAfter(seen: number, options: WaitOptions): Promise<void> {
    options.signal?.throwIfAborted();
    if (this.#isClosed) throw closed();
    if (seen !== this.#come) return;
    const asleep = new Asleep(this.#asleep);
    this.#asleep.add(asleep);
    asleep.bindCancellation(options, this.timers);
    await asleep.promise;
  }

  #wake(): void {
    for (const asleep of this.#asleep) asleep.resolve();
    this.#asleep.clear();
  }
}

function closed(): UcpError {
  return new UcpError('wait', UcsStatus.UCS_ERR_CANCELED, 'the worker was closed');
}
