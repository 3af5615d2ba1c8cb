import { readFileSync } from 'node:fs';
import type { NicLimits } from '../../nic/index.js';
import {
  AccessFlags,
  AtomicCap,
  type DeviceAttr,
  DeviceCapFlags,
  type Gid,
  isIpv4Gid,
  LinkLayer,
  type Mtu,
  NodeType,
  PhysState,
  type PortAttr,
  PortState,
  TransportType,
} from '../../spec/index.js';

export const DEVICE_NAME = 'verbena0';
export const NODE_TYPE = NodeType.CA;
export const TRANSPORT_TYPE = TransportType.IB;
export const PORT_NUM = 1;
/** The one entry of the P_Key table (PROTOCOL.md 1.1). */
export const DEFAULT_PKEY = 0xffff;

/** Access that regions of this device can be given. */
export const SUPPORTED_ACCESS =
  AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_ATOMIC;

/** Not of any manufacturer: the number that rxe shows as well. */
const SOFTWARE_VENDOR = 0xffffff;
/** First bytes of a MAC address that nobody has been given: locally administered, unicast. */
const LOCAL_MAC = [0x02, 0x56] as const;
/** What stands in the middle of an EUI-64 that was a MAC address. */
const EUI64_MIDDLE = [0xff, 0xfe] as const;

let packageVersion: string | undefined;

/** Version of this package, as `fw_ver` shows it. */
function version(): string {
  packageVersion ??= readVersion();
  return packageVersion;
}

function readVersion(): string {
  // From dist/src/soft/driver/ to the package's root.
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8'));
  if (typeof manifest === 'object' && manifest !== null && 'version' in manifest) return String(manifest.version);
  return 'unknown';
}

/** The four bytes that tell one address from another: all of an IPv4 address, a hash (FNV-1a) of an IPv6 one. */
function addressBytes(gid: Gid): readonly number[] {
  if (isIpv4Gid(gid)) return [...gid.subarray(12)];
  let hash = 0x811c9dc5;
  for (const byte of gid) hash = Math.imul(hash ^ byte, 0x01000193);
  return [hash >>> 24, (hash >>> 16) & 0xff, (hash >>> 8) & 0xff, hash & 0xff];
}

/** The node GUID of the NIC at an address: the same whenever it is opened there. */
export function nodeGuid(gid: Gid): bigint {
  const [a, b, c, d] = addressBytes(gid);
  return [...LOCAL_MAC, a, ...EUI64_MIDDLE, b, c, d].reduce((guid, byte) => (guid << 8n) | BigInt(byte), 0n);
}

/** What `queryDevice` tells: nothing that this device does not have. */
export function deviceAttr(gid: Gid, limits: NicLimits): DeviceAttr {
  const guid = nodeGuid(gid);
  return {
    fwVer: version(),
    nodeGuid: guid,
    sysImageGuid: guid,
    maxMrSize: BigInt(limits.maxMrBytes),
    // Memory is registered byte by byte, so every page size of 4 KiB and more will do.
    pageSizeCap: 0xfffff000,
    vendorId: SOFTWARE_VENDOR,
    vendorPartId: 0,
    hwVer: 0,
    maxQp: limits.maxQp,
    maxQpWr: limits.maxQpWr,
    deviceCapFlags:
      DeviceCapFlags.BAD_PKEY_CNTR |
      DeviceCapFlags.CURR_QP_STATE_MOD |
      DeviceCapFlags.SYS_IMAGE_GUID |
      DeviceCapFlags.RC_RNR_NAK_GEN,
    maxSge: limits.maxSge,
    maxSgeRd: limits.maxSge,
    maxCq: limits.maxCq,
    maxCqe: limits.maxCqe,
    maxMr: limits.maxMr,
    maxPd: limits.maxPd,
    maxQpRdAtom: limits.maxRdAtomic,
    maxEeRdAtom: 0,
    maxResRdAtom: limits.maxRdAtomic * limits.maxQp,
    maxQpInitRdAtom: limits.maxRdAtomic,
    maxEeInitRdAtom: 0,
    atomicCap: AtomicCap.HCA,
    maxEe: 0,
    maxRdd: 0,
    maxMw: 0,
    maxRawIpv6Qp: 0,
    maxRawEthyQp: 0,
    maxMcastGrp: 0,
    maxMcastQpAttach: 0,
    maxTotalMcastQpAttach: 0,
    maxAh: 0,
    maxFmr: 0,
    maxMapPerFmr: 0,
    maxSrq: 0,
    maxSrqWr: 0,
    maxSrqSge: 0,
    maxPkeys: 1,
    localCaAckDelay: 15,
    physPortCnt: 1,
  };
}

/** What `queryPort` tells. */
export function portAttr(mtu: Mtu, limits: NicLimits, badPkeys: number): PortAttr {
  return {
    state: PortState.ACTIVE,
    maxMtu: mtu,
    activeMtu: mtu,
    gidTblLen: 1,
    portCapFlags: 0,
    maxMsgSz: limits.maxMessageBytes,
    badPkeyCntr: Math.min(badPkeys, 0xffff),
    qkeyViolCntr: 0,
    pkeyTblLen: 1,
    lid: 0,
    smLid: 0,
    lmc: 0,
    maxVlNum: 1,
    smSl: 0,
    subnetTimeout: 0,
    initTypeReply: 0,
    // 1 lane of 25 Gb/s: near what a core moves over loopback, and no promise.
    activeWidth: 1,
    activeSpeed: 32,
    physState: PhysState.LINK_UP,
    linkLayer: LinkLayer.ETHERNET,
    flags: 0,
    portCapFlags2: 0,
    activeSpeedEx: 0,
  };
}
