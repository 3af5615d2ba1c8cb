import { type AhAttr, type Gid, gidsEqual } from '../../ibta/index.js';
import type { CmDatagram, CmHost } from '../host.js';

/** Linux's default, which passes any router. */
const HOP_LIMIT = 64;

/** The address vector from one of our GIDs to a peer. */
export function addressTo(sgidIndex: number, dgid: Gid, flowLabel: number, trafficClass: number): AhAttr {
  return {
    grh: { dgid, flowLabel, sgidIndex, hopLimit: HOP_LIMIT, trafficClass },
    dlid: 0,
    sl: 0,
    srcPathBits: 0,
    staticRate: 0,
    isGlobal: true,
    portNum: 1,
  };
}

/** Where a GID is in the table; 0 where it is not there any more. */
export function indexOfGid(host: CmHost, gid: Gid): number {
  return Math.max(
    0,
    host.gids.findIndex((own) => own !== undefined && gidsEqual(own, gid)),
  );
}

/** The way back to the sender of a datagram (protocol/connections.md 4.1). */
export function addressBack(host: CmHost, { source, destination, trafficClass }: CmDatagram): AhAttr {
  return addressTo(indexOfGid(host, destination), source, 0, trafficClass);
}

/** The flow label that Linux gives a connection, from the ports at its ends: 20 bits (protocol/connections.md 4.6). */
export function flowLabelOf(sourcePort: number, destinationPort: number): number {
  return (sourcePort * 31 + destinationPort) & 0xfffff;
}
