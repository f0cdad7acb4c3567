export { labelInSql, merchantOf } from './deltas.ts'
export { COUNTING_DUE, countSpend, isBehind } from './follow.ts'
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
export { readTail, type Spend, type View, withSnapshot } from './tail.ts'
