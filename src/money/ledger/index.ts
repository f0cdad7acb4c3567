export { closeAccount, freezeAccount, openWalletAccount, shortfallText } from './account.ts'
export { ACQUIRER_ACCOUNTS, postCollected } from './acquirer.ts'
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
export { DEBT_ACCOUNTS, FORCED_DEBIT_ACCOUNTS, openBook } from './open-book.ts'
export { openForRecord, recordFails } from './recorded-payment.ts'
