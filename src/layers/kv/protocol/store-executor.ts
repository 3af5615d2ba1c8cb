import { Operation as StoreOperation, operationRules, type Partition, Span } from '../store/index.js';
import { type Answered, Operation, type RequestView, Status } from '../wire/index.js';
import type { Executor } from './server-machine.js';

const NO_BYTES: Uint8Array = new Uint8Array(0);

/** Has a partition carry out what clients ask. */
export class StoreExecutor implements Executor {
  readonly #key = new Span();
  readonly #value = new Span();

  /** @param nowMs milliseconds, whole and from 1 on, of a clock that does not go back */
  constructor(
    private readonly partition: Partition,
    private readonly nowMs: () => number,
  ) {}

  execute(request: RequestView): Answered {
    const { operation, ttlMs, operand } = request;
    if (operation === Operation.NOOP) return { status: Status.OK, version: 0n, value: NO_BYTES, valueBytes: 0 };
    const key = this.#key.set(request.key);
    const value = this.#value.set(request.value);
    const version = BigInt.asUintN(64, operand);
    const rules = operationRules(operation);
    const asked = { operation, key, value, ttlMs, version, delta: operand };
    const status = rules?.run?.(this.partition, asked, this.nowMs()) ?? Status.MALFORMED;
    return this.#answer(operation, status, rules?.answersValue === true);
  }

  #answer(operation: number, status: Status, answersValue: boolean): Answered {
    const hasEntry = operation !== StoreOperation.DEL && (status === Status.OK || status === Status.EXISTS);
    const value = answersValue && status === Status.OK ? this.partition.entry.value() : NO_BYTES;
    const version = hasEntry ? this.partition.entry.version : 0n;
    return { status, version, value, valueBytes: value.length };
  }
}
