import { hasOwnThread, providedContext } from '../../../../api/provider/index.js';
import { AtomicOp, RkeyAccess, UcsStatus } from '../../wire/index.js';
import {
  type AmHandlers,
  atomicProblem,
  isAm,
  isPlace,
  type AtomicRequest,
  type Completion,
  type Endpoint,
  type LocalPlace,
  type Packer,
  type RemotePlace,
  type Waiting,
} from '../endpoint.js';
import type { Capabilities, Way } from '../capabilities.js';
import type { MemoryDomain } from '../memory-domain.js';
import { FlushQueue, PendingQueue } from '../waits.js';

type Operation = (before: bigint, value: bigint, compare: bigint) => bigint;

const OPERATIONS: Readonly<Record<AtomicOp, Operation>> = {
  [AtomicOp.ADD]: (before, value) => before + value,
  [AtomicOp.AND]: (before, value) => before & value,
  [AtomicOp.OR]: (before, value) => before | value,
  [AtomicOp.XOR]: (before, value) => before ^ value,
  [AtomicOp.SWAP]: (_, value) => value,
  [AtomicOp.CSWAP]: (before, value, compare) => (before === compare ? value : before),
};

type Operands = Pick<AtomicRequest, 'op' | 'bytes' | 'value' | 'compare'>;

/** Carries out an atomic on a word, in the order of bytes that all hosts here have. @returns what was there before */
export function operate(word: Uint8Array, { op, bytes, value, compare = 0n }: Operands): bigint {
  const view = new DataView(word.buffer, word.byteOffset, bytes);
  const bits = 8 * bytes;
  const before = bytes === 4 ? BigInt(view.getUint32(0, true)) : view.getBigUint64(0, true);
  const after = BigInt.asUintN(
    bits,
    OPERATIONS[op](before, BigInt.asUintN(bits, value), BigInt.asUintN(bits, compare)),
  );
  if (bytes === 4) view.setUint32(0, Number(after), true);
  else view.setBigUint64(0, after, true);
  return before;
}

const SEGMENT_BYTES = 8192;
/** Messages that may be on their way. */
const DEPTH = 64;
/** There is nothing to be cut for: as much as a request of an adapter may move. */
const MOST = 2 ** 30;
const ALL_OPS = Object.values(AtomicOp);

const CAPABILITIES: Capabilities = {
  am: { short: SEGMENT_BYTES, bcopy: SEGMENT_BYTES, zcopy: SEGMENT_BYTES, header: SEGMENT_BYTES },
  put: { short: MOST, bcopy: SEGMENT_BYTES, zcopy: MOST },
  get: { bcopy: SEGMENT_BYTES, zcopy: MOST },
  atomics: { 4: ALL_OPS, 8: ALL_OPS },
};

interface Message {
  readonly id: number;
  readonly bytes: Uint8Array;
}

/**
 * The way of a worker to itself. Active messages are copied, and handed over in the next turn of the event loop: never within the call that sends them. Memory is
 * reached at once, by the keys that peers have as well, so that what has no right elsewhere has none here.
 */
export class SelfEndpoint implements Endpoint {
  readonly way: Way = { transport: 'self' };
  readonly capabilities: Capabilities;
  readonly #messages: Message[] = [];
  readonly #pending = new PendingQueue();
  readonly #flushes = new FlushQueue();
  readonly #scratch = new Uint8Array(SEGMENT_BYTES);
  #isTurnDue = false;
  #failure: UcsStatus | undefined;

  constructor(
    private readonly domain: MemoryDomain,
    private readonly handlers: AmHandlers,
  ) {
    // An adapter in a thread of its own may be at the same word, and neither would see the other.
    const isAlone = !providedContext(domain.engine.context, 'ucp')[hasOwnThread];
    this.capabilities = isAlone ? CAPABILITIES : { ...CAPABILITIES, atomics: { 4: [], 8: [] } };
  }

  get failure(): UcsStatus | undefined {
    return this.#failure;
  }

  amShort(id: number, header: Uint8Array, payload: Uint8Array): UcsStatus {
    const refusal = this.#amRefusal(isAm(id, header.length + payload.length, SEGMENT_BYTES));
    return refusal ?? this.#send(id, header, payload);
  }

  amBcopy(id: number, packer: Packer): UcsStatus {
    const refusal = this.#amRefusal(isAm(id, 0, SEGMENT_BYTES));
    if (refusal !== undefined) return refusal;
    return this.#send(id, this.#scratch.subarray(0, packer.pack(this.#scratch)), NOTHING);
  }

  amZcopy(id: number, header: Uint8Array, payload: LocalPlace): UcsStatus {
    const most = SEGMENT_BYTES - header.length;
    const refusal = this.#amRefusal(isAm(id, header.length, SEGMENT_BYTES) && isPlace(payload, most));
    return refusal ?? this.#send(id, header, bytesOf(payload));
  }

  putShort(payload: Uint8Array, to: RemotePlace): UcsStatus {
    return this.#refusal(payload.length <= MOST) ?? this.#put(payload, to);
  }

  putBcopy(packer: Packer, to: RemotePlace): UcsStatus {
    const refusal = this.#refusal(true);
    return refusal ?? this.#put(this.#scratch.subarray(0, packer.pack(this.#scratch)), to);
  }

  putZcopy(payload: LocalPlace, to: RemotePlace): UcsStatus {
    return this.#refusal(isPlace(payload, MOST)) ?? this.#put(bytesOf(payload), to);
  }

  getBcopy(length: number, from: RemotePlace, unpack: (bytes: Uint8Array) => void): UcsStatus {
    const refusal = this.#refusal(length <= SEGMENT_BYTES);
    if (refusal !== undefined) return refusal;
    const bytes = this.domain.find(from.rkey, from.address, length, RkeyAccess.READ);
    if (bytes === undefined) return UcsStatus.UCS_ERR_IO_ERROR;
    unpack(bytes);
    return UcsStatus.UCS_OK;
  }

  getZcopy(into: LocalPlace, from: RemotePlace): UcsStatus {
    const refusal = this.#refusal(isPlace(into, MOST));
    if (refusal !== undefined) return refusal;
    const bytes = this.domain.find(from.rkey, from.address, into.length, RkeyAccess.READ);
    if (bytes === undefined) return UcsStatus.UCS_ERR_IO_ERROR;
    bytesOf(into).set(bytes);
    return UcsStatus.UCS_OK;
  }

  atomic(request: AtomicRequest): UcsStatus {
    const refusal = this.#refusal(true) ?? atomicProblem(request, this.capabilities);
    if (refusal !== undefined) return refusal;
    const word = this.domain.find(request.rkey, request.address, request.bytes, RkeyAccess.ATOMIC);
    if (word === undefined) return UcsStatus.UCS_ERR_IO_ERROR;
    const before = operate(word, request);
    request.onValue?.(before);
    return UcsStatus.UCS_OK;
  }

  pendingAdd(waiting: Waiting): void {
    this.#pending.add(waiting);
    // Room that has come meanwhile would be told to nobody else.
    this.#turnSoon();
  }

  pendingPurge(): Waiting[] {
    return this.#pending.purge();
  }

  check(): void {
    // It lives as long as who asks.
  }

  flush(completion: Completion): UcsStatus {
    return this.#failure ?? this.#flushes.flush(completion);
  }

  /** Ends it: what is on its way arrives no more. Idempotent. */
  close(): void {
    if (this.#failure !== undefined) return;
    this.#failure = UcsStatus.UCS_ERR_CANCELED;
    this.#messages.length = 0;
    this.#flushes.fail(this.#failure);
    this.#pending.dispatch();
  }

  #refusal(isGood: boolean): UcsStatus | undefined {
    if (this.#failure !== undefined) return this.#failure;
    if (!isGood) return UcsStatus.UCS_ERR_INVALID_PARAM;
    return this.#pending.isBehind ? UcsStatus.UCS_ERR_NO_RESOURCE : undefined;
  }

  #amRefusal(isGood: boolean): UcsStatus | undefined {
    const isFull = this.#messages.length === DEPTH;
    return this.#refusal(isGood) ?? (isFull ? UcsStatus.UCS_ERR_NO_RESOURCE : undefined);
  }

  #send(id: number, header: Uint8Array, payload: Uint8Array): UcsStatus {
    const bytes = new Uint8Array(header.length + payload.length);
    bytes.set(header);
    bytes.set(payload, header.length);
    this.#messages.push({ id, bytes });
    this.#flushes.begun();
    this.#turnSoon();
    return UcsStatus.UCS_OK;
  }

  #put(payload: Uint8Array, { rkey, address }: RemotePlace): UcsStatus {
    const bytes = this.domain.find(rkey, address, payload.length, RkeyAccess.WRITE);
    if (bytes === undefined) return UcsStatus.UCS_ERR_IO_ERROR;
    bytes.set(payload);
    return UcsStatus.UCS_OK;
  }

  #turnSoon(): void {
    if (this.#isTurnDue) return;
    this.#isTurnDue = true;
    this.domain.engine.nextTurn(() => this.#turn());
  }

  /** Hands over what was sent before; what handlers send comes in the next turn. */
  #turn(): void {
    this.#isTurnDue = false;
    for (let left = this.#messages.length; left > 0; left -= 1) {
      const message = this.#messages.shift();
      if (message === undefined) return;
      this.handlers.deliver(message.id, message.bytes);
      this.#flushes.done();
    }
    this.#pending.dispatch();
  }
}

const NOTHING = new Uint8Array(0);

function bytesOf({ memory, offset, length }: LocalPlace): Uint8Array {
  return memory.bytes.subarray(offset, offset + length);
}
