export { merchantOfSpend, shortLabelSql } from './deltas.ts'
export { COUNTING_DUE_SQL, countingBehindSeconds, countSpend, isSpendCountBehind } from './follow.ts'
export {
  type DayOfSpend,
  type DaySpan,
  readSpend,
  readTopSpend,
  SPEND_TAIL_SQL,
  spendByDay,
  spendLinesSql,
  spendQueryParameters,
} from './read.ts'
export { type SpendSnapshot, type SpendView, withSpendSnapshot } from './tail.ts'
