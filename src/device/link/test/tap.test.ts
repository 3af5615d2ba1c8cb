import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Gid, gidFromIp, ipFromGid } from '../../ibta/index.js';
import { type FramePort, type Link, type LinkStatus, type PacketReceiver, type PacketRecorder, tap } from '../index.js';
import {
  crc32,
  createPath,
  datagramIcrc,
  PacketMeta,
  parseIpPacket,
  type Path,
  sealIcrc,
  storedIcrc,
} from '../../wire/index.js';
import { Inbox, packet } from '../../../node/links/test/udp-helpers.js';

const A = gidFromIp('10.0.0.1');
const B = gidFromIp('10.0.0.2');

/** A link that sends nowhere and receives what it is given. */
class FakeLink implements Link {
  readonly gid = A;
  readonly ipv6 = false;
  readonly maxPacketBytes = 4200;
  readonly calls: string[] = [];
  readonly sink = {
    bytes: new Uint8Array(8192),
    ipId: 0,
    reserve: (_path: Path, lengthBytes: number): number => (lengthBytes > 4200 ? -1 : 100),
    commit: (): void => {
      this.calls.push('commit');
    },
  };
  readonly frames = {
    mac: Uint8Array.of(2, 0, 0, 0, 0, 1),
    maxFrameBytes: 1514,
    send: (_bytes: Uint8Array, _offset: number, lengthBytes: number): number => (lengthBytes > 1514 ? 90 : 0),
    close: (): void => {
      this.calls.push('close frames');
    },
  };
  readonly arrivingFrames: Uint8Array[] = [];
  readonly arriving: { bytes: Uint8Array; meta: PacketMeta }[] = [];

  receive(receiver: PacketReceiver): number {
    const packets = this.arriving.splice(0);
    for (const { bytes, meta } of packets) receiver.receive(bytes, 0, bytes.length, meta);
    const frames = this.arrivingFrames.splice(0);
    for (const bytes of frames) receiver.receiveFrame?.(bytes, 0, bytes.length);
    return packets.length + frames.length;
  }
  flush(): void {
    this.calls.push('flush');
  }
  joinGroup(group: Gid): void {
    this.calls.push(`join ${ipFromGid(group)}`);
  }
  leaveGroup(group: Gid): void {
    this.calls.push(`leave ${ipFromGid(group)}`);
  }
  status(): LinkStatus {
    return { up: true, present: false };
  }
  refresh(): LinkStatus {
    return { up: false, present: true };
  }
  openFrames(): FramePort {
    return this.frames;
  }
  close(): void {
    this.calls.push('close');
  }
  statistics(): Record<string, number> {
    return { sent_packets: 7 };
  }
}

class Tape implements PacketRecorder {
  readonly packets: { timestampNs: bigint; bytes: Uint8Array; direction: string }[] = [];
  readonly calls: string[] = [];
  full = false;
  record(timestampNs: bigint, ipPacket: Uint8Array, direction: 'in' | 'out'): boolean {
    if (this.full) return false;
    this.packets.push({ timestampNs, bytes: ipPacket.slice(), direction });
    return true;
  }
  sync(): void {
    this.calls.push('sync');
  }
  close(): void {
    this.calls.push('close');
  }
}

function sealed(path: Path, ipId: number): Uint8Array {
  const bytes = packet(64);
  sealIcrc(crc32, path, bytes, 0, bytes.length, ipId);
  return bytes;
}

/** Checks that a recorded packet is whole, and gives what its headers say. */
function read(bytes: Uint8Array): { ipId: number; hopLimit: number; icrcIsRight: boolean } {
  const found = parseIpPacket(bytes);
  assert.ok(typeof found === 'object', 'it is not a RoCE packet');
  const { ipId, hopLimit, offset, length } = found;
  assert.equal(offset + length, bytes.length);
  const icrcIsRight = datagramIcrc(crc32, bytes, found) === storedIcrc(bytes, offset, length);
  return { ipId, hopLimit, icrcIsRight };
}

function metaFrom(source: Uint8Array): PacketMeta {
  const meta = new PacketMeta();
  meta.source.set(source);
  meta.destination.set(A);
  meta.hopLimit = 3;
  return meta;
}

describe('tap', () => {
  it('records a packet sent when it is committed, with the headers that it gets', () => {
    const [inner, tape] = [new FakeLink(), new Tape()];
    const link = tap(inner, tape, { clockNs: () => 42n });
    const path = createPath({ sgid: A, dgid: B, hopLimit: 9 });
    inner.sink.ipId = 5;
    const offset = link.sink.reserve(path, 64);
    assert.equal(link.sink.ipId, 5);
    link.sink.bytes.set(sealed(path, 5), offset);
    assert.equal(tape.packets.length, 0);
    link.sink.commit();
    const [{ timestampNs, bytes, direction }] = tape.packets;
    assert.deepEqual({ timestampNs, direction }, { timestampNs: 42n, direction: 'out' });
    assert.deepEqual(read(bytes), { ipId: 5, hopLimit: 9, icrcIsRight: true });
    assert.deepEqual(inner.calls, ['commit']);
  });

  it('records nothing that is not committed', () => {
    const [inner, tape] = [new FakeLink(), new Tape()];
    const link = tap(inner, tape, { clockNs: () => 0n });
    const path = createPath({ sgid: A, dgid: B });
    link.sink.reserve(path, 64);
    assert.equal(link.sink.reserve(path, 5000), -1);
    link.sink.commit();
    link.flush();
    assert.equal(tape.packets.length, 0);
  });

  it('records a packet received, with the identification that its ICRC proves, and hands it on', () => {
    const [inner, tape, inbox] = [new FakeLink(), new Tape(), new Inbox()];
    const link = tap(inner, tape, { clockNs: () => 0n });
    const bytes = sealed(createPath({ sgid: B, dgid: A }), 0xabcd);
    inner.arriving.push({ bytes, meta: metaFrom(B) });
    assert.equal(link.receive(inbox, 16), 1);
    assert.equal(tape.packets[0].direction, 'in');
    assert.deepEqual(read(tape.packets[0].bytes), { ipId: 0xabcd, hopLimit: 3, icrcIsRight: true });
    assert.deepEqual(inbox.packets[0].bytes, bytes);
    assert.equal(inbox.packets[0].ipId, -1);
  });

  it('records a packet whose ICRC is wrong, wrong as it is', () => {
    const [inner, tape, inbox] = [new FakeLink(), new Tape(), new Inbox()];
    const bytes = sealed(createPath({ sgid: B, dgid: A }), 0);
    bytes[30] ^= 1;
    bytes[40] ^= 2;
    inner.arriving.push({ bytes, meta: metaFrom(B) });
    tap(inner, tape, { clockNs: () => 0n }).receive(inbox, 16);
    assert.equal(read(tape.packets[0].bytes).icrcIsRight, false);
    assert.equal(inbox.packets.length, 1);
  });

  it('records even what is too short to be a packet', () => {
    const [inner, tape, inbox] = [new FakeLink(), new Tape(), new Inbox()];
    inner.arriving.push({ bytes: new Uint8Array(0), meta: metaFrom(B) }, { bytes: packet(3), meta: metaFrom(B) });
    tap(inner, tape, { clockNs: () => 0n }).receive(inbox, 16);
    assert.deepEqual(
      tape.packets.map(({ bytes }) => bytes.length),
      [28, 31],
    );
    assert.equal(inbox.packets.length, 2);
  });

  it('records a packet to a group with the group as its destination', () => {
    const [inner, tape, inbox] = [new FakeLink(), new Tape(), new Inbox()];
    const group = gidFromIp('239.1.1.1');
    const meta = metaFrom(B);
    meta.destination.set(group);
    inner.arriving.push({ bytes: sealed(createPath({ sgid: B, dgid: group }), 0x77), meta });
    tap(inner, tape, { clockNs: () => 0n }).receive(inbox, 16);
    assert.deepEqual([...tape.packets[0].bytes.subarray(16, 20)], [239, 1, 1, 1]);
    assert.deepEqual(read(tape.packets[0].bytes), { ipId: 0x77, hopLimit: 3, icrcIsRight: true });
  });

  it('counts only what the recorder keeps', () => {
    const [inner, tape] = [new FakeLink(), new Tape()];
    const link = tap(inner, tape, { clockNs: () => 0n });
    const bytes = sealed(createPath({ sgid: B, dgid: A }), 0);
    inner.arriving.push({ bytes, meta: metaFrom(B) });
    link.receive(new Inbox(), 16);
    tape.full = true;
    inner.arriving.push({ bytes, meta: metaFrom(B) });
    link.receive(new Inbox(), 16);
    assert.equal(link.statistics()['captured_packets'], 1);
  });

  it('hands frames through, and records the IP packets in them', () => {
    const [inner, tape, inbox] = [new FakeLink(), new Tape(), new Inbox()];
    const link = tap(inner, tape, { clockNs: () => 0n });
    const port = link.openFrames();
    assert.equal(link.openFrames(), port);
    const ip = packet(40, 3);
    const frameOf = (...type: number[]): Uint8Array => Uint8Array.from([...new Uint8Array(12), ...type, ...ip]);
    assert.equal(port.send(frameOf(0x08, 0x00), 0, 54), 0);
    assert.equal(port.send(new Uint8Array(1600), 0, 1600), 90);
    inner.arrivingFrames.push(frameOf(0x86, 0xdd), frameOf(0x08, 0x06));
    assert.equal(link.receive(inbox, 16), 2);
    assert.deepEqual(inbox.frames, [frameOf(0x86, 0xdd), frameOf(0x08, 0x06)]);
    assert.deepEqual(
      tape.packets.map(({ bytes, direction }) => [bytes, direction]),
      [
        [ip, 'out'],
        [ip, 'in'],
      ],
    );
    port.close();
    assert.deepEqual(inner.calls, ['close frames']);
  });

  it('passes all else on', () => {
    const [inner, tape] = [new FakeLink(), new Tape()];
    const link = tap(inner, tape, { clockNs: () => 0n });
    link.flush();
    link.sync();
    link.joinGroup(gidFromIp('239.1.1.1'));
    link.leaveGroup(gidFromIp('239.1.1.1'));
    link.close();
    assert.deepEqual(inner.calls, ['flush', 'join 239.1.1.1', 'leave 239.1.1.1', 'close']);
    assert.deepEqual(
      [link.status(), link.refresh()],
      [
        { up: true, present: false },
        { up: false, present: true },
      ],
    );
    assert.deepEqual(tape.calls, ['sync', 'close']);
    assert.deepEqual(link.statistics(), { sent_packets: 7, captured_packets: 0, capture_missed_packets: 0 });
    assert.deepEqual([link.gid, link.ipv6, link.maxPacketBytes], [A, false, 4200]);
  });
});
