export { DecisionRecord } from './decision-record.ts'
export { type Recorded, recordedIn, type Span } from './recorded-decisions.ts'
export {
  countersOf,
  type DecisionRow,
  decisionTable,
  insertDecisions,
  keptCounters,
  keptRequest,
  keptRuling,
  requestOf,
  StoredDecision,
} from './stored-decision.ts'
