import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { gidFromIp } from '../../../../../device/ibta/index.js';
import {
  amIdOfWord,
  amWord,
  decodeUdControl,
  encodeUdControl,
  endpointOfWord,
  kindOfWord,
  MAX_UD_CONTROL_BYTES,
  NO_UD_ENDPOINT,
  UD_HEADER_BYTES,
  udAckPsnAt,
  type UdControl,
  UdControlType,
  UdFlags,
  UdKind,
  udPsnAt,
  udWordAt,
  writeUdHeader,
} from '../../../wire/index.js';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

function header(word: number, psn: number, ackPsn: number): Uint8Array {
  const bytes = new Uint8Array(UD_HEADER_BYTES);
  writeUdHeader(bytes, word, psn, ackPsn);
  return bytes;
}

describe('the header of ud', () => {
  const headers: Record<string, readonly [word: number, bytes: string]> = {
    'an active message': [amWord(0x123456, 2, 0), '56341211'],
    'an active message of the last id that is to be acknowledged': [amWord(0x123456, 31, UdFlags.ACK_REQ), '563412fb'],
    'an acknowledgement': [0x123456, '56341200'],
    'one that says that something is missing': [0x123456 | UdFlags.NACK, '56341208'],
    'a message of the handshake for nobody yet': [NO_UD_ENDPOINT | UdFlags.CTL | UdFlags.ACK_REQ, 'ffffff22'],
  };
  for (const [what, [word, bytes]] of Object.entries(headers))
    it(`of ${what} has these bytes`, () => {
      assert.equal(hex(header(word, 0x0102, 0xfffe)), `${bytes}0201feff`);
    });

  it('is what was written, wherever it stands', () => {
    const number = fc.nat(0xffff);
    fc.assert(
      fc.property(
        fc.nat(NO_UD_ENDPOINT),
        fc.nat(31),
        fc.boolean(),
        number,
        number,
        (endpoint, id, asks, psn, ackPsn) => {
          const word = amWord(endpoint, id, asks ? UdFlags.ACK_REQ : 0);
          const bytes = Uint8Array.of(1, 2, 3, ...header(word, psn, ackPsn));
          const read = udWordAt(bytes, 3);
          assert.deepEqual(
            [endpointOfWord(read), amIdOfWord(read), (read & UdFlags.ACK_REQ) !== 0, kindOfWord(read)],
            [endpoint, id, asks, UdKind.AM],
          );
          assert.deepEqual([udPsnAt(bytes, 3), udAckPsnAt(bytes, 3)], [psn, ackPsn]);
        },
      ),
    );
  });

  const kinds: Record<string, readonly [flags: number, kind: UdKind]> = {
    'nothing else': [0, UdKind.BARE],
    'a request to acknowledge': [UdFlags.ACK_REQ, UdKind.BARE],
    'something missing, and congestion': [UdFlags.NACK | UdFlags.ECN, UdKind.BARE],
    'a message of the handshake': [UdFlags.CTL | UdFlags.ACK_REQ, UdKind.CTL],
    'a message of the handshake with something missing': [UdFlags.CTL | UdFlags.NACK, UdKind.UNKNOWN],
    'bytes for memory': [UdFlags.PUT, UdKind.UNKNOWN],
    'what nobody knows': [1 << 30, UdKind.UNKNOWN],
    'what nobody knows, in the highest bit': [1 << 31, UdKind.UNKNOWN],
  };
  for (const [what, [flags, kind]] of Object.entries(kinds))
    it(`says what it is by its flags: ${what}`, () => assert.equal(kindOfWord(0x123456 | flags), kind));
});

const self = { segmentBytes: 4096, qkey: 0xa1b2c3d4 };
const OURS = '56554354' + '01' + '00' + '0010' + 'd4c3b2a1';
const NOBODY = '00'.repeat(20);
const ask4: UdControl = {
  type: UdControlType.CREQ,
  qpn: 0x000011,
  endpoint: 0xabcdef,
  connection: 7,
  gid: gidFromIp('192.0.2.7'),
  ...self,
};

function bytesOf(control: UdControl): Uint8Array {
  const into = new Uint8Array(MAX_UD_CONTROL_BYTES).fill(0xee);
  return into.subarray(0, encodeUdControl(into, control));
}

describe('messages of the handshake of ud', () => {
  const messages: Record<string, readonly [control: UdControl, bytes: string]> = {
    'a request': [
      ask4,
      '01000000' +
        '110000' +
        'efcdab' +
        '0000' +
        '07000000' +
        '00000000' +
        NOBODY +
        '48' +
        '0000000000000000' +
        '0000ffffc0000207' +
        OURS,
    ],
    'a request from IPv6': [
      { ...ask4, gid: gidFromIp('2001:db8::7') },
      '01000000' +
        '110000' +
        'efcdab' +
        '0000' +
        '07000000' +
        '00000000' +
        NOBODY +
        '58' +
        '20010db8000000000000000000000007' +
        OURS,
    ],
    'an answer': [
      { type: UdControlType.CREP, endpoint: 0x010203, ...self },
      '02000000' + '03020100' + '00'.repeat(12) + NOBODY + OURS,
    ],
    'an end': [{ type: UdControlType.GONE, endpoint: 0x010203 }, '80000000' + '03020100' + '00'.repeat(12) + NOBODY],
  };
  for (const [what, [control, bytes]] of Object.entries(messages)) {
    it(`has ${what} in these bytes, and reads them`, () => {
      assert.equal(hex(bytesOf(control)), bytes);
      assert.deepEqual(decodeUdControl(bytesOf(control)), control);
    });

    it(`refuses ${what} that is cut, or too long`, () => {
      const whole = bytesOf(control);
      for (let length = 0; length < whole.length; length += 1)
        assert.equal(typeof decodeUdControl(whole.subarray(0, length)), 'string');
      assert.equal(typeof decodeUdControl(Uint8Array.of(...whole, 0)), 'string');
    });
  }

  it('does not look at the sender’s name, nor at the gaps', () => {
    const bytes = bytesOf(ask4);
    for (const [from, to] of [
      [1, 4],
      [10, 12],
      [17, 40],
    ] as const)
      bytes.fill(0x5a, from, to);
    assert.deepEqual(decodeUdControl(bytes), ask4);
  });

  const lies: Record<string, readonly [at: number, values: readonly number[], problem: RegExp]> = {
    'of no type': [0, [3], /type is 3/],
    'from the queue pair of management': [4, [1, 0, 0], /qpn is 1/],
    'from the queue pair of groups': [4, [255, 255, 255], /qpn is 16777215/],
    'from no endpoint': [7, [255, 255, 255], /endpoint is 16777215/],
    'by another path': [16, [1], /path is 1/],
    'from another kind of network': [40, [0x40], /flags 64/],
    'with an address that is none of the version it says': [40, [0x58], /flags 88/],
    'by another protocol': [57, [0], /does not speak/],
    'by another version': [61, [2], /version 2/],
    'with what nobody has asked for': [62, [1], /reserved is 1/],
    'with datagrams too short for any message': [63, [255, 0], /segmentBytes is 255/],
    'with datagrams beyond all measure': [63, [1, 16], /segmentBytes is 4097/],
  };
  for (const [what, [at, values, problem]] of Object.entries(lies))
    it(`refuses a request ${what}`, () => {
      const bytes = bytesOf(ask4);
      bytes.set(values, at);
      const said = decodeUdControl(bytes);
      assert.match(typeof said === 'string' ? said : 'it is good', problem);
    });

  it('takes any bytes without throwing', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => void decodeUdControl(bytes)));
  });
});
