import { VerbsError } from '../../../../entry/index.js';
import { check, SimulationFailure } from '../../../../../test/sim/failure.js';
import { Direction } from './direction.js';
import { type LinePlan, type RsocketPlan, totalOf } from './plan.js';
import type { Side } from './side.js';

/** A stream, as the model knows it: both directions, both ends as far as they are there, and whether it may fail. */
export class Line {
  readonly toServer: Direction;
  readonly toClient: Direction;
  /** Something on the way may have it fail. */
  readonly mayFail: boolean;
  readonly stalls: boolean;
  client: Side | undefined;
  server: Side | undefined;
  /** Both ends are over, or one is and the other never came. */
  readonly ended: Promise<void>;
  end: () => void = () => undefined;
  hasEnded = false;
  readonly #isRough: boolean;

  constructor(
    readonly number: number,
    readonly plan: LinePlan,
    { disasters, isRough }: RsocketPlan,
    readonly onFault: (error: Error) => void,
  ) {
    this.toServer = new Direction(`${this.name}, to the server`, 2 * number);
    this.toClient = new Direction(`${this.name}, to the client`, 2 * number + 1);
    this.mayFail = plan.isAbrupt || disasters.some(({ host }) => host === plan.from || host === plan.to);
    this.#isRough = isRough;
    this.stalls = plan.client.reading.stalls || plan.server.reading.stalls;
    this.ended = new Promise((resolve) => {
      this.end = () => {
        this.hasEnded = true;
        resolve();
      };
    });
  }

  get name(): string {
    return `stream ${this.number}`;
  }

  get sides(): readonly Side[] {
    return [this.client, this.server].filter((side) => side !== undefined);
  }

  /** Something could not be done. */
  readonly fails = (error: unknown): void => {
    const isOrdinary = error instanceof VerbsError && this.mayFail;
    if (!isOrdinary)
      this.onFault(new SimulationFailure(`${this.name} had no reason to fail: ${String(error)}`, { cause: error }));
  };

  describe(): string {
    return this.sides.map((side) => side.describe()).join('; ') || `${this.name} has no end`;
  }

  /** All is over: every byte has come once, or both know that not. */
  verify(): void {
    const { client, server, plan, mayFail } = this;
    this.#verifyDirection(this.toServer, client, server);
    this.#verifyDirection(this.toClient, server, client);
    if (mayFail) return;
    this.#verifyEnd(client, server, this.toServer);
    this.#verifyEnd(server, client, this.toClient);
    check(client !== undefined && server !== undefined, () => `${this.name} was never there`);
    if (plan.isCutShort) return;
    check(this.toServer.read === totalOf(plan.client.steps), () => `${this.name}: the server did not get all`);
    check(this.toClient.read === totalOf(plan.server.steps), () => `${this.name}: the client did not get all`);
  }

  /**
   * Who writes what the peer does not want any more may fail; and whose peer has ended well and gone: an answer for the last bytes that was
   * lost is not given again.
   */
  #verifyEnd(side: Side | undefined, peer: Side | undefined, { taken, read }: Direction): void {
    const isUnwanted = peer?.hasEndedReading === true && read < taken;
    const isUnanswered = this.#isRough && peer !== undefined && isWell(peer);
    check(
      isUnwanted || isUnanswered || side?.error === undefined,
      () => `${this.name} had no reason to fail: ${String(side?.error)}`,
    );
  }

  #verifyDirection({ taken, read }: Direction, writer: Side | undefined, reader: Side | undefined): void {
    const hasAll = taken === read;
    if (reader !== undefined && isWell(reader) && !reader.hasEndedReading)
      check(hasAll, () => `${this.name}: the reader has ended well with ${read} of ${taken} bytes. ${this.describe()}`);
    const mayBeLost = reader?.isGone === true || reader?.hasEndedReading === true;
    if (writer !== undefined && isWell(writer) && !writer.isAbrupt && !mayBeLost)
      check(
        hasAll,
        () => `${this.name}: the writer has ended well with ${read} of ${taken} bytes read. ${this.describe()}`,
      );
  }
}

function isWell({ isGone, isClosed, error }: Side): boolean {
  return !isGone && isClosed && error === undefined;
}
