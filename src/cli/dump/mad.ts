/** The management datagrams that UD packets to QP 1 carry (protocol/connections.md 4.1). */
import {
  CmAttribute,
  type CmMessage,
  decodeCmMessage,
  hex,
  MAD_BASE_VERSION,
  MAD_HEADER_BYTES,
  MadClass,
  type MadHeader,
  type Packet,
  readMadHeader,
} from '../../device/wire/index.js';
import { nameOf } from '../../entry/index.js';
import { formatCmMessage } from './cm-line.js';

const GSI_QPN = 1;

/** A management datagram, as far as it is known. */
export interface Mad {
  readonly header: MadHeader;
  readonly cm?: CmMessage;
}

/**
 * The management datagram in a packet, if it has one.
 *
 * @param payload as much of the packet's payload as there is
 */
export function madOf({ deth, bth }: Packet, payload: Uint8Array): Mad | undefined {
  if (deth === undefined || bth.destQp !== GSI_QPN || payload.length < MAD_HEADER_BYTES) return undefined;
  const header = readMadHeader(payload, 0);
  if (header.baseVersion !== MAD_BASE_VERSION) return undefined;
  const cm = decodeCmMessage(payload);
  return { header, ...(cm !== undefined && { cm }) };
}

/** ` (SA)`, or nothing where there is no name. */
function parenthesis(constants: Readonly<Record<string, number>>, value: number): string {
  const name = nameOf(constants, value);
  return name === String(value) ? '' : ` (${name})`;
}

function formatClass({ mgmtClass }: MadHeader): string {
  return `class=${hex(mgmtClass, 2)}${parenthesis(MadClass, mgmtClass)}`;
}

function formatAttribute({ mgmtClass, attributeId }: MadHeader): string {
  return `attr=${hex(attributeId, 4)}${mgmtClass === MadClass.CM ? parenthesis(CmAttribute, attributeId) : ''}`;
}

/** What matters of it: the connection manager's message, or else `mad{class=0x03 (SA) method=0x02 attr=0x0038}`. */
export function formatMad({ header, cm }: Mad): string {
  if (cm !== undefined) return formatCmMessage(cm);
  return `mad{${formatClass(header)} method=${hex(header.method, 2)} ${formatAttribute(header)}}`;
}

export function formatMadHeader(header: MadHeader): string {
  return [
    `MAD base_version=${header.baseVersion}`,
    formatClass(header),
    `class_version=${header.classVersion}`,
    `method=${hex(header.method, 2)}`,
    `status=${hex(header.status, 4)}`,
    `class_specific=${hex(header.classSpecific, 4)}`,
    `transaction_id=${hex(header.transactionId, 16)}`,
    formatAttribute(header),
    `attr_modifier=${hex(header.attributeModifier, 8)}`,
  ].join(' ');
}
