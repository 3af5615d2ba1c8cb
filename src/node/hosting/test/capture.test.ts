import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, constants, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { crc32, datagramIcrc, Opcode, opcodeName, parseFrame, readCapture } from '../../../device/wire/index.js';
import { openDevice, SendFlags, WcStatus, WrOpcode } from '../../../entry/index.js';
import { connect, drainOne, makeSide } from '../../../providers/soft/test/support/pair.js';
import { NET } from '../../../../test/support/loopback.js';

const folder = mkdtempSync(join(tmpdir(), 'verbena-'));
after(() => rmSync(folder, { recursive: true }));

/** The last four bytes, as the number that they carry (protocol/packets.md 1.7). */
function icrcOf(packet: Uint8Array): number {
  return new DataView(packet.buffer, packet.byteOffset + packet.length - 4).getInt32(0, true);
}

for (const host of ['inline', 'thread'] as const) {
  test(`a capture holds every packet in both directions, hosted ${host}`, () => {
    const capture = join(folder, `${host}.pcapng`);
    {
      using context = openDevice({ host, address: `${NET}.1`, capture });
      const { qp, cq, mr } = makeSide(context);
      connect(qp, { qpNum: qp.qpNum, dgid: context.queryGid(1, 0) });
      qp.postRecv({ sgList: [mr.sge(0, 64)] });
      qp.postSend({ opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED, sgList: [mr.sge(64, 8)] });
      drainOne(cq);
      drainOne(cq);
    }
    const names = [...readCapture(readFileSync(capture))].map(({ data, linkType }) => {
      const datagram = parseFrame(linkType, data);
      assert.ok(typeof datagram === 'object');
      assert.equal(datagramIcrc(crc32, data, datagram), icrcOf(data), 'a wrong ICRC');
      return opcodeName(data[datagram.offset]);
    });
    // Each leaves and arrives.
    const expected = [Opcode.RC_SEND_ONLY, Opcode.RC_SEND_ONLY, Opcode.RC_ACKNOWLEDGE, Opcode.RC_ACKNOWLEDGE];
    assert.deepEqual(
      names,
      expected.map((opcode) => opcodeName(opcode)),
    );
  });

  test(`a capture that cannot be written is refused when the device is opened, hosted ${host}`, () => {
    const capture = join(folder, 'no-such-folder', 'x.pcapng');
    assert.throws(() => openDevice({ host, address: `${NET}.2`, capture }), { errno: 'ENOENT' });
    // And the address is free again.
    using context = openDevice({ host, address: `${NET}.2` });
    assert.equal(context.address, `${NET}.2`);
  });
}

const noPipes = process.platform === 'win32' && 'there are no named pipes';

for (const host of ['inline', 'thread'] as const)
  test(`a capture whose reader pauses stops nobody, hosted ${host}`, { skip: noPipes }, () => {
    const BYTES = 8 << 20;
    const capture = join(folder, `paused-${host}`);
    execFileSync('mkfifo', [capture]);
    const reader = openSync(capture, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const warnings: string[] = [];
      using context = openDevice({ host, address: `${NET}.6`, capture, warn: (text) => warnings.push(text) });
      const { qp, cq, mr } = makeSide(context, { bytes: 2 * BYTES });
      connect(qp, { qpNum: qp.qpNum, dgid: context.queryGid(1, 0) });
      mr.bytes.fill(7, 0, BYTES);
      const rdma = { remoteAddr: mr.addr + BigInt(BYTES), rkey: mr.rkey };
      const sgList = [mr.sge(0, BYTES)];
      qp.postSend({ opcode: WrOpcode.RDMA_WRITE, sendFlags: SendFlags.SIGNALED, sgList, rdma });
      assert.equal(drainOne(cq).status, WcStatus.SUCCESS);
      assert.ok(mr.bytes.subarray(BYTES).every((byte) => byte === 7));
      assert.ok(context.counters()['link_capture_missed_packets'] > 0);
    } finally {
      closeSync(reader);
    }
  });

test('a full disk is said when the device is opened', { skip: !existsSync('/dev/full') }, () => {
  assert.throws(() => openDevice({ host: 'thread', address: `${NET}.2`, capture: '/dev/full' }), {
    errno: 'ENOSPC',
    message: /the disk is full/,
  });
});

test('VERBENA_PCAP names the file', () => {
  const capture = join(folder, 'by-environment.pcapng');
  process.env['VERBENA_PCAP'] = capture;
  try {
    openDevice({ host: 'inline', address: `${NET}.3` }).close();
  } finally {
    delete process.env['VERBENA_PCAP'];
  }
  assert.deepEqual([...readCapture(readFileSync(capture))], []);
});

test('two devices that name the same file both record, and the second says where', () => {
  const capture = join(folder, 'shared.pcapng');
  const warnings: string[] = [];
  const options = { host: 'thread', capture, warn: (text: string) => warnings.push(text) } as const;
  using first = openDevice({ ...options, address: `${NET}.4` });
  assert.deepEqual(warnings, []);
  using second = openDevice({ ...options, address: `${NET}.5` });
  assert.notEqual(first.address, second.address);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0], /shared\.\d+/);
});
