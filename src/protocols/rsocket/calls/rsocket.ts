import { type AddressFamily, SocketType } from './constants.js';
import type { Core } from './core.js';
import type { DatagramCore } from './datagram-core.js';
import { problem, unsupported } from '../errors.js';

export type AnyCore = Core | DatagramCore;

/** What only this room knows of a socket. */
const CORE = Symbol('core');

/** A socket, in place of C's descriptor. It is made by `rsocket` and `raccept`, and closed by `rclose` or `using`. */
export class Rsocket implements Disposable {
  readonly [CORE]: AnyCore;

  /** @internal `rsocket` makes sockets for programs. */
  constructor(core: AnyCore) {
    this[CORE] = core;
  }

  /** The family of its addresses. */
  get domain(): AddressFamily {
    return this[CORE].domain;
  }

  /** `rclose`, without the wait. */
  [Symbol.dispose](): void {
    if (this[CORE].state.kind !== 'closed') this[CORE].close();
  }
}

/** @throws RsocketError EBADF for what is no socket, or closed */
export function coreOf(call: string, socket: Rsocket): AnyCore {
  const given: unknown = socket;
  if (!(given instanceof Rsocket) || given[CORE].state.kind === 'closed') throw problem(call, 'EBADF');
  return given[CORE];
}

/** The same, for what only streams can. @throws RsocketError EBADF; EOPNOTSUPP for a socket of datagrams */
export function streamCoreOf(call: string, socket: Rsocket): Core {
  const core = coreOf(call, socket);
  if (core.type === SocketType.STREAM) return core;
  throw unsupported(call, 'the socket is one for datagrams', 'Make one of type SocketType.STREAM');
}
