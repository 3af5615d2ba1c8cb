import { type CqModerationCaps, CreateCqAttrFlags, flagNames, WcExFlags } from '../../../device/ibta/index.js';
import { isU32 } from '../address.js';
import type { CqModeration } from '../objects/completion.js';
import type { CqInitAttr } from '../objects/objects.js';
import { invalid, type Problem } from '../errors.js';
import { type FieldsOf, fieldsProblem } from './fields.js';
import { allBits, flagBitsProblem, isCount, isObject, show, unsupported } from './values.js';

/** Fields of completions that only devices with VLANs, flow steering or tag matching have. */
const LACKING_FIELDS = WcExFlags.WITH_CVLAN | WcExFlags.WITH_FLOW_TAG | WcExFlags.WITH_TM_INFO;

const FIELDS: FieldsOf<CqInitAttr> = {
  cqe: true,
  channel: true,
  compVector: true,
  cqContext: true,
  wcFlags: true,
  flags: true,
};
const MODERATION_FIELDS: FieldsOf<CqModeration> = { cqCount: true, cqPeriod: true };

/** Why a device cannot make a CQ of this size, or undefined when it can (protocol/services.md 3.8). */
export function cqeProblem(cqe: unknown, maxCqe: number): Problem | undefined {
  if (isCount(cqe, 1, maxCqe)) return undefined;
  return invalid(`cqe is ${show(cqe)}`, `This device takes 1 to ${maxCqe}`);
}

/** Why no CQ can be made of this, or undefined when it can; its size, its flags and the channel are looked at elsewhere. */
export function cqInitProblem(init: unknown): Problem | undefined {
  const problem = fieldsProblem('init', init, FIELDS);
  if (problem !== undefined || !isObject(init)) return problem;
  const { compVector = 0 }: { readonly compVector?: unknown } = init;
  return compVector === 0
    ? undefined
    : invalid(`compVector is ${show(compVector)}`, 'This device has completion vector 0 alone');
}

/** Why a CQ cannot have these fields and flags, or undefined when it can (man ibv_create_cq_ex). */
export function cqFlagsProblem(wcFlags: unknown, flags: unknown): Problem | undefined {
  const problem =
    flagBitsProblem('wcFlags', 'WcExFlags', allBits(WcExFlags), wcFlags) ??
    flagBitsProblem('flags', 'CreateCqAttrFlags', allBits(CreateCqAttrFlags), flags);
  if (problem !== undefined || !isU32(wcFlags)) return problem;
  const lacking = wcFlags & LACKING_FIELDS;
  if (lacking === 0) return undefined;
  return unsupported(`completions of this device have no ${flagNames(WcExFlags, lacking)}`);
}

/** Why events of a CQ cannot be held back so, or undefined when they can (man ibv_modify_cq). */
export function moderationProblem(moderate: unknown, caps: CqModerationCaps): Problem | undefined {
  if (!isObject(moderate)) {
    return invalid('moderate is missing', 'It says how far events are held back: cqCount and cqPeriod');
  }
  const problem = fieldsProblem('moderate', moderate, MODERATION_FIELDS);
  if (problem !== undefined) return problem;
  const { cqCount, cqPeriod }: { readonly cqCount?: unknown; readonly cqPeriod?: unknown } = moderate;
  if (!isCount(cqCount, 0, caps.maxCqCount)) {
    return invalid(`moderate.cqCount is ${show(cqCount)}`, `This device takes 0 to ${caps.maxCqCount} completions`);
  }
  if (isCount(cqPeriod, 0, caps.maxCqPeriod)) return undefined;
  return invalid(`moderate.cqPeriod is ${show(cqPeriod)}`, `This device takes 0 to ${caps.maxCqPeriod} µs`);
}
