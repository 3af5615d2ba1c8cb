/** Captures whose ICRCs do not count: made before the NIC fills them in, or changed afterwards. */
import { hex, PacketBit, type PacketTable } from '../../../device/wire/index.js';
import { wireOrder } from '../../dump/examine.js';
import { count } from '../numbers.js';
import type { CaptureFile } from './capture-file.js';

/** Something that was assumed or left out, in words and in fields. */
export interface Warning {
  readonly text: string;
  readonly fields: Readonly<Record<string, number | string>>;
}

/** What a file has of one sender. */
interface Sender {
  right: number;
  wrong: number;
  /** The ICRC of all wrong packets, where they have the same; else undefined. */
  same: number | undefined;
  /** The PSN of the first wrong packet, and whether others have another: a packet that is sent again has the same ICRC. */
  psn: number;
  differs: boolean;
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
      sender = senders.get(source) ?? { right: 0, wrong: 0, same: undefined, psn: table.psn(row), differs: false };
      senders.set(source, sender);
      byFlow[flow] = sender;
    }
    if ((bits & PacketBit.WRONG_ICRC) === 0) sender.right += 1;
    else {
      const icrc = table.icrc(row);
      sender.same = sender.wrong === 0 || sender.same === icrc ? icrc : undefined;
      if (sender.wrong === 0) sender.psn = table.psn(row);
      sender.differs ||= sender.psn !== table.psn(row);
      sender.wrong += 1;
    }
  }
  return senders;
}

/** Whether no packet of a sender has a right ICRC, and all have the same or 0. */
const isBlank = ({ right, same, differs }: Sender): boolean =>
  right === 0 && same !== undefined && (differs || same === 0);

/**
 * Takes packets for good whose ICRC is wrong for no fault of the wire: all of a sender's are blank, or all packets of a file
 * are wrong, those of both directions. Where a file tells one wrong packet from right ones, it came damaged.
 *
 * @returns a warning for each sender and file
 */
export function forgiveBlankIcrcs(files: readonly CaptureFile[], table: PacketTable): Warning[] {
  const warnings: Warning[] = [];
  for (const file of files) {
    const senders = sendersOf(table, file);
    const all = [...senders.values()];
    const isChanged = all.length > 1 && all.every(({ right, wrong }) => right === 0 && wrong > 0);
    const forgiven = new Set<string>();
    for (const [source, sender] of senders) {
      if (!isChanged && !isBlank(sender)) continue;
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
