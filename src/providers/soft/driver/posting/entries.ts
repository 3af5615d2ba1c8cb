import { SendFlags } from '../../../../device/ibta/index.js';
import { BindWqe, FlushWqe, RecvWqe, SendWqe, SgeWords } from '../../../../device/nic/index.js';
import { type Address, highWord, lowWord, type MwBindInfo, type Sge, type WrId } from '../../../../api/verbs/index.js';

/** Up to here a loop is faster than the view that TypedArray.set needs for a part of an array. */
const LOOP_COPY_BYTES = 64;

/** Word 0 of a send entry. */
export function sendControl(opcode: number, flags: number, numSge: number): number {
  return opcode | (flags << 8) | (numSge << 16);
}

/** Writes what every send entry has. `at` is the word at which the entry begins. */
export function writeSendHeader(words: Int32Array, at: number, control: number, wrIdLo: number, wrIdHi: number): void {
  words[at + SendWqe.CONTROL] = control;
  words[at + SendWqe.WR_ID_LO] = wrIdLo;
  words[at + SendWqe.WR_ID_HI] = wrIdHi;
}

/** Writes the peer's memory of a send entry. */
export function writeRemote(words: Int32Array, at: number, remoteAddr: Address, rkey: number): void {
  words[at + SendWqe.REMOTE_ADDR_LO] = lowWord(remoteAddr);
  words[at + SendWqe.REMOTE_ADDR_HI] = highWord(remoteAddr);
  words[at + SendWqe.RKEY] = rkey;
}

export function writeCompareAdd(words: Int32Array, at: number, value: Address): void {
  words[at + SendWqe.COMPARE_ADD_LO] = lowWord(value);
  words[at + SendWqe.COMPARE_ADD_HI] = highWord(value);
}

export function writeSwap(words: Int32Array, at: number, value: Address): void {
  words[at + SendWqe.SWAP_LO] = lowWord(value);
  words[at + SendWqe.SWAP_HI] = highWord(value);
}

/** Writes where a datagram goes: `handle` is the number of an address handle. */
export function writeDatagram(words: Int32Array, at: number, handle: number, qpn: number, qkey: number): void {
  words[at + SendWqe.ADDRESS_HANDLE] = handle;
  words[at + SendWqe.REMOTE_QPN] = qpn;
  words[at + SendWqe.REMOTE_QKEY] = qkey;
}

/** Writes which shared receive queue of the peer an XRC request is for. */
export function writeSharedQueue(words: Int32Array, at: number, srqn: number): void {
  words[at + SendWqe.REMOTE_QPN] = srqn;
}

export function writeFlush(words: Int32Array, at: number, length: number, type: number, level: number): void {
  words[at + FlushWqe.LENGTH] = length;
  // protocol/packets.md 1.3: placement type in bits 3..0, selectivity in 5..4.
  words[at + FlushWqe.FETH] = type | (level << 4);
}

/** Writes what a BIND_MW does: the window that has `rkey` gets `newRkey`, and opens a part of the region `lkey`. */
export function writeBind(
  words: Int32Array,
  at: number,
  rkey: number,
  newRkey: number,
  lkey: number,
  { addr = 0, length = 0, mwAccessFlags = 0 }: MwBindInfo,
): void {
  writeRemote(words, at, addr, rkey);
  words[at + SendWqe.IMM_DATA] = newRkey;
  words[at + BindWqe.LENGTH_LO] = lowWord(length);
  words[at + BindWqe.LENGTH_HI] = highWord(length);
  words[at + BindWqe.LKEY] = lkey;
  words[at + BindWqe.ACCESS] = mwAccessFlags;
}

/** Writes a scatter/gather entry. `at` is the word at which it begins. */
export function writeSge(words: Int32Array, at: number, addr: Address, length: number, lkey: number): void {
  words[at + SgeWords.ADDR_LO] = lowWord(addr);
  words[at + SgeWords.ADDR_HI] = highWord(addr);
  words[at + SgeWords.LENGTH] = length;
  words[at + SgeWords.LKEY] = lkey;
}

export function writeSgeList(words: Int32Array, at: number, list: readonly Sge[]): void {
  for (let i = 0; i < list.length; i += 1) {
    const { addr, length, lkey } = list[i];
    writeSge(words, at + i * SgeWords.SIZE, addr, length, lkey);
  }
}

/** Writes what every receive entry has. */
export function writeRecvHeader(words: Int32Array, at: number, wrId: WrId, numSge: number): void {
  words[at + RecvWqe.NUM_SGE] = numSge;
  words[at + RecvWqe.WR_ID_LO] = lowWord(wrId);
  words[at + RecvWqe.WR_ID_HI] = highWord(wrId);
}

/** Appends inline data to a send entry that has `already` bytes of it. */
export function writeInline(words: Int32Array, ring: Uint8Array, at: number, already: number, data: Uint8Array): void {
  const target = 4 * (at + SendWqe.DATA) + already;
  const { length } = data;
  if (length <= LOOP_COPY_BYTES) for (let i = 0; i < length; i += 1) ring[target + i] = data[i];
  else ring.set(data, target);
  words[at + SendWqe.CONTROL] |= SendFlags.INLINE << 8;
  words[at + SendWqe.INLINE_BYTES] = already + length;
}
