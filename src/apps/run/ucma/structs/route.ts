import type { CmId } from '../../../../api/rdmacm/index.js';
import { writeSocketAddress } from './socket-address.js';

const ROUTE_BYTES = 208;
const NODE_GUID_AT = 0;
const PATH_AT = 8;
const SOURCE_AT = 136;
const DESTINATION_AT = 164;
const PATHS_AT = 192;
const PORT_AT = 196;
const DEVICE_INDEX_AT = 200;
/** The program finds the device by its GUID. */
const NO_INDEX = 0xffffffff;

/** Parts of a path record (`struct ib_user_path_rec`). */
const Path = { DGID: 0, SGID: 16, REVERSIBLE: 44, MTU: 48, PKEY: 52, HOP_LIMIT: 54, MTU_SELECTOR: 58 } as const;
const DEFAULT_PKEY = 0xffff;
const HOP_LIMIT = 64;
const EQUAL = 2;

/** `struct rdma_ucm_query_route_resp`: what is known of the way of an identifier. The program finds its device by the GUID. */
export function encodeRoute({ verbs, route, localAddr, peerAddr, portNum }: CmId): Buffer {
  const bytes = Buffer.alloc(ROUTE_BYTES);
  if (localAddr !== undefined) writeSocketAddress(bytes, SOURCE_AT, localAddr);
  if (peerAddr !== undefined) writeSocketAddress(bytes, DESTINATION_AT, peerAddr);
  bytes.writeUInt32LE(NO_INDEX, DEVICE_INDEX_AT);
  if (verbs === undefined) return bytes;
  bytes.writeBigUInt64BE(verbs.queryDevice().nodeGuid, NODE_GUID_AT);
  bytes[PORT_AT] = portNum;
  const { localGid, remoteGid, pathMtu } = route;
  if (localGid !== undefined) bytes.set(localGid, PATH_AT + Path.SGID);
  if (remoteGid !== undefined) bytes.set(remoteGid, PATH_AT + Path.DGID);
  bytes.writeUInt16BE(DEFAULT_PKEY, PATH_AT + Path.PKEY);
  if (pathMtu === undefined) return bytes;
  bytes.writeUInt32LE(1, PATHS_AT);
  bytes.writeUInt32LE(1, PATH_AT + Path.REVERSIBLE);
  bytes.writeUInt32LE(pathMtu, PATH_AT + Path.MTU);
  bytes[PATH_AT + Path.MTU_SELECTOR] = EQUAL;
  bytes[PATH_AT + Path.HOP_LIMIT] = HOP_LIMIT;
  return bytes;
}
