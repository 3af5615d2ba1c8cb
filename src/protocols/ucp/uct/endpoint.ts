import { type AtomicOp, UcsStatus, AM_IDS } from '../wire/index.js';
import type { Capabilities, Way } from './capabilities.js';
import type { Memory } from './memory-domain.js';

/** Is told, once, what became of something that was under way. */
export interface Completion {
  /** @param status UCS_OK, or why not. Nobody touches the memory any more that it was about */
  onComplete(status: UcsStatus): void;
}

/** Packs a message into a buffer of the transport's. */
export interface Packer {
  /** @param into as long as the longest message. @returns how many bytes it is */
  pack(into: Uint8Array): number;
}

export interface Waiting {
  /** Tries again. @returns UCS_ERR_NO_RESOURCE to go on waiting, in its place; all else ends the wait */
  retry(): UcsStatus;
}

/** Memory of the peer's. */
export interface RemotePlace {
  readonly address: bigint;
  readonly rkey: number;
}

/** A part of memory that was registered. */
export interface LocalPlace {
  readonly memory: Memory;
  readonly offset: number;
  readonly length: number;
}

/** What an atomic is to do with a word of the peer's, whose address is a multiple of its length. */
export interface AtomicRequest extends RemotePlace {
  readonly op: AtomicOp;
  readonly bytes: 4 | 8;
  readonly value: bigint;
  /** CSWAP: what must be there. */
  readonly compare?: bigint;
  /** Is told what was there, before it is told that this has completed. */
  readonly onValue?: (before: bigint) => void;
}

/**
 * One end of a way to a peer, whatever the way: the seam between the protocols of UCP and its transports, as UCT is in UCX.
 *
 * What is sent goes in one of three ways. *Short*: it is copied at once, and no buffer is needed. *Bcopy*: it is packed into a buffer of the
 * transport's. *Zcopy*: it goes from where it lies.
 *
 * Calls do not throw. They return UCS_OK when the caller is done with it, UCS_INPROGRESS when the completion will be told,
 * UCS_ERR_NO_RESOURCE when there is no room now, so that it is to be tried again by {@link pendingAdd}, UCS_ERR_INVALID_PARAM for more than
 * {@link capabilities} allow, UCS_ERR_UNSUPPORTED for what they lack, or why the endpoint has failed. Only UCS_INPROGRESS is followed
 * by a call of the completion. Neither completions nor handlers are called before the call returns.
 *
 * Active messages arrive in the order of the calls, each once. Nobody overtakes those who wait: while there are any, calls find no
 * room.
 */
export interface Endpoint {
  readonly capabilities: Capabilities;
  /** By what it leads where. */
  readonly way: Way;
  /** Why nothing goes any more; undefined while it does. */
  readonly failure: UcsStatus | undefined;

  /** @param id 0 to 31. @param header 0 bytes or more, which come before the data */
  amShort(id: number, header: Uint8Array, payload: Uint8Array): UcsStatus;
  amBcopy(id: number, packer: Packer): UcsStatus;
  /** @param header is copied at once */
  amZcopy(id: number, header: Uint8Array, payload: LocalPlace, completion: Completion): UcsStatus;

  putShort(payload: Uint8Array, to: RemotePlace): UcsStatus;
  putBcopy(packer: Packer, to: RemotePlace): UcsStatus;
  putZcopy(payload: LocalPlace, to: RemotePlace, completion: Completion): UcsStatus;

  /** @param unpack is given what was read, true until it returns, before the completion is told */
  getBcopy(length: number, from: RemotePlace, unpack: (bytes: Uint8Array) => void, completion: Completion): UcsStatus;
  getZcopy(into: LocalPlace, from: RemotePlace, completion: Completion): UcsStatus;

  atomic(request: AtomicRequest, completion: Completion): UcsStatus;

  /** Asks the peer for a sign of life, whoever waits for room: the endpoint of one that gives none fails (`uct_ep_check`). */
  check(): void;

  /** Has something tried again once there is room, after all that wait already. */
  pendingAdd(waiting: Waiting): void;
  pendingPurge(): Waiting[];

  /** UCS_OK when all that was begun has been done, at the peer; otherwise the completion is told once it has. What waits for room was not begun. */
  flush(completion: Completion): UcsStatus;
}

/** Whether there is such an active message, of so many bytes. */
export function isAm(id: number, bytes: number, most: number): boolean {
  return Number.isInteger(id) && id >= 0 && id < AM_IDS && bytes <= most;
}

/** Whether a part is one of its memory, and no longer than that. */
export function isPlace({ memory, offset, length }: LocalPlace, most: number): boolean {
  return (
    Number.isInteger(offset) &&
    Number.isInteger(length) &&
    offset >= 0 &&
    length >= 0 &&
    offset + length <= memory.bytes.byteLength &&
    length <= most
  );
}

/** Why an atomic cannot be done by a transport, whatever memory there is; undefined when it can. */
export function atomicProblem({ op, bytes, address }: AtomicRequest, { atomics }: Capabilities): UcsStatus | undefined {
  if (address % BigInt(bytes) !== 0n) return UcsStatus.UCS_ERR_INVALID_PARAM;
  return atomics[bytes].includes(op) ? undefined : UcsStatus.UCS_ERR_UNSUPPORTED;
}

/** Is given what comes. @param bytes header and data, true until it returns */
export type AmHandler = (bytes: Uint8Array) => void;

/** Who takes the active messages of an id. */
export class AmHandlers {
  readonly #handlers: (AmHandler | undefined)[] = Array.from({ length: AM_IDS }, () => undefined);
  #unknown = 0;

  /** Messages that nobody took, and that were dropped. */
  get unknown(): number {
    return this.#unknown;
  }

  /** @param id 0 to 31. @param handler undefined to have them dropped */
  set(id: number, handler: AmHandler | undefined): void {
    this.#handlers[id] = handler;
  }

  deliver(id: number, bytes: Uint8Array): void {
    const handler = this.#handlers[id];
    if (handler === undefined) this.#unknown += 1;
    else handler(bytes);
  }
}
