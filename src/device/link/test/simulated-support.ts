import { gidFromIp, ipFromGid } from '../../ibta/index.js';
import type { SimulatedLink, SimulatedNetwork } from '../index.js';
import { createPath, type PacketMeta } from '../../wire/index.js';

/** What a test keeps of a packet that a link handed out. */
export interface Received {
  readonly atUs: number;
  readonly bytes: number[];
  readonly from: string;
  readonly to: string;
  readonly ipId: number;
}

/** Sends one packet of these bytes from `link` to `address` and flushes. */
export function sendOne(link: SimulatedLink, address: string, bytes: readonly number[]): void {
  put(link, address, bytes);
  link.flush();
}

/** Puts a packet into the link's arena. @returns whether there was room */
export function put(link: SimulatedLink, address: string, bytes: readonly number[]): boolean {
  const path = createPath({ sgid: link.gid, dgid: gidFromIp(address) });
  const offset = link.sink.reserve(path, bytes.length);
  if (offset < 0) return false;
  link.sink.bytes.set(bytes, offset);
  link.sink.commit();
  return true;
}

export function take(network: SimulatedNetwork, link: SimulatedLink, maxPackets = Infinity): Received[] {
  const result: Received[] = [];
  const receive = (bytes: Uint8Array, offset: number, length: number, meta: PacketMeta): void => {
    result.push({
      atUs: network.nowUs,
      bytes: [...bytes.subarray(offset, offset + length)],
      from: ipFromGid(meta.source),
      to: ipFromGid(meta.destination),
      ipId: meta.ipId,
    });
  };
  link.receive({ receive }, maxPackets);
  return result;
}

/** Lets everything happen that is going to, and takes each packet at `link` at the time it arrives. */
export function runAndTake(network: SimulatedNetwork, link: SimulatedLink): Received[] {
  const result: Received[] = [];
  while (network.nextEventUs() !== Infinity) {
    network.advanceTo(network.nextEventUs());
    result.push(...take(network, link));
  }
  return result;
}

/** A packet of `length` bytes, multiples of four, all of them `fill`. */
export function packetOf(length: number, fill = 0): number[] {
  return new Array<number>(length).fill(fill);
}
