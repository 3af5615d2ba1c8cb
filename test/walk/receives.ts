import { AccessFlags, QpState, QpType } from '../../src/entry/index.js';
import { considerReceive } from './judge.js';
import { LENGTHS, somePieces } from './ranges.js';
import type { QpRecord, RecvRecord, SrqRecord } from './things.js';
import type { World } from './world.js';

const { UD, XRC_SEND } = QpType;

/** Posts a receive request to a QP or to a shared queue; those of one queue are mostly of one length. @returns false when it was refused */
export function postRecv(world: World, to: QpRecord | SrqRecord): boolean {
  const { random, character } = world;
  const shared = 'maxWr' in to;
  const header = !shared && to.type === UD ? 40 : 0;
  const usual = to.id % 3 === 0 ? 4096 : 1024 + header;
  const length = random.chance(character.slips / 20) ? random.pick(LENGTHS) : Math.min(usual, 4096);
  const wrong = random.chance((character.haste * character.malice) / 2);
  const sges = somePieces(world, to.host, to.pd, length, AccessFlags.LOCAL_WRITE, wrong);
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
    readFrom: undefined,
  };
  const wr = { wrId: BigInt(recv.wrId), sgList: sges };
  let expected = ['ok'];
  if (shared) {
    if (to.recvs.length >= to.maxWr) expected = ['ok', 'ENOMEM'];
  } else {
    const { poster } = to;
    if (poster === undefined) return false;
    if (to.srq !== undefined || to.type === XRC_SEND || poster.state === QpState.RESET) expected = ['EINVAL'];
    else if (to.recvs.length >= poster.cap.maxRecvWr) expected = ['ok', 'ENOMEM'];
  }
  const where = shared ? `SRQ ${to.id} of ${to.host.address}` : to.name;
  world.attempt(`${where} gets receive request ${recv.wrId} of ${capacity} bytes`, expected, () => {
    if (shared) to.api.postRecv(wr);
    else to.poster?.postRecv(wr);
  });
  if (!world.done) return false;
  to.recvs.push(recv);
  considerReceive(recv, to.host);
  for (const { addr, length: lengthBytes, lkey } of sges) {
    const region = to.host.regions.find(({ alive, api }) => alive && api.lkey === lkey);
    if (region === undefined) continue;
    world.claims.add({ arena: to.host.arena, at: region.at + Number(BigInt(addr) - region.iova), lengthBytes }, recv);
  }
  return true;
}

/** Room for receive requests beyond those that are posted, as far as the model can tell. */
export function roomToReceive(to: QpRecord | SrqRecord): number {
  if ('maxWr' in to) return to.maxWr - to.recvs.length;
  const { poster, srq, type } = to;
  if (poster === undefined || srq !== undefined || type === XRC_SEND || to.seenState === QpState.RESET) return 0;
  return poster.cap.maxRecvWr - to.recvs.length;
}

/** Posts as many as messages are on their way to a peer that has none for them. */
export function supply(world: World, to: QpRecord | SrqRecord, messages: number): boolean {
  if (to.host.paused) return false;
  while (to.recvs.length < messages && roomToReceive(to) > 0) if (!postRecv(world, to)) return false;
  return to.recvs.length >= messages;
}
