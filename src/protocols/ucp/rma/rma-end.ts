import { AmId, AtomicOp, Messages, UcsStatus } from '../wire/index.js';
import { invalid, refuse, show, VerbsError } from '../../../api/verbs/index.js';
import { checkWait, type WaitOptions } from '../../core/index.js';
import { checkView } from '../worker/pieces.js';
import type { EndpointParts, Family } from '../worker/endpoint-parts.js';
import { steady } from '../protocol/index.js';
import { Answers } from './answers.js';
import { type AtomicOrder, DeviceAtomic, MessageAtomic } from './atomic.js';
import type { Fenced, Fences } from './fences.js';
import { DeviceGet, MessageGet } from './get.js';
import { EpochTracker } from './epoch-tracker.js';
import type { RmaOperation, RmaWay } from './operation.js';
import { OperationQueue } from './operation-queue.js';
import { DevicePut, MessagePut } from './put.js';
import { RemoteBytes } from './memory.js';
import { Responder } from './responder.js';
import { checkRemote, keyFrom, type UcpRkey, type Wanted } from './rkey.js';

/** What an atomic is asked to do, by its name; `compareSwap` sets the word where it holds `compare`. */
export type AtomicName = 'add' | 'and' | 'or' | 'xor' | 'swap' | 'compareSwap';

/** How {@link UcpEndpoint.atomic} changes a word. */
export interface AtomicOptions extends WaitOptions {
  /** Bytes of the word. Default 8. */
  readonly bytes?: 4 | 8 | undefined;
  /** What must be there for `compareSwap` to set the word. */
  readonly compare?: bigint | undefined;
}

const OPS: Readonly<Record<AtomicName, AtomicOp>> = {
  add: AtomicOp.ADD,
  and: AtomicOp.AND,
  or: AtomicOp.OR,
  xor: AtomicOp.XOR,
  swap: AtomicOp.SWAP,
  compareSwap: AtomicOp.CSWAP,
};

/** The same, of what a transport does. */
export function atomicNames(ops: readonly AtomicOp[]): AtomicName[] {
  // The keys of an object of ours are those that its type names.
  return (Object.keys(OPS) as AtomicName[]).filter((name) => ops.includes(OPS[name]));
}

const ATOMIC_FIELDS = { signal: true, timeoutMs: true, bytes: true, compare: true } as const;

/** The family of remote memory at an endpoint: what is asked of the peer's, and what the peer asks of this end's by messages. */
export class RmaEnd implements Family, Fenced, RmaWay {
  readonly epochs = new EpochTracker();
  readonly operations: OperationQueue;
  readonly #answers: Answers;
  /** Those of whom nothing was asked are in nobody's way. */
  #isFenced = false;

  constructor(
    readonly parts: EndpointParts,
    private readonly fences: Fences,
  ) {
    this.operations = new OperationQueue(parts);
    const onRoom = (): void => this.operations.resume();
    const answers = new Answers(parts.epId, this.epochs, onRoom);
    const responder = new Responder(parts);
    this.#answers = answers;
    parts.take(AmId.PUT, Messages.PUT, (message) => responder.onPut(message));
    parts.take(AmId.GET_REQ, Messages.GET_REQ, (message) => responder.onGet(message));
    parts.take(AmId.ATOMIC_REQ, Messages.ATOMIC_REQ, (message) => responder.onAtomic(message));
    parts.take(AmId.CMPL, Messages.CMPL, ({ head }) => answers.onCompletion(head.epId));
    parts.take(AmId.GET_REP, Messages.GET_REP, ({ head, payload }) => answers.onAnswer(head.requestId, payload));
    parts.take(AmId.ATOMIC_REP, Messages.ATOMIC_REP, ({ head, payload }) => answers.onAnswer(head.requestId, payload));
  }

  get isWaiting(): boolean {
    return !this.epochs.isEmpty;
  }

  /** As `UcpEndpoint.unpackRkey`. */
  unpackRkey(bytes: Uint8Array): UcpRkey {
    checkView('unpackRkey', 'bytes', bytes);
    const rkey = keyFrom('unpackRkey', this.parts, bytes);
    this.parts.worker.counters.rkeyUnpack += 1;
    return rkey;
  }

  /** As `UcpEndpoint.put`. */
  async put(data: Uint8Array, address: bigint, rkey: UcpRkey, options: WaitOptions): Promise<void> {
    checkView('put', 'data', data);
    checkWait('put', options);
    const to = this.#remote('put', rkey, { address, length: data.length, right: 'write' });
    options.signal?.throwIfAborted();
    if (data.length === 0) {
      this.#nothing('put');
      return;
    }
    const { put } = this.parts.transport.capabilities;
    const { counters } = this.parts.worker;
    counters.put += 1;
    counters.putBytes += data.length;
    if (put.bcopy > 0) {
      const lent = data.length > put.bcopy && put.zcopy > 0 ? this.parts.worker.domain.borrow(data) : undefined;
      return this.#begin(new DevicePut(this, steady(data), to, lent), options);
    }
    this.#checkNamed('put', to, data.length);
    return this.#begin(new MessagePut(this, steady(data), to, this.#answers), options);
  }

  /** As `UcpEndpoint.get`. */
  async get(buffer: Uint8Array, address: bigint, rkey: UcpRkey, options: WaitOptions): Promise<void> {
    checkView('get', 'buffer', buffer);
    checkWait('get', options);
    const from = this.#remote('get', rkey, { address, length: buffer.length, right: 'read' });
    options.signal?.throwIfAborted();
    if (buffer.length === 0) {
      this.#nothing('get');
      return;
    }
    const { get } = this.parts.transport.capabilities;
    const { counters } = this.parts.worker;
    counters.get += 1;
    counters.getBytes += buffer.length;
    if (get.bcopy > 0) {
      const lent = buffer.length > get.bcopy && get.zcopy > 0 ? this.parts.worker.domain.borrow(buffer) : undefined;
      return this.#begin(new DeviceGet(this, steady(buffer), from, lent), options);
    }
    this.#checkNamed('get', from, buffer.length);
    return this.#begin(new MessageGet(this, steady(buffer), from, this.#answers), options);
  }

  /** As `UcpEndpoint.atomic`, and with `isFetching` as `UcpEndpoint.atomicFetch`. */
  async atomic(
    name: AtomicName,
    value: bigint,
    address: bigint,
    rkey: UcpRkey,
    options: AtomicOptions,
    isFetching: boolean,
  ): Promise<bigint> {
    const order = orderOf(name, value, options, isFetching);
    const word = this.#remote('atomic', rkey, { address, length: order.bytes, right: 'atomics' });
    if (address % BigInt(order.bytes) !== 0n)
      refuse('atomic', invalid(`address ${address} is no multiple of ${order.bytes}`, 'Words are aligned'));
    options.signal?.throwIfAborted();
    if (rkey.atomics === 'device') {
      this.#checkDevice(order);
      this.parts.worker.counters.atomic += 1;
      return this.#begin(new DeviceAtomic(this, order, word), options);
    }
    this.#checkNamed('atomic', word, order.bytes);
    this.parts.worker.counters.atomic += 1;
    return this.#begin(new MessageAtomic(this, order, word, this.#answers), options);
  }

  /** Resolves with UCS_OK when all that was asked for before has been done at the peer, or with why it never will be. */
  flush(): Promise<UcsStatus> {
    this.parts.worker.counters.flush += 1;
    return new Promise((resolve) => this.#flushed(resolve));
  }

  whenFlushed(action: () => void): void {
    this.#flushed(action);
  }

  onEnded(status: UcsStatus): void {
    this.fences.remove(this);
    this.#answers.fail(status);
    this.operations.end();
  }

  #flushed(resolve: (status: UcsStatus) => void): void {
    this.epochs.whenDrained(() => {
      const { failure } = this.parts;
      if (failure !== undefined) {
        resolve(failure);
        return;
      }
      const now = this.parts.transport.flush({ onComplete: resolve });
      if (now !== UcsStatus.UCS_INPROGRESS) resolve(now);
    });
  }

  #remote(call: string, rkey: UcpRkey, wanted: Wanted): RemoteBytes {
    const offset = checkRemote(call, this.parts, rkey, wanted);
    return new RemoteBytes(wanted.address, rkey.rkey, offset);
  }

  #nothing(call: string): void {
    const failure = this.parts.failureOf(call);
    if (failure !== undefined) throw failure;
  }

  #begin<T>(operation: RmaOperation<T>, options: WaitOptions): Promise<T> {
    if (!this.#isFenced && this.parts.failure === undefined) {
      this.#isFenced = true;
      this.fences.add(this);
    }
    this.operations.add(operation);
    this.parts.watch();
    if (!operation.isSettled) operation.bindCancellation(options, this.parts.worker.engine);
    return operation.promise;
  }

  #checkNamed(call: string, bytes: RemoteBytes, length: number): void {
    if (!bytes.canBeNamed(length))
      refuse(call, invalid('messages do not reach so far into memory', 'Map parts of 4 GiB at most'));
  }

  #checkDevice({ op, bytes }: AtomicOrder): void {
    if (this.parts.transport.capabilities.atomics[bytes].includes(op)) return;
    const message = `the adapter has no such atomic on ${bytes} bytes`;
    const advice = "Map the memory with atomics: 'messages', by which there are all";
    throw new VerbsError('atomic', { errno: 'EOPNOTSUPP', message, advice });
  }
}

/** @throws VerbsError EINVAL */
function orderOf(name: AtomicName, value: bigint, options: AtomicOptions, isFetching: boolean): AtomicOrder {
  checkWait('atomic', options, ATOMIC_FIELDS);
  const { bytes = 8, compare } = options;
  if (!Object.hasOwn(OPS, name))
    refuse('atomic', invalid(`${show(name)} is no atomic`, `They are ${Object.keys(OPS).join(', ')}`));
  if (![4, 8].includes(bytes)) refuse('atomic', invalid(`a word of ${show(bytes)} bytes`, 'It has 4 or 8'));
  if (typeof value !== 'bigint' || (compare !== undefined && typeof compare !== 'bigint'))
    refuse('atomic', invalid('an operand is no bigint', 'Operands are'));
  if ((name === 'compareSwap') !== (compare !== undefined))
    refuse('atomic', invalid(`compare is ${show(compare)} for ${name}`, 'It is for compareSwap, and for nothing else'));
  return { op: OPS[name], bytes, value, compare: compare ?? 0n, isFetching };
}
