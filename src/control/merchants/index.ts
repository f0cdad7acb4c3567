export { merchantsApi } from './api.ts'
export { acceptorNames } from './card-acceptor.ts'
export { resolveDescriptor } from './descriptors.ts'
export {
  intentMerchantKey,
  isSameMerchant,
  isSamePayee,
  merchantKey,
  merchantNameOfDescriptor,
  normalizeMerchant,
  patternProblem,
  payableBy,
  payeeMatcher,
  refundableKeys,
} from './matcher.ts'
export { mccGroupNames, mccsOfGroup } from './mcc.ts'
export { mccCodes } from './merchants.ts'
export { hostInText, looksLikeIban } from './names.ts'
