import { RejectReason } from '../../../device/ibta/index.js';
import { RefusedError } from '../../../api/rdmacm/index.js';
import { VerbsError } from '../../../api/verbs/index.js';
import { decodeNoMeeting, NoMeeting, UcsStatus } from '../wire/index.js';
import { UcpError } from '../worker/errors.js';

/** With what it fails to find a worker where it is said to be. */
const NOWHERE: readonly string[] = [
  'EADDRNOTAVAIL',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENODEV',
  'EPROTO',
  'ETIMEDOUT',
];

/** Whether the peer has refused since it asks itself. */
export function isCrossed(error: unknown): boolean {
  return noMeetingOf(error) === NoMeeting.CROSSED;
}

/** What `UcpWorker.connect` rejects with. */
export function connectError(error: unknown): unknown {
  return isRefusal(error)
    ? new UcpError('connect', UcsStatus.UCS_ERR_REJECTED)
    : nowhereError('connect', error, UcsStatus.UCS_ERR_TIMED_OUT);
}

/** What `UcpWorker.connectByAddress` rejects with. */
export function meetingError(error: unknown): unknown {
  const call = 'connectByAddress';
  switch (noMeetingOf(error)) {
    case NoMeeting.GONE:
      return new UcpError(call, UcsStatus.UCS_ERR_UNREACHABLE, 'the worker is no longer there');
    case NoMeeting.FULL:
      return new UcpError(call, UcsStatus.UCS_ERR_EXCEEDS_LIMIT, 'the worker has too many endpoints of others');
    default:
  }
  if (isRefusal(error)) return new UcpError(call, UcsStatus.UCS_ERR_REJECTED);
  // Its own time limit is not rdma_cm's.
  return nowhereError(call, error, UcsStatus.UCS_ERR_UNREACHABLE);
}

/** What rdma_cm says where no worker is found, with the status that UCX has for it. @param late that of a worker which says nothing */
function nowhereError(call: string, error: unknown, late: UcsStatus): unknown {
  if (!(error instanceof VerbsError) || error instanceof UcpError || !NOWHERE.includes(error.errno)) return error;
  const { errno, message } = error;
  const status = errno === 'ETIMEDOUT' ? late : UcsStatus.UCS_ERR_UNREACHABLE;
  return new UcpError(call, status, `nobody answers there (${message})`, { errno, cause: error });
}

function noMeetingOf(error: unknown): NoMeeting | undefined {
  if (!isRefusal(error)) return undefined;
  const why = decodeNoMeeting(error.privateData);
  return typeof why === 'string' ? undefined : why;
}

function isRefusal(error: unknown): error is RefusedError {
  return error instanceof RefusedError && error.reason === RejectReason.CONSUMER_DEFINED;
}
