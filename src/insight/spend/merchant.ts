import { foldMerchant, nameOfDescriptor } from '../../control/merchants/index.ts'
import { boundedCache } from '../../values/bounded-cache.ts'

/** The merchant that a payment's text names, as payments are grouped: in one way for all spellings. */
export const merchantOf = boundedCache((text: string): string => foldMerchant(nameOfDescriptor(text)))
