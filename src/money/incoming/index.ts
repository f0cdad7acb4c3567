export {
  creditCounts,
  exampleBankFile,
  fileEvents,
  incomingApi,
  ownCreditsApi,
  SkippedRecord,
} from './api.ts'
export { recordBankFile } from './bank-file.ts'
export { accountsToCollect, collectCharge, refundCharge, settleCharge } from './collect.ts'
export { creditsFor, lockCredit, ownRefunds, payWithCredit, sendersOf, simulateCredit } from './credits.ts'
export { arrivalEvents, creditEvents, IncomingEvent } from './events.ts'
export { bookArrivals, type HandedOver } from './hand-over.ts'
export { CreditRows, type IncomingCredit, platformTenant } from './incoming-credit.ts'
export { payersOf, payOwnerInBatch, refundOwner } from './pay-owner.ts'
export { receiveHandedOver } from './receive.ts'
export { arrivals } from './steps-api.ts'
export { creditSuspense, repayDebt } from './suspense.ts'
