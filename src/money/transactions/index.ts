export { transactionEvents } from './api.ts'
export { Transaction } from './transaction.ts'
export { insertTransactions, type TransactionRow } from './transaction-rows.ts'
export {
  beginTransaction,
  declineTransaction,
  moveTransaction,
  payAtOnce,
  transactionOf,
} from './transactions.ts'
