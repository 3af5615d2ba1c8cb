import {
  AccessFlags,
  DropReason,
  type Drops,
  flagNames,
  type NamedMemory,
  type Refusal,
  RefusalReason,
} from '../../../device/ibta/index.js';
import { formatMicroseconds, joinWords } from '../../../api/verbs/index.js';

const hex = (word: number | bigint): string => `0x${word.toString(16)}`;
const bytes = (n: number | bigint): string => `${n} byte${n === 1 || n === 1n ? '' : 's'}`;
/** Bits that an address may have been cut to: those of C's types first. */
const CUTS: readonly bigint[] = [32n, 31n, 28n, 24n, 40n];
const NO_MEMORY: NamedMemory = { rkey: 0, addrHi: 0, addrLo: 0, startHi: 0, startLo: 0, openBytes: 0 };

const BYTES_OF_ADDRESS = 8;

function reversed(address: bigint): bigint {
  let found = 0n;
  for (let byte = 0; byte < BYTES_OF_ADDRESS; byte += 1)
    found = (found << 8n) | ((address >> BigInt(8 * byte)) & 0xffn);
  return found;
}

/** Why the bytes are not all in the memory that the key opens, with the commonest mistake that leads there. */
function outside({ addrHi, addrLo, startHi, startLo, openBytes }: NamedMemory, lengthBytes: number): string {
  const address = joinWords(addrHi, addrLo);
  const start = joinWords(startHi, startLo);
  const end = start + BigInt(openBytes);
  const span = `the ${bytes(openBytes)} of that key, ${hex(start)} to ${hex(end)}`;
  const isInside = (other: bigint): boolean => other >= start && other < end;
  if (isInside(address)) return `the range ends ${bytes(address + BigInt(lengthBytes) - end)} past ${span}`;
  if (start === 0n) return `the range is not in ${span}: it is zero-based, so addresses are offsets`;
  if (address < BigInt(openBytes)) return `the range is not in ${span}: was an offset sent in place of an address?`;
  for (const bits of CUTS) {
    const mask = (1n << bits) - 1n;
    if (address > mask || start <= mask) continue;
    const cut = (other: bigint): boolean =>
      isInside((start & ~mask) | other) || isInside(((start & ~mask) + mask + 1n) | other);
    const what = `the range is not in ${span}, whose lower ${bits} bits fit`;
    if (cut(address)) return `${what}: was the address cut to ${bits} bits (htonl, uint32_t, int)?`;
    if (bits === 32n && cut(reversed(address) >> 32n))
      return `${what} in the other byte order: was the address cut by htonl?`;
  }
  if (isInside(reversed(address)))
    return `the range is not in ${span}; in the other byte order it is: does each side convert it once (be64toh)?`;
  return `the range is not in ${span}`;
}

function flags(access: number): string {
  return flagNames(AccessFlags, access).replaceAll('|', ' and ');
}

/** The causes, each in half a sentence that follows what was refused and a colon. */
const causes: Readonly<Record<RefusalReason, (refusal: Refusal, memory: NamedMemory) => string>> = {
  [RefusalReason.KEY_UNKNOWN]: () => 'no region or window ever had that key',
  [RefusalReason.KEY_ENDED]: ({ a }) => `that key was deregistered ${formatMicroseconds(a)} before`,
  [RefusalReason.KEY_OUTDATED]: () => 'the window of that key was bound again, and has a new key',
  [RefusalReason.KEY_LOCAL]: () => 'that is the lkey of a region; peers need its rkey',
  [RefusalReason.KEY_SWAPPED]: () => 'that is an rkey in the wrong byte order: does each side convert it once (ntohl)?',
  [RefusalReason.DOMAIN]: () => 'the key is of another protection domain than the QP',
  [RefusalReason.OTHER_QP]: ({ a }) => `the window is bound on QP ${hex(a)}, and only its peer may use it`,
  [RefusalReason.UNBOUND]: () => 'the window of that key is not bound to a region',
  [RefusalReason.ACCESS]: ({ a, b }) => `the memory of that key lacks ${flags(a)} (its access is ${flags(b)})`,
  [RefusalReason.RANGE]: ({ lengthBytes }, memory) => outside(memory, lengthBytes),
  [RefusalReason.MEMORY_GONE]: () => 'the buffer of that region was transferred or shrunk',
  [RefusalReason.QP_ACCESS]: ({ a, b }) => `the responder's qpAccessFlags lack ${flags(a)} (they are ${flags(b)})`,
  [RefusalReason.DEPTH]: ({ a }) =>
    a === 0
      ? "the responder's maxDestRdAtomic is 0: it takes no READs and no atomics"
      : `more READs and atomics were outstanding than the responder's maxDestRdAtomic of ${a}; the requester's maxRdAtomic may be no higher`,
  [RefusalReason.ALIGNMENT]: () => 'the address is not a multiple of 8',
  [RefusalReason.PACKET_LENGTH]: ({ a, b }) =>
    `a packet had ${bytes(a)}, and the responder's pathMtu is ${b}: are both the same?`,
  [RefusalReason.MESSAGE_LENGTH]: ({ a }) => `the WRITE announced ${bytes(a)}, and its packets have another number`,
  [RefusalReason.SEQUENCE]: ({ a }) =>
    a === 0
      ? 'the packet continues a message that was not begun'
      : 'the packet begins a message in the midst of another',
  [RefusalReason.RECEIVE_LENGTH]: ({ a, b }) =>
    `the message has at least ${bytes(a)}, and the receive request ${bytes(b)}: post longer ones, or send shorter messages`,
  [RefusalReason.OPCODE]: ({ opcode }) => `opcode ${hex(opcode)} is none of a request`,
  [RefusalReason.FIELDS]: () => 'header fields of the request have no meaning',
};

/** Why the NIC has refused a request of its peer, in half a sentence with the numbers. */
export function refusalCause(refusal: Refusal): string {
  return causes[refusal.reason](refusal, refusal.memory ?? NO_MEMORY);
}

/** Operations by the right that they need. */
const BY_ACCESS: Readonly<Partial<Record<number, string>>> = {
  [AccessFlags.REMOTE_WRITE]: 'RDMA_WRITE',
  [AccessFlags.REMOTE_READ]: 'RDMA_READ',
  [AccessFlags.REMOTE_ATOMIC]: 'an atomic',
};
/** Operations by the opcode of their packet, without the bits of the service (IBTA 9.2, table 38). */
const BY_OPCODE: Readonly<Partial<Record<number, string>>> = {
  ...Object.fromEntries([0, 1, 2, 3, 4, 5, 22, 23].map((opcode) => [opcode, 'SEND'])),
  ...Object.fromEntries([6, 7, 8, 9, 10, 11].map((opcode) => [opcode, 'RDMA_WRITE'])),
  12: 'RDMA_READ',
  19: 'ATOMIC_CMP_AND_SWP',
  20: 'ATOMIC_FETCH_AND_ADD',
  28: 'FLUSH',
  29: 'ATOMIC_WRITE',
};
const OPCODE_MASK = 0x1f;

/** What was refused: the operation, its length and the memory that it names. */
export function refusedRequest({ access, opcode, lengthBytes, memory, psn }: Refusal): string {
  const operation = BY_ACCESS[access] ?? (opcode < 0 ? 'FLUSH' : (BY_OPCODE[opcode & OPCODE_MASK] ?? 'a request'));
  const length = lengthBytes === 0 ? '' : ` of ${bytes(lengthBytes)}`;
  if (memory === undefined) return `${operation}${length}, PSN ${hex(psn)}`;
  return `${operation}${length} at ${hex(joinWords(memory.addrHi, memory.addrLo))} by rkey ${hex(memory.rkey)}`;
}

/** Bytes that come before each datagram in its receive request. */
const GRH_BYTES = 40;

const dropCauses: Readonly<Record<DropReason, (drops: Drops) => string>> = {
  [DropReason.NO_RECEIVE]: () => 'no receive request was posted',
  [DropReason.TOO_LONG]: ({ a, b }) =>
    `it needs ${bytes(a)} (a datagram has ${GRH_BYTES} of GRH in front), the receive request has ${b}`,
  [DropReason.QKEY]: ({ a, b }) => `its Q_Key is ${hex(a)}, that of the QP ${hex(b)}`,
  [DropReason.MTU]: ({ a, b }) => `it has ${bytes(a)}, and the MTU of the port is ${b}`,
  [DropReason.ACCESS]: () => 'it is a WRITE to memory that its key or the qpAccessFlags do not open',
  [DropReason.LOSS]: () => 'a packet of it was lost, which an unreliable service does not repeat',
};

/** What was dropped without a word, and why. */
export function dropSentence(drops: Drops): string {
  const { count, reason } = drops;
  const messages = count === 1 ? 'dropped a message' : `dropped ${count} messages, the last because`;
  return `${messages}${count === 1 ? ': ' : ' '}${dropCauses[reason](drops)}`;
}
