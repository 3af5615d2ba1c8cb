import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  Action,
  decodeHead,
  decodeMove,
  decodeSetupAnswer,
  decodeSetupRequest,
  emptyHead,
  encodeHead,
  encodeMove,
  encodeSetupAnswer,
  encodeSetupRequest,
  Flag,
  type Head,
  HEAD_BYTES,
  headerOf,
  Kind,
  lengthOf,
  type Limits,
  type SetupAnswer,
  type SetupRequest,
  statusName,
  tokenOf,
  XIO_BASE_STATUS,
  XioStatus,
} from '../wire/index.js';
import { askedOfGone } from '../../../../test/support/compiled.js';

// The bytes stand here field by field, as the tables of protocol/xio.md 10 have them.

function bytesOf(...fields: readonly string[]): Uint8Array {
  return Uint8Array.from(Buffer.from(fields.join('').replaceAll(' ', ''), 'hex'));
}

const NO_TOKEN = '00'.repeat(16);
const TOKEN = '000102030405060708090a0b0c0d0e0f';

const REQUEST: Head = {
  ...emptyHead(Kind.REQUEST),
  sn: 0x1_0000_0002,
  ackSn: 3,
  grantedBytes: 0x4_0000_0000,
  grantedMessages: 5,
  bodyBytes: 0x2001,
  maxResponseBytes: 0x10_0000,
  flags: Flag.TOKEN | Flag.ACKNOWLEDGE,
  headerBytes: 3,
};
const REQUEST_BYTES = bytesOf(
  '58494f50 00000012 000000000000004b', // "XIOP", REQUEST, 75 bytes follow
  '0000000100000002 0000000000000003', // number, received
  '0000000400000000 0000000000000005', // granted bytes and messages
  '0000000000000000 00000000', // about, status
  '00002001 00100000', // body, longest response
  '0005 0003', // flags, header
  TOKEN,
  '616263', // "abc"
);

const RESPONSE: Head = {
  ...emptyHead(Kind.RESPONSE),
  sn: 7,
  about: 9,
  status: XioStatus.XIO_E_TIMEOUT,
};
const RESPONSE_BYTES = bytesOf(
  '58494f50 00000014 0000000000000048',
  '0000000000000007 0000000000000000',
  '0000000000000000 0000000000000000',
  '0000000000000009 4a5e3a65', // XIO_E_TIMEOUT is 1247689300 + 17
  '00000000 00000000',
  '0000 0000',
  NO_TOKEN,
);

/** The same bytes with others from a place on. */
function changed(bytes: Uint8Array, offset: number, hex: string): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy.set(bytesOf(hex), offset);
  return copy;
}

const decoded = (bytes: Uint8Array): string | undefined => decodeHead(bytes, emptyHead(Kind.NOP));

describe('a body whose memory was transferred', () => {
  it('has no bytes, also for code that V8 has compiled', () => {
    assert.equal(askedOfGone(lengthOf), 0);
    assert.equal(
      askedOfGone((view) => lengthOf([view])),
      0,
    );
  });
});

describe("heads of xio's messages", () => {
  for (const [name, head, header, token, bytes] of [
    ['a request', REQUEST, 'abc', bytesOf(TOKEN), REQUEST_BYTES],
    ['a response', RESPONSE, '', undefined, RESPONSE_BYTES],
  ] as const) {
    it(`of ${name} are these bytes`, () => {
      const room = new Uint8Array(HEAD_BYTES + 10).fill(0xff);
      const length = encodeHead(room, head, new TextEncoder().encode(header), token);
      assert.deepEqual(room.subarray(0, length), bytes);
      assert.ok(room.subarray(length).every((byte) => byte === 0xff));
    });

    it(`of ${name} are read from these bytes`, () => {
      const read = emptyHead(Kind.NOP);
      assert.equal(decodeHead(bytes, read), undefined);
      assert.deepEqual(read, head);
      assert.equal(new TextDecoder().decode(headerOf(bytes)), header);
      assert.deepEqual(tokenOf(bytes, read), token);
    });
  }

  for (const [what, bytes, lie] of [
    ['too short', REQUEST_BYTES.subarray(0, HEAD_BYTES - 1), /has 87 bytes/],
    ['of something else', changed(REQUEST_BYTES, 0, '58494f51'), /does not begin with "XIOP"/],
    ['of an unknown kind', changed(REQUEST_BYTES, 4, '00000013'), /kind 0x13/],
    ['that say another length', changed(REQUEST_BYTES, 8, '000000000000004c'), /says that 76 bytes follow, where 75/],
    ['with a number beyond what is exact', changed(REQUEST_BYTES, 24, '0020000000000000'), /beyond 2\^53/],
    ['of a request without a number', changed(REQUEST_BYTES, 16, '0000000000000000'), /REQUEST has number 0/],
    ['of a request about something', changed(REQUEST_BYTES, 48, '0000000000000001'), /about message 1/],
    ['of a response about nothing', changed(RESPONSE_BYTES, 48, '0000000000000000'), /about message 0/],
    ['with an unknown status', changed(RESPONSE_BYTES, 56, '00000001'), /status 1,/],
    ['with unknown flags', changed(REQUEST_BYTES, 68, '0020'), /flags 0x20/],
    ['with a header of another length', changed(REQUEST_BYTES, 70, '0002'), /header of 2 bytes, where 3/],
    ['of a NOP with a body', changed(changed(changed(RESPONSE_BYTES, 4, '00000001'), 16, '0000000000000000'), 48, `${'00'.repeat(12)}00000001`), /NOP has a body/], // prettier-ignore
  ] as const)
    it(`are refused ${what}`, () => assert.match(decoded(bytes) ?? 'taken', lie));
});

const LIMITS: Limits = { queueMessages: 1024, queueBytes: 0x400_0000, maxBodyBytes: 0x100_0000, maxHeaderBytes: 256 };
const LIMITS_HEX = '00000400 0000000004000000 01000000 00000100';
const SESSION_ID = 'f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff';
const EPOCH = 'e0e1e2e3e4e5e6e7';

const SETUP: SetupRequest = {
  sessionId: bytesOf(SESSION_ID),
  epoch: bytesOf(EPOCH),
  connection: 2,
  isKnown: true,
  limits: LIMITS,
  resource: 'a/b',
  privateData: bytesOf('ff00'),
};
const SETUP_BYTES = bytesOf(SESSION_ID, EPOCH, '0002 0001', LIMITS_HEX, '0003 0002', '612f62', 'ff00');

const ANSWER: SetupAnswer = {
  epoch: bytesOf(EPOCH),
  action: Action.ACCEPT,
  status: XioStatus.XIO_E_SUCCESS,
  limits: LIMITS,
  addresses: ['tcp://a:1', ''],
  privateData: bytesOf('aabb'),
  words: '',
};
const ANSWER_BYTES = bytesOf(
  EPOCH,
  '0001 0002 00000000', // ACCEPT, two addresses, status
  LIMITS_HEX,
  '0002 0000', // private data
  '0009 7463703a2f2f613a31 0000',
  'aabb',
);

function lieOf(decoded: object | string): string {
  return typeof decoded === 'string' ? decoded : 'taken';
}

describe("the set-up of xio's sessions", () => {
  it('is asked for by these bytes', () => {
    assert.deepEqual(encodeSetupRequest(SETUP), SETUP_BYTES);
    assert.deepEqual(decodeSetupRequest(SETUP_BYTES), SETUP);
  });

  it('is answered by these bytes', () => {
    assert.deepEqual(encodeSetupAnswer(ANSWER), ANSWER_BYTES);
    assert.deepEqual(decodeSetupAnswer(ANSWER_BYTES), ANSWER);
  });

  it('is copied from the bytes that it is read from', () => {
    const bytes = Uint8Array.from(SETUP_BYTES);
    const read = decodeSetupRequest(bytes);
    bytes.fill(0);
    assert.deepEqual(read, SETUP);
  });

  it('has texts of a peer without what moves a terminal', () => {
    const read = decodeSetupRequest(changed(SETUP_BYTES, 52, '1b5b07'));
    assert.equal(typeof read === 'string' ? read : read.resource, '?[?');
  });

  for (const [what, bytes, lie] of [
    ['too short', SETUP_BYTES.subarray(0, 51), /SESSION is wrong: it has 51 bytes/],
    ['for a connection beyond the last', changed(SETUP_BYTES, 24, '0040'), /connection is 64, which is not 0 to 63/],
    ['with unknown flags', changed(SETUP_BYTES, 26, '0002'), /flags is 2/],
    ['with too short a queue', changed(SETUP_BYTES, 28, '00000003'), /queue of 3 messages/],
    ['with a queue that no body fits in', changed(SETUP_BYTES, 32, '0000000000ffffff'), /queue of 16777215 bytes/],
    ['with too long bodies', changed(SETUP_BYTES, 32, '0000000100000000 40000001'), /bodies of 1073741825 bytes/],
    ['with too long headers', changed(SETUP_BYTES, 44, '00001001'), /headers of 4097 bytes/],
    ['with a longer resource than there is', changed(SETUP_BYTES, 48, '0004'), /not as long as its parts/],
    ['with more private data than there can be', changed(SETUP_BYTES, 50, '0801'), /privateBytes is 2049/],
  ] as const)
    it(`is not asked for ${what}`, () => assert.match(lieOf(decodeSetupRequest(bytes)), lie));

  for (const [what, bytes, lie] of [
    ['too short', ANSWER_BYTES.subarray(0, 39), /SESSION_ANSWER is wrong: it has 39 bytes/],
    ['with an unknown action', changed(ANSWER_BYTES, 8, '0005'), /action is 5/],
    ['with an unknown status', changed(ANSWER_BYTES, 12, '00000001'), /status is 1,/],
    ['with limits that cannot be', changed(ANSWER_BYTES, 16, '00000000'), /queue of 0 messages/],
    ['with too many addresses', changed(ANSWER_BYTES, 10, '0041'), /addressCount is 65, which is not 0 to 64/],
    ['with an address that is cut off', changed(ANSWER_BYTES, 40, '00ff'), /not as long as its parts/],
    ['with an address that is not there', changed(ANSWER_BYTES, 10, '0003'), /not as long as its parts/],
    ['that names no server to go to', changed(ANSWER_BYTES, 8, '0002 0000'), /names no server/],
    ['with less private data than it says', ANSWER_BYTES.subarray(0, -1), /not as long as its parts/],
    ['with words that are not there', changed(ANSWER_BYTES, 38, '0001'), /not as long as its parts/],
    ['that says why, and accepts', changed(changed(ANSWER_BYTES, 36, '0001'), 38, '0001'), /refuses nothing/],
    ['that refuses with success', changed(ANSWER_BYTES, 8, '0003'), /with success/],
    ['that refuses with addresses', changed(changed(ANSWER_BYTES, 8, '0003'), 12, '4a5e3a61'), /has addresses/],
  ] as const)
    it(`is not answered ${what}`, () => assert.match(lieOf(decodeSetupAnswer(bytes)), lie));
});

const MOVE_BYTES = bytesOf('0002', '0009 7463703a2f2f613a31', '0000');

describe('MOVE of xio', () => {
  it('is these bytes', () => {
    assert.deepEqual(encodeMove(['tcp://a:1', '']), MOVE_BYTES);
    assert.deepEqual(decodeMove(MOVE_BYTES), ['tcp://a:1', '']);
  });

  for (const [what, bytes, lie] of [
    ['too short', MOVE_BYTES.subarray(0, 1), /MOVE has 1 bytes/],
    ['to no server', bytesOf('0000'), /names no server/],
    ['to too many', changed(MOVE_BYTES, 0, '0041'), /65 addresses, where 64 are the most/],
    ['with an address that is cut off', MOVE_BYTES.subarray(0, 9), /not as long as its parts/],
    ['with an address that is not there', changed(MOVE_BYTES, 0, '0003'), /not as long as its parts/],
    ['with more than its addresses', bytesOf('0001', '0000', '00'), /not as long as its parts/],
    ['with a longer address than there is', bytesOf('0001', '0401', '61'.repeat(1025)), /not as long as its parts/],
  ] as const)
    it(`is not taken ${what}`, () => assert.match(lieOf(decodeMove(bytes)), lie));
});

describe('statuses of xio', () => {
  it('have the numbers of libxio.h, in its order', () => {
    assert.equal(XIO_BASE_STATUS, 1_247_689_300);
    assert.equal(XioStatus.XIO_E_NOT_SUPPORTED, 1_247_689_300);
    assert.equal(XioStatus.XIO_E_RSP_BUF_SIZE_MISMATCH, 1_247_689_339);
    assert.equal(new Set(Object.values(XioStatus)).size, Object.keys(XioStatus).length);
  });

  it('are found by their numbers, which strangers may make up', () => {
    for (const [name, status] of Object.entries(XioStatus)) assert.equal(statusName(status), name);
    for (const number of [1, XIO_BASE_STATUS - 1, XIO_BASE_STATUS + 41, -1])
      assert.equal(statusName(number), undefined);
  });
});
