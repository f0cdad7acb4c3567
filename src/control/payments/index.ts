export { applyFact } from './apply.ts'
export { type CountingBatch, countUsage } from './count-usage.ts'
export { addFact, noFacts, type PaymentFact, type PaymentFacts } from './facts.ts'
export {
  type ApplyContext,
  type Channel,
  type Evidence,
  evidenceOf,
} from './payment.ts'
export { holdReferences, intentReference, reservationReferences } from './references.ts'
export { foldFacts, type PaymentState } from './state.ts'
