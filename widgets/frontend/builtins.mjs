// The functions that the shipped bundles call by these names in place of `Math.max` and so on.
export const {
  abs: mathAbs,
  ceil: mathCeil,
  floor: mathFloor,
  max: mathMax,
  min: mathMin,
  round: mathRound,
} = Math;
export const { isFinite: isFiniteNumber, isNaN: isNotANumber } = Number;
export const { isArray: isAnArray } = Array;
