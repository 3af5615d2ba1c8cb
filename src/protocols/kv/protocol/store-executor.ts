import {
  type Explanation,
  type KeyRequest,
  Operation as StoreOperation,
  operationRules,
  type Partition,
  Span,
} from '../store/index.js';
import {
  type Answered,
  encodeKeyStatus,
  encodeLayout,
  encodeNumbers,
  encodeTimeLeft,
  KeyStatus,
  type Layout,
  type NamedNumber,
  Operation,
  type RequestView,
  type SessionId,
  Status,
} from '../wire/index.js';
import { Scanner } from './scanner.js';
import type { Executor } from './executor.js';

const NO_BYTES: Uint8Array = new Uint8Array(0);
const DONE: Answered = { status: Status.OK, version: 0n, value: NO_BYTES, valueBytes: 0 };
const NOT_FOUND: Answered = { ...DONE, status: Status.NOT_FOUND };

export interface ExecutorInit {
  readonly partition: Partition;
  /** Milliseconds, whole and from 1 on, of a clock that does not go back. */
  readonly nowMs: () => number;
  /** 64 bits that no stranger knows. */
  readonly seed: bigint;
  readonly numbers: () => readonly NamedNumber[];
  /** What LAYOUT answers to the client of a session; undefined where clients may not read the store by themselves. */
  readonly layout?: ((session: SessionId) => Layout | undefined) | undefined;
}

/** What a client asks, as the store takes it: one after the other, without an object for each, or numbers that nobody looks at. */
class AskedOfStore implements KeyRequest {
  operation = 0;
  key = new Span();
  value = this.key;
  ttlMs = 0;
  #request: RequestView | undefined;

  by(request: RequestView): this {
    this.#request = request;
    this.operation = request.operation;
    this.key = request.keySpan;
    this.value = request.valueSpan;
    this.ttlMs = request.ttlMs;
    return this;
  }

  get delta(): bigint {
    return this.#request?.operand ?? 0n;
  }

  get version(): bigint {
    return BigInt.asUintN(64, this.delta);
  }
}

/** Has a partition carry out what clients ask. */
export class StoreExecutor implements Executor {
  readonly #partition: Partition;
  readonly #nowMs: () => number;
  readonly #numbers: () => readonly NamedNumber[];
  readonly #layoutNow: ExecutorInit['layout'];
  readonly #scanner: Scanner;
  readonly #key = new Span();
  readonly #asked = new AskedOfStore();
  readonly #others: Readonly<Partial<Record<number, (request: RequestView, roomBytes: number) => Answered>>> = {
    [Operation.NOOP]: () => DONE,
    [Operation.SCAN]: (request, roomBytes) => this.#scanner.page(request, roomBytes, this.#nowMs()),
    [Operation.EXPLAIN]: ({ key }) => this.#explain(key),
    [Operation.TTL]: ({ key }) => this.#timeLeft(key),
    [Operation.STATS]: ({ operand }, roomBytes) => this.#statistics(operand, roomBytes),
    [Operation.LAYOUT]: ({ session }) => this.#layout(session),
  };

  constructor({ partition, nowMs, seed, numbers, layout }: ExecutorInit) {
    this.#partition = partition;
    this.#nowMs = nowMs;
    this.#numbers = numbers;
    this.#layoutNow = layout;
    this.#scanner = new Scanner(partition, seed);
  }

  get maxValueBytes(): number {
    return this.#partition.maxValueBytes;
  }

  execute(request: RequestView, roomBytes: number): Answered {
    const { operation } = request;
    const other = this.#others[operation];
    if (other !== undefined) return other(request, roomBytes);
    const rules = operationRules(operation);
    const status = rules?.run?.(this.#partition, this.#asked.by(request), this.#nowMs()) ?? Status.MALFORMED;
    return this.#answer(operation, status, rules?.answersValue === true);
  }

  #answer(operation: number, status: Status, answersValue: boolean): Answered {
    const { entry } = this.#partition;
    const hasEntry = operation !== StoreOperation.DEL && (status === Status.OK || status === Status.EXISTS);
    const value = answersValue && status === Status.OK ? entry.value() : NO_BYTES;
    const version = hasEntry ? entry.version : 0n;
    return { status, version, value, valueBytes: value.length };
  }

  #explain(key: Uint8Array): Answered {
    const nowMs = this.#nowMs();
    const explanation = this.#partition.explain(this.#key.set(key), nowMs);
    const version = explanation.is === 'present' ? explanation.version : 0n;
    return answerOf(version, keyStatusOf(explanation, nowMs));
  }

  #timeLeft(key: Uint8Array): Answered {
    const nowMs = this.#nowMs();
    const explanation = this.#partition.explain(this.#key.set(key), nowMs);
    if (explanation.is !== 'present') return NOT_FOUND;
    return answerOf(explanation.version, encodeTimeLeft(leftMs(explanation.expiresAtMs, nowMs)));
  }

  #layout(session: SessionId): Answered {
    const layout = this.#layoutNow?.(session);
    return layout === undefined ? NOT_FOUND : answerOf(0n, encodeLayout(layout));
  }

  #statistics(operand: bigint, roomBytes: number): Answered {
    const { bytes, next } = encodeNumbers(this.#numbers(), Number(BigInt.asUintN(64, operand)), roomBytes);
    return answerOf(BigInt(next), bytes);
  }
}

function answerOf(version: bigint, value: Uint8Array): Answered {
  return { status: Status.OK, version, value, valueBytes: value.length };
}

/** @param expiresAtMs 0: never */
function leftMs(expiresAtMs: number, nowMs: number): number {
  return expiresAtMs === 0 ? 0 : expiresAtMs - nowMs;
}

function keyStatusOf(explanation: Explanation, nowMs: number): Uint8Array {
  switch (explanation.is) {
    case 'present':
      return encodeKeyStatus(KeyStatus.PRESENT, leftMs(explanation.expiresAtMs, nowMs));
    case 'never':
      return encodeKeyStatus(explanation.isCertain ? KeyStatus.NEVER : KeyStatus.UNKNOWN, 0);
    case 'expired':
      return encodeKeyStatus(KeyStatus.EXPIRED, nowMs - explanation.whenMs);
    case 'deleted':
      return encodeKeyStatus(KeyStatus.DELETED, nowMs - explanation.whenMs);
    case 'evicted':
      return encodeKeyStatus(
        explanation.why === 'memory' ? KeyStatus.EVICTED : KeyStatus.CROWDED_OUT,
        nowMs - explanation.whenMs,
      );
  }
}
