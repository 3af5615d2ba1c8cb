import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ProtocolFault, RequestReader } from '../../gateway/resp/request-reader.js';
import { bytesOf, LIMITS, textOf, written } from './support/play.js';

/** Everything that a reader finds in these pieces: requests as texts, or its fault. */
function readAll(pieces: readonly Uint8Array[], limits = LIMITS): readonly (readonly string[] | string)[] {
  const reader = new RequestReader(limits);
  const found: (readonly string[] | string)[] = [];
  for (const piece of pieces) {
    reader.push(piece);
    for (let next = reader.next(); next !== undefined; next = reader.next()) {
      if (next instanceof ProtocolFault) return [...found, next.text];
      found.push(next.map(textOf));
    }
  }
  return found;
}

/** Cuts bytes where the numbers say. */
function cut(bytes: Uint8Array, lengths: readonly number[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let at = 0;
  for (let i = 0; at < bytes.length; i += 1) {
    const end = at + (lengths.length === 0 ? bytes.length : lengths[i % lengths.length]);
    // Each its own memory, as it comes from a socket.
    pieces.push(bytes.slice(at, end));
    at = end;
  }
  return pieces;
}

const anyArgument = fc.uint8Array({ maxLength: 300 });
const anyRequests = fc.array(fc.array(anyArgument, { minLength: 1, maxLength: 6 }), { maxLength: 8 });
const anyLengths = fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 12 });

describe('the reader of requests', () => {
  it('finds the same requests in whatever pieces they come', () => {
    fc.assert(
      fc.property(anyRequests, anyLengths, (requests, lengths) => {
        const bytes = Buffer.concat(requests.map((request) => written(...request)));
        assert.deepEqual(
          readAll(cut(bytes, lengths)),
          requests.map((request) => request.map(textOf)),
        );
      }),
    );
  });

  it('leaves the arguments that it has given as they are, whatever comes later', () => {
    const reader = new RequestReader(LIMITS);
    const [first, ...others] = cut(Buffer.concat([written('GET', 'one'), written('GET', 'two')]), [7]);
    reader.push(first);
    const requests = others.flatMap((piece) => {
      reader.push(piece);
      const next = reader.next();
      return next === undefined || next instanceof ProtocolFault ? [] : [next];
    });
    assert.deepEqual(
      requests.map((request) => request.map(textOf)),
      [
        ['GET', 'one'],
        ['GET', 'two'],
      ],
    );
  });

  it('says the same of hostile bytes in whatever pieces they come, and never throws', () => {
    const hostile = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc
        .string({ unit: fc.constantFrom('*', '$', '-', '1', '9', '\r', '\n', '"', "'", '\\', 'x', ' '), maxLength: 80 })
        .map(bytesOf),
      // A request with a byte that is another.
      fc.tuple(anyRequests, fc.nat(), fc.nat(255)).map(([requests, at, byte]) => {
        const bytes = Buffer.concat(requests.map((request) => written(...request)));
        if (bytes.length > 0) bytes[at % bytes.length] = byte;
        return bytes;
      }),
    );
    fc.assert(
      fc.property(hostile, anyLengths, (bytes, lengths) => {
        assert.deepEqual(readAll(cut(bytes, lengths)), readAll([bytes]));
      }),
      { numRuns: 2000 },
    );
  });

  it('keeps no more than a request may have', () => {
    const reader = new RequestReader(LIMITS);
    const endless = bytesOf('x'.repeat(1000));
    let most = 0;
    for (let i = 0; i < 200; i += 1) {
      reader.push(endless);
      if (reader.next() instanceof ProtocolFault) return;
      most = Math.max(most, reader.buffered);
    }
    assert.fail(`it kept ${most} bytes`);
  });

  const INLINE: readonly (readonly [string, readonly (readonly string[])[]])[] = [
    ['PING\r\n', [['PING']]],
    ['PING\n', [['PING']]],
    ['  SET  key\tvalue \r\n', [['SET', 'key', 'value']]],
    ['\r\n\r\nPING\r\n', [['PING']]],
    ["SET \"a key\" 'it\\'s'\r\n", [['SET', 'a key', "it's"]]],
    ['ECHO "\\x41\\n\\"\\q"\r\n', [['ECHO', 'A\n"q']]],
    ['ECHO ""\r\n', [['ECHO', '']]],
  ];
  for (const [line, requests] of INLINE)
    it(`reads the line ${JSON.stringify(line)}`, () => assert.deepEqual(readAll([bytesOf(line)]), requests));

  it('takes an array of nothing for no request', () => {
    assert.deepEqual(readAll([bytesOf('*0\r\n*-1\r\n*1\r\n$4\r\nPING\r\n')]), [['PING']]);
  });

  const FAULTS: readonly (readonly [string, string, string])[] = [
    ['a count that is no number', '*x\r\n', 'invalid multibulk length'],
    ['a count without digits', '*\r\n', 'invalid multibulk length'],
    ['a count that does not end', `*${'1'.repeat(40)}`, 'invalid multibulk length'],
    ['a count of too many', '*1001\r\n', 'invalid multibulk length'],
    ['a count that overflows', '*18446744073709551617\r\n', 'invalid multibulk length'],
    ['an element that is no bulk string', '*1\r\n:1\r\n', "expected '$', got ':'"],
    ['a length below nothing', '*1\r\n$-1\r\n', 'invalid bulk length'],
    ['a length that is too long', '*1\r\n$4097\r\n', 'invalid bulk length'],
    ['a length with blanks', '*1\r\n$ 1\r\n', 'invalid bulk length'],
    ['more bytes than it says', '*1\r\n$1\r\nabc\r\n', 'a bulk string does not end where it says'],
    [
      'arguments that are too long together',
      `*3\r\n${`$4096\r\n${'x'.repeat(4096)}\r\n`.repeat(2)}$1\r\n`,
      'too big request',
    ],
    ['a line with an open quote', 'GET "key\r\n', 'unbalanced quotes in request'],
    ['a line with a word behind a quote', 'GET "key"s\r\n', 'unbalanced quotes in request'],
    ['a line that does not end', 'x'.repeat(70_000), 'too big inline request'],
    ['a line of too many words', `${'x '.repeat(1001)}\r\n`, 'too big inline request'],
  ];
  for (const [what, text, fault] of FAULTS)
    it(`ends at ${what}`, () => assert.deepEqual(readAll([bytesOf(text)]), [fault]));

  it('goes on with nothing that follows a fault', () => {
    const reader = new RequestReader(LIMITS);
    reader.push(bytesOf('*x\r\n'));
    const fault = reader.next();
    reader.push(written('PING'));
    assert.equal(reader.next(), fault);
  });
});
