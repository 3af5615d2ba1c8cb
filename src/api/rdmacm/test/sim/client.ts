import { CmEventType, PrivateDataBytes, RejectReason } from '../../../../device/ibta/index.js';
import { type Ah, type CmEvent, type CmId, createId, PortSpace } from '../../../../entry/index.js';
import { check } from '../../../../../test/sim/failure.js';
import { Actor, isPadded } from './actor.js';
import type { Host } from './host.js';
import type { ClientPlan } from './plan.js';
import type { World } from './world.js';

const { ADDR_RESOLVED, ROUTE_RESOLVED, CONNECT_RESPONSE, ESTABLISHED, DISCONNECTED, REJECTED, UNREACHABLE } =
  CmEventType;

/** Reasons that a client of ours may be given (protocol/connections.md 4.4). */
const REASONS: ReadonlySet<number> = new Set([
  RejectReason.TIMEOUT,
  RejectReason.INVALID_SERVICE_ID,
  RejectReason.STALE_CONN,
  RejectReason.CONSUMER_DEFINED,
]);

const NOTHING = new Uint8Array(0);

/** Whoever asks for a connection, or for a datagram queue pair. */
export class Client extends Actor {
  readonly role = 'client';
  srcPort = 0;
  /** Of its last event. */
  status = 0;
  /** What its queue pair was called, though it may be gone. */
  qpn = 0;
  #ah: Ah | undefined;

  constructor(
    world: World,
    host: Host,
    override readonly plan: ClientPlan,
    number: number,
  ) {
    super(world, host, makeId(host, plan), plan.space, plan, number, 'idle');
  }

  begin(): void {
    const { plan } = this;
    const address = this.world.addressOf(plan.target);
    this.call('resolveAddr', () => this.id.resolveAddr({ host: address, port: plan.port }));
  }

  override destroy(): void {
    super.destroy();
    this.#ah?.[Symbol.dispose]();
  }

  protected react(event: CmEvent): void {
    const { plan } = this;
    this.status = event.status;
    switch (event.event) {
      case ADDR_RESOLVED:
        this.later(plan.paceUs, () => this.call('resolveRoute', () => this.id.resolveRoute()));
        break;
      case ROUTE_RESOLVED:
        this.later(plan.paceUs, () => this.#connect());
        break;
      case CONNECT_RESPONSE:
        this.#checkAnswer(event);
        this.later(plan.paceUs, () => this.#confirm());
        break;
      case ESTABLISHED:
        this.#checkAnswer(event);
        this.rise();
        if (event.param.ud !== undefined) this.#sendDatagrams(event.param.ud);
        break;
      case REJECTED:
        this.#checkRefusal(event);
        break;
      case UNREACHABLE:
        break;
      case DISCONNECTED:
        this.answerParting();
        break;
      default:
    }
  }

  #connect(): void {
    const { plan, id } = this;
    const { privateData, responderResources, initiatorDepth } = plan;
    const qp = this.makeQp();
    const resources = this.space === 'UDP' ? {} : { responderResources, initiatorDepth };
    this.qpn = qp.qpNum;
    this.srcPort = id.getSrcPort();
    this.world.registry.addClient(this);
    const own = plan.external && this.space !== 'UDP' ? { qpNum: qp.qpNum, qpType: qp.qpType } : {};
    this.call('connect', () => id.connect({ privateData, ...resources, ...own }));
  }

  /** Goes on with a queue pair of its own, after the server's answer. */
  #confirm(): void {
    const { id, plan } = this;
    switch (plan.confirm) {
      case 'establish':
        if (this.state === 'answered') this.moveQp();
        if (this.call('establish', () => id.establish())) this.rise();
        break;
      case 'reject':
        this.call('reject', () => id.reject(plan.privateData));
        break;
      case 'disconnect':
        this.disconnect();
        break;
      case 'never':
        break;
    }
  }

  #checkAnswer({ param: { conn, ud } }: CmEvent): void {
    const server = this.world.registry.serverAt(this.world.addressOf(this.plan.target), this.peerQpn);
    check(server?.client === this, () => `${this.toString()} was not answered by the queue pair that it was told of`);
    const { ACCEPT, RESOLVED } = PrivateDataBytes;
    this.checkWords(
      'the answer',
      (conn ?? ud)?.privateData,
      server.plan.privateData,
      conn === undefined ? RESOLVED : ACCEPT,
    );
    if (conn === undefined) return;
    const { responderResources, initiatorDepth, external } = server.plan;
    check(
      conn.initiatorDepth === responderResources &&
        conn.responderResources === Math.min(initiatorDepth, external ? Infinity : this.plan.responderResources),
      () => `${this.toString()} was told of ${conn.responderResources} and ${conn.initiatorDepth} READs`,
    );
  }

  #checkRefusal({ status, param }: CmEvent): void {
    check(REASONS.has(status), () => `${this.toString()} was rejected for the reason ${status}`);
    if (status !== RejectReason.CONSUMER_DEFINED) return;
    const words = param.conn?.privateData ?? NOTHING;
    // Whoever destroys an identifier, or parts too early, refuses without a word.
    const said = this.world.serversOf(this).filter(({ plan }) => plan.answer === 'reject');
    check(
      words.every((byte) => byte === 0) || said.some(({ plan }) => isPadded(words, plan.privateData)),
      () => `${this.toString()} was rejected with words that nobody said`,
    );
  }

  #sendDatagrams({ ahAttr, qpNum, qkey }: NonNullable<CmEvent['param']['ud']>): void {
    if (this.state === 'destroyed') return;
    this.#ah = this.host.pd.createAh(ahAttr);
    this.traffic?.send(this.plan.messages, { ah: this.#ah, remoteQpn: qpNum, remoteQkey: qkey });
  }
}

function makeId(host: Host, { space }: ClientPlan): CmId {
  return createId(host.channel, PortSpace[space]);
}
