import { type QpAttr, QpState, QpType } from '../../src/spec/index.js';
import { type ConnectOptions, initAttr, type Peer, rtrAttr, rtsAttr } from '../nic/qp.js';
import { ucRtrAttr } from '../nic/uc.js';
import { HEADER_BYTES, QKEY } from '../nic/ud.js';

export type Transport = 'RC' | 'UC' | 'UD';

export type Kind =
  | 'SEND'
  | 'SEND_WITH_IMM'
  | 'SEND_WITH_INV'
  | 'RDMA_WRITE'
  | 'RDMA_WRITE_WITH_IMM'
  | 'RDMA_READ'
  | 'FETCH_ADD'
  | 'CMP_AND_SWP'
  | 'SHARED_ADD'
  | 'MISDIRECTED';

/** What is true of all connections of one transport. */
export interface TransportRules {
  readonly type: QpType;
  /** Whether every request arrives, once and in order, or is told to have failed. */
  readonly reliable: boolean;
  /** Bytes that come before the payload in a receive buffer. */
  readonly headerBytes: number;
  /** A message is one packet, never longer than the port's MTU. */
  readonly datagrams: boolean;
  /** Receive requests for each that a reliable connection has: nobody waits for one to be posted. */
  readonly receiveFactor: number;
  /** As often as they are to come. */
  readonly kinds: readonly Kind[];
  init(options: ConnectOptions): Partial<QpAttr>;
  rtr(peer: Peer, options: ConnectOptions): Partial<QpAttr>;
  rts(options: ConnectOptions): Partial<QpAttr>;
}

function weighted(weights: Partial<Record<Kind, number>>): readonly Kind[] {
  // The keys of a literal are those of its type.
  return (Object.keys(weights) as Kind[]).flatMap((kind) => new Array<Kind>(weights[kind] ?? 0).fill(kind));
}

const unreliableRts = ({ sqPsn = 0 }: ConnectOptions): Partial<QpAttr> => ({ qpState: QpState.RTS, sqPsn });

export const transports: Readonly<Record<Transport, TransportRules>> = {
  RC: {
    type: QpType.RC,
    reliable: true,
    headerBytes: 0,
    datagrams: false,
    receiveFactor: 1,
    kinds: weighted({
      SEND: 6,
      SEND_WITH_IMM: 2,
      SEND_WITH_INV: 1,
      RDMA_WRITE: 6,
      RDMA_WRITE_WITH_IMM: 2,
      RDMA_READ: 6,
      FETCH_ADD: 2,
      CMP_AND_SWP: 2,
      SHARED_ADD: 2,
    }),
    init: initAttr,
    rtr: rtrAttr,
    rts: rtsAttr,
  },
  UC: {
    type: QpType.UC,
    reliable: false,
    headerBytes: 0,
    datagrams: false,
    receiveFactor: 4,
    kinds: weighted({ SEND: 6, SEND_WITH_IMM: 3, RDMA_WRITE: 6, RDMA_WRITE_WITH_IMM: 4, MISDIRECTED: 1 }),
    init: initAttr,
    rtr: ucRtrAttr,
    rts: unreliableRts,
  },
  UD: {
    type: QpType.UD,
    reliable: false,
    headerBytes: HEADER_BYTES,
    datagrams: true,
    receiveFactor: 4,
    kinds: weighted({ SEND: 6, SEND_WITH_IMM: 3, MISDIRECTED: 1 }),
    init: () => ({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qkey: QKEY }),
    rtr: () => ({ qpState: QpState.RTR }),
    rts: unreliableRts,
  },
};

/** As often as they are to come in runs of several transports. */
export const TRANSPORTS: readonly Transport[] = ['RC', 'RC', 'UC', 'UC', 'UD'];
