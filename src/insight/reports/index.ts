export { computeSpendFigures, ratioOf, relativeChange, shareSchema, spendFigureMembers } from './figures.ts'
export {
  addDays,
  csvReportFile,
  daysBetween,
  groupLimitSchema,
  inclusiveSpan,
  previousSpan,
  type ReportScope,
  type ReportScopeUntilToday,
  readAgentNames,
  reportAccess,
  reportQuery,
  reportSpanMembers,
  resolveReportScope,
} from './scope.ts'
