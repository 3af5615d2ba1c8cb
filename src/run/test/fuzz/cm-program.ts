import { CONN_PARAM } from '../../ucma/structs/conn-param.js';
import * as Requests from '../../ucma/structs/requests.js';
import type { RdmaCmFile } from '../../ucma/rdma-cm-file.js';
import { CmOption, Errno, PortSpace, QpType } from '../../../entry/index.js';
import type { Choices } from '../../../../test/fuzz/random.js';
import type { FakeCalls } from './fake-calls.js';
import type { FuzzMemory } from './memory.js';
import type { KnownObjects } from './known-objects.js';

const HEADER_BYTES = 8;
const RESPONSE_AT = 4096;
const MOST_IDENTIFIERS = 30;
const AF_INET = 2;
const MULTICAST = [239, 1, 2, 3];

/** A program that has opened `/dev/infiniband/rdma_cm`. */
export class CmProgram {
  /** Identifiers and memberships, of all programs: a program may name another's. */
  readonly #ids: number[] = [];

  constructor(
    readonly file: RdmaCmFile,
    private readonly calls: FakeCalls,
    private readonly memory: FuzzMemory,
    private readonly choices: Choices,
    private readonly known: KnownObjects & { readonly ids: number[]; readonly ports: number },
  ) {}

  step(): void {
    const { choices } = this;
    if (choices.chance(20)) this.#create();
    else if (choices.chance(30)) this.#getEvent();
    else choices.of(this.#commands)();
  }

  close(): void {
    this.file.close();
  }

  readonly #commands: readonly (() => void)[] = [
    () => this.#destroy(),
    () => this.#give(2, Requests.BIND_IP.encodePadded({ addr: this.#address(), id: this.#id() })),
    () => this.#give(2, Requests.BIND_IP.encodePadded({ addr: this.#address(), id: this.#id() })),
    () =>
      this.#give(
        3,
        Requests.RESOLVE_IP.encodePadded({
          source: this.#address(),
          to: this.#address(),
          id: this.#id(),
          timeoutMs: this.choices.below(100),
        }),
      ),
    () => this.#give(4, Requests.RESOLVE_ROUTE.encodePadded({ id: this.#id(), timeoutMs: this.choices.below(100) })),
    () => this.#give(5, this.#withResponse()),
    () => this.#give(6, Requests.CONNECT.encodePadded({ param: this.#param(), id: this.#id() })),
    () =>
      this.#give(
        7,
        Requests.LISTEN.encodePadded({ id: this.#id(), backlog: this.choices.of([0, 1, 10, -1, 2 ** 30]) }),
      ),
    () => this.#give(8, Requests.ACCEPT.encodePadded({ uid: 1n, param: this.#param(), id: this.#id() })),
    () => this.#give(9, Requests.REJECT.encodePadded({ id: this.#id(), privateDataLen: this.choices.below(256) })),
    () => this.#give(10, Requests.ID.encodePadded({ id: this.#id() })),
    () =>
      this.#give(
        11,
        Requests.INIT_QP_ATTR.encodePadded({
          response: this.#response(),
          id: this.#id(),
          qpState: this.choices.below(8),
        }),
      ),
    () => {
      const { commands } = this.memory;
      const value = BigInt(this.choices.chance(90) ? commands.at + 512 : this.memory.nowhere(this.choices));
      const name = this.choices.of([...Object.values(CmOption), 9]);
      const length = this.choices.of([1, 4, 1, 4, 0, 8, 2 ** 31]);
      this.#give(
        14,
        Requests.SET_OPTION.encodePadded({
          value,
          id: this.#id(),
          level: this.choices.chance(95) ? 0 : 1,
          name,
          length,
        }),
      );
    },
    () => this.#give(15, Requests.NOTIFY.encodePadded({ id: this.#id(), event: this.choices.below(24) })),
    () =>
      this.#give(
        16,
        Requests.JOIN_IP_MCAST.encodePadded({
          response: this.#response(),
          uid: 7n,
          addr: this.#address(),
          id: this.#id(),
        }),
        true,
      ),
    () => this.#give(17, this.#withResponse()),
    () =>
      this.#give(
        18,
        Requests.MIGRATE_ID.encodePadded({
          response: this.#response(),
          id: this.#id(),
          fd: this.choices.chance(80) ? this.choices.of([...this.calls.fds, this.file.fd]) : this.choices.below(100),
        }),
      ),
    () => this.#give(20, Requests.BIND.encodePadded({ id: this.#id(), addr: this.#address() })),
    () =>
      this.#give(
        21,
        Requests.RESOLVE_ADDR.encodePadded({
          id: this.#id(),
          timeoutMs: 10,
          source: this.#address(),
          to: this.#address(),
        }),
      ),
    () =>
      this.#give(
        22,
        Requests.JOIN_MCAST.encodePadded({
          response: this.#response(),
          uid: 7n,
          id: this.#id(),
          addr: this.#address(),
        }),
        true,
      ),
    () =>
      this.#give(
        this.choices.below(40),
        Uint8Array.from({ length: this.choices.below(400) }, () => this.choices.u32() & 0xff),
      ),
  ];

  #id(): number {
    const { choices, known } = this;
    if (this.#ids.length > 0 && choices.chance(90)) return choices.of(this.#ids);
    return choices.chance(50) && known.ids.length > 0 ? choices.of(known.ids) : choices.u32() >>> 0;
  }

  #response(): bigint {
    const { choices, memory } = this;
    return BigInt(choices.chance(96) ? memory.commands.at + RESPONSE_AT : memory.nowhere(choices));
  }

  #withResponse(): Uint8Array {
    return Requests.ID_WITH_RESPONSE.encodePadded({ response: this.#response(), id: this.#id() });
  }

  #address() {
    const { choices, known } = this;
    const family = choices.chance(95) ? AF_INET : choices.of([0, 10, 27, 99]);
    const own = choices.of(known.gids).subarray(12);
    const ipv4 = Uint8Array.from(
      choices.chance(90) ? own : choices.of([MULTICAST, [0, 0, 0, 0], [255, 255, 255, 255]]),
    );
    return {
      family,
      port: choices.chance(80) ? 7000 + choices.below(known.ports) : choices.below(65536),
      ipv4,
      ipv6: new Uint8Array(16),
      scopeId: 0,
    };
  }

  #param() {
    const { choices, known } = this;
    const bytes = new Uint8Array(CONN_PARAM.bytes);
    const values = CONN_PARAM.readPadded(bytes);
    return {
      ...values,
      qpNum: known.qps.length > 0 && choices.chance(90) ? choices.of(known.qps) : choices.u32() >>> 0,
      privateDataLen: choices.of([0, 8, 56, 57, 196, 255]),
      responderResources: choices.of([0, 1, 16, 255]),
      initiatorDepth: choices.of([0, 1, 16, 255]),
      retryCount: choices.below(256),
      rnrRetryCount: choices.below(256),
      valid: choices.chance(90) ? 1 : 0,
    };
  }

  #create(): void {
    if (this.#ids.length >= MOST_IDENTIFIERS) return;
    const { choices } = this;
    const portSpace = choices.chance(95)
      ? choices.of([PortSpace.TCP, PortSpace.TCP, PortSpace.UDP])
      : choices.below(65536);
    const qpType = choices.of([QpType.RC, QpType.UD, choices.below(256)]);
    const request = Requests.CREATE_ID.encodePadded({
      uid: BigInt(choices.below(100)),
      response: this.#response(),
      portSpace,
      qpType,
    });
    this.#give(0, request, true);
  }

  #destroy(): void {
    const id = this.#id();
    const request = Requests.ID_WITH_RESPONSE.encodePadded({ response: this.#response(), id });
    if (this.#give(1, request) < 0) return;
    const at = this.#ids.indexOf(id);
    if (at >= 0) this.#ids.splice(at, 1);
  }

  #getEvent(): void {
    const { commands } = this.memory;
    const ending = this.#give(12, Requests.GET_EVENT.encodePadded({ response: this.#response() }));
    if (ending < 0) return;
    const view = new DataView(commands.bytes.buffer, commands.bytes.byteOffset + RESPONSE_AT);
    const id = view.getUint32(8, true);
    if (!this.#ids.includes(id) && this.#ids.length < MOST_IDENTIFIERS) this.#ids.push(id);
  }

  /** @returns a negative errno where it was refused */
  #give(number: number, request: Uint8Array, makesId = false): number {
    const { choices, calls, file, memory } = this;
    const { at, bytes } = memory.commands;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const cut = choices.chance(3) ? request.subarray(0, choices.below(request.length + 1)) : request;
    view.setUint32(0, choices.chance(99) ? number : choices.u32(), true);
    view.setUint16(4, choices.chance(98) ? cut.length : choices.below(65536), true);
    view.setUint16(6, choices.chance(98) ? 512 : choices.below(400), true);
    bytes.set(cut, HEADER_BYTES);
    const length = choices.chance(98) ? HEADER_BYTES + cut.length : choices.of([0, 7, 8, 65536, 65537, 2 ** 40]);
    const from = choices.chance(99) ? at : memory.nowhere(choices);
    const call = (interrupted: boolean) =>
      calls.make([file.fd, from, length], (waiting) => file.write(waiting), interrupted);
    let ending = call(choices.chance(3));
    if (ending === 'taken back' && choices.chance(70)) ending = call(false);
    // A call that waits for an event goes to the kernel, which blocks it.
    if (ending === 'taken back' || ending === 'let through') return -Errno.EAGAIN;
    if (typeof ending !== 'number') throw new Error(`a command ended so: ${ending}`);
    if (ending > 0 && ending !== length) throw new Error(`a command of ${length} bytes took ${ending}`);
    if (makesId && ending > 0) {
      const id = view.getUint32(RESPONSE_AT, true);
      this.#ids.push(id);
      this.known.ids.push(id);
      if (this.known.ids.length > 200) this.known.ids.shift();
    }
    return ending;
  }
}
