import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bindMwProblem, bindRequestProblem, incRkey, sendProblem } from '../index.js';
import { AccessFlags, MwType, type QpCap, QpType, SendFlags, WrOpcode } from '../../../device/ibta/index.js';

const cap: QpCap = { maxSendWr: 16, maxRecvWr: 16, maxSendSge: 2, maxRecvSge: 2, maxInlineData: 32 };
const pd = {};
const mr = { lkey: 7, pd };
const first = { type: MwType.TYPE_1, pd };
const second = { type: MwType.TYPE_2, pd };
const { REMOTE_READ, REMOTE_WRITE, ZERO_BASED, ON_DEMAND } = AccessFlags;
const bindInfo = { mr, addr: 0x1000n, length: 64, mwAccessFlags: REMOTE_READ | REMOTE_WRITE };

const verb = (mw: unknown, info: unknown): ReturnType<typeof bindMwProblem> =>
  bindMwProblem(QpType.RC, mw, { bindInfo: info });

describe('incRkey', () => {
  const keys: readonly [number, number][] = [
    [0x1200, 0x1201],
    [0x12ff, 0x1200],
    [0xffff_ffff, 0xffff_ff00],
    [0x8000_0000, 0x8000_0001],
  ];
  for (const [key, next] of keys) {
    it(`makes 0x${next.toString(16)} of 0x${key.toString(16)}`, () => assert.equal(incRkey(key), next));
  }
});

describe('a bind by the verb (man ibv_bind_mw)', () => {
  it('opens a part of a region', () => assert.equal(verb(first, bindInfo), undefined));

  it('of nothing closes the window', () => {
    assert.equal(verb(first, {}), undefined);
    assert.equal(verb(first, { mr, addr: 0, length: 0 }), undefined);
  });

  it('counts a parent domain as the domain that it was made from', () => {
    const parent = { pd };
    assert.equal(verb({ ...first, pd: parent }, bindInfo), undefined);
    assert.equal(verb(first, { ...bindInfo, mr: { lkey: 7, pd: { pd: parent } } }), undefined);
  });

  const bad: readonly [what: string, mw: unknown, info: unknown, errno: string, sentence: RegExp][] = [
    ['a window of type 2', second, bindInfo, 'EINVAL', /of type TYPE_2, and this binds those of TYPE_1/],
    ['no window', undefined, bindInfo, 'EINVAL', /mw is not a memory window/],
    ['nothing to say what to open', first, undefined, 'EINVAL', /bindInfo is missing/],
    ['an address without a region', first, { addr: 8 }, 'EINVAL', /but no region/],
    ['a length without a region', first, { length: 8 }, 'EINVAL', /but no region/],
    ['a region that is none', first, { mr: 7, length: 8 }, 'EINVAL', /bindInfo\.mr is not a memory region/],
    ['a region of another domain', first, { ...bindInfo, mr: { lkey: 7, pd: {} } }, 'EPERM', /different protection/],
    ['a zero base', first, { ...bindInfo, mwAccessFlags: ZERO_BASED }, 'EINVAL', /cannot have ZERO_BASED/],
    ['flags that windows lack', first, { ...bindInfo, mwAccessFlags: ON_DEMAND }, 'EINVAL', /mean nothing: 0x40/],
    ['an address that is none', first, { ...bindInfo, addr: -1 }, 'EINVAL', /bindInfo\.addr is -1/],
    ['a length that is none', first, { ...bindInfo, length: -1 }, 'EINVAL', /bindInfo\.length is -1/],
    ['half a byte', first, { ...bindInfo, length: 0.5 }, 'EINVAL', /bindInfo\.length is 0\.5/],
  ];
  for (const [what, mw, info, errno, sentence] of bad) {
    it(`is refused with ${what}`, () => {
      const problem = verb(mw, info);
      assert.equal(problem?.errno, errno);
      assert.match(problem.message, sentence);
    });
  }
});

describe('bindMw', () => {
  it('can be fenced and signalled', () => {
    const sendFlags = SendFlags.FENCE | SendFlags.SIGNALED;
    assert.equal(bindMwProblem(QpType.UC, first, { wrId: 5n, sendFlags, bindInfo }), undefined);
  });

  it('is refused on types that carry out no binds', () => {
    assert.equal(bindMwProblem(QpType.UD, first, { bindInfo })?.errno, 'EINVAL');
  });

  it('is refused with an id or flags that requests do not have', () => {
    assert.match(bindMwProblem(QpType.RC, first, { wrId: 0.5, bindInfo })?.message ?? '', /wrId/);
    assert.match(bindMwProblem(QpType.RC, first, { sendFlags: 'x', bindInfo })?.message ?? '', /sendFlags/);
    const sendFlags = SendFlags.INLINE;
    assert.match(bindMwProblem(QpType.RC, first, { sendFlags, bindInfo })?.message ?? '', /BIND_MW cannot be inline/);
  });
});

describe('a BIND_MW request', () => {
  const bindMw = { mw: second, rkey: 0x1201, bindInfo };
  const check = (wr: object): string | undefined =>
    sendProblem(QpType.RC, cap, 2 ** 31, { opcode: WrOpcode.BIND_MW, ...wr })?.message;

  it('binds a window of type 2', () => assert.equal(check({ bindMw }), undefined));

  it('can have a zero base', () => {
    assert.equal(bindRequestProblem(second, 1, { ...bindInfo, mwAccessFlags: ZERO_BASED | REMOTE_READ }), undefined);
  });

  it('leaves domains to its execution', () => {
    assert.equal(bindRequestProblem(second, 1, { ...bindInfo, mr: { lkey: 7, pd: {} } }), undefined);
  });

  const bad: readonly [what: string, wr: object, sentence: RegExp][] = [
    ['nothing to bind', {}, /bindMw is missing/],
    ['a window of type 1', { bindMw: { ...bindMw, mw: first } }, /of type TYPE_1, and this binds those of TYPE_2/],
    ['no new key', { bindMw: { ...bindMw, rkey: undefined } }, /bindMw\.rkey is missing/],
    ['a key of 33 bits', { bindMw: { ...bindMw, rkey: 2 ** 32 } }, /bindMw\.rkey is 4294967296/],
    ['pieces', { bindMw, sgList: [{ addr: 0, length: 8, lkey: 7 }] }, /BIND_MW moves no data/],
    ['INLINE', { bindMw, sendFlags: SendFlags.INLINE }, /BIND_MW cannot be inline: it has no data/],
  ];
  for (const [what, wr, sentence] of bad) {
    it(`is refused with ${what}`, () => assert.match(check(wr) ?? '', sentence));
  }
});

describe('a LOCAL_INV request', () => {
  it('names the key that it closes', () => {
    const opcode = WrOpcode.LOCAL_INV;
    assert.equal(sendProblem(QpType.UC, cap, 2 ** 31, { opcode, invalidateRkey: 0xffff_ffff }), undefined);
    assert.match(sendProblem(QpType.UC, cap, 2 ** 31, { opcode })?.message ?? '', /invalidateRkey is missing/);
  });
});
