import { AccessFlags, QpState, QpType, WrOpcode } from '../../src/entry/index.js';
import { bindVerdict, invalidateVerdict, localPlaces, remoteVerdict } from './rights.js';
import type { HostRecord, PdRecord, Place, QpRecord, RecvRecord, Remote, SendRecord, SrqRecord } from './things.js';

/** The most that a datagram carries: the MTU of every port here. */
export const DATAGRAM_BYTES = 4096;
/** Opcodes that arrive as a message, with or without a receive request. */
export const SENDS: ReadonlySet<WrOpcode> = new Set<WrOpcode>([
  WrOpcode.SEND,
  WrOpcode.SEND_WITH_IMM,
  WrOpcode.SEND_WITH_INV,
]);
export const WRITES: ReadonlySet<WrOpcode> = new Set<WrOpcode>([
  WrOpcode.RDMA_WRITE,
  WrOpcode.RDMA_WRITE_WITH_IMM,
  WrOpcode.ATOMIC_WRITE,
]);
export const ATOMICS: ReadonlySet<WrOpcode> = new Set<WrOpcode>([
  WrOpcode.ATOMIC_CMP_AND_SWP,
  WrOpcode.ATOMIC_FETCH_AND_ADD,
]);
export const LOCALS: ReadonlySet<WrOpcode> = new Set<WrOpcode>([WrOpcode.BIND_MW, WrOpcode.LOCAL_INV]);
export const TAKES: ReadonlySet<WrOpcode> = new Set<WrOpcode>([...SENDS, WrOpcode.RDMA_WRITE_WITH_IMM]);

export function isReliable(type: QpType): boolean {
  return type === QpType.RC || type === QpType.XRC_SEND || type === QpType.XRC_RECV;
}

/** Whether requests of a peer are executed in that state (protocol/reliable.md 2.9). */
export function isReceptive(state: QpState): boolean {
  return state !== QpState.RESET && state !== QpState.INIT && state !== QpState.ERR;
}

export function fills({ opcode }: SendRecord): boolean {
  return opcode === WrOpcode.RDMA_READ || ATOMICS.has(opcode);
}

export interface Target {
  readonly host: HostRecord;
  readonly qp: QpRecord;
  /** Whose memory it may name. */
  readonly pd: PdRecord | undefined;
  readonly srq: SrqRecord | undefined;
  readonly recvs: readonly RecvRecord[];
}

export interface Surroundings {
  readonly hosts: readonly HostRecord[];
  /** Whether packets may be lost, or late. */
  readonly troubled: boolean;
}

export function hostAt({ hosts }: Surroundings, address: string): HostRecord | undefined {
  return hosts.find((host) => host.up && host.address === address);
}

export function targetOf(world: Surroundings, request: SendRecord): Target | undefined {
  const { life, qp } = request;
  const datagram = qp.type === QpType.UD;
  const host = hostAt(world, datagram ? (request.ah?.to ?? '') : life.peerAddress);
  const qpn = datagram ? request.remoteQpn : life.destQpn;
  const found = host?.qps.find((candidate) => candidate.alive && candidate.qpn === qpn);
  if (host === undefined || found === undefined) return undefined;
  if (found.type !== QpType.XRC_RECV) {
    const { pd, srq } = found;
    return { host, qp: found, pd, srq, recvs: srq?.recvs ?? found.recvs };
  }
  const srq = host.srqs.find(({ alive, api, xrcCq }) => alive && xrcCq !== undefined && api.srqNum === request.srqn);
  return { host, qp: found, pd: srq?.pd, srq, recvs: srq?.recvs ?? [] };
}

/** Whether two lives are the two ends of one connection, neither of which had another one before. */
export function fit(ours: QpRecord, life: Life, theirs: QpRecord): 'yes' | 'no' | 'wrong' {
  const mate = theirs.life;
  const named = mate.destQpn === ours.qpn && mate.peerAddress === ours.host.address;
  if (!named || !isReceptive(theirs.seenState)) return 'no';
  const half = ours.type === QpType.XRC_SEND;
  const back = half || life.rqPsn === mate.sqPsn || mate.sqPsn < 0;
  const agree = mate.rqPsn === life.sqPsn && mate.mtuBytes === life.mtuBytes && back;
  if (!agree || (life.mate ?? mate) !== mate || (mate.mate ?? life) !== life) return 'wrong';
  life.mate = mate;
  mate.mate = life;
  return 'yes';
}

type Life = QpRecord['life'];

/** Notes what may become of a request as things are now. To be called whenever they have changed. */
export function consider(world: Surroundings, request: SendRecord): void {
  const { qp, life } = request;
  if (world.troubled) request.troubled = true;
  considerLocal(request);
  if (LOCALS.has(request.opcode)) return;
  const target = targetOf(world, request);
  if (qp.type === QpType.UD) return;
  if (target === undefined) {
    request.troubled = true;
    return;
  }
  const fitting = fit(qp, life, target.qp);
  if (fitting === 'no') {
    if (request.index >= target.qp.life.errorBy || target.qp.life.errorBy === Infinity) request.troubled = true;
    if (target.qp.life !== life.mate) request.troubled = true;
    return;
  }
  if (fitting === 'wrong') request.wild = true;
  else request.paired = true;
  considerRemote(request, target);
}

function considerLocal(request: SendRecord): void {
  const { qp, opcode, binds, invalidates } = request;
  let may = true;
  let mayNot = false;
  if (binds !== undefined) ({ may, mayNot } = bindVerdict(binds.window, binds.binding));
  else if (opcode === WrOpcode.LOCAL_INV && invalidates !== undefined)
    ({ may, mayNot } = invalidateVerdict(qp.host, qp, qp.pd, invalidates));
  else if (request.inline === undefined) {
    const access = fills(request) ? AccessFlags.LOCAL_WRITE : 0;
    const places = localPlaces(qp.host, qp.pd, request.sges, access);
    if (places !== undefined) notePieces(request, places);
    may = places !== undefined;
    mayNot = !may;
  }
  if (may) request.couldLocal = true;
  if (mayNot) request.couldNotLocal = true;
}

/** Remembers where the pieces lie, when they are not where they were. */
function notePieces({ pieces }: { readonly pieces: Place[][] }, places: Place[]): void {
  const same = (known: Place[]): boolean => known.every(({ at }, i) => at === places[i].at);
  if (!pieces.some(same)) pieces.push(places);
}

function considerRemote(request: SendRecord, { host, qp, pd, srq, recvs }: Target): void {
  const { remote, opcode, invalidates } = request;
  const { accessFlags, maxDestRdAtomic } = qp.life;
  if (qp.type === QpType.XRC_RECV && srq === undefined) request.couldNotQp = true;
  // A shared queue that cannot complete anything can take nothing either.
  if (srq?.xrcCq?.dead === true) request.badRecv = true;
  const needed = remote?.access ?? 0;
  const answered = opcode === WrOpcode.RDMA_READ || ATOMICS.has(opcode) || isConfirmed(opcode);
  if ((accessFlags & needed) !== needed) request.couldNotQp = true;
  if (answered && maxDestRdAtomic < Math.max(1, request.life.maxRdAtomic)) request.couldNotQp = true;
  if (isAligned(request)) {
    if (remote !== undefined) {
      const verdict = remoteVerdict(host, qp, pd, remote);
      if (verdict.may) request.couldRemote = true;
      if (verdict.mayNot) request.couldNotRemote = true;
      const [at] = verdict.at;
      if (request.firstTarget !== undefined && request.firstTarget !== at) request.moved = true;
      if (verdict.at.length > 1) request.moved = true;
      request.firstTarget ??= at;
      for (const place of verdict.at)
        noteRemote(request, { arena: host.arena, at: place, lengthBytes: remote.lengthBytes });
      if (opcode === WrOpcode.RDMA_READ && !verdict.may) considerPieces(request, remote, { host, qp, pd });
    }
  } else request.couldNotQp = true;
  if (opcode === WrOpcode.SEND_WITH_INV && invalidates !== undefined) {
    const { may, mayNot } = invalidateVerdict(host, qp, pd, invalidates);
    if (may) request.couldRemote = true;
    if (mayNot) request.couldNotRemote = true;
  }
  if (!TAKES.has(opcode)) return;
  // What is complete may not have been heard of, and is counted as posted still.
  if (srq !== undefined || request.messageIndex - qp.life.delivered >= recvs.length) request.noRecv = true;
  considerReceives(request, host, recvs);
}

/**
 * A requester may ask for a long READ in pieces, each of which the peer judges by itself: what lies before the piece that is
 * refused may come home.
 */
function considerPieces(
  request: SendRecord,
  remote: Remote,
  { host, qp, pd }: Pick<Target, 'host' | 'qp' | 'pd'>,
): void {
  const { mtuBytes } = request.life;
  for (let lengthBytes = mtuBytes; lengthBytes < remote.lengthBytes; lengthBytes += mtuBytes) {
    const { may, at } = remoteVerdict(host, qp, pd, { ...remote, lengthBytes });
    if (!may) return;
    for (const place of at) noteRemote(request, { arena: host.arena, at: place, lengthBytes });
  }
}

function noteRemote({ remotes }: SendRecord, place: Place): void {
  const index = remotes.findIndex(({ arena, at }) => arena === place.arena && at === place.at);
  if (index < 0) remotes.push(place);
  else if (remotes[index].lengthBytes < place.lengthBytes) remotes[index] = place;
}

function isConfirmed(opcode: WrOpcode): boolean {
  return opcode === WrOpcode.FLUSH || opcode === WrOpcode.ATOMIC_WRITE;
}

export function isAligned({ opcode, remote }: SendRecord): boolean {
  return !(ATOMICS.has(opcode) || opcode === WrOpcode.ATOMIC_WRITE) || (remote?.addr ?? 0n) % 8n === 0n;
}

function considerReceives(request: SendRecord, host: HostRecord, recvs: readonly RecvRecord[]): void {
  for (const recv of recvs) {
    considerReceive(recv, host);
    if (recv.couldNot) request.badRecv = true;
    if (SENDS.has(request.opcode) && recv.capacity < request.lengthBytes) request.smallRecv = true;
    else request.couldRecv = true;
  }
}

export function considerReceive(recv: RecvRecord, host: HostRecord): void {
  const places = localPlaces(host, recv.pd, recv.sges, AccessFlags.LOCAL_WRITE);
  if (places === undefined) recv.couldNot = true;
  else notePieces(recv, places);
}

/** Whether the peer may refuse a request, and end the QP that it came to. */
export function mayEndPeer(request: SendRecord): boolean {
  return request.wild || request.couldNotRemote || request.couldNotQp || request.smallRecv || request.badRecv;
}

/** Whether the QP itself may find that a request cannot be sent so. */
export function mayBeMalformed({ qp, opcode, life, ah, lengthBytes }: SendRecord): boolean {
  const answered = opcode === WrOpcode.RDMA_READ || ATOMICS.has(opcode) || isConfirmed(opcode);
  if (answered && life.maxRdAtomic === 0) return true;
  return qp.type === QpType.UD && (ah?.alive !== true || ah.pd !== qp.pd || lengthBytes > DATAGRAM_BYTES);
}

/** Whether a request may end the queue that it is in. */
export function mayEndOwn(request: SendRecord): boolean {
  if (request.couldNotLocal || mayBeMalformed(request)) return true;
  return isReliable(request.qp.type) && (request.troubled || request.noRecv || mayEndPeer(request));
}
