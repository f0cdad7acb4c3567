export { merchantsApi } from './api.ts'
export { resolveDescriptor } from './descriptors.ts'
export {
  foldMerchant,
  isSameMerchant,
  isSamePayee,
  merchantKey,
  nameOfDescriptor,
  patternProblem,
  payableKey,
  payableKeys,
  payeeMatcher,
} from './matcher.ts'
export { mccGroup, mccGroupNames } from './mcc.ts'
export { mccCodes } from './merchants.ts'
export { hostOf, looksLikeIban } from './names.ts'
