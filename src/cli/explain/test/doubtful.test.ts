import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Cause } from '../verdicts/cause.js';
import { storiesIn, wordsOf } from './captured.js';
import { A, read, Testbed, write } from './testbed.js';

/** Captures that are not what they seem: they lack packets that arrived, or were made on the way. */

/** What captures say of what one asked of the other. */
function told(...captures: readonly Uint8Array[]): {
  readonly cause: Cause;
  readonly text: string;
  readonly lines: string;
} {
  const [{ verdict, happenings }] = storiesIn(...captures);
  const lines = [...happenings].map(({ text }) => text).join('\n');
  return { cause: verdict.cause, text: wordsOf(verdict), lines };
}

/** Nothing was lost, doubled or repeated. */
function good(): Testbed {
  const testbed = new Testbed();
  testbed.connect();
  const { a, b } = testbed;
  a.post(write(a, b, 8192), read(a, b, 8192), write(a, b, 8192));
  testbed.run();
  return testbed;
}

describe('a capture that lacks packets which arrived', () => {
  it('is said to lack them, and nothing is said to have been lost, doubled or repaired', () => {
    const { a, b } = good();
    for (const captures of [
      [a.capture, b.tcpdump((n) => n % 3 === 1)],
      // One of a WRITE, and one of what the READ brought.
      [a.tcpdump((n) => n === 3 || n === 20), b.capture],
    ]) {
      const { cause, text } = told(...captures);
      assert.equal(cause, Cause.ANSWERED, text);
      assert.match(text, /the captures lack \d+ packets that must have come by/);
      assert.doesNotMatch(text, /doubled [12]|no fewer packets/);
    }
  });

  it('does not show how often the requester has tried', () => {
    const testbed = new Testbed();
    testbed.connect();
    const { a, b } = testbed;
    let dropped = 0;
    testbed.script = ({ from }) => (from !== A && dropped++ === 0 ? 'drop' : 'pass');
    a.post(write(a, b));
    testbed.run();
    assert.ok(a.capture.length > 0);
    // The first packet is the request, the second one its repeat.
    const { text } = told(
      a.tcpdump((n) => n === 1),
      b.capture,
    );
    assert.doesNotMatch(text, /first attempt|the way doubled/);
    assert.match(
      text,
      /1 packet more arrived than the captures show sent: doubled on the way, or overlooked by who captured/,
    );
  });
});

describe('a capture that was made on the way, and is taken for that of an end', () => {
  it('does not show whether what came twice was sent twice', () => {
    const testbed = new Testbed();
    testbed.connect();
    testbed.script = ({ from }) => (from === A ? 'duplicate' : 'pass');
    testbed.a.post(write(testbed.a, testbed.b));
    testbed.run();
    const { text, lines } = told(testbed.b.undirected, testbed.b.capture);
    assert.match(text, /1 packet came by once more just as before: sent again, or doubled on the way/);
    assert.match(text, /no fewer packets arrived than the captures show sent, either way$/);
    assert.match(lines, /came by once more/);
    assert.doesNotMatch(text + lines, /had been sent again|unasked|answers were late/);
  });
});

describe('packets that a NAK has asked for', () => {
  it('are not taken for those of a timer that ran out before their answer', () => {
    const testbed = new Testbed();
    testbed.connect();
    const { a, b } = testbed;
    let lost = 0;
    testbed.script = ({ from, bytes }) => {
      if (from === A) return bytes.length < 200 && lost++ < 3 ? 'drop' : 'pass';
      return lost > 3 ? { delayUs: 5_000 } : 'pass';
    };
    a.post(write(a, b), write(a, b, 8192));
    testbed.run();
    for (const captures of [[a.capture], [a.capture, b.capture], [a.undirected, b.capture]]) {
      const { cause, text } = told(...captures);
      assert.equal(cause, Cause.REPAIRED, text);
      assert.doesNotMatch(text, /stood still/);
    }
  });
});

describe('damage to acknowledgements that were not needed', () => {
  it('has repaired nothing', () => {
    const testbed = new Testbed();
    testbed.connect();
    const { a, b } = testbed;
    let answers = 0;
    testbed.script = ({ from }) => (from !== A && answers++ === 0 ? 'corrupt' : 'pass');
    a.post(write(a, b), write(a, b));
    testbed.run(50);
    a.post(write(a, b));
    testbed.run();
    const { cause, text } = told(a.capture, b.capture);
    assert.equal(cause, Cause.ANSWERED, text);
    assert.match(text, /at the first attempt.*; 1 packet came damaged/);
  });
});
