import type { SimHost } from '../../../../sim/index.js';
import { Engine } from '../../../core/index.js';
import { holdingsOf } from '../../../../../test/support/holdings.js';
import { check } from '../../../../../test/sim/failure.js';

const STREAMS_OF = ['qps', 'identifiers', 'connections', 'halfOpen', 'driverRegions'] as const;

/** All streams have ended. @throws SimulationFailure when a host still has something of them */
export function checkNothingLeft(host: SimHost): void {
  if (host.state === 'down') return;
  const { pool, registrations, statistics } = Engine.of(host.context);
  const { outstanding } = statistics;
  check(outstanding.size === 0, () => `${host.name}: requests are under way: ${JSON.stringify([...outstanding])}`);
  const leases = pool.leases();
  check(leases.length === 0, () => `${host.name}: leases that nobody gave back: ${JSON.stringify(leases)}`);
  check(registrations.used === 0, () => `${host.name}: ${registrations.used} registrations that nobody gave back`);
  const holdings = holdingsOf(host.context);
  for (const kind of STREAMS_OF)
    check(holdings[kind] === 0, () => `${host.name}: ${holdings[kind]} ${kind} are left: ${JSON.stringify(holdings)}`);
}
