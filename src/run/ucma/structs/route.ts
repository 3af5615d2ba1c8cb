import type { CmId } from '../../../api/rdmacm/index.js';
import {
  be16,
  be64,
  nested,
  octets,
  struct,
  u32,
  u8,
  type ValuesOf,
  type Writable,
} from '../../../device/wire/index.js';
import { SOCKADDR, socketAddressFor } from './socket-address.js';

/** `struct ib_user_path_rec`, as far as it means something here. */
const PATH_RECORD = struct(
  {
    dgid: octets(0, 16),
    sgid: octets(16, 16),
    reversible: u32(44),
    mtu: u32(48),
    pkey: be16(52),
    hopLimit: u8(54),
    mtuSelector: u8(58),
  },
  64,
);

/** `struct rdma_ucm_query_route_resp`. */
export const ROUTE = struct(
  {
    nodeGuid: be64(0),
    path: nested(8, PATH_RECORD),
    source: nested(136, SOCKADDR),
    destination: nested(164, SOCKADDR),
    paths: u32(192),
    portNum: u8(196),
    deviceIndex: u32(200),
  },
  208,
);

/** The program finds the device by its GUID. */
const NO_INDEX = 0xffffffff;
const DEFAULT_PKEY = 0xffff;
const HOP_LIMIT = 64;
const EQUAL = 2;
const NO_GID = new Uint8Array(16);

export function routeFor({ verbs, route, localAddr, peerAddr, portNum }: CmId): Writable<ValuesOf<typeof ROUTE>> {
  const ends = {
    deviceIndex: NO_INDEX,
    source: localAddr === undefined ? undefined : socketAddressFor(localAddr),
    destination: peerAddr === undefined ? undefined : socketAddressFor(peerAddr),
  };
  if (verbs === undefined) return ends;
  const { localGid = NO_GID, remoteGid = NO_GID, pathMtu } = route;
  const resolved = pathMtu === undefined ? 0 : 1;
  return {
    ...ends,
    nodeGuid: verbs.queryDevice().nodeGuid,
    portNum,
    paths: resolved,
    path: {
      dgid: remoteGid,
      sgid: localGid,
      pkey: DEFAULT_PKEY,
      reversible: resolved,
      mtu: pathMtu ?? 0,
      hopLimit: resolved * HOP_LIMIT,
      mtuSelector: resolved * EQUAL,
    },
  };
}
