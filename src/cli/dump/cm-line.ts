/** A message of the connection manager on one line. */
import { CmAttribute, type CmMessage, hex } from '../../device/wire/index.js';
import { ipFromGid } from '../../entry/index.js';
import { addressesOf, formatService, messageName, valueName } from './cm-names.js';

const RC = 0;

const commId = (id: number): string => `comm_id=${hex(id, 8)}`;
const pair = ({ localCommId, remoteCommId }: { readonly localCommId: number; readonly remoteCommId: number }): string =>
  `${commId(localCommId)} remote=${hex(remoteCommId, 8)}`;
const request = (id: number): string => `request_id=${hex(id, 8)}`;
const service = (id: bigint): string => `service=${formatService(id)}`;
const qpn = (value: number): string => `qpn=${hex(value, 6)}`;
const psn = (value: number): string => `psn=${hex(value, 6)}`;

/** `from=198.18.0.3:54897`, where the message tells. */
function from(message: CmMessage): string {
  const addresses = addressesOf(message);
  if (addresses === undefined) return '';
  const ip = ipFromGid(addresses.source);
  return `from=${addresses.ipVersion === 6 ? `[${ip}]` : ip}:${addresses.sourcePort}`;
}

function words(message: CmMessage): string[] {
  const named = (field: string, value: number): string => valueName(message, field, value) ?? String(value);
  switch (message.attribute) {
    case CmAttribute.REQ: {
      const { localCommId, transportType, serviceId, localQpn, startingPsn } = message;
      const transport = transportType === RC ? '' : `transport=${named('transportType', transportType)}`;
      return [commId(localCommId), service(serviceId), from(message), transport, qpn(localQpn), psn(startingPsn)];
    }
    case CmAttribute.REP:
      return [pair(message), qpn(message.localQpn), psn(message.startingPsn)];
    case CmAttribute.RTU:
    case CmAttribute.DREP:
      return [pair(message)];
    case CmAttribute.DREQ:
    case CmAttribute.LAP:
      return [pair(message), `remote_qpn=${hex(message.remoteQpn, 6)}`];
    case CmAttribute.MRA: {
      const { messageMraed, serviceTimeout } = message;
      return [pair(message), `of=${named('messageMraed', messageMraed)}`, `service_timeout=${serviceTimeout}`];
    }
    case CmAttribute.REJ: {
      const { messageRejected, reason } = message;
      return [pair(message), `of=${named('messageRejected', messageRejected)}`, `reason=${named('reason', reason)}`];
    }
    case CmAttribute.APR:
      return [pair(message), `status=${named('status', message.status)}`];
    case CmAttribute.SIDR_REQ:
      return [request(message.requestId), service(message.serviceId), from(message)];
    case CmAttribute.SIDR_REP: {
      const { requestId, serviceId, status, qkey } = message;
      const answer = [`status=${named('status', status)}`, qpn(message.qpn), `qkey=${hex(qkey, 8)}`];
      return [request(requestId), service(serviceId), ...answer];
    }
  }
}

/** `cm{REQ comm_id=0xce0f4a47 service=TCP:7174 from=198.18.0.3:54897 qpn=0x000028 psn=0x707825}`. */
export function formatCmMessage(message: CmMessage): string {
  return `cm{${[messageName(message), ...words(message)].filter((word) => word !== '').join(' ')}}`;
}
