export { changeOf, figureMembers, figuresOf, share, shareOf } from './figures.ts'
export { type KnownScope, namesOfAgents, type ReportScope, scopeOf, shownSpan, tableFile } from './scope.ts'
export { addDays, answerSpan, bound, daysBetween, ofSpan, reading, spanBefore } from './span.ts'
