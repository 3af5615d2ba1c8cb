import { viewOf } from '../../../device/wire/index.js';
import { AmId, type AtomicOp, Heads, operandsOf, UcsStatus } from '../wire/index.js';
import type { Answered, Answers } from './answers.js';
import { sendMessage, RmaOperation, type RmaWay } from './operation.js';
import type { RemoteBytes } from './memory.js';

export interface AtomicOrder {
  readonly op: AtomicOp;
  readonly bytes: 4 | 8;
  readonly value: bigint;
  /** CSWAP: what must be there. */
  readonly compare: bigint;
  readonly isFetching: boolean;
}

/** Gives what was there; 0 where that was not asked. */
abstract class Atomic extends RmaOperation<bigint> {
  protected before = 0n;

  constructor(
    way: RmaWay,
    protected readonly order: AtomicOrder,
    protected readonly word: RemoteBytes,
  ) {
    super('atomic', way);
  }

  protected override onHandedOver(): void {
    if (!this.order.isFetching) this.resolve(0n);
  }

  protected override onDone(): void {
    this.resolve(this.before);
  }
}

export class DeviceAtomic extends Atomic {
  protected override send(): UcsStatus {
    const { op, bytes, value, compare } = this.order;
    const { address, rkey } = this.word;
    const onValue = (before: bigint): void => void (this.before = before);
    const request = { op, bytes, value, compare, address, rkey, onValue };
    return this.began(this.way.parts.transport.atomic(request, this));
  }
}

export class MessageAtomic extends Atomic implements Answered {
  isAnswered = false;

  constructor(
    way: RmaWay,
    order: AtomicOrder,
    word: RemoteBytes,
    private readonly answers: Answers,
  ) {
    super(way, order, word);
  }

  onData(payload: Uint8Array): string | undefined {
    const { bytes } = this.order;
    if (payload.length !== bytes) return `a word of ${bytes} bytes held ${payload.length}`;
    this.before = readWord(payload);
    this.isAnswered = true;
    return undefined;
  }

  protected override send(): UcsStatus {
    const { answers, word } = this;
    const { op: opcode, bytes: length, isFetching } = this.order;
    if (answers.isFull) return UcsStatus.UCS_ERR_BUSY;
    const requestId = isFetching ? answers.nextRequestId : 0;
    const head = { address: word.messageAddress(0), epId: answers.epId, requestId, length, opcode };
    const { transport } = this.way.parts;
    const status = sendMessage(transport, AmId.ATOMIC_REQ, Heads.ATOMIC_REQ.encode(head), operandsIn(this.order));
    if (status !== UcsStatus.UCS_OK) return status;
    if (!isFetching) {
      answers.expectCompletion(this.epoch);
      return UcsStatus.UCS_OK;
    }
    answers.expect(requestId, this);
    return this.began(UcsStatus.UCS_INPROGRESS);
  }
}

/** The operands of a message, as UCX has them: what must be there comes first. */
function operandsIn({ op, bytes, value, compare }: AtomicOrder): Uint8Array {
  const operands = operandsOf(op) === 2 ? [compare, value] : [value];
  const into = new Uint8Array(bytes * operands.length);
  for (const [i, operand] of operands.entries()) writeWord(into.subarray(i * bytes, (i + 1) * bytes), operand);
  return into;
}

/** A word of 4 or 8 bytes. */
export function readWord(bytes: Uint8Array): bigint {
  const view = viewOf(bytes);
  return bytes.length === 4 ? BigInt(view.getUint32(0, true)) : view.getBigUint64(0, true);
}

/** The low bits of a value, into a word of 4 or 8 bytes. */
export function writeWord(into: Uint8Array, value: bigint): void {
  const view = viewOf(into);
  if (into.length === 4) view.setUint32(0, Number(BigInt.asUintN(32, value)), true);
  else view.setBigUint64(0, BigInt.asUintN(64, value), true);
}
