export {
  type Payable,
  type PayableType,
  payableColumns,
  payableMembers,
  payableOf,
  payableTypes,
} from './payable.ts'
export { referenceNumbersIn, referenceOf } from './reference-numbers.ts'
export { type NamedReference, namedBy, newReference } from './register.ts'
