import { Callbacks } from '../../../api/runtime/index.js';
import { invalid, refuse, show } from '../../../api/verbs/index.js';
import type { Engine } from '../../core/index.js';
import type { Thresholds } from '../protocol/index.js';
import type { EndpointParts } from '../worker/endpoint-parts.js';
import type { Rendezvous } from '../worker/rendezvous.js';
import { AmEnd, type AmSource, type AmTakers, checkId } from './am-end.js';
import type { AmMessage } from './am-message.js';
import { KeptBytes } from '../worker/kept-bytes.js';

/** Takes active messages, each in a turn of the event loop of its own. What it throws is an uncaught exception of the program. */
export type AmHandler<Endpoint> = (message: AmMessage<Endpoint>) => void;

/** The family of active messages at a worker: who takes them. */
export class Ams<Endpoint> implements AmTakers<Endpoint> {
  readonly kept: KeptBytes;
  /** Handlers run in the async context in which the worker was made. */
  readonly #callbacks = new Callbacks();
  readonly #handlers = new Map<number, AmHandler<Endpoint>>();
  #dropped = 0;

  /** @param bytes of messages that have come in part, or that programs keep */
  constructor(
    private readonly engine: Pick<Engine, 'nextTurn'>,
    bytes: number,
    private readonly thresholds: Thresholds,
  ) {
    this.kept = new KeptBytes(bytes, 'active messages');
  }

  get dropped(): number {
    return this.#dropped;
  }

  /** The same family at an endpoint. @param endpoint gives the endpoint, once messages come */
  attach(parts: EndpointParts, rendezvous: Rendezvous, endpoint: () => Endpoint): AmEnd<Endpoint> {
    return parts.add(new AmEnd(parts, rendezvous, this, this.thresholds, endpoint));
  }

  /** As `UcpWorker.setAmHandler`. */
  set(id: number, handler: AmHandler<Endpoint> | undefined): void {
    checkId('setAmHandler', id);
    if (handler !== undefined && typeof handler !== 'function')
      refuse('setAmHandler', invalid(`the handler is ${show(handler)}`, 'It is a function, or undefined for none'));
    if (handler === undefined) this.#handlers.delete(id);
    else this.#handlers.set(id, handler);
  }

  isWanted(id: number): boolean {
    const isWanted = this.#handlers.has(id);
    if (!isWanted) this.#dropped += 1;
    return isWanted;
  }

  hand(id: number, message: AmMessage<Endpoint>, from: AmSource): void {
    if (this.#callbacks.callNow(() => this.#handle(id, message))) return;
    message.postpone();
    this.#callbacks.call(() => {
      if (from.isClosed) {
        message.drop();
        return;
      }
      const problem = message.resume();
      if (problem === undefined) this.#handle(id, message);
      else from.distrust(problem);
    });
  }

  #handle(id: number, message: AmMessage<Endpoint>): void {
    const handler = this.#handlers.get(id);
    if (handler === undefined) this.#dropped += 1;
    else
      try {
        handler(message);
      } catch (error) {
        this.engine.nextTurn(() => {
          throw error;
        });
      }
    message.handled();
  }
}
