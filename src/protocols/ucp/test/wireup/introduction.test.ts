import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  decodeAcceptance,
  decodeIntroduction,
  decodeNoMeeting,
  encodeAcceptance,
  encodeIntroduction,
  encodeNoMeeting,
  NoMeeting,
} from '../../wire/index.js';

const meeting = { call: 0x01020304, uuid: 0x1112131415161718n, toUuid: 0x2122232425262728n };
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

describe('what workers say of themselves', () => {
  it('has these bytes, and is what was said', () => {
    const said = { meeting, clientId: 0x3132333435363738n };
    const bytes = encodeIntroduction(said);
    assert.equal(
      hex(bytes),
      '03' + '000000' + '04030201' + '1817161514131211' + '2827262524232221' + '3837363534333231',
    );
    assert.deepEqual(decodeIntroduction(Uint8Array.of(...bytes, 0, 0)), said);
    assert.deepEqual(decodeIntroduction(new Uint8Array(32)), {});
    assert.equal(hex(encodeAcceptance(meeting.call)), '04030201');
    assert.equal(decodeAcceptance(encodeAcceptance(meeting.call)), meeting.call);
    assert.equal(decodeAcceptance(new Uint8Array(3)), 0);
    for (const why of Object.values(NoMeeting)) assert.equal(decodeNoMeeting(encodeNoMeeting(why)), why);
  });

  const lies: Readonly<Record<string, readonly [(bytes: Uint8Array) => Uint8Array, RegExp]>> = {
    'is cut': [(bytes) => bytes.subarray(0, 31), /31 bytes/],
    'has unknown flags': [(bytes) => bytes.with(0, 4), /flags is 4/],
    'has reserved bits': [(bytes) => bytes.with(1, 1), /reserved is 1/],
    'asks for nobody, and names somebody': [(bytes) => bytes.with(0, 2), /asks for none/],
    'has no call': [(bytes) => Uint8Array.of(...bytes.subarray(0, 4), 0, 0, 0, 0, ...bytes.subarray(8)), /call is 0/],
    'has a client that it does not tell': [(bytes) => bytes.with(0, 1), /clientId is 5/],
  };
  for (const [what, [change, problem]] of Object.entries(lies))
    it(`that ${what} is said to be wrong`, () => {
      const said = decodeIntroduction(change(encodeIntroduction({ meeting, clientId: 5n })));
      assert.ok(typeof said === 'string');
      assert.match(said, problem);
    });

  it('of any bytes is right, or wrong, and nothing is thrown', () =>
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const said = decodeIntroduction(bytes);
        if (typeof said !== 'string') assert.equal(hex(encodeIntroduction(said)), hex(bytes.subarray(0, 32)));
        assert.ok(['number', 'string'].includes(typeof decodeNoMeeting(bytes)));
      }),
    ));
});
