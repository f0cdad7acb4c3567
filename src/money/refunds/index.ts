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
  askedBack,
  leftToRefund,
  openRefunds,
  type Refunds,
  refundableOf,
  refundsById,
  refundsOf,
  refundsOfTransfers,
} from './refunds.ts'
