import { CmEventType, PrivateDataBytes } from '../../../../device/ibta/index.js';
import type { CmEvent } from '../../../../entry/index.js';
import { check } from '../../../../../test/sim/failure.js';
import { Actor } from './actor.js';
import type { Client } from './client.js';
import type { Host } from './host.js';
import type { AnswerPlan, ListenerPlan } from './plan.js';
import type { World } from './world.js';

export class Server extends Actor {
  readonly role = 'server';
  /** What its queue pair was called, though it may be gone. */
  qpn = 0;
  /** How long the request took one of its listener's places. */
  readonly askedUs: number;
  answeredUs = Infinity;

  constructor(
    world: World,
    host: Host,
    readonly listener: ListenerPlan,
    override readonly plan: AnswerPlan,
    number: number,
    event: CmEvent,
    readonly client: Client,
  ) {
    super(world, host, event.id, listener.space, plan, number, 'asked');
    this.peerQpn = client.qpn;
    this.askedUs = world.nowUs;
  }

  begin(event: CmEvent): void {
    this.#checkRequest(event);
    this.later(this.plan.afterUs, () => this.#answer());
  }

  override destroy(): void {
    super.destroy();
    this.#leave();
  }

  protected react({ event, param }: CmEvent): void {
    const { client } = this;
    switch (event) {
      case CmEventType.ESTABLISHED:
        // Whether by its word or by its first message: the client has said it.
        check(
          this.notified || !client.host.up || (client.wasUp && client.peerQpn === this.qpn),
          () => `${this.toString()} is told that ${client.toString()} is ready`,
        );
        this.rise();
        break;
      case CmEventType.REJECTED:
        if (param.conn?.privateData.some((byte) => byte !== 0) === true)
          this.checkWords('the refusal', param.conn.privateData, client.plan.privateData, PrivateDataBytes.REJECT);
        break;
      case CmEventType.DISCONNECTED:
        this.answerParting();
        break;
      default:
    }
  }

  #answer(): void {
    if (this.state === 'destroyed') return;
    const { plan, id } = this;
    switch (plan.answer) {
      case 'accept':
        this.#accept();
        break;
      case 'reject':
        if (this.call('reject', () => id.reject(plan.privateData))) this.#leave();
        break;
      case 'destroy':
        this.destroy();
        break;
      case 'never':
        break;
    }
  }

  #accept(): void {
    const { id, plan } = this;
    const { privateData, responderResources, initiatorDepth } = plan;
    const resources = this.space === 'UDP' ? {} : { responderResources, initiatorDepth };
    const qp = this.makeQp();
    this.qpn = qp.qpNum;
    if (plan.external && this.state === 'asked') this.moveQp();
    this.world.registry.addServer(this);
    const own = plan.external ? { qpNum: qp.qpNum, qpType: qp.qpType } : {};
    const accepted = this.call('accept', () => id.accept({ privateData, ...resources, ...own }));
    if (!accepted) {
      this.endQp();
      return;
    }
    this.#leave();
    if (plan.partsAtOnce) this.disconnect();
  }

  #leave(): void {
    this.answeredUs = Math.min(this.answeredUs, this.world.nowUs);
  }

  #checkRequest({ param: { conn, ud } }: CmEvent): void {
    const { client, id, listener } = this;
    const { CONNECT, RESOLVE } = PrivateDataBytes;
    const room = conn === undefined ? RESOLVE : CONNECT;
    this.checkWords('the request', (conn ?? ud)?.privateData, client.plan.privateData, room);
    check(id.getSrcPort() === listener.port, () => `${this.toString()} was asked at port ${id.getSrcPort()}`);
    if (conn === undefined) return;
    const { responderResources, initiatorDepth } = client.plan;
    check(
      conn.initiatorDepth === responderResources && conn.responderResources === initiatorDepth,
      () => `${this.toString()} was asked for ${conn.responderResources} and ${conn.initiatorDepth} READs`,
    );
  }
}
