import { AccessFlags, MwType, WcStatus, WrOpcode } from '../../src/device/ibta/index.js';
import type { SeededRandom } from '../../src/device/link/index.js';
import type { TestHost, TestMr } from '../nic/host.js';
import { hi32, lo32, type SendRequest, type Sge } from '../nic/rings.js';
import { BINDABLE, bindRequest, incRkey, REMOTE_ALL, window } from '../nic/windows.js';
import type { Endpoint } from './endpoint.js';
import { permissions } from './transport.js';

const { LOCAL_WRITE, REMOTE_READ, REMOTE_WRITE, REMOTE_ATOMIC, MW_BIND } = AccessFlags;
const { REM_ACCESS_ERR, REM_INV_REQ_ERR, LOC_PROT_ERR, MW_BIND_ERR } = WcStatus;
const { RDMA_WRITE, RDMA_READ, ATOMIC_FETCH_AND_ADD, ATOMIC_CMP_AND_SWP, SEND, SEND_WITH_INV, BIND_MW, LOCAL_INV } =
  WrOpcode;

/** Memory by the name that a peer has for it. */
export interface Place {
  readonly remoteAddr: bigint;
  readonly rkey: number;
}

/** A request that must be refused, by this host or by the peer, and how. */
export interface WrongRequest {
  readonly request: Omit<SendRequest, 'wrId' | 'flags'>;
  readonly status: WcStatus;
}

/** Between whom it happens. */
export interface Scene {
  readonly end: Endpoint;
  readonly peer: Endpoint;
  readonly random: SeededRandom;
  /** What the peer had open until requests before this one invalidated its key. */
  readonly closed: readonly Place[];
}

function someBit(random: SeededRandom): number {
  return 1 << random.below(32);
}

/** Local memory of eight bytes. */
function local({ end }: Scene): Sge {
  return end.memory.source.sge(0, 8);
}

function write(scene: Scene, place: Place, sge = local(scene)): WrongRequest {
  return { request: { opcode: RDMA_WRITE, sgList: [sge], ...place }, status: REM_ACCESS_ERR };
}

function read(scene: Scene, place: Place): WrongRequest {
  return { request: { opcode: RDMA_READ, sgList: [scene.end.landing.mr.sge(0, 8)], ...place }, status: REM_ACCESS_ERR };
}

function add(scene: Scene, place: Place): WrongRequest {
  const sgList = [scene.end.landing.mr.sge(0, 8)];
  return { request: { opcode: ATOMIC_FETCH_AND_ADD, sgList, ...place }, status: REM_ACCESS_ERR };
}

const operations = [write, read, add];
const granting = [REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC];

/** The peer's queue pair may do everything that is asked for, so that what is wrong is the key. */
function keyed(scene: Scene, place: (host: TestHost) => Place): WrongRequest {
  const { random, end, peer } = scene;
  const { forbidden } = end.plan;
  const allowed = operations.filter((_, i) => forbidden === undefined || permissions[forbidden].access !== granting[i]);
  return random.pick(allowed)(scene, place(peer.memory.host));
}

/** Binds a window of type 2 to part of a region, without a request, as if by queue pair `qpn`. */
function boundOn(host: TestHost, mr: TestMr, qpn: number, offset: number, length: number): Place {
  const mw = window(host, MwType.TYPE_2);
  const newRkey = incRkey(mw.rkey);
  const remoteAddr = mr.addr + BigInt(offset);
  const keys = { rkey: mw.rkey | 0, newRkey: newRkey | 0, lkey: mr.lkey | 0 };
  const place = { addrHi: hi32(remoteAddr), addrLo: lo32(remoteAddr), lengthBytes: length };
  const objection = host.nic.memory.bind({ ...keys, ...place, access: REMOTE_ALL }, host.pd, qpn);
  if (objection !== 0) throw new Error(`a window cannot be bound: ${objection}`);
  return { remoteAddr, rkey: newRkey };
}

const bindable = (host: TestHost, size: number): TestMr => host.mr(size, { access: LOCAL_WRITE | MW_BIND });

const RARE = 0.4;

/** What can be wrong; undefined where it makes no sense. */
const wrongs: readonly ((scene: Scene) => WrongRequest | undefined)[] = [
  // Keys of the peer, and what they open.
  (scene) =>
    keyed(scene, () => {
      const { target } = scene.peer;
      return { remoteAddr: target.addr, rkey: target.rkey ^ someBit(scene.random) };
    }),
  (scene) => keyed(scene, (host) => host.mr(16, { pd: host.nic.control.allocPd() }).at(0)),
  (scene) => {
    const { random, peer } = scene;
    const i = random.below(operations.length);
    const access = LOCAL_WRITE | (REMOTE_ALL & ~granting[i]);
    const region = peer.memory.host.mr(16, { access });
    const forbidden = scene.end.plan.forbidden;
    if (forbidden !== undefined && permissions[forbidden].access === granting[i]) return undefined;
    return operations[i](scene, region.at(0));
  },
  (scene) => keyed(scene, () => scene.peer.target.at(scene.peer.target.length)),
  ({ end, peer, ...scene }) => {
    if (end.plan.forbidden === 'WRITE') return undefined;
    const region = peer.memory.host.mr(15);
    return write({ end, peer, ...scene }, scene.random.chance(0.5) ? region.at(8) : region.at(-1));
  },
  ({ end, peer, ...scene }) =>
    end.plan.forbidden === 'READ' ? undefined : read({ end, peer, ...scene }, peer.target.at(peer.target.length - 7)),
  // Windows of the peer.
  (scene) => {
    const { inbound } = scene.peer;
    return keyed(scene, (host) => boundOn(host, bindable(host, 16), inbound.qpn ^ 1, 0, 16));
  },
  (scene) => {
    const { inbound } = scene.peer;
    const write8 = scene.end.plan.forbidden === 'WRITE' ? undefined : write;
    return write8?.(scene, boundOn(scene.peer.memory.host, bindable(scene.peer.memory.host, 64), inbound.qpn, 8, 7));
  },
  (scene) => {
    const { host } = scene.peer.memory;
    const { random } = scene;
    const foreign = random.chance(0.5)
      ? host.mr(8, { pd: host.nic.control.allocPd() })
      : { rkey: boundOn(host, bindable(host, 16), scene.peer.inbound.qpn ^ 1, 0, 16).rkey };
    return {
      request: { opcode: SEND_WITH_INV, imm: foreign.rkey | 0, sgList: [local(scene)] },
      status: REM_ACCESS_ERR,
    };
  },
  // Requests that make no sense.
  (scene) => {
    if (scene.end.plan.forbidden === 'ATOMIC') return undefined;
    const sgList = [scene.end.landing.mr.sge(0, 8)];
    return {
      request: { opcode: ATOMIC_CMP_AND_SWP, sgList, ...scene.peer.target.at(4) },
      status: REM_INV_REQ_ERR,
    };
  },
  ({ end, peer }) => {
    const tooLong = end.memory.source.sge(0, peer.messageLimit + 1);
    return { request: { opcode: SEND, sgList: [tooLong] }, status: REM_INV_REQ_ERR };
  },
  // Local memory.
  (scene) => {
    const sge = local(scene);
    return {
      request: { opcode: SEND, sgList: [{ ...sge, lkey: sge.lkey ^ someBit(scene.random) }] },
      status: LOC_PROT_ERR,
    };
  },
  (scene) => {
    const { host } = scene.end.memory;
    const sgList = [host.mr(8, { pd: host.nic.control.allocPd() }).sge()];
    return { request: { opcode: SEND, sgList }, status: LOC_PROT_ERR };
  },
  (scene) => {
    const sgList = [scene.end.memory.host.mr(8, { access: 0 }).sge()];
    return { request: { opcode: RDMA_READ, sgList, ...scene.peer.target.at(0) }, status: LOC_PROT_ERR };
  },
  (scene) => {
    const { host } = scene.end.memory;
    const region = host.mr(15);
    const sge = { ...region.sge(0, 8), addr: region.addr + BigInt(scene.random.pick([-1, 8, 15])) };
    return { request: { opcode: SEND, sgList: [sge] }, status: LOC_PROT_ERR };
  },
  (scene) => {
    const { host } = scene.end.memory;
    const region = scene.random.chance(0.5)
      ? host.mr(8)
      : host.mr(8, { access: BINDABLE, pd: host.nic.control.allocPd() });
    return { request: bindRequest(window(host, MwType.TYPE_2), region), status: MW_BIND_ERR };
  },
  (scene) => {
    const { memory } = scene.end;
    return { request: { opcode: LOCAL_INV, imm: memory.source.rkey ^ someBit(scene.random) }, status: MW_BIND_ERR };
  },
  (scene) => {
    const mw = window(scene.end.memory.host, MwType.TYPE_2);
    const request = bindRequest(mw, bindable(scene.end.memory.host, 16), { offset: 8, length: 9 });
    return { request: { ...request, opcode: BIND_MW }, status: MW_BIND_ERR };
  },
];

/** What is possible on some connections only, and therefore chosen more often where it is. */
const rare: typeof wrongs = [
  // What the peer's queue pair does not allow.
  (scene) => {
    const { forbidden } = scene.end.plan;
    if (forbidden === undefined) return undefined;
    const operation = operations[granting.findIndex((access) => access === permissions[forbidden].access)];
    return { ...operation(scene, scene.peer.target.at(0)), status: REM_INV_REQ_ERR };
  },
  // A key that was invalidated.
  (scene) => (scene.closed.length === 0 ? undefined : keyed(scene, () => scene.random.pick(scene.closed))),
  // A shared receive queue of another domain.
  (scene) => {
    const { end, peer } = scene;
    if (end.rules.targetType === undefined) return undefined;
    const { host } = peer.memory;
    const foreign = host.srq({ xrcd: host.nic.control.openXrcd(), cq: host.cq(4) });
    foreign.queue.writeReceive({ sgList: [peer.target.sge(0, 8)] });
    return { request: { opcode: SEND, sgList: [local(scene)], remoteQpn: foreign.srqn }, status: REM_INV_REQ_ERR };
  },
];

export function makeWrong(scene: Scene): WrongRequest {
  const { random } = scene;
  for (;;) {
    const made = random.pick(random.chance(RARE) ? rare : wrongs)(scene);
    if (made !== undefined) return made;
  }
}
