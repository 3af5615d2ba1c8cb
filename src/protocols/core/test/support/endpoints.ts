import { QpState, SendFlags, WcOpcode, WcStatus } from '../../../../device/ibta/index.js';
import { AccessFlags, type Connection, type Context, type Cq, type Qp, type Srq } from '../../../../entry/index.js';
import { type CompletionHandler, Engine, type EngineOptions, type Requests } from '../../index.js';
import type { Sim, SimHost } from '../../../../entry/sim.js';

export const SLOTS = 8;
const BYTES = 64;

export interface Told {
  readonly cookie: number;
  readonly status: WcStatus | 'lost';
  readonly isReceive: boolean;
}

/** A queue pair on an engine, which takes note of all that it is told. */
export class Endpoint implements CompletionHandler {
  readonly told: Told[] = [];
  /** Called after each completion. */
  onTold: (told: Told) => void = () => undefined;
  readonly requests: Requests;
  readonly #memory;

  constructor(
    readonly engine: Engine,
    limit = 2 * SLOTS,
    owner = 'endpoint',
  ) {
    this.requests = engine.requests(this, limit, owner);
    this.#memory = engine.pd.regMr(new Uint8Array(2 * BYTES), AccessFlags.LOCAL_WRITE);
  }

  /** How its queue pair is to be made. */
  get qp() {
    const { cq } = this.engine;
    return { sendCq: cq, recvCq: cq, sqSigAll: true, cap: { maxSendWr: SLOTS, maxRecvWr: SLOTS } };
  }

  onCompletion(cookie: number, cq: Cq): void {
    const { status, opcode } = cq;
    this.#tell({ cookie, status, isReceive: opcode === WcOpcode.RECV });
  }

  onLost(cookie: number): void {
    this.#tell({ cookie, status: 'lost', isReceive: false });
  }

  send(qp: Qp, cookie: number): void {
    qp.wrStart();
    qp.wrId = this.requests.expect(cookie);
    qp.wrFlags = SendFlags.SIGNALED;
    qp.wrSend();
    qp.wrSetSge(this.#memory.lkey, this.#memory.addr, BYTES);
    qp.wrComplete();
  }

  receive(qp: Qp, cookie: number): void {
    const wrId = this.requests.expect(cookie);
    qp.postRecvSge(wrId, this.#memory.lkey, this.#memory.addr + BigInt(BYTES), BYTES);
  }

  #tell(told: Told): void {
    this.told.push(told);
    this.onTold(told);
  }
}

export function succeeded(told: readonly Told[]): number[] {
  return told.filter(({ status }) => status === WcStatus.SUCCESS).map(({ cookie }) => cookie);
}

/** A connection between two hosts, with an endpoint at either end, on the engines of the hosts. */
export interface Pair {
  readonly client: Endpoint;
  readonly server: Endpoint;
  readonly atClient: Connection;
  readonly atServer: Connection;
}

/** Connects two endpoints; `prepare` posts receives at the server. */
export async function connectEndpoints(
  [from, to]: readonly [SimHost, SimHost],
  [client, server]: readonly [Endpoint, Endpoint],
  port: number,
  prepare: (qp: Qp) => void = () => undefined,
  srq?: Srq,
  sqSigAll = true,
): Promise<Pair> {
  const listener = to.listen({ port });
  const accepting = listener.next().then((request) =>
    request.accept({
      pd: server.engine.pd,
      qp: { ...server.qp, ...(srq && { srq }) },
      prepare: ({ qp }) => {
        if (qp !== undefined) prepare(qp);
      },
    }),
  );
  const qp = { ...client.qp, sqSigAll };
  const atClient = await from.connect({ host: to.name, port, pd: client.engine.pd, qp, rnrRetryCount: 7 });
  const atServer = await accepting;
  listener.close();
  return { client, server, atClient, atServer };
}

/** Two hosts with an engine each. */
export function twoEngines(
  sim: Sim,
  options?: EngineOptions,
): { hosts: [SimHost, SimHost]; engines: [Engine, Engine] } {
  const hosts: [SimHost, SimHost] = [sim.host('client'), sim.host('server')];
  const engineOf = ({ context }: { context: Context }): Engine => new Engine(context, options);
  return { hosts, engines: [engineOf(hosts[0]), engineOf(hosts[1])] };
}

/** Moves a queue pair into the error state. */
export function fail(qp: Qp): void {
  qp.modify({ qpState: QpState.ERR });
}
