import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccessFlags, SendFlags, WrOpcode } from '../../src/entry/index.js';
import { conformance } from './provider.js';
import { assertSuccess, pattern, perform, remoteOf, useDevices } from './support.js';
import { deliver, pingPong, SERVICES, Traffic } from './traffic.js';

const BYTES = 1024;
const ROUNDS = 100;
const { LOCAL_WRITE, REMOTE_WRITE, RELAXED_ORDERING } = AccessFlags;

conformance('regions with RELAXED_ORDERING', (provider) => {
  const devices = useDevices(provider);

  for (const [service, open] of Object.entries(SERVICES)) {
    test(`carry SENDs over ${service} both ways`, () => {
      using traffic = open(devices, { access: LOCAL_WRITE | RELAXED_ORDERING });
      pingPong(traffic, ROUNDS, (way, round) => {
        const { from } = way;
        deliver(way, BYTES, round, () => {
          from.qp.postSend({
            opcode: WrOpcode.SEND,
            sendFlags: SendFlags.SIGNALED,
            sgList: [from.mr.sge(0, BYTES)],
            ...way.addressed,
          });
        });
      });
    });
  }

  test('carry WRITEs over RC both ways', () => {
    using traffic = Traffic.rc(devices, { access: LOCAL_WRITE | REMOTE_WRITE | RELAXED_ORDERING });
    pingPong(traffic, ROUNDS, ({ from, to }, round) => {
      from.mr.bytes.set(pattern(BYTES, round));
      to.mr.bytes.fill(0);
      const sgList = [from.mr.sge(0, BYTES)];
      assertSuccess(from, perform(from, { opcode: WrOpcode.RDMA_WRITE, sgList, rdma: remoteOf(to.mr) }));
      assert.deepEqual(to.mr.bytes.subarray(0, BYTES), pattern(BYTES, round));
    });
  });
});
