import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type Socket, connect } from 'node:net';
import { test } from 'node:test';
import { agree } from '../perftest/exchange/agreement.js';
import { NOTHING_MEASURED, swapReports } from '../perftest/bandwidth/bandwidth.js';
import {
  decodeKeyStruct,
  decodeKeyText,
  encodeKeyStruct,
  encodeKeyText,
  type Keys,
  keyStructOf,
} from '../perftest/exchange/keys.js';
import type { Exchange } from '../perftest/exchange/exchange.js';
import { PERF_TESTS, type PerfTest } from '../perftest/tests.js';
import { gidFromIp, Mtu } from '../../entry/index.js';
import { clientAt, pretendServer, readText, serverAt } from './pingpong-play.js';
import { Tool } from './tool.js';
import { freePort } from '../../../test/support/ports.js';

const KEYS: Keys = {
  lid: 0,
  outReads: 128,
  qpn: 0x22,
  psn: 0xbd07ae,
  rkey: 0x1231,
  addr: 0x55f259c4e000n,
  gid: gidFromIp('198.18.0.2'),
  srqn: 0,
};
/** As the C tool's sprintf makes it. */
const TEXT =
  '0000:0080:000022:bd07ae:00001231:000055f259c4e000:00:00:00:00:00:00:00:00:00:00:ff:ff:c6:12:00:02:00000000:';

test('keys go over TCP as the text of the C tools, and a NUL at least', () => {
  assert.equal(encodeKeyText(KEYS).toString('latin1'), `${TEXT}\0`);
  assert.deepEqual(decodeKeyText(Buffer.from(`${TEXT}\0`), 'ib_send_bw'), KEYS);
});

test('keys of all widths come back as they went', () => {
  const widest = {
    ...KEYS,
    lid: 0xffff,
    outReads: 0xff,
    qpn: 0xffffff,
    rkey: 0xffffffff,
    addr: 0xffff_ffff_ffff_ffffn,
    srqn: 0xffffff,
  };
  assert.deepEqual(decodeKeyText(encodeKeyText(widest), 'ib_send_bw'), widest);
});

for (const text of ['', 'done', `${TEXT.slice(0, 40)}\0`, TEXT.replace('bd07ae', 'bd07ax'), `${TEXT}x`]) {
  test(`what is not a text of keys is refused: ${JSON.stringify(text.slice(0, 60))}`, () => {
    assert.throws(
      () => decodeKeyText(Buffer.from(text), 'ib_send_bw'),
      /where keys were expected; is it an ib_send_bw/,
    );
  });
}

test('over rdma_cm keys go as the struct of the C tools, in network byte order', () => {
  const bytes = encodeKeyStruct({ ...KEYS, srqn: 7 }, 'short');
  assert.equal(
    bytes.toString('hex'),
    '00000000' +
      '00000080' +
      '00000022' +
      '00bd07ae' +
      '00001231' +
      '00000000' +
      '000055f259c4e000' +
      '00000000000000000000ffffc6120002' +
      '00000007' +
      '00000000',
  );
  assert.deepEqual(decodeKeyStruct(bytes, 'short', 'ib_send_bw'), { ...KEYS, srqn: 7 });
});

test('from version 6.29 on the struct has another address before the GID', () => {
  assert.deepEqual([keyStructOf(6.06), keyStructOf(6.28), keyStructOf(6.29)], ['short', 'short', 'long']);
  const bytes = encodeKeyStruct(KEYS, 'long');
  assert.equal(bytes.length, 64);
  assert.equal(bytes.subarray(32, 56).toString('hex'), '0000000000000000' + '00000000000000000000ffffc6120002');
  assert.deepEqual(decodeKeyStruct(bytes, 'long', 'ib_send_bw'), KEYS);
});

test('a struct that is cut off is refused', () => {
  assert.throws(() => decodeKeyStruct(Buffer.alloc(20), 'short', 'ib_send_bw'), /20 bytes where keys were expected/);
});

/** A line at whose other end somebody says what he was told to say. */
class ScriptedLine implements Exchange {
  peerVersion = 0;
  readonly peerWaits = false;
  readonly hasPeerLeft = false;
  readonly said: string[] = [];
  readonly #script: Buffer[];

  constructor(script: readonly (Buffer | string)[]) {
    this.#script = script.map((each) => Buffer.from(each));
  }

  swap(own: Uint8Array): Promise<Buffer> {
    this.said.push(Buffer.from(own).toString('hex'));
    return Promise.resolve(this.#script.shift() ?? Buffer.alloc(own.length));
  }

  swapKeys(own: Keys): Promise<Keys> {
    return Promise.resolve(own);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function version(text: string): Buffer {
  return Buffer.concat([Buffer.from(text), Buffer.alloc(16 - text.length)]);
}

test('both sides tell version, page size, cache line and MTU', async () => {
  const line = new ScriptedLine([version('6.06'), u32(4096), u32(64), '3\0']);
  const agreement = await agree(line, Mtu.MTU_4096, 'ib_send_bw');
  assert.deepEqual(agreement, { mtu: Mtu.MTU_1024, cycleBytes: 4096, cacheLineBytes: 64 });
  assert.deepEqual(line.said, [version('6.06').toString('hex'), '00001000', '00000040', '3500']);
  assert.equal(line.peerVersion, 6.06);
});

test('the larger page and cache line count, and the smaller MTU', async () => {
  const line = new ScriptedLine([version('25.10'), u32(65536), u32(128), '5\0']);
  const agreement = await agree(line, Mtu.MTU_2048, 'ib_send_bw');
  assert.deepEqual(agreement, { mtu: Mtu.MTU_2048, cycleBytes: 65536, cacheLineBytes: 128 });
});

const STRANGERS = [
  { name: 'a version too old', script: [version('5.63')], says: /older than 5\.70/ },
  {
    name: 'something else',
    script: [Buffer.from('GET / HTTP/1.1\r\n')],
    says: /where a version was expected; is it an ib_send_bw/,
  },
  {
    name: 'a page that cannot be',
    script: [version('6.06'), u32(1 << 30)],
    says: /page size is 1073741824 bytes/,
  },
  {
    name: 'a cache line that cannot be',
    script: [version('6.06'), u32(4096), u32(1 << 20)],
    says: /cache line size/,
  },
];
for (const { name, script, says } of STRANGERS) {
  test(`a peer that tells ${name} is refused`, async () => {
    await assert.rejects(agree(new ScriptedLine(script), Mtu.MTU_1024, 'ib_send_bw'), says);
  });
}

test('an MTU that is none does not count', async () => {
  const line = new ScriptedLine([version('6.06'), u32(4096), u32(64), '9\0']);
  assert.equal((await agree(line, Mtu.MTU_1024, 'ib_send_bw')).mtu, Mtu.MTU_1024);
});

test('a report goes as two counts and three figures, each by itself', async () => {
  const figure = (value: number): Buffer => {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleBE(value);
    return bytes;
  };
  const line = new ScriptedLine([
    Buffer.concat([u32(0), u32(65536)]),
    Buffer.concat([u32(0), u32(5000)]),
    figure(2.5),
    figure(2.25),
    figure(0.5),
  ]);
  const own = { sizeBytes: 8, iterations: 5, peak: 1, average: -2, messageRate: 0 };
  assert.deepEqual(await swapReports(line, own), {
    sizeBytes: 65536,
    iterations: 5000,
    peak: 2.5,
    average: 2.25,
    messageRate: 0.5,
  });
  assert.deepEqual(line.said, [
    '0000000000000008',
    '0000000000000005',
    '3ff0000000000000',
    'c000000000000000',
    '0000000000000000',
  ]);
  assert.equal(NOTHING_MEASURED.iterations, 0);
});

/** The other side of a test, played by hand: it says what a C tool would say, and has no queue pair. */
class PretendPeer {
  readonly #known: string[] = [];
  readonly #socket: Socket;
  readonly #leads: boolean;
  readonly #gid: string;

  constructor(socket: Socket, leads: boolean, address: string) {
    this.#socket = socket;
    this.#leads = leads;
    this.#gid = [...gidFromIp(address)].map((byte) => byte.toString(16).padStart(2, '0')).join(':');
  }

  async swap(own: Buffer, answer: (theirs: string) => Buffer = () => own): Promise<string> {
    if (this.#leads) this.#socket.write(own);
    const theirs = await readText(this.#socket, own.length);
    if (!this.#leads) this.#socket.write(answer(theirs));
    return theirs;
  }

  /** Version, page size, cache line, MTU. */
  async agree(): Promise<void> {
    assert.equal(await this.swap(version('6.06')), version('6.06').toString('latin1'));
    for (const each of [u32(4096), u32(64), Buffer.from('3\0')]) await this.swap(each);
  }

  /** Has a queue pair for each of the peer's, where that speaks first; else one. */
  async keys(times: number): Promise<void> {
    for (let i = 0; i < times; i += 1) {
      const theirs = await this.swap(Buffer.from(this.#keysOf(0)), (told) =>
        Buffer.from(this.#keysOf(this.#numberOf(told))),
      );
      assert.match(theirs, /^0000:[0-9a-f]{4}:[0-9a-f]{6}:[0-9a-f]{6}:[0-9a-f]{8}:0000[0-9a-f]{12}:/);
    }
  }

  #keysOf(number: number): string {
    const qpn = (0x11 + number).toString(16).padStart(6, '0');
    return `0000:0010:${qpn}:000000:00001234:0000000000010000:${this.#gid}:00000000:\0`;
  }

  /** Which of the peer's queue pairs these keys are of. */
  #numberOf(keys: string): number {
    const qpn = keys.split(':')[2];
    if (!this.#known.includes(qpn)) this.#known.push(qpn);
    return this.#known.indexOf(qpn);
  }

  async report(figures: readonly Buffer[]): Promise<void> {
    for (const figure of figures) await this.swap(figure);
  }
}

/** How often each C tool exchanges keys before the first message goes, over one queue pair and over two. */
const EXCHANGES: Readonly<Record<string, readonly [one: number, two: number]>> = {
  ib_send_bw: [4, 6],
  ib_send_lat: [4, 4],
  ib_write_bw: [3, 5],
  ib_write_lat: [4, 4],
  ib_read_bw: [3, 5],
  ib_read_lat: [4, 4],
  ib_atomic_bw: [3, 5],
  ib_atomic_lat: [4, 4],
};
/** Of these only the client does anything. */
const PASSIVE = ['ib_write_bw', 'ib_read_bw', 'ib_read_lat', 'ib_atomic_bw', 'ib_atomic_lat'];

function flagsOf({ measure }: PerfTest, qps: number): string[] {
  return measure === 'bw' ? ['-q', String(qps)] : [];
}

for (const [index, perfTest] of PERF_TESTS.entries()) {
  const { name, measure } = perfTest;
  const [one, two] = EXCHANGES[name];

  test(`${name}: a client exchanges keys as often as the C tool before it begins`, async () => {
    const flags = flagsOf(perfTest, 2);
    const args = (port: string): string[] => [name, '-p', port, '--addr', clientAt(index), ...flags, '127.0.0.1'];
    const { client, socket, close } = await pretendServer(args);
    const peer = new PretendPeer(socket, false, serverAt(index));
    await peer.agree();
    await peer.keys(two);
    socket.destroy();
    const { code, stderr } = await client.ended;
    assert.deepEqual({ code, stderr }, { code: 1, stderr: 'The peer closed the connection.\n' });
    close();
  });

  test(`${name}: so does a server`, async () => {
    const port = await freePort();
    const server = new Tool([name, '-p', String(port), '--addr', serverAt(10 + index)]);
    await server.printed('Waiting for client');
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    const peer = new PretendPeer(socket, true, clientAt(10 + index));
    await peer.agree();
    await peer.keys(one);
    if (!PASSIVE.includes(name)) {
      socket.destroy();
      const { code, stderr } = await server.ended;
      assert.deepEqual({ code, stderr }, { code: 1, stderr: 'The peer closed the connection.\n' });
      return;
    }
    if (measure === 'bw') {
      await peer.keys(1);
      const counts = [8, 5000].map((count) => Buffer.concat([u32(0), u32(count)]));
      const figures = [3, 2.25, 0.5].map((value) => {
        const bytes = Buffer.alloc(8);
        bytes.writeDoubleBE(value);
        return bytes;
      });
      await peer.report([...counts, ...figures]);
    }
    await peer.keys(1);
    socket.end();
    const { code, stdout, stderr } = await server.ended;
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    const row = ' 8          5000             3.00               2.25   \t\t   0.500000';
    assert.equal(stdout.includes(row), measure === 'bw', stdout);
  });
}
