import type { ConnParam, ConnParamReceived } from '../../../api/rdmacm/index.js';
import { octets, struct, u32, u8, type ValuesOf } from '../../../device/wire/index.js';

/** `struct rdma_ucm_conn_param`. */
export const CONN_PARAM = struct({
  qpNum: u32(0),
  qkey: u32(4),
  privateData: octets(8, 256),
  privateDataLen: u8(264),
  srq: u8(265),
  responderResources: u8(266),
  initiatorDepth: u8(267),
  flowControl: u8(268),
  retryCount: u8(269),
  rnrRetryCount: u8(270),
  valid: u8(271),
});

const MAX_RETRIES = 7;

type Values = ValuesOf<typeof CONN_PARAM>;

/** What a program says of a connection; undefined where it says that there is nothing to say. */
export function connParamOf({ valid, privateDataLen, qkey: _, ...others }: Values): ConnParam | undefined {
  if (valid === 0) return undefined;
  return {
    ...others,
    // Three bits each in the messages (protocol/connections.md 4.2); the kernel takes 7 for more (`cma_connect_ib`).
    retryCount: Math.min(others.retryCount, MAX_RETRIES),
    rnrRetryCount: Math.min(others.rnrRetryCount, MAX_RETRIES),
    privateData: others.privateData.subarray(0, privateDataLen),
    srq: others.srq !== 0,
    // One bit in the messages.
    flowControl: (others.flowControl & 1) !== 0,
    // The Q_Key counts only for addresses of InfiniBand (`ucma_copy_conn_param`).
    qpNum: others.qpNum & 0xffffff,
  };
}

/** What the peer says of a connection, as a program gets it. */
export function connParamFor(param: ConnParamReceived): Values {
  return {
    ...param,
    privateDataLen: param.privateData.length,
    srq: Number(param.srq),
    flowControl: Number(param.flowControl),
    qkey: 0,
    valid: 0,
  };
}
