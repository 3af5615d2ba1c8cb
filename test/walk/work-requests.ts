import {
  AccessFlags,
  gidFromIp,
  PlacementType,
  QpType,
  SelectivityLevel,
  SendFlags,
  type SendWr,
  type Sge,
  WrOpcode,
} from '../../src/entry/index.js';
import { draftBind } from './binds.js';
import { peerOf } from './choices.js';
import { GROUP_QPN, someGroup } from './datagrams.js';
import { hostAt, SENDS, TAKES } from './judge.js';
import type { Draft } from './post.js';
import { LENGTHS, someKeyToClose, somePieces, someRemote } from './ranges.js';
import type { QpRecord } from './things.js';
import { SendRecord } from './things.js';
import type { World } from './world.js';

/** Requests of all kinds, most of them right, some wrong in one way. */

const { RC, UC, UD, XRC_SEND } = QpType;
const weights: readonly { readonly opcode: WrOpcode; readonly weight: number; readonly types: readonly QpType[] }[] = [
  { opcode: WrOpcode.SEND, weight: 5, types: [RC, UC, UD, XRC_SEND] },
  { opcode: WrOpcode.SEND_WITH_IMM, weight: 2, types: [RC, UC, UD, XRC_SEND] },
  { opcode: WrOpcode.SEND_WITH_INV, weight: 1.5, types: [RC, XRC_SEND] },
  { opcode: WrOpcode.RDMA_WRITE, weight: 6, types: [RC, UC, XRC_SEND] },
  { opcode: WrOpcode.RDMA_WRITE_WITH_IMM, weight: 2, types: [RC, UC, XRC_SEND] },
  { opcode: WrOpcode.RDMA_READ, weight: 5, types: [RC, XRC_SEND] },
  { opcode: WrOpcode.ATOMIC_FETCH_AND_ADD, weight: 2, types: [RC, XRC_SEND] },
  { opcode: WrOpcode.ATOMIC_CMP_AND_SWP, weight: 2, types: [RC, XRC_SEND] },
  { opcode: WrOpcode.BIND_MW, weight: 2.5, types: [RC, UC, XRC_SEND] },
  { opcode: WrOpcode.LOCAL_INV, weight: 1, types: [RC, UC, XRC_SEND] },
  { opcode: WrOpcode.FLUSH, weight: 1, types: [RC] },
  { opcode: WrOpcode.ATOMIC_WRITE, weight: 1, types: [RC] },
];

const ACCESS: Readonly<Record<number, number | undefined>> = {
  [WrOpcode.RDMA_WRITE]: AccessFlags.REMOTE_WRITE,
  [WrOpcode.RDMA_WRITE_WITH_IMM]: AccessFlags.REMOTE_WRITE,
  [WrOpcode.ATOMIC_WRITE]: AccessFlags.REMOTE_WRITE,
  [WrOpcode.RDMA_READ]: AccessFlags.REMOTE_READ,
  [WrOpcode.ATOMIC_FETCH_AND_ADD]: AccessFlags.REMOTE_ATOMIC,
  [WrOpcode.ATOMIC_CMP_AND_SWP]: AccessFlags.REMOTE_ATOMIC,
  [WrOpcode.FLUSH]: AccessFlags.FLUSH_GLOBAL,
};

function someOpcode(world: World, type: QpType): WrOpcode {
  const there = weights.filter(({ types }) => types.includes(type));
  let left = world.random.fraction() * there.reduce((sum, { weight }) => sum + weight, 0);
  return there.find(({ weight }) => (left -= weight) < 0)?.opcode ?? WrOpcode.SEND;
}

/** A request that fits the type of a QP; in haste, now and then one that is wrong. */
export function draftRequest(world: World, qp: QpRecord, hasty: boolean): Draft | undefined {
  const { poster, host, life } = qp;
  const { random, character } = world;
  if (poster === undefined) return undefined;
  const opcode = someOpcode(world, qp.type);
  if (opcode === WrOpcode.BIND_MW) return draftBind(world, qp, hasty);
  const signalled = qp.sqSigAll || random.chance(0.8);
  const eight = opcode === WrOpcode.ATOMIC_WRITE || (ACCESS[opcode] ?? 0) === AccessFlags.REMOTE_ATOMIC;
  // What is sent has to fit into what is posted for it, as a rule.
  const short = qp.type === UD || (SENDS.has(opcode) && random.chance(0.9));
  const most = short ? 1000 : 4096;
  const dataless = opcode === WrOpcode.LOCAL_INV || opcode === WrOpcode.FLUSH;
  let length = eight ? 8 : Math.min(random.pick(LENGTHS), most);
  const fillsOwn = opcode === WrOpcode.RDMA_READ || (ACCESS[opcode] ?? 0) === AccessFlags.REMOTE_ATOMIC;
  const inline = !dataless && !fillsOwn && length <= poster.cap.maxInlineData && random.chance(0.5);
  const bytes = Uint8Array.from({ length: inline ? length : 0 }, () => random.u32());
  const wrong = hasty && random.chance(character.malice / 2);
  const rights = fillsOwn ? AccessFlags.LOCAL_WRITE : 0;
  const sges = inline || dataless ? [] : somePieces(world, host, qp.pd, length, rights, wrong);
  if (!inline && !dataless && !eight) length = sges.reduce((sum, sge) => sum + sge.length, 0);
  if (eight && !inline && sges.reduce((sum, sge) => sum + sge.length, 0) !== 8) return undefined;
  const request = new SendRecord(world.nextWrId(), qp, opcode, sges, length, signalled, world.tick, life);
  if (inline) request.inline = bytes;
  request.solicited = TAKES.has(opcode) && random.chance(0.2);
  const flags =
    (signalled ? SendFlags.SIGNALED : 0) |
    (random.chance(0.1) ? SendFlags.FENCE : 0) |
    (request.solicited ? SendFlags.SOLICITED : 0) |
    (inline ? SendFlags.INLINE : 0);
  const wr = describe(world, request, hasty, flags, inline ? [{ bytes }] : sges);
  return wr === undefined ? undefined : { request, post: () => poster.postSend(wr) };
}

/** The work request, with all that the opcode calls for, noted in the record as well. */
function describe(
  world: World,
  request: SendRecord,
  hasty: boolean,
  sendFlags: number,
  sgList: readonly (Sge | { bytes: Uint8Array })[],
): SendWr | undefined {
  const { random } = world;
  const { qp, opcode, wrId, lengthBytes } = request;
  const peer = peerOf(world, qp);
  let pd = peer?.pd;
  const base = { wrId: BigInt(wrId), sendFlags };
  let xrc = {};
  if (qp.type === XRC_SEND) {
    const srq = world.pick((peer?.host.srqs ?? []).filter(({ xrcCq }) => xrcCq !== undefined));
    request.srqn = (hasty && random.chance(0.02)) || srq === undefined ? random.below(2 ** 24) : srq.api.srqNum;
    pd = srq?.pd;
    xrc = { xrc: { remoteSrqn: request.srqn } };
  }
  const access = ACCESS[opcode] ?? 0;
  const remote =
    access === 0
      ? undefined
      : someRemote(world, qp, pd, access, opcode === WrOpcode.FLUSH ? random.pick(LENGTHS) : lengthBytes, hasty);
  if (access !== 0 && remote === undefined) return undefined;
  if (remote !== undefined) request.remote = remote;
  const rdma = { remoteAddr: remote?.addr ?? 0n, rkey: remote?.rkey ?? 0 };
  const pieces = sgList as Sge[]; // inline data goes with opcodes that take it only
  switch (opcode) {
    case WrOpcode.SEND:
    case WrOpcode.SEND_WITH_IMM: {
      const ud = qp.type === UD ? someDestination(world, request) : {};
      if (ud === undefined) return undefined;
      if (opcode === WrOpcode.SEND) return { ...base, ...xrc, ...ud, opcode, sgList };
      request.immData = random.u32();
      return { ...base, ...xrc, ...ud, opcode, sgList, immData: request.immData };
    }
    case WrOpcode.SEND_WITH_INV:
      request.invalidates = someKeyToClose(world, peer?.host ?? qp.host, peer, pd, hasty);
      if (request.invalidates === undefined) return undefined;
      return { ...base, ...xrc, opcode, sgList, invalidateRkey: request.invalidates };
    case WrOpcode.RDMA_WRITE:
      return { ...base, ...xrc, opcode, sgList, rdma };
    case WrOpcode.RDMA_WRITE_WITH_IMM:
      request.immData = random.u32();
      return { ...base, ...xrc, opcode, sgList, rdma, immData: request.immData };
    case WrOpcode.RDMA_READ:
      return { ...base, ...xrc, opcode, sgList: pieces, rdma };
    case WrOpcode.ATOMIC_FETCH_AND_ADD:
      request.operand = (BigInt(random.u32()) << 32n) | BigInt(random.u32());
      return { ...base, ...xrc, opcode, sgList: [pieces[0]], atomic: { ...rdma, compareAdd: request.operand } };
    case WrOpcode.ATOMIC_CMP_AND_SWP:
      request.operand = expectedCell(world, request) ?? BigInt(random.u32());
      request.swap = (BigInt(random.u32()) << 32n) | BigInt(random.u32());
      return {
        ...base,
        ...xrc,
        opcode,
        sgList: [pieces[0]],
        atomic: { ...rdma, compareAdd: request.operand, swap: request.swap },
      };
    case WrOpcode.ATOMIC_WRITE:
      return { ...base, opcode, sgList, rdma };
    case WrOpcode.FLUSH:
      return {
        ...base,
        opcode,
        rdma,
        flush: {
          length: remote?.lengthBytes ?? 0,
          type: PlacementType.FLUSH_GLOBAL,
          level: SelectivityLevel.FLUSH_RANGE,
        },
      };
    case WrOpcode.LOCAL_INV:
      request.invalidates = someKeyToClose(world, qp.host, qp, qp.pd, hasty);
      if (request.invalidates === undefined) return undefined;
      return { ...base, opcode, invalidateRkey: request.invalidates };
    default:
      return undefined;
  }
}

/** What the cell holds now, that a compare-and-swap is for: so that half of them swap. */
function expectedCell(world: World, { remote, qp }: SendRecord): bigint | undefined {
  if (!world.random.chance(0.7)) return undefined;
  const host = hostAt(world, qp.life.peerAddress);
  const region = host?.regions.find(({ alive, api }) => alive && api.rkey === remote?.rkey);
  if (host === undefined || region === undefined || remote === undefined) return undefined;
  const at = region.at + Number(remote.addr - region.iova);
  return at >= 0 && at + 8 <= host.arena.bytes.length ? host.arena.quadword(at) : undefined;
}

function someDestination(
  world: World,
  request: SendRecord,
): { ud: { ah: NonNullable<SendRecord['ah']>['api']; remoteQpn: number; remoteQkey: number } } | undefined {
  const { random } = world;
  const { qp } = request;
  const { host, pd } = qp;
  if (pd === undefined) return undefined;
  const near = world.pick(world.hosts.flatMap(({ up, qps }) => (up ? qps.filter(({ type }) => type === UD) : [])));
  if (near === undefined) return undefined;
  if (random.chance(0.4)) request.group = someGroup(world);
  const to = request.group ?? near.host.address;
  let ah = host.ahs.find((known) => known.alive && known.pd === pd && known.to === to);
  if (ah === undefined) {
    ah = { id: world.nextId(), api: pd.api.createAh({ grh: { dgid: gidFromIp(to) } }), pd, to, alive: true };
    host.ahs.push(ah);
  }
  request.ah = ah;
  request.remoteQpn = request.group === undefined ? near.qpn : GROUP_QPN;
  if (request.group === undefined && random.chance(0.03)) request.remoteQpn = random.below(2 ** 24);
  request.remoteQkey = random.chance(0.97) ? 0x11111111 : random.below(2 ** 31);
  return { ud: { ah: ah.api, remoteQpn: request.remoteQpn, remoteQkey: request.remoteQkey } };
}
