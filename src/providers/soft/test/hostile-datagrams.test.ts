import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { SeededRandom } from '../../../device/link/index.js';
import {
  BTH_BYTES,
  crc32,
  createPath,
  Opcode,
  ROCE_PORT,
  sealIcrc,
  writeBth,
  writeReth,
} from '../../../device/wire/index.js';
import { gidFromIp, SendFlags, WcStatus, WrOpcode } from '../../../entry/index.js';
import { NET } from '../../../../test/support/loopback.js';
import { drainOne, Pair, pattern, type Side } from './support/pair.js';

const SEED = Number(process.env['VERBENA_SEED'] ?? 20260901);
const DATAGRAMS = 400;

/** A WRITE that would be executed, were it to come from the peer: key, address and QP number are right. */
function forgedWrite(target: Side, psn: number): Uint8Array {
  const bytes = new Uint8Array(BTH_BYTES + 16 + 64 + 4).fill(0xee);
  const { mr, qp } = target;
  writeBth(bytes, 0, Opcode.RC_WRITE_ONLY, 0, 0, 1, 0xffff, qp.qpNum, psn, 0);
  writeReth(bytes, BTH_BYTES, Number(mr.addr >> 32n) | 0, Number(mr.addr & 0xffffffffn) | 0, mr.rkey | 0, 64);
  const path = createPath({ sgid: gidFromIp(`${NET}.66`), dgid: gidFromIp(target.context.address) });
  sealIcrc(crc32, path, bytes, 0, bytes.length, 0);
  return bytes;
}

/** Nothing that makes sense, of all lengths, and what nearly makes sense. */
function* nonsense(random: SeededRandom, target: Side): Generator<Uint8Array> {
  yield new Uint8Array(0);
  yield Uint8Array.of(1);
  yield new Uint8Array(65_507);
  for (let i = 0; i < DATAGRAMS; i += 1) {
    const forged = forgedWrite(target, random.below(2 ** 24));
    const kind = i % 4;
    if (kind === 0) yield Uint8Array.from({ length: random.below(5000) }, () => random.below(256));
    else if (kind === 1) yield forged.subarray(0, random.below(forged.length));
    else if (kind === 2) {
      forged[random.below(forged.length)] ^= 1 << random.below(8);
      yield forged;
    } else yield forged;
  }
}

for (const host of ['thread', 'inline'] as const) {
  test(`hostile datagrams change nothing, hosted ${host} (seed ${SEED})`, async () => {
    using pair = new Pair(host, NET);
    const { a, b } = pair;
    const socket = createSocket('udp4');
    socket.bind(ROCE_PORT, `${NET}.66`);
    await once(socket, 'listening');
    const send = promisify<Uint8Array, number, string, number>(socket.send.bind(socket));
    for (const datagram of nonsense(new SeededRandom(SEED), b)) {
      await send(datagram, ROCE_PORT, b.context.address);
      // So that the socket's buffer takes all of them.
      b.cq.poll();
    }
    socket.close();

    // A message through the same queue pair comes after all of them.
    a.mr.bytes.set(pattern(3000));
    const rdma = { remoteAddr: b.mr.addr + 10_000n, rkey: b.mr.rkey };
    a.qp.postSend({ opcode: WrOpcode.RDMA_WRITE, sendFlags: SendFlags.SIGNALED, sgList: [a.mr.sge(0, 3000)], rdma });
    assert.equal(drainOne(a.cq).status, WcStatus.SUCCESS);
    assert.deepEqual(b.mr.bytes.subarray(10_000, 13_000), a.mr.bytes.subarray(0, 3000));
    assert.ok(b.mr.bytes.subarray(0, 10_000).every((byte) => byte === 0));
    const { rx_wrong_peer, rx_malformed, rx_icrc_encapsulated } = b.context.counters();
    assert.ok(rx_wrong_peer >= DATAGRAMS / 4, 'the forged ones were refused for their sender');
    assert.ok(rx_malformed > 0);
    assert.ok(rx_icrc_encapsulated > 0);
  });
}
