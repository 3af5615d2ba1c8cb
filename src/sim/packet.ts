import { rnrTimerUs } from '../device/ibta/index.js';
import {
  Aeth,
  CmAttribute,
  type CmMessage,
  decodeCmMessage,
  decodePacket,
  formatPacket,
  NakCode,
  type Opcode,
  type Packet,
} from '../device/wire/index.js';
import { fieldsProblem, nameAdvice, refuse } from '../api/verbs/index.js';

/** Names that a script writes, and may write wrongly. */

export { nameAdvice as adviceFor };

/** @throws VerbsError EINVAL for a field that does not exist: what it was to change would stay as it is */
export function checkFields(call: string, what: string, given: object, names: readonly string[]): void {
  refuse(call, fieldsProblem(what, given, Object.fromEntries(names.map((name) => [name, true]))));
}

/** Name of a BTH opcode: `RC_SEND_ONLY`. */
export type OpcodeName = keyof typeof Opcode;
/** What a packet of opcode ACKNOWLEDGE says. */
export type AckKind = 'ACK' | 'NAK' | 'RNR_NAK';
/** Why a responder refused. */
export type NakName = keyof typeof NakCode;
/** Name of a message of the connection manager. */
export type CmName = keyof typeof CmAttribute;

/** What can be read out of a packet's bytes. A field whose header the packet does not have is absent. */
export interface PacketFields {
  /** `UNKNOWN_0x..` for one that nobody defined. */
  readonly opcode: OpcodeName | `UNKNOWN_${string}`;
  /** The queue pair it is for. */
  readonly qpn: number;
  /** 24 bits. */
  readonly psn: number;
  readonly ackRequest: boolean;
  readonly solicited: boolean;
  /** Of packets with opcode ACKNOWLEDGE: what kind it is. */
  readonly ack?: AckKind;
  /** Of a NAK: why. */
  readonly nak?: NakName;
  /** Of an RNR NAK: how long its sender asks to be left alone, in µs. */
  readonly rnrTimerUs?: number;
  /** AETH, of acknowledgements and responses. */
  readonly syndrome?: number;
  readonly msn?: number;
  /** RETH and AtomicETH: the memory that is asked for. */
  readonly remoteAddr?: bigint;
  readonly rkey?: number;
  /** RETH: bytes of the whole message. */
  readonly length?: number;
  readonly immData?: number;
  readonly invalidateRkey?: number;
  /** DETH, of datagrams. */
  readonly srcQp?: number;
  readonly qkey?: number;
  /** XRCETH. */
  readonly srqn?: number;
  /** Which message of the connection manager it is, if it is one, */
  readonly cm?: CmName;
  /** and all that it says. */
  readonly cmMessage?: CmMessage;
  /** Without padding. A view: do not write to it. */
  readonly payload: Uint8Array;
  /** It on one line, as `verbena dump` writes it. */
  readonly text: string;
}

const GSI_QPN = 1;
const NO_PAYLOAD = new Uint8Array(0);

const cmNames = new Map(Object.entries(CmAttribute).map(([name, value]) => [value, name as CmName])); // keys of that object
const nakNames = new Map<number, NakName>(Object.entries(NakCode).map(([name, value]) => [value, name as NakName])); // likewise

const ackKinds: ReadonlyMap<number, AckKind> = new Map<number, AckKind>([
  [Aeth.ACK, 'ACK'],
  [Aeth.NAK, 'NAK'],
  [Aeth.RNR_NAK, 'RNR_NAK'],
]);

/** Only of acknowledgements: that a response acknowledges as well is the smaller part of it. */
function ackFields({ name, aeth }: Packet): Pick<PacketFields, 'ack' | 'nak' | 'rnrTimerUs'> {
  if (aeth === undefined || !/^(RC|XRC)_ACKNOWLEDGE$/.test(name)) return {};
  const ack = ackKinds.get(aeth.syndrome & Aeth.KIND_MASK);
  const value = aeth.syndrome & Aeth.VALUE_MASK;
  const nak = ack === 'NAK' ? nakNames.get(value) : undefined;
  return {
    ...(ack && { ack }),
    ...(nak && { nak }),
    ...(ack === 'RNR_NAK' && { rnrTimerUs: rnrTimerUs(value) }),
  };
}

function cmFields({ bth, deth, payload }: Packet): Pick<PacketFields, 'cm' | 'cmMessage'> {
  const cmMessage = deth === undefined || bth.destQp !== GSI_QPN ? undefined : decodeCmMessage(payload);
  const cm = cmMessage && cmNames.get(cmMessage.attribute);
  return cm === undefined || cmMessage === undefined ? {} : { cm, cmMessage };
}

/** Reads a packet, BTH to ICRC. Never throws: of what cannot be read there is an opcode, and a text that says why. */
export function packetFields(bytes: Uint8Array): PacketFields {
  const packet = decodePacket(bytes);
  if ('refusal' in packet) {
    const opcode = `UNKNOWN_0x${(bytes.at(0) ?? 0).toString(16).padStart(2, '0')}` as const;
    const none = { qpn: 0, psn: 0, ackRequest: false, solicited: false, payload: NO_PAYLOAD };
    return { opcode, ...none, text: `${opcode}: ${packet.refusal}` };
  }
  const { bth, aeth, reth, atomicEth, deth, xrceth, immData, invalidateRkey, payload } = packet;
  const memory = reth ?? atomicEth;
  const cm = cmFields(packet);
  return {
    // decodePacket refuses opcodes that have no name.
    opcode: packet.name as OpcodeName,
    qpn: bth.destQp,
    psn: bth.psn,
    ackRequest: bth.ackRequest,
    solicited: bth.solicited,
    ...ackFields(packet),
    ...(aeth && { syndrome: aeth.syndrome, msn: aeth.msn }),
    ...(memory && { remoteAddr: memory.va, rkey: memory.rkey }),
    ...(reth && { length: reth.length }),
    ...(immData !== undefined && { immData }),
    ...(invalidateRkey !== undefined && { invalidateRkey }),
    ...(deth && { srcQp: deth.sourceQp, qkey: deth.qkey }),
    ...(xrceth && { srqn: xrceth.srqn }),
    ...cm,
    payload,
    text: `${formatPacket(bytes, 0, payload.length)}${cm.cm === undefined ? '' : ` cm{${cm.cm}}`}`,
  };
}
