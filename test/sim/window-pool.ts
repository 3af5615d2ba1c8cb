import { MwType, WrOpcode } from '../../src/device/ibta/index.js';
import type { SeededRandom } from '../../src/device/link/index.js';
import type { TestHost, TestMr } from '../../src/device/nic/test/host.js';
import type { SendRequest } from '../../src/device/nic/test/rings.js';
import { bindRequest, type TestMw, window } from '../../src/device/nic/test/windows.js';

/** Windows that one end may have at a time. */
const MAX_WINDOWS = 4;
/** The part of the windows that its peer hears of. */
const TOLD = 0.7;

/** A request about a window, and what is so once it is carried out. */
export interface WindowRequest {
  readonly request: Pick<SendRequest, 'opcode'> & Partial<SendRequest>;
  readonly done: () => void;
}

/** Windows of type 2 on the target memory of one end: it binds them, its peer uses them, and either invalidates them. */
export class WindowPool {
  readonly #free: TestMw[] = [];
  /** Bound, and known to the peer. */
  readonly #open: TestMw[] = [];
  /** Bound, and known to nobody else. */
  readonly #kept: TestMw[] = [];
  #made = 0;

  constructor(
    private readonly host: TestHost,
    private readonly target: TestMr,
    private readonly random: SeededRandom,
  ) {}

  /** Binds one; undefined when all are in use. */
  bind(): WindowRequest | undefined {
    const mw = this.#free.pop() ?? this.#make();
    if (mw === undefined) return undefined;
    const told = this.random.chance(TOLD);
    return {
      request: bindRequest(mw, this.target),
      done: () => void (told ? this.#open : this.#kept).push(mw),
    };
  }

  /** Invalidates one that the peer has not heard of; undefined when there is none. */
  invalidate(): WindowRequest | undefined {
    const mw = this.#kept.pop();
    if (mw === undefined) return undefined;
    return { request: { opcode: WrOpcode.LOCAL_INV, imm: mw.rkey | 0 }, done: () => void this.#free.push(mw) };
  }

  /** The key of one that is open to the peer; undefined when none is. */
  key(): number | undefined {
    return this.#open.length === 0 ? undefined : this.random.pick(this.#open).rkey;
  }

  /** The peer closes one that is open to it; undefined when none is. */
  close(): { readonly rkey: number; readonly arrived: () => void } | undefined {
    const mw = this.#open.pop();
    return mw && { rkey: mw.rkey, arrived: () => void this.#free.push(mw) };
  }

  #make(): TestMw | undefined {
    if (this.#made === MAX_WINDOWS) return undefined;
    this.#made += 1;
    return window(this.host, MwType.TYPE_2);
  }
}
