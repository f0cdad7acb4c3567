export { cardPaymentEvents, transactionEvents, transactionsApi } from './api.ts'
export { addWitness, type CardPaymentState, moveCardTransaction, newCardTransaction } from './card-payment.ts'
export { refundTransaction } from './refund-transaction.ts'
export { Transaction } from './transaction.ts'
export {
  insertTransactions,
  lockTransactions,
  type TransactionRow,
  transactionsById,
  updateRefunded,
  updateTransactions,
} from './transaction-rows.ts'
export {
  beginTransaction,
  completedTransaction,
  declineTransaction,
  moveTransaction,
  transactionOf,
  underDelegation,
} from './transactions.ts'
