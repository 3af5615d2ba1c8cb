import { AccessFlags, MwType, type Sge } from '../../src/entry/index.js';
import { peerOf } from './choices.js';
import { ALL, makeRegion } from './makers.js';
import { invalidateVerdict, remoteVerdict } from './rights.js';
import type { HostRecord, PdRecord, QpRecord, RegionRecord, Remote, WindowRecord } from './things.js';
import type { World } from './world.js';

/** Which memory a request names, its own and the peer's. */
export const LENGTHS = [0, 1, 7, 8, 16, 64, 100, 256, 257, 1000, 1024, 2048, 4096];
/** Regions that are good for something, from which on a program makes do with what it has. */
const MANY = 10;

/** Of regions that are good for something one that is long enough, made if need be; else the longest there is. */
function roomy(
  world: World,
  host: HostRecord,
  pd: PdRecord | undefined,
  good: readonly RegionRecord[],
  lengthBytes: number,
): RegionRecord | undefined {
  const long = world.pick(good.filter((region) => region.lengthBytes >= lengthBytes));
  if (long !== undefined) return long;
  const made = pd !== undefined && good.length < MANY ? makeRegion(world, host, pd, ALL, lengthBytes) : undefined;
  return made ?? world.pick(good);
}

/** Pieces that make up a length, or as much of it as a region has that is good for it; a wrong one is of any region, or of none. */
export function somePieces(
  world: World,
  host: HostRecord,
  pd: PdRecord | undefined,
  wanted: number,
  access: number,
  wrong: boolean,
): Sge[] {
  const { random } = world;
  if (wanted === 0) return [];
  const good = host.regions.filter(
    ({ alive, pd: theirs, access: theirAccess }) =>
      alive && (wrong || (theirs === pd && (theirAccess & access) === access)),
  );
  const region = roomy(world, host, pd, good, wanted);
  if (region === undefined) return [];
  const length = Math.min(wanted, region.lengthBytes);
  const parts = length > 8 && random.chance(0.3) ? random.between(2, 3) : 1;
  const { lkey: key } = region.api;
  const lkey = wrong && random.chance(0.3) ? (key ^ (1 << random.below(8))) >>> 0 : key;
  const sges: Sge[] = [];
  let left = length;
  let offset = random.below(region.lengthBytes - length + 1);
  for (let i = 0; i < parts && left > 0; i += 1) {
    const part = i === parts - 1 ? left : random.between(1, left);
    // Pieces that share bytes would leave open what is there in the end.
    offset += random.below(Math.min(16, region.lengthBytes - offset - left + 1));
    sges.push({ addr: region.iova + BigInt(offset), length: part, lkey });
    offset += part;
    left -= part;
  }
  return sges;
}

/** What of the peer's memory a request names. */
export function someRemote(
  world: World,
  qp: QpRecord,
  pd: PdRecord | undefined,
  access: number,
  length: number,
  hasty: boolean,
): Remote | undefined {
  const { random } = world;
  const peer = peerOf(world, qp);
  const host = peer?.host ?? qp.host;
  const wrong =
    hasty && random.chance(world.character.malice)
      ? random.pick(['rkey', 'tag', 'lkey', 'range', 'range', 'end', 'rights', 'odd'] as const)
      : '';
  const odd = (n: number): number => (access === AccessFlags.REMOTE_ATOMIC || length === 8 ? n - (n % 8) : n);
  const place = (begin: bigint, size: number, rkey: number): Remote => {
    const spare = Math.max(0, size - length);
    let addr = begin + BigInt(odd(random.below(spare + 1)));
    if (wrong === 'odd') addr += 1n;
    else if (wrong === 'range') addr = begin + BigInt(spare + random.between(1, 9));
    else if (wrong === 'end') addr = 2n ** 64n - BigInt(random.between(1, 8));
    else if (wrong !== 'rights') addr -= access === AccessFlags.REMOTE_ATOMIC ? addr % 8n : 0n;
    const key = wrong === 'tag' ? (rkey ^ (1 << random.below(8))) >>> 0 : rkey;
    return { rkey: key, addr: addr < 0n ? 0n : addr, lengthBytes: length, access };
  };
  if (wrong === 'rkey') return { rkey: random.u32(), addr: BigInt(random.u32()) * 8n, lengthBytes: length, access };
  if (random.chance(0.3)) {
    const opens = ({ rkey, addr, zeroBased }: ReturnType<typeof bindingsOf>[number]): boolean => {
      const remote = { rkey, addr: zeroBased ? 0n : addr, lengthBytes: length, access };
      return hasty || (peer !== undefined && remoteVerdict(host, peer, pd, remote).may);
    };
    const bound = host.windows.flatMap((window) => {
      const bindings = bindingsOf(window).filter((binding) => binding.lengthBytes >= length && opens(binding));
      return bindings.map((binding) => ({ id: window.id, binding }));
    });
    const chosen = world.pick(bound)?.binding;
    if (chosen !== undefined) return place(chosen.zeroBased ? 0n : chosen.addr, chosen.lengthBytes, chosen.rkey);
  }
  const fits = ({ alive, access: theirs, pd: domain }: RegionRecord): boolean =>
    alive && (wrong === 'rights' || ((theirs & access) === access && domain === pd));
  const region = roomy(world, host, host.paused ? undefined : pd, host.regions.filter(fits), Math.max(1, length));
  if (region === undefined || (wrong !== 'rights' && region.lengthBytes < length)) return undefined;
  return place(region.iova, region.lengthBytes, wrong === 'lkey' ? region.api.lkey : region.api.rkey);
}

function bindingsOf({ possible, binding }: WindowRecord): NonNullable<WindowRecord['binding']>[] {
  return [...possible, ...(binding === undefined ? [] : [binding])];
}

/** A key to close, of `qp` or of the peer's there; undefined when a program that is in no haste finds none that it may close. */
export function someKeyToClose(
  world: World,
  host: HostRecord,
  qp: QpRecord | undefined,
  pd: PdRecord | undefined,
  hasty: boolean,
): number | undefined {
  const { random } = world;
  const may = (rkey: number): boolean => {
    if (hasty) return true;
    if (qp === undefined || !invalidateVerdict(host, qp, pd, rkey).may) return false;
    return random.chance(world.character.upheaval / 4) || !isNamed(world, rkey);
  };
  const windows = host.windows.filter(({ type, alive }) => alive && type === MwType.TYPE_2);
  const bound = windows.flatMap((window) =>
    bindingsOf(window)
      .filter((binding) => binding.qp === qp && may(binding.rkey))
      .map((binding) => ({ id: window.id, rkey: binding.rkey })),
  );
  const chosen = random.chance(0.75) ? world.pick(bound) : undefined;
  if (chosen !== undefined) return chosen.rkey;
  if (!hasty) return undefined;
  // Nobody may close a region.
  return (random.chance(0.7) ? world.pick(host.regions)?.api.rkey : undefined) ?? random.u32();
}

export function isNamed(world: World, key: number): boolean {
  for (const { open, remote, sges, invalidates } of world.live) {
    if (!open) continue;
    if (remote?.rkey === key || invalidates === key || sges.some(({ lkey }) => lkey === key)) return true;
  }
  return false;
}
