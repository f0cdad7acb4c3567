export {
  type NamedReference,
  namedBy,
  newReference,
  type Payable,
  type PayableType,
  payableColumns,
  payableMembers,
  payableOf,
  payableTypes,
  referenceNumbersIn,
  referenceOf,
} from './register.ts'
