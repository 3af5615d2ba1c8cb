import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Errno, gidFromIp } from '../../ibta/index.js';
import { type FramePort, type SimulatedLink, SimulatedNetwork } from '../index.js';
import { buildIpUdpHeader, createPath, pathHeader } from '../../wire/index.js';
import { Inbox, packet } from '../../../node/links/test/udp-helpers.js';

const TO_ALL = new Uint8Array(6).fill(0xff);
const EXPERIMENT = [0x88, 0xb5];

interface Host {
  readonly link: SimulatedLink;
  readonly port: FramePort;
}

function world(): { network: SimulatedNetwork; a: Host; b: Host; c: Host } {
  const network = new SimulatedNetwork({ seed: 1 });
  const [a, b, c] = [1, 2, 3].map((n) => {
    const link = network.attach(`10.0.0.${n}`);
    return { link, port: link.openFrames() };
  });
  return { network, a, b, c };
}

function frame(
  to: Uint8Array,
  from: Uint8Array,
  type: readonly number[] = EXPERIMENT,
  payload = packet(46),
): Uint8Array {
  return Uint8Array.from([...to, ...from, ...type, ...payload]);
}

function send({ port }: Host, bytes: Uint8Array): number {
  return port.send(bytes, 0, bytes.length);
}

/** What has arrived at a host after a while. */
function arrived(network: SimulatedNetwork, { link }: Host): Inbox {
  network.advanceTo(network.nowUs + 1000);
  const inbox = new Inbox();
  link.receive(inbox, 100);
  return inbox;
}

describe('Ethernet frames of a simulated network', () => {
  it('go to the host that they name, and to no other', () => {
    const { network, a, b, c } = world();
    const bytes = frame(b.port.mac, a.port.mac);
    assert.equal(send(a, bytes), 0);
    assert.deepEqual(
      [a, b, c].map((host) => arrived(network, host).frames),
      [[], [bytes], []],
    );
  });

  it('go to all but their sender when they are for all or for a group', () => {
    const { network, a, b, c } = world();
    const frames = [frame(TO_ALL, a.port.mac), frame(Uint8Array.of(0x33, 0x33, 0, 0, 0, 1), a.port.mac)];
    for (const bytes of frames) send(a, bytes);
    assert.deepEqual(
      [a, b, c].map((host) => arrived(network, host).frames),
      [[], frames, frames],
    );
  });

  it('come from hosts with addresses of their own', () => {
    const { a, b, c } = world();
    const macs = [a, b, c].map(({ port }) => [...port.mac].join());
    assert.equal(new Set(macs).size, 3);
    // Individual, and made up.
    for (const { port } of [a, b, c]) assert.equal(port.mac[0] & 3, 2);
  });

  it('are copied, so that the memory can be used again at once', () => {
    const { network, a, b } = world();
    const bytes = frame(b.port.mac, a.port.mac);
    const sent = bytes.slice();
    send(a, bytes);
    bytes.fill(0);
    assert.deepEqual(arrived(network, b).frames, [sent]);
  });

  it('meet the conditions that packets meet', () => {
    const { network, a, b } = world();
    network.setDirection('10.0.0.1', '10.0.0.2', { mtuBytes: 100 });
    const fitting = frame(b.port.mac, a.port.mac, EXPERIMENT, packet(100));
    send(a, fitting);
    send(a, frame(b.port.mac, a.port.mac, EXPERIMENT, packet(101)));
    assert.deepEqual(arrived(network, b).frames, [fitting]);
    network.setDirection('10.0.0.1', '10.0.0.2', { loss: 1 });
    send(a, fitting);
    assert.deepEqual(arrived(network, b).frames, []);
    assert.deepEqual([network.counts.tooBig, network.counts.lost], [1, 1]);
  });

  it('arrive in order with packets', () => {
    const { network, a, b } = world();
    const order: string[] = [];
    const path = createPath({ sgid: a.link.gid, dgid: b.link.gid });
    for (let n = 0; n < 2; n += 1) {
      a.link.sink.reserve(path, 20);
      a.link.sink.commit();
      a.link.flush();
      send(a, frame(b.port.mac, a.port.mac));
    }
    network.advanceTo(100);
    b.link.receive({ receive: () => order.push('packet'), receiveFrame: () => order.push('frame') }, 100);
    assert.deepEqual(order, ['packet', 'frame', 'packet', 'frame']);
  });

  it('are dropped where nobody wants them', () => {
    const { network, a, b } = world();
    b.port.close();
    send(a, frame(b.port.mac, a.port.mac));
    send(a, frame(Uint8Array.of(2, 9, 9, 9, 9, 9), a.port.mac));
    assert.deepEqual(arrived(network, b).frames, []);
    assert.equal(network.counts.unroutable, 2);
  });

  it('do no harm to a receiver that knows of none', () => {
    const { network, a, b } = world();
    send(a, frame(b.port.mac, a.port.mac));
    network.advanceTo(100);
    assert.equal(b.link.receive({ receive: () => assert.fail('a packet') }, 100), 1);
  });

  it('are refused when they are too short or too long, or the port is closed', () => {
    const { a } = world();
    const { maxFrameBytes } = a.port;
    assert.equal(maxFrameBytes, 14 + 28 + a.link.maxPacketBytes);
    const bytes = new Uint8Array(maxFrameBytes + 1);
    assert.deepEqual(
      [13, 14, maxFrameBytes, maxFrameBytes + 1].map((length) => a.port.send(bytes, 0, length)),
      [Errno.EINVAL, 0, 0, Errno.EMSGSIZE],
    );
    a.link.close();
    assert.equal(a.port.send(bytes, 0, 100), Errno.ENETDOWN);
    assert.throws(() => a.link.openFrames(), { name: 'LinkError', errno: 'ENETDOWN' });
  });

  it('are one port until it is closed', () => {
    const { a } = world();
    assert.equal(a.link.openFrames(), a.port);
    a.port.close();
    assert.notEqual(a.link.openFrames(), a.port);
  });
});

describe('a RoCEv2 packet in an Ethernet frame', () => {
  /** A frame from the first host with a packet to an address, for all hosts. */
  function holding(a: Host, to: string, hopLimit: number): Uint8Array {
    const path = createPath({ sgid: a.link.gid, dgid: gidFromIp(to), hopLimit });
    const bytes = new Uint8Array(28 + 32);
    const headerBytes = buildIpUdpHeader(bytes, 0, pathHeader(path, 0x1234), 32);
    bytes.set(packet(32), headerBytes);
    return frame(TO_ALL, a.port.mac, [0x08, 0x00], bytes);
  }

  it('arrives as any other packet at the host that has its address', () => {
    const { network, a, b, c } = world();
    b.port.close();
    send(a, holding(a, '10.0.0.2', 9));
    const [inbox, other] = [arrived(network, b), arrived(network, c)];
    const [{ bytes, source, destination, hopLimit, ipId }] = inbox.packets;
    assert.deepEqual(bytes, packet(32));
    assert.deepEqual([source, destination, hopLimit, ipId], ['10.0.0.1', '10.0.0.2', 9, 0x1234]);
    assert.deepEqual([inbox.frames, other.frames, other.packets], [[], [], []]);
  });

  it('arrives at the members of its group', () => {
    const { network, a, b, c } = world();
    c.link.joinGroup(gidFromIp('239.0.0.1'));
    send(a, holding(a, '239.0.0.1', 1));
    assert.deepEqual(
      [b, c].map((host) => arrived(network, host).packets.length),
      [0, 1],
    );
  });

  it('is a frame like any other when it is cut short', () => {
    const { network, a, b } = world();
    const bytes = holding(a, '10.0.0.2', 9).slice(0, 60);
    send(a, bytes);
    assert.deepEqual(arrived(network, b).frames, [bytes]);
  });
});
