export { refundArrivedEvents, refundStatusEvents } from './events.ts'
export {
  Refund,
  type RefundFailure,
  type RefundRow,
  refundMachine,
  refundOrigins,
  refundReasonCodes,
  refundWays,
} from './refund.ts'
export {
  findRefundsOfTransaction,
  loadRefundBook,
  type RefundBook,
  type RefundReceipt,
  readRefundableCents,
  refundsById,
  refundsOfTransfers,
  sumRequestedRefunds,
} from './refunds.ts'
