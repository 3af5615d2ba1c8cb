import { hostAt } from './judge.js';
import type { HostRecord, QpRecord } from './things.js';
import type { World } from './world.js';

export function upHosts(world: World): HostRecord[] {
  return world.hosts.filter(({ up, paused }) => up && !paused);
}

export function someHost(world: World): HostRecord | undefined {
  return world.pick(upHosts(world));
}

export function someQp(world: World): QpRecord | undefined {
  return world.pick(upHosts(world).flatMap(({ qps }) => qps));
}

export function onHost(make: (world: World, host: HostRecord) => unknown): (world: World) => void {
  return (world) => {
    const host = someHost(world);
    if (host !== undefined) make(world, host);
  };
}

export function peerOf(world: World, qp: QpRecord): QpRecord | undefined {
  const host = hostAt(world, qp.life.peerAddress);
  return host?.qps.find(({ alive, qpn }) => alive && qpn === qp.life.destQpn);
}
