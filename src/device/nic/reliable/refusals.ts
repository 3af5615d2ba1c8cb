import { Syndrome, WcStatus } from '../../ibta/index.js';
import { NakCode } from '../../wire/index.js';
import type { QpContext } from '../queue-pairs/qp-context.js';
import { SendWqe } from '../rings/layout.js';

/** How a request ends that the responder refuses. */
interface Refusal {
  readonly status: WcStatus;
  readonly syndrome: Syndrome;
}

/** By the code of the NAK (protocol/reliable.md 2.10). */
const refusals: Readonly<Partial<Record<number, Refusal>>> = {
  [NakCode.REMOTE_ACCESS_ERROR]: { status: WcStatus.REM_ACCESS_ERR, syndrome: Syndrome.REMOTE_ACCESS },
  [NakCode.INVALID_REQUEST]: { status: WcStatus.REM_INV_REQ_ERR, syndrome: Syndrome.REMOTE_INVALID_REQUEST },
};
const operationalError: Refusal = { status: WcStatus.REM_OP_ERR, syndrome: Syndrome.REMOTE_OPERATIONAL };

export function refusalOf(code: number): Refusal {
  return refusals[code] ?? operationalError;
}

/** Fills in the numbers that belong to the refusal of the oldest request of a QP, which has `lengthBytes`. */
export function describeRefusal(
  detail: Int32Array,
  syndrome: Syndrome,
  { sq, destQpn }: QpContext,
  lengthBytes: number,
  psn: number,
  msn: number,
): void {
  const { words } = sq;
  const entry = sq.entry(sq.head);
  detail.fill(0);
  detail[0] = psn;
  if (syndrome === Syndrome.REMOTE_ACCESS) {
    detail[1] = words[entry + SendWqe.RKEY];
    detail[2] = words[entry + SendWqe.REMOTE_ADDR_HI];
    detail[3] = words[entry + SendWqe.REMOTE_ADDR_LO];
    detail[4] = lengthBytes;
    detail[5] = destQpn;
  } else if (syndrome === Syndrome.REMOTE_INVALID_REQUEST)
    detail.set([words[entry + SendWqe.CONTROL] & 0xff, lengthBytes, destQpn], 1);
  else detail.set([destQpn, msn], 1);
}
