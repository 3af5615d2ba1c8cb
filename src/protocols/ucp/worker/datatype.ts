import { invalid, objectProblem, refuse, show, VerbsError } from '../../../api/verbs/index.js';

/** Something of the program's that is being packed into a message. */
export interface UcpPacking {
  /** Bytes of the message, which do not change any more. */
  readonly packedSize: number;
  /**
   * Packs the next bytes. It must not wait.
   *
   * @param offset where they begin in the message: all before were packed
   * @param into to be filled from its beginning on; all that is left of the message
   * @returns how many were packed, 1 or more
   */
  pack(offset: number, into: Uint8Array): number;
  /** It is over, well or not. Called once. */
  finish?(): void;
}

/** Something of the program's into which a message is to be unpacked. */
export interface UcpUnpacking {
  /** Bytes of the longest message for which there is room: a longer one fails the receive with UCS_ERR_MESSAGE_TRUNCATED. Of a stream no more are received. */
  readonly packedSize: number;
  /** Takes all of the message, or what the stream has brought, which is the program's from now on. Called once, or never where none comes. The receive ends when it has returned, or its promise has resolved. */
  unpack(bytes: Uint8Array): void | Promise<void>;
  /** It is over, well or not. Called once. */
  finish?(): void;
}

/** How a datatype is packed and unpacked: `ucp_generic_dt_ops_t`. What any of it throws is what the call rejects with. */
export interface UcpDatatypeOps<T> {
  startPack(object: T): UcpPacking;
  startUnpack(object: T): UcpUnpacking;
}

/** A form of data that the program packs and unpacks by itself: `ucp_dt_create_generic`. */
export class UcpDatatype<T> {
  readonly #ops: UcpDatatypeOps<T>;

  /** @throws VerbsError EINVAL for what has no such functions */
  constructor(ops: UcpDatatypeOps<T>) {
    refuse('UcpDatatype', objectProblem('ops', ops));
    const isGood = typeof ops.startPack === 'function' && typeof ops.startUnpack === 'function';
    if (!isGood) refuse('UcpDatatype', invalid('ops lacks a function', 'It has startPack and startUnpack'));
    this.#ops = ops;
  }

  /** Data of this form: what sends and receives take in place of bytes, but for puts and gets. */
  of(object: T): UcpTyped {
    const ops = this.#ops;
    return new UcpTyped(
      () => ops.startPack(object),
      () => ops.startUnpack(object),
    );
  }
}

/** Data that the program packs and unpacks by itself ({@link UcpDatatype.of}). */
export class UcpTyped {
  /** @internal {@link UcpDatatype.of} makes them for programs. */
  constructor(
    /** @internal */
    readonly startPack: () => UcpPacking,
    /** @internal */
    readonly startUnpack: () => UcpUnpacking,
  ) {}
}

/** The bytes of data that is packed by the program. @throws what it throws; VerbsError EINVAL where it packs what makes no sense, ENOMEM for too much */
export function packed(call: string, typed: UcpTyped): Uint8Array {
  const packing = typed.startPack();
  refuse(call, objectProblem('what startPack returned', packing));
  const bytes = finishing(packing, () => {
    const whole = memoryFor(call, packing.packedSize);
    for (let offset = 0; offset < whole.length;) {
      const count = packing.pack(offset, whole.subarray(offset));
      if (!Number.isInteger(count) || count < 1 || count > whole.length - offset)
        refuse(
          call,
          invalid(
            `pack returned ${show(count)} at ${offset} of ${whole.length} bytes`,
            'It returns how many it has packed',
          ),
        );
      offset += count;
    }
    return whole;
  });
  packing.finish?.();
  return bytes;
}

/** What a receive gives: how many bytes have come, or something that says so. */
export type Landed = number | { readonly length: number };

export function landedBytes(landed: Landed): number {
  return typeof landed === 'number' ? landed : landed.length;
}

export class Unpacking {
  readonly buffer: Uint8Array;
  readonly #unpacking: UcpUnpacking;

  /** @throws what the program throws; VerbsError EINVAL, ENOMEM as {@link packed} */
  constructor(call: string, typed: UcpTyped) {
    const unpacking = typed.startUnpack();
    refuse(call, objectProblem('what startUnpack returned', unpacking));
    this.#unpacking = unpacking;
    this.buffer = finishing(unpacking, () => memoryFor(call, unpacking.packedSize));
  }

  /** What a receive gives, once all was unpacked. @param begin begins it */
  async landed<R extends Landed>(begin: () => Promise<R>): Promise<R> {
    let received: R;
    try {
      received = await begin();
      await this.#unpacking.unpack(this.buffer.subarray(0, landedBytes(received)));
    } catch (error) {
      // What has failed first says more than what fails of it.
      finishAnyhow(this.#unpacking);
      throw error;
    }
    this.#unpacking.finish?.();
    return received;
  }
}

type Finishing = Pick<UcpPacking, 'finish'>;

/** What an action gives; where it throws, it is over. */
function finishing<T>(what: Finishing, action: () => T): T {
  try {
    return action();
  } catch (error) {
    finishAnyhow(what);
    throw error;
  }
}

function finishAnyhow(what: Finishing): void {
  try {
    what.finish?.();
  } catch {
    // The program is told of what it has thrown before.
  }
}

function memoryFor(call: string, size: number): Uint8Array {
  if (!Number.isSafeInteger(size) || size < 0)
    refuse(call, invalid(`packedSize is ${show(size)}`, 'It is a number of bytes'));
  try {
    return new Uint8Array(size);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new VerbsError(call, { errno: 'ENOMEM', message: `there is no memory of ${size} bytes`, advice: '' });
  }
}
