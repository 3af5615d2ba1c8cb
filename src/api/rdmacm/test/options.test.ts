import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CmEventType, type CmId, CmOption, createId, PortSpace, VerbsError } from '../../../entry/index.js';
import { ACTIVE, next, Pair, PASSIVE, PORT } from './support.js';

type Fate = 'effect' | 'EINVAL';

const TOS = 0x48;
const TIMEOUT = 9;

/** Steps of the side that connects, each after those before it. */
const ACTIVE_STEPS = ['created', 'bound', 'address resolved', 'route resolved', 'asking', 'connected', 'left'] as const;
/** Steps of the side that accepts: of the listener, and of the identifier of a request. */
const PASSIVE_STEPS = ['listening', 'asked', 'accepted', 'connected', 'left'] as const;
type Step = (typeof ACTIVE_STEPS)[number] | (typeof PASSIVE_STEPS)[number];

/** Tries to set an option. @returns whether it was refused */
function refused(set: () => void): boolean {
  try {
    set();
    return false;
  } catch (error) {
    assert.ok(error instanceof VerbsError && error.errno === 'EINVAL', String(error));
    return true;
  }
}

/** Makes and ends a connection; calls back after each step of one side. @returns both identifiers, before their end */
function play(
  side: 'active' | 'passive',
  at: (step: Step, id: CmId) => void,
  atEnd: (active: CmId, passive: CmId) => void,
) {
  using pair = new Pair();
  const told = (which: typeof side, step: Step, id: CmId): void => {
    if (which === side) at(step, id);
  };
  told('passive', 'listening', pair.listen());
  const id = createId(pair.active, PortSpace.TCP);
  told('active', 'created', id);
  id.bindAddr({ host: ACTIVE });
  told('active', 'bound', id);
  id.resolveAddr({ host: PASSIVE, port: PORT });
  next(pair.active, CmEventType.ADDR_RESOLVED);
  told('active', 'address resolved', id);
  id.resolveRoute();
  next(pair.active, CmEventType.ROUTE_RESOLVED);
  told('active', 'route resolved', id);
  id.createQp();
  id.connect();
  told('active', 'asking', id);
  const { id: request } = next(pair.passive, CmEventType.CONNECT_REQUEST);
  told('passive', 'asked', request);
  request.createQp();
  request.accept();
  told('passive', 'accepted', request);
  next(pair.active, CmEventType.ESTABLISHED);
  next(pair.passive, CmEventType.ESTABLISHED);
  told('active', 'connected', id);
  told('passive', 'connected', request);
  atEnd(id, request);
  id.disconnect();
  next(pair.passive, CmEventType.DISCONNECTED);
  told('passive', 'left', request);
  request.disconnect();
  next(pair.active, CmEventType.DISCONNECTED);
  told('active', 'left', id);
}

const trafficClass = ({ qp }: CmId) => qp?.query().attr.ahAttr.grh?.trafficClass;
const timeout = ({ qp }: CmId) => qp?.query().attr.timeout;

interface Row {
  readonly name: string;
  readonly set: (id: CmId) => void;
  /** Whether it has taken effect, for an option that the queue pair shows. */
  readonly shows?: (id: CmId) => boolean;
  readonly active: readonly Fate[];
  readonly passive: readonly Fate[];
}

const [E, X] = ['effect', 'EINVAL'] as const;

/** What Linux accepts and ignores is refused here: TOS and ACK_TIMEOUT that come too late. */
const ROWS: readonly Row[] = [
  {
    name: 'TOS',
    set: (id) => id.setOption(CmOption.TOS, TOS),
    shows: (id) => trafficClass(id) === TOS,
    active: [E, E, E, E, X, X, X],
    passive: [X, X, X, X, X],
  },
  {
    name: 'ACK_TIMEOUT',
    set: (id) => id.setOption(CmOption.ACK_TIMEOUT, TIMEOUT),
    shows: (id) => timeout(id) === TIMEOUT,
    active: [E, E, E, E, X, X, X],
    passive: [X, E, X, X, X],
  },
  {
    name: 'REUSEADDR',
    set: (id) => id.setOption(CmOption.REUSEADDR, true),
    active: [E, E, E, E, E, E, E],
    passive: [X, E, E, E, E],
  },
  {
    name: 'REUSEADDR false',
    set: (id) => id.setOption(CmOption.REUSEADDR, false),
    active: [E, X, X, X, X, X, X],
    passive: [X, X, X, X, X],
  },
  {
    name: 'AFONLY',
    set: (id) => id.setOption(CmOption.AFONLY, true),
    active: [E, E, X, X, X, X, X],
    passive: [X, X, X, X, X],
  },
];

describe('an option of an identifier takes effect, or is refused', () => {
  for (const { name, set, shows, ...fates } of ROWS) {
    for (const side of ['active', 'passive'] as const) {
      const steps = side === 'active' ? ACTIVE_STEPS : PASSIVE_STEPS;
      for (const [i, step] of steps.entries()) {
        const fate = fates[side][i];
        it(`${name}, ${side} side, ${step}: ${fate}`, () => {
          let found: Fate | undefined;
          play(
            side,
            (now, id) => {
              if (now === step) found = refused(() => set(id)) ? 'EINVAL' : 'effect';
            },
            (active, passive) => {
              if (shows !== undefined) assert.equal(shows(side === 'active' ? active : passive), found === 'effect');
            },
          );
          assert.equal(found, fate);
        });
      }
    }
  }
});
