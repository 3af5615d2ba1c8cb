import { nameOf, QpType } from '../../ibta/index.js';
import { OpcodeService } from '../../wire/index.js';
import { CommandError } from '../command-error.js';
import { DatagramRequester } from '../datagram/requester.js';
import { DatagramResponder } from '../datagram/responder.js';
import { NoRequester, NoResponder } from '../queue-pairs/absent-halves.js';
import type { TransportService } from '../queue-pairs/halves.js';
import { RawRequester } from '../raw/requester.js';
import { RawResponder } from '../raw/responder.js';
import { ReliableRequester } from '../reliable/requester.js';
import { Responder } from '../reliable/responder.js';
import { UnreliableRequester } from '../unreliable/requester.js';
import { UnreliableResponder } from '../unreliable/responder.js';

const noRequester: TransportService['requester'] = (_qp, core) => new NoRequester(core);
const noResponder: TransportService['responder'] = (_qp, core) => new NoResponder(core);
const reliableRequester: TransportService['requester'] = (qp, core) => new ReliableRequester(qp, core);
const reliableResponder: TransportService['responder'] = (qp, core) => new Responder(qp, core);

const transportServices: Readonly<Partial<Record<QpType, TransportService>>> = {
  [QpType.RC]: {
    service: OpcodeService.RC,
    connected: true,
    responds: true,
    sendQueue: true,
    recvQueue: true,
    sharedRecvQueue: true,
    requester: reliableRequester,
    responder: reliableResponder,
  },
  [QpType.UC]: {
    service: OpcodeService.UC,
    connected: true,
    responds: true,
    sendQueue: true,
    recvQueue: true,
    sharedRecvQueue: true,
    requester: (qp, core) => new UnreliableRequester(qp, core),
    responder: (qp, core) => new UnreliableResponder(qp, core),
  },
  [QpType.UD]: {
    service: OpcodeService.UD,
    connected: false,
    responds: true,
    sendQueue: true,
    recvQueue: true,
    sharedRecvQueue: true,
    requester: (qp, core) => new DatagramRequester(qp, core),
    responder: (qp, core) => new DatagramResponder(qp, core),
  },
  [QpType.RAW_PACKET]: {
    service: undefined,
    connected: false,
    responds: true,
    sendQueue: true,
    recvQueue: true,
    sharedRecvQueue: false,
    requester: (qp, core) => new RawRequester(qp, core),
    responder: (qp, core) => new RawResponder(qp, core),
  },
  [QpType.XRC_SEND]: {
    service: OpcodeService.XRC,
    connected: true,
    responds: false,
    sendQueue: true,
    recvQueue: false,
    sharedRecvQueue: false,
    requester: reliableRequester,
    responder: noResponder,
  },
  [QpType.XRC_RECV]: {
    service: OpcodeService.XRC,
    connected: true,
    responds: true,
    sendQueue: false,
    recvQueue: false,
    sharedRecvQueue: false,
    requester: noRequester,
    responder: reliableResponder,
  },
};

/** @throws CommandError EOPNOTSUPP when QPs of that type cannot be made here */
export function transportService(type: QpType): TransportService {
  const service = transportServices[type];
  if (service !== undefined) return service;
  throw new CommandError('EOPNOTSUPP', `queue pairs of type ${nameOf(QpType, type)} are not supported`);
}
