export { closeLedgerAccount, openWalletAccount, setAccountFrozen, shortfallMessage } from './account.ts'
export { ledgerApi } from './api.ts'
export {
  type AccountFlow,
  type AvailableBalance,
  addFlows,
  closeWalletPeriod,
  readAccountFlow,
  readLedgerTotals,
  readWalletBalanceAt,
  readWalletBalances,
} from './balances.ts'
export { type LedgerAccountKey, LockedBook, type PostingCause } from './book.ts'
export {
  describePostings,
  narrativeOfRow,
  noNarrative,
  type PostingNarrative,
  type PostingOfAccount,
  postingNarratives,
} from './narratives.ts'
export {
  ACQUIRER_ACCOUNTS,
  type BookAccounts,
  DEBT_ACCOUNTS,
  FORCED_DEBIT_ACCOUNTS,
  lockBook,
  OWNER_TRANSFER_ACCOUNTS,
  openBookForRecordedPayment,
  postAcquirerChargeback,
  postAcquirerMovement,
  recordedPaymentRefusals,
  type WalletsOfOtherOwner,
} from './open-book.ts'
export type { PostingTemplate } from './templates.ts'
