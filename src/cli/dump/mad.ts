/** Names for the management datagrams that UD packets to QP 1 carry (PROTOCOL.md 4.1). */
import type { Packet } from '../../wire/index.js';

const GSI_QPN = 1;
const MAD_HEADER_BYTES = 24;
const BASE_VERSION = 1;
const CLASS_CM = 0x07;

const CLASS_NAMES: Readonly<Record<number, string | undefined>> = { 0x03: 'SA', 0x04: 'Perf', [CLASS_CM]: 'CM' };

const CM_ATTRIBUTE_NAMES: Readonly<Record<number, string | undefined>> = {
  0x10: 'REQ',
  0x11: 'MRA',
  0x12: 'REJ',
  0x13: 'REP',
  0x14: 'RTU',
  0x15: 'DREQ',
  0x16: 'DREP',
  0x17: 'SIDR_REQ',
  0x18: 'SIDR_REP',
  0x19: 'LAP',
  0x1a: 'APR',
};

/** The header that all management datagrams begin with, as far as it tells what they are. */
export interface Mad {
  readonly managementClass: number;
  readonly className?: string;
  readonly method: number;
  readonly transactionId: bigint;
  readonly attributeId: number;
  readonly attributeName?: string;
}

/** The management datagram in a packet, if it has one. */
export function madOf(packet: Packet): Mad | undefined {
  const { payload } = packet;
  if (packet.deth === undefined || packet.bth.destQp !== GSI_QPN) return undefined;
  if (payload.length < MAD_HEADER_BYTES || payload[0] !== BASE_VERSION) return undefined;
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  const managementClass = view.getUint8(1);
  const attributeId = view.getUint16(16);
  const className = CLASS_NAMES[managementClass];
  const attributeName = managementClass === CLASS_CM ? CM_ATTRIBUTE_NAMES[attributeId] : undefined;
  return {
    managementClass,
    ...(className !== undefined && { className }),
    method: view.getUint8(3),
    transactionId: view.getBigUint64(8),
    attributeId,
    ...(attributeName !== undefined && { attributeName }),
  };
}
