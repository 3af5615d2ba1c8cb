import { XrcdOpenFlags } from '../../../../device/ibta/index.js';
import { runtime } from '../../../../api/runtime/index.js';
import {
  type FieldsOf,
  fieldsProblem,
  refuse,
  Resource,
  VerbsError,
  type Xrcd,
  type XrcdInitAttr,
  xrcdProblem,
  type XrcTargetQp,
  type XrcTargetQpInitAttr,
  type XrcTargetQpOpenAttr,
} from '../../../../api/verbs/index.js';
import type { OpenDevice } from '../context-base.js';
import { SoftXrcTargetQp } from '../posting/xrc-target-qp.js';

const CALL = 'ibv_open_xrcd';
const FIELDS: FieldsOf<XrcdInitAttr> = { fd: true, oFlags: true };
const TARGET_FIELDS: FieldsOf<XrcTargetQpInitAttr> = { qpContext: true };
const OPEN_FIELDS: FieldsOf<XrcTargetQpOpenAttr> = { qpContext: true, qpNum: true };

/** What tells one file from another, however often it is opened; undefined for no file. */
function fileName(fd: number): string | undefined {
  if (!Number.isInteger(fd) || fd < 0) return undefined;
  try {
    return runtime().identityOfFile(fd);
  } catch (error) {
    const problem = { errno: 'EBADF' as const, message: `file descriptor ${fd} is not open`, advice: '' };
    throw new VerbsError(CALL, problem, { cause: error });
  }
}

export class SoftXrcd extends Resource implements Xrcd {
  readonly handle: number;
  protected readonly label: string;

  /** How often it was opened and not closed. */
  #opens = 1;

  /** @param forget called when it ends */
  constructor(
    readonly context: OpenDevice,
    private readonly forget: () => void,
  ) {
    const handle = context.command(CALL, 'openXrcd', undefined);
    super('ibv_close_xrcd', [context]);
    this.handle = handle;
    this.label = `XRC domain ${handle}`;
    this.abandoned = forget;
  }

  /** It has to be closed once more. */
  openAgain(): void {
    this.#opens += 1;
  }

  createQp(init: XrcTargetQpInitAttr = {}): XrcTargetQp {
    this.assertAlive('ibv_create_qp');
    refuse('ibv_create_qp', fieldsProblem('init', init, TARGET_FIELDS));
    return new SoftXrcTargetQp(this, init);
  }

  openQp(attr: XrcTargetQpOpenAttr): XrcTargetQp {
    this.assertAlive('ibv_open_qp');
    refuse('ibv_open_qp', fieldsProblem('attr', attr, OPEN_FIELDS));
    return SoftXrcTargetQp.open(this, attr);
  }

  close(): void {
    this.assertAlive('ibv_close_xrcd');
    if (this.#opens > 1) this.#opens -= 1;
    else this.end();
  }

  override [Symbol.dispose](): void {
    if (!this.destroyed) this.close();
  }

  protected release(): void {
    this.context.endCommand('ibv_close_xrcd', 'closeXrcd', this.handle);
    this.forget();
  }
}

export class XrcDomains {
  readonly #ofFiles = new Map<string, SoftXrcd>();

  constructor(private readonly context: OpenDevice) {}

  /** How many of them a file stands for. */
  get size(): number {
    return this.#ofFiles.size;
  }

  /** The domain of a file, or a new one. @throws VerbsError as `Context.openXrcd` */
  open(init: XrcdInitAttr): SoftXrcd {
    refuse(CALL, fieldsProblem('init', init, FIELDS));
    const { fd = -1, oFlags = XrcdOpenFlags.CREAT } = init;
    const file = fileName(fd);
    const known = file === undefined ? undefined : this.#ofFiles.get(file);
    refuse(CALL, xrcdProblem(fd, oFlags, known !== undefined));
    if (known !== undefined) {
      known.openAgain();
      return known;
    }
    const made = new SoftXrcd(this.context, () => {
      if (file !== undefined) this.#ofFiles.delete(file);
    });
    if (file !== undefined) this.#ofFiles.set(file, made);
    return made;
  }
}
