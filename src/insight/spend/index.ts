export { countSpend, isBehind } from './follow.ts'
export { linesOf, parametersOf, type Span } from './read.ts'
