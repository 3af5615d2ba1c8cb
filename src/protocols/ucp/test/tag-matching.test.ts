import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  FULL_MASK,
  MESSAGE_COST,
  type TagInfo,
  tagIn,
  TagMatching,
  tagOf,
  type TagPeer,
  type PeerProblem,
  type TagReceive,
  tagValue,
} from '../protocol/index.js';
import { UcsStatus } from '../wire/index.js';
import { TagModel } from './support/tag-model.js';
import { pattern } from './support/transports.js';

const { UCS_OK, UCS_ERR_MESSAGE_TRUNCATED, UCS_ERR_CANCELED, UCS_ERR_CONNECTION_RESET } = UcsStatus;
const ANY = 0n;
const FULL = tagValue(FULL_MASK);
const LIMIT = 10_000;

/** A receive that takes note of how it ended. */
class Receive implements TagReceive {
  readonly tag;
  readonly mask;
  readonly buffer: Uint8Array;
  readonly ends: [UcsStatus, bigint | undefined, number | undefined][] = [];
  /** The buffer when it ended. */
  last = new Uint8Array(0);

  constructor(tag: bigint, mask: bigint, length: number) {
    this.tag = tagOf(tag);
    this.mask = tagOf(mask);
    this.buffer = new Uint8Array(length).fill(0xee);
  }

  onDone(status: UcsStatus, message: TagInfo | undefined): void {
    this.ends.push([status, message && tagValue(message.tag), message?.length]);
    this.last = this.buffer.slice();
  }
}

function posted(matching: TagMatching, tag: bigint, mask = FULL, length = 64): Receive {
  const receive = new Receive(tag, mask, length);
  matching.post(receive);
  return receive;
}

function start(limit = LIMIT): { matching: TagMatching; peer: TagPeer } {
  const matching = new TagMatching(limit);
  return { matching, peer: matching.peer() };
}

describe('tags', () => {
  it('are the same as halves, as numbers and as 64 bits', () => {
    for (const value of [0n, 1n, 0x8000_0000n, 0xffff_ffffn, 2n ** 32n, 2n ** 53n - 1n]) {
      assert.equal(tagValue(tagOf(value)), value);
      assert.deepEqual(tagOf(Number(value)), tagOf(value));
    }
    assert.equal(tagValue(tagOf(2n ** 64n - 1n)), 2n ** 64n - 1n);
  });

  it('are the same where they lie in messages', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.nat(9), (value, at) => {
        const bytes = new Uint8Array(at + 8);
        new DataView(bytes.buffer).setBigUint64(at, value, true);
        assert.deepEqual(tagIn(bytes, at), tagOf(value));
      }),
    );
  });
});

describe('tag matching', () => {
  it('gives a message to the receive that was posted first, whatever its mask', () => {
    const { matching, peer } = start();
    const exact = posted(matching, 7n);
    const wild = posted(matching, 0n, ANY);
    const later = posted(matching, 7n);
    for (const first of [1, 2, 3]) peer.only(tagOf(7n), Uint8Array.of(first));
    assert.deepEqual(
      [exact, wild, later].map(({ buffer }) => buffer[0]),
      [1, 2, 3],
    );
    const [masked, after] = [posted(matching, 0x100n, 0xff00n), posted(matching, 0x107n)];
    peer.only(tagOf(0x107n), Uint8Array.of(4));
    assert.deepEqual([masked.ends, after.ends], [[[UCS_OK, 0x107n, 1]], []]);
  });

  it('gives a receive the message that came first, whatever its mask', () => {
    const { matching, peer } = start();
    for (const tag of [7n, 8n, 7n]) peer.only(tagOf(tag), Uint8Array.of(Number(tag)));
    assert.deepEqual(posted(matching, 8n).ends, [[UCS_OK, 8n, 1]]);
    assert.deepEqual(posted(matching, 0n, ANY).ends, [[UCS_OK, 7n, 1]]);
    assert.deepEqual(posted(matching, 7n).ends, [[UCS_OK, 7n, 1]]);
    assert.deepEqual(posted(matching, 7n).ends, []);
    assert.equal(matching.keptBytes, 0);
  });

  it('takes the data behind the fields of a message, be it short or long, and writes nothing behind it', () => {
    for (const length of [0, 1, 8, 31, 32, 33, 100])
      for (const isLate of [false, true]) {
        const { matching, peer } = start();
        const message = Uint8Array.of(...new Uint8Array(8), ...pattern(length));
        if (isLate) peer.only(tagOf(1n), message, undefined, 8);
        const receive = posted(matching, 1n, FULL, length + 1);
        if (!isLate) peer.only(tagOf(1n), message, undefined, 8);
        assert.deepEqual(receive.ends, [[UCS_OK, 1n, length]]);
        assert.deepEqual(receive.buffer, Uint8Array.of(...pattern(length), 0xee));
      }
  });

  it('heeds all 64 bits', () => {
    const { matching, peer } = start();
    const receives = [1n << 63n, 1n << 32n, 1n << 31n, 0n].map((tag) => posted(matching, tag));
    peer.only(tagOf(1n << 31n), Uint8Array.of(1));
    assert.deepEqual(
      receives.map(({ ends }) => ends.length),
      [0, 0, 1, 0],
    );
  });

  it('changes no buffer that is too short, and says how long the message is', () => {
    const { matching, peer } = start();
    const expected = posted(matching, 1n, FULL, 4);
    peer.only(tagOf(1n), new Uint8Array(5));
    peer.only(tagOf(1n), new Uint8Array(5));
    const unexpected = posted(matching, 1n, FULL, 4);
    for (const { ends, buffer } of [expected, unexpected]) {
      assert.deepEqual(ends, [[UCS_ERR_MESSAGE_TRUNCATED, 1n, 5]]);
      assert.deepEqual(buffer, new Uint8Array(4).fill(0xee));
    }
    assert.equal(matching.keptBytes, 0);
  });

  it('puts parts together, whether the receive was there before, between or after them', () => {
    const bytes = pattern(100);
    for (const when of [0, 1, 2, 3]) {
      const { matching, peer } = start();
      let receive: Receive | undefined;
      const steps = [
        () => peer.first(tagOf(5n), 100, 1, bytes.subarray(0, 40)),
        () => peer.middle(1, 40, bytes.subarray(40, 80)),
        () => peer.middle(1, 80, bytes.subarray(80)),
      ];
      for (const [at, step] of [...steps, () => undefined].entries()) {
        if (at === when) receive = posted(matching, 5n, FULL, 200);
        assert.equal(step(), undefined);
      }
      assert.deepEqual(receive?.ends, [[UCS_OK, 5n, 100]]);
      assert.deepEqual(receive.buffer.subarray(0, 100), bytes);
      assert.equal(matching.keptBytes, 0);
    }
  });

  it('touches no buffer after its receive was canceled, also where the message has come in part', () => {
    const { matching, peer } = start();
    const waiting = posted(matching, 1n);
    assert.equal(matching.cancel(waiting), true);
    assert.deepEqual(waiting.ends, [[UCS_ERR_CANCELED, undefined, undefined]]);
    assert.equal(matching.cancel(waiting), false);
    const begun = posted(matching, 2n);
    peer.first(tagOf(2n), 20, 1, pattern(10));
    assert.equal(matching.cancel(begun), true);
    peer.middle(1, 10, pattern(10));
    assert.deepEqual(begun.ends, [[UCS_ERR_CANCELED, 2n, 20]]);
    assert.deepEqual(begun.buffer, begun.last);
  });

  it('shows what a receive would get, and can keep it for one receive alone', () => {
    const { matching, peer } = start();
    const wanted = { tag: tagOf(3n), mask: FULL_MASK };
    assert.equal(matching.probe(wanted), undefined);
    peer.only(tagOf(3n), pattern(9));
    assert.equal(matching.probe(wanted)?.length, 9);
    const message = matching.take(wanted);
    assert.ok(message !== undefined);
    assert.equal(matching.probe(wanted), undefined);
    const other = posted(matching, 3n);
    const receive = new Receive(0n, FULL, 16);
    matching.receive(message, receive);
    assert.deepEqual([receive.ends, other.ends], [[[UCS_OK, 3n, 9]], []]);
    assert.deepEqual(receive.buffer.subarray(0, 9), pattern(9));
    assert.equal(matching.keptBytes, 0);
  });

  it('tells a synchronous sender once a receive was found, and not before', () => {
    const { matching, peer } = start();
    let matched = 0;
    const onMatched = (): void => void (matched += 1);
    peer.only(tagOf(1n), pattern(4), onMatched);
    matching.probe({ tag: tagOf(1n), mask: FULL_MASK });
    assert.equal(matched, 0);
    posted(matching, 1n);
    assert.equal(matched, 1);
    posted(matching, 2n);
    peer.first(tagOf(2n), 8, 1, pattern(4), onMatched);
    assert.equal(matched, 2);
  });

  it('keeps no more than its limit of what nobody has asked for, messages of no bytes included', () => {
    const { matching, peer } = start(1000);
    assert.equal(peer.only(tagOf(1n), new Uint8Array(1000 - MESSAGE_COST)), undefined);
    const problem = peer.only(tagOf(2n), new Uint8Array(0));
    assert.equal(problem?.status, UcsStatus.UCS_ERR_EXCEEDS_LIMIT);
    assert.match(problem.text, /1000 of 1000 bytes/);
    posted(matching, 1n);
    let kept = 0;
    while (peer.only(tagOf(2n), new Uint8Array(0)) === undefined) kept += 1;
    assert.equal(kept, Math.floor(1000 / MESSAGE_COST));
    assert.match(peer.first(tagOf(2n), 2 ** 52, 1, pattern(4))?.text ?? 'kept', /4503599627370496 bytes/);
    posted(matching, 3n, FULL, 2000);
    assert.equal(peer.only(tagOf(3n), new Uint8Array(2000)), undefined, 'what was asked for has no limit');
  });

  it('ends the receives whose messages will not come, and forgets what nobody can get any more', () => {
    const { matching, peer } = start();
    const begun = posted(matching, 1n);
    peer.first(tagOf(1n), 20, 1, pattern(10));
    peer.first(tagOf(2n), 20, 2, pattern(10));
    peer.first(tagOf(3n), 20, 3, pattern(10));
    peer.only(tagOf(4n), pattern(10));
    const taken = matching.take({ tag: tagOf(3n), mask: FULL_MASK });
    peer.end(UCS_ERR_CONNECTION_RESET);
    assert.deepEqual(begun.ends, [[UCS_ERR_CONNECTION_RESET, 1n, 20]]);
    assert.deepEqual(posted(matching, 2n).ends, []);
    assert.ok(taken !== undefined);
    const late = new Receive(0n, FULL, 64);
    matching.receive(taken, late);
    assert.deepEqual(late.ends, [[UCS_ERR_CONNECTION_RESET, 3n, 20]]);
    assert.deepEqual(posted(matching, 4n).ends, [[UCS_OK, 4n, 10]]);
    assert.equal(matching.keptBytes, 0);
  });

  const lies: Record<string, readonly [(peer: TagPeer) => PeerProblem | undefined, RegExp]> = {
    'goes on with what has not begun': [(peer) => peer.middle(9, 0, pattern(1)), /has not begun/],
    'begins twice': [(peer) => peer.first(tagOf(1n), 20, 1, pattern(4)), /begins twice/],
    'goes on too early': [(peer) => peer.middle(1, 3, pattern(4)), /goes on at 3, and not at 4/],
    'goes on too late': [(peer) => peer.middle(1, 5, pattern(4)), /goes on at 5, and not at 4/],
    'says more than it was to': [(peer) => peer.middle(1, 4, pattern(17)), /longer than the 20 bytes/],
    'says all at the beginning': [
      (peer) => peer.first(tagOf(1n), 4, 2, pattern(4)),
      /first 4 bytes are of a message of 4/,
    ],
  };
  for (const [what, [lie, problem]] of Object.entries(lies))
    it(`says of a peer what is wrong that ${what}`, () => {
      const { matching, peer } = start();
      const receive = posted(matching, 1n);
      peer.first(tagOf(1n), 20, 1, pattern(4));
      assert.match(lie(peer)?.text ?? 'it is good', problem);
      assert.deepEqual(receive.ends, []);
    });

  it('does what a list of receives and a list of messages would do, in any order of anything', () => {
    const tag = fc.constantFrom(0n, 1n, 2n, 1n << 40n, (1n << 40n) | 1n);
    const mask = fc.constantFrom(FULL, FULL, 0n, 0xffn, 0xffn << 40n);
    const length = fc.constantFrom(0, 1, 40, 90);
    const peer = fc.nat(1);
    const step = fc.oneof(
      fc.record({ kind: fc.constant('post' as const), tag, mask, length }),
      fc.record({ kind: fc.constant('only' as const), peer, tag, length }),
      fc.record({ kind: fc.constant('first' as const), peer, tag, length: fc.constantFrom(2, 40, 90) }),
      fc.record({ kind: fc.constant('middle' as const), peer, bytes: fc.constantFrom(1, 20, 100) }),
      fc.record({ kind: fc.constant('cancel' as const), which: fc.nat(5) }),
      fc.record({ kind: fc.constant('probe' as const), tag, mask }),
      fc.record({ kind: fc.constant('take' as const), tag, mask, length }),
      fc.record({ kind: fc.constant('end' as const), peer }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const matching = new TagMatching(600);
        const peers = [matching.peer(), matching.peer()];
        const model = new TagModel(600, MESSAGE_COST);
        const receives: Receive[] = [];
        const made = (any: { tag: bigint; mask: bigint; length: number }): Receive => {
          const receive = new Receive(any.tag, any.mask, any.length);
          receives.push(receive);
          return receive;
        };
        for (const any of steps) {
          if (any.kind === 'post') {
            matching.post(made(any));
            model.post(any);
          } else if (any.kind === 'only') {
            const number = model.messages.length;
            const isKept = peers[any.peer].only(tagOf(any.tag), pattern(any.length, number)) === undefined;
            assert.equal(isKept, model.begin(any.peer, any.tag, any.length, any.length));
          } else if (any.kind === 'first') {
            const number = model.messages.length;
            const bytes = pattern(any.length, number).subarray(0, any.length >> 1);
            const isKept = peers[any.peer].first(tagOf(any.tag), any.length, number, bytes) === undefined;
            assert.equal(isKept, model.begin(any.peer, any.tag, any.length, any.length >> 1));
          } else if (any.kind === 'middle') {
            const message = model.openOf(any.peer);
            if (message === undefined) continue;
            const { number, got, length: whole } = message;
            const bytes = pattern(whole, number).subarray(got, got + any.bytes);
            assert.equal(peers[any.peer].middle(number, got, bytes), undefined);
            model.proceed(message, bytes.length);
          } else if (any.kind === 'cancel') {
            if (any.which >= receives.length) continue;
            assert.equal(matching.cancel(receives[any.which]), model.cancel(any.which));
          } else if (any.kind === 'probe') {
            const found = matching.probe({ tag: tagOf(any.tag), mask: tagOf(any.mask) });
            assert.deepEqual(found && [tagValue(found.tag), found.length], model.probe(any));
          } else if (any.kind === 'take') {
            const message = matching.take({ tag: tagOf(any.tag), mask: tagOf(any.mask) });
            const expected = model.take(any);
            assert.equal(message === undefined, expected === undefined);
            if (message === undefined || expected === undefined) continue;
            matching.receive(message, made(any));
            model.receive(expected, any);
          } else {
            peers[any.peer].end(UCS_ERR_CONNECTION_RESET);
            model.end(any.peer);
          }
          assert.equal(matching.keptBytes, model.keptBytes);
          assert.deepEqual(
            receives.map(({ ends }) => ends),
            model.receives.map(({ ends }) => ends),
          );
        }
        for (const [i, { ends, buffer, last }] of receives.entries()) {
          if (ends.length === 0) continue;
          assert.deepEqual(buffer, last, 'it is not touched after its end');
          const { message } = model.receives[i];
          if (ends[0][0] === UCS_OK && message !== undefined)
            assert.deepEqual(buffer.subarray(0, message.length), pattern(message.length, message.number));
        }
      }),
      { numRuns: 300 },
    );
  });
});
