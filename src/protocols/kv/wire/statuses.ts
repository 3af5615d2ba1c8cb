import { Status as StoreStatus } from '../store/index.js';

/** What became of a request: statuses of a store, and those of the protocol, from 16 on. */
export const Status = {
  ...StoreStatus,
  /** GET: the value does not fit the answer; the length of the answer is the value's. */
  ELSEWHERE: 16,
  /** The request makes no sense. */
  MALFORMED: 17,
  /** The request is for another life of the server, whose epoch the answer has; what the other one held may be gone. */
  EPOCH: 18,
  /** The server does not know the session any more. */
  SESSION: 19,
  /** The server's disk is full, so nothing can be changed; nothing was. */
  DISK_FULL: 20,
  /** The server's disk fails, so nothing can be changed. Nothing was, but the server may find what was asked for when it begins anew. */
  DISK_FAILED: 21,
  /** No answer yet: the value of the request is on its way. */
  UNDER_WAY: 22,
} as const;
export type Status = (typeof Status)[keyof typeof Status];

const KNOWN: readonly number[] = Object.values(Status);

export function isStatus(status: number): status is Status {
  return KNOWN.includes(status);
}
