import { isOneOf, QpType } from '../../../device/ibta/index.js';
import { invalid, type Problem, refuse, show, VerbsError } from '../../verbs/index.js';
import type { Identity } from './identity.js';
import { CmOption } from './options.js';
import { IdState } from './states.js';

const CALL = 'rdma_set_option';
const MAX_TOS = 0xff;
const MAX_ACK_TIMEOUT = 31;

interface OptionRule {
  /** Why it cannot be set so now. */
  problem(value: unknown, identity: Identity): Problem | undefined;
  set(value: unknown, identity: Identity): void;
}

function numberProblem(what: string, value: unknown, max: number): Problem | undefined {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max) return undefined;
  return invalid(`${what} is ${show(value)}`, `It is a number from 0 to ${max}`);
}

function flagProblem(what: string, value: unknown, { state }: Identity): Problem | undefined {
  if (typeof value !== 'boolean') return invalid(`${what} is ${show(value)}`, 'It is true or false');
  // Later it would change nothing.
  return state === IdState.IDLE ? undefined : invalid('the identifier has an address', `Set ${what} before that`);
}

const rules: Readonly<Record<CmOption, OptionRule>> = {
  [CmOption.TOS]: {
    problem: (value) => numberProblem('TOS', value, MAX_TOS),
    set: (value, { options }) => (options.trafficClass = Number(value)),
  },
  [CmOption.REUSEADDR]: {
    problem: (value, identity) => flagProblem('REUSEADDR', value, identity),
    set: (value, { options }) => (options.reuseAddr = value === true),
  },
  [CmOption.AFONLY]: {
    problem: (value, identity) => flagProblem('AFONLY', value, identity),
    set: (value, { options }) => (options.afOnly = value === true),
  },
  [CmOption.ACK_TIMEOUT]: {
    problem: (value, { qpType }) =>
      qpType === QpType.RC || qpType === QpType.XRC_SEND
        ? numberProblem('ACK_TIMEOUT', value, MAX_ACK_TIMEOUT)
        : invalid('the identifier has nothing acknowledged', 'ACK_TIMEOUT is for RC and XRC_SEND'),
    set: (value, { options }) => (options.ackTimeout = Number(value)),
  },
};

/** Implements `rdma_set_option`. */
export function setOption(identity: Identity, option: CmOption, value: unknown): void {
  identity.require('setOption');
  // A program that no compiler has checked may name one that does not exist.
  if (!isOneOf(CmOption, option))
    throw new VerbsError(CALL, invalid(`option is ${show(option)}`, 'It is one of CmOption'));
  const rule = rules[option];
  refuse(CALL, rule.problem(value, identity));
  rule.set(value, identity);
}
