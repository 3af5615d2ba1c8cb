import { type Outcome, Unsettled } from '../../core/index.js';
import type { Outstanding } from '../protocol/index.js';
import { statusRules } from '../store/index.js';
import { type Answered, type Asked, Status } from '../wire/index.js';
import { KvError, tooLate } from '../errors.js';
import type { SharedBuffer } from '../transport/value-memory.js';

const NO_BYTES: Uint8Array = new Uint8Array(0);

/** What an answer means to a program; where it means nothing the call fails with what the status says. */
export type ResponseDecoder<T> = (answer: Answered) => T | typeof FAILURE;
export const FAILURE: unique symbol = Symbol('failure');

export interface AnyCall extends Outstanding {
  readonly call: string;
  readonly asked: Asked;
  readonly isSettled: boolean;
  /** How often {@link name} was called. */
  readonly timesNamed: number;
  /** Has the request name memory: with its value, or where the value is to be written to. It is the call's until {@link takeBack}. */
  name(memory: SharedBuffer, length: number): void;
  /** No request names memory any more. Idempotent. */
  takeBack(): void;
  settle(answer: Answered): void;
  reject(error: unknown): void;
}

export interface CancelHandler {
  giveUp(call: AnyCall): void;
}

/** One call of a program: a request, until it is answered or given up. */
export class Call<T> extends Unsettled<T> implements AnyCall {
  slot = -1;
  place = 0;
  sequence = 0;
  /** -1 until it is sent. */
  sentUs = -1;
  dueUs = 0;
  repeats = 0;
  timesNamed = 0;
  #memory: SharedBuffer | undefined;

  constructor(
    call: string,
    public asked: Asked,
    private readonly decode: ResponseDecoder<T>,
    private readonly desk: CancelHandler,
    outcome: Outcome<T>,
  ) {
    super(call, outcome);
  }

  get namesMemory(): boolean {
    return this.#memory !== undefined;
  }

  name(memory: SharedBuffer, length: number): void {
    this.takeBack();
    this.timesNamed += 1;
    this.#memory = memory;
    this.asked = { ...this.asked, value: NO_BYTES, remote: { addr: memory.iova, rkey: memory.rkey, length } };
  }

  takeBack(): void {
    if (this.#memory === undefined) return;
    this.#memory.release();
    this.#memory = undefined;
    this.asked = { ...this.asked, remote: undefined };
  }

  /** The answer has come: what of it is kept has to be copied. */
  settle(answer: Answered): void {
    const whole = this.#whole(answer);
    const result = whole === undefined ? FAILURE : this.decode(whole);
    if (result !== FAILURE) this.resolve(result);
    else this.reject(this.#refusal(answer));
  }

  /** The answer with the value that was written elsewhere; undefined where it cannot have been. */
  #whole(answer: Answered): Answered | undefined {
    const { value, valueBytes, status } = answer;
    if (value.length === valueBytes || status !== Status.OK) return answer;
    if (valueBytes > (this.asked.remote?.length ?? 0) || this.#memory === undefined) return undefined;
    const { version } = answer;
    return { status, version, value: this.#memory.bytes.subarray(0, valueBytes), valueBytes };
  }

  /** The program has given up, of which the call was not told to hear by itself. Idempotent. */
  giveUp(reason: unknown): void {
    if (this.isSettled) return;
    this.onGivenUp();
    this.reject(reason);
  }

  protected onGivenUp(): void {
    this.desk.giveUp(this);
  }

  protected override lateness(timeoutMs: number): KvError {
    return tooLate(this.call, timeoutMs, this.sentUs < 0 ? 'not sent' : 'unknown');
  }

  #refusal({ status }: Answered): KvError {
    if (status === Status.DISK_FULL)
      return new KvError(this.call, 'ENOSPC', "the server's disk is full, so nothing can be changed", 'refused');
    if (status === Status.DISK_FAILED)
      return new KvError(this.call, 'EIO', "the server's disk fails, so nothing can be changed", 'unknown');
    const rules = statusRules(status);
    if (rules?.errno !== undefined)
      return new KvError(this.call, rules.errno, rules.text, 'refused', { advice: rules.advice });
    const what = status === Status.OK ? 'what makes no sense' : `with status ${status}`;
    return new KvError(this.call, 'EPROTO', `the server answers ${what}`, 'unknown');
  }
}
