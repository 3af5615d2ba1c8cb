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

/** A global identifier: 16 bytes in network order. On RoCE it is an IPv6 address, or an IPv4 address mapped into one. */
export type Gid = Uint8Array;

/** The values of `enum ibv_gid_type`: which wire protocol an entry of the GID table speaks. */
export const GidType = { IB: 0, ROCE_V1: 1, ROCE_V2: 2 } as const;
export type GidType = (typeof GidType)[keyof typeof GidType];

const GID_BYTES = 16;
const GROUPS = 8;

function notAnAddress(text: string): RangeError {
  return new RangeError(`'${text}' is not an IPv4 or IPv6 address`);
}

/** The four bytes of a dotted IPv4 address, as two 16-bit groups. */
function ipv4Groups(part: string, text: string): [number, number] {
  const fields = part.split('.');
  const bytes = fields.map((field) => (/^(0|[1-9]\d{0,2})$/.test(field) ? Number(field) : 256));
  if (bytes.length !== 4 || bytes.some((byte) => byte > 255)) throw notAnAddress(text);
  return [(bytes[0] << 8) | bytes[1], (bytes[2] << 8) | bytes[3]];
}

function ipv6Groups(half: string, text: string): number[] {
  if (half === '') return [];
  const parts = half.split(':');
  return parts.flatMap((part, i) => {
    if (i === parts.length - 1 && part.includes('.')) return ipv4Groups(part, text);
    if (!/^[0-9a-fA-F]{1,4}$/.test(part)) throw notAnAddress(text);
    return parseInt(part, 16);
  });
}

function allGroups(text: string): number[] {
  if (!text.includes(':')) return [0, 0, 0, 0, 0, 0xffff, ...ipv4Groups(text, text)];
  const gap = text.indexOf('::');
  if (gap < 0) return ipv6Groups(text, text);
  const head = ipv6Groups(text.slice(0, gap), text);
  const tailText = text.slice(gap + 2);
  // A dotted part stands at the end of an address, so never before the gap.
  if (text.slice(0, gap).includes('.') || tailText.includes('::')) throw notAnAddress(text);
  const tail = ipv6Groups(tailText, text);
  const zeros = GROUPS - head.length - tail.length;
  if (zeros < 1) throw notAnAddress(text);
  return [...head, ...new Array<number>(zeros).fill(0), ...tail];
}

/**
 * The GID of an IPv4 or IPv6 address, or of a GID's text in eight groups.
 *
 * @throws RangeError when the text is neither
 */
export function gidFromIp(text: string): Gid {
  const groups = allGroups(text);
  if (groups.length !== GROUPS) throw notAnAddress(text);
  const gid = new Uint8Array(GID_BYTES);
  groups.forEach((group, i) => {
    gid[2 * i] = group >>> 8;
    gid[2 * i + 1] = group & 0xff;
  });
  return gid;
}

function groupsOf(gid: Gid): number[] {
  if (gid.length !== GID_BYTES) throw new RangeError(`a GID has 16 bytes, not ${gid.length}`);
  return Array.from({ length: GROUPS }, (_, i) => (gid[2 * i] << 8) | gid[2 * i + 1]);
}

/** Whether the GID is an IPv4 address (::ffff:a.b.c.d), so that its packets are IPv4 (protocol/packets.md 1.6). */
export function isIpv4Gid(gid: Gid): boolean {
  for (let i = 0; i < 10; i += 1) if (gid[i] !== 0) return false;
  return gid[10] === 0xff && gid[11] === 0xff;
}

/** Where the longest run of two or more zero groups is; the first of several, as RFC 5952 4.2.3 wants it. */
function longestZeroRun(groups: readonly number[]): { start: number; length: number } {
  let best = { start: -1, length: 1 };
  for (let i = 0; i < groups.length; i += 1) {
    let end = i;
    while (end < groups.length && groups[end] === 0) end += 1;
    if (end - i > best.length) best = { start: i, length: end - i };
    if (end > i) i = end;
  }
  return best;
}

/**
 * The IP address of a GID, written as RFC 5952 wants it: `127.0.0.1`, `fe80::1`.
 *
 * @throws RangeError when it has not 16 bytes
 */
export function ipFromGid(gid: Gid): string {
  const groups = groupsOf(gid);
  if (isIpv4Gid(gid)) return gid.slice(12).join('.');
  const hex = groups.map((group) => group.toString(16));
  const { start, length } = longestZeroRun(groups);
  if (start < 0) return hex.join(':');
  return `${hex.slice(0, start).join(':')}::${hex.slice(start + length).join(':')}`;
}

/**
 * A GID in eight full groups, as `ibv_devinfo` and sysfs write it: `fe80:0000:0000:0000:0000:0000:0000:0001`.
 *
 * @throws RangeError when it has not 16 bytes
 */
export function formatGid(gid: Gid): string {
  return groupsOf(gid)
    .map((group) => group.toString(16).padStart(4, '0'))
    .join(':');
}

export function gidsEqual(a: Gid, b: Gid): boolean {
  for (let i = 0; i < GID_BYTES; i += 1) if (a[i] !== b[i]) return false;
  return true;
}
