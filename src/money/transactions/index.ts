export { transactionEvents, transactionLifecycleEvents, transactionsApi } from './api.ts'
export {
  findTransactionOfTransfer,
  insertTransactions,
  lockTransactions,
  Transaction,
  type TransactionRow,
  transactionsById,
  updateRefundedTransactions,
  updateTransactions,
} from './transaction.ts'
export {
  addTransactionWitness,
  moveTransaction,
  newTransaction,
  type TransactionState,
} from './transaction-state.ts'
export {
  delegationCondition,
  madeWithDelegation,
  newCompletedTransaction,
  refundTransaction,
} from './transactions.ts'
