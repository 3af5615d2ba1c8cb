/** How far a copy has got that somebody needs now. */
export const Readiness = {
  READY: 0,
  /** It goes on by itself. Whoever needs it steps aside, and is called once it has ended. */
  LATER: 1,
  /** It cannot be had: `DataMover.syndrome` says why. */
  FAILED: 2,
} as const;
export type Readiness = (typeof Readiness)[keyof typeof Readiness];
