import { LinkType, pcapngHeader, pcapngPacket, readCapture } from '../../device/wire/index.js';
import { goldenFile } from '../../device/wire/test/golden.js';

export const framesOf = (name: string): Uint8Array[] =>
  [...readCapture(goldenFile(name))].map(({ data }) => data.slice());

/** A pcapng file of Ethernet frames, a microsecond apart. */
export function pcapngOf(frames: readonly Uint8Array[]): Uint8Array {
  const packets = frames.map((frame, i) => pcapngPacket(BigInt(i) * 1000n, frame));
  return Buffer.concat([pcapngHeader({ linkType: LinkType.ETHERNET }), ...packets]);
}
