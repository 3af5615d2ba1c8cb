import { WcStatus } from '../../../device/ibta/index.js';
import { type Cq, VerbsError } from '../../../api/verbs/index.js';
import type { Engine } from '../../core/index.js';
import type { LinkListener } from './link.js';

/** The listener of a link, until the link ends. Reports its loss once, also to a listener that comes later. */
export class LinkState {
  #listener: LinkListener | undefined;
  #lost: Error | undefined;
  #isEnded = false;
  #hasEnded = false;

  /** Whether nothing goes or comes any more. */
  get isOver(): boolean {
    return this.#lost !== undefined || this.#hasEnded;
  }

  /** Who is to be told what comes: nobody any more once it has ended. */
  get listener(): LinkListener | undefined {
    return this.#hasEnded ? undefined : this.#listener;
  }

  listen(listener: LinkListener): void {
    this.#listener = listener;
    if (this.#lost !== undefined) listener.onLost(this.#lost, this.#isEnded);
  }

  /** @param isEnded as of `LinkListener.onLost` */
  lose(error: Error, isEnded = false): void {
    if (this.isOver) return;
    this.#lost = error;
    this.#isEnded = isEnded;
    this.#listener?.onLost(error, isEnded);
  }

  /** A request has failed. @param cq stands at its completion */
  loseBy(engine: Engine, cq: Cq): void {
    if (this.isOver) return;
    this.lose(explained(engine, cq), cq.status === WcStatus.WR_FLUSH_ERR);
  }

  /** @returns whether it had not ended before */
  end(): boolean {
    const isFirst = !this.#hasEnded;
    this.#hasEnded = true;
    return isFirst;
  }
}

/** Why a request has failed. @param cq stands at its completion */
export function explained({ context }: Engine, cq: Cq): VerbsError {
  const message = context.explain(cq.workCompletion());
  return new VerbsError('kv', { errno: 'ECONNRESET', message, advice: '' });
}
