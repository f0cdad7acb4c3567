export { shortfallText } from './account.ts'
export { walletBalanceAt } from './balances.ts'
export { Book, type Cause } from './book.ts'
export { addFlows, type Flow, flowOf, sealWallet } from './flow.ts'
export {
  type Balance,
  balancesOf,
  closeAccount,
  DEBT_ACCOUNTS,
  FORCED_DEBIT_ACCOUNTS,
  freezeAccount,
  openAccount,
  openBook,
} from './open-book.ts'
export { totalsOf } from './totals.ts'
