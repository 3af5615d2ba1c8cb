/**
 * Where the fields of the connection manager's messages lie, written from protocol/connections.md 4.2 in its own way: bytes after the
 * MAD header, `[high:low]` for bits of the number that the bytes make, 7 or 31 being the first on the wire.
 */
import { CmAttribute } from '../index.js';

type Fields = Readonly<Record<string, string>>;

const BOTH_IDS = { localCommId: '0-3', remoteCommId: '4-7' };

/** Fields of each message by their path in our objects. */
export const documented: ReadonlyMap<CmAttribute, Fields> = new Map<CmAttribute, Fields>([
  [
    CmAttribute.REQ,
    {
      localCommId: '0-3',
      vendorId: '5-7',
      serviceId: '8-15',
      localCaGuid: '16-23',
      localQkey: '28-31',
      localQpn: '32-34',
      responderResources: '35',
      localEecn: '36-38',
      initiatorDepth: '39',
      remoteEecn: '40-42',
      remoteCmResponseTimeout: '43[7:3]',
      transportType: '43[2:1]',
      endToEndFlowControl: '43[0:0]',
      startingPsn: '44-46',
      localCmResponseTimeout: '47[7:3]',
      retryCount: '47[2:0]',
      pkey: '48-49',
      pathMtu: '50[7:4]',
      rdcExists: '50[3:3]',
      rnrRetryCount: '50[2:0]',
      maxCmRetries: '51[7:4]',
      srq: '51[3:3]',
      extendedTransportType: '51[2:0]',
      'primaryPath.localLid': '52-53',
      'primaryPath.remoteLid': '54-55',
      'primaryPath.localGid': '56-71',
      'primaryPath.remoteGid': '72-87',
      'primaryPath.flowLabel': '88-91[31:12]',
      'primaryPath.packetRate': '91[5:0]',
      'primaryPath.trafficClass': '92',
      'primaryPath.hopLimit': '93',
      'primaryPath.sl': '94[7:4]',
      'primaryPath.subnetLocal': '94[3:3]',
      'primaryPath.localAckTimeout': '95[7:3]',
      'alternatePath.localLid': '96-97',
      'alternatePath.remoteLid': '98-99',
      'alternatePath.localGid': '100-115',
      'alternatePath.remoteGid': '116-131',
      'alternatePath.flowLabel': '132-135[31:12]',
      'alternatePath.packetRate': '135[5:0]',
      'alternatePath.trafficClass': '136',
      'alternatePath.hopLimit': '137',
      'alternatePath.sl': '138[7:4]',
      'alternatePath.subnetLocal': '138[3:3]',
      'alternatePath.localAckTimeout': '139[7:3]',
      privateData: '140-231',
    },
  ],
  [
    CmAttribute.REP,
    {
      ...BOTH_IDS,
      localQkey: '8-11',
      localQpn: '12-14',
      vendorId: '15,19,23',
      localEecn: '16-18',
      startingPsn: '20-22',
      responderResources: '24',
      initiatorDepth: '25',
      targetAckDelay: '26[7:3]',
      failoverAccepted: '26[2:1]',
      endToEndFlowControl: '26[0:0]',
      rnrRetryCount: '27[7:5]',
      srq: '27[4:4]',
      localCaGuid: '28-35',
      privateData: '36-231',
    },
  ],
  [CmAttribute.RTU, { ...BOTH_IDS, privateData: '8-231' }],
  [CmAttribute.DREP, { ...BOTH_IDS, privateData: '8-231' }],
  [CmAttribute.DREQ, { ...BOTH_IDS, remoteQpn: '8-10', privateData: '12-231' }],
  [CmAttribute.MRA, { ...BOTH_IDS, messageMraed: '8[7:6]', serviceTimeout: '9[7:3]', privateData: '10-231' }],
  [
    CmAttribute.REJ,
    {
      ...BOTH_IDS,
      messageRejected: '8[7:6]',
      rejectedInfoLength: '9[7:1]',
      reason: '10-11',
      additionalInfo: '12-83',
      privateData: '84-231',
    },
  ],
  [
    CmAttribute.LAP,
    {
      ...BOTH_IDS,
      remoteQpn: '12-14',
      remoteCmResponseTimeout: '15[7:3]',
      'alternatePath.localLid': '20-21',
      'alternatePath.remoteLid': '22-23',
      'alternatePath.localGid': '24-39',
      'alternatePath.remoteGid': '40-55',
      'alternatePath.flowLabel': '56-59[31:12]',
      'alternatePath.trafficClass': '59',
      'alternatePath.hopLimit': '60',
      'alternatePath.packetRate': '61[5:0]',
      'alternatePath.sl': '62[7:4]',
      'alternatePath.subnetLocal': '62[3:3]',
      'alternatePath.localAckTimeout': '63[7:3]',
      privateData: '64-231',
    },
  ],
  [CmAttribute.APR, { ...BOTH_IDS, infoLength: '8', status: '9', additionalInfo: '12-83', privateData: '84-231' }],
  [CmAttribute.SIDR_REQ, { requestId: '0-3', pkey: '4-5', serviceId: '8-15', privateData: '16-231' }],
  [
    CmAttribute.SIDR_REP,
    {
      requestId: '0-3',
      status: '4',
      infoLength: '5',
      vendorId: '6,7,11',
      qpn: '8-10',
      serviceId: '12-19',
      qkey: '20-23',
      additionalInfo: '24-95',
      privateData: '96-231',
    },
  ],
]);

function bytePlaces(text: string): number[] {
  return text.split(',').flatMap((part) => {
    const [first, last = first] = part.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
}

/** Bits as numbers from the first of the message on, the most significant first. */
function bitPlaces(text: string): number[] {
  const [bytes, range = ''] = text.split('[');
  const places = bytePlaces(bytes).flatMap((byte) => Array.from({ length: 8 }, (_, i) => 8 * byte + i));
  if (range === '') return places;
  const [high, low] = range.slice(0, -1).split(':').map(Number);
  return places.slice(places.length - 1 - high, places.length - low);
}

/** Whose bit each bit of a message is, and how much it counts there. Reserved bits are nobody's. */
export function bitOwners(fields: Fields): ReadonlyMap<number, { readonly field: string; readonly weight: bigint }> {
  const owners = new Map<number, { field: string; weight: bigint }>();
  for (const [field, text] of Object.entries(fields)) {
    const places = bitPlaces(text);
    places.forEach((place, i) => {
      const other = owners.get(place);
      if (other) throw new Error(`${field} lies over ${other.field}`);
      owners.set(place, { field, weight: 1n << BigInt(places.length - 1 - i) });
    });
  }
  return owners;
}
