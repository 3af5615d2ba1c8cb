import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { type Link, tap } from '../../../device/link/index.js';
import {
  BTH_BYTES,
  crc32,
  datagramIcrc,
  ICRC_BYTES,
  Opcode,
  parseFrame,
  readCapture,
  sealIcrc,
  storedIcrc,
  writeBth,
} from '../../../device/wire/index.js';
import { PcapngFile, UdpLink } from '../index.js';
import { nativeHostProblem } from '../../system/index.js';
import { loopback, openWhenFree } from '../../../../test/support/loopback.js';
import { Inbox, packet, pathBetween } from './udp-helpers.js';

const hasIpv6 = Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === '::1'));
const tshark = spawnSync('tshark', ['--version'], { encoding: 'utf8' });
const folder = mkdtempSync(join(tmpdir(), 'verbena-tap-'));

/** Equal sizes leave as segments of one send, so that their identifications count up. */
const PAYLOADS = [1000, 1000, 1000, 20, 0];

function sendAll(from: Link, to: Link): void {
  const path = pathBetween(from, to);
  PAYLOADS.forEach((payloadBytes, n) => {
    const length = BTH_BYTES + payloadBytes + ICRC_BYTES;
    const at = from.sink.reserve(path, length);
    const { bytes } = from.sink;
    writeBth(bytes, at, Opcode.UC_SEND_ONLY, 0, 0, 0, 0xffff, 0x12, n);
    bytes.set(packet(payloadBytes, n), at + BTH_BYTES);
    sealIcrc(crc32, path, bytes, at, length, from.sink.ipId);
    from.sink.commit();
  });
  from.flush();
  const inbox = new Inbox();
  while (to.receive(inbox, 64) > 0);
  assert.equal(inbox.packets.length, PAYLOADS.length);
}

/** Packets both ways, seen from the first of the two links. */
function capture(name: string, first: string, second: string): string {
  const file = new PcapngFile(join(folder, name));
  const link = tap(
    openWhenFree(() => UdpLink.open({ address: first })),
    file,
    { clockNs: () => BigInt(Date.now()) * 1_000_000n },
  );
  const peer = first === second ? link : UdpLink.open({ address: second });
  sendAll(link, peer);
  if (peer !== link) sendAll(peer, link);
  link.close();
  peer.close();
  return file.path;
}

/** How many packets the capture has, each of which must have a right ICRC. */
function checkedPackets(path: string): number {
  const records = [...readCapture(readFileSync(path))];
  for (const { linkType, data } of records) {
    const found = parseFrame(linkType, data);
    assert.ok(typeof found === 'object', 'it is not a RoCE packet');
    assert.equal(datagramIcrc(crc32, data, found), storedIcrc(data, found.offset, found.length));
  }
  return records.length;
}

/** The IPv6 capture has one link only, which sends to itself, so each packet is there twice as well. */
const runs = [
  { name: 'ipv4.pcapng', first: loopback(1), second: loopback(2), skip: false },
  { name: 'ipv6.pcapng', first: '::1', second: '::1', skip: hasIpv6 ? false : 'this machine has no IPv6 loopback' },
];

describe('a capture of a UdpLink', { skip: nativeHostProblem() ?? false }, () => {
  after(() => {
    rmSync(folder, { recursive: true });
  });

  for (const { name, first, second, skip } of runs) {
    it(`has all packets, with right ICRCs (${name})`, { skip }, () => {
      assert.equal(checkedPackets(capture(name, first, second)), 2 * PAYLOADS.length);
    });

    const unread = tshark.error ? 'tshark is not installed, so nobody else reads the capture' : skip;
    it(`is understood by tshark (${name})`, { skip: unread }, () => {
      const path = capture(`tshark-${name}`, first, second);
      const fields = ['_ws.malformed', '_ws.expert.severity', 'infiniband.bth.opcode', 'infiniband.bth.psn'];
      const { stdout } = spawnSync(
        'tshark',
        [
          '-r',
          path,
          '-o',
          'ip.check_checksum:TRUE',
          '-T',
          'fields',
          '-E',
          'separator=,',
          ...fields.flatMap((f) => ['-e', f]),
        ],
        { encoding: 'utf8' },
      );
      const seen = stdout.trimEnd().split('\n');
      const expected = PAYLOADS.map((_, n) => `,,${Opcode.UC_SEND_ONLY},${n}`);
      assert.deepEqual(seen, [...expected, ...expected]);
    });
  }
});
