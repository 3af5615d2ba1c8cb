import { QpType } from '../../ibta/index.js';
import { checkConnect, CmError } from '../checks.js';
import type { CmConnect } from '../command.js';
import type { CmCore } from '../core.js';
import { type Asker, askerOf, type RequestFacts, requestOf, resolutionOf } from '../requests.js';
import { Resolution } from '../resolution/resolution.js';
import { addressTo, flowLabelOf } from '../tables/addresses.js';
import { freshPsn, freshTransaction } from '../tables/directory.js';
import { type Identifier, isDatagramSpace } from '../tables/identifier.js';
import type { PortTable } from '../tables/port-table.js';
import { Connection } from './connection.js';
import type { Agreement } from './qp-attributes.js';
import { ackTimeout, LOCAL_ACK_DELAY, MAX_CM_RETRIES, PACKET_LIFETIME, RESPONSE_TIMEOUT } from './timeouts.js';

/** What sending a request needs of the connection manager. */
interface Initiator extends CmCore {
  readonly ports: PortTable;
}

/** What a request of either kind begins with. */
interface Beginning {
  readonly identifier: Identifier;
  readonly to: Agreement['to'];
  readonly transactionId: bigint;
  readonly factsFor: (localCommId: number) => RequestFacts;
}

/**
 * Requests a connection, or in the port spaces of datagrams a queue pair's number.
 *
 * @throws CmError EINVAL for what no request can say, ENETUNREACH without an address, what taking a port is refused with
 */
export function initiate(core: Initiator, identifier: Identifier, connect: CmConnect): void {
  const { host, ports } = core;
  const { id, portSpace } = identifier;
  const [localGid] = host.gids;
  if (localGid === undefined) throw new CmError('ENETUNREACH', 'the device has lost its address');
  const isForDatagrams = isDatagramSpace(portSpace) || connect.qp?.qpType === QpType.UD;
  checkConnect(connect, localGid, isForDatagrams);
  const asker = isForDatagrams ? undefined : askerOf(connect);
  const localPort = (identifier.port ??= ports.bind(id, portSpace, 0, false));
  const transactionId = freshTransaction(host.random);
  const facts = { portSpace, localGid, localPort, transactionId, caGuid: host.nodeGuid };
  const beginning: Beginning = {
    identifier,
    transactionId,
    to: addressTo(0, connect.destination, flowLabelOf(localPort, connect.port), connect.trafficClass),
    factsFor: (localCommId) => ({ ...facts, localCommId }),
  };
  if (asker === undefined) resolve(core, beginning, connect);
  else connectTo(core, beginning, connect, asker);
}

function resolve(core: Initiator, { identifier, to, factsFor }: Beginning, connect: CmConnect): void {
  const resolution = new Resolution(core, identifier, to, connect.destination);
  identifier.conversation = resolution;
  resolution.ask(resolutionOf(factsFor(resolution.commId), connect));
}

function connectTo(
  core: Initiator,
  { identifier, to, transactionId, factsFor }: Beginning,
  connect: CmConnect,
  asker: Asker,
): void {
  const { random, mtu } = core.host;
  const { responderResources, initiatorDepth, retryCount, rnrRetryCount } = connect;
  const localPsn = freshPsn(random);
  const packetLifetime = lifetimeOf(connect);
  const connection = new Connection({
    core,
    id: identifier.id,
    client: identifier.client,
    agreement: {
      to,
      pathMtu: mtu,
      remoteQpn: 0,
      localPsn,
      remotePsn: 0,
      responderResources,
      initiatorDepth,
      ackTimeout: connect.ackTimeout ?? ackTimeout(LOCAL_ACK_DELAY, packetLifetime),
      retryCount,
      rnrRetryCount,
    },
    transactionId,
    packetLifetime,
    responseTimeout: RESPONSE_TIMEOUT,
    maxRetries: MAX_CM_RETRIES,
    asking: { qp: asker.qp, ackTimeout: connect.ackTimeout },
  });
  identifier.conversation = connection;
  const own = { startingPsn: localPsn, pathMtu: mtu, packetLifetime };
  connection.ask(requestOf(factsFor(connection.commId), connect, asker, own));
}

/** The option ACK_TIMEOUT says it as well, unless it says to wait for ever (protocol/connections.md 4.7). */
function lifetimeOf({ ackTimeout: wanted = 0 }: CmConnect): number {
  return wanted === 0 ? PACKET_LIFETIME : wanted - 1;
}
