import { isOneOf, QpType } from '../../../device/ibta/index.js';
import { invalid, type Problem, refuse, show, VerbsError } from '../../verbs/index.js';
import { wildcardOf } from '../addresses/wildcard.js';
import type { Identity } from './identity.js';
import { CmOption } from '../objects.js';
import { IdState } from './states.js';

const CALL = 'rdma_set_option';
const MAX_TOS = 0xff;
const MAX_ACK_TIMEOUT = 31;

interface OptionRule {
  /** Why it cannot be set so now. */
  problem(value: unknown, identity: Identity): Problem | undefined;
  /** Why it would have no effect any more. Linux accepts it and ignores it then. */
  lateness?(identity: Identity): Problem | undefined;
  set(value: unknown, identity: Identity): void;
}

function numberProblem(what: string, value: unknown, max: number): Problem | undefined {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max) return undefined;
  return invalid(`${what} is ${show(value)}`, `It is a number from 0 to ${max}`);
}

function flagProblem(what: string, value: unknown): Problem | undefined {
  return typeof value === 'boolean' ? undefined : invalid(`${what} is ${show(value)}`, 'It is true or false');
}

function familyProblem(value: unknown, { state }: Identity): Problem | undefined {
  if (state === IdState.IDLE || state === IdState.ADDR_BOUND) return flagProblem('AFONLY', value);
  return invalid('the identifier listens, or knows its peer', 'Set AFONLY before that');
}

/** Once there is a port, it may be shared, but a shared one never becomes its identifier's own (`rdma_set_reuseaddr`). */
function reuseProblem(value: unknown, { state }: Identity): Problem | undefined {
  const problem = flagProblem('REUSEADDR', value);
  if (problem !== undefined || state === IdState.IDLE) return problem;
  if (value === false) return invalid('the identifier has a port', 'Set REUSEADDR to false before that');
  if (state !== IdState.LISTEN) return undefined;
  return invalid('the identifier listens, and shares its port with nobody', 'Set REUSEADDR before that');
}

/** The request to connect carries it, and the side that accepts takes it from there. Datagrams have it in their events. */
function tosLateness({ state, datagrams, isRequest }: Identity): Problem | undefined {
  if (datagrams) return undefined;
  if (isRequest) return invalid('the peer has chosen TOS for the connection', 'Set it on the side that connects');
  if (state === IdState.LISTEN)
    return invalid('the peer chooses TOS for each connection', 'Set it on the side that connects');
  if (state !== IdState.CONNECT && state !== IdState.DISCONNECT) return undefined;
  return invalid('the connection was requested with another TOS', 'Set it before connect');
}

/** The queue pair gets it when it is led to RTS; a program that leads its own asks `initQpAttr` then. */
function ackTimeoutLateness({ state, leadsQp }: Identity): Problem | undefined {
  if (state === IdState.LISTEN)
    return invalid('a listener has no queue pair', 'Set ACK_TIMEOUT on the identifier of each request, before accept');
  if (state !== IdState.DISCONNECT && !leadsQp) return undefined;
  return invalid('the queue pair has another timeout by now', 'Set ACK_TIMEOUT before connect or accept');
}

const rules: Readonly<Record<CmOption, OptionRule>> = {
  [CmOption.TOS]: {
    problem: (value) => numberProblem('TOS', value, MAX_TOS),
    lateness: tosLateness,
    set: (value, { options }) => (options.trafficClass = Number(value)),
  },
  [CmOption.REUSEADDR]: {
    problem: reuseProblem,
    set: (value, identity) => setReuseAddr(identity, value === true),
  },
  [CmOption.AFONLY]: {
    problem: familyProblem,
    set: (value, identity) => setAfOnly(identity, value === true),
  },
  [CmOption.ACK_TIMEOUT]: {
    problem: (value, { qpType }) =>
      qpType === QpType.RC || qpType === QpType.XRC_SEND
        ? numberProblem('ACK_TIMEOUT', value, MAX_ACK_TIMEOUT)
        : invalid('the identifier has nothing acknowledged', 'ACK_TIMEOUT is for RC and XRC_SEND'),
    lateness: ackTimeoutLateness,
    set: (value, { options }) => (options.ackTimeout = Number(value)),
  },
};

/** Counts at once for whoever binds to the same port from now on, as in Linux. */
function setReuseAddr(identity: Identity, reuseAddr: boolean): void {
  const { binding, options } = identity;
  if (binding !== undefined) binding.share(CALL, reuseAddr);
  else if (identity.ownsPort) identity.command(CALL, 'cmShare', (id) => ({ id, reuseAddr }));
  options.reuseAddr = reuseAddr;
}

function setAfOnly({ binding, options }: Identity, afOnly: boolean): void {
  if (binding !== undefined) binding.setFamilies(CALL, wildcardOf(binding.host, afOnly).families);
  options.afOnly = afOnly;
}

/**
 * Implements `rdma_set_option`.
 *
 * @param late what becomes of an option that would have no effect any more: refused, or ignored as in Linux
 */
export function setOption(identity: Identity, option: CmOption, value: unknown, late: 'refuse' | 'ignore'): void {
  identity.require('setOption');
  // A program that no compiler has checked may name one that does not exist.
  if (!isOneOf(CmOption, option))
    throw new VerbsError(CALL, invalid(`option is ${show(option)}`, 'It is one of CmOption'));
  const rule = rules[option];
  refuse(CALL, rule.problem(value, identity));
  const lateness = rule.lateness?.(identity);
  if (late === 'refuse') refuse(CALL, lateness);
  if (lateness === undefined) rule.set(value, identity);
}
