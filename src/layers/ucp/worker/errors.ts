import { VerbsError } from '../../../api/verbs/index.js';
import { statusRules, type UcsStatus, ucsStatusName } from '../wire/index.js';

/** A call of UCP has failed, with a status of UCX. */
export class UcpError extends VerbsError {
  override readonly name = 'UcpError';

  constructor(
    call: string,
    readonly status: UcsStatus,
    text?: string,
  ) {
    const name = ucsStatusName(status) ?? 'UCS_ERR_IO_ERROR';
    const { errno = 'EIO', text: usual } = statusRules(name);
    super(call, { errno, message: `${text ?? usual} (${name})`, advice: '' });
  }
}
