import { AccessFlags, MwType, type Sge } from '../../src/entry/index.js';
import type { Binding, HostRecord, PdRecord, Place, QpRecord, RegionRecord, Remote, WindowRecord } from './things.js';

/**
 * Who may touch what (protocol/services.md 3.6, 3.7), asked anew whenever it matters. A bind or an invalidation that is outstanding has
 * been carried out or has not: then the answer is both.
 */
export interface Verdict {
  /** Whether it may be allowed, and whether it may be refused. */
  readonly may: boolean;
  readonly mayNot: boolean;
  /** Where in the host's memory the range begins: each place that it may mean. */
  readonly at: readonly number[];
}

export const ALL_REMOTE = AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_ATOMIC;
const NO: Verdict = { may: false, mayNot: true, at: [] };
const NOTHING: Verdict = { may: true, mayNot: false, at: [] };

function within(addr: bigint, lengthBytes: number, begin: bigint, size: number): boolean {
  return addr >= begin && addr + BigInt(lengthBytes) <= begin + BigInt(size);
}

/** What an R_Key opens to the peer of a QP here; `pd` is the domain whose memory counts. */
export function remoteVerdict(host: HostRecord, qp: QpRecord, pd: PdRecord | undefined, remote: Remote): Verdict {
  const { rkey, addr, lengthBytes, access } = remote;
  // Of nothing no key is looked at (protocol/reliable.md 2.8), but by a FLUSH.
  if (lengthBytes === 0 && access !== AccessFlags.FLUSH_GLOBAL) return NOTHING;
  const region = host.regions.find((candidate) => candidate.alive && candidate.api.rkey === rkey);
  if (region !== undefined) {
    const fits =
      region.pd === pd &&
      (region.access & access) === access &&
      within(addr, lengthBytes, region.iova, region.lengthBytes);
    if (!fits) return NO;
    return { may: true, mayNot: false, at: [region.at + Number(addr - region.iova)] };
  }
  const window = windowOf(host, rkey);
  if (window === undefined) return NO;
  const certain = window.pending.size === 0 && !window.unsure;
  const candidates = [...window.possible, ...(window.binding === undefined ? [] : [window.binding])];
  const at = candidates.flatMap((binding) => {
    const place = throughWindow(window, binding, qp, pd, remote);
    return place === undefined ? [] : [place];
  });
  if (at.length === 0) return NO;
  return { may: true, mayNot: !certain, at };
}

export function windowOf(host: HostRecord, rkey: number): WindowRecord | undefined {
  return host.windows.find(({ alive, api }) => alive && api.rkey >>> 8 === rkey >>> 8);
}

function throughWindow(
  window: WindowRecord,
  binding: Binding,
  qp: QpRecord,
  pd: PdRecord | undefined,
  { rkey, addr, lengthBytes, access }: Remote,
): number | undefined {
  const { region } = binding;
  if (region?.alive !== true || binding.rkey !== rkey || window.pd !== pd) return undefined;
  if (window.type === MwType.TYPE_2 && binding.qp !== qp) return undefined;
  if ((binding.access & access) !== access) return undefined;
  const begin = binding.zeroBased ? 0n : binding.addr;
  if (!within(addr, lengthBytes, begin, binding.lengthBytes)) return undefined;
  return region.at + Number(binding.addr - region.iova) + Number(addr - begin);
}

/** Whether a bind would be allowed when its turn came now. */
export function bindVerdict(window: WindowRecord, binding: Binding): Verdict {
  const { region, qp, access, lengthBytes, addr, rkey } = binding;
  if (!window.alive || window.pd !== qp.pd) return NO;
  if (rkey >>> 8 !== window.api.rkey >>> 8) return NO;
  const second = window.type === MwType.TYPE_2;
  // Other binds before it, and invalidations, may make it free or keep it from being so.
  const unsure = second && (window.unsure || window.pending.size > 1);
  if (second && !unsure && window.binding !== undefined) return NO;
  if (lengthBytes === 0) return second ? NO : { ...NOTHING, mayNot: unsure };
  if (region?.alive !== true || region.pd !== qp.pd) return NO;
  if ((region.access & AccessFlags.MW_BIND) === 0 || (region.access & AccessFlags.ZERO_BASED) !== 0) return NO;
  const changes = (access & (AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_ATOMIC)) !== 0;
  if (changes && (region.access & AccessFlags.LOCAL_WRITE) === 0) return NO;
  if (!within(addr, lengthBytes, region.iova, region.lengthBytes)) return NO;
  return { ...NOTHING, mayNot: unsure };
}

/** Whether a key can be closed by a request of `qp`, or by its peer: a window of type 2 alone, on the queue pair that bound it. */
export function invalidateVerdict(host: HostRecord, qp: QpRecord, pd: PdRecord | undefined, rkey: number): Verdict {
  const window = windowOf(host, rkey);
  if (window?.type !== MwType.TYPE_2) return NO;
  const unsure = window.unsure || window.pending.size > 1;
  const candidates = [...window.possible, ...(window.binding === undefined ? [] : [window.binding])];
  const fits = candidates.some((binding) => binding.rkey === rkey && binding.qp === qp && window.pd === pd);
  if (!fits) return unsure ? { may: true, mayNot: true, at: [] } : NO;
  return { may: true, mayNot: unsure, at: [] };
}

/** Where pieces of our own memory lie, or undefined when a key, a range, a domain or a right is wrong. */
export function localPlaces(
  host: HostRecord,
  pd: PdRecord | undefined,
  sges: readonly Sge[],
  access: number,
): Place[] | undefined {
  const places: Place[] = [];
  for (const { addr, length, lkey } of sges) {
    if (length === 0) continue;
    const region = host.regions.find((candidate): candidate is RegionRecord => {
      return candidate.alive && candidate.api.lkey === lkey;
    });
    const begin = BigInt(addr);
    if (region === undefined || region.pd !== pd || (region.access & access) !== access) return undefined;
    if (!within(begin, length, region.iova, region.lengthBytes)) return undefined;
    places.push({ arena: host.arena, at: region.at + Number(begin - region.iova), lengthBytes: length });
  }
  return places;
}
