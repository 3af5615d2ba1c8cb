import type { ConnParam, ConnParamReceived } from '../../../../api/rdmacm/index.js';
import { type Fields, readFields, writeFields } from './fields.js';

/** Bytes of a `struct rdma_ucm_conn_param`. */
export const CONN_PARAM_BYTES = 272;
const PRIVATE_DATA_AT = 8;

const FIELDS: Fields<
  | 'qpNum'
  | 'qkey'
  | 'privateDataLen'
  | 'srq'
  | 'responderResources'
  | 'initiatorDepth'
  | 'flowControl'
  | 'retryCount'
  | 'rnrRetryCount'
  | 'valid'
> = {
  qpNum: { at: 0, bytes: 4 },
  qkey: { at: 4, bytes: 4 },
  privateDataLen: { at: 264, bytes: 1 },
  srq: { at: 265, bytes: 1 },
  responderResources: { at: 266, bytes: 1 },
  initiatorDepth: { at: 267, bytes: 1 },
  flowControl: { at: 268, bytes: 1 },
  retryCount: { at: 269, bytes: 1 },
  rnrRetryCount: { at: 270, bytes: 1 },
  valid: { at: 271, bytes: 1 },
};

/** What a program says of a connection; undefined where it says that there is nothing to say. */
export function readConnParam(bytes: Buffer, at: number): ConnParam | undefined {
  const { valid, privateDataLen, srq, flowControl, qkey, ...others } = readFields(FIELDS, bytes, at);
  if (valid === 0) return undefined;
  const begin = at + PRIVATE_DATA_AT;
  return {
    ...others,
    // Three bits each in the messages (protocol.md 4.2); the kernel takes the lower ones of more.
    retryCount: others.retryCount & 7,
    rnrRetryCount: others.rnrRetryCount & 7,
    privateData: Uint8Array.prototype.slice.call(bytes, begin, begin + privateDataLen),
    srq: srq !== 0,
    flowControl: flowControl !== 0,
    ...(qkey === 0 ? {} : { qkey }),
  };
}

/** Writes what the peer says of a connection. */
export function writeConnParam(bytes: Buffer, at: number, param: ConnParamReceived): void {
  const { privateData, ...others } = param;
  writeFields(FIELDS, bytes, at, { ...others, privateDataLen: privateData.length });
  bytes.set(privateData, at + PRIVATE_DATA_AT);
}
