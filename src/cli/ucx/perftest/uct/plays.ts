import {
  AtomicOp,
  type BareInterface,
  type Completion,
  type Endpoint,
  type Memory,
  type PackedRkey,
  type Packer,
  UcsStatus,
  ucsStatusName,
} from '../../../../protocols/ucp/bare/index.js';
import { bytesOf, type Plan } from '../plan.js';
import { Inbox } from '../plays/am.js';
import { pingPong, type Play, turn } from '../plays/play.js';
import type { UctTest, UctTestName } from '../tests.js';
import { ToolError } from '../../../kit/errors.js';

export class Link {
  constructor(readonly endpoint: Endpoint) {}

  /**
   * Has the endpoint do something as soon as there is room.
   *
   * @param begin is called until there is
   * @throws ToolError (the promise rejects) what became of it, where that is no good
   */
  ask(begin: (completion: Completion) => UcsStatus): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (status: UcsStatus): void => {
        if (status === UcsStatus.UCS_OK) resolve();
        else reject(new ToolError(`The transport says ${ucsStatusName(status)}.`));
      };
      const completion = { onComplete: settle };
      const retry = (): UcsStatus => {
        const status = begin(completion);
        if (status !== UcsStatus.UCS_ERR_NO_RESOURCE && status !== UcsStatus.UCS_INPROGRESS) settle(status);
        return status;
      };
      if (retry() === UcsStatus.UCS_ERR_NO_RESOURCE) this.endpoint.pendingAdd({ retry });
    });
  }

  /** All that was begun has been done, at the peer. */
  flush(): Promise<void> {
    return this.ask((completion) => this.endpoint.flush(completion));
  }
}

export interface UctSide {
  readonly plan: Plan;
  readonly test: UctTest;
  readonly isClient: boolean;
  readonly own: BareInterface;
  readonly out: Link;
  /** What is sent: as many bytes as a message has, from the beginning of {@link source}. */
  readonly data: Uint8Array;
  readonly source: Memory;
  /** What is read into, and what the other side reaches. */
  readonly memory: Memory;
  readonly theirs: PackedRkey;
}

type PlayOf = (side: UctSide) => Play | undefined;

const IDS = { toServer: 1, toClient: 2 } as const;
/** Values that the last byte of a message takes in turn. Memory holds 0 in the beginning. */
const NUMBERS = 255;
const BY_ONE = 1n;

function packerOf(data: Uint8Array): Packer {
  return {
    pack: (into) => {
      into.set(data);
      return data.length;
    },
  };
}

function sendAm({ plan, isClient, out, data, source }: UctSide): Play {
  const { endpoint } = out;
  const id = isClient ? IDS.toServer : IDS.toClient;
  const { headerBytes: offset } = plan;
  const [header, payload, packer] = [data.subarray(0, offset), data.subarray(offset), packerOf(data)];
  const place = { memory: source, offset, length: payload.length };
  if (plan.sendLayout === 'zcopy') return () => out.ask((told) => endpoint.amZcopy(id, header, place, told));
  if (plan.sendLayout === 'bcopy') return () => out.ask(() => endpoint.amBcopy(id, packer));
  return () => out.ask(() => endpoint.amShort(id, header, payload));
}

function receiveAm({ own, isClient }: UctSide): Play {
  const inbox = new Inbox();
  own.handlers.set(isClient ? IDS.toClient : IDS.toServer, () => inbox.arrive());
  return () => inbox.next();
}

function put({ plan, out, data, source, theirs }: UctSide): Play {
  const { endpoint } = out;
  const [place, packer] = [{ memory: source, offset: 0, length: data.length }, packerOf(data)];
  if (plan.sendLayout === 'zcopy') return () => out.ask((told) => endpoint.putZcopy(place, theirs, told));
  if (plan.sendLayout === 'bcopy') return () => out.ask(() => endpoint.putBcopy(packer, theirs));
  return () => out.ask(() => endpoint.putShort(data, theirs));
}

/** What is put is seen by looking: its last byte changes last. */
function putLat(side: UctSide): Play {
  const { data, memory } = side;
  const last = data.length - 1;
  const send = put(side);
  let sent = 0;
  let seen = 0;
  const numbered: Play = () => {
    data[last] = 1 + (sent++ % NUMBERS);
    return send();
  };
  const receive: Play = async () => {
    const number = 1 + (seen++ % NUMBERS);
    while (memory.bytes[last] !== number) await turn();
  };
  return pingPong(side, numbered, receive);
}

function get({ plan, isClient, out, memory, theirs }: UctSide): Play | undefined {
  if (!isClient) return undefined;
  const { endpoint } = out;
  const length = bytesOf(plan);
  const place = { memory, offset: 0, length };
  const unpack = (bytes: Uint8Array): void => memory.bytes.set(bytes);
  if (plan.sendLayout === 'zcopy') return () => out.ask((told) => endpoint.getZcopy(place, theirs, told));
  return () => out.ask((told) => endpoint.getBcopy(length, theirs, unpack, told));
}

/** @param isFetching whether what was there before is wanted */
function atomic(op: AtomicOp, { plan, out, theirs }: UctSide, isFetching: boolean): Play {
  const { address, rkey } = theirs;
  const word = { op, bytes: wordOf(bytesOf(plan)), address, rkey };
  const request = { ...word, value: BY_ONE, compare: 0n, ...(isFetching && { onValue: () => undefined }) };
  return () => out.ask((told) => out.endpoint.atomic(request, told));
}

function wordOf(bytes: number): 4 | 8 {
  return bytes === 4 ? 4 : 8;
}

function fetching(op: AtomicOp): PlayOf {
  return (side) => (side.isClient ? atomic(op, side, true) : undefined);
}

/** What is added is seen by looking at the lowest byte. */
function addLat(side: UctSide): Play {
  const { bytes } = side.memory;
  let seen = 0;
  const receive: Play = async () => {
    seen = (seen + 1) & 0xff;
    while (bytes[0] !== seen) await turn();
  };
  return pingPong(side, atomic(AtomicOp.ADD, side, false), receive);
}

const PLAYS: Readonly<Record<UctTestName, PlayOf>> = {
  am_lat: (side) => pingPong(side, sendAm(side), receiveAm(side)),
  am_bw: (side) => (side.isClient ? sendAm(side) : receiveAm(side)),
  put_lat: putLat,
  put_bw: (side) => (side.isClient ? put(side) : undefined),
  get,
  add_lat: addLat,
  add_mr: (side) => (side.isClient ? atomic(AtomicOp.ADD, side, false) : undefined),
  fadd: fetching(AtomicOp.ADD),
  swap: fetching(AtomicOp.SWAP),
  cswap: fetching(AtomicOp.CSWAP),
};

/** What a side does in its test; undefined where it only holds out its memory. */
export function uctPlayOf(side: UctSide): Play | undefined {
  return PLAYS[side.test.name](side);
}
