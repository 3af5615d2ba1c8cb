import { type TestContext } from 'node:test';
import fc from 'fast-check';
import { gidFromIp } from '../../ibta/index.js';
import { createPath, decodePacket, type Packet, PacketMeta, type Path, type RoceDatagram } from '../index.js';

/** Checks a property under a seed that is printed; VERBENA_SEED repeats a run. */
export function checkProperty<Values>(test: TestContext, property: fc.IProperty<Values>, numRuns = 300): void {
  const seed = Number(process.env['VERBENA_SEED'] ?? Date.now() & 0x7fffffff);
  test.diagnostic(`seed ${seed}`);
  fc.assert(property, { seed, numRuns });
}

export function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(Buffer.from(hex, 'hex'));
}

/** The packet, when there is one; a refusal fails the test. */
export function decoded(bytes: Uint8Array): Packet {
  const packet = decodePacket(bytes);
  if ('refusal' in packet) throw new Error(packet.refusal);
  return packet;
}

/** What a link would say of a packet that came by this path. */
export function metaOf(path: Path, ipId = -1): PacketMeta {
  const meta = new PacketMeta();
  meta.ipv6 = path.ipv6;
  meta.source.set(path.sgid);
  meta.destination.set(path.dgid);
  meta.sourcePort = path.sourcePort;
  meta.ipId = ipId;
  return meta;
}

export function pathOf({ source, destination, sourcePort }: RoceDatagram): Path {
  return createPath({ sgid: source, dgid: destination, sourcePort });
}

export const ipv4Path = createPath({ sgid: gidFromIp('10.1.2.3'), dgid: gidFromIp('10.255.0.1'), sourcePort: 0xc123 });
export const ipv6Path = createPath({ sgid: gidFromIp('fd00::1'), dgid: gidFromIp('fd00::ff:2'), sourcePort: 0xc123 });
