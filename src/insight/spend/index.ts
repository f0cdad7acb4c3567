export { labelInSql } from './deltas.ts'
export { countSpend, isBehind } from './follow.ts'
export { merchantOf } from './merchant.ts'
export { linesOf, parametersOf, type Span, type View } from './read.ts'
