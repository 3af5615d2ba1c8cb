/** How the table of C names is written down: what C has, in C's order, and what stands for it here. */

/** What stands here for a C name. */
export type Answer =
  | {
      readonly kind: 'here';
      /** Exports, and members of them: `openDevice`, `Pd.regMr`, `FlushRequest.flush.length`. */
      readonly names: readonly string[];
      readonly note?: string;
    }
  | {
      /** No such thing here, and a call that says so with EOPNOTSUPP. */
      readonly kind: 'refused';
      readonly by: string;
    }
  | {
      /** Not here, or not needed. */
      readonly kind: 'absent';
      readonly why: string;
    };

export type Given = Answer | string | readonly string[];

/** A name of C with its answer. */
export interface Entry {
  readonly kind: 'function' | 'struct' | 'enum' | 'constant' | 'field' | 'macro';
  /** As one looks for it: `ibv_reg_mr`, `ibv_sge.addr`, `IBV_WC_SUCCESS`. */
  readonly c: string;
  readonly answer: Answer;
}

/** Names that belong together, in the order of the header. */
export interface Area {
  readonly title: string;
  readonly entries: readonly Entry[];
}

export function here(names: string | readonly string[], note?: string): Answer {
  const list = typeof names === 'string' ? [names] : names;
  return note === undefined ? { kind: 'here', names: list } : { kind: 'here', names: list, note };
}

export const refused = (by: string): Answer => ({ kind: 'refused', by });

export const absent = (why: string): Answer => ({ kind: 'absent', why });

function isAnswer(given: Given): given is Answer {
  return typeof given === 'object' && 'kind' in given;
}

const answerOf = (given: Given): Answer => (isAnswer(given) ? given : here(given));

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** `max_send_wr` as it is spelt here: `maxSendWr`. */
const camelCase = (name: string): string => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** The answer for a part of what `whole` answers for; `name` is the part's, here. */
function partOf(whole: Answer, name: string): Answer {
  if (whole.kind !== 'here') return whole;
  const [owner] = whole.names;
  return here(`${owner}.${name}`);
}

/** Every override must be one of a part that exists: a slip of the pen would otherwise be silent. */
function parts(names: readonly string[], overrides: Readonly<Record<string, Given>>): readonly string[] {
  for (const name of Object.keys(overrides)) if (!names.includes(name)) throw new Error(`there is no part '${name}'`);
  return names;
}

export function call(c: string, given: Given): Entry {
  return { kind: 'function', c, answer: answerOf(given) };
}

export function macro(c: string, given: Given): Entry {
  return { kind: 'macro', c, answer: answerOf(given) };
}

/**
 * A struct and its fields, which have their own names here, in camel case, unless `overrides` says otherwise. Fields of
 * structs and unions inside it are written with a dot.
 */
export function struct(
  c: string,
  given: Given,
  fields: string,
  overrides: Readonly<Record<string, Given>> = {},
): readonly Entry[] {
  const whole = answerOf(given);
  const own = parts(words(fields), overrides).map((field): Entry => {
    const override = overrides[field] as Given | undefined; // a record of any strings has holes
    const answer = override === undefined ? partOf(whole, camelCase(field)) : answerOf(override);
    return { kind: 'field', c: `${c}.${field}`, answer };
  });
  return [{ kind: 'struct', c, answer: whole }, ...own];
}

/** An enum and its constants: `prefix` is what C puts before their names, which are otherwise the same here. */
export function constants(
  c: string,
  given: Given,
  prefix: string,
  names: string,
  overrides: Readonly<Record<string, Given>> = {},
): readonly Entry[] {
  const whole = answerOf(given);
  const own = parts(words(names), overrides).map((name): Entry => {
    const override = overrides[name] as Given | undefined; // as above
    const answer = override === undefined ? partOf(whole, name) : answerOf(override);
    return { kind: 'constant', c: `${prefix}${name}`, answer };
  });
  return [{ kind: 'enum', c, answer: whole }, ...own];
}

export function area(title: string, ...entries: readonly (Entry | readonly Entry[])[]): Area {
  return { title, entries: entries.flat() };
}
