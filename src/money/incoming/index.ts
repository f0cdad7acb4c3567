export {
  arrivalEvents,
  arrivals,
  creditCounts,
  creditEvents,
  exampleBankFile,
  fileEvents,
  IncomingEvent,
  incomingApi,
  ownCreditsApi,
  SkippedRecord,
} from './api.ts'
export { recordBankFile } from './bank-file.ts'
export { accountsToCollect, collectCharge, refundCharge, settleCharge } from './collect.ts'
export { creditsFor, lockCredit, ownRefunds, payWithCredit, sendersOf, simulateCredit } from './credits.ts'
export { bookArrivals, type HandedOver } from './hand-over.ts'
export { CreditRows, type IncomingCredit, platformTenant } from './incoming-credit.ts'
export { payersOf, payOwnerInBatch, refundOwner } from './pay-owner.ts'
export { creditSuspense, receiveHandedOver, repayDebt } from './receive.ts'
