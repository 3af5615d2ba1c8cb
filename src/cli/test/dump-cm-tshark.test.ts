import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { CmAttribute, encodePacket, MAD_HEADER_BYTES, readCapture } from '../../device/wire/index.js';
import { goldenFile, goldenNames, goldenPackets } from '../../device/wire/test/golden.js';
import { decoded } from '../../device/wire/test/support.js';
import { readByDump, readByTshark, tsharkFields, valueAt, withoutTshark, writeCapture } from './tshark.js';

/** How tshark writes a field: as a number, as bytes, or as an IPv4 address. */
type Kind = 'number' | 'bytes' | 'ipv4';
/** Our field, tshark's after `infiniband.`, and its kind if it is not a number. */
type Row = readonly [ours: string, theirs: string, kind?: Kind];

const MAD: readonly Row[] = [
  ['mad.baseVersion', 'mad.baseversion'],
  ['mad.mgmtClass', 'mad.mgmtclass'],
  ['mad.classVersion', 'mad.classversion'],
  ['mad.method', 'mad.method'],
  ['mad.status', 'mad.status'],
  ['mad.classSpecific', 'mad.classspecific'],
  ['mad.transactionId', 'mad.transactionid'],
  ['mad.attributeId', 'mad.attributeid'],
  ['mad.attributeModifier', 'mad.attributemodifier'],
];

const path = (ours: string, theirs: string): Row[] => [
  [`${ours}.localLid`, `${theirs}_locallid`],
  [`${ours}.remoteLid`, `${theirs}_remotelid`],
  [`${ours}.trafficClass`, `${theirs}_tfcclass`],
  [`${ours}.hopLimit`, `${theirs}_hoplim`],
  [`${ours}.sl`, `${theirs}_sl`],
  [`${ours}.subnetLocal`, `${theirs}_subnetlocal`],
  [`${ours}.localAckTimeout`, `${theirs}_localacktout`],
];

/**
 * What tshark knows of each message. Left out: flow label and packet rate, which it takes from three bytes of their word
 * (Wireshark 4.0), and the messages that it does not look into.
 */
const MESSAGES: Readonly<Record<string, readonly Row[]>> = {
  REQ: [
    ['cm.localCommId', 'cm.req'],
    ['cm.serviceId', 'cm.req.serviceid'],
    ['cm.service.port', 'cm.req.serviceid.dport'],
    ['cm.localCaGuid', 'cm.req.localcaguid'],
    ['cm.localQkey', 'cm.req.localqkey'],
    ['cm.localQpn', 'cm.req.localqpn'],
    ['cm.responderResources', 'cm.req.responderres'],
    ['cm.localEecn', 'cm.req.localeecn'],
    ['cm.initiatorDepth', 'cm.req.initdepth'],
    ['cm.remoteEecn', 'cm.req.remoteeecn'],
    ['cm.remoteCmResponseTimeout', 'cm.req.remoteresptout'],
    ['cm.transportType', 'cm.req.transpsvctype'],
    ['cm.endToEndFlowControl', 'cm.req.e2eflowctrl'],
    ['cm.startingPsn', 'cm.req.startpsn'],
    ['cm.localCmResponseTimeout', 'cm.req.localresptout'],
    ['cm.retryCount', 'cm.req.retrcount'],
    ['cm.pkey', 'cm.req.pkey'],
    ['cm.pathMtu', 'cm.req.pppmtu'],
    ['cm.rdcExists', 'cm.req.rdcexist'],
    ['cm.rnrRetryCount', 'cm.req.rnrretrcount'],
    ['cm.maxCmRetries', 'cm.req.maxcmretr'],
    ['cm.srq', 'cm.req.srq'],
    ['cm.extendedTransportType', 'cm.req.ext_transport'],
    ...path('cm.primaryPath', 'cm.req.prim'),
    ...path('cm.alternatePath', 'cm.req.alt'),
    ['cm.primaryPath.localGid', 'cm.req.prim_localgid_ipv4', 'ipv4'],
    ['cm.primaryPath.remoteGid', 'cm.req.prim_remotegid_ipv4', 'ipv4'],
    ['cm.addresses.ipVersion', 'cm.req.ip_cm.ipv'],
    ['cm.addresses.sourcePort', 'cm.req.ip_cm.sport'],
    ['cm.addresses.source', 'cm.req.ip_cm.sip4', 'ipv4'],
    ['cm.addresses.destination', 'cm.req.ip_cm.dip4', 'ipv4'],
  ],
  REP: [
    ['cm.localCommId', 'cm.rep'],
    ['cm.remoteCommId', 'cm.rep.remotecommid'],
    ['cm.localQkey', 'cm.rep.localqkey'],
    ['cm.localQpn', 'cm.rep.localqpn'],
    ['cm.localEecn', 'cm.rep.localeecn'],
    ['cm.startingPsn', 'cm.rep.startpsn'],
    ['cm.responderResources', 'cm.rep.respres'],
    ['cm.initiatorDepth', 'cm.rep.initdepth'],
    ['cm.targetAckDelay', 'cm.rep.tgtackdelay'],
    ['cm.failoverAccepted', 'cm.rep.failoveracc'],
    ['cm.endToEndFlowControl', 'cm.rep.e2eflowctrl'],
    ['cm.rnrRetryCount', 'cm.rep.rnrretrcount'],
    ['cm.srq', 'cm.rep.srq'],
    ['cm.localCaGuid', 'cm.rep.localcaguid'],
    ['cm.privateData', 'cm.rep.private', 'bytes'],
  ],
  RTU: [
    ['cm.localCommId', 'cm.rtu.localcommid'],
    ['cm.remoteCommId', 'cm.rtu.remotecommid'],
    ['cm.privateData', 'cm.rtu.private', 'bytes'],
  ],
  REJ: [
    ['cm.localCommId', 'cm.rej.localcommid'],
    ['cm.remoteCommId', 'cm.rej.remotecommid'],
    ['cm.messageRejected', 'cm.rej.msgrej'],
    ['cm.rejectedInfoLength', 'cm.rej.rejinfolen'],
    ['cm.reason', 'cm.rej.reason'],
    ['cm.additionalInfo', 'cm.rej.ari', 'bytes'],
    ['cm.privateData', 'cm.rej.private', 'bytes'],
  ],
  DREQ: [
    ['cm.localCommId', 'cm.dreq.localcommid'],
    ['cm.remoteCommId', 'cm.dreq.remotecommid'],
    ['cm.remoteQpn', 'cm.req.remoteqpneecn'],
    ['cm.privateData', 'cm.dreq.private', 'bytes'],
  ],
  DREP: [
    ['cm.localCommId', 'cm.drsp.localcommid'],
    ['cm.remoteCommId', 'cm.drsp.remotecommid'],
    ['cm.privateData', 'cm.drsp.private', 'bytes'],
  ],
};

const CM_ATTRIBUTES = new Map<string, number>(Object.entries(CmAttribute));
const attributeOf = (name: string): number => CM_ATTRIBUTES.get(name) ?? 0;

function ourValue(value: unknown, kind: Kind): string {
  if (typeof value === 'string') return kind === 'number' ? String(BigInt(value)) : value;
  return value === undefined ? '' : String(BigInt(Number(value)));
}

function theirValue(text: string, kind: Kind): string {
  if (kind === 'bytes') return text.replaceAll(':', '');
  return kind === 'number' && text !== '' ? String(BigInt(text)) : text;
}

type Fields = Readonly<Record<string, string>>;

/** What both say of the messages in a capture, kind by kind, packet by packet. */
function readings(file: string): Map<string, { readonly ours: readonly Fields[]; readonly theirs: readonly Fields[] }> {
  const known = tsharkFields();
  const packets = readByDump(file);
  return new Map(
    Object.entries(MESSAGES).map(([message, special]) => {
      // Older ones know fewer.
      const rows = [...MAD, ...special].filter(([, theirs]) => known.has(`infiniband.${theirs}`));
      const filter = `infiniband.mad.attributeid == ${attributeOf(message)}`;
      const names = rows.map(([, theirs]) => `infiniband.${theirs}`);
      const theirs = readByTshark(file, filter, names).map((texts) =>
        Object.fromEntries(rows.map(([ours, , kind = 'number'], i) => [ours, theirValue(texts[i], kind)])),
      );
      const ours = packets
        .filter((json) => valueAt(json, 'cm.message') === message)
        .map((json) =>
          Object.fromEntries(rows.map(([name, , kind = 'number']) => [name, ourValue(valueAt(json, name), kind)])),
        );
      return [message, { ours, theirs }];
    }),
  );
}

/** Bytes of a REQ that stay as they were: tshark believes in rdma_cm and IPv4 once the packet itself is IPv4. */
const KEPT: readonly (readonly [first: number, end: number])[] = [
  [8, 14],
  [56, 68],
  [72, 84],
  [140, 142],
];

/** The golden REQ's frame with other messages in it, of random bytes. */
function randomFrames(seed: number, count: number): Uint8Array[] {
  const [{ frame, datagram, bytes }] = goldenPackets('rping');
  const packet = decoded(bytes);
  const golden = packet.payload.slice(MAD_HEADER_BYTES);
  const body = fc.uint8Array({ minLength: golden.length, maxLength: golden.length });
  const attributes = Object.keys(MESSAGES).map(attributeOf);
  return fc.sample(body, { seed, numRuns: count }).map((random, i) => {
    const attribute = attributes[i % attributes.length];
    if (attribute === CmAttribute.REQ) {
      for (const [first, end] of KEPT) random.set(golden.subarray(first, end), first);
    }
    const payload = packet.payload.slice();
    payload.set(random, MAD_HEADER_BYTES);
    payload[17] = attribute;
    const changed = frame.slice();
    changed.set(encodePacket({ ...packet, payload }), datagram.offset);
    return changed;
  });
}

describe('dump and tshark read the same', { skip: withoutTshark }, () => {
  it('in every golden message of the connection manager', () => {
    const frames = goldenNames.flatMap((name) => [...readCapture(goldenFile(name))].map(({ data }) => data));
    for (const [name, { ours, theirs }] of readings(writeCapture(frames))) {
      assert.ok(ours.length > 0, name);
      assert.deepEqual(ours, theirs);
    }
  });

  it('in messages of random bytes', (test) => {
    const seed = Number(process.env['VERBENA_SEED'] ?? Date.now() & 0x7fffffff);
    test.diagnostic(`seed ${seed}`);
    for (const [name, { ours, theirs }] of readings(writeCapture(randomFrames(seed, 300)))) {
      assert.equal(ours.length, 50, name);
      assert.deepEqual(ours, theirs);
    }
  });
});
