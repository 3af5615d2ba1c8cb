import assert from 'node:assert/strict';
import { type Gid, gidFromIp, ipFromGid } from '../../../device/ibta/index.js';
import type { Link, PacketReceiver } from '../../../device/link/index.js';
import {
  BTH_BYTES,
  crc32,
  createPath,
  IcrcVerifier,
  opcodeHeaderBytes,
  PacketMeta,
  type Path,
  sealIcrc,
} from '../../../device/wire/index.js';
import type { UdpLink } from '../index.js';
import { PollSet } from '../../system/index.js';

export interface Received {
  readonly bytes: Uint8Array;
  readonly source: string;
  readonly destination: string;
  readonly sourcePort: number;
  readonly trafficClass: number;
  readonly hopLimit: number;
  readonly flowLabel: number;
  readonly ipId: number;
}

/** A packet in one piece, also when its payload is apart. */
export function whole(bytes: Uint8Array, offset: number, lengthBytes: number, meta: PacketMeta): Uint8Array {
  const packet = bytes.slice(offset, offset + lengthBytes);
  const { payload, payloadShift } = meta;
  if (payload === undefined) return packet;
  const headers = Math.max(BTH_BYTES, opcodeHeaderBytes[bytes[offset]]);
  packet.set(payload.subarray(offset + headers + payloadShift, offset + lengthBytes + payloadShift), headers);
  return packet;
}

/** Keeps a copy of what arrives. */
export class Inbox implements PacketReceiver {
  readonly packets: Received[] = [];
  readonly frames: Uint8Array[] = [];

  receive(bytes: Uint8Array, offset: number, lengthBytes: number, meta: PacketMeta): void {
    const { sourcePort, trafficClass, hopLimit, flowLabel, ipId } = meta;
    this.packets.push({
      bytes: whole(bytes, offset, lengthBytes, meta),
      source: ipFromGid(meta.source),
      destination: ipFromGid(meta.destination),
      sourcePort,
      trafficClass,
      hopLimit,
      flowLabel,
      ipId,
    });
  }

  receiveFrame(bytes: Uint8Array, offset: number, lengthBytes: number): void {
    this.frames.push(bytes.slice(offset, offset + lengthBytes));
  }
}

/** Long enough for any machine, also where another process has to be there first. */
export const PATIENCE_US = 60_000_000;

/** Receives until there are so many packets; loopback loses none. */
export function receiveAll(link: UdpLink, count: number): Received[] {
  const inbox = new Inbox();
  const poll = new PollSet(link.pollFds);
  while (inbox.packets.length < count) {
    if (link.receive(inbox, 64) > 0) continue;
    assert.ok(poll.wait(PATIENCE_US) > 0, `${inbox.packets.length} of ${count} packets arrived`);
  }
  assert.equal(link.receive(inbox, 64), 0);
  return inbox.packets;
}

/** A packet's bytes, different for each number. */
export function packet(lengthBytes: number, n = 0): Uint8Array {
  return new Uint8Array(lengthBytes).map((_, i) => (i * 7 + n) & 0xff);
}

/** Commits a packet. @returns the IP identification that it leaves with */
export function commit(link: Link, path: Path, bytes: Uint8Array): number {
  const offset = link.sink.reserve(path, bytes.length);
  assert.ok(offset >= 0, 'the arena is full');
  link.sink.bytes.set(bytes, offset);
  const { ipId } = link.sink;
  link.sink.commit();
  return ipId;
}

export function pathBetween(from: { gid: Gid }, to: { gid: Gid } | string): Path {
  return createPath({ sgid: from.gid, dgid: typeof to === 'string' ? gidFromIp(to) : to.gid });
}

/** The bytes with the ICRC that they need along `path`. */
export function sealed(path: Path, bytes: Uint8Array, ipId: number): Uint8Array {
  sealIcrc(crc32, path, bytes, 0, bytes.length, ipId);
  return bytes;
}

/** The IP identification that the ICRC of a packet proves, or -1 when it is wrong. */
export function verifiedId({ bytes, source, destination, sourcePort }: Received): number {
  const meta = new PacketMeta();
  meta.ipv6 = destination.includes(':');
  meta.source.set(gidFromIp(source));
  meta.destination.set(gidFromIp(destination));
  meta.sourcePort = sourcePort;
  return new IcrcVerifier(crc32).verify(bytes, 0, bytes.length, meta);
}
