import type { SimHost } from '../../../../entry/sim.js';
import type { Link } from '../../transport/index.js';
import {
  Action,
  decodeHead,
  decodeSetupRequest,
  emptyHead,
  encodeHead,
  encodeSetupAnswer,
  type Head,
  HEAD_BYTES,
  headerOf,
  Kind,
  type SetupAnswer,
  type SetupRequest,
  XioStatus,
} from '../../wire/index.js';
import { LinkEnd } from './link-end.js';
import type { Net } from './nets.js';
import { OPTIONS } from './worlds.js';

const NOTHING = new Uint8Array(0);
const LIMITS = { queueMessages: 8, queueBytes: 1000, maxBodyBytes: 1000, maxHeaderBytes: 100 };

/** One link of a client's to a server that says whatever a test has it say. */
export class Heard {
  readonly end: LinkEnd;
  /** What the client says, but for what it asks for. */
  readonly heads: Head[] = [];
  readonly asked: SetupRequest[] = [];
  #granted = { grantedMessages: 0, grantedBytes: 0 };

  constructor(
    readonly link: Link,
    private readonly onAsked: (heard: Heard) => void,
  ) {
    this.end = new LinkEnd(link);
    this.end.onGot = ({ head }) => this.#got(head);
    link.open(this.end);
  }

  say(fields: Partial<Head>, header: Uint8Array = NOTHING): void {
    const bytes = new Uint8Array(HEAD_BYTES + header.length);
    encodeHead(bytes, { ...emptyHead(Kind.NOP), ...this.#granted, ...fields }, header, undefined);
    if (this.link.canSend) this.link.send(bytes, NOTHING, undefined);
  }

  answer(said: Partial<SetupAnswer>, change?: (bytes: Uint8Array) => Uint8Array): void {
    const answer = encodeSetupAnswer({
      epoch: new Uint8Array(8).fill(7),
      action: Action.ACCEPT,
      status: XioStatus.XIO_E_SUCCESS,
      limits: LIMITS,
      addresses: [],
      privateData: NOTHING,
      words: '',
      ...said,
    });
    this.#granted = { grantedMessages: LIMITS.queueMessages, grantedBytes: LIMITS.queueBytes };
    this.say({ kind: Kind.SESSION_ANSWER }, change?.(answer) ?? answer);
  }

  #got(bytes: Uint8Array): void {
    const head = emptyHead(Kind.NOP);
    decodeHead(bytes, head);
    if (head.kind !== Kind.SESSION) {
      this.heads.push(head);
      return;
    }
    const request = decodeSetupRequest(headerOf(bytes));
    if (typeof request === 'string') throw new Error(request);
    this.asked.push(request);
    this.onAsked(this);
  }
}

/** A server that does with each client what a test says. @returns its links, in the order in which they came */
export async function lyingServer(
  net: Net,
  onAsked: (heard: Heard) => void = () => undefined,
  host: SimHost = net.server,
): Promise<Heard[]> {
  const links: Heard[] = [];
  await net.watched.listen({ ...OPTIONS, port: 2061, context: host.context }, (link) => {
    links.push(new Heard(link, onAsked));
  });
  return links;
}
