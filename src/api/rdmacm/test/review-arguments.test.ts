import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type CmId, CmEventType, type ConnParam, createId, getAddrInfo, PortSpace } from '../../../entry/index.js';
import { assertErrno, assertRejects, next, Pair, PASSIVE, PORT } from './support.js';

/** A value of a type that a program without a compiler may give in place of the right one. */
function wrong(value: unknown): never {
  // That it is of no type is the point.
  return value as never;
}

/** Values that no flag takes, and that would not fit into the one bit that a message has for it. */
const noFlags = [1, 5, 'yes', null, {}, () => true];

const wrongParameters: readonly (readonly [string, readonly ConnParam[]])[] = [
  ['flowControl that is not a flag', noFlags.map((flowControl) => wrong({ flowControl }))],
  ['srq that is not a flag', noFlags.map((srq) => wrong({ qpNum: 5, srq }))],
  ['a type that no queue pair has', [1, '2', 'constructor', null].map((qpType) => wrong({ qpNum: 5, qpType }))],
];

describe('what no message can say', () => {
  for (const [what, parameters] of wrongParameters) {
    it(`is refused in connect: ${what}`, () => {
      using pair = new Pair();
      const id = pair.resolve();
      id.createQp();
      for (const param of parameters) assertErrno('EINVAL', () => id.connect(param));
    });

    it(`is refused in accept: ${what}`, () => {
      using pair = new Pair();
      pair.listen();
      const { request } = pair.request();
      request.id.createQp();
      for (const param of parameters) assertErrno('EINVAL', () => request.id.accept(param));
    });

    it(`is refused before anything has changed: ${what}`, () => {
      using pair = new Pair();
      pair.listen();
      const { request } = pair.request();
      request.id.createQp();
      for (const param of parameters) assertErrno('EINVAL', () => request.id.accept(param));
      request.id.accept();
      next(pair.active, CmEventType.ESTABLISHED);
    });
  }
});

describe('calls without a compiler', () => {
  const resolveWith = (id: CmId, options: unknown): void =>
    id.resolveAddr({ host: PASSIVE, port: PORT }, wrong(options));

  for (const options of [null, 5, { source: null }, { source: 0 }, { source: '' }])
    it(`resolveAddr refuses options that are none: ${JSON.stringify(options)}`, () => {
      using pair = new Pair();
      const id = createId(pair.active, PortSpace.TCP);
      assertErrno('EINVAL', () => resolveWith(id, options));
      assert.equal(id.localAddr, undefined);
    });

  for (const option of ['constructor', 'x', 4, -1, null])
    it(`setOption refuses an option that is none: ${String(option)}`, () => {
      using pair = new Pair();
      const id = createId(pair.active, PortSpace.TCP);
      assertErrno('EINVAL', () => id.setOption(wrong(option), wrong(1)));
    });

  for (const qpState of ['constructor', 'x', 99, null])
    it(`initQpAttr refuses a state that is none: ${String(qpState)}`, () => {
      using pair = new Pair();
      pair.listen();
      const [id] = pair.connect();
      assertErrno('EINVAL', () => id.initQpAttr(wrong(qpState)));
    });

  it('createQp refuses a type that is not a number', () => {
    using pair = new Pair();
    const id = pair.resolve();
    assertErrno('EINVAL', () => id.createQp(undefined, { qpType: wrong(Symbol('RC')) }));
  });

  for (const hints of [{ family: 5 }, { family: '4' }, { portSpace: 'tcp' }, { qpType: 1 }, null])
    it(`getAddrInfo refuses hints that are none: ${JSON.stringify(hints)}`, async () => {
      await assertRejects('EINVAL', getAddrInfo(PASSIVE, PORT, wrong(hints)));
    });

  it('getAddrInfo refuses a name without letters', async () => {
    await assertRejects('EINVAL', getAddrInfo('', PORT));
  });
});
