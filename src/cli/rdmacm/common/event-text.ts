import {
  type CmEvent,
  cmEventStr,
  CmEventType,
  RejectReason,
  rejectReasonStr,
  SidrStatus,
} from '../../../entry/index.js';
import { isRefused, otherNics } from '../../kit/errors.js';

const NOT_LISTENING = 'nothing listens at that port there; start the server first, or give both sides the same port';
const TURNED_DOWN = 'the program there turned it down; it may have all the connections that it was told to take';
const NO_ANSWER =
  'nothing answers there; check that an RDMA device has that address, and that no firewall stops UDP port 4791';
const BROKEN = 'the connection broke while it was being made; the peer may have ended';

const REFUSALS: ReadonlyMap<number, string> = new Map([
  [RejectReason.INVALID_SERVICE_ID, NOT_LISTENING],
  [RejectReason.CONSUMER_DEFINED, TURNED_DOWN],
]);

const SIDR_REFUSALS: ReadonlyMap<number, string> = new Map([
  [SidrStatus.UNSUPPORTED, NOT_LISTENING],
  [SidrStatus.REJECT, TURNED_DOWN],
]);

const MEANINGS = new Map<CmEventType, (status: number) => string>([
  [CmEventType.ADDR_ERROR, () => "this side's device cannot reach that address; check it, and --addr"],
  [CmEventType.ROUTE_ERROR, () => 'there is no route to that address; check it, and --addr'],
  [CmEventType.CONNECT_ERROR, () => BROKEN],
  // Of datagrams the status is what the peer answered, of connections an errno.
  [CmEventType.UNREACHABLE, (status) => SIDR_REFUSALS.get(status) ?? NO_ANSWER],
  [CmEventType.REJECTED, (status) => REFUSALS.get(status) ?? rejectReasonStr(status)],
  [CmEventType.DEVICE_REMOVAL, () => 'the device is gone'],
]);

/** What the tools are told when no connection comes about, or when their device goes. */
export function isFailure({ event }: Pick<CmEvent, 'event'>): boolean {
  return MEANINGS.has(event);
}

/** What a failure means and what to do next, as a sentence; the event's name and number the tools print by themselves. */
export function adviceOn({ event, status, error }: Pick<CmEvent, 'event' | 'status' | 'error'>): string {
  if (error !== undefined) return isRefused(error) ? `${error.message}${otherNics()}` : error.message;
  const meaning = MEANINGS.get(event)?.(status) ?? cmEventStr(event);
  return `${meaning.charAt(0).toUpperCase()}${meaning.slice(1)}.${meaning === NOT_LISTENING ? otherNics() : ''}`;
}
