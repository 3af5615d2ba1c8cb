import { someHost, upHosts } from './choices.js';
import { someAccess, somePd, someRange } from './makers.js';
import { isNamed } from './ranges.js';
import type { RegionRecord } from './things.js';
import type { World } from './world.js';

/** Memory that programs change, register anew and take away. */

export function scribble(world: World): void {
  const { random } = world;
  const host = someHost(world);
  if (host === undefined) return;
  const { at, lengthBytes } = someRange(world);
  const bytes = new Uint8Array(lengthBytes);
  const words = new DataView(bytes.buffer);
  for (let i = 0; i + 4 <= lengthBytes; i += 4) words.setUint32(i, random.u32());
  host.arena.write(at, bytes, world.tick);
  world.claims.add({ arena: host.arena, at, lengthBytes }, { tick: world.tick, closedTick: world.tick });
}

function someRegion(world: World): RegionRecord | undefined {
  return world.pick(upHosts(world).flatMap(({ regions }) => regions.filter(({ alive }) => alive)));
}

/** Whether requests that are outstanding name a region, and its owner minds. */
function isNeeded(world: World, { host, api }: RegionRecord): boolean {
  if (world.random.chance(world.character.upheaval / 2)) return false;
  const queues = [...host.qps, ...host.srqs];
  const toFill = queues.some(({ recvs }) => recvs.some(({ sges }) => sges.some(({ lkey }) => lkey === api.lkey)));
  return toFill || isNamed(world, api.lkey) || isNamed(world, api.rkey);
}

/** What a region that windows may be bound to makes of a call that needs it free. */
function whetherBound(record: RegionRecord): readonly string[] {
  const { host } = record;
  let maybe = false;
  for (const window of host.windows) {
    if (!window.alive) continue;
    const certain = window.pending.size === 0 && !window.unsure;
    if (certain && window.binding?.region === record) return ['EBUSY'];
    const candidates = [...window.possible, ...(window.binding === undefined ? [] : [window.binding])];
    if (!certain && candidates.some((binding) => binding.region === record)) maybe = true;
  }
  return maybe ? ['ok', 'EBUSY'] : ['ok'];
}

export function rereg(world: World): void {
  const region = someRegion(world);
  if (region === undefined || isNeeded(world, region)) return;
  const { random } = world;
  const { host } = region;
  const expected = whetherBound(region);
  const range = random.chance(0.5) ? someRange(world) : undefined;
  const access = random.chance(0.5) || range === undefined ? someAccess(world) & ~32 : undefined;
  const pd = random.chance(0.2) ? somePd(world, host) : undefined;
  if ((region.access & 32) !== 0) return;
  const memory = range && host.arena.bytes.subarray(range.at, range.at + range.lengthBytes);
  world.attempt(`${host.address} changes region 0x${region.api.rkey.toString(16)}`, expected, () =>
    region.api.rereg({
      ...(memory === undefined ? {} : { memory }),
      ...(access === undefined ? {} : { access }),
      ...(pd === undefined ? {} : { pd: pd.api }),
    }),
  );
  if (!world.done) return;
  unbindFrom(region);
  region.iova = region.api.iova;
  if (range !== undefined) Object.assign(region, range);
  if (access !== undefined) region.access = access;
  if (pd !== undefined) region.pd = pd;
}

/** No window can have been bound to it, since it could be changed. */
function unbindFrom(region: RegionRecord): void {
  for (const window of region.host.windows) {
    if (window.binding?.region === region) window.binding = undefined;
    const awaited = [...window.pending].map(({ binds }) => binds?.binding);
    for (const binding of window.possible) {
      if (binding.region === region && !awaited.includes(binding)) window.possible.delete(binding);
    }
  }
}

export function dereg(world: World): void {
  const region = someRegion(world);
  if (region === undefined || isNeeded(world, region)) return;
  const what = `${region.host.address} deregisters region 0x${region.api.rkey.toString(16)}`;
  world.attempt(what, whetherBound(region), () => region.api.dereg());
  if (!world.done) return;
  unbindFrom(region);
  region.alive = false;
}

export function deallocWindow(world: World): void {
  const window = world.pick(upHosts(world).flatMap(({ windows }) => windows.filter(({ alive }) => alive)));
  if (window === undefined || (isNamed(world, window.api.rkey) && !world.slips(0.5))) return;
  world.attempt(`${window.host.address} ends window 0x${window.api.rkey.toString(16)}`, ['ok'], () =>
    window.api.dealloc(),
  );
  window.alive = false;
}
