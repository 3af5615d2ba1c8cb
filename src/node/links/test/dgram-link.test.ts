import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, describe, it } from 'node:test';
import { LinkError } from '../../../device/link/index.js';
import { crc32, IcrcVerifier, PacketMeta, sealIcrc } from '../../../device/wire/index.js';
import { DgramLink, UdpLink } from '../index.js';
import { nativeHostProblem } from '../../system/index.js';
import { loopback } from '../../../../test/support/loopback.js';
import { commit, Inbox, packet, pathBetween, receiveAll } from './udp-helpers.js';

const LINKS = new URL('../index.js', import.meta.url).href;
const opened: { close(): void }[] = [];

function open(address?: string): DgramLink {
  const link = DgramLink.open({ address, warn: () => undefined });
  opened.push(link);
  return link;
}

/** Waits until so many packets have arrived. */
async function arrivals(link: DgramLink, count: number): Promise<Inbox> {
  const inbox = new Inbox();
  link.ref();
  await new Promise<void>((resolve) => {
    link.onReadable = () => {
      while (link.receive(inbox, 4) > 0);
      if (inbox.packets.length >= count) resolve();
    };
  });
  link.unref();
  return inbox;
}

describe('DgramLink', () => {
  after(() => {
    for (const link of opened) link.close();
  });

  it('carries packets, and tells where they came from', async () => {
    const [a, b] = [open(loopback(1)), open(loopback(2))];
    const path = pathBetween(a, b);
    for (let n = 0; n < 10; n += 1) commit(a, path, packet(4136 - 4 * n, n));
    a.flush();
    const { packets } = await arrivals(b, 10);
    assert.deepEqual(
      packets.map(({ bytes }) => bytes),
      Array.from({ length: 10 }, (_, n) => packet(4136 - 4 * n, n)),
    );
    const { source, destination, sourcePort, ipId } = packets[0];
    assert.deepEqual(
      { source, destination, sourcePort, ipId },
      { source: loopback(1), destination: loopback(2), sourcePort: 4791, ipId: -1 },
    );
  });

  it('is open, or has failed, at once', () => {
    const link = open(loopback(5));
    assert.throws(
      () => open(loopback(5)),
      (error) => error instanceof LinkError && error.errno === 'EADDRINUSE' && error.message.includes('is taken'),
    );
    assert.throws(
      () => open('203.0.113.7'),
      (error) => error instanceof LinkError && error.errno === 'EADDRNOTAVAIL',
    );
    link.close();
  });

  it('takes the first free loopback address by default', () => {
    const [a, b] = [open(), open()];
    assert.match(a.address, /^127\.0\.0\./);
    assert.notEqual(a.address, b.address);
  });

  it('talks with a link that makes system calls', { skip: nativeHostProblem() ?? false }, async () => {
    const slow = open(loopback(9));
    const quick = UdpLink.open({ address: loopback(10) });
    opened.push(quick);
    const bytes = packet(64);
    sealIcrc(crc32, pathBetween(slow, quick), bytes, 0, bytes.length, 0);
    commit(slow, pathBetween(slow, quick), bytes);
    slow.flush();
    const [received] = receiveAll(quick, 1);
    const meta = new PacketMeta();
    meta.source.set(slow.gid);
    meta.destination.set(quick.gid);
    assert.equal(new IcrcVerifier(crc32).verify(received.bytes, 0, received.bytes.length, meta), 0);
    commit(quick, pathBetween(quick, slow), packet(40));
    quick.flush();
    assert.equal((await arrivals(slow, 1)).packets[0].source, loopback(10));
  });

  it('keeps a bounded number of packets that nobody takes', async () => {
    const [a, b] = [open(loopback(13)), open(loopback(14))];
    let sent = 0;
    while (b.statistics()['receive_dropped'] === 0) {
      // Room for 4 MiB, so this ends; more would mean that it does not.
      assert.ok(sent < 20_000, 'nothing was dropped');
      for (let n = 0; n < 50; n += 1) commit(a, pathBetween(a, b), packet(4000));
      sent += 50;
      a.flush();
      await new Promise((resolve) => setImmediate(resolve));
    }
    const inbox = new Inbox();
    while (b.receive(inbox, 64) > 0);
    assert.ok(inbox.packets.length <= (4 * 1024 * 1024) / 4000);
  });

  it('begins to count at 0', () => {
    const link = open(loopback(19));
    assert.deepEqual(new Set(Object.values(link.statistics())), new Set([0]));
  });

  it('does nothing more once it is closed', async () => {
    const [a, b] = [open(loopback(17)), open(loopback(18))];
    commit(a, pathBetween(a, b), packet(40));
    a.flush();
    await arrivals(b, 1);
    a.close();
    a.close();
    commit(a, pathBetween(a, b), packet(40));
    a.flush();
    a.ref();
    assert.equal(a.receive(new Inbox(), 16), 0);
    assert.equal(a.statistics()['sent_packets'], 1);
  });

  it('says once what is lost, and does not keep the process alive', () => {
    const source = `
      import { DgramLink } from '${LINKS}';
      const warn = (text) => console.log(text);
      DgramLink.open({ address: '${loopback(21)}', reason: 'koffi is away', warn });
      DgramLink.open({ address: '${loopback(22)}', reason: 'koffi is away', warn });`;
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', source], { encoding: 'utf8' });
    assert.match(output, /^packets go through node:dgram, because koffi is away\. It works, but: .*\.\n$/);
  });
});
