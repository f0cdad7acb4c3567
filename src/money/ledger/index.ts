export { shortOf } from './account.ts'
export { Book, type Cause } from './book.ts'
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
export { walletAt } from './past.ts'
export { type Flow, flowOf, sealWallet, together } from './span.ts'
export { totalsOf } from './totals.ts'
