import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { type Gid, isIpv4Gid } from '../../../device/ibta/index.js';

const TABLES = ['/proc/net/udp', '/proc/net/udp6'];
/** Columns of these tables: the address with its port, and the number by which a descriptor names its socket. */
const LOCAL_ADDRESS = 1;
const INODE = 9;

/** An address and port as Linux prints them: words as the processor reads them, little-endian. */
function inTable(gid: Gid, port: number): string {
  const bytes = isIpv4Gid(gid) ? gid.slice(12) : gid;
  let words = '';
  for (let at = 0; at < bytes.length; at += 4)
    words += Array.from(bytes.slice(at, at + 4).reverse(), (byte) => byte.toString(16).padStart(2, '0')).join('');
  return `${words}:${port.toString(16).padStart(4, '0')}`.toUpperCase();
}

function socketsOfProcess(): ReadonlySet<string> {
  const sockets = new Set<string>();
  for (const fd of readdirSync('/proc/self/fd'))
    try {
      const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/self/fd/${fd}`))?.[1];
      if (inode !== undefined) sockets.add(inode);
    } catch {
      // It was closed meanwhile.
    }
  return sockets;
}

/** Whether this process has a UDP port, in whichever thread. False where the system does not tell. */
export function hasUdpPort(gid: Gid, port: number): boolean {
  try {
    const wanted = inTable(gid, port);
    const sockets = socketsOfProcess();
    return TABLES.flatMap((table) => readFileSync(table, 'latin1').split('\n'))
      .map((line) => line.trim().split(/\s+/))
      .some((columns) => columns[LOCAL_ADDRESS] === wanted && sockets.has(columns[INODE] ?? ''));
  } catch {
    return false;
  }
}
