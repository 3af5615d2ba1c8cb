import type { Adapter } from '../../src/device/adapter/adapter.js';
import { SoftContext } from '../../src/providers/soft/driver/context.js';
import { SimulatedHost } from '../../src/sim/cluster/simulated-host.js';
import type { Context } from '../../src/entry/index.js';

export function adapterOf(context: Context): Adapter {
  return simulated(context).host.nic.adapter;
}

/**
 * How many objects of each kind a simulated device has, in its adapter and in its driver, and what else it keeps for them:
 * after all that was made is ended again, as before.
 */
export function holdingsOf(context: Context): Readonly<Record<string, number>> {
  const { driver, host } = simulated(context);
  const { adapter } = host.nic;
  const { nic, cm } = adapter;
  const { channels, cqs, srqs, xrcds, qps, rawQps } = nic.objects;
  return {
    ...nic.memory.holdings,
    channels: channels.size,
    clients: adapter.clients.length,
    doorbellPages: nic.doorbellPages,
    eventRings: [...adapter.eventRings()].length,
    cqs: cqs.size,
    srqs: srqs.size,
    xrcds: xrcds.size,
    qps: qps.size,
    rawQps: rawQps.size,
    ahs: nic.addresses.size,
    groups: nic.multicast.size,
    timers: nic.timers.size,
    identifiers: cm.identifiers.size,
    connections: cm.directory.size,
    ports: cm.ports.size,
    halfOpen: cm.halfOpen.size,
    farewells: cm.farewells.size,
    driverQueues: driver.queues.size,
    driverPairs: driver.pairs.size,
    driverSharedQueues: driver.sharedQueues.size,
    driverRegions: driver.regions.size,
    driverWindows: driver.windows.size,
    driverXrcDomains: driver.xrcDomains.size,
    driverCloseListeners: driver.closeListeners.size,
  };
}

function simulated(context: Context): { readonly driver: SoftContext; readonly host: SimulatedHost } {
  if (!(context instanceof SoftContext) || !(context.adapter instanceof SimulatedHost))
    throw new Error('not a device of a simulation');
  return { driver: context, host: context.adapter };
}
