export { shortOf } from './account.ts'
export { walletAt } from './balances.ts'
export { Book, type Cause } from './book.ts'
export { type Flow, flowOf, sealWallet, together } from './flow.ts'
export {
  type Balance,
  balancesOf,
  closeAccount,
  FORCING,
  freezeAccount,
  openAccount,
  openBook,
  RECOVERING,
} from './open-book.ts'
export { totalsOf } from './totals.ts'
