import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { Errno, gidFromIp } from '../../../device/ibta/index.js';
import { type FramePort, LinkError } from '../../../device/link/index.js';
import { buildIpUdpHeader, createPath, pathHeader } from '../../../device/wire/index.js';
import { DgramLink, UdpLink } from '../index.js';
import { PollSet } from '../../system/index.js';
import { ip, isInside, namespaceProblem, runInside, untilUp } from './namespace.js';
import { ReceiverProcess, type Seen } from './receiver-process.js';
import { commit, Inbox, packet, pathBetween, PATIENCE_US, receiveAll, sealed, verifiedId } from './udp-helpers.js';

const opened: UdpLink[] = [];

function open(address: string): UdpLink {
  const link = UdpLink.open({ address });
  opened.push(link);
  return link;
}

/** The host at the other end of the cable, with packets to come. */
async function startFar(address: string, count: number, groups: readonly string[]): Promise<ReceiverProcess> {
  const far = await ReceiverProcess.startElsewhere(
    (pid) => {
      ip('link add va type veth peer name vb');
      ip('addr add 10.85.0.1/24 dev va');
      ip('addr add fd85::1/64 dev va nodad');
      ip('addr add fe80::1/64 dev va nodad');
      ip(`link set vb netns ${pid}`);
      ip('link set va up');
    },
    'ip addr add 10.85.0.2/24 dev vb; ip addr add fd85::2/64 dev vb nodad; ' +
      'ip addr add fe80::2/64 dev vb nodad; ip link set vb up',
    address,
    count,
    groups,
  );
  untilUp('va');
  return far;
}

function inside(): void {
  before(() => ip('link set lo up'));
  afterEach(() => {
    for (const link of opened.splice(0)) link.close();
  });

  describe('two hosts joined by a cable', () => {
    afterEach(() => {
      // The other end may have gone with its host.
      try {
        ip('link del va');
      } catch {
        // It has.
      }
    });

    for (const [version, near, far, group] of [
      ['IPv4', '10.85.0.1', '10.85.0.2', '239.85.0.1'],
      ['IPv6', 'fd85::1', 'fd85::2', 'ff0e::85'],
      ['IPv6 within the link', 'fe80::1%va', 'fe80::2%vb', 'ff02::85'],
    ] as const) {
      it(`hear each other in a group of ${version}, with right ICRCs, and the sender hears itself`, async () => {
        const receiver = await startFar(far, 5, [group]);
        const link = open(near);
        link.joinGroup(gidFromIp(group));
        const dgid = gidFromIp(group);
        const flowLabel = link.ipv6 ? 0x12345 : 0;
        const plain = pathBetween(link, group);
        const special = createPath({ sgid: link.gid, dgid, trafficClass: 0x62, hopLimit: 7, flowLabel });
        for (const path of [plain, plain, plain, plain, special]) {
          const offset = link.sink.reserve(path, 1000);
          link.sink.bytes.set(sealed(path, packet(1000), link.sink.ipId), offset);
          link.sink.commit();
        }
        link.flush();
        const own = receiveAll(link, 5);
        assert.ok(own.every((received) => verifiedId(received) >= 0));
        const seen = await receiver.packets();
        const source = near.replace(/%.*/, '');
        const common = { length: 1000, source, destination: group };
        const [first] = seen;
        assert.deepEqual({ ...first, ipId: 0 }, {
          ...common,
          hopLimit: 64,
          trafficClass: 0,
          flowLabel: 0,
          ipId: 0,
        } satisfies Seen);
        assert.deepEqual({ ...seen[4], ipId: 0 }, {
          ...common,
          hopLimit: 7,
          trafficClass: 0x62,
          flowLabel,
          ipId: 0,
        } satisfies Seen);
        assert.ok(seen.every(({ ipId }) => ipId >= 0));
      });
    }

    it('carry flow label, traffic class and hop limit of IPv6 to one address', async () => {
      const receiver = await startFar('fd85::2', 1, []);
      const link = open('fd85::1');
      const headers = { trafficClass: 0xa1, hopLimit: 3, flowLabel: 0xfedcb };
      const path = createPath({ sgid: link.gid, dgid: gidFromIp('fd85::2'), ...headers });
      commit(link, path, sealed(path, packet(64), 0));
      link.flush();
      const [{ trafficClass, hopLimit, flowLabel, ipId }] = await receiver.packets();
      assert.deepEqual({ trafficClass, hopLimit, flowLabel, ipId }, { ...headers, ipId: 0 });
    });
  });

  describe('an IPv6 group on loopback', () => {
    after(() => ip('-6 route del local ff00::/8 dev lo'));

    it('wants a route, and says which', () => {
      const link = open('::1');
      assert.throws(
        () => link.joinGroup(gidFromIp('ff0e::85')),
        (error) =>
          error instanceof LinkError &&
          error.errno === 'ENETUNREACH' &&
          error.message.includes('ip -6 route add local ff00::/8 dev lo'),
      );
    });

    it('works with that route', () => {
      ip('-6 route add local ff00::/8 dev lo');
      const link = open('::1');
      link.joinGroup(gidFromIp('ff0e::85'));
      const path = pathBetween(link, 'ff0e::85');
      commit(link, path, sealed(path, packet(64), 0));
      link.flush();
      const [received] = receiveAll(link, 1);
      assert.deepEqual([received.destination, verifiedId(received)], ['ff0e::85', 0]);
    });
  });

  describe('the status of a link', () => {
    before(() => {
      ip('link add vc type veth peer name vd');
      ip('addr add 10.86.0.1/24 dev vc');
      ip('link set vc up');
      ip('link set vd up');
      untilUp('vc');
    });

    it('knows an interface that has no carrier yet', () => {
      ip('link add vx mtu 1300 type veth peer name vy');
      ip('addr add 10.89.0.1/24 dev vx');
      ip('link set vx up');
      const link = open('10.89.0.1');
      assert.equal(link.maxPacketBytes, 1300 - 28);
      assert.deepEqual(link.refresh(), { up: false, present: true });
      ip('link set vy up');
      untilUp('vx');
      assert.deepEqual(link.refresh(), { up: true, present: true });
    });

    it('follows the address and the interface', () => {
      const link = open('10.86.0.1');
      const seen: unknown[] = [link.refresh()];
      for (const change of ['addr del 10.86.0.1/24 dev vc', 'addr add 10.86.0.1/24 dev vc', 'link set vc down']) {
        ip(change);
        seen.push(link.refresh());
      }
      ip('link del vc');
      assert.deepEqual(link.status(), seen[3]);
      seen.push(link.refresh());
      assert.deepEqual(seen, [
        { up: true, present: true },
        { up: true, present: false },
        { up: true, present: true },
        { up: false, present: true },
        { up: false, present: false },
      ]);
    });
  });

  describe('a link-local address', () => {
    before(() => {
      for (const [name, peer] of [
        ['v1', 'v1peer'],
        ['v2', 'v2peer'],
      ]) {
        ip(`link add ${name} type veth peer name ${peer}`);
        ip(`link set ${name} up`);
        ip(`link set ${peer} up`);
        ip(`addr add fe80::86/64 dev ${name} nodad`);
      }
      ip('addr add fe80::87/64 dev v1 nodad');
      untilUp('v1');
    });

    it('needs its interface when there are two that have it', () => {
      assert.throws(
        () => open('fe80::86'),
        (error) =>
          error instanceof LinkError &&
          error.errno === 'EINVAL' &&
          error.message.endsWith('v1 and v2 have it. Say which: fe80::86%v1.'),
      );
      open('fe80::86%v2');
    });

    it('needs none when there is one', () => {
      assert.equal(open('fe80::87').address, 'fe80::87');
    });

    it('is good for groups by the sockets of Node, too', async () => {
      const link = DgramLink.open({ address: 'fe80::87%v1', warn: () => undefined });
      link.joinGroup(gidFromIp('ff02::87'));
      const path = pathBetween(link, 'ff02::87');
      commit(link, path, sealed(path, packet(64), 0));
      link.ref();
      const inbox = new Inbox();
      const arrived = new Promise<void>((resolve) => {
        link.onReadable = () => {
          if (link.receive(inbox, 4) > 0) resolve();
        };
      });
      link.flush();
      await arrived;
      link.close();
      const [received] = inbox.packets;
      assert.deepEqual([received.source, received.destination, verifiedId(received)], ['fe80::87', 'ff02::87', 0]);
    });
  });

  describe('Ethernet frames', () => {
    before(() => {
      ip('link add vi type veth peer name vj');
      ip('addr add 10.87.0.1/24 dev vi');
      // Of other networks, so that packets between them go through the cable, though both ends are here.
      ip('addr add 10.88.0.1/24 dev vj');
      for (const name of ['vi', 'vj']) ip(`link set ${name} addrgenmode none up`);
      for (const name of ['vi', 'vj']) ip(`link set ${name} arp off`);
      for (const name of ['vi', 'vj']) untilUp(name);
    });

    const EXPERIMENT = [0x88, 0xb5];
    const frame = (to: Uint8Array, from: Uint8Array, type: readonly number[], payload = packet(46)): Uint8Array =>
      Uint8Array.from([...to, ...from, ...type, ...payload]);

    function send(port: FramePort, bytes: Uint8Array): void {
      assert.equal(port.send(bytes, 0, bytes.length), 0);
    }

    /** What arrives before the frame that is the last, without what the kernels have to tell each other. */
    function framesUntil(link: UdpLink, last: Uint8Array): Uint8Array[] {
      const inbox = new Inbox();
      const poll = new PollSet(link.pollFds);
      const isLast = (bytes: Uint8Array): boolean => Buffer.compare(bytes, last) === 0;
      while (!inbox.frames.some(isLast)) {
        if (link.receive(inbox, 64) === 0)
          assert.ok(poll.wait(PATIENCE_US) > 0, `${inbox.frames.length} frames arrived`);
      }
      const ours = inbox.frames.filter((bytes) => bytes[6] === last[6] && bytes[11] === last[11] && bytes.length >= 60);
      return ours.slice(0, ours.findIndex(isLast));
    }

    it('arrive as they were sent, when they are for the host, all or a group', () => {
      const [a, b] = [open('10.87.0.1'), open('10.88.0.1')];
      const [out, back] = [a.openFrames(), b.openFrames()];
      const stranger = Uint8Array.of(2, 9, 9, 9, 9, 9);
      const to = [back.mac, new Uint8Array(6).fill(0xff), Uint8Array.of(1, 0, 0x5e, 1, 2, 3), stranger];
      const frames = to.map((mac) => frame(mac, out.mac, EXPERIMENT));
      const last = frame(back.mac, out.mac, EXPERIMENT, packet(50));
      for (const bytes of [...frames, last]) send(out, bytes);
      assert.deepEqual(framesUntil(b, last), frames.slice(0, 3));
    });

    it('keep their VLAN tag', () => {
      const [a, b] = [open('10.87.0.1'), open('10.88.0.1')];
      const [out, back] = [a.openFrames(), b.openFrames()];
      const tagged = frame(back.mac, out.mac, [0x81, 0x00, 0x60, 0x05, ...EXPERIMENT]);
      const last = frame(back.mac, out.mac, EXPERIMENT, packet(50));
      send(out, tagged);
      send(out, last);
      assert.deepEqual(framesUntil(b, last), [tagged]);
    });

    it('do not arrive when they hold RoCEv2, which the other socket takes', () => {
      const [a, b] = [open('10.87.0.1'), open('10.88.0.1')];
      const [out, back] = [a.openFrames(), b.openFrames()];
      const udpFrame = (ipv6: boolean, port: number): Uint8Array => {
        const [from, to] = ipv6 ? ['fd87::1', 'fd88::1'] : ['10.87.0.1', '10.88.0.1'];
        const bytes = new Uint8Array(80);
        const header = pathHeader(createPath({ sgid: gidFromIp(from), dgid: gidFromIp(to) }), 0);
        const headerBytes = buildIpUdpHeader(bytes, 0, header, 20);
        bytes.set([port >> 8, port & 0xff], headerBytes - 6);
        return frame(back.mac, out.mac, ipv6 ? [0x86, 0xdd] : [0x08, 0x00], bytes);
      };
      const frames = [false, true].flatMap((ipv6) => [4790, 4791, 4792].map((port) => udpFrame(ipv6, port)));
      const last = frame(back.mac, out.mac, EXPERIMENT, packet(50));
      for (const bytes of [...frames, last]) send(out, bytes);
      assert.deepEqual(
        framesUntil(b, last),
        frames.filter((_, i) => i % 3 !== 1),
      );
    });

    it('are refused when they are too short or too long, or the port is closed', () => {
      const port = open('10.87.0.1').openFrames();
      const bytes = new Uint8Array(2000);
      assert.equal(port.maxFrameBytes, 1514);
      assert.deepEqual([port.send(bytes, 0, 13), port.send(bytes, 0, 1515)], [Errno.EINVAL, Errno.EMSGSIZE]);
      port.close();
      assert.equal(port.send(bytes, 0, 100), Errno.ENETDOWN);
    });

    it('are polled for while the port is open', () => {
      const link = open('10.87.0.1');
      const port = link.openFrames();
      assert.equal(link.openFrames(), port);
      assert.equal(link.pollFds.length, 2);
      port.close();
      assert.equal(link.pollFds.length, 1);
      assert.notEqual(link.openFrames(), port);
    });
  });
}

if (isInside) {
  inside();
} else {
  describe('a network of its own', { skip: namespaceProblem() }, () => {
    it('does what the tests within it want', () => runInside(import.meta.url));
  });
}
