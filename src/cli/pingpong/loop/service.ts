import { type Mtu, type QpModifyAttr, QpType } from '../../../entry/index.js';
import type { Destination } from '../exchange/destination.js';

/** How a ping-pong reaches its peer, in addition to the peer's destination. */
export interface Path {
  readonly pathMtu: Mtu;
  readonly serviceLevel: number;
  readonly portNum: number;
  readonly sgidIndex: number;
}

/** What tells the services apart over which a ping-pong can be played: the attributes are the C tools' (protocol/tools.md 7.1). */
export interface Service {
  readonly qpType: typeof QpType.RC | typeof QpType.UC | typeof QpType.UD;
  /** Bytes that the NIC puts before each message that comes in (protocol/packets.md 1.6). */
  readonly headerBytes: number;
  /** Whether a lost packet is sent again. Otherwise the loss silently ends the run. */
  readonly reliable: boolean;
  readonly init: QpModifyAttr;
  readonly rtr: (remote: Destination, path: Path) => QpModifyAttr;
  readonly rts: QpModifyAttr;
}

/** The Q_Key of the C tool. */
export const QKEY = 0x11111111;
const GRH_BYTES = 40;

/** The address of a peer, as connected QPs and address handles take it. */
export function addressOf({ gid, lid }: Pick<Destination, 'gid' | 'lid'>, path: Path) {
  const { sgidIndex, serviceLevel, portNum } = path;
  return { grh: { dgid: gid, sgidIndex, hopLimit: 64 }, dlid: lid, sl: serviceLevel, portNum };
}

function connection(remote: Destination, path: Path): QpModifyAttr {
  return { pathMtu: path.pathMtu, destQpNum: remote.qpn, rqPsn: remote.psn, ahAttr: addressOf(remote, path) };
}

export const RC: Service = {
  qpType: QpType.RC,
  headerBytes: 0,
  reliable: true,
  init: { qpAccessFlags: 0 },
  rtr: (remote, path) => ({ ...connection(remote, path), maxDestRdAtomic: 1, minRnrTimer: 12 }),
  rts: { timeout: 14, retryCnt: 7, rnrRetry: 7, maxRdAtomic: 1 },
};

export const UC: Service = {
  qpType: QpType.UC,
  headerBytes: 0,
  reliable: false,
  init: { qpAccessFlags: 0 },
  rtr: connection,
  rts: {},
};

export const UD: Service = {
  qpType: QpType.UD,
  headerBytes: GRH_BYTES,
  reliable: false,
  init: { qkey: QKEY },
  rtr: () => ({}),
  rts: {},
};
