export { arrivedEvents, refundEvents } from './events.ts'
export {
  Refund,
  type RefundFailure,
  type RefundRow,
  refundMachine,
  refundOrigins,
  refundReasons,
  refundWays,
} from './refund.ts'
export {
  leftToRefund,
  openRefunds,
  type RefundReceipt,
  type Refunds,
  refundableOf,
  refundedOnRequest,
  refundsById,
  refundsOf,
  refundsOfTransfers,
} from './refunds.ts'
