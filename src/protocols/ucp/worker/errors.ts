import { VerbsError } from '../../../api/verbs/index.js';
import type { ErrnoName } from '../../../device/ibta/index.js';
import { statusRules, UcsStatus, ucsStatusName } from '../wire/index.js';
import type { PeerProblem } from '../protocol/index.js';
import { Pending } from '../../core/index.js';

/** What a call gives that has failed before it began anything. */
// eslint-disable-next-line @typescript-eslint/require-await -- what it throws is what the promise rejects with
export async function rejected(error: unknown): Promise<never> {
  throw error;
}

/** What a peer says makes no sense. */
export function lie(text: string): PeerProblem {
  return { status: UcsStatus.UCS_ERR_IO_ERROR, text };
}

/** A call of UCP has failed, with a status of UCX. */
export class UcpError extends VerbsError {
  override readonly name = 'UcpError';

  constructor(
    call: string,
    readonly status: UcsStatus,
    text?: string,
    { errno, cause }: { errno?: ErrnoName; cause?: unknown } = {},
  ) {
    const name = ucsStatusName(status) ?? 'UCS_ERR_IO_ERROR';
    const rules = statusRules(name);
    const problem = { errno: errno ?? rules.errno ?? 'EIO', message: `${text ?? rules.text} (${name})`, advice: '' };
    super(call, problem, cause === undefined ? undefined : { cause });
  }
}

/** What a program waits for of UCP, with a status of UCX where its time is over. */
export abstract class UcpPending<T> extends Pending<T> {
  protected override lateness(timeoutMs: number): UcpError {
    return new UcpError(this.call, UcsStatus.UCS_ERR_TIMED_OUT, `not done within ${timeoutMs} ms`);
  }
}
