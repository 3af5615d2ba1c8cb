/** Bits of `enum ibv_placement_type`: how far a FLUSH brings the data (protocol.md 1.3). */
export const PlacementType = {
  /** To where every reader of the memory sees it. */
  FLUSH_GLOBAL: 1,
  /** To where it outlasts a loss of power. */
  FLUSH_PERSISTENT: 2,
} as const;
export type PlacementType = (typeof PlacementType)[keyof typeof PlacementType];

/** The values of `enum ibv_selectivity_level`: of what a FLUSH brings the data. */
export const SelectivityLevel = {
  /** Of the range that it names. */
  FLUSH_RANGE: 0,
  /** Of all the region; address and length are not looked at. */
  FLUSH_MR: 1,
} as const;
export type SelectivityLevel = (typeof SelectivityLevel)[keyof typeof SelectivityLevel];
