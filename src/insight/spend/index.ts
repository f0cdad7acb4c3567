export { labelInSql, merchantOf } from './deltas.ts'
export { countSpend, isBehind } from './follow.ts'
export {
  type DayOfSpend,
  linesOf,
  parametersOf,
  readSpend,
  readTop,
  type Span,
  spendByDay,
  TAIL,
} from './read.ts'
export { atOneInstant, readTail, type Spend, type View } from './tail.ts'
