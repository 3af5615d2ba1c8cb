import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  CmEventType,
  type CmId,
  type ConnParam,
  type ConnParamReceived,
  PortSpace,
  type Qp,
  type QpAttr,
  QpType,
} from '../../../entry/index.js';
import { assertErrno, next, Pair, PORT } from './support.js';

/** The two sides once they are connected, or where one leads its own queue pair, as far as the call brings it. */
interface Seen {
  /** What the event says that the call brings about on the other side. */
  readonly event: ConnParamReceived | undefined;
  /** The queue pair of the side that makes the call, and of the other side. */
  readonly own: QpAttr | undefined;
  readonly peer: QpAttr | undefined;
}

type Check = (seen: Seen) => boolean;
type Call = 'connect' | 'accept';
const CALLS = ['connect', 'accept'] as const;

const attrOf = ({ qp }: CmId): QpAttr | undefined => qp?.query().attr;

/** Where both sides leave a parameter out, the other side's is the most that there is. */
function play(call: Call, param: ConnParam, hasQp: boolean): Seen {
  using pair = new Pair();
  pair.listen();
  const paramOf = (side: Call): ConnParam => (side === call ? param : {});
  const active = pair.resolve();
  if (call === 'accept' || hasQp) active.createQp();
  active.connect(paramOf('connect'));
  const asked = next(pair.passive, CmEventType.CONNECT_REQUEST);
  const passive = asked.id;
  if (!hasQp && call === 'connect') return { event: asked.param.conn, own: undefined, peer: undefined };
  if (call === 'connect' || hasQp) passive.createQp();
  passive.accept(paramOf('accept'));
  const { conn } = next(pair.active, CmEventType.ESTABLISHED).param;
  next(pair.passive, CmEventType.ESTABLISHED);
  const [own, peer] = call === 'connect' ? [active, passive] : [passive, active];
  return { event: call === 'connect' ? asked.param.conn : conn, own: attrOf(own), peer: attrOf(peer) };
}

const QPN = 0x123456;

/** What becomes of a parameter: an effect on the connection, no effect as the man page says, or a refusal. */
interface Row {
  readonly param: ConnParam;
  readonly calls?: readonly Call[];
  /** With a queue pair of the identifier, and with one that was made elsewhere. */
  readonly own: Check | 'EINVAL';
  readonly elsewhere: Check | 'EINVAL';
}

const told =
  (field: keyof ConnParamReceived, value: unknown): Check =>
  ({ event }) =>
    event?.[field] === value;

const ROWS: readonly Row[] = [
  {
    param: { privateData: Uint8Array.of(7, 8, 9) },
    own: ({ event }) => event?.privateData[2] === 9,
    elsewhere: ({ event }) => event?.privateData[2] === 9,
  },
  { param: { privateData: new Uint8Array(197) }, own: 'EINVAL', elsewhere: 'EINVAL' },
  {
    param: { responderResources: 3 },
    own: (seen) => told('initiatorDepth', 3)(seen) && seen.own?.maxDestRdAtomic === 3 && seen.peer?.maxRdAtomic === 3,
    elsewhere: told('initiatorDepth', 3),
  },
  { param: { responderResources: 254 }, own: 'EINVAL', elsewhere: 'EINVAL' },
  {
    param: { initiatorDepth: 3 },
    own: (seen) =>
      told('responderResources', 3)(seen) && seen.own?.maxRdAtomic === 3 && seen.peer?.maxDestRdAtomic === 3,
    elsewhere: told('responderResources', 3),
  },
  { param: { initiatorDepth: 254 }, own: 'EINVAL', elsewhere: 'EINVAL' },
  { param: { flowControl: true }, own: told('flowControl', true), elsewhere: told('flowControl', true) },
  {
    param: { retryCount: 3 },
    calls: ['connect'],
    own: (seen) => told('retryCount', 3)(seen) && seen.own?.retryCnt === 3 && seen.peer?.retryCnt === 3,
    elsewhere: told('retryCount', 3),
  },
  {
    param: { retryCount: 3 },
    calls: ['accept'],
    own: (seen) => told('retryCount', 0)(seen) && seen.own?.retryCnt === 7 && seen.peer?.retryCnt === 7,
    elsewhere: told('retryCount', 0),
  },
  { param: { retryCount: 8 }, own: 'EINVAL', elsewhere: 'EINVAL' },
  {
    param: { rnrRetryCount: 3 },
    own: (seen) => told('rnrRetryCount', 3)(seen) && seen.peer?.rnrRetry === 3 && seen.own?.rnrRetry === 7,
    elsewhere: told('rnrRetryCount', 3),
  },
  { param: { rnrRetryCount: 8 }, own: 'EINVAL', elsewhere: 'EINVAL' },
  { param: { srq: true }, own: told('srq', false), elsewhere: told('srq', true) },
  { param: { qpNum: QPN }, own: ({ event }) => event?.qpNum !== QPN, elsewhere: told('qpNum', QPN) },
  { param: { qpNum: 2 ** 24 }, own: 'EINVAL', elsewhere: 'EINVAL' },
  { param: { qpType: QpType.UD }, calls: ['accept'], own: told('srq', false), elsewhere: 'EINVAL' },
  { param: { qkey: 5 }, own: 'EINVAL', elsewhere: 'EINVAL' },
];

describe('a parameter of a connection takes effect, or is refused', () => {
  for (const { param, calls = CALLS, own, elsewhere } of ROWS)
    for (const call of calls)
      for (const [where, check] of Object.entries({ own, elsewhere }))
        it(`${call}(${JSON.stringify(param)}), queue pair ${where}: ${check === 'EINVAL' ? check : 'effect'}`, () => {
          const given = where === 'own' ? param : { qpNum: QPN, ...param };
          if (check === 'EINVAL') assertErrno('EINVAL', () => play(call, given, where === 'own'));
          else assert.ok(check(play(call, given, where === 'own')));
        });

  it('with what the two sides agree on, no more than either has room for', () => {
    using pair = new Pair();
    pair.listen();
    const { id, request } = pair.request({ responderResources: 2, initiatorDepth: 3 });
    request.id.createQp();
    request.id.accept({ responderResources: 5, initiatorDepth: 6 });
    next(pair.active, CmEventType.ESTABLISHED);
    const shown = ({ maxDestRdAtomic, maxRdAtomic }: QpAttr) => [maxDestRdAtomic, maxRdAtomic];
    assert.deepEqual(
      [id, request.id].map(({ qp }) => qp && shown(qp.query().attr)),
      [
        [2, 3],
        [5, 2],
      ],
    );
  });
});

describe('a parameter of datagrams takes effect, or is refused', () => {
  const asked = (pair: Pair, param: ConnParam): CmId => {
    pair.listen(PORT, PortSpace.UDP);
    pair.resolve(PORT, PortSpace.UDP).connect(param);
    const { id, param: event } = next(pair.passive, CmEventType.CONNECT_REQUEST);
    assert.equal(event.ud?.privateData[0], param.privateData?.[0] ?? 0);
    return id;
  };
  const privateData = Uint8Array.of(5);
  const idle: readonly ConnParam[] = [
    { responderResources: 1 },
    { initiatorDepth: 1 },
    { flowControl: true },
    { retryCount: 1 },
    { rnrRetryCount: 1 },
    { srq: true },
  ];

  it('connect: privateData', () => {
    using pair = new Pair();
    asked(pair, { privateData });
  });

  for (const param of [...idle, { qkey: 1 }, { qpNum: 1 }, { qpType: QpType.UD }])
    it(`connect(${JSON.stringify(param)}): EINVAL, and it can still connect`, () => {
      using pair = new Pair();
      pair.listen(PORT, PortSpace.UDP);
      const id = pair.resolve(PORT, PortSpace.UDP);
      assertErrno('EINVAL', () => id.connect(param));
      id.connect();
      next(pair.passive, CmEventType.CONNECT_REQUEST);
    });

  for (const param of idle)
    it(`accept(${JSON.stringify(param)}): EINVAL, and it can still accept`, () => {
      using pair = new Pair();
      const id = asked(pair, {});
      assertErrno('EINVAL', () => id.accept({ qpNum: QPN, ...param }));
      id.accept({ qpNum: QPN });
      next(pair.active, CmEventType.ESTABLISHED);
    });

  it('accept: privateData, qpNum, qpType, qkey', () => {
    using pair = new Pair();
    asked(pair, {}).accept({ privateData, qpNum: QPN, qpType: QpType.UD, qkey: 77 });
    const { ud } = next(pair.active, CmEventType.ESTABLISHED).param;
    assert.deepEqual([ud?.privateData[0], ud?.qpNum, ud?.qkey], [5, QPN, 77]);
  });
});

describe('parameters that come before or after their step change nothing', () => {
  const late: ConnParam = { responderResources: 1, initiatorDepth: 1, rnrRetryCount: 1, retryCount: 1 };
  const assertUntouched = (qp: Qp | undefined): void => {
    const { attr } = qp?.query() ?? assert.fail('no queue pair');
    assert.deepEqual([attr.retryCnt, attr.rnrRetry], [7, 7]);
    assert.ok(attr.maxRdAtomic > 1 && attr.maxDestRdAtomic > 1);
  };

  it('of both sides, at each step', () => {
    using pair = new Pair();
    const refuseBoth = (...ids: readonly CmId[]): void => {
      for (const id of ids) {
        assertErrno('EINVAL', () => id.connect(late));
        assertErrno('EINVAL', () => id.accept(late));
      }
    };
    const listener = pair.listen();
    refuseBoth(listener);
    const active = pair.resolve();
    active.createQp();
    assertErrno('EINVAL', () => active.accept(late));
    active.connect();
    refuseBoth(active);
    const { id: passive } = next(pair.passive, CmEventType.CONNECT_REQUEST);
    passive.createQp();
    assertErrno('EINVAL', () => passive.connect(late));
    passive.accept();
    refuseBoth(active, passive);
    next(pair.active, CmEventType.ESTABLISHED);
    next(pair.passive, CmEventType.ESTABLISHED);
    refuseBoth(active, passive);
    for (const { qp } of [active, passive]) assertUntouched(qp);
    active.disconnect();
    next(pair.passive, CmEventType.DISCONNECTED);
    passive.disconnect();
    next(pair.active, CmEventType.DISCONNECTED);
    refuseBoth(active, passive);
  });
});
