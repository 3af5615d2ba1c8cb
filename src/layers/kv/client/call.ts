import { Pending } from '../../engine/index.js';
import type { Outstanding } from '../protocol/index.js';
import { statusRules } from '../store/index.js';
import { type Answered, type Asked, Status } from '../wire/index.js';
import { KvError } from '../errors.js';

/** What an answer means to a program; where it means nothing the call fails with what the status says. */
export type Meaning<T> = (answer: Answered) => T | typeof FAILURE;
export const FAILURE: unique symbol = Symbol('failure');

/** A call, whatever it gives. */
export interface AnyCall extends Outstanding {
  readonly call: string;
  readonly asked: Asked;
  settle(answer: Answered): void;
  reject(error: unknown): void;
}

/** Who sends calls. */
export interface Desk {
  giveUp(call: AnyCall): void;
}

/** One call of a program: a request, until it is answered or given up. */
export class Call<T> extends Pending<T> implements AnyCall {
  slot = -1;
  sequence = 0;
  /** -1 until it is sent. */
  sentUs = -1;
  dueUs = 0;
  repeats = 0;

  constructor(
    call: string,
    readonly asked: Asked,
    private readonly meaning: Meaning<T>,
    private readonly desk: Desk,
  ) {
    super(call);
  }

  /** The answer has come: what of it is kept has to be copied. */
  settle(answer: Answered): void {
    const result = this.meaning(answer);
    if (result !== FAILURE) this.resolve(result);
    else this.reject(this.#refusal(answer));
  }

  protected onGivenUp(): void {
    this.desk.giveUp(this);
  }

  #refusal({ status, valueBytes }: Answered): KvError {
    if (status === Status.ELSEWHERE) {
      const message = `the value has ${valueBytes} bytes, and does not fit an answer`;
      return new KvError(this.call, 'EMSGSIZE', message, 'refused');
    }
    if (status === Status.DISK_FULL)
      return new KvError(this.call, 'ENOSPC', "the server's disk is full, so nothing can be changed", 'refused');
    if (status === Status.DISK_FAILED)
      return new KvError(this.call, 'EIO', "the server's disk fails, so nothing can be changed", 'unknown');
    const rules = statusRules(status);
    if (rules?.errno !== undefined) return new KvError(this.call, rules.errno, rules.text, 'refused');
    return new KvError(this.call, 'EPROTO', `the server answers with status ${status}`, 'unknown');
  }
}
