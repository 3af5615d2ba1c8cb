import { AccessFlags, type AhAttr, type Gid, gidFromIp, QpState, QpType, WrOpcode } from '../../ibta/index.js';
import { crc32, createPath, dethOffset, sealIcrc, writeDeth } from '../../wire/index.js';
import type { QpOptions, TestHost, TestMr } from './host.js';
import { craft, type Crafted } from './pair.js';
import { ahAttrTo, type TestQp } from './qp.js';
import type { SendRequest } from './rings.js';

export const QKEY = 0x1234567;
/** Bytes before the payload in a receive buffer (protocol/packets.md 1.6). */
export const HEADER_BYTES = 40;
export const SQ_PSN = 0x3000;

export interface UdOptions extends QpOptions {
  readonly qkey?: number;
  readonly pkeyIndex?: number;
  /** How far it goes on its way from RESET to RTS; default: to RTS. */
  readonly until?: QpState;
}

/** A UD QP, in RTS unless the options say otherwise. */
export function udQp(host: TestHost, options: UdOptions = {}): TestQp {
  const qp = host.qp({ ...options, type: QpType.UD });
  const { pkeyIndex = 0, qkey = QKEY, until = QpState.RTS } = options;
  if (until >= QpState.INIT) qp.modify({ qpState: QpState.INIT, pkeyIndex, portNum: 1, qkey });
  if (until >= QpState.RTR) qp.modify({ qpState: QpState.RTR });
  if (until >= QpState.RTS) qp.modify({ qpState: QpState.RTS, sqPsn: SQ_PSN });
  return qp;
}

/** An address handle of `host` for `gid`. */
export function ahTo(host: TestHost, gid: Gid, route: Partial<NonNullable<AhAttr['grh']>> = {}, pd = host.pd): number {
  const attr = ahAttrTo(gid);
  return host.nic.control.createAh(pd, { ...attr, grh: { ...attr.grh, ...route } });
}

export interface Destination {
  readonly ah: number;
  readonly qpn: number;
  readonly qkey?: number;
}

/** Posts a datagram, by default a SEND. @returns its wr_id */
export function postTo(qp: TestQp, { ah, qpn, qkey }: Destination, request: Partial<SendRequest>): bigint {
  return qp.post({
    opcode: WrOpcode.SEND,
    addressHandle: ah,
    remoteQpn: qpn,
    remoteQkey: qkey ?? QKEY,
    ...request,
  });
}

/** Memory for one datagram of up to `payloadBytes`, posted to `qp`. */
export function postBuffer(qp: TestQp, payloadBytes: number): TestMr {
  const mr = qp.host.mr(HEADER_BYTES + payloadBytes, { access: AccessFlags.LOCAL_WRITE });
  qp.recv(mr);
  return mr;
}

/** The first bytes of the payload in a receive buffer. */
export function payloadOf(mr: TestMr, length = mr.length - HEADER_BYTES): Uint8Array {
  return mr.bytes.slice(HEADER_BYTES, HEADER_BYTES + length);
}

export interface CraftedDatagram extends Crafted {
  readonly qkey?: number;
  readonly sourceQp?: number;
}

export function craftDatagram(from: string, to: string, fields: CraftedDatagram): Uint8Array {
  const bytes = craft(from, to, fields);
  writeDeth(bytes, dethOffset[fields.opcode], fields.qkey ?? QKEY, fields.sourceQp ?? 0x99);
  const path = createPath({ sgid: gidFromIp(from), dgid: gidFromIp(to) });
  sealIcrc(crc32, path, bytes, 0, bytes.length, 0);
  return bytes;
}
