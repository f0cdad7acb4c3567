export { labelInSql } from './deltas.ts'
export { countSpend, isBehind } from './follow.ts'
export { merchantOf } from './merchant.ts'
export { linesOf, parametersOf, readSpend, type Span, type SpendSum, type View } from './read.ts'
