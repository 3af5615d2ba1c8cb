import {
  type FieldsOf,
  fieldsProblem,
  invalid,
  type ParentDomain,
  type ParentDomainInitAttr,
  refuse,
  Resource,
  type Td,
  VerbsError,
} from '../../../../api/verbs/index.js';
import { type OpenDevice, domainOf, type OwnPd } from '../context-base.js';
import { SoftPd } from './protection-domain.js';

const CALL = 'ibv_alloc_parent_domain';
const FIELDS: FieldsOf<ParentDomainInitAttr> = { pd: true, td: true };

/** A thread domain. The device knows nothing of it. */
export class SoftTd extends Resource implements Td {
  protected readonly label: string;

  constructor(
    readonly context: OpenDevice,
    number: number,
  ) {
    super('ibv_dealloc_td', [context]);
    this.label = `thread domain ${number}`;
  }

  dealloc(): void {
    this.end();
  }

  protected release(): void {
    // No device knows of it.
  }
}

function threadDomainOf(context: OpenDevice, td: Td | undefined): SoftTd | undefined {
  if (td === undefined || (td instanceof SoftTd && td.context === context && !td.destroyed)) return td;
  throw new VerbsError(CALL, invalid('td is not a live thread domain of this context', 'Make one by allocTd'));
}

/** A protection domain joined with a thread domain: another name for the former, with users of its own. */
export class SoftParentDomain extends SoftPd implements ParentDomain {
  readonly pd: OwnPd;
  readonly td: SoftTd | undefined;

  constructor(context: OpenDevice, init: ParentDomainInitAttr) {
    refuse(CALL, fieldsProblem('init', init, FIELDS));
    const { pd: asked, td: askedTd } = init;
    const pd = domainOf(CALL, context, asked);
    const td = threadDomainOf(context, askedTd);
    super(context, pd.handle, td === undefined ? [pd] : [pd, td], `parent domain of PD ${pd.handle}`);
    this.pd = pd;
    this.td = td;
  }

  protected override release(): void {
    // The device knows the domain below alone.
  }
}
