export { foldMerchant, isSameMerchant, isSamePayee, payeeMatcher } from './matcher.ts'
export { mccGroup, mccGroupNames } from './mcc-groups.ts'
export {
  merchantKey,
  type NetworkMerchant,
  nameOfDescriptor,
  payableKey,
  payableKeys,
} from './merchant-key.ts'
export { mccCodes } from './merchants.ts'
export { looksLikeIban } from './names.ts'
export { patternProblem } from './patterns.ts'
