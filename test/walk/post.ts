import {
  AccessFlags,
  MwType,
  nameOf,
  PlacementType,
  QpState,
  QpType,
  SelectivityLevel,
  SendFlags,
  type SendWr,
  type Sge,
  WrOpcode,
} from '../../src/index.js';
import { considerReceive, hostAt, isAligned, SENDS, TAKES } from './judge.js';
import { makeRegion, ALL } from './makers.js';
import { windowOf } from './rights.js';
import type {
  Binding,
  HostRecord,
  PdRecord,
  QpRecord,
  RecvRecord,
  RegionRecord,
  Remote,
  SrqRecord,
  WindowRecord,
} from './things.js';
import { SendRecord } from './things.js';
import type { World } from './world.js';

/** Requests of all kinds, most of them right, some wrong in one way. */

const { RC, UC, UD, XRC_SEND } = QpType;
const LENGTHS = [0, 1, 7, 8, 16, 64, 100, 256, 257, 1000, 1024, 2048, 4096];
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

/** The QP that a program believes to be at the other end. */
export function peerOf(world: World, qp: QpRecord): QpRecord | undefined {
  const host = hostAt(world, qp.life.peerAddress);
  return host?.qps.find(({ alive, qpn }) => alive && qpn === qp.life.destQpn);
}

/** Pieces that make up a length, or as much of it as a region has that is good for it; now and then one is taken that is not. */
export function somePieces(
  world: World,
  host: HostRecord,
  pd: PdRecord | undefined,
  wanted: number,
  access: number,
): Sge[] {
  const { random } = world;
  if (wanted === 0) return [];
  const wrong = random.chance(world.malice / 2);
  const good = host.regions.filter(
    ({ alive, pd: theirs, access: theirAccess }) =>
      alive && (wrong || (theirs === pd && (theirAccess & access) === access)),
  );
  let region = world.pick(good.filter(({ lengthBytes }) => lengthBytes >= wanted)) ?? world.pick(good);
  if (region === undefined && pd !== undefined) region = makeRegion(world, host, pd, ALL);
  if (region === undefined) return [];
  const length = Math.min(wanted, region.lengthBytes);
  const parts = length > 8 && random.chance(0.3) ? random.between(2, 3) : 1;
  const sges: Sge[] = [];
  let left = length;
  let offset = random.below(region.lengthBytes - length + 1);
  for (let i = 0; i < parts && left > 0; i += 1) {
    const part = i === parts - 1 ? left : random.between(1, left);
    // Pieces that share bytes would leave open what is there in the end.
    offset += random.below(Math.min(16, region.lengthBytes - offset - left + 1));
    sges.push({ addr: region.iova + BigInt(offset), length: part, lkey: region.api.lkey });
    offset += part;
    left -= part;
  }
  return sges;
}

/** What of the peer's memory a request names. */
function someRemote(
  world: World,
  qp: QpRecord,
  pd: PdRecord | undefined,
  access: number,
  length: number,
): Remote | undefined {
  const { random } = world;
  const peer = peerOf(world, qp);
  const host = peer?.host ?? qp.host;
  const wrong = random.chance(world.malice)
    ? random.pick(['rkey', 'lkey', 'range', 'end', 'rights', 'odd'] as const)
    : '';
  const odd = (n: number): number => (access === AccessFlags.REMOTE_ATOMIC || length === 8 ? n - (n % 8) : n);
  const place = (begin: bigint, size: number, rkey: number): Remote => {
    const spare = Math.max(0, size - length);
    let addr = begin + BigInt(odd(random.below(spare + 1)));
    if (wrong === 'odd') addr += 1n;
    else if (wrong === 'range') addr = begin + BigInt(spare + random.between(1, 9));
    else if (wrong === 'end') addr = 2n ** 64n - BigInt(random.between(1, 8));
    else if (wrong !== 'rights') addr -= access === AccessFlags.REMOTE_ATOMIC ? addr % 8n : 0n;
    return { rkey, addr: addr < 0n ? 0n : addr, lengthBytes: length, access };
  };
  if (wrong === 'rkey') return { rkey: random.u32(), addr: BigInt(random.u32()) * 8n, lengthBytes: length, access };
  const bound = host.windows.flatMap((window) => {
    const bindings = [...window.possible, ...(window.binding === undefined ? [] : [window.binding])];
    return bindings.filter(({ lengthBytes }) => lengthBytes >= length).map((binding) => ({ id: window.id, binding }));
  });
  if (random.chance(0.3)) {
    const chosen = world.pick(bound)?.binding;
    if (chosen !== undefined) return place(chosen.zeroBased ? 0n : chosen.addr, chosen.lengthBytes, chosen.rkey);
  }
  const fits = (region: RegionRecord): boolean =>
    wrong === 'rights' || ((region.access & access) === access && region.pd === pd && region.lengthBytes >= length);
  const region = world.pick(host.regions.filter((candidate) => candidate.alive && fits(candidate)));
  if (region === undefined) return undefined;
  return place(region.iova, region.lengthBytes, wrong === 'lkey' ? region.api.lkey : region.api.rkey);
}

function someKeyToClose(world: World, host: HostRecord, qp: QpRecord | undefined): number {
  const { random } = world;
  const windows = host.windows.filter(({ type }) => type === MwType.TYPE_2);
  const bound = windows.flatMap((window) =>
    [...window.possible, ...(window.binding === undefined ? [] : [window.binding])]
      .filter((binding) => binding.qp === qp)
      .map((binding) => ({ id: window.id, rkey: binding.rkey })),
  );
  const chosen = random.chance(0.75) ? world.pick(bound) : undefined;
  if (chosen !== undefined) return chosen.rkey;
  const region = random.chance(0.7) ? world.pick(host.regions) : undefined;
  return region?.api.rkey ?? random.u32();
}

/** Posts one request to a QP. @returns false when it was refused */
export function postOne(world: World, qp: QpRecord): boolean {
  const { poster, host, life } = qp;
  const { random } = world;
  if (poster === undefined) return false;
  const opcode = someOpcode(world, qp.type);
  if (opcode === WrOpcode.BIND_MW) return postBind(world, qp);
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
  const sges = inline || dataless ? [] : somePieces(world, host, qp.pd, length, fillsOwn ? AccessFlags.LOCAL_WRITE : 0);
  if (!inline && !dataless && !eight) length = sges.reduce((sum, sge) => sum + sge.length, 0);
  if (eight && !inline && sges.reduce((sum, sge) => sum + sge.length, 0) !== 8) return false;
  const request = new SendRecord(world.nextWrId(), qp, opcode, sges, length, signalled, world.tick, life);
  if (inline) request.inline = bytes;
  const flags =
    (signalled ? SendFlags.SIGNALED : 0) |
    (random.chance(0.1) ? SendFlags.FENCE : 0) |
    (random.chance(0.2) && TAKES.has(opcode) ? SendFlags.SOLICITED : 0) |
    (inline ? SendFlags.INLINE : 0);
  const wr = describe(world, request, flags, inline ? [{ bytes }] : sges);
  if (wr === undefined) return false;
  return submit(world, request, () => poster.postSend(wr));
}

/** The work request, with all that the opcode calls for, noted in the record as well. */
function describe(
  world: World,
  request: SendRecord,
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
    request.srqn = random.chance(0.02) || srq === undefined ? random.below(2 ** 24) : srq.api.srqNum;
    pd = srq?.pd;
    xrc = { xrc: { remoteSrqn: request.srqn } };
  }
  const access = ACCESS[opcode] ?? 0;
  const remote =
    access === 0
      ? undefined
      : someRemote(world, qp, pd, access, opcode === WrOpcode.FLUSH ? random.pick(LENGTHS) : lengthBytes);
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
      request.invalidates = someKeyToClose(world, peer?.host ?? qp.host, peer);
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
      request.invalidates = someKeyToClose(world, qp.host, qp);
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
  let ah = host.ahs.find((known) => known.alive && known.pd === pd && known.to === near.host.address);
  if (ah === undefined) {
    const api = pd.api.createAh({ grh: { dgid: near.host.context.queryGid(1, 0) } });
    ah = { id: world.nextId(), api, pd, to: near.host.address, alive: true };
    host.ahs.push(ah);
  }
  request.ah = ah;
  request.remoteQpn = random.chance(0.97) ? near.qpn : random.below(2 ** 24);
  request.remoteQkey = random.chance(0.97) ? 0x11111111 : random.below(2 ** 31);
  return { ud: { ah: ah.api, remoteQpn: request.remoteQpn, remoteQkey: request.remoteQkey } };
}

/** Posts a request, which the queue must take when it can, and notes it. */
function submit(world: World, request: SendRecord, post: () => void): boolean {
  const { qp } = request;
  const { poster, life } = qp;
  if (poster === undefined) return false;
  const { state } = poster;
  const early = state === QpState.RESET || state === QpState.INIT || state === QpState.RTR;
  const expected =
    early || !isAligned(request) ? ['EINVAL'] : qp.sends.length >= poster.cap.maxSendWr ? ['ok', 'ENOMEM'] : ['ok'];
  const key = request.remote === undefined ? '' : `, key 0x${request.remote.rkey.toString(16)}`;
  const what = `${qp.name} posts request ${request.wrId}, ${nameOf(WrOpcode, request.opcode)} of ${request.lengthBytes} bytes${key}${extraOf(request)}`;
  world.attempt(what, expected, post);
  if (!world.done) return false;
  world.counts.requests += 1;
  request.index = life.posted;
  life.posted += 1;
  if (TAKES.has(request.opcode)) {
    request.messageIndex = life.messages.length;
    life.messages.push(request);
  }
  qp.sends.push(request);
  if (qp.type === UD || (qp.type === UC && TAKES.has(request.opcode))) world.datagrams.push(request);
  world.live.add(request);
  notePending(world, request);
  world.considerOne(request);
  return true;
}

/** What a bind or an invalidation names. */
function extraOf({ binds, invalidates, signalled }: SendRecord): string {
  const hex = (key: number): string => `0x${key.toString(16)}`;
  const quiet = signalled ? '' : ', unsignalled';
  if (binds !== undefined) {
    const { window, binding } = binds;
    return `${quiet}, window ${hex(binding.rkey)} of type ${window.type} to ${hex(binding.region?.api.rkey ?? 0)}`;
  }
  return invalidates === undefined ? quiet : `${quiet}, closes ${hex(invalidates)}`;
}

/** From now on a key may be closed, or a window bound. */
function notePending(world: World, request: SendRecord): void {
  const { binds, invalidates, opcode, qp } = request;
  if (binds !== undefined) {
    request.epoch = binds.window.epoch;
    binds.window.pending.add(request);
    binds.window.possible.add(binds.binding);
  }
  if (invalidates === undefined) return;
  const host = opcode === WrOpcode.LOCAL_INV ? qp.host : hostAt(world, qp.life.peerAddress);
  if (host === undefined) return;
  const window = windowOf(host, invalidates);
  const region = host.regions.find(({ alive, api }) => alive && api.rkey === invalidates);
  const owner = region ?? (window?.type === MwType.TYPE_2 ? window : undefined);
  if (owner === undefined) return;
  request.epoch = owner.epoch;
  owner.pending.add(request);
}

function postBind(world: World, qp: QpRecord): boolean {
  const { random } = world;
  const { poster, host, life } = qp;
  const good = (window: WindowRecord): boolean => window.alive && (random.chance(0.05) || window.pd === qp.pd);
  const window = world.pick(host.windows.filter(good));
  const regions = host.regions.filter(({ alive, pd, access }) => {
    return alive && (random.chance(0.05) || (pd === qp.pd && (access & AccessFlags.MW_BIND) !== 0));
  });
  const region = world.pick(regions);
  if (poster === undefined || window === undefined || region === undefined) return false;
  const first = window.type === MwType.TYPE_1;
  const unbinds = first && random.chance(0.15);
  const wrong = random.chance(world.malice / 2);
  const offset = random.below(region.lengthBytes);
  const addr = region.iova + BigInt(offset);
  const lengthBytes = unbinds ? 0 : region.lengthBytes - offset + (wrong ? 1 : 0);
  const all = AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_ATOMIC;
  const access = random.chance(0.8) ? all : random.u32() & all;
  const zeroBased = !first && random.chance(0.2);
  const mwAccessFlags = access | (zeroBased ? AccessFlags.ZERO_BASED : 0);
  const signalled = qp.sqSigAll || random.chance(0.8);
  const sendFlags = signalled ? SendFlags.SIGNALED : 0;
  const wrId = world.nextWrId();
  const request = new SendRecord(wrId, qp, WrOpcode.BIND_MW, [], 0, signalled, world.tick, life);
  const bindInfo = unbinds ? {} : { mr: region.api, addr, length: lengthBytes, mwAccessFlags };
  const bindingOf = (rkey: number): Binding => ({ region, rkey, addr, lengthBytes, access, qp, zeroBased });
  if (first) {
    // The key that the window gets is told by the call: what may be refused is asked first.
    if (window.pd !== region.pd || window.pd !== qp.pd) return false;
    const rkey = ((window.api.rkey & ~0xff) | ((window.api.rkey + 1) & 0xff)) >>> 0;
    request.binds = { window, binding: bindingOf(rkey) };
    return submit(world, request, () => poster.bindMw(window.api, { wrId: BigInt(wrId), sendFlags, bindInfo }));
  }
  const rkey = ((window.api.rkey & ~0xff) | random.below(256)) >>> 0;
  request.binds = { window, binding: bindingOf(rkey) };
  const bindMw = { mw: window.api, rkey, bindInfo };
  return submit(world, request, () =>
    poster.postSend({ opcode: WrOpcode.BIND_MW, wrId: BigInt(wrId), sendFlags, bindMw }),
  );
}

/** Posts a receive request to a QP or to a shared queue. */
export function postRecv(world: World, to: QpRecord | SrqRecord): void {
  const { random } = world;
  const shared = 'maxWr' in to;
  const header = !shared && to.type === UD ? 40 : 0;
  const length = random.chance(0.05) ? random.pick(LENGTHS) : random.pick([1024, 1024, 4096]) + header;
  const sges = somePieces(world, to.host, to.pd, Math.min(length, 4096), AccessFlags.LOCAL_WRITE);
  const capacity = sges.reduce((sum, sge) => sum + sge.length, 0);
  const recv: RecvRecord = {
    wrId: world.nextWrId(),
    sges,
    pd: to.pd,
    capacity,
    tick: world.tick,
    couldNot: false,
    pieces: [],
    closedTick: Infinity,
  };
  const wr = { wrId: BigInt(recv.wrId), sgList: sges };
  let expected = ['ok'];
  if (shared) {
    if (to.recvs.length >= to.maxWr) expected = ['ok', 'ENOMEM'];
  } else {
    const { poster } = to;
    if (poster === undefined) return;
    if (to.srq !== undefined || to.type === XRC_SEND || poster.state === QpState.RESET) expected = ['EINVAL'];
    else if (to.recvs.length >= poster.cap.maxRecvWr) expected = ['ok', 'ENOMEM'];
  }
  const where = shared ? `SRQ ${to.id} of ${to.host.address}` : to.name;
  world.attempt(`${where} gets receive request ${recv.wrId} of ${capacity} bytes`, expected, () => {
    if (shared) to.api.postRecv(wr);
    else to.poster?.postRecv(wr);
  });
  if (!world.done) return;
  to.recvs.push(recv);
  considerReceive(recv, to.host);
  for (const { addr, length: lengthBytes, lkey } of sges) {
    const region = to.host.regions.find(({ alive, api }) => alive && api.lkey === lkey);
    if (region === undefined) continue;
    world.claims.add({ arena: to.host.arena, at: region.at + Number(BigInt(addr) - region.iova), lengthBytes }, recv);
  }
}
