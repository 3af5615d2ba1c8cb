/** What the gateway says it is. */
export const PRODUCT = {
  name: 'verbena',
  /** The version of Redis whose commands clients may take for granted where there is a command of that name at all. */
  imitated: '6.2.0',
} as const;
