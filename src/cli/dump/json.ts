/** One JSON object a line, for programs. */
import type { PacketHeaders } from '../../device/wire/index.js';
import { cmJson } from './cm-fields.js';
import type { Examined } from './examine.js';

/** 64-bit values do not fit into JSON's numbers everywhere, so they are hexadecimal text. */
function replacer(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `0x${value.toString(16)}` : value;
}

const text64 = (value: bigint): string => `0x${value.toString(16)}`;

/** What of a packet is there; JSON leaves the absent headers out. */
function headersOf(headers: PacketHeaders) {
  const { name, bth, deth, xrceth, feth, reth, atomicEth, aeth, atomicAck, immData, invalidateRkey } = headers;
  return {
    opcode: name,
    qpn: bth.destQp,
    psn: bth.psn,
    bth,
    deth,
    xrceth,
    feth,
    reth: reth && { ...reth, va: text64(reth.va) },
    atomicEth: atomicEth && {
      ...atomicEth,
      va: text64(atomicEth.va),
      swap: text64(atomicEth.swap),
      compare: text64(atomicEth.compare),
    },
    aeth,
    atomicAck: atomicAck && { original: text64(atomicAck.original) },
    immData,
    invalidateRkey,
  };
}

/** A packet as JSON. Headers that are not there are absent. */
export function formatJson(examined: Examined): string {
  const { number, timestampNs, timeNs, datagram, addresses, headers, payload, refusal, mad, cm, verdict } = examined;
  const { direction, interfaceId, comment, ethernet, vlan, tunnel, meaning, storedIcrc, expectedIcrc } = examined;
  const { roceVersion, ipv6, sourcePort, destPort, trafficClass, hopLimit, flowLabel, ipId } = datagram;
  const hasUdp = roceVersion === 2;
  const json = {
    number,
    time: timeNs / 1e9,
    timestampNs: String(timestampNs),
    direction,
    interface: interfaceId,
    comment,
    ethernet,
    vlan,
    tunnel: tunnel === '' ? undefined : tunnel,
    roceVersion,
    source: addresses.source,
    destination: addresses.destination,
    sourcePort: hasUdp ? sourcePort : undefined,
    destPort: hasUdp ? destPort : undefined,
    trafficClass,
    hopLimit,
    flowLabel: ipv6 ? flowLabel : undefined,
    ipId: ipv6 ? undefined : ipId,
    packetLength: datagram.length,
    unreadable: refusal,
    ...(headers !== undefined && headersOf(headers)),
    payloadLength: payload?.lengthBytes,
    mad: mad?.header,
    cm: cm && cmJson(cm),
    meaning,
    icrc: { verdict, stored: storedIcrc, expected: expectedIcrc },
  };
  // The replacer takes as long as all the rest, and only management datagrams need it.
  return mad === undefined ? JSON.stringify(json) : JSON.stringify(json, replacer);
}
