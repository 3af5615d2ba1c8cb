import {
  amount,
  type CapturedAccess,
  type CapturedExchange,
  type CapturedMessage,
  type CaptureWay,
  type Dissector,
  remember,
} from '../../core/index.js';
import {
  decodeFrame,
  decodeGrantedPlace,
  decodePlaces,
  decodeRdmaHello,
  decodeToken,
  emptyFrame,
  Operation,
  RDMA_PREFIX_BYTES,
  SEAL_BYTES,
} from '../transport/index.js';
import {
  Action,
  decodeDirectRequest,
  decodeHead,
  decodeMapped,
  decodeMove,
  decodeSetupAnswer,
  decodeSetupRequest,
  DirectOperation,
  type DirectRequest,
  emptyHead,
  Flag,
  headerOf,
  Kind,
  rulesOf,
  type SetupRequest,
  statusName,
  tokenOf,
  XioStatus,
} from '../wire/index.js';
import { answerText, type Call, CallFollower } from './calls.js';
import { MemoryFollower } from './memories.js';

/** What sessions of xio say on the wire, for those who read captures. */

const ID_BYTES = 4;

/** The beginning of a random name: as much as tells it from others. */
function idText(id: Uint8Array): string {
  return Array.from(id.subarray(0, ID_BYTES), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Of what has failed, why; of all else nothing. */
function failureText(status: XioStatus): string {
  return status === XioStatus.XIO_E_SUCCESS ? '' : ` ${statusName(status) ?? `status ${status}`}`;
}

/** Which connection of which session a link carries, so that what is sent again on the next link is known for what it is. */
class LaneFollower {
  /** By the ends of a link, the one that speaks first: who that is. */
  readonly #speakers = new Map<string, string>();

  begin({ from, to }: CaptureWay, { sessionId, connection }: Pick<SetupRequest, 'sessionId' | 'connection'>): void {
    const lane = `${idText(sessionId)} ${connection}`;
    remember(this.#speakers, `${from} > ${to}`, `${lane} client`);
    remember(this.#speakers, `${to} > ${from}`, `${lane} server`);
  }

  /** Whose messages go that way: the same on all links of a connection. */
  speakerOf({ from, to }: Pick<CaptureWay, 'from' | 'to'>): string {
    const way = `${from} > ${to}`;
    return this.#speakers.get(way) ?? way;
  }

  listenerOf({ from, to }: CaptureWay): string {
    return this.speakerOf({ from: to, to: from });
  }
}

/** What is agreed is not looked for in a capture. */
const NO_LIMITS = { maxHeadBytes: Infinity, maxBodyBytes: Infinity };
const SESSION = 'session';
const READ = ['READ'] as const;
const WRITE = ['WRITE'] as const;
const BOTH = ['READ', 'WRITE'] as const;

type Frame = ReturnType<typeof emptyFrame>;
type Head = ReturnType<typeof emptyHead>;

interface Said {
  readonly way: CaptureWay;
  readonly frame: Frame;
  readonly head: Head;
  readonly headBytes: Uint8Array;
  readonly payload: Uint8Array;
}

/** What sessions of xio say on the wire: one for each capture. protocol/xio.md 10. */
export class XioDissector implements Dissector {
  readonly name = 'xio';
  readonly #lanes = new LaneFollower();
  readonly #calls = new CallFollower();
  readonly #memories = new MemoryFollower();

  get exchanges(): readonly CapturedExchange[] {
    return this.#calls.exchanges;
  }

  hello(privateData: Uint8Array): string | undefined {
    const hello = decodeRdmaHello(privateData);
    if (typeof hello === 'string') return undefined;
    const { window, bufferBytes, maxBodyBytes } = hello;
    return `window ${window}, buffers of ${bufferBytes} B, bodies up to ${amount(maxBodyBytes)}`;
  }

  message({ operation, payload, byteLength, way }: CapturedMessage): string | undefined {
    if (operation === 'WRITE') return byteLength === 0 ? 'WRITE of nothing' : undefined;
    if (payload.length === 0) return byteLength === undefined || byteLength === 0 ? undefined : amount(byteLength);
    const frame = emptyFrame();
    const problem = decodeFrame(payload, payload.length, NO_LIMITS, frame);
    if (problem !== undefined) return unknown(problem, way);
    if (frame.operation === Operation.CREDIT) return `credit to ${frame.credits}`;
    const head = emptyHead(Kind.NOP);
    const headBytes = payload.subarray(RDMA_PREFIX_BYTES, RDMA_PREFIX_BYTES + frame.headBytes);
    const headProblem = decodeHead(headBytes, head);
    if (headProblem !== undefined) return unknown(headProblem, way);
    return this.#sentence({ way, frame, head, headBytes, payload });
  }

  access(access: CapturedAccess): string | undefined {
    return this.#memories.access(access);
  }

  #sentence(said: Said): string {
    const { head, way } = said;
    switch (head.kind) {
      case Kind.SESSION:
        return this.#session(said);
      case Kind.SESSION_ANSWER:
        return this.#sessionAnswer(said);
      case Kind.REQUEST:
        return this.#request(said);
      case Kind.RESPONSE:
        return this.#response(said);
      case Kind.ONE_WAY:
        return this.#oneWay(said);
      case Kind.RECEIPT:
        return `RECEIPT ${head.sn} of ${this.#answered(said, 'RECEIPT')?.what ?? `message ${head.about}`}`;
      case Kind.CANCEL: {
        const call = this.#calls.find(this.#lanes.speakerOf(way), `${head.about}`);
        call?.step('CANCEL');
        return `CANCEL ${head.sn} of ${call?.what ?? `request ${head.about}`}`;
      }
      case Kind.MOVE: {
        const addresses = decodeMove(headerOf(said.headBytes));
        return typeof addresses === 'string' ? unknown(addresses, way) : `MOVE ${head.sn} to ${addresses.join(', ')}`;
      }
      case Kind.NOP:
        return `NOP, has up to ${head.ackSn}, grants ${head.grantedMessages} messages and ${amount(head.grantedBytes)}`;
      default:
        return `${nameOf(head)}${failureText(head.status)}`;
    }
  }

  #session(said: Said): string {
    const { way, headBytes } = said;
    const setup = decodeSetupRequest(headerOf(headBytes));
    if (typeof setup === 'string') return unknown(setup, way);
    const { sessionId, connection, isKnown, resource } = setup;
    this.#lanes.begin(way, setup);
    const what = `SESSION ${idText(sessionId)} connection ${connection}`;
    // Each link has its own.
    this.#calls.begin(way, `${way.from} > ${way.to}`, SESSION, what);
    const on = isKnown ? `, goes on, has up to ${said.head.ackSn}` : '';
    return `${what}${on}${resource === '' ? '' : ` "${resource}"`}`;
  }

  #sessionAnswer({ way, head, headBytes }: Said): string {
    const answer = decodeSetupAnswer(headerOf(headBytes));
    if (typeof answer === 'string') return unknown(answer, way);
    const { action, addresses, status, words: reason } = answer;
    const call = this.#calls.find(`${way.to} > ${way.from}`, SESSION);
    const words = {
      [Action.ACCEPT]: 'accepted',
      [Action.REDIRECT]: `sent on to ${addresses.join(', ')}`,
      [Action.REJECT]: `refused${failureText(status)}${reason === '' ? '' : ` "${reason}"`}`,
      [Action.UNKNOWN]: 'unknown here',
    }[action];
    call?.end(way, words);
    const portals = action === Action.ACCEPT && addresses.length > 0 ? `, ${addresses.length} portals` : '';
    return `SESSION_ANSWER ${words}${portals}, has up to ${head.ackSn}`;
  }

  #request(said: Said): string {
    const { way, head, headBytes } = said;
    const { sn, flags } = head;
    const direct = (flags & Flag.DIRECT) === 0 ? undefined : decodeDirectRequest(headerOf(headBytes));
    if (typeof direct === 'string') return unknown(direct, way);
    const what = direct === undefined ? `REQUEST ${sn} ${amount(head.bodyBytes)}` : directText(direct);
    const call = this.#calls.begin(way, this.#lanes.speakerOf(way), `${sn}`, what, direct);
    this.#nameBody(said, `REQUEST ${sn}`, call);
    const token = tokenOf(headBytes, head);
    if (token !== undefined) {
      const place = decodeToken(token);
      this.#memories.name(way, named(`RESPONSE to ${sn}`, place, WRITE, call));
    }
    if (direct !== undefined) return `REQUEST ${sn}: ${what}`;
    return `REQUEST ${sn}${contentText(said)}${(flags & Flag.APART_RESPONSE) === 0 ? '' : ', answer apart'}`;
  }

  #response(said: Said): string {
    const { way, head, headBytes } = said;
    const failure = failureText(head.status);
    const call = this.#answered(said, answerText(head.bodyBytes, failure));
    this.#nameBody(said, `RESPONSE to ${head.about}`, call);
    const mapped = call?.direct?.operation === DirectOperation.MAP ? decodeMapped(headerOf(headBytes)) : undefined;
    if (call?.direct === undefined || mapped === undefined)
      return `RESPONSE ${head.sn} to ${head.about}${failure}${contentText(said)}`;
    const grant = `grant ${idText(call.direct.id)}`;
    if (mapped.place !== undefined) {
      const { address, length, sealAddress } = decodeGrantedPlace(mapped.place);
      this.#memories.name(way, { ...named(grant, { address, length }, BOTH, undefined), isLasting: true });
      const seal = { address: sealAddress, length: SEAL_BYTES };
      this.#memories.name(way, { ...named(`the seal of ${grant}`, seal, READ, undefined), isLasting: true });
    }
    const use = mapped.place === undefined ? 'by messages' : 'by RDMA';
    return `RESPONSE ${head.sn} to ${head.about}: ${grant}, ${amount(mapped.length)}, ${use}`;
  }

  #oneWay(said: Said): string {
    const { way, head } = said;
    const { sn } = head;
    const isAnswered = (head.flags & Flag.RECEIPT) !== 0;
    const what = `ONE_WAY ${sn} ${amount(head.bodyBytes)}`;
    const call = isAnswered ? this.#calls.begin(way, this.#lanes.speakerOf(way), `${sn}`, what) : undefined;
    this.#nameBody(said, `ONE_WAY ${sn}`, call);
    return `ONE_WAY ${sn}${contentText(said)}${isAnswered ? ', receipt asked for' : ''}`;
  }

  #answered({ way, head }: Said, answer: string): Call | undefined {
    const call = this.#calls.find(this.#lanes.listenerOf(way), `${head.about}`);
    call?.end(way, answer);
    return call;
  }

  #nameBody({ way, frame, payload }: Said, what: string, call: Call | undefined): void {
    const places = frame.operation === Operation.READ ? decodePlaces(payload, frame) : [];
    if (typeof places === 'string') return;
    for (const place of places) this.#memories.name(way, named(what, place, READ, call));
  }
}

function named(
  what: string,
  { address, length }: { readonly address: bigint; readonly length: number },
  operations: readonly CapturedAccess['operation'][],
  exchange: Call | undefined,
) {
  return { what, address, length, operations, exchange, isLasting: false };
}

/** What is no message of xio's, unless the capture has cut it. */
function unknown(problem: string, { isCut }: CaptureWay): string {
  return isCut ? 'cut by the capture' : `unknown: ${problem}`;
}

/** `FIN 7`. */
function nameOf({ kind, sn }: Head): string {
  return `${rulesOf(kind)?.name ?? ''}${sn > 0 ? ` ${sn}` : ''}`;
}

/** What a message carries, and how its body travels. */
function contentText({ head, frame }: Said): string {
  const { headerBytes, bodyBytes } = head;
  const header = headerBytes === 0 ? '' : `, header ${headerBytes} B`;
  if (bodyBytes === 0) return header;
  const way =
    frame.operation === Operation.READ ? ' to be READ' : frame.operation === Operation.WRITTEN ? ' written' : '';
  return `${header}, body ${amount(bodyBytes)}${way}`;
}

function directText({ operation, id, offset, length }: DirectRequest): string {
  const grant = `grant ${idText(id)}`;
  switch (operation) {
    case DirectOperation.MAP:
      return `MAP ${grant}`;
    case DirectOperation.REVOKE:
      return `REVOKE ${grant}`;
    case DirectOperation.READ:
      return `READ ${amount(length)} at ${offset} of ${grant}`;
    case DirectOperation.WRITE:
      return `WRITE ${amount(length)} at ${offset} of ${grant}`;
  }
}
