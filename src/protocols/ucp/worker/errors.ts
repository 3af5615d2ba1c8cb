import { VerbsError } from '../../../api/verbs/index.js';
import type { ErrnoName } from '../../../device/ibta/index.js';
import { statusRules, type UcsStatus, ucsStatusName } from '../wire/index.js';

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
