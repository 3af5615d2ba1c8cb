import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PerfFlags } from '../perftest/flags.js';
import { infoFacts, infoText } from '../perftest/report/info.js';
import { settle } from '../perftest/settings.js';
import {
  bandwidthHeading,
  bandwidthRow,
  DURATION_HEADING,
  durationRow,
  fixed,
  general,
  keyLines,
  LATENCY_HEADING,
  latencyRow,
  prefixedHex,
  RULE,
  WAITING,
  whole,
} from '../perftest/report/table.js';
import { PERF_TESTS, Verb } from '../perftest/tests.js';
import { gidFromIp, Mtu } from '../../entry/index.js';

// What stands here was printed by the C tools of perftest 6.06, on Soft-RoCE.

const FLAGS: PerfFlags = {
  connection: 'RC',
  ibPort: 1,
  port: 18515,
  sl: 0,
  qpTimeout: 14,
  pkey_index: 0,
  retry_count: 7,
  tclass: 0,
};

const AROUND = { device: 'rxe0', mtu: Mtu.MTU_1024, gidIndex: 1, outReads: 128, queuePairs: 1, tos: undefined };

function testOf(name: string) {
  const found = PERF_TESTS.find((each) => each.name === name);
  assert.ok(found !== undefined);
  return found;
}

function info(name: string, flags: Partial<PerfFlags>, client: boolean): string {
  return infoText(settle(testOf(name), { ...FLAGS, inline_size: 0, ...flags }, client), AROUND);
}

/** What differs from those runs: requests are built by the newer calls, and there is no PCIe. */
function ours(text: string): string {
  return text.replace(/(PCIe relax order: )\w+/, '$1Unsupported').replace(/(ibv_wr\* API {5}: )OFF/, '$1ON');
}

const NUMBERS: readonly (readonly [string, string])[] = [
  [prefixedHex(0, 4), '0000'],
  [prefixedHex(0x1c, 6), '0x001c'],
  [prefixedHex(0x6012fc, 6), '0x6012fc'],
  [prefixedHex(128, 4), '0x80'],
  [prefixedHex(0xfa8, 8), '0x000fa8'],
  [prefixedHex(0x55f259c4e000n, 16), '0x0055f259c4e000'],
  [fixed(1.756, 7, 2), '1.76   '],
  [fixed(1846.97, 7, 2), '1846.97'],
  [whole(3000, 7), '3000   '],
  [general(6256.6), '6256.6'],
  [general(567.5412), '567.541'],
  [general(100), '100'],
  [general(1234567), '1.23457e+06'],
  [general(0), '0'],
];
for (const [text, expected] of NUMBERS) {
  test(`a number is written as C's printf writes it: ${expected}`, () => assert.equal(text, expected));
}

test('a row of bandwidth has the columns of the C tools', () => {
  const bandwidth = { sizeBytes: 3000, iterations: 5, peak: 1.7602, average: 1.7598, messageRate: 0.000615 };
  assert.equal(
    bandwidthRow(bandwidth, false),
    ' 3000       5                1.76               1.76   \t\t   0.000615\n',
  );
  assert.equal(
    bandwidthRow({ ...bandwidth, peak: 0, average: 3.03 }, true),
    ' 3000       5                0.00               3.03   \t\t   0.000615\n',
  );
});

test('a row of less than 0.1 Gb/s has six digits', () => {
  const bandwidth = { sizeBytes: 8, iterations: 1000, peak: 0.0256, average: 0.025, messageRate: 0.390625 };
  assert.equal(
    bandwidthRow(bandwidth, true),
    ' 8          1000           0.025600            0.025000            0.390625\n',
  );
});

test('a row of latency has the columns of the C tools', () => {
  const latency = {
    sizeBytes: 2,
    iterations: 5,
    min: 1846.97,
    max: 2237.19,
    typical: 1989.14,
    average: 1989.14,
    deviation: 142,
    percentile99: 2237.19,
    percentile999: 2237.19,
  };
  assert.equal(
    latencyRow(latency),
    ' 2       5          1846.97        2237.19      1989.14  \t       1989.14     \t142.00 \t\t2237.19 \t\t2237.19\n',
  );
});

test('a row of a duration has the columns of the C tools', () => {
  const latency = { sizeBytes: 2, iterations: 907, average: 1103.04, perSecond: 453.29 };
  assert.equal(durationRow(latency), ' 2             907            1103.04        453.29 \n');
});

test('the headings are those of the C tools', () => {
  assert.equal(
    bandwidthHeading(false),
    ' #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n',
  );
  assert.equal(
    bandwidthHeading(true),
    ' #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n',
  );
  assert.equal(
    LATENCY_HEADING,
    ' #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] \n',
  );
  assert.equal(DURATION_HEADING, ' #bytes        #iterations       t_avg[usec]    tps average\n');
  assert.equal(RULE, '---------------------------------------------------------------------------------------\n');
});

test('a server says that it waits as the C tools do', () => {
  assert.equal(
    WAITING,
    '\n************************************\n* Waiting for client to connect... *\n************************************\n',
  );
});

const KEYS = {
  lid: 0,
  outReads: 128,
  qpn: 0x22,
  psn: 0xbd07ae,
  rkey: 0x1231,
  addr: 0x55f259c4e000n,
  gid: gidFromIp('198.18.0.2'),
  srqn: 0x432acc,
};
const OCTETS = ' GID: 00:00:00:00:00:00:00:00:00:00:255:255:198:18:00:02\n';
const ADDRESS = 'address: LID 0000 QPN 0x0022 PSN 0xbd07ae';

test('the keys of each verb are told as by the C tools', () => {
  const text = (verb: Verb): string => keyLines('local', KEYS, verb, false);
  assert.equal(text(Verb.SEND), ` local ${ADDRESS}\n${OCTETS}`);
  assert.equal(text(Verb.ATOMIC), ` local ${ADDRESS}\n${OCTETS}`);
  assert.equal(text(Verb.WRITE), ` local ${ADDRESS} RKey 0x001231 VAddr 0x0055f259c4e000\n${OCTETS}`);
  assert.equal(text(Verb.READ), ` local ${ADDRESS} OUT 0x80 RKey 0x001231 VAddr 0x0055f259c4e000\n${OCTETS}`);
});

test('with XRC they tell the shared receive queue as well', () => {
  assert.equal(keyLines('remote', KEYS, Verb.SEND, true), ` remote ${ADDRESS} SRQn 0x432acc\n${OCTETS}`);
});

const INFOS = [
  {
    name: 'ib_send_bw, server',
    own: info('ib_send_bw', { iters: 5, size: 3000 }, false),
    c: `                    Send BW Test
 Dual-port       : OFF\t\tDevice         : rxe0
 Number of qps   : 1\t\tTransport type : IB
 Connection type : RC\t\tUsing SRQ      : OFF
 PCIe relax order: ON
 ibv_wr* API     : OFF
 RX depth        : 6
 CQ Moderation   : 5
 Mtu             : 1024[B]
 Link type       : Ethernet
 GID index       : 1
 Max inline data : 0[B]
 rdma_cm QPs\t : OFF
 Data ex. method : Ethernet
`,
  },
  {
    name: 'ib_send_bw over UD, client',
    own: info('ib_send_bw', { iters: 5, size: 1000, connection: 'UD' }, true),
    c: `                    Send BW Test
 Dual-port       : OFF\t\tDevice         : rxe0
 Number of qps   : 1\t\tTransport type : IB
 Connection type : UD\t\tUsing SRQ      : OFF
 PCIe relax order: ON
 ibv_wr* API     : OFF
 TX depth        : 5
 CQ Moderation   : 5
 Mtu             : 1024[B]
 Link type       : Ethernet
 GID index       : 1
 Max inline data : 0[B]
 rdma_cm QPs\t : OFF
 Data ex. method : Ethernet
`,
  },
  {
    name: 'ib_write_lat, client',
    own: info('ib_write_lat', { iters: 5, size: 8 }, true),
    c: `                    RDMA_Write Latency Test
 Dual-port       : OFF\t\tDevice         : rxe0
 Number of qps   : 1\t\tTransport type : IB
 Connection type : RC\t\tUsing SRQ      : OFF
 PCIe relax order: OFF
 ibv_wr* API     : OFF
 TX depth        : 1
 Mtu             : 1024[B]
 Link type       : Ethernet
 GID index       : 1
 Max inline data : 0[B]
 rdma_cm QPs\t : OFF
 Data ex. method : Ethernet
`,
  },
  {
    name: 'ib_atomic_lat, server',
    own: info('ib_atomic_lat', { iters: 5, atomic_type: 'CMP_AND_SWAP' }, false),
    c: `                    Atomic CMP_AND_SWAP Latency Test
 Dual-port       : OFF\t\tDevice         : rxe0
 Number of qps   : 1\t\tTransport type : IB
 Connection type : RC\t\tUsing SRQ      : OFF
 PCIe relax order: ON
 ibv_wr* API     : OFF
 Mtu             : 1024[B]
 Link type       : Ethernet
 GID index       : 1
 Outstand reads  : 128
 rdma_cm QPs\t : OFF
 Data ex. method : Ethernet
`,
  },
];
for (const { name, own, c } of INFOS) {
  test(`${name}: what there is to know stands where the C tool has it`, () => assert.equal(own, ours(c)));
}

test('a heading says what is special', () => {
  const heading = (text: string): string => text.split('\n')[0].trim();
  assert.equal(heading(info('ib_write_bw', { bidirectional: true }, true)), 'RDMA_Write Bidirectional BW Test');
  assert.equal(heading(info('ib_read_bw', { post_list: 10 }, true)), 'RDMA_Read Post List BW Test');
});

test('the JSON report has the same facts under the names of the C tools', () => {
  const settings = settle(testOf('ib_send_bw'), { ...FLAGS, bidirectional: true, rdma_cm: true }, true);
  assert.deepEqual(infoFacts(settings, { ...AROUND, tos: 32 }), {
    test: 'Send_Bidirectional_BW_Test',
    Dual_port: 'OFF',
    Device: 'rxe0',
    Number_of_qps: 1,
    Transport_type: 'IB',
    Connection_type: 'RC',
    Using_SRQ: 'OFF',
    PCIe_relax_order: 'Unsupported',
    ibv_wr_API: 'ON',
    TX_depth: 128,
    RX_depth: 512,
    CQ_Moderation: 1,
    Mtu: 1024,
    Link_type: 'Ethernet',
    GID_index: 1,
    Max_inline_data: 0,
    rdma_cm_QPs: 'ON',
    Data_ex_method: 'rdma_cm',
    TOS: 32,
  });
});
