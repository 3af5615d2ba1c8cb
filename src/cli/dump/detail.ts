/** Every field of every header, a header an indented line. */
import {
  ecnName,
  formatSyndrome,
  getU16,
  hex,
  type PacketHeaders,
  type PacketView,
  type RoceDatagram,
} from '../../device/wire/index.js';
import { cmDetailLines } from './cm-fields.js';
import type { Examined } from './examine.js';
import { formatVerdict } from './line.js';
import { formatMadHeader } from './mad.js';

/** Payload bytes that are shown. */
const PREVIEW_BYTES = 32;

const bit = (flag: boolean): string => (flag ? '1' : '0');

const DONT_FRAGMENT = 0x4000;

function ipLine({ source, destination }: Examined['addresses'], datagram: RoceDatagram, bytes: Uint8Array): string {
  const { roceVersion, ipv6, trafficClass, hopLimit, flowLabel, ipId, ipOffset } = datagram;
  const ends = `src=${source} dst=${destination}`;
  if (!ipv6)
    return (
      `IPv4 ${ends} tos=${hex(trafficClass, 2)} (${ecnName(trafficClass)}) ttl=${hopLimit} id=${hex(ipId, 4)}` +
      ` df=${bit((getU16(bytes, ipOffset + 6) & DONT_FRAGMENT) !== 0)} total_length=${getU16(bytes, ipOffset + 2)}`
    );
  const name = roceVersion === 1 ? 'GRH' : 'IPv6';
  return `${name} ${ends} traffic_class=${hex(trafficClass, 2)} (${ecnName(trafficClass)}) hop_limit=${hopLimit} flow_label=${hex(flowLabel, 5)}`;
}

function bthLine({ name, bth }: PacketHeaders): string {
  return (
    `BTH opcode=${hex(bth.opcode, 2)} (${name}) solicited=${bit(bth.solicited)} mig_req=${bit(bth.migReq)}` +
    ` pad_count=${bth.padCount} tver=${bth.tver} pkey=${hex(bth.pkey, 4)} fecn=${bit(bth.fecn)}` +
    ` becn=${bit(bth.becn)} reserved6=${bth.reserved6} dest_qp=${hex(bth.destQp, 6)}` +
    ` ack_req=${bit(bth.ackRequest)} reserved7=${bth.reserved7} psn=${hex(bth.psn, 6)}`
  );
}

function extensionLines(packet: PacketHeaders): string[] {
  const { deth, xrceth, feth, reth, atomicEth, aeth, atomicAck, immData, invalidateRkey } = packet;
  const lines: string[] = [];
  if (deth) lines.push(`DETH qkey=${hex(deth.qkey, 8)} reserved=${deth.reserved} src_qp=${hex(deth.sourceQp, 6)}`);
  if (xrceth) lines.push(`XRCETH reserved=${xrceth.reserved} srqn=${hex(xrceth.srqn, 6)}`);
  if (feth) {
    lines.push(`FETH placement=${feth.placement} selectivity=${feth.selectivity} reserved=${feth.reserved}`);
  }
  if (reth) lines.push(`RETH va=${hex(reth.va, 16)} rkey=${hex(reth.rkey, 8)} dma_length=${reth.length}`);
  if (atomicEth) {
    const { va, rkey, swap, compare } = atomicEth;
    const values = `swap_or_add=${hex(swap, 16)} compare=${hex(compare, 16)}`;
    lines.push(`AtomicETH va=${hex(va, 16)} rkey=${hex(rkey, 8)} ${values}`);
  }
  if (aeth) lines.push(`AETH syndrome=${hex(aeth.syndrome, 2)} (${formatSyndrome(aeth.syndrome)}) msn=${aeth.msn}`);
  if (atomicAck) lines.push(`AtomicAckETH original=${hex(atomicAck.original, 16)}`);
  if (immData !== undefined) lines.push(`ImmDt ${hex(immData, 8)}`);
  if (invalidateRkey !== undefined) lines.push(`IETH rkey=${hex(invalidateRkey, 8)}`);
  return lines;
}

function payloadLine({ lengthBytes, padding, bytes }: NonNullable<Examined['payload']>): string {
  const shown = Buffer.from(bytes.subarray(0, PREVIEW_BYTES)).toString('hex');
  const preview = lengthBytes === 0 ? '' : `: ${shown}${lengthBytes > PREVIEW_BYTES ? '...' : ''}`;
  return `payload ${lengthBytes} bytes, padding ${padding}${preview}`;
}

/** Ethernet addresses, VLAN tag, tunnel and interface. */
function linkLines({ ethernet, vlan, tunnel, interfaceId }: Examined): string[] {
  const lines: string[] = [];
  const seenOn = interfaceId === 0 ? '' : ` interface=${interfaceId}`;
  if (ethernet) lines.push(`Ethernet src=${ethernet.source} dst=${ethernet.destination}${seenOn}`);
  else if (interfaceId !== 0) lines.push(`frame interface=${interfaceId}`);
  if (vlan) lines.push(`VLAN id=${vlan.id} pcp=${vlan.pcp} dei=${vlan.dei}`);
  if (tunnel !== '') lines.push(`tunnel ${tunnel}`);
  return lines;
}

/** The lines that `-v` puts under a packet's own. */
export function formatDetail(examined: Examined, view: PacketView): string {
  const { comment, datagram, addresses, headers, payload, mad, cm, storedIcrc } = examined;
  const lines = comment === undefined ? [] : [`comment: ${comment}`];
  lines.push(...linkLines(examined), ipLine(addresses, datagram, view.bytes));
  if (datagram.roceVersion === 2) {
    const checksum = hex(getU16(view.bytes, datagram.offset - 2), 4);
    lines.push(
      `UDP src_port=${datagram.sourcePort} dst_port=${datagram.destPort} payload=${datagram.length} checksum=${checksum}`,
    );
  }
  if (headers !== undefined) lines.push(bthLine(headers), ...extensionLines(headers));
  if (mad !== undefined) lines.push(formatMadHeader(mad.header), ...(cm ? cmDetailLines(cm) : []));
  if (payload !== undefined) lines.push(payloadLine(payload));
  lines.push(`ICRC ${storedIcrc === undefined ? '' : `${hex(storedIcrc, 8)} `}${formatVerdict(view)}`);
  return `    ${lines.join('\n    ')}`;
}
