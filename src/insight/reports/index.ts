export { changeOf, figureMembers, figuresOf, share, shareOf } from './figures.ts'
export {
  addDays,
  answerSpan,
  bound,
  daysBetween,
  type KnownScope,
  namesOfAgents,
  ofSpan,
  type ReportScope,
  reading,
  scopeOf,
  shownSpan,
  spanBefore,
  tableFile,
} from './scope.ts'
