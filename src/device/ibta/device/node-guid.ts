import { type Gid, isIpv4Gid } from '../gid.js';

/** First bytes of a MAC address that nobody has been given: locally administered, unicast. */
const LOCAL_MAC = [0x02, 0x56] as const;
/** What stands in the middle of an EUI-64 that was a MAC address. */
const EUI64_MIDDLE = [0xff, 0xfe] as const;

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
