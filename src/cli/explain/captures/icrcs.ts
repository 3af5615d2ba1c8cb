/** Captures whose ICRCs do not count: made before the NIC fills them in, or changed afterwards. */
import {
  Aeth,
  CmAttribute,
  decodeCmMessage,
  hex,
  OpcodeBit,
  opcodeBits,
  PacketBit,
  type PacketTable,
} from '../../../device/wire/index.js';
import { wireOrder } from '../../dump/examine.js';
import { count } from '../numbers.js';
import type { CaptureFile } from './capture-file.js';

/** Something that was assumed or left out, in words and in fields. */
export interface Warning {
  readonly text: string;
  readonly fields: Readonly<Record<string, number | string>>;
}

/** Different PSNs that damage alone does not make. */
const MOST_PSNS = 3;

/** What a file has of one sender. */
interface Sender {
  right: number;
  wrong: number;
  /** The ICRC of all wrong packets, where they have the same; else undefined. */
  same: number | undefined;
  /** PSNs of wrong packets, up to {@link MOST_PSNS}, and lengths: a packet that is sent again has the same ICRC. */
  readonly psns: Set<number>;
  readonly lengths: Set<number>;
}

/** What is said in answer to a message of connection managers that came whole. */
const ANSWERS: ReadonlySet<number> = new Set([CmAttribute.REP, CmAttribute.RTU, CmAttribute.DREP]);
const SYNDROME_UNIT = 0x1000000;

/** Whether a packet shows that its receiver's packets came whole: it answers one of them, and does not refuse it. */
function isAnswer(table: PacketTable, row: number): boolean {
  const bits = table.bits(row);
  if ((bits & PacketBit.WRONG_ICRC) !== 0) return false;
  if ((bits & PacketBit.MAD) !== 0) return ANSWERS.has(decodeCmMessage(table.mad(row))?.attribute ?? -1);
  if ((opcodeBits[table.opcode(row)] & OpcodeBit.RESPONSE) === 0) return false;
  const aeth = table.aeth(row);
  return aeth < 0 || (Math.floor(aeth / SYNDROME_UNIT) & Aeth.KIND_MASK) === Aeth.ACK;
}

/** Hosts that a file shows to be answered. */
function answeredIn(table: PacketTable, { begin, endRow }: CaptureFile): Set<string> {
  const flows = new Set<number>();
  for (let row = begin; row < endRow; row += 1)
    if (!flows.has(table.flow(row)) && isAnswer(table, row)) flows.add(table.flow(row));
  return new Set([...flows].map((flow) => table.flows.destination(flow)));
}

function sendersOf(table: PacketTable, { begin, endRow }: CaptureFile): Map<string, Sender> {
  const senders = new Map<string, Sender>();
  const byFlow: (Sender | undefined)[] = [];
  for (let row = begin; row < endRow; row += 1) {
    const bits = table.bits(row);
    if ((bits & PacketBit.CUT) !== 0) continue;
    const flow = table.flow(row);
    let sender = byFlow[flow];
    if (sender === undefined) {
      const source = table.flows.source(flow);
      sender = senders.get(source) ?? { right: 0, wrong: 0, same: undefined, psns: new Set(), lengths: new Set() };
      senders.set(source, sender);
      byFlow[flow] = sender;
    }
    if ((bits & PacketBit.WRONG_ICRC) === 0) sender.right += 1;
    else {
      const icrc = table.icrc(row);
      sender.same = sender.wrong === 0 || sender.same === icrc ? icrc : undefined;
      sender.wrong += 1;
      if (sender.psns.size < MOST_PSNS) sender.psns.add(table.psn(row));
      if (sender.lengths.size < MOST_PSNS) sender.lengths.add(table.payloadBytes(row));
    }
  }
  return senders;
}

/**
 * Whether all wrong ICRCs of a sender are 0, or those of different packets are the same. Damage may change a PSN or two, but
 * no length.
 */
const isBlank = ({ right, wrong, same, psns, lengths }: Sender): boolean =>
  wrong > 0 && (same === 0 || (same !== undefined && right === 0 && (lengths.size > 1 || psns.size >= MOST_PSNS)));

/**
 * Takes packets for good whose ICRC is wrong for no fault of the wire: a sender's wrong ones are blank; or all of its packets
 * are wrong, and were answered; or all packets of a file are wrong, those of both directions. Other wrong packets came damaged.
 *
 * @returns a warning for each sender and file
 */
export function forgiveBlankIcrcs(files: readonly CaptureFile[], table: PacketTable): Warning[] {
  const warnings: Warning[] = [];
  for (const file of files) {
    const senders = sendersOf(table, file);
    const all = [...senders.values()];
    const isChanged = all.length > 1 && all.every(({ right, wrong }) => right === 0 && wrong > 0);
    if (all.every(({ wrong }) => wrong === 0)) continue;
    const answered = answeredIn(table, file);
    const forgiven = new Set<string>();
    for (const [source, sender] of senders) {
      const isUnderstood = sender.right === 0 && sender.psns.size > 1 && answered.has(source);
      if (!isChanged && !isBlank(sender) && !isUnderstood) continue;
      forgiven.add(source);
      const value = sender.same === undefined ? 'a wrong ICRC' : `ICRC ${hex(wireOrder(sender.same), 8)}`;
      const why = isBlank(sender)
        ? 'captured before the NIC fills it in, or by a NIC that does not compute it'
        : 'the capture was changed, or made before ICRCs are computed';
      warnings.push({
        text: `${count(sender.wrong, 'packet')} of ${source} with ${value} counted as if it were right: ${why}`,
        fields: { warning: 'icrc-ignored', file: file.name, source, packets: sender.wrong },
      });
    }
    if (forgiven.size === 0) continue;
    for (let row = file.begin; row < file.endRow; row += 1)
      if ((table.bits(row) & PacketBit.WRONG_ICRC) !== 0 && forgiven.has(table.flows.source(table.flow(row))))
        table.forgiveIcrc(row);
  }
  return warnings;
}
