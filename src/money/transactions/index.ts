export { cardPaymentEvents, transactionEvents, transactionsApi } from './api.ts'
export {
  insertTransactions,
  lockTransactions,
  Transaction,
  type TransactionRow,
  transactionOf,
  transactionsById,
  updateRefunded,
  updateTransactions,
} from './transaction.ts'
export { addWitness, moveToState, newTransaction, type TransactionState } from './transaction-state.ts'
export {
  completedTransaction,
  refundTransaction,
  underDelegation,
} from './transactions.ts'
