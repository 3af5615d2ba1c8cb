/** Makes the socket buffers of this process as small as they can be: without root, and for nobody else. */
import { readdirSync, readlinkSync } from 'node:fs';
import { nativeHost } from '../../src/node/system/index.js';

const SOL_SOCKET = 1;
const SO_TYPE = 3;
const SOCK_DGRAM = 2;
const SO_SNDBUF = 7;
const SO_RCVBUF = 8;

function option(fd: number, name: number): number | undefined {
  const value = new Int32Array(new SharedArrayBuffer(8));
  const native = nativeHost();
  if (native === undefined) return undefined;
  const at = native.addressOf(new Uint8Array(value.buffer));
  value[1] = 4;
  return native.libc.getsockopt(fd, SOL_SOCKET, name, at, at + 4) === 0 ? value[0] : undefined;
}

function setOption(fd: number, name: number, wanted: number): void {
  const value = new Int32Array(new SharedArrayBuffer(4));
  value[0] = wanted;
  const native = nativeHost();
  native?.libc.setsockopt(fd, SOL_SOCKET, name, native.addressOf(new Uint8Array(value.buffer)), 4);
}

function datagramSockets(): number[] {
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`).startsWith('socket:') && option(fd, SO_TYPE) === SOCK_DGRAM;
      } catch {
        return false;
      }
    });
}

/** @returns gives them back what they had */
export function squeeze(): () => void {
  const before = datagramSockets().flatMap((fd) =>
    [SO_RCVBUF, SO_SNDBUF].map((name) => ({ fd, name, bytes: option(fd, name) ?? 0 })),
  );
  for (const { fd, name } of before) setOption(fd, name, 1);
  // The kernel doubles what it is asked for.
  return () => before.forEach(({ fd, name, bytes }) => setOption(fd, name, bytes >> 1));
}
