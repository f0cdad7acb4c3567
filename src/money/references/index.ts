export {
  creditorReferenceFor,
  type PayableReference,
  type PayableType,
  payableColumns,
  payableFromColumns,
  payableReferenceMembers,
  payableTypes,
  type ResolvedReference,
  referenceNumbersIn,
  registerReference,
  resolveReferences,
} from './register.ts'
