/** One JSON object a line, for programs. */
import type { Packet } from '../../device/wire/index.js';
import { cmJson } from './cm-fields.js';
import type { Examined } from './examine.js';

/** 64-bit values do not fit into JSON's numbers everywhere, so they are hexadecimal text. */
function replacer(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `0x${value.toString(16)}` : value;
}

/** What of a packet is there; JSON leaves the absent headers out. */
function headersOf(packet: Packet) {
  const { name, bth, deth, xrceth, feth, reth, atomicEth, aeth, atomicAck, immData, invalidateRkey } = packet;
  return {
    opcode: name,
    qpn: bth.destQp,
    psn: bth.psn,
    bth,
    deth,
    xrceth,
    feth,
    reth,
    atomicEth,
    aeth,
    atomicAck,
    immData,
    invalidateRkey,
    payloadLength: packet.payload.length,
  };
}

/** A packet as JSON. Headers that are not there are absent. */
export function formatJson(examined: Examined): string {
  const { number, timestampNs, timeNs, datagram, addresses, packet, refusal, mad, verdict } = examined;
  const { direction, comment, meaning, storedIcrc, expectedIcrc } = examined;
  const { roceVersion, sourcePort, destPort, trafficClass, hopLimit, flowLabel, ipId } = datagram;
  const ip = datagram.ipv6 ? { flowLabel } : { ipId };
  return JSON.stringify(
    {
      number,
      time: Number(timeNs) / 1e9,
      timestampNs: String(timestampNs),
      direction,
      comment,
      roceVersion,
      source: addresses.source,
      destination: addresses.destination,
      ...(roceVersion === 2 && { sourcePort, destPort }),
      trafficClass,
      hopLimit,
      ...ip,
      packetLength: datagram.length,
      ...(refusal !== undefined && { unreadable: refusal }),
      ...(packet !== undefined && headersOf(packet)),
      ...(mad !== undefined && { mad: mad.header }),
      ...(mad?.cm !== undefined && { cm: cmJson(mad.cm) }),
      ...(meaning !== undefined && { meaning }),
      icrc: { verdict, stored: storedIcrc, expected: expectedIcrc },
    },
    replacer,
  );
}
