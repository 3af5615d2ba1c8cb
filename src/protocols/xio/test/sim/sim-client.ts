import { type ClientHost, ClientMachine, hex, type Item } from '../../protocol/index.js';
import {
  decodeSetupAnswer,
  encodeSetupRequest,
  type Head,
  Kind,
  type SetupAnswer,
  type SetupRequest,
  XioStatus,
} from '../../wire/index.js';
import { check, SimulationFailure } from '../../../../../test/sim/failure.js';
import type { CallFields } from './caller.js';
import { type ClientPlan, INLINE_BYTES } from './plan.js';
import type { SimSession } from './sim-session.js';
import type { ServedEnd } from './served-end.js';
import { SimEnd } from './sim-end.js';
import { rejectionBy, type SimServer } from './sim-server.js';
import { makeLink } from './wire-link.js';
import type { World } from './world.js';

const MAX_REDIRECTS = 3;

/** A connection of a client's session, with what its program does by it. */
export class SimClient extends SimEnd implements ClientHost {
  readonly #machine: ClientMachine<Item>;
  #name = '';
  #stopLimit: (() => void) | undefined;
  #stopWaiting: (() => void) | undefined;
  #home: string | undefined;
  reconnects = 0;
  restarts = 0;
  /** How often it was sent on. */
  moves = 0;
  rejections = 0;

  constructor(
    world: World,
    plan: ClientPlan,
    private readonly servers: readonly SimServer[],
    private readonly session: SimSession,
    readonly connection: number,
    addresses: readonly number[],
  ) {
    super(world, plan.limits);
    const manners = {
      addresses: addresses.map(String),
      resource: '',
      privateData: new Uint8Array(0),
      connection,
      maxRedirects: MAX_REDIRECTS,
      answerTimeoutMs: plan.answerTimeoutMs,
      reconnectMs: plan.reconnectMs,
    };
    this.#machine = new ClientMachine(this.speaker.channel, manners, this);
  }

  start(): void {
    this.#machine.start();
  }

  /** Whether its end was told to its program, be it that of a connection which both ends have done with. */
  get hasParted(): boolean {
    return this.speaker.channel.isDone || this.#machine.state === 'over';
  }

  call(call: CallFields): void {
    this.caller.call(call);
  }

  refuse(): void {
    this.caller.refuse();
  }

  connect(address: string): void {
    const { clock, random, plan, ledger } = this.world;
    // Another server knows nothing of what was asked of the first.
    if (this.#home !== undefined && address !== this.#home) ledger.mayForget = true;
    clock.after(random.between(1, 2 * plan.delayUs), () => this.#connected(this.servers[Number(address)]));
  }

  ask(request: SetupRequest, withinMs: number): void {
    this.#stopWaiting?.();
    if (withinMs !== Infinity)
      this.#stopWaiting = this.world.clock.after(withinMs * 1000, () => this.#machine.onUnanswered());
    this.speaker.say(Kind.SESSION, encodeSetupRequest(request));
  }

  pause(delayMs: number): void {
    this.world.clock.after(delayMs * 1000, () => this.#machine.onPause());
  }

  limit(delayMs: number): void {
    this.#stopLimit?.();
    this.#stopLimit =
      delayMs === Infinity ? undefined : this.world.clock.after(delayMs * 1000, () => this.#machine.onLate());
  }

  dropLink(how: 'close' | 'abort'): void {
    if (how === 'abort') this.speaker.link?.cut();
    this.speaker.leave();
  }

  nowMs(): number {
    return this.world.clock.nowUs / 1000;
  }

  sessionId(life: number): Uint8Array {
    const name = this.session.nameOf(life);
    this.#name = hex(name);
    return name;
  }

  roomProblem(): undefined {
    return undefined;
  }

  onOpen(how: 'begun' | 'resumed' | 'restarted'): void {
    this.#home = this.#machine.address;
    if (how === 'begun') this.session.opened();
    if (how !== 'begun') this.reconnects += 1;
    if (how !== 'restarted') return;
    this.restarts += 1;
    this.answerer.restarted();
  }

  onRedirected(): void {
    this.moves += 1;
    check(this.moves <= MAX_REDIRECTS, () => `a session is sent on ${this.moves} times`);
    // What was asked of that server has its answers, so that nothing is forgotten by going.
    this.#home = undefined;
  }

  onOver(status: XioStatus, _reason: string, answer?: SetupAnswer): void {
    if (answer !== undefined) this.#rejected(status, answer);
    if (this.isOver) return;
    if (status === XioStatus.XIO_E_SUCCESS) {
      this.speaker.leave();
      this.session.endIfDone();
    } else if (this.connection === 0 || this.speaker.channel.peer !== undefined) this.session.over(status);
    else {
      // A further connection was not to be made: the session goes on without.
      this.end(status);
      this.session.doWithout(this);
    }
  }

  /** Nothing is done by it any more. */
  end(status: XioStatus): void {
    if (!this.endsNow(status)) return;
    this.speaker.channel.end(status);
    this.speaker.leave();
    this.#machine.over(XioStatus.XIO_E_SUCCESS, 'the session has ended');
  }

  /** The server's end of its session, where there is one. */
  get servedEnd(): ServedEnd | undefined {
    // A server that has taken it may have been left for another before it could say so.
    return this.world.ends.get(`${this.#name}/${this.connection} ${this.#machine.address}`);
  }

  onFin(): void {
    if (!this.speaker.channel.isMoving) this.session.finishAll();
  }

  onMove(addresses: readonly string[]): undefined {
    this.world.ledger.hasMoved = true;
    this.#machine.onMove(addresses);
  }

  onSetup(head: Head, header: Uint8Array): void {
    const answer = decodeSetupAnswer(header);
    if (typeof answer === 'string') throw new SimulationFailure(`an honest server's answer is refused: ${answer}`);
    const lie = this.#machine.onAnswer(answer, head.ackSn);
    check(lie === undefined, () => `an honest server is taken for a liar: ${lie}`);
  }

  onLinkLost(): void {
    this.#machine.onLinkLost('the link was cut');
  }

  onDone(): void {
    const { served, kept, asked, waiting, isMoving, hasNothingLeft } = this.speaker.channel;
    if (isMoving && !hasNothingLeft) {
      check(kept + asked === 0, () => `a client goes where it was sent with ${kept} ${asked}`);
      this.#machine.onDone();
      return;
    }
    check(served + kept + asked + waiting === 0, () => `a client is done with ${served} ${kept} ${asked} ${waiting}`);
    this.speaker.leave();
    this.session.endIfDone();
  }

  #rejected(status: XioStatus, { words, privateData }: SetupAnswer): void {
    this.rejections += 1;
    const said = rejectionBy(Number(this.#machine.address));
    const isSame = status === said.status && words === said.words && same(privateData, said.privateData);
    check(isSame, () => `a client hears ${status}, "${words}", ${privateData.join()} of the server that rejects it`);
  }

  #connected(server: SimServer): void {
    if (this.isOver) return;
    if (!server.isUp) {
      this.#machine.onConnectFailed(XioStatus.XIO_E_SESSION_REFUSED, 'nobody listens there');
      return;
    }
    const { clock, random, directRandom, plan } = this.world;
    const isDirect = directRandom.chance(plan.directLinks);
    const manners = { delayUs: plan.delayUs, room: plan.room, inlineBytes: INLINE_BYTES, isDirect };
    const [own, servers] = makeLink(clock, [random, directRandom], manners);
    server.onLink(servers);
    this.speaker.use(own);
    this.#machine.onLink();
  }
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}
