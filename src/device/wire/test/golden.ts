import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseFrame, readCapture, type RoceDatagram } from '../index.js';

/** One RoCE packet of a golden capture: BTH to ICRC, and what its IP and UDP headers said. */
export interface GoldenPacket {
  readonly label: string;
  readonly frame: Uint8Array;
  readonly datagram: RoceDatagram;
  readonly bytes: Uint8Array;
}

// Tests run compiled, from dist/src/device/wire/test.
const folder = fileURLToPath(new URL('../../../../../test/golden/', import.meta.url));

export const goldenNames: readonly string[] = readdirSync(folder)
  .filter((name) => name.endsWith('.pcap'))
  .map((name) => name.slice(0, -'.pcap'.length))
  .sort();

export function goldenPath(name: string): string {
  return `${folder}${name}.pcap`;
}

export function goldenFile(name: string): Uint8Array {
  return new Uint8Array(readFileSync(goldenPath(name)));
}

/** How many packets of which opcode each capture holds, as somebody else's program counted them. */
export function goldenOpcodes(): unknown {
  return JSON.parse(readFileSync(`${folder}opcodes.json`, 'utf8'));
}

export function goldenPackets(name: string): GoldenPacket[] {
  const packets: GoldenPacket[] = [];
  let number = 0;
  for (const { linkType, data } of readCapture(goldenFile(name))) {
    number += 1;
    const datagram = parseFrame(linkType, data);
    if (typeof datagram === 'string') continue;
    const bytes = data.slice(datagram.offset, datagram.offset + datagram.length);
    packets.push({ label: `${name} packet ${number}`, frame: data, datagram, bytes });
  }
  return packets;
}
