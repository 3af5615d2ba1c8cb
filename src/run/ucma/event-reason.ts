import { cmEventStr, type FullAddress, rejectReasonStr } from '../../api/rdmacm/index.js';
import { CmEventType, Errno, RejectReason } from '../../device/ibta/index.js';
import type { Context } from '../../api/verbs/index.js';

/** What an event in error is looked at with. */
export interface EventInError {
  readonly event: CmEventType;
  readonly status: number;
  readonly to: FullAddress | undefined;
}

/** What is known of the machine that an event came on. */
export interface Surroundings {
  readonly contexts: readonly Context[];
  readonly listening: () => readonly FullAddress[];
}

const LOOPBACK = /^(127\.|::1$)/;

function show(address: FullAddress): string {
  return address.host.includes(':') ? `[${address.host}]:${address.port}` : `${address.host}:${address.port}`;
}

/** Those events of which people must be told more than their number. */
const ERRORS: readonly CmEventType[] = [
  CmEventType.ADDR_ERROR,
  CmEventType.ROUTE_ERROR,
  CmEventType.CONNECT_ERROR,
  CmEventType.UNREACHABLE,
  CmEventType.REJECTED,
  CmEventType.DEVICE_REMOVAL,
  CmEventType.MULTICAST_ERROR,
];

function unreachable(status: number, to: FullAddress | undefined, { contexts }: Surroundings): string {
  const devices = contexts.map(({ address }) => address);
  const reaches = `the devices here have ${devices.join(', ')}`;
  if (status !== -Errno.ENODEV) return `${reaches}. Is ${to?.host ?? 'the address'} up, and is there a route to it?`;
  const isFar = to !== undefined && !LOOPBACK.test(to.host) && devices.every((device) => LOOPBACK.test(device));
  const why = isFar ? 'which reaches this machine alone' : 'and none of them reaches it';
  return `${reaches}, ${why}. Give verbena run an --addr of the network that ${to?.host ?? 'the peer'} is in`;
}

function rejection(status: number, { listening }: Surroundings): string {
  const words = rejectReasonStr(status);
  if (status === RejectReason.CONSUMER_DEFINED)
    return `${words} (rdma_reject, or an identifier that it destroyed). Its private data may say why`;
  if (status !== RejectReason.INVALID_SERVICE_ID) return words;
  const known = listening().map(show);
  return known.length === 0
    ? `${words}. No program of this launcher listens; is the server up?`
    : `${words}. Programs of this launcher listen at ${known.slice(0, 8).join(', ')}`;
}

function reason({ event, status, to }: EventInError, surroundings: Surroundings): string {
  switch (event) {
    case CmEventType.REJECTED:
      return rejection(status, surroundings);
    case CmEventType.UNREACHABLE:
      return 'the peer did not answer. Is a device up at that address, and does its program take its events?';
    case CmEventType.DEVICE_REMOVAL:
      return 'the device is gone. The launcher is about to end, or has lost its NIC';
    default:
      return unreachable(status, to, surroundings);
  }
}

/** What an event in error says, in a sentence; undefined for any other. */
export function eventReason(told: EventInError, surroundings: Surroundings): { what: string; why: string } | undefined {
  if (!ERRORS.includes(told.event)) return undefined;
  const to = told.to === undefined ? '' : `, to ${show(told.to)}`;
  return { what: `${cmEventStr(told.event)}, status ${told.status}${to}`, why: reason(told, surroundings) };
}
