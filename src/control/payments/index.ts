export { applyFact, capturePayment, holdPayment, refundPayment, writePayments } from './apply.ts'
export { type CountingBatch, countUsage } from './count-usage.ts'
export { bookedBy } from './diff.ts'
export {
  type AuthRequest,
  addFact,
  authRequestsOf,
  creditOf,
  endingFactsOf,
  factsOf,
  noFacts,
  type PaymentFact,
  type PaymentFacts,
} from './facts.ts'
export { refundWallet } from './move-money.ts'
export {
  type ApplyContext,
  type Channel,
  type CountedIntent,
  type Evidence,
  evidenceOf,
  type Payment,
  type PaymentBatch,
  type PaymentView,
  type PostedBatch,
  paymentBatch,
} from './payment.ts'
export { holdReferences, incrementReference, intentReference, reservationReferences } from './references.ts'
export { foldFacts, type PaymentState } from './state.ts'
