/** One JSON object a line, for programs. */
import type { PacketHeaders } from '../../device/wire/index.js';
import { cmJson } from './cm-fields.js';
import type { Examined } from './examine.js';

/** 64-bit values do not fit into JSON's numbers everywhere, so they are hexadecimal text. */
function replacer(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `0x${value.toString(16)}` : value;
}

/** A member of an object, after others; nothing where there is no value. */
function member(name: string, value: string | number | undefined): string {
  if (value === undefined) return '';
  return typeof value === 'number' ? `,"${name}":${value}` : `,"${name}":${JSON.stringify(value)}`;
}

const object = (name: string, value: unknown): string =>
  value === undefined ? '' : `,"${name}":${JSON.stringify(value, replacer)}`;

/** What of a packet is there; absent headers are left out. */
function headersOf({ name, bth, ...extensions }: PacketHeaders): string {
  const { deth, xrceth, feth, reth, atomicEth, aeth, atomicAck, immData, invalidateRkey } = extensions;
  const { opcode, solicited, migReq, padCount, tver, pkey, fecn, becn, reserved6, destQp } = bth;
  const { ackRequest, reserved7, psn } = bth;
  return (
    `,"opcode":"${name}","qpn":${destQp},"psn":${psn}` +
    `,"bth":{"opcode":${opcode},"solicited":${solicited},"migReq":${migReq},"padCount":${padCount},"tver":${tver}` +
    `,"pkey":${pkey},"fecn":${fecn},"becn":${becn},"reserved6":${reserved6},"destQp":${destQp}` +
    `,"ackRequest":${ackRequest},"reserved7":${reserved7},"psn":${psn}}` +
    object('deth', deth) +
    object('xrceth', xrceth) +
    object('feth', feth) +
    (reth ? `,"reth":{"va":"0x${reth.va.toString(16)}","rkey":${reth.rkey},"length":${reth.length}}` : '') +
    object('atomicEth', atomicEth) +
    (aeth ? `,"aeth":{"syndrome":${aeth.syndrome},"msn":${aeth.msn}}` : '') +
    object('atomicAck', atomicAck) +
    member('immData', immData) +
    member('invalidateRkey', invalidateRkey)
  );
}

/** A packet as JSON, made by hand: JSON.stringify takes three times as long. Headers that are not there are absent. */
export function formatJson(examined: Examined): string {
  const { number, timestampNs, timeNs, datagram, addresses, headers, payload, refusal, mad, cm, verdict } = examined;
  const { direction, interfaceId, comment, ethernet, vlan, tunnel, meaning, storedIcrc, expectedIcrc } = examined;
  const { roceVersion, ipv6, sourcePort, destPort, trafficClass, hopLimit, flowLabel, ipId, length } = datagram;
  return (
    `{"number":${number},"time":${timeNs / 1e9},"timestampNs":"${timestampNs}"` +
    member('direction', direction) +
    `,"interface":${interfaceId}` +
    member('comment', comment) +
    (ethernet ? `,"ethernet":{"source":"${ethernet.source}","destination":"${ethernet.destination}"}` : '') +
    object('vlan', vlan) +
    (tunnel === '' ? '' : `,"tunnel":"${tunnel}"`) +
    `,"roceVersion":${roceVersion},"source":"${addresses.source}","destination":"${addresses.destination}"` +
    (roceVersion === 2 ? `,"sourcePort":${sourcePort},"destPort":${destPort}` : '') +
    `,"trafficClass":${trafficClass},"hopLimit":${hopLimit}` +
    (ipv6 ? `,"flowLabel":${flowLabel}` : `,"ipId":${ipId}`) +
    `,"packetLength":${length}` +
    member('unreadable', refusal) +
    (headers === undefined ? '' : headersOf(headers)) +
    member('payloadLength', payload?.lengthBytes) +
    object('mad', mad?.header) +
    object('cm', cm && cmJson(cm)) +
    member('meaning', meaning) +
    `,"icrc":{"verdict":"${verdict}"${member('stored', storedIcrc)}${member('expected', expectedIcrc)}}}`
  );
}
