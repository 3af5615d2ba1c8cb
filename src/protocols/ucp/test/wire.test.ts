import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Errno } from '../../../device/ibta/index.js';
import {
  AM_IDS,
  AmFlags,
  AmId,
  amHeaderOf,
  amSingleIn,
  AtomicOp,
  type Format,
  isUcsStatus,
  messageName,
  type MessageName,
  type MessageOf,
  Messages,
  packRkey,
  type PackedRkey,
  RkeyAccess,
  RtsOpcode,
  statusRules,
  UcsStatus,
  ucsStatusName,
  unpackRkey,
  packWorkerAddress,
  unpackWorkerAddress,
  type WorkerAddress,
} from '../wire/index.js';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const NONE = new Uint8Array(0);

const payload = bytesOf('DATA');
const userHeader = bytesOf('head');
const tag = 0x1122334455667788n;
const address = 0x7f0000001000n;
const asker = { epId: 0xe1, requestId: 0xa1 };
const memoryType = 0;
const rkey: PackedRkey = {
  access: RkeyAccess.READ | RkeyAccess.WRITE,
  rkey: 0xcafe0001,
  address,
  length: 0x100000,
};
const amHeader = { amId: 5, flags: AmFlags.REPLY, headerBytes: 4 };

const TAG = '8877665544332211';
const EP = 'e100000000000000';
const REQUEST = 'a100000000000000';
const ADDRESS = '00100000007f0000';
const MIB = '0000100000000000';
const NUMBER = '0700000000000000';
const OFFSET = '0020000000000000';
const DATA = '44415441';
const HEAD = '68656164';
const RKEY = '01' + '03' + '0000' + '0100feca' + ADDRESS + MIB;
const AM = '0500' + '0100' + '04000000';

/** A message of each kind, and its bytes. */
const golden: { readonly [Name in MessageName]: readonly [MessageOf<Name>, string] } = {
  EAGER_ONLY: [{ head: { tag }, payload }, TAG + DATA],
  EAGER_FIRST: [{ head: { tag, total: 0x100000, messageId: 7 }, payload }, TAG + MIB + NUMBER + DATA],
  EAGER_MIDDLE: [{ head: { messageId: 7, offset: 0x2000 }, payload }, NUMBER + OFFSET + DATA],
  EAGER_SYNC_ONLY: [{ head: { tag, ...asker }, payload: NONE }, TAG + EP + REQUEST],
  EAGER_SYNC_FIRST: [
    { head: { tag, total: 0x100000, messageId: 7, ...asker }, payload },
    TAG + MIB + NUMBER + EP + REQUEST + DATA,
  ],
  EAGER_SYNC_ACK: [{ head: { requestId: 0xa1, status: UcsStatus.UCS_OK } }, REQUEST + '00'],
  RNDV_RTS: [
    { head: { header: tag, ...asker, address, size: 0x100000, opcode: RtsOpcode.TAG }, rkey, userHeader: NONE },
    TAG + EP + REQUEST + ADDRESS + MIB + '00' + RKEY,
  ],
  RNDV_ATS: [{ head: { requestId: 0xa1, status: UcsStatus.UCS_ERR_CANCELED }, size: undefined }, REQUEST + 'f0'],
  RNDV_RTR: [
    { head: { sendRequestId: 0xa1, receiveRequestId: 7, address, size: 0x2000, offset: 0 }, rkey, userHeader: NONE },
    REQUEST + NUMBER + ADDRESS + OFFSET + '0000000000000000' + RKEY,
  ],
  RNDV_DATA: [{ head: { requestId: 0xa1, offset: 0x2000 }, payload }, REQUEST + OFFSET + DATA],
  STREAM_DATA: [{ head: { epId: 0xe1 }, payload }, EP + DATA],
  RNDV_ATP: [{ head: { requestId: 0xa1, status: UcsStatus.UCS_OK }, size: 0x2000 }, REQUEST + '00' + OFFSET],
  PUT: [{ head: { address, epId: 0xe1, memoryType }, payload }, ADDRESS + EP + '00000000' + DATA],
  CMPL: [{ head: { epId: 0xe1 } }, EP],
  GET_REQ: [{ head: { address, length: 0x2000, ...asker, memoryType } }, ADDRESS + OFFSET + EP + REQUEST + '00000000'],
  GET_REP: [{ head: { requestId: 0xa1 }, payload }, REQUEST + DATA],
  ATOMIC_REQ: [
    { head: { address, ...asker, length: 4, opcode: AtomicOp.CSWAP }, payload: bytesOf('old new ') },
    ADDRESS + EP + REQUEST + '04' + '05' + '6f6c64206e657720',
  ],
  ATOMIC_REP: [{ head: { requestId: 0xa1 }, payload }, REQUEST + DATA],
  AM_SINGLE: [{ head: amHeader, payload, userHeader, foot: {} }, AM + DATA + HEAD],
  AM_FIRST: [
    { head: amHeader, payload, userHeader, foot: { messageId: 7, epId: 0xe1, total: 0x100000 } },
    AM + DATA + HEAD + NUMBER + EP + MIB,
  ],
  AM_MIDDLE: [
    { head: { offset: 0x2000 }, payload, userHeader: NONE, foot: { messageId: 7, epId: 0xe1 } },
    OFFSET + DATA + NUMBER + EP,
  ],
  AM_SINGLE_REPLY: [{ head: amHeader, payload, userHeader, foot: { epId: 0xe1 } }, AM + DATA + HEAD + EP],
  RNDV_CANCEL: [{ head: { requestId: 0xa1 } }, REQUEST],
};

// The keys of an object of ours are those that its type names.
const NAMES = Object.keys(Messages) as readonly MessageName[];

function encoded<M>(format: Format<M>, message: M): Uint8Array {
  const room = new Uint8Array(200);
  return room.slice(0, format.encode(room, message));
}

function goldenBytes(name: MessageName): Uint8Array {
  return Uint8Array.from(Buffer.from(golden[name][1], 'hex'));
}

/** What a decoder says of the golden message of a name, with other bytes in one place, or cut, or longer. */
function said(name: MessageName, change: (bytes: Uint8Array) => Uint8Array): object | string {
  return Messages[name].decode(change(goldenBytes(name)));
}

function withBytes(at: number, ...values: readonly number[]): (bytes: Uint8Array) => Uint8Array {
  return (bytes) => {
    bytes.set(values, at);
    return bytes;
  };
}

function problemOf(decoded: object | string): string {
  return typeof decoded === 'string' ? decoded : 'it is good';
}

const cutTo = (length: number) => (bytes: Uint8Array) => bytes.subarray(0, length);
const longer = (bytes: Uint8Array): Uint8Array => Uint8Array.of(...bytes, 0);

describe('a message of UCP', () => {
  for (const name of NAMES) {
    const format: Format<object> = Messages[name];
    const [message, bytes] = golden[name];
    it(`${name} has these bytes`, () => assert.equal(hex(encoded(format, message)), bytes));
    it(`${name} is what was encoded`, () => assert.deepEqual(format.decode(goldenBytes(name)), message));
    it(`${name} of bytes that are cut or are any is one, or is said to be none, and nothing is thrown`, () => {
      const whole = goldenBytes(name);
      for (let length = 0; length < whole.length; length += 1) format.decode(whole.subarray(0, length));
      const bit = fc.record({ at: fc.nat(whole.length - 1), byte: fc.nat(255) });
      fc.assert(
        fc.property(fc.array(bit, { maxLength: 4 }), fc.uint8Array({ maxLength: 80 }), (changes, any) => {
          const changed = whole.slice();
          for (const { at, byte } of changes) changed[at] = byte;
          for (const some of [changed, any]) {
            const decoded = format.decode(some);
            if (typeof decoded !== 'string') assert.equal(hex(encoded(format, decoded)), hex(some));
          }
        }),
        { numRuns: 100 },
      );
    });
  }

  const lies: readonly [MessageName, string, (bytes: Uint8Array) => Uint8Array, RegExp][] = [
    ['EAGER_ONLY', 'a tag that is cut', cutTo(7), /7 bytes, and 8 are needed/],
    ['EAGER_FIRST', 'a length beyond all counting', withBytes(15, 0xff), /total is more than 2\^53/],
    ['EAGER_FIRST', 'all of the message', withBytes(8, 4, 0, 0), /the first 4 bytes are of a message of 4/],
    ['EAGER_SYNC_FIRST', 'all of the message', withBytes(8, 4, 0, 0), /the first 4 bytes are of a message of 4/],
    ['EAGER_MIDDLE', 'no data', cutTo(16), /has no data/],
    ['EAGER_SYNC_ACK', 'no status', withBytes(8, 0x80), /status is -128/],
    ['EAGER_SYNC_ACK', 'bytes behind it', longer, /1 bytes are left over/],
    ['RNDV_RTS', 'no such receiver', withBytes(40, 2), /opcode is 2/],
    ['RNDV_RTS', 'flags of an AM that nobody knows', withBytes(40, RtsOpcode.AM), /flags is/],
    ['RNDV_RTS', 'a key that is cut', cutTo(60), /19 remain for a key/],
    ['RNDV_RTS', 'a key of another version', withBytes(41, 2), /version is 2/],
    ['RNDV_RTS', 'memory before that of its key', withBytes(24, 0xff, 0x0f), /the key is for other memory/],
    ['RNDV_RTS', 'memory beyond that of its key', withBytes(32, 1), /the key is for other memory/],
    ['RNDV_RTR', 'memory beyond that of its key', withBytes(26, 0xff), /the key is for other memory/],
    ['RNDV_ATP', 'a size that is cut', cutTo(12), /3 bytes, and 8 are needed/],
    ['RNDV_ATP', 'bytes behind the size', longer, /1 bytes are left over/],
    ['RNDV_DATA', 'no data', cutTo(16), /has no data/],
    ['PUT', 'memory of a kind that is not there', withBytes(16, 1), /memoryType is 1/],
    ['GET_REQ', 'memory of a kind that is not there', withBytes(32, 1), /memoryType is 1/],
    ['GET_REQ', 'a length beyond all counting', withBytes(14, 0x20), /length is more than 2\^53/],
    ['ATOMIC_REQ', 'a length that no atomic has', withBytes(24, 2), /length is 2/],
    ['ATOMIC_REQ', 'no such atomic', withBytes(25, 6), /opcode is 6/],
    ['ATOMIC_REQ', 'operands for another atomic', withBytes(25, AtomicOp.ADD), /8 bytes of operands, and not 4/],
    ['ATOMIC_REP', 'a value of no atomic', cutTo(10), /a value of 2 bytes/],
    ['AM_SINGLE', 'flags that nobody knows', withBytes(2, 0x10), /flags is 16/],
    ['AM_SINGLE', 'a header longer than all', withBytes(4, 9), /headers alone are longer than its 16 bytes/],
    ['AM_SINGLE', 'a header of 4 GiB', withBytes(4, 0xff, 0xff, 0xff, 0xff), /headers alone are longer/],
    ['AM_FIRST', 'all of the message', withBytes(32, 4, 0, 0), /the first 4 bytes are of a message of 4/],
    ['AM_MIDDLE', 'no room for its numbers', cutTo(20), /headers alone are longer/],
    ['AM_SINGLE_REPLY', 'an endpoint beyond all counting', withBytes(23, 1), /epId is more than 2\^53/],
  ];
  for (const [name, what, change, problem] of lies)
    it(`${name} with ${what} is said to be none`, () => assert.match(problemOf(said(name, change)), problem));

  it('AM_SINGLE is the same where its fields are read without a view', () => {
    const few = fc.uint8Array({ minLength: 0, maxLength: 12 });
    const fields = fc.tuple(fc.nat(9), fc.nat(1), fc.nat(10), fc.nat(1));
    fc.assert(
      fc.property(few, fields, (any, [flags, high, headerBytes, more]) => {
        const message = Uint8Array.of(1, 2, flags, high, headerBytes, 0, 0, more << 7, ...any);
        for (const bytes of [message, any]) {
          const decoded = Messages.AM_SINGLE.decode(bytes);
          assert.deepEqual(amSingleIn(bytes), typeof decoded === 'string' ? decoded : decoded.head);
        }
      }),
    );
  });

  it('of an AM by rendezvous has its header behind the key', () => {
    const header = Buffer.from(AM, 'hex').readBigUInt64LE();
    const message = {
      head: { header, ...asker, address, size: 0x100000, opcode: RtsOpcode.AM },
      rkey,
      userHeader,
    };
    const bytes = encoded(Messages.RNDV_RTS, message);
    assert.equal(hex(bytes).slice(-(RKEY + HEAD).length), RKEY + HEAD);
    assert.deepEqual(Messages.RNDV_RTS.decode(bytes), message);
    assert.deepEqual(amHeaderOf(header), amHeader);
  });

  it('by rendezvous needs no key where its memory is nobody else’s', () => {
    const [message, bytes] = golden.RNDV_RTS;
    const without = Uint8Array.from(Buffer.from(bytes.slice(0, -RKEY.length), 'hex'));
    assert.deepEqual(Messages.RNDV_RTS.decode(without), { ...message, rkey: undefined });
  });

  it('is told by its id, which has 5 bits', () => {
    assert.deepEqual(
      NAMES.map((name) => messageName(AmId[name])),
      NAMES,
    );
    const unknown = Array.from({ length: AM_IDS }, (_, id) => id).filter((id) => messageName(id) === undefined);
    assert.deepEqual(unknown, [0, AmId.WIREUP, 5, 13, AmId.OFFLOAD_SYNC_ACK, 27, 28, 29, 30]);
  });
});

describe('a packed key', () => {
  it('has these bytes, and is what was packed', () => {
    assert.equal(hex(packRkey(rkey)), RKEY);
    assert.deepEqual(unpackRkey(packRkey(rkey)), rkey);
  });

  const lies: Record<string, readonly [(bytes: Uint8Array) => Uint8Array, RegExp]> = {
    'is cut': [cutTo(23), /these are 23/],
    'is longer': [longer, /these are 25/],
    'is of another version': [withBytes(0, 9), /version is 9/],
    'gives no rights': [withBytes(1, 0), /access is 0/],
    'gives unknown rights': [withBytes(1, 16), /access is 16/],
    'gives two kinds of atomics': [withBytes(1, 12), /access is 12/],
    'says what nobody has asked for': [withBytes(3, 1), /reserved is 256/],
    'is for nothing': [withBytes(18, 0), /length is 0/],
    'is for more than can be counted': [withBytes(23, 0xff), /length is more than/],
    'is for memory beyond the last address': [withBytes(8, ...Array.from({ length: 8 }, () => 0xff)), /last address/],
  };
  for (const [what, [change, problem]] of Object.entries(lies))
    it(`that ${what} is said to be none`, () => assert.match(problemOf(unpackRkey(change(packRkey(rkey)))), problem));

  it('of any bytes is one, or none, and nothing is thrown', () =>
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 20, maxLength: 26 }), (bytes) => {
        const key = unpackRkey(bytes);
        if (typeof key !== 'string') assert.equal(hex(packRkey(key)), hex(bytes));
      }),
    ));
});

describe('a worker’s address', () => {
  const worker: WorkerAddress = {
    uuid: 0x1122334455667788n,
    host: '192.0.2.7',
    port: 13337,
    transport: 'rc',
    name: 'rank 3',
  };
  const HOST = '00000000000000000000ffffc0000207';

  it('has these bytes, and is what was packed', () => {
    assert.equal(hex(packWorkerAddress(worker)), '01' + '00' + '1934' + TAG + HOST + '72616e6b2033');
    assert.deepEqual(unpackWorkerAddress(packWorkerAddress(worker)), worker);
    const other: WorkerAddress = { ...worker, host: '2001:db8::7', transport: 'ud', name: '' };
    assert.deepEqual(unpackWorkerAddress(packWorkerAddress(other)), other);
  });

  const lies: Record<string, readonly [(bytes: Uint8Array) => Uint8Array, RegExp]> = {
    'is cut': [cutTo(27), /these are 27/],
    'is longer than any': [
      (bytes) => Uint8Array.of(...bytes, ...new Uint8Array(26)),
      /59 bytes at most, and these are 60/,
    ],
    'is of another version': [withBytes(0, 2), /version is 2/],
    'goes by an unknown transport': [withBytes(1, 2), /transport is 2/],
    'has no port': [withBytes(2, 0, 0), /port is 0/],
    'is that of no host': [withBytes(24, 0, 0, 0, 0), /the host is none/],
    'is that of no host of IPv6': [withBytes(12, ...new Uint8Array(16)), /the host is none/],
    'is that of a group': [withBytes(24, 224), /the host is a group/],
    'is that of a group of IPv6': [withBytes(12, 0xff), /the host is a group/],
    'has a name that is no text': [withBytes(28, 0xff), /no UTF-8/],
  };
  for (const [what, [change, problem]] of Object.entries(lies))
    it(`that ${what} is said to be none`, () =>
      assert.match(problemOf(unpackWorkerAddress(change(packWorkerAddress(worker)))), problem));

  it('of any bytes is one, or none, and nothing is thrown', () =>
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 20, maxLength: 64 }), (bytes) => {
        const any = unpackWorkerAddress(bytes);
        if (typeof any !== 'string') assert.equal(hex(packWorkerAddress(any)), hex(bytes));
      }),
    ));
});

describe('a status', () => {
  it('has the number that UCX gives it', () => {
    assert.equal(ucsStatusName(-9), 'UCS_ERR_MESSAGE_TRUNCATED');
    assert.equal(ucsStatusName(-16), 'UCS_ERR_CANCELED');
    assert.equal(ucsStatusName(-25), 'UCS_ERR_CONNECTION_RESET');
    assert.equal(ucsStatusName(-26), undefined);
    assert.ok(isUcsStatus(-80) && !isUcsStatus(-81));
  });

  it('has the errno of the system where there is one, and words', () => {
    assert.equal(statusRules('UCS_ERR_MESSAGE_TRUNCATED').errno, 'EMSGSIZE');
    assert.equal(statusRules('UCS_OK').errno, undefined);
    for (const value of Object.values(UcsStatus)) {
      const name = ucsStatusName(value);
      assert.ok(name !== undefined);
      const { errno, text } = statusRules(name);
      assert.ok(text.length > 0);
      assert.ok(errno === undefined || Errno[errno] > 0);
    }
  });
});
