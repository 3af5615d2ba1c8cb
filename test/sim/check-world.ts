import { EventType, QpState } from '../../src/device/ibta/index.js';
import type { TestHost } from '../../src/device/nic/test/host.js';
import type { Connection, HostMemory } from './endpoint.js';
import { check } from './failure.js';
import type { Program } from './program.js';

/** What must hold once a run has ended: of all memory, of the counters in it that flows share, and of the events that were raised. */
export function checkWorld(
  programs: readonly Program[],
  connections: readonly Connection[],
  dead: ReadonlySet<TestHost>,
  /** Whether the network brought every packet, once and in order. */
  perfect: boolean,
): void {
  for (const { memory, actors } of programs) {
    for (const { flow, receiver } of actors) {
      if (dead.has(memory.host)) flow.abandon();
      flow.checkMemory();
      receiver.checkMemory(perfect, dead.has(memory.host));
    }
  }
  for (const { memory } of programs) {
    checkHostMemory(memory);
    checkEvents(memory.host, programs);
    if (!dead.has(memory.host)) checkEnded(memory.host, programs);
  }
  const drains = connections
    .filter(({ doomedUs }) => doomedUs === Infinity)
    .reduce((sum, plan) => sum + plan.drains, 0);
  const drained = programs
    .flatMap(({ memory }) => memory.host.events)
    .filter(({ type }) => type === EventType.SQ_DRAINED);
  check(
    drained.length >= drains,
    () => `${String(drained.length)} times SQ_DRAINED, at least ${String(drains)} were due`,
  );
}

function checkHostMemory({ host, source, sourceCopy, counter, additions, unknownAdditions }: HostMemory): void {
  check(Buffer.compare(source.bytes, sourceCopy) === 0, () => `source memory of ${host.ip} was written to`);
  const value = Number(counter.view.getBigUint64(0, true));
  check(
    value >= additions && value <= additions + unknownAdditions,
    () => `the counter of ${host.ip} is ${String(value)} after ${String(additions)} additions`,
  );
  for (const mr of host.regions) check(mr.canariesIntact, () => `bytes beside a region of ${host.ip} were touched`);
}

/** A queue pair in ERR has flushed its receive queue; of a shared one it says that it takes no more (protocol/reliable.md 2.9, protocol/services.md 3.4). */
function checkEnded(host: TestHost, programs: readonly Program[]): void {
  for (const { flow } of programs.flatMap(({ actors }) => actors)) {
    const { inbound, rules, pools } = flow.end;
    if (inbound.host !== host || inbound.state !== QpState.ERR) continue;
    const name = `QP 0x${inbound.qpn.toString(16)}`;
    if (!rules.shared) {
      const open = pools.reduce((sum, pool) => sum + pool.open, 0);
      check(open === 0, () => `${name} is in ERR, and ${String(open)} of its receive requests are not complete`);
    } else if (rules.targetType === undefined) {
      const told = host.eventsOf(inbound).includes(EventType.QP_LAST_WQE_REACHED);
      check(told, () => `${name} is in ERR, and has not said that it takes no more of its shared receive queue`);
    }
  }
}

/** A connection in good order raises COMM_EST, and SQ_DRAINED once for each time it was asked for. */
function checkEvents(host: TestHost, programs: readonly Program[]): void {
  const seen = new Map<string, number>();
  for (const event of host.events) {
    // Its limit watch has looked at these.
    if (event.type === EventType.SRQ_LIMIT_REACHED) continue;
    const actor = programs
      .flatMap(({ actors }) => actors)
      .find(({ flow: { end } }) => end.qp.host === host && [end.qp.qpn, end.inbound.qpn].includes(event.qpn ?? 0));
    check(actor !== undefined, () => `unexpected event ${JSON.stringify(event)}`);
    const { connection, rules } = actor.flow.end;
    const key = `${String(event.qpn)} ${String(event.type)}`;
    const times = (seen.get(key) ?? 0) + 1;
    seen.set(key, times);
    const expected =
      (event.type === EventType.COMM_EST && times === 1) ||
      (event.type === EventType.SQ_DRAINED && times <= connection.drains) ||
      (connection.doomedUs !== Infinity &&
        (event.type === EventType.QP_ACCESS_ERR ||
          event.type === EventType.QP_REQ_ERR ||
          (rules.shared && event.type === EventType.QP_LAST_WQE_REACHED && times === 1)));
    check(expected, () => `unexpected event ${JSON.stringify(event)}, for the ${String(times)}. time`);
  }
}
