import { hex } from '../../protocol/index.js';
import { Action, Kind, type SetupRequest, XioStatus } from '../../wire/index.js';
import { check } from '../../../../../test/sim/failure.js';
import type { ServedGroup } from './served-group.js';
import { SimEnd } from './sim-end.js';
import { setupAnswer } from './setup-answer.js';
import type { SimServer } from './sim-server.js';
import type { LinkEnd } from './wire-link.js';

export class ServedEnd extends SimEnd {
  #stopTimer: (() => void) | undefined;

  constructor(
    private readonly server: SimServer,
    readonly request: SetupRequest,
    readonly group: ServedGroup,
  ) {
    super(server.world, server.world.plan.servers[server.index].limits);
    server.world.ends.set(`${hex(request.sessionId)}/${request.connection} ${server.index}`, this);
  }

  get received(): number {
    return this.speaker.channel.received;
  }

  begin(link: LinkEnd): void {
    this.speaker.use(link);
    this.speaker.channel.begin(this.request.limits);
    this.#attach(0);
    const { plan, random, clock } = this.world;
    if (!plan.bothWays) return;
    for (let i = 0; i < 4; i += 1) clock.after(random.between(0, 20_000), () => this.#ask());
  }

  resume(link: LinkEnd, received: number): void {
    this.#stopTimer?.();
    this.speaker.leave();
    if (this.speaker.channel.isAttached) this.speaker.channel.detach();
    this.speaker.use(link);
    this.#attach(received);
  }

  crash(): void {
    this.#stopTimer?.();
    this.endsNow(XioStatus.XIO_E_SESSION_ABORTED);
    this.speaker.link?.cut();
    // Nobody is left to be told of what it has asked.
    this.speaker.channel.end(XioStatus.XIO_E_SESSION_ABORTED);
  }

  onFin(): void {
    this.group.finishAll();
  }

  onMove(): string {
    return 'a client sends its server on';
  }

  onSetup(): void {
    check(false, () => 'a client asks twice on one link');
  }

  onLinkLost(): void {
    if (this.isOver) return;
    const { channel } = this.speaker;
    channel.detach();
    if (channel.isParting) this.group.endIfDone();
    else {
      const { clock, plan } = this.world;
      this.#stopTimer = clock.after(plan.serverReconnectMs * 1000, () => this.group.lose());
    }
  }

  onDone(): void {
    this.#checkEmpty();
    this.speaker.leave();
    this.group.endIfDone();
  }

  #ask(): void {
    const { channel } = this.speaker;
    if (this.isOver || channel.isFinishing || channel.peer === undefined) return;
    const { random } = this.world;
    const bytes = random.between(0, channel.peer.maxBodyBytes);
    const deadlineUs = random.chance(0.2) ? random.between(1, 5000) : Infinity;
    this.caller.call({ kind: 'request', bytes, deadlineUs, isIdempotent: false, receipt: false, isApart: false });
  }

  #attach(received: number): void {
    const { channel } = this.speaker;
    const lie = channel.attach(received);
    check(lie === undefined, () => `an honest client is taken for a liar: ${lie}`);
    this.speaker.say(
      Kind.SESSION_ANSWER,
      setupAnswer(this.server.epoch, { action: Action.ACCEPT, limits: channel.own }),
    );
  }

  /** Nothing is done by it any more. */
  end(status: XioStatus): void {
    if (!this.endsNow(status)) return;
    this.#stopTimer?.();
    this.speaker.channel.end(status);
    this.speaker.leave();
    this.server.forget(this);
  }

  #checkEmpty(): void {
    // A client does not wait until its messages are let go of.
    const { kept, asked, waiting } = this.speaker.channel;
    check(kept + asked + waiting === 0, () => `a server's end is done with ${kept} ${asked} ${waiting}`);
  }
}
