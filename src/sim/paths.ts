import { type LinkConditions, PERFECT_CONDITIONS, type SimulatedNetwork } from '../device/link/index.js';
import { invalid, objectProblem, refuse, show, VerbsError } from '../api/verbs/index.js';
import type { SimHost } from './host.js';
import { hostName, type HostRef } from './match.js';
import { checkFields } from './packet.js';

/** A host, its name, or several. */
export type HostRefs = HostRef | readonly HostRef[];

/** Paths through the network: from some hosts to others, or both directions between two. An absent field means all hosts. */
export type PathMatch =
  | { readonly from?: HostRefs; readonly to?: HostRefs; readonly between?: undefined }
  | { readonly between: readonly [HostRefs, HostRefs]; readonly from?: undefined; readonly to?: undefined };

type Pair = readonly [SimHost, SimHost];

/** Conditions of the ways between hosts. */
export class Paths {
  constructor(
    private readonly network: SimulatedNetwork,
    private readonly hosts: ReadonlyMap<string, SimHost>,
  ) {}

  /** @throws VerbsError EINVAL for hosts that there are not, or conditions that make no sense */
  set(call: string, changes: Partial<LinkConditions>, match?: PathMatch): void {
    refuse(call, objectProblem('conditions', changes));
    checkFields(call, 'conditions', changes, Object.keys(PERFECT_CONDITIONS));
    const pairs = match === undefined ? [] : this.#pairs(call, match);
    try {
      if (match === undefined) this.network.setConditions(changes);
      for (const [from, to] of pairs) this.network.setDirection(from.address, to.address, changes);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new VerbsError(call, invalid(error.message), { cause: error });
    }
  }

  /** Everybody but those. @throws VerbsError EINVAL for hosts that there are not */
  allBut(call: string, hosts: HostRefs): readonly SimHost[] {
    const some = this.hostsOf(call, hosts);
    return this.hostsOf(call, undefined).filter((host) => !some.includes(host));
  }

  #pairs(call: string, match: PathMatch): readonly Pair[] {
    const { between, from, to } = match;
    const keys = Object.keys(match);
    if (keys.some((key) => !['between', 'from', 'to'].includes(key)) || (between !== undefined && keys.length > 1))
      throw new VerbsError(call, invalid(`that path is ${show(match)}`, 'It has between, or from and to'));
    if (between === undefined) return product(this.hostsOf(call, from), this.hostsOf(call, to));
    const [some, others] = between;
    return [
      ...product(this.hostsOf(call, some), this.hostsOf(call, others)),
      ...product(this.hostsOf(call, others), this.hostsOf(call, some)),
    ];
  }

  /** The hosts that somebody names; default: all. @throws VerbsError EINVAL for one that there is not */
  hostsOf(call: string, refs: HostRefs | undefined): SimHost[] {
    if (refs === undefined) return [...this.hosts.values()];
    const list: readonly HostRef[] = isHostList(refs) ? refs : [refs];
    return list.flatMap((ref) => this.hosts.get(hostName(call, ref, this.hosts)) ?? []);
  }
}

function isHostList(refs: HostRefs): refs is readonly HostRef[] {
  return Array.isArray(refs);
}

/** Each of some with each of others, but nobody with itself. */
function product(some: readonly SimHost[], others: readonly SimHost[]): Pair[] {
  return some.flatMap((from) => others.filter((to) => to !== from).map((to) => [from, to] as const));
}
