import type { ErrnoName } from '../../../device/ibta/index.js';

/** What became of a call or a request, by the names and numbers of UCX: `ucs_status_t` of ucs/type/status.h. */
export const UcsStatus = {
  UCS_OK: 0,
  UCS_INPROGRESS: 1,
  UCS_ERR_NO_MESSAGE: -1,
  UCS_ERR_NO_RESOURCE: -2,
  UCS_ERR_IO_ERROR: -3,
  UCS_ERR_NO_MEMORY: -4,
  UCS_ERR_INVALID_PARAM: -5,
  UCS_ERR_UNREACHABLE: -6,
  UCS_ERR_INVALID_ADDR: -7,
  UCS_ERR_NOT_IMPLEMENTED: -8,
  UCS_ERR_MESSAGE_TRUNCATED: -9,
  UCS_ERR_NO_PROGRESS: -10,
  UCS_ERR_BUFFER_TOO_SMALL: -11,
  UCS_ERR_NO_ELEM: -12,
  UCS_ERR_SOME_CONNECTS_FAILED: -13,
  UCS_ERR_NO_DEVICE: -14,
  UCS_ERR_BUSY: -15,
  UCS_ERR_CANCELED: -16,
  UCS_ERR_SHMEM_SEGMENT: -17,
  UCS_ERR_ALREADY_EXISTS: -18,
  UCS_ERR_OUT_OF_RANGE: -19,
  UCS_ERR_TIMED_OUT: -20,
  UCS_ERR_EXCEEDS_LIMIT: -21,
  UCS_ERR_UNSUPPORTED: -22,
  UCS_ERR_REJECTED: -23,
  UCS_ERR_NOT_CONNECTED: -24,
  UCS_ERR_CONNECTION_RESET: -25,
  UCS_ERR_ENDPOINT_TIMEOUT: -80,
} as const;
export type UcsStatusName = keyof typeof UcsStatus;
export type UcsStatus = (typeof UcsStatus)[UcsStatusName];

export interface StatusRules {
  readonly text: string;
  /** What the system calls the same; undefined where it has no name for it. */
  readonly errno?: ErrnoName;
}

const RULES: Readonly<Record<UcsStatusName, StatusRules>> = {
  UCS_OK: { text: 'success' },
  UCS_INPROGRESS: { text: 'still under way', errno: 'EINPROGRESS' },
  UCS_ERR_NO_MESSAGE: { text: 'there is no message', errno: 'EAGAIN' },
  UCS_ERR_NO_RESOURCE: { text: 'there is no room for it now', errno: 'EAGAIN' },
  UCS_ERR_IO_ERROR: { text: 'input or output has failed', errno: 'EIO' },
  UCS_ERR_NO_MEMORY: { text: 'out of memory', errno: 'ENOMEM' },
  UCS_ERR_INVALID_PARAM: { text: 'invalid parameter', errno: 'EINVAL' },
  UCS_ERR_UNREACHABLE: { text: 'the destination cannot be reached', errno: 'EHOSTUNREACH' },
  UCS_ERR_INVALID_ADDR: { text: 'invalid address', errno: 'EADDRNOTAVAIL' },
  UCS_ERR_NOT_IMPLEMENTED: { text: 'not implemented', errno: 'ENOSYS' },
  UCS_ERR_MESSAGE_TRUNCATED: { text: 'the message is longer than the buffer', errno: 'EMSGSIZE' },
  UCS_ERR_NO_PROGRESS: { text: 'nothing has happened' },
  UCS_ERR_BUFFER_TOO_SMALL: { text: 'the buffer is too small', errno: 'ENOBUFS' },
  UCS_ERR_NO_ELEM: { text: 'there is no such element', errno: 'ENOENT' },
  UCS_ERR_SOME_CONNECTS_FAILED: { text: 'some connections could not be made' },
  UCS_ERR_NO_DEVICE: { text: 'there is no such device', errno: 'ENODEV' },
  UCS_ERR_BUSY: { text: 'it is in use', errno: 'EBUSY' },
  UCS_ERR_CANCELED: { text: 'canceled', errno: 'ECANCELED' },
  UCS_ERR_SHMEM_SEGMENT: { text: 'shared memory has failed' },
  UCS_ERR_ALREADY_EXISTS: { text: 'it is there already', errno: 'EEXIST' },
  UCS_ERR_OUT_OF_RANGE: { text: 'out of range' },
  UCS_ERR_TIMED_OUT: { text: 'not done in time', errno: 'ETIMEDOUT' },
  UCS_ERR_EXCEEDS_LIMIT: { text: 'more than is allowed' },
  UCS_ERR_UNSUPPORTED: { text: 'not supported', errno: 'EOPNOTSUPP' },
  UCS_ERR_REJECTED: { text: 'the peer has refused the connection', errno: 'ECONNREFUSED' },
  UCS_ERR_NOT_CONNECTED: { text: 'not connected', errno: 'ENOTCONN' },
  UCS_ERR_CONNECTION_RESET: { text: 'the peer has ended the connection', errno: 'ECONNRESET' },
  UCS_ERR_ENDPOINT_TIMEOUT: { text: 'the peer does not answer', errno: 'ETIMEDOUT' },
};

// The keys of an object of ours are those that its type names.
const NAMES = Object.keys(UcsStatus) as readonly UcsStatusName[];
const NAME_OF: ReadonlyMap<number, UcsStatusName> = new Map(NAMES.map((name) => [UcsStatus[name], name]));

export function isUcsStatus(value: number): value is UcsStatus {
  return NAME_OF.has(value);
}

/** The name of a number; undefined for one that is no status. */
export function ucsStatusName(value: number): UcsStatusName | undefined {
  return NAME_OF.get(value);
}

export function statusRules(name: UcsStatusName): StatusRules {
  return RULES[name];
}
