export { cardPaymentEvents, transactionEvents, transactionsApi } from './api.ts'
export { addWitness, type CardPaymentState, moveCardTransaction, newCardTransaction } from './card-payment.ts'
export {
  insertTransactions,
  lockTransactions,
  Transaction,
  type TransactionRow,
  transactionsById,
  updateRefunded,
  updateTransactions,
} from './transaction.ts'
export {
  beginTransaction,
  completedTransaction,
  declineTransaction,
  moveTransaction,
  refundTransaction,
  transactionOf,
  underDelegation,
} from './transactions.ts'
