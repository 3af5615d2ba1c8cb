import type { AhAttr, Gid } from '../../../device/ibta/index.js';
import type { CmEvent as CmDeviceEvent } from '../../../device/cm/index.js';
import type { ConnParamReceived, UdParamReceived } from '../identifiers/parameters.js';

/** Hops of a packet where nobody says otherwise (protocol/connections.md 4.6). */
const HOP_LIMIT = 64;
const NO_CONN: Omit<ConnParamReceived, 'privateData'> = {
  responderResources: 0,
  initiatorDepth: 0,
  flowControl: false,
  retryCount: 0,
  rnrRetryCount: 0,
  srq: false,
  qpNum: 0,
};

/** What `Pd.createAh` takes to reach a peer or a group. */
export function addressOf(dgid: Gid, trafficClass: number): AhAttr {
  return {
    grh: { dgid, flowLabel: 0, sgidIndex: 0, hopLimit: HOP_LIMIT, trafficClass },
    isGlobal: true,
    portNum: 1,
    dlid: 0,
    sl: 0,
    srcPathBits: 0,
    staticRate: 0,
  };
}

/** What an event of a connection says; undefined when that is nothing. */
export function receivedConn({ conn, privateData }: CmDeviceEvent): ConnParamReceived | undefined {
  if (conn === undefined && privateData.length === 0) return undefined;
  return { ...NO_CONN, ...conn, privateData };
}

/** The same of datagrams. */
export function receivedUd(
  { ud, request, privateData }: CmDeviceEvent,
  peer: Gid | undefined,
  trafficClass: number,
): UdParamReceived | undefined {
  const dgid = request?.remoteGid ?? peer;
  if (dgid === undefined || (ud === undefined && privateData.length === 0)) return undefined;
  return { privateData, ahAttr: addressOf(dgid, trafficClass), qpNum: ud?.qpNum ?? 0, qkey: ud?.qkey ?? 0 };
}
