/** Steps on a client's way into a connection and out of it. Who goes on beyond `answered` leaves that one out. */
export const STEPS = ['resolved', 'answered', 'asked', 'established', 'parting'] as const;
export type Step = (typeof STEPS)[number];
