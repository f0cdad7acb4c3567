export { acceptorNames } from './card-acceptor.ts'
export { resolveDescriptor } from './descriptors.ts'
export {
  intentMerchantKey,
  isPayableBy,
  isSameMerchant,
  isSamePayee,
  merchantKey,
  merchantNameOfDescriptor,
  merchantSkeleton,
  normalizeMerchant,
  patternProblem,
  payableBy,
  payeeMatcher,
  refundableKeys,
} from './matcher.ts'
export {
  groupsOfMcc,
  mccCodes,
  mccDescription,
  mccGroupNames,
  mccsOfGroup,
  merchantCategories,
} from './mcc.ts'
export { hostInText, looksLikeIban } from './names.ts'
