import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ahProblem, completeAhAttr } from '../index.js';
import { gidFromIp } from '../../../device/ibta/index.js';

const dgid = gidFromIp('127.0.0.2');
const attr = completeAhAttr({ grh: { dgid } });
const grh = { dgid, flowLabel: 0, sgidIndex: 0, hopLimit: 64, trafficClass: 0 };
const hasGid = (index: number): boolean => index === 0;
const check = (change: object): string | undefined => ahProblem({ ...attr, ...change }, 1, hasGid)?.message;

describe('an address (protocol/services.md 3.9)', () => {
  it('can be a peer’s GID alone', () => assert.equal(check({}), undefined));

  const bad: readonly [what: string, change: object, sentence: RegExp][] = [
    ['no GRH', { grh: undefined }, /has no GRH/],
    ['a GRH that is not used', { isGlobal: false }, /has no GRH/],
    ['a GID of 4 bytes', { grh: { ...grh, dgid: dgid.slice(12) } }, /not a GID of 16 bytes/],
    ['no peer', { grh: { ...grh, dgid: new Uint8Array(16) } }, /all zeros/],
    [
      'an empty entry of the GID table',
      { grh: { ...grh, sgidIndex: 1 } },
      /sgidIndex is 1, where the GID table is empty/,
    ],
    ['a port that does not exist', { portNum: 2 }, /portNum is 2/],
    ['port 0', { portNum: 0 }, /portNum is 0/],
    ['a service level of 5 bits', { sl: 16 }, /sl is 16/],
    ['a flow label of 21 bits', { grh: { ...grh, flowLabel: 1 << 20 } }, /flowLabel/],
    ['a hop limit of 9 bits', { grh: { ...grh, hopLimit: 256 } }, /hopLimit/],
  ];
  for (const [what, change, sentence] of bad) {
    it(`is refused with ${what}`, () => assert.match(check(change) ?? '', sentence));
  }
});
