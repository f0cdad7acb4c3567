export { refundableOf } from './refundable.ts'
