import type { Context, Pd } from '../verbs/index.js';
import type { CmId } from './cm-id.js';
import type { Connection } from './connection.js';
import { notYet } from './not-yet.js';
import type { ConnParam, IdQpInitAttr } from './parameters.js';

/** What both ends of a connection can be asked for. */
export interface ConnectionOptions extends Omit<ConnParam, 'srq' | 'qpNum' | 'qpType' | 'qkey'> {
  /** How the queue pair is made. */
  readonly qp?: Omit<IdQpInitAttr, 'qpType'>;
  /** Default: one that all identifiers on the device share. */
  readonly pd?: Pd;
  /** Called once the queue pair is there and before the peer can send: the place to post receive requests. */
  readonly prepare?: (id: CmId) => void;
  /** Gives up; the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Milliseconds, default 10 000; then the promise rejects with ETIMEDOUT. */
  readonly timeoutMs?: number;
}

/** What {@link connect} takes. */
export interface ConnectOptions extends ConnectionOptions {
  /** A name or an address. */
  readonly host: string;
  /** 1 to 65535. */
  readonly port: number;
  /** An address of one's own to connect from. */
  readonly localAddress?: string;
  /** The device. Default: as for an event channel without `contexts`. */
  readonly context?: Context;
}

/**
 * Makes a connection, as Node's own `connect` does: finds the way, makes a queue pair, asks the peer. When it fails or is
 * aborted, nothing is left of it.
 *
 * @throws VerbsError (the promise rejects) ECONNREFUSED when the peer refuses, with the reason in words and `reason` and
 *   `privateData` on the error (`RefusedError`); ETIMEDOUT when it does not answer; ENOENT when nobody knows the name;
 *   otherwise as the calls of `CmId`
 */
export function connect(options: ConnectOptions): Promise<Connection> {
  return notYet(options);
}
