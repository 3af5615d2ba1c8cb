import { mtuBytes, QpState } from '../../../device/ibta/index.js';
import type { CmId } from '../../../api/rdmacm/index.js';
import { VerbsError } from '../../../api/verbs/index.js';
import type { Engine } from '../../core/index.js';
import { type LinkSizes, type Path, type ServerLink, SLOT_BYTES } from '../transport/link.js';
import { RcLink } from '../transport/rc-link.js';
import type { ServerDatagrams } from '../transport/server-datagrams.js';
import { UcServerLink } from '../transport/uc-server-link.js';
import { UdServerLink } from '../transport/ud-server-link.js';
import { MIN_SLOT_BYTES, type Offer, type SessionId, Transport } from '../wire/index.js';

interface LinkInit {
  readonly id: CmId;
  readonly engine: Engine;
  readonly sizes: LinkSizes;
  readonly path: Path;
  readonly offer: Offer;
  readonly session: SessionId;
  /** The server's, which is made when it is needed. */
  readonly datagrams: () => ServerDatagrams;
}

/** How requests and answers travel, as a server uses it. */
interface ServerTransport {
  /** Whether requests and answers fit into one packet. */
  readonly isOnePacket: boolean;
  /** @throws VerbsError ENOMEM when there is no room, EIO when the device was lost */
  readonly link: (init: LinkInit) => ServerLink;
}

const TRANSPORTS: Readonly<Record<Transport, ServerTransport>> = {
  [Transport.RC]: {
    isOnePacket: false,
    link: ({ engine, id, sizes }) => new RcLink(engine, id, sizes),
  },
  [Transport.UC]: {
    isOnePacket: true,
    link: ({ engine, id, sizes, path, offer, datagrams }) =>
      new UcServerLink(engine, id, sizes, path, offer, datagrams()),
  },
  [Transport.UD]: {
    isOnePacket: true,
    link: ({ engine, id, sizes, path, offer, session, datagrams }) =>
      new UdServerLink(engine, id, sizes, path, offer, session, datagrams()),
  },
};

/** What a server and a client have agreed on. */
export interface NegotiatedParams {
  readonly transport: ServerTransport;
  readonly path: Path;
  readonly slotBytes: number;
}

/** @returns undefined when the client cannot be served as it asks, or has gone */
export function negotiate(id: CmId, offer: Offer): NegotiatedParams | undefined {
  const transport = TRANSPORTS[offer.transport];
  const path = pathTo(id);
  if (path === undefined) return undefined;
  const slotBytes = transport.isOnePacket ? Math.min(SLOT_BYTES, mtuBytes(path.pathMtu)) : SLOT_BYTES;
  return slotBytes < MIN_SLOT_BYTES ? undefined : { transport, path, slotBytes };
}

function pathTo(id: CmId): Path | undefined {
  try {
    const { ahAttr, pathMtu } = id.initQpAttr(QpState.RTR);
    return ahAttr && pathMtu ? { ahAttr, pathMtu } : undefined;
  } catch (error) {
    if (error instanceof VerbsError) return undefined;
    throw error;
  }
}
