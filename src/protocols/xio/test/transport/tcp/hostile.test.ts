import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { XioError } from '../../../transport/index.js';
import { FrameKind, MAX_ALONG_BYTES, MAX_HEAD_BYTES } from '../../../transport/tcp/wire.js';
import { simulate } from '../../../../../entry/sim.js';
import { facingRawPeer, frame } from '../../support/raw-peer.js';
import { pattern, untilIn } from '../../support/worlds.js';

const NONE = new Uint8Array(0);
const HEAD = pattern(10, 1);
const MAX_BODY_BYTES = 100_000;
const GOOD = frame(FrameKind.ALONG, HEAD, pattern(20, 2));

function mustBeKnown(failure: Error | undefined): asserts failure is XioError {
  assert.ok(failure instanceof XioError, String(failure));
}

describe('a peer of a TCP link that breaks the rules', () => {
  const lies: Readonly<Record<string, Uint8Array>> = {
    'a frame of kind 0': Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0),
    'a frame of kind 5': Uint8Array.of(5, 0, 0, 0, 0, 0, 0, 0),
    'a frame of kind 255': Uint8Array.of(255, 0, 0, 0, 0, 0, 0, 0),
    'something behind the kind': Uint8Array.of(FrameKind.ALONG, 1, 0, 0, 0, 0, 0, 0),
    'a head one byte too long': frame(FrameKind.ALONG, NONE, NONE, { headBytes: MAX_HEAD_BYTES + 1 }),
    'the longest head that can be said': frame(FrameKind.LANDED, NONE, NONE, { headBytes: 0xffff, bodyBytes: 1 }),
    'a body along that is one byte too long': frame(FrameKind.ALONG, NONE, NONE, { bodyBytes: MAX_ALONG_BYTES + 1 }),
    'a body that is one byte longer than is taken': frame(FrameKind.LANDED, HEAD, NONE, {
      bodyBytes: MAX_BODY_BYTES + 1,
    }),
    'the longest body that can be said': frame(FrameKind.LANDED, HEAD, NONE, { bodyBytes: 0xffff_ffff }),
    'a body of 2 GiB': frame(FrameKind.LANDED, HEAD, NONE, { bodyBytes: 0x8000_0000 }),
    'a body of no bytes that is to land': frame(FrameKind.LANDED, HEAD, NONE),
    'a probe with a head': frame(FrameKind.PROBE, HEAD, NONE),
    'a probe with a body': frame(FrameKind.PROBE, NONE, HEAD),
    'an answer with a head': frame(FrameKind.ANSWER, HEAD, NONE),
    'an answer with a body': frame(FrameKind.ANSWER, NONE, HEAD),
    'the request of a page of a browser': Buffer.from('POST / HTTP/1.1\r\nHost: localhost\r\n\r\n'),
  };
  for (const [what, bytes] of Object.entries(lies))
    for (const pieceBytes of [1, 1000])
      it(`by ${what} ends its link${pieceBytes === 1 ? ', also where it comes byte by byte' : ''}`, () =>
        simulate(async (sim) => {
          const { end, peer } = facingRawPeer(sim, { maxBodyBytes: MAX_BODY_BYTES }, { pieceBytes: () => pieceBytes });
          peer.say(GOOD, bytes, GOOD);
          await untilIn(sim, () => end.ends.length === 1 && peer.ends.length === 1);
          mustBeKnown(end.ends[0]);
          assert.equal(end.ends[0].code, 'XIO_E_MSG_INVALID');
          assert.equal(end.got.length, 1);
          assert.deepEqual(end.announced, []);
          assert.deepEqual(peer.ends, ['reset']);
          assert.deepEqual(end.wrongs, []);
        }));

  it('ends no link but its own', () =>
    simulate(async (sim) => {
      const [bad, good] = [facingRawPeer(sim), facingRawPeer(sim)];
      bad.peer.say(new Uint8Array(8));
      good.peer.say(GOOD);
      await untilIn(sim, () => bad.end.ends.length === 1 && good.end.got.length === 1);
      good.end.call((link) => link.send(HEAD, NONE, undefined));
      await untilIn(sim, () => good.peer.heard.length === 1);
      assert.deepEqual(good.end.ends, []);
    }));

  it('by a body that never comes keeps no message from other links, and no memory but what was given for it', () =>
    simulate(async (sim) => {
      const { end, peer, link } = facingRawPeer(sim, { maxBodyBytes: 0xffff_ffff });
      const landing = new Uint8Array(1000);
      end.onLanding = () => landing;
      peer.say(frame(FrameKind.LANDED, HEAD, pattern(500, 1), { bodyBytes: 1000 }));
      await untilIn(sim, () => landing[499] === pattern(500, 1)[499]);
      assert.deepEqual(end.got, []);
      link.redirect(landing);
      landing.fill(7);
      peer.say(pattern(499, 2));
      await sim.sleep(1000);
      assert.ok(landing.every((byte) => byte === 7));
      link.close();
      await untilIn(sim, () => end.ends.length === 1);
      assert.deepEqual([end.got, end.wrongs], [[], []]);
    }));

  it('by cutting a connection at any byte leaves its peer with the messages before, and tells it when one was cut', () =>
    simulate(async (sim) => {
      const messages = [
        frame(FrameKind.ALONG, HEAD, pattern(20, 2)),
        frame(FrameKind.LANDED, HEAD, pattern(30, 3)),
        frame(FrameKind.PROBE, NONE, NONE),
        frame(FrameKind.ALONG, NONE, NONE),
      ];
      const all = Buffer.concat(messages);
      const ends = messages.map((_, i) => Buffer.concat(messages.slice(0, i + 1)).length);
      for (let cut = 0; cut <= all.length; cut += 1)
        for (const how of ['end', 'reset'] as const) {
          const { end, peer } = facingRawPeer(sim);
          peer.say(all.subarray(0, cut));
          await sim.sleep(100);
          if (how === 'end') peer.stream.end();
          else peer.stream.abort();
          await untilIn(sim, () => end.ends.length === 1);
          const whole = ends.filter((at) => at <= cut).length;
          assert.equal(end.got.length, whole > 2 ? whole - 1 : whole);
          const [failure] = end.ends;
          if (how === 'end' && (cut === 0 || ends.includes(cut))) assert.equal(failure, undefined);
          else {
            mustBeKnown(failure);
            assert.equal(failure.code, how === 'end' ? 'XIO_E_PARTIAL_MSG' : 'XIO_E_READ_FAILED');
          }
          assert.deepEqual(end.wrongs, []);
        }
    }));
});

describe('a peer of a TCP link that does not read', () => {
  it('holds its sender back, which takes back what it wants, and gives up a close in time', () =>
    simulate(async (sim) => {
      const { end, peer, link } = facingRawPeer(sim);
      peer.stream.setReading(false);
      const body = pattern(60_000, 1);
      const helds = [];
      while (link.canSend) {
        assert.ok(helds.length < 20, 'it is held back');
        helds.push(end.call(() => link.send(HEAD, body, undefined)));
        await sim.sleep(100);
      }
      for (const held of helds) held?.takeBack();
      body.fill(0);
      await sim.sleep(1000);
      assert.equal(link.canSend, false);
      const begunUs = sim.nowUs;
      link.close();
      await untilIn(sim, () => end.ends.length === 1);
      assert.ok(sim.nowUs - begunUs < 10e6);
      assert.deepEqual([end.ends, end.wrongs], [[undefined], []]);
      peer.stream.setReading(true);
      await sim.sleep(1000);
      // What it gets in the end is what was sent.
      const heard = peer.heardBytes.subarray(18, 18 + 60_000);
      assert.deepEqual(heard, Buffer.from(pattern(60_000, 1)).subarray(0, heard.length));
    }));

  it('and goes on reading later, gets all that was sent before the link was closed', () =>
    simulate(async (sim) => {
      const { end, peer, link } = facingRawPeer(sim, {}, { roomBytes: 10_000 });
      peer.stream.setReading(false);
      end.call(() => link.send(HEAD, pattern(100_000, 1), undefined));
      link.close();
      for (let i = 0; i < 20; i += 1) {
        await sim.sleep(500_000);
        peer.stream.setReading(true);
        await sim.sleep(30);
        peer.stream.setReading(false);
        if (peer.heardBytes.length === 100_018) break;
      }
      peer.stream.setReading(true);
      await untilIn(sim, () => peer.ends.length === 1);
      assert.deepEqual(peer.heardBytes.subarray(18), Buffer.from(pattern(100_000, 1)));
      assert.deepEqual(peer.ends, ['end']);
    }));

  it('and only asks whether anybody is there, is answered once', () =>
    simulate(async (sim) => {
      const { end, peer, link } = facingRawPeer(sim, {}, { roomBytes: 100 });
      peer.stream.setReading(false);
      link.send(HEAD, pattern(1000, 1), undefined);
      await sim.sleep(100);
      for (let i = 0; i < 1000; i += 1) {
        peer.say(frame(FrameKind.PROBE, NONE, NONE));
        await sim.sleep(100);
      }
      peer.stream.setReading(true);
      await sim.sleep(10_000);
      assert.equal(peer.heardBytes.length, 18 + 1000 + 8);
      assert.deepEqual(end.ends, []);
    }));

  it('and goes on sending to a link that is closed, is given up in time', () =>
    simulate(async (sim) => {
      const { end, peer, link } = facingRawPeer(sim);
      peer.stream.setReading(false);
      end.call(() => link.send(HEAD, pattern(300_000, 1), undefined));
      link.close();
      const begunUs = sim.nowUs;
      while (end.ends.length === 0) {
        peer.say(GOOD);
        await sim.sleep(100_000);
        assert.ok(sim.nowUs - begunUs < 60e6, 'it is given up');
      }
      assert.deepEqual([end.ends, end.got], [[undefined], []]);
    }));
});

describe('a peer of a TCP link', () => {
  it('is asked once whether it is there, until it is heard', () =>
    simulate(async (sim) => {
      const { peer, link } = facingRawPeer(sim);
      for (let i = 0; i < 10; i += 1) {
        link.probe();
        await sim.sleep(100);
      }
      assert.deepEqual(peer.heardBytes, Buffer.from(frame(FrameKind.PROBE, NONE, NONE)));
      peer.say(frame(FrameKind.ANSWER, NONE, NONE));
      await untilIn(sim, () => link.heard === 1);
      link.probe();
      await untilIn(sim, () => peer.heardBytes.length === 16);
    }));

  it('that takes what was sent is heard, though it says nothing', () =>
    simulate(async (sim) => {
      const { peer, link } = facingRawPeer(sim, {}, { roomBytes: 1000 });
      peer.stream.setReading(false);
      link.send(HEAD, pattern(5000, 1), undefined);
      await sim.sleep(1000);
      assert.equal(link.heard, 0);
      peer.stream.setReading(true);
      await untilIn(sim, () => link.heard === 1);
    }));

  it('never gets bytes that were sent to others, whatever becomes of the memory of a body', () =>
    simulate(async (sim) => {
      const [one, other] = [facingRawPeer(sim), facingRawPeer(sim)];
      one.link.send(HEAD, pattern(100_000, 1), undefined);
      await untilIn(sim, () => one.peer.heardBytes.length === 100_018);
      const body = new Uint8Array(20_000);
      other.link.send(HEAD, body, undefined);
      structuredClone(body, { transfer: [body.buffer] });
      await untilIn(sim, () => other.end.ends.length === 1);
      const [failure] = other.end.ends;
      mustBeKnown(failure);
      assert.equal(failure.code, 'XIO_E_NO_USER_BUFS');
      assert.equal(other.peer.heardBytes.length, 0);
    }));

  it('whose body was to land in memory that the program has transferred is heard, without that', () =>
    simulate(async (sim) => {
      const { end, peer } = facingRawPeer(sim);
      const landing = new Uint8Array(1000);
      end.onLanding = () => landing;
      const bytes = frame(FrameKind.LANDED, HEAD, pattern(1000, 1));
      peer.say(bytes.subarray(0, 500));
      await untilIn(sim, () => end.announced.length === 1);
      structuredClone(landing, { transfer: [landing.buffer] });
      peer.say(bytes.subarray(500), GOOD);
      await untilIn(sim, () => end.got.length === 2);
      assert.equal(end.got[0].body.length, 0);
      assert.deepEqual(end.got[1].head, HEAD);
    }));

  it('that is closed is told so by the end of the connection, once it has all', () =>
    simulate(async (sim) => {
      const { end, peer, link } = facingRawPeer(sim);
      end.call(() => link.send(HEAD, pattern(50_000, 1), undefined));
      link.close();
      await untilIn(sim, () => peer.ends.length === 1);
      assert.equal(peer.heardBytes.length, 50_018);
      assert.deepEqual([peer.ends, end.ends], [['end'], []]);
      const begunUs = sim.nowUs;
      peer.say(GOOD);
      peer.stream.end();
      await untilIn(sim, () => end.ends.length === 1);
      assert.deepEqual([end.ends, end.got], [[undefined], []]);
      // It knows by what has come, and not by the time.
      assert.ok(sim.nowUs - begunUs < 1e6);
    }));

  it('that never ends its side is given up in time, and keeps what it has been sent', () =>
    simulate(async (sim) => {
      const { end, peer, link } = facingRawPeer(sim);
      end.call(() => link.send(HEAD, pattern(50_000, 1), undefined));
      link.close();
      peer.stream.setReading(false);
      const begunUs = sim.nowUs;
      await untilIn(sim, () => end.ends.length === 1);
      assert.ok(sim.nowUs - begunUs < 10e6);
      peer.stream.setReading(true);
      await untilIn(sim, () => peer.ends.length === 1);
      assert.equal(peer.heardBytes.length, 50_018);
      assert.deepEqual(peer.ends, ['end']);
    }));
});
