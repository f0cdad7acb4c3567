export { closeAccount, freezeAccount, openWalletAccount, shortfallText } from './account.ts'
export { ledgerApi } from './api.ts'
export {
  addFlows,
  type Balance,
  balancesOf,
  type Flow,
  flowOf,
  sealWallet,
  totalsOf,
  walletBalanceAt,
} from './balances.ts'
export { type AccountKey, Book, type Cause } from './book.ts'
export {
  ACQUIRER_ACCOUNTS,
  BETWEEN_OWNERS,
  DEBT_ACCOUNTS,
  FORCED_DEBIT_ACCOUNTS,
  type OtherWallets,
  openBook,
  openForRecord,
  postCollected,
  recordFails,
} from './open-book.ts'
export type { Template } from './templates.ts'
