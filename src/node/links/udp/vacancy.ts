/** Whether a device is at an address of this machine, as the kernel's list of UDP sockets tells. */
import { readFileSync } from 'node:fs';
import { type Gid, gidFromIp, gidsEqual, ipFromGid, isIpv4Gid } from '../../../device/ibta/index.js';
import { isLoopback, plainAddress, ROCE_PORT } from '../../../device/wire/index.js';
import { ownAddresses } from '../../system/index.js';

/** Of the calling thread: under /proc/net a thread in a namespace of its own would see another's. */
const TABLES = { 4: '/proc/thread-self/net/udp', 6: '/proc/thread-self/net/udp6' } as const;
const PORT = ROCE_PORT.toString(16).toUpperCase().padStart(4, '0');
const WORD_BYTES = 4;

/** How the kernel writes an address there: in words of the machine's own byte order. */
function nameOf(address: Uint8Array): string {
  const words: string[] = [];
  for (let at = 0; at < address.length; at += WORD_BYTES)
    words.push(Buffer.from(address.subarray(at, at + WORD_BYTES).toReversed()).toString('hex'));
  return words.join('').toUpperCase();
}

/** The local addresses of sockets at RoCE's port; undefined where the kernel does not tell. */
function holders(table: string): ReadonlySet<string> | undefined {
  try {
    const found = readFileSync(table, 'latin1').matchAll(/^ *\d+: ([0-9A-F]+):([0-9A-F]{4}) /gm);
    return new Set([...found].filter(([, , port]) => port === PORT).map(([, address]) => address));
  } catch {
    return undefined;
  }
}

const ANY_V4 = nameOf(new Uint8Array(4));
const ANY_V6 = nameOf(new Uint8Array(16));

/** Whether some socket gets what is sent to an address at RoCE's port. Undefined where that is not known. */
function isHeld(gid: Gid): boolean | undefined {
  const [four, six] = [holders(TABLES[4]), holders(TABLES[6])];
  // The device that asks has a socket: a list without it, as a sandbox may have, says nothing of others.
  if ((four?.size ?? 0) + (six?.size ?? 0) === 0) return undefined;
  if (!isIpv4Gid(gid)) return six && (six.has(nameOf(gid)) || six.has(ANY_V6));
  // A machine may have no IPv6 at all.
  const isBySix = six !== undefined && (six.has(nameOf(gid)) || six.has(ANY_V6));
  return four && (four.has(nameOf(gid.subarray(-4))) || four.has(ANY_V4) || isBySix);
}

function isOwn(gid: Gid): boolean {
  const host = ipFromGid(gid);
  return isLoopback(host) || ownAddresses().some(({ address }) => gidsEqual(gidFromIp(plainAddress(address)), gid));
}

/** Whether an address is this machine's, and no device is there. False where that cannot be told. */
export function isVacant(gid: Gid): boolean {
  return isHeld(gid) === false && isOwn(gid);
}
