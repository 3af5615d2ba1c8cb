import { AccessFlags, MwType, WcStatus, WrOpcode } from '../../src/device/ibta/index.js';
import type { SeededRandom } from '../../src/device/link/index.js';
import type { TestHost, TestMr } from '../../src/device/nic/test/host.js';
import { hi32, lo32, type SendRequest, type Sge } from '../../src/device/nic/test/rings.js';
import { BINDABLE, bindRequest, incRkey, REMOTE_ALL, window } from '../../src/device/nic/test/windows.js';
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

export interface Setting {
  readonly end: Endpoint;
  readonly peer: Endpoint;
  readonly random: SeededRandom;
  /** What the peer had open until requests before this one invalidated its key. */
  readonly closed: readonly Place[];
  /** Whether memory may be missing though its key is good. */
  readonly foreignMemory: boolean;
}

function someBit(random: SeededRandom): number {
  return 1 << random.below(32);
}

/** Local memory of eight bytes. */
function local({ end }: Setting): Sge {
  return end.memory.source.sge(0, 8);
}

function write(setting: Setting, place: Place, sge = local(setting)): WrongRequest {
  return { request: { opcode: RDMA_WRITE, sgList: [sge], ...place }, status: REM_ACCESS_ERR };
}

function read(setting: Setting, place: Place): WrongRequest {
  return {
    request: { opcode: RDMA_READ, sgList: [setting.end.landing.mr.sge(0, 8)], ...place },
    status: REM_ACCESS_ERR,
  };
}

function add(setting: Setting, place: Place): WrongRequest {
  const sgList = [setting.end.landing.mr.sge(0, 8)];
  return { request: { opcode: ATOMIC_FETCH_AND_ADD, sgList, ...place }, status: REM_ACCESS_ERR };
}

const operations = [write, read, add];
const granting = [REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC];

/** The peer's queue pair may do everything that is asked for, so that what is wrong is the key. */
function keyed(setting: Setting, place: (host: TestHost) => Place): WrongRequest {
  const { random, end, peer } = setting;
  const { forbidden } = end.plan;
  const allowed = operations.filter((_, i) => forbidden === undefined || permissions[forbidden].access !== granting[i]);
  return random.pick(allowed)(setting, place(peer.memory.host));
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
const wrongs: readonly ((setting: Setting) => WrongRequest | undefined)[] = [
  // Keys of the peer, and what they open.
  (setting) =>
    keyed(setting, () => {
      const { target } = setting.peer;
      return { remoteAddr: target.addr, rkey: target.rkey ^ someBit(setting.random) };
    }),
  (setting) => keyed(setting, (host) => host.mr(16, { pd: host.nic.control.allocPd() }).at(0)),
  (setting) => {
    const { random, peer } = setting;
    const i = random.below(operations.length);
    const access = LOCAL_WRITE | (REMOTE_ALL & ~granting[i]);
    const region = peer.memory.host.mr(16, { access });
    const forbidden = setting.end.plan.forbidden;
    if (forbidden !== undefined && permissions[forbidden].access === granting[i]) return undefined;
    return operations[i](setting, region.at(0));
  },
  (setting) => keyed(setting, () => setting.peer.target.at(setting.peer.target.length)),
  ({ end, peer, ...setting }) => {
    if (end.plan.forbidden === 'WRITE') return undefined;
    const region = peer.memory.host.mr(15);
    return write({ end, peer, ...setting }, setting.random.chance(0.5) ? region.at(8) : region.at(-1));
  },
  ({ end, peer, ...setting }) =>
    end.plan.forbidden === 'READ' ? undefined : read({ end, peer, ...setting }, peer.target.at(peer.target.length - 7)),
  // Windows of the peer.
  (setting) => {
    const { inbound } = setting.peer;
    return keyed(setting, (host) => boundOn(host, bindable(host, 16), inbound.qpn ^ 1, 0, 16));
  },
  (setting) => {
    const { inbound } = setting.peer;
    const write8 = setting.end.plan.forbidden === 'WRITE' ? undefined : write;
    return write8?.(
      setting,
      boundOn(setting.peer.memory.host, bindable(setting.peer.memory.host, 64), inbound.qpn, 8, 7),
    );
  },
  (setting) => {
    const { host } = setting.peer.memory;
    const { random } = setting;
    // A region can be closed by nobody, whether it is the peer's or another's.
    const foreign = random.chance(0.5)
      ? host.mr(8, random.chance(0.5) ? {} : { pd: host.nic.control.allocPd() })
      : { rkey: boundOn(host, bindable(host, 16), setting.peer.inbound.qpn ^ 1, 0, 16).rkey };
    return {
      request: { opcode: SEND_WITH_INV, imm: foreign.rkey | 0, sgList: [local(setting)] },
      status: REM_ACCESS_ERR,
    };
  },
  // Requests that make no sense.
  (setting) => {
    if (setting.end.plan.forbidden === 'ATOMIC') return undefined;
    const sgList = [setting.end.landing.mr.sge(0, 8)];
    return {
      request: { opcode: ATOMIC_CMP_AND_SWP, sgList, ...setting.peer.target.at(4) },
      status: REM_INV_REQ_ERR,
    };
  },
  ({ end, peer }) => {
    const tooLong = end.memory.source.sge(0, peer.messageLimit + 1);
    return { request: { opcode: SEND, sgList: [tooLong] }, status: REM_INV_REQ_ERR };
  },
  // Local memory.
  (setting) => {
    const sge = local(setting);
    return {
      request: { opcode: SEND, sgList: [{ ...sge, lkey: sge.lkey ^ someBit(setting.random) }] },
      status: LOC_PROT_ERR,
    };
  },
  (setting) => {
    const { host } = setting.end.memory;
    const sgList = [host.mr(8, { pd: host.nic.control.allocPd() }).sge()];
    return { request: { opcode: SEND, sgList }, status: LOC_PROT_ERR };
  },
  (setting) => {
    const sgList = [setting.end.memory.host.mr(8, { access: 0 }).sge()];
    return { request: { opcode: RDMA_READ, sgList, ...setting.peer.target.at(0) }, status: LOC_PROT_ERR };
  },
  (setting) => {
    const { host } = setting.end.memory;
    const region = host.mr(15);
    const sge = { ...region.sge(0, 8), addr: region.addr + BigInt(setting.random.pick([-1, 8, 15])) };
    return { request: { opcode: SEND, sgList: [sge] }, status: LOC_PROT_ERR };
  },
  (setting) => {
    const { host } = setting.end.memory;
    const region = setting.random.chance(0.5)
      ? host.mr(8)
      : host.mr(8, { access: BINDABLE, pd: host.nic.control.allocPd() });
    return { request: bindRequest(window(host, MwType.TYPE_2), region), status: MW_BIND_ERR };
  },
  (setting) => {
    const { memory } = setting.end;
    const wrong = setting.random.chance(0.5) ? someBit(setting.random) : 0;
    return { request: { opcode: LOCAL_INV, imm: memory.source.rkey ^ wrong }, status: MW_BIND_ERR };
  },
  (setting) => {
    const mw = window(setting.end.memory.host, MwType.TYPE_2);
    const request = bindRequest(mw, bindable(setting.end.memory.host, 16), { offset: 8, length: 9 });
    return { request: { ...request, opcode: BIND_MW }, status: MW_BIND_ERR };
  },
];

/** What is possible on some connections only, and therefore chosen more often where it is. */
const rare: typeof wrongs = [
  // What the peer's queue pair does not allow.
  (setting) => {
    const { forbidden } = setting.end.plan;
    if (forbidden === undefined) return undefined;
    const operation = operations[granting.findIndex((access) => access === permissions[forbidden].access)];
    return { ...operation(setting, setting.peer.target.at(0)), status: REM_INV_REQ_ERR };
  },
  // A key that was invalidated.
  (setting) => (setting.closed.length === 0 ? undefined : keyed(setting, () => setting.random.pick(setting.closed))),
  // A shared receive queue of another domain.
  (setting) => {
    const { end, peer } = setting;
    if (end.rules.targetType === undefined) return undefined;
    const { host } = peer.memory;
    const foreign = host.srq({ xrcd: host.nic.control.openXrcd(), cq: host.cq(4) });
    foreign.queue.writeReceive({ sgList: [peer.target.sge(0, 8)] });
    return { request: { opcode: SEND, sgList: [local(setting)], remoteQpn: foreign.srqn }, status: REM_INV_REQ_ERR };
  },
];

/** Memory that is not there, from one of its bytes on. */
function missing(host: TestHost, random: SeededRandom): TestMr {
  const gone = random.below(8);
  const delayUs = random.chance(0.5) ? 0 : 2 * random.fraction();
  return host.mr(8, { manner: { delayUs: () => delayUs, faultAt: (_, offset) => Math.max(0, gone - offset) } });
}

/** What only foreign memory can do. */
const faulting: typeof wrongs = [
  (setting) => keyed(setting, (host) => missing(host, setting.random).at(0)),
  (setting) => {
    const sgList = [missing(setting.end.memory.host, setting.random).sge()];
    return { request: { opcode: SEND, sgList }, status: LOC_PROT_ERR };
  },
  (setting) => {
    if (setting.end.plan.forbidden === 'READ') return undefined;
    const sgList = [missing(setting.end.memory.host, setting.random).sge()];
    return { request: { opcode: RDMA_READ, sgList, ...setting.peer.target.at(0) }, status: LOC_PROT_ERR };
  },
];

export function makeWrong(setting: Setting): WrongRequest {
  const { random } = setting;
  for (;;) {
    const fault = setting.foreignMemory && random.chance(RARE);
    const made = random.pick(fault ? faulting : random.chance(RARE) ? rare : wrongs)(setting);
    if (made !== undefined) return made;
  }
}
