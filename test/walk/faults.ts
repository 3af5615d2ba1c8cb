import type { LinkConditions } from '../../src/entry/sim.js';
import { someHost, upHosts } from './choices.js';
import { makeHost } from './makers.js';
import type { World } from './world.js';

/** What goes wrong on the network and on hosts, and how it gets well again. */

export function weather(world: World): void {
  const { random, cluster } = world;
  const some = (most: number): number => (random.chance(0.6) ? random.fraction() * most : 0);
  const conditions: Partial<LinkConditions> = {
    delayUs: random.pick([1, 5, 20, 100, 400]),
    jitterUs: some(100),
    loss: some(0.2),
    lossBurstPackets: random.chance(0.3) ? random.between(2, 8) : 0,
    duplication: some(0.2),
    reordering: some(0.2),
    corruption: some(0.1),
    reorderDelayUs: random.pick([5, 50, 200]),
    mtuBytes: random.chance(0.1) ? random.pick([400, 1200]) : 65535,
    bandwidthBytesPerUs: random.chance(0.2) ? random.between(100, 2000) : Infinity,
    queueLimitBytes: random.between(20_000, 200_000),
  };
  const here = random.chance(0.5) ? [world.pick(upHosts(world)), world.pick(upHosts(world))] : [];
  const [from, to] = here;
  if (from !== undefined && to !== undefined) cluster.network.setDirection(from.address, to.address, conditions);
  else cluster.network.setConditions(conditions);
  world.weather({ lossy: true, disordering: true });
}

export function calm(world: World): void {
  world.calm();
}

/** No packet passes from one host to another; the way back may be open. */
export function partition(world: World): void {
  const { random, cluster } = world;
  const from = someHost(world);
  const to = world.pick(upHosts(world).filter((host) => host !== from));
  if (from === undefined || to === undefined) return;
  cluster.network.setDirection(from.address, to.address, { partitioned: true });
  if (random.chance(0.5)) cluster.network.setDirection(to.address, from.address, { partitioned: true });
  world.setTrouble('partition', true);
}

export function heal(world: World): void {
  world.cluster.network.heal();
  world.setTrouble('partition', false);
}

/** A host is gone from one moment to the next, with all it had; it may come back under the same address. */
export function crash(world: World): void {
  const host = someHost(world);
  if (host === undefined || upHosts(world).length < 2) return;
  world.trace?.(`  ${world.nowUs.toFixed(1)} us: ${host.address} crashes`);
  world.crash(host);
  if (world.random.chance(0.5)) makeHost(world, host.address);
}

export function revive(world: World): void {
  const gone = world.hosts.filter(
    ({ up, address }) => !up && !world.hosts.some((other) => other.up && other.address === address),
  );
  const host = world.pick(gone);
  if (host !== undefined) makeHost(world, host.address);
}

/** A host stands still, as after SIGSTOP. */
export function pause(world: World): void {
  const host = someHost(world);
  if (host === undefined || upHosts(world).length < 2) return;
  world.trace?.(`  ${world.nowUs.toFixed(1)} us: ${host.address} stands still`);
  world.pause(host, true);
}

export function resume(world: World): void {
  const host = world.pick(world.hosts.filter(({ up, paused }) => up && paused));
  if (host !== undefined) world.pause(host, false);
}
