import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { alloc } from '../../../entry/index.js';
import { simulate } from '../../../entry/sim.js';
import { listenStreams } from '../../rsocket/index.js';
import { rsocketDissector } from '../../rsocket/dissector/index.js';
import {
  AddressFamily,
  rbind,
  rclose,
  rconnect,
  rgetsockname,
  rrecv,
  rsend,
  rsendto,
  rsocket,
  SocketType,
} from '../../rsocket/index.js';
import { encodeConnectionData } from '../../rsocket/wire/connection-data.js';
import { immediateOf, Operation } from '../../rsocket/wire/message.js';
import { RawPeer } from '../../rsocket/test/support/raw-peer.js';
import { connected, nextStream, Owner, pattern, PORT } from '../../rsocket/test/support/streams.js';
import { goldenPath } from '../../../device/wire/test/golden.js';
import { printed } from '../../../cli/test/in-process.js';

const WAY = { timeUs: 0, from: '10.0.0.1 0x11', to: '10.0.0.2 0x12', psn: 0, isCut: false };
const folder = mkdtempSync(join(tmpdir(), 'verbena-dissectors-'));
after(() => rmSync(folder, { recursive: true }));

async function meanings(capture: string): Promise<string[]> {
  return (await printed('dump', capture)).split('\n').flatMap((line) => /\[rsocket: (.*)\]/.exec(line)?.[1] ?? []);
}

describe('rsockets in a capture', () => {
  it('of C are told by what they mean', async () => {
    const hello = 'credit for 384 messages, buffer of 524288 B';
    const said = await meanings(goldenPath('rstream'));
    assert.deepEqual(said.slice(0, 4), [hello, hello, 'DATA 16 B', 'SGL, credit to 384, buffer of 524288 B']);
    assert.equal(said.filter((words) => words === 'DATA 100 B').length, 6);
    assert.deepEqual(said.slice(-2), ['DISCONNECT', 'DISCONNECT']);
  });

  it('of this package are told by what they mean', async () => {
    const capture = join(folder, 'streams.pcapng');
    await simulate(async (sim) => {
      const { atServer, atClient, listener } = await connected(sim, {}, { iomapSize: 3 });
      atServer.stream.riomap(alloc(1000), 7);
      atServer.send(pattern(0, 10_000));
      await atClient.until(10_000);
      atClient.stream.riowrite(pattern(0, 20), 7);
      atClient.stream.setKeepAlive(5);
      await sim.sleep(6_000_000);
      atClient.stream.shutdown('write');
      atServer.stream.close();
      await Promise.all([atClient.closed, atServer.closed]);
      listener.close();
      sim.writeCapture(capture);
    });
    const said = await meanings(capture);
    for (const words of [
      'credit for 384 messages, buffer of 65536 B, 3 mapped buffers',
      'IOMAP_SGL 0, 1000 B at offset 7',
      'DATA 2048 B',
      '20 B to a mapped buffer',
      'KEEPALIVE',
      'SHUTDOWN',
      'DISCONNECT',
    ])
      assert.ok(said.includes(words), `${words} is not among\n${said.join('\n')}`);
  });

  for (const version of [4, 6] as const)
    it(`that send datagrams by IPv${version} are told by how much, and from which port`, async () => {
      const capture = join(folder, `datagrams-${version}.pcapng`);
      await simulate(async (sim) => {
        const sockets = ['fd00::1', 'fd00::2'].map((address, i) => {
          const host = sim.host(`host-${i}`, version === 6 ? { address } : {});
          const { INET, INET6 } = AddressFamily;
          return rsocket(version === 6 ? INET6 : INET, SocketType.DGRAM, 0, { context: host.context });
        });
        const [server, client] = sockets;
        rbind(server, { port: PORT });
        await rconnect(client, rgetsockname(server));
        // By UDP, so that the server knows the client's queue pair.
        await rsend(client, pattern(0, 1));
        await rrecv(server, new Uint8Array(200));
        await rsendto(server, pattern(0, 7), 0, rgetsockname(client));
        await rrecv(client, new Uint8Array(200));
        await rsend(client, pattern(0, 100));
        await rrecv(server, new Uint8Array(200));
        await Promise.all(sockets.map((socket) => rclose(socket)));
        sim.writeCapture(capture);
      });
      // Each was seen on both sides.
      const said = [...new Set(await meanings(capture))];
      assert.equal(said[0], `datagram of 7 B from port ${PORT}`);
      assert.match(said[1], /^datagram of 100 B from port \d+$/);
      assert.match(await printed('dump', '--json', capture), /"meaning":"rsocket: datagram of 100 B from port/);
      assert.match(await printed('explain', capture), /\[rsocket: datagram of 100 B from port \d+\]/);
    });

  it('are named where it is explained what went wrong', async () => {
    const capture = join(folder, 'refused.pcapng');
    await simulate(async (sim) => {
      const [server, bad] = [sim.host('server'), sim.host('bad')];
      const listener = listenStreams({ port: PORT, context: server.context });
      const next = nextStream(listener);
      await RawPeer.connect(bad, (truth) => ({ ...truth, data: { ...truth.data, key: (truth.data.key ^ 1) >>> 0 } }));
      const owner = new Owner(await next);
      owner.send(pattern(0, 10));
      await owner.closed;
      listener.close();
      sim.writeCapture(capture);
    });
    assert.match(await printed('explain', capture), /\[rsocket: DATA 10 B\]/);
  });
});

describe('the dissector of rsockets', () => {
  it('says nothing of what is none, and never throws', () => {
    assert.equal(rsocketDissector.hello(new Uint8Array(196)), undefined);
    assert.equal(rsocketDissector.hello(new Uint8Array(10)), undefined);
    const message = { operation: 'WRITE', payload: new Uint8Array(0), byteLength: 16, way: WAY } as const;
    assert.equal(rsocketDissector.message({ ...message, operation: 'SEND', immediate: 16 }), undefined);
    assert.equal(rsocketDissector.message({ ...message, immediate: 0x2000_0000 }), undefined);
    assert.equal(rsocketDissector.message({ ...message, immediate: 16 }), 'DATA 16 B');
    assert.equal(rsocketDissector.message({ ...message, immediate: 17 }), 'DATA 17 B, of 16 written');
    assert.equal(
      rsocketDissector.message({ ...message, immediate: undefined, byteLength: undefined }),
      'to a mapped buffer',
    );
    const cut = { ...message, payload: new Uint8Array(9), byteLength: 24 };
    assert.equal(rsocketDissector.message({ ...cut, immediate: immediateOf(Operation.IOMAP_SGL, 3) }), 'IOMAP_SGL 3');
    assert.equal(rsocketDissector.message({ ...cut, immediate: immediateOf(Operation.SGL, 3) }), 'SGL, credit to 3');
  });

  it("takes for a datagram only what is its sender's", () => {
    const payload = Uint8Array.of(4, 8, 0x1c, 0x06, 10, 0, 0, 1, 0, 0);
    const says = (bytes: Uint8Array, source = '10.0.0.1'): string | undefined =>
      rsocketDissector.datagram?.({ source, payload: bytes, way: WAY });
    assert.equal(says(payload), 'datagram of 2 B from port 7174');
    assert.equal(says(payload.subarray(0, 8)), 'datagram of 0 B from port 7174');
    assert.equal(says(payload.subarray(0, 7)), undefined);
    assert.equal(says(payload, '10.0.0.2'), undefined);
    assert.equal(says(payload, 'fd00::1'), undefined);
    assert.equal(says(payload.with(1, 24)), undefined);
  });

  it('tells in which order a buffer is named', () => {
    const span = { addr: 0x7f00_1234_5678n, key: 1, length: 65_536 };
    const targets = { ...span, length: 2 };
    const said = {
      version: 1,
      byteOrder: 'big',
      hasIomap: true,
      credits: 5,
      iomapSize: 0,
      targets,
      data: span,
    } as const;
    const hello = rsocketDissector.hello(encodeConnectionData(said));
    assert.equal(hello, 'credit for 5 messages, buffer of 65536 B, big-endian');
    for (const isLittle of [true, false]) {
      const payload = new Uint8Array(16);
      const view = new DataView(payload.buffer);
      view.setBigUint64(0, span.addr, isLittle);
      view.setUint32(12, span.length, isLittle);
      const immediate = immediateOf(Operation.SGL, 384);
      const words = rsocketDissector.message({ operation: 'WRITE', immediate, byteLength: 16, payload, way: WAY });
      assert.equal(words, 'SGL, credit to 384, buffer of 65536 B');
    }
  });
});
