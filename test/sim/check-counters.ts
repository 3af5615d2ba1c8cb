import type { TestHost } from '../../src/device/nic/test/host.js';
import { checkLaws, completionLaws, packetLaws } from './counter-laws.js';
import type { PacketBook } from './packet-book.js';
import type { Actor, Program } from './program.js';
import { type TrafficAccount, trafficLaws } from './traffic-laws.js';
import type { WireWatch } from './wire-watch.js';

export interface Course {
  readonly dead: ReadonlySet<TestHost>;
  /** Whether the network brought every packet, once and in order. */
  readonly perfect: boolean;
  /** Whether all requesters always heard what they waited for. */
  readonly undisturbed: boolean;
}

/** Holds what each NIC has counted against what the network and the programs have seen of it. */
export function checkCounters(
  programs: readonly Program[],
  packets: PacketBook,
  wire: WireWatch,
  course: Course,
): void {
  for (const program of programs) {
    const account = accountOf(program, packets, wire, course);
    checkLaws(packetLaws, account);
    checkLaws(completionLaws, account);
    checkLaws(trafficLaws, account);
  }
}

function accountOf(
  { memory: { host }, actors, polled }: Program,
  packets: PacketBook,
  wire: WireWatch,
  { dead, perfect, undisturbed }: Course,
): TrafficAccount {
  const unreliable = actors.filter(({ flow }) => !flow.end.rules.reliable);
  const ofDatagrams = unreliable.filter(({ flow }) => flow.end.rules.datagrams);
  return {
    name: host.ip,
    counters: host.nic.counters.snapshot(),
    packets: packets.of(host.link.address),
    polled,
    dead: dead.has(host),
    perfect,
    undisturbed,
    has: { reliable: unreliable.length < actors.length, unacknowledged: ofDatagrams.length < unreliable.length },
    sound: actors.every(({ flow }) => flow.end.connection.doomedUs === Infinity),
    asked: wire.requestsOf(host),
    askedOf: wire.requestsTo(host),
    sends: sumOf(actors, ({ flow }) => flow.sends),
    datagrams: sumOf(ofDatagrams, ({ receiver }) => receiver.received),
    lost: sumOf(unreliable, ({ receiver }) => receiver.posted - receiver.received),
    wrongQkeys: wire.wrongQkeys.get(host.link.address) ?? 0,
    misdirectedWrites: wire.misdirectedTo(host),
    ofQueuePairs: queuePairSums(host, actors),
  };
}

function sumOf(actors: readonly Actor[], of: (actor: Actor) => number): number {
  return actors.reduce((sum, actor) => sum + of(actor), 0);
}

function queuePairSums({ nic }: TestHost, actors: readonly Actor[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { flow } of actors)
    for (const [name, count] of Object.entries(nic.control.qpCounters(flow.end.qp.qpn)))
      sums[name] = (sums[name] ?? 0) + count;
  return sums;
}
