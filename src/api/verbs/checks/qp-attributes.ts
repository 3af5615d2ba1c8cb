import { checkAttributes, type QpAttr, qpAttrFields } from '../../../device/ibta/index.js';
import { invalid, type Problem } from '../errors.js';
import type { QpModifyAttr } from '../objects/queue-pair.js';
import { ahInitProblem, completeAhAttr } from './address-checks.js';
import { isObject, objectProblem } from './values.js';

/** Why these are no attributes at all, or undefined when they can be completed. */
export function modifyInitProblem(attr: unknown): Problem | undefined {
  if (!isObject(attr)) return objectProblem('attr', attr);
  const { ahAttr }: { readonly ahAttr?: unknown } = attr;
  return ahAttr === undefined ? undefined : ahInitProblem('ahAttr', ahAttr);
}

/** The attributes that are present, none of them undefined, the address complete. */
export function completeQpAttr(attr: QpModifyAttr): Partial<QpAttr> {
  const { ahAttr, ...others } = attr;
  // The same entries with the same values, less those that are undefined, which count as absent.
  const present = Object.fromEntries(
    Object.entries<unknown>(others).filter(([, value]) => value !== undefined),
  ) as Partial<Omit<QpAttr, 'ahAttr'>>;
  return ahAttr === undefined ? present : { ...present, ahAttr: completeAhAttr(ahAttr) };
}

/** Why no QP could ever be given these attributes, or undefined. What the transition asks for is checked elsewhere. */
export function modifyProblem(attr: Partial<QpAttr>): Problem | undefined {
  for (const name of Object.keys(attr)) {
    if (!qpAttrFields.some((field) => field === name)) {
      return invalid(`'${name}' is not an attribute of a QP`, `The attributes are ${qpAttrFields.join(', ')}`);
    }
  }
  if (attr.cap !== undefined) return invalid('cap was given, but a QP keeps the sizes that createQp gave it');
  if (attr.altAhAttr !== undefined) return invalid('altAhAttr was given, but RoCE has no alternate paths');
  const message = checkAttributes(attr);
  return message === undefined ? undefined : invalid(message);
}
