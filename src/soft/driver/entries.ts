import { RecvWqe, SendWqe, SgeWords } from '../../nic/index.js';
import { SendFlags } from '../../spec/index.js';
import { type Address, highWord, lowWord, type Sge, type WrId } from '../../verbs/index.js';

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

/** Writes a scatter/gather entry. `at` is the word at which it begins. */
export function writeSge(words: Int32Array, at: number, addr: Address, length: number, lkey: number): void {
  words[at + SgeWords.ADDR_LO] = lowWord(addr);
  words[at + SgeWords.ADDR_HI] = highWord(addr);
  words[at + SgeWords.LENGTH] = length;
  words[at + SgeWords.LKEY] = lkey;
}

/** Writes a list of scatter/gather entries. */
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
