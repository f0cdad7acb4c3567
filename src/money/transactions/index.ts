export { transactionEvents } from './api.ts'
export { Transaction } from './transaction.ts'
export { insertTransactions, type TransactionRow } from './transaction-rows.ts'
export {
  beginTransaction,
  completedTransaction,
  declineTransaction,
  moveTransaction,
  transactionOf,
} from './transactions.ts'
