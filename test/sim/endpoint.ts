import { AccessFlags } from '../../src/device/ibta/index.js';
import type { SeededRandom } from '../../src/device/link/index.js';
import type { TestHost, TestMr } from '../../src/device/nic/test/host.js';
import type { TestQp } from '../../src/device/nic/test/qp.js';
import { ALL_ACCESS, type DriverChannel, type DriverCq, type ReceiveRequest } from '../../src/device/nic/test/rings.js';
import { ReceivePool } from './receive-pool.js';
import type { ConnectionPlan, FlowPlan, Scenario } from './scenario.js';
import { makeSharedPool, type SharedPool } from './shared-pools.js';
import { Space } from './space.js';
import { type Transport, type TransportRules, transports } from './transport.js';
import { WindowPool } from './window-pool.js';

/** Memory that all QPs of one host share. */
export interface HostMemory {
  readonly host: TestHost;
  /** What is sent and read from; nobody writes to it. */
  readonly source: TestMr;
  readonly sourceCopy: Uint8Array;
  /** Eight bytes to which every flow towards this host may add one. */
  readonly counter: TestMr;
  additions: number;
  unknownAdditions: number;
  /** Values that additions brought back: each must be another. */
  readonly fetched: Set<bigint>;
  readonly channel: DriverChannel | undefined;
  readonly sharedCq: DriverCq | undefined;
  /** Shared receive queues, by the transport of the QPs that take from them. */
  readonly sharedPools: Map<Transport, SharedPool>;
}

/** One connection; both of its flows share its fate. */
export interface Connection {
  readonly plan: ConnectionPlan;
  /** From when on errors are to be expected, and why. */
  doomedUs: number;
  doom: string;
  /** Times its first end was sent to SQD with a wish to hear of the end of it. */
  drains: number;
}

/** One end of a connection: a QP and the memory that belongs to it. */
export interface Endpoint {
  readonly memory: HostMemory;
  readonly qp: TestQp;
  /** Takes requests: the same QP, but for XRC. */
  readonly inbound: TestQp;
  readonly rules: TransportRules;
  readonly connection: Connection;
  readonly plan: FlowPlan;
  /** What the peer writes to, reads and does atomics on. */
  readonly target: TestMr;
  readonly windows: WindowPool;
  /** Where READs and atomics of this end bring their results. */
  readonly landing: Space;
  /** Where its receive requests come from: of XRC, whichever a request names. */
  readonly pools: readonly ReceivePool[];
  /** Bytes of the longest SEND that this end takes. */
  readonly messageLimit: number;
}

export function fill(bytes: Uint8Array, random: SeededRandom): void {
  const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let i = 0; i + 4 <= bytes.length; i += 4) words.setUint32(i, random.u32());
}

/** Completions that shared receive queues may add to those of the queues that QPs have of their own. */
const SHARED_ENTRIES = 128;

/** Rounded so that atomics have aligned places everywhere. */
function room(bytes: number): number {
  return Math.ceil(bytes / 8) * 8;
}

export function makeHostMemory(host: TestHost, scenario: Scenario, random: SeededRandom): HostMemory {
  const source = host.mr(room(2 * scenario.areaBytes));
  fill(source.bytes, random);
  const entries = scenario.connections.reduce(
    (sum, { flows, transport }) =>
      sum +
      flows[0].requests +
      flows[1].requests +
      transports[transport].receiveFactor * (flows[0].maxRecvWr + flows[1].maxRecvWr),
    SHARED_ENTRIES,
  );
  const channel = scenario.eventDriven ? host.channel() : undefined;
  return {
    host,
    source,
    sourceCopy: source.bytes.slice(),
    counter: host.mr(8),
    additions: 0,
    unknownAdditions: 0,
    fetched: new Set(),
    channel,
    sharedCq: scenario.sharedCq ? host.cq(2 * entries, channel) : undefined,
    sharedPools: new Map(),
  };
}

/** Makes one end; it is not connected yet. `own` is what it does as requester, `peers` what the other end does. */
export function makeEndpoint(
  memory: HostMemory,
  connection: Connection,
  own: FlowPlan,
  peers: FlowPlan,
  scenario: Scenario,
  random: SeededRandom,
): Endpoint {
  const { host, sharedCq, channel } = memory;
  const { areaBytes } = scenario;
  const target = host.mr(room(areaBytes), { access: ALL_ACCESS | AccessFlags.MW_BIND });
  fill(target.bytes, random);
  const rules = transports[connection.plan.transport];
  const messageLimit = Math.floor(areaBytes / 3);
  const shared = rules.shared
    ? sharedPool(memory, connection.plan.transport, messageLimit, scenario, random)
    : undefined;
  const maxRecvWr = shared?.pool.to.maxWr ?? peers.maxRecvWr * rules.receiveFactor;
  // Slots of the send queue are free again before their completions are polled.
  const sendCq = sharedCq ?? host.cq(own.requests, channel);
  const recvCq = shared?.cq ?? sharedCq ?? host.cq(maxRecvWr, channel);
  const cap = {
    maxSendWr: own.maxSendWr,
    maxRecvWr,
    maxSendSge: own.maxSendSge,
    maxRecvSge: peers.maxRecvSge,
    maxInlineData: own.maxInlineData,
  };
  const { sqSigAll } = own;
  const { type, targetType } = rules;
  const separate = targetType !== undefined;
  const srq = shared !== undefined && !separate ? { srq: shared.srq } : {};
  const qp = host.qp({ type, sendCq, recvCq, sqSigAll, cap, ...srq });
  const inbound = separate
    ? host.qp({ type: targetType, recvCq, ...(shared?.xrcd !== undefined && { xrcd: shared.xrcd }) })
    : qp;
  const landing = new Space(host.mr(room(2 * areaBytes)));
  const pool =
    shared?.pool ??
    ownPool(
      qp,
      new Space(host.mr(room(2 * areaBytes))),
      rules.headerBytes + messageLimit,
      maxRecvWr,
      peers.maxRecvSge,
      random,
    );
  const pools = [pool, ...(shared?.others ?? [])];
  for (const { connections } of pools) connections.push(connection);
  const windows = new WindowPool(host, target, random);
  return { memory, qp, inbound, rules, connection, plan: own, target, windows, landing, pools, messageLimit };
}

function sharedPool(
  memory: HostMemory,
  transport: Transport,
  messageLimit: number,
  scenario: Scenario,
  random: SeededRandom,
): SharedPool {
  const { sharedPools } = memory;
  const known = sharedPools.get(transport);
  if (known !== undefined) return known;
  const users = scenario.connections.filter((plan) => plan.transport === transport).length * 2;
  const made = makeSharedPool(memory, transports[transport], messageLimit, users, random);
  sharedPools.set(transport, made);
  return made;
}

function ownPool(
  qp: TestQp,
  space: Space,
  bytes: number,
  maxWr: number,
  maxSge: number,
  random: SeededRandom,
): ReceivePool {
  const post = (request: ReceiveRequest): void => void qp.postRecv(request);
  return new ReceivePool({ queue: qp.rq, spaces: [space], oneCq: true, maxWr, maxSge, bytes, post }, random);
}
