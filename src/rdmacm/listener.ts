import type { Context } from '../verbs/index.js';
import type { FullAddress } from './address.js';
import type { CmId } from './cm-id.js';
import type { ConnectionOptions } from './connect.js';
import type { Connection } from './connection.js';
import { notYet } from './not-yet.js';
import type { ConnParamReceived } from './parameters.js';

/** What {@link listen} takes. */
export interface ListenOptions {
  /** Default: any that is free. */
  readonly port?: number;
  /** An address of one's own. Default: that of the program's default device. */
  readonly host?: string;
  /** Requests that may wait for an answer; 0, the default, for as many as there may be. */
  readonly backlog?: number;
  /** Ends the listener. */
  readonly signal?: AbortSignal;
  /** The device. Default: as for an event channel without `contexts`. */
  readonly context?: Context;
}

/**
 * Listens for connections, as Node's own `listen` does.
 *
 * @example
 * ```ts
 * for await (const request of listen({ port: 7174 })) {
 *   const connection = await request.accept();
 * }
 * ```
 * @throws VerbsError EADDRINUSE when another listens there; otherwise as `CmId.bindAddr` and `CmId.listen`
 */
export function listen(options: ListenOptions = {}): Listener {
  return notYet(options);
}

/** Requests for connections, one after the other. It ends when the loop over it does. */
export class Listener implements AsyncIterable<ConnectionRequest>, AsyncDisposable, Disposable {
  constructor(readonly id: CmId) {}

  /** Where it listens. */
  get address(): FullAddress {
    return notYet();
  }

  /** The requests, until the listener ends. Leaving the loop ends it, and refuses what is still waiting. */
  [Symbol.asyncIterator](): AsyncIterator<ConnectionRequest, void, undefined> {
    return notYet();
  }

  /** Ends it: requests that nobody took are refused, and loops over it end. Idempotent. */
  close(): void {
    notYet();
  }

  /** {@link close}. */
  [Symbol.dispose](): void {
    this.close();
  }

  /** {@link close}. */
  [Symbol.asyncDispose](): Promise<void> {
    this.close();
    return Promise.resolve();
  }
}

/** Somebody asks for a connection. It is to be accepted or rejected. */
export class ConnectionRequest {
  constructor(
    readonly id: CmId,
    /** What the peer asks for. */
    readonly param: ConnParamReceived,
  ) {}

  /** What the peer said, with zeros at its end. */
  get privateData(): Uint8Array {
    return this.param.privateData;
  }

  get remoteAddress(): FullAddress {
    return notYet();
  }

  /**
   * Accepts it, with a queue pair made for it. When that fails or is aborted, nothing is left of it.
   *
   * @throws VerbsError (the promise rejects) ETIMEDOUT when the peer says nothing more; EINVAL when it was answered before;
   *   otherwise as `CmId.createQp` and `CmId.accept`
   */
  accept(options: ConnectionOptions = {}): Promise<Connection> {
    return notYet(options);
  }

  /** Refuses it. @throws VerbsError EINVAL when it was answered before, or for more than `PrivateDataBytes.REJECT` bytes */
  reject(privateData?: Uint8Array): void {
    notYet(privateData);
  }
}
