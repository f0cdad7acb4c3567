export { merchantsApi } from './api.ts'
export { acceptorNames } from './card-acceptor.ts'
export { resolveDescriptor } from './descriptors.ts'
export {
  foldMerchant,
  isSameMerchant,
  isSamePayee,
  merchantKey,
  nameOfDescriptor,
  patternProblem,
  payableBy,
  payableKey,
  payeeMatcher,
  refundableKeys,
} from './matcher.ts'
export { mccGroup, mccGroupNames } from './mcc.ts'
export { mccCodes } from './merchants.ts'
export { hostOf, looksLikeIban } from './names.ts'
