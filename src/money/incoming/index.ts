export {
  bankFileCounts,
  bankFileEvents,
  creditArrivalContract,
  creditArrivalEvents,
  exampleBankFile,
  IncomingCreditEvent,
  incomingApi,
  incomingCreditEvents,
  ownCreditsApi,
  SkippedEntryRecord,
} from './api.ts'
export { recordBankFile } from './bank-file.ts'
export {
  acquirerCreditAccounts,
  chargeBackAcquirerCharge,
  chargebackAccounts,
  creditAcquirerCharge,
  refundAcquirerCharge,
  settleAcquirerCharge,
} from './collect.ts'
export {
  creditsOfPayable,
  lockIncomingCredits,
  matchCreditToPayable,
  readCreditSenders,
  readRefundsByOwners,
  simulateCredit,
} from './credits.ts'
export { bookHandedOverCredits, type HandedOverCredit } from './hand-over.ts'
export { type IncomingCredit, NewCreditRows, platformTenantInMode } from './incoming-credit.ts'
export { payOwnerInBatch, refundableWallets, refundOwnerPayment } from './pay-owner.ts'
export { postToSuspense, receiveHandedOverCredits, recordSuspenseCredit, repayWalletDebt } from './receive.ts'
