import { AccessFlags, type QpAttr, QpState, QpType } from '../../src/device/ibta/index.js';
import { type ConnectOptions, initAttr, type Peer, rtrAttr, rtsAttr } from '../../src/device/nic/test/qp.js';
import { ucRtrAttr } from '../../src/device/nic/test/uc.js';
import { HEADER_BYTES, QKEY } from '../../src/device/nic/test/ud.js';

/** A type of queue pair, and whether it takes receive requests from a queue that it shares. */
export type Transport = 'RC' | 'RC+SRQ' | 'XRC' | 'UC' | 'UC+SRQ' | 'UD' | 'UD+SRQ';

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
  | 'BIND'
  | 'LOCAL_INV'
  | 'MISDIRECTED';

/** Operations on memory that a queue pair may forbid its peer. */
export type Forbidden = 'WRITE' | 'READ' | 'ATOMIC';

export interface TransportRules {
  readonly type: QpType;
  /** The type of the QP that takes requests, where it is another than the one that makes them. */
  readonly targetType?: QpType;
  /** Whether the QPs of a host share a receive queue. */
  readonly shared: boolean;
  /** Whether every request arrives, once and in order, or is told to have failed. */
  readonly reliable: boolean;
  /** Bytes that come before the payload in a receive buffer. */
  readonly headerBytes: number;
  /** A message is one packet, never longer than the port's MTU. */
  readonly datagrams: boolean;
  /** Receive requests for each that a reliable connection has: nobody waits for one to be posted. */
  readonly receiveFactor: number;
  readonly kinds: readonly Kind[];
  init(options: ConnectOptions): Partial<QpAttr>;
  rtr(peer: Peer, options: ConnectOptions): Partial<QpAttr>;
  rts(options: ConnectOptions): Partial<QpAttr>;
  readonly targetRtr?: (peer: Peer, options: ConnectOptions) => Partial<QpAttr>;
}

function weighted(weights: Partial<Record<Kind, number>>): readonly Kind[] {
  // The keys of a literal are those of its type.
  return (Object.keys(weights) as Kind[]).flatMap((kind) => new Array<Kind>(weights[kind] ?? 0).fill(kind));
}

const unreliableRts = ({ sqPsn = 0 }: ConnectOptions): Partial<QpAttr> => ({ qpState: QpState.RTS, sqPsn });

const services: Readonly<Record<'RC' | 'UC' | 'UD', TransportRules>> = {
  RC: {
    shared: false,
    type: QpType.RC,
    reliable: true,
    headerBytes: 0,
    datagrams: false,
    receiveFactor: 1,
    kinds: weighted({
      SEND: 6,
      SEND_WITH_IMM: 2,
      SEND_WITH_INV: 2,
      RDMA_WRITE: 6,
      RDMA_WRITE_WITH_IMM: 2,
      RDMA_READ: 6,
      FETCH_ADD: 2,
      CMP_AND_SWP: 2,
      SHARED_ADD: 2,
      BIND: 1,
      LOCAL_INV: 1,
    }),
    init: initAttr,
    rtr: rtrAttr,
    rts: rtsAttr,
  },
  UC: {
    shared: false,
    type: QpType.UC,
    reliable: false,
    headerBytes: 0,
    datagrams: false,
    receiveFactor: 4,
    kinds: weighted({
      SEND: 6,
      SEND_WITH_IMM: 3,
      RDMA_WRITE: 6,
      RDMA_WRITE_WITH_IMM: 4,
      BIND: 1,
      LOCAL_INV: 1,
      MISDIRECTED: 1,
    }),
    init: initAttr,
    rtr: ucRtrAttr,
    rts: unreliableRts,
  },
  UD: {
    shared: false,
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

export const transports: Readonly<Record<Transport, TransportRules>> = {
  ...services,
  'RC+SRQ': { ...services.RC, shared: true },
  XRC: {
    ...services.RC,
    type: QpType.XRC_SEND,
    targetType: QpType.XRC_RECV,
    // A window that the one QP binds is not open to the peer of the other.
    kinds: services.RC.kinds.filter((kind) => kind !== 'BIND' && kind !== 'LOCAL_INV'),
    shared: true,
    // The half of a connection that RC and UC have in common, too, is all that one which takes no requests has.
    rtr: ucRtrAttr,
    targetRtr: rtrAttr,
  },
  'UC+SRQ': { ...services.UC, shared: true },
  'UD+SRQ': { ...services.UD, shared: true },
};

/** As often as they are to come in runs of several transports. */
export const TRANSPORTS: readonly Transport[] = [
  ...new Array<Transport>(3).fill('UC'),
  ...new Array<Transport>(2).fill('UD'),
  'UC+SRQ',
  'UD+SRQ',
  'RC',
  ...new Array<Transport>(2).fill('RC+SRQ'),
  ...new Array<Transport>(2).fill('XRC'),
];

/** Access flag of a queue pair that allows each, and requests that need it. */
export const permissions: Readonly<Record<Forbidden, { readonly access: number; readonly kinds: readonly Kind[] }>> = {
  WRITE: { access: AccessFlags.REMOTE_WRITE, kinds: ['RDMA_WRITE', 'RDMA_WRITE_WITH_IMM'] },
  READ: { access: AccessFlags.REMOTE_READ, kinds: ['RDMA_READ'] },
  ATOMIC: { access: AccessFlags.REMOTE_ATOMIC, kinds: ['FETCH_ADD', 'CMP_AND_SWP', 'SHARED_ADD'] },
};
