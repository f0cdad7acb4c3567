export { DecisionRecord } from './decision-record.ts'
export { type DecisionSpan, type RecordedDecision, recordedDecisions } from './recorded-decisions.ts'
export {
  type DecisionRow,
  decisionTable,
  insertDecisions,
  parseCounters,
  parseRequest,
  StoredDecision,
  storedCounters,
  storedRequest,
  storedRuling,
} from './stored-decision.ts'
