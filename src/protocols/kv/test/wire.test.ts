import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { MAX_KEY_BYTES } from '../store/index.js';
import {
  type Asked,
  decodeOffer,
  decodeRefusal,
  decodeWelcome,
  encodeOffer,
  encodeRefusal,
  encodeRequest,
  encodeResponse,
  encodeWelcome,
  type Identity,
  immediateOf,
  isAnnounced,
  isSameSession,
  newSessionId,
  NO_QUEUE_PAIRS,
  NO_SESSION,
  Operation,
  requestBytes,
  RequestView,
  RefusalCode,
  ResponseView,
  rulesOf,
  slotIn,
  Status,
  Transport,
} from '../wire/index.js';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const NONE = new Uint8Array(0);

const identity: Identity = { session: { high: 0xa1a2a3a4, low: 0xb1b2b3b4 }, epoch: 0xe1e2e3e4, slot: 3, sequence: 7 };
const plain: Asked = {
  operation: Operation.GET,
  key: bytesOf('key'),
  value: NONE,
  remote: undefined,
  ttlMs: 0,
  operand: 0n,
};

function encoded(asked: Asked): Uint8Array {
  const bytes = new Uint8Array(requestBytes(asked));
  assert.equal(encodeRequest(bytes, identity, asked), bytes.length);
  return bytes;
}

const head = 'a1a2a3a4b1b2b3b4' + 'e1e2e3e4' + '00000007' + '0003';

describe('a request', () => {
  const golden: Record<string, [Asked, string]> = {
    'to get': [plain, `${head}01030000000000000000000000000000000000000000` + '6b6579'],
    'to set': [
      { ...plain, operation: Operation.SET, value: bytesOf('VALUE'), ttlMs: 1000 },
      `${head}02030000000500000000000003e80000000000000000` + '6b6579' + '56414c5545',
    ],
    'to set what is elsewhere': [
      {
        ...plain,
        operation: Operation.SET,
        remote: { addr: 0x7f0000001000n, rkey: 0x1234, length: 0x100000 },
      },
      `${head}02030000001000000001000000000000000000000000` + '6b6579' + '00007f0000001000' + '00001234' + '00100000',
    ],
    'to count down': [
      { ...plain, operation: Operation.INCR, operand: -1n },
      `${head}0703000000000000000000000000ffffffffffffffff` + '6b6579',
    ],
    'for nothing': [
      { ...plain, operation: Operation.NOOP, key: NONE },
      `${head}00000000000000000000000000000000000000000000`,
    ],
  };
  for (const [name, [asked, bytes]] of Object.entries(golden))
    it(`${name} has these bytes`, () => assert.equal(hex(encoded(asked)), bytes));

  it('is what was encoded', () => {
    const view = new RequestView();
    const some = fc.uint8Array({ maxLength: 300 });
    const remote = fc.record(
      { addr: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), rkey: fc.nat(), length: fc.nat() },
      { noNullPrototype: true },
    );
    const asked = fc.record({
      operation: fc.constantFrom(...Object.values(Operation)),
      key: fc.uint8Array({ minLength: 1, maxLength: MAX_KEY_BYTES }),
      value: some,
      remote: fc.option(remote, { nil: undefined }),
      ttlMs: fc.nat(),
      operand: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    });
    fc.assert(
      fc.property(asked, (any) => {
        const rules = rulesOf(any.operation);
        const fitting = {
          ...any,
          key: rules?.key === 'none' ? NONE : any.key,
          remote: rules?.value === 'none' ? undefined : any.remote,
          value: rules?.value === 'to the server' && any.remote === undefined ? any.value : NONE,
        };
        assert.equal(view.look(encoded(fitting)), undefined);
        const { operation, key, value, remote, ttlMs, operand } = view;
        assert.deepEqual({ operation, key, value, remote, ttlMs, operand }, fitting);
        assert.ok(isSameSession(view.session, identity.session));
        assert.deepEqual([view.epoch, view.slot, view.sequence], [0xe1e2e3e4, 3, 7]);
      }),
    );
  });

  it('that makes no sense is said to be none', () => {
    const view = new RequestView();
    const set = encoded({ ...plain, operation: Operation.SET, value: bytesOf('VALUE') });
    const changed = (at: number, byte: number): Uint8Array => {
      const bytes = set.slice();
      bytes[at] = byte;
      return bytes;
    };
    const wrong: Record<string, Uint8Array> = {
      'no bytes': NONE,
      'a head that is cut': set.subarray(0, 39),
      'a value that is cut': set.subarray(0, set.length - 1),
      'bytes behind it': Uint8Array.of(...set, 0),
      'no such operation': changed(18, 9),
      'no key': changed(19, 0),
      'a key that is too long': changed(19, 251),
      'a value longer than any message': changed(20, 0xff),
      'unknown flags': changed(27, 2),
      'memory named by too few bytes': changed(27, 1),
      'a get with a value': changed(18, Operation.GET),
      'a noop with a key': encoded({ ...plain, operation: Operation.NOOP }),
      'memory for what has no value': encoded({
        ...plain,
        operation: Operation.DEL,
        remote: { addr: 1n, rkey: 2, length: 3 },
      }),
    };
    for (const [what, bytes] of Object.entries(wrong)) assert.notEqual(view.look(bytes), undefined, what);
  });

  it('of any bytes is one, or none, and nothing is thrown', () => {
    const request = new RequestView();
    const answer = new ResponseView();
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        request.look(bytes);
        answer.look(bytes);
        decodeOffer(bytes);
        decodeWelcome(bytes);
        decodeRefusal(bytes);
      }),
    );
  });
});

describe('an answer', () => {
  const encodedAnswer = (status: Status, value: Uint8Array, version = 0n, valueBytes = value.length): Uint8Array => {
    const bytes = new Uint8Array(100);
    return bytes.subarray(0, encodeResponse(bytes, identity, { status, version, value, valueBytes }));
  };

  it('has these bytes', () => {
    assert.equal(
      hex(encodedAnswer(Status.OK, bytesOf('VALUE'), 9n)),
      `${head}00000000000500000000000000095` + '6414c5545',
    );
    assert.equal(hex(encodedAnswer(Status.NOT_FOUND, NONE)), `${head}0100000000000000000000000000`);
  });

  it('is what was encoded, also where the value is elsewhere', () => {
    const view = new ResponseView();
    assert.equal(view.look(encodedAnswer(Status.OK, bytesOf('VALUE'), 3n)), undefined);
    assert.deepEqual([view.status, view.version, view.value], [Status.OK, 3n, bytesOf('VALUE')]);
    assert.equal(view.look(encodedAnswer(Status.ELSEWHERE, NONE, 0n, 100_000)), undefined);
    assert.deepEqual([view.status, view.valueBytes, view.value.length], [Status.ELSEWHERE, 100_000, 0]);
  });

  it('that makes no sense is said to be none', () => {
    const view = new ResponseView();
    const bytes = encodedAnswer(Status.OK, bytesOf('VALUE'));
    assert.notEqual(view.look(bytes.subarray(0, 31)), undefined);
    assert.notEqual(view.look(bytes.subarray(0, 33)), undefined);
    const unknown = bytes.slice();
    unknown[18] = 200;
    assert.notEqual(view.look(unknown), undefined);
    const missing = encodedAnswer(Status.NOT_FOUND, NONE, 0n, 5);
    assert.notEqual(view.look(missing), undefined);
  });
});

describe('what the ends say of themselves', () => {
  const pairs = { ucQpn: 0x11, ucPsn: 0x22, udQpn: 0x33, udQkey: 0x44 };
  const session = { high: 0x01020304, low: 0x05060708 };

  it('is what was encoded, in private data that is filled up with zeros', () => {
    const offer = { transport: Transport.UC, window: 16, session, epoch: 5, pairs };
    assert.deepEqual(decodeOffer(Uint8Array.of(...encodeOffer(offer), 0, 0)), offer);
    const welcome = { ...offer, slotBytes: 1024, addr: 0x7f0000001000n, rkey: 0x99 };
    assert.deepEqual(decodeWelcome(Uint8Array.of(...encodeWelcome(welcome), 0)), welcome);
    assert.deepEqual(decodeRefusal(encodeRefusal({ code: RefusalCode.EPOCH, epoch: 6 })), { code: 3, epoch: 6 });
  });

  it('has these bytes', () => {
    const offer = { transport: Transport.RC, window: 4, session: NO_SESSION, epoch: 0, pairs: NO_QUEUE_PAIRS };
    assert.equal(hex(encodeOffer(offer)), `56424b5601000004${'00'.repeat(32)}`);
    assert.equal(
      hex(encodeWelcome({ ...offer, session, epoch: 5, slotBytes: 4096, pairs, addr: 0x1000n, rkey: 0x99 })),
      '56424b5601000004' +
        '0102030405060708' +
        '00000005' +
        '00001000' +
        '00000011000000220000003300000044' +
        '0000000000001000' +
        '00000099' +
        '00000000',
    );
    assert.equal(hex(encodeRefusal({ code: RefusalCode.BUSY, epoch: 5 })), '56424b56010200000000000' + '5');
  });

  it('is refused where it makes no sense', () => {
    const offer = encodeOffer({ transport: Transport.UD, window: 4, session, epoch: 0, pairs });
    const problem = (bytes: Uint8Array): string => {
      const decoded = decodeOffer(bytes);
      return typeof decoded === 'string' ? decoded : 'none';
    };
    const changed = (at: number, byte: number): string => problem(offer.with(at, byte));
    assert.match(changed(0, 0), /does not speak/);
    assert.match(changed(4, 2), /version 2/);
    assert.match(changed(5, 3), /transport is 3/);
    assert.match(changed(7, 0), /window is 0/);
    assert.match(changed(6, 0xff), /window is 65284/);
    assert.match(changed(24, 1), /^pairs: ucQpn is 16777233, which is not 0 to 16777215$/);
    assert.match(changed(28, 0xff), /^pairs: ucPsn is 4278190114/);
    assert.match(changed(32, 2), /^pairs: udQpn is /);
    assert.equal(changed(36, 0xff), 'none');
    assert.match(problem(offer.subarray(0, 39)), /does not speak/);
    const welcome = { transport: Transport.UD, window: 4, session, epoch: 0, slotBytes: 1024, addr: 0n, rkey: 0 };
    for (const name of ['ucQpn', 'ucPsn', 'udQpn'])
      assert.equal(
        decodeWelcome(encodeWelcome({ ...welcome, pairs: { ...pairs, [name]: 2 ** 24 } })),
        `pairs: ${name} is 16777216, which is not 0 to 16777215`,
      );
  });
});

describe('names of sessions', () => {
  it('are 64 bits of what they are made from, and never none', () => {
    const words = [0, 0, 0xffffffff, 1];
    const id = newSessionId(() => words.shift() ?? 0);
    assert.deepEqual(id, { high: 0xffffffff, low: 1 });
    assert.ok(isSameSession(id, { high: -1, low: 1 }), 'whatever the sign of a word');
    assert.ok(!isSameSession(id, { high: -1, low: 2 }) && !isSameSession(id, { high: 1, low: 1 }));
  });
});

describe('immediate data of a request in a slot', () => {
  const request = Uint8Array.from({ length: 43 }, (_, i) => i * 7);
  const immediate = immediateOf(1023, request);

  it('names the slot and the request', () => {
    assert.equal(immediate.toString(16), '11f1fbff');
    assert.equal(slotIn(immediate), 1023);
    assert.ok(isAnnounced(immediate, request));
  });

  it('is not that of a request that differs anywhere', () => {
    for (let at = 0; at < request.length; at += 1)
      assert.ok(!isAnnounced(immediate, request.with(at, request[at] ^ 0x10)), `byte ${at}`);
    assert.ok(!isAnnounced(immediate, request.subarray(0, 42)));
    assert.ok(!isAnnounced(immediate, NONE));
  });
});
