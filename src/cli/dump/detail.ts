/** Every field of every header, a header an indented line. */
import { ecnName, formatSyndrome, hex, type Packet, type RoceDatagram } from '../../device/wire/index.js';
import { cmDetailLines } from './cm-fields.js';
import type { Examined } from './examine.js';
import { formatVerdict } from './line.js';
import { formatMadHeader } from './mad.js';

/** Payload bytes that are shown. */
const PREVIEW_BYTES = 32;

const bit = (flag: boolean): string => (flag ? '1' : '0');

function ipLine({ source, destination }: Examined['addresses'], datagram: RoceDatagram): string {
  const { roceVersion, ipv6, trafficClass, hopLimit, flowLabel, ipId } = datagram;
  const ends = `src=${source} dst=${destination}`;
  if (!ipv6)
    return `IPv4 ${ends} tos=${hex(trafficClass, 2)} (${ecnName(trafficClass)}) ttl=${hopLimit} id=${hex(ipId, 4)}`;
  const name = roceVersion === 1 ? 'GRH' : 'IPv6';
  return `${name} ${ends} traffic_class=${hex(trafficClass, 2)} (${ecnName(trafficClass)}) hop_limit=${hopLimit} flow_label=${hex(flowLabel, 5)}`;
}

function bthLine({ name, bth }: Packet): string {
  return [
    `BTH opcode=${hex(bth.opcode, 2)} (${name})`,
    `solicited=${bit(bth.solicited)}`,
    `mig_req=${bit(bth.migReq)}`,
    `pad_count=${bth.padCount}`,
    `tver=${bth.tver}`,
    `pkey=${hex(bth.pkey, 4)}`,
    `fecn=${bit(bth.fecn)}`,
    `becn=${bit(bth.becn)}`,
    `reserved6=${bth.reserved6}`,
    `dest_qp=${hex(bth.destQp, 6)}`,
    `ack_req=${bit(bth.ackRequest)}`,
    `reserved7=${bth.reserved7}`,
    `psn=${hex(bth.psn, 6)}`,
  ].join(' ');
}

function extensionLines(packet: Packet): string[] {
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

function payloadLine({ payload, padding }: Packet): string {
  const shown = Buffer.from(payload.subarray(0, PREVIEW_BYTES)).toString('hex');
  const preview = payload.length === 0 ? '' : `: ${shown}${payload.length > PREVIEW_BYTES ? '...' : ''}`;
  return `payload ${payload.length} bytes, padding ${padding.length}${preview}`;
}

/** The lines that `-v` puts under a packet's own. */
export function formatDetail(examined: Examined): string {
  const { comment, datagram, addresses, packet, mad } = examined;
  const lines = comment === undefined ? [] : [`comment: ${comment}`];
  lines.push(ipLine(addresses, datagram));
  if (datagram.roceVersion === 2) {
    lines.push(`UDP src_port=${datagram.sourcePort} dst_port=${datagram.destPort} payload=${datagram.length}`);
  }
  if (packet !== undefined) {
    lines.push(bthLine(packet), ...extensionLines(packet));
    if (mad !== undefined) lines.push(formatMadHeader(mad.header), ...(mad.cm ? cmDetailLines(mad.cm) : []));
    lines.push(payloadLine(packet));
  }
  const stored = examined.storedIcrc;
  lines.push(`ICRC ${stored === undefined ? '' : `${hex(stored, 8)} `}${formatVerdict(examined)}`);
  return lines.map((line) => `    ${line}`).join('\n');
}
