import { type ConnectionRequest, type FullAddress, listen, type Listener } from '../../../api/rdmacm/index.js';
import type { Context } from '../../../api/verbs/index.js';
import { Engine } from '../../core/index.js';
import {
  acceptRc,
  acceptUd,
  AmHandlers,
  connectRc,
  connectUd,
  type Endpoint,
  MemoryDomain,
  type UctRcEndpoint,
  type RcWhere,
  SelfEndpoint,
  type UdEndpoint,
  UdInterface,
} from '../uct/index.js';

export type BareTransport = 'rc' | 'ud' | 'self';

/** One end of a transport, with nothing of UCP above it: `uct_iface_h`, and how its endpoints find each other. */
export class BareInterface implements Disposable {
  readonly domain: MemoryDomain;
  readonly handlers = new AmHandlers();
  /** The one of datagrams, which is made when it is needed. */
  #ud: UdInterface | undefined;
  #listener: Listener | undefined;
  readonly #endpoints: (UctRcEndpoint | UdEndpoint | SelfEndpoint)[] = [];
  #isClosed = false;

  /** @throws VerbsError as `Engine.of` */
  constructor(
    context: Context,
    private readonly transport: BareTransport,
  ) {
    this.domain = new MemoryDomain(Engine.of(context));
  }

  /**
   * Has others connect.
   *
   * @param onEndpoint is given each endpoint. Who cannot connect has been told
   * @throws VerbsError as `listen` of the root
   */
  listen(onEndpoint: (endpoint: Endpoint) => void): FullAddress {
    const listener = (this.#listener ??= listen({ context: this.domain.engine.context }));
    void listener.serve(async (request) => onEndpoint(this.#kept(await this.#accept(request))), {
      onError: () => undefined,
    });
    return listener.address;
  }

  /** @throws VerbsError (the promise rejects) as `connect` of the root; EPROTO where the peer speaks something else */
  async connect(where: RcWhere): Promise<Endpoint> {
    const { domain, handlers, transport } = this;
    return this.#kept(
      transport === 'ud'
        ? await connectUd(this.#datagrams(), where, handlers)
        : await connectRc({ domain, handlers }, where),
    );
  }

  async toItself(): Promise<readonly [Endpoint, Endpoint]> {
    const { domain, handlers, transport } = this;
    if (transport === 'self')
      return [this.#kept(new SelfEndpoint(domain, handlers)), this.#kept(new SelfEndpoint(domain, handlers))];
    let told: (endpoint: Endpoint) => void = () => undefined;
    const accepted = new Promise<Endpoint>((resolve) => (told = resolve));
    return [await this.connect(this.listen((endpoint) => told(endpoint))), await accepted];
  }

  /** Ends all endpoints. Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#listener?.close();
    for (const endpoint of this.#endpoints) endpoint.close();
    void this.#ud?.close();
  }

  /** {@link close}. */
  [Symbol.dispose](): void {
    this.close();
  }

  #accept(request: ConnectionRequest): Promise<UctRcEndpoint | UdEndpoint> {
    const { domain, handlers, transport } = this;
    return transport === 'ud'
      ? acceptUd(this.#datagrams(), request, handlers)
      : acceptRc({ domain, handlers }, request);
  }

  #datagrams(): UdInterface {
    this.#ud ??= new UdInterface(this.domain);
    return this.#ud;
  }

  #kept<E extends UctRcEndpoint | UdEndpoint | SelfEndpoint>(endpoint: E): E {
    this.#endpoints.push(endpoint);
    // It may have been closed while this one was being made.
    if (this.#isClosed) endpoint.close();
    return endpoint;
  }
}
