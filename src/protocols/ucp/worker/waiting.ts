import { Pending } from '../../core/index.js';
import { UcsStatus } from '../wire/index.js';
import { UcpError } from './errors.js';

/** What a program waits for of UCP, with a status of UCX where its time is over. */
export abstract class UcpPending<T> extends Pending<T> {
  protected override lateness(timeoutMs: number): UcpError {
    return new UcpError(this.call, UcsStatus.UCS_ERR_TIMED_OUT, `not done within ${timeoutMs} ms`);
  }
}
