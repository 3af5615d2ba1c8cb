import {
  type ConnectionRequest,
  type FullAddress,
  type Listener,
  type ListenOptions,
} from '../../../api/rdmacm/index.js';
import type { Callbacks } from '../../../api/runtime/index.js';
import { invalid, refuse, show } from '../../../api/verbs/index.js';
import type { Engine } from '../../core/index.js';

/** A worker that connects: what `ucp_conn_request_query` tells. */
export interface UcpClient extends FullAddress {
  /** What its program calls itself ({@link UcpWorkerOptions.clientId}), where it wants that to be known. It may lie. */
  readonly clientId?: bigint;
}

/** What {@link UcpWorker.listen} takes. */
export interface UcpListenOptions {
  /** 0 to 65535. Default: one that is free. */
  readonly port?: ListenOptions['port'];
  /** An address of the worker's device, which is the default. */
  readonly host?: ListenOptions['host'];
  /**
   * Whether a worker may connect that asks from that address, and says to be that client. One that may not is told so, and its `connect` rejects with UCS_ERR_REJECTED. Default: everybody may. It protects
   * nothing from who lies about either.
   */
  readonly accept?: ((from: UcpClient) => boolean | Promise<boolean>) | undefined;
}

/** @throws VerbsError EINVAL */
export function checkListen(options: UcpListenOptions, onEndpoint: unknown): void {
  const { accept } = options;
  if (accept !== undefined && typeof accept !== 'function')
    refuse('listen', invalid(`options.accept is ${show(accept)}`, 'It is a function, or undefined for none'));
  if (typeof onEndpoint !== 'function')
    refuse('listen', invalid(`onEndpoint is ${show(onEndpoint)}`, 'It is a function, which is given each endpoint'));
}

/** Where other workers connect: `ucp_listener_h`. It keeps the process alive until it is closed, a simulated one excepted. */
export class UcpListener implements Disposable {
  readonly #listener: Listener;

  /** @internal {@link UcpWorker.listen} makes them. */
  constructor(listener: Listener) {
    this.#listener = listener;
  }

  /** Where it listens: what other workers give to `connect`. */
  get address(): FullAddress {
    return this.#listener.address;
  }

  /** Has it keep the process alive again, after {@link unref}. Idempotent. */
  ref(): this {
    this.#listener.ref();
    return this;
  }

  /** Lets the process end though it listens. Idempotent. */
  unref(): this {
    this.#listener.unref();
    return this;
  }

  /** Nobody can connect any more; endpoints that there are go on. Idempotent. */
  close(): void {
    this.#listener.close();
  }

  /** {@link close}. */
  [Symbol.dispose](): void {
    this.close();
  }
}

/** What the program throws is thrown again where nobody of this package is in the midst of anything. */
export function throwLater(engine: Pick<Engine, 'nextTurn'>, error: unknown): void {
  engine.nextTurn(() => {
    throw error;
  });
}

/** Whether the program lets somebody connect, who is told otherwise. */
export async function isAccepted(
  { accept }: UcpListenOptions,
  client: UcpClient,
  request: ConnectionRequest,
  { engine, callbacks }: { readonly engine: Pick<Engine, 'nextTurn'>; readonly callbacks: Callbacks },
): Promise<boolean> {
  if (accept === undefined) return true;
  let isWanted = false;
  try {
    isWanted = await callbacks.ask(() => accept(client));
  } catch (error) {
    throwLater(engine, error);
  }
  if (!isWanted) request.reject();
  return isWanted;
}
