import type { Neighbour, OpenCall } from './neighbours.js';
import { UcpPending } from '../worker/errors.js';

/** A program waits for an endpoint to a worker whose address it has. */
export class AddressCall<E> extends UcpPending<E> implements OpenCall {
  readonly #controller = new AbortController();

  /** @param onOver is told when it has ended, whichever way */
  constructor(
    readonly id: number,
    readonly to: Neighbour,
    readonly port: number,
    private readonly onOver: (call: AddressCall<E>) => void,
  ) {
    super('connectByAddress');
  }

  /** Aborted when it has ended. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  override resolve(endpoint: E): void {
    super.resolve(endpoint);
    this.#over();
  }

  override reject(error: unknown): void {
    super.reject(error);
    this.#over();
  }

  protected onGivenUp(): void {
    this.#over();
  }

  #over(): void {
    if (this.#controller.signal.aborted) return;
    this.#controller.abort();
    this.onOver(this);
  }
}
